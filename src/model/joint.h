/* Joint types as data: how a joint moves when it is part of the tree, and which rows it has when it
 * closes a loop. One file per type in joints/, one line in joints.c.
 *
 * A joint connects marker a (on body a) and marker b (on body b), whose frames coincide in the
 * design position: z along the joint's axis, x along its second axis where it has one. In the tree
 *   frame_b = frame_a  T_1(q_1) T_2(q_2) ...
 * with elementary links T: rotation about or translation along an axis, or a ball (quaternion). */
#ifndef BG_JOINT_H
#define BG_JOINT_H

#include "model/primitive.h"

typedef enum bg_link_kind {
    BG_LINK_ROTATE,    /* about axis, 1 coordinate, rad */
    BG_LINK_TRANSLATE, /* along axis, 1 coordinate, m */
    BG_LINK_SCREW,     /* about axis by q and along it by pitch q, 1 coordinate, rad */
    BG_LINK_BALL /* quaternion, 4 configuration and 3 velocity coordinates: w of b relative to a in
                    axes of b */
} bg_link_kind;

enum { BG_JOINT_COORDINATES = 6 }; /* scalar ones, at most */

typedef struct bg_joint_class {
    const char *name, *summary;
    int naxes;            /* 0: none, 1: "axis", 2: also "second", perpendicular to it */
    bool constraint_only; /* cannot be part of the tree (distance, point-on-line, ...) */
    bool is_loose;        /* nothing rests on it: bodies may start with any motion along it */
    bool is_sidewall;     /* restricts nothing; body b starts as if it were fixed to a, but for a
                             displacement along its own z axis and a spin about its y axis, which
                             the first start has */
    int nlinks;           /* tree form */
    struct {
        bg_link_kind kind;
        int axis;
    } link[7];
    int rolling;     /* the link that follows a wheel rolling without slip, always; 0: none */
    int nprimitives; /* loop form */
    struct {
        bg_primitive_kind kind;
        int i, j;
    } primitive[6];
    int ncoordinates; /* scalar coordinates by name, in the order of the links they belong to */
    struct {
        const char *name;
        bg_coordinate_kind kind;
        int axis, link;
    } coordinate[BG_JOINT_COORDINATES];
} bg_joint_class;

/* All types, NULL-terminated. */
const bg_joint_class *const *bg_joint_get_classes(void);
/* Rows as a loop joint, and velocity coordinates as a tree joint. */
int bg_joint_class_count_rows(const bg_joint_class *c);
int bg_joint_class_count_velocities(const bg_joint_class *c);

#endif
