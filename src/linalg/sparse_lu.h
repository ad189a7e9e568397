/* LU of a sparse matrix in memory that is made once, whatever pivots its values ask for. */
#ifndef BG_SPARSE_LU_H
#define BG_SPARSE_LU_H

#include "base/arena.h"
#include "linalg/linalg.h"

#include <stdbool.h>

typedef struct bg_sparse_lu {
    int n;
    const int *start, *index; /* B in compressed columns, the caller's: n+1 and start[n] */
    int *order;               /* [n] column k of the factors is column order[k] of B */
    int *place;               /* [n] row i of B is row place[i] of the factors; -1: not yet */
    double *scale;            /* [n] largest modulus in row i of B */
    long capacity_L, capacity_U;
    int *start_L, *row_L; /* [n+1], [capacity_L] columns of L below its unit diagonal */
    double *value_L;      /* [capacity_L] */
    int *start_U, *row_U; /* [n+1], [capacity_U] columns of U above its diagonal, in an order */
    double *value_U;      /* [capacity_U] in which they can be eliminated */
    double *pivot;        /* [n] diagonal of U */
    double *x;            /* [n] one column at work, else 0 */
    int parity;           /* 1 or -1: of place and order together */
    double operations;    /* multiplications and subtractions of a factorisation, at most */
    int *stack, *next, *mark, *found; /* [n] each: search for the pattern of a column */
    bg_arena arena;                   /* all arrays but the order */
} bg_sparse_lu;

/* For matrices B of n columns with a pattern that stays where it is; false: out of memory. Release
 * with clear also then. */
bool bg_sparse_lu_create(bg_sparse_lu *lu, int n, const int *start, const int *index);
void bg_sparse_lu_clear(bg_sparse_lu *lu);

/* Factors B with new pivots: in every column the diagonal entry where it reaches `tolerance` times
 * the largest, else the largest. False: a column had none that can be divided by. */
bool bg_sparse_lu_choose(bg_sparse_lu *lu, const double *values, double tolerance);
/* Factors B with the pivots of the last choice. False: one of them cannot be divided by. */
bool bg_sparse_lu_repeat(bg_sparse_lu *lu, const double *values);
/* x <- B^-1 x and x <- B^-T x, with one array of n to work in. */
void bg_sparse_lu_solve(const bg_sparse_lu *lu, double *x, double *work);
void bg_sparse_lu_solve_transposed(const bg_sparse_lu *lu, double *x, double *work);
/* The smallest pivot over the largest, in moduli. */
double bg_sparse_lu_calc_ratio(const bg_sparse_lu *lu);

#endif
