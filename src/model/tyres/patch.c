#include "model/tyres/patch.h"

/* |e x n| below which a wheel counts as lying. */
static const double lying = 1e-3;

/* The change of the road's normal n = N / m, N = (-H_x, -H_y, 1), with changes of its slopes. */
static bg_vec3 vary_normal(bg_vec3 n, double m, double d_slope, double d_across)
{
    const bg_vec3 dN = {-d_slope / m, -d_across / m, 0};
    return bg_add_scaled(dN, -bg_dot(n, dN), n);
}

bg_patch bg_patch_calc(const bg_force *f, const bg_world *w, bg_vec3 axis, const int *mode)
{
    const bg_contact *s = f->self;
    const bg_mat3 axes = bg_marker_get_axes(w, &s->wheel);
    const bg_vec3 p = bg_world_get_place(w, bg_marker_get_position(w, &s->wheel));
    const bg_vec3 v = bg_marker_get_velocity(w, &s->wheel);
    bg_patch k = {.contact = bg_contact_find_road(f, p, v, w->t, mode)};
    const double slope = k.contact.road[1], *across = k.contact.across;
    const double m = sqrt(1 + slope * slope + across[0] * across[0]);
    k.arm = bg_marker_get_arm(w, &s->wheel);
    k.w = w->body[s->wheel.body].w;
    k.e = bg_rotate(&axes, axis);
    k.n = bg_vec3_make(-slope / m, -across[0] / m, 1 / m);
    const bg_vec3 forward = bg_cross(k.e, k.n);
    k.c = bg_length(forward);
    k.lies = k.c < lying;
    if (k.lies) {
        k.contact.delta = -s->radius;
        return k;
    }
    k.x = bg_scale(1 / k.c, forward);
    k.y = bg_cross(k.n, k.x);
    k.z = bg_cross(k.x, k.e);
    k.n_x = vary_normal(k.n, m, k.contact.road[2], across[1]);
    k.n_y = vary_normal(k.n, m, across[1], across[2]);
    k.height = p.z - k.contact.road[0];
    k.r_l = k.height * k.n.z / k.c;
    k.r_e = (2 * s->radius + k.r_l) / 3;
    k.reach = bg_add_scaled(k.arm, -k.r_l, k.z);
    k.v = bg_add(v, bg_vec3_make(s->road.speed, 0, 0));
    k.v_C = bg_add_scaled(k.v, -k.r_l, bg_cross(k.w, k.z));
    k.v_x = bg_dot(k.x, k.v);
    k.Omega = bg_dot(k.e, k.w);
    k.slip[0] = k.v_x - k.r_e * k.Omega;
    k.slip[1] = bg_dot(k.y, k.v_C);
    k.contact.delta = s->radius - k.r_l;
    k.contact.delta_t = -bg_dot(k.n, k.v_C) / k.c;
    bg_contact_close(s, mode, &k.contact);
    return k;
}

bg_patch_variation bg_patch_vary(const bg_patch *k, const bg_variation *d)
{
    const bg_vec3 dp = bg_variation_of_point(d, k->arm);
    const bg_vec3 dv = bg_variation_of_velocity(d, k->arm, k->w);
    const double slope = k->contact.road[1], aslant = k->contact.across[0];
    bg_patch_variation o = {.e = bg_cross(d->dtheta, k->e),
                            .n = bg_add_scaled(bg_scale(dp.x, k->n_x), dp.y, k->n_y)};
    const bg_vec3 across = bg_add(bg_cross(o.e, k->n), bg_cross(k->e, o.n));
    const double dc = bg_dot(k->x, across);
    o.x = bg_scale(1 / k->c, bg_add_scaled(across, -dc, k->x));
    o.y = bg_add(bg_cross(o.n, k->x), bg_cross(k->n, o.x));
    const bg_vec3 dz = bg_add(bg_cross(o.x, k->e), bg_cross(k->x, o.e));
    const double dd = (dp.z - slope * dp.x - aslant * dp.y) * k->n.z + k->height * o.n.z;
    const double dr_l = (dd - k->r_l * dc) / k->c;
    const bg_vec3 down = bg_add_scaled(bg_scale(-dr_l, k->z), -k->r_l, dz);
    o.reach = bg_add(bg_variation_of_arm(d, k->arm), down);
    o.delta = -dr_l;
    o.r_e = dr_l / 3;
    const bg_vec3 turn = bg_cross(d->dw, bg_scale(-k->r_l, k->z));
    const bg_vec3 dv_C = bg_add(dv, bg_add(turn, bg_cross(k->w, down)));
    o.v_x = bg_dot(o.x, k->v) + bg_dot(k->x, dv);
    o.Omega = bg_dot(d->dw, k->e) + bg_dot(k->w, o.e);
    o.slip[0] = o.v_x - o.r_e * k->Omega - k->r_e * o.Omega;
    o.slip[1] = bg_dot(o.y, k->v_C) + bg_dot(k->y, dv_C);
    o.delta_t = -(bg_dot(o.n, k->v_C) + bg_dot(k->n, dv_C) + k->contact.delta_t * dc) / k->c;
    return o;
}

/* By v and w of factor a . (v + w x s) + b . w. */
static void set_gradient(double factor, bg_vec3 a, bg_vec3 s, bg_vec3 b, double out[6])
{
    bg_vec3_store(bg_scale(factor, a), out);
    bg_vec3_store(bg_add(bg_scale(factor, bg_cross(s, a)), b), out + 3);
}

void bg_patch_calc_gradient(const bg_patch *k, bg_patch_gradient *o)
{
    const bg_vec3 none = {0, 0, 0};
    set_gradient(-1 / k->c, k->n, k->reach, none, o->delta_t);
    set_gradient(1, k->x, k->arm, none, o->v_x);
    set_gradient(0, none, none, k->e, o->Omega);
    set_gradient(1, k->x, k->arm, bg_scale(-k->r_e, k->e), o->slip[0]);
    set_gradient(1, k->y, k->reach, none, o->slip[1]);
}

bool bg_patch_is_level(const bg_patch *k)
{
    const double *x = k->contact.road, *y = k->contact.across;
    return x[1] == 0 && x[2] == 0 && y[0] == 0 && y[1] == 0 && y[2] == 0;
}

double bg_patch_calc_rate(const bg_patch *k)
{
    const bg_vec3 centre = bg_sub(k->v, bg_cross(k->w, k->arm)); /* of mass */
    const bg_variation motion = {.dr = centre, .dtheta = k->w};
    return bg_patch_vary(k, &motion).delta;
}
