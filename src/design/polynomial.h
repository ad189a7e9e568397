/* Stability polynomials R(z) = 1 + z + ... + z^p/p! + beta_{p+1} z^{p+1} + ... + beta_s z^s with
 * the largest region in a direction: explicit Runge-Kutta methods of s stages and order p have no
 * others. */
#ifndef BG_POLYNOMIAL_H
#define BG_POLYNOMIAL_H

#include "bogie/status.h"

#include <stdbool.h>

enum { BG_POLYNOMIAL_MAX = 16 };

/* What h lambda is to be stable for: points of the upper half plane, which are scaled by h. */
typedef enum bg_target_kind { BG_TARGET_IMAGINARY, BG_TARGET_REAL, BG_TARGET_CLOUD } bg_target_kind;

typedef struct bg_target {
    bg_target_kind kind;
    int n;                 /* of a cloud */
    const double *re, *im; /* [n] eigenvalues, 1/s */
} bg_target;

typedef struct bg_polynomial {
    int stages, order;
    double beta[BG_POLYNOMIAL_MAX + 1];
    double reach; /* y of the axis, or h of a cloud, up to which |R| <= 1 but for rounding */
    double bound; /* no polynomial of these stages and this order reaches farther */
} bg_polynomial;

/* The best one, and how much better any could be. Needs no library; allocates. */
bg_status bg_polynomial_find(int stages, int order, const bg_target *target, bg_polynomial *best,
                             bg_error *err);

/* How far along the imaginary or the negative real axis |R| <= 1 + tolerance, from 0 on. */
double bg_polynomial_calc_interval(const double *beta, int stages, bg_target_kind kind,
                                   double tolerance);
/* The largest h up to `most` with |R(k h lambda)| <= 1 + tolerance for all eigenvalues and all 0 <
 * k
 * <= 1. */
double bg_polynomial_calc_step(const double *beta, int stages, const bg_target *cloud, double most,
                               double tolerance);
/* |R(x + iy)|. */
double bg_polynomial_calc_modulus(const double *beta, int stages, double x, double y);

#endif
