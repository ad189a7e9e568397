/* Which rows of a large sparse matrix are independent beyond doubt.
 *
 * With S the rows in their units, S S^T = L D L^T row by row: pivot d_k is the square of what the
 * rows eliminated before leave of row k. Where that is large, the row is independent of them, and
 * S S^T, though its condition is that of S squared, is precise enough to say so. The others are in
 * doubt: they are taken out (1/d_k = 0), and the rows beyond doubt that they may depend on are
 * those with L D L^T c = S s_i, which is solved only as far as c differs from zero. Columns in
 * which very many rows meet would fill S S^T; they are left out, which makes remainders smaller,
 * never larger. */
#ifndef BG_INDEPENDENCE_H
#define BG_INDEPENDENCE_H

#include "base/arena.h"
#include "bogie/system.h"

#include <stdbool.h>

typedef struct bg_independence {
    int m;
    const bg_pattern *pattern; /* of S, the caller's, */
    const double *S;           /* as its values, those of the last factorisation */
    int *column_start;         /* [n+1] entries of S by columns; 0 of those left out, ... */
    int *row, *entry;          /* ... their rows and their places among the values of S */
    int *order, *place;        /* [m] the k-th row eliminated is order[k]; place[order[k]] = k */
    int *start;                /* [m+1] rows of L below the diagonal, */
    int *column;               /* their columns */
    double *value;             /* and values */
    int *column_top;           /* [m+1] columns of L, */
    int *below, *where;        /* their rows, and the places of their values */
    int *used;                 /* [m] how many of a column are known */
    double *pivot;             /* [m] by place; infinite: in doubt */
    double *x;                 /* [m] scratch, all zero between calls */
    int *parent, *mark, *list; /* [m] elimination tree; scratch */
    bool *waiting;             /* [m] scratch, all false between calls */
    bg_arena factor, arena;    /* column, value, below, where of L; all other arrays */
} bg_independence;

/* For matrices of this pattern, which must stay where it is; false: out of memory. Release with
 * clear also then. */
bool bg_independence_create(bg_independence *s, const bg_pattern *pattern);
void bg_independence_clear(bg_independence *s);

/* From the values of S: remainder[i] what rows before leave of row i, doubtful[i] where that is at
 * most `doubt`, or where `out` says so beforehand. */
void bg_independence_calc(bg_independence *s, const double *S, const bool *out, double doubt,
                          bool *doubtful, double *remainder);
/* The rows beyond doubt that a doubtful one may depend on, wherever they are, while S lasts;
 * returns how many, at `rows`, which lasts until the next call. */
int bg_independence_find(bg_independence *s, int i, const int **rows);

#endif
