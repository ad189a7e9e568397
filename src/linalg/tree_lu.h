/* L D U of a matrix along its elimination tree, without exchanges: for saddle-point matrices.
 *
 * [M G^T; G -E] with M positive and E not negative needs no exchange of rows when its velocities
 * are eliminated before its constraints: the pivots of the first are those of M, all positive, what
 * is left for the second is -(E + G M^-1 G^T), all of whose pivots are negative. This is the
 * factorisation of M and of the small G M^-1 G^T in one sweep. With velocities taken from the tips
 * of a tree of bodies to its root, M = L D L^T has no entries that M has not (Featherstone 2008,
 * section 6.3).
 *
 * Row k of the factors lies along the path of k to the root of the elimination tree (Liu 1990), as
 * far as it can have entries. The path of an ancestor is the end of the path of k, so what k takes
 * from the row of an ancestor is one contiguous difference, whatever the pattern: a full matrix is
 * a tree without branches.
 *
 * Nothing protects a factorisation without exchanges but its pivots themselves, which are looked
 * at: see bg_tree_lu_factor. */
#ifndef BG_TREE_LU_H
#define BG_TREE_LU_H

#include "bogie/system.h"

#include <stdbool.h>

typedef struct bg_tree_lu {
    int n, positive;      /* unknowns; the first so many rows want positive pivots */
    int count;            /* slots: all rows along their paths */
    int *place;           /* [n] unknown i is row place[i] */
    int *height;          /* [n] of a row: how many rows its way to the root has after it */
    int *start;           /* [n+1] slots of row k, the first is its diagonal */
    int *path, *target;   /* [count] the row of a slot's column, and where that row starts */
    double *half, *whole; /* [count], [2 count] values: half of a symmetric matrix; of any */
    double *lu;           /* [2 count] factors, like half or like whole */
    double *reciprocal;   /* [n] of the pivots */
    double *base, *size;  /* [n] diagonal before its group is eliminated; what was taken off it */
    int *zero, *one;      /* [count], [n] slots of held unknowns: beside and on the diagonal */
    int nzero, none;
    bool symmetric;    /* of the last factorisation */
    double operations; /* multiplications of a factorisation with two different halves */
} bg_tree_lu;

/* For a symmetric pattern (compressed rows) with a full diagonal; unknowns i with sign[i] > 0 come
 * before those with sign[i] < 0. Without slots (count 0) where it would take more operations than
 * `most`. False: out of memory; release with clear also then. */
bool bg_tree_lu_create(bg_tree_lu *lu, int n, const int *row_start, const int *column,
                       const signed char *sign, double most);
void bg_tree_lu_clear(bg_tree_lu *lu);

/* Where entry (i, j) of the pattern lies in `whole`. In `half`, it is half of that, rounded down;
 * there, only entries with even places are stored. */
int bg_tree_lu_find(const bg_tree_lu *lu, int i, int j);

/* Unknowns whose row and column are those of the unit matrix from now on (n flags). Clears values,
 * because the caller does not write places that were held before. */
void bg_tree_lu_hold(bg_tree_lu *lu, const bool *held);

/* Factors `half` or `whole`, which stay as they are. False: not safe, another method has to do it:
 * a pivot has the wrong sign, or elimination has left less of it than a share of 1e-10 (velocities,
 * where that much is lost in M itself) or 1e-3 (constraints, where it is the square of what is lost
 * in G), or, in a matrix that is not symmetric, more has gone through it than 16 times itself. */
bool bg_tree_lu_factor(bg_tree_lu *lu, bool symmetric);

/* x <- A^-1 x and x <- A^-T x in the order of rows: unknown i is x[place[i]]. */
void bg_tree_lu_solve(const bg_tree_lu *lu, double *x);
void bg_tree_lu_solve_transposed(const bg_tree_lu *lu, double *x);

/* |A|_1 of what was factored last; sum: n to work in. */
double bg_tree_lu_calc_norm(const bg_tree_lu *lu, double *sum);

/* tree_order.c: place, height, start, path and target. */
bool bg_tree_lu_order(bg_tree_lu *lu, const int *row_start, const int *column,
                      const signed char *sign, double most);

#endif
