/* Two rates of a linearised system: eigenvalues of its parts, what couples them, largest stable
 * steps.
 *
 * x' = A x, x = (delta, dv, dz) on independent coordinates (linear/linearisation.h), of which every
 * entry belongs to the slow or the fast part: 004 eq. (33). */
#ifndef BG_RATES_H
#define BG_RATES_H

#include "design/coupled.h"
#include "linear/linearisation.h"

typedef struct bg_rates {
    int n, nx;           /* freedoms, entries of x */
    double *A;           /* [nx nx] by rows */
    unsigned char *part; /* [nx] BG_PART_* */
    double largest;      /* 1/s, the largest modulus of an eigenvalue of A */
    double growth;       /* 1/s, of the solution that grows fastest; 0: none does */
    bg_arena arena;
} bg_rates;

/* Eigenvalues of a part, largest first; Im >= 0, without their conjugates. */
typedef struct bg_rates_spectrum {
    int count;
    double *re, *im; /* [count], to be freed: re is the memory of both */
} bg_rates_spectrum;

/* A of a linearisation that has been updated; all is slow. */
bg_status bg_rates_create(bg_linearisation *linearisation, bg_rates **rates, bg_error *err);
void bg_rates_destroy(bg_rates *rates);

/* The parts as velocities [nv] and states [nz] of the system have them; NULL: slow. */
void bg_rates_sort(bg_rates *rates, const bg_linearisation *linearisation,
                   const unsigned char *v_part, const unsigned char *z_part);
/* How many entries belong to a part. */
int bg_rates_count(const bg_rates *rates, unsigned part);

/* Of J_ss, of J_ff (BG_PART_SLOW, BG_PART_FAST), or of both. */
bg_status bg_rates_calc_spectrum(const bg_rates *rates, unsigned part, bg_rates_spectrum *spectrum,
                                 bg_error *err);
void bg_rates_spectrum_clear(bg_rates_spectrum *spectrum);

/* How much of the fast masses goes with the slow ones beside them. With K_ff T = -K_fs, the fast
 * coordinates that follow the slow ones at rest, the largest eigenvalue of M_s^{-1} T^T M_f T:
 * m2/m1 for a fast mass m2 on a spring at m1. */
bg_status bg_rates_calc_ratio(const bg_rates *rates, double *ratio, bg_error *err);

/* The largest step of a pair with a spectral radius of 1 + 1e-6 at most, all smaller ones, too;
 * fine: on a grid of 0.04 instead of 0.2 of 1/largest. HUGE_VAL: nothing limits it. */
bg_status bg_rates_find_step(const bg_rates *rates, const bg_prk_pair *pair, bool by_part,
                             bool fine, double *step, bg_error *err);

#endif
