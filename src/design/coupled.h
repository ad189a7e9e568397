/* Stability of pairs of tableaus on linear systems whose parts are coupled. */
#ifndef BG_COUPLED_H
#define BG_COUPLED_H

#include "integrators/prk_pair.h"

enum { BG_COUPLED_SMALL = 4 };

/* y' = J y, with the tableau of each entry of y. */
typedef struct bg_coupled {
    int n;
    const double *J;    /* [n n] by rows */
    const int *tableau; /* [n] BG_PRK_SLOW or BG_PRK_FAST */
    /* What J and tableau of the systems below point to: these are not to be copied. */
    double small_J[BG_COUPLED_SMALL * BG_COUPLED_SMALL];
    int small_tableau[BG_COUPLED_SMALL];
} bg_coupled;

/* S [n n] with y_1 = S y_0 in a step of length h. */
bg_status bg_coupled_calc_step(const bg_coupled *system, const bg_prk_pair *pair, double h,
                               double *S, bg_error *err);
/* The largest modulus of an eigenvalue of S; needs LAPACK. */
bg_status bg_coupled_calc_radius(const bg_coupled *system, const bg_prk_pair *pair, double h,
                                 double *radius, bg_error *err);
/* The largest step with a radius of 1 + excess at most, for all smaller ones, too, on a grid of
 * this distance, then by bisection; `most` where that is stable. */
bg_status bg_coupled_find_limit(const bg_coupled *system, const bg_prk_pair *pair, double excess,
                                double grid, double most, double *limit, bg_error *err);
/* The same of a system whose solutions may grow like exp(growth t) themselves: then a step may,
 * too. */
bg_status bg_coupled_find_growing_limit(const bg_coupled *system, const bg_prk_pair *pair,
                                        double growth, double excess, double grid, double most,
                                        double *limit, bg_error *err);

/* Two masses: a fast one of 1 kg on a spring of frequency 1 rad/s and damping ratio 0.05 to a slow
 * one of 1/ratio kg, which hangs on the ground with 0.05 rad/s and 0.2. Order of y: x1, x2, x1',
 * x2'. by_part: slow positions have the slow tableau. */
void bg_coupled_make_masses(bg_coupled *system, double ratio, bool by_part);
/* 004 eq. (17): x' = l_ss x + k y, y' = -k x + l_ff y with l_ff = -0.05 + i and l_ss = 0.05 (-0.2 +
 * i), as real and imaginary parts of x and y. */
void bg_coupled_make_test(bg_coupled *system, double k);
/* What two free masses of 50 and 5 kg with a spring of 1e5 N/m lose in 500 steps of h, s, at 10
 * m/s: the place of the slow one beside where it should be, m, and, with the spring stretched by 1
 * mm at the start, the momentum beside itself. */
void bg_coupled_calc_losses(const bg_prk_pair *pair, bool by_part, double h, double *place,
                            double *momentum);

#endif
