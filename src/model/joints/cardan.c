/* cardan: no restriction, with displacements x, y, z along the axes of the first body and angles of
 * yaw, roll and pitch: frame_b = frame_a T(x, y, z) Rz(yaw) Rx(roll) Ry(pitch). For bodies that
 * follow a frame nearly upright. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_cardan, bg_joint_cardan_held, bg_joint_rolling;
const bg_joint_class bg_joint_cardan = {
    .name = "cardan",
    .summary = "no restriction, by displacements along axes of the first body, yaw, roll and pitch",
    .nlinks = 6,
    .link = {{BG_LINK_TRANSLATE, 0},
             {BG_LINK_TRANSLATE, 1},
             {BG_LINK_TRANSLATE, 2},
             {BG_LINK_ROTATE, 2},
             {BG_LINK_ROTATE, 0},
             {BG_LINK_ROTATE, 1}},
    .ncoordinates = 6,
    .coordinate = {{"x", BG_COORDINATE_SLIDE, 0, 0},
                   {"y", BG_COORDINATE_SLIDE, 1, 1},
                   {"z", BG_COORDINATE_SLIDE, 2, 2},
                   {"yaw", BG_COORDINATE_YAW, 0, 3},
                   {"roll", BG_COORDINATE_ROLL, 0, 4},
                   {"pitch", BG_COORDINATE_PITCH, 0, 5}},
};

/* The same held along x: for a body that its frame takes along. */
const bg_joint_class bg_joint_cardan_held = {
    .name = "cardan-held",
    .summary = "as cardan, but held along the x axis of the first body",
    .nlinks = 5,
    .link = {{BG_LINK_TRANSLATE, 1},
             {BG_LINK_TRANSLATE, 2},
             {BG_LINK_ROTATE, 2},
             {BG_LINK_ROTATE, 0},
             {BG_LINK_ROTATE, 1}},
    .nprimitives = 1,
    .primitive = {{BG_PRIMITIVE_DOT2, 0, 0}},
    .ncoordinates = 5,
    .coordinate = {{"y", BG_COORDINATE_SLIDE, 1, 0},
                   {"z", BG_COORDINATE_SLIDE, 2, 1},
                   {"yaw", BG_COORDINATE_YAW, 0, 2},
                   {"roll", BG_COORDINATE_ROLL, 0, 3},
                   {"pitch", BG_COORDINATE_PITCH, 0, 4}},
};

/* A wheelset on a frame that follows a track: the spin counts from a wheel that rolls without slip
 * on the radius, so that it stays small. */
const bg_joint_class bg_joint_rolling = {
    .name = "rolling",
    .summary = "as cardan, for a wheelset: spin counts from rolling without slip along the track",
    .nlinks = 7,
    .link = {{BG_LINK_TRANSLATE, 0},
             {BG_LINK_TRANSLATE, 1},
             {BG_LINK_TRANSLATE, 2},
             {BG_LINK_ROTATE, 2},
             {BG_LINK_ROTATE, 0},
             {BG_LINK_ROTATE, 1},
             {BG_LINK_ROTATE, 1}},
    .rolling = 5,
    .ncoordinates = 6,
    .coordinate = {{"x", BG_COORDINATE_SLIDE, 0, 0},
                   {"y", BG_COORDINATE_SLIDE, 1, 1},
                   {"z", BG_COORDINATE_SLIDE, 2, 2},
                   {"yaw", BG_COORDINATE_YAW, 0, 3},
                   {"roll", BG_COORDINATE_ROLL, 0, 4},
                   {"spin", BG_COORDINATE_PITCH, 0, 6}},
};
