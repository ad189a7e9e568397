/* Least squares in levels: of all x that are best for the levels before, each level leaves those
 * for which |A x - b| is least. What no level decides stays at zero. */
#ifndef BG_LEVELS_H
#define BG_LEVELS_H

#include "bogie/status.h"

typedef struct bg_levels bg_levels;

/* n unknowns, of the sizes unit[n] (> 0): ranks are judged as if x_i / unit_i were the unknowns. */
bg_status bg_levels_create(int n, const double *unit, bg_levels **levels, bg_error *err);
void bg_levels_destroy(bg_levels *levels);
/* Starts anew, with every x allowed. */
void bg_levels_reset(bg_levels *levels);
/* The next level, A[m*n] by rows. A direction in which all of A changes by less than tolerance
 * times size (0: that of its longest row) is not decided here. */
bg_status bg_levels_add(bg_levels *levels, int m, const double *A, const double *b,
                        double tolerance, double size, bg_error *err);
/* The solution so far, [n], and how many directions are left to decide. */
const double *bg_levels_get_x(const bg_levels *levels);
int bg_levels_get_freedom(const bg_levels *levels);

#endif
