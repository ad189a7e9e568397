/* All solutions of many sparse equations with few free directions. */
#ifndef BG_NULLSPACE_H
#define BG_NULLSPACE_H

#include "bogie/status.h"
#include "linalg/sparse_rows.h"

typedef struct bg_nullspace {
    int n, freedom;
    double *x; /* [n] the shortest solution of B x = r */
    double *N; /* [n * freedom] by columns, orthonormal, B N = 0 */
} bg_nullspace;

/* For B of n columns. Rows of which other rows leave no more than `least` are dependent, and must
 * be met with these. BG_RETRY: in doubt, about the rank, whether B x = r has a solution, or
 * precision; then there is nothing to clear. */
bg_status bg_nullspace_calc(const bg_sparse_rows *B, const double *r, int n, double least,
                            bg_nullspace *out);
void bg_nullspace_clear(bg_nullspace *out);

#endif
