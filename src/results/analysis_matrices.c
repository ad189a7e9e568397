/* A, B, C, D about the state of an analysis, with names, units and values of what they relate. */
#include "results/analysis.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rate_units[3][3] = {
    {"m", "m/s", "m/s²"}, {"rad", "rad/s", "rad/s²"}, {"", "1/s", "1/s²"}};

/* The unit of a displacement along velocity coordinate i, or of its rate. */
static const char *find_unit(const bg_system *system, int i, bool rate)
{
    const char *unit = bg_system_get_unit(system, 'v', i);
    for (int k = 0; k < 3; k++)
        if (strcmp(unit, rate_units[k][1]) == 0)
            return rate_units[k][rate];
    return "";
}

static void name_states(const bg_analysis *a, bg_linear_matrices *m)
{
    const bg_linearisation *l = a->linearisation;
    const bg_system *system = a->system;
    bool plain = l->nq == l->nv && !l->kinematic;
    char buffer[64];
    for (int k = 0; k < l->n; k++) {
        int i = l->tangent->independent[k];
        const char *name = bg_system_get_name(system, 'v', i, buffer, sizeof buffer);
        bg_linear_signal *x = &m->x[k], *v = &m->x[l->n + k];
        snprintf(x->name, sizeof x->name, "%.80s", name);
        snprintf(v->name, sizeof v->name, "%.80s rate", name);
        x->unit = find_unit(system, i, false);
        v->unit = find_unit(system, i, true);
        x->value = plain ? a->state->q[i] : 0;
        v->value = a->state->v[i];
    }
    for (int k = 0; k < l->nz; k++) {
        bg_linear_signal *z = &m->x[2 * l->n + k];
        snprintf(z->name, sizeof z->name, "%.80s",
                 bg_system_get_name(system, 'z', k, buffer, sizeof buffer));
        z->unit = bg_system_get_unit(system, 'z', k);
        z->value = a->state->z[k];
    }
}

/* The unit of an input, or of its first or second rate. */
static const char *find_input_unit(const bg_system *system, int i, int rate)
{
    const char *unit = bg_system_get_unit(system, 'u', i);
    for (int k = 0; k < 2; k++)
        if (strcmp(unit, rate_units[k][0]) == 0)
            return rate_units[k][rate];
    return "";
}

/* Inputs, and those of their rates on which something depends; columns of B and D move together. */
static void choose_inputs(const bg_analysis *a, bg_linear_matrices *m, double *B, double *D)
{
    static const char *const suffix[3] = {"", " rate", " second rate"};
    const bg_linearisation *l = a->linearisation;
    const bg_evaluator *ev = a->evaluator;
    const double *const values[3] = {ev->u, ev->u_t, ev->u_tt};
    int wide = 3 * l->nu;
    char buffer[64];
    m->nu = 0;
    for (int c = 0; c < wide; c++) {
        bool matters = c < l->nu;
        for (int i = 0; i < m->nx; i++)
            matters = matters || fabs(B[i * wide + c]) > 1e-12;
        for (int i = 0; i < m->ny; i++)
            matters = matters || fabs(D[i * wide + c]) > 1e-9;
        if (!matters)
            continue;
        bg_linear_signal *u = &m->u[m->nu++];
        int i = c % l->nu, d = c / l->nu;
        snprintf(u->name, sizeof u->name, "%.70s%s",
                 bg_system_get_name(a->system, 'u', i, buffer, sizeof buffer), suffix[d]);
        u->unit = find_input_unit(a->system, i, d);
        u->value = values[d][i];
        for (int k = 0; k < m->nx; k++)
            m->B[k * wide + m->nu - 1] = B[k * wide + c];
        for (int k = 0; k < m->ny; k++)
            m->D[k * wide + m->nu - 1] = D[k * wide + c];
    }
    for (int k = 0; k < m->nx; k++) /* rows without gaps */
        memmove(m->B + k * m->nu, m->B + k * wide, (size_t)m->nu * sizeof *m->B);
    for (int k = 0; k < m->ny; k++)
        memmove(m->D + k * m->nu, m->D + k * wide, (size_t)m->nu * sizeof *m->D);
}

static void name_outputs(const bg_analysis *a, bg_linear_matrices *m)
{
    char buffer[64];
    for (int k = 0; k < m->ny; k++) {
        snprintf(m->y[k].name, sizeof m->y[k].name, "%.80s",
                 bg_system_get_name(a->system, 'y', k, buffer, sizeof buffer));
        m->y[k].unit = bg_system_get_unit(a->system, 'y', k);
        m->y[k].value = a->y[k];
    }
}

bg_status bg_analysis_make_matrices(const bg_analysis *a, bg_linear_matrices *m, bg_error *err)
{
    const bg_linearisation *l = a->linearisation;
    size_t nx = (size_t)l->nx, ny = (size_t)l->ny, wide = 3 * (size_t)l->nu;
    bg_point p;
    *m = (bg_linear_matrices){.model = bg_problem_get_reference(a->problem),
                              .where = a->where,
                              .t = a->state->t,
                              .nx = l->nx,
                              .ny = l->ny,
                              .x = BG_NEW_ARRAY(bg_linear_signal, nx),
                              .u = BG_NEW_ARRAY(bg_linear_signal, wide),
                              .y = BG_NEW_ARRAY(bg_linear_signal, ny),
                              .A = BG_NEW_ARRAY(double, nx *nx),
                              .B = BG_NEW_ARRAY(double, nx *wide),
                              .C = BG_NEW_ARRAY(double, ny *nx),
                              .D = BG_NEW_ARRAY(double, ny *wide)};
    double *B = BG_NEW_ARRAY(double, nx *wide), *D = BG_NEW_ARRAY(double, ny *wide);
    bg_status st = m->x && m->u && m->y && m->A && m->B && m->C && m->D && B && D
                       ? bg_linearisation_calc(a->linearisation, m->A, B, m->C, D, err)
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory for the matrices");
    if (st == BG_OK) /* which sets the inputs of the evaluator */
        st = bg_system_set_state(a->evaluator, l->at, &p, err);
    if (st == BG_OK) {
        name_states(a, m);
        name_outputs(a, m);
    }
    if (st == BG_OK && l->nu > 0)
        choose_inputs(a, m, B, D);
    free(B), free(D);
    return st;
}

void bg_linear_matrices_clear(bg_linear_matrices *m)
{
    free(m->x), free(m->u), free(m->y);
    free(m->A), free(m->B), free(m->C), free(m->D);
    *m = (bg_linear_matrices){0};
}
