/* Projection onto the constraints in the mass metric (003 section 4.1). */
#ifndef BG_PROJECTION_H
#define BG_PROJECTION_H

#include "linalg/newton.h"
#include "system/dynamics.h"

enum { BG_PROJECTION_MAX = 12 }; /* iterations */

/* Position projection with the factorisation at hand (chord): moves q (in place) onto g = 0.
 * first, if not NULL, receives the first increment (nv). Inside: about 2 evaluations of g.
 * BG_RETRY: did not converge; q is then of no use. */
bg_status bg_project_position(bg_dynamics *dynamics, double t, double *q, const double *v,
                              const double *z, const int *mode, double *first, bg_error *err);

/* The same with the first increment alone, whatever it leaves of g. */
bg_status bg_project_position_once(bg_dynamics *dynamics, double t, double *q, const double *v,
                                   const double *z, const int *mode, double *first, bg_error *err);

/* How iterations onto g = 0 are judged; least: what may be left of an increment. */
bg_newton bg_project_begin(double least);
/* The largest increment beside the size of its coordinate, or, far from the origin, beside what
 * rounding leaves of that; NAN if one is not a number. */
double bg_project_calc_size(const bg_dynamics *dynamics, const double *delta, const double *q);
/* How many times larger than near the origin such increments are that come from the rounding of
 * places alone, at the point evaluated last. */
double bg_project_calc_coarseness(const bg_dynamics *dynamics);
/* What rounding of places leaves of g beside the size of a row, at the point evaluated last. */
double bg_project_calc_last_place(const bg_dynamics *dynamics);
/* Whether g, at hand, is rounding in the rows that are kept: near a singular position increments
 * may be far larger, and nothing is left to gain all the same. */
bool bg_project_is_met(const bg_dynamics *dynamics);

/* Velocity projection with M, G, g_t and the factorisation at hand: v (in place) onto G v + g_t =
 * 0. */
void bg_project_velocity(bg_dynamics *dynamics, double *v);
/* At q on the constraints: terms and factorisation there, v (in place) onto theirs, and
 * accelerations a [nv], lambda and terms.h with it. */
bg_status bg_project_rates(bg_dynamics *dynamics, bg_state *state, double *a, bg_error *err);
/* BG_RETRY, and that a projection does not converge. */
bg_status bg_project_refuse(const bg_dynamics *dynamics, double t, bg_error *err);

/* Everything at once: q, v, a, lambda and rates of z of a state near the constraints. */
bg_status bg_project_state(bg_dynamics *dynamics, bg_state *state, bg_error *err);

#endif
