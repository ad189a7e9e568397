#include "model/tyres/ring.h"

#include "model/rings.h"

#include <stdlib.h>
#include <string.h>

static const double default_rate = 500; /* 1/s */

/* Of the rotor against its carrier. */
static double calc_spin(const bg_ring_state *x)
{
    return x->z[BG_RING_SPIN] - bg_dot(x->w_c, x->e_H);
}

/* Everything but the torque of the rotor. */
static bg_ring_state get_motion(const bg_force *f, const bg_world *w)
{
    const bg_ring_tyre *s = f->self;
    const bg_marker *rim = &s->contact.wheel;
    const bg_body_state *carrier = &w->body[rim->body], *ring = &w->body[s->ring];
    const bg_vec3 arm = bg_rotate(&carrier->R, rim->frame.r);
    bg_ring_state x = {.r_H = bg_world_get_place(w, bg_add(carrier->r, arm)),
                       .e_H = bg_rotate(&carrier->R, s->axis),
                       .v_H = bg_add(carrier->v, bg_cross(carrier->w, arm)),
                       .w_c = carrier->w,
                       .r = bg_world_get_place(w, ring->r),
                       .e = bg_axis(&ring->R, 1),
                       .v = ring->v,
                       .w = ring->w};
    memcpy(x.z, w->z + f->z0, (size_t)f->nz * sizeof(double));
    return x;
}

/* The torque on the rotor. */
static double calc_torque(const bg_force *f, const bg_world *w)
{
    const bg_ring_tyre *s = f->self;
    const bg_body_state *carrier = &w->body[s->contact.wheel.body];
    if (!s->torque.expression)
        return s->torque.constant;
    const bg_vec3 e_H = bg_rotate(&carrier->R, s->axis);
    const double spin = w->z[f->z0 + BG_RING_SPIN] - bg_dot(carrier->w, e_H);
    return bg_law_calc(&s->torque, w, &spin);
}

static bg_ring_state get_state(const bg_force *f, const bg_world *w)
{
    bg_ring_state x = get_motion(f, w);
    x.Q = calc_torque(f, w);
    return x;
}

/* What was found last, and all that it depends on. */
typedef struct ring_memo {
    bool known;
    int mode[BG_CONTACT_MODES];
    double t, Q, z[BG_RING_STATES];
    bg_body_state rim, ring;
    bg_ring_values y;
} ring_memo;

static bool is_known(const ring_memo *m, const bg_force *f, const bg_world *w, double Q)
{
    const bg_ring_tyre *s = f->self;
    return m->known && m->t == w->t && m->Q == Q &&
           memcmp(m->z, w->z + f->z0, (size_t)f->nz * sizeof(double)) == 0 &&
           memcmp(m->mode, w->mode + f->mode0, (size_t)f->nmode * sizeof(int)) == 0 &&
           memcmp(&m->ring, &w->body[s->ring], sizeof m->ring) == 0 &&
           memcmp(&m->rim, &w->body[s->contact.wheel.body], sizeof m->rim) == 0;
}

/* The values at w: those of the last call, where nothing has changed since; else computed, into own
 * if there is no room to remember them. */
static const bg_ring_values *get_values(const bg_force *f, const bg_world *w, bg_ring_values *own)
{
    const bg_ring_tyre *s = f->self;
    const int *mode = w->mode + f->mode0;
    const double Q = calc_torque(f, w);
    ring_memo *m = w->memo ? w->memo[f->index] : NULL;
    if (m && is_known(m, f, w, Q))
        return &m->y;
    bg_ring_state x = get_motion(f, w);
    x.Q = Q;
    if (!m) {
        s->law(f, w->t, mode, &x, NULL, own, NULL);
        return own;
    }
    m->known = true;
    m->t = w->t;
    m->Q = Q;
    memcpy(m->z, w->z + f->z0, (size_t)f->nz * sizeof(double));
    memcpy(m->mode, mode, (size_t)f->nmode * sizeof(int));
    m->ring = w->body[s->ring];
    m->rim = w->body[s->contact.wheel.body];
    s->law(f, w->t, mode, &x, NULL, &m->y, NULL);
    return &m->y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    bg_ring_values own;
    const bg_ring_tyre *s = f->self;
    const bg_ring_values *y = get_values(f, w, &own);
    const bg_vec3 r = w->body[s->ring].r, r_H = bg_marker_get_position(w, &s->contact.wheel);
    bg_wrench_add(wrench, w, s->ring, r, bg_add(y->F, y->f), bg_add(y->T, y->n));
    bg_wrench_add(wrench, w, s->contact.wheel.body, r_H, bg_scale(-1, y->F), y->T_H);
    bg_wrench_add(wrench, w, 0, r, bg_scale(-1, y->f), bg_scale(-1, y->n));
}

static void rates(const bg_force *f, const bg_world *w, double *z_t)
{
    bg_ring_values own;
    memcpy(z_t, get_values(f, w, &own)->h, (size_t)f->nz * sizeof(double));
}

/* The rate of delta, also on a road that is curved. */
static double calc_rate(const bg_force *f, const bg_world *w, const bg_ring_values *y)
{
    const bg_ring_tyre *s = f->self;
    if (!y->is_curved)
        return y->delta_t;
    const bg_ring_state x = get_state(f, w);
    const bg_ring_state d = {.r = bg_add(x.v, bg_vec3_make(s->contact.road.speed, 0, 0)),
                             .e = bg_cross(x.w, x.e)};
    bg_ring_values same, dy;
    s->law(f, w->t, w->mode + f->mode0, &x, &d, &same, &dy);
    return dy.delta;
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    bg_ring_values own;
    const bg_ring_tyre *s = f->self;
    const bg_ring_values *y = get_values(f, w, &own);
    const bg_body_state *ring = &w->body[s->ring];
    const double k = s->contact.k;
    out->potential += y->U;
    out->power += y->loss;
    if (y->touches) {
        out->potential += 0.5 * k * y->delta * y->delta;
        out->power += bg_dot(y->f, ring->v) + bg_dot(y->n, ring->w) +
                      k * y->delta * calc_rate(f, w, y);
    }
    if (s->has_rotor) {
        const bg_ring_state x = get_state(f, w);
        out->kinetic += 0.5 * s->inertia * x.z[BG_RING_SPIN] * x.z[BG_RING_SPIN];
        out->power += x.Q * calc_spin(&x);
    }
}

/* The rotor starts with the spin of the ring. */
static void start(const bg_force *f, const bg_world *w, double *z)
{
    const bg_ring_tyre *s = f->self;
    for (int i = 0; i < f->nz; i++)
        z[i] = 0;
    if (s->has_rotor)
        z[BG_RING_SPIN] = bg_dot(w->body[s->ring].w, bg_axis(&w->body[s->ring].R, 1));
}

/* The road's place is below the lowest point, as the law has it. */
static bg_contact_state find_contact(const bg_force *f, const bg_world *w, const int *mode)
{
    const bg_ring_tyre *s = f->self;
    const bg_ring_state x = get_state(f, w);
    bg_ring_values y;
    s->law(f, w->t, mode, &x, NULL, &y, NULL);
    return (bg_contact_state){.place = y.place, .delta = y.delta, .delta_t = y.delta_t};
}

static void switching(const bg_force *f, const bg_world *w, double *out)
{
    bg_ring_values own;
    const bg_ring_tyre *s = f->self;
    const bg_ring_values *y = get_values(f, w, &own);
    const bg_contact_state c = {.place = y->place, .delta = y->delta, .delta_t = y->delta_t};
    bg_contact_switching(&s->contact, &c, out);
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const bg_contact_state c = find_contact(f, w, mode);
    bg_contact_settle(f, &c, mode);
}

/* For derivatives: the point, and how the torque of the rotor changes with bodies. */
typedef struct point {
    const bg_force *f;
    const bg_world *w;
    bg_ring_state x;
    bg_vec3 arm;    /* of the rim's centre in its body */
    bg_slope slope; /* of the rotor's torque through outputs */
    double Q_spin;  /* and by the rotor's spin */
} point;

/* Changes of the wrenches on the bodies of rim and ring, and of the rates. */
static void respond(const point *p, bg_ring_state *d, bg_vec3 darm, bg_wrench *dwrench, double *dh)
{
    const bg_ring_tyre *s = p->f->self;
    bg_ring_values y, dy;
    d->Q += p->Q_spin * (d->z[BG_RING_SPIN] - bg_dot(d->w_c, p->x.e_H) - bg_dot(p->x.w_c, d->e_H));
    s->law(p->f, p->w->t, p->w->mode + p->f->mode0, &p->x, d, &y, &dy);
    const bg_wrench rim = bg_wrench_vary(p->arm, darm, bg_scale(-1, y.F), bg_scale(-1, dy.F));
    dwrench[0] = (bg_wrench){rim.f, bg_add(rim.n, dy.T_H)};
    dwrench[1] = (bg_wrench){bg_add(dy.F, dy.f), bg_add(dy.T, dy.n)};
    memcpy(dh, dy.h, (size_t)p->f->nz * sizeof(double));
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const point *p = context;
    const bg_ring_state *x = &p->x;
    bg_ring_state dx = {.r_H = bg_variation_of_point(&d[0], p->arm),
                        .e_H = bg_cross(d[0].dtheta, x->e_H),
                        .v_H = bg_variation_of_velocity(&d[0], p->arm, x->w_c),
                        .w_c = d[0].dw,
                        .r = d[1].dr,
                        .e = bg_cross(d[1].dtheta, x->e),
                        .v = d[1].dv,
                        .w = d[1].dw,
                        .Q = p->slope.used ? bg_slope_vary(&p->slope, d) : 0};
    respond(p, &dx, bg_variation_of_arm(&d[0], p->arm), dwrench, dh);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const bg_ring_tyre *s = f->self;
    point p = {.f = f,
               .w = w,
               .x = get_state(f, w),
               .arm = bg_marker_get_arm(w, &s->contact.wheel),
               .slope = bg_slope_make(s->body, s->nbodies)};
    if (s->has_rotor) {
        const double spin = calc_spin(&p.x);
        bg_law_calc_gradient(&s->torque, w, &spin, &p.Q_spin, NULL, &p.slope);
    }
    bg_element_calc_derivatives(tangent, &p, s->body, s->nbodies, f->nz, out);
    for (int j = 0; j < f->nz; j++) {
        const bg_vec3 none = {0, 0, 0};
        bg_ring_state d = {0};
        bg_wrench dwrench[2];
        double dh[BG_FORCE_STATES], rows[12];
        d.z[j] = 1;
        respond(&p, &d, none, dwrench, dh);
        for (int b = 0; b < 2; b++) {
            bg_vec3_store(dwrench[b].f, rows + 6 * b);
            bg_vec3_store(dwrench[b].n, rows + 6 * b + 3);
        }
        for (int i = 0; i < 12; i++)
            out->wrench_z[i][j] = rows[i];
        for (int i = 0; i < f->nz; i++)
            out->h_z[i][j] = dh[i];
    }
}

static const char *const sensor_names[] = {"force", "gap",          "gap_rate", "contact",
                                           "road",  "longitudinal", "lateral",  "aligning",
                                           "slip",  "slip_angle",   "windup",   "spin"};
enum { SENSORS = sizeof sensor_names / sizeof *sensor_names };

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const bg_ring_tyre *s = f->self;
    const bg_ring_state x = get_state(f, w);
    bg_ring_values own;
    const bg_ring_values *y = get_values(f, w, &own);
    const double side = s->handedness;
    const double values[SENSORS] = {
        y->N,
        -y->delta,
        -y->delta_t,
        y->touches,
        y->height,
        y->F_x,
        side * y->F_y,
        side * y->align,
        x.z[BG_RING_SLIP_X],
        -side * atan(x.z[BG_RING_SLIP_Y]),
        x.z[BG_RING_WINDUP],
        s->has_rotor ? x.z[BG_RING_SPIN] : bg_dot(x.w_c, x.e_H),
    };
    return values[which];
}

/* The ring is what is seen of the tyre. */
static void look(const bg_force *f, bg_force_look *out)
{
    const bg_ring_tyre *s = f->self;
    const bg_marker centre = {s->ring, {{0, 0, 0}, bg_mat3_identity()}};
    *out = (bg_force_look){
        .nends = 1, .end = {centre}, .radius = s->contact.radius, .road = &s->contact.road};
}

static void clear(bg_force *f)
{
    bg_ring_tyre *s = f->self;
    if (s)
        bg_law_clear(&s->torque);
    bg_contact_clear(f);
}

static bg_sidewall read_sidewall(const bg_value *v, const char *key)
{
    const bg_value list = bg_value_member(v, key);
    bg_sidewall x = {1, 0};
    if (!bg_value_expect_list(&list, 2))
        return x;
    const bg_value c = bg_value_element(&list, 0), k = bg_value_element(&list, 1);
    x.c = bg_value_get_number(&c);
    x.k = bg_value_get_number(&k);
    if (v->reader->status == BG_OK && !(x.c > 0))
        bg_value_fail(&c, "a stiffness must be positive, but is %g", x.c);
    if (v->reader->status == BG_OK && !(x.k >= 0))
        bg_value_fail(&k, "a damping must not be negative, but is %g", x.k);
    return x;
}

/* n positive numbers; of a list, or a single one for n = 1. */
static void read_positive(const bg_value *v, const char *key, int n, double *x)
{
    const bg_value list = bg_value_member(v, key);
    for (int i = 0; i < n; i++)
        x[i] = 1;
    if (n == 1) {
        x[0] = bg_value_positive(v, key);
        return;
    }
    if (!bg_value_expect_list(&list, n))
        return;
    for (int i = 0; i < n; i++) {
        const bg_value e = bg_value_element(&list, i);
        x[i] = bg_value_get_number(&e);
        if (v->reader->status == BG_OK && !(x[i] > 0))
            bg_value_fail(&e, "must be positive, but is %g", x[i]);
    }
}

static void read_rotor(const bg_value *v, bg_ring_tyre *s)
{
    static const char *const keys[] = {"inertia", "torque", NULL}, *const own[] = {"spin"};
    const bg_value rotor = bg_value_member(v, "rotor");
    s->has_rotor = bg_value_exists(&rotor);
    if (!s->has_rotor || !bg_value_expect_object(&rotor))
        return;
    bg_value_expect(&rotor, keys);
    s->inertia = bg_value_positive(&rotor, "inertia");
    bg_law_read(&rotor, "torque", own, 1, &s->torque);
    s->nbodies = bg_law_add_bodies(&rotor, &s->torque, s->body, s->nbodies);
}

/* Relaxation lengths: that of the patch, and of the residual springs beside it, which are in series
 * with the brush. */
static void read_relaxation(const bg_value *v, int n, bg_ring_tyre *s)
{
    const bg_value residual = bg_value_member(v, "residual");
    double c[2];
    for (int i = 0; i < 2; i++)
        s->sigma[i] = s->a;
    if (!bg_value_exists(&residual))
        return;
    read_positive(v, "residual", n, c);
    for (int i = 0; i < n; i++)
        s->sigma[i] += 2 * s->c_p[i] * s->a * s->a / c[i];
}

/* Sizes that no tyre can have. */
static void check_sizes(const bg_value *v, const bg_ring_tyre *s)
{
    const bg_value R_e = bg_value_member(v, "effective_radius");
    const bg_value a = bg_value_member(v, "half_length");
    const double R = s->contact.radius;
    if (v->reader->status != BG_OK)
        return;
    if (s->R_e > R)
        bg_value_fail(&R_e, "must not be above 'radius', %g m, but is %g m", R, s->R_e);
    else if (s->a >= R)
        bg_value_fail(&a, "must be less than 'radius', %g m, but is %g m", R, s->a);
}

/* The coupling of the parts of two rates is weak only where the rim is heavier than the ring. */
static void warn_light(const bg_value *v, const bg_force *f)
{
    const bg_ring_tyre *s = f->self;
    const bg_model *m = v->reader->model;
    const bg_body *rim = &m->bodies[s->contact.wheel.body], *ring = &m->bodies[s->ring];
    const double polar = ring->inertia.m[1][1];
    if (v->reader->status != BG_OK)
        return;
    if (rim->mass < ring->mass)
        bg_reader_warn(v->reader, BG_GOOD, "rings",
                       "body '%.60s', the rim of tyre '%.60s', weighs %g kg, less than the ring "
                       "with %g kg: methods of two rates then step hardly farther than rk4",
                       rim->name, f->name, rim->mass, ring->mass);
    if (s->has_rotor && s->inertia < polar)
        bg_reader_warn(v->reader, BG_GOOD, "rings",
                       "the rotor of tyre '%.60s' has an inertia of %g kg m^2, less than the ring "
                       "with %g: methods of two rates then step hardly farther than rk4 unless it "
                       "is fast, too",
                       f->name, s->inertia, polar);
}

static void read(const bg_value *v, bg_force *f, const char *const *keys, bool planar)
{
    bg_ring_tyre *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    const bg_value sidewall = bg_value_member(v, "sidewall"), rate = bg_value_member(v, "rate");
    static const char *const walls[] = {"radial", "torsion", "lateral", "tilt", NULL};
    static const char *const flat_walls[] = {"radial", "torsion", NULL};
    const int n = planar ? 1 : 2;
    if (!s)
        return;
    s->law = planar ? bg_ring_calc_planar : bg_ring_calc_spatial;
    bg_value_expect(v, keys);
    bg_contact_read(v, f, &s->contact);
    const bg_vec3 axis = bg_ring_read_axis(v), forward = bg_cross(axis, bg_vec3_make(0, 0, 1));
    s->axis = bg_rotate(&s->contact.wheel.frame.R, axis);
    s->forward = bg_scale(1 / bg_length(forward), forward);
    s->handedness = bg_scope_get_handedness(v->scope);
    s->ring = f->ring = bg_ring_find_body(v);
    s->R_e = bg_value_positive(v, "effective_radius");
    if (bg_value_expect_object(&sidewall))
        bg_value_expect(&sidewall, planar ? flat_walls : walls);
    s->radial = read_sidewall(&sidewall, "radial");
    s->torsion = read_sidewall(&sidewall, "torsion");
    if (!planar) {
        s->lateral = read_sidewall(&sidewall, "lateral");
        s->tilt = read_sidewall(&sidewall, "tilt");
    }
    s->a = bg_value_positive(v, "half_length");
    read_positive(v, "tread_stiffness", n, s->c_p);
    read_positive(v, "friction", n, s->mu);
    read_relaxation(v, n, s);
    s->resistance = bg_value_not_negative_or(v, "rolling_resistance", 0);
    s->rate = bg_value_exists(&rate) ? bg_value_positive(v, "rate") : default_rate;
    s->body[0] = s->contact.wheel.body;
    s->body[1] = s->ring;
    s->nbodies = 2;
    read_rotor(v, s);
    f->nz = s->has_rotor ? BG_RING_STATES : BG_RING_SPIN;
    check_sizes(v, s);
    warn_light(v, f);
}

#define KEYS                                                                                       \
    "type", "wheel", "axis", "radius", "stiffness", "damping", "road", "effective_radius", "ring", \
        "sidewall", "half_length", "tread_stiffness", "friction", "residual",                      \
        "rolling_resistance", "rate", "rotor", "spin", "deflection", NULL

static void read_spatial(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {KEYS};
    read(v, f, keys, false);
}

static void read_planar(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {KEYS};
    read(v, f, keys, true);
}

#define CLASS(name_, summary_, read_, ring_)                                                       \
    {                                                                                              \
        .name = (name_), .summary = (summary_), .memo_size = sizeof(ring_memo), .ring = &(ring_),  \
        .read = (read_), .apply = apply, .energy = energy, .rates = rates, .switching = switching, \
        .event = bg_contact_event, .sides = bg_contact_sides, .describe = bg_contact_describe,     \
        .start = start, .settle = settle, .derivatives = derivatives,                              \
        .sensor_names = sensor_names, .nsensors = SENSORS, .sensor = sensor, .look = look,         \
        .clear = clear,                                                                            \
    }

extern const bg_joint_class bg_joint_ring, bg_joint_ring_planar;
extern const bg_force_class bg_force_tyre_ring, bg_force_tyre_ring_planar;
const bg_force_class bg_force_tyre_ring = CLASS(
    "tyre-ring", "a rigid ring on sidewalls, a body of its own, with slip in both directions",
    read_spatial, bg_joint_ring);
const bg_force_class bg_force_tyre_ring_planar = CLASS(
    "tyre-ring-planar", "a rigid ring on sidewalls, a body of its own, in the plane of the wheel",
    read_planar, bg_joint_ring_planar);
