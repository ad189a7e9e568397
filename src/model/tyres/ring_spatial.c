/* tyre-ring: the law in space.
 *
 * Sidewalls. With d = r - r_H, w = d' - omega_H x d (the velocity in the axes of the rim, which
 * spin) and W the part of omega - omega_H across e_H,
 *
 *   F = -c_x d - (c_y - c_x)(d.e_H) e_H - k_x w - (k_y - k_x)(w.e_H) e_H
 *   T = c_g e x e_H - k_g W - (c_t theta + k_t theta') e_H,        theta' = (omega - omega_H).e_H
 *
 * on the ring at its centre, -F and -T - d x F on the rim at its own. Their power is -U' less what
 * the dampers take, U = c_x |d_perp|^2 / 2 + c_y (d.e_H)^2 / 2 + c_g (1 - e.e_H) + c_t theta^2 / 2.
 *
 * Contact with the road z = H(x, y), normal n below C, the lowest point of the unloaded ring:
 *
 *   p = -(n - (e.n) e) / |e x n|,  C = r + R_0 p      n at C: from n = z by three rounds
 *   delta = (H - C_z) n_z,   delta' = -n.(v + omega x R_0 p)     v relative to the road
 *   N = c_r delta + k_r delta', where this pushes
 *   t_x = e x n / |e x n|  forward,  t_y = n x t_x  to the left
 *   v_s = v + omega x R_e p,  V_x = v.t_x
 *   u = |(b_x s_x, b_y s_y)|,  b_i = 2 c_i a^2 / (3 mu_i N)
 *   F_i = mu_i N K b_i s_i,    K = 3 - 3u + u^2, 1/u from u = 1 on
 *   s_i' = -(v_s,i + (|V_x| + m |v_s|) s_i) / S_i,  m = 0 .. 1 as u = 1 .. 2
 *   S_i  = max(sigma_i (3 - 3u + u^2)/3, (|V_x| + 3 m |v_s|) / rate)    with u cut at 1
 *
 * N and both F_i act at C and at R_e p; aligning torque -t F_y tanh(V_x / v_0) about n with the
 * trail t = a (1-u)^3 / (3 - 3u + u^2), and rolling resistance -f N R_e tanh(R_e omega.e / v_0)
 * about e. S is the secant relaxation length: a standing tyre is a spring of 2 a c_p in every
 * direction, which does not creep. */
#include "model/tyres/ring_law.h"

static const double lying = 1e-3; /* |e x n| below which a wheel lies on its side */

BG_RING_INLINE void calc_sidewalls(bg_ring_work *o)
{
    const bg_ring_tyre *s = o->s;
    const bg_jet3 d = bg_jet3_sub(o->r, o->r_H);
    const bg_jet3 w = bg_jet3_sub(bg_jet3_sub(o->v, o->v_H), bg_jet3_cross(o->w_H, d));
    const bg_jet d_y = bg_jet3_dot(d, o->e_H), w_y = bg_jet3_dot(w, o->e_H);
    const bg_jet theta = o->z[BG_RING_WINDUP], theta_t = bg_jet3_dot(o->w_rel, o->e_H);
    const bg_jet3 W = bg_jet3_add_scaled(o->w_rel, bg_jet_scale(-1, theta_t), o->e_H);
    const bg_jet side = bg_jet_add(bg_jet_scale(s->radial.c - s->lateral.c, d_y),
                                   bg_jet_scale(s->radial.k - s->lateral.k, w_y));
    const bg_jet twist = bg_jet_add(bg_jet_scale(-s->torsion.c, theta),
                                    bg_jet_scale(-s->torsion.k, theta_t));
    o->F = bg_jet3_add(bg_jet3_scale(-s->radial.c, d), bg_jet3_scale(-s->radial.k, w));
    o->F = bg_jet3_add_scaled(o->F, side, o->e_H);
    o->T = bg_jet3_scale(s->tilt.c, bg_jet3_cross(o->e, o->e_H));
    o->T = bg_jet3_add(o->T, bg_jet3_scale(-s->tilt.k, W));
    o->T = bg_jet3_add_scaled(o->T, twist, o->e_H);
    o->T_H = bg_jet3_scale(-1, bg_jet3_add(o->T, bg_jet3_cross(d, o->F)));
    o->h[BG_RING_WINDUP] = theta_t;
    const double dd = bg_dot(d.x, d.x), ww = bg_dot(w.x, w.x);
    o->U.x = 0.5 * (s->radial.c * (dd - d_y.x * d_y.x) + s->lateral.c * d_y.x * d_y.x +
                    s->torsion.c * theta.x * theta.x) +
             s->tilt.c * (1 - bg_dot(o->e.x, o->e_H.x));
    o->loss.x = -(s->radial.k * (ww - w_y.x * w_y.x) + s->lateral.k * w_y.x * w_y.x +
                  s->tilt.k * bg_dot(W.x, W.x) + s->torsion.k * theta_t.x * theta_t.x);
}

/* The lowest point of the ring, as p, and the road's normal below it. */
BG_RING_INLINE bg_jet3 find_lowest(bg_ring_work *o, bg_jet3 *n)
{
    bg_jet3 p = {{0, 0, -1}, {0, 0, 0}};
    *n = bg_jet3_of(bg_vec3_make(0, 0, 1));
    for (int round = 0; round < 3; round++) {
        const bg_jet sg = bg_jet3_dot(o->e, *n);
        const bg_jet cg = bg_jet_sqrt(bg_jet_sub(bg_jet_of(1), bg_jet_mul(sg, sg)));
        p = bg_jet3_add_scaled(bg_jet3_scale(-1, *n), sg, o->e);
        p = bg_jet3_mul(bg_jet_div(bg_jet_of(1), cg), p);
        const bg_jet3 C = bg_jet3_add(o->r, bg_jet3_scale(o->s->contact.radius, p));
        const bg_ring_road road = bg_ring_find_road(o, C);
        bg_jet m = bg_jet_add(bg_jet_mul(road.slope, road.slope),
                              bg_jet_mul(road.across, road.across));
        m = bg_jet_div(bg_jet_of(1), bg_jet_sqrt(bg_jet_add(bg_jet_of(1), m)));
        const bg_jet3 up = {{-road.slope.x, -road.across.x, 1}, {-road.slope.d, -road.across.d, 0}};
        *n = bg_jet3_mul(m, up);
        o->delta = bg_jet_mul(bg_jet_sub(road.height, bg_jet3_z(C)), m);
        if (road.slope.x == 0 && road.across.x == 0 && !o->is_curved)
            break; /* n is the same in every round */
    }
    return p;
}

/* Utilisation of the patch, and the factors K of its forces and L of its relaxation. */
typedef struct patch {
    bg_jet b[2], u, cut, K, L;
} patch;

BG_RING_INLINE patch calc_patch(const bg_ring_work *o, bool pushes)
{
    const bg_jet one = bg_jet_of(1);
    patch k = {.u = bg_jet_of(2), .cut = one, .L = bg_jet_of(1.0 / 3)};
    if (!pushes)
        return k;
    k.b[0] = bg_ring_calc_b(o, 0, o->N);
    k.b[1] = bg_ring_calc_b(o, 1, o->N);
    k.u = bg_jet_hypot(bg_jet_mul(k.b[0], o->z[BG_RING_SLIP_X]),
                       bg_jet_mul(k.b[1], o->z[BG_RING_SLIP_Y]));
    k.cut = bg_jet_min(k.u, one);
    const bg_jet left = bg_jet_sub(bg_jet_of(3), bg_jet_scale(3, k.cut));
    k.L = bg_jet_scale(1.0 / 3, bg_jet_add(left, bg_jet_mul(k.cut, k.cut)));
    k.K = k.u.x < 1 ? bg_jet_scale(3, k.L) : bg_jet_div(one, k.u);
    return k;
}

/* Rates of the slips: velocities v_s of the patch, speed V of the ring. */
BG_RING_INLINE void calc_relaxation(bg_ring_work *o, const patch *k, const bg_jet v_s[2], bg_jet V)
{
    const bg_ring_tyre *s = o->s;
    const double share = bg_ring_calc_share(k->u.x);
    const bg_jet m = {share, share > 0 && share < 1 ? k->u.d : 0};
    const bg_jet slides = bg_jet_mul(m, bg_jet_hypot(v_s[0], v_s[1]));
    const bg_jet carried = bg_jet_add(V, slides);
    const bg_jet least = bg_jet_scale(1 / s->rate, bg_jet_add(V, bg_jet_scale(3, slides)));
    for (int i = 0; i < 2; i++) {
        const bg_jet length = bg_jet_max(bg_jet_scale(s->sigma[i], k->L), least);
        const bg_jet moved = bg_jet_add(v_s[i], bg_jet_mul(carried, o->z[BG_RING_SLIP_X + i]));
        o->h[BG_RING_SLIP_X + i] = bg_jet_scale(-1, bg_jet_div(moved, length));
    }
}

/* Torques about the normal and about the axis. */
BG_RING_INLINE void calc_torques(bg_ring_work *o, const patch *k, bg_jet3 n, bg_jet N)
{
    const bg_ring_tyre *s = o->s;
    const bg_jet left = bg_jet_sub(bg_jet_of(1), k->cut);
    const bg_jet cube = bg_jet_mul(left, bg_jet_mul(left, left));
    const bg_jet trail = bg_jet_scale(s->a / 3, bg_jet_div(cube, k->L));
    const bg_jet way = bg_jet_tanh(bg_jet_scale(1 / BG_RING_SLOW, o->V_x));
    const bg_jet spin = bg_jet3_dot(o->w, o->e);
    const bg_jet roll = bg_jet_tanh(bg_jet_scale(s->R_e / BG_RING_SLOW, spin));
    o->align = bg_jet_scale(-1, bg_jet_mul(bg_jet_mul(trail, o->F_y), way));
    const bg_jet brake = bg_jet_scale(-s->resistance * s->R_e, bg_jet_mul(N, roll));
    o->n = bg_jet3_add(o->n, bg_jet3_mul(o->align, n));
    o->n = bg_jet3_add(o->n, bg_jet3_mul(brake, o->e));
}

BG_RING_INLINE void calc_contact(bg_ring_work *o)
{
    const bg_ring_tyre *s = o->s;
    const double moving = s->contact.road.speed;
    const bg_jet3 v = {bg_add(o->v.x, bg_vec3_make(moving, 0, 0)), o->v.d};
    const bg_jet zero = bg_jet_of(0);
    bg_jet3 n;
    const bg_jet3 p = find_lowest(o, &n);
    const bg_jet3 low = bg_jet3_add(v, bg_jet3_cross(o->w, bg_jet3_scale(s->contact.radius, p)));
    o->delta_t = bg_jet_scale(-1, bg_jet3_dot(n, low));
    bg_ring_close(o);
    const bg_jet3 across = bg_jet3_cross(o->e, n);
    const bg_jet3 t_x = bg_jet3_mul(
        bg_jet_div(bg_jet_of(1), bg_jet_sqrt(bg_jet3_dot(across, across))), across);
    const bg_jet3 t_y = bg_jet3_cross(n, t_x), arm = bg_jet3_scale(s->R_e, p);
    const bg_jet3 v_P = bg_jet3_add(v, bg_jet3_cross(o->w, arm));
    const bg_jet v_s[2] = {bg_jet3_dot(v_P, t_x), bg_jet3_dot(v_P, t_y)};
    const bool pushes = o->touches && o->N.x > 0;
    const bg_jet N = pushes ? o->N : zero;
    const patch k = calc_patch(o, pushes);
    o->u = k.u;
    o->V_x = bg_jet3_dot(v, t_x);
    calc_relaxation(o, &k, v_s, bg_jet_abs(o->V_x));
    if (!o->touches)
        return;
    const bg_jet scaled = bg_jet_mul(k.K, N);
    o->F_x = bg_jet_scale(s->mu[0], bg_jet_mul(bg_jet_mul(scaled, k.b[0]), o->z[BG_RING_SLIP_X]));
    o->F_y = bg_jet_scale(s->mu[1], bg_jet_mul(bg_jet_mul(scaled, k.b[1]), o->z[BG_RING_SLIP_Y]));
    const bg_jet3 tread = bg_jet3_add(bg_jet3_mul(o->F_x, t_x), bg_jet3_mul(o->F_y, t_y));
    const bg_jet3 load = bg_jet3_mul(o->N, n);
    o->f = bg_jet3_add(load, tread);
    o->n = bg_jet3_add(bg_jet3_scale(s->contact.radius, bg_jet3_cross(p, load)),
                       bg_jet3_cross(arm, tread));
    calc_torques(o, &k, n, N);
}

/* A wheel that lies on its side has no contact; its slips fade as those of a lifted one. */
BG_RING_INLINE void calc_lying(bg_ring_work *o)
{
    o->delta = bg_jet_of(-o->s->contact.radius);
    o->u = bg_jet_of(2);
    for (int i = 0; i < 2; i++)
        o->h[BG_RING_SLIP_X + i] = bg_jet_scale(-o->s->rate, o->z[BG_RING_SLIP_X + i]);
}

BG_RING_INLINE void calc(const bg_force *f, double t, const int *mode, const bg_ring_state *x,
                         const bg_ring_state *d, bg_ring_work *o)
{
    *o = (bg_ring_work){.s = f->self, .force = f, .t = t, .mode = mode};
    bg_ring_begin(x, d, o);
    calc_sidewalls(o);
    if (hypot(x->e.x, x->e.y) < lying)
        calc_lying(o);
    else
        calc_contact(o);
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

void bg_ring_calc_spatial(const bg_force *f, double t, const int *mode, const bg_ring_state *x,
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
