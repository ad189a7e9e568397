/* The coefficients of DOP853: the pair of Dormand and Prince of order 8 with embedded solutions of
 * orders 5 and 3, and three further stages for dense output of order 7 (Hairer, Norsett and Wanner
 * 1993, II.5, II.6 and II.10). */
#ifndef BG_DOP853_H
#define BG_DOP853_H

#include "integrators/pair.h"

enum { BG_DOP853_STAGES = 13, BG_DOP853_MORE = 3, BG_DOP853_BUBBLES = 4 };

typedef struct bg_dop853_table {
    double c[16];
    double a[13][12];   /* a[12] = b: the end point, where stage 13 is the next step's first */
    double b_hat[13];   /* weights of order 5 */
    double b_low[13];   /* weights of order 3 */
    double e_more[13];  /* a second difference that vanishes up to order 5 */
    double more[3][15]; /* stages 14, 15, 16 of dense output */
    double d[4][16];    /* weights of its R0 .. R3, in units of h */
} bg_dop853_table;

extern const bg_dop853_table bg_dop853;
extern const bg_pair bg_dop853_pair;

/* Dense output over rates of a step's stages: stages 14 to 16, whose rates stand behind those of
 * the pair, moved onto the constraints where `lift`, and the four bubbles (dense.c). > 0: one of
 * them cannot be evaluated. */
bg_status bg_dop853_calc_bubbles(bg_integrator *ig, bool lift);

#endif
