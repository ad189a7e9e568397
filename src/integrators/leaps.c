#include "integrators/leaps.h"

#include "integrators/change_points.h"
#include "integrators/integrator.h"

#include <math.h>

enum { LEAP_AFTER = 5, LEAPS_IN_A_ROW = 4, PAUSE_MAX = 64 };
/* lengths beside h_cruise below which leaps begin: behind a leap, with an error across the
 * constraints, with any error */
static const double half_step = 0.5, short_step = 0.2, tiny_step = 0.1;
static const double hopeless = 1e-6;    /* ... below which no error is one of the method */
static const double across_limit = 0.1; /* part of an error along the constraints */
static const double leap_safety = 10;
static const double immaterial = 0.1; /* of an offset, to methods with a history */
static const double as_good = 2; /* beside the least error: the longest of these leaps is made */
static const double lengths[BG_LEAPS] = {1.0, 1.31, 0.77, 1.73, 0.53, 2.3, 0.13};

void bg_leaps_reset(bg_leaps *l)
{
    *l = (bg_leaps){.wait = 1};
}

/* The offset of the constraints that lead through a change point, in units of the tolerance. */
static double calc_offset(const bg_integrator *ig)
{
    return bg_change_points_get_offset(ig) / fmax(ig->options.rtol, ig->options.atol);
}

static bool can_leap(const bg_integrator *ig)
{
    return ig->class_->leap && ig->dyn->ng > 0 && !ig->sys->system->tree && ig->options.step == 0;
}

/* Keeps the error of the leap just made, by length. */
static void remember(bg_attempts *a, double h, double error)
{
    int k = a->count++;
    for (; k > 0 && a->tried[k - 1].h > h; k--)
        a->tried[k] = a->tried[k - 1];
    a->tried[k] = (bg_leap_tried){h, error};
}

/* The last resort is the best of all leaps, if it is within the tolerance; else the longest that is
 * about as good, if rounding is what limits it. Length; 0: there is none. */
static double find_last(const bg_integrator *ig, bg_attempts *a)
{
    const bg_leap_tried *x = a->tried;
    int best = 0;
    for (int k = 1; k < a->count; k++)
        best = x[k].error < x[best].error ? k : best;
    if (a->count == 0)
        return 0;
    double least = x[best].error;
    a->doubted = least > fmax(1, calc_offset(ig));
    for (int k = best + 1; k < a->count && a->doubted; k++)
        best = x[k].error < as_good * least ? k : best;
    return x[best].h;
}

double bg_leaps_choose(bg_integrator *ig, bg_attempts *a, bool computed, double error)
{
    bg_control *c = &ig->control;
    bg_leaps *l = &c->leaps;
    if (a->leap == 0)
        a->shrunk = bg_control_propose(ig, computed ? BG_TOO_LARGE : BG_FAILED, error);
    else if (computed)
        remember(a, ig->h, ig->error_tangent / bg_rounding_get_scale(&c->rounding));
    a->rejections++;
    a->in_vain = a->in_vain || (!ig->leaping && ig->h < hopeless * c->h_cruise);
    bool across = computed && ig->error_tangent < across_limit * error;
    double length = across ? l->leapt ? half_step : short_step : tiny_step;
    bool early = l->pause == 0 && (a->shrunk < length * c->h_cruise || calc_offset(ig) > 1);
    bool trouble = a->leap > 0 || (!ig->stays && (early || a->rejections >= LEAP_AFTER));
    a->across = a->across || across || trouble;
    c->h_next = a->shrunk;
    if (!trouble || !can_leap(ig))
        return a->shrunk;
    const double reach = ig->class_->leap_reach > 0 ? ig->class_->leap_reach : 1;
    double h = a->leap < BG_LEAPS    ? c->h_cruise * lengths[a->leap] * reach
               : a->leap == BG_LEAPS ? find_last(ig, a)
                                     : 0;
    if (h > 0) {
        c->last_rejected = ig->leaping;
        ig->leaping = true;
        a->leap++;
        return c->h_next = h;
    }
    *a = (bg_attempts){.shrunk = a->shrunk, .in_vain = a->in_vain, .across = true};
    l->wait = 2 * l->wait < PAUSE_MAX ? 2 * l->wait : PAUSE_MAX;
    l->pause = l->wait;
    l->left = 0;
    ig->leaping = false;
    return a->shrunk;
}

double bg_leaps_get_safety(const bg_integrator *ig, const bg_attempts *a)
{
    if (!ig->leaping)
        return ig->class_->follows_lambda ? 1 / fmax(1, immaterial * calc_offset(ig)) : 1;
    return (a->leap <= BG_LEAPS ? leap_safety : 1) / fmax(1, calc_offset(ig));
}

void bg_leaps_accept(bg_integrator *ig)
{
    bg_leaps *l = &ig->control.leaps;
    l->pause -= l->pause > 0;
    if (ig->leaping) {
        l->left = l->left > 0 ? l->left - 1 : LEAPS_IN_A_ROW;
        l->wait = 1;
    }
    l->leapt = ig->leaping;
}

void bg_leaps_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_leaps *l = &ig->control.leaps;
    bg_archive_flags(archive, &l->leapt, sizeof l->leapt);
    bg_archive_whole(archive, &l->left, 1, 0, can_leap(ig) ? LEAPS_IN_A_ROW : 0);
    bg_archive_whole(archive, &l->pause, 1, 0, PAUSE_MAX);
    bg_archive_whole(archive, &l->wait, 1, 0, PAUSE_MAX);
}
