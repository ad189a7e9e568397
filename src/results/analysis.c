/* The state an analysis is about, and what is computed there when it is asked for. */
#include "results/analysis.h"

#include "base/memory.h"
#include "formalism/motion.h"
#include "results/linear.h"
#include "run/problem.h"
#include "run/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_analysis_options bg_default_analysis_options(void)
{
    return (bg_analysis_options){.at = NAN};
}

static bg_status start(bg_analysis *a, bg_error *err)
{
    double t = bg_problem_get_run_options(a->problem).t_start;
    snprintf(a->where, sizeof a->where, "%s", a->rests ? "in equilibrium" : "at the start");
    t = isnan(t) ? a->system->def.t_start : t;
    return a->rests ? bg_start_find_rest(a->evaluator, t, a->state, &a->start, err)
                    : bg_start_find(a->evaluator, t, a->state, &a->start, err);
}

/* By the method that the problem says, without results. */
static bg_status run_to(bg_analysis *a, const bg_analysis_options *asked, bg_error *err)
{
    bg_run_options options = bg_problem_get_run_options(a->problem);
    options.t_end = asked->at;
    options.output_interval = 0;
    options.output_steps = 0;
    options.stop = asked->stop;
    bg_status st = bg_run(a->system, &options, &a->run, err);
    if (st == BG_OK)
        bg_state_copy(a->system, a->run.final, a->state);
    snprintf(a->where, sizeof a->where, "at t = %g s", a->state->t);
    return st;
}

static bg_status find_outputs(bg_analysis *a, bg_error *err)
{
    const bg_system_def *def = &a->evaluator->def;
    const bg_state *x = a->linearisation->at;
    bg_point p;
    a->y = BG_NEW_ARRAY(double, def->ny);
    bg_status st = a->y ? bg_system_set_state(a->evaluator, x, &p, err)
                        : bg_error_set(err, BG_NO_MEMORY, "out of memory for the outputs");
    if (st == BG_OK && def->ny > 0 && def->outputs(def->self, &p, x->a, x->lambda, a->y) != 0)
        st = bg_error_set(err, BG_SYSTEM_FAILED, "system '%s': `outputs` failed", def->name);
    return st;
}

static bg_status find(bg_analysis *a, const bg_analysis_options *options, bg_error *err)
{
    bool moved = !isnan(options->at);
    if (moved && options->equilibrium)
        return bg_error_set(err, BG_BAD_INPUT,
                            "an equilibrium is found from the start: 'equilibrium' and 'at' "
                            "exclude each other");
    bg_status st = bg_evaluator_create(a->system, &a->evaluator, err);
    if (st == BG_OK)
        st = bg_state_create(a->system, &a->state, err);
    if (st == BG_OK)
        st = moved ? run_to(a, options, err) : start(a, err);
    if (st != BG_OK) {
        bg_problem_locate(a->problem, st, err);
        return st;
    }
    st = bg_linearisation_create(a->evaluator, &a->linearisation, err);
    if (st == BG_OK)
        st = bg_linearisation_update(a->linearisation, a->state, bg_analysis_get_redundancy(a),
                                     err);
    return st == BG_OK ? find_outputs(a, err) : st;
}

bg_status bg_analysis_create(const bg_problem *problem, const bg_analysis_options *options,
                             bg_analysis **analysis, bg_error *err)
{
    bg_analysis *a = BG_NEW(bg_analysis);
    *analysis = NULL;
    if (!a)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for an analysis");
    a->problem = problem;
    a->system = bg_problem_get_system(problem);
    a->rests = isnan(options->at) && (options->equilibrium || a->system->equilibrium);
    bg_status st = find(a, options, err);
    if (st == BG_OK)
        *analysis = a;
    else
        bg_analysis_destroy(a);
    return st;
}

void bg_analysis_destroy(bg_analysis *a)
{
    if (!a)
        return;
    bg_modes_clear(&a->modes);
    bg_linear_matrices_clear(&a->matrices);
    bg_linearisation_destroy(a->linearisation);
    bg_assembly_report_clear(&a->start);
    bg_run_report_clear(&a->run);
    bg_state_destroy(a->state);
    bg_evaluator_destroy(a->evaluator);
    free(a->y);
    free(a);
}

const char *bg_analysis_get_place(const bg_analysis *a)
{
    return a->where;
}

const bg_state *bg_analysis_get_state(const bg_analysis *a)
{
    return a->linearisation->at;
}

const double *bg_analysis_get_outputs(const bg_analysis *a)
{
    return a->y;
}

const bg_warnings *bg_analysis_get_warnings(const bg_analysis *a)
{
    return a->run.final ? &a->run.warnings : &a->start.warnings;
}

const bg_redundancy *bg_analysis_get_redundancy(const bg_analysis *a)
{
    return a->run.final ? &a->run.assembly.redundancy : &a->start.redundancy;
}

bool bg_analysis_is_instant(const bg_analysis *a)
{
    static const double nothing = 1e-6; /* 1/s^2, of an acceleration beside the size */
    const bg_linearisation *l = a->linearisation;
    bool instant = bg_linearisation_calc_size(l, l->at->a) > nothing;
    for (int i = 0; i < l->nz; i++)
        instant = instant || (!l->moves && fabs(l->h[i]) > nothing);
    return instant;
}

const char *bg_analysis_get_part_name(const bg_analysis *a, const bg_modes *m, int k, char *buffer,
                                      size_t size)
{
    bool freedom = k < m->n;
    return bg_system_get_name(a->system, freedom ? 'v' : 'z',
                              freedom ? m->independent[k] : k - m->n, buffer, size);
}

void bg_analysis_describe(const bg_analysis *a, const double *shape, int stride, char *text,
                          size_t size)
{
    int nv = a->linearisation->nv;
    double *v = calloc((size_t)nv + 1, sizeof *v);
    text[0] = '\0';
    for (int i = 0; v && i < nv; i++)
        v[i] = shape[stride * i];
    if (v && bg_problem_get_model(a->problem))
        bg_motion_describe(a->evaluator, a->state, v, text, size);
    free(v);
}

bg_status bg_analysis_calc_matrices(bg_analysis *a, const bg_linear_matrices **matrices,
                                    bg_error *err)
{
    bg_status st = a->has_matrices ? BG_OK : bg_analysis_make_matrices(a, &a->matrices, err);
    a->has_matrices = st == BG_OK;
    if (st != BG_OK)
        bg_linear_matrices_clear(&a->matrices);
    *matrices = st == BG_OK ? &a->matrices : NULL;
    return st;
}

bg_status bg_analysis_calc_modes(bg_analysis *a, const bg_modes **modes, bg_error *err)
{
    bg_status st = a->has_modes ? BG_OK : bg_modes_create(a->linearisation, &a->modes, err);
    a->has_modes = st == BG_OK;
    if (st != BG_OK)
        bg_modes_clear(&a->modes);
    *modes = st == BG_OK ? &a->modes : NULL;
    return st;
}

bg_status bg_analysis_save_matrices(bg_analysis *a, const char *path, bg_error *err)
{
    const bg_linear_matrices *matrices;
    bg_status st = bg_linear_check_place(path, err);
    if (st == BG_OK)
        st = bg_analysis_calc_matrices(a, &matrices, err);
    return st == BG_OK ? bg_linear_write(matrices, path, err) : st;
}
