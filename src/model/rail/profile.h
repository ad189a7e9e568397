/* Profiles of wheels and rails: a height over a lateral coordinate, twice continuously
 * differentiable. */
#ifndef BG_PROFILE_H
#define BG_PROFILE_H

#include "bogie/status.h"

#include <stdbool.h>

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
/* The same where x lies near that of a call before: *piece is where the piece of a spline is looked
 * for, and the one that was found (0 at first). */
void bg_profile_calc_near(const bg_profile *profile, double x, int *piece, double out[4]);

/* The piece that x lies in, looked for from another one on. */
static inline int bg_profile_find_piece(const bg_profile *f, double x, int piece)
{
    while (piece + 1 < f->n && f->knot[piece + 1] <= x)
        piece++;
    while (piece > 0 && f->knot[piece] > x)
        piece--;
    return piece;
}

/* x lies on a piece of a spline. */
static inline bool bg_profile_is_inside(const bg_profile *f, double x)
{
    return f->kind == BG_PROFILE_SPLINE && x >= f->range[0] && x <= f->range[1];
}

/* The value alone. */
static inline double bg_profile_calc_height(const bg_profile *f, double x, int *piece)
{
    if (bg_profile_is_inside(f, x)) {
        *piece = bg_profile_find_piece(f, x, *piece);
        const double *c = f->c[*piece], d = x - f->knot[*piece];
        return c[0] + d * (c[1] + d * (c[2] / 2 + d * c[3] / 6));
    }
    double out[4];
    bg_profile_calc_near(f, x, piece, out);
    return out[0];
}

/* The first derivative alone; piece that x lies in. */
static inline double bg_profile_calc_slope(const bg_profile *f, double x, int piece)
{
    if (bg_profile_is_inside(f, x)) {
        const double *c = f->c[piece], d = x - f->knot[piece];
        return c[1] + d * (c[2] + d * c[3] / 2);
    }
    double out[4];
    bg_profile_calc_near(f, x, &piece, out);
    return out[1];
}

#endif
