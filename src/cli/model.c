#include "cli/cli.h"

#include "model/model.h"

#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

/* What the user asks for, else what the file says, else joint coordinates. */
static const char *find_formulation(const bg_model *file, int formulation)
{
    if (formulation == BG_FORMULATION_DEFAULT && file->formulation[0])
        return file->formulation;
    return formulation == BG_FORMULATION_CARTESIAN ? "cartesian" : "joint";
}

static bg_status read_file(bg_cli_model *model, int formulation, const bg_setting *settings,
                           int nsettings, bg_error *err)
{
    bg_status status = bg_model_read(model->reference, settings, nsettings, &model->file, err);
    if (!status)
        model->formulation = find_formulation(model->file, formulation);
    return status;
}

/* Whether a quoted row of a message ('JOINT' or 'JOINT.part') is of the thing with this name. */
static bool is_row_of(const char *row, const char *name)
{
    size_t n = strlen(name);
    return strncmp(row, name, n) == 0 && (row[n] == '.' || row[n] == '\'');
}

/* The joint, gear or rack that a message names first by one of its rows; NULL: none. */
static const char *find_culprit(const bg_model *file, const char *text)
{
    for (const char *quote = strchr(text, '\''); quote; quote = strchr(quote + 1, '\'')) {
        for (int k = 0; k < file->njoints; k++)
            if (is_row_of(quote + 1, file->joints[k].name))
                return file->joints[k].name;
        for (int k = 0; k < file->ncouplers; k++)
            if (is_row_of(quote + 1, file->couplers[k].name))
                return file->couplers[k].name;
    }
    return NULL;
}

void bg_cli_model_locate(const bg_cli_model *model, bg_status status, bg_error *err)
{
    char text[BG_ERROR_LENGTH];
    if (!model->file || strncmp(err->text, model->reference, strlen(model->reference)) == 0)
        return;
    snprintf(text, sizeof text, "%s", err->text);
    if (status == BG_BAD_INPUT)
        bg_error_set(err, status, "%.400s: %.600s", model->reference, text);
    if (status != BG_NOT_ASSEMBLED && status != BG_CONTRADICTORY && status != BG_REDUNDANT)
        return;
    const char *name = find_culprit(model->file, text + strcspn(text, ":"));
    bg_error_set(err, status, "%.300s: joints%s%s: %.600s", model->reference, name ? "." : "",
                 name ? name : "", text);
}

static bg_status open_equations(bg_cli_model *model, int formulation, bg_error *err)
{
    if (formulation != BG_FORMULATION_DEFAULT)
        return bg_error_set(err, BG_BAD_INPUT,
                            "--formulation is for model files; '%s' brings its own coordinates",
                            model->reference);
    return bg_equations_open(model->reference, &model->family, &model->handle, err);
}

bg_status bg_cli_model_read(const char *reference, int formulation, const bg_setting *settings,
                            int nsettings, bg_cli_model *model, bg_error *err)
{
    *model = (bg_cli_model){.reference = reference};
    return ends_with(reference, ".json") ? read_file(model, formulation, settings, nsettings, err)
                                         : open_equations(model, formulation, err);
}

bg_status bg_cli_model_create(bg_cli_model *model, const bg_setting *settings, int nsettings,
                              bg_error *err)
{
    if (!model->file)
        return bg_equations_create(model->family, settings, nsettings, &model->system, err);
    bg_status status = bg_model_create_system(model->file, model->formulation, &model->system, err);
    if (status)
        bg_cli_model_locate(model, status, err);
    return status;
}

/* The system first: it refers to the model, and its functions may be those of a plug-in. */
void bg_cli_model_close(bg_cli_model *model)
{
    if (model->system)
        bg_system_destroy(model->system);
    if (model->file)
        bg_model_destroy(model->file);
    if (model->handle)
        bg_equations_close(model->handle);
    *model = (bg_cli_model){0};
}
