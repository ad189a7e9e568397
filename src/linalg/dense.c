/* LU of a dense matrix with LAPACK. Row-major values of A are column-major values of A^T, so that
 * P A^T = L U is computed and A x = b is solved as the transposed system. */
#include "base/archive.h"
#include "base/memory.h"
#include "linalg/backend.h"
#include "linalg/lapack.h"

#include <stdlib.h>
#include <string.h>

typedef struct dense_lu {
    int n;
    double *lu; /* n*n column-major: L below the diagonal (unit), U on and above */
    int *pivot; /* n, of dgetrf */
    const bg_lapack *lapack;
} dense_lu;

static bg_status create(int n, const bg_pattern *pattern, void **self)
{
    (void)pattern;
    dense_lu *d = BG_NEW(dense_lu);
    *self = d;
    if (!d)
        return BG_NO_MEMORY;
    d->n = n;
    d->lu = BG_NEW_ARRAY(double, (size_t)n *(size_t)n);
    d->pivot = BG_NEW_ARRAY(int, n);
    return d->lu && d->pivot ? bg_lapack_load(&d->lapack, NULL) : BG_NO_MEMORY;
}

static void destroy(void *self)
{
    dense_lu *d = self;
    if (!d)
        return;
    free(d->lu);
    free(d->pivot);
    free(d);
}

/* Is u_kk zero or noise in the sense of backend.h? */
static bool is_lost(const dense_lu *d, int k)
{
    size_t n = (size_t)d->n, column = (size_t)k * n;
    double pivot = fabs(d->lu[column + (size_t)k]), sum = 0, terms = pivot;
    if (bg_pivot_is_unusable(pivot))
        return true;
    for (size_t j = 0; j < (size_t)k; j++)
        sum += fabs(d->lu[column + j]);
    if (pivot > BG_PIVOT_SUSPECT * sum)
        return false;
    for (size_t j = 0; j < (size_t)k; j++)
        terms += fabs(d->lu[(size_t)k + j * n] * d->lu[column + j]);
    return bg_pivot_is_noise(pivot, terms, d->n);
}

static bg_status factor(void *self, const double *values)
{
    dense_lu *d = self;
    int info;
    memcpy(d->lu, values, (size_t)d->n * (size_t)d->n * sizeof(double));
    d->lapack->dgetrf(&d->n, &d->n, d->lu, &d->n, d->pivot, &info);
    if (info != 0)
        return BG_SINGULAR;
    for (int k = 0; k < d->n; k++)
        if (is_lost(d, k))
            return BG_SINGULAR;
    return BG_OK;
}

static void apply(dense_lu *d, const char *trans, double *x)
{
    int one = 1, info;
    d->lapack->dgetrs(trans, &d->n, &one, d->lu, &d->n, d->pivot, x, &d->n, &info, 1);
}

static void solve(void *self, double *x)
{
    apply(self, "T", x);
}

static void solve_transposed(void *self, double *x)
{
    apply(self, "N", x);
}

static void archive_nothing(void *self, bg_archive *archive)
{
    (void)self;
    bg_archive_mark(archive, "dense");
}

static int get_sign(const void *self)
{
    const dense_lu *d = self;
    int sign = 1;
    for (int k = 0; k < d->n; k++) {
        double pivot = d->lu[(size_t)k * (size_t)d->n + (size_t)k];
        sign = (d->pivot[k] != k + 1) != (pivot < 0) ? -sign : sign; /* counted from 1 */
    }
    return sign;
}

const bg_linear_class bg_linear_dense = {create,          destroy,  factor, solve, solve_transposed,
                                         archive_nothing, get_sign, NULL,   NULL};
