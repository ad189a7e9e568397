/* cylindrical: rotation about and translation along an axis. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_cylindrical;
const bg_joint_class bg_joint_cylindrical = {
    .name = "cylindrical",
    .summary = "rotation about and translation along an axis",
    .naxes = 1,
    .nlinks = 2,
    .link = {{BG_LINK_ROTATE, 2}, {BG_LINK_TRANSLATE, 2}},
    .nprimitives = 4,
    .primitive = {{BG_PRIMITIVE_DOT1, 2, 0},
                  {BG_PRIMITIVE_DOT1, 2, 1},
                  {BG_PRIMITIVE_DOT2, 0, 0},
                  {BG_PRIMITIVE_DOT2, 1, 0}},
    .ncoordinates = 2,
    .coordinate = {{"angle", BG_COORDINATE_ANGLE_Z, 0, 0}, {"slide", BG_COORDINATE_SLIDE, 2, 1}},
};
