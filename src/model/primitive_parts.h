/* What constraint rows and their derivatives are made of; private to primitive*.c. */
#ifndef BG_PRIMITIVE_PARTS_H
#define BG_PRIMITIVE_PARTS_H

#include "model/primitive.h"

/* What the rows of a pair need, once per call. */
typedef struct bg_body_pair {
    bg_vec3 s_a, s_b;     /* arms from the centres of mass, world axes */
    bg_vec3 d, d_t, d_tt; /* p_b - p_a and its derivatives at v' = w' = 0 */
    bg_vec3 w_a, w_b;
} bg_body_pair;

static inline bg_vec3 bg_turn_twice(bg_vec3 w, bg_vec3 a)
{
    return bg_cross(w, bg_cross(w, a));
}

static inline bg_body_pair bg_body_pair_make(const bg_world *w, const bg_marker *a,
                                             const bg_marker *b)
{
    const bg_body_state *A = &w->body[a->body], *B = &w->body[b->body];
    bg_body_pair x = {.s_a = bg_rotate(&A->R, a->frame.r),
                      .s_b = bg_rotate(&B->R, b->frame.r),
                      .w_a = A->w,
                      .w_b = B->w};
    x.d = bg_sub(bg_add(B->r, x.s_b), bg_add(A->r, x.s_a));
    x.d_t = bg_sub(bg_add(B->v, bg_cross(B->w, x.s_b)), bg_add(A->v, bg_cross(A->w, x.s_a)));
    x.d_tt = bg_sub(bg_turn_twice(B->w, x.s_b), bg_turn_twice(A->w, x.s_a));
    return x;
}

static inline bg_vec3 bg_marker_get_axis(const bg_world *w, const bg_marker *m, int k)
{
    return bg_rotate(&w->body[m->body].R, bg_axis(&m->frame.R, k));
}

/* The direction in which a slide grows. */
static inline bg_vec3 bg_coordinate_get_axis(const bg_world *w, const bg_coordinate *c)
{
    return bg_scale(c->back ? -1 : 1, bg_marker_get_axis(w, &c->a, c->axis));
}

/* An angle atan2(s, c), s = p . e_s, c = p . e_c, as a pointer p that turns over a frame: x_b over
 * marker a (about z_a) or z_a over marker b (about x_b, which it does backwards). Its derivative is
 * (c s' - s c') / (c^2 + s^2) = p' . e / (c^2 + s^2) with e = c e_s - s e_c, exact also where p has
 * left the plane of the frame and the axis is not z_a (x_b) alone. */
typedef struct bg_dial {
    bg_vec3 p, e_c, e_s, e;
    bg_vec3 w, w_frame;        /* of the pointer's body relative to the frame's; of the frame's */
    double c, s, square, side; /* side -1: the pointer belongs to body a */
} bg_dial;

static inline bg_dial bg_dial_make(const bg_world *w, const bg_coordinate *k)
{
    bool about_z = k->kind == BG_COORDINATE_ANGLE_Z;
    const bg_marker *frame = about_z ? &k->a : &k->b, *pointer = about_z ? &k->b : &k->a;
    bg_dial x = {.p = bg_marker_get_axis(w, pointer, about_z ? 0 : 2),
                 .e_c = bg_marker_get_axis(w, frame, about_z ? 0 : 2),
                 .e_s = bg_marker_get_axis(w, frame, 1),
                 .w_frame = w->body[frame->body].w,
                 .side = about_z ? 1 : -1};
    x.w = bg_sub(w->body[pointer->body].w, x.w_frame);
    x.c = bg_dot(x.p, x.e_c);
    x.s = bg_dot(x.p, x.e_s);
    x.square = x.c * x.c + x.s * x.s;
    x.e = bg_sub(bg_scale(x.c, x.e_s), bg_scale(x.s, x.e_c));
    return x;
}

/* The functions that rows are made of, a . d and a . b with axes fixed in bodies a and b, times a
 * factor: their rows of J (12), what is left of their second derivative, how forces along them
 * change with poses (added to K), and how their gammas do with poses and twists (12 each, added).
 */
void bg_slide_calc_jacobian(const bg_body_pair *x, bg_vec3 a, double factor, double *J);
double bg_slide_calc_gamma(const bg_body_pair *x, bg_vec3 a);
void bg_slide_add_stiffness(const bg_body_pair *x, bg_vec3 a, double factor, double K[12][12]);
void bg_slide_add_gamma(const bg_body_pair *x, bg_vec3 a, double factor, double *by_pose,
                        double *by_twist);
void bg_axes_calc_jacobian(bg_vec3 a, bg_vec3 b, double factor, double *J);
double bg_axes_calc_gamma(const bg_body_pair *x, bg_vec3 a, bg_vec3 b);
void bg_axes_add_stiffness(bg_vec3 a, bg_vec3 b, double factor, double K[12][12]);
void bg_axes_add_gamma(const bg_body_pair *x, bg_vec3 a, bg_vec3 b, double factor, double *by_pose,
                       double *by_twist);

/* Of CONTACT, as in primitive.h (primitive_contact.c). */
void bg_rail_contact_calc_row(const bg_world *w, const bg_primitive *p, double *g);
void bg_rail_contact_calc_jacobian(const bg_world *w, const bg_primitive *p, double *J);
void bg_rail_contact_calc_gamma(const bg_world *w, const bg_primitive *p, double *gamma);
void bg_rail_contact_calc_stiffness(const bg_world *w, const bg_primitive *p, double lambda,
                                    double K[12][12]);
void bg_rail_contact_calc_gamma_derivatives(const bg_world *w, const bg_primitive *p,
                                            double *by_pose, double *by_twist);

#endif
