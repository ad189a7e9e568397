/* A model at its start, linearised, with its modes. */
#ifndef MODES_SUPPORT_H
#define MODES_SUPPORT_H

#include "linear/modes.h"
#include "model_support.h"
#include "run/start.h"

typedef struct linear_model {
    bg_model *model;
    bg_system *system;
    bg_evaluator *evaluator;
    bg_state *state;
    bg_assembly_report report;
    bg_linearisation *linearisation;
    bg_modes modes;
} linear_model;

/* A system at its start. */
static inline void linear_begin_system(linear_model *m)
{
    bg_error err = {BG_OK, ""};
    assert_ok(bg_state_create(m->system, &m->state, &err));
    assert_ok(bg_evaluator_create(m->system, &m->evaluator, &err));
    assert_ok(bg_start_find(m->evaluator, m->system->def.t_start, m->state, &m->report, &err));
    assert_ok(bg_linearisation_create(m->evaluator, &m->linearisation, &err));
}

/* JSON with single quotes, or the name of a file below the source folder. */
static inline void linear_begin(linear_model *m, const char *text, const char *formulation)
{
    bg_error err = {BG_OK, ""};
    *m = (linear_model){0};
    if (text[0] == '{') {
        char *copy = quote(text);
        assert_ok(bg_model_parse(copy, "test", NULL, 0, &m->model, &err));
        free(copy);
    } else {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", BOGIE_SOURCE_DIR, text);
        assert_ok(bg_model_read(path, NULL, 0, &m->model, &err));
    }
    assert_ok(bg_model_create_system(m->model, formulation, &m->system, &err));
    linear_begin_system(m);
}

static inline void linear_find_modes(linear_model *m)
{
    bg_error err = {BG_OK, ""};
    assert_ok(bg_linearisation_update(m->linearisation, m->state, &m->report.redundancy, &err));
    assert_ok(bg_modes_create(m->linearisation, &m->modes, &err));
}

static inline void linear_end(linear_model *m)
{
    bg_modes_clear(&m->modes);
    bg_linearisation_destroy(m->linearisation);
    bg_assembly_report_clear(&m->report);
    bg_evaluator_destroy(m->evaluator);
    bg_state_destroy(m->state);
    bg_system_destroy(m->system);
    bg_model_destroy(m->model);
}

#endif
