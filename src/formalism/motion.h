/* A motion of a model in words. */
#ifndef BG_MOTION_H
#define BG_MOTION_H

#include "bogie/integrator.h"

/* "wheel turns about y", "cart moves along (0.60, 0.80, 0.00) and turns about z; 3 more bodies
 * move": the body that velocities v [nv] at a state move most, in world axes. The system is one of
 * a model, in either form. */
void bg_motion_describe(bg_evaluator *sys, const bg_state *state, const double *v, char *text,
                        size_t size);

#endif
