/* Rows with few entries each, appended one by one; their memory grows. */
#ifndef BG_SPARSE_ROWS_H
#define BG_SPARSE_ROWS_H

#include <stdbool.h>

typedef struct bg_sparse_rows {
    int count;      /* rows */
    int *start;     /* [count + 1] where the entries of each begin; NULL before the first */
    int *column;    /* [start[count]] in any order; one that comes twice counts as the sum */
    double *value;  /* [start[count]] */
    int rows, room; /* rows and entries there is memory for */
    bool failed;    /* out of memory since clear; something is missing */
} bg_sparse_rows;

void bg_sparse_rows_clear(bg_sparse_rows *rows);
/* Forgets the rows, not the memory. */
void bg_sparse_rows_reset(bg_sparse_rows *rows);
/* Begins a row, or adds an entry to the last one. */
void bg_sparse_rows_begin(bg_sparse_rows *rows);
void bg_sparse_rows_add(bg_sparse_rows *rows, int column, double value);
/* Row `to` <- row `from` >= to, and it is the last one filled; rows are then cut off by
 * bg_sparse_rows_cut. */
void bg_sparse_rows_move(bg_sparse_rows *rows, int from, int to);
void bg_sparse_rows_cut(bg_sparse_rows *rows, int count);
/* The row times x. */
double bg_sparse_rows_multiply(const bg_sparse_rows *rows, int i, const double *x);

#endif
