#include "integrators/leaps.h"

#include "integrators/change_points.h"
#include "integrators/integrator.h"

#include <math.h>

enum { LEAP_AFTER = 5, LEAPS = 6, LEAPS_IN_A_ROW = 4, PAUSE_MAX = 64 };
/* lengths beside h_cruise below which leaps begin: behind a leap, with an error across the
 * constraints, with any error */
static const double half_step = 0.5, short_step = 0.2, tiny_step = 0.1;
static const double across_limit = 0.1; /* part of an error along the constraints */
static const double leap_safety = 10;
static const double lengths[LEAPS] = {1.0, 1.31, 0.77, 1.73, 0.53, 2.3};

void bg_leaps_reset(bg_leaps *l)
{
    *l = (bg_leaps){.wait = 1};
}

static bool can_leap(const bg_integrator *ig)
{
    return ig->class_->leap && ig->dyn->ng > 0 && !ig->sys->system->tree && ig->options.step == 0;
}

double bg_leaps_choose(bg_integrator *ig, bg_attempts *a, bool computed, double error)
{
    bg_control *c = &ig->control;
    bg_leaps *l = &c->leaps;
    if (a->leap == 0)
        a->shrunk = bg_control_propose(ig, computed ? BG_TOO_LARGE : BG_FAILED, error);
    a->rejections++;
    bool across = computed && ig->error_tangent < across_limit * error;
    bool early = l->pause == 0 && !ig->leaping &&
                 a->shrunk < (across ? l->leapt ? half_step : short_step : tiny_step) * c->h_cruise;
    bool trouble = a->leap > 0 || (!ig->stays && (early || a->rejections >= LEAP_AFTER));
    c->h_next = a->shrunk;
    if (!trouble || !can_leap(ig))
        return a->shrunk;
    if (a->leap < 2 * LEAPS) {
        c->last_rejected = ig->leaping;
        ig->leaping = true;
        return c->h_next = c->h_cruise * lengths[a->leap++ % LEAPS];
    }
    a->leap = a->rejections = 0; /* none of them led over: go on shrinking */
    l->wait = 2 * l->wait < PAUSE_MAX ? 2 * l->wait : PAUSE_MAX;
    l->pause = l->wait;
    l->left = 0;
    ig->leaping = false;
    return a->shrunk;
}

double bg_leaps_get_safety(const bg_integrator *ig, const bg_attempts *a)
{
    if (!ig->leaping)
        return 1;
    double data = bg_change_points_get_offset(ig) / fmax(ig->options.rtol, ig->options.atol);
    return (a->leap <= LEAPS ? leap_safety : 1) / fmax(1, data);
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

void bg_leaps_archive(bg_leaps *l, bg_archive *archive)
{
    bg_archive_flags(archive, &l->leapt, sizeof l->leapt);
    bg_archive_whole(archive, &l->left, 1, 0, LEAPS_IN_A_ROW);
    bg_archive_whole(archive, &l->pause, 1, 0, PAUSE_MAX);
    bg_archive_whole(archive, &l->wait, 1, 0, PAUSE_MAX);
}
