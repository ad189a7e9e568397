/* track: how a frame follows a track: along x and y of the world, then turned by the heading about
 * z and by the cant about x. Readers make one for every body with a "track"; all four coordinates
 * are prescribed. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_track;
const bg_joint_class bg_joint_track = {
    .name = "track",
    .summary = "the way of a frame along a track; every body with a \"track\" has one of its own",
    .nlinks = 4,
    .link = {{BG_LINK_TRANSLATE, 0},
             {BG_LINK_TRANSLATE, 1},
             {BG_LINK_ROTATE, 2},
             {BG_LINK_ROTATE, 0}},
    .nprimitives = 2,
    .primitive = {{BG_PRIMITIVE_DOT2, 2, 0}, {BG_PRIMITIVE_DOT1, 2, 0}},
    .ncoordinates = 4,
    .coordinate = {{"x", BG_COORDINATE_SLIDE, 0, 0},
                   {"y", BG_COORDINATE_SLIDE, 1, 1},
                   {"heading", BG_COORDINATE_ANGLE_Z, 0, 2},
                   {"cant", BG_COORDINATE_ANGLE_X, 0, 3}},
};
