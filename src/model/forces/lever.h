/* A joint coordinate as a lever: what a force (or torque) along it does to the two bodies, and how
 * the coordinate and that force vary with their poses and twists. */
#ifndef BG_LEVER_H
#define BG_LEVER_H

#include "model/forces/element.h"

typedef struct bg_lever {
    bg_coordinate_kind kind;
    int a, b;         /* bodies */
    double x, rate;   /* value (rad, m) and rate of the coordinate */
    bg_vec3 n;        /* unit axis, world axes */
    bg_vec3 gradient; /* of an angle by the rotation of b relative to a */
    bg_vec3 w_a, w_b; /* angular velocities */
    bg_vec3 s_a, s_b; /* of a slide: from the centres of a and b to the point of marker b */
    bg_vec3 u;        /* of a slide: velocity of that point as seen from a, world axes */
    bg_vec3 d;        /* of a slide: from marker a to marker b */
} bg_lever;

bg_lever bg_lever_calc(const bg_world *w, const bg_coordinate *c);
/* Adds the wrenches of a generalised force Q (N, N m) that drives the coordinate upwards. */
void bg_lever_push(const bg_lever *l, double Q, bg_wrench *wrench);
/* The change of the coordinate, and of its rate. */
double bg_lever_vary(const bg_lever *l, const bg_variation *d_a, const bg_variation *d_b,
                     double *d_rate);
/* Adds the changes of the wrenches on a and b when Q changes by dQ. */
void bg_lever_vary_push(const bg_lever *l, double Q, double dQ, const bg_variation *d_a,
                        const bg_variation *d_b, bg_wrench *on_a, bg_wrench *on_b);

#endif
