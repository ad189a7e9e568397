/* planar: two translations across and the rotation about an axis.
 * The axis is the normal of the plane; x and y are measured along the first body's frame. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_planar;
const bg_joint_class bg_joint_planar = {
    .name = "planar",
    .summary = "two translations across and the rotation about an axis",
    .naxes = 1,
    .nlinks = 3,
    .link = {{BG_LINK_TRANSLATE, 0}, {BG_LINK_TRANSLATE, 1}, {BG_LINK_ROTATE, 2}},
    .nprimitives = 3,
    .primitive = {{BG_PRIMITIVE_DOT1, 2, 0}, {BG_PRIMITIVE_DOT1, 2, 1}, {BG_PRIMITIVE_DOT2, 2, 0}},
    .ncoordinates = 3,
    .coordinate = {{"x", BG_COORDINATE_SLIDE, 0, 0},
                   {"y", BG_COORDINATE_SLIDE, 1, 1},
                   {"angle", BG_COORDINATE_ANGLE_Z, 0, 2}},
};
