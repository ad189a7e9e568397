/* Work as a power of the error reached: a straight line in log error and log work through the runs
 * of a sweep of tolerances, by least squares. Errors of single runs scatter by a factor of ten, so
 * no two methods can be compared at one tolerance; on the line, and within the errors it was fitted
 * to, they can. */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include <math.h>
#include <stdbool.h>

typedef struct fitted_line {
    int n;
    double low, high;     /* of the errors */
    double slope, offset; /* log work = offset + slope log error */
} fitted_line;

/* Points with error or work 0, or not finite, do not count. */
static fitted_line line_fit(const double *error, const double *work, int n)
{
    fitted_line l = {.low = INFINITY, .high = 0};
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        if (!(error[i] > 0 && isfinite(error[i]) && work[i] > 0 && isfinite(work[i])))
            continue;
        const double a = log(error[i]), b = log(work[i]);
        l.low = fmin(l.low, error[i]);
        l.high = fmax(l.high, error[i]);
        l.n++;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    const double spread = l.n * xx - x * x;
    l.slope = l.n > 1 && spread > 0 ? (l.n * xy - x * y) / spread : 0;
    l.offset = l.n > 0 ? (y - l.slope * x) / l.n : NAN;
    return l;
}

/* NAN: the error is not among those of its runs. */
static double line_at(const fitted_line *l, double error)
{
    if (l->n < 3 || error < 0.999 * l->low || error > 1.001 * l->high)
        return NAN;
    return exp(l->offset + l->slope * log(error));
}

#endif
