/* Tyres whose tread band is a rigid ring: a body of its own, which the tyre adds to the mechanism.
 *
 * The ring (centre r, axis e) hangs on springs and dampers, the sidewalls, between itself and the
 * rim (centre r_H, axis e_H), and touches the road through a residual spring and a brush of tread.
 * States of the tyre are the wind-up theta of the ring against the rim and the slips s of the
 * brush; the wind-up is a state because no stiff torque may be computed from the difference of two
 * angles that turn for ever.
 *
 * The rim is either the body of the marker "wheel", which then turns; or, with "rotor", that body
 * carries the rim, and the spin of the rim is a state: with its absolute spin Omega about e_H, and
 * a torque Q that drives it from the carrier (angular velocity w_c),
 *
 *   omega_H = w_c + (Omega - w_c.e_H) e_H,     I Omega' = (torque of the ring on the rim).e_H + Q
 *   on the carrier: the rest of that torque, -Q e_H, and the gyroscopic torque -I Omega w_c x e_H,
 *
 * which is exact for a rim of revolution if the carrier has its mass and its moments about the
 * diameters, but not that about the axis. Nothing but forces then ties Omega to the bodies.
 *
 * A law (ring_spatial.c, ring_planar.c) is a function of a bg_ring_state, written in jets:
 * it has the derivative in a direction, which is a bg_ring_state, too. */
#ifndef BG_RING_H
#define BG_RING_H

#include "model/forces/law.h"
#include "model/tyres/contact.h"

enum { BG_RING_WINDUP, BG_RING_SLIP_X, BG_RING_SLIP_Y, BG_RING_SPIN, BG_RING_STATES };

/* World axes, places in the world. */
typedef struct bg_ring_state {
    bg_vec3 r_H, e_H, v_H, w_c; /* of the rim; angular velocity of its body */
    bg_vec3 r, e, v, w;         /* of the ring */
    double z[BG_RING_STATES];   /* the last only with a rotor */
    double Q;                   /* N m, that drives the rotor */
} bg_ring_state;

typedef struct bg_ring_values {
    bg_vec3 f, n;             /* on the ring at its centre: of the road */
    bg_vec3 F, T;             /* the same, of the sidewalls */
    bg_vec3 T_H;              /* on the body of the rim at the rim's centre, beside -F */
    double h[BG_RING_STATES]; /* rates of the states */
    double U, loss;           /* energy of the sidewalls; power that their dampers take, < 0 */
    double delta, delta_t;    /* compression of the residual spring; its rate on a plane road */
    double N, F_x, F_y, align;
    double u;             /* share of the patch that slides; 1: all of it */
    double V_x;           /* m/s, of the ring's centre along the road */
    bool touches;         /* these only in values, not in derivatives */
    bool is_curved;       /* the road, so that delta_t is not the rate of delta */
    double place, height; /* m, on the road, and its height there */
} bg_ring_values;

/* One way of deflection: N/m and N s/m, or N m and N m s. */
typedef struct bg_sidewall {
    double c, k;
} bg_sidewall;

typedef struct bg_ring_tyre bg_ring_tyre;
/* Values at x; unless dy is NULL, their derivative in the direction d. */
typedef void bg_ring_law(const bg_force *f, double t, const int *mode, const bg_ring_state *x,
                         const bg_ring_state *d, bg_ring_values *y, bg_ring_values *dy);

struct bg_ring_tyre {
    bg_contact contact; /* first; radius: unloaded; k, c: residual stiffness and damping */
    bg_ring_law *law;
    bg_vec3 axis;                               /* of the rim, unit, in the axes of its body */
    int ring;                                   /* body; its axis is y of its own */
    double handedness;                          /* -1: values to the left are mirrored */
    double R_e;                                 /* m, effective rolling radius */
    bg_sidewall radial, lateral, torsion, tilt; /* planar: lateral and tilt are zero */
    double a;                                   /* m, half of the length of the patch */
    double c_p[2], mu[2], sigma[2];             /* tread stiffness, N/m^2; friction; relaxation */
    double resistance;                          /* of rolling, as a share of the load */
    double rate;                                /* 1/s, the most that slips relax with */
    bg_vec3 forward;                            /* planar: direction of travel */
    bool has_rotor;
    double inertia; /* kg m^2 */
    bg_law torque;
    int nbodies, body[BG_FORCE_BODIES]; /* of the rim, ring, then those the torque looks at */
};

/* Speed at which aligning torque and rolling resistance have most of their size, m/s. */
#define BG_RING_SLOW 0.1

bg_ring_law bg_ring_calc_spatial, bg_ring_calc_planar;

/* How relaxation goes on in full sliding, where forces do not depend on s, so that it does not
 * wind up: the share m in 0 .. 1 of the slip velocity that carries tread away, from u. */
static inline double bg_ring_calc_share(double u)
{
    return fmin(fmax(u - 1, 0), 1);
}

#endif
