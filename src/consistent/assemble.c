/* Consistent start values (003 Task 1), one level after the other.
 *
 * Positions solve (12a) from the user's guess (positions.c), velocities solve (12b), accelerations
 * and multipliers (4). A model says what it wants of its start; consistent/starts.c finds that
 * first.
 *
 * Dependent rows of G (linalg/rank.c) are left out of all linear systems. They are redundant when
 * they stay fulfilled where the others lead (redundancy.c), and contradictory when they are not
 * fulfilled at the start. */
#include "consistent/assembly.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "consistent/starts.h"
#include "math/arrays.h"
#include "system/masses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double get_size(const bg_assembly *a, int i)
{
    return a->sys->def.v_size ? a->sys->def.v_size[i] : 1;
}

/* The largest velocity that was given, which leaves its rounding. */
static double find_asked(const bg_assembly *a)
{
    const bg_system_def *def = &a->sys->def;
    double asked = 0;
    bg_given g;
    for (int i = 0; i < a->dyn->nv; i++)
        asked = fmax(asked, fabs(a->before->v[i]) / get_size(a, i));
    const bg_point *p = &a->dyn->point;
    for (int k = 0; a->wished && def->starts->get_given(def->self, k == 0 ? p : NULL, k, &g) == 0;
         k++)
        asked = fmax(asked, strstr(g.unit, "/s") ? g.size : 0);
    return asked;
}

/* speed <- how fast the coordinates of each row of G v + g_t are, beside their sizes. */
static void calc_speeds(const bg_assembly *a, double *speed)
{
    const bg_dynamics *d = a->dyn;
    const bg_pattern *p = a->sys->def.pattern_G;
    double least = 0;
    for (int i = 0; i < d->nv; i++)
        least = fmax(least, fabs(a->x->v[i]) / get_size(a, i));
    least = 1e-6 * fmax(least, find_asked(a));
    for (int i = 0; i < d->ng; i++) {
        speed[i] = fmax(least, fabs(d->terms.gt[i]) / a->scale[i]);
        for (int k = p ? p->row_start[i] : 0; k < (p ? p->row_start[i + 1] : d->nv); k++) {
            int j = p ? p->column[k] : k;
            speed[i] = fmax(speed[i], fabs(a->x->v[j]) / get_size(a, j));
        }
    }
}

static bg_status assemble_velocities(bg_assembly *a, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    const unsigned char *fixed = a->v_fixed;
    bg_status st = bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt,
                                        err);
    if (st != BG_OK)
        return st;
    bg_assembly_update_rank(a, fixed);
    st = bg_dynamics_factor(d, NULL, err);
    if (st != BG_OK)
        return st;
    if (a->wished && (st = bg_starts_find_velocity(d, a->dependent, a->x, err)) != BG_OK)
        return bg_assembly_explain(a, st, err);
    bg_project_velocity(d, a->x->v);
    bg_project_velocity(d, a->x->v); /* once more: removes the rounding of a large correction */
    bg_dynamics_calc_w(d, a->x->v, a->tau);
    calc_speeds(a, a->other_remainder);
    return bg_assembly_check_eliminated(a, a->tau, 1, 1e-8, a->other_remainder, fixed != NULL, err);
}

static bg_status assemble_accelerations(bg_assembly *a, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    bg_state *x = a->x;
    bg_assembly_update_rank(a, NULL);
    bg_status st = bg_assembly_evaluate(a, x->q,
                                        BG_TERM_M | BG_TERM_f | BG_TERM_G | BG_TERM_g | BG_TERM_gt |
                                            BG_TERM_gamma | (d->nz > 0 ? BG_TERM_h : 0u),
                                        err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st == BG_OK)
        st = bg_dynamics_solve(d, x->a, x->lambda, err);
    if (st != BG_OK)
        return st;
    a->report->rcond = bg_dynamics_calc_rcond(d);
    bg_matrix_multiply(d->ng, d->nv, a->sys->def.pattern_G, d->terms.G, x->a, a->tau);
    double size = 1;
    for (int i = 0; i < d->nv; i++)
        size = fmax(size, fabs(x->a[i]) / get_size(a, i));
    for (int i = 0; i < d->ng; i++) {
        a->tau[i] += d->terms.gamma[i];
        size = fmax(size, fabs(d->terms.gamma[i]) / a->scale[i]);
    }
    for (int i = 0; i < d->ng; i++)
        a->other_remainder[i] = size;
    st = bg_assembly_check_eliminated(a, a->tau, 2, 1e-6, a->other_remainder, false, err);
    a->report->max_ga = bg_find_largest(a->tau, d->ng);
    bg_dynamics_calc_w(d, x->v, a->tau);
    a->report->max_gv = bg_find_largest(a->tau, d->ng);
    a->report->max_g = bg_find_largest(d->terms.g, d->ng);
    return st;
}

/* Into arrays of length ng. */
static void fill_redundancy(const bg_assembly *a, bg_redundancy *r)
{
    r->count = 0;
    r->misfit = 0;
    r->margin = HUGE_VAL;
    r->weakest = -1;
    r->allowed = a->allowed;
    for (int i = 0; i < a->dyn->ng; i++) {
        r->not_unique[i] = a->involved[i];
        if (a->dependent[i]) {
            r->eliminated[r->count++] = i;
            r->misfit = fmax(r->misfit, a->misfit[i]);
        } else if (a->remainder[i] < r->margin) {
            r->margin = a->remainder[i];
            r->weakest = i;
        }
    }
}

/* A negative mass would turn the sign of everything without any other sign of trouble. */
static bg_status check_masses(bg_assembly *a, bg_error *err)
{
    if (a->dyn->by_formalism || a->sys->def.check_start)
        return BG_OK;
    bg_status st = bg_assembly_evaluate(a, a->x->q, BG_TERM_M, err);
    return st == BG_OK ? bg_masses_check(a->sys->system, a->x->t, a->dyn->terms.M, err) : st;
}

/* By how much what is given may be missed: the misfit of the data, or rounding. */
static double calc_allowed(const bg_assembly *a)
{
    static const double rounding = 1e-12; /* near the origin */
    return fmax(a->allowed, rounding * bg_project_calc_coarseness(a->dyn));
}

static bg_status assemble(bg_assembly *a, bool decided, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    bg_state *x = a->x;
    bg_status st = BG_OK;
    if (a->wished)
        st = bg_starts_find_position(d, x, err);
    memcpy(a->guess, x->q, (size_t)d->nq * sizeof(double));
    memcpy(a->origin, x->q, (size_t)d->nq * sizeof(double));
    if (d->ng == 0 && a->wished && st == BG_OK)
        st = bg_starts_find_velocity(d, NULL, x, err);
    if (st != BG_OK)
        return st;
    if (d->ng == 0)
        return bg_dynamics_accelerate(d, x->t, x->q, x->v, x->z, x->mode, 0, x->a, x->lambda, err);
    st = bg_assembly_solve_positions(a, decided, err);
    if (a->wished)
        st = bg_starts_explain_position(d, x, calc_allowed(a), st, err);
    if (st == BG_OK)
        st = assemble_velocities(a, err);
    if (st == BG_OK)
        st = assemble_accelerations(a, err);
    if (bg_rank_has_failed(a->ranking))
        return bg_error_set(err, BG_NO_MEMORY,
                            "no memory to tell which constraints of '%s' depend "
                            "on others",
                            a->sys->def.name);
    return st;
}

/* Whether the state is as the definition has it. */
static bool is_untouched(const bg_system_def *def, const bg_state *x)
{
    return memcmp(x->q, def->q0, (size_t)def->nq * sizeof(double)) == 0 &&
           memcmp(x->v, def->v0, (size_t)def->nv * sizeof(double)) == 0;
}

/* Takes over which rows were redundant, or leaves all to be decided. */
static void start_order(bg_assembly *a, const bg_redundancy *known)
{
    memset(a->order, known ? 1 : 0, (size_t)a->dyn->ng);
    memset(a->dyn->offset, 0, (size_t)a->dyn->ng * sizeof(double));
    if (known && known->offset)
        memcpy(a->dyn->offset, known->offset, (size_t)a->dyn->ng * sizeof(double));
    a->allowed = known ? known->allowed : 0;
    a->begun = false;
    for (int k = 0; known && k < known->count; k++) {
        a->order[known->eliminated[k]] = -1;
        a->misfit[known->eliminated[k]] = known->misfit;
    }
}

/* Everything but the arrays of the report, which may be NULL; known: the redundancy on the way,
 * NULL at the start. On failure the state is as before. */
static bg_status run(bg_assembly *a, bg_state *state, const bg_redundancy *known,
                     bg_assembly_report *report, bg_error *err)
{
    const bg_system_def *def = &a->sys->def;
    bool fix = !known;
    a->x = state;
    a->report = report;
    a->q_fixed = fix ? def->q_fixed : NULL;
    a->v_fixed = fix ? def->v_fixed : NULL;
    a->onward = !fix;
    a->wished = fix && def->starts && def->starts->guess && is_untouched(def, state);
    if (a->dyn->kkt)
        bg_kkt_reset(a->dyn->kkt); /* no result may depend on earlier assemblies */
    bg_state_copy(a->sys->system, state, a->before);
    if (def->normalise)
        def->normalise(def->self, state->q);
    start_order(a, known);
    bg_status st = fix ? check_masses(a, err) : BG_OK; /* later, factorisations tell */
    if (st == BG_OK)
        st = assemble(a, known != NULL, err);
    if (st == BG_OK && fix && def->starts && is_untouched(def, a->before))
        st = bg_starts_report(a->sys, state, calc_allowed(a), report, err);
    for (int i = 0; i < def->nq && report->moved_q; i++)
        report->moved_q[i] = state->q[i] - a->before->q[i];
    for (int i = 0; i < def->nv && report->moved_v; i++)
        report->moved_v[i] = state->v[i] - a->before->v[i];
    if (st != BG_OK)
        bg_state_copy(a->sys->system, a->before, state);
    if (st == BG_RETRY) { /* there is no smaller step at the start */
        st = BG_SYSTEM_FAILED;
        if (err)
            err->status = st;
    }
    return st;
}

/* What the system says about q, which was assembled or, where the matrix is singular, could not be
 * for want of mass. */
static bg_status check_start(bg_assembly *a, const double *q, bg_status st, bg_error *err)
{
    const bg_system_def *def = &a->sys->def;
    bg_error own = {BG_OK, ""};
    bool judged = st == BG_OK || st == BG_SINGULAR || st == BG_NOT_FINITE;
    if (!def->check_start || !judged ||
        (def->ng > 0 && bg_assembly_evaluate(a, q, BG_TERM_G, &own) != BG_OK))
        return st;
    bg_status judgement = def->check_start(def->self, q, a->dyn->terms.G, a->dependent,
                                           &a->report->warnings, &own);
    if (judgement == BG_OK)
        return st;
    bg_state_copy(a->sys->system, a->before, a->x);
    return bg_error_set(err, judgement, "%s", own.text);
}

bg_status bg_state_assemble_with(bg_evaluator *sys, bg_state *state, bg_assembly_report *report,
                                 bg_error *err)
{
    const bg_system_def *def = &sys->def;
    bg_assembly_report own = {.method = "none"};
    bg_assembly *a;
    bg_status st = bg_assembly_create(sys, &a, err);
    if (st != BG_OK)
        return st;
    own.moved_q = BG_NEW_ARRAY(double, def->nq);
    own.moved_v = BG_NEW_ARRAY(double, def->nv);
    own.redundancy.eliminated = BG_NEW_ARRAY(int, def->ng);
    own.redundancy.not_unique = BG_NEW_ARRAY(unsigned char, def->ng);
    own.redundancy.offset = BG_NEW_ARRAY(double, def->ng);
    if (own.moved_q && own.moved_v && own.redundancy.eliminated && own.redundancy.not_unique &&
        own.redundancy.offset)
        st = check_start(a, state->q, run(a, state, NULL, &own, err), err);
    else
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
    if (st == BG_OK)
        st = bg_assembly_find_reactions(a, err);
    if (st == BG_OK) {
        fill_redundancy(a, &own.redundancy);
        bg_assembly_warn(a, &own);
    }
    bg_assembly_destroy(a);
    if (report && st == BG_OK)
        *report = own;
    else
        bg_assembly_report_clear(&own);
    return st;
}

bg_status bg_state_assemble(const bg_system *system, bg_state *state, bg_assembly_report *report,
                            bg_error *err)
{
    bg_evaluator *own;
    bg_status st = bg_evaluator_create(system, &own, err);
    if (st == BG_OK)
        st = bg_state_assemble_with(own, state, report, err);
    bg_evaluator_destroy(own);
    return st;
}

bg_status bg_state_assemble_again(bg_assembly *a, bg_state *state, bg_redundancy *redundancy,
                                  bg_error *err)
{
    bg_assembly_report report = {0};
    bg_status st = run(a, state, redundancy, &report, err);
    if (st == BG_OK)
        fill_redundancy(a, redundancy);
    return st;
}

void bg_assembly_report_clear(bg_assembly_report *report)
{
    free(report->moved_q);
    free(report->moved_v);
    free(report->unmet);
    free(report->not_unique);
    free(report->redundancy.eliminated);
    free(report->redundancy.not_unique);
    free(report->redundancy.offset);
    bg_warnings_clear(&report->warnings);
    *report = (bg_assembly_report){0};
}
