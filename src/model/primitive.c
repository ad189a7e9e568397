/* Rows of constraints between two bodies.
 *
 * With p = r + s, s = R s_body, the arms s turn with their bodies: s' = w x s, and where v' = w' =
 * 0 s'' = w x (w x s),   p'' = s''. Axes of marker frames turn likewise. A row g = F(p_a, p_b, a,
 * b) then has g'  = J . (v_a, w_a, v_b, w_b),   gamma = g'' at v' = w' = 0, from the product rule;
 * (w x a) . b = w . (a x b) gives the entries of J. */
#include "model/primitive.h"

#include <string.h>

/* What the rows of a pair need, once per call. */
typedef struct pair {
    bg_vec3 s_a, s_b;     /* arms from the centres of mass, world axes */
    bg_vec3 d, d_t, d_tt; /* p_b - p_a and its derivatives at v' = w' = 0 */
    bg_vec3 w_a, w_b;
} pair;

static bg_vec3 turn_twice(bg_vec3 w, bg_vec3 a)
{
    return bg_cross(w, bg_cross(w, a));
}

static pair make_pair(const bg_world *w, const bg_marker *a, const bg_marker *b)
{
    const bg_body_state *A = &w->body[a->body], *B = &w->body[b->body];
    pair x = {.s_a = bg_rotate(&A->R, a->frame.r),
              .s_b = bg_rotate(&B->R, b->frame.r),
              .w_a = A->w,
              .w_b = B->w};
    x.d = bg_sub(bg_add(B->r, x.s_b), bg_add(A->r, x.s_a));
    x.d_t = bg_sub(bg_add(B->v, bg_cross(B->w, x.s_b)), bg_add(A->v, bg_cross(A->w, x.s_a)));
    x.d_tt = bg_sub(turn_twice(B->w, x.s_b), turn_twice(A->w, x.s_a));
    return x;
}

static bg_vec3 marker_axis(const bg_world *w, const bg_marker *m, int k)
{
    return bg_rotate(&w->body[m->body].R, bg_axis(&m->frame.R, k));
}

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
    return c->kind == BG_COORDINATE_ANGLE_Z ? marker_axis(w, &c->a, 2) : marker_axis(w, &c->b, 0);
}

double bg_coordinate_calc(const bg_world *w, const bg_coordinate *c)
{
    if (c->kind == BG_COORDINATE_SLIDE) {
        pair x = make_pair(w, &c->a, &c->b);
        return bg_dot(marker_axis(w, &c->a, c->axis), x.d);
    }
    bg_mat3 A = bg_marker_get_axes(w, &c->a), B = bg_marker_get_axes(w, &c->b);
    bg_vec3 z_a = bg_axis(&A, 2), x_b = bg_axis(&B, 0);
    double angle = c->kind == BG_COORDINATE_ANGLE_Z
                       ? atan2(bg_dot(x_b, bg_axis(&A, 1)), bg_dot(x_b, bg_axis(&A, 0)))
                       : atan2(bg_dot(z_a, bg_axis(&B, 1)), bg_dot(z_a, bg_axis(&B, 2)));
    if (c->turns < 0)
        return angle;
    double turn = 8 * atan(1.0);
    return angle + turn * floor((w->z[c->turns] - angle) / turn + 0.5);
}

double bg_coordinate_calc_rate(const bg_world *w, const bg_coordinate *c)
{
    if (c->kind != BG_COORDINATE_SLIDE)
        return bg_dot(angle_axis(w, c), bg_sub(w->body[c->b.body].w, w->body[c->a.body].w));
    pair x = make_pair(w, &c->a, &c->b);
    bg_vec3 a = marker_axis(w, &c->a, c->axis);
    return bg_dot(bg_cross(x.w_a, a), x.d) + bg_dot(a, x.d_t);
}

static void slide_jacobian(const pair *x, bg_vec3 a, double factor, double *J)
{
    bg_vec3 f = bg_scale(factor, a);
    store(J, bg_scale(-1, f), bg_cross(f, bg_add(x->d, x->s_a)), f, bg_cross(x->s_b, f));
}

static double slide_gamma(const pair *x, bg_vec3 a)
{
    return bg_dot(turn_twice(x->w_a, a), x->d) + 2 * bg_dot(bg_cross(x->w_a, a), x->d_t) +
           bg_dot(a, x->d_tt);
}

/* An angle atan2(s, c), s = p . e_s, c = p . e_c, as a pointer p that turns over a frame: x_b over
 * marker a (about z_a) or z_a over marker b (about x_b, which it does backwards). Its derivative is
 * (c s' - s c') / (c^2 + s^2) = p' . e / (c^2 + s^2) with e = c e_s - s e_c, exact also where p has
 * left the plane of the frame and the axis is not z_a (x_b) alone. */
typedef struct dial {
    bg_vec3 p, e_c, e_s, e;
    bg_vec3 w, w_frame;        /* of the pointer's body relative to the frame's; of the frame's */
    double c, s, square, side; /* side -1: the pointer belongs to body a */
} dial;

static dial make_dial(const bg_world *w, const bg_coordinate *k)
{
    bool about_z = k->kind == BG_COORDINATE_ANGLE_Z;
    const bg_marker *frame = about_z ? &k->a : &k->b, *pointer = about_z ? &k->b : &k->a;
    dial x = {.p = marker_axis(w, pointer, about_z ? 0 : 2),
              .e_c = marker_axis(w, frame, about_z ? 0 : 2),
              .e_s = marker_axis(w, frame, 1),
              .w_frame = w->body[frame->body].w,
              .side = about_z ? 1 : -1};
    x.w = bg_sub(w->body[pointer->body].w, x.w_frame);
    x.c = bg_dot(x.p, x.e_c);
    x.s = bg_dot(x.p, x.e_s);
    x.square = x.c * x.c + x.s * x.s;
    x.e = bg_sub(bg_scale(x.c, x.e_s), bg_scale(x.s, x.e_c));
    return x;
}

static void coordinate_jacobian(const bg_world *w, const bg_coordinate *c, double factor, double *J)
{
    const bg_vec3 zero = {0, 0, 0};
    if (c->kind == BG_COORDINATE_SLIDE) {
        pair x = make_pair(w, &c->a, &c->b);
        slide_jacobian(&x, marker_axis(w, &c->a, c->axis), factor, J);
        return;
    }
    dial x = make_dial(w, c);
    bg_vec3 n = bg_scale(factor * x.side / x.square, bg_cross(x.p, x.e));
    store(J, zero, bg_scale(-1, n), zero, n);
}

/* With p' = w x p seen from the frame, where w' = -w_frame x w: second derivative of atan2(s, c).
 */
static double dial_gamma(const dial *x)
{
    bg_vec3 w_t = bg_cross(x->w, x->w_frame), p_t = bg_cross(x->w, x->p);
    bg_vec3 p_tt = bg_add(bg_cross(w_t, x->p), bg_cross(x->w, p_t));
    double square_t = 2 * (x->c * bg_dot(p_t, x->e_c) + x->s * bg_dot(p_t, x->e_s));
    return (bg_dot(p_tt, x->e) - square_t * bg_dot(p_t, x->e) / x->square) / x->square;
}

static double coordinate_gamma(const bg_world *w, const bg_coordinate *c)
{
    if (c->kind == BG_COORDINATE_SLIDE) {
        pair x = make_pair(w, &c->a, &c->b);
        return slide_gamma(&x, marker_axis(w, &c->a, c->axis));
    }
    dial x = make_dial(w, c);
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
    pair x = make_pair(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT)
        bg_vec3_store(x.d, g);
    else if (p->kind == BG_PRIMITIVE_DOT1)
        g[0] = bg_dot(marker_axis(w, &p->a, p->i), marker_axis(w, &p->b, p->j));
    else if (p->kind == BG_PRIMITIVE_DOT2)
        g[0] = bg_dot(marker_axis(w, &p->a, p->i), x.d);
    else
        g[0] = (bg_dot(x.d, x.d) - p->length * p->length) / (2 * p->length);
}

void bg_primitive_calc_jacobian(const bg_world *w, const bg_primitive *p, double *J)
{
    const bg_vec3 zero = {0, 0, 0}, unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (p->kind == BG_PRIMITIVE_RELATION) {
        for (int k = 0; k < p->n; k++)
            coordinate_jacobian(w, &p->coordinate[k], p->factor[k], J + 12 * k);
        return;
    }
    pair x = make_pair(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT) {
        for (int k = 0; k < 3; k++) /* e . (w x s) = w . (s x e) */
            store(J + 12 * k, bg_scale(-1, unit[k]), bg_cross(unit[k], x.s_a), unit[k],
                  bg_cross(x.s_b, unit[k]));
    } else if (p->kind == BG_PRIMITIVE_DOT1) {
        bg_vec3 c = bg_cross(marker_axis(w, &p->a, p->i), marker_axis(w, &p->b, p->j));
        store(J, zero, c, zero, bg_scale(-1, c));
    } else if (p->kind == BG_PRIMITIVE_DOT2) {
        slide_jacobian(&x, marker_axis(w, &p->a, p->i), 1.0, J);
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
    pair x = make_pair(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT) {
        bg_vec3_store(x.d_tt, gamma);
    } else if (p->kind == BG_PRIMITIVE_DOT1) {
        bg_vec3 a = marker_axis(w, &p->a, p->i), b = marker_axis(w, &p->b, p->j);
        gamma[0] = bg_dot(turn_twice(x.w_a, a), b) + bg_dot(a, turn_twice(x.w_b, b)) +
                   2 * bg_dot(bg_cross(x.w_a, a), bg_cross(x.w_b, b));
    } else if (p->kind == BG_PRIMITIVE_DOT2) {
        gamma[0] = slide_gamma(&x, marker_axis(w, &p->a, p->i));
    } else {
        gamma[0] = (bg_dot(x.d_t, x.d_t) + bg_dot(x.d, x.d_tt)) / p->length;
    }
}
