/* A spring and damper that only pushes, and only while it is compressed: what joint limits, bump
 * stops and contacts share.
 *
 * With the compression delta (negative: the gap) and its rate,
 *
 *   F = k delta^n + c delta'        in contact, 0 apart.
 *
 * Contact is the set {delta > 0 and F > 0}, that is {s > 0} for the one switching function
 *
 *   s = delta - (c max(0, -delta') / k)^(1/n),
 *
 * a length (an angle): it closes when the gap does, and opens when the force vanishes, at the
 * latest when the gap opens. s is continuous and does not depend on the mode. A stop that closes at
 * the speed delta' > 0 has s rising, one that opens at F = 0 has continuous accelerations and s
 * falling, so that nothing chatters. mode is contact (1), apart (2) or open (0: by the sign of s);
 * within a step the law of the mode holds also beyond the switch, with delta |delta|^(n-1) in the
 * place of delta^n. */
#ifndef BG_STOP_H
#define BG_STOP_H

#include "model/forces/element.h"

enum { BG_STOP_OPEN = 0, BG_STOP_CONTACT = 1, BG_STOP_APART = 2 };

typedef struct bg_stop {
    double k, c, n; /* N/m^n, N s/m, 1; of an angle N m/rad^n, N m s/rad */
} bg_stop;

typedef struct bg_stop_state {
    bool touches;
    double delta, delta_t;
    double F, F_delta, F_rate; /* and its derivatives by delta and delta' */
} bg_stop_state;

/* "stiffness", "damping", "exponent". */
bg_stop bg_stop_read(const bg_value *v);
bg_stop_state bg_stop_calc(const bg_stop *stop, int mode, double delta, double delta_t);
double bg_stop_calc_switch(const bg_stop *stop, double delta, double delta_t);
/* Adds the potential of the spring, and the power of the damper. */
void bg_stop_add_energy(const bg_stop *stop, const bg_stop_state *y, bg_energy *out);
/* Closes an open mode. */
void bg_stop_settle(const bg_stop *stop, double delta, double delta_t, int *mode);
/* What an event of its switching function does to its mode: a bg_event_action. */
int bg_stop_pass(int direction, int *mode);
/* The side that its switching function is on in a mode. */
int bg_stop_get_side(int mode);

/* These two for an element with one stop. */
int bg_stop_event(const bg_force *f, int k, int direction, int *mode);
void bg_stop_sides(const bg_force *f, const int *mode, int *side);

#endif
