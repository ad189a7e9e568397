/* contact: a sphere of one body, or a point (radius 0), with a plane of another.
 *
 * With the sphere's centre p, the plane's point p0 and unit normal n (fixed in its body),
 *
 *   h = n . (p - p0),   delta = radius - h,   N = k delta^m + c delta'   (forces/stop.h)
 *   c = p - h n                               where it acts, on the plane
 *   v = v_a(c) - v_b(c),   delta' = -n . v,   u = v + delta' n           slip, in the plane
 *   F = N n - mu N u / sqrt(u^2 + e^2)        on the sphere; -F on the plane's body, both at c
 *
 * delta' is exactly the rate of delta, because c - p is along n. The spring has a potential; the
 * rest, -c delta'^2 - mu N u^2 / sqrt(u^2 + e^2), is power.
 *
 * Variations: dn = dtheta_b x n, dh = dn . (p - p0) + n . (dp - dp0), dc = dp - dh n - h dn, and
 * with the arms s from the centres of mass to c, dv = sum +-(dv + dw x s + w x ds). */
#include "model/forces/stop.h"

#include <stdio.h>

typedef struct contact {
    bg_marker a, b; /* centre of the sphere; point of the plane, whose z axis is the normal */
    int body[2];
    double radius, mu, e;
    bg_stop stop;
} contact;

typedef struct plane_contact_state {
    const contact *s;
    bg_vec3 arm_a, arm_b; /* from the centres of mass to p and p0 */
    bg_vec3 s_a, s_b;     /* from the centres of mass to c */
    bg_vec3 w_a, w_b, n, d, v, u, F;
    double h, rub; /* mu N / sqrt(u^2 + e^2) */
    bg_stop_state y;
} plane_contact_state;

static plane_contact_state calc_state(const contact *s, const bg_world *w, int mode)
{
    const bg_body_state *A = &w->body[s->a.body], *B = &w->body[s->b.body];
    const bg_mat3 axes = bg_marker_get_axes(w, &s->b);
    const bg_vec3 p = bg_marker_get_position(w, &s->a);
    plane_contact_state x = {.s = s,
                             .arm_a = bg_marker_get_arm(w, &s->a),
                             .arm_b = bg_marker_get_arm(w, &s->b),
                             .w_a = A->w,
                             .w_b = B->w,
                             .n = bg_axis(&axes, 2)};
    x.d = bg_sub(p, bg_marker_get_position(w, &s->b));
    x.h = bg_dot(x.n, x.d);
    const bg_vec3 c = bg_add_scaled(p, -x.h, x.n);
    x.s_a = bg_sub(c, A->r);
    x.s_b = bg_sub(c, B->r);
    x.v = bg_sub(bg_add(A->v, bg_cross(A->w, x.s_a)), bg_add(B->v, bg_cross(B->w, x.s_b)));
    const double delta_t = -bg_dot(x.n, x.v);
    x.u = bg_add_scaled(x.v, delta_t, x.n);
    x.y = bg_stop_calc(&s->stop, mode, s->radius - x.h, delta_t);
    x.rub = s->mu > 0 ? s->mu * x.y.F / hypot(bg_length(x.u), s->e) : 0;
    x.F = bg_add_scaled(bg_scale(x.y.F, x.n), -x.rub, x.u);
    return x;
}

static plane_contact_state find_state(const bg_force *f, const bg_world *w)
{
    return calc_state(f->self, w, w->mode[f->mode0]);
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const contact *s = f->self;
    const plane_contact_state x = find_state(f, w);
    const bg_vec3 none = {0, 0, 0}, c = bg_add(w->body[s->a.body].r, x.s_a);
    bg_wrench_add(wrench, w, s->a.body, c, x.F, none);
    bg_wrench_add(wrench, w, s->b.body, c, bg_scale(-1, x.F), none);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const contact *s = f->self;
    const plane_contact_state x = find_state(f, w);
    bg_stop_add_energy(&s->stop, &x.y, out);
    out->power -= x.rub * bg_dot(x.u, x.u);
}

static void switching(const bg_force *f, const bg_world *w, double *out)
{
    const contact *s = f->self;
    const plane_contact_state x = find_state(f, w);
    out[0] = bg_stop_calc_switch(&s->stop, x.y.delta, x.y.delta_t);
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const contact *s = f->self;
    const plane_contact_state x = calc_state(s, w, BG_STOP_OPEN);
    bg_stop_settle(&s->stop, x.y.delta, x.y.delta_t, mode);
}

static void describe(const bg_force *f, int k, int direction, bool several, char *text, size_t size)
{
    (void)k;
    (void)several;
    snprintf(text, size, "contact %.60s %s", f->name,
             direction > 0   ? "closes"
             : direction < 0 ? "opens"
                             : "is only touched");
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench,
                    double *dh_unused)
{
    const plane_contact_state *x = context;
    const contact *s = x->s;
    (void)dh_unused;
    const bg_vec3 dn = bg_cross(d[1].dtheta, x->n), dp = bg_variation_of_point(&d[0], x->arm_a);
    const bg_vec3 dd = bg_sub(dp, bg_variation_of_point(&d[1], x->arm_b));
    const double dh = bg_dot(dn, x->d) + bg_dot(x->n, dd);
    const bg_vec3 dc = bg_add_scaled(bg_add_scaled(dp, -dh, x->n), -x->h, dn);
    const bg_vec3 ds_a = bg_sub(dc, d[0].dr), ds_b = bg_sub(dc, d[1].dr);
    bg_vec3 dv = bg_add(bg_add(d[0].dv, bg_cross(d[0].dw, x->s_a)), bg_cross(x->w_a, ds_a));
    dv = bg_sub(dv, bg_add(bg_add(d[1].dv, bg_cross(d[1].dw, x->s_b)), bg_cross(x->w_b, ds_b)));
    const double d_rate = -bg_dot(dn, x->v) - bg_dot(x->n, dv);
    const double dN = -x->y.F_delta * dh + x->y.F_rate * d_rate;
    bg_vec3 dF = bg_add_scaled(bg_scale(dN, x->n), x->y.F, dn);
    if (s->mu > 0) {
        const double whole = hypot(bg_length(x->u), s->e);
        const bg_vec3 du = bg_add_scaled(bg_add_scaled(dv, d_rate, x->n), x->y.delta_t, dn);
        const double d_rub = s->mu * dN / whole - x->rub * bg_dot(x->u, du) / (whole * whole);
        dF = bg_add_scaled(bg_add_scaled(dF, -d_rub, x->u), -x->rub, du);
    }
    dwrench[0] = bg_wrench_vary(x->s_a, ds_a, x->F, dF);
    dwrench[1] = bg_wrench_vary(x->s_b, ds_b, bg_scale(-1, x->F), bg_scale(-1, dF));
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const contact *s = f->self;
    const plane_contact_state x = find_state(f, w);
    const bg_vec3 back = bg_scale(-1, x.F);
    const bg_wrench on[2] = {{x.F, bg_cross(x.s_a, x.F)}, {back, bg_cross(x.s_b, back)}};
    bg_element_calc_pair_derivatives(tangent, &x, s->body, w, on, true, out);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const plane_contact_state x = find_state(f, w);
    const double values[] = {x.y.F,        x.rub * bg_length(x.u), -x.y.delta,
                             -x.y.delta_t, bg_length(x.u),         x.y.touches};
    return values[which];
}

static void look(const bg_force *f, bg_force_look *out)
{
    const contact *s = f->self;
    *out = (bg_force_look){.nends = 1, .end = {s->a}};
}

/* A marker at a point of the plane with z along its normal. */
static bg_marker read_plane(const bg_value *v)
{
    static const char *const keys[] = {"at", "normal", NULL};
    const bg_model *m = v->reader->model;
    const bg_value plane = bg_value_member(v, "plane"), at = bg_value_member(&plane, "at");
    bg_marker out = {.body = 0, .frame.R = bg_mat3_identity()};
    bg_vec3 normal = {0, 0, 1};
    if (!bg_value_exists(&plane))
        return bg_body_make_marker(m, 0, (bg_vec3){0, 0, 0}, &out.frame.R);
    bg_value_expect(&plane, keys);
    if (bg_value_exists(&at))
        out = bg_value_get_marker(&at);
    const bg_value given = bg_value_member(&plane, "normal");
    if (bg_value_exists(&given))
        normal = bg_value_unit(&plane, "normal");
    if (v->reader->status != BG_OK)
        return out;
    normal = bg_scope_turn(v->scope, normal);
    const bg_vec3 r = bg_value_exists(&at) ? bg_element_find_place(m, &out)
                                           : bg_scope_move(v->scope, (bg_vec3){0, 0, 0});
    const bg_mat3 axes = bg_frame_from_z(normal, bg_vec3_make(0, 0, 0));
    return bg_body_make_marker(m, out.body, r, &axes);
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",    "at",       "radius",   "plane", "stiffness",
                                       "damping", "exponent", "friction", "speed", NULL};
    contact *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    const bg_value friction = bg_value_member(v, "friction"), speed = bg_value_member(v, "speed");
    s->a = bg_value_marker(v, "at");
    s->radius = bg_value_not_negative_or(v, "radius", 0);
    s->b = read_plane(v);
    s->stop = bg_stop_read(v);
    s->mu = bg_value_not_negative_or(v, "friction", 0);
    if (bg_value_exists(&speed) || s->mu > 0)
        s->e = bg_value_exists(&speed) ? bg_value_positive(v, "speed") : 1e-3;
    if (v->reader->status == BG_OK && bg_value_exists(&speed) && !bg_value_exists(&friction))
        bg_value_fail(&speed, "rounds off friction, of which there is none; give 'friction'");
    s->body[0] = s->a.body;
    s->body[1] = s->b.body;
    f->ns = f->nmode = 1;
    if (v->reader->status == BG_OK && s->body[0] == s->body[1])
        bg_value_fail(v,
                      "the point and the plane belong to the same body '%s'; a contact is "
                      "between two bodies",
                      v->reader->model->bodies[s->body[0]].name);
}

static const char *const sensor_names[] = {"force",    "friction", "gap",
                                           "gap_rate", "slip",     "contact"};

extern const bg_force_class bg_force_contact;
const bg_force_class bg_force_contact = {
    .name = "contact",
    .summary = "a sphere or point of a body with a plane, and friction between them",
    .read = read,
    .apply = apply,
    .energy = energy,
    .switching = switching,
    .event = bg_stop_event,
    .sides = bg_stop_sides,
    .describe = describe,
    .settle = settle,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 6,
    .sensor = sensor,
    .look = look,
    .clear = bg_element_free,
};
