/* A system in two parts for methods of two rates: whether it has them, and its fast part alone.
 *
 * Velocities, states z and constraints belong to the slow or to the fast part (v_part, z_part and
 * g_part of the definition). No mass and no constraint may couple the parts; forces may. Then M is
 * block diagonal, and
 *     [M_ff G_ff^T; G_ff 0] (v_f', lambda_f) = (f_f, -gamma_f)
 * gives the accelerations of the fast part without anything of the slow one but its positions and
 * velocities. */
#ifndef BG_TWO_RATES_H
#define BG_TWO_RATES_H

#include "base/archive.h"
#include "system/dynamics.h"

typedef struct bg_two_rates bg_two_rates;

/* Whether the definition tells parts apart at all. */
bool bg_two_rates_are_marked(const bg_system_def *def);
/* The parts of dyn's system. BG_BAD_INPUT, with what is to be changed: one of them is empty, or a
 * mass or a constraint couples them. What couples is looked for in the pattern of G, or in its
 * values where there is none, and in the values of M, at two states near the start. */
bg_status bg_two_rates_create(bg_dynamics *dyn, bg_two_rates **two, bg_error *err);
void bg_two_rates_destroy(bg_two_rates *two);

/* q' = V v of all positions, v' and z' of the fast part into rate [nq + nv + nz], whose other
 * entries are left alone. */
bg_status bg_two_rates_calc_fast(bg_two_rates *two, double t, const double *q, const double *v,
                                 const double *z, const int *mode, double *rate, bg_error *err);
/* Work of one such call. */
void bg_two_rates_plan(const bg_two_rates *two, int *terms, int *explicit_, int *factorisations);
/* How many velocities, and how many constraints, are fast. */
int bg_two_rates_count_fast(const bg_two_rates *two, int *rows);
/* Rows of dyn that are left out may have changed. */
void bg_two_rates_update(bg_two_rates *two);
void bg_two_rates_archive(bg_two_rates *two, bg_archive *archive);

/* BG_PART_* of an entry, where NULL is all slow. */
static inline unsigned bg_part_get(const unsigned char *part, int i)
{
    return part ? part[i] : (unsigned)BG_PART_SLOW;
}

#endif
