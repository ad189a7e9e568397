/* What the author of a model should look at again. */
#ifndef BG_REVIEW_H
#define BG_REVIEW_H

#include "model/mechanism.h"

/* m, the largest edge of the box around all centres of mass and joints as designed; 1 where they
 * are all in one point. */
double bg_model_calc_size(const bg_model *model);
/* Where the bodies are, as designed, if that is farther from the origin than ten times their size;
 * else the origin. It does not depend on their order. */
bg_vec3 bg_model_find_middle(const bg_model *model);
/* kg, of all bodies. */
double bg_model_calc_mass(const bg_model *model);
/* The energy, J, that lifts the whole model by its size. */
double bg_model_calc_lift(const bg_model *model);
/* The potential energy, J, of the whole weight in the middle of the bodies as designed. */
double bg_model_calc_raised(const bg_model *model);

/* Adds what the reader noticed, what only the tree of joints shows, and what does not look
 * plausible. */
void bg_model_review(const bg_model *model, const bg_mechanism *mechanism, bg_warnings *warnings);

#endif
