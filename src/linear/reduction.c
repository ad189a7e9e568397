/* Zeros taken out of a matrix.
 *
 * A direction in which nothing resists, such as a vehicle's way along the road, gives a zero that
 * is double, with one eigenvector: rounding splits it into +- sqrt(eps |A|). So zeros are taken out
 * before: the null space of A is where singular values of A, each row in units of its size, are
 * nothing but rounding. Let its basis be N, with an identity in the rows p of its pivots and N_r in
 * the others, r. With x_r = xi and x_p left out,
 *
 *   x = [ xi + N_r eta ]       xi' = (A_rr - N_r A_pr) xi,     eta' = A_pr xi,                (1)
 *       [          eta ]
 *
 * has the same eigenvalues but as many zeros less as N has columns, and is treated likewise, until
 * nothing is left out. An eigenvector xi of the rest continues with eta = A_pr xi / lambda, a left
 * one l with -N_r^T l in the rows p. The first null space is made of the free directions; later
 * ones are motions along them. */
#include "linear/reduction.h"

#include "base/memory.h"
#include "linalg/spectrum.h"
#include "math/arrays.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-11; /* of entries of N that are zero */

/* T <- A with every row in units of its size; rows that are rounding beside `largest` are zero,
 * and so are those below 1e-9 1/s or 1/s^2 that are next to it. */
static void equilibrate(const double *A, int n, double largest, double *T)
{
    double least = fmax(4 * n * DBL_EPSILON * largest, fmin(1e-9, 1e-12 * largest));
    for (int i = 0; i < n; i++) {
        double size = bg_find_largest(A + i * n, n);
        bool counts = size > least;
        for (int j = 0; j < n; j++)
            T[i * n + j] = counts ? A[i * n + j] / size : 0;
    }
}

/* Brings the rows of N to a form with an identity in columns, pivot [m], of the largest entries. */
static void reduce_basis(double *N, int m, int n, int *pivot)
{
    for (int k = 0; k < m; k++) {
        int row = k, column = 0;
        double best = 0;
        for (int i = k; i < m; i++)
            for (int j = 0; j < n; j++)
                if (fabs(N[i * n + j]) > (1 + 1e-6) * best) {
                    best = fabs(N[i * n + j]);
                    row = i;
                    column = j;
                }
        pivot[k] = column;
        for (int j = 0; j < n; j++) {
            double swap = N[k * n + j];
            N[k * n + j] = N[row * n + j];
            N[row * n + j] = swap;
        }
        double scale = 1 / N[k * n + column];
        for (int j = 0; j < n; j++)
            N[k * n + j] *= scale;
        for (int i = 0; i < m; i++) {
            double factor = i == k ? 0 : N[i * n + column];
            for (int j = 0; j < n && factor != 0; j++)
                N[i * n + j] -= factor * N[k * n + j];
        }
    }
    for (int i = 0; i < m; i++) /* what is left of zeros */
        for (int j = 0; j < n; j++)
            if (fabs(N[i * n + j]) < rounding)
                N[i * n + j] = 0;
}

/* (1) of a level whose N is known. */
static bool reduce(bg_reduction *r, bg_reduction_level *v)
{
    int n = v->size, m = n - v->rest, *pivot;
    double *A = r->A, *next = BG_NEW_ARRAY(double, (size_t)v->rest *(size_t)v->rest);
    v->row = BG_NEW_ARRAY(int, n);
    v->A_pr = BG_NEW_ARRAY(double, (size_t)m *(size_t)v->rest);
    if (!next || !v->row || !v->A_pr) {
        free(next);
        return false;
    }
    pivot = v->row + v->rest;
    reduce_basis(v->N, m, n, pivot);
    for (int i = 0, k = 0; i < n; i++) {
        bool taken = false;
        for (int j = 0; j < m; j++)
            taken = taken || pivot[j] == i;
        if (!taken)
            v->row[k++] = i;
    }
    for (int j = 0; j < v->rest; j++) {
        for (int k = 0; k < m; k++)
            v->A_pr[k * v->rest + j] = A[pivot[k] * n + v->row[j]];
        for (int i = 0; i < v->rest; i++) {
            double sum = A[v->row[i] * n + v->row[j]];
            for (int k = 0; k < m; k++)
                sum -= v->N[k * n + v->row[i]] * v->A_pr[k * v->rest + j];
            next[i * v->rest + j] = sum;
        }
    }
    memcpy(A, next, (size_t)v->rest * (size_t)v->rest * sizeof *A);
    free(next);
    return true;
}

/* The next level: its null space. *found: there is one. */
static bg_status find_zeros(bg_reduction *r, bg_reduction_level *v, double tolerance,
                            double largest, bool *found, bg_error *err)
{
    int n = v->size;
    double *T = BG_NEW_ARRAY(double, (size_t)n *(size_t)n), *s = BG_NEW_ARRAY(double, n);
    v->N = BG_NEW_ARRAY(double, (size_t)n *(size_t)n);
    bg_status st = T && s && v->N ? BG_OK : BG_NO_MEMORY;
    if (st == BG_OK) {
        equilibrate(r->A, n, largest, T);
        st = bg_svd_calc(n, n, T, s, NULL, v->N, err);
    }
    while (st == BG_OK && v->rest > 0 && s[v->rest - 1] <= tolerance * fmax(s[0], DBL_MIN))
        v->rest--;
    *found = v->rest < n;
    if (st == BG_OK && *found) {
        memmove(v->N, v->N + v->rest * n, (size_t)(n - v->rest) * (size_t)n * sizeof *T);
        st = reduce(r, v) ? BG_OK : BG_NO_MEMORY;
    }
    free(T);
    free(s);
    return st == BG_NO_MEMORY ? bg_error_set(err, st, "out of memory for modes") : st;
}

bg_status bg_reduction_take_zeros(bg_reduction *r, double tolerance, bg_error *err)
{
    double largest = bg_find_largest(r->A, r->nx * r->nx);
    bool found = r->nx > 0;
    bg_status st = BG_OK;
    for (int n = r->nx; found && n > 0 && r->levels < BG_REDUCTION_LEVELS && st == BG_OK;) {
        bg_reduction_level *v = &r->level[r->levels++];
        *v = (bg_reduction_level){.size = n, .rest = n};
        st = find_zeros(r, v, tolerance, largest, &found, err);
        n = v->rest;
        if (st == BG_OK && !found) { /* of no use */
            free(v->N);
            r->levels--;
        }
    }
    return st;
}

int bg_reduction_get_rest(const bg_reduction *r)
{
    return r->levels > 0 ? r->level[r->levels - 1].rest : r->nx;
}

void bg_reduction_extend(const bg_reduction *r, const double *s, double re, double im, bool left,
                         double *x, double *scratch)
{
    double size = re * re + im * im;
    memcpy(x, s, 2 * (size_t)bg_reduction_get_rest(r) * sizeof *x);
    for (int k = r->levels - 1; k >= 0; k--) {
        const bg_reduction_level *v = &r->level[k];
        int n = v->size, rest = v->rest;
        memset(scratch, 0, 2 * (size_t)n * sizeof *scratch);
        for (int i = 0; i < rest; i++)
            for (int c = 0; c < 2; c++)
                scratch[2 * v->row[i] + c] = x[2 * i + c];
        for (int p = 0; p < n - rest; p++) {
            double a = 0, b = 0, *at = scratch + 2 * v->row[rest + p];
            const double *N = v->N + p * n;
            for (int i = 0; i < rest; i++) {
                double weight = left ? -N[v->row[i]] : v->A_pr[p * rest + i];
                a += weight * x[2 * i];
                b += weight * x[2 * i + 1];
            }
            at[0] = left ? a : (a * re + b * im) / size;
            at[1] = left ? b : (b * re - a * im) / size;
            for (int i = 0; i < rest && !left; i++)
                for (int c = 0; c < 2; c++)
                    scratch[2 * v->row[i] + c] += N[v->row[i]] * at[c];
        }
        memcpy(x, scratch, 2 * (size_t)n * sizeof *x);
    }
}

void bg_reduction_clear(bg_reduction *r)
{
    for (int k = 0; k < r->levels; k++) {
        free(r->level[k].N);
        free(r->level[k].row);
        free(r->level[k].A_pr);
    }
    free(r->A);
    *r = (bg_reduction){0};
}
