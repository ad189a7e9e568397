/* Consistent start values (003 Task 1), redundant and contradictory constraints.
 *
 * Positions solve (12a) from the user's guess: the chord iteration (13) first, with M(p) and G(p)
 * on the right-hand side so that p is the nearest consistent point in the mass metric; when it
 * stalls, the same iteration with the matrix renewed every time; when that stalls too, damped
 * Gauss-Newton steps on g alone, which reach a consistent point from far away but not always the
 * nearest one. Velocities solve (12b), accelerations and multipliers (4). A model says what it
 * wants of its start; consistent/starts.c finds that first.
 *
 * Dependent rows of G (linalg/rank.c) are left out of all linear systems. They are redundant when
 * they are fulfilled at the point the others lead to, and contradictory when they are not. */
#include "consistent/assemble.h"
#include "base/memory.h"
#include "consistent/projection.h"
#include "consistent/starts.h"
#include "system/masses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHORD_ITERATIONS = 20, NEWTON_ITERATIONS = 40, DAMPED_ITERATIONS = 200, ROUNDS = 4 };
static const double rank_tolerance = 1e-9;
static const double converged = 1e-13, roundoff = 1e-11;
static const double fulfilled = 1e-9; /* residual of an eliminated row, relative to its gradient */

struct bg_assembly {
    bg_system *sys;
    bg_dynamics *dyn;
    bg_rank *ranking;
    bg_state *before;                       /* where it began */
    bg_state *x;                            /* the caller's */
    bg_assembly_report *report;             /* the caller's; redundancy is not in it yet */
    const unsigned char *q_fixed, *v_fixed; /* [nv] or NULL */
    bool wished;                            /* the start is to be found as the model wants it */
    double *guess;                          /* [nq] */
    double *delta, *increment;              /* [nv] displacement so far, next increment */
    double *tau, *top;                      /* [ng], [nv] */
    double *trial;                          /* [nq] */
    double *scale;                          /* [ng] length of the rows of G */
    double *coefficient;                    /* [ng ng] how dependent rows depend */
    unsigned char *dependent, *involved;    /* [ng] */
    int rank;
};

static bool allocate(bg_assembly *a)
{
    int nq = a->dyn->nq, nv = a->dyn->nv, ng = a->dyn->ng;
    a->guess = BG_NEW_ARRAY(double, nq);
    a->delta = BG_NEW_ARRAY(double, nv);
    a->increment = BG_NEW_ARRAY(double, nv);
    a->tau = BG_NEW_ARRAY(double, ng);
    a->top = BG_NEW_ARRAY(double, nv);
    a->trial = BG_NEW_ARRAY(double, nq);
    a->scale = BG_NEW_ARRAY(double, ng);
    a->coefficient = BG_NEW_ARRAY(double, (size_t)ng *(size_t)ng);
    a->dependent = BG_NEW_ARRAY(unsigned char, ng);
    a->involved = BG_NEW_ARRAY(unsigned char, ng);
    return a->guess && a->delta && a->increment && a->tau && a->top && a->trial && a->scale &&
           a->coefficient && a->dependent && a->involved;
}

bg_status bg_assembly_create(bg_system *sys, bg_assembly **assembly, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    bg_assembly *a = *assembly = BG_NEW(bg_assembly);
    if (!a)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
    a->sys = sys;
    bg_status st = bg_state_create(sys, &a->before, err);
    if (st == BG_OK)
        st = bg_dynamics_create(sys, &a->dyn, err);
    if (st == BG_OK)
        st = bg_rank_create(def->ng, def->nv, &a->ranking, err);
    if (st == BG_OK && !allocate(a))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
    if (st != BG_OK) {
        bg_assembly_destroy(a);
        *assembly = NULL;
    }
    return st;
}

void bg_assembly_destroy(bg_assembly *a)
{
    if (!a)
        return;
    void *const arrays[] = {a->guess, a->delta, a->increment,   a->tau,       a->top,
                            a->trial, a->scale, a->coefficient, a->dependent, a->involved};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    bg_state_destroy(a->before);
    bg_rank_destroy(a->ranking);
    bg_dynamics_destroy(a->dyn);
    free(a);
}

static bg_status evaluate(bg_assembly *a, const double *q, unsigned want, bg_error *err)
{
    const bg_state *x = a->x;
    if (a->dyn->kinematic)
        want |= BG_TERM_V;
    bg_status st = bg_dynamics_evaluate(a->dyn, x->t, q, x->v, x->z, x->mode, want, err);
    if (st != BG_OK)
        return st;
    char name[96];
    if (bg_system_find_not_finite(a->sys, &a->dyn->terms, want, name, sizeof name))
        return bg_dynamics_report_not_finite(a->dyn, err);
    return BG_OK;
}

/* Lengths of the rows of G at hand; a row that is zero but for rounding gets the length of the
 * longest. */
static void update_scale(bg_assembly *a)
{
    const bg_pattern *p = a->sys->def.pattern_G;
    int nv = a->dyn->nv;
    double longest = 0;
    for (int i = 0; i < a->dyn->ng; i++) {
        double sum = 0;
        int begin = p ? p->row_start[i] : i * nv, end = p ? p->row_start[i + 1] : begin + nv;
        for (int k = begin; k < end; k++)
            sum += a->dyn->terms.G[k] * a->dyn->terms.G[k];
        a->scale[i] = sqrt(sum);
        longest = fmax(longest, a->scale[i]);
    }
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->scale[i] <= 1e-9 * longest || a->scale[i] == 0)
            a->scale[i] = longest > 0 ? longest : 1.0;
}

/* Rank of G at hand with some coordinates fixed; dependent rows leave the linear systems. */
static void update_rank(bg_assembly *a, const unsigned char *fixed)
{
    a->rank = bg_rank_calc(a->ranking, a->sys->def.pattern_G, a->dyn->terms.G, fixed,
                           rank_tolerance, a->dependent, a->involved, a->coefficient);
    memcpy(a->dyn->eliminated, a->dependent, (size_t)a->dyn->ng);
    bg_kkt_set_eliminated(a->dyn->kkt, a->rank < a->dyn->ng ? a->dependent : NULL);
    bg_kkt_set_fixed(a->dyn->kkt, fixed);
}

static double largest_relative(const bg_assembly *a, const double *increment, const double *q)
{
    double size = 0;
    for (int i = 0; i < a->dyn->nv; i++)
        size = fmax(size, fabs(increment[i]) / (1.0 + (a->dyn->kinematic ? 0.0 : fabs(q[i]))));
    return isfinite(size) ? size : HUGE_VAL;
}

/* |g| of the kept rows relative to their gradients. */
static double kept_residual(const bg_assembly *a)
{
    double sum = 0;
    for (int i = 0; i < a->dyn->ng; i++)
        if (!a->dependent[i])
            sum = fmax(sum, fabs(a->dyn->terms.g[i]) / a->scale[i]);
    return sum;
}

/* Iteration (13) from the guess, with the matrix of the guess (chord) or of the iterate. */
static bg_status iterate(bg_assembly *a, bool renew, int limit, bool *done, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    double before = HUGE_VAL;
    *done = false;
    memcpy(a->x->q, a->guess, (size_t)d->nq * sizeof(double));
    memset(a->delta, 0, (size_t)d->nv * sizeof(double));
    memset(a->tau, 0, (size_t)d->ng * sizeof(double));
    for (int k = 0; k < limit; k++) {
        bg_status st = evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
        if ((st == BG_RETRY || st == BG_NOT_FINITE) && k > 0)
            return BG_OK; /* left the domain of the system on the way: shorter steps may not */
        if (st != BG_OK)
            return st;
        if (k == 0 || renew) {
            st = bg_dynamics_factor(d, NULL, err);
            if (st == BG_SINGULAR && k > 0)
                return BG_OK; /* stalled on the way */
            if (st != BG_OK)
                return st;
        }
        bg_matrix_multiply(d->nv, d->nv, a->sys->def.pattern_M, d->terms.M, a->delta, a->increment);
        bg_matrix_add_transposed(d->ng, d->nv, a->sys->def.pattern_G, d->terms.G, 1.0, a->tau,
                                 a->increment);
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, a->increment, d->work_g);
        double size = largest_relative(a, a->increment, a->x->q);
        if (!(size < 4 * before) || size > 1e3)
            return BG_OK;
        bg_system_move(a->sys, a->x->q, d->terms.V, -1.0, a->increment, a->x->q);
        for (int i = 0; i < d->nv; i++)
            a->delta[i] -= a->increment[i];
        for (int i = 0; i < d->ng; i++)
            a->tau[i] -= d->work_g[i];
        a->report->iterations++;
        bool small = size <= converged || (size <= roundoff && size > 0.5 * before);
        before = size;
        if (small) {
            *done = true;
            return BG_OK;
        }
    }
    return BG_OK;
}

static double scaled_norm(const bg_assembly *a, const double *g)
{
    double sum = 0;
    for (int i = 0; i < a->dyn->ng; i++)
        sum += g[i] / a->scale[i] * (g[i] / a->scale[i]);
    return sqrt(sum);
}

/* Gauss-Newton on g with a step no longer than half the configuration's size and halving until |g|
 * falls; rank is found anew at every iterate. */
static bg_status iterate_damped(bg_assembly *a, bool *done, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    *done = false;
    memcpy(a->x->q, a->guess, (size_t)d->nq * sizeof(double));
    for (int k = 0; k < DAMPED_ITERATIONS; k++) {
        bg_status st = evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
        if (st == BG_OK) {
            update_rank(a, a->q_fixed);
            st = bg_dynamics_factor(d, NULL, err);
        }
        if (st != BG_OK)
            return st == BG_SINGULAR ? BG_OK : st;
        double norm = scaled_norm(a, d->terms.g), step = 1.0;
        memset(a->increment, 0, (size_t)d->nv * sizeof(double));
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, a->increment, d->work_g);
        double size = largest_relative(a, a->increment, a->x->q);
        if (size <= converged || (norm <= 1e-13 && size <= roundoff)) {
            *done = true;
            return BG_OK;
        }
        if (size > 0.5)
            step = 0.5 / size;
        a->report->iterations++;
        for (;; step *= 0.5) {
            if (step < 1e-8)
                return BG_OK;
            bg_system_move(a->sys, a->x->q, d->terms.V, -step, a->increment, a->trial);
            bg_error ignored;
            st = evaluate(a, a->trial, BG_TERM_g, &ignored);
            if (st == BG_OK && scaled_norm(a, d->terms.g) <= (1 - 1e-4 * step) * norm)
                break;
            if (st == BG_OK && norm < 1e-12) { /* rounding: nothing left to gain */
                *done = true;
                return BG_OK;
            }
            if (a->dyn->kinematic && (st = evaluate(a, a->x->q, BG_TERM_V, err)) != BG_OK)
                return st;
        }
        memcpy(a->x->q, a->trial, (size_t)d->nq * sizeof(double));
    }
    return BG_OK;
}

/* "a, b and 3 more", for up to six of the rows for which pick is true. */
static void list_rows(const bg_assembly *a, const unsigned char *pick, char *text, size_t size)
{
    int count = 0, written = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < a->dyn->ng; i++)
        count += pick[i] != 0;
    for (int i = 0; i < a->dyn->ng && written < 6 && used < size; i++) {
        char buffer[32];
        if (!pick[i])
            continue;
        const char *separator = written == 0 ? "" : written == count - 1 ? " and " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", separator,
                                 bg_system_get_name(a->sys, 'g', i, buffer, sizeof buffer));
        written++;
    }
    if (written < count && used < size)
        snprintf(text + used, size - used, " and %d more", count - written);
}

/* involved <- the rows that are not met. The search ends where they cannot be brought nearer, which
 * is where rows that pull against each other have become (almost) dependent: if some have, only
 * those are meant, because the rest was merely held up by them. Returns the largest residual. */
static double find_unreachable(bg_assembly *a)
{
    static const double almost = 1e-2;
    int ng = a->dyn->ng, meant = 0;
    double worst = 0;
    bg_rank_calc(a->ranking, a->sys->def.pattern_G, a->dyn->terms.G, a->q_fixed, almost,
                 a->dependent, a->involved, NULL);
    for (int i = 0; i < ng; i++) {
        bool unmet = fabs(a->dyn->terms.g[i]) / a->scale[i] > fulfilled;
        a->dependent[i] = unmet; /* without regard to others */
        a->involved[i] = a->involved[i] && unmet;
        meant += a->involved[i];
        worst = fmax(worst, fabs(a->dyn->terms.g[i]));
    }
    if (meant == 0)
        memcpy(a->involved, a->dependent, (size_t)ng);
    return worst;
}

static bg_status report_unreachable(bg_assembly *a, bg_error *err)
{
    char names[BG_ERROR_LENGTH / 2];
    double worst = find_unreachable(a);
    list_rows(a, a->involved, names, sizeof names);
    return bg_error_set(
        err, BG_NOT_ASSEMBLED,
        "system '%s' cannot be assembled at t = %g: the constraints %s cannot be met "
        "from this start (largest residual %.3g); correct the dimensions, bring the "
        "start values nearer, or fix fewer coordinates",
        a->sys->def.name, a->x->t, names, worst);
}

/* An eliminated row that is not fulfilled: names it and the rows it contradicts. */
static bg_status report_contradiction(bg_assembly *a, int row, const char *level, double residual,
                                      bool fixed, bg_error *err)
{
    char names[BG_ERROR_LENGTH / 2], buffer[32];
    int ng = a->dyn->ng, others = 0;
    const char *name = bg_system_get_name(a->sys, 'g', row, buffer, sizeof buffer);
    for (int k = 0; k < ng; k++) {
        a->involved[k] = !a->dependent[k] && fabs(a->coefficient[row * ng + k]) > 1e-6;
        others += a->involved[k];
    }
    list_rows(a, a->involved, names, sizeof names);
    if (others == 0)
        return bg_error_set(
            err, fixed ? BG_NOT_ASSEMBLED : BG_CONTRADICTORY,
            "system '%s': the constraint '%s' is violated on %s level by %.3g and no "
            "coordinate that may move acts on it; change the start values or fix fewer "
            "coordinates",
            a->sys->def.name, name, level, residual);
    return bg_error_set(
        err, BG_CONTRADICTORY,
        "system '%s': the constraint '%s' contradicts %s on %s level: they restrict "
        "the same motion but disagree by %.3g; remove one of them or make them agree",
        a->sys->def.name, name, names, level, residual);
}

static bg_status check_eliminated(bg_assembly *a, const double *residual, const char *level,
                                  double limit, bool fixed, bg_error *err)
{
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->dependent[i] && !(fabs(residual[i]) <= limit * a->scale[i]))
            return report_contradiction(a, i, level, fabs(residual[i]), fixed, err);
    return BG_OK;
}

/* From the guess in x->q to g = 0 with the rows that are independent there. */
static bg_status solve_positions(bg_assembly *a, bg_error *err)
{
    bool done = false;
    bg_status st = evaluate(a, a->guess, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
    if (st != BG_OK)
        return st;
    update_rank(a, a->q_fixed);
    update_scale(a);
    a->report->method = "chord";
    st = iterate(a, false, CHORD_ITERATIONS, &done, err);
    if (st == BG_OK && !done) {
        a->report->method = "newton";
        st = iterate(a, true, NEWTON_ITERATIONS, &done, err);
    }
    if (st == BG_OK && !done) {
        a->report->method = "damped";
        st = iterate_damped(a, &done, err);
    }
    if (st == BG_OK || st == BG_RETRY)
        st = evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
    if (st != BG_OK)
        return st;
    return done && kept_residual(a) <= fulfilled ? BG_OK : report_unreachable(a, err);
}

/* Moves the guess a little aside when more rows are independent there: constraints that disagree at
 * a singular configuration (bars in line) may well be met elsewhere. The directions are multiples
 * of the golden ratio modulo 1, so that no symmetry survives. */
static bool leave_singularity(bg_assembly *a)
{
    const unsigned char *fixed = a->q_fixed;
    bg_dynamics *d = a->dyn;
    bg_error ignored;
    int rank = a->rank;
    if (evaluate(a, a->guess, BG_TERM_G, &ignored) != BG_OK)
        return false;
    for (int i = 0; i < d->nv; i++) {
        double aside = 0.05 * (2 * fmod(0.6180339887498949 * (i + 1), 1.0) - 1);
        a->increment[i] = fixed && fixed[i] ? 0
                                            : aside * (1 + (d->kinematic ? 0 : fabs(a->guess[i])));
    }
    bg_system_move(a->sys, a->guess, d->terms.V, 1.0, a->increment, a->trial);
    if (evaluate(a, a->trial, BG_TERM_G, &ignored) != BG_OK)
        return false;
    update_rank(a, fixed);
    if (a->rank <= rank)
        return false;
    memcpy(a->guess, a->trial, (size_t)d->nq * sizeof(double));
    return true;
}

/* Positions, repeated when rows that were dependent at the guess are independent at the solution,
 * or disagree at a singular guess. */
static bg_status assemble_positions(bg_assembly *a, bg_error *err)
{
    const unsigned char *fixed = a->q_fixed;
    for (int round = 0;; round++) {
        bg_error disagreement;
        bg_status st = solve_positions(a, err);
        int rank = a->rank;
        if (st != BG_OK)
            return st;
        update_rank(a, fixed);
        update_scale(a);
        if (a->rank > rank && round < ROUNDS) {
            memcpy(a->guess, a->x->q, (size_t)a->dyn->nq * sizeof(double));
            continue;
        }
        st = check_eliminated(a, a->dyn->terms.g, "position", fulfilled, fixed != NULL,
                              &disagreement);
        if (st == BG_OK || round >= ROUNDS || !leave_singularity(a))
            return st == BG_OK ? st : bg_error_set(err, st, "%s", disagreement.text);
    }
}

static bg_status assemble_velocities(bg_assembly *a, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    const unsigned char *fixed = a->v_fixed;
    bg_status st = evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt, err);
    if (st != BG_OK)
        return st;
    update_rank(a, fixed);
    st = bg_dynamics_factor(d, NULL, err);
    if (st != BG_OK)
        return st;
    if (a->wished && (st = bg_starts_find_velocity(d, a->dependent, a->x, err)) != BG_OK)
        return st;
    bg_project_velocity(d, a->x->v);
    bg_project_velocity(d, a->x->v); /* once more: removes the rounding of a large correction */
    bg_dynamics_calc_w(d, a->x->v, a->tau);
    double speed = 1;
    for (int i = 0; i < d->nv; i++)
        speed = fmax(speed, fabs(a->x->v[i]));
    return check_eliminated(a, a->tau, "velocity", 1e-8 * speed, fixed != NULL, err);
}

static bg_status assemble_accelerations(bg_assembly *a, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    bg_state *x = a->x;
    update_rank(a, NULL);
    bg_status st = evaluate(a, x->q,
                            BG_TERM_M | BG_TERM_f | BG_TERM_G | BG_TERM_g | BG_TERM_gt |
                                BG_TERM_gamma | (d->nz > 0 ? BG_TERM_h : 0u),
                            err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st == BG_OK)
        st = bg_dynamics_solve(d, x->a, x->lambda, err);
    if (st != BG_OK)
        return st;
    a->report->rcond = bg_kkt_calc_rcond(d->kkt);
    bg_matrix_multiply(d->ng, d->nv, a->sys->def.pattern_G, d->terms.G, x->a, a->tau);
    double size = 1;
    for (int i = 0; i < d->nv; i++)
        size = fmax(size, fabs(x->a[i]));
    for (int i = 0; i < d->ng; i++) {
        a->tau[i] += d->terms.gamma[i];
        size = fmax(size, fabs(d->terms.gamma[i]) / a->scale[i]);
    }
    st = check_eliminated(a, a->tau, "acceleration", 1e-6 * size, false, err);
    bg_residuals r = bg_dynamics_calc_residuals(d, x->v, x->a);
    a->report->max_g = r.g;
    a->report->max_gv = r.gv;
    a->report->max_ga = r.ga;
    return st;
}

/* Into arrays of length ng. */
static void fill_redundancy(const bg_assembly *a, bg_redundancy *r)
{
    r->count = 0;
    for (int i = 0; i < a->dyn->ng; i++) {
        if (a->dependent[i])
            r->eliminated[r->count++] = i;
        r->not_unique[i] = a->involved[i];
    }
}

/* A negative mass would turn the sign of everything without any other sign of trouble. */
static bg_status check_masses(bg_assembly *a, bg_error *err)
{
    if (a->dyn->by_formalism || a->sys->def.check_start)
        return BG_OK;
    bg_status st = evaluate(a, a->x->q, BG_TERM_M, err);
    return st == BG_OK ? bg_masses_check(a->sys, a->x->t, a->dyn->terms.M, err) : st;
}

static bg_status assemble(bg_assembly *a, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    bg_state *x = a->x;
    bg_status st = BG_OK;
    if (a->wished)
        st = bg_starts_find_position(d, x, err);
    memcpy(a->guess, x->q, (size_t)d->nq * sizeof(double));
    if (d->ng == 0 && a->wished && st == BG_OK)
        st = bg_starts_find_velocity(d, NULL, x, err);
    if (st != BG_OK)
        return st;
    if (d->ng == 0)
        return bg_dynamics_accelerate(d, x->t, x->q, x->v, x->z, x->mode, 0, x->a, x->lambda, err);
    st = assemble_positions(a, err);
    if (st == BG_OK)
        st = assemble_velocities(a, err);
    return st == BG_OK ? assemble_accelerations(a, err) : st;
}

/* Whether the state is as the definition has it. */
static bool is_untouched(const bg_system_def *def, const bg_state *x)
{
    return memcmp(x->q, def->q0, (size_t)def->nq * sizeof(double)) == 0 &&
           memcmp(x->v, def->v0, (size_t)def->nv * sizeof(double)) == 0;
}

/* Everything but the arrays of the report, which may be NULL. On failure the state is as before. */
static bg_status run(bg_assembly *a, bg_state *state, bool fix, bg_assembly_report *report,
                     bg_error *err)
{
    const bg_system_def *def = &a->sys->def;
    a->x = state;
    a->report = report;
    a->q_fixed = fix ? def->q_fixed : NULL;
    a->v_fixed = fix ? def->v_fixed : NULL;
    a->wished = fix && def->starts && def->starts->guess && is_untouched(def, state);
    if (a->dyn->kkt)
        bg_kkt_reset(a->dyn->kkt); /* no result may depend on earlier assemblies */
    bg_state_copy(a->sys, state, a->before);
    if (def->normalise)
        def->normalise(def->self, state->q);
    bg_status st = fix ? check_masses(a, err) : BG_OK; /* later, factorisations tell */
    if (st == BG_OK)
        st = assemble(a, err);
    if (st == BG_OK && fix && def->starts && is_untouched(def, a->before))
        st = bg_starts_report(a->sys, state, report, err);
    for (int i = 0; i < def->nq && report->moved_q; i++)
        report->moved_q[i] = state->q[i] - a->before->q[i];
    for (int i = 0; i < def->nv && report->moved_v; i++)
        report->moved_v[i] = state->v[i] - a->before->v[i];
    if (st != BG_OK)
        bg_state_copy(a->sys, a->before, state);
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
    if (!def->check_start || !judged || (def->ng > 0 && evaluate(a, q, BG_TERM_G, &own) != BG_OK))
        return st;
    bg_status judgement = def->check_start(def->self, q, a->dyn->terms.G, a->dependent,
                                           &a->report->warnings, &own);
    if (judgement >= 0)
        return st;
    bg_state_copy(a->sys, a->before, a->x);
    return bg_error_set(err, judgement, "%s", own.text);
}

bg_status bg_state_assemble(bg_system *sys, bg_state *state, bg_assembly_report *report,
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
    if (own.moved_q && own.moved_v && own.redundancy.eliminated && own.redundancy.not_unique)
        st = check_start(a, state->q, run(a, state, true, &own, err), err);
    else
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
    if (st == BG_OK)
        fill_redundancy(a, &own.redundancy);
    bg_assembly_destroy(a);
    if (report && st == BG_OK)
        *report = own;
    else
        bg_assembly_report_clear(&own);
    return st;
}

bg_status bg_state_assemble_again(bg_assembly *a, bg_state *state, bg_redundancy *redundancy,
                                  bg_error *err)
{
    bg_assembly_report report = {0};
    bg_status st = run(a, state, false, &report, err);
    if (st == BG_OK)
        fill_redundancy(a, redundancy);
    return st;
}

void bg_assembly_report_clear(bg_assembly_report *report)
{
    free(report->moved_q);
    free(report->moved_v);
    free(report->unmet);
    free(report->redundancy.eliminated);
    free(report->redundancy.not_unique);
    bg_warnings_clear(&report->warnings);
    *report = (bg_assembly_report){0};
}
