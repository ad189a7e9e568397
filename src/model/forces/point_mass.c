/* point-mass: a mass at a point of a body. It is listed among the forces but is no element: it is
 * read with the bodies and is part of their inertia (read_point_masses.c). */
#include "model/force.h"

extern const bg_force_class bg_force_point_mass;
const bg_force_class bg_force_point_mass = {
    .name = "point-mass",
    .summary = "mass at a point of a body, added to the body's mass and inertia",
};
