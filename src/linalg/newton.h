/* When a simplified Newton iteration has converged, and when it never will.
 *
 * The caller evaluates its residual, solves with a matrix that may be an old one, and says how
 * large the increment was in weights of its own; from the sizes d_0, d_1, ... follows the rate rho
 * = d_k / d_(k-1), and with it what would still come, rho/(1 - rho) d_k. Increments that stop
 * shrinking below a floor are rounding, above it a failure. */
#ifndef BG_NEWTON_H
#define BG_NEWTON_H

#include <stdbool.h>

/* The iteration goes on, is done, or has failed: a smaller step or a new matrix may help. */
typedef enum bg_newton_state {
    BG_NEWTON_GOES_ON,
    BG_NEWTON_DONE,
    BG_NEWTON_FAILED
} bg_newton_state;

typedef struct bg_newton {
    /* set by the caller */
    int most;         /* increments */
    double converged; /* what may be left */
    bool foretells;   /* what would come next counts, else the increment itself */
    double roundoff;  /* floor of rounding */
    double stalls;    /* rate above which increments below that floor are rounding */
    double slow;      /* rate above which it fails from the third increment on; 0: no such limit */
    double diverges;  /* rate above which it fails at once; 0: no such limit */
    /* of the iteration */
    int count;         /* increments so far */
    double size, rate; /* of the last increment; the rate of the first one is 1 */
} bg_newton;

/* Another iteration begins. */
void bg_newton_begin(bg_newton *newton);
/* Takes the size of an increment. */
bg_newton_state bg_newton_look(bg_newton *newton, double size);
/* The largest |increment| / weight of the entries whose mask is not 0 (NULL: all); NAN if one is
 * not a number. */
double bg_newton_calc_size(int n, const double *increment, const double *weight,
                           const unsigned char *mask);
/* What increments are multiplied by when the matrix was made with the coefficient alpha_matrix in
 * place of alpha: 2/(1 + alpha/alpha_matrix), 001 (18). */
double bg_newton_calc_factor(double alpha, double alpha_matrix);

#endif
