#include "cli/cli.h"

#include "model/model.h"

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

static bg_status open_file(bg_cli_model *model, int formulation, const bg_setting *settings,
                           int nsettings, bg_error *err)
{
    bg_status status = bg_model_read(model->reference, settings, nsettings, &model->file, err);
    if (status)
        return status;
    model->formulation = find_formulation(model->file, formulation);
    return bg_model_create_system(model->file, model->formulation, &model->system, err);
}

static bg_status open_equations(bg_cli_model *model, int formulation, const bg_setting *settings,
                                int nsettings, bg_error *err)
{
    if (formulation != BG_FORMULATION_DEFAULT)
        return bg_error_set(err, BG_BAD_INPUT,
                            "--formulation is for model files; '%s' brings its own coordinates",
                            model->reference);
    bg_status status = bg_equations_open(model->reference, &model->family, &model->handle, err);
    if (status)
        return status;
    return bg_equations_create(model->family, settings, nsettings, &model->system, err);
}

bg_status bg_cli_model_open(const char *reference, int formulation, const bg_setting *settings,
                            int nsettings, bg_cli_model *model, bg_error *err)
{
    *model = (bg_cli_model){.reference = reference};
    bool is_file = ends_with(reference, ".json");
    bg_status status = is_file ? open_file(model, formulation, settings, nsettings, err)
                               : open_equations(model, formulation, settings, nsettings, err);
    if (status)
        bg_cli_model_close(model);
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
