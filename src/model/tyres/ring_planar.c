/* tyre-ring-planar: the law in the plane of the wheel, which stands upright and runs straight on:
 * Appendix B of Shome, Haug, Jay (004), with what is misprinted or missing there repaired.
 *
 * With x forward, z up, the wheel's axis e to the left, omega about e (forward rolling: positive),
 * and quantities of the ring (r, v, omega) and of the rim (r_H, v_H, omega_H),
 *
 *   F   = -c (r - r_H) - k (v - v_H)                          in both directions, axes of the world
 *   T   = -c_t theta - k_t theta',    theta' = omega - omega_H
 *   N   = c_r (H + R_0 - z) + k_r (H' v_x - v_z),             where this pushes; H at x
 *   u   = 2 c_p a^2 |s| / (3 mu N),   F_x = mu N (3u - 3u^2 + u^3) sign s,  mu N sign s from u = 1
 * on s'  = -(v_s + (|v_x| + m |v_s|) s) / S,  v_s = v_x - R_e omega,  m = 0 .. 1 as u = 1 .. 2 S =
 * max(a (1-u)^2, 0.3 a, (|v_x| + 3 m |v_s|) / rate) torque of the road on the ring: -R_e F_x - f N
 * R_e tanh(v_x / v_0)
 *
 * Repaired: (B11) has |v_s| sign(v_x), which does not tell driving from braking; the limit of (B6)
 * is |s| = 1/beta; sign(x') of (B10) is smooth; sigma of (B12), a (1-u)^2, vanishes in full sliding
 * and would grow again beyond u = 1; and without the term with m the slip of a wheel that spins on
 * the spot winds up without bound. The rim has -F at its own centre and -T: between dampers in
 * axes of the world the moment of F about the rim is left out, as in the paper. */
#include "model/tyres/ring_law.h"

static const double floor_of_sigma = 0.3; /* of a */

/* Everything along x, z and about e. */
typedef struct plane {
    bg_jet d[2], d_t[2]; /* of the ring against the rim */
    bg_jet v[2];         /* of the ring; x relative to the road */
    bg_jet spin, theta_t;
} plane;

BG_RING_INLINE bg_jet along(bg_vec3 axis, bg_jet3 x)
{
    return (bg_jet){bg_dot(axis, x.x), bg_dot(axis, x.d)};
}

BG_RING_INLINE plane project(const bg_ring_work *o, bg_vec3 e)
{
    const bg_vec3 axis[2] = {o->s->forward, {0, 0, 1}};
    const bg_jet3 d = bg_jet3_sub(o->r, o->r_H), d_t = bg_jet3_sub(o->v, o->v_H);
    plane k = {.spin = along(e, o->w), .theta_t = along(e, o->w_rel)};
    for (int i = 0; i < 2; i++) {
        k.d[i] = along(axis[i], d);
        k.d_t[i] = along(axis[i], d_t);
        k.v[i] = along(axis[i], o->v);
    }
    k.v[0].x += o->s->forward.x * o->s->contact.road.speed;
    return k;
}

BG_RING_INLINE bg_jet3 vector(const bg_ring_work *o, bg_jet x, bg_jet z)
{
    const bg_vec3 X = o->s->forward, Z = {0, 0, 1};
    return (bg_jet3){bg_add_scaled(bg_scale(x.x, X), z.x, Z),
                     bg_add_scaled(bg_scale(x.d, X), z.d, Z)};
}

BG_RING_INLINE void calc_sidewalls(bg_ring_work *o, const plane *k, bg_jet3 e)
{
    const bg_ring_tyre *s = o->s;
    const bg_jet theta = o->z[BG_RING_WINDUP];
    bg_jet F[2];
    for (int i = 0; i < 2; i++)
        F[i] = bg_jet_add(bg_jet_scale(-s->radial.c, k->d[i]),
                          bg_jet_scale(-s->radial.k, k->d_t[i]));
    const bg_jet twist = bg_jet_add(bg_jet_scale(-s->torsion.c, theta),
                                    bg_jet_scale(-s->torsion.k, k->theta_t));
    o->F = vector(o, F[0], F[1]);
    o->T = bg_jet3_mul(twist, e);
    o->T_H = bg_jet3_scale(-1, o->T);
    o->h[BG_RING_WINDUP] = k->theta_t;
    const double dd = k->d[0].x * k->d[0].x + k->d[1].x * k->d[1].x;
    const double tt = k->d_t[0].x * k->d_t[0].x + k->d_t[1].x * k->d_t[1].x;
    o->U.x = 0.5 * (s->radial.c * dd + s->torsion.c * theta.x * theta.x);
    o->loss.x = -(s->radial.k * tt + s->torsion.k * k->theta_t.x * k->theta_t.x);
}

/* Height and slope below the centre, compression and load. */
BG_RING_INLINE void calc_load(bg_ring_work *o, bg_jet v_z)
{
    const bg_ring_road road = bg_ring_find_road(o, o->r);
    const bg_jet free = bg_jet_of(o->s->contact.radius);
    const bg_jet x_t = {o->v.x.x + o->s->contact.road.speed, o->v.d.x};
    const bg_jet rising = bg_jet_add(bg_jet_mul(road.slope, x_t),
                                     bg_jet_mul(road.across, bg_jet3_y(o->v)));
    o->delta = bg_jet_sub(bg_jet_add(road.height, free), bg_jet3_z(o->r));
    o->delta_t = bg_jet_sub(rising, v_z);
    o->is_curved = false; /* delta_t is exact on any road */
    bg_ring_close(o);
}

BG_RING_INLINE void calc_contact(bg_ring_work *o, const plane *k, bg_jet3 e)
{
    const bg_ring_tyre *s = o->s;
    const bg_jet slip = o->z[BG_RING_SLIP_X], one = bg_jet_of(1), V = bg_jet_abs(k->v[0]);
    const bg_jet v_s = bg_jet_sub(k->v[0], bg_jet_scale(s->R_e, k->spin));
    calc_load(o, k->v[1]);
    const bool pushes = o->touches && o->N.x > 0;
    const bg_jet b = pushes ? bg_ring_calc_b(o, 0, o->N) : bg_jet_of(0);
    o->u = pushes ? bg_jet_mul(b, bg_jet_abs(slip)) : bg_jet_of(2);
    o->V_x = k->v[0];
    const bg_jet cut = bg_jet_min(o->u, one), left = bg_jet_sub(one, cut);
    const double share = bg_ring_calc_share(o->u.x);
    const bg_jet m = {share, share > 0 && share < 1 ? o->u.d : 0};
    const bg_jet slides = bg_jet_mul(m, bg_jet_abs(v_s));
    bg_jet S = bg_jet_max(bg_jet_scale(s->sigma[0], bg_jet_mul(left, left)),
                          bg_jet_of(floor_of_sigma * s->sigma[0]));
    S = bg_jet_max(S, bg_jet_scale(1 / s->rate, bg_jet_add(V, bg_jet_scale(3, slides))));
    const bg_jet moved = bg_jet_add(v_s, bg_jet_mul(bg_jet_add(V, slides), slip));
    o->h[BG_RING_SLIP_X] = bg_jet_scale(-1, bg_jet_div(moved, S));
    if (!o->touches)
        return;
    const bg_jet N = pushes ? o->N : bg_jet_of(0);
    const bg_jet sticks = bg_jet_add(bg_jet_scale(3, left), bg_jet_mul(cut, cut));
    const bg_jet K = o->u.x < 1 ? sticks : bg_jet_div(one, o->u);
    o->F_x = bg_jet_scale(s->mu[0], bg_jet_mul(bg_jet_mul(K, N), bg_jet_mul(b, slip)));
    const bg_jet roll = bg_jet_tanh(bg_jet_scale(1 / BG_RING_SLOW, k->v[0]));
    const bg_jet brake = bg_jet_scale(s->resistance * s->R_e, bg_jet_mul(N, roll));
    o->f = vector(o, o->F_x, o->N);
    o->n = bg_jet3_mul(bg_jet_scale(-1, bg_jet_add(bg_jet_scale(s->R_e, o->F_x), brake)), e);
}

BG_RING_INLINE void calc(const bg_force *f, double t, const int *mode, const bg_ring_state *x,
                         const bg_ring_state *d, bg_ring_work *o)
{
    const bg_ring_tyre *s = f->self;
    const bg_vec3 axis = bg_cross(bg_vec3_make(0, 0, 1), s->forward);
    const bg_jet3 e = bg_jet3_of(axis);
    *o = (bg_ring_work){.s = s, .force = f, .t = t, .mode = mode};
    bg_ring_begin(x, d, o);
    const plane k = project(o, axis);
    calc_sidewalls(o, &k, e);
    calc_contact(o, &k, e);
    bg_ring_split(o);
}

static void calc_values(const bg_force *f, double t, const int *mode, const bg_ring_state *x,
                        bg_ring_values *y)
{
    static const bg_ring_state none = {0};
    bg_ring_work o;
    calc(f, t, mode, x, &none, &o);
    bg_ring_store(&o, y);
}

void bg_ring_calc_planar(const bg_force *f, double t, const int *mode, const bg_ring_state *x,
                         const bg_ring_state *d, bg_ring_values *y, bg_ring_values *dy)
{
    if (!dy) {
        calc_values(f, t, mode, x, y);
        return;
    }
    bg_ring_work o;
    calc(f, t, mode, x, d, &o);
    bg_ring_store(&o, y);
    bg_ring_store_derivative(&o, dy);
}
