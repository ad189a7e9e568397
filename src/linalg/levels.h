/* Least squares in levels: of all x that are best for the levels before, each level leaves those
 * for which |A x - b| is least. What no level decides stays at zero. */
#ifndef BG_LEVELS_H
#define BG_LEVELS_H

#include "bogie/status.h"
#include "linalg/sparse_rows.h"

typedef struct bg_levels bg_levels;

/* n unknowns, of the sizes unit[n] (> 0): ranks are judged as if x_i / unit_i were the unknowns. */
bg_status bg_levels_create(int n, const double *unit, bg_levels **levels, bg_error *err);
void bg_levels_destroy(bg_levels *levels);
/* Starts anew, with every x allowed. */
void bg_levels_reset(bg_levels *levels);
/* A level in which more than this many directions depend on each other, and no sparse factorisation
 * serves, fails with BG_RETRY, since it needs their cube; 0, as at first: none does. */
void bg_levels_set_limit(bg_levels *levels, int largest);
/* The next level, A by rows, b[rows]. A direction in which all of A changes by less than tolerance
 * times size (0: that of its longest row) is not decided here. */
bg_status bg_levels_add_rows(bg_levels *levels, const bg_sparse_rows *A, const double *b,
                             double tolerance, double size, bg_error *err);
/* The same with A[m*n] by rows. */
bg_status bg_levels_add(bg_levels *levels, int m, const double *A, const double *b,
                        double tolerance, double size, bg_error *err);
/* The solution so far, [n], and how many directions are left to decide. */
const double *bg_levels_get_x(const bg_levels *levels);
int bg_levels_get_freedom(const bg_levels *levels);
/* Z[freedom * n] <- these directions, of x_i / unit_i: orthonormal, each [n], one after another.
 * BG_RETRY: they are more than the limit allows; or BG_NO_MEMORY. */
bg_status bg_levels_calc_directions(bg_levels *levels, double *Z);

#endif
