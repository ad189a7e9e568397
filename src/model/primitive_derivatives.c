/* How the forces of constraint rows, J^T lambda, change with poses, and gamma with poses and
 * twists.
 *
 * A vector x fixed in a body changes by dx = dtheta x x, the distance of two markers by
 *   dd = sum_k sign_k (dr_k + dtheta_k x s_k),   sign_a = -1, sign_b = 1.
 * A row G of such vectors with gradients P = dG/dx acts on the body with torque x x P, and for d
 * with the force sign_k P at s_k. A variation turns x, which gives P~ x~ dtheta, and changes P; the
 * rows are sums of products x . y, so P = y changes by dy, which gives -x~ y~ dtheta_y (~ is the
 * matrix of a cross product, p~ q~ = q p^T - p . q).
 *
 * An angle atan2(s, c) about a dial has n = p x e / square; s and c being products with p, their
 * part is that of p . e / square, where p . e = 0 leaves e~ p~ = p e^T. With m = p x (c e_c + s
 * e_s) / square, the gradient of log sqrt(square), the second derivative of atan2 adds -(m n^T + n
 * m^T).
 *
 * gamma is a function of x, x' = w x x and x'' = w x (w x x). With gradients P0, P1, P2 by them,
 *   dtheta . x x (P0 + (P1 + P2 x w) x w) + dw . (x x (P1 + P2 x w) + x' x P2)
 * is its change, besides dr . P0 + dv . P1 for d. An angle is Im log(c + i s); with f = c + i s
 *   gamma = Im(f''/f - (f'/f)^2),
 *   dgamma = Im((2 (f'/f)^2 - f''/f) df - 2 f'/f df' + df'') / f. */
#include "model/primitive_parts.h"

#include <complex.h>
#include <string.h>

/* First entries of (dr, dtheta) of bodies a and b, and of (v, w). */
enum { R_A = 0, TURN_A = 3, R_B = 6, TURN_B = 9 };

/* K[i ...][j ...] += f u v^T */
static void add_outer(double K[12][12], int i, int j, double f, bg_vec3 u, bg_vec3 v)
{
    const double x[3] = {f * u.x, f * u.y, f * u.z};
    for (int k = 0; k < 3; k++) {
        double *row = K[i + k] + j;
        row[0] += x[k] * v.x;
        row[1] += x[k] * v.y;
        row[2] += x[k] * v.z;
    }
}

static void add_identity(double K[12][12], int i, int j, double f)
{
    for (int k = 0; k < 3; k++)
        K[i + k][j + k] += f;
}

/* K[i ...][j ...] += f p~ */
static void add_skew(double K[12][12], int i, int j, double f, bg_vec3 p)
{
    K[i][j + 1] -= f * p.z;
    K[i][j + 2] += f * p.y;
    K[i + 1][j] += f * p.z;
    K[i + 1][j + 2] -= f * p.x;
    K[i + 2][j] -= f * p.y;
    K[i + 2][j + 1] += f * p.x;
}

/* K[i ...][j ...] += f p~ q~ */
static void add_skews(double K[12][12], int i, int j, double f, bg_vec3 p, bg_vec3 q)
{
    add_outer(K, i, j, f, q, p);
    add_identity(K, i, j, -f * bg_dot(p, q));
}

/* A constant force f along d: the arms turn. */
static void add_force(double K[12][12], const bg_body_pair *x, double factor, bg_vec3 f)
{
    add_skews(K, TURN_A, TURN_A, -factor, f, x->s_a);
    add_skews(K, TURN_B, TURN_B, factor, f, x->s_b);
}

/* factor a . b */
static void add_axes(double K[12][12], bg_vec3 a, bg_vec3 b, double factor)
{
    add_skews(K, TURN_A, TURN_A, factor, b, a);
    add_skews(K, TURN_A, TURN_B, -factor, a, b);
    add_skews(K, TURN_B, TURN_A, -factor, b, a);
    add_skews(K, TURN_B, TURN_B, factor, a, b);
}

/* factor a . d */
static void add_slide(double K[12][12], const bg_body_pair *x, bg_vec3 a, double factor)
{
    const bg_vec3 s[2] = {x->s_a, x->s_b};
    add_force(K, x, factor, a);
    add_skews(K, TURN_A, TURN_A, factor, x->d, a);
    for (int k = 0; k < 2; k++) {
        double f = k == 0 ? -factor : factor;
        add_skew(K, 6 * k, TURN_A, -f, a); /* the force turns with body a */
        add_skews(K, 6 * k + 3, TURN_A, -f, s[k], a);
        add_skew(K, TURN_A, 6 * k, f, a); /* d changes */
        add_skews(K, TURN_A, 6 * k + 3, -f, a, s[k]);
    }
}

/* factor d . d / 2 */
static void add_square(double K[12][12], const bg_body_pair *x, double factor)
{
    const bg_vec3 s[2] = {x->s_a, x->s_b};
    add_force(K, x, factor, x->d);
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) {
            double f = k == l ? factor : -factor;
            add_identity(K, 6 * k, 6 * l, f);
            add_skew(K, 6 * k, 6 * l + 3, -f, s[l]);
            add_skew(K, 6 * k + 3, 6 * l, f, s[k]);
            add_skews(K, 6 * k + 3, 6 * l + 3, -f, s[k], s[l]);
        }
}

static void add_angle(double K[12][12], const bg_dial *x, double factor)
{
    bg_vec3 u = bg_add(bg_scale(x->c, x->e_c), bg_scale(x->s, x->e_s));
    bg_vec3 m = bg_scale(1 / x->square, bg_cross(x->p, u));
    bg_vec3 n = bg_scale(1 / x->square, bg_cross(x->p, x->e));
    int pointer = x->side > 0 ? TURN_B : TURN_A, frame = x->side > 0 ? TURN_A : TURN_B;
    for (int k = 0; k < 2; k++) { /* the frame's torque is opposite to the pointer's */
        int i = k == 0 ? pointer : frame;
        double f = k == 0 ? factor : -factor;
        add_outer(K, i, pointer, f / x->square, x->p, x->e);
        add_outer(K, i, frame, -f / x->square, x->e, x->p);
        for (int l = 0; l < 2; l++) {
            int j = l == 0 ? pointer : frame;
            add_outer(K, i, j, l == 0 ? -f : f, m, n);
            add_outer(K, i, j, l == 0 ? -f : f, n, m);
        }
    }
}

/* Blocks that the primitive does not have are left alone. */
void bg_primitive_calc_stiffness(const bg_world *w, const bg_primitive *p, const double *lambda,
                                 double K[BG_RELATION_MAX][12][12])
{
    if (p->kind == BG_PRIMITIVE_RELATION) {
        memset(K, 0, (size_t)p->n * sizeof K[0]);
        for (int k = 0; k < p->n; k++) {
            const bg_coordinate *c = &p->coordinate[k];
            double factor = p->factor[k] * lambda[0];
            if (c->kind == BG_COORDINATE_SLIDE) {
                bg_body_pair x = bg_body_pair_make(w, &c->a, &c->b);
                add_slide(K[k], &x, bg_coordinate_get_axis(w, c), factor);
            } else {
                bg_dial x = bg_dial_make(w, c);
                add_angle(K[k], &x, factor);
            }
        }
        return;
    }
    memset(K, 0, sizeof K[0]);
    if (p->kind == BG_PRIMITIVE_CONTACT) {
        bg_rail_contact_calc_stiffness(w, p, lambda[0], K[0]);
        return;
    }
    bg_body_pair x = bg_body_pair_make(w, &p->a, &p->b);
    if (p->kind == BG_PRIMITIVE_POINT)
        add_force(K[0], &x, 1.0, bg_rotate(&p->axes, bg_vec3_load(lambda)));
    else if (p->kind == BG_PRIMITIVE_DOT1)
        add_axes(K[0], bg_marker_get_axis(w, &p->a, p->i), bg_marker_get_axis(w, &p->b, p->j),
                 lambda[0]);
    else if (p->kind == BG_PRIMITIVE_DOT2)
        add_slide(K[0], &x, bg_marker_get_axis(w, &p->a, p->i), lambda[0]);
    else
        add_square(K[0], &x, lambda[0] / p->length);
}

/* A vector and its time derivatives at v' = w' = 0; or a gradient of gamma by these three. */
typedef struct jet {
    bg_vec3 x, x_t, x_tt;
} jet;

/* Derivatives of one row's gamma, by (r_a, theta_a, r_b, theta_b) and (v_a, w_a, v_b, w_b). */
typedef struct gradient {
    double *by_pose, *by_twist;
} gradient;

static jet make_jet(bg_vec3 w, bg_vec3 x)
{
    bg_vec3 x_t = bg_cross(w, x);
    return (jet){x, x_t, bg_cross(w, x_t)};
}

static void add_to(double *out, double f, bg_vec3 a)
{
    bg_vec3_store(bg_add_scaled(bg_vec3_load(out), f, a), out);
}

/* The gradient by x of a function of x . y whose derivatives by (x . y), (x . y)' and (x . y)'' are
 * g[0..2]. */
static jet dot_gradient(const double g[3], const jet *y)
{
    return (jet){
        bg_add_scaled(bg_add_scaled(bg_scale(g[0], y->x), g[1], y->x_t), g[2], y->x_tt),
        bg_add_scaled(bg_scale(g[1], y->x), 2 * g[2], y->x_t),
        bg_scale(g[2], y->x),
    };
}

/* What sign x, fixed in the body whose turns are at `turn`, adds where P is the gradient by it. */
static void add_turning(const gradient *out, int turn, double sign, bg_vec3 w, bg_vec3 x,
                        const jet *P)
{
    bg_vec3 rate = bg_add(P->x_t, bg_cross(P->x_tt, w));
    bg_vec3 by_w = bg_add(bg_cross(x, rate), bg_cross(bg_cross(w, x), P->x_tt));
    add_to(out->by_pose + turn, sign, bg_cross(x, bg_add(P->x, bg_cross(rate, w))));
    add_to(out->by_twist + turn, sign, by_w);
}

/* What d adds where P is the gradient by it. */
static void add_distance(const gradient *out, const bg_body_pair *x, const jet *P)
{
    add_to(out->by_pose + R_A, -1, P->x);
    add_to(out->by_pose + R_B, 1, P->x);
    add_to(out->by_twist + R_A, -1, P->x_t);
    add_to(out->by_twist + R_B, 1, P->x_t);
    add_turning(out, TURN_A, -1, x->w_a, x->s_a, P);
    add_turning(out, TURN_B, 1, x->w_b, x->s_b, P);
}

/* a . b with axes fixed in bodies a and b */
static void axes_gradient(const bg_body_pair *x, bg_vec3 a, bg_vec3 b, double factor,
                          const gradient *out)
{
    const double g[3] = {0, 0, factor};
    jet A = make_jet(x->w_a, a), B = make_jet(x->w_b, b);
    jet by_a = dot_gradient(g, &B), by_b = dot_gradient(g, &A);
    add_turning(out, TURN_A, 1, x->w_a, a, &by_a);
    add_turning(out, TURN_B, 1, x->w_b, b, &by_b);
}

static void slide_gradient(const bg_body_pair *x, bg_vec3 a, double factor, const gradient *out)
{
    const double g[3] = {0, 0, factor};
    jet A = make_jet(x->w_a, a), D = {x->d, x->d_t, x->d_tt};
    jet by_a = dot_gradient(g, &D), by_d = dot_gradient(g, &A);
    add_turning(out, TURN_A, 1, x->w_a, a, &by_a);
    add_distance(out, x, &by_d);
}

/* x . y and its first two time derivatives. */
static void calc_dot(const jet *x, const jet *y, double d[3])
{
    d[0] = bg_dot(x->x, y->x);
    d[1] = bg_dot(x->x_t, y->x) + bg_dot(x->x, y->x_t);
    d[2] = bg_dot(x->x_tt, y->x) + 2 * bg_dot(x->x_t, y->x_t) + bg_dot(x->x, y->x_tt);
}

static void angle_gradient(const bg_dial *x, double factor, const gradient *out)
{
    bg_vec3 w_pointer = bg_add(x->w, x->w_frame);
    jet p = make_jet(w_pointer, x->p);
    jet e[2] = {make_jet(x->w_frame, x->e_c), make_jet(x->w_frame, x->e_s)};
    double c[3], s[3], g[2][3];
    calc_dot(&p, &e[0], c);
    calc_dot(&p, &e[1], s);
    double complex inverse = conj(c[0] + s[0] * I) / x->square;
    double complex f_t = (c[1] + s[1] * I) * inverse, f_tt = (c[2] + s[2] * I) * inverse;
    const double complex by[3] = {(2 * f_t * f_t - f_tt) * inverse, -2 * f_t * inverse, inverse};
    for (int k = 0; k < 3; k++) { /* df = dc + i ds */
        g[0][k] = factor * cimag(by[k]);
        g[1][k] = factor * creal(by[k]);
    }
    int pointer = x->side > 0 ? TURN_B : TURN_A, frame = x->side > 0 ? TURN_A : TURN_B;
    for (int k = 0; k < 2; k++) {
        jet by_p = dot_gradient(g[k], &e[k]), by_e = dot_gradient(g[k], &p);
        add_turning(out, pointer, 1, w_pointer, x->p, &by_p);
        add_turning(out, frame, 1, x->w_frame, e[k].x, &by_e);
    }
}

void bg_slide_add_stiffness(const bg_body_pair *x, bg_vec3 a, double factor, double K[12][12])
{
    add_slide(K, x, a, factor);
}

void bg_axes_add_stiffness(bg_vec3 a, bg_vec3 b, double factor, double K[12][12])
{
    add_axes(K, a, b, factor);
}

void bg_slide_add_gamma(const bg_body_pair *x, bg_vec3 a, double factor, double *by_pose,
                        double *by_twist)
{
    slide_gradient(x, a, factor, &(gradient){by_pose, by_twist});
}

void bg_axes_add_gamma(const bg_body_pair *x, bg_vec3 a, bg_vec3 b, double factor, double *by_pose,
                       double *by_twist)
{
    axes_gradient(x, a, b, factor, &(gradient){by_pose, by_twist});
}

/* Rows, or blocks, that the primitive does not have are left alone. */
void bg_primitive_calc_gamma_derivatives(const bg_world *w, const bg_primitive *p,
                                         double by_pose[3][12], double by_twist[3][12])
{
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    size_t n = (size_t)(relation ? p->n : bg_primitive_get_rows(p));
    memset(by_pose, 0, n * sizeof by_pose[0]);
    memset(by_twist, 0, n * sizeof by_twist[0]);
    for (int k = 0; relation && k < p->n; k++) {
        const bg_coordinate *c = &p->coordinate[k];
        const gradient out = {by_pose[k], by_twist[k]};
        if (c->kind == BG_COORDINATE_SLIDE) {
            bg_body_pair x = bg_body_pair_make(w, &c->a, &c->b);
            slide_gradient(&x, bg_coordinate_get_axis(w, c), p->factor[k], &out);
        } else {
            bg_dial x = bg_dial_make(w, c);
            angle_gradient(&x, p->factor[k], &out);
        }
    }
    if (relation)
        return;
    if (p->kind == BG_PRIMITIVE_CONTACT) {
        bg_rail_contact_calc_gamma_derivatives(w, p, by_pose[0], by_twist[0]);
        return;
    }
    bg_body_pair x = bg_body_pair_make(w, &p->a, &p->b);
    const gradient out = {by_pose[0], by_twist[0]};
    if (p->kind == BG_PRIMITIVE_POINT) {
        for (int k = 0; k < 3; k++) {
            const jet row = {.x_tt = bg_axis(&p->axes, k)};
            add_distance(&(gradient){by_pose[k], by_twist[k]}, &x, &row);
        }
    } else if (p->kind == BG_PRIMITIVE_DOT1) {
        axes_gradient(&x, bg_marker_get_axis(w, &p->a, p->i), bg_marker_get_axis(w, &p->b, p->j),
                      1.0, &out);
    } else if (p->kind == BG_PRIMITIVE_DOT2) {
        slide_gradient(&x, bg_marker_get_axis(w, &p->a, p->i), 1.0, &out);
    } else { /* d . d / 2 has the gradient of d . y at y = d */
        const double g[3] = {0, 0, 1 / p->length};
        jet D = {x.d, x.d_t, x.d_tt}, P = dot_gradient(g, &D);
        add_distance(&out, &x, &P);
    }
}
