/* fixed: bodies move as one.
 * As part of the tree it has no coordinates. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_fixed;
const bg_joint_class bg_joint_fixed = {
    .name = "fixed",
    .summary = "bodies move as one",
    .nprimitives = 4,
    .primitive = {{BG_PRIMITIVE_POINT, 0, 0},
                  {BG_PRIMITIVE_DOT1, 0, 1},
                  {BG_PRIMITIVE_DOT1, 0, 2},
                  {BG_PRIMITIVE_DOT1, 1, 2}},
};
