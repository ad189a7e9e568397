/* Designs pairs of tableaus for given numbers of slow and fast stages, and verifies any pair. */
#ifndef BG_DESIGN_H
#define BG_DESIGN_H

#include "design/polynomial.h"
#include "integrators/prk_pair.h"

typedef struct bg_design_def {
    int slow, fast, order; /* stages, and order 2 to 4 */
    bg_target target;
    bool search; /* for coefficients, also where the closed family has the answer */
    bool free_abscissae, free_weights; /* c = c^ and b = b^ are not asked for */
    unsigned seed;
} bg_design_def;

enum { BG_DESIGN_RATIOS = 5, BG_DESIGN_COUPLINGS = 3 };
extern const double bg_design_ratios[BG_DESIGN_RATIOS];       /* of two masses, fast to slow */
extern const double bg_design_couplings[BG_DESIGN_COUPLINGS]; /* k of (17) */

/* What a pair has; intervals of the polynomials of either tableau alone, [slow, fast]. */
typedef struct bg_design_facts {
    double missed; /* of order conditions, largest */
    bg_prk_condition worst;
    double next; /* root of the sum of squares of what is missed of the next order's conditions */
    double imaginary[2], real[2];
    double coupled[BG_DESIGN_COUPLINGS]; /* largest h |l_ff| on (17) */
    double masses[BG_DESIGN_RATIOS]
                 [2];             /* largest h omega_f of two masses, positions by part, fast */
    double h;                     /* s, of the steps in which two free masses lose: */
    double place[2], momentum[2]; /* lost by two free masses (coupled.h), by part, fast */
} bg_design_facts;

/* A polynomial of the fast tableau, and a pair with it. BG_BAD_INPUT: what is asked for cannot be,
 * with the theorem that forbids it; BG_NOT_CONVERGED: the search found none. */
bg_status bg_design_find(const bg_design_def *def, bg_polynomial *polynomial, bg_prk_pair *pair,
                         bg_error *err);
/* Everything about a pair; needs LAPACK. */
bg_status bg_design_verify(const bg_prk_pair *pair, bg_design_facts *facts, bg_error *err);

/* How strong a coupling a pair stands: the largest h omega_f of two masses of ratio 0.1. */
bg_status bg_design_calc_merit(const bg_prk_pair *pair, double *merit, bg_error *err);

/* Coefficients by search (search.c) for a polynomial of the fast tableau. */
bg_status bg_design_search(const bg_design_def *def, const bg_polynomial *polynomial,
                           bg_prk_pair *pair, bg_error *err);

#endif
