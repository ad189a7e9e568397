/* spherical: all rotations about a point (ball). */
#include "model/joint.h"

extern const bg_joint_class bg_joint_spherical;
const bg_joint_class bg_joint_spherical = {
    .name = "spherical",
    .summary = "all rotations about a point (ball)",
    .nlinks = 1,
    .link = {{BG_LINK_BALL, 0}},
    .nprimitives = 1,
    .primitive = {{BG_PRIMITIVE_POINT, 0, 0}},
};
