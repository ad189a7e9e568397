/* A linearised system on disk. */
#ifndef BG_RESULTS_LINEAR_H
#define BG_RESULTS_LINEAR_H

#include "bogie/status.h"

/* What a state, input or output is called, its unit ("" not known), and what it is where the system
 * was linearised. */
typedef struct bg_linear_signal {
    char name[96];
    const char *unit;
    double value;
} bg_linear_signal;

/* x' = A x + B u, y = C x + D u: changes from the values of the signals. */
typedef struct bg_linear_matrices {
    const char *model, *where;
    double t; /* s */
    int nx, nu, ny;
    bg_linear_signal *x, *u, *y; /* [nx], [nu], [ny] */
    double *A, *B, *C, *D;       /* by rows */
} bg_linear_matrices;

/* FILE.json (or "-", stdout), FILE.csv, FILE.mat or FILE.h5. docs/modes.md has the layouts. */
bg_status bg_linear_check_place(const char *path, bg_error *err);
bg_status bg_linear_write(const bg_linear_matrices *matrices, const char *path, bg_error *err);

#endif
