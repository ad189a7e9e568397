/* point-on-line: a point of the second body stays on a line of the first. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_point_on_line;
const bg_joint_class bg_joint_point_on_line = {
    .name = "point-on-line",
    .summary = "a point of the second body stays on a line of the first",
    .naxes = 1,
    .constraint_only = true,
    .nprimitives = 2,
    .primitive = {{BG_PRIMITIVE_DOT2, 0, 0}, {BG_PRIMITIVE_DOT2, 1, 0}},
};
