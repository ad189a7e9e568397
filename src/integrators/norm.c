/* The weighted norm of 003 eq. (15) and linear combinations of rates. */
#include "integrators/integrator.h"

#include <math.h>
#include <string.h>

double bg_norm_calc(const bg_integrator *ig, int n, const double *x, const double *x0,
                    const double *x1)
{
    double sum = 0, rtol = ig->options.rtol, atol = ig->options.atol;
    for (int i = 0; i < n; i++) {
        double a = fabs(x0[i]), b = fabs(x1[i]);
        double e = x[i] / (rtol * (a > b ? a : b) + atol);
        sum += e * e;
    }
    return n > 0 ? sqrt(sum / n) : 0.0;
}

double bg_norm_calc_state(const bg_integrator *ig, const double *e)
{
    int nq = ig->dyn->nq, nv = ig->dyn->nv, nz = ig->dyn->nz;
    double q = bg_norm_calc(ig, nq, e, ig->x0->q, ig->x1->q);
    double v = bg_norm_calc(ig, nv, e + nq, ig->x0->v, ig->x1->v);
    double z = bg_norm_calc(ig, nz, e + nq + nv, ig->x0->z, ig->x1->z);
    double m = q > v ? q : v;
    return isnan(q) || isnan(v) || isnan(z) ? NAN : m > z ? m : z;
}

void bg_combine(int n, const double *y0, double h, int stages, const double *b, double *const *rate,
                double *y)
{
    if (y0)
        memcpy(y, y0, (size_t)n * sizeof(double));
    else
        memset(y, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < stages; j++) {
        if (b[j] == 0)
            continue;
        double c = h * b[j];
        const double *restrict r = rate[j];
        for (int i = 0; i < n; i++)
            y[i] += c * r[i];
    }
}
