/* The Fortran LAPACK routines in use, of a library that is loaded when a matrix needs it. Matrices
 * are column-major; the trailing lengths belong to the character arguments. */
#ifndef BG_LAPACK_H
#define BG_LAPACK_H

#include "bogie/status.h"

#include <stddef.h>

typedef struct bg_lapack {
    /* P A = L U with partial pivoting. */
    void (*dgetrf)(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
    /* Solves with the factors of dgetrf: trans 'N' A x = b, 'T' A^T x = b. */
    void (*dgetrs)(const char *trans, const int *n, const int *nrhs, const double *a,
                   const int *lda, const int *pivot, double *b, const int *ldb, int *info,
                   size_t trans_length);
    /* Eigenvalues of any matrix, with left and right eigenvectors where 'V'. */
    void (*dgeev)(const char *left, const char *right, const int *n, double *a, const int *lda,
                  double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
                  double *work, const int *lwork, int *info, size_t left_length,
                  size_t right_length);
    /* A = U S V^T, all of U and of V^T where 'A'. */
    void (*dgesvd)(const char *u_job, const char *vt_job, const int *m, const int *n, double *a,
                   const int *lda, double *s, double *u, const int *ldu, double *vt,
                   const int *ldvt, double *work, const int *lwork, int *info, size_t u_length,
                   size_t vt_length);
    /* Eigenvalues, ascending, and eigenvectors of a symmetric matrix. */
    void (*dsyev)(const char *job, const char *part, const int *n, double *a, const int *lda,
                  double *w, double *work, const int *lwork, int *info, size_t job_length,
                  size_t part_length);
    /* "OpenBLAS 0.3.21 ... SkylakeX MAX_THREADS=64": version and kernels. */
    char *(*openblas_get_config)(void);
} bg_lapack;

/* Allocates when it is the first to ask. */
bg_status bg_lapack_load(const bg_lapack **lapack, bg_error *err);

#endif
