/* A force along a joint coordinate.
 *
 * The rate of a coordinate x is linear in the twists, x' = J (v_a, w_a, v_b, w_b); a force Q that
 * does the work Q x' adds the wrenches J^T Q.
 *
 *   angle:  x' = n . (w_b - w_a)                 torque  Q n on b, -Q n on a
 *   slide:  x' = n . u,  u = v_b + w_b x s_b - v_a - w_a x s_a
 *                                                force   Q n on b, -Q n on a, both at marker b
 *
 * s_a, s_b lead from the centres to marker b. n turns with body a (with b for the angle about x_b).
 * The angle about z_a is atan2(s, c), s = x_b . y_a, c = x_b . x_a; turning b by dtheta relative to
 * a gives
 *
 *   dx = (c ds - s dc) / (c^2 + s^2) = gradient . dtheta,
 *   gradient = x_b x (c y_a - s x_a) / (c^2 + s^2),
 *
 * which is z_a where x_b is perpendicular to z_a, as it is in every joint that has this angle.
 * Likewise about x_b with s = z_a . y_b, c = z_a . z_b: gradient = (c y_b - s z_b) x z_a / (c^2 +
 * s^2). */
#include "model/forces/lever.h"

static void calc_angle(const bg_world *w, const bg_coordinate *k, bg_lever *l)
{
    const bg_mat3 A = bg_marker_get_axes(w, &k->a), B = bg_marker_get_axes(w, &k->b);
    const bg_vec3 z_a = bg_axis(&A, 2), x_b = bg_axis(&B, 0);
    const bool about_z = k->kind == BG_COORDINATE_ANGLE_Z;
    const bg_vec3 e_c = about_z ? bg_axis(&A, 0) : bg_axis(&B, 2);
    const bg_vec3 e_s = about_z ? bg_axis(&A, 1) : bg_axis(&B, 1);
    const bg_vec3 pointer = about_z ? x_b : z_a;
    const double c = bg_dot(pointer, e_c), s = bg_dot(pointer, e_s), square = c * c + s * s;
    const bg_vec3 e = bg_sub(bg_scale(c, e_s), bg_scale(s, e_c));
    l->n = about_z ? z_a : x_b;
    l->gradient = about_z ? bg_cross(x_b, e) : bg_cross(e, z_a);
    l->gradient = square > 0 ? bg_scale(1 / square, l->gradient) : l->n;
}

bg_lever bg_lever_calc(const bg_world *w, const bg_coordinate *c)
{
    const bg_body_state *A = &w->body[c->a.body], *B = &w->body[c->b.body];
    bg_lever l = {.kind = c->kind, .a = c->a.body, .b = c->b.body, .w_a = A->w, .w_b = B->w};
    l.x = bg_coordinate_calc(w, c);
    l.rate = bg_coordinate_calc_rate(w, c);
    if (c->kind != BG_COORDINATE_SLIDE) {
        calc_angle(w, c, &l);
        return l;
    }
    const bg_mat3 axes = bg_marker_get_axes(w, &c->a);
    l.n = bg_scale(c->back ? -1 : 1, bg_axis(&axes, c->axis));
    l.s_b = bg_marker_get_arm(w, &c->b);
    l.s_a = bg_sub(bg_add(B->r, l.s_b), A->r);
    l.d = bg_sub(l.s_a, bg_marker_get_arm(w, &c->a));
    l.u = bg_sub(bg_add(B->v, bg_cross(B->w, l.s_b)), bg_add(A->v, bg_cross(A->w, l.s_a)));
    return l;
}

void bg_lever_push(const bg_lever *l, double Q, bg_wrench *wrench)
{
    const bg_vec3 f = bg_scale(Q, l->n);
    bg_wrench *a = &wrench[l->a], *b = &wrench[l->b];
    if (l->kind != BG_COORDINATE_SLIDE) {
        a->n = bg_sub(a->n, f);
        b->n = bg_add(b->n, f);
        return;
    }
    a->f = bg_sub(a->f, f);
    a->n = bg_sub(a->n, bg_cross(l->s_a, f));
    b->f = bg_add(b->f, f);
    b->n = bg_add(b->n, bg_cross(l->s_b, f));
}

static bg_vec3 vary_axis(const bg_lever *l, const bg_variation *d_a, const bg_variation *d_b)
{
    return bg_cross(l->kind == BG_COORDINATE_ANGLE_X ? d_b->dtheta : d_a->dtheta, l->n);
}

double bg_lever_vary(const bg_lever *l, const bg_variation *d_a, const bg_variation *d_b,
                     double *d_rate)
{
    const bg_vec3 dn = vary_axis(l, d_a, d_b);
    if (l->kind != BG_COORDINATE_SLIDE) {
        *d_rate = bg_dot(l->n, bg_sub(d_b->dw, d_a->dw)) + bg_dot(dn, bg_sub(l->w_b, l->w_a));
        return bg_dot(l->gradient, bg_sub(d_b->dtheta, d_a->dtheta));
    }
    const bg_vec3 ds_a = bg_sub(bg_variation_of_point(d_b, l->s_b), d_a->dr);
    bg_vec3 du = bg_variation_of_velocity(d_b, l->s_b, l->w_b);
    du = bg_sub(du, bg_add(d_a->dv, bg_cross(d_a->dw, l->s_a)));
    du = bg_sub(du, bg_cross(l->w_a, ds_a));
    *d_rate = bg_dot(dn, l->u) + bg_dot(l->n, du);
    /* d = s_a - arm of marker a, which turns with a */
    const bg_vec3 dd = bg_sub(ds_a, bg_cross(d_a->dtheta, bg_sub(l->s_a, l->d)));
    return bg_dot(dn, l->d) + bg_dot(l->n, dd);
}

void bg_lever_vary_push(const bg_lever *l, double Q, double dQ, const bg_variation *d_a,
                        const bg_variation *d_b, bg_wrench *on_a, bg_wrench *on_b)
{
    const bg_vec3 f = bg_scale(Q, l->n);
    const bg_vec3 df = bg_add_scaled(bg_scale(Q, vary_axis(l, d_a, d_b)), dQ, l->n);
    if (l->kind != BG_COORDINATE_SLIDE) {
        on_a->n = bg_sub(on_a->n, df);
        on_b->n = bg_add(on_b->n, df);
        return;
    }
    const bg_vec3 ds_b = bg_variation_of_arm(d_b, l->s_b);
    const bg_vec3 ds_a = bg_sub(bg_add(d_b->dr, ds_b), d_a->dr);
    const bg_wrench a = bg_wrench_vary(l->s_a, ds_a, f, df),
                    b = bg_wrench_vary(l->s_b, ds_b, f, df);
    *on_a = (bg_wrench){bg_sub(on_a->f, a.f), bg_sub(on_a->n, a.n)};
    *on_b = (bg_wrench){bg_add(on_b->f, b.f), bg_add(on_b->n, b.n)};
}
