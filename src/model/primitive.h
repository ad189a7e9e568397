/* Constraint rows between two bodies, in terms of their twists; every joint that closes a loop, and
 * every joint of the Cartesian form, is a list of these.
 *
 *   w_row = J_a . (v_a, w_a) + J_b . (v_b, w_b) (+ time derivative of a signal),   12 entries per
 * row gamma_row: second time derivative of the row where the twists' own derivatives are zero. */
#ifndef BG_PRIMITIVE_H
#define BG_PRIMITIVE_H

#include "model/world.h"

#include <stdbool.h>

typedef enum bg_primitive_kind {
    BG_PRIMITIVE_POINT,    /* 3 rows: E^T (p_b - p_a) = 0, E fixed in the world */
    BG_PRIMITIVE_DOT1,     /* a_i . b_j = 0 */
    BG_PRIMITIVE_DOT2,     /* a_i . (p_b - p_a) = 0 */
    BG_PRIMITIVE_DISTANCE, /* (|p_b - p_a|^2 - L^2) / (2 L) = 0 */
    BG_PRIMITIVE_RELATION, /* sum_k factor_k x_k - offset - u = 0 over measured joint coordinates */
    BG_PRIMITIVE_CONTACT   /* -gap of a wheel over a rail (rail/contact.h) */
} bg_primitive_kind;

/* A joint coordinate measured from the poses of two bodies. */
typedef enum bg_coordinate_kind {
    BG_COORDINATE_ANGLE_Z, /* rotation about z_a: atan2(x_b . y_a, x_b . x_a), rate z_a . (w_b -
                              w_a) */
    BG_COORDINATE_ANGLE_X, /* rotation about x_b: atan2(z_a . y_b, z_a . z_b), rate x_b . (w_b -
                              w_a) */
    BG_COORDINATE_SLIDE,   /* a_i . (p_b - p_a) */
    BG_COORDINATE_YAW,     /* of R = Rz(yaw) Rx(roll) Ry(pitch); not in relations (cardan.h) */
    BG_COORDINATE_ROLL,
    BG_COORDINATE_PITCH
} bg_coordinate_kind;

typedef struct bg_coordinate {
    bg_coordinate_kind kind;
    int axis;  /* of SLIDE */
    bool back; /* SLIDE counts against the axis */
    bg_marker a, b;
    int reference; /* signal from which PITCH counts; -1: none */
    int turns;     /* index into z of a state that follows the angle through full turns; -1: none */
} bg_coordinate;

enum { BG_RELATION_MAX = 3 };

typedef struct bg_primitive {
    bg_primitive_kind kind;
    bg_marker a, b;
    bg_mat3 axes;  /* E of POINT */
    int i, j;      /* axes of the markers' frames, 0..2 */
    double length; /* m, of DISTANCE */
    int n;         /* terms of RELATION, which may join up to three pairs of bodies */
    bg_coordinate coordinate[BG_RELATION_MAX];
    double factor[BG_RELATION_MAX], offset;
    int signal;  /* index of u in RELATION; -1: none */
    int contact; /* of the world's contacts in CONTACT */
} bg_primitive;

int bg_primitive_get_rows(const bg_primitive *p);

/* Value and rate of a measured coordinate. The angle lies within half a turn of z[turns] if that is
 * used, else in (-pi, pi]. */
double bg_coordinate_calc(const bg_world *w, const bg_coordinate *c);
double bg_coordinate_calc_rate(const bg_world *w, const bg_coordinate *c);

/* g of the rows. */
void bg_primitive_calc(const bg_world *w, const bg_primitive *p, double *g);
/* One row's Jacobian per pair of bodies: blocks of 12 for (a, b) as (v_a, w_a, v_b, w_b). A
 * RELATION has n blocks, for the pairs of its coordinates; all others have one block per row.
 * J[row][block * 12 ...]. */
void bg_primitive_calc_jacobian(const bg_world *w, const bg_primitive *p, double *J);
void bg_primitive_calc_gamma(const bg_world *w, const bg_primitive *p, double *gamma);

/* How the rows' forces change with the poses: K[block][i][j] = d (J^T lambda)_i / d pose_j over
 * (dr_a, dtheta_a, dr_b, dtheta_b), at fixed lambda (one entry per row of the primitive; a RELATION
 * has one lambda and n blocks, one per pair, every other kind has one block, summed over its rows).
 */
void bg_primitive_calc_stiffness(const bg_world *w, const bg_primitive *p, const double *lambda,
                                 double K[BG_RELATION_MAX][12][12]);
/* How gamma of each row changes with poses and twists: by_pose[k][12], by_twist[k][12], with k
 * counting rows (RELATION: blocks, i.e. the parts of the single row that belong to pair k). gamma
 * is bg_primitive_calc_gamma: the second derivative of the row where the twists' own derivatives
 * vanish. */
void bg_primitive_calc_gamma_derivatives(const bg_world *w, const bg_primitive *p,
                                         double by_pose[3][12], double by_twist[3][12]);

#endif
