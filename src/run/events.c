/* Switching functions along a run: the pieces of a step in which zeros are looked for, in the two
 * phases of 003 section 4.3.
 *
 * A step in which every function stays far from zero, beside what it varies by, is passed over at
 * the price of a few values (is_clear). Any other step is cut into pieces at whose ends s and its
 * slope are taken from plain dense output. A piece is halved until the cubic through its ends
 * foretells s inside, so that functions which vary faster than the step are followed too, and
 * searched (event_search.c).
 */
#include "run/events.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/integrator.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 3, MAX_CUTS = 256, MAX_REPEATS = 12 };
static const double touch = 1e-9;          /* of the largest |s| that a cubic must pass zero by */
static const double slope_fraction = 1e-4; /* of a step: distance of the difference for slopes */
static const double clearance = 4;         /* distance from zero / variation in a clear step */
static const double far = 10;   /* times that much, where one look inside the step is enough */
static const double longer = 2; /* a step than the one before, whose values tell of it */

static void list(void *object, bg_arena *arena)
{
    bg_detector *w = object;
    const bg_system_def *d = &w->sys->def;
    BG_TAKE(arena, w->sign, d->ns);
    BG_TAKE(arena, w->scale, d->ns);
    BG_TAKE(arena, w->touched, d->ns);
    BG_TAKE(arena, w->resting, d->ns);
    BG_TAKE(arena, w->last, d->ns);
    BG_TAKE(arena, w->before, d->ns);
    BG_TAKE(arena, w->fires, d->ns);
    BG_TAKE(arena, w->fired, d->ns);
    BG_TAKE(arena, w->direction, d->ns);
    BG_TAKE(arena, w->s_round, d->ns);
    BG_TAKE(arena, w->s_changed, d->ns);
    BG_TAKE(arena, w->s, d->ns);
    BG_TAKE(arena, w->s_early, d->ns);
    BG_TAKE(arena, w->left, d->ns);
    BG_TAKE(arena, w->left_slope, d->ns);
    BG_TAKE(arena, w->right, d->ns);
    BG_TAKE(arena, w->right_slope, d->ns);
    BG_TAKE(arena, w->from, d->ns);
    BG_TAKE(arena, w->weight, d->ns);
    BG_TAKE(arena, w->slope, d->ns);
    BG_TAKE(arena, w->touch_at, d->ns);
    BG_TAKE(arena, w->heading, d->ns);
    BG_TAKE(arena, w->said, d->ns);
    BG_TAKE(arena, w->followed, d->ns);
    BG_TAKE(arena, w->q, d->nq);
    BG_TAKE(arena, w->v, d->nv);
    BG_TAKE(arena, w->z, d->nz);
    BG_TAKE(arena, w->V, bg_system_get_size_V(w->sys->system));
    BG_TAKE(arena, w->a, d->s_of_lambda ? d->nv : 0);
    BG_TAKE(arena, w->lambda, d->s_of_lambda ? d->ng : 0);
}

bg_status bg_detector_create(bg_evaluator *sys, bg_integrator *ig, bg_detector **detector,
                             bg_error *err)
{
    bg_detector *w = *detector = BG_NEW(bg_detector);
    if (!w)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for events");
    w->sys = sys;
    w->ig = ig;
    w->ns = sys->def.ns;
    bg_status st = bg_arena_create(&w->arena, list, w)
                       ? bg_state_create(sys->system, &w->state, err)
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory for events");
    for (int i = 0; st == BG_OK && i < w->ns; i++)
        w->touched[i] = NAN;
    if (st != BG_OK) {
        bg_detector_destroy(w);
        *detector = NULL;
    }
    return st;
}

void bg_detector_destroy(bg_detector *w)
{
    if (!w)
        return;
    bg_arena_clear(&w->arena);
    bg_state_destroy(w->state);
    free(w);
}

/* s at a point, with the multipliers in w->lambda where they count. */
static bg_status evaluate(bg_detector *w, double t, const double *q, const double *v,
                          const double *z, const int *mode, double *s, bg_error *err)
{
    bg_point p;
    bg_terms out = {.s = s};
    bg_status st = bg_system_set_point(w->sys, t, q, v, z, mode, &p, err);
    if (w->sys->def.s_of_lambda)
        p.lambda = w->lambda;
    if (st == BG_OK)
        st = bg_system_calc_terms(w->sys, &p, BG_TERM_s, &out, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++)
        if (!isfinite(s[i]))
            st = bg_error_set(err, BG_NOT_FINITE,
                              "system '%s': switching function '%s' is not finite at t = %.17g",
                              w->sys->def.name, bg_system_get_event_name(w->sys->system, i), t);
    return st;
}

bg_status bg_detector_calc(bg_detector *w, double t, const double *q, const double *v,
                           const double *z, const int *mode, double *s, bg_error *err)
{
    bg_status st = BG_OK;
    if (w->sys->def.s_of_lambda)
        st = bg_dynamics_accelerate(w->ig->dyn, t, q, v, z, mode, 0, w->a, w->lambda, err);
    return st == BG_OK ? evaluate(w, t, q, v, z, mode, s, err) : st;
}

bg_status bg_detector_calc_plain(bg_detector *w, double t, double *s, bg_error *err)
{
    bg_integrator_interpolate(w->ig, t, w->q, w->v, w->z);
    return bg_detector_calc(w, t, w->q, w->v, w->z, bg_integrator_get_state(w->ig)->mode, s, err);
}

bg_status bg_detector_calc_projected(bg_detector *w, double t, double *s, bg_error *err)
{
    bg_status st = bg_integrator_interpolate_state(w->ig, t, w->state, err);
    if (st != BG_OK)
        return st;
    return bg_detector_calc(w, t, w->state->q, w->state->v, w->state->z, w->state->mode, s, err);
}

double bg_detector_get_grain(double t)
{
    return 16 * DBL_EPSILON * fmax(fabs(t), DBL_MIN);
}

/* s and its slope at t inside the step; the slope from the inner side. */
static bg_status calc_with_slope(bg_detector *w, double t, double t0, double t1, double *s,
                                 double *slope, bg_error *err)
{
    double e = fmax(slope_fraction * (t1 - t0), bg_detector_get_grain(t1));
    double other = t + e <= t1 ? t + e : t - e;
    bg_status st = bg_detector_calc_plain(w, t, s, err);
    if (st == BG_OK)
        st = bg_detector_calc_plain(w, other, w->s_early, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++) {
        slope[i] = (w->s_early[i] - s[i]) / (other - t);
        w->scale[i] = fmax(w->scale[i], fabs(s[i]));
    }
    return st;
}

bool bg_detector_is_present(const bg_detector *w, int i, double s)
{
    return bg_sign(s) == w->sign[i] || (w->resting[i] && s == 0);
}

/* The instant that was found counts as reported. */
static void pass_instant(bg_detector *w)
{
    w->t_done = w->state->t;
    memset(w->fired, 0, (size_t)w->ns);
    memcpy(w->s_round, w->s, (size_t)w->ns * sizeof(double));
    for (int i = 0; i < w->ns; i++) {
        if (!w->fires[i])
            continue;
        if (w->direction[i] == 0)
            w->touched[i] = w->t_done;
        else
            w->sign[i] = w->direction[i];
        w->resting[i] = w->direction[i] != 0;
    }
}

/* The cubic through the ends of a piece of length h, at the fraction x of it. */
static double calc_cubic(const bg_detector *w, int i, double h, double x)
{
    double y = 1 - x;
    return y * y * (1 + 2 * x) * w->left[i] + x * x * (1 + 2 * y) * w->right[i] +
           h * x * y * (y * w->left_slope[i] - x * w->right_slope[i]);
}

/* Whether the cubic has more than one zero in the piece. */
static bool has_many_zeros(const bg_detector *w, int i, double h)
{
    int changes = 0, side = w->sign[i];
    for (int k = 1; k <= 12; k++) {
        double value = calc_cubic(w, i, h, k / 12.0);
        if (bg_sign(value) == -side && fabs(value) > touch * w->scale[i]) {
            changes++;
            side = -side;
        }
    }
    return changes > 1;
}

/* Is one cubic enough for [a, b]: does it foretell s at two places inside (not where a period would
 * hide), with at most one zero? */
static bg_status check_piece(bg_detector *w, double a, double b, bool *smooth, bg_error *err)
{
    const double places[2] = {0.28, 0.61};
    double h = b - a;
    bg_status st = BG_OK;
    *smooth = true;
    for (int i = 0; i < w->ns; i++)
        *smooth = *smooth && !has_many_zeros(w, i, h);
    for (int k = 0; k < 2 && *smooth && st == BG_OK; k++) {
        st = bg_detector_calc_plain(w, a + places[k] * h, w->s, err);
        for (int i = 0; i < w->ns && st == BG_OK; i++) {
            double size = fmax(fabs(w->s[i]), fmax(fabs(w->left[i]), fabs(w->right[i])));
            double error = fabs(w->s[i] - calc_cubic(w, i, h, places[k]));
            w->scale[i] = fmax(w->scale[i], fabs(w->s[i]));
            *smooth = *smooth && error <= 0.05 * size + 1e-12 * w->scale[i];
        }
    }
    return st;
}

/* The next piece from a, at most up to *b and hardly shorter than `shortest`; its end becomes *b,
 * the values there are in right. */
static bg_status choose_piece(bg_detector *w, double begin, double t1, double a, double shortest,
                              double *b, bg_error *err)
{
    for (;;) {
        bool smooth;
        bg_status st = calc_with_slope(w, *b, begin, t1, w->right, w->right_slope, err);
        if (st == BG_OK)
            st = check_piece(w, a, *b, &smooth, err);
        if (st != BG_OK || smooth || *b - a <= 2 * shortest)
            return st;
        *b = a + 0.5 * (*b - a);
    }
}

/* The step has to be repeated, to half of what is left of it. */
static bg_status ask_repeat(bg_detector *w, double begin, double t1, double *t_retry, bg_error *err)
{
    *t_retry = begin + 0.5 * (t1 - begin);
    if (w->repeats++<4 * MAX_REPEATS && * t_retry> begin)
        return BG_RETRY;
    return bg_error_set(err, BG_SYSTEM_FAILED,
                        "system '%s': its switching functions cannot be evaluated behind t = %.17g",
                        w->sys->def.name, begin);
}

/* s at a time of the step, where multipliers that the method follows by itself are good enough. */
static bg_status calc_roughly(bg_detector *w, double t, double *s)
{
    const bg_state *x = bg_integrator_get_state(w->ig);
    bg_error ignored;
    bool inside = t < x->t;
    if (inside)
        bg_integrator_interpolate(w->ig, t, w->q, w->v, w->z);
    const double *q = inside ? w->q : x->q, *v = inside ? w->v : x->v, *z = inside ? w->z : x->z;
    if (w->sys->def.s_of_lambda && !bg_dense_interpolate_lambda(w->ig, t, w->lambda))
        return bg_detector_calc(w, t, q, v, z, x->mode, s, &ignored);
    return evaluate(w, t, q, v, z, x->mode, s, &ignored);
}

/* Takes s at one more time of the step into the smallest and largest values so far, `left` and
 * `right`. How many times farther from zero than these differ the nearest function is, 0: on its
 * other side. */
static double widen(bg_detector *w, const double *s)
{
    double nearest = INFINITY;
    for (int i = 0; i < w->ns; i++) {
        double x = w->sign[i] * s[i];
        w->left[i] = fmin(w->left[i], x);
        w->right[i] = fmax(w->right[i], x);
        w->scale[i] = fmax(w->scale[i], x);
        if (!(w->left[i] > 0))
            nearest = 0;
        else if (w->left[i] < nearest * (w->right[i] - w->left[i]))
            nearest = w->left[i] / (w->right[i] - w->left[i]);
    }
    return nearest;
}

/* Whether functions that are as slow as the motion, which steps follow, are far from zero: many
 * times farther than the parabola through their values at both ends of this step and at the
 * beginning of the one before lies off its chord, |s[t_before, begin, end]| h^2/4. */
static bool is_far(const bg_detector *w, double begin, double end)
{
    const double h = end - begin, back = begin - w->t_before;
    if (!(h <= longer * back))
        return false;
    for (int i = 0; i < w->ns; i++) {
        const double slope = (w->s_early[i] - w->last[i]) / h;
        const double bend = (slope - (w->last[i] - w->before[i]) / back) / (h + back);
        if (!(w->left[i] > far * clearance * fabs(bend) * h * h / 4))
            return false;
    }
    return true;
}

/* Whether nothing can happen in the step from begin to t1: at its ends and at places between them,
 * which no period shares, every function is several times farther from zero than its values
 * differ. A function that cannot be evaluated there is not clear. The end comes first, as that is
 * where most functions tell, and leaves its values in `s_early`. Functions as slow as the motion
 * are looked at once where they are so far from zero that seeing a tenth of what they vary by is
 * enough, at the first of `few`, which sees more of up to five half periods in a step, or not at
 * all (is_far). */
static bool is_clear(bg_detector *w, double begin)
{
    /* a method of fixed steps follows nothing that is faster than they are; of up to 40 periods in
     * a step, one place or the other is at least 0.14 of a period off */
    static const double few[] = {0.3902, 0.6585};
    static const double many[] = {0.0931, 0.2037, 0.3329, 0.4271, 0.5373, 0.6661, 0.7609, 0.8707};
    const bool fixed = w->ig->class_->info.fixed_steps,
               slow = fixed || w->sys->def.s_follows_motion;
    const double *places = slow ? few : many;
    const int n = slow ? sizeof few / sizeof *few : sizeof many / sizeof *many;
    const double end = bg_integrator_get_state(w->ig)->t;
    if (w->t_last != begin || bg_integrator_get_step_start(w->ig) != begin)
        return false;
    for (int i = 0; i < w->ns; i++)
        w->left[i] = w->right[i] = w->sign[i] * w->last[i];
    if (calc_roughly(w, end, w->s_early) != BG_OK || widen(w, w->s_early) < clearance)
        return false;
    if (slow && !fixed && is_far(w, begin, end))
        return true;
    for (int k = 0; k < n; k++) {
        if (calc_roughly(w, begin + places[k] * (end - begin), w->s) != BG_OK)
            return false;
        const double nearest = widen(w, w->s);
        if (nearest < clearance)
            return false;
        if (slow && !fixed && nearest > far * clearance)
            return true;
    }
    return true;
}

/* The step is searched up to its end, where the functions have the values s. */
static void pass(bg_detector *w, double t1, const double *s)
{
    w->t_before = w->t_last == bg_integrator_get_step_start(w->ig) ? w->t_last : t1;
    memcpy(w->before, w->last, (size_t)w->ns * sizeof(double));
    w->t_done = w->t_last = t1;
    w->repeats = 0;
    memcpy(w->last, s, (size_t)w->ns * sizeof(double));
}

bg_status bg_detector_find(bg_detector *w, bool *found, double *t_retry, bg_error *err)
{
    double t1 = bg_integrator_get_state(w->ig)->t;
    double begin = fmax(w->t_done, bg_integrator_get_step_start(w->ig)), a = begin;
    *found = false;
    if (is_clear(w, begin)) {
        memset(w->resting, 0, (size_t)w->ns);
        pass(w, t1, w->s_early);
        return BG_OK;
    }
    double grain = bg_detector_get_grain(t1), piece = fmax((t1 - begin) / PIECES, grain),
           longest = piece;
    bg_status st = calc_with_slope(w, begin, begin, t1, w->left, w->left_slope, err);
    while (st == BG_OK && a < t1) {
        for (int i = 0; i < w->ns; i++)
            w->resting[i] = w->resting[i] && bg_sign(w->left[i]) != w->sign[i];
        double b = fmin(t1, a + fmin(longest, 2 * piece)); /* a fast stretch may go on */
        if (t1 - b < fmax(0.01 * (t1 - begin), grain))
            b = t1;
        st = choose_piece(w, begin, t1, a, fmax(longest / MAX_CUTS, grain), &b, err);
        if (st == BG_OK)
            st = bg_detector_search_piece(w, a, b, found, err);
        if (st == BG_OK && *found) {
            pass_instant(w);
            break;
        }
        memcpy(w->left, w->right, (size_t)w->ns * sizeof(double));
        memcpy(w->left_slope, w->right_slope, (size_t)w->ns * sizeof(double));
        piece = b - a;
        a = b;
    }
    if (st == BG_RETRY)
        return ask_repeat(w, begin, t1, t_retry, err);
    if (st == BG_OK && !*found)
        pass(w, t1, w->left); /* the end of the last piece */
    return st;
}

void bg_detector_archive(bg_detector *w, bg_archive *archive)
{
    bg_archive_mark(archive, "detector");
    bg_archive_whole(archive, w->sign, w->ns, -1, 1);
    bg_archive_doubles(archive, w->scale, w->ns);
    bg_archive_doubles(archive, w->touched, w->ns);
    bg_archive_doubles(archive, &w->t_done, 1);
    bg_archive_whole(archive, &w->repeats, 1, 0, INT_MAX / 2);
    bg_archive_doubles(archive, w->last, w->ns);
    bg_archive_doubles(archive, &w->t_last, 1);
    bg_archive_doubles(archive, w->before, w->ns);
    bg_archive_doubles(archive, &w->t_before, 1);
    bg_archive_flags(archive, w->resting, (size_t)w->ns);
}
