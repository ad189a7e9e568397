/* bogie linearise: A, B, C, D about a state, with names and units. */
#include "base/memory.h"
#include "cli/linear.h"
#include "report/page.h"
#include "results/linear.h"
#include "run/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct arguments {
    bg_linear_arguments linear;
    const char *output;
} arguments;

#define FIELD(name) offsetof(arguments, name)

static const bg_cli_option options[] = {
    BG_LINEAR_OPTIONS,
    {"--output", "-o", "FILE|-", BG_CLI_TEXT, FIELD(output),
     "the matrices, FILE.json, FILE.csv, FILE.mat or FILE.h5; - is JSON on stdout (default)"},
};

static const char *const rate_units[3][3] = {
    {"m", "m/s", "m/s²"}, {"rad", "rad/s", "rad/s²"}, {"", "1/s", "1/s²"}};

/* The unit of a displacement along velocity coordinate i, or of its rate. */
static const char *find_unit(const bg_scene *scene, int i, bool rate)
{
    const char *unit = bg_page_find_unit(scene, "v", i);
    for (int k = 0; k < 3; k++)
        if (strcmp(unit, rate_units[k][1]) == 0)
            return rate_units[k][rate];
    return "";
}

static void name_states(const bg_linear_job *job, const bg_scene *scene, bg_linear_matrices *m)
{
    const bg_linearisation *l = job->linearisation;
    const bg_system *system = job->problem->system;
    bool plain = l->nq == l->nv && !l->kinematic;
    char buffer[64];
    for (int k = 0; k < l->n; k++) {
        int i = l->tangent->independent[k];
        const char *name = bg_system_get_name(system, 'v', i, buffer, sizeof buffer);
        bg_linear_signal *x = &m->x[k], *v = &m->x[l->n + k];
        snprintf(x->name, sizeof x->name, "%.80s", name);
        snprintf(v->name, sizeof v->name, "%.80s rate", name);
        x->unit = find_unit(scene, i, false);
        v->unit = find_unit(scene, i, true);
        x->value = plain ? job->state->q[i] : 0;
        v->value = job->state->v[i];
    }
    for (int k = 0; k < l->nz; k++) {
        bg_linear_signal *z = &m->x[2 * l->n + k];
        snprintf(z->name, sizeof z->name, "%.80s",
                 bg_system_get_name(system, 'z', k, buffer, sizeof buffer));
        z->unit = "";
        z->value = job->state->z[k];
    }
}

/* The unit of an input, or of its first or second rate. */
static const char *find_input_unit(const bg_scene *scene, int i, int rate)
{
    const char *unit = bg_page_find_unit(scene, "inputs", i);
    for (int k = 0; k < 2; k++)
        if (strcmp(unit, rate_units[k][0]) == 0)
            return rate_units[k][rate];
    return "";
}

/* Inputs, and those of their rates on which something depends; columns of B and D move together. */
static void choose_inputs(const bg_linear_job *job, const bg_scene *scene, bg_linear_matrices *m,
                          double *B, double *D)
{
    static const char *const suffix[3] = {"", " rate", " second rate"};
    const bg_linearisation *l = job->linearisation;
    const bg_evaluator *ev = job->evaluator;
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
                 bg_system_get_name(job->problem->system, 'u', i, buffer, sizeof buffer),
                 suffix[d]);
        u->unit = find_input_unit(scene, i, d);
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

static bg_status name_outputs(const bg_linear_job *job, const bg_scene *scene,
                              bg_linear_matrices *m, bg_error *err)
{
    const bg_system_def *def = &job->evaluator->def;
    const bg_state *x = job->linearisation->at;
    double *y = BG_NEW_ARRAY(double, m->ny);
    char buffer[64];
    bg_point p;
    bg_status st = y ? bg_system_set_state(job->evaluator, x, &p, err)
                     : bg_error_set(err, BG_NO_MEMORY, "out of memory for the matrices");
    if (st == BG_OK && m->ny > 0 && def->outputs(def->self, &p, x->a, x->lambda, y) != 0)
        st = bg_error_set(err, BG_SYSTEM_FAILED, "system '%s': `outputs` failed", def->name);
    for (int k = 0; k < m->ny && st == BG_OK; k++) {
        snprintf(m->y[k].name, sizeof m->y[k].name, "%.80s",
                 bg_system_get_name(job->problem->system, 'y', k, buffer, sizeof buffer));
        m->y[k].unit = bg_page_find_unit(scene, "outputs", k);
        m->y[k].value = y[k];
    }
    free(y);
    return st;
}

static bg_status fill(const bg_linear_job *job, const bg_scene *scene, bg_linear_matrices *m,
                      double *B, double *D, bg_error *err)
{
    bg_status st = bg_linearisation_calc(job->linearisation, m->A, B, m->C, D, err);
    if (st != BG_OK)
        return st;
    name_states(job, scene, m);
    st = name_outputs(job, scene, m, err); /* which sets the inputs, too */
    if (st == BG_OK && job->linearisation->nu > 0)
        choose_inputs(job, scene, m, B, D);
    return st;
}

static bg_status write_matrices(const bg_linear_job *job, const char *path, bg_error *err)
{
    const bg_linearisation *l = job->linearisation;
    size_t nx = (size_t)l->nx, ny = (size_t)l->ny, wide = 3 * (size_t)l->nu;
    bg_linear_matrices m = {.model = bg_problem_get_reference(job->problem),
                            .where = job->where,
                            .t = job->state->t,
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
    bg_scene scene = {.model = job->problem->model, .formulation = job->problem->formulation};
    bg_status st = m.x && m.u && m.y && m.A && m.B && m.C && m.D && B && D
                       ? BG_OK
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory for the matrices");
    if (st == BG_OK && scene.model)
        st = bg_mechanism_create(scene.model, &scene.mechanism, err);
    if (st == BG_OK)
        st = fill(job, scene.model ? &scene : NULL, &m, B, D, err);
    if (st == BG_OK)
        st = bg_linear_write(&m, path, err);
    if (st == BG_OK && strcmp(path, "-") != 0)
        printf("%s, linearised %s: %d states, %d inputs, %d outputs in '%s'\n", m.model, m.where,
               m.nx, m.nu, m.ny, path);
    if (scene.mechanism)
        bg_mechanism_destroy(scene.mechanism);
    free(m.x), free(m.u), free(m.y);
    free(m.A), free(m.B), free(m.C), free(m.D);
    free(B), free(D);
    return st;
}

static bg_status check(const void *args, bg_error *err)
{
    return bg_linear_check_place(((const arguments *)args)->output, err);
}

static bg_status work(bg_linear_job *job, const void *args, bg_error *err)
{
    return write_matrices(job, ((const arguments *)args)->output, err);
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    arguments args = {.linear = {.at = NAN, .formulation = BG_FORMULATION_DEFAULT}, .output = "-"};
    return bg_linear_run(verb, &(bg_linear_verb){check, work}, argc, argv, &args);
}

const bg_verb bg_verb_linearise = {
    .name = "linearise",
    .operand = "MODEL",
    .summary = "A, B, C, D of a system about a state or the equilibrium",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
