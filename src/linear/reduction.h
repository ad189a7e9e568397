/* A without its zero eigenvalues, and eigenvectors back. */
#ifndef BG_REDUCTION_H
#define BG_REDUCTION_H

#include "bogie/status.h"

#include <stdbool.h>

enum { BG_REDUCTION_LEVELS = 8 };

/* One level: its null space N, and what it leaves. */
typedef struct bg_reduction_level {
    int size, rest; /* of A before and behind it */
    int *row;       /* [size] its rows r, then p */
    double *N;      /* [size - rest, size] columns of N, one after the other */
    double *A_pr;   /* [size - rest, rest] */
} bg_reduction_level;

typedef struct bg_reduction {
    int nx;
    double *A; /* [nx nx] by the caller, then what is left of it, in its beginning; owned */
    bg_reduction_level level[BG_REDUCTION_LEVELS];
    int levels;
} bg_reduction;

/* Takes zeros out of A as long as there are some; singular values below `tolerance` beside the
 * largest are zero. Clear it also after a failure. */
bg_status bg_reduction_take_zeros(bg_reduction *reduction, double tolerance, bg_error *err);
void bg_reduction_clear(bg_reduction *reduction);
/* The order of what is left. */
int bg_reduction_get_rest(const bg_reduction *reduction);
/* x [2 nx] <- the eigenvector of all states, with the eigenvalue re + i im, from one of the rest,
 * s [2 rest]; left: of A^T. scratch [2 nx]. */
void bg_reduction_extend(const bg_reduction *reduction, const double *s, double re, double im,
                         bool left, double *x, double *scratch);

#endif
