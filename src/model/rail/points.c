/* Where the points of a wheel's profile lie, by which its contact is summed up.
 *
 * A contact of relative curvature kappa = kappa_wheel + kappa_rail weighs points with
 * exp(-kappa u^2/(2 eps)): it is sigma = sqrt(eps/kappa) wide, and a sum over points 3/4 of that
 * apart is its integral to rounding. A point of the wheel touches the rail where both have the same
 * slope, so kappa is known along the wheel, but for what a wheelset rolls. Points lie as close as
 * `step` asks for where contacts are small, on the flange, and up to WIDE times as far apart on the
 * tread, where they are wide: as sqrt(1/kappa) says, and never farther than that part of sigma. The
 * smallest contacts keep `step` also where eps would allow more, since profiles have pieces.
 *
 * The distance rho(u) from point to point varies by at most `growth` of the arc length u, and is
 * smoothed, because a sum on u(xi), u' = rho(u), has the accuracy of equidistant points only where
 * rho is smooth. On a fine grid of u, xi = integral du/rho; points are where xi is whole, and weigh
 * rho each. */
#include "model/rail/contact.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE = 4, PARTS = 4, ANGLES = 320, ROLL = 3, PASSES = 3, SMOOTH = 24 };
static const double of_sigma = 0.75, growth = 0.08, flange = 0.5;

/* A profile with its arc length. */
typedef struct profile_grid {
    int n;
    double du;   /* m, between neighbours */
    double *s;   /* [n] m */
    double *rho; /* [n] m, the distance from point to point here */
    double *xi;  /* [n] how many of them lie before; scratch of smoothing */
} profile_grid;

static double calc_curvature(const double y[4])
{
    const double k = 1 / (1 + y[1] * y[1]);
    return -y[2] * k * sqrt(k);
}

/* s after du more of arc length: ds/du = 1/sqrt(1 + W'^2), by Runge and Kutta. */
static double advance(const bg_profile *wheel, double s, double du, int *piece)
{
    double k[4], W[4], at = s;
    for (int i = 0; i < 4; i++) {
        bg_profile_calc_near(wheel, at, piece, W);
        k[i] = 1 / sqrt(1 + W[1] * W[1]);
        at = s + (i == 2 ? du : 0.5 * du) * k[i];
    }
    return s + du / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3]);
}

static int find_angle(double slope)
{
    const int k = (int)((0.5 + atan(slope) / M_PI) * ANGLES);
    return k < 0 ? 0 : k >= ANGLES ? ANGLES - 1 : k;
}

/* The largest curvature of the rail by the angle of its slope; 0 where it has no such slope. */
static void list_curvatures(const bg_profile *rail, double du, double out[ANGLES])
{
    const double single = rail->kind == BG_PROFILE_CIRCLE ? 1 / rail->radius : 0;
    int piece = 0;
    for (int k = 0; k < ANGLES; k++)
        out[k] = single;
    if (rail->kind != BG_PROFILE_SPLINE)
        return;
    for (double x = rail->range[0]; x <= rail->range[1]; x += du) {
        double h[4];
        bg_profile_calc_near(rail, x, &piece, h);
        const int k = find_angle(h[1]);
        out[k] = fmax(out[k], calc_curvature(h));
    }
}

/* What contacts ask for at every point of the grid. */
static void ask(const bg_rail_contact *k, const bg_profile *wheel, double step, profile_grid *g)
{
    double rail[ANGLES], largest = 0;
    int piece = 0;
    list_curvatures(k->rail, g->du, rail);
    for (int i = 0; i < g->n; i++) {
        double W[4], most = 0;
        bg_profile_calc_near(wheel, g->s[i], &piece, W);
        const int at = find_angle(-W[1]); /* the rail falls where the wheel's radius grows */
        for (int j = at - ROLL; j <= at + ROLL; j++)
            if (j >= 0 && j < ANGLES)
                most = fmax(most, rail[j]);
        g->xi[i] = most + fmax(0, calc_curvature(W));
        largest = fmax(largest, g->xi[i]);
    }
    const double eps = fmin(k->epsilon, largest * (step / of_sigma) * (step / of_sigma));
    for (int i = 0; i < g->n; i++) {
        const double wish = g->xi[i] > 0 ? of_sigma * sqrt(eps / g->xi[i]) : INFINITY;
        g->rho[i] = fmax(step, fmin(WIDE * step, wish));
    }
}

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* No distance grows faster than contacts nearby allow; then running means. */
static void smooth(profile_grid *g)
{
    for (int i = 1; i < g->n; i++)
        g->rho[i] = fmin(g->rho[i], g->rho[i - 1] + growth * g->du);
    for (int i = g->n - 2; i >= 0; i--)
        g->rho[i] = fmin(g->rho[i], g->rho[i + 1] + growth * g->du);
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0; /* of rho[i - SMOOTH ... i + SMOOTH], its ends going on for ever */
        for (int j = -SMOOTH; j <= SMOOTH; j++)
            sum += g->rho[clamp(j, g->n)];
        for (int i = 0; i < g->n; i++) {
            g->xi[i] = sum / (2 * SMOOTH + 1);
            sum += g->rho[clamp(i + SMOOTH + 1, g->n)] - g->rho[clamp(i - SMOOTH, g->n)];
        }
        for (int i = 0; i < g->n; i++)
            g->rho[i] = g->xi[i];
    }
}

static void place_point(bg_rail_contact *k, const bg_profile *wheel, double s, double rho,
                        double *steepest)
{
    double W[4];
    bg_profile_calc(wheel, s, W);
    k->points[k->n++] = (bg_wheel_point){.s = s,
                                         .Y = k->sign * (k->base + s),
                                         .R = k->radius + W[0],
                                         .R_Y = k->sign * W[1],
                                         .c = 1 / sqrt(1 + W[1] * W[1]),
                                         .k = 1 + W[1] * W[1],
                                         .tilt = (k->radius + W[0]) * k->sign * W[1],
                                         .du = rho};
    if (-W[1] > *steepest) {
        *steepest = -W[1];
        k->climb = s;
    }
}

/* Points where xi is whole: between neighbours of the grid by the cubic through values and slopes,
 * xi' = 1/rho. */
static void place_points(bg_rail_contact *k, const bg_profile *wheel, const profile_grid *g)
{
    double steepest = -INFINITY;
    int piece = 0;
    place_point(k, wheel, g->s[0], g->rho[0], &steepest);
    for (int i = 0; i + 1 < g->n; i++)
        while (k->n <= g->xi[i + 1] && k->n < BG_RAIL_CONTACT_POINTS) {
            const double a = g->xi[i], b = g->xi[i + 1], d = (k->n - a) / (b - a), e = 1 - d;
            const double rho = e * g->rho[i] + d * g->rho[i + 1], whole = (b - a) / g->du;
            const double x = e * e * d * g->rho[i] * whole + d * d * (3 - 2 * d) -
                             d * d * e * g->rho[i + 1] * whole;
            place_point(k, wheel, advance(wheel, g->s[i], x * g->du, &piece), rho, &steepest);
        }
    if (steepest < flange) /* treads have no more than some tenths: there is none */
        k->climb = g->s[0] - k->base;
}

bg_status bg_rail_contact_prepare(bg_rail_contact *k, const bg_profile *wheel, double step,
                                  bg_error *err)
{
    const double from = wheel->range[0], to = wheel->range[1];
    const int most = PARTS * BG_RAIL_CONTACT_POINTS;
    profile_grid g = {.du = step / PARTS};
    int piece = 0;
    k->points = BG_NEW_ARRAY(bg_wheel_point, BG_RAIL_CONTACT_POINTS);
    double *memory = BG_NEW_ARRAY(double, 3 * most);
    if (!k->points || !memory) {
        free(memory);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a contact");
    }
    g.s = memory, g.rho = memory + most, g.xi = memory + 2 * most;
    for (double s = from; s <= to && g.n < most; s = advance(wheel, s, g.du, &piece))
        g.s[g.n++] = s;
    ask(k, wheel, step, &g);
    smooth(&g);
    g.xi[0] = 0;
    for (int i = 1; i < g.n; i++)
        g.xi[i] = g.xi[i - 1] + 0.5 * g.du * (1 / g.rho[i - 1] + 1 / g.rho[i]);
    place_points(k, wheel, &g);
    free(memory);
    return BG_OK;
}

void bg_rail_contact_clear(bg_rail_contact *k)
{
    free(k->name);
    free(k->points);
    *k = (bg_rail_contact){0};
}
