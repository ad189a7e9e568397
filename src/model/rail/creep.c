/* Creep forces.
 *
 * With delta the angle of the contact plane, v the material velocity and w the angular velocity of
 * the wheel, V the speed along the track,
 *
 *   xi = v_x/|V|,   eta = (v_y cos delta + v_z sin delta)/|V|,   spin = (-w_y sin delta + w_z cos
 * delta)/V, the area a b = (a b)_0 (N/N_0)^(2/3) of Hertz, and Kalker's linear theory
 *
 *   F_x = -G a b C11 xi,     F_t = -G a b (C22 eta + sqrt(a b) C23 spin).
 *
 * u = |F|/(mu N) saturates: F times 1 - u/3 + u^2/27 below u = 3 and 1/u above, or times Polach's
 * (2/pi)(e/(1 + e^2) + atan e)/u with e = pi u/4, which has the same slope at zero. The force on
 * the wheel is (F_x, F_t cos delta, F_t sin delta).
 *
 * |V| is sqrt(V^2 + v_0^2) and 1/V is V/(V^2 + v_0^2), so that a train may stand; below 1 N the
 * normal force counts as 1 N here. The force is once continuously differentiable at zero creep. */
#include "model/rail/creep.h"

#include <math.h>

static const double slow = 1e-3; /* m/s: v_0 */
static const double least = 1;   /* N */

static void divide(const bg_dual *a, const bg_dual *b, bg_dual *y)
{
    bg_dual inverse;
    bg_dual_chain(b, 1 / b->x, -1 / (b->x * b->x), &inverse);
    bg_dual_multiply(a, &inverse, y);
}

/* a b + c d */
static void join(const bg_dual *a, const bg_dual *b, double sign, const bg_dual *c,
                 const bg_dual *d, bg_dual *out)
{
    bg_dual x, y;
    bg_dual_multiply(a, b, &x);
    bg_dual_multiply(c, d, &y);
    bg_dual_combine(1, &x, sign, &y, out);
}

/* What linear forces are multiplied by, and its slope. */
static void saturate(bg_creep_law law, double u, double *factor, double *slope)
{
    if (law == BG_CREEP_CUBIC) {
        *factor = u < 3 ? 1 - u / 3 + u * u / 27 : 1 / u;
        *slope = u < 3 ? -1.0 / 3 + 2 * u / 27 : -1 / (u * u);
        return;
    }
    const double e = M_PI * u / 4, square = 1 + e * e;
    if (e < 1e-4) { /* e/(1+e^2) + atan e = 2e - 4/3 e^3 + ... */
        *factor = 1 - 2 * e * e / 3;
        *slope = -e * M_PI / 3;
        return;
    }
    const double f = 2 / M_PI * (e / square + atan(e)), f_e = 4 / M_PI / (square * square);
    *factor = f / u;
    *slope = (f_e * M_PI / 4 - *factor) / u;
}

/* |F| / (mu N), where it is zero without slope: F |F| has none there. */
static void calc_use(const bg_creep *c, const bg_dual *Fx, const bg_dual *Ft, const bg_dual *N,
                     bg_dual *out)
{
    bg_dual square, whole, limit;
    join(Fx, Fx, 1, Ft, Ft, &square);
    const double size = sqrt(square.x);
    bg_dual_chain(&square, size, size > 0 ? 0.5 / size : 0, &whole);
    bg_dual_scale(c->friction, N, &limit);
    divide(&whole, &limit, out);
}

/* sin and cos of delta. */
static void calc_plane(const bg_dual *slope, bg_dual *sine, bg_dual *cosine)
{
    const double k = slope->x, w = sqrt(1 + k * k);
    bg_dual_chain(slope, 1 / w, -k / (w * w * w), cosine);
    bg_dual_chain(slope, k / w, 1 / (w * w * w), sine);
}

void bg_creep_calc(const bg_creep *c, const bg_creep_motion *m, bg_creep_force *out)
{
    const double V = m->speed.x, square = V * V + slow * slow, size = sqrt(square);
    bg_dual by_size, by_V, across, turning, xi, eta, spin, ab, root, stiff, turned, lateral, along,
        Fx, Ft, u, part, F_t;
    bg_dual_chain(&m->speed, 1 / size, -V / (size * square), &by_size);
    bg_dual_chain(&m->speed, V / square, (slow * slow - V * V) / (square * square), &by_V);
    bg_dual sine, cosine, N = m->load;
    calc_plane(&m->slope, &sine, &cosine);
    if (!(N.x > least))
        bg_dual_set(N.n, least, &N);
    join(&m->v[1], &cosine, 1, &m->v[2], &sine, &across);
    join(&m->w[2], &cosine, -1, &m->w[1], &sine, &turning);
    bg_dual_multiply(&m->v[0], &by_size, &xi);
    bg_dual_multiply(&across, &by_size, &eta);
    bg_dual_multiply(&turning, &by_V, &spin);
    const double area = c->area * pow(N.x / c->load, 2.0 / 3);
    bg_dual_chain(&N, area, 2.0 / 3 * area / N.x, &ab);
    bg_dual_chain(&ab, sqrt(area), 0.5 / sqrt(area), &root);
    bg_dual_scale(-c->modulus, &ab, &stiff);
    bg_dual_multiply(&root, &spin, &turned);
    bg_dual_combine(c->C22, &eta, c->C23, &turned, &lateral);
    bg_dual_scale(c->C11, &xi, &along);
    bg_dual_multiply(&stiff, &along, &Fx);
    bg_dual_multiply(&stiff, &lateral, &Ft);
    calc_use(c, &Fx, &Ft, &N, &u);
    double factor, by_u;
    saturate(c->law, u.x, &factor, &by_u);
    bg_dual_chain(&u, factor, by_u, &part);
    bg_dual_multiply(&Ft, &part, &F_t);
    bg_dual_multiply(&Fx, &part, &out->F[0]);
    bg_dual_multiply(&F_t, &cosine, &out->F[1]);
    bg_dual_multiply(&F_t, &sine, &out->F[2]);
    out->longitudinal = out->F[0].x, out->lateral = F_t.x;
    out->xi = xi.x, out->eta = eta.x, out->spin = spin.x, out->use = u.x;
    out->slip = m->v[2].x * cosine.x - m->v[1].x * sine.x;
}
