/* Signals through points: straight lines and the natural cubic spline.
 *
 * The spline on an interval of length h, with p = (x_{i+1} - t)/h and s = 1 - p, is
 *
 *   u = p y_i + s y_{i+1} + h^2/6 ((p^3 - p) c_i + (s^3 - s) c_{i+1}),   u'' = p c_i + s c_{i+1},
 *
 * and continuity of u' at the inner knots gives, for k = 1 .. n-2 with c_0 = c_{n-1} = 0,
 *
 *   h_{k-1} c_{k-1} + 2 (h_{k-1} + h_k) c_k + h_k c_{k+1} = 6 (slope_k - slope_{k-1}). */
#include "base/memory.h"
#include "model/signal_types.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Knots of a table: finite, at least two, times ascending. */
static bg_status check_knots(bg_signal *s, bg_error *err)
{
    if (s->n < 2)
        return bg_error_set(err, BG_BAD_INPUT,
                            "signal '%s': a table needs at least two points, not %d",
                            bg_signal_get_name(s), s->n);
    bg_status st = BG_OK;
    for (int k = 0; k < s->n && st == BG_OK; k++) {
        st = bg_signal_check_finite(s, "time in a table", s->x[k], err);
        if (st == BG_OK)
            st = bg_signal_check_finite(s, "value in a table", s->y[k], err);
        if (st == BG_OK && k > 0 && !(s->x[k] > s->x[k - 1]))
            st = bg_error_set(err, BG_BAD_INPUT,
                              "signal '%s': times must ascend, but point %d at %g s follows %g s",
                              bg_signal_get_name(s), k + 1, s->x[k], s->x[k - 1]);
    }
    if (st == BG_OK && !s->c && !(s->c = BG_NEW_ARRAY(double, s->n)))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for signal '%s'",
                          bg_signal_get_name(s));
    return st;
}

/* i with x_i <= t < x_{i+1}, -1 before the table, n-1 from its last knot on. */
static int find_interval(const bg_signal *s, double t)
{
    int low = -1, high = s->n;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (s->x[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* u' on interval i, 0 outside the table; roundoff: a bound of the error that decimals in x and y
 * and the subtractions leave in it. */
static double calc_slope(const bg_signal *s, int i, double *roundoff)
{
    *roundoff = 0;
    if (i < 0 || i >= s->n - 1)
        return 0;
    double h = s->x[i + 1] - s->x[i], slope = (s->y[i + 1] - s->y[i]) / h;
    double size_x = fabs(s->x[i]) + fabs(s->x[i + 1]), size_y = fabs(s->y[i]) + fabs(s->y[i + 1]);
    *roundoff = 2 * DBL_EPSILON * (size_y + fabs(slope) * size_x) / h;
    return slope;
}

/* Corners are the knots where the slope changes by more than roundoff. */
static bg_status prepare_linear(bg_signal *s, bg_error *err)
{
    bg_status st = check_knots(s, err);
    if (st != BG_OK)
        return st;
    s->corners = 0;
    for (int k = 0; k < s->n; k++) {
        double before, after;
        double jump = calc_slope(s, k, &after) - calc_slope(s, k - 1, &before);
        if (!(fabs(jump) <= before + after))
            s->c[s->corners++] = s->x[k];
    }
    return BG_OK;
}

static int count_linear(const bg_signal *s)
{
    return s->corners;
}

static double get_linear(const bg_signal *s, int k)
{
    return s->c[k];
}

/* The interval of t, or of the nearest end of a piece that t lies beyond. */
static int find_interval_of(const bg_signal *s, int piece, double t)
{
    if (piece > 0 && t < s->c[piece - 1])
        return find_interval(s, s->c[piece - 1]);
    if (piece < s->corners && t >= s->c[piece])
        return find_interval(s, s->c[piece]) - 1;
    return find_interval(s, t);
}

static void calc_linear(const bg_signal *s, int piece, double t, double *out)
{
    int i = find_interval_of(s, piece, t);
    double unused, slope = calc_slope(s, i, &unused);
    if (i < 0 || i == s->n - 1)
        bg_signal_set(out, s->y[i < 0 ? 0 : i], 0, 0);
    else
        bg_signal_set(out, s->y[i] + slope * (t - s->x[i]), slope, 0);
}

/* Elimination without pivoting: the matrix is diagonally dominant. */
static bg_status prepare_spline(bg_signal *s, bg_error *err)
{
    bg_status st = check_knots(s, err);
    if (st != BG_OK)
        return st;
    int n = s->n;
    double *c = s->c, unused,
           *ratio = BG_NEW_ARRAY(double, n); /* above the diagonal, once reduced */
    if (!ratio)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for signal '%s'",
                            bg_signal_get_name(s));
    c[0] = c[n - 1] = 0;
    for (int k = 1; k < n - 1; k++) {
        double h0 = s->x[k] - s->x[k - 1], h1 = s->x[k + 1] - s->x[k];
        double bend = 6 * (calc_slope(s, k, &unused) - calc_slope(s, k - 1, &unused));
        double pivot = 2 * (h0 + h1) - h0 * ratio[k - 1];
        ratio[k] = h1 / pivot;
        c[k] = (bend - h0 * c[k - 1]) / pivot;
    }
    for (int k = n - 2; k > 0; k--)
        c[k] -= ratio[k] * c[k + 1];
    free(ratio);
    for (int k = 1; k < n - 1; k++) {
        if (!isfinite(c[k]))
            return bg_error_set(err, BG_BAD_INPUT,
                                "signal '%s': the spline through the table overflows near %g s",
                                bg_signal_get_name(s), s->x[k]);
    }
    return BG_OK;
}

/* Slope at the left end (p = 1) or right end (p = 0) of an interval, or between. */
static void calc_piece(const bg_signal *s, int i, double p, double *out)
{
    double h = s->x[i + 1] - s->x[i], q = 1 - p, c0 = s->c[i], c1 = s->c[i + 1];
    double bulge = p * (p * p - 1) * c0 + q * (q * q - 1) * c1;
    out[0] = p * s->y[i] + q * s->y[i + 1] + h * h / 6 * bulge;
    out[1] = (s->y[i + 1] - s->y[i]) / h + h / 6 * ((1 - 3 * p * p) * c0 + (3 * q * q - 1) * c1);
    out[2] = p * c0 + q * c1;
}

static void calc_spline(const bg_signal *s, int piece, double t, double *out)
{
    (void)piece;
    int last = s->n - 1, i = find_interval(s, t);
    if (i >= 0 && i < last) {
        calc_piece(s, i, (s->x[i + 1] - t) / (s->x[i + 1] - s->x[i]), out);
        return;
    }
    int end = i < 0 ? 0 : last;
    calc_piece(s, i < 0 ? 0 : last - 1, i < 0 ? 1 : 0, out);
    bg_signal_set(out, s->y[end] + out[1] * (t - s->x[end]), out[1], 0);
}

const bg_signal_type bg_signal_linear = {prepare_linear, calc_linear, count_linear, get_linear};
const bg_signal_type bg_signal_spline = {prepare_spline, calc_spline, bg_signal_count_none, NULL};
