/* Mass matrices that are none: with motions of negative kinetic energy. */
#ifndef BG_MASSES_H
#define BG_MASSES_H

#include "system/system.h"

enum { BG_MASSES_NO_MEMORY = -2 };

/* The coordinate along which M (in its pattern) is negative, with others following, and the mass
 * there; -1: none, or M has too many coordinates to look; BG_MASSES_NO_MEMORY. Allocates. */
int bg_masses_find_negative(const bg_system *system, const double *M, double *value);
/* Fails where there is one. */
bg_status bg_masses_check(const bg_system *system, double t, const double *M, bg_error *err);

/* mass[nv] <- the mean of the diagonal of M over the block of each coordinate: the same whatever
 * the axes. */
void bg_masses_calc_means(const bg_system *system, const double *M, double *mass);

#endif
