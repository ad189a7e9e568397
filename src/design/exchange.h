/* The smallest t with |R(z_k)| - 1 + e_k <= t w_k over polynomials R with given first coefficients,
 *
 *     R(z) = 1 + z + ... + z^p/p! + x^{p+1} sum_j c_j phi_j(x),   x = z/scale,
 *
 * phi_j = T_j(1 + 2 x), Chebyshev's polynomials for points along the negative real axis, or
 * i^j T_j(x/i) for others: powers of z would cancel by (3 + sqrt(8))^s, or (1 + sqrt(2))^s. Along
 * the real axis e_k is what rounding of the coefficients of R may come to there, so that R is
 * stable with the digits that its coefficients have. */
#ifndef BG_EXCHANGE_H
#define BG_EXCHANGE_H

#include "bogie/status.h"

#include <complex.h>
#include <stdbool.h>

enum { BG_EXCHANGE_POINTS = 4000, BG_EXCHANGE_UNKNOWNS = 17 };

typedef struct bg_exchange {
    int stages, order; /* degree of R, and up to which power its coefficients are 1/k! */
    int n;             /* points */
    long double scale; /* the largest |z| */
    /* Points, by bg_exchange_add, and at each of them: */
    long double complex z[BG_EXCHANGE_POINTS];
    long double w[BG_EXCHANGE_POINTS], e[BG_EXCHANGE_POINTS]; /* w > 0 */
    long double complex given[BG_EXCHANGE_POINTS];            /* the part of R that is given */
    long double complex psi[BG_EXCHANGE_POINTS][BG_EXCHANGE_UNKNOWNS]; /* x^{p+1} phi_j */
    bool real; /* points are along the negative real axis, about */
    long double
        enough; /* ends when t, or its bound, has come to this; -HUGE_VALL: at the optimum */
    /* The answer: */
    long double c[BG_EXCHANGE_UNKNOWNS];
    long double beta[BG_EXCHANGE_UNKNOWNS + 1]; /* the same as coefficients of powers of z */
    long double t;                              /* of these coefficients, over all points */
    long double bound; /* at most the smallest t there is with all e_k = 0: by duality */
    int rounds;
} bg_exchange;

/* A point, while there is room; after stages, order, scale and real are set. */
void bg_exchange_add(bg_exchange *problem, long double complex z);

/* BG_NOT_CONVERGED where rounds do not bring t and its bound together; both hold all the same. */
bg_status bg_exchange_solve(bg_exchange *problem, bg_error *err);

/* (|R(z)| - 1 + e)/w of the answer. */
long double bg_exchange_calc_excess(const bg_exchange *problem, long double complex z);

#endif
