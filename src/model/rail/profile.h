/* Profiles of wheels and rails: a height over a lateral coordinate, twice continuously
 * differentiable. */
#ifndef BG_PROFILE_H
#define BG_PROFILE_H

#include "bogie/status.h"

typedef enum bg_profile_kind {
    BG_PROFILE_CONE,   /* y = -slope x */
    BG_PROFILE_CIRCLE, /* y = sqrt(radius^2 - x^2) - radius */
    BG_PROFILE_SPLINE  /* cubic, by least squares through points */
} bg_profile_kind;

typedef struct bg_profile {
    char *name;
    bg_profile_kind kind;
    double slope, radius;
    double range[2];  /* m, where it is used; a spline goes on beyond it with the curvature that it
                         has there */
    int n;            /* pieces of the spline */
    double *knot;     /* [n+1] m, ascending */
    double (*c)[4];   /* [n] value and derivatives at the left knot */
    double end[2][3]; /* value, slope and curvature at the ends of the range */
} bg_profile;

/* The least-squares cubic spline through points (x, y)[n], x ascending, with these knots between
 * the ends; knots NULL: it interpolates. range NULL: from the first point to the last. A failure
 * names what is wrong. */
bg_status bg_profile_fit(bg_profile *profile, const double *x, const double *y, int n,
                         const double *knots, int nknots, const double *range, bg_error *err);
void bg_profile_clear(bg_profile *profile);
/* Value and first three derivatives at x. */
void bg_profile_calc(const bg_profile *profile, double x, double out[4]);

#endif
