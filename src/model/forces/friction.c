/* friction: dry and viscous friction along one coordinate x of a joint, an angle or a slide.
 *
 * With the level L >= 0 of dry friction ("coulomb", a law) and the viscous coefficient b,
 *
 *   Q = -L g - b x'          drives the coordinate upwards (forces/lever.c), where
 *
 *   regularised ("speed" e):            g = x' / sqrt(x'^2 + e^2)
 *   with stick and slip ("deflection" l):
 *     slipping forward, backward        g = 1, -1                             u' = 0
 *     sticking                          g = (u + tau x') / l                  u' = x'
 *
 * The deflection u is a state: in stick the surfaces hold on to each other by a spring of stiffness
 * L/l and a damper L tau/l, both in proportion to the level, as bristles under a load are. Stick
 * ends when |u| reaches `static` l, so that the force, at rest, is `static` times the level; slip
 * ends when x' = 0, and stick begins with u = l, -l: the force is the same on both sides of that
 * moment. All three are events. In slip x' > 0 (x' < 0) by the event that begins it, since u' = x'
 * there, and nothing chatters.
 *
 * With "coefficient" mu the level has the part mu N R besides, R the "radius" of an angle (of a
 * slide 1), N the size of the force across the axis n that the joint transmits: with f = -sum
 * lambda e of its rows,
 *
 *   N = |f - n (n . f)|,   dN = r . (df - dn (n . f)),   r = (f - n (n . f))/N.
 *
 * The joint has to close a loop then, also where it need not, so that it has multipliers.
 *
 * mode: sticking (1), slipping forward (2), backward (3), open (0: by x', where so little that
 * tau x' is nothing beside l counts as rest). Everything it does is power. */
#include "model/forces/law.h"
#include "model/forces/lever.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN, STICK, FORWARD, BACKWARD };
enum { BREAKS_FORWARD, BREAKS_BACKWARD, STOPS, SWITCHES };

static const double rest = 1e-6; /* tau |x'| / l below which a coordinate rests at the start */

typedef struct friction {
    bg_coordinate coordinate;
    bg_law level;
    double mu, radius;                  /* of the load; 0: it does not count */
    double b, e;                        /* viscous; speed of a regularised law, 0: stick and slip */
    double l, S, tau;                   /* deflection, that of the break-away, s */
    int nbodies, body[BG_FORCE_BODIES]; /* of the joint, then those of outputs in the law */
    char joint[64];                     /* its name */
} friction;

/* What the joint transmits across its axis. */
typedef struct load {
    int n;      /* rows */
    bool turns; /* their axes turn with the joint's first body */
    bg_vec3 e[3], f, r;
    double N;
} load;

typedef struct friction_state {
    const friction *s;
    load load;
    bg_lever lever;
    double L, Q, Q_rate, Q_u;
    int mode;
    double level_factor;   /* dQ/dL */
    const bg_slope *slope; /* of L through outputs; NULL: not wanted */
} friction_state;

static int find_mode(const friction *s, double rate, int mode)
{
    if (mode != OPEN)
        return mode;
    return fabs(rate) * fmax(s->tau, 1e-6) <= rest * s->l ? STICK : rate > 0 ? FORWARD : BACKWARD;
}

static load calc_load(const bg_force *f, const bg_world *w, bg_vec3 n)
{
    const friction *s = f->self;
    load y = {.n = 0};
    if (s->mu == 0 || !w->lambda)
        return y;
    const bg_joint_rows *x = &w->joint_rows[f->joint];
    y.n = x->n;
    y.turns = x->body != 0;
    for (int k = 0; k < x->n; k++) {
        y.e[k] = y.turns ? bg_rotate(&w->body[x->body].R, x->axis[k]) : x->axis[k];
        y.f = bg_add_scaled(y.f, -w->lambda[x->row[k]], y.e[k]);
    }
    const bg_vec3 across = bg_add_scaled(y.f, -bg_dot(n, y.f), n);
    y.N = bg_length(across);
    if (y.N > 0)
        y.r = bg_scale(1 / y.N, across);
    return y;
}

/* The change of N as the bodies turn. */
static double vary_load(const friction_state *y, const bg_variation *d)
{
    const load *x = &y->load;
    const bool about_x = y->lever.kind == BG_COORDINATE_ANGLE_X;
    const bg_vec3 dn = bg_cross(d[about_x].dtheta, y->lever.n), none = {0, 0, 0};
    const bg_vec3 df = x->turns ? bg_cross(d[0].dtheta, x->f) : none;
    return bg_dot(x->r, bg_add_scaled(df, -bg_dot(y->lever.n, x->f), dn));
}

static friction_state calc_state(const bg_force *f, const bg_world *w, bg_slope *slope)
{
    const friction *s = f->self;
    friction_state y = {.s = s, .lever = bg_lever_calc(w, &s->coordinate), .slope = slope};
    y.load = calc_load(f, w, y.lever.n);
    const double rate = y.lever.rate;
    double g, g_rate = 0, g_u = 0, none = 0;
    if (s->e > 0) {
        const double whole = hypot(rate, s->e);
        g = rate / whole;
        g_rate = s->e / whole * (s->e / whole) / whole;
    } else if (s->l > 0) {
        y.mode = find_mode(s, rate, w->mode[f->mode0]);
        g = y.mode == FORWARD ? 1 : y.mode == BACKWARD ? -1 : (w->z[f->z0] + s->tau * rate) / s->l;
        g_rate = y.mode == STICK ? s->tau / s->l : 0;
        g_u = y.mode == STICK ? 1 / s->l : 0;
    } else {
        g = 0;
    }
    y.L = slope ? bg_law_calc_gradient(&s->level, w, &none, &none, NULL, slope)
                : bg_law_calc(&s->level, w, &none);
    if (y.L < 0) { /* a law that asks for less than nothing gets nothing */
        y.L = 0;
        if (slope)
            *slope = bg_slope_make(slope->body, slope->n);
    }
    y.L += s->mu * s->radius * y.load.N;
    y.Q = -y.L * g - s->b * rate;
    y.Q_rate = -y.L * g_rate - s->b;
    y.Q_u = -y.L * g_u;
    y.level_factor = -g;
    return y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const friction_state y = calc_state(f, w, NULL);
    bg_lever_push(&y.lever, y.Q, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const friction_state y = calc_state(f, w, NULL);
    out->power += y.Q * y.lever.rate;
}

static void rates(const bg_force *f, const bg_world *w, double *z_t)
{
    const friction *s = f->self;
    if (f->nz == 0)
        return;
    const double rate = bg_coordinate_calc_rate(w, &s->coordinate);
    z_t[0] = find_mode(s, rate, w->mode[f->mode0]) == STICK ? rate : 0;
}

static void switching(const bg_force *f, const bg_world *w, double *out)
{
    const friction *s = f->self;
    const double rate = bg_coordinate_calc_rate(w, &s->coordinate), u = w->z[f->z0];
    const int mode = find_mode(s, rate, w->mode[f->mode0]);
    out[BREAKS_FORWARD] = mode == STICK ? s->S - u : s->S;
    out[BREAKS_BACKWARD] = mode == STICK ? s->S + u : s->S;
    out[STOPS] = mode == FORWARD ? rate : mode == BACKWARD ? -rate : 1;
}

static int event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f;
    if (direction >= 0)
        return BG_EVENT_NOTE;
    mode[0] = k == STOPS ? STICK : k == BREAKS_FORWARD ? FORWARD : BACKWARD;
    return BG_EVENT_CHANGED;
}

/* Stick begins with the deflection that exerts the force of slip. */
static void enter(const bg_force *f, int k, const int *before, const int *mode, double *z)
{
    const friction *s = f->self;
    if (k == STOPS && mode[0] == STICK && before[0] != STICK)
        z[0] = before[0] == FORWARD ? s->l : -s->l;
}

static void sides(const bg_force *f, const int *mode, int *side)
{
    (void)f;
    for (int k = 0; k < SWITCHES && mode[0] != OPEN; k++)
        side[k] = 1;
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const friction *s = f->self;
    if (f->nmode > 0)
        mode[0] = find_mode(s, bg_coordinate_calc_rate(w, &s->coordinate), mode[0]);
}

static void describe(const bg_force *f, int k, int direction, bool several, char *text, size_t size)
{
    static const char *const falls[] = {"begins to slip forward", "begins to slip backward",
                                        "sticks"};
    static const char *const touches[] = {"nearly slips forward", "nearly slips backward",
                                          "nearly sticks"};
    const friction *s = f->self;
    (void)several;
    snprintf(text, size, "joint %s %s", s->joint, direction < 0 ? falls[k] : touches[k]);
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const friction_state *y = context;
    double d_rate;
    bg_lever_vary(&y->lever, &d[0], &d[1], &d_rate);
    const double dL = bg_slope_vary(y->slope, d) + y->s->mu * y->s->radius * vary_load(y, d);
    const double dQ = y->Q_rate * d_rate + y->level_factor * dL;
    bg_lever_vary_push(&y->lever, y->Q, dQ, &d[0], &d[1], &dwrench[0], &dwrench[1]);
    if (y->mode == STICK)
        dh[0] = d_rate;
}

/* Wrenches on both bodies when Q changes by dQ. */
static void push(const friction_state *y, double dQ, bg_wrench on[2])
{
    const bg_variation none[2] = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    memset(on, 0, 2 * sizeof *on);
    bg_lever_vary_push(&y->lever, y->Q, dQ, &none[0], &none[1], &on[0], &on[1]);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const friction *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const friction_state y = calc_state(f, w, &slope);
    bg_element_calc_derivatives(tangent, &y, s->body, s->nbodies, f->nz, out);
    if (f->nz == 0)
        return;
    bg_wrench on[2];
    push(&y, y.Q_u, on);
    for (int i = 0; i < 2; i++) {
        const double x[6] = {on[i].f.x, on[i].f.y, on[i].f.z, on[i].n.x, on[i].n.y, on[i].n.z};
        for (int k = 0; k < 6; k++)
            out->wrench_z[6 * i + k][0] = x[k];
    }
}

/* dQ/dlambda = -g mu R r . (-e). */
static int load_slopes(const bg_force *f, const bg_world *w, bg_load_slope out[BG_LOAD_SLOPES])
{
    const friction *s = f->self;
    const friction_state y = calc_state(f, w, NULL);
    int n = 0;
    for (int k = 0; k < y.load.n; k++) {
        bg_wrench on[2];
        push(&y, -y.level_factor * s->mu * s->radius * bg_dot(y.load.r, y.load.e[k]), on);
        for (int i = 0; i < 2; i++) {
            out[n] = (bg_load_slope){w->joint_rows[f->joint].row[k], s->body[i], {0}};
            bg_vec3_store(on[i].f, out[n].wrench);
            bg_vec3_store(on[i].n, out[n++].wrench + 3);
        }
    }
    return n;
}

static void drive(const bg_force *f, const bg_world *w, bg_drive *out)
{
    const friction *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const friction_state y = calc_state(f, w, &slope);
    out->Q.rate = y.Q_rate;
    out->Q.z[0] = y.Q_u;
    out->h[0].rate = f->nz > 0 && y.mode == STICK ? 1 : 0;
    if (s->level.noutputs == 0)
        return;
    out->nbodies = s->nbodies;
    out->body = s->body;
    for (int k = 0; k < s->nbodies; k++)
        for (int c = 0; c < 12; c++)
            out->Q.body[k][c] = y.level_factor * slope.by[k][c];
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const friction *s = f->self;
    const friction_state y = calc_state(f, w, NULL);
    const double dry = y.L * y.level_factor;
    const double values[] = {
        y.lever.rate, y.Q, dry, f->nz > 0 ? w->z[f->z0] : 0, s->l > 0 && y.mode == STICK, y.load.N};
    return values[which];
}

static void clear(bg_force *f)
{
    friction *s = f->self;
    if (s)
        bg_law_clear(&s->level);
    free(s);
    f->self = NULL;
}

/* Members of the other kind of law. */
static void refuse(const bg_value *v, const char *key, const char *why)
{
    const bg_value x = bg_value_member(v, key);
    if (bg_value_exists(&x))
        bg_value_fail(&x, "%s", why);
}

/* Friction on what the joint transmits: it must have multipliers. */
static void read_load(const bg_value *v, const bg_force *f, friction *s)
{
    const bg_value mu = bg_value_member(v, "coefficient"), radius = bg_value_member(v, "radius");
    bg_model *m = v->reader->model;
    s->mu = bg_value_not_negative_or(v, "coefficient", 0);
    s->radius = 1;
    if (v->reader->status != BG_OK || !bg_value_exists(&mu)) {
        refuse(v, "radius", "belongs to 'coefficient'; give that, too");
        return;
    }
    const bool slide = s->coordinate.kind == BG_COORDINATE_SLIDE;
    if (!slide)
        s->radius = bg_value_positive(v, "radius");
    else if (bg_value_exists(&radius))
        bg_value_fail(&radius, "is that of a bearing, but this coordinate is a slide");
    bg_joint *j = &m->joints[f->joint];
    if (j->cut == BG_CUT_FORBID)
        bg_value_fail(&mu,
                      "needs the force that joint '%s' transmits, which 'cut': false there "
                      "leaves out of the equations; remove that",
                      j->name);
    j->cut = BG_CUT_FORCE;
    m->of_reactions = m->of_reactions || s->mu > 0;
}

static void read_dry(const bg_value *v, friction *s)
{
    const bg_value speed = bg_value_member(v, "speed"), l = bg_value_member(v, "deflection"),
                   ratio = bg_value_member(v, "static"), level = bg_value_member(v, "coulomb");
    const bool smooth = bg_value_exists(&speed), sticks = bg_value_exists(&l);
    static const char *const to_stick[] = {"static", "damping"};
    bg_law_read(v, "coulomb", NULL, 0, &s->level);
    if (s->level.given && !s->level.expression && s->level.constant < 0)
        bg_value_fail(&level, "must not be negative");
    for (int k = 0; k < 2 && !sticks; k++)
        refuse(v, to_stick[k], "belongs to stick and slip; give 'deflection', too");
    const bool dry = s->level.given || s->mu > 0;
    if (dry && smooth == sticks)
        bg_value_fail(v, "dry friction must have one of 'speed' (a smooth law around rest) and "
                         "'deflection' (stick and slip, with events)");
    if (!dry && (smooth || sticks))
        bg_value_fail(v, "has no dry friction; give 'coulomb' or 'coefficient'");
    if (smooth)
        s->e = bg_value_positive(v, "speed");
    if (!sticks)
        return;
    s->l = bg_value_positive(v, "deflection");
    s->tau = bg_value_not_negative_or(v, "damping", 0.005);
    const double factor = bg_value_number_or(v, "static", 1);
    if (v->reader->status == BG_OK && !(factor >= 1))
        bg_value_fail(&ratio, "must be 1 or more: static friction over that of slip, not %g",
                      factor);
    s->S = factor * s->l;
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",       "joint",       "coordinate", "coulomb",
                                       "viscous",    "coefficient", "radius",     "speed",
                                       "deflection", "static",      "damping",    NULL};
    friction *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    s->coordinate = bg_element_read_drive(v, f);
    s->b = bg_value_not_negative_or(v, "viscous", 0);
    read_load(v, f, s);
    read_dry(v, s);
    s->body[0] = s->coordinate.a.body;
    s->body[1] = s->coordinate.b.body;
    s->nbodies = bg_law_add_bodies(v, &s->level, s->body, 2);
    if (s->l > 0) {
        f->nz = f->nmode = 1;
        f->ns = SWITCHES;
    }
    if (v->reader->status != BG_OK)
        return;
    snprintf(s->joint, sizeof s->joint, "%s", v->reader->model->joints[f->joint].name);
    if (s->b == 0 && !s->level.given && s->mu == 0)
        bg_value_fail(v, "exerts no friction; give 'coulomb', 'coefficient' or 'viscous'");
}

static const char *const sensor_names[] = {"rate", "torque", "dry", "deflection", "sticks", "load"};

extern const bg_force_class bg_force_friction;
const bg_force_class bg_force_friction = {
    .name = "friction",
    .summary = "dry and viscous friction along one coordinate of a joint",
    .read = read,
    .apply = apply,
    .energy = energy,
    .rates = rates,
    .switching = switching,
    .event = event,
    .enter = enter,
    .sides = sides,
    .describe = describe,
    .settle = settle,
    .derivatives = derivatives,
    .drive = drive,
    .load_slopes = load_slopes,
    .sensor_names = sensor_names,
    .nsensors = 6,
    .sensor = sensor,
    .clear = clear,
};
