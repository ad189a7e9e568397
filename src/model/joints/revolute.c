/* revolute: rotation about an axis (hinge). */
#include "model/joint.h"

extern const bg_joint_class bg_joint_revolute;
const bg_joint_class bg_joint_revolute = {
    .name = "revolute",
    .summary = "rotation about an axis (hinge)",
    .naxes = 1,
    .nlinks = 1,
    .link = {{BG_LINK_ROTATE, 2}},
    .nprimitives = 3,
    .primitive = {{BG_PRIMITIVE_POINT, 0, 0}, {BG_PRIMITIVE_DOT1, 2, 0}, {BG_PRIMITIVE_DOT1, 2, 1}},
    .ncoordinates = 1,
    .coordinate = {{"angle", BG_COORDINATE_ANGLE_Z, 0, 0}},
};
