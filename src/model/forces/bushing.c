/* bushing: a small elastic block between two bodies with stiffness and damping in six directions.
 *
 * Markers a and b coincide in the design position. In the axes A of marker a, with d from a to b,
 *
 *   x   = A^T d                    displacement,  x' = A^T u,  u = p_b' - v_a - w_a x (p_b - r_a)
 *   phi = log(A^T B)               rotation vector of b relative to a
 *   U   = 1/2 x^T K x - f_0^T x + 1/2 phi^T K_r phi - n_0^T phi,       K, K_r diagonal,
 *
 * with a preload (f_0, n_0), which it exerts on b in the design position. Along one axis it may
 * have stops: a force -sign(x) sum k_j H(|x| - x_j) with corners rounded over e, H(t) = 0, (t +
 * e)^3/6e^2, t + (e - t)^3/6e^2, t   for   t <= -e, <= 0, <= e, > e, twice continuously
 * differentiable; its potential is sum k_j times the integral of H.
 *
 * The law is the one that has this potential exactly, for displacements of any size (phi below half
 * a turn). x' = A^T u gives a force f = A (f_0 - K x - C x') on b at marker b and -f on a at the
 * same place. The relative angular velocity omega = A^T (w_b - w_a) turns exp(phi~) from the left,
 * so
 *
 *   phi' = T(phi) omega,  T = I - 1/2 phi~ + c phi~^2,  c = (1 - (h cot h)) / theta^2,  h = theta /
 * 2,
 *
 * and -U_r' = n . omega for all omega needs the torque
 *
 *   n = -T^T m = -(m + 1/2 phi x m + c phi x (phi x m)),   m = K_r phi - n_0,
 *
 * in axes A on b, -n on a; it is -m for small angles, or for equal stiffnesses without preload.
 * Damping adds -C_r omega.
 */
#include "model/forces/element.h"

#include <stdlib.h>

enum { STOPS = 16 };

typedef struct stops {
    int axis, n;
    double at[STOPS], k[STOPS], rounding;
} stops;

typedef struct bushing {
    bg_marker a, b;
    stops stops;
    double k[6], c[6];
    double preload[6]; /* N, N m on b in the design position, axes A */
    bool turns, damps; /* any of k, c or preload about an axis is not zero; any of c */
    double flip[6];    /* 1 or -1: of values along and about the axes, in a mirrored part */
} bushing;

/* Everything at one state; forces and torques act on b. */
typedef struct bushing_state {
    const bushing *s;
    bg_mat3 A;
    bg_vec3 s_a, s_b; /* from the centres of a and b to marker b */
    bg_vec3 d, u, w_a, w_b;
    bg_vec3 x, x_t;     /* axes A */
    double stopping[3]; /* along the axis of stops: their potential, -force, stiffness */
    bg_vec3 phi, omega; /* axes A */
    double c, c_theta;  /* c(theta) and c'(theta) / theta */
    bg_vec3 f, n;       /* world axes, at marker b */
} bushing_state;

static bg_vec3 times(const double *k, bg_vec3 x)
{
    return bg_vec3_make(k[0] * x.x, k[1] * x.y, k[2] * x.z);
}

/* theta from 1/2 on by the closed form, below by h cot h = 1 - sum |B_2n| theta^2n / (2n)!, whose
 * terms fall by 1/(2 pi)^2 theta^2 each. */
static void calc_c(double theta, double *c, double *c_theta)
{
    static const double a[] = {1.0 / 12,      1.0 / 720,      1.0 / 30240,
                               1.0 / 1209600, 1.0 / 47900160, 691.0 / 1307674368000.0};
    const double square = theta * theta;
    if (theta < 0.5) {
        *c = *c_theta = 0;
        for (int k = 5; k >= 0; k--)
            *c = *c * square + a[k];
        for (int k = 5; k >= 1; k--)
            *c_theta = *c_theta * square + 2 * k * a[k];
        return;
    }
    const double h = 0.5 * theta, sine = sin(h), cot = cos(h) / sine, N = 1 - h * cot;
    *c = N / square;
    *c_theta = (0.5 * (h / (sine * sine) - cot) / theta - 2 * N / square) / square;
}

static bg_vec3 calc_phi(const bg_mat3 *A, const bg_mat3 *B)
{
    const bg_mat3 back = bg_mat3_transpose(A), relative = bg_mat3_multiply(&back, B);
    const bg_quat p = bg_quat_from_rotation(&relative);
    const bg_vec3 e = {p.x, p.y, p.z};
    const double sine = bg_length(e); /* of theta / 2 */
    return bg_scale(sine > 0 ? 2 * atan2(sine, p.w) / sine : 2.0, e);
}

/* K x - f_0; of the angles: K_r phi - n_0. */
static bg_vec3 pull(const double *k, bg_vec3 x, const double *preload)
{
    return bg_sub(times(k, x), bg_vec3_load(preload));
}

/* T^T m */
static bg_vec3 turn_back(const bushing_state *y, bg_vec3 m)
{
    const bg_vec3 once = bg_cross(y->phi, m);
    return bg_add_scaled(bg_add_scaled(m, 0.5, once), y->c, bg_cross(y->phi, once));
}

/* The integral of H, H and H' at t. */
static void round_corner(double t, double e, double out[3])
{
    const double s = t <= 0 ? t + e : e - t;
    if (t <= -e) {
        out[0] = out[1] = out[2] = 0;
    } else if (t <= 0) {
        out[0] = s * s * s * s / (24 * e * e), out[1] = s * s * s / (6 * e * e);
        out[2] = s * s / (2 * e * e);
    } else if (t <= e) {
        out[0] = e * e / 12 + t * t / 2 - s * s * s * s / (24 * e * e);
        out[1] = t + s * s * s / (6 * e * e), out[2] = 1 - s * s / (2 * e * e);
    } else {
        out[0] = e * e / 12 + t * t / 2, out[1] = t, out[2] = 1;
    }
}

static double get_part(bg_vec3 x, int axis)
{
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

static bg_vec3 make_part(double x, int axis)
{
    return bg_vec3_make(axis == 0 ? x : 0, axis == 1 ? x : 0, axis == 2 ? x : 0);
}

static void calc_stops(const stops *s, double x, double out[3])
{
    const double side = x < 0 ? -1 : 1;
    out[0] = out[1] = out[2] = 0;
    for (int j = 0; j < s->n; j++) {
        double H[3];
        round_corner(fabs(x) - s->at[j], s->rounding, H);
        out[0] += s->k[j] * H[0];
        out[1] += side * s->k[j] * H[1];
        out[2] += s->k[j] * H[2];
    }
}

/* angles: phi is wanted although no law needs it. */
static bushing_state calc_state(const bg_force *f, const bg_world *w, bool angles)
{
    const bushing *s = f->self;
    const bg_body_state *a = &w->body[s->a.body], *b = &w->body[s->b.body];
    const bg_mat3 B = bg_marker_get_axes(w, &s->b);
    bushing_state y = {.s = s, .A = bg_marker_get_axes(w, &s->a), .w_a = a->w, .w_b = b->w};
    y.s_b = bg_marker_get_arm(w, &s->b);
    y.s_a = bg_sub(bg_add(b->r, y.s_b), a->r);
    y.d = bg_sub(y.s_a, bg_marker_get_arm(w, &s->a));
    y.u = bg_sub(bg_marker_get_velocity(w, &s->b), bg_add(a->v, bg_cross(a->w, y.s_a)));
    y.x = bg_rotate_back(&y.A, y.d);
    y.x_t = bg_rotate_back(&y.A, y.u);
    if (s->turns || angles)
        y.phi = calc_phi(&y.A, &B);
    y.omega = bg_rotate_back(&y.A, bg_sub(b->w, a->w));
    calc_c(bg_length(y.phi), &y.c, &y.c_theta);
    const bg_vec3 m = pull(s->k + 3, y.phi, s->preload + 3);
    calc_stops(&s->stops, get_part(y.x, s->stops.axis), y.stopping);
    const bg_vec3 elastic = bg_add(pull(s->k, y.x, s->preload),
                                   make_part(y.stopping[1], s->stops.axis));
    const bg_vec3 f_A = bg_add(elastic, times(s->c, y.x_t));
    const bg_vec3 n_A = bg_add(turn_back(&y, m), times(s->c + 3, y.omega));
    y.f = bg_scale(-1, bg_rotate(&y.A, f_A));
    y.n = bg_scale(-1, bg_rotate(&y.A, n_A));
    return y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const bushing_state y = calc_state(f, w, false);
    const bg_vec3 p = bg_marker_get_position(w, &y.s->b);
    bg_wrench_add(wrench, w, y.s->b.body, p, y.f, y.n);
    bg_wrench_add(wrench, w, y.s->a.body, p, bg_scale(-1, y.f), bg_scale(-1, y.n));
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const bushing_state y = calc_state(f, w, false);
    const bushing *s = y.s;
    out->potential += 0.5 * (bg_dot(y.x, times(s->k, y.x)) + bg_dot(y.phi, times(s->k + 3, y.phi)));
    out->potential += y.stopping[0];
    out->potential -= bg_dot(y.x, bg_vec3_load(s->preload)) +
                      bg_dot(y.phi, bg_vec3_load(s->preload + 3));
    out->power -= bg_dot(y.x_t, times(s->c, y.x_t)) + bg_dot(y.omega, times(s->c + 3, y.omega));
}

/* The change of T^T m with phi. */
static bg_vec3 vary_torque(const bushing_state *y, bg_vec3 dphi)
{
    const bg_vec3 phi = y->phi, m = pull(y->s->k + 3, phi, y->s->preload + 3);
    const bg_vec3 dm = times(y->s->k + 3, dphi);
    const bg_vec3 once = bg_cross(phi, m);
    bg_vec3 dn = turn_back(y, dm);
    dn = bg_add_scaled(dn, 0.5, bg_cross(dphi, m));
    dn = bg_add_scaled(dn, y->c, bg_add(bg_cross(dphi, once), bg_cross(phi, bg_cross(dphi, m))));
    return bg_add_scaled(dn, y->c_theta * bg_dot(phi, dphi), bg_cross(phi, once));
}

/* T omega */
static bg_vec3 turn(const bushing_state *y, bg_vec3 omega)
{
    const bg_vec3 once = bg_cross(y->phi, omega);
    return bg_add_scaled(bg_add_scaled(omega, -0.5, once), y->c, bg_cross(y->phi, once));
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const bushing_state *y = context;
    const bg_vec3 turn_a = d[0].dtheta;
    (void)dh;
    const bg_vec3 ds_b = bg_variation_of_arm(&d[1], y->s_b);
    const bg_vec3 ds_a = bg_sub(bg_add(d[1].dr, ds_b), d[0].dr);
    bg_vec3 du = bg_variation_of_velocity(&d[1], y->s_b, y->w_b);
    du = bg_sub(du, bg_add(d[0].dv, bg_cross(d[0].dw, y->s_a)));
    du = bg_sub(du, bg_cross(y->w_a, ds_a));
    /* d(A^T a) = A^T (da - dtheta_a x a) */
    const bg_vec3 dx = bg_rotate_back(&y->A, bg_sub(ds_a, bg_cross(turn_a, y->s_a)));
    const bg_vec3 dx_t = bg_rotate_back(&y->A, bg_sub(du, bg_cross(turn_a, y->u)));
    const int axis = y->s->stops.axis;
    const bg_vec3 stopped = make_part(y->stopping[2] * get_part(dx, axis), axis);
    const bg_vec3 df_A = bg_add(bg_add(times(y->s->k, dx), stopped), times(y->s->c, dx_t));
    bg_vec3 dn_A = {0, 0, 0};
    if (y->s->turns) {
        const bg_vec3 dphi = turn(y, bg_rotate_back(&y->A, bg_sub(d[1].dtheta, turn_a)));
        const bg_vec3 w = bg_sub(y->w_b, y->w_a), dw = bg_sub(d[1].dw, d[0].dw);
        const bg_vec3 domega = bg_rotate_back(&y->A, bg_sub(dw, bg_cross(turn_a, w)));
        dn_A = bg_add(vary_torque(y, dphi), times(y->s->c + 3, domega));
    }
    const bg_vec3 df = bg_sub(bg_cross(turn_a, y->f), bg_rotate(&y->A, df_A));
    const bg_vec3 dn = bg_sub(bg_cross(turn_a, y->n), bg_rotate(&y->A, dn_A));
    const bg_wrench on_a = bg_wrench_vary(y->s_a, ds_a, y->f, df);
    const bg_wrench on_b = bg_wrench_vary(y->s_b, ds_b, y->f, df);
    dwrench[0] = (bg_wrench){bg_scale(-1, on_a.f), bg_scale(-1, bg_add(on_a.n, dn))};
    dwrench[1] = (bg_wrench){on_b.f, bg_add(on_b.n, dn)};
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const bushing_state y = calc_state(f, w, false);
    const int body[] = {y.s->a.body, y.s->b.body};
    const bg_vec3 n_a = bg_add(y.n, bg_cross(y.s_a, y.f)), n_b = bg_add(y.n, bg_cross(y.s_b, y.f));
    const bg_wrench on[2] = {{bg_scale(-1, y.f), bg_scale(-1, n_a)}, {y.f, n_b}};
    bg_element_calc_pair_derivatives(tangent, &y, body, w, on, y.s->damps, out);
}

/* Displacements, and what acts on b, in axes A. */
static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const bushing *s = f->self;
    const bushing_state y = calc_state(f, w, true);
    const bg_vec3 force = bg_rotate_back(&y.A, y.f), torque = bg_rotate_back(&y.A, y.n);
    const bg_vec3 values[] = {y.x, y.phi, force, torque};
    double out[3];
    bg_vec3_store(values[which / 3], out);
    return s->flip[which % 6] * out[which % 3];
}

static void read_six(const bg_value *v, const char *key, bool negative, double out[6])
{
    const bg_value list = bg_value_member(v, key);
    if (!bg_value_exists(&list))
        return;
    double *x = bg_value_numbers(v, key, 6, NULL);
    for (int k = 0; x && k < 6; k++) {
        const bg_value e = bg_value_element(&list, k);
        out[k] = x[k];
        if (x[k] < 0 && !negative)
            bg_value_fail(&e, "must not be negative, but is %g", x[k]);
    }
    free(x);
}

static void read_stops(const bg_value *v, stops *s)
{
    static const char *const keys[] = {"axis", "at", "stiffness", "rounding", NULL};
    static const char *const axes[] = {"x", "y", "z", NULL};
    const bg_value at = bg_value_member(v, "at");
    int n = 0;
    if (!bg_value_exists(v) || !bg_value_expect_object(v))
        return;
    bg_value_expect(v, keys);
    s->axis = bg_value_choice(v, "axis", axes, -1);
    s->rounding = bg_value_positive(v, "rounding");
    double *x = bg_value_numbers(v, "at", -1, &n), *k = bg_value_numbers(v, "stiffness", n, NULL);
    if (v->reader->status == BG_OK && n > STOPS)
        bg_value_fail(&at, "has %d entries, but a bushing has at most %d stops", n, (int)STOPS);
    for (int i = 0; i < n && x && k && v->reader->status == BG_OK; i++) {
        s->at[i] = x[i], s->k[i] = k[i];
        s->n = i + 1;
        if (x[i] < s->rounding)
            bg_value_fail(&at, "each must be at least 'rounding', %g m, away from the middle",
                          s->rounding);
    }
    free(x);
    free(k);
}

/* "at": a place in the world of the design position, or a point of a body. */
static bg_vec3 read_place(const bg_value *v)
{
    const bg_value at = bg_value_member(v, "at");
    if (!json_is_string(at.json))
        return bg_value_get_place(&at);
    const bg_marker p = bg_value_get_marker(&at);
    return bg_element_find_place(v->reader->model, &p);
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",    "bodies",  "at",    "orientation", "stiffness",
                                       "damping", "preload", "stops", NULL};
    bushing *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    int body[2];
    bg_value_expect(v, keys);
    bg_element_read_bodies(v, body);
    const bg_vec3 at = read_place(v);
    const bg_mat3 axes = bg_read_axes(v, "orientation");
    read_six(v, "stiffness", false, s->k);
    read_six(v, "damping", false, s->c);
    read_six(v, "preload", true, s->preload);
    const bg_value stops_at = bg_value_member(v, "stops");
    read_stops(&stops_at, &s->stops);
    if (v->reader->status != BG_OK)
        return;
    s->a = bg_body_make_marker(v->reader->model, body[0], at, &axes);
    s->b = bg_body_make_marker(v->reader->model, body[1], at, &axes);
    bool any = s->stops.n > 0;
    for (int k = 0; k < 6; k++) {
        s->flip[k] = bg_scope_get_flip(v->scope, k % 3) *
                     (k < 3 ? 1 : bg_scope_get_handedness(v->scope));
        s->preload[k] *= s->flip[k];
        const bool acts = s->k[k] > 0 || s->c[k] > 0 || s->preload[k] != 0;
        any = any || acts;
        s->turns = s->turns || (k > 2 && acts);
        s->damps = s->damps || s->c[k] > 0;
    }
    if (!any)
        bg_value_fail(v, "exerts no force; give stiffness, damping or preload");
}

static void look(const bg_force *f, bg_force_look *out)
{
    const bushing *s = f->self;
    *out = (bg_force_look){.nends = 2, .end = {s->a, s->b}};
}

static const char *const sensor_names[] = {"x",       "y",        "z",        "angle_x",
                                           "angle_y", "angle_z",  "force_x",  "force_y",
                                           "force_z", "torque_x", "torque_y", "torque_z"};

extern const bg_force_class bg_force_bushing;
const bg_force_class bg_force_bushing = {
    .name = "bushing",
    .summary = "elastic block between two bodies: stiffness and damping in six directions",
    .read = read,
    .apply = apply,
    .energy = energy,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 12,
    .sensor = sensor,
    .look = look,
    .clear = bg_element_free,
};
