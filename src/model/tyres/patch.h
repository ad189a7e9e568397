/* The contact patch of a wheel that may be steered, cambered and on a slope.
 *
 * With the centre p (arm s from the body's centre of mass), the spin axis e, and the plane that
 * touches the road below the centre, of unit normal n and at the distance d = (p_z - h) n_z,
 *
 *   x = e x n / |e x n|        forward,   y = n x x  to the left,   both in the plane
 *   z = x x e                  upwards in the plane of the wheel
 *   r_l = d / |e x n|          loaded radius; the contact point is at p - r_l z
 *   delta = radius - r_l       compression
 *   r_e = radius - delta / 3   effective rolling radius
 *
 * Velocities are those relative to the road, which may move along x; v is that of the centre, w the
 * wheel's angular velocity:
 *
 *   v_x = x . v,   Omega = e . w,   v_C = v - r_l w x z    (the wheel's material at the contact)
 *   slip velocities v_x - r_e Omega and y . v_C
 *   delta' = -n . v_C / |e x n|                           exact where the road is straight. */
#ifndef BG_PATCH_H
#define BG_PATCH_H

#include "model/tyres/contact.h"

typedef struct bg_patch {
    bg_contact_state contact;
    bool lies; /* the wheel lies on its side: no contact, nothing below is set */
    bg_vec3 arm, e, n, x, y, z;
    bg_vec3 n_x, n_y;  /* dn by place along and across */
    double height, c;  /* p_z - h, and |e x n|: cosine of the camber angle */
    double r_l, r_e;   /* m */
    bg_vec3 reach;     /* from the centre of mass to the contact point */
    bg_vec3 v, w, v_C; /* relative to the road; of the wheel */
    double v_x, Omega;
    double slip[2]; /* slip velocities, m/s */
} bg_patch;

/* What changes with a variation of the wheel's pose and twist. */
typedef struct bg_patch_variation {
    bg_vec3 e, n, x, y, reach;
    double delta, delta_t, v_x, Omega, r_e, slip[2];
} bg_patch_variation;

/* axis: in the axes of the wheel marker. */
bg_patch bg_patch_calc(const bg_force *f, const bg_world *w, bg_vec3 axis, const int *mode);
bg_patch_variation bg_patch_vary(const bg_patch *k, const bg_variation *d);
/* Those with the twist (v, w) of the wheel's body, which change numbers alone. */
typedef struct bg_patch_gradient {
    double delta_t[6], v_x[6], Omega[6], slip[2][6];
} bg_patch_gradient;
void bg_patch_calc_gradient(const bg_patch *k, bg_patch_gradient *out);
/* The road below is level and straight: its height and direction do not change with the place. */
bool bg_patch_is_level(const bg_patch *k);
/* The true rate of delta, also where the road is curved. */
double bg_patch_calc_rate(const bg_patch *k);

#endif
