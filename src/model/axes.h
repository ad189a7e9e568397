/* The axes along which constraint rows of joints are written: z along the joint's axis, x along
 * "second", as far as the file gives them; the rest follows from the mechanism and turns with it.
 */
#ifndef BG_AXES_H
#define BG_AXES_H

#include "bogie/status.h"
#include "model/model.h"

typedef struct bg_axes {
    const bg_model *model;
    double extent; /* m, of the places of joints and bodies */
    int *joint;    /* [nbodies] the first joint of the body that has an axis, of the ground: of all;
                      -1: none */
} bg_axes;

bg_status bg_axes_create(const bg_model *m, bg_axes *axes, bg_error *err);
void bg_axes_clear(bg_axes *axes);
/* Right-handed, in the world of the design position. */
bg_mat3 bg_axes_choose(const bg_axes *axes, int joint);

#endif
