/* The joints of the ring of a tyre, which the tyre adds to the mechanism (read_rings.c); they are
 * no types of the file. In axes x forward, y along the wheel's axis, z up,
 *
 *   ring         no restriction: frame_b = frame_a T(x, y, z) Rz(yaw) Rx(roll) Ry(spin)
 *   ring-planar  frame_b = frame_a T(x, z) Ry(spin)
 *
 *   sidewall     nothing; but the ring starts at rest against the wheel
 *
 * The spin comes last, so that all other coordinates do not turn with it: a ring that spins evenly
 * has even coordinates, and a steady lean or yaw is no oscillation of them. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_ring, bg_joint_ring_planar, bg_joint_sidewall;
const bg_joint_class bg_joint_ring = {
    .name = "ring",
    .summary = "no restriction, by displacements, yaw, roll and spin",
    .is_loose = true,
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
                   {"spin", BG_COORDINATE_PITCH, 0, 5}},
};

const bg_joint_class bg_joint_ring_planar = {
    .name = "ring-planar",
    .summary = "two translations across and the spin about the axis of a wheel",
    .is_loose = true,
    .nlinks = 3,
    .link = {{BG_LINK_TRANSLATE, 0}, {BG_LINK_TRANSLATE, 2}, {BG_LINK_ROTATE, 1}},
    .nprimitives = 3,
    .primitive = {{BG_PRIMITIVE_DOT1, 1, 0}, {BG_PRIMITIVE_DOT1, 1, 2}, {BG_PRIMITIVE_DOT2, 1, 0}},
    .ncoordinates = 3,
    .coordinate = {{"x", BG_COORDINATE_SLIDE, 0, 0},
                   {"z", BG_COORDINATE_SLIDE, 2, 1},
                   {"spin", BG_COORDINATE_PITCH, 0, 2}},
};

const bg_joint_class bg_joint_sidewall = {
    .name = "sidewall",
    .summary = "no restriction; a ring starts at rest against its wheel",
    .constraint_only = true,
    .is_sidewall = true,
};
