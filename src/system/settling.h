/* Multipliers that forces depend on: lambda = Phi(lambda), with the multipliers Phi(lambda) that
 * the equations of motion give under the forces f(lambda). See settling.c. */
#ifndef BG_SETTLING_H
#define BG_SETTLING_H

#include "linalg/linalg.h"
#include "system/system.h"

enum { BG_SETTLING_DEPTH = 4 }; /* differences that acceleration looks back on */

typedef struct bg_settling {
    bg_evaluator *sys;
    int nv, ng;
    double *guess;     /* [ng] where every iteration starts; set by who knows a good one */
    double *lambda;    /* [ng] the multipliers f was evaluated with last: what a point refers to */
    double *residual;  /* [ng] Phi(lambda) - lambda */
    double *before[3]; /* [ng] lambda, Phi and residual of the iteration before */
    double *weight;    /* [ng] sizes of the constraints: weight * lambda is comparable */
    double *past_residual[BG_SETTLING_DEPTH], *past_phi[BG_SETTLING_DEPTH]; /* [ng] differences */
    double *unit_residual[BG_SETTLING_DEPTH],
        *unit_phi[BG_SETTLING_DEPTH]; /* [ng] orthonormalised */
    double *by_lambda; /* [nv ng, or in its pattern] r by lambda, for Newton's method */
    double *column;    /* [nv] of it */
    bg_linear *newton; /* [ng x ng] I - dPhi/dlambda */
    bg_arena arena;    /* all arrays */
} bg_settling;

/* Which multipliers are looked for: those of
 *     [M A^T; G 0] (a, lambda) = (f(p, lambda), factor right)
 * with the matrix factored in kkt. */
typedef struct bg_settling_question {
    bg_kkt *kkt;
    const bg_point *p;       /* where f is evaluated; f at hand is that with p->lambda */
    const double *G, *right; /* [as terms.G], [ng] */
    double factor;
} bg_settling_question;

bg_status bg_settling_create(bg_evaluator *sys, bg_settling **settling, bg_error *err);
void bg_settling_destroy(bg_settling *settling);
/* a [nv] and lambda [ng]. terms->f holds f(p) on entry; f and h there are those of the multipliers
 * found at the end, which settling->lambda holds. BG_NOT_CONVERGED with a sentence that names the
 * multiplier: they do not settle, or friction is so large that they are not determined.
 * BG_NOT_FINITE without one. */
bg_status bg_settling_solve(bg_settling *settling, const bg_settling_question *question,
                            bg_terms *terms, double *a, double *lambda, bg_error *err);
/* How far multipliers x and y [ng] are from each other, beside them and the forces f [nv]. */
double bg_settling_calc_distance(bg_settling *settling, const double *G, const double *x,
                                 const double *y, const double *f);
/* For methods that solve for multipliers beside all else: what the end of a sentence about a
 * failure says, from the last increments [ng]; "" where forces depend on no multiplier. */
void bg_settling_describe(const bg_system *system, const double *increment, char *text,
                          size_t size);

#endif
