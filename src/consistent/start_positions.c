/* Start positions by Gauss and Newton: increments that meet the levels of wishes one after the
 * other, as velocities do (starts.c), with g in place of g_t, repeated.
 *
 * From the design position, so that neither the tree nor the order of the file chooses among
 * solutions, or, where that does not lead there, from a guess. What is wanted may be out of reach.
 * A joint that turns back there moves less and less while what is missing remains, so that
 * increments become long and lead astray. Then the nearest position is looked for by other means
 * (nearest.c). Where single things are looked at one after the other (contradictions.c), increments
 * are made shorter instead, and directions in which little can be gained are left to the levels
 * behind. */
#include "consistent/start_search.h"

#include "consistent/projection.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 200, CLOSING = 20 /* corrections of loops between two increments */ };

double bg_start_search_find_opening(const bg_dynamics *d)
{
    const bg_pattern *p = d->sys->def.pattern_G;
    double largest = 0;
    for (int i = 0; i < d->ng; i++) {
        double sum = 0;
        int begin = p ? p->row_start[i] : i * d->nv, end = p ? p->row_start[i + 1] : begin + d->nv;
        for (int k = begin; k < end; k++)
            sum += fabs(d->terms.G[k]);
        if (d->terms.g[i] != 0)
            largest = fmax(largest, fabs(d->terms.g[i]) / sum);
    }
    return largest;
}

bg_status bg_start_search_find_closing(bg_start_search *s, const bg_state *x, bg_error *err)
{
    bg_dynamics *d = s->d;
    bg_status st = bg_dynamics_evaluate(
        d, x->t, x->q, x->v, x->z, x->mode,
        (d->ng > 0 ? BG_TERM_G | BG_TERM_g : 0u) | (d->kinematic ? BG_TERM_V : 0u), err);
    s->point = d->point;
    bg_levels_reset(s->levels);
    if (st == BG_OK && d->ng > 0)
        st = bg_start_search_add_constraints(s, NULL, d->terms.g, BG_RANK_DATA, err);
    return st;
}

/* Of the increment, in units: the longest block, since single coordinates turn with the axes. */
static double calc_length(const bg_start_search *s)
{
    const double *x = bg_levels_get_x(s->levels);
    double largest = 0, sum = 0;
    for (int i = 0; i < s->d->nv; i++) {
        double square = x[i] / s->unit[i] * (x[i] / s->unit[i]);
        sum = square + (bg_system_get_block(s->d->sys->system, i) < i ? sum : 0);
        largest = fmax(largest, isfinite(sum) ? sum : HUGE_VAL);
    }
    return sqrt(largest);
}

void bg_start_search_move(bg_start_search *s, bg_state *x, double factor, const double *increment)
{
    bg_system_move(s->d->sys, x->q, s->d->terms.V, factor, increment, x->q);
    s->starts->follow(s->d->sys->def.self, &s->point, x->z);
}

/* Moves x by the increment in the levels, of this length; by half a unit at most. */
static void move(bg_start_search *s, bg_state *x, double size, double damping)
{
    bg_start_search_move(s, x, damping * (size > 0.5 ? 0.5 / size : 1), bg_levels_get_x(s->levels));
}

/* The next increment of positions, in the levels; *size: the largest in units. Loops are closed
 * before: where they are open, what is given seems to leave or decide other motions than it does,
 * with long increments that lead astray. */
static bg_status find_increment(bg_start_search *s, bg_state *x, double least, double *size,
                                bg_error *err)
{
    bg_status st = bg_start_search_find_closing(s, x, err);
    double opening = bg_start_search_find_opening(s->d), before = HUGE_VAL;
    for (int k = 0; st == BG_OK && opening > 1e-14 && opening < 0.5 * before && k < CLOSING; k++) {
        move(s, x, calc_length(s), 1);
        st = bg_start_search_find_closing(s, x, err);
        before = opening;
        opening = bg_start_search_find_opening(s->d);
    }
    for (int level = 0; level < BG_START_LEVELS && st == BG_OK; level++) {
        bg_start_search_calc_rows(s, BG_START_POSITIONS, level);
        st = bg_levels_add_rows(s->levels, &s->A, s->b, least, 0, err);
    }
    *size = calc_length(s);
    return st;
}

/* Whether the increment leads back to where the one before came from: that was too long. Keeps it
 * for the next time. */
static bool turns_back(bg_start_search *s)
{
    const double *x = bg_levels_get_x(s->levels);
    double product = 0;
    for (int i = 0; i < s->d->nv; i++) {
        product += x[i] / s->unit[i] * s->last[i];
        s->last[i] = x[i] / s->unit[i];
    }
    return product < 0;
}

/* How an attempt goes on, and when it is given up. */
typedef struct attempt {
    double least;   /* what an increment may be per unit of what is missing, inverse */
    double longest; /* increment, in units */
    double damping; /* the least part of an increment that is taken; 0: it is not given up */
} attempt;

/* From x->q to where the constraints and all levels are met, or as nearly as can be; false: that
 * was not reached. */
static bool solve_position(bg_start_search *s, bg_state *x, const attempt *a)
{
    bg_error ignored;
    double before = HUGE_VAL, size, damping = 1;
    memset(s->last, 0, (size_t)s->d->nv * sizeof(double));
    for (int k = 0; k < ITERATIONS; k++) {
        bg_status st = find_increment(s, x, a->least, &size, &ignored);
        if (!bg_start_search_goes_on(s, st) || !isfinite(size))
            return false;
        damping = turns_back(s) ? fmax(0.02, 0.6 * damping) : fmin(1, 1.2 * damping);
        if (size > a->longest || damping < a->damping)
            return false;
        move(s, x, size, damping);
        if (size <= 1e-13 ||
            (size > 0.5 * before && size <= 1e-10 * bg_project_calc_coarseness(s->d)))
            return true;
        before = size;
    }
    return false;
}

static void begin_at(const bg_start_search *s, bg_state *x, const double *q)
{
    memcpy(x->q, q, (size_t)s->d->nq * sizeof(double));
    memcpy(x->z, s->z, (size_t)s->d->nz * sizeof(double));
}

/* The nearest position in least squares of everything; and from there to where what is given is
 * met first, if that is near. */
static bool find_nearest(bg_start_search *s, bg_state *x, const double *first,
                         bg_start_is_good is_good)
{
    static const attempt last = {1e-8, 0.05, 0.9};
    begin_at(s, x, first);
    if (!bg_start_search_find_nearest(s, x) || !is_good(s))
        return false;
    memcpy(s->found, x->q, (size_t)s->d->nq * sizeof(double));
    memcpy(s->found + s->d->nq, x->z, (size_t)s->d->nz * sizeof(double));
    if (!solve_position(s, x, &last) || !is_good(s)) {
        memcpy(x->q, s->found, (size_t)s->d->nq * sizeof(double));
        memcpy(x->z, s->found + s->d->nq, (size_t)s->d->nz * sizeof(double));
    }
    return true;
}

bool bg_start_search_find_position(bg_start_search *s, bg_state *x, const double *first,
                                   const double *second, bg_start_is_good is_good, bool *exact)
{
    /* less leverage, where more leads astray */
    const attempt attempts[] = {
        {1e-8, HUGE_VAL, s->use ? 0 : 0.2}, {1e-3, HUGE_VAL, 0}, {1e-2, HUGE_VAL, 0}};
    memcpy(s->z, x->z, (size_t)s->d->nz * sizeof(double));
    for (size_t k = 0; k < sizeof attempts / sizeof *attempts && !s->starved; k++) {
        *exact = k == 0;
        if (k == 1 && !s->use && find_nearest(s, x, first, is_good))
            return true;
        begin_at(s, x, first);
        if (solve_position(s, x, &attempts[k]) && is_good(s))
            return true;
        begin_at(s, x, second);
        if (solve_position(s, x, &attempts[k]) && is_good(s))
            return true;
    }
    return false;
}
