/* Spatial vectors about one common point c, in world axes.
 *
 * A motion (w, v) is an angular velocity and the velocity of the body-fixed point that is at c; a
 * force (n, f) is a moment about c and a force. Because all bodies share the point and the axes,
 * nothing has to be transformed between them. c is fixed in space while terms are evaluated, but
 * may be chosen anew each time: near the mechanism, so that no digits are lost far from the origin.
 */
#ifndef BG_SPATIAL_H
#define BG_SPATIAL_H

#include "math/vec3.h"

typedef struct bg_spatial {
    bg_vec3 w, v; /* motion: angular, linear; force: moment, force */
} bg_spatial;

/* Inertia about c: mass, first moment h = m (r - c), and moment of inertia about c. */
typedef struct bg_inertia {
    double m;
    bg_vec3 h;
    bg_mat3 I;
} bg_inertia;

/* Symmetric 6 x 6 matrix [A B; B^T C] acting on (w, v): articulated inertia. */
typedef struct bg_sym6 {
    bg_mat3 A, B, C;
} bg_sym6;

static inline bg_spatial bg_spatial_add(bg_spatial a, bg_spatial b)
{
    return (bg_spatial){bg_add(a.w, b.w), bg_add(a.v, b.v)};
}

static inline bg_spatial bg_spatial_sub(bg_spatial a, bg_spatial b)
{
    return (bg_spatial){bg_sub(a.w, b.w), bg_sub(a.v, b.v)};
}

static inline bg_spatial bg_spatial_add_scaled(bg_spatial a, double s, bg_spatial b)
{
    return (bg_spatial){bg_add_scaled(a.w, s, b.w), bg_add_scaled(a.v, s, b.v)};
}

/* Power of a force on a motion. */
static inline double bg_spatial_dot(bg_spatial a, bg_spatial b)
{
    return bg_dot(a.w, b.w) + bg_dot(a.v, b.v);
}

/* Rate of a motion vector that moves with velocity V: V x S. */
static inline bg_spatial bg_spatial_cross(bg_spatial V, bg_spatial S)
{
    return (bg_spatial){bg_cross(V.w, S.w), bg_add(bg_cross(V.w, S.v), bg_cross(V.v, S.w))};
}

/* Rate of a force vector that moves with velocity V: V x* F. */
static inline bg_spatial bg_spatial_cross_force(bg_spatial V, bg_spatial F)
{
    return (bg_spatial){bg_add(bg_cross(V.w, F.w), bg_cross(V.v, F.v)), bg_cross(V.w, F.v)};
}

/* Momentum I V. */
static inline bg_spatial bg_inertia_apply(const bg_inertia *I, bg_spatial V)
{
    return (bg_spatial){bg_add(bg_rotate(&I->I, V.w), bg_cross(I->h, V.v)),
                        bg_add_scaled(bg_cross(V.w, I->h), I->m, V.v)};
}

/* Inertia of mass m with moment of inertia J about its centre (world axes), at d = r - c. */
bg_inertia bg_inertia_about(double m, const bg_mat3 *J, bg_vec3 d);
void bg_inertia_add(bg_inertia *a, const bg_inertia *b);

bg_sym6 bg_sym6_from_inertia(const bg_inertia *I);
bg_spatial bg_sym6_apply(const bg_sym6 *X, bg_spatial V);
void bg_sym6_add(bg_sym6 *a, const bg_sym6 *b);
/* X <- X - s F F^T */
void bg_sym6_subtract_square(bg_sym6 *X, double s, bg_spatial F);
/* X <- X - s (F E^T + E F^T) */
void bg_sym6_subtract_product(bg_sym6 *X, double s, bg_spatial F, bg_spatial E);

#endif
