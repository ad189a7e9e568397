/* An analysis as JSON texts (docs/modes.md). */
#include "results/analysis.h"

#include "results/linear.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* {NAME: [re, im]} of coordinates or states that are not zero. */
static json_t *make_shape(const bg_system *system, char kind, const double *shape, int n)
{
    json_t *object = json_object();
    char buffer[64];
    for (int i = 0; i < n; i++)
        if (hypot(shape[2 * i], shape[2 * i + 1]) > 1e-9)
            json_object_set_new(object, bg_system_get_name(system, kind, i, buffer, sizeof buffer),
                                json_pack("[f,f]", shape[2 * i], shape[2 * i + 1]));
    return object;
}

static json_t *make_mode(const bg_analysis *a, const bg_modes *m, const bg_mode *mode)
{
    const bg_system *system = a->system;
    json_t *participation = json_object();
    char buffer[64], motion[192];
    bg_analysis_describe(a, mode->shape, 2, motion, sizeof motion);
    for (int k = 0; k < m->n + m->nz; k++)
        if (mode->participation[k] > 1e-6)
            json_object_set_new(participation,
                                bg_analysis_get_part_name(a, m, k, buffer, sizeof buffer),
                                json_real(mode->participation[k]));
    return json_pack("{s:[f,f], s:f, s:f, s:s, s:o, s:o, s:o}", "eigenvalue", mode->re, mode->im,
                     "frequency", mode->frequency, "damping", mode->damping, "motion", motion,
                     "participation", participation, "shape",
                     make_shape(system, 'v', mode->shape, m->nv), "states",
                     make_shape(system, 'z', mode->shape_z, m->nz));
}

static json_t *make_modes(const bg_analysis *a, const bg_modes *m)
{
    json_t *modes = json_array(), *free_ = json_array();
    for (int k = 0; k < m->count; k++)
        json_array_append_new(modes, make_mode(a, m, &m->mode[k]));
    for (int k = 0; k < m->nfree; k++) {
        json_t *shape = json_object();
        char buffer[64];
        for (int i = 0; i < m->nv; i++)
            if (fabs(m->free[k].shape[i]) > 1e-9)
                json_object_set_new(shape,
                                    bg_system_get_name(a->system, 'v', i, buffer, sizeof buffer),
                                    json_real(m->free[k].shape[i]));
        json_array_append_new(free_, shape);
    }
    return json_pack("{s:s, s:i, s:s, s:s?, s:s, s:f, s:i, s:i, s:o, s:o}", "kind", "modes",
                     "format", 1, "model", bg_problem_get_reference(a->problem), "formulation",
                     bg_problem_get_formulation(a->problem), "where", a->where, "t", a->state->t,
                     "zeros", m->zeros, "unstable", m->unstable, "modes", modes, "free", free_);
}

/* [{"name", "unit", "value"}] */
static json_t *make_values(const bg_system *system, char kind, const double *x, int n)
{
    const char named = kind == 'a' ? 'v' : kind == 'l' ? 'g' : kind; /* after whose names */
    json_t *all = json_array();
    char buffer[64];
    for (int i = 0; i < n; i++)
        json_array_append_new(all,
                              json_pack("{s:s, s:s, s:o}", "name",
                                        bg_system_get_name(system, named, i, buffer, sizeof buffer),
                                        "unit", bg_system_get_unit(system, kind, i), "value",
                                        isfinite(x[i]) ? json_real(x[i]) : json_null()));
    return all;
}

static json_t *make_state(const bg_analysis *a)
{
    const bg_system_def *def = &a->system->def;
    const bg_state *x = a->linearisation->at;
    const bg_warnings *list = bg_analysis_get_warnings(a);
    json_t *remarks = json_array();
    for (int i = 0; i < list->count; i++)
        json_array_append_new(remarks,
                              json_pack("{s:s, s:s, s:s}", "verdict",
                                        bg_verdict_get_name(list->items[i].verdict), "topic",
                                        list->items[i].topic, "text", list->items[i].text));
    return json_pack("{s:s, s:i, s:s, s:s?, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                     "state", "format", 1, "model", bg_problem_get_reference(a->problem),
                     "formulation", bg_problem_get_formulation(a->problem), "where", a->where, "t",
                     x->t, "q", make_values(a->system, 'q', x->q, def->nq), "v",
                     make_values(a->system, 'v', x->v, def->nv), "a",
                     make_values(a->system, 'a', x->a, def->nv), "z",
                     make_values(a->system, 'z', x->z, def->nz), "lambda",
                     make_values(a->system, 'l', x->lambda, def->ng), "outputs",
                     make_values(a->system, 'y', a->y, def->ny), "remarks", remarks);
}

char *bg_analysis_create_text(bg_analysis *a, const char *what, bg_error *err)
{
    const bg_linear_matrices *matrices;
    const bg_modes *modes;
    json_t *root = NULL;
    if (strcmp(what, "state") == 0) {
        root = make_state(a);
    } else if (strcmp(what, "modes") == 0) {
        if (bg_analysis_calc_modes(a, &modes, err) != BG_OK)
            return NULL;
        root = make_modes(a, modes);
    } else if (strcmp(what, "matrices") == 0) {
        if (bg_analysis_calc_matrices(a, &matrices, err) != BG_OK)
            return NULL;
        root = bg_linear_make_json(matrices);
    } else {
        bg_error_set(err, BG_BAD_INPUT,
                     "an analysis has the texts 'state', 'matrices' and 'modes', not '%s'", what);
        return NULL;
    }
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text)
        bg_error_set(err, BG_NO_MEMORY, "out of memory for the text");
    return text;
}
