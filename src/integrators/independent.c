/* Independent motions: directions, or a partition of the velocity coordinates.
 *
 * A vector x of velocities, in sizes, has a part G^T mu that the constraints decide, perpendicular
 * to the motions that they allow, and the rest. Splitting it in this way asks for no choice, so
 * that a model that is turned or mirrored has the same parts, turned or mirrored.
 *
 * Coordinates are chosen by choice.c, as in 002 (6).
 *
 *   (53)  G_u d = g,   q <- q - V (d, 0)                 until g = 0, independent ones untouched
 *   (54)  G_u v_u = -G_I v_I - g_t
 *
 * are solved with factors of [0 G_u^T; G_u 0], a saddle-point matrix without masses in which the
 * independent coordinates are fixed, of directions with those of [1 G^T; G 0] in sizes: its pattern
 * is the same for all partitions, so that nothing is allocated when one is given up. That happens,
 * as in 002 section 5, when the condition number of G_u is 1.25 times that with which the partition
 * began, and more than 10. But it is one number for all constraints: a single coordinate may come
 * to stand badly for its freedom (x = cos a near a = 0) without it, and then errors of x are those
 * of a divided by sin a, and of a' by its square. So the largest entry of G_u^-1 G_I is looked at,
 * too: 1.25 times as large as at the beginning, and more than 1.5, is enough. */
#include "integrators/independent.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/choice.h"
#include "linalg/newton.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least = 1e-12;     /* pivot of a row that does not depend on others */
static const double worse = 1.25;      /* than the first condition number of a partition */
static const double good = 10;         /* condition number that gives no reason to change */
static const double large = 1.5;       /* magnification, below which the same holds */
static const double converged = 1e-13; /* relative size of the next increment, of (53) */
static const double roundoff = 1e-11;  /* of increments that stop shrinking */

static void list(void *object, bg_arena *arena)
{
    bg_independent *p = object;
    BG_TAKE(arena, p->index, p->nv);
    BG_TAKE(arena, p->independent, p->nv);
    BG_TAKE(arena, p->unit, p->nv);
    BG_TAKE(arena, p->size, p->ng);
    BG_TAKE(arena, p->A, p->ng * p->nv);
    BG_TAKE(arena, p->scaled, p->ng > 0 ? bg_system_get_size_G(p->dyn->sys->system) : 0);
    BG_TAKE(arena, p->metric, p->nv);
    BG_TAKE(arena, p->x, p->nv);
    BG_TAKE(arena, p->VV, p->nv);
    BG_TAKE(arena, p->q, p->dyn->nq);
    BG_TAKE(arena, p->y, p->ng);
    BG_TAKE(arena, p->diagonal, p->nv + 1);
    BG_TAKE(arena, p->used, p->ng);
    BG_TAKE(arena, p->before, p->nv);
}

bg_status bg_independent_create(bg_integrator *ig, bool directions, bg_independent **partition,
                                bg_error *err)
{
    const bg_system_def *def = &ig->sys->def;
    bg_independent *p = *partition = BG_NEW(bg_independent);
    bool made = false;
    if (p) {
        p->dyn = ig->dyn;
        p->directions = directions;
        p->nv = p->n = ig->dyn->nv;
        p->ng = ig->dyn->ng;
        made = bg_arena_create(&p->arena, list, p);
    }
    if (!made)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the independent coordinates");
    for (int i = 0; i <= p->nv; i++)
        p->diagonal[i] = i;
    for (int i = 0; i < p->nv; i++) {
        p->index[i] = i;
        p->independent[i] = 1;
        p->unit[i] = def->v_size ? def->v_size[i] : 1;
        p->metric[i] = directions;
    }
    p->pattern = (bg_pattern){p->nv, p->nv, p->diagonal, p->diagonal};
    if (p->ng == 0)
        return BG_OK;
    return directions ? bg_kkt_create(p->nv, p->ng, &p->pattern, def->pattern_G, &p->kkt, err)
                      : bg_kkt_create_semidefinite(p->nv, p->ng, &p->pattern, def->pattern_G,
                                                   &p->kkt, err);
}

void bg_independent_destroy(bg_independent *p)
{
    if (!p)
        return;
    bg_kkt_destroy(p->kkt);
    bg_arena_clear(&p->arena);
    free(p);
}

/* `scaled`: G with columns in units and rows of unit length. */
static void scale(bg_independent *p)
{
    const bg_pattern *pattern = p->dyn->sys->def.pattern_G;
    const double *G = p->dyn->terms.G;
    for (int i = 0; i < p->ng; i++) {
        int begin = pattern ? pattern->row_start[i] : i * p->nv;
        int end = pattern ? pattern->row_start[i + 1] : begin + p->nv;
        double sum = 0;
        for (int k = begin; k < end; k++) {
            p->scaled[k] = G[k] * p->unit[pattern ? pattern->column[k] : k - begin];
            sum += p->scaled[k] * p->scaled[k];
        }
        p->size[i] = sum > 0 ? sqrt(sum) : 1;
        for (int k = begin; k < end; k++)
            p->scaled[k] /= p->size[i];
    }
}

static bg_status refuse(const bg_independent *p, bg_error *err)
{
    return bg_error_set(err, BG_SINGULAR,
                        "system '%s': the constraints depend on each other at t = %.17g (a "
                        "singular position), so that no coordinates can be told to be independent",
                        p->dyn->sys->def.name, p->dyn->point.t);
}

/* Rows that are not left out. */
static int count_rank(const bg_independent *p)
{
    int rank = 0;
    for (int i = 0; i < p->ng; i++)
        rank += !p->dyn->eliminated[i];
    return rank;
}

static bg_status choose_coordinates(bg_independent *p, bg_error *err)
{
    const bg_dynamics *d = p->dyn;
    const bg_choice choice = {d->terms.G, p->unit, d->eliminated, least, p->A, p->used};
    bool other = false;
    memcpy(p->before, p->independent, (size_t)p->nv);
    if (!bg_choice_find(&choice, d->sys->system, p->independent))
        return refuse(p, err);
    p->n = 0;
    for (int j = 0; j < p->nv; j++) {
        other = other || p->independent[j] != p->before[j];
        if (p->independent[j])
            p->index[p->n++] = j;
    }
    p->changes += other && p->chosen;
    bg_kkt_set_fixed(p->kkt, p->independent);
    return BG_OK;
}

bg_status bg_independent_choose(bg_independent *p, bg_error *err)
{
    bg_status st = BG_OK;
    if (p->ng > 0 && !p->directions)
        st = choose_coordinates(p, err);
    if (p->directions)
        p->n = p->nv - count_rank(p);
    if (st == BG_OK)
        p->chosen = true;
    if (st != BG_OK || p->ng == 0)
        return st;
    st = bg_independent_factor(p, err);
    if (st == BG_OK) {
        bg_independent_judge(p);
        p->condition_first = p->condition;
        p->magnification_first = p->magnification;
    }
    return st;
}

bg_status bg_independent_factor(bg_independent *p, bg_error *err)
{
    if (p->ng == 0)
        return BG_OK;
    scale(p);
    bg_kkt_set_eliminated(p->kkt, p->dyn->eliminated);
    bg_system_get_work(p->dyn->sys)->factorisations++;
    return bg_kkt_factor(p->kkt, p->metric, p->scaled, p->scaled) == BG_OK ? BG_OK : refuse(p, err);
}

void bg_independent_solve(bg_independent *p, const double *y, double *x)
{
    memset(x, 0, (size_t)p->nv * sizeof *x);
    if (p->ng == 0)
        return;
    for (int i = 0; i < p->ng; i++)
        p->y[i] = y[i] / p->size[i];
    bg_kkt_solve(p->kkt, x, p->y);
    for (int j = 0; j < p->nv; j++)
        x[j] *= p->unit[j];
}

void bg_independent_solve_transposed(bg_independent *p, const double *x, double *y)
{
    if (p->ng == 0)
        return;
    for (int j = 0; j < p->nv; j++)
        p->x[j] = x[j] * p->unit[j];
    memset(y, 0, (size_t)p->ng * sizeof *y);
    bg_kkt_solve(p->kkt, p->x, y);
    for (int i = 0; i < p->ng; i++)
        y[i] /= p->size[i];
}

/* The largest change of a dependent coordinate with an independent one, both in their units. */
static double calc_magnification(bg_independent *p)
{
    const bg_dynamics *d = p->dyn;
    double largest = 0, *x = p->x;
    for (int k = 0; k < p->n; k++) {
        memset(x, 0, (size_t)p->nv * sizeof *x);
        x[p->index[k]] = p->unit[p->index[k]];
        bg_matrix_multiply(p->ng, p->nv, d->sys->def.pattern_G, d->terms.G, x, d->work_g);
        bg_independent_solve(p, d->work_g, x);
        for (int j = 0; j < p->nv; j++)
            largest = fmax(largest, fabs(x[j]) / p->unit[j]);
    }
    return largest;
}

bool bg_independent_judge(bg_independent *p)
{
    if (p->ng == 0)
        return false;
    p->condition = 1 / fmax(bg_kkt_calc_rcond(p->kkt), DBL_MIN);
    p->condition_least = p->condition_least > 0 ? fmin(p->condition_least, p->condition)
                                                : p->condition;
    if (p->directions)
        return false;
    p->magnification = calc_magnification(p);
    return (p->condition > worse * p->condition_first && p->condition > good) ||
           (p->magnification > worse * p->magnification_first && p->magnification > large);
}

/* (53) with the factors at hand, or, where `follows`, with those of every point. */
static bg_status iterate(bg_independent *p, bool follows, double t, double *q, const double *v,
                         const double *z, const int *mode, bg_error *err)
{
    bg_dynamics *d = p->dyn;
    unsigned want = BG_TERM_g | (follows ? BG_TERM_G : 0u) | (d->kinematic ? BG_TERM_V : 0u);
    bg_newton newton = bg_project_begin(converged);
    bg_newton_state state = BG_NEWTON_GOES_ON;
    while (state == BG_NEWTON_GOES_ON) {
        bg_status st = bg_dynamics_evaluate(d, t, q, v, z, mode, want, err);
        if (st == BG_OK && follows)
            st = bg_independent_factor(p, err);
        if (st != BG_OK)
            return st;
        bg_independent_solve(p, d->terms.g, d->work_v);
        double size = bg_project_calc_size(d, d->work_v, q);
        if (!isfinite(size))
            return bg_dynamics_report_not_finite(d, err);
        bg_system_move(d->sys, q, d->terms.V, -1.0, d->work_v, q);
        if (newton.count == 1)
            newton.roundoff = roundoff * bg_project_calc_coarseness(d);
        state = bg_newton_look(&newton, size);
    }
    if (state == BG_NEWTON_DONE || (newton.size < 1e-3 && bg_project_is_met(d)))
        return BG_OK;
    return bg_project_refuse(d, t, err);
}

bg_status bg_independent_close(bg_independent *p, double t, double *q, const double *v,
                               const double *z, const int *mode, bg_error *err)
{
    const size_t size = (size_t)p->dyn->nq * sizeof(double);
    if (p->ng == 0)
        return BG_OK;
    memcpy(p->q, q, size);
    bg_status st = iterate(p, false, t, q, v, z, mode, err);
    if (st <= 0)
        return st;
    memcpy(q, p->q, size);
    return iterate(p, true, t, q, v, z, mode, err);
}

void bg_independent_complete(bg_independent *p, double *v)
{
    bg_dynamics *d = p->dyn;
    if (p->ng == 0)
        return;
    bg_dynamics_calc_w(d, v, d->work_g);
    bg_independent_solve(p, d->work_g, d->work_v);
    for (int j = 0; j < p->nv; j++)
        v[j] -= d->work_v[j];
}

/* x <- V^+ e = (V^T V)^-1 V^T e; V^T V is diagonal. */
static void calc_tangent(bg_independent *p, const double *e, double *x)
{
    const bg_dynamics *d = p->dyn;
    const bg_pattern *pattern = d->sys->def.pattern_V;
    memset(x, 0, (size_t)p->nv * sizeof *x);
    memset(p->VV, 0, (size_t)p->nv * sizeof *p->VV);
    bg_matrix_add_transposed(d->nq, p->nv, pattern, d->terms.V, 1, e, x);
    for (int i = 0; i < d->nq; i++) {
        int begin = pattern ? pattern->row_start[i] : i * p->nv;
        int end = pattern ? pattern->row_start[i + 1] : begin + p->nv;
        for (int k = begin; k < end; k++)
            p->VV[pattern ? pattern->column[k] : k - begin] += d->terms.V[k] * d->terms.V[k];
    }
    for (int j = 0; j < p->nv; j++)
        x[j] /= p->VV[j];
}

/* x, along V, <- what has to be taken off x for G x = 0 where the independent entries stay. */
static void calc_surplus(bg_independent *p, double *x)
{
    bg_dynamics *d = p->dyn;
    bg_matrix_multiply(p->ng, p->nv, d->sys->def.pattern_G, d->terms.G, x, d->work_g);
    bg_independent_solve(p, d->work_g, x);
}

void bg_independent_follow(bg_independent *p, double *e_q, double *e_v)
{
    const bg_dynamics *d = p->dyn;
    double *x = p->x;
    if (p->ng == 0)
        return;
    memcpy(x, e_v, (size_t)p->nv * sizeof *x);
    calc_surplus(p, x);
    for (int j = 0; j < p->nv; j++)
        e_v[j] -= x[j];
    if (d->kinematic)
        calc_tangent(p, e_q, x);
    else
        memcpy(x, e_q, (size_t)p->nv * sizeof *x);
    calc_surplus(p, x);
    if (!d->kinematic)
        memcpy(p->q, x, (size_t)p->nv * sizeof *x);
    else
        bg_matrix_multiply(d->nq, p->nv, d->sys->def.pattern_V, d->terms.V, x, p->q);
    for (int i = 0; i < d->nq; i++)
        e_q[i] -= p->q[i];
}

void bg_independent_archive(bg_independent *p, bg_archive *archive)
{
    bg_archive_flags(archive, p->independent, (size_t)p->nv);
    bg_archive_flags(archive, &p->chosen, sizeof p->chosen);
    bg_archive_counts(archive, &p->changes, 1);
    bg_archive_finite(archive, &p->condition, 1);
    bg_archive_finite(archive, &p->condition_first, 1);
    bg_archive_finite(archive, &p->condition_least, 1);
    bg_archive_finite(archive, &p->magnification, 1);
    bg_archive_finite(archive, &p->magnification_first, 1);
    if (p->kkt)
        bg_kkt_archive(p->kkt, archive);
    if (!archive->loading || archive->failed)
        return;
    p->n = p->directions ? p->nv - count_rank(p) : 0;
    for (int j = 0; j < p->nv && !p->directions; j++)
        if (p->independent[j])
            p->index[p->n++] = j;
    if (p->chosen && p->n != p->nv - count_rank(p))
        archive->failed = true;
    if (p->kkt && !p->directions)
        bg_kkt_set_fixed(p->kkt, p->independent);
}
