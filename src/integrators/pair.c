#include "integrators/pair.h"

#include "integrators/options.h"
#include "integrators/trouble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The memory of a method in the making, and whose it is. */
typedef struct pair_maker {
    const bg_integrator *ig;
    bg_pair_memory *m;
} pair_maker;

static void list(void *object, bg_arena *arena)
{
    const pair_maker *x = object;
    int n = x->ig->n;
    for (int i = 1; i < x->m->pair->stages - 1; i++)
        BG_TAKE(arena, x->m->rate[i], n);
    BG_TAKE(arena, x->m->y, n);
    BG_TAKE(arena, x->m->low, x->m->pair->b_low ? n : 0);
    BG_TAKE(arena, x->m->lambda, x->ig->dyn->ng);
}

bg_status bg_pair_create(bg_integrator *ig, bg_pair_memory *m, const bg_pair *pair, bg_error *err)
{
    m->pair = pair;
    ig->by_largest = bg_option_get_choice(ig, "norm") == 0;
    bg_trouble_set_limits(ig, pair->stability, pair->proved);
    if (!bg_arena_create(&m->arena, list, &(pair_maker){ig, m}))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    bg_status st = bg_chart_create(ig, &m->chart, err);
    return st == BG_OK ? bg_projection_control_create(ig, &m->projection, err) : st;
}

void bg_pair_clear(bg_pair_memory *m)
{
    bg_arena_clear(&m->arena);
    bg_chart_clear(&m->chart);
    bg_projection_control_clear(&m->projection);
}

void bg_pair_begin(bg_integrator *ig)
{
    bg_pair_memory *m = ig->method;
    m->rate[0] = ig->rate0;
    m->rate[m->pair->stages - 1] = ig->rate1;
    memcpy(ig->x1->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
}

void bg_pair_calc_stage(bg_integrator *ig, int i, double *y)
{
    bg_pair_memory *m = ig->method;
    const double *a = m->pair->a + i * (m->pair->stages - 1);
    bg_combine(ig->n, ig->x0->q, ig->h, i, a, m->rate, y);
}

/* x1 - the embedded solution, against the projected end, as in 003. */
static void calc_difference(bg_integrator *ig, const double *b_hat, double *out)
{
    bg_pair_memory *m = ig->method;
    bg_combine(ig->n, ig->x0->q, ig->h, m->pair->stages, b_hat, m->rate, out);
    for (int i = 0; i < ig->n; i++)
        out[i] = ig->x1->q[i] - out[i];
}

/* Where the second difference of the pair is larger than the first, in work_n, it takes its place.
 */
static void take_larger(bg_integrator *ig)
{
    bg_pair_memory *m = ig->method;
    bg_combine(ig->n, NULL, ig->h, m->pair->stages, m->pair->e_more, m->rate, m->low);
    for (int i = 0; i < ig->n; i++)
        if (!(fabs(m->low[i]) <= fabs(ig->work_n[i])))
            ig->work_n[i] = m->low[i];
}

/* The difference that counts, into work_n, and its size. */
static double calc_error(bg_integrator *ig, const double *b_hat, bool more)
{
    bg_pair_memory *m = ig->method;
    memcpy(ig->x1->a, ig->rate1 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    calc_difference(ig, b_hat, ig->work_n);
    if (more)
        take_larger(ig);
    double error = bg_norm_calc_state(ig, ig->work_n, NULL);
    if (!more || !(error > 0))
        return error;
    calc_difference(ig, m->pair->b_low, m->low);
    double low = 0.1 * bg_norm_calc_state(ig, m->low, NULL), part = error / hypot(error, low);
    for (int i = 0; i < ig->n; i++)
        ig->work_n[i] *= part;
    return error * part;
}

/* What lifting the embedded solution would take out of the difference of velocities, G dv = 0, is
 * added to it `times`. Accelerations across the manifold are known only to rounding / distance^2
 * from the singular position; the motion on it does not feel that. */
static void add_across(bg_integrator *ig, double times)
{
    bg_dynamics *d = ig->dyn;
    double *e_v = ig->work_n + d->nq;
    for (int i = 0; i < d->nv; i++)
        e_v[i] += times * d->work_v[i];
}

static void keep_on_manifold(bg_integrator *ig)
{
    bg_dynamics *d = ig->dyn;
    bg_matrix_multiply(d->ng, d->nv, ig->sys->def.pattern_G, d->terms.G, ig->work_n + d->nq,
                       d->work_g);
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_kkt_solve(d->kkt, d->work_v, d->work_g);
    add_across(ig, -1);
}

void bg_pair_end(bg_integrator *ig, const double *b_hat, bool more, double *error)
{
    *error = ig->error_tangent = calc_error(ig, b_hat, more);
    if (!(*error > 1) || ig->dyn->ng == 0)
        return;
    keep_on_manifold(ig);
    ig->error_tangent = bg_norm_calc_state(ig, ig->work_n, NULL);
    add_across(ig, 1);
}

/* Stages between both ends; those of a leap are moved onto the constraints. */
static bg_status calc_stages(bg_integrator *ig, bool lift, bg_error *err)
{
    bg_pair_memory *m = ig->method;
    bg_status st = BG_OK;
    for (int i = 1; i < m->pair->stages - 1 && st == BG_OK; i++) {
        double t = ig->x0->t + m->pair->c[i] * ig->h;
        bg_pair_calc_stage(ig, i, m->y);
        if (lift)
            st = bg_chart_lift(ig, &m->chart, t, m->y, err);
        if (st == BG_OK)
            st = bg_integrator_calc_rate(ig, t, m->y, 0, m->rate[i], m->lambda, err);
    }
    return st;
}

bg_status bg_pair_attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_pair_memory *m = ig->method;
    bg_pair_begin(ig);
    bg_status st = calc_stages(ig, false, err);
    if (st != BG_OK)
        return st;
    bg_pair_calc_stage(ig, m->pair->stages - 1, ig->x1->q);
    st = bg_projection_control_end(ig, &m->projection, err);
    if (st != BG_OK)
        return st;
    bg_pair_end(ig, m->pair->b_hat, m->pair->b_low != NULL, error);
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, ig->x1->v, ig->x1->a);
    return BG_OK;
}

bg_status bg_pair_leap(bg_integrator *ig, double *error, bg_error *err)
{
    bg_pair_memory *m = ig->method;
    bg_state *x = ig->x1;
    m->projection.projected = false;
    bg_pair_begin(ig);
    bg_status st = bg_chart_begin(ig, &m->chart, err);
    if (st == BG_OK)
        st = calc_stages(ig, true, err);
    if (st != BG_OK)
        return st;
    bg_pair_calc_stage(ig, m->pair->stages - 1, x->q);
    st = bg_chart_lift(ig, &m->chart, x->t, x->q, err);
    if (st == BG_OK)
        st = bg_integrator_calc_rate(ig, x->t, x->q, BG_TERM_g | BG_TERM_gt, ig->rate1, x->lambda,
                                     err);
    if (st != BG_OK)
        return st;
    calc_error(ig, m->pair->b_hat, m->pair->b_low != NULL);
    keep_on_manifold(ig);
    *error = ig->error_tangent = bg_norm_calc_state(ig, ig->work_n, NULL);
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    return BG_OK;
}

bg_status bg_pair_lift_stages(bg_integrator *ig, bg_error *err)
{
    bg_pair_memory *m = ig->method;
    bg_status st = bg_chart_begin(ig, &m->chart, err);
    return st == BG_OK ? calc_stages(ig, true, err) : st;
}

void bg_pair_restart(bg_integrator *ig, bg_restart reason)
{
    bg_pair_memory *m = ig->method;
    (void)reason;
    bg_projection_control_reset(&m->projection);
}

void bg_pair_accept(bg_integrator *ig)
{
    bg_pair_memory *m = ig->method;
    bg_trouble_watch_step(ig, m->y, m->rate[m->pair->stages - 2]);
}

void bg_pair_commit(bg_integrator *ig)
{
    bg_pair_memory *m = ig->method;
    bg_projection_control_commit(&m->projection);
}

void bg_pair_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_pair_memory *m = ig->method;
    bg_projection_control_archive(&m->projection, archive);
}
