/* Rank and dependencies of the rows of a matrix, for redundant constraints.
 *
 * The rows are scaled and orthogonalised by modified Gram-Schmidt: after r rows were kept, w_i is
 * what remains of row i orthogonally to them. The next row kept is the first one, in the user's
 * order, whose |w_i| reaches a part of the largest; the rank is reached when none exceeds the
 * tolerance. A part, not the whole: which of several dependent constraints counts as the redundant
 * one then follows their order instead of accidents of geometry, and the kept rows are still far
 * from the tolerance. With s_k the kept rows, s_k = sum_{p<=k} R_pk q_p, a dependent row is
 * s_i = sum_k c_k s_k,   R c = Q^T s_i   (least squares).
 *
 * Remainders are those of a QR of the transpose with threshold pivoting: a sparse QR that passes
 * over columns whose remainder is small gives the same decisions. */
#include "base/memory.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define AS_GOOD 0.3

/* Columns first .. last - 1: outside them a row is zero. */
typedef struct span {
    int first, last;
} span;

struct bg_rank {
    int m, n, rank;
    double *S;     /* m*n, scaled rows */
    double *W;     /* m*n, what remains of them */
    double *unit;  /* m, what row i was divided by */
    double *Q;     /* min(m,n)*n, orthonormal rows */
    double *R;     /* m*m, column k: coefficients of kept row k */
    double *c;     /* m, what may be kept of it; coefficients */
    double *left;  /* m, length of what remains */
    span *of_W;    /* m, where rows of S and W are not zero */
    span *of_Q;    /* m */
    int *kept;     /* m, rows in the order they were kept */
    bool *decided; /* m, row is kept, zero or not asked for */
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
        w->unit = BG_NEW_ARRAY(double, m);
        w->c = BG_NEW_ARRAY(double, m);
        w->left = BG_NEW_ARRAY(double, m);
        w->of_W = BG_NEW_ARRAY(span, m);
        w->of_Q = BG_NEW_ARRAY(span, m);
        w->kept = BG_NEW_ARRAY(int, m);
        w->decided = BG_NEW_ARRAY(bool, m);
        if (w->S && w->W && w->Q && w->R && w->unit && w->c && w->left && w->of_W && w->of_Q &&
            w->kept && w->decided)
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
    free(w->unit);
    free(w->Q);
    free(w->R);
    free(w->c);
    free(w->left);
    free(w->of_W);
    free(w->of_Q);
    free(w->kept);
    free(w->decided);
    free(w);
}

static double dot(const double *x, const double *y, span at)
{
    double sum = 0;
    for (int j = at.first; j < at.last; j++)
        sum += x[j] * y[j];
    return sum;
}

static span intersect(span a, span b)
{
    return (span){a.first > b.first ? a.first : b.first, a.last < b.last ? a.last : b.last};
}

static span unite(span a, span b)
{
    return (span){a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}

static span find_span(const double *x, int n)
{
    span at = {0, n};
    while (at.first < n && x[at.first] == 0)
        at.first++;
    while (at.last > at.first && x[at.last - 1] == 0)
        at.last--;
    return at;
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

/* S <- rows of A, dense, without fixed columns, in units of rows and columns. */
static void scale_rows(bg_rank *w, const bg_rank_question *x)
{
    double longest = 0;
    memset(w->S, 0, (size_t)w->m * (size_t)w->n * sizeof(double));
    for (int i = 0; i < w->m; i++) {
        double *s = row_of(w->S, i, w->n);
        if (x->pattern)
            for (int k = x->pattern->row_start[i]; k < x->pattern->row_start[i + 1]; k++)
                s[x->pattern->column[k]] = x->A[k];
        else
            memcpy(s, x->A + (size_t)i * (size_t)w->n, (size_t)w->n * sizeof(double));
        for (int j = 0; x->column_size && j < w->n; j++)
            s[j] *= x->column_size[j];
        longest = fmax(longest, calc_length(s, w->n));
        for (int j = 0; x->fixed && j < w->n; j++)
            if (x->fixed[j])
                s[j] = 0;
        w->unit[i] = x->row_size ? x->row_size[i] : calc_length(s, w->n);
    }
    for (int i = 0; i < w->m; i++) {
        double *s = row_of(w->S, i, w->n);
        bool zero = !x->row_size && w->unit[i] <= 1e3 * DBL_EPSILON * longest;
        w->decided[i] = zero || (x->order && x->order[i] < 0);
        for (int j = 0; j < w->n; j++)
            s[j] = zero ? 0 : s[j] / w->unit[i];
        w->of_W[i] = find_span(s, w->n);
        w->left[i] = calc_length(s, w->n);
    }
    memcpy(w->W, w->S, (size_t)w->m * (size_t)w->n * sizeof(double));
}

/* The next row to keep, or -1 when the rest depends on those kept. */
static int find_next(bg_rank *w, const bg_rank_question *x, double rounding)
{
    double largest = 0;
    for (int i = 0; i < w->m; i++) {
        double least = x->order && x->order[i] > 0 ? x->least : x->tolerance;
        w->c[i] = w->decided[i] ? 0 : w->left[i];
        if (w->c[i] <= fmax(least, rounding))
            w->c[i] = 0;
        largest = fmax(largest, w->c[i]);
    }
    int found = -1;
    for (int i = w->m - 1; i >= 0; i--) {
        bool good = w->c[i] > 0 && w->c[i] >= AS_GOOD * largest;
        bool preferred = x->order && x->order[i] > 0;
        if (good && (found < 0 || preferred || x->order == NULL || x->order[found] <= 0))
            found = i;
    }
    return found;
}

/* Q[rank] <- row i orthogonally to those before, in two passes: s_i = sum_p R_p,rank q_p. */
static void orthogonalise(bg_rank *w, int i)
{
    int n = w->n, r = w->rank;
    double *q = row_of(w->Q, r, n);
    span at = w->of_W[i];
    memcpy(q, row_of(w->S, i, n), (size_t)n * sizeof(double));
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < r; p++) {
            const double *q_p = row_of(w->Q, p, n);
            double h = dot(q_p, q, intersect(at, w->of_Q[p]));
            w->R[p * w->m + r] += h;
            for (int j = w->of_Q[p].first; h != 0 && j < w->of_Q[p].last; j++)
                q[j] -= h * q_p[j];
            at = h != 0 ? unite(at, w->of_Q[p]) : at;
        }
    double length = sqrt(dot(q, q, at));
    w->R[r * w->m + r] = length;
    for (int j = at.first; j < at.last; j++)
        q[j] /= length;
    w->of_Q[r] = at;
}

/* Keeps row i, and takes it out of the rest. */
static void keep_row(bg_rank *w, int i, const unsigned char *dependent)
{
    orthogonalise(w, i);
    const double *q = row_of(w->Q, w->rank, w->n);
    span at = w->of_Q[w->rank];
    w->kept[w->rank++] = i;
    w->decided[i] = true;
    for (int k = 0; k < w->m; k++) {
        double *w_k = row_of(w->W, k, w->n);
        double h = dependent[k] ? dot(q, w_k, intersect(at, w->of_W[k])) : 0;
        if (h == 0)
            continue;
        for (int j = at.first; j < at.last; j++)
            w_k[j] -= h * q[j];
        w->of_W[k] = unite(at, w->of_W[k]);
        w->left[k] = sqrt(dot(w_k, w_k, w->of_W[k]));
    }
}

/* c <- R^{-1} Q^T s_i */
static void calc_coefficients(bg_rank *w, int i)
{
    for (int p = w->rank - 1; p >= 0; p--) {
        double sum = dot(row_of(w->Q, p, w->n), row_of(w->S, i, w->n), w->of_Q[p]);
        for (int k = p + 1; k < w->rank; k++)
            sum -= w->R[p * w->m + k] * w->c[k];
        w->c[p] = sum / w->R[p * w->m + p];
    }
}

/* Coefficients of unit rows below the root of the tolerance are noise; so is what a row takes from
 * others when it is itself no longer than that. */
static void report_dependencies(bg_rank *w, double tolerance, const bg_rank_answer *y)
{
    double noticeable = sqrt(tolerance);
    for (int i = 0; i < w->m; i++) {
        if (!y->dependent[i])
            continue;
        double length = calc_length(row_of(w->S, i, w->n), w->n);
        y->involved[i] = 1;
        calc_coefficients(w, i);
        for (int p = 0; p < w->rank; p++) {
            int k = w->kept[p];
            double part = fabs(w->c[p]) * calc_length(row_of(w->S, k, w->n), w->n);
            if (part > noticeable * fmax(length, noticeable))
                y->involved[k] = 1;
            if (y->coefficient)
                y->coefficient[(size_t)i * (size_t)w->m + (size_t)k] = w->c[p] *
                                                                       (w->unit[i] / w->unit[k]);
        }
    }
}

int bg_rank_calc(bg_rank *w, const bg_rank_question *x, const bg_rank_answer *y)
{
    size_t m = (size_t)w->m;
    double rounding = 8 * DBL_EPSILON * (w->m + w->n);
    if (y->coefficient)
        memset(y->coefficient, 0, m * m * sizeof(double));
    memset(y->involved, 0, m);
    memset(y->dependent, 1, m);
    memset(w->R, 0, m * m * sizeof(double));
    w->rank = 0;
    scale_rows(w, x);
    int most = x->most > 0 && x->most < w->n ? x->most : w->n;
    for (int i; w->rank < most && (i = find_next(w, x, rounding)) >= 0;) {
        if (y->remainder)
            y->remainder[i] = w->c[i];
        y->dependent[i] = 0;
        keep_row(w, i, y->dependent);
    }
    for (int i = 0; y->remainder && i < w->m; i++)
        if (y->dependent[i])
            y->remainder[i] = w->left[i];
    report_dependencies(w, fmax(x->tolerance, rounding), y);
    return w->rank;
}
