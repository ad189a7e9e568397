/* L U of a sparse matrix in an order that its maker knows to be good, without exchanges.
 *
 * Rows and columns are taken in the same order, so that all places of the factors are known from
 * the pattern, and a factorisation is nothing but its multiplications: where a matrix consists of
 * recursions (a row says what an unknown is by those before it, with 1 at its own), that order is
 * the one of the recursion, and no general ordering comes near it. Nothing protects it: after each
 * factorisation one solution with a fixed right-hand side tells its backward error. */
#ifndef BG_ORDERED_LU_H
#define BG_ORDERED_LU_H

#include "base/arena.h"
#include "bogie/system.h"

#include <stdbool.h>

typedef struct bg_ordered_lu {
    int n;
    const int *row_start, *column; /* of the matrix, the caller's: compressed rows */
    int *order;                    /* [n] row k of the factors is row order[k] of the matrix */
    int *to;                       /* [row_start[n]] column among those of the factors */
    int *start_L, *start_U;        /* [n+1] */
    int *column_L, *column_U;      /* columns of row k left and right of its diagonal, ascending */
    double *L, *U, *reciprocal;    /* values; [n] of the diagonal of U */
    int *changed, nchanged;        /* rows that have entries in L */
    int *needed, nneeded;          /* rows of U by which what is wanted follows */
    double *x;                     /* [n] a row at work, else 0 */
    double *b, *r, *y;             /* [n] scratch */
    const double *values;          /* of the matrix that was factored last, the caller's */
    bool refines;                  /* solutions need a step of iterative refinement */
    double operations;             /* multiplications of a factorisation */
    int nL, nU;                    /* entries of L and of U */
    bg_arena factors, arena;       /* L, U and their columns; all other arrays */
} bg_ordered_lu;

/* For a pattern and an order, copied, of n unknowns; wanted: [n] those whose solution is (NULL:
 * all). False: out of memory, or, as lu->operations then tells, a factorisation would take more
 * operations than `most`; release with clear also then. */
bool bg_ordered_lu_create(bg_ordered_lu *lu, int n, const int *row_start, const int *column,
                          const int *order, const unsigned char *wanted, double most);
void bg_ordered_lu_clear(bg_ordered_lu *lu);
/* Factors; the values have to stay as they are until the last solution. False: not safe. */
bool bg_ordered_lu_factor(bg_ordered_lu *lu, const double *values);
/* x <- A^-1 x, where what is not wanted is undefined, and x <- A^-T x, without refinement. */
void bg_ordered_lu_solve(bg_ordered_lu *lu, double *x);
/* The first for all unknowns, without refinement. */
void bg_ordered_lu_solve_whole(bg_ordered_lu *lu, double *x);
void bg_ordered_lu_solve_transposed(bg_ordered_lu *lu, double *x);
/* 1 or -1: of the determinant. */
int bg_ordered_lu_get_sign(const bg_ordered_lu *lu);

#endif
