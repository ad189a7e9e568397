/* hem5: half-explicit Runge-Kutta method of order 5 on the index-2 form; needs no gamma.
 *
 * A. Murua's partitioned half-explicit method on the Dormand-Prince pair (the successor of Brasey's
 * HEM5). Stages Y_i = (Q_i, V_i) are the explicit ones of Dormand and Prince; the multipliers of
 * stage i = 2..7 follow from the velocity constraint at a second, bar, stage value Ybar_i = y0 + h
 * sum_{j<=i} abar_ij Y'_j,      G(Qbar_i) Vbar_i + g_t(tbar_i, Qbar_i) = 0, where Qbar_i needs only
 * V_1..V_i and abar_ii is not 0, so that [ M(Q_i)     G(Q_i)^T ] (V'_i)     (               f_i )
 *     [ G(Qbar_i)     0     ] (lam_i)  = ( -(G(Qbar_i)(v0 + h sum_{j<i}..) + g_t)/(h abar_ii) ).
 * abar_6 = b: the end of the step fulfils the velocity constraint by construction. Stage 7, at the
 * end point, has its bar point at tbar = t0 + 19/30 h; its V' and lambda are those of the end
 * point. Position constraints are projected as in mdop5, with the matrix of stage 6, as are the
 * velocities afterwards. */
#include "integrators/hem5.h"
#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/dopri5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const bg_hem5_table bg_hem5_coefficients = {
    .c = {0, 3.0 / 10, 3.0 / 8, 5.0 / 7, 1, 1, 19.0 / 30},
    .a = {{0},
          {3.0 / 40, 9.0 / 40},
          {21.0 / 256, 45.0 / 256, 15.0 / 128},
          {19235.0 / 98784, -225.0 / 392, 6235.0 / 6174, 2755.0 / 32928},
          {-293.0 / 1152, 85.0 / 48, -2275.0 / 1908, 35.0 / 32, -2835.0 / 6784},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
          {10752038939.0 / 66307507200.0, -19259.0 / 50160, 19581770468.0 / 24023520675.0,
           9941999.0 / 650073600, 180060831.0 / 4820710400.0, -11331659.0 / 439538400, 1.0 / 76}},
    .theta = 19.0 / 30,
    .dense = {1812923.0 / 20736000, 0, 45847.0 / 100170, 56677.0 / 414720, -289161.0 / 13568000,
              -67507.0 / 4536000, -3971.0 / 324000},
};

typedef struct hem5 {
    bg_dopri5_memory pair;
    double *bar;    /* [n] bar stage value, without the unknown part of Vbar */
    double *gt;     /* [ng] g_t of stage i, for the power of constraint forces */
    double *G;      /* G(Q_i) while the terms at hand belong to Qbar_i */
    bool rheonomic; /* that power is wanted and not zero */
} hem5;

static bg_status create(bg_integrator *ig, bg_error *err)
{
    hem5 *m = BG_NEW(hem5);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator hem5");
    m->bar = BG_NEW_ARRAY(double, ig->n);
    m->gt = BG_NEW_ARRAY(double, ig->dyn->ng);
    m->G = BG_NEW_ARRAY(double, bg_system_get_size_G(ig->sys));
    m->rheonomic = ig->energy && !ig->sys->def.scleronomic;
    if (!m->bar || !m->gt || !m->G)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator hem5");
    return bg_dopri5_create(ig, &m->pair, err);
}

static void destroy(bg_integrator *ig)
{
    hem5 *m = ig->method;
    if (!m)
        return;
    free(m->bar);
    free(m->gt);
    free(m->G);
    bg_dopri5_clear(&m->pair);
    free(m);
}

/* The power of stage i needs lambda_i, which is known only after the terms at hand have moved on to
 * Qbar_i: the applied part is taken now, g_t is kept for the constraint forces' part. */
static bg_status keep_power(bg_integrator *ig, hem5 *m, double *power, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    if (!ig->energy)
        return BG_OK;
    memset(m->pair.lambda, 0, (size_t)d->ng * sizeof(double));
    memcpy(m->gt, d->terms.gt, (size_t)d->ng * sizeof(double));
    return bg_dynamics_calc_power(d, m->pair.lambda, power, err);
}

/* With M, f, G, h of stage i at hand: Qbar_i, G and g_t there, then V'_i and lambda_i. */
static bg_status solve_stage(bg_integrator *ig, hem5 *m, int i, const double *y, double *rate,
                             double *lambda, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    double *a = rate + d->nq, diagonal = bg_hem5_coefficients.a[i][i];
    bg_dynamics_calc_rates(d, y + d->nq, rate);
    memcpy(rate + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    bg_status st = keep_power(ig, m, &rate[ig->n - 1], err);
    if (st != BG_OK)
        return st;
    memset(a, 0, (size_t)d->nv * sizeof(double)); /* the unknown part of Vbar_i */
    bg_combine(ig->n, ig->x0->q, ig->h, i + 1, bg_hem5_coefficients.a[i], m->pair.rate, m->bar);
    memcpy(m->G, d->terms.G, (size_t)bg_system_get_size_G(ig->sys) * sizeof(double));
    memcpy(a, d->terms.f, (size_t)d->nv * sizeof(double));
    double *v_bar = m->bar + d->nq, *z_bar = v_bar + d->nv;
    st = bg_dynamics_evaluate(d, ig->x0->t + bg_hem5_coefficients.c[i] * ig->h, m->bar, v_bar,
                              z_bar, ig->x0->mode, BG_TERM_G | BG_TERM_gt, err);
    if (st != BG_OK)
        return st;
    d->have |= BG_TERM_M | BG_TERM_f | BG_TERM_h; /* still at hand, of stage i */
    st = bg_dynamics_factor(d, m->G, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_w(d, v_bar, lambda);
    for (int k = 0; k < d->ng; k++)
        lambda[k] /= -ig->h * diagonal;
    bg_kkt_solve(d->kkt, a, lambda);
    for (int k = 0; k < ig->n; k++)
        if (!isfinite(rate[k]))
            return bg_dynamics_report_not_finite(d, err);
    for (int k = 0; k < d->ng && m->rheonomic; k++)
        rate[ig->n - 1] += lambda[k] * m->gt[k];
    return BG_OK;
}

static unsigned stage_terms(const bg_dynamics *d)
{
    return BG_TERM_M | BG_TERM_f | BG_TERM_G | (d->nz > 0 ? BG_TERM_h : 0u) |
           (d->kinematic ? BG_TERM_V : 0u);
}

/* One explicit stage with multipliers from the bar stage. */
static bg_status calc_stage(bg_integrator *ig, hem5 *m, int i, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    double t = ig->x0->t + bg_dopri5.c[i] * ig->h;
    bg_dopri5_calc_stage(ig, i, m->pair.y);
    if (d->ng == 0)
        return bg_integrator_calc_rate(ig, t, m->pair.y, 0, m->pair.rate[i], m->pair.lambda, err);
    const double *v = m->pair.y + d->nq, *z = v + d->nv;
    unsigned want = stage_terms(d) | (ig->energy ? BG_TERM_gt : 0u);
    bg_status st = bg_dynamics_evaluate(d, t, m->pair.y, v, z, ig->x0->mode, want, err);
    if (st != BG_OK)
        return st;
    return solve_stage(ig, m, i, m->pair.y, m->pair.rate[i], m->pair.lambda, err);
}

/* Velocities after the positions moved: the matrix of stage 6 is near that of the end point, a few
 * repetitions reach rounding. */
static void settle_velocity(bg_dynamics *d, double *v)
{
    double before = HUGE_VAL;
    for (int k = 0; k < 10; k++) {
        double size = 0;
        bg_dynamics_calc_w(d, v, d->work_g);
        for (int i = 0; i < d->ng; i++)
            size = fmax(size, d->eliminated[i] ? 0.0 : fabs(d->work_g[i]));
        if (!(size < 0.5 * before))
            return;
        before = size;
        bg_project_velocity(d, v);
    }
}

/* The end point: project positions and velocities with the matrix of stage 6, then stage 7. */
static bg_status end_step(bg_integrator *ig, hem5 *m, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    if (d->ng == 0) {
        if (ig->sys->def.normalise)
            ig->sys->def.normalise(ig->sys->def.self, x->q);
        return bg_integrator_calc_rate(ig, x->t, x->q, 0, ig->rate1, x->lambda, err);
    }
    bg_status st = bg_projection_control_position(ig, &m->pair.projection, err);
    unsigned at_end = BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt |
                      (d->kinematic ? BG_TERM_V : 0u);
    if (st == BG_OK)
        st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, at_end, err);
    if (st != BG_OK)
        return st;
    if (m->pair.projection.projected)
        settle_velocity(d, x->v);
    bool gamma = (ig->sys->def.supplied & BG_TERM_gamma) != 0;
    st = bg_dynamics_evaluate_more(
        d, x->v, x->z, BG_TERM_f | (gamma ? BG_TERM_gamma : 0u) | (d->nz > 0 ? BG_TERM_h : 0u),
        err);
    if (st != BG_OK)
        return st;
    bg_residuals *r = &ig->residuals1;
    *r = bg_dynamics_calc_residuals(d, x->v, x->v); /* ga follows below, when a is known */
    st = solve_stage(ig, m, 6, x->q, ig->rate1, x->lambda, err);
    if (st != BG_OK)
        return st;
    r->ga = NAN;
    if (gamma) {
        r->ga = 0;
        bg_matrix_multiply(d->ng, d->nv, ig->sys->def.pattern_G, m->G, ig->rate1 + d->nq,
                           d->work_g);
        for (int k = 0; k < d->ng; k++)
            r->ga = fmax(r->ga, fabs(d->work_g[k] + d->terms.gamma[k]));
    }
    return BG_OK;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    hem5 *m = ig->method;
    if (ig->leaping && ig->dyn->ng > 0)
        return bg_dopri5_leap(ig, error, err);
    ig->residuals1 = (bg_residuals){.worst_g = -1, .worst_redundant = -1};
    bg_dopri5_begin(ig);
    bg_status st = BG_OK;
    for (int i = 1; i < 6 && st == BG_OK; i++)
        st = calc_stage(ig, m, i, err);
    if (st != BG_OK)
        return st;
    bg_dopri5_calc_stage(ig, 6, ig->x1->q);
    st = end_step(ig, m, err);
    if (st == BG_OK)
        bg_dopri5_end(ig, error);
    return st;
}

/* R from the value at theta = 19/30 that the dense weights give. */
static void prepare_dense(bg_integrator *ig)
{
    hem5 *m = ig->method;
    double h = ig->x1->t - ig->x0->t, theta = bg_hem5_coefficients.theta, rest = 1 - theta;
    bg_combine(ig->n, ig->x0->q, h, 7, bg_hem5_coefficients.dense, m->pair.rate, m->pair.y);
    for (int i = 0; i < ig->n; i++) {
        double D = ig->x1->q[i] - ig->x0->q[i], B = h * ig->rate0[i] - D;
        double cubic = ig->x0->q[i] + theta * (D + rest * (B + theta * (D - h * ig->rate1[i] - B)));
        ig->bubble[i] = (m->pair.y[i] - cubic) / (theta * theta * rest * rest);
    }
}

static const bg_option_info options[] = {
    {"projection", BG_PROJECTION_CHOICES, "every-step",
     "which constraints the end of a step is projected onto (velocity: as none)"},
    BG_DOPRI5_NORM,
};

const bg_integrator_class bg_hem5;
const bg_integrator_class bg_hem5 = {
    .info = {"hem5", "half-explicit Runge-Kutta of order 5 on the index-2 form, no gamma needed",
             options, 2, false},
    .create = create,
    .destroy = destroy,
    .reset = bg_dopri5_reset,
    .attempt = attempt,
    .accept = bg_dopri5_accept,
    .prepare_dense = prepare_dense,
    .archive = bg_dopri5_archive,
};
