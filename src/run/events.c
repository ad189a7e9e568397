/* Zeros of switching functions on dense output, in the two phases of 003 section 4.3.
 *
 * A step in which every function stays far from zero, beside what it varies by, is passed over at
 * the price of a few values (is_clear). Any other step is cut into pieces at whose ends s and its
 * slope are taken from plain dense output. A piece is halved until the cubic through its ends
 * foretells s inside, so that functions which vary faster than the step are followed too. A change
 * of sign in a piece encloses a zero. A piece whose ends lie on the same side but whose slopes
 * point to an extremum between them is searched for it: if it crosses zero there are two zeros, of
 * which the first is enclosed; if it only reaches zero (within 1e-9 of the values at the ends) it
 * is a touch, an event of direction 0. The enclosure is narrowed on plain dense output (phase 1),
 * then on projected dense output until only rounding is left (phase 2). When the projected values
 * do not enclose the zero any more, the step is repeated shorter.
 *
 * The side of zero a function is on is state, not the sign of a rounded value: after an event it is
 * where the motion is heading, so that neither the zero just reported is found again nor the next
 * one, however soon, is missed. */
#include "run/events.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/integrator.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 3, MAX_CUTS = 256, PHASE1_ITERATIONS = 4, MAX_ITERATIONS = 200, MAX_REPEATS = 12 };
static const double touch = 1e-9; /* |extremum| / |s at the ends| that counts as reaching zero */
static const double slope_fraction = 1e-4; /* of a step: distance of the difference for slopes */
static const double clearance = 4;         /* distance from zero / variation in a clear step */

bg_status bg_watch_create(bg_system *sys, bg_integrator *ig, bg_watch **watch, bg_error *err)
{
    const bg_system_def *d = &sys->def;
    *watch = NULL;
    bg_watch *w = BG_NEW(bg_watch);
    if (!w)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for events");
    w->sys = sys;
    w->ig = ig;
    w->ns = d->ns;
    w->sign = BG_NEW_ARRAY(int, d->ns);
    w->at_zero = BG_NEW_ARRAY(unsigned char, d->ns);
    w->resting = BG_NEW_ARRAY(unsigned char, d->ns);
    double **arrays[] = {&w->scale, &w->touched, &w->s,          &w->s_early,    &w->last,
                         &w->left,  &w->right,   &w->left_slope, &w->right_slope};
    bool good = w->sign && w->at_zero && w->resting;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        good = (*arrays[i] = BG_NEW_ARRAY(double, d->ns)) && good;
    w->q = BG_NEW_ARRAY(double, d->nq);
    w->v = BG_NEW_ARRAY(double, d->nv);
    w->z = BG_NEW_ARRAY(double, d->nz);
    bg_status st = good && w->q && w->v && w->z
                       ? bg_state_create(sys, &w->state, err)
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory for events");
    for (int i = 0; st == BG_OK && i < d->ns; i++)
        w->touched[i] = NAN;
    if (st != BG_OK) {
        bg_watch_destroy(w);
        return st;
    }
    *watch = w;
    return BG_OK;
}

void bg_watch_destroy(bg_watch *w)
{
    if (!w)
        return;
    void *const arrays[] = {w->resting, w->sign,        w->at_zero, w->scale, w->touched,
                            w->s,       w->s_early,     w->left,    w->right, w->left_slope,
                            w->last,    w->right_slope, w->q,       w->v,     w->z};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    bg_state_destroy(w->state);
    free(w);
}

static bg_status calc_s(bg_watch *w, double t, const double *q, const double *v, const double *z,
                        const int *mode, double *s, bg_error *err)
{
    bg_point p;
    bg_terms out = {.s = s};
    bg_status st = bg_system_set_point(w->sys, t, q, v, z, mode, &p, err);
    if (st == BG_OK)
        st = bg_system_calc_terms(w->sys, &p, BG_TERM_s, &out, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++)
        if (!isfinite(s[i]))
            st = bg_error_set(err, BG_NOT_FINITE,
                              "system '%s': switching function '%s' is not finite at t = %.17g",
                              w->sys->def.name, bg_system_get_event_name(w->sys, i), t);
    return st;
}

/* s on plain dense output. */
static bg_status calc_plain(bg_watch *w, double t, double *s, bg_error *err)
{
    bg_integrator_interpolate(w->ig, t, w->q, w->v, w->z);
    return calc_s(w, t, w->q, w->v, w->z, bg_integrator_get_state(w->ig)->mode, s, err);
}

/* s on projected dense output; the state stays in w->state. */
static bg_status calc_projected(bg_watch *w, double t, double *s, bg_error *err)
{
    bg_status st = bg_integrator_interpolate_state(w->ig, t, w->state, err);
    if (st != BG_OK)
        return st;
    return calc_s(w, t, w->state->q, w->state->v, w->state->z, w->state->mode, s, err);
}

static int sign_of(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* Where the motion carries s a short time e after the state: (q, v, z) moved by their rates, q also
 * by its second derivative when `curved`. */
static bg_status look_ahead(bg_watch *w, const bg_state *x, double e, bool curved, double *s,
                            bg_error *err)
{
    const bg_system_def *d = &w->sys->def;
    bg_state *y = w->state;
    bg_state_copy(w->sys, x, y);
    double *V = w->sys->for_terms.V;
    bg_point p;
    bg_terms out = {.V = V, .h = w->z};
    unsigned want = (d->supplied & BG_TERM_V) | (d->nz > 0 ? BG_TERM_h : 0u);
    bg_status st = bg_system_set_point(w->sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    if (st == BG_OK && want)
        st = bg_system_calc_terms(w->sys, &p, want, &out, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < d->nv; i++) {
        w->v[i] = x->v[i] + (curved ? 0.5 * e * x->a[i] : 0.0);
        y->v[i] = x->v[i] + e * x->a[i];
    }
    bg_system_move(w->sys, x->q, V, e, w->v, y->q);
    for (int i = 0; i < d->nz; i++)
        y->z[i] = x->z[i] + e * w->z[i];
    return calc_s(w, x->t + e, y->q, y->v, y->z, y->mode, s, err);
}

/* Decides the side of functions that are still open, from where they are after e and 2e. A change
 * is believed when it grows with e like e or e^2: rounding does not. */
static void decide(bg_watch *w, const unsigned char *fired, double e, double instant,
                   const double *s1, const double *s2)
{
    for (int i = 0; i < w->ns; i++) {
        double c1 = s1[i] - w->s[i], c2 = s2[i] - w->s[i];
        if (w->sign[i] != 0 || c1 == 0 || !(c2 / c1 > 1.5 && c2 / c1 < 5))
            continue;
        double level = fired && fired[i] ? 1e-12 * w->scale[i] : 0.0; /* as it was just located */
        bool zero = fabs(w->s[i]) <= fmax(level, fabs(c1) / e * instant);
        w->at_zero[i] = zero;
        w->sign[i] = zero ? sign_of(c1) : sign_of(w->s[i]);
    }
}

static bool is_open(const bg_watch *w)
{
    for (int i = 0; i < w->ns; i++)
        if (w->sign[i] == 0)
            return true;
    return false;
}

bg_status bg_watch_reset(bg_watch *w, const bg_state *x, const unsigned char *fired, double t_end,
                         bg_error *err)
{
    double instant = 1e-12 * fmax(1.0, fabs(x->t));
    bg_status st = calc_s(w, x->t, x->q, x->v, x->z, x->mode, w->s, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++) {
        w->scale[i] = fmax(w->scale[i], fabs(w->s[i]));
        w->touched[i] = NAN;
        w->sign[i] = 0;
        w->at_zero[i] = 0;
    }
    w->t_done = w->t_last = x->t;
    w->repeats = 0;
    memcpy(w->last, w->s, (size_t)w->ns * sizeof(double));
    /* first along straight lines, so that the slope decides however soon the path bends back; where
     * the functions cannot be evaluated ahead, what is known has to do */
    for (int curved = 0; curved < 2 && st == BG_OK; curved++)
        for (double e = 16 * instant; e < 1.0 && x->t + 2 * e <= t_end && is_open(w); e *= 8) {
            bg_error ignored;
            if (look_ahead(w, x, e, curved, w->left, &ignored) != BG_OK ||
                look_ahead(w, x, 2 * e, curved, w->right, &ignored) != BG_OK)
                break;
            decide(w, fired, e, instant, w->left, w->right);
        }
    for (int i = 0; i < w->ns; i++)
        if (w->sign[i] == 0) { /* does not move as far as one can see */
            w->at_zero[i] = w->s[i] == 0;
            w->sign[i] = w->s[i] < 0 ? -1 : 1;
        }
    memcpy(w->resting, w->at_zero, (size_t)w->ns);
    return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
}

/* Times nearer than this are not told apart. */
static double grain_at(double t)
{
    return 16 * DBL_EPSILON * fmax(fabs(t), DBL_MIN);
}

/* s and its slope at t inside the step; the slope from the inner side. */
static bg_status calc_with_slope(bg_watch *w, double t, double t0, double t1, double *s,
                                 double *slope, bg_error *err)
{
    double e = fmax(slope_fraction * (t1 - t0), grain_at(t1));
    double other = t + e <= t1 ? t + e : t - e;
    bg_status st = calc_plain(w, t, s, err);
    if (st == BG_OK)
        st = calc_plain(w, other, w->s_early, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++) {
        slope[i] = (w->s_early[i] - s[i]) / (other - t);
        w->scale[i] = fmax(w->scale[i], fabs(s[i]));
    }
    return st;
}

/* A zero of one function: enclosed in [a, b], on the present side at a and not at b, or a touch at
 * b. */
typedef struct enclosure {
    double a, b, fa, fb;
    int index, direction;
    bool found;
} enclosure;

static bg_status calc_either(bg_watch *w, bool projected, double t, double *s, bg_error *err)
{
    return projected ? calc_projected(w, t, s, err) : calc_plain(w, t, s, err);
}

/* Golden section for the smallest side * s_i in [a, b], on plain or projected dense output. */
static bg_status find_extremum(bg_watch *w, int i, double a, double b, bool projected, double *t,
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

/* Whether a value is still on the present side. A function that was reported and rests at zero has
 * not left it as long as it stays there. */
static bool is_present(const bg_watch *w, int i, double s)
{
    return sign_of(s) == w->sign[i] || (w->resting[i] && s == 0);
}

/* |s| that counts as zero in a piece: small beside its ends, or rounding of the function's size. */
static double zero_level(const bg_watch *w, int i)
{
    double local = fmax(fabs(w->left[i]), fabs(w->right[i]));
    return fmax(touch * local, 16 * DBL_EPSILON * w->scale[i]);
}

/* Both ends of [a, b] on the present side: a dip to or through zero between them? */
static bg_status search_dip(bg_watch *w, int i, double a, double b, enclosure *e, bg_error *err)
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
static bg_status leave_zero(bg_watch *w, enclosure *e, bool *left, bg_error *err)
{
    int i = e->index;
    *left = is_present(w, i, e->fa);
    for (int k = 1; k < 50 && !*left; k++) {
        double t = e->a + (e->b - e->a) * ldexp(1.0, -k);
        if (t <= e->a)
            break;
        bg_status st = calc_plain(w, t, w->s, err);
        if (st != BG_OK)
            return st;
        if (is_present(w, i, w->s[i])) {
            e->a = t;
            e->fa = w->s[i];
            *left = true;
        }
    }
    return BG_OK;
}

/* Illinois steps with bisection as a safeguard on [a, b]; plain or projected dense output. */
static bg_status narrow(bg_watch *w, enclosure *e, bool projected, int iterations, bg_error *err)
{
    int i = e->index, same = 0;
    double fa = e->fa, fb = e->fb;
    for (int k = 0; k < iterations; k++) {
        double width = e->b - e->a, tiny = 2 * DBL_EPSILON * fmax(fabs(e->a), fabs(e->b));
        if (width <= tiny)
            return BG_OK;
        bool halve = k % 4 == 3 || e->fa == 0 || e->fb == 0; /* zero at an end: since when? */
        double t = halve ? e->a + 0.5 * width : e->a + width * fa / (fa - fb);
        t = fmin(fmax(t, e->a + 0.5 * tiny), e->b - 0.5 * tiny);
        if (!(t > e->a && t < e->b))
            t = e->a + 0.5 * width;
        if (!(t > e->a && t < e->b))
            return BG_OK;
        bg_status st = calc_either(w, projected, t, w->s, err);
        if (st != BG_OK)
            return st;
        if (is_present(w, i, w->s[i])) {
            e->a = t;
            e->fa = fa = w->s[i];
            if (same == -1)
                fb *= 0.5;
            same = -1;
        } else {
            e->b = t;
            e->fb = fb = w->s[i];
            if (same == 1)
                fa *= 0.5;
            same = 1;
        }
    }
    return BG_OK;
}

/* Takes the values at the ends from projected dense output; do they enclose a zero? */
static bg_status check_projected(bg_watch *w, enclosure *e, bool *holds, bg_error *err)
{
    bg_status st = calc_projected(w, e->a, w->s, err);
    if (st != BG_OK)
        return st;
    e->fa = w->s[e->index];
    st = calc_projected(w, e->b, w->s, err);
    e->fb = w->s[e->index];
    *holds = is_present(w, e->index, e->fa) && !is_present(w, e->index, e->fb);
    return st;
}

/* Both phases. BG_RETRY: projected values do not enclose a zero. */
static bg_status locate(bg_watch *w, enclosure *e, bg_error *err)
{
    bool left = true;
    if (e->direction == 0)
        return BG_OK;
    bg_status st = leave_zero(w, e, &left, err);
    if (st != BG_OK)
        return st;
    if (!left) {
        e->b = e->a;
        return BG_OK;
    }
    bool has_constraints = w->sys->def.ng > 0;
    enclosure wide = *e;
    st = narrow(w, e, false, has_constraints ? PHASE1_ITERATIONS : MAX_ITERATIONS, err);
    if (st != BG_OK || !has_constraints)
        return st;
    /* the narrow enclosure where it holds on the constraints, else the wide one */
    bool holds = false;
    for (int k = 0; k < 2 && !holds && st == BG_OK; k++) {
        if (k == 1)
            *e = wide;
        st = check_projected(w, e, &holds, err);
    }
    if (st != BG_OK)
        return st;
    if (holds)
        return narrow(w, e, true, MAX_ITERATIONS, err);
    if (w->repeats < MAX_REPEATS)
        return BG_RETRY;
    /* shorter steps do not help, s is within rounding of zero: what holds on the constraints counts
     */
    e->found = !is_present(w, e->index, e->fb);
    return BG_OK;
}

/* An enclosure of function i in [a, b], whose end values are in left and right. */
static bg_status enclose(bg_watch *w, int i, double a, double b, enclosure *e, bg_error *err)
{
    e->found = false;
    /* a value this close to zero with so flat a slope belongs to a touch, not to a crossing */
    bool stays = w->right[i] == 0 && w->right_slope[i] == 0; /* has come to rest at zero */
    bool flat = !stays && fabs(w->right[i]) <= zero_level(w, i) &&
                fabs(w->right_slope[i]) * (b - a) <= 1e-4 * fabs(w->left[i]);
    if (!is_present(w, i, w->right[i]) && !flat) {
        *e = (enclosure){a, b, w->left[i], w->right[i], i, -w->sign[i], true};
        return BG_OK;
    }
    return search_dip(w, i, a, b, e, err);
}

/* The earliest zero in one piece, located; e->found says whether there is one. */
static bg_status search_piece(bg_watch *w, double a, double b, enclosure *first, bg_error *err)
{
    first->found = false;
    for (int i = 0; i < w->ns; i++) {
        enclosure e = {0};
        bg_status st = enclose(w, i, a, b, &e, err);
        if (st == BG_OK && e.found)
            st = locate(w, &e, err);
        if (st != BG_OK) {
            first->b = e.b;
            return st;
        }
        if (e.found && (!first->found || e.b < first->b))
            *first = e;
    }
    return BG_OK;
}

static bg_status report_event(bg_watch *w, const enclosure *e, bg_event *event, bg_error *err)
{
    int i = e->index;
    bg_status st = bg_integrator_interpolate_state(w->ig, e->b, w->state, err);
    if (st != BG_OK)
        return st;
    *event = (bg_event){e->b, i, e->direction, bg_system_get_event_name(w->sys, i)};
    w->t_done = e->b;
    if (e->direction == 0)
        w->touched[i] = e->b;
    else
        w->sign[i] = -w->sign[i];
    w->resting[i] = e->direction != 0;
    return BG_OK;
}

/* The cubic through the ends of a piece of length h, at the fraction x of it. */
static double calc_cubic(const bg_watch *w, int i, double h, double x)
{
    double y = 1 - x;
    return y * y * (1 + 2 * x) * w->left[i] + x * x * (1 + 2 * y) * w->right[i] +
           h * x * y * (y * w->left_slope[i] - x * w->right_slope[i]);
}

/* Whether the cubic has more than one zero in the piece. */
static bool has_many_zeros(const bg_watch *w, int i, double h)
{
    int changes = 0, side = w->sign[i];
    for (int k = 1; k <= 12; k++) {
        double value = calc_cubic(w, i, h, k / 12.0);
        if (sign_of(value) == -side && fabs(value) > touch * w->scale[i]) {
            changes++;
            side = -side;
        }
    }
    return changes > 1;
}

/* Is one cubic enough for [a, b]: does it foretell s at two places inside (not where a period would
 * hide), with at most one zero? */
static bg_status check_piece(bg_watch *w, double a, double b, bool *smooth, bg_error *err)
{
    const double places[2] = {0.28, 0.61};
    double h = b - a;
    bg_status st = BG_OK;
    *smooth = true;
    for (int i = 0; i < w->ns; i++)
        *smooth = *smooth && !has_many_zeros(w, i, h);
    for (int k = 0; k < 2 && *smooth && st == BG_OK; k++) {
        st = calc_plain(w, a + places[k] * h, w->s, err);
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
static bg_status choose_piece(bg_watch *w, double begin, double t1, double a, double shortest,
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
static bg_status ask_repeat(bg_watch *w, double begin, double t1, double *t_retry, bg_error *err)
{
    *t_retry = begin + 0.5 * (t1 - begin);
    if (w->repeats++<4 * MAX_REPEATS && * t_retry> begin)
        return BG_RETRY;
    return bg_error_set(err, BG_SYSTEM_FAILED,
                        "system '%s': its switching functions cannot be evaluated behind t = %.17g",
                        w->sys->def.name, begin);
}

/* Takes s at one more time of the step into the smallest and largest values so far, `left` and
 * `right`. Whether all functions are still on their side and far from zero. */
static bool widen(bg_watch *w, const double *s)
{
    bool clear = true;
    for (int i = 0; i < w->ns; i++) {
        double x = w->sign[i] * s[i];
        w->left[i] = fmin(w->left[i], x);
        w->right[i] = fmax(w->right[i], x);
        w->scale[i] = fmax(w->scale[i], x);
        clear = clear && w->left[i] > 0 && w->left[i] >= clearance * (w->right[i] - w->left[i]);
    }
    return clear;
}

/* Whether nothing can happen in the step from begin to t1: at its ends and at places between them,
 * which no period shares, every function is several times farther from zero than its values
 * differ. A function that cannot be evaluated there is not clear. The end comes first, as that is
 * where most functions tell, and leaves its values in `s_early`. */
static bool is_clear(bg_watch *w, double begin)
{
    /* a method of fixed steps follows nothing that is faster than they are; of up to 40 periods in
     * a step, one place or the other is at least 0.14 of a period off */
    static const double few[] = {0.3902, 0.6585};
    static const double many[] = {0.0931, 0.2037, 0.3329, 0.4271, 0.5373, 0.6661, 0.7609, 0.8707};
    const bool fixed = w->ig->class_->info.fixed_steps;
    const double *places = fixed ? few : many;
    const int n = fixed ? sizeof few / sizeof *few : sizeof many / sizeof *many;
    const bg_state *x = bg_integrator_get_state(w->ig);
    bg_error ignored;
    if (w->t_last != begin || bg_integrator_get_step_start(w->ig) != begin)
        return false;
    for (int i = 0; i < w->ns; i++)
        w->left[i] = w->right[i] = w->sign[i] * w->last[i];
    if (calc_s(w, x->t, x->q, x->v, x->z, x->mode, w->s_early, &ignored) != BG_OK ||
        !widen(w, w->s_early))
        return false;
    for (int k = 0; k < n; k++)
        if (calc_plain(w, begin + places[k] * (x->t - begin), w->s, &ignored) != BG_OK ||
            !widen(w, w->s))
            return false;
    return true;
}

/* The step is searched up to its end, where the functions have the values s. */
static void pass(bg_watch *w, double t1, const double *s)
{
    w->t_done = w->t_last = t1;
    w->repeats = 0;
    memcpy(w->last, s, (size_t)w->ns * sizeof(double));
}

bg_status bg_watch_find(bg_watch *w, bool *found, bg_event *event, double *t_retry, bg_error *err)
{
    double t1 = bg_integrator_get_state(w->ig)->t;
    double begin = fmax(w->t_done, bg_integrator_get_step_start(w->ig)), a = begin;
    *found = false;
    if (is_clear(w, begin)) {
        memset(w->resting, 0, (size_t)w->ns);
        pass(w, t1, w->s_early);
        return BG_OK;
    }
    double grain = grain_at(t1), piece = fmax((t1 - begin) / PIECES, grain), longest = piece;
    bg_status st = calc_with_slope(w, begin, begin, t1, w->left, w->left_slope, err);
    while (st == BG_OK && a < t1) {
        enclosure first = {0};
        for (int i = 0; i < w->ns; i++)
            w->resting[i] = w->resting[i] && sign_of(w->left[i]) != w->sign[i];
        double b = fmin(t1, a + fmin(longest, 2 * piece)); /* a fast stretch may go on */
        if (t1 - b < fmax(0.01 * (t1 - begin), grain))
            b = t1;
        st = choose_piece(w, begin, t1, a, fmax(longest / MAX_CUTS, grain), &b, err);
        if (st == BG_OK)
            st = search_piece(w, a, b, &first, err);
        if (st == BG_OK && first.found) {
            st = report_event(w, &first, event, err);
            *found = st == BG_OK;
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

void bg_watch_archive(bg_watch *w, bg_archive *archive)
{
    bg_archive_mark(archive, "watch");
    bg_archive_ints(archive, w->sign, w->ns);
    bg_archive_doubles(archive, w->scale, w->ns);
    bg_archive_doubles(archive, w->touched, w->ns);
    bg_archive_doubles(archive, &w->t_done, 1);
    bg_archive_ints(archive, &w->repeats, 1);
    bg_archive_doubles(archive, w->last, w->ns);
    bg_archive_doubles(archive, &w->t_last, 1);
    bg_archive_bytes(archive, w->resting, (size_t)w->ns);
}
