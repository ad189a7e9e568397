/* The topology of a model: which joints carry the tree, which close loops, and how links are
 * numbered.
 *
 * A spanning forest is grown from the ground: of all joints that reach a new body, the one with the
 * fewest coordinates comes next (Prim), of equals one that is prescribed or has start values, then
 * the earliest in the file. That keeps both the number of coordinates and the number of loop rows
 * small, since a joint left over has the fewer rows the more it moves. Bodies that nothing connects
 * to the ground get a free joint, a part of several at its heaviest.
 *
 * The tree is a list of elementary links, parents first. A link's frame is
 *     L_k = L_parent  before_k  T_k(q_k),
 * with T the motion of its kind (sign -1: its inverse, where a joint is passed from b to a). Bodies
 * sit on links with a constant offset; a fixed joint adds no link.
 *
 * A link whose coordinate is prescribed follows its signal and has no coordinates, unless the model
 * asks for constraints (`rheonomic`). Its q is then the place of the signal's value behind the nq
 * coordinates, its v the number of the next coordinate of the tree. */
#ifndef BG_MECHANISM_H
#define BG_MECHANISM_H

#include "base/arena.h"
#include "model/model.h"

typedef struct bg_link {
    bg_link_kind kind;
    int axis;
    double sign, pitch;
    int parent;      /* link, -1: ground */
    int q, v;        /* first configuration and velocity coordinate */
    int nv;          /* velocity coordinates: 3 of a ball, 0 of a link that follows a signal */
    int signal;      /* that the link follows instead of having coordinates; -1: none */
    int place;       /* of its first motion among all: v, or behind those of all coordinates */
    int joint;       /* model joint it belongs to, -1: free joint given to a loose body */
    int last;        /* one past the last link of its subtree: subtrees are contiguous */
    bg_frame before; /* constant */
} bg_link;

typedef struct bg_tree_joint {
    int joint;         /* model joint, -1: implicit free joint */
    int parent, child; /* bodies */
    int first, count;  /* links */
    bool reversed;     /* passed from b to a */
} bg_tree_joint;

typedef struct bg_mechanism {
    const bg_model *model;
    bool constrain; /* no link follows a signal */
    bg_link *links;
    int nlinks, nq, nv;
    int nfollowing;      /* links that follow a signal */
    bg_tree_joint *tree; /* in order of construction */
    int ntree;
    int *cuts; /* joints that close loops, in file order */
    int ncuts;
    int *body_link;        /* [nbodies] link a body sits on, -1: ground */
    bg_frame *body_offset; /* [nbodies] its pose in that link's frame */
    int *joint_tree;       /* [njoints] index into tree, -1: cut */
    bg_arena arena;        /* all arrays */
} bg_mechanism;

bg_status bg_mechanism_create(const bg_model *model, bg_mechanism **mechanism, bg_error *err);
/* The same with `rheonomic` other than the model has it. */
bg_status bg_mechanism_create_as(const bg_model *model, bool constrain, bg_mechanism **mechanism,
                                 bg_error *err);
void bg_mechanism_destroy(bg_mechanism *mechanism);

/* How many motions a link has: those of its coordinates, or of the signal it follows. */
static inline int bg_link_count_motions(const bg_link *link)
{
    return link->kind == BG_LINK_BALL ? 3 : 1;
}

/* Whether the user says where one of its coordinates starts. */
bool bg_joint_has_start(const bg_joint *joint);

/* The link that carries scalar coordinate k of a tree joint. */
int bg_mechanism_find_link(const bg_mechanism *mechanism, int joint, int coordinate);

#endif
