/* P A = L U of a small dense matrix, row-major, with partial pivoting.
 *
 * For n up to about 32 the overhead of a library call exceeds the arithmetic, and the matrices
 * [M G^T; G 0] of mechanisms (n = 5 .. 20) are factored several times per step: this is the
 * innermost loop of the program. The elimination runs over rows, so that its inner loop is
 * contiguous, and leaves out zero multipliers, which the zero block of the saddle-point matrix and
 * sparse rows of G bring. Substitution takes four rows at a time: their four sums are independent
 * of each other and hide the latency of the additions. Reciprocals of the pivots are stored, so
 * that a solve does not divide. */
#include "base/archive.h"
#include "base/memory.h"
#include "linalg/backend.h"

#include <stdlib.h>
#include <string.h>

typedef struct small_lu {
    int n;
    int pivot[BG_SMALL_MAX];         /* row exchanged with row k in step k */
    double reciprocal[BG_SMALL_MAX]; /* 1 / u_kk */
    double lu[];                     /* [n*n] L below the diagonal (unit), U on and above */
} small_lu;

static bg_status create(int n, const bg_pattern *pattern, void **self)
{
    (void)pattern;
    small_lu *s = bg_calloc(1, sizeof(small_lu) + (size_t)(n * n) * sizeof(double));
    *self = s;
    if (!s)
        return BG_NO_MEMORY;
    s->n = n;
    return BG_OK;
}

/* The row of the largest |lu_ik|, i >= k; the first one of equals. */
static inline int find_pivot(const double *lu, int n, int k, double *largest)
{
    int p = k;
    double best = fabs(lu[k * n + k]);
    for (int i = k + 1; i < n; i++) {
        double candidate = fabs(lu[i * n + k]);
        if (candidate > best) {
            best = candidate;
            p = i;
        }
    }
    *largest = best;
    return p;
}

static inline void exchange(double *restrict a, double *restrict b, int n)
{
    for (int j = 0; j < n; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

/* s = |u_kk| + sum_{j<k} |l_kj u_jk| of backend.h. */
static double calc_terms(const double *lu, int n, int k)
{
    double s = fabs(lu[k * n + k]);
    for (int j = 0; j < k; j++)
        s += fabs(lu[k * n + j] * lu[j * n + k]);
    return s;
}

/* a_ij <- a_ij - l_ik u_kj for the rows below row k; l_ik replaces a_ik. */
static inline void eliminate(double *lu, int n, int k, double reciprocal)
{
    const double *restrict u = lu + k * n;
    for (int i = k + 1; i < n; i++) {
        double *restrict a = lu + i * n;
        double l = a[k];
        if (l == 0)
            continue;
        l *= reciprocal;
        a[k] = l;
        for (int j = k + 1; j < n; j++)
            a[j] -= l * u[j];
    }
}

static bg_status factor(void *self, const double *values)
{
    small_lu *s = self;
    int n = s->n;
    double *lu = s->lu;
    memcpy(lu, values, (size_t)(n * n) * sizeof(double));
    for (int k = 0; k < n; k++) {
        double largest;
        int p = find_pivot(lu, n, k, &largest);
        s->pivot[k] = p;
        if (p != k)
            exchange(lu + k * n, lu + p * n, n);
        if (bg_pivot_is_unusable(largest))
            return BG_SINGULAR;
        double above = 0; /* sum_{i<k} |u_ik| */
        for (int i = 0; i < k; i++)
            above += fabs(lu[i * n + k]);
        if (largest <= BG_PIVOT_SUSPECT * above &&
            bg_pivot_is_noise(largest, calc_terms(lu, n, k), n))
            return BG_SINGULAR;
        s->reciprocal[k] = 1 / lu[k * n + k];
        eliminate(lu, n, k, s->reciprocal[k]);
    }
    return BG_OK;
}

/* x <- L^{-1} x */
static inline void solve_lower(const double *lu, int n, double *restrict x)
{
    int i = 0;
    for (; i + 3 < n; i += 4) {
        const double *l0 = lu + i * n, *l1 = l0 + n, *l2 = l1 + n, *l3 = l2 + n;
        double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
        for (int j = 0; j < i; j++) {
            double y = x[j];
            x0 -= l0[j] * y;
            x1 -= l1[j] * y;
            x2 -= l2[j] * y;
            x3 -= l3[j] * y;
        }
        x[i] = x0;
        x[i + 1] = x1 -= l1[i] * x0;
        x[i + 2] = x2 = x2 - l2[i] * x0 - l2[i + 1] * x1;
        x[i + 3] = x3 - l3[i] * x0 - l3[i + 1] * x1 - l3[i + 2] * x2;
    }
    for (; i < n; i++) {
        double t = x[i];
        for (int j = 0; j < i; j++)
            t -= lu[i * n + j] * x[j];
        x[i] = t;
    }
}

/* x <- U^{-1} x, with d_k = 1 / u_kk */
static inline void solve_upper(const double *lu, const double *d, int n, double *restrict x)
{
    int i = n - 1;
    for (; i >= 3; i -= 4) {
        const double *u0 = lu + i * n, *u1 = u0 - n, *u2 = u1 - n, *u3 = u2 - n;
        double x0 = x[i], x1 = x[i - 1], x2 = x[i - 2], x3 = x[i - 3];
        for (int j = n - 1; j > i; j--) {
            double y = x[j];
            x0 -= u0[j] * y;
            x1 -= u1[j] * y;
            x2 -= u2[j] * y;
            x3 -= u3[j] * y;
        }
        x[i] = x0 *= d[i];
        x[i - 1] = x1 = (x1 - u1[i] * x0) * d[i - 1];
        x[i - 2] = x2 = (x2 - u2[i] * x0 - u2[i - 1] * x1) * d[i - 2];
        x[i - 3] = (x3 - u3[i] * x0 - u3[i - 1] * x1 - u3[i - 2] * x2) * d[i - 3];
    }
    for (; i >= 0; i--) {
        double t = x[i];
        for (int j = n - 1; j > i; j--)
            t -= lu[i * n + j] * x[j];
        x[i] = t * d[i];
    }
}

static void solve(void *self, double *x)
{
    small_lu *s = self;
    for (int k = 0; k < s->n; k++) { /* x <- P x */
        int p = s->pivot[k];
        double t = x[k];
        x[k] = x[p];
        x[p] = t;
    }
    solve_lower(s->lu, s->n, x);
    solve_upper(s->lu, s->reciprocal, s->n, x);
}

/* A^T = U^T L^T P */
static void solve_transposed(void *self, double *x)
{
    small_lu *s = self;
    int n = s->n;
    for (int i = 0; i < n; i++) {
        x[i] *= s->reciprocal[i];
        for (int j = i + 1; j < n; j++)
            x[j] -= s->lu[i * n + j] * x[i];
    }
    for (int i = n - 1; i > 0; i--)
        for (int j = 0; j < i; j++)
            x[j] -= s->lu[i * n + j] * x[i];
    for (int k = n - 1; k >= 0; k--) {
        int p = s->pivot[k];
        double t = x[k];
        x[k] = x[p];
        x[p] = t;
    }
}

static void archive_nothing(void *self, bg_archive *archive)
{
    (void)self;
    bg_archive_mark(archive, "dense");
}

static int get_sign(const void *self)
{
    const small_lu *s = self;
    int sign = 1;
    for (int k = 0; k < s->n; k++)
        sign = (s->pivot[k] != k) != (s->reciprocal[k] < 0) ? -sign : sign;
    return sign;
}

const bg_linear_class bg_linear_small = {create,          free,     factor, solve, solve_transposed,
                                         archive_nothing, get_sign, NULL,   NULL};
