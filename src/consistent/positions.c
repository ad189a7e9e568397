/* Consistent positions: (12a) from the user's guess.
 *
 * The chord iteration (13) comes first, with M(p) and G(p) on the right-hand side so that p is the
 * nearest consistent point in the mass metric; when it stalls, the same iteration with the matrix
 * renewed every time; when that stalls too, damped Gauss-Newton steps on g alone, which reach a
 * consistent point from far away but not always the nearest one. */
#include "consistent/assembly.h"

#include "consistent/projection.h"

#include <math.h>
#include <string.h>

enum { CHORD_ITERATIONS = 20, NEWTON_ITERATIONS = 40, DAMPED_ITERATIONS = 200, ROUNDS = 4 };
static const double converged = 1e-13, roundoff = 1e-11; /* the latter near the origin */

static double calc_roundoff(const bg_assembly *a)
{
    return roundoff * bg_project_calc_coarseness(a->dyn);
}

double bg_assembly_calc_fulfilled(const bg_assembly *a)
{
    static const double last_places = 1e-13; /* near the origin */
    return fmax(BG_FULFILLED, last_places * bg_project_calc_coarseness(a->dyn));
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
        bg_status st = bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
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
        double size = bg_assembly_calc_size(a, a->increment, a->x->q);
        bool small = size <= converged || (size > 0.5 * before && size <= calc_roundoff(a));
        if (!small && (!(size < 4 * before) || size > 1e3))
            return BG_OK;
        bg_system_move(a->sys, a->x->q, d->terms.V, -1.0, a->increment, a->x->q);
        for (int i = 0; i < d->nv; i++)
            a->delta[i] -= a->increment[i];
        for (int i = 0; i < d->ng; i++)
            a->tau[i] -= d->work_g[i];
        a->report->iterations++;
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
        bg_status st = bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
        if (st == BG_OK) {
            bg_assembly_update_rank(a, a->q_fixed);
            st = bg_dynamics_factor(d, NULL, err);
        }
        if (st != BG_OK)
            return st == BG_SINGULAR ? BG_OK : st;
        double norm = scaled_norm(a, d->terms.g), step = 1.0;
        memset(a->increment, 0, (size_t)d->nv * sizeof(double));
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, a->increment, d->work_g);
        double size = bg_assembly_calc_size(a, a->increment, a->x->q);
        if (size <= converged || (norm <= calc_roundoff(a) && size <= calc_roundoff(a))) {
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
            st = bg_assembly_evaluate(a, a->trial, BG_TERM_g, &ignored);
            if (st == BG_OK && scaled_norm(a, d->terms.g) <= (1 - 1e-4 * step) * norm)
                break;
            if (st == BG_OK && norm < calc_roundoff(a)) { /* rounding: nothing left to gain */
                *done = true;
                return BG_OK;
            }
            if (a->dyn->kinematic &&
                (st = bg_assembly_evaluate(a, a->x->q, BG_TERM_V, err)) != BG_OK)
                return st;
        }
        memcpy(a->x->q, a->trial, (size_t)d->nq * sizeof(double));
    }
    return BG_OK;
}

/* From the guess in x->q to g = 0 with the rows that are independent there. */
static bg_status solve_positions(bg_assembly *a, bg_error *err)
{
    bool done = false;
    bg_status st = bg_assembly_evaluate(a, a->guess, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
    if (st != BG_OK)
        return st;
    bg_system_calc_row_sizes(a->sys->system, a->dyn->terms.G, a->scale);
    bg_assembly_update_rank(a, a->q_fixed);
    memcpy(a->unused, a->dependent, (size_t)a->dyn->ng);
    a->report->method = "chord";
    if (!a->begun) /* what was not met to begin with */
        for (int i = 0; i < a->dyn->ng; i++)
            a->first[i] = fabs(a->dyn->terms.g[i]) / a->scale[i];
    a->begun = true;
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
        st = bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
    if (st != BG_OK)
        return st;
    return done && kept_residual(a) <= bg_assembly_calc_fulfilled(a)
               ? BG_OK
               : bg_assembly_report_unreachable(a, err);
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
    memset(a->order, 0, (size_t)d->ng);
    if (bg_assembly_evaluate(a, a->guess, BG_TERM_G, &ignored) != BG_OK)
        return false;
    for (int i = 0; i < d->nv; i++) {
        double aside = 0.05 * (2 * fmod(0.6180339887498949 * (i + 1), 1.0) - 1);
        a->increment[i] = fixed && fixed[i] ? 0
                                            : aside * (1 + (d->kinematic ? 0 : fabs(a->guess[i])));
    }
    bg_system_move(a->sys, a->guess, d->terms.V, 1.0, a->increment, a->trial);
    if (bg_assembly_evaluate(a, a->trial, BG_TERM_G, &ignored) != BG_OK)
        return false;
    bg_assembly_update_rank(a, fixed);
    if (a->rank <= rank)
        return false;
    memcpy(a->guess, a->trial, (size_t)d->nq * sizeof(double));
    return true;
}

/* Whether a row that was redundant has become a constraint of its own, as modes may change rows. */
static bool is_outdated(const bg_assembly *a)
{
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->order[i] < 0 && a->remainder[i] > fmax(a->allowed, BG_RANK_ROUNDING))
            return true;
    return false;
}

/* Whether the search came near before it ended: rows that are redundant but for the precision of
 * data are independent where the loops are open, and cannot all be met. */
static bool came_near(const bg_assembly *a)
{
    double worst = 0;
    for (int i = 0; i < a->dyn->ng; i++)
        worst = fmax(worst, fabs(a->dyn->terms.g[i]) / a->scale[i]);
    return worst < BG_RANK_DATA;
}

static void copy_positions(const bg_assembly *a, const double *from, double *to)
{
    memcpy(to, from, (size_t)a->dyn->nq * sizeof(double));
}

static bg_status check_positions(bg_assembly *a, bg_error *err)
{
    return bg_assembly_check_eliminated(a, a->dyn->terms.g, 0, bg_assembly_calc_fulfilled(a), NULL,
                                        a->q_fixed != NULL, err);
}

/* With the rows known that are redundant, the position nearest to the first guess; where the search
 * for it ends elsewhere, as the rows left out say, the one nearest to that at hand. */
static bg_status solve_nearest(bg_assembly *a, bg_error *err)
{
    bg_error ignored;
    copy_positions(a, a->x->q, a->found);
    copy_positions(a, a->origin, a->guess);
    bg_status st = solve_positions(a, &ignored);
    if (st == BG_OK && check_positions(a, &ignored) == BG_OK)
        return BG_OK;
    copy_positions(a, a->found, a->guess);
    return solve_positions(a, err);
}

/* Positions, repeated when rows that were dependent at the guess are independent at the solution,
 * or the other way round, or turn out not to be redundant, or disagree at a singular guess. */
bg_status bg_assembly_solve_positions(bg_assembly *a, bool decided, bg_error *err)
{
    bool rough = false;
    for (int round = 0;; round++) {
        bg_error disagreement;
        bool again = false;
        bg_status st = solve_positions(a, err);
        int rank = a->rank;
        if (st == BG_NOT_ASSEMBLED && !decided && !rough && came_near(a)) {
            copy_positions(a, a->x->q, a->guess);
            rough = true;
            continue;
        }
        if (st != BG_OK)
            return st;
        bg_system_calc_row_sizes(a->sys->system, a->dyn->terms.G, a->scale);
        bg_assembly_update_rank(a, a->q_fixed);
        if (a->rank > rank && round < ROUNDS) {
            copy_positions(a, a->x->q, a->guess);
            continue;
        }
        if (decided && is_outdated(a)) {
            memset(a->order, 0, (size_t)a->dyn->ng);
            decided = false;
        }
        if (!decided) {
            st = bg_assembly_decide(a, &again, err);
            decided = true;
            if (st != BG_OK)
                return st;
            bg_assembly_update_rank(a, a->q_fixed);
            if (again || a->rank > rank)
                continue;
            if (rough || memcmp(a->dependent, a->unused, (size_t)a->dyn->ng) != 0)
                st = solve_nearest(a, err);
            if (st != BG_OK)
                return st;
        }
        st = check_positions(a, &disagreement);
        if (st == BG_OK || round >= ROUNDS || !leave_singularity(a))
            return st == BG_OK ? st : bg_error_set(err, st, "%s", disagreement.text);
        decided = false;
    }
}
