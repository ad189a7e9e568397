/* LAPACK has matrices by columns: A by rows is A^T there, rows of vectors are its columns. */
#include "linalg/spectrum.h"

#include "base/memory.h"
#include "linalg/lapack.h"
#include "math/arrays.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bg_status tell(bg_status st, const char *what, bg_error *err)
{
    return st == BG_NO_MEMORY ? bg_error_set(err, st, "out of memory for %s", what)
                              : bg_error_set(err, st,
                                             "%s could not be found: the matrix is not "
                                             "finite, or the iteration does not converge",
                                             what);
}

/* LAPACK, for a matrix of finite entries. */
static bg_status prepare(int entries, const double *A, const char *what, const bg_lapack **lapack,
                         bg_error *err)
{
    if (!bg_is_finite(A, entries))
        return tell(BG_NOT_FINITE, what, err);
    return bg_lapack_load(lapack, err);
}

/* A copy by columns. */
static double *create_columns(int m, int n, const double *A)
{
    double *a = BG_NEW_ARRAY(double, (size_t)m *(size_t)n);
    for (int i = 0; a && i < m; i++)
        for (int j = 0; j < n; j++)
            a[j * m + i] = A[i * n + j];
    return a;
}

bg_status bg_spectrum_calc(int n, const double *A, double *re, double *im, double *left,
                           double *right, bg_error *err)
{
    const bg_lapack *lapack;
    int info = 0, size = 8 * n + 64;
    if (n == 0)
        return BG_OK;
    bg_status st = prepare(n * n, A, "eigenvalues", &lapack, err);
    if (st != BG_OK)
        return st;
    double *a = create_columns(n, n, A), *work = BG_NEW_ARRAY(double, size);
    if (a && work)
        lapack->dgeev(left ? "V" : "N", right ? "V" : "N", &n, a, &n, re, im, left ? left : a, &n,
                      right ? right : a, &n, work, &size, &info, 1, 1);
    else
        st = BG_NO_MEMORY;
    free(a);
    free(work);
    st = st == BG_OK && info != 0 ? BG_NOT_FINITE : st;
    return st == BG_OK ? BG_OK : tell(st, "eigenvalues", err);
}

bg_status bg_svd_calc(int m, int n, const double *A, double *s, double *Ut, double *Vt,
                      bg_error *err)
{
    const bg_lapack *lapack;
    int info = 0, size = 8 * (m + n) + 64;
    if (m == 0 || n == 0) {
        for (int i = 0; i < n; i++)
            Vt[i * n + i] = 1;
        return BG_OK;
    }
    bg_status st = prepare(m * n, A, "singular values", &lapack, err);
    if (st != BG_OK)
        return st;
    double *a = create_columns(m, n, A), *work = BG_NEW_ARRAY(double, size);
    double *vt = BG_NEW_ARRAY(double, (size_t)n *(size_t)n);
    if (a && work && vt)
        lapack->dgesvd(Ut ? "A" : "N", "A", &m, &n, a, &m, s, Ut ? Ut : a, &m, vt, &n, work, &size,
                       &info, 1, 1);
    else
        st = BG_NO_MEMORY;
    for (int i = 0; vt && i < n; i++)
        for (int j = 0; j < n; j++)
            Vt[i * n + j] = vt[j * n + i];
    free(a);
    free(work);
    free(vt);
    st = st == BG_OK && info != 0 ? BG_NOT_FINITE : st;
    return st == BG_OK ? BG_OK : tell(st, "singular values", err);
}

bg_status bg_symmetric_spectrum_calc(int n, const double *A, double *w, double *E, bg_error *err)
{
    const bg_lapack *lapack;
    int info = 0, size = 8 * n + 64;
    if (n == 0)
        return BG_OK;
    bg_status st = prepare(n * n, A, "eigenvalues", &lapack, err);
    if (st != BG_OK)
        return st;
    double *work = BG_NEW_ARRAY(double, size);
    if (!work)
        return tell(BG_NO_MEMORY, "eigenvalues", err);
    for (int k = 0; k < n * n; k++)
        E[k] = A[k];
    lapack->dsyev("V", "U", &n, E, &n, w, work, &size, &info, 1, 1); /* upper there, lower here */
    free(work);
    return info == 0 ? BG_OK : tell(BG_NOT_FINITE, "eigenvalues", err);
}
