#include "integrators/control.h"

#include "integrators/integrator.h"

#include <float.h>
#include <math.h>

static const double beta = 0.04, safety = 0.9, shrink_limit = 0.2, growth_limit = 10.0;
static const double cruise_memory = 0.9; /* of h_cruise that a shorter step leaves */
enum { MOST_PARTS = 256 };
static const double least_part = 0x1p-20, growth_of_parts = 2;   /* of a fixed step */
static const double after_failure = 0.25, after_rejection = 0.9; /* of the length, at most */

void bg_control_reset(bg_integrator *ig, double h)
{
    bg_control *c = &ig->control;
    c->h_next = c->h_cruise = h;
    c->error_old = 1e-4;
    c->last_rejected = false;
    bg_rounding_reset(&c->rounding);
    bg_leaps_reset(&c->leaps);
}

double bg_control_calc(bg_integrator *ig, bg_outcome outcome, double error)
{
    const bg_control *c = &ig->control;
    const double alpha = 1.0 / ig->order - 0.75 * beta;
    if (outcome == BG_FAILED)
        return after_failure * ig->h;
    if (outcome == BG_TOO_LARGE)
        return ig->h * fmin(fmax(shrink_limit, safety * pow(error, -alpha)), after_rejection);
    double factor = safety * pow(fmax(error, 1e-10), -alpha) * pow(c->error_old, beta);
    factor = fmin(growth_limit, fmax(shrink_limit, factor));
    return ig->h * (c->last_rejected ? fmin(factor, 1.0) : factor);
}

double bg_control_propose(bg_integrator *ig, bg_outcome outcome, double error)
{
    return (ig->class_->control ? ig->class_->control : bg_control_calc)(ig, outcome, error);
}

void bg_control_accept(bg_integrator *ig, double error, bool across)
{
    bg_control *c = &ig->control;
    c->h_cruise = fmax(ig->h, (across ? 1 : cruise_memory) * c->h_cruise);
    double proposed = bg_control_propose(ig, BG_ACCEPTED, error);
    /* a step that only an outer limit made short says nothing about the next one */
    bool cut = ig->h < 0.99 * c->h_next;
    c->h_next = cut && !c->last_rejected ? fmax(proposed, fmin(c->h_next, growth_limit * ig->h))
                                         : proposed;
    c->error_old = fmax(error, 1e-4);
    c->last_rejected = false;
}

/* Parts of a fixed step become longer until they are whole ones. */
void bg_control_accept_fixed(bg_integrator *ig)
{
    const double step = ig->options.step;
    ig->parts = ig->part ? ig->parts + 1 : 0;
    ig->control.h_next = fmin(growth_of_parts * ig->control.h_next, ig->part ? 0.5 * step : step);
}

bool bg_control_cut(bg_integrator *ig)
{
    bg_control *c = &ig->control;
    c->h_next = after_failure * fmin(c->h_next, ig->h);
    return ig->class_->cuts && ig->parts < MOST_PARTS && c->h_next >= least_part * ig->options.step;
}

double bg_control_get_least(const bg_integrator *ig)
{
    double t = fmax(fabs(ig->x0->t), fabs(ig->t_end));
    return fmax(ig->options.h_min, 16 * DBL_EPSILON * t);
}

/* A fixed step leads to the next point of the grid, a part of one no farther. */
static double fit_fixed(bg_integrator *ig, double h, double limit, double *t1)
{
    const double slack = 1e-9, t0 = ig->x0->t, step = ig->options.step;
    const double next = ig->t_grid + (double)(ig->grid + 1) * step;
    const bool cut = h < step, reaches = !cut || h * (1 + slack) >= next - t0;
    const double length = !cut ? step : reaches ? next - t0 : h;
    ig->whole = reaches && length * (1 + slack) < limit - t0;
    ig->part = !reaches && length * (1 + slack) < limit - t0;
    *t1 = ig->whole ? next : ig->part ? t0 + h : limit;
    return ig->whole || ig->part ? length : limit - t0;
}

double bg_control_fit(bg_integrator *ig, double h, double *t1)
{
    const double slack = 0.01;
    double t0 = ig->x0->t, limit = fmin(ig->t_end, ig->t_limit), remaining = limit - t0;
    if (ig->options.h_max > 0)
        h = fmin(h, ig->options.h_max);
    if (ig->options.step > 0)
        return fit_fixed(ig, h, limit, t1);
    if (h * (1 + slack) >= remaining) {
        *t1 = limit;
        return remaining;
    }
    if (2 * h > remaining)
        h = 0.5 * remaining;
    *t1 = t0 + h;
    return h;
}

void bg_control_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_control *c = &ig->control;
    bg_archive_finite(archive, &c->h_next, 1);
    bg_archive_finite(archive, &c->h_cruise, 1);
    bg_archive_finite(archive, &c->error_old, 1);
    bg_archive_flags(archive, &c->last_rejected, sizeof c->last_rejected);
    if (!(c->h_next >= 0 && c->h_cruise >= 0))
        archive->failed = true;
    bg_rounding_archive(&c->rounding, archive);
    bg_leaps_archive(ig, archive);
}
