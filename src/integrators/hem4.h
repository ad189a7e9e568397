/* Coefficients of the half-explicit method of order 4, for the method and for the test of their
 * conditions. */
#ifndef BG_HEM4_H
#define BG_HEM4_H

enum { BG_HEM4_STAGES = 5 };

/* Over seven rates: that at the beginning of the step (0), the stages (1 .. 5), that at its end
 * (6). */
typedef struct bg_hem4_table {
    double c[7];     /* [1 .. 6] abscissae; 6 is the end */
    double a[7][7];  /* row i: stage i; row 6 = b: the end */
    double b_hat[7]; /* weights of order 3, for the error */
} bg_hem4_table;

extern const bg_hem4_table bg_hem4_coefficients;

#endif
