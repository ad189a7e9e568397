/* Tabulated functions.
 *
 * Between knots a < b, h = b - a, with second derivatives c_a, c_b, s = (x - a) / h, r = 1 - s:
 *
 *   y   = r y_a + s y_b + h^2/6 ((r^3 - r) c_a + (s^3 - s) c_b)
 *   y'  = (y_b - y_a) / h + h/6 ((1 - 3 r^2) c_a + (3 s^2 - 1) c_b)
 *   y'' = r c_a + s c_b
 *   int_a^x y = h ((1 - r^2)/2 y_a + s^2/2 y_b)
 *             + h^3/24 ((2 r^2 - r^4 - 1) c_a + (s^4 - 2 s^2) c_b)
 *
 * A cubic curve takes c from continuity of y' at the knots,
 *
 *   h_- c_- + 2 (h_- + h_+) c + h_+ c_+ = 6 (d_+ - d_-),     d: slopes of the chords,
 *
 * with c = 0 at an end that goes on along its tangent and 2 h c_0 + h c_1 = 6 (d - 0) where the
 * slope is zero. A linear curve has c = 0. */
#include "model/forces/curve.h"

#include "model/read.h"

#include <stdlib.h>

/* Thomas' elimination for c; s serves as the scratch of the upper diagonal. */
static void solve_spline(bg_curve *u)
{
    const double *x = u->x, *y = u->y;
    double *c = u->c, *upper = u->s;
    const int last = u->n - 1;
    for (int k = 0; k <= last; k++) {
        const double h0 = k > 0 ? x[k] - x[k - 1] : 0, h1 = k < last ? x[k + 1] - x[k] : 0;
        const double d0 = k > 0 ? (y[k] - y[k - 1]) / h0 : 0,
                     d1 = k < last ? (y[k + 1] - y[k]) / h1 : 0;
        double lower = h0, diagonal = 2 * (h0 + h1), right = 6 * (d1 - d0);
        upper[k] = h1;
        if (u->end == BG_CURVE_GOES_ON && (k == 0 || k == last)) {
            lower = upper[k] = right = 0;
            diagonal = 1;
        }
        if (k > 0) {
            diagonal -= lower * upper[k - 1];
            right -= lower * c[k - 1];
        }
        upper[k] /= diagonal;
        c[k] = right / diagonal;
    }
    for (int k = last - 1; k >= 0; k--)
        c[k] -= upper[k] * c[k + 1];
}

/* int_{x_k}^{x} y in the piece that begins at knot k. */
static double calc_part(const bg_curve *u, int k, double x)
{
    const double h = u->x[k + 1] - u->x[k], s = (x - u->x[k]) / h, r = 1 - s;
    return h * (0.5 * (1 - r * r) * u->y[k] + 0.5 * s * s * u->y[k + 1]) +
           h * h * h / 24 *
               ((2 * r * r - r * r * r * r - 1) * u->c[k] + (s * s - 2) * s * s * u->c[k + 1]);
}

static void read_knots(const bg_value *table, bg_curve *u)
{
    for (int k = 0; k < u->n; k++) {
        const bg_value pair = bg_value_element(table, k);
        if (!bg_value_expect_list(&pair, 2))
            return;
        const bg_value x = bg_value_element(&pair, 0), y = bg_value_element(&pair, 1);
        u->x[k] = bg_value_get_number(&x);
        u->y[k] = bg_value_get_number(&y);
        if (table->reader->status == BG_OK && k > 0 && !(u->x[k] > u->x[k - 1]))
            bg_value_fail(&pair,
                          "must have a first number greater than %g, that of the pair before",
                          u->x[k - 1]);
    }
}

void bg_curve_read(const bg_value *object, const char *key, bg_curve_kind kind, bg_curve_end end,
                   bg_curve *u)
{
    *u = (bg_curve){.kind = kind, .end = end};
    const bg_value table = bg_value_member(object, key);
    if (!bg_value_exists(&table))
        return;
    if (!bg_value_expect_list(&table, -1))
        return;
    const int n = bg_value_get_size(&table);
    if (n < 2) {
        bg_value_fail(&table, "must have at least two pairs [x, y]");
        return;
    }
    double **arrays[] = {&u->x, &u->y, &u->c, &u->s};
    for (int k = 0; k < 4; k++)
        *arrays[k] = bg_reader_allocate(object->reader, (size_t)n, sizeof(double));
    if (!u->x || !u->y || !u->c || !u->s)
        return;
    u->n = n;
    read_knots(&table, u);
    if (object->reader->status != BG_OK)
        return;
    if (kind == BG_CURVE_CUBIC)
        solve_spline(u);
    u->s[0] = 0;
    for (int k = 1; k < n; k++)
        u->s[k] = u->s[k - 1] + calc_part(u, k - 1, u->x[k]);
}

void bg_curve_clear(bg_curve *u)
{
    free(u->x);
    free(u->y);
    free(u->c);
    free(u->s);
    *u = (bg_curve){0};
}

int bg_curve_find_piece(const bg_curve *u, double x)
{
    int low = 0, high = u->n; /* knots below low are <= x, knots from high on are > x */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (u->x[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Value and slope at the knot an outer piece goes on from. */
static void calc_outside(const bg_curve *u, bool before, double x, double out[3])
{
    const int knot = before ? 0 : u->n - 1;
    double tangent[3] = {u->y[knot], 0, 0};
    if (u->end == BG_CURVE_GOES_ON)
        bg_curve_calc(u, before ? 1 : u->n - 1, u->x[knot], tangent);
    out[0] = u->y[knot] + tangent[1] * (x - u->x[knot]);
    out[1] = tangent[1];
    out[2] = 0;
}

void bg_curve_calc(const bg_curve *u, int piece, double x, double out[3])
{
    if (piece <= 0 || piece >= u->n) {
        calc_outside(u, piece <= 0, x, out);
        return;
    }
    const int k = piece - 1;
    const double h = u->x[k + 1] - u->x[k], s = (x - u->x[k]) / h, r = 1 - s;
    const double ca = u->c[k], cb = u->c[k + 1];
    out[0] = r * u->y[k] + s * u->y[k + 1] +
             h * h / 6 * ((r * r - 1) * r * ca + (s * s - 1) * s * cb);
    out[1] = (u->y[k + 1] - u->y[k]) / h + h / 6 * ((1 - 3 * r * r) * ca + (3 * s * s - 1) * cb);
    out[2] = r * ca + s * cb;
}

/* int_{x_0}^{x} y, on the line where x lies outside. */
static double integrate_from_first(const bg_curve *u, double x)
{
    const int piece = bg_curve_find_piece(u, x);
    if (piece > 0 && piece < u->n)
        return u->s[piece - 1] + calc_part(u, piece - 1, x);
    const int knot = piece <= 0 ? 0 : u->n - 1;
    const double e = x - u->x[knot];
    double out[3];
    bg_curve_calc(u, piece, x, out);
    return u->s[knot] + e * (u->y[knot] + 0.5 * out[1] * e);
}

double bg_curve_calc_integral(const bg_curve *u, double x)
{
    return integrate_from_first(u, x) - integrate_from_first(u, 0);
}
