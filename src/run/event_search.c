/* Where the first zero in a piece of a step is, and whose.
 *
 * A change of sign in a piece encloses a zero. A piece whose ends lie on the same side but whose
 * slopes point to an extremum between them is searched for it: if it crosses zero there are two
 * zeros, of which the first is enclosed; if it only reaches zero (within 1e-9 of the values at the
 * ends) it is a touch, an event of direction 0.
 *
 * All functions with a zero in the piece, the candidates, are looked at together, each as the time
 * that is left until its zero, x_i = side s_i / |slope_i|. The first instant is where min x_i
 * becomes negative. It is narrowed on plain dense output down to rounding (phase 1), and from
 * there by steps of min x_i on projected dense output (phase 2), which costs a projection each,
 * until it is late by no more than the location tolerance: a thousandth of what the tolerance of
 * the integration allows in a step, or rounding. Whatever is left with x_i within that tolerance,
 * candidate or not, has its zero in the same instant and fires along: which of several equal zeros
 * rounding puts first must not decide. When projected values do not enclose a zero any more, the
 * step is repeated shorter. */
#include "integrators/integrator.h"
#include "run/events.h"

#include <float.h>
#include <math.h>

enum { MAX_ITERATIONS = 200, NEWTON_ITERATIONS = 8, MAX_REPEATS = 12 };
static const double touch = 1e-9; /* |extremum| / |s at the ends| that counts as reaching zero */
static const double slope_fraction = 1e-4; /* of a step: distance of the difference for slopes */

/* A zero of one function: enclosed in [a, b], on the present side at a and not at b, or a touch at
 * b. */
typedef struct enclosure {
    double a, b, fa, fb;
    int index, direction;
    bool found;
} enclosure;

/* The first zero of all candidates: none has crossed at a, one at least at b; fa, fb = min x_i. */
typedef struct bracket {
    double a, b, fa, fb;
} bracket;

static double get_step(const bg_detector *w)
{
    return bg_integrator_get_state(w->ig)->t - bg_integrator_get_step_start(w->ig);
}

static bool is_projected(const bg_detector *w)
{
    return w->sys->def.ng > 0 && !w->ig->class_->info.fixed_steps;
}

/* How late an instant may be located, s. */
static double calc_tolerance(const bg_detector *w, double t)
{
    double h = get_step(w), rounding = 4 * DBL_EPSILON * fmax(fabs(t), h);
    return is_projected(w) ? fmax(rounding, 1e-3 * fmin(w->ig->options.rtol, 1e-3) * h) : rounding;
}

/* Zeros nearer than this are simultaneous, s. */
static double calc_window(const bg_detector *w, double t)
{
    return fmax(calc_tolerance(w, t), 1e-12 * fmax(fabs(t), get_step(w)));
}

static bg_status calc_either(bg_detector *w, bool projected, double t, double *s, bg_error *err)
{
    return projected ? bg_detector_calc_projected(w, t, s, err)
                     : bg_detector_calc_plain(w, t, s, err);
}

/* Golden section for the smallest side * s_i in [a, b], on plain or projected dense output. */
static bg_status find_extremum(bg_detector *w, int i, double a, double b, bool projected, double *t,
                               double *value, bg_error *err)
{
    const double ratio = 0.6180339887498949;
    double side = w->sign[i], x1 = b - ratio * (b - a), x2 = a + ratio * (b - a), f1, f2;
    bg_status st = calc_either(w, projected, x1, w->s, err);
    f1 = side * w->s[i];
    if (st == BG_OK)
        st = calc_either(w, projected, x2, w->s, err);
    f2 = side * w->s[i];
    for (int k = 0; k < 45 && st == BG_OK; k++) {
        if (f1 < f2) {
            b = x2;
            x2 = x1;
            f2 = f1;
            x1 = b - ratio * (b - a);
            st = calc_either(w, projected, x1, w->s, err);
            f1 = side * w->s[i];
        } else {
            a = x1;
            x1 = x2;
            f1 = f2;
            x2 = a + ratio * (b - a);
            st = calc_either(w, projected, x2, w->s, err);
            f2 = side * w->s[i];
        }
    }
    *t = f1 < f2 ? x1 : x2;
    *value = f1 < f2 ? f1 : f2;
    return st;
}

/* |s| that counts as zero in a piece: small beside its ends, or rounding of the function's size. */
static double zero_level(const bg_detector *w, int i)
{
    double local = fmax(fabs(w->left[i]), fabs(w->right[i]));
    return fmax(touch * local, 16 * DBL_EPSILON * w->scale[i]);
}

/* Both ends of [a, b] on the present side: a dip to or through zero between them? */
static bg_status search_dip(bg_detector *w, int i, double a, double b, enclosure *e, bg_error *err)
{
    double side = w->sign[i], h = b - a;
    double fa = fmax(side * w->left[i], 0), fb = fmax(side * w->right[i], 0);
    double da = side * w->left_slope[i], db = side * w->right_slope[i];
    if (!(da < 0 && db > 0))
        return BG_OK;
    /* where the tangents meet: a convex dip cannot be deeper */
    double x = (fb - fa - db * h) / (da - db);
    double bound = fa + da * fmin(fmax(x, 0), h);
    double level = zero_level(w, i), t, value;
    bool constrained = w->sys->def.ng > 0;
    /* plain dense output may miss the constraints by more than that: it only tells where to look */
    double near = constrained ? fmax(level, 1e-3 * fmax(fa, fb)) : level;
    if (bound > near)
        return BG_OK;
    bg_status st = find_extremum(w, i, a, b, false, &t, &value, err);
    if (st == BG_OK && constrained && value <= near)
        st = find_extremum(w, i, fmax(a, t - 0.05 * h), fmin(b, t + 0.05 * h), true, &t, &value,
                           err);
    if (st != BG_OK || value > level)
        return st;
    bool touches = value >= -level;
    if (touches && fabs(t - w->touched[i]) <= 1e-3 * h)
        return BG_OK; /* the touch that was just reported */
    *e = (enclosure){a, t, w->left[i], side * value, i, touches ? 0 : -w->sign[i], true};
    return BG_OK;
}

/* The value at a is not on the present side (an event was there just now): find a time shortly
 * after where it is. False: there is none, the zero is at a itself. */
static bg_status leave_zero(bg_detector *w, enclosure *e, bool *left, bg_error *err)
{
    int i = e->index;
    *left = bg_detector_is_present(w, i, e->fa);
    for (int k = 1; k < 50 && !*left; k++) {
        double t = e->a + (e->b - e->a) * ldexp(1.0, -k);
        if (t <= e->a)
            break;
        bg_status st = bg_detector_calc_plain(w, t, w->s, err);
        if (st != BG_OK)
            return st;
        if (bg_detector_is_present(w, i, w->s[i])) {
            e->a = t;
            e->fa = w->s[i];
            *left = true;
        }
    }
    return BG_OK;
}

/* An enclosure of function i in [a, b], whose end values are in left and right. */
static bg_status enclose(bg_detector *w, int i, double a, double b, enclosure *e, bg_error *err)
{
    e->found = false;
    /* a value this close to zero with so flat a slope belongs to a touch, not to a crossing */
    bool stays = w->right[i] == 0 && w->right_slope[i] == 0; /* has come to rest at zero */
    bool flat = !stays && fabs(w->right[i]) <= zero_level(w, i) &&
                fabs(w->right_slope[i]) * (b - a) <= 1e-4 * fabs(w->left[i]);
    if (!bg_detector_is_present(w, i, w->right[i]) && !flat) {
        *e = (enclosure){a, b, w->left[i], w->right[i], i, -w->sign[i], true};
        return BG_OK;
    }
    return search_dip(w, i, a, b, e, err);
}

static bool is_candidate(const bg_detector *w, int i, double t)
{
    return t >= w->from[i]; /* not where it is NAN */
}

/* min x_i over the candidates at t, and whether one of them has crossed. */
static bg_status look(bg_detector *w, bool projected, double t, double *least, bool *crossed,
                      bg_error *err)
{
    bg_status st = calc_either(w, projected, t, w->s, err);
    *least = HUGE_VAL;
    *crossed = false;
    for (int i = 0; i < w->ns && st == BG_OK; i++)
        if (is_candidate(w, i, t)) {
            *least = fmin(*least, w->sign[i] * w->s[i] * w->weight[i]);
            *crossed = *crossed || !bg_detector_is_present(w, i, w->s[i]);
        }
    return st;
}

/* Illinois steps with bisection as a safeguard on [a, b], until it is no longer than `length`. */
static bg_status narrow(bg_detector *w, bracket *e, bool projected, double length, bg_error *err)
{
    int same = 0;
    double fa = e->fa, fb = e->fb;
    for (int k = 0; k < MAX_ITERATIONS; k++) {
        double width = e->b - e->a, tiny = 2 * DBL_EPSILON * fmax(fabs(e->a), fabs(e->b)), x;
        if (width <= fmax(length, tiny))
            return BG_OK;
        /* zero at an end: since when? */
        bool halve = k % 4 == 3 || !(fa > 0 && fb < 0), crossed;
        double t = halve ? e->a + 0.5 * width : e->a + width * fa / (fa - fb);
        t = fmin(fmax(t, e->a + 0.5 * tiny), e->b - 0.5 * tiny);
        if (!(t > e->a && t < e->b))
            t = e->a + 0.5 * width;
        if (!(t > e->a && t < e->b))
            return BG_OK;
        bg_status st = look(w, projected, t, &x, &crossed, err);
        if (st != BG_OK)
            return st;
        if (!crossed) {
            e->a = t;
            e->fa = fa = x;
            fb *= same == -1 ? 0.5 : 1;
            same = -1;
        } else {
            e->b = t;
            e->fb = fb = x;
            fa *= same == 1 ? 0.5 : 1;
            same = 1;
        }
    }
    return BG_OK;
}

/* Slopes at t from plain dense output, for the times x_i near it. */
static bg_status calc_slopes(bg_detector *w, double t, bg_error *err)
{
    double begin = bg_integrator_get_step_start(w->ig);
    double e = fmax(slope_fraction * get_step(w), bg_detector_get_grain(t));
    double other = t - e >= begin ? t - e : t + e;
    bg_status st = bg_detector_calc_plain(w, t, w->s, err);
    if (st == BG_OK)
        st = bg_detector_calc_plain(w, other, w->s_early, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++)
        w->slope[i] = (w->s[i] - w->s_early[i]) / (t - other);
    return st;
}

/* The time left until the zero of function i with the value s, negative when it has passed;
 * HUGE_VAL where it does not go there. */
static double calc_time_left(const bg_detector *w, int i, double s)
{
    double rate = -w->sign[i] * w->slope[i];
    return rate > 0 ? w->sign[i] * s / rate : HUGE_VAL;
}

/* From *t to the instant on projected dense output. *good: it is there, and the state at it. */
static bg_status refine(bg_detector *w, const bracket *wide, double *t, bool *good, bg_error *err)
{
    double low = wide->a, high = wide->b, tolerance = calc_tolerance(w, *t);
    *good = false;
    for (int k = 0; k < NEWTON_ITERATIONS; k++) {
        double left, unused = HUGE_VAL;
        bool crossed;
        bg_status st = look(w, true, *t, &unused, &crossed, err);
        if (st != BG_OK)
            return st;
        left = HUGE_VAL;
        for (int i = 0; i < w->ns; i++)
            if (is_candidate(w, i, *t))
                left = fmin(left, calc_time_left(w, i, w->s[i]));
        *good = crossed && left >= -tolerance && left < HUGE_VAL;
        if (*good)
            return BG_OK;
        if (crossed)
            high = fmin(high, *t);
        else
            low = fmax(low, *t);
        double next = *t + left + 0.5 * tolerance;
        *t = next > low && next < high ? next : low + 0.5 * (high - low);
    }
    return BG_OK;
}

/* The enclosure on projected dense output, where steps of x_i did not get there: *holds. */
static bg_status narrow_projected(bg_detector *w, bracket *wide, double *t, bool *holds,
                                  bg_error *err)
{
    bool early, late = false;
    bg_status st = look(w, true, wide->a, &wide->fa, &early, err);
    if (st == BG_OK)
        st = look(w, true, wide->b, &wide->fb, &late, err);
    *holds = st == BG_OK && !early && late;
    *t = wide->b;
    if (*holds)
        st = narrow(w, wide, true, calc_tolerance(w, wide->b), err);
    if (st == BG_OK && *holds) {
        *t = wide->b;
        st = bg_detector_calc_projected(w, *t, w->s, err);
    }
    return st;
}

/* Both phases: *t, with the state and s there. BG_RETRY: projected values do not enclose a zero.
 * *found is false when they do not, however short the step. */
static bg_status locate(bg_detector *w, bracket wide, double *t, bool *found, bg_error *err)
{
    bracket e = wide;
    bool good = false;
    *found = true;
    bg_status st = e.b > e.a ? narrow(w, &e, false, 0, err) : BG_OK;
    *t = e.b;
    if (st == BG_OK)
        st = calc_slopes(w, *t, err);
    if (st == BG_OK && (!is_projected(w) || !(e.b > e.a)))
        return bg_detector_calc_projected(w, *t, w->s, err);
    if (st == BG_OK)
        st = refine(w, &wide, t, &good, err);
    if (st != BG_OK || good)
        return st;
    st = narrow_projected(w, &wide, t, &good, err);
    if (st != BG_OK || good)
        return st;
    if (w->repeats < MAX_REPEATS)
        return BG_RETRY;
    /* shorter steps do not help, s is within rounding of zero: what holds on the constraints counts
     */
    return look(w, true, *t, &e.fb, found, err);
}

/* Finds the candidates of the piece, their first zero as far as it is enclosed (wide->b >= wide->a)
 * and touches. */
static bg_status collect(bg_detector *w, double a, double b, bracket *wide, double *first_touch,
                         bg_error *err)
{
    *wide = (bracket){a, -HUGE_VAL, HUGE_VAL, 0};
    *first_touch = HUGE_VAL;
    double end = HUGE_VAL;
    for (int i = 0; i < w->ns; i++) {
        enclosure e = {0};
        bool left = true;
        w->from[i] = w->touch_at[i] = NAN;
        bg_status st = enclose(w, i, a, b, &e, err);
        if (st == BG_OK && e.found && e.direction != 0)
            st = leave_zero(w, &e, &left, err);
        if (st != BG_OK)
            return st;
        if (!e.found)
            continue;
        if (e.direction == 0) {
            w->touch_at[i] = e.b;
            *first_touch = fmin(*first_touch, e.b);
            continue;
        }
        w->from[i] = e.a;
        w->weight[i] = e.fa != e.fb ? (e.b - e.a) / fabs(e.fa - e.fb) : 1;
        if (!left) { /* it is at a itself */
            w->weight[i] = 0;
            e.b = a;
        }
        end = fmin(end, e.b);
    }
    wide->b = end < HUGE_VAL ? end : -HUGE_VAL;
    return BG_OK;
}

/* Who fires at t, where s and slopes are at hand: candidates that have crossed, and functions that
 * are there within the window. */
static void gather(bg_detector *w, double t, bool crossing)
{
    double window = calc_window(w, t);
    w->nfires = 0;
    for (int i = 0; i < w->ns; i++) {
        bool crossed = is_candidate(w, i, t) &&
                       (w->weight[i] == 0 || !bg_detector_is_present(w, i, w->s[i]));
        bool along = bg_detector_is_present(w, i, w->s[i]) && !w->resting[i] &&
                     calc_time_left(w, i, w->s[i]) <= window;
        bool touches = fabs(w->touch_at[i] - t) <= window;
        w->direction[i] = crossing && (crossed || along) ? -w->sign[i] : 0;
        w->fires[i] = w->direction[i] != 0 || touches;
        w->nfires += w->fires[i];
    }
}

bg_status bg_detector_search_piece(bg_detector *w, double a, double b, bool *found, bg_error *err)
{
    bracket wide;
    double t = HUGE_VAL, first_touch;
    *found = false;
    bg_status st = collect(w, a, b, &wide, &first_touch, err);
    bool crossing = st == BG_OK && wide.b >= wide.a;
    if (crossing && wide.b > wide.a) {
        bool unused;
        st = look(w, false, wide.a, &wide.fa, &unused, err);
        if (st == BG_OK)
            st = look(w, false, wide.b, &wide.fb, &unused, err);
    }
    if (crossing && st == BG_OK)
        st = locate(w, wide, &t, &crossing, err);
    if (st != BG_OK)
        return st;
    if (first_touch < HUGE_VAL && (!crossing || first_touch < t - calc_window(w, t))) {
        crossing = false;
        t = first_touch;
        st = bg_detector_calc_projected(w, t, w->s, err);
    } else if (!crossing) {
        return BG_OK;
    }
    gather(w, t, crossing);
    *found = w->nfires > 0;
    return st;
}
