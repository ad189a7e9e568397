/* Inputs from outside that parts of a system follow without a constraint: what a jump of them does.
 */
#ifndef BG_DRIVEN_H
#define BG_DRIVEN_H

#include "system/dynamics.h"

/* x <- the state at p, whose inputs were u [nu] and u_t [nu] before, with those of p: velocities
 * jump with rates by M dv + M_u du_t = 0, and coordinates in the same way with the inputs
 * themselves: what is not driven stays where it is, as far as it can. x is at p; shift [nv] is
 * scratch memory. For systems that supply `jump`. */
bg_status bg_driven_jump(bg_evaluator *sys, bg_dynamics *d, const bg_point *p, const double *u,
                         const double *u_t, double *shift, bg_state *x, bg_error *err);

#endif
