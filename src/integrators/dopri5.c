#include "integrators/dopri5.h"

#include "base/memory.h"
#include "integrators/options.h"
#include "integrators/trouble.h"

#include <stdlib.h>
#include <string.h>

const bg_dopri5_table bg_dopri5 = {
    .c = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
    .a = {{0},
          {1.0 / 5},
          {3.0 / 40, 9.0 / 40},
          {44.0 / 45, -56.0 / 15, 32.0 / 9},
          {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
          {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
    .b_hat = {5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100,
              1.0 / 40},
    .d = {-12715105075.0 / 11282082432.0, 0, 87487479700.0 / 32700410799.0,
          -10690763975.0 / 1880347072.0, 701980252875.0 / 199316789632.0,
          -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0},
};

bg_status bg_dopri5_create(bg_integrator *ig, bg_dopri5_memory *m, bg_error *err)
{
    bool good = true;
    ig->by_largest = bg_option_get_choice(ig, "norm") == 0;
    for (int i = 1; i < BG_DOPRI5_STAGES - 1; i++)
        good = (m->rate[i] = BG_NEW_ARRAY(double, ig->n)) && good;
    m->y = BG_NEW_ARRAY(double, ig->n);
    m->lambda = BG_NEW_ARRAY(double, ig->dyn->ng);
    if (!good || !m->y || !m->lambda)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    bg_status st = bg_chart_create(ig, &m->chart, err);
    return st == BG_OK ? bg_projection_control_create(ig, &m->projection, err) : st;
}

void bg_dopri5_clear(bg_dopri5_memory *m)
{
    for (int i = 1; i < BG_DOPRI5_STAGES - 1; i++)
        free(m->rate[i]);
    free(m->y);
    free(m->lambda);
    bg_chart_clear(&m->chart);
    bg_projection_control_clear(&m->projection);
}

void bg_dopri5_begin(bg_integrator *ig)
{
    bg_dopri5_memory *m = ig->method;
    m->rate[0] = ig->rate0;
    m->rate[6] = ig->rate1;
    memcpy(ig->x1->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
}

void bg_dopri5_calc_stage(bg_integrator *ig, int i, double *y)
{
    bg_dopri5_memory *m = ig->method;
    bg_combine(ig->n, ig->x0->q, ig->h, i, bg_dopri5.a[i], m->rate, y);
}

/* x1 - the embedded solution, into work_n. */
static void calc_difference(bg_integrator *ig, const double *b_hat)
{
    bg_dopri5_memory *m = ig->method;
    memcpy(ig->x1->a, ig->rate1 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    bg_combine(ig->n, ig->x0->q, ig->h, BG_DOPRI5_STAGES, b_hat, m->rate, ig->work_n);
    for (int i = 0; i < ig->n; i++)
        ig->work_n[i] = ig->x1->q[i] - ig->work_n[i]; /* against the projected end, as in 003 */
}

/* Takes out of the difference of velocities what lifting the embedded solution would: G dv = 0.
 * Accelerations across the manifold are known only to rounding / distance^2 from the singular
 * position; the motion on it does not feel that. */
static void keep_on_manifold(bg_integrator *ig)
{
    bg_dynamics *d = ig->dyn;
    double *e_v = ig->work_n + d->nq;
    bg_matrix_multiply(d->ng, d->nv, ig->sys->def.pattern_G, d->terms.G, e_v, d->work_g);
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_kkt_solve(d->kkt, d->work_v, d->work_g);
    for (int i = 0; i < d->nv; i++)
        e_v[i] -= d->work_v[i];
}

void bg_dopri5_end(bg_integrator *ig, const double *b_hat, double *error)
{
    calc_difference(ig, b_hat);
    *error = bg_norm_calc_state(ig, ig->work_n);
    ig->error_tangent = *error;
    if (!(*error > 1) || ig->dyn->ng == 0)
        return;
    keep_on_manifold(ig);
    ig->error_tangent = bg_norm_calc_state(ig, ig->work_n);
}

bg_status bg_dopri5_leap(bg_integrator *ig, double *error, bg_error *err)
{
    bg_dopri5_memory *m = ig->method;
    bg_state *x = ig->x1;
    m->projection.projected = false;
    bg_dopri5_begin(ig);
    bg_status st = bg_chart_begin(ig, &m->chart, err);
    for (int i = 1; i < BG_DOPRI5_STAGES - 1 && st == BG_OK; i++) {
        double t = ig->x0->t + bg_dopri5.c[i] * ig->h;
        bg_dopri5_calc_stage(ig, i, m->y);
        st = bg_chart_lift(ig, &m->chart, t, m->y, err);
        if (st == BG_OK)
            st = bg_integrator_calc_rate(ig, t, m->y, 0, m->rate[i], m->lambda, err);
    }
    if (st != BG_OK)
        return st;
    bg_dopri5_calc_stage(ig, 6, x->q);
    st = bg_chart_lift(ig, &m->chart, x->t, x->q, err);
    if (st == BG_OK)
        st = bg_integrator_calc_rate(ig, x->t, x->q, BG_TERM_g | BG_TERM_gt, ig->rate1, x->lambda,
                                     err);
    if (st != BG_OK)
        return st;
    calc_difference(ig, bg_dopri5.b_hat);
    keep_on_manifold(ig);
    *error = ig->error_tangent = bg_norm_calc_state(ig, ig->work_n);
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    return BG_OK;
}

void bg_dopri5_restart(bg_integrator *ig, bg_restart reason)
{
    bg_dopri5_memory *m = ig->method;
    (void)reason;
    bg_projection_control_reset(&m->projection);
}

void bg_dopri5_accept(bg_integrator *ig)
{
    bg_dopri5_memory *m = ig->method;
    bg_trouble_watch_step(ig, m->y, m->rate[5]);
}

void bg_dopri5_commit(bg_integrator *ig)
{
    bg_dopri5_memory *m = ig->method;
    bg_projection_control_commit(&m->projection);
}

void bg_dopri5_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_dopri5_memory *m = ig->method;
    bg_projection_control_archive(&m->projection, archive);
}
