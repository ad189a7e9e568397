/* A function given by a table: linear or cubic between knots, with slope, curvature and integral.
 */
#ifndef BG_CURVE_H
#define BG_CURVE_H

#include "model/reader.h"

typedef enum bg_curve_kind {
    BG_CURVE_LINEAR, /* corners at the knots */
    BG_CURVE_CUBIC   /* twice continuously differentiable spline */
} bg_curve_kind;

/* How it goes on outside the table; a cubic curve's end conditions follow from it. */
typedef enum bg_curve_end {
    BG_CURVE_GOES_ON, /* along the tangent at the end; cubic: natural spline */
    BG_CURVE_FLAT     /* constant; cubic: slope zero at both ends */
} bg_curve_end;

typedef struct bg_curve {
    bg_curve_kind kind;
    bg_curve_end end;
    int n;         /* knots, at least 2; 0: no curve */
    double *x, *y; /* [n] */
    double *c;     /* [n] second derivative at the knots */
    double *s;     /* [n] integral from the first knot */
} bg_curve;

/* Reads [[x, y], ...] with x ascending. Failures stay in the reader; absent: n = 0. */
void bg_curve_read(const bg_value *object, const char *key, bg_curve_kind kind, bg_curve_end end,
                   bg_curve *curve);
void bg_curve_clear(bg_curve *curve);

/* The piece x lies in: 0 before the first knot, k between knots k-1 and k, n after the last. */
int bg_curve_find_piece(const bg_curve *curve, double x);
/* Value, slope and curvature by the formula of a piece, also beyond its ends. */
void bg_curve_calc(const bg_curve *curve, int piece, double x, double out[3]);
/* Integral from 0 to x. */
double bg_curve_calc_integral(const bg_curve *curve, double x);

#endif
