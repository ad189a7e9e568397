/* Creep forces in a contact of a wheel with a rail, with derivatives. */
#ifndef BG_CREEP_H
#define BG_CREEP_H

#include "math/dual.h"

typedef enum bg_creep_law {
    BG_CREEP_CUBIC, /* Kalker's linear forces, saturated by 1 - u/3 + u^2/27 */
    BG_CREEP_POLACH /* the same by Polach: 2/pi (e/(1 + e^2) + atan e), e = pi u/4 */
} bg_creep_law;

typedef struct bg_creep {
    bg_creep_law law;
    double friction;      /* mu */
    double modulus;       /* N/m^2, shear modulus */
    double load;          /* N, under which the semi-axes are: */
    double area;          /* m^2, their product */
    double C11, C22, C23; /* Kalker's coefficients */
} bg_creep;

/* How the contact moves, in axes of the track's frame. */
typedef struct bg_creep_motion {
    bg_dual v[3];  /* m/s, of the wheel's material at the contact against the rail */
    bg_dual w[3];  /* rad/s, of the wheelset */
    bg_dual slope; /* tan delta: the normal is (0, -sin delta, cos delta) */
    bg_dual speed; /* m/s, along the track */
    bg_dual load;  /* N, normal force */
} bg_creep_motion;

typedef struct bg_creep_force {
    bg_dual F[3];                 /* N on the wheel, axes of the frame */
    double longitudinal, lateral; /* N, along x and across in the plane of contact */
    double xi, eta, spin;         /* creepages; 1/m */
    double use;                   /* |linear force| / (mu N) */
    double slip;                  /* m/s, of the material along the normal: 0 but for averaging */
} bg_creep_force;

void bg_creep_calc(const bg_creep *creep, const bg_creep_motion *motion, bg_creep_force *out);

#endif
