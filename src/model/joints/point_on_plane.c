/* point-on-plane: a point of the second body stays in a plane of the first, given by its normal. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_point_on_plane;
const bg_joint_class bg_joint_point_on_plane = {
    .name = "point-on-plane",
    .summary = "a point of the second body stays in a plane of the first, given by its normal",
    .naxes = 1,
    .constraint_only = true,
    .nprimitives = 1,
    .primitive = {{BG_PRIMITIVE_DOT2, 2, 0}},
};
