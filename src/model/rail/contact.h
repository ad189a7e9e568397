/* The quasi-elastic contact of a wheel with a rail: one smooth gap, and where it is.
 *
 * The gap is a function of how the wheelset lies in the frame of its track: of five numbers x =
 * (y, z, n_y, n_z, n_x), the place of its centre, sideways and above the rails' top, and its axle,
 * a unit vector that points to the left. */
#ifndef BG_RAIL_CONTACT_H
#define BG_RAIL_CONTACT_H

#include "model/rail/profile.h"
#include "model/world.h"

#include <stdbool.h>

enum { BG_RAIL_CONTACT_ARGS = 5, BG_RAIL_CONTACT_POINTS = 1200 };

/* A point of the wheel's profile. */
typedef struct bg_wheel_point {
    double s;      /* m, outward from the tape circle */
    double Y;      /* m, along the axle from its middle */
    double R, R_Y; /* m, radius, and its slope along the axle */
    double c;      /* 1 / sqrt(1 + R_Y^2) */
    double k;      /* 1 + R_Y^2 */
    double tilt;   /* m, R R_Y */
    double du;     /* m of arc length that it stands for */
} bg_wheel_point;

/* What a wheel meets on its side; constant. */
typedef struct bg_rail_contact {
    char *name;
    bg_marker a, b; /* the frame of the track; the wheelset, y along its axle */
    const bg_profile *rail;
    double sign;            /* +1: the left wheel */
    double radius;          /* m, of the tape circle, where the profile is 0 */
    double base;            /* m, from the middle of the axle to the tape circle */
    double origin;          /* m, of the rail's profile outside the tape circle */
    double epsilon, length; /* m */
    int n;
    bg_wheel_point *points; /* [n] */
    double climb;           /* m, s of the steepest point of the flange; beyond all: without one */
} bg_rail_contact;

/* Means over the contact, and their derivatives by x. */
typedef enum bg_rail_contact_mean {
    BG_RAIL_CONTACT_Y, /* m, of the point, in the frame */
    BG_RAIL_CONTACT_Z,
    BG_RAIL_CONTACT_REACH, /* m: n_x times this is how far it lies ahead of the centre */
    BG_RAIL_CONTACT_S,     /* m, on the wheel's profile */
    BG_RAIL_CONTACT_R,     /* m, rolling radius */
    BG_RAIL_CONTACT_MEANS
} bg_rail_contact_mean;

typedef struct bg_rail_contact_state {
    double x[BG_RAIL_CONTACT_ARGS];
    int order; /* that was asked for */
    double gap, gap_x[BG_RAIL_CONTACT_ARGS];
    double mean[BG_RAIL_CONTACT_MEANS];
    double gap_xx[BG_RAIL_CONTACT_ARGS][BG_RAIL_CONTACT_ARGS];  /* from order 2 on */
    double mean_x[BG_RAIL_CONTACT_MEANS][BG_RAIL_CONTACT_ARGS]; /* from order 2 on */
    double along[BG_RAIL_CONTACT_ARGS],
        gap_xvv[BG_RAIL_CONTACT_ARGS]; /* order 3: third derivatives, twice
                                along this direction */
} bg_rail_contact_state;

/* Places the points, `step` apart (m of arc length) where contacts are small, wider elsewhere;
 * rail, radius, base, sign, origin, epsilon and length are given. BG_NO_MEMORY. */
bg_status bg_rail_contact_prepare(bg_rail_contact *contact, const bg_profile *wheel, double step,
                                  bg_error *err);
void bg_rail_contact_clear(bg_rail_contact *contact);
/* Everything up to the order at state->x (and along state->along). False: no point of the wheel
 * can touch, as the wheelset is turned too far. */
bool bg_rail_contact_calc(const bg_rail_contact *contact, int order, bg_rail_contact_state *state);
/* x in a world. */
void bg_rail_contact_measure(const bg_rail_contact *contact, const bg_world *w,
                             double x[BG_RAIL_CONTACT_ARGS]);
/* The state of contact k of the world to an order of at most 2, computed once for each x. */
const bg_rail_contact_state *bg_world_get_rail_contact(const bg_world *w, int k, int order);

#endif
