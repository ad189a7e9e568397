/* Where a tyre meets the road: what all tyres share.
 *
 * The wheel's centre is a marker of the wheel body. Below it the road has a height, a slope and a
 * curvature, and the tyre is compressed by delta. It can push but not pull: with
 *
 *   F = k delta + c delta'           in contact, 0 when lifted
 *
 * contact is the set {delta > 0 and F > 0}, that is {s > 0} for the one switching function
 *
 *   s = min(k delta, k delta + c delta') = k delta + c min(0, delta').
 *
 * It serves both modes: a wheel that recedes lifts off when its force vanishes (still compressed;
 * the tread then relaxes by itself), a lifted wheel touches down when the gap closes, or, should it
 * turn back before the gap has opened, when the force would be positive again. s is continuous in
 * the state and does not depend on the mode. No chattering: at a lift-off F = 0 on both sides, so
 * the accelerations are continuous and s goes on falling through zero; at a touch-down s = k delta
 * goes on rising at the rate k delta' > 0, the jump of F from 0 to c delta' pushing the wheel only
 * later through delta''.
 *
 * mode[0] is contact (1), lifted (2) or open (0: by the sign of s); within a step the law of the
 * mode holds also beyond the switch. mode[1], where the road has breaks, is the road's piece + 1,
 * or open (0: by the place); s[1 + k] = place - break k. A new piece may have another height, which
 * leaves contact open again, to be settled. */
#ifndef BG_CONTACT_H
#define BG_CONTACT_H

#include "model/forces/element.h"
#include "model/roads.h"

/* The first member of every tyre's own data. */
typedef struct bg_contact {
    bg_marker wheel;     /* the centre; marker axes are world axes in the design position */
    double radius, k, c; /* m, N/m, N s/m */
    bg_road road;
} bg_contact;

enum { BG_CONTACT_MODES = 2 }; /* at most: contact or lifted, and the piece of the road */

typedef struct bg_contact_state {
    double road[3];        /* height, slope, curvature along x below the centre */
    double across[3];      /* slope along y; second derivatives by x and y, and by y twice */
    double place, advance; /* place on the road, m, and its rate */
    double delta, delta_t; /* compression and its rate, set by the tyre between the calls below */
    bool touches;
    double F; /* N */
} bg_contact_state;

/* "wheel", "radius", "stiffness", "damping" and the file's road; sets ns and nmode of f. */
void bg_contact_read(const bg_value *v, bg_force *f, bg_contact *contact);
/* Class functions of every tyre: clear releases self. */
void bg_contact_clear(bg_force *f);
int bg_contact_event(const bg_force *f, int k, int direction, int *mode);
void bg_contact_describe(const bg_force *f, int k, int direction, bool several, char *text,
                         size_t size);
void bg_contact_sides(const bg_force *f, const int *mode, int *side);
void bg_contact_look(const bg_force *f, bg_force_look *out);

/* The road below the centre p with velocity v at time t. */
bg_contact_state bg_contact_find_road(const bg_force *f, bg_vec3 p, bg_vec3 v, double t,
                                      const int *mode);
/* Contact and force for the compression that the tyre has found. */
void bg_contact_close(const bg_contact *contact, const int *mode, bg_contact_state *y);
void bg_contact_switching(const bg_contact *contact, const bg_contact_state *y, double *s);
/* Closes open modes. */
void bg_contact_settle(const bg_force *f, const bg_contact_state *y, int *mode);

#endif
