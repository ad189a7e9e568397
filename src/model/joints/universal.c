/* universal: rotation about an axis of the first body and a perpendicular one of the second
 * (Cardan). frame_b = frame_a Rz(angle) Rx(second); z_a and x_b stay perpendicular. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_universal;
const bg_joint_class bg_joint_universal = {
    .name = "universal",
    .summary =
        "rotation about an axis of the first body and a perpendicular one of the second (Cardan)",
    .naxes = 2,
    .nlinks = 2,
    .link = {{BG_LINK_ROTATE, 2}, {BG_LINK_ROTATE, 0}},
    .nprimitives = 2,
    .primitive = {{BG_PRIMITIVE_POINT, 0, 0}, {BG_PRIMITIVE_DOT1, 2, 0}},
    .ncoordinates = 2,
    .coordinate = {{"angle", BG_COORDINATE_ANGLE_Z, 0, 0}, {"second", BG_COORDINATE_ANGLE_X, 0, 1}},
};
