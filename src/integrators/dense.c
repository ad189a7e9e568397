/* Dense output.
 *
 * One-step methods share a polynomial. With theta = (t - t0)/h, rest = 1 - theta, D = y1 - y0, and
 * the rates at both ends,
 *     y(theta) = y0 + theta [ D + rest [ B + theta [ D - h y1' - B + rest [ R0 + theta [ R1 + rest
 *                [ R2 + theta R3 ] ] ] ] ] ],        B = h y0' - D,
 * is the cubic Hermite interpolant plus theta^2 rest^2 times a polynomial whose coefficients R
 * (`bubble`) a method chooses so that the error falls with a higher order: none for order 3, one
 * for order 4, four for order 7 (Hairer, Norsett and Wanner 1993, II.6). Others bring their own. */
#include "consistent/projection.h"
#include "integrators/integrator.h"

#include <math.h>
#include <string.h>

/* rest [ R0 + theta [ R1 + ... ] ] of entry i. */
static double calc_bubble(const bg_integrator *ig, int i, double theta, double rest)
{
    double p = 0;
    for (int k = ig->class_->bubbles - 1; k >= 0; k--)
        p = (k % 2 ? theta : rest) * (ig->bubble[k * ig->n + i] + p);
    return p;
}

/* Its derivative by theta. */
static double differentiate_bubble(const bg_integrator *ig, int i, double theta, double rest)
{
    double p = 0, dp = 0;
    for (int k = ig->class_->bubbles - 1; k >= 0; k--) {
        double factor = k % 2 ? theta : rest;
        p += ig->bubble[k * ig->n + i];
        dp = factor * dp + (k % 2 ? p : -p);
        p *= factor;
    }
    return dp;
}

void bg_dense_calc_hermite(const bg_integrator *ig, double t, int begin, int end, double *y,
                           double *slope)
{
    const double h = ig->x1->t - ig->x0->t, theta = (t - ig->x0->t) / h, rest = 1 - theta;
    for (int i = begin; i < end; i++) {
        double y0 = ig->x0->q[i], D = ig->x1->q[i] - y0, B = h * ig->rate0[i] - D;
        double inner = D - h * ig->rate1[i] - B + calc_bubble(ig, i, theta, rest);
        if (y)
            y[i - begin] = y0 + theta * (D + rest * (B + theta * inner));
        if (slope) {
            double bend = theta * rest * differentiate_bubble(ig, i, theta, rest);
            slope[i - begin] = (D + (rest - theta) * B + theta * ((2 - 3 * theta) * inner + bend)) /
                               h;
        }
    }
}

/* Entries of y, or of its slope; the other is NULL. */
static void calc_dense(const bg_integrator *ig, double t, int begin, int end, double *y,
                       double *slope)
{
    (ig->class_->interpolate ? ig->class_->interpolate : bg_dense_calc_hermite)(ig, t, begin, end,
                                                                                y, slope);
}

static void interpolate(const bg_integrator *ig, double t, int begin, int end, double *y)
{
    calc_dense(ig, t, begin, end, y, NULL);
}

static void prepare(bg_integrator *ig)
{
    if (ig->dense_ready)
        return;
    if (ig->class_->prepare_dense)
        ig->class_->prepare_dense(ig);
    ig->dense_ready = true;
}

void bg_integrator_interpolate(const bg_integrator *integrator, double t, double *q, double *v,
                               double *z)
{
    bg_integrator *ig = (bg_integrator *)integrator; /* the cached coefficients are not its state */
    int nq = ig->dyn->nq, nv = ig->dyn->nv;
    if (!ig->stepped) {
        memcpy(q, ig->x0->q, (size_t)nq * sizeof(double));
        memcpy(v, ig->x0->v, (size_t)nv * sizeof(double));
        memcpy(z, ig->x0->z, (size_t)ig->dyn->nz * sizeof(double));
        return;
    }
    prepare(ig);
    interpolate(ig, t, 0, nq, q);
    interpolate(ig, t, nq, nq + nv, v);
    interpolate(ig, t, nq + nv, ig->n - 1, z);
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, q);
}

bool bg_dense_interpolate_lambda(const bg_integrator *ig, double t, double *lambda)
{
    if (!ig->class_->follows_lambda || !ig->stepped)
        return false;
    interpolate(ig, t, ig->n, ig->n + ig->dyn->ng, lambda);
    return true;
}

double bg_dense_calc_drift(bg_integrator *ig, double *y)
{
    bg_dynamics *d = ig->dyn;
    double t = 0.5 * (ig->x0->t + ig->x1->t), *v = y + d->nq, *z = v + d->nv;
    interpolate(ig, t, 0, ig->n, y);
    bg_status st = bg_dynamics_evaluate(d, t, y, v, z, ig->x1->mode,
                                        BG_TERM_MASS | BG_TERM_G | BG_TERM_gt, NULL);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, NULL);
    if (st != BG_OK)
        return HUGE_VAL;
    bg_dynamics_calc_w(d, v, d->work_g);
    memset(ig->work_n, 0, (size_t)ig->n * sizeof(double));
    bg_kkt_solve(d->kkt, ig->work_n + d->nq, d->work_g);
    return bg_norm_calc_state(ig, ig->work_n, NULL);
}

/* The accelerations as the derivative of dense output of the velocities. */
static void differentiate(const bg_integrator *ig, double t, double *a)
{
    calc_dense(ig, t, ig->dyn->nq, ig->dyn->nq + ig->dyn->nv, NULL, a);
}

void bg_integrator_interpolate_plain(bg_integrator *ig, double t, bg_state *out)
{
    const bg_state *x = bg_integrator_get_state(ig);
    bg_state_copy(ig->sys->system, x, out);
    if (t == x->t || !ig->stepped)
        return;
    bg_integrator_interpolate(ig, t, out->q, out->v, out->z);
    out->t = t;
    interpolate(ig, t, ig->n - 1, ig->n, out->work);
    differentiate(ig, t, out->a);
    double theta = (t - ig->x0->t) / (ig->x1->t - ig->x0->t);
    for (int i = 0; i < ig->dyn->ng; i++)
        out->lambda[i] = (1 - theta) * ig->x0->lambda[i] + theta * ig->x1->lambda[i];
}

/* In a singular position to working precision the matrix may pass for a regular one, and a and
 * lambda are amplified rounding. Such an a is nowhere near the slope of the velocities, as if these
 * changed by many tolerances within the step unseen by its error estimate. */
static bool is_noise(bg_integrator *ig, const bg_state *x)
{
    const double far = 0.1, many = 1000, h = ig->x1->t - ig->x0->t;
    const double *a0 = ig->rate0 + ig->dyn->nq, *a1 = ig->rate1 + ig->dyn->nq;
    double *slope = ig->work_n, deviation = 0, scale = 0;
    differentiate(ig, x->t, slope);
    for (int k = 0; k < ig->dyn->nv; k++) {
        scale = fmax(scale, fmax(fabs(slope[k]), fmax(fabs(a0[k]), fabs(a1[k]))));
        slope[k] = x->a[k] - slope[k];
        deviation = fmax(deviation, fabs(slope[k]));
    }
    return deviation > far * scale &&
           h * bg_norm_calc(ig, ig->dyn->nv, slope, ig->x0->v, ig->x1->v) > many;
}

bg_status bg_integrator_interpolate_state(bg_integrator *ig, double t, bg_state *out, bg_error *err)
{
    const bg_state *x = bg_integrator_get_state(ig);
    if (t == x->t || !ig->stepped) {
        bg_state_copy(ig->sys->system, x, out);
        return BG_OK;
    }
    bg_integrator_interpolate(ig, t, out->q, out->v, out->z);
    memcpy(out->mode, x->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    out->t = t;
    interpolate(ig, t, ig->n - 1, ig->n, out->work);
    if (ig->class_->info.fixed_steps) { /* its own output, drift and all */
        memcpy(out->a, x->a, (size_t)ig->dyn->nv * sizeof(double));
        memcpy(out->lambda, x->lambda, (size_t)ig->dyn->ng * sizeof(double));
        return BG_OK;
    }
    bg_status st = bg_project_state(ig->dyn, out, err);
    if (st == BG_OK && ig->dyn->ng > 0 && is_noise(ig, out))
        bg_integrator_interpolate_plain(ig, t, out);
    return st;
}
