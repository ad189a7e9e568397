/* What the structure of the expansion of r (expansion_layout.c) and its values (expansion.c) share:
 * where the unknowns of a node stand, D[6], y[ny], w[6] and the force that its joint transmits[6].
 */
#ifndef BG_JOINT_EXPANSION_H
#define BG_JOINT_EXPANSION_H

#include "formalism/joint/derivatives.h"

static inline int bg_joint_get_D(const bg_joint_node *n)
{
    return n->x;
}

static inline int bg_joint_get_y(const bg_joint_node *n)
{
    return n->x + 6;
}

static inline int bg_joint_get_w(const bg_joint_node *n)
{
    return n->x + 6 + n->ny;
}

static inline int bg_joint_get_force(const bg_joint_node *n)
{
    return n->x + 12 + n->ny;
}

/* The node a body moves with, -1: none. */
static inline int bg_joint_find_node(const bg_joint_form *f, int body)
{
    int link = f->mech->body_link[body];
    return link >= 0 ? f->expansion.node_of[link] : -1;
}

typedef void bg_drive_visit(void *self, int j, const bg_drive *d);
/* Elements that act along coordinate j of the tree. */
void bg_joint_visit_driven(const bg_joint_form *f, bg_drive_visit *visit, void *self);

#endif
