/* Rank and dependencies of the rows of a matrix, for redundant constraints.
 *
 * The rows are scaled to unit length and orthogonalised by modified Gram-Schmidt: after r rows were
 * kept, w_i is what remains of row i orthogonally to them. The next row kept is the first one, in
 * the user's order, whose |w_i| reaches a tenth of the largest; the rank is reached when none
 * exceeds the tolerance. A tenth, not the whole: which of several dependent constraints counts as
 * the redundant one then follows their order instead of accidents of geometry, and the kept rows
 * are still far from the tolerance. With s_k the kept rows, s_k = sum_{p<=k} R_pk q_p, a dependent
 * row is s_i = sum_k c_k s_k,   R c = Q^T s_i   (least squares). */
#include "base/memory.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define AS_GOOD 0.1

struct bg_rank {
    int m, n, rank;
    double *S;      /* m*n, rows of unit length (or zero) */
    double *W;      /* m*n, what remains of them */
    double *length; /* m, |row i| before scaling */
    double *Q;      /* min(m,n)*n, orthonormal rows */
    double *R;      /* m*m, column k: coefficients of kept row k */
    double *c;      /* m */
    int *kept;      /* m, rows in the order they were kept */
    bool *decided;  /* m, row is kept or zero */
};

bg_status bg_rank_create(int m, int n, bg_rank **rank, bg_error *err)
{
    assert(m >= 0 && n >= 0);
    size_t size = (size_t)m * (size_t)n;
    bg_rank *w = *rank = BG_NEW(bg_rank);
    if (w) {
        w->m = m;
        w->n = n;
        w->S = BG_NEW_ARRAY(double, size);
        w->W = BG_NEW_ARRAY(double, size);
        w->Q = BG_NEW_ARRAY(double, size);
        w->R = BG_NEW_ARRAY(double, (size_t)m *(size_t)m);
        w->length = BG_NEW_ARRAY(double, m);
        w->c = BG_NEW_ARRAY(double, m);
        w->kept = BG_NEW_ARRAY(int, m);
        w->decided = BG_NEW_ARRAY(bool, m);
        if (w->S && w->W && w->Q && w->R && w->length && w->c && w->kept && w->decided)
            return BG_OK;
    }
    bg_rank_destroy(w);
    *rank = NULL;
    return bg_error_set(err, BG_NO_MEMORY, "no memory for the rank of a %d x %d matrix", m, n);
}

void bg_rank_destroy(bg_rank *w)
{
    if (!w)
        return;
    free(w->S);
    free(w->W);
    free(w->length);
    free(w->Q);
    free(w->R);
    free(w->c);
    free(w->kept);
    free(w->decided);
    free(w);
}

static double dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += x[j] * y[j];
    return sum;
}

/* |x|, safe for entries whose squares leave the range. */
static double calc_length(const double *x, int n)
{
    double largest = 0, sum = 0;
    for (int j = 0; j < n; j++)
        largest = fmax(largest, fabs(x[j]));
    if (largest == 0)
        return 0;
    for (int j = 0; j < n; j++)
        sum += (x[j] / largest) * (x[j] / largest);
    return largest * sqrt(sum);
}

static double *row_of(double *A, int i, int n)
{
    return A + (size_t)i * (size_t)n;
}

/* S <- rows of A, dense, without fixed columns, of unit length. Rows below 1000 eps times the
 * longest (fixed columns included) are rounding and become zero rows. */
static void scale_rows(bg_rank *w, const bg_pattern *pattern, const double *A,
                       const unsigned char *fixed)
{
    double longest = 0;
    memset(w->S, 0, (size_t)w->m * (size_t)w->n * sizeof(double));
    for (int i = 0; i < w->m; i++) {
        double *s = row_of(w->S, i, w->n);
        if (pattern)
            for (int k = pattern->row_start[i]; k < pattern->row_start[i + 1]; k++)
                s[pattern->column[k]] = A[k];
        else
            memcpy(s, A + (size_t)i * (size_t)w->n, (size_t)w->n * sizeof(double));
        longest = fmax(longest, calc_length(s, w->n));
        for (int j = 0; fixed && j < w->n; j++)
            if (fixed[j])
                s[j] = 0;
        w->length[i] = calc_length(s, w->n);
    }
    for (int i = 0; i < w->m; i++) {
        double *s = row_of(w->S, i, w->n);
        w->decided[i] = w->length[i] <= 1e3 * DBL_EPSILON * longest;
        for (int j = 0; j < w->n; j++)
            s[j] = w->decided[i] ? 0 : s[j] / w->length[i];
    }
    memcpy(w->W, w->S, (size_t)w->m * (size_t)w->n * sizeof(double));
}

/* The next row to keep, or -1 when the rest depends on those kept. */
static int find_next(bg_rank *w, double tolerance)
{
    double largest = tolerance;
    for (int i = 0; i < w->m; i++) {
        w->c[i] = w->decided[i] ? 0 : sqrt(dot(row_of(w->W, i, w->n), row_of(w->W, i, w->n), w->n));
        largest = fmax(largest, w->c[i]);
    }
    for (int i = 0; i < w->m; i++)
        if (w->c[i] > tolerance && w->c[i] >= AS_GOOD * largest)
            return i;
    return -1;
}

/* Keeps row i: s_i = sum_p R_p,rank q_p, orthogonalised twice, then taken out of the rest. */
static void keep_row(bg_rank *w, int i)
{
    int n = w->n, r = w->rank;
    double *q = row_of(w->Q, r, n);
    memcpy(q, row_of(w->S, i, n), (size_t)n * sizeof(double));
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < r; p++) {
            const double *q_p = row_of(w->Q, p, n);
            double h = dot(q_p, q, n);
            w->R[p * w->m + r] += h;
            for (int j = 0; j < n; j++)
                q[j] -= h * q_p[j];
        }
    double length = sqrt(dot(q, q, n));
    w->R[r * w->m + r] = length;
    for (int j = 0; j < n; j++)
        q[j] /= length;
    w->kept[r] = i;
    w->decided[i] = true;
    w->rank++;
    for (int k = 0; k < w->m; k++) {
        double *w_k = row_of(w->W, k, n), h = w->decided[k] ? 0 : dot(q, w_k, n);
        for (int j = 0; h != 0 && j < n; j++)
            w_k[j] -= h * q[j];
    }
}

/* c <- R^{-1} Q^T s_i */
static void calc_coefficients(bg_rank *w, int i)
{
    for (int p = w->rank - 1; p >= 0; p--) {
        double sum = dot(row_of(w->Q, p, w->n), row_of(w->S, i, w->n), w->n);
        for (int k = p + 1; k < w->rank; k++)
            sum -= w->R[p * w->m + k] * w->c[k];
        w->c[p] = sum / w->R[p * w->m + p];
    }
}

static void report_dependencies(bg_rank *w, double tolerance, const unsigned char *dependent,
                                unsigned char *involved, double *coefficient)
{
    double noticeable = sqrt(tolerance); /* coefficients of unit rows below it are noise */
    for (int i = 0; i < w->m; i++) {
        if (!dependent[i])
            continue;
        involved[i] = 1;
        calc_coefficients(w, i);
        for (int p = 0; p < w->rank; p++) {
            int k = w->kept[p];
            if (fabs(w->c[p]) > noticeable)
                involved[k] = 1;
            if (coefficient)
                coefficient[(size_t)i * (size_t)w->m + (size_t)k] = w->c[p] *
                                                                    (w->length[i] / w->length[k]);
        }
    }
}

int bg_rank_calc(bg_rank *w, const bg_pattern *pattern, const double *A, const unsigned char *fixed,
                 double tolerance, unsigned char *dependent, unsigned char *involved,
                 double *coefficient)
{
    size_t m = (size_t)w->m;
    tolerance = fmax(tolerance, 8 * DBL_EPSILON * (w->m + w->n));
    if (coefficient)
        memset(coefficient, 0, m * m * sizeof(double));
    memset(involved, 0, m);
    memset(dependent, 1, m);
    memset(w->R, 0, m * m * sizeof(double));
    w->rank = 0;
    scale_rows(w, pattern, A, fixed);
    for (int i; w->rank < w->n && (i = find_next(w, tolerance)) >= 0;) {
        keep_row(w, i);
        dependent[i] = 0;
    }
    report_dependencies(w, tolerance, dependent, involved, coefficient);
    return w->rank;
}
