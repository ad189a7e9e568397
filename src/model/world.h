/* Where bodies are and how they move: what force elements, constraints and sensors see.
 *
 * A formalism (joint or Cartesian coordinates) fills a bg_world from q and v; elements read it and
 * write wrenches or constraint rows in terms of body twists; the formalism maps these back to its
 * own coordinates. So every piece of mechanics is written once, for both formalisms.
 *
 * Body 0 is the ground: at the origin, at rest. The reference point of a body is its centre of
 * mass, its axes are those of the design position rotated along. Twists are (v, w) and pose
 * variations (dr, dtheta), with dR = dtheta x R: velocity of the centre and angular velocity, in
 * world axes. */
#ifndef BG_WORLD_H
#define BG_WORLD_H

#include "math/vec3.h"

#include <stdint.h>

typedef struct bg_body_state {
    bg_vec3 r; /* m, centre of mass */
    bg_mat3 R; /* body axes in world axes */
    bg_vec3 v; /* m/s, of the centre */
    bg_vec3 w; /* rad/s, angular velocity */
} bg_body_state;

/* Force through the centre of mass and torque about it, in world axes. */
typedef struct bg_wrench {
    bg_vec3 f; /* N */
    bg_vec3 n; /* N m */
} bg_wrench;

/* Where the force that a joint transmits is among the multipliers: that on its second body is -sum
 * lambda[row] axis. */
typedef struct bg_joint_rows {
    int n, row[3];
    int body; /* whose axes the axes are in; 0: those of the world */
    bg_vec3 axis[3];
} bg_joint_rows;

typedef struct bg_world {
    double t;                     /* s */
    const bg_body_state *body;    /* [nbodies], 0 is the ground */
    const double *u, *u_t, *u_tt; /* [nsignals] signals and their time derivatives */
    const double *z;              /* [nz] first-order states of all elements */
    const int *mode;              /* [nmode] modes of all elements */
    double *measured; /* [3 (noutputs + 1)] scratch of laws: values of outputs, adjoints, gradient
                         of  an expression; NULL: no law looks at outputs */
    const struct bg_rail_contact *contacts; /* [ncontacts] of wheels with rails (rail/contact.h) */
    struct bg_rail_contact_state *contact_state; /* [ncontacts] as found last */
    const double *contact_force; /* [ncontacts] multipliers, N; NULL: none are known */
    uint64_t *side; /* laws mix into it on which side of their jumps they are; NULL: they do not */
    const bg_joint_rows *joint_rows; /* [njoints] of joints that close loops */
    const double *lambda; /* [ng] multipliers, where elements depend on those of joints; NULL: none
                             are known */
    void *const *memo; /* [nforces] room for what an element found last, NULL where its class wants
                          none; NULL: for no element */
} bg_world;

/* Where a point is in the world. Points count from the origin of the world, or from one near a
 * mechanism that is far from it, where they have more digits; the ground is then elsewhere. */
static inline bg_vec3 bg_world_get_place(const bg_world *w, bg_vec3 p)
{
    return bg_sub(p, w->body[0].r);
}

/* A marker: a frame fixed in a body. */
typedef struct bg_marker {
    int body;
    bg_frame frame; /* relative to the centre of mass, in body axes */
} bg_marker;

/* Position, and velocity, of the origin of a marker; its frame's axes in world axes. */
static inline bg_vec3 bg_marker_get_arm(const bg_world *w, const bg_marker *m)
{
    return bg_rotate(&w->body[m->body].R, m->frame.r); /* from the centre of mass, world axes */
}

static inline bg_vec3 bg_marker_get_position(const bg_world *w, const bg_marker *m)
{
    return bg_add(w->body[m->body].r, bg_marker_get_arm(w, m));
}

static inline bg_vec3 bg_marker_get_velocity(const bg_world *w, const bg_marker *m)
{
    const bg_body_state *b = &w->body[m->body];
    return bg_add(b->v, bg_cross(b->w, bg_marker_get_arm(w, m)));
}

static inline bg_mat3 bg_marker_get_axes(const bg_world *w, const bg_marker *m)
{
    return bg_mat3_multiply(&w->body[m->body].R, &m->frame.R);
}

/* Adds force f at world position p, and torque n, to the wrench of a body. */
static inline void bg_wrench_add(bg_wrench *wrench, const bg_world *w, int body, bg_vec3 p,
                                 bg_vec3 f, bg_vec3 n)
{
    bg_wrench *x = &wrench[body];
    x->f = bg_add(x->f, f);
    x->n = bg_add(x->n, bg_add(n, bg_cross(bg_sub(p, w->body[body].r), f)));
}

#endif
