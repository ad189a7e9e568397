/* A model with a system and an assembled state, for tests of what a start is. */
#ifndef ASSEMBLED_SUPPORT_H
#define ASSEMBLED_SUPPORT_H

#include "run_support.h"

typedef struct assembled {
    bg_model *model;
    bg_system *sys; /* NULL where none could be made */
    bg_state *x;
    bg_assembly_report report;
    bg_status status; /* BG_OK, or why there is no consistent start, */
    bg_error err;     /* in words */
} assembled;

/* Of a model, which is taken. */
static inline assembled assembled_make(bg_model *model, const char *form)
{
    assembled a = {.model = model, .err = {BG_OK, ""}};
    a.status = bg_model_create_system(model, form, &a.sys, &a.err);
    if (a.status == BG_OK)
        a.status = bg_state_create(a.sys, &a.x, &a.err);
    if (a.status == BG_OK)
        a.status = bg_state_assemble(a.sys, a.x, &a.report, &a.err);
    return a;
}

/* Of the text of a model, which must be one. */
static inline assembled assembled_parse(const char *json, const char *form)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    assert_ok(bg_model_parse(json, "test", NULL, 0, &model, &err));
    return assembled_make(model, form);
}

/* Of a file in models/, perhaps (name not NULL) with something set. */
static inline assembled assembled_read(const char *file, const char *name, const char *value,
                                       const char *form)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_setting setting = {name, value};
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s", BOGIE_SOURCE_DIR, file);
    assert_ok(bg_model_read(path, &setting, name ? 1 : 0, &model, &err));
    return assembled_make(model, form);
}

/* Once more, from the state as it is now. */
static inline void assembled_repeat(assembled *a)
{
    bg_assembly_report_clear(&a->report);
    a->report = (bg_assembly_report){0};
    a->status = bg_state_assemble(a->sys, a->x, &a->report, &a->err);
}

static inline void assembled_clear(assembled *a)
{
    bg_assembly_report_clear(&a->report);
    bg_state_destroy(a->x);
    if (a->sys)
        bg_system_destroy(a->sys);
    bg_model_destroy(a->model);
    *a = (assembled){0};
}

#endif
