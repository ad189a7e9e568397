/* The smallest t with |R(z_k)| - 1 <= t w_k over polynomials R with given first coefficients. */
#ifndef BG_EXCHANGE_H
#define BG_EXCHANGE_H

#include "bogie/status.h"

#include <complex.h>

enum { BG_EXCHANGE_POINTS = 4000, BG_EXCHANGE_UNKNOWNS = 17 };

typedef struct bg_exchange {
    int stages, order; /* degree of R, and up to which power its coefficients are 1/k! */
    int n;             /* points */
    long double scale; /* the largest |z| */
    long double complex z[BG_EXCHANGE_POINTS];
    long double w[BG_EXCHANGE_POINTS]; /* > 0 */
    long double
        enough; /* ends when t, or its bound, has come to this; -HUGE_VALL: at the optimum */
    /* The answer: */
    long double beta[BG_EXCHANGE_UNKNOWNS + 1];
    long double t;     /* of these coefficients, over all points */
    long double bound; /* at most the smallest t there is: by duality */
    int rounds;
} bg_exchange;

/* BG_NOT_CONVERGED where rounds do not bring t and its bound together; both hold all the same. */
bg_status bg_exchange_solve(bg_exchange *problem, bg_error *err);

/* R(z) with coefficients beta [stages + 1]. */
long double complex bg_exchange_evaluate(const long double *beta, int stages,
                                         long double complex z);

#endif
