/* The Dormand-Prince 5(4) pair (J. Comput. Appl. Math. 6 (1980) 19-26) as data. */
#ifndef BG_DOPRI5_H
#define BG_DOPRI5_H

enum { BG_DOPRI5_STAGES = 7 };

typedef struct bg_dopri5_table {
    double c[7];
    double a[7][6]; /* a[6] = b: the end point, stage 7 of the next-to-first-same-as-last form */
    double e[7];    /* b - b^, error weights */
    double d[7];    /* weights of the dense output's R, in units of h (Hairer et al. 1993, II.6) */
} bg_dopri5_table;

extern const bg_dopri5_table bg_dopri5;

#endif
