/* Sizes of bodies and of constraint rows, for v_size and g_size of a system. */
#ifndef BG_SIZES_H
#define BG_SIZES_H

#include "formalism/multibody.h"

/* size [nbodies], m: how far a body reaches from its centre of mass; 0 for the ground. */
void bg_sizes_calc_bodies(const bg_model *model, double *size);
/* size [mb->nrows]: of the body-level rows, in the units of g. */
void bg_sizes_calc_rows(const bg_multibody *mb, const double *body, double *size);
/* The largest distance from the origin of a body, beside the reach of the joint that closes a loop
 * there: for bg_system.calc_distance. */
double bg_sizes_calc_distance(const void *multibody);
/* m: half of the last digit of the places of a model as they are written; 0: none is given. */
double bg_sizes_calc_resolution(const bg_model *model);

#endif
