#include "cli/cli.h"

#include <string.h>

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

bg_status bg_cli_model_open(const char *reference, const bg_setting *parameters, int nparameters,
                            bg_cli_model *model, bg_error *err)
{
    *model = (bg_cli_model){.reference = reference};
    if (ends_with(reference, ".json"))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s': this version reads equations:NAME and FILE.so", reference);
    bg_status status = bg_equations_open(reference, &model->family, &model->handle, err);
    if (status)
        return status;
    status = bg_equations_create(model->family, parameters, nparameters, &model->system, err);
    if (status)
        bg_cli_model_close(model);
    return status;
}

void bg_cli_model_close(bg_cli_model *model)
{
    if (model->system)
        bg_system_destroy(model->system);
    if (model->handle)
        bg_equations_close(model->handle);
    *model = (bg_cli_model){0};
}
