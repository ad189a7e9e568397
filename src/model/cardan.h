/* Angles of yaw, roll and pitch between two markers, R = Rz(yaw) Rx(roll) Ry(pitch), measured from
 * their axes; private to primitive.c, wishes and couplings. */
#ifndef BG_CARDAN_H
#define BG_CARDAN_H

#include "model/primitive.h"

static inline bool bg_coordinate_is_cardan(const bg_coordinate *c)
{
    return c->kind == BG_COORDINATE_YAW || c->kind == BG_COORDINATE_ROLL ||
           c->kind == BG_COORDINATE_PITCH;
}

/* The angle; its gradient n, rate = n . (w_b - w_a); how that rate changes with the axis z of
 * marker a and the axis y of marker b, at angular velocities that stay. */
typedef struct bg_cardan {
    double angle, rate;
    bg_vec3 n;
    bg_vec3 z, y;       /* the axes */
    bg_vec3 by_z, by_y; /* of the rate */
} bg_cardan;

bg_cardan bg_cardan_calc(const bg_world *w, const bg_coordinate *c);

#endif
