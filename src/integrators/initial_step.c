/* First step size: an explicit Euler step of a hundredth of the solution's own scale shows how fast
 * y' changes; the step is then chosen so that h^order max(|y'|, |y''|) is a hundredth of the
 * tolerance.
 */
#include "integrators/integrator.h"

#include <math.h>

/* At the beginning, in the norm of the method. */
static double calc_norm(const bg_integrator *ig, const double *y)
{
    const double *q = ig->x0->q;
    return (ig->by_largest ? bg_norm_calc_turned : bg_norm_calc)(ig, ig->n - 1, y, q, q);
}

bg_status bg_initial_step_calc(bg_integrator *ig, double *h, bg_error *err)
{
    const bg_state *x = ig->x0;
    double *y = ig->x1->q, *rate = ig->rate1; /* free before the first step */
    double d0 = 0, d1 = 0, d2 = 0, span = ig->t_end - x->t;
    int n = ig->n - 1; /* without work */
    d0 = calc_norm(ig, x->q);
    d1 = calc_norm(ig, ig->rate0);
    double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h0 = fmin(h0, span);
    for (int attempt = 0;; attempt++) {
        for (int i = 0; i < ig->n; i++)
            y[i] = x->q[i] + h0 * ig->rate0[i];
        bg_status st = bg_integrator_calc_rate(ig, x->t + h0, y, 0, rate, ig->x1->lambda, err);
        if (st == BG_OK)
            break;
        if (st <= 0)
            return st;
        if (attempt == 30)
            return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
        h0 *= 0.1;
    }
    for (int i = 0; i < n; i++)
        ig->work_n[i] = (rate[i] - ig->rate0[i]) / h0;
    d2 = calc_norm(ig, ig->work_n);
    double d = fmax(d1, d2);
    double h1 = d <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / d, 1.0 / ig->order);
    *h = fmin(fmin(100 * h0, h1), span);
    if (ig->options.h_max > 0)
        *h = fmin(*h, ig->options.h_max);
    return BG_OK;
}
