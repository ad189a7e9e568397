/* Outputs that are made of the rows of others: a first-order lag, and the root of a mean square.
 *
 * Between rows the source u is taken to be straight; z' = (u - z)/T then has the exact solution
 *
 *   z1 = u1 - s T + (z0 - u0 + s T) exp(-h/T),     s = (u1 - u0)/h,
 *
 * from z = u in the first row. For the mean square u^2 stands in the place of u: the running r.m.s.
 * with an exponential window of ISO 2631-1. Rows at the same time (events) only change u0. */
#include "run/filters.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

bool bg_filters_create(const bg_system_def *def, bg_filters *f)
{
    *f = (bg_filters){.def = def, .n = def->nfilters, .t = NAN};
    f->u = BG_NEW_ARRAY(double, f->n);
    f->z = BG_NEW_ARRAY(double, f->n);
    return f->u && f->z;
}

void bg_filters_clear(bg_filters *f)
{
    free(f->u);
    free(f->z);
}

void bg_filters_archive(bg_filters *f, bg_archive *archive)
{
    bg_archive_doubles(archive, &f->t, 1);
    bg_archive_doubles(archive, f->u, f->n);
    bg_archive_doubles(archive, f->z, f->n);
}

void bg_filters_apply(bg_filters *f, double t, double *y, bool keep)
{
    const double h = t - f->t;
    for (int k = 0; k < f->n; k++) {
        const bg_output_filter *x = &f->def->filters[k];
        const bool square = x->kind == BG_FILTER_RMS;
        const double source = y[x->source], u = square ? source * source : source;
        double z = isnan(f->t) ? u : f->z[k];
        if (h > 0) {
            const double slope = (u - f->u[k]) / h * x->time;
            z = u - slope + (z - f->u[k] + slope) * exp(-h / x->time);
        }
        y[x->y] = x->scale * (square ? sqrt(fmax(0, z)) : z);
        if (!keep)
            continue;
        f->u[k] = u;
        f->z[k] = z;
    }
    if (keep)
        f->t = t;
}
