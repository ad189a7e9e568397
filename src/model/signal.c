/* Signals u(t) with exact u' and u''. Where one of them jumps, its value is the one to the right.
 *
 * Fields by kind (frequencies in Hz, angles in rad):
 *
 *   constant     a
 *   ramp         a until t0, then slope until t1 (which may be infinite)
 *   step         a, b, t0, t1
 *   jump         a, b, t0
 *   sines        offset; n frequencies x, amplitudes y, phases c (NULL: none)
 *   chirp        from frequency a at t0 to b at t1, amplitude slope, phase offset; with tau = t -
 * t0 and T = t1 - t0 the angle is 2 pi (a tau + (b - a) tau^2 / (2 T)) + offset; before and after,
 *                the signal holds its end values
 *   linear       n times x and values y; prepared: c holds the times of corners, then infinities
 *   spline       n times x and values y; prepared: c holds the second derivatives
 *   expression   expression of variable 0, the time
 *   track        part n of the place at start + a + distance(t), less offset; or distance(t)/b;
 *                prepared: x holds the arc lengths of corners */
#include "model/signal_types.h"

#include "base/memory.h"
#include "model/track.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bg_signal_get_name(const bg_signal *s)
{
    return s->name ? s->name : "";
}

bg_status bg_signal_check_finite(const bg_signal *s, const char *what, double x, bg_error *err)
{
    if (isfinite(x))
        return BG_OK;
    return bg_error_set(err, BG_BAD_INPUT, "signal '%s': the %s must be a finite number, not %g",
                        bg_signal_get_name(s), what, x);
}

static bg_status check_interval(const bg_signal *s, bool may_be_endless, bg_error *err)
{
    bg_status st = bg_signal_check_finite(s, "start time", s->t0, err);
    if (st == BG_OK && !(may_be_endless && s->t1 == INFINITY))
        st = bg_signal_check_finite(s, "end time", s->t1, err);
    if (st == BG_OK && !(s->t1 > s->t0))
        st = bg_error_set(err, BG_BAD_INPUT,
                          "signal '%s': the end time %g s must lie after the start time %g s",
                          bg_signal_get_name(s), s->t1, s->t0);
    return st;
}

int bg_signal_count_none(const bg_signal *s)
{
    (void)s;
    return 0;
}

/* Corners of a kind that has them at t0 and t1. */
static double get_end(const bg_signal *s, int k)
{
    return k == 0 ? s->t0 : s->t1;
}

static bg_status prepare_constant(bg_signal *s, bg_error *err)
{
    return bg_signal_check_finite(s, "value", s->a, err);
}

static void calc_constant(const bg_signal *s, int piece, double t, double *out)
{
    (void)piece;
    (void)t;
    bg_signal_set(out, s->a, 0, 0);
}

static bg_status prepare_ramp(bg_signal *s, bg_error *err)
{
    bg_status st = bg_signal_check_finite(s, "value", s->a, err);
    if (st == BG_OK)
        st = bg_signal_check_finite(s, "slope", s->slope, err);
    return st == BG_OK ? check_interval(s, true, err) : st;
}

static void calc_ramp(const bg_signal *s, int piece, double t, double *out)
{
    if (piece == 0)
        bg_signal_set(out, s->a, 0, 0);
    else if (piece == 1)
        bg_signal_set(out, s->a + s->slope * (t - s->t0), s->slope, 0);
    else
        bg_signal_set(out, s->a + s->slope * (s->t1 - s->t0), 0, 0);
}

static int count_ramp(const bg_signal *s)
{
    return s->slope == 0 ? 0 : isinf(s->t1) ? 1 : 2;
}

static bg_status check_levels(const bg_signal *s, bg_error *err)
{
    bg_status st = bg_signal_check_finite(s, "value before", s->a, err);
    return st == BG_OK ? bg_signal_check_finite(s, "value after", s->b, err) : st;
}

static bg_status prepare_step(bg_signal *s, bg_error *err)
{
    bg_status st = check_levels(s, err);
    return st == BG_OK ? check_interval(s, false, err) : st;
}

/* P = 10 x^3 - 15 x^4 + 6 x^5, P' = 30 x^2 (1 - x)^2, P'' = 60 x (1 - x) (1 - 2 x): twice
 * continuously differentiable also at the ends. */
static void calc_step(const bg_signal *s, int piece, double t, double *out)
{
    (void)piece;
    double width = s->t1 - s->t0, rise = s->b - s->a;
    double x = t <= s->t0 ? 0 : t >= s->t1 ? 1 : (t - s->t0) / width;
    double P = x * x * x * (10 + x * (6 * x - 15));
    bg_signal_set(out, x < 1 ? s->a + rise * P : s->b,
                  rise * 30 * x * x * (1 - x) * (1 - x) / width,
                  rise * 60 * x * (1 - x) * (1 - 2 * x) / width / width);
}

static bg_status prepare_jump(bg_signal *s, bg_error *err)
{
    bg_status st = check_levels(s, err);
    return st == BG_OK ? bg_signal_check_finite(s, "time of the jump", s->t0, err) : st;
}

static void calc_jump(const bg_signal *s, int piece, double t, double *out)
{
    (void)t;
    bg_signal_set(out, piece == 0 ? s->a : s->b, 0, 0);
}

static int count_jump(const bg_signal *s)
{
    return s->a != s->b;
}

static bg_status prepare_sines(bg_signal *s, bg_error *err)
{
    if (s->n < 1)
        return bg_error_set(err, BG_BAD_INPUT, "signal '%s': needs at least one sine",
                            bg_signal_get_name(s));
    if (!s->c && !(s->c = BG_NEW_ARRAY(double, s->n)))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for signal '%s'",
                            bg_signal_get_name(s));
    bg_status st = bg_signal_check_finite(s, "offset", s->offset, err);
    for (int k = 0; k < s->n && st == BG_OK; k++) {
        st = bg_signal_check_finite(s, "frequency", s->x[k], err);
        if (st == BG_OK)
            st = bg_signal_check_finite(s, "amplitude", s->y[k], err);
        if (st == BG_OK)
            st = bg_signal_check_finite(s, "phase", s->c[k], err);
    }
    return st;
}

static void calc_sines(const bg_signal *s, int piece, double t, double *out)
{
    (void)piece;
    bg_signal_set(out, s->offset, 0, 0);
    for (int k = 0; k < s->n; k++) {
        double w = 2 * M_PI * s->x[k], sine = sin(w * t + s->c[k]), cosine = cos(w * t + s->c[k]);
        out[0] += s->y[k] * sine;
        out[1] += s->y[k] * w * cosine;
        out[2] -= s->y[k] * w * w * sine;
    }
}

static bg_status prepare_chirp(bg_signal *s, bg_error *err)
{
    bg_status st = check_interval(s, false, err);
    if (st == BG_OK)
        st = bg_signal_check_finite(s, "start frequency", s->a, err);
    if (st == BG_OK)
        st = bg_signal_check_finite(s, "end frequency", s->b, err);
    if (st == BG_OK)
        st = bg_signal_check_finite(s, "amplitude", s->slope, err);
    return st == BG_OK ? bg_signal_check_finite(s, "phase", s->offset, err) : st;
}

static void calc_chirp(const bg_signal *s, int piece, double t, double *out)
{
    double T = s->t1 - s->t0, tau = piece == 0 ? 0 : piece == 2 ? T : t - s->t0;
    double angle = 2 * M_PI * tau * (s->a + (s->b - s->a) * tau / (2 * T)) + s->offset;
    double w = 2 * M_PI * (s->a + (s->b - s->a) * tau / T), w_t = 2 * M_PI * (s->b - s->a) / T;
    double A = s->slope;
    if (piece != 1)
        bg_signal_set(out, A * sin(angle), 0, 0);
    else
        bg_signal_set(out, A * sin(angle), A * w * cos(angle),
                      A * (w_t * cos(angle) - w * w * sin(angle)));
}

static int count_chirp(const bg_signal *s)
{
    return s->slope == 0 ? 0 : 2;
}

static bg_status prepare_expression(bg_signal *s, bg_error *err)
{
    const int *variables;
    int n = s->expression ? bg_expression_get_variables(s->expression, &variables) : -1;
    if (n < 0)
        return bg_error_set(err, BG_BAD_INPUT, "signal '%s': the expression is missing",
                            bg_signal_get_name(s));
    if (n > 1 || (n == 1 && variables[0] != 0))
        return bg_error_set(err, BG_BAD_INPUT,
                            "signal '%s': the expression may depend on the time t alone",
                            bg_signal_get_name(s));
    return BG_OK;
}

static void calc_expression(const bg_signal *s, int piece, double t, double *out)
{
    (void)piece;
    const double rate = 1, second = 0;
    bg_expression_calc_jet(s->expression, &t, &rate, &second, out);
}

static bg_status prepare_track(bg_signal *s, bg_error *err)
{
    assert(s->track);
    s->x = s->n < BG_TRACK_PARTS ? BG_NEW_ARRAY(double, s->track->n + 1) : NULL;
    if (s->n < BG_TRACK_PARTS && !s->x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for signal '%s'",
                            bg_signal_get_name(s));
    for (int k = 0; s->x && k <= s->track->n; k++)
        if (bg_track_has_jump(s->track, k, s->n))
            s->x[s->borders++] = bg_track_get_border(s->track, k);
    return BG_OK;
}

static int count_borders(const bg_signal *s)
{
    return s->borders;
}

/* The segment of a place, or of the nearest end of a piece that it lies beyond. */
static int find_segment(const bg_signal *s, int piece, double place)
{
    if (piece > 0 && place < s->x[piece - 1])
        return bg_track_find_segment(s->track, s->x[piece - 1]);
    if (piece < s->borders && place >= s->x[piece])
        return bg_track_find_segment(s->track, s->x[piece]) - 1;
    return bg_track_find_segment(s->track, place);
}

/* f(s(t)): f' s', f'' s'^2 + f' s''. */
static void calc_track(const bg_signal *s, int piece, double t, double *out)
{
    double d[3];
    bg_track_place x;
    bg_track_calc_distance(s->track, t, d);
    if (s->n >= BG_TRACK_PARTS) {
        bg_signal_set(out, d[0] / s->b, d[1] / s->b, d[2] / s->b);
        return;
    }
    const double place = s->track->start + s->a + d[0];
    const bool here = s->n == BG_TRACK_X || s->n == BG_TRACK_Y;
    bg_track_calc_in(s->track, find_segment(s, piece, place), place, here, &x);
    const double *f = x.part[s->n];
    bg_signal_set(out, f[0] - s->offset, f[1] * d[1], f[2] * d[1] * d[1] + f[1] * d[2]);
}

static const bg_signal_type *const types[] = {
    [BG_SIGNAL_CONSTANT] = &(const bg_signal_type){prepare_constant, calc_constant,
                                                   bg_signal_count_none, NULL},
    [BG_SIGNAL_RAMP] = &(const bg_signal_type){prepare_ramp, calc_ramp, count_ramp, get_end},
    [BG_SIGNAL_STEP] = &(const bg_signal_type){prepare_step, calc_step, bg_signal_count_none, NULL},
    [BG_SIGNAL_JUMP] = &(const bg_signal_type){prepare_jump, calc_jump, count_jump, get_end},
    [BG_SIGNAL_SINES] = &(const bg_signal_type){prepare_sines, calc_sines, bg_signal_count_none,
                                                NULL},
    [BG_SIGNAL_CHIRP] = &(const bg_signal_type){prepare_chirp, calc_chirp, count_chirp, get_end},
    [BG_SIGNAL_LINEAR] = &bg_signal_linear,
    [BG_SIGNAL_SPLINE] = &bg_signal_spline,
    [BG_SIGNAL_EXPRESSION] = &(const bg_signal_type){prepare_expression, calc_expression,
                                                     bg_signal_count_none, NULL},
    [BG_SIGNAL_TRACK] = &(const bg_signal_type){prepare_track, calc_track, count_borders, NULL},
};

bg_status bg_signal_prepare(bg_signal *signal, bg_error *err)
{
    return types[signal->kind]->prepare(signal, err);
}

double bg_signal_calc_side(const bg_signal *signal, int k, double t)
{
    double d[3];
    if (signal->kind != BG_SIGNAL_TRACK)
        return t - bg_signal_get_corner(signal, k);
    bg_track_calc_distance(signal->track, t, d);
    return signal->track->start + signal->a + d[0] - signal->x[k];
}

/* Who goes back along a track is before the corner he stands at. */
static bool is_behind(const bg_signal *signal, int k, double t)
{
    double side = bg_signal_calc_side(signal, k, t), d[3] = {0, 0, 0};
    if (side == 0 && signal->kind == BG_SIGNAL_TRACK)
        bg_track_calc_distance(signal->track, t, d);
    return side > 0 || (side == 0 && d[1] >= 0);
}

int bg_signal_find_piece(const bg_signal *signal, double t)
{
    int low = -1, high = bg_signal_count_corners(signal);
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (is_behind(signal, middle, t))
            low = middle;
        else
            high = middle;
    }
    return high;
}

void bg_signal_calc_piece(const bg_signal *signal, int piece, double t, double out[3])
{
    const int last = bg_signal_count_corners(signal); /* a mode may come from anywhere */
    types[signal->kind]->calc(signal, piece < 0 ? 0 : piece > last ? last : piece, t, out);
}

void bg_signal_calc(const bg_signal *signal, double t, double out[3])
{
    bg_signal_calc_piece(signal, bg_signal_find_piece(signal, t), t, out);
}

bool bg_signal_has_jump(const bg_signal *signal)
{
    return signal->kind == BG_SIGNAL_JUMP && bg_signal_count_corners(signal) > 0;
}

int bg_signal_count_corners(const bg_signal *signal)
{
    return types[signal->kind]->count_corners(signal);
}

double bg_signal_get_corner(const bg_signal *signal, int k)
{
    assert(k >= 0 && k < bg_signal_count_corners(signal));
    return types[signal->kind]->get_corner(signal, k);
}

void bg_signal_clear(bg_signal *signal)
{
    free(signal->name);
    free(signal->x);
    free(signal->y);
    free(signal->c);
    bg_expression_destroy(signal->expression);
    *signal = (bg_signal){0};
}

void bg_signal_describe_corner(const bg_signal *signal, int k, char *text, size_t size)
{
    const char *name = bg_signal_get_name(signal);
    const int n = bg_signal_count_corners(signal);
    if (signal->kind == BG_SIGNAL_TRACK) {
        snprintf(text, size, "input %.50s passes %.6g m of track %.50s, where segments meet", name,
                 signal->x[k], signal->track->name);
        return;
    }
    const double t = bg_signal_get_corner(signal, k);
    double before[3], behind[3];
    bg_signal_calc_piece(signal, k, t, before);
    bg_signal_calc_piece(signal, k + 1, t, behind);
    if (signal->kind == BG_SIGNAL_JUMP)
        snprintf(text, size, "input %.50s jumps from %.6g to %.6g", name, before[0], behind[0]);
    else if (signal->kind == BG_SIGNAL_LINEAR)
        snprintf(text, size, "input %.50s: corner %d of %d in its table", name, k + 1, n);
    else /* a ramp or chirp, of which only the end may be a corner */
        snprintf(text, size, "input %.50s: %s %s", name,
                 signal->kind == BG_SIGNAL_RAMP ? "ramp" : "chirp",
                 behind[1] == 0 && behind[2] == 0 && k == n - 1 ? "ends" : "begins");
}
