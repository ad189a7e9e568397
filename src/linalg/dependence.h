/* Which of a few rows depend on the others: the careful decision, dense.
 *
 * The rows are orthogonalised by modified Gram-Schmidt: after r rows were kept, w_i is what remains
 * of row i orthogonally to them. The next row kept is the first one, in order, whose |w_i| reaches
 * a part of the largest; the rank is reached when none exceeds the tolerance. A part, not the
 * whole: which of several dependent rows counts as the redundant one then follows their order
 * instead of accidents of geometry, and the kept rows are still far from the tolerance. With s_k
 * the kept rows, s_k = sum_{p<=k} R_pk q_p, a dependent row is s_i = sum_k c_k s_k,   R c = Q^T s_i
 * (least squares). */
#ifndef BG_DEPENDENCE_H
#define BG_DEPENDENCE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Columns first .. last - 1: outside them a row is zero. */
typedef struct bg_column_range {
    int first, last;
} bg_column_range;

typedef struct bg_dependence {
    int m, n, rank;
    size_t rows, entries, squares; /* memory there is: for m, m n, m m */
    bool settled;                  /* and there will be no more */
    double *S;                     /* [m n] the rows, filled in by the caller */
    double *W;                     /* [m n] what remains of them */
    double *Q;                     /* [m n] orthonormal rows */
    double *R;                     /* [m m] column k: coefficients of kept row k */
    double *c;    /* [m] what may be kept of it; coefficients of kept rows, in their order */
    double *left; /* [m] length of what remains */
    bg_column_range *of_W, *of_Q; /* [m] where rows of S and W, of Q are not zero */
    int *kept;                    /* [m] rows in the order they were kept */
    bool *decided;                /* [m] row is kept, or not asked for */
    signed char *order; /* [m] -1: never kept; 1: kept down to `least`, and rather than others
                           that are nearly as good; filled in by the caller */
    double *remainder;  /* [m] what other rows left of it: of a kept one when it was chosen, of
                           others in the end */
    bool *dependent;    /* [m] not kept */
    bg_arena arena;     /* all arrays */
} bg_dependence;

/* Makes room for m rows of n columns, all zero, all orders 0. False: out of memory, or more than
 * was reserved, and the room is what it was. */
bool bg_dependence_begin(bg_dependence *d, int m, int n);
/* Memory for so many rows, entries and squares of the number of rows, and from now on no more;
 * false: out of memory. */
bool bg_dependence_settle(bg_dependence *d, size_t rows, size_t entries, size_t squares);
void bg_dependence_clear(bg_dependence *d);
double *bg_dependence_get_row(bg_dependence *d, int i);
/* The length of a row, safe for entries whose squares leave the range. */
double bg_dependence_calc_length(const double *x, int n);

/* Keeps at most `most` rows of which more than the tolerance (the least) remains. */
void bg_dependence_decide(bg_dependence *d, int most, double tolerance, double least);
/* The same from the products of rows, S S^T, by Cholesky's method with pivots, in a fraction of the
 * time, without R; remainders of rows that are not kept are known to 1e-8 of their length, those of
 * rows with order -1 not at all. False: some row that would be kept is not far from dependent,
 * where products lose too many digits; nothing is decided. */
bool bg_dependence_decide_quickly(bg_dependence *d, int most);
/* Of rows kept by either: what all others that are kept leave of each, whatever their order. */
void bg_dependence_calc_others(bg_dependence *d, bool quickly, double *others);
/* c <- the coefficients of row i over the kept rows. */
void bg_dependence_calc_coefficients(bg_dependence *d, int i);

#endif
