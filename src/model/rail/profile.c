/* Profiles of wheels and rails.
 *
 * A spline of degree 3 on knots t_0 .. t_{m+3}, fourfold at the ends, is sum c_i N_i(x). The
 * coefficients solve the normal equations of sum_k (S(x_k) - y_k)^2, a positive definite matrix
 * with three bands beside its diagonal. Its derivatives have the coefficients
 *   c'_i = p (c_{i+1} - c_i) / (t_{i+p+1} - t_{i+1})
 * on the same knots, degree p lowered by one each time; they give each piece as a polynomial
 * about its left knot. */
#include "model/rail/profile.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE = 3, BAND = DEGREE + 1 };

/* The p + 1 functions of degree p that are not zero in [t_k, t_{k+1}), at x. */
static void calc_basis(const double *t, int k, int p, double x, double N[BAND])
{
    double left[BAND], right[BAND];
    N[0] = 1;
    for (int j = 1; j <= p; j++) {
        double saved = 0;
        left[j] = x - t[k + 1 - j];
        right[j] = t[k + j] - x;
        for (int r = 0; r < j; r++) {
            const double part = N[r] / (right[r + 1] + left[j - r]);
            N[r] = saved + right[r + 1] * part;
            saved = left[j - r] * part;
        }
        N[j] = saved;
    }
}

/* The interval k of t[m + 4] that x lies in, t_k < t_{k+1}. */
static int find_interval(const double *t, int m, double x)
{
    int k = DEGREE;
    while (k < m - 1 && x >= t[k + 1])
        k++;
    return k;
}

/* A[m][BAND], the upper part of the bands, and b[m]: of the normal equations. */
static void make_normal(const double *t, int m, const double *x, const double *y, int n,
                        double (*A)[BAND], double *b)
{
    for (int i = 0; i < n; i++) {
        double N[BAND];
        const int k = find_interval(t, m, x[i]), first = k - DEGREE;
        calc_basis(t, k, DEGREE, x[i], N);
        for (int r = 0; r < BAND; r++) {
            b[first + r] += N[r] * y[i];
            for (int c = r; c < BAND; c++)
                A[first + r][c - r] += N[r] * N[c];
        }
    }
}

/* Cholesky; false: a knot interval without points. */
static bool solve_normal(double (*A)[BAND], double *b, int m)
{
    for (int i = 0; i < m; i++) {
        if (!(A[i][0] > 1e-12))
            return false;
        for (int r = 1; r < BAND && i + r < m; r++) {
            const double f = A[i][r] / A[i][0];
            for (int c = r; c < BAND; c++)
                A[i + r][c - r] -= f * A[i][c];
            b[i + r] -= f * b[i];
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int r = 1; r < BAND && i + r < m; r++)
            b[i] -= A[i][r] * b[i + r];
        b[i] /= A[i][0];
    }
    return true;
}

/* Pieces from coefficients, which are lost. */
static void make_pieces(bg_profile *f, const double *t, int m, double *c)
{
    for (int order = 0, p = DEGREE; order <= DEGREE; order++, p--) {
        for (int k = DEGREE, piece = 0; k < m; k++, piece++) {
            double N[BAND];
            f->knot[piece] = t[k];
            calc_basis(t, k, p, t[k], N);
            f->c[piece][order] = 0;
            for (int r = 0; r <= p; r++)
                f->c[piece][order] += N[r] * c[k - p + r];
        }
        for (int i = m - 1; i > order; i--) /* c_i <- c' that belongs with N_i of degree p - 1 */
            c[i] = t[i + p] > t[i] ? p * (c[i] - c[i - 1]) / (t[i + p] - t[i]) : 0;
    }
    f->knot[f->n] = t[m];
}

static bg_status fit(bg_profile *f, const double *x, const double *y, int n, double *t, int m,
                     bg_error *err)
{
    double(*A)[BAND] = calloc((size_t)m, sizeof *A), *b = BG_NEW_ARRAY(double, m);
    f->n = m - DEGREE;
    f->knot = BG_NEW_ARRAY(double, f->n + 1);
    f->c = calloc((size_t)f->n, sizeof *f->c);
    bg_status st = BG_OK;
    if (!A || !b || !f->knot || !f->c) {
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for a profile");
    } else {
        make_normal(t, m, x, y, n, A, b);
        if (solve_normal(A, b, m))
            make_pieces(f, t, m, b);
        else
            st = bg_error_set(err, BG_BAD_INPUT, "there are too few points between the knots");
    }
    free(A);
    free(b);
    return st;
}

static bg_status check(const double *x, int n, const double *knots, int nknots, bg_error *err)
{
    if (n < BAND)
        return bg_error_set(err, BG_BAD_INPUT, "a profile needs at least %d points", (int)BAND);
    for (int i = 1; i < n; i++)
        if (!(x[i] > x[i - 1]))
            return bg_error_set(err, BG_BAD_INPUT,
                                "point %d, at %g m, does not lie beyond the one before, at %g m: "
                                "points go outward, each place once",
                                i + 1, x[i], x[i - 1]);
    for (int i = 0; knots && i < nknots; i++)
        if (!(knots[i] > (i > 0 ? knots[i - 1] : x[0]) && knots[i] < x[n - 1]))
            return bg_error_set(err, BG_BAD_INPUT,
                                "knot %d, at %g m, must lie beyond the one before and between the "
                                "first and the last point",
                                i + 1, knots[i]);
    return BG_OK;
}

bg_status bg_profile_fit(bg_profile *f, const double *x, const double *y, int n,
                         const double *knots, int nknots, const double *range, bg_error *err)
{
    bg_status st = check(x, n, knots, nknots, err);
    if (st != BG_OK)
        return st;
    const int inner = knots ? nknots : n - BAND, m = inner + BAND;
    double *t = BG_NEW_ARRAY(double, m + BAND);
    if (!t)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a profile");
    for (int i = 0; i < BAND; i++)
        t[i] = x[0], t[m + i] = x[n - 1];
    for (int i = 0; i < inner; i++)
        t[BAND + i] = knots ? knots[i] : x[i + 2];
    f->kind = BG_PROFILE_SPLINE;
    st = fit(f, x, y, n, t, m, err);
    free(t);
    if (st != BG_OK)
        return st;
    const double at[2] = {range ? fmax(x[0], range[0]) : x[0],
                          range ? fmin(x[n - 1], range[1]) : x[n - 1]};
    f->range[0] = x[0], f->range[1] = x[n - 1];
    for (int k = 0; k < 2; k++) {
        double y_at[4];
        bg_profile_calc(f, at[k], y_at);
        memcpy(f->end[k], y_at, sizeof f->end[k]);
    }
    memcpy(f->range, at, sizeof at);
    return BG_OK;
}

void bg_profile_clear(bg_profile *f)
{
    free(f->name);
    free(f->knot);
    free(f->c);
    *f = (bg_profile){0};
}

static void calc_spline(const bg_profile *f, double x, int *piece, double out[4])
{
    const int side = x < f->range[0] ? 0 : x > f->range[1] ? 1 : -1;
    if (side >= 0) {
        const double *e = f->end[side], d = x - f->range[side];
        out[0] = e[0] + d * (e[1] + 0.5 * d * e[2]);
        out[1] = e[1] + d * e[2];
        out[2] = e[2];
        out[3] = 0;
        return;
    }
    *piece = bg_profile_find_piece(f, x, *piece);
    const double *c = f->c[*piece], d = x - f->knot[*piece];
    out[0] = c[0] + d * (c[1] + d * (c[2] / 2 + d * c[3] / 6));
    out[1] = c[1] + d * (c[2] + d * c[3] / 2);
    out[2] = c[2] + d * c[3];
    out[3] = c[3];
}

void bg_profile_calc_near(const bg_profile *f, double x, int *piece, double out[4])
{
    if (f->kind == BG_PROFILE_CONE) {
        out[0] = -f->slope * x;
        out[1] = -f->slope;
        out[2] = out[3] = 0;
    } else if (f->kind == BG_PROFILE_CIRCLE) { /* y' = -x/w, y'' = -r^2/w^3, y''' = -3 r^2 x/w^5 */
        const double most = 0.99 * f->radius, at = fmax(-most, fmin(most, x)), d = x - at;
        const double square = f->radius * f->radius, w = sqrt(square - at * at);
        const double cube = w * w * w;
        out[3] = d == 0 ? -3 * square * at / (cube * w * w) : 0;
        out[2] = -square / cube;
        out[1] = -at / w + d * out[2];
        out[0] = w - f->radius + d * (-at / w + 0.5 * d * out[2]);
    } else {
        calc_spline(f, x, piece, out);
    }
}

void bg_profile_calc(const bg_profile *f, double x, double out[4])
{
    int piece = 0;
    bg_profile_calc_near(f, x, &piece, out);
}
