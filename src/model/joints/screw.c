/* screw: rotation about an axis with a proportional translation along it.
 * pitch in m/rad: T = rotation by q about z and translation by pitch q along it. As a loop joint it
 * is a cylindrical one with the relation slide = pitch angle, which the formalism adds. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_screw;
const bg_joint_class bg_joint_screw = {
    .name = "screw",
    .summary = "rotation about an axis with a proportional translation along it",
    .naxes = 1,
    .nlinks = 1,
    .link = {{BG_LINK_SCREW, 2}},
    .nprimitives = 4,
    .primitive = {{BG_PRIMITIVE_DOT1, 2, 0},
                  {BG_PRIMITIVE_DOT1, 2, 1},
                  {BG_PRIMITIVE_DOT2, 0, 0},
                  {BG_PRIMITIVE_DOT2, 1, 0}},
    .ncoordinates = 1,
    .coordinate = {{"angle", BG_COORDINATE_ANGLE_Z, 0, 0}},
};
