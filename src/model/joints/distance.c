/* distance: two points keep their distance (massless rod). */
#include "model/joint.h"

extern const bg_joint_class bg_joint_distance;
const bg_joint_class bg_joint_distance = {
    .name = "distance",
    .summary = "two points keep their distance (massless rod)",
    .constraint_only = true,
    .nprimitives = 1,
    .primitive = {{BG_PRIMITIVE_DISTANCE, 0, 0}},
};
