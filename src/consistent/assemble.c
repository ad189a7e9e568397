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
 * they stay fulfilled where the others lead (redundancy.c), and contradictory when they are not
 * fulfilled at the start. */
#include "consistent/assembly.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "consistent/starts.h"
#include "system/masses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHORD_ITERATIONS = 20, NEWTON_ITERATIONS = 40, DAMPED_ITERATIONS = 200, ROUNDS = 4 };
static const double converged = 1e-13, roundoff = 1e-11;
static const double fulfilled = 1e-9; /* residual of a row beside its size */

static double *take(double **room, int n)
{
    double *array = *room;
    *room += n;
    return array;
}

static bool allocate(bg_assembly *a)
{
    int nq = a->dyn->nq, nv = a->dyn->nv, ng = a->dyn->ng, nu = a->sys->def.nu;
    size_t n = (size_t)ng;
    double *room = a->doubles = BG_NEW_ARRAY(double, 4 * (size_t)nq + 3 * (size_t)nv +
                                                         2 * (size_t)nu + (6 + n) * n);
    unsigned char *flags = a->flags = BG_NEW_ARRAY(unsigned char, 5 * n);
    a->order = BG_NEW_ARRAY(signed char, 2 * n);
    if (!room || !flags || !a->order)
        return false;
    a->guess = take(&room, nq);
    a->origin = take(&room, nq);
    a->trial = take(&room, nq);
    a->found = take(&room, nq);
    a->delta = take(&room, nv);
    a->increment = take(&room, nv);
    a->top = take(&room, nv);
    a->tau = take(&room, ng);
    a->scale = take(&room, ng);
    a->first = take(&room, ng);
    a->remainder = take(&room, ng);
    a->other_remainder = take(&room, ng);
    a->misfit = take(&room, ng);
    a->coefficient = take(&room, ng * ng);
    a->lever = take(&room, nu);
    a->shift = take(&room, nu);
    a->dependent = flags;
    a->involved = flags + n;
    a->other_dependent = flags + 2 * n;
    a->other_involved = flags + 3 * n;
    a->unused = flags + 4 * n;
    a->chosen = a->order + n;
    return true;
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
    free(a->doubles);
    free(a->flags);
    free(a->order);
    bg_state_destroy(a->before);
    bg_rank_destroy(a->ranking);
    bg_dynamics_destroy(a->dyn);
    free(a);
}

bg_status bg_assembly_evaluate(bg_assembly *a, const double *q, unsigned want, bg_error *err)
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

void bg_assembly_update_rank(bg_assembly *a, const unsigned char *fixed)
{
    int freedom = fixed ? -1 : a->sys->freedom; /* known: so many rows, however little is left */
    bg_rank_question question = {.pattern = a->sys->def.pattern_G,
                                 .A = a->dyn->terms.G,
                                 .fixed = fixed,
                                 .row_size = a->scale,
                                 .column_size = a->sys->def.v_size,
                                 .order = a->order,
                                 .most = freedom >= 0 ? a->dyn->nv - freedom : 0,
                                 .tolerance = freedom >= 0 ? BG_RANK_ROUNDING : BG_RANK_DATA,
                                 .least = BG_RANK_ROUNDING};
    bg_rank_answer answer = {a->dependent, a->involved, a->remainder, a->coefficient};
    a->rank = bg_rank_calc(a->ranking, &question, &answer);
    memcpy(a->dyn->eliminated, a->dependent, (size_t)a->dyn->ng);
    bg_kkt_set_eliminated(a->dyn->kkt, a->rank < a->dyn->ng ? a->dependent : NULL);
    bg_kkt_set_fixed(a->dyn->kkt, fixed);
}

double bg_assembly_calc_size(const bg_assembly *a, const double *increment, const double *q)
{
    double size = bg_project_calc_size(a->dyn, increment, q);
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
        bool small = size <= converged || (size <= roundoff && size > 0.5 * before);
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
        if (size <= converged || (norm <= roundoff && size <= roundoff)) {
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
            if (st == BG_OK && norm < roundoff) { /* rounding: nothing left to gain */
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

/* The row for which pick is set, the one with the largest key first (without keys: in order),
 * behind the row `last`; -1: none. */
static int find_listed(const bg_assembly *a, const unsigned char *pick, const double *key, int last)
{
    int best = -1;
    for (int i = 0; i < a->dyn->ng; i++) {
        if (!pick[i])
            continue;
        if (!key && i > last)
            return i;
        bool behind = key && (last < 0 || key[i] < key[last] || (key[i] == key[last] && i > last));
        if (behind && (best < 0 || key[i] > key[best]))
            best = i;
    }
    return best;
}

void bg_assembly_list(const bg_assembly *a, const unsigned char *pick, const double *key,
                      char *text, size_t size)
{
    int count = 0, written = 0, i = -1;
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < a->dyn->ng; k++)
        count += pick[k] != 0;
    while (written < 6 && used < size && (i = find_listed(a, pick, key, i)) >= 0) {
        char buffer[32];
        const char *separator = written == 0 ? "" : written == count - 1 ? " and " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", separator,
                                 bg_system_get_name(a->sys, 'g', i, buffer, sizeof buffer));
        written++;
    }
    if (written < count && used < size)
        snprintf(text + used, size - used, " and %d more", count - written);
}

/* involved <- the rows to be named where some cannot be met. The search ends where rows cannot be
 * brought nearer, which is where rows that pull against each other have become (almost) dependent:
 * if some have, only those are meant, because the rest was merely held up by them. The one that was
 * missed most to begin with is among them in any case: mechanisms are drawn with closed loops, so
 * that what is not met there is what is wrong, and others gave in on the way. Returns the largest
 * residual. */
static double find_unreachable(bg_assembly *a)
{
    static const double almost = 1e-2;
    int ng = a->dyn->ng, meant = 0, first = -1;
    double worst = 0;
    bg_rank_question question = {.pattern = a->sys->def.pattern_G,
                                 .A = a->dyn->terms.G,
                                 .fixed = a->q_fixed,
                                 .row_size = a->scale,
                                 .column_size = a->sys->def.v_size,
                                 .tolerance = almost};
    bg_rank_answer answer = {.dependent = a->dependent, .involved = a->involved};
    bg_rank_calc(a->ranking, &question, &answer);
    for (int i = 0; i < ng; i++) {
        bool unmet = fabs(a->dyn->terms.g[i]) / a->scale[i] > fulfilled;
        a->dependent[i] = unmet; /* without regard to others */
        a->involved[i] = a->involved[i] && unmet;
        meant += a->involved[i];
        worst = fmax(worst, fabs(a->dyn->terms.g[i]));
        if (unmet && (first < 0 || a->first[i] > a->first[first]))
            first = i;
    }
    if (meant == 0)
        memcpy(a->involved, a->dependent, (size_t)ng);
    if (first >= 0)
        a->involved[first] = 1;
    return worst;
}

static bg_status report_unreachable(bg_assembly *a, bg_error *err)
{
    char names[BG_ERROR_LENGTH / 2];
    double worst = find_unreachable(a);
    bg_assembly_list(a, a->involved, a->first, names, sizeof names);
    return bg_error_set(
        err, BG_NOT_ASSEMBLED,
        "system '%s' cannot be assembled at t = %g: the constraints %s cannot be met "
        "from this start (largest residual %.3g; the first was missed most to begin with); "
        "correct the dimensions, bring the start values nearer, or fix fewer coordinates",
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
    bg_assembly_list(a, a->involved, NULL, names, sizeof names);
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

/* Redundant rows may miss by what the data does, on level 1 (velocity) and 2 (acceleration) ten and
 * a hundred times that, beside `unit`, the size of coordinates, velocities or accelerations; but
 * never by a tenth. */
static bg_status check_eliminated(bg_assembly *a, const double *residual, int level, double limit,
                                  double unit, bool fixed, bg_error *err)
{
    static const char *const names[] = {"position", "velocity", "acceleration"};
    static const double spread[] = {1, 10, 100};
    double data = fmin(spread[level] * a->allowed, 0.1);
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->dependent[i] &&
            !(fabs(residual[i]) <= fmax(limit, a->order[i] < 0 ? data : 0) * unit * a->scale[i]))
            return report_contradiction(a, i, names[level], fabs(residual[i]), fixed, err);
    return BG_OK;
}

/* From the guess in x->q to g = 0 with the rows that are independent there. */
static bg_status solve_positions(bg_assembly *a, bg_error *err)
{
    bool done = false;
    bg_status st = bg_assembly_evaluate(a, a->guess, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
    if (st != BG_OK)
        return st;
    bg_system_calc_row_sizes(a->sys, a->dyn->terms.G, a->scale);
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
    return check_eliminated(a, a->dyn->terms.g, 0, fulfilled, 1, a->q_fixed != NULL, err);
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
static bg_status assemble_positions(bg_assembly *a, bool decided, bg_error *err)
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
        bg_system_calc_row_sizes(a->sys, a->dyn->terms.G, a->scale);
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

static double get_size(const bg_assembly *a, int i)
{
    return a->sys->def.v_size ? a->sys->def.v_size[i] : 1;
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
        return st;
    bg_project_velocity(d, a->x->v);
    bg_project_velocity(d, a->x->v); /* once more: removes the rounding of a large correction */
    bg_dynamics_calc_w(d, a->x->v, a->tau);
    double speed = 1;
    for (int i = 0; i < d->nv; i++)
        speed = fmax(speed, fabs(a->x->v[i]) / get_size(a, i));
    return check_eliminated(a, a->tau, 1, 1e-8, speed, fixed != NULL, err);
}

static double find_largest(const double *x, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
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
    a->report->rcond = bg_kkt_calc_rcond(d->kkt);
    bg_matrix_multiply(d->ng, d->nv, a->sys->def.pattern_G, d->terms.G, x->a, a->tau);
    double size = 1;
    for (int i = 0; i < d->nv; i++)
        size = fmax(size, fabs(x->a[i]) / get_size(a, i));
    for (int i = 0; i < d->ng; i++) {
        a->tau[i] += d->terms.gamma[i];
        size = fmax(size, fabs(d->terms.gamma[i]) / a->scale[i]);
    }
    st = check_eliminated(a, a->tau, 2, 1e-6, size, false, err);
    a->report->max_ga = find_largest(a->tau, d->ng);
    bg_dynamics_calc_w(d, x->v, a->tau);
    a->report->max_gv = find_largest(a->tau, d->ng);
    a->report->max_g = find_largest(d->terms.g, d->ng);
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
    return st == BG_OK ? bg_masses_check(a->sys, a->x->t, a->dyn->terms.M, err) : st;
}

static bg_status assemble(bg_assembly *a, bool decided, bg_error *err)
{
    bg_dynamics *d = a->dyn;
    bg_state *x = a->x;
    bg_status st = BG_OK;
    if (a->wished)
        st = bg_starts_find_position(d, x, err);
    copy_positions(a, x->q, a->guess);
    copy_positions(a, x->q, a->origin);
    if (d->ng == 0 && a->wished && st == BG_OK)
        st = bg_starts_find_velocity(d, NULL, x, err);
    if (st != BG_OK)
        return st;
    if (d->ng == 0)
        return bg_dynamics_accelerate(d, x->t, x->q, x->v, x->z, x->mode, 0, x->a, x->lambda, err);
    st = assemble_positions(a, decided, err);
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

/* Takes over which rows were redundant, or leaves all to be decided. */
static void start_order(bg_assembly *a, const bg_redundancy *known)
{
    memset(a->order, known ? 1 : 0, (size_t)a->dyn->ng);
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
    a->wished = fix && def->starts && def->starts->guess && is_untouched(def, state);
    if (a->dyn->kkt)
        bg_kkt_reset(a->dyn->kkt); /* no result may depend on earlier assemblies */
    bg_state_copy(a->sys, state, a->before);
    if (def->normalise)
        def->normalise(def->self, state->q);
    start_order(a, known);
    bg_status st = fix ? check_masses(a, err) : BG_OK; /* later, factorisations tell */
    if (st == BG_OK)
        st = assemble(a, known != NULL, err);
    if (st == BG_OK && fix && def->starts && is_untouched(def, a->before))
        st = bg_starts_report(a->sys, state, a->allowed, report, err);
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
    if (!def->check_start || !judged ||
        (def->ng > 0 && bg_assembly_evaluate(a, q, BG_TERM_G, &own) != BG_OK))
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
        st = check_start(a, state->q, run(a, state, NULL, &own, err), err);
    else
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
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
    free(report->redundancy.eliminated);
    free(report->redundancy.not_unique);
    bg_warnings_clear(&report->warnings);
    *report = (bg_assembly_report){0};
}
