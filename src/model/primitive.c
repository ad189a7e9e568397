/* Rows of constraints between two bodies.
 *
 * With p = r + s, s = R s_body, the arms s turn with their bodies: s' = w x s, and where v' = w' =
 * 0 s'' = w x (w x s),   p'' = s''. Axes of marker frames turn likewise. A row g = F(p_a, p_b, a,
 * b) then has g'  = J . (v_a, w_a, v_b, w_b),   gamma = g'' at v' = w' = 0, from the product rule;
 * (w x a) . b = w . (a x b) gives the entries of J. */
#include "model/cardan.h"
#include "model/primitive_parts.h"

static void store(double *J, bg_vec3 v_a, bg_vec3 w_a, bg_vec3 v_b, bg_vec3 w_b)
{
    bg_vec3_store(v_a, J);
    bg_vec3_store(w_a, J + 3);
    bg_vec3_store(v_b, J + 6);
    bg_vec3_store(w_b, J + 9);
}

int bg_primitive_get_rows(const bg_primitive *p)
{
    return p->kind == BG_PRIMITIVE_POINT ? 3 : 1;
}

/* The axis an angle is measured about. */
static bg_vec3 angle_axis(const bg_world *w, const bg_coordinate *c)
{
    return c->kind == BG_COORDINATE_ANGLE_Z ? bg_marker_get_axis(w, &c->a, 2)
                                            : bg_marker_get_axis(w, &c->b, 0);
}

/* The reference of a pitch, or its rates; a world without signals stands at their zero. */
static double get_reference(const double *u, const bg_coordinate *c)
{
    return u && c->kind == BG_COORDINATE_PITCH && c->reference >= 0 ? u[c->reference] : 0;
}

static double calc_angle(const bg_world *w, const bg_coordinate *c)
{
    if (bg_coordinate_is_cardan(c)) {
        double angle = bg_cardan_calc(w, c).angle - get_reference(w->u, c);
        return remainder(angle, 8 * atan(1.0));
    }
    bg_mat3 A = bg_marker_get_axes(w, &c->a), B = bg_marker_get_axes(w, &c->b);
    bg_vec3 z_a = bg_axis(&A, 2), x_b = bg_axis(&B, 0);
    return c->kind == BG_COORDINATE_ANGLE_Z
               ? atan2(bg_dot(x_b, bg_axis(&A, 1)), bg_dot(x_b, bg_axis(&A, 0)))
               : atan2(bg_dot(z_a, bg_axis(&B, 1)), bg_dot(z_a, bg_axis(&B, 2)));
}

double bg_coordinate_calc(const bg_world *w, const bg_coordinate *c)
{
    if (c->kind == BG_COORDINATE_SLIDE) {
        bg_body_pair x = bg_body_pair_make(w, &c->a, &c->b);
        return bg_dot(bg_coordinate_get_axis(w, c), x.d);
    }
    double angle = calc_angle(w, c);
    if (c->turns < 0)
        return angle;
    double turn = 8 * atan(1.0);
    return angle + turn * floor((w->z[c->turns] - angle) / turn + 0.5);
}

double bg_coordinate_calc_rate(const bg_world *w, const bg_coordinate *c)
{
    if (bg_coordinate_is_cardan(c))
        return bg_cardan_calc(w, c).rate - get_reference(w->u_t, c);
    if (c->kind != BG_COORDINATE_SLIDE)
        return bg_dot(angle_axis(w, c), bg_sub(w->body[c->b.body].w, w->body[c->a.body].w));
    bg_body_pair x = bg_body_pair_make(w, &c->a, &c->b);
    bg_vec3 a = bg_coordinate_get_axis(w, c);
    return bg_dot(bg_cross(x.w_a, a), x.d) + bg_dot(a, x.d_t);
}

void bg_slide_calc_jacobian(const bg_body_pair *x, bg_vec3 a, double factor, double *J)
{
    bg_vec3 f = bg_scale(factor, a);
    store(J, bg_scale(-1, f), bg_cross(f, bg_add(x->d, x->s_a)), f, bg_cross(x->s_b, f));
}

double bg_slide_calc_gamma(const bg_body_pair *x, bg_vec3 a)
{
    return bg_dot(bg_turn_twice(x->w_a, a), x->d) + 2 * bg_dot(bg_cross(x->w_a, a), x->d_t) +
           bg_dot(a, x->d_tt);
}

/* (w_a x a) . b + a . (w_b x b) = (w_a - w_b) . (a x b) */
void bg_axes_calc_jacobian(bg_vec3 a, bg_vec3 b, double factor, double *J)
{
    const bg_vec3 zero = {0, 0, 0}, c = bg_scale(factor, bg_cross(a, b));
    store(J, zero, c, zero, bg_scale(-1, c));
}

double bg_axes_calc_gamma(const bg_body_pair *x, bg_vec3 a, bg_vec3 b)
{
    return bg_dot(bg_turn_twice(x->w_a, a), b) + bg_dot(a, bg_turn_twice(x->w_b, b)) +
           2 * bg_dot(bg_cross(x->w_a, a), bg_cross(x->w_b, b));
}

static void coordinate_jacobian(const bg_world *w, const bg_coordinate *c, double factor, double *J)
{
    const bg_vec3 zero = {0, 0, 0};
    if (c->kind == BG_COORDINATE_SLIDE) {
        bg_body_pair x = bg_body_pair_make(w, &c->a, &c->b);
        bg_slide_calc_jacobian(&x, bg_coordinate_get_axis(w, c), factor, J);
        return;
    }
    if (bg_coordinate_is_cardan(c)) {
        bg_vec3 n = bg_scale(factor, bg_cardan_calc(w, c).n);
        store(J, zero, bg_scale(-1, n), zero, n);
        return;
    }
    bg_dial x = bg_dial_make(w, c);
    bg_vec3 n = bg_scale(factor * x.side / x.square, bg_cross(x.p, x.e));
    store(J, zero, bg_scale(-1, n), zero, n);
}

/* With p' = w x p seen from the frame, where w' = -w_frame x w: second derivative of atan2(s, c).
 */
static double dial_gamma(const bg_dial *x)
{
    bg_vec3 w_t = bg_cross(x->w, x->w_frame), p_t = bg_cross(x->w, x->p);
    bg_vec3 p_tt = bg_add(bg_cross(w_t, x->p), bg_cross(x->w, p_t));
    double square_t = 2 * (x->c * bg_dot(p_t, x->e_c) + x->s * bg_dot(p_t, x->e_s));
    return (bg_dot(p_tt, x->e) - square_t * bg_dot(p_t, x->e) / x->square) / x->square;
}

static double coordinate_gamma(const bg_world *w, const bg_coordinate *c)
{
    if (c->kind == BG_COORDINATE_SLIDE) {
        bg_body_pair x = bg_body_pair_make(w, &c->a, &c->b);
        return bg_slide_calc_gamma(&x, bg_coordinate_get_axis(w, c));
    }
    if (bg_coordinate_is_cardan(c)) { /* the axes turn with their bodies */
        bg_cardan x = bg_cardan_calc(w, c);
        return bg_dot(x.by_z, bg_cross(w->body[c->a.body].w, x.z)) +
               bg_dot(x.by_y, bg_cross(w->body[c->b.body].w, x.y)) - get_reference(w->u_tt, c);
    }
    bg_dial x = bg_dial_make(w, c);
    return dial_gamma(&x);
}

void bg_primitive_calc(const bg_world *w, const bg_primitive *p, double *g)
{
    if (p->kind == BG_PRIMITIVE_RELATION) {
        g[0] = -p->offset - (p->signal >= 0 ? w->u[p->signal] : 0.0);
        for (int k = 0; k < p->n; k++)
            g[0] += p->factor[k] * bg_coordinate_calc(w, &p->coordinate[k]);
        return;
    }
    if (p->kind == BG_PRIMITIVE_CONTACT) {
        bg_rail_contact_calc_row(w, p, g);
        return;
    }
    bg_body_pair x = bg_body_pair_make(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT)
        bg_vec3_store(bg_rotate_back(&p->axes, x.d), g);
    else if (p->kind == BG_PRIMITIVE_DOT1)
        g[0] = bg_dot(bg_marker_get_axis(w, &p->a, p->i), bg_marker_get_axis(w, &p->b, p->j));
    else if (p->kind == BG_PRIMITIVE_DOT2)
        g[0] = bg_dot(bg_marker_get_axis(w, &p->a, p->i), x.d);
    else
        g[0] = (bg_dot(x.d, x.d) - p->length * p->length) / (2 * p->length);
}

void bg_primitive_calc_jacobian(const bg_world *w, const bg_primitive *p, double *J)
{
    if (p->kind == BG_PRIMITIVE_CONTACT) {
        bg_rail_contact_calc_jacobian(w, p, J);
        return;
    }
    if (p->kind == BG_PRIMITIVE_RELATION) {
        for (int k = 0; k < p->n; k++)
            coordinate_jacobian(w, &p->coordinate[k], p->factor[k], J + 12 * k);
        return;
    }
    bg_body_pair x = bg_body_pair_make(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT) {
        for (int k = 0; k < 3; k++) { /* e . (w x s) = w . (s x e) */
            bg_vec3 e = bg_axis(&p->axes, k);
            store(J + 12 * k, bg_scale(-1, e), bg_cross(e, x.s_a), e, bg_cross(x.s_b, e));
        }
    } else if (p->kind == BG_PRIMITIVE_DOT1) {
        bg_axes_calc_jacobian(bg_marker_get_axis(w, &p->a, p->i),
                              bg_marker_get_axis(w, &p->b, p->j), 1.0, J);
    } else if (p->kind == BG_PRIMITIVE_DOT2) {
        bg_slide_calc_jacobian(&x, bg_marker_get_axis(w, &p->a, p->i), 1.0, J);
    } else {
        bg_vec3 e = bg_scale(1 / p->length, x.d);
        store(J, bg_scale(-1, e), bg_cross(e, x.s_a), e, bg_cross(x.s_b, e));
    }
}

void bg_primitive_calc_gamma(const bg_world *w, const bg_primitive *p, double *gamma)
{
    if (p->kind == BG_PRIMITIVE_RELATION) {
        gamma[0] = p->signal >= 0 ? -w->u_tt[p->signal] : 0.0;
        for (int k = 0; k < p->n; k++)
            gamma[0] += p->factor[k] * coordinate_gamma(w, &p->coordinate[k]);
        return;
    }
    if (p->kind == BG_PRIMITIVE_CONTACT) {
        bg_rail_contact_calc_gamma(w, p, gamma);
        return;
    }
    bg_body_pair x = bg_body_pair_make(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT) {
        bg_vec3_store(bg_rotate_back(&p->axes, x.d_tt), gamma);
    } else if (p->kind == BG_PRIMITIVE_DOT1) {
        gamma[0] = bg_axes_calc_gamma(&x, bg_marker_get_axis(w, &p->a, p->i),
                                      bg_marker_get_axis(w, &p->b, p->j));
    } else if (p->kind == BG_PRIMITIVE_DOT2) {
        gamma[0] = bg_slide_calc_gamma(&x, bg_marker_get_axis(w, &p->a, p->i));
    } else {
        gamma[0] = (bg_dot(x.d_t, x.d_t) + bg_dot(x.d, x.d_tt)) / p->length;
    }
}
