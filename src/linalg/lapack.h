/* The Fortran LAPACK routines in use. Matrices are column-major; the trailing lengths belong to the
 * character arguments. */
#ifndef BG_LAPACK_H
#define BG_LAPACK_H

#include <stddef.h>

/* P A = L U with partial pivoting. */
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
/* Solves with the factors of dgetrf: trans 'N' A x = b, 'T' A^T x = b. */
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t trans_length);
/* One turn of Higham's estimator of a 1-norm: kase 1 asks for x <- B x, 2 for x <- B^T x, 0 ends.
 */
void dlacn2_(const int *n, double *v, double *x, int *isgn, double *est, int *kase, int *isave);

#endif
