/* Work against accuracy: CPU time as a function of the error reached, from a sweep of tolerances.
 *
 * Neighbouring runs of the sweep are joined by straight lines in log error and log time. The error
 * at one point of time is not monotone in the tolerance, where it changes sign a run is better by
 * luck; hence a level of error counts as reached from the last crossing on, when it is kept at
 * every tighter tolerance. */
#ifndef BENCH_CURVE_H
#define BENCH_CURVE_H

#include "problem.h"

typedef struct curve_run {
    double tolerance;
    bench_outcome outcome;
    double cpu; /* s, one integration */
} curve_run;

/* CPU time to reach error e with runs in the order of ever tighter tolerances: that of the first
 * run when all are better, NAN when none keeps to e. Runs that failed are left out. */
static double curve_find_cpu(const curve_run *runs, int n, double e)
{
    const curve_run *after = NULL; /* the next better run */
    for (int k = n - 1; k >= 0; k--) {
        const curve_run *r = &runs[k];
        if (!r->outcome.good)
            continue;
        if (r->outcome.error > e) {
            if (!after)
                return NAN;
            double from = log(r->outcome.error), to = log(fmax(after->outcome.error, 1e-300));
            double part = (from - log(e)) / (from - to);
            return exp(log(r->cpu) + part * (log(after->cpu) - log(r->cpu)));
        }
        after = r;
    }
    return after ? after->cpu : NAN;
}

#endif
