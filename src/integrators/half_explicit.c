/* Stages of half-explicit Runge-Kutta methods for q' = V v, M v' = f - G^T lambda, 0 = G v + g_t.
 *
 * Stage i has an explicit value Y_i = (Q_i, V_i) = y0 + h sum_{j<i} a_ij Y'_j. Its multipliers are
 * those with which the velocity constraint holds at the bar value Ybar_i = y0 + h sum_{j<=i}
 * abar_ij Y'_j: since Qbar_i needs only V_1 .. V_i and abar_ii is not 0,
 *     [ M(Q_i)     G(Q_i)^T ] (V'_i)     (               f_i                           )
 *     [ G(Qbar_i)     0     ] (lam_i)  = ( -(G(Qbar_i)(v0 + h sum_{j<i}..) + g_t)/(h abar_ii) ).
 * Where f depends on lambda, f_i is that of lam_i, and the solution is repeated (settling.h).
 * With Brasey and Hairer the bar value of a stage is the next stage (`chained`); with Murua it is a
 * value of its own. */
#include "integrators/half_explicit.h"

#include "base/memory.h"
#include "integrators/dopri5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    bg_half_explicit *m = ig->method;
    BG_TAKE(arena, m->bar, ig->n);
    BG_TAKE(arena, m->gt, ig->dyn->ng);
    BG_TAKE(arena, m->G, bg_system_get_size_G(ig->sys->system));
}

bg_status bg_half_explicit_create(bg_integrator *ig, bg_error *err)
{
    bg_half_explicit *m = BG_NEW(bg_half_explicit);
    ig->method = m;
    if (!m || !bg_arena_create(&m->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    m->rheonomic = ig->energy && !ig->sys->def.scleronomic;
    return bg_pair_create(ig, &m->pair, &bg_dopri5_pair, err);
}

void bg_half_explicit_destroy(bg_integrator *ig)
{
    bg_half_explicit *m = ig->method;
    if (!m)
        return;
    bg_arena_clear(&m->arena);
    bg_pair_clear(&m->pair);
    free(m);
}

/* The power of the applied forces at the point at hand. That of the constraint forces of stage i
 * needs lambda_i, which is known only after the terms at hand have moved on to Qbar_i: g_t is kept
 * for it. */
static bg_status calc_power(bg_integrator *ig, double *power, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    if (!ig->energy)
        return BG_OK;
    return bg_dynamics_calc_power(d, NULL, NULL, power, err);
}

/* Ybar without the unknown V'_i, G and g_t there, and the matrix of the stage factored. */
static bg_status go_to_bar(bg_integrator *ig, const bg_half_stage *s, double *a, bg_error *err)
{
    bg_half_explicit *m = ig->method;
    bg_dynamics *d = ig->dyn;
    memset(a, 0, (size_t)d->nv * sizeof(double));
    bg_combine(ig->n, ig->x0->q, ig->h, s->i + 1, s->a_bar, m->pair.rate, m->bar);
    memcpy(m->G, d->terms.G, (size_t)bg_system_get_size_G(ig->sys->system) * sizeof(double));
    memcpy(a, d->terms.f, (size_t)d->nv * sizeof(double));
    const unsigned mass = d->have & BG_TERM_M;
    double *v_bar = m->bar + d->nq, *z_bar = v_bar + d->nv;
    bg_status st = bg_dynamics_evaluate(d, ig->x0->t + s->c_bar * ig->h, m->bar, v_bar, z_bar,
                                        ig->x0->mode, BG_TERM_G | BG_TERM_gt, err);
    if (st != BG_OK)
        return st;
    d->have |= mass | BG_TERM_f | BG_TERM_h; /* still at hand, of stage i */
    return bg_dynamics_factor(d, m->G, err);
}

/* The multipliers of a stage whose forces depend on them: f, h and the power with those found. */
static bg_status settle(bg_integrator *ig, const bg_half_stage *s, const double *y, double *rate,
                        double *lambda, bg_error *err)
{
    bg_half_explicit *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const double *v = y + d->nq, *z = v + d->nv;
    double t = s->c == 1 ? ig->x1->t : ig->x0->t + s->c * ig->h;
    const bg_point bar = d->point;
    memcpy(d->work_g, lambda, (size_t)d->ng * sizeof(double));
    bg_settling_question q = {d->kkt, &d->point, m->G, d->work_g, 1.0};
    bg_status st = bg_system_set_point(ig->sys, t, y, v, z, ig->x0->mode, &d->point, err);
    d->point.lambda = d->settling->guess;
    if (st == BG_OK)
        st = bg_settling_solve(d->settling, &q, &d->terms, rate + d->nq, lambda, err);
    d->point.lambda = d->settling->lambda;
    if (st == BG_NOT_FINITE)
        return bg_dynamics_report_not_finite(d, err);
    memcpy(rate + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    if (st == BG_OK)
        st = calc_power(ig, &rate[ig->n - 1], err);
    if (st == BG_OK)
        st = bg_system_set_point(ig->sys, bar.t, bar.q, bar.v, bar.z, bar.mode, &d->point, err);
    return st;
}

bg_status bg_half_explicit_solve(bg_integrator *ig, const bg_half_stage *s, const double *y,
                                 double *rate, double *lambda, bg_error *err)
{
    bg_half_explicit *m = ig->method;
    bg_dynamics *d = ig->dyn;
    double *a = rate + d->nq;
    bg_dynamics_calc_rates(d, y + d->nq, rate);
    memcpy(rate + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    memcpy(m->gt, d->terms.gt, (size_t)(m->rheonomic ? d->ng : 0) * sizeof(double));
    bg_status st = d->settling ? BG_OK : calc_power(ig, &rate[ig->n - 1], err);
    if (st == BG_OK)
        st = go_to_bar(ig, s, a, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_w(d, m->bar + d->nq, lambda);
    for (int k = 0; k < d->ng; k++)
        lambda[k] /= -ig->h * s->a_bar[s->i];
    if (d->settling)
        st = settle(ig, s, y, rate, lambda, err);
    else
        bg_kkt_solve(d->kkt, a, lambda);
    if (st != BG_OK)
        return st;
    for (int k = 0; k < ig->n; k++)
        if (!isfinite(rate[k]))
            return bg_dynamics_report_not_finite(d, err);
    for (int k = 0; k < d->ng && m->rheonomic; k++)
        rate[ig->n - 1] += lambda[k] * m->gt[k];
    if (ig->energy)
        rate[ig->n - 1] += bg_dynamics_calc_drive(d, a);
    return BG_OK;
}

bg_status bg_half_explicit_calc_stage(bg_integrator *ig, const bg_half_stage *s, bg_error *err)
{
    bg_half_explicit *m = ig->method;
    bg_dynamics *d = ig->dyn;
    double t = ig->x0->t + s->c * ig->h, *y = m->pair.y, *rate = m->pair.rate[s->i];
    bg_combine(ig->n, ig->x0->q, ig->h, s->i, s->a, m->pair.rate, y);
    if (d->ng == 0)
        return bg_integrator_calc_rate(ig, t, y, 0, rate, m->pair.lambda, err);
    const double *v = y + d->nq, *z = v + d->nv;
    unsigned want = BG_TERM_MASS | BG_TERM_f | (d->nz > 0 ? BG_TERM_h : 0u) |
                    (d->kinematic ? BG_TERM_V : 0u);
    bg_status st = s->chained
                       ? bg_dynamics_evaluate_more(d, v, z, want, err)
                       : bg_dynamics_evaluate(d, t, y, v, z, ig->x0->mode,
                                              want | BG_TERM_G | (ig->energy ? BG_TERM_gt : 0u),
                                              err);
    return st == BG_OK ? bg_half_explicit_solve(ig, s, y, rate, m->pair.lambda, err) : st;
}
