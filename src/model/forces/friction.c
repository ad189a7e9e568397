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
    double b, e;                        /* viscous; speed of a regularised law, 0: stick and slip */
    double l, S, tau;                   /* deflection, that of the break-away, s */
    int nbodies, body[BG_FORCE_BODIES]; /* of the joint, then those of outputs in the law */
    char joint[64];                     /* its name */
} friction;

typedef struct state {
    bg_lever lever;
    double L, Q, Q_rate, Q_u;
    int mode;
    double level_factor;   /* dQ/dL */
    const bg_slope *slope; /* of L through outputs; NULL: not wanted */
} state;

static int find_mode(const friction *s, double rate, int mode)
{
    if (mode != OPEN)
        return mode;
    return fabs(rate) * fmax(s->tau, 1e-6) <= rest * s->l ? STICK : rate > 0 ? FORWARD : BACKWARD;
}

static state calc_state(const bg_force *f, const bg_world *w, bg_slope *slope)
{
    const friction *s = f->self;
    state y = {.lever = bg_lever_calc(w, &s->coordinate), .slope = slope};
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
    y.Q = -y.L * g - s->b * rate;
    y.Q_rate = -y.L * g_rate - s->b;
    y.Q_u = -y.L * g_u;
    y.level_factor = -g;
    return y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const state y = calc_state(f, w, NULL);
    bg_lever_push(&y.lever, y.Q, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const state y = calc_state(f, w, NULL);
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
    const state *y = context;
    double d_rate;
    bg_lever_vary(&y->lever, &d[0], &d[1], &d_rate);
    const double dQ = y->Q_rate * d_rate + y->level_factor * bg_slope_vary(y->slope, d);
    bg_lever_vary_push(&y->lever, y->Q, dQ, &d[0], &d[1], &dwrench[0], &dwrench[1]);
    if (y->mode == STICK)
        dh[0] = d_rate;
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const friction *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const state y = calc_state(f, w, &slope);
    bg_element_calc_derivatives(tangent, &y, s->body, s->nbodies, f->nz, out);
    if (f->nz == 0)
        return;
    const bg_variation none[2] = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    bg_wrench on[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    bg_lever_vary_push(&y.lever, y.Q, y.Q_u, &none[0], &none[1], &on[0], &on[1]);
    for (int i = 0; i < 2; i++) {
        const double x[6] = {on[i].f.x, on[i].f.y, on[i].f.z, on[i].n.x, on[i].n.y, on[i].n.z};
        for (int k = 0; k < 6; k++)
            out->wrench_z[6 * i + k][0] = x[k];
    }
}

static void drive(const bg_force *f, const bg_world *w, bg_drive *out)
{
    const friction *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const state y = calc_state(f, w, &slope);
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
    const state y = calc_state(f, w, NULL);
    const double dry = y.L * y.level_factor;
    const double values[] = {y.lever.rate, y.Q, dry, f->nz > 0 ? w->z[f->z0] : 0,
                             s->l > 0 && y.mode == STICK};
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
    if (s->level.given && smooth == sticks)
        bg_value_fail(v, "dry friction must have one of 'speed' (a smooth law around rest) and "
                         "'deflection' (stick and slip, with events)");
    if (!s->level.given && (smooth || sticks))
        bg_value_fail(v, "has no dry friction; give 'coulomb'");
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
    static const char *const keys[] = {"type",  "joint",      "coordinate", "coulomb", "viscous",
                                       "speed", "deflection", "static",     "damping", NULL};
    friction *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    s->coordinate = bg_element_read_drive(v, f);
    s->b = bg_value_not_negative_or(v, "viscous", 0);
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
    if (s->b == 0 && !s->level.given)
        bg_value_fail(v, "exerts no friction; give 'coulomb' or 'viscous'");
}

static const char *const sensor_names[] = {"rate", "torque", "dry", "deflection", "sticks"};

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
    .sensor_names = sensor_names,
    .nsensors = 5,
    .sensor = sensor,
    .clear = clear,
};
