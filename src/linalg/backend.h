/* What a backend of bg_linear supplies, and the one meaning of "numerically singular" they share.
 *
 * A pivot u_kk of P A Q = L U is what is left of a sum: u_kk = a_kk - sum_{j<k} l_kj u_jk. Rounding
 * alone leaves about eps * s with s = |u_kk| + sum_{j<k} |l_kj u_jk|, so a pivot not larger than
 * that is noise and the matrix is indistinguishable from a singular one. The ratio |u_kk| / s does
 * not change when rows or columns are scaled (for the same order of pivots): masses of 1e-7 beside
 * constraint gradients of 1e-2 are as good as ones of order 1. Because |l_kj| <= 1 (or <= 10 with
 * threshold pivoting), s is needed only where |u_kk| is far below the column sum of |U|. Noise that
 * ill-conditioned earlier rows have amplified may pass; the condition estimate shows it. */
#ifndef BG_LINALG_BACKEND_H
#define BG_LINALG_BACKEND_H

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Below this fraction of the column's sum a pivot deserves a closer look. */
#define BG_PIVOT_SUSPECT 1e-10

/* Is a pivot of an n x n matrix nothing but the rounding of terms whose moduli sum to s? */
static inline bool bg_pivot_is_noise(double pivot, double s, int n)
{
    return !(fabs(pivot) > 8 * DBL_EPSILON * (4 + n) * s);
}

/* A pivot that cannot be divided by: zero, subnormal or not finite. */
static inline bool bg_pivot_is_unusable(double pivot)
{
    return !(fabs(pivot) >= DBL_MIN && fabs(pivot) <= DBL_MAX);
}

/* A backend works on values it does not own: n*n row-major, or in the order of its pattern. */
typedef struct bg_linear_class {
    bg_status (*create)(int n, const bg_pattern *pattern, void **self);
    void (*destroy)(void *self); /* self may be NULL or half made */
    bg_status (*factor)(void *self, const double *values);
    void (*solve)(void *self, double *x);            /* x <- A^{-1} x */
    void (*solve_transposed)(void *self, double *x); /* x <- A^{-T} x */
    void (*archive)(void *self, bg_archive *archive);
    int (*get_sign)(const void *self); /* of the determinant of what was factored: 1 or -1 */
    void (*get_work)(const void *self, bg_matrix_work *work); /* NULL: that of a full LU */
    void (*reset)(void *self); /* forgets what earlier factorisations left; may be NULL */
} bg_linear_class;

/* About |A^{-1}|_1 of what was factored, hardly ever less than a third of it; x[n] and sign[n] are
 * scratch. */
double bg_condition_estimate(const bg_linear_class *class, void *self, int n, double *x, int *sign);

enum { BG_SMALL_MAX = 32 };
extern const bg_linear_class bg_linear_small;  /* dense, n <= BG_SMALL_MAX, own code */
extern const bg_linear_class bg_linear_dense;  /* dense, LAPACK */
extern const bg_linear_class bg_linear_sparse; /* own code */

#endif
