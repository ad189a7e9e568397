/* How things on body level change with the poses and twists of bodies. A formalism visits them and
 * maps each to its own coordinates; so the derivatives of a force or a constraint are written once.
 *
 * Derivatives are by (dr, dtheta) of a pose, dR = dtheta x R, by (v, w) of a twist and by (v', w')
 * of its time derivative, in world axes. The ground is never visited. */
#ifndef BG_COUPLINGS_H
#define BG_COUPLINGS_H

#include "formalism/multibody.h"

/* Of a number by one body. */
typedef struct bg_gradient {
    double pose[6], twist[6], acceleration[6];
} bg_gradient;

/* The wrench (f, n) on body `of` changes with body `by`. */
typedef void bg_visit_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6]);
/* Row `row` of w, gamma or h changes with body `by`. Contributions to one place add. */
typedef void bg_visit_row(void *self, int row, int by, const bg_gradient *gradient);
/* The wrench (f, n) on body `of` changes with state z. */
typedef void bg_visit_state(void *self, int of, int z, const double wrench[6]);

/* What is wanted of the force elements, each of which is differentiated once. NULL: not wanted. */
typedef struct bg_force_visit {
    bg_visit_coupling *coupling; /* their wrenches */
    bg_visit_row *rate;          /* h, the rates of z, those of followed angles included */
    bg_visit_state *state;       /* their wrenches by z */
    void *coupling_self, *rate_self, *state_self;
    double *h_z;     /* h by z, in its pattern (mb->rates) */
    bool only_stiff; /* couplings only of those marked stiff */
} bg_force_visit;

/* All at the world of the last update; elements that drive a coordinate of the formalism are left
 * to it. */
void bg_couplings_visit_forces(const bg_multibody *mb, const bg_force_visit *visit);
/* The reactions -J^T lambda of the body-level rows. */
void bg_couplings_visit_reactions(const bg_multibody *mb, const double *lambda,
                                  bg_visit_coupling *visit, void *self);
/* Wrenches (f, n) on bodies by the multipliers of rows that forces depend on. */
typedef void bg_visit_lambda(void *self, int of, int row, const double wrench[6]);
void bg_couplings_visit_lambda(const bg_multibody *mb, bg_visit_lambda *visit, void *self);
/* The pairs (of, by) the former visits, in ascending order and without repetition; lambda may not
 * be NULL where there are rows. The caller frees pair. False: out of memory. */
typedef struct bg_body_pairs {
    int (*pair)[2];
    int n;
} bg_body_pairs;
bool bg_couplings_list_pairs(const bg_multibody *mb, const double *lambda, bg_body_pairs *pairs);
/* The pairs (z, body) of states and the bodies whose wrenches change with them, as above. */
bool bg_couplings_list_actions(const bg_multibody *mb, bg_body_pairs *pairs);
/* The structure of h into mb->rates, at creation and at a world that has been updated. False: out
 * of memory. */
bool bg_couplings_make_rates(bg_multibody *mb);
/* w = J nu + u_t of the body-level rows. */
void bg_couplings_visit_w(const bg_multibody *mb, bg_visit_row *visit, void *self);
/* gamma of the body-level rows; `acceleration` of mb holds what remains where v' = 0. */
void bg_couplings_visit_gamma(const bg_multibody *mb, bg_visit_row *visit, void *self);

#endif
