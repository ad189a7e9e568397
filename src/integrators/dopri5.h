/* The coefficients of the Dormand-Prince 5(4) pair (J. Comput. Appl. Math. 6 (1980) 19-26). */
#ifndef BG_DOPRI5_H
#define BG_DOPRI5_H

#include "integrators/pair.h"

typedef struct bg_dopri5_table {
    double c[7];
    double a[7][6];  /* a[6] = b: the end point, where stage 7 is the next step's first */
    double b_hat[7]; /* weights of order 4, for the error */
    double d[7];     /* weights of the dense output's R, in units of h (Hairer et al. 1993, II.6) */
} bg_dopri5_table;

extern const bg_dopri5_table bg_dopri5;
extern const bg_pair bg_dopri5_pair;

#define BG_MDOP5_OPTIONS                                                                        \
    BG_PAIR_PROJECTION, BG_PAIR_NORM,                                                           \
    {                                                                                           \
        "form", "index-1|projecting", "index-1",                                                \
            "equations that are integrated: index 1, or the projecting descriptor form of 003 " \
            "eq. (5)"                                                                           \
    }

/* Dense output over rates of its stages: the first bubble (dense.c). */
void bg_dopri5_prepare_dense(bg_integrator *ig);

#endif
