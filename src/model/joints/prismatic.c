/* prismatic: translation along an axis (slider). */
#include "model/joint.h"

extern const bg_joint_class bg_joint_prismatic;
const bg_joint_class bg_joint_prismatic = {
    .name = "prismatic",
    .summary = "translation along an axis (slider)",
    .naxes = 1,
    .nlinks = 1,
    .link = {{BG_LINK_TRANSLATE, 2}},
    .nprimitives = 5,
    .primitive = {{BG_PRIMITIVE_DOT1, 0, 1},
                  {BG_PRIMITIVE_DOT1, 0, 2},
                  {BG_PRIMITIVE_DOT1, 1, 2},
                  {BG_PRIMITIVE_DOT2, 0, 0},
                  {BG_PRIMITIVE_DOT2, 1, 0}},
    .ncoordinates = 1,
    .coordinate = {{"slide", BG_COORDINATE_SLIDE, 2, 0}},
};
