/* The start position nearest to what is out of reach.
 *
 * At the end of its range a joint coordinate x has no slope, while what is missing of it, r, stays:
 * the increments r / slope of Gauss and Newton (start_positions.c) do not converge there. Instead
 *
 *     phi = 1/2 sum_k weight_k^2 |missing_k|^2 -> min    on    c = (g, what is fixed) = 0
 *
 * by Newton's method with the curvature of everything. With the increment D y, D = diag(unit), Z an
 * orthonormal basis of the y with C y = 0, C = dc/dy, and multipliers mu of least |grad phi + C^T
 * mu|, a step is y = -Z B^{-1} Z^T grad phi, where B = Z^T L_yy Z has the second derivatives of L =
 * phi + mu^T c, from central differences of its gradient along Z, and as much of the unit matrix
 * besides as makes it positive. The gradient of phi is -A^T missing with the rows A of the wishes,
 * also for rotation vectors, which are unchanged by the rotations they stand for. Steps are
 * shortened until phi, where c = 0 again, falls.
 *
 * What is given counts fully and joints of which nobody speaks a hundredth of it; where a part
 * floats, its pose takes nothing from either. */
#include "base/arena.h"
#include "base/memory.h"
#include "consistent/projection.h"
#include "consistent/start_search.h"
#include "math/arrays.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST = 400 /* coordinates: steps need their cube */,
    STEPS = 100,
    CLOSING = 40,
    HALVINGS = 30
};
static const double weight[BG_START_LEVELS] = {0, 1, 0.01, 1, 1};
static const double difference = 1e-5; /* of y: central differences of the gradient */

typedef struct nearest {
    bg_start_search *s;
    bg_state *x;
    int nv, m;         /* m: rows of c */
    double *base;      /* [nq + nz] the position at hand */
    double *Z;         /* [nv * nv] directions, each [nv] */
    double *C;         /* [nv * m] transposed, in units */
    double *mu;        /* [m] */
    double *gradient;  /* [nv] of phi, in units */
    double *up, *down; /* [nv] gradients of L beside it */
    double *B;         /* [nv * nv] */
    double *step;      /* [nv] s = Z^T y */
    double *increment; /* [nv] D y */
    bg_arena arena;
} nearest;

static void list(void *object, bg_arena *arena)
{
    nearest *n = object;
    size_t nv = (size_t)n->nv;
    BG_TAKE(arena, n->base, n->s->d->nq + n->s->d->nz);
    BG_TAKE(arena, n->Z, nv * nv);
    BG_TAKE(arena, n->C, nv * (size_t)n->m);
    BG_TAKE(arena, n->mu, n->m);
    BG_TAKE(arena, n->gradient, nv);
    BG_TAKE(arena, n->up, nv);
    BG_TAKE(arena, n->down, nv);
    BG_TAKE(arena, n->B, nv * nv);
    BG_TAKE(arena, n->step, nv);
    BG_TAKE(arena, n->increment, nv);
}

static void keep(nearest *n)
{
    memcpy(n->base, n->x->q, (size_t)n->s->d->nq * sizeof(double));
    memcpy(n->base + n->s->d->nq, n->x->z, (size_t)n->s->d->nz * sizeof(double));
}

static void return_to_base(nearest *n)
{
    memcpy(n->x->q, n->base, (size_t)n->s->d->nq * sizeof(double));
    memcpy(n->x->z, n->base + n->s->d->nq, (size_t)n->s->d->nz * sizeof(double));
}

/* The terms at x. */
static bool evaluate(nearest *n)
{
    bg_error ignored;
    bg_dynamics *d = n->s->d;
    const bg_state *x = n->x;
    bg_status st = bg_dynamics_evaluate(
        d, x->t, x->q, x->v, x->z, x->mode,
        (d->ng > 0 ? BG_TERM_G | BG_TERM_g : 0u) | (d->kinematic ? BG_TERM_V : 0u), &ignored);
    n->s->point = d->point;
    return st == BG_OK;
}

/* phi at the point at hand, and its gradient. */
static double calc_phi(nearest *n, double *gradient)
{
    bg_start_search *s = n->s;
    double phi = 0;
    memset(gradient, 0, (size_t)n->nv * sizeof(double));
    for (int level = BG_START_GIVEN; level < BG_START_LEVELS; level++) {
        int rows = bg_start_search_calc_rows(s, BG_START_POSITIONS, level);
        double square = weight[level] * weight[level];
        for (int i = 0; i < rows; i++) {
            phi += 0.5 * square * s->b[i] * s->b[i];
            for (int k = s->A.start[i]; k < s->A.start[i + 1]; k++)
                gradient[s->A.column[k]] -= square * s->b[i] * s->unit[s->A.column[k]] *
                                            s->A.value[k];
        }
    }
    return phi;
}

/* C at the point at hand, by columns. */
static void calc_C(nearest *n)
{
    bg_start_search *s = n->s;
    const bg_dynamics *d = s->d;
    const bg_pattern *p = d->sys->def.pattern_G;
    size_t m = (size_t)n->m;
    memset(n->C, 0, (size_t)n->nv * m * sizeof(double));
    bg_system_calc_row_sizes(d->sys->system, d->terms.G, s->size);
    for (int i = 0; i < d->ng; i++)
        for (int k = p ? p->row_start[i] : i * d->nv;
             k < (p ? p->row_start[i + 1] : (i + 1) * d->nv); k++) {
            int j = p ? p->column[k] : k - i * d->nv;
            n->C[(size_t)j * m + (size_t)i] = d->terms.G[k] / s->size[i] * s->unit[j];
        }
    int rows = bg_start_search_calc_rows(s, BG_START_POSITIONS, BG_START_FIXED);
    for (int i = 0; i < rows; i++)
        for (int k = s->A.start[i]; k < s->A.start[i + 1]; k++) {
            int j = s->A.column[k];
            n->C[(size_t)j * m + (size_t)(d->ng + i)] += s->unit[j] * s->A.value[k];
        }
}

/* mu <- argmin |gradient + C^T mu| */
static bool calc_multipliers(nearest *n)
{
    bg_levels *levels;
    for (int i = 0; i < n->m; i++)
        n->mu[i] = 1; /* units */
    if (n->m == 0)
        return true;
    if (!bg_start_search_goes_on(n->s, bg_levels_create(n->m, n->mu, &levels, NULL)))
        return false;
    for (int j = 0; j < n->nv; j++)
        n->up[j] = -n->gradient[j];
    calc_C(n);
    bool good = bg_start_search_goes_on(n->s,
                                        bg_levels_add(levels, n->nv, n->C, n->up, 1e-10, 0, NULL));
    memcpy(n->mu, bg_levels_get_x(levels), (size_t)n->m * sizeof(double));
    bg_levels_destroy(levels);
    return good;
}

/* The gradient of L at the base moved by a multiple of a direction. */
static bool calc_slope(nearest *n, const double *direction, double factor, double *out)
{
    for (int j = 0; j < n->nv; j++)
        n->increment[j] = n->s->unit[j] * direction[j];
    return_to_base(n);
    if (!evaluate(n))
        return false;
    bg_start_search_move(n->s, n->x, factor, n->increment);
    if (!evaluate(n))
        return false;
    calc_phi(n, out);
    calc_C(n);
    for (int j = 0; j < n->nv; j++)
        out[j] += bg_dot_product(n->C + (size_t)j * (size_t)n->m, n->mu, n->m);
    return true;
}

/* B, symmetric, for f directions. */
static bool calc_curvature(nearest *n, int f)
{
    for (int k = 0; k < f; k++) {
        const double *z = n->Z + (size_t)k * (size_t)n->nv;
        if (!calc_slope(n, z, difference, n->up) || !calc_slope(n, z, -difference, n->down))
            return false;
        for (int j = 0; j < n->nv; j++)
            n->up[j] = (n->up[j] - n->down[j]) / (2 * difference);
        for (int i = 0; i < f; i++)
            n->B[i * f + k] = bg_dot_product(n->Z + (size_t)i * (size_t)n->nv, n->up, n->nv);
    }
    for (int i = 0; i < f; i++)
        for (int k = 0; k < i; k++)
            n->B[i * f + k] = n->B[k * f + i] = 0.5 * (n->B[i * f + k] + n->B[k * f + i]);
    return true;
}

/* step <- -(B + shift)^{-1} step; false: the matrix is not positive. The lower triangle of B
 * becomes that of its Cholesky factor, but for its diagonal, which goes to `down`. */
static bool solve(nearest *n, int f, double shift, double least)
{
    double *B = n->B, *diagonal = n->down;
    for (int i = 0; i < f; i++)
        for (int k = 0; k <= i; k++) {
            double sum = B[k * f + i] + (i == k ? shift : 0); /* the upper triangle stays */
            for (int l = 0; l < k; l++)
                sum -= B[i * f + l] * B[k * f + l];
            if (k < i)
                B[i * f + k] = sum / diagonal[k];
            else if (sum > least)
                diagonal[i] = sqrt(sum);
            else
                return false;
        }
    for (int i = 0; i < f; i++)
        n->step[i] = (-n->step[i] - bg_dot_product(B + i * f, n->step, i)) / diagonal[i];
    for (int i = f - 1; i >= 0; i--) {
        for (int k = i + 1; k < f; k++)
            n->step[i] -= B[k * f + i] * n->step[k];
        n->step[i] /= diagonal[i];
    }
    return true;
}

/* step <- the step of the gradient in it, which is shortened by the unit matrix where B is not
 * positive. */
static bool find_step(nearest *n, int f)
{
    double size = 0;
    for (int i = 0; i < f; i++)
        size = fmax(size, fabs(n->B[i * f + i]));
    if (solve(n, f, 0, 1e-12 * size))
        return true;
    if (!(size > 0) || !isfinite(size)) /* no multiple of it would end the search */
        return false;
    for (double shift = 1e-6 * size; shift <= 1e6 * size; shift *= 2)
        if (solve(n, f, shift, 1e-12 * size))
            return true;
    return false;
}

/* x to where c = 0, with the directions that leave it so in the levels. */
static bool close_loops(nearest *n)
{
    bg_start_search *s = n->s;
    bg_error ignored;
    double before = HUGE_VAL;
    for (int k = 0; k < CLOSING; k++) {
        bg_status st = bg_start_search_find_closing(s, n->x, &ignored);
        if (st == BG_OK) {
            bg_start_search_calc_rows(s, BG_START_POSITIONS, BG_START_FIXED);
            st = bg_levels_add_rows(s->levels, &s->A, s->b, 1e-8, 0, &ignored);
        }
        if (!bg_start_search_goes_on(s, st))
            return false;
        const double *x = bg_levels_get_x(s->levels);
        double size = 0;
        for (int i = 0; i < n->nv; i++)
            size = fmax(size, fabs(x[i]) / s->unit[i]);
        if (size <= 1e-13 ||
            (size > 0.5 * before && size <= 1e-10 * bg_project_calc_coarseness(s->d)))
            return true;
        if (!isfinite(size) || (k > 4 && size > 2 * before))
            return false;
        bg_start_search_move(s, n->x, size > 0.5 ? 0.5 / size : 1, x);
        before = size;
    }
    return false;
}

/* From the base along Z step, as far as phi falls; leaves x there, closed. */
static bool advance(nearest *n, int f, double phi, double slope, double length)
{
    double factor = length > 0.5 ? 0.5 / length : 1;
    memset(n->increment, 0, (size_t)n->nv * sizeof(double));
    for (int k = 0; k < f; k++)
        for (int j = 0; j < n->nv; j++)
            n->increment[j] += n->s->unit[j] * n->step[k] *
                               n->Z[(size_t)k * (size_t)n->nv + (size_t)j];
    for (int k = 0; k < HALVINGS; k++, factor *= 0.5) {
        return_to_base(n);
        if (!evaluate(n))
            return false;
        bg_start_search_move(n->s, n->x, factor, n->increment);
        bool rounding = -slope <= 1e-12 * phi;
        if (close_loops(n) && (calc_phi(n, n->up) <= phi + 1e-4 * factor * slope || rounding))
            return true;
    }
    return false;
}

/* One step from x, which is closed; *length: how long it was in units. */
static bool take_step(nearest *n, double *length)
{
    int f = bg_levels_get_freedom(n->s->levels);
    if (!bg_start_search_goes_on(n->s, bg_levels_calc_directions(n->s->levels, n->Z)))
        return false;
    keep(n);
    if (!evaluate(n))
        return false;
    double phi = calc_phi(n, n->gradient);
    if (!calc_multipliers(n) || !calc_curvature(n, f))
        return false;
    for (int k = 0; k < f; k++) /* `up` keeps the gradient along Z */
        n->step[k] = n->up[k] = bg_dot_product(n->Z + (size_t)k * (size_t)n->nv, n->gradient,
                                               n->nv);
    if (!find_step(n, f))
        return false;
    *length = sqrt(bg_dot_product(n->step, n->step, f));
    return isfinite(*length) && advance(n, f, phi, bg_dot_product(n->up, n->step, f), *length);
}

bool bg_start_search_find_nearest(bg_start_search *s, bg_state *x)
{
    const bg_dynamics *d = s->d;
    nearest n = {.s = s, .x = x, .nv = d->nv};
    n.m = d->ng + s->starts->calc_rows(d->sys->def.self, NULL, BG_START_POSITIONS, BG_START_FIXED,
                                       NULL, NULL, NULL);
    bool small = d->nv <= LARGEST, enough = !small || bg_arena_create(&n.arena, list, &n),
         done = false;
    s->starved = s->starved || !enough;
    bool good = small && enough && close_loops(&n);
    double length = 0, before = HUGE_VAL;
    for (int k = 0; k < STEPS && good && !done; k++) {
        good = take_step(&n, &length);
        done = length <= 1e-12 || (length <= 1e-6 && length > 0.5 * before);
        before = length;
    }
    bg_arena_clear(&n.arena);
    return good && done;
}
