/* Eigenvalues and singular values of dense matrices, by rows, with LAPACK. Allocates. */
#ifndef BG_SPECTRUM_H
#define BG_SPECTRUM_H

#include "bogie/status.h"

/* A [n n]: eigenvalues re + i im [n], pairs next to each other, the one with im > 0 first. Row k of
 * right [n n] is the eigenvector of a real one; rows k and k + 1 are real and imaginary part of
 * that of the first of a pair. left likewise, l^H A = lambda l^H. Both may be NULL. */
bg_status bg_spectrum_calc(int n, const double *A, double *re, double *im, double *left,
                           double *right, bg_error *err);
/* A [m n] = U diag(s) V^T: s [min(m,n)] descending; rows of U^T [m m] and of V^T [n n] are the
 * singular vectors. Ut may be NULL. */
bg_status bg_svd_calc(int m, int n, const double *A, double *s, double *Ut, double *Vt,
                      bg_error *err);
/* The symmetric A [n n], of which the lower part is looked at: w [n] ascending; row k of E [n n] is
 * the eigenvector of w[k]. */
bg_status bg_symmetric_spectrum_calc(int n, const double *A, double *w, double *E, bg_error *err);

#endif
