/* Coefficients of the half-explicit method, for the method and for the test of their conditions. */
#ifndef BG_HEM5_H
#define BG_HEM5_H

typedef struct bg_hem5_table {
    double c[7];    /* bar abscissae */
    double a[7][7]; /* bar coefficients, lower triangular with diagonal; row 0 unused */
    double theta;   /* where `dense` gives the solution */
    double dense[7];
} bg_hem5_table;

extern const bg_hem5_table bg_hem5_coefficients;

#endif
