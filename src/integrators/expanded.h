/* The iteration matrix of an implicit multistep method, through the expansion of r.
 *
 * With q eliminated by q' = V v - S G^T eta, p = dv - S G^T deta, S diagonal, the increments of
 * velocities, states, multipliers dmu = dlambda/alpha and deta of a step with leading coefficient
 * alpha solve
 *
 *   M dv + r_v/alpha dv + r_q/alpha^2 p + r_z/alpha dz + r_lambda dmu = b_v
 *   dz - h_z/alpha dz - h_v/alpha dv - h_q/alpha^2 p - h_lambda dmu   = b_z
 *   G dv + along w_q p                                               = b_g
 *   G p                                                              = b_e
 *
 * where M, r_v and r_q of a chain are full. Here they are not made: with x of the expansion divided
 * by alpha (system.h), the first row becomes
 *
 *   X x + Q/alpha^2 p + (W/alpha + A) dv + [0; r_z/alpha dz + r_lambda dmu] = [0; b_v],
 *
 * and p is an unknown of its own where there is eta. Everything has as many entries as there are
 * coordinates, and a factorisation takes as many operations, as long as rows of constraints are
 * short or few. */
#ifndef BG_EXPANDED_H
#define BG_EXPANDED_H

#include "linalg/linalg.h"
#include "system/system.h"

typedef struct bg_expanded bg_expanded;

/* As the system writes them; NULL where there is no such thing (no states, no constraints, forces
 * that do not depend on lambda). */
typedef struct bg_expanded_values {
    bg_expansion_values r;
    const double *r_z, *r_lambda, *h_q, *h_v, *h_z, *h_lambda;
    const double *G, *w_q;
} bg_expanded_values;

/* Right-hand sides and solutions. */
typedef struct bg_expanded_vector {
    double *v, *z, *g, *e; /* [nv], [nz], [ng], [ng] */
} bg_expanded_vector;

/* For a system whose expansion is prepared; S: [nv] diagonal, all > 0, copied; NULL: without eta
 * and the last row. Where a factorisation by recursion would take more than `most` multiplications,
 * the matrix is factored as any other. */
bg_status bg_expanded_create(const bg_evaluator *evaluator, const double *S, double most,
                             bg_expanded **expanded, bg_error *err);
void bg_expanded_destroy(bg_expanded *expanded);
/* Constraints left out (ng flags; NULL: none): their mu and eta become 0. */
void bg_expanded_hold(bg_expanded *expanded, const unsigned char *held);
/* Assembles and factors; along: 1/alpha as a rule, 0: without w_q. With alpha infinite and along 0
 * it is [M G^T; G 0]. The values stay with the caller
 * until the last solution. BG_SINGULAR, without text: numerically singular. */
bg_status bg_expanded_factor(bg_expanded *expanded, const bg_expanded_values *values, double alpha,
                             double along);
/* What is added to the right-hand side b_v: by_q r_q q + by_a M a; q, a [nv], NULL: nothing. */
typedef struct bg_expanded_shift {
    const double *q, *a;
    double by_q, by_a;
} bg_expanded_shift;

/* Solves in place. */
void bg_expanded_solve(bg_expanded *expanded, const bg_expanded_shift *shift,
                       const bg_expanded_vector *x);
/* Whether the last factorisation did without exchanges. */
bool bg_expanded_is_direct(const bg_expanded *expanded);
/* As bg_blocks_get_work, _reset and _archive. */
bg_matrix_work bg_expanded_get_work(const bg_expanded *expanded);
void bg_expanded_reset(bg_expanded *expanded);
void bg_expanded_archive(bg_expanded *expanded, bg_archive *archive);

#endif
