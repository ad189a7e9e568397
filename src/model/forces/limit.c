/* limit: stops at one or both ends of the range of a joint coordinate x, an angle or a slide.
 *
 *   delta = lower - x  or  x - upper          how far it is beyond
 *   Q     = F_lower - F_upper                 F = k delta^n + c delta' of a stop (forces/stop.h)
 *
 * Q drives the coordinate upwards (forces/lever.c). Each end has a switching function and a mode.
 * With "turns" an angle is followed through full turns by a state z' = x'; without, it lies in
 * (-180, 180] degrees, and so must its limits. */
#include "model/forces/lever.h"
#include "model/forces/stop.h"

#include <stdio.h>
#include <string.h>

enum { LOWER, UPPER, ENDS };

typedef struct limit {
    bg_coordinate coordinate;
    bool turns;
    int n; /* ends there are */
    int end[ENDS];
    double at[ENDS];
    bg_stop stop;
    char joint[64]; /* its name */
} limit;

typedef struct limit_state {
    bg_lever lever;
    double Q, Q_x, Q_rate;
    bg_stop_state end[ENDS];
    bool turns;
} limit_state;

static double get_sign(const limit *s, int i)
{
    return s->end[i] == UPPER ? 1 : -1; /* ddelta/dx */
}

static double get_delta(const limit *s, int i, double x)
{
    return get_sign(s, i) * (x - s->at[i]);
}

static bg_lever find_lever(const bg_force *f, const bg_world *w)
{
    const limit *s = f->self;
    bg_coordinate c = s->coordinate;
    c.turns = s->turns ? f->z0 : -1;
    return bg_lever_calc(w, &c);
}

static limit_state calc_state(const bg_force *f, const bg_world *w)
{
    const limit *s = f->self;
    limit_state y = {.lever = find_lever(f, w), .turns = s->turns};
    for (int i = 0; i < s->n; i++) {
        const double sign = get_sign(s, i);
        y.end[i] = bg_stop_calc(&s->stop, w->mode[f->mode0 + i], get_delta(s, i, y.lever.x),
                                sign * y.lever.rate);
        y.Q -= sign * y.end[i].F;
        y.Q_x -= y.end[i].F_delta;
        y.Q_rate -= y.end[i].F_rate;
    }
    return y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const limit_state y = calc_state(f, w);
    bg_lever_push(&y.lever, y.Q, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const limit *s = f->self;
    const limit_state y = calc_state(f, w);
    for (int i = 0; i < s->n; i++)
        bg_stop_add_energy(&s->stop, &y.end[i], out);
}

static void rates(const bg_force *f, const bg_world *w, double *z_t)
{
    const limit *s = f->self;
    if (s->turns)
        z_t[0] = bg_coordinate_calc_rate(w, &s->coordinate);
}

static void start(const bg_force *f, const bg_world *w, double *z)
{
    const limit *s = f->self;
    if (s->turns)
        z[0] = bg_coordinate_calc(w, &s->coordinate);
}

static void switching(const bg_force *f, const bg_world *w, double *out)
{
    const limit *s = f->self;
    const bg_lever l = find_lever(f, w);
    for (int i = 0; i < s->n; i++)
        out[i] = bg_stop_calc_switch(&s->stop, get_delta(s, i, l.x), get_sign(s, i) * l.rate);
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const limit *s = f->self;
    const bg_lever l = find_lever(f, w);
    for (int i = 0; i < s->n; i++)
        bg_stop_settle(&s->stop, get_delta(s, i, l.x), get_sign(s, i) * l.rate, &mode[i]);
}

static int event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f;
    return bg_stop_pass(direction, &mode[k]);
}

static void sides(const bg_force *f, const int *mode, int *side)
{
    const limit *s = f->self;
    for (int i = 0; i < s->n; i++)
        side[i] = bg_stop_get_side(mode[i]);
}

static void describe(const bg_force *f, int k, int direction, bool several, char *text, size_t size)
{
    const limit *s = f->self;
    (void)several;
    snprintf(text, size, "joint %s %s its %s limit", s->joint,
             direction > 0   ? "reaches"
             : direction < 0 ? "leaves"
                             : "only touches",
             s->end[k] == UPPER ? "upper" : "lower");
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const limit_state *y = context;
    double d_rate;
    const double dx = bg_lever_vary(&y->lever, &d[0], &d[1], &d_rate);
    const double dQ = y->Q_x * dx + y->Q_rate * d_rate;
    bg_lever_vary_push(&y->lever, y->Q, dQ, &d[0], &d[1], &dwrench[0], &dwrench[1]);
    if (y->turns)
        dh[0] = d_rate;
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const limit *s = f->self;
    const limit_state y = calc_state(f, w);
    const int body[2] = {s->coordinate.a.body, s->coordinate.b.body};
    bg_element_calc_derivatives(tangent, &y, body, 2, f->nz, out);
}

static void drive(const bg_force *f, const bg_world *w, bg_drive *out)
{
    const limit *s = f->self;
    const limit_state y = calc_state(f, w);
    out->Q.x = y.Q_x;
    out->Q.rate = y.Q_rate;
    out->h[0].rate = s->turns ? 1 : 0;
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const limit *s = f->self;
    const limit_state y = calc_state(f, w);
    double contact = 0;
    for (int i = 0; i < s->n; i++)
        contact += y.end[i].touches ? get_sign(s, i) : 0;
    const double values[] = {y.lever.x, y.lever.rate, y.Q, contact};
    return values[which];
}

static void check_turns(const bg_value *v, const limit *s)
{
    const bg_value turns = bg_value_member(v, "turns");
    const bool slide = s->coordinate.kind == BG_COORDINATE_SLIDE;
    if (s->turns && slide)
        bg_value_fail(&turns, "counts turns of an angle, but this coordinate is a slide");
    for (int i = 0; i < s->n && !slide && !s->turns; i++) {
        const bg_value at = bg_value_member(v, s->end[i] == UPPER ? "upper" : "lower");
        if (!(fabs(s->at[i]) < M_PI))
            bg_value_fail(&at,
                          "an angle lies between -180 and 180 degrees, unless its full turns are "
                          "counted: add \"turns\": true, or write \"%.4g*deg\" if %.4g are degrees",
                          s->at[i], s->at[i]);
    }
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",      "joint",   "coordinate", "lower", "upper",
                                       "stiffness", "damping", "exponent",   "turns", NULL};
    static const char *const ends[] = {"lower", "upper"};
    limit *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    s->coordinate = bg_element_read_drive(v, f);
    for (int k = 0; k < ENDS; k++) {
        const bg_value at = bg_value_member(v, ends[k]);
        if (!bg_value_exists(&at))
            continue;
        const bool slide = s->coordinate.kind == BG_COORDINATE_SLIDE;
        s->at[s->n] = (slide ? bg_value_get_number : bg_value_get_angle)(&at);
        s->end[s->n++] = k;
    }
    s->stop = bg_stop_read(v);
    s->turns = bg_value_bool_or(v, "turns", false);
    f->nz = s->turns ? 1 : 0;
    f->ns = f->nmode = s->n;
    if (v->reader->status != BG_OK)
        return;
    snprintf(s->joint, sizeof s->joint, "%s", v->reader->model->joints[f->joint].name);
    if (s->n == 0)
        bg_value_fail(v, "limits nothing; give 'lower', 'upper' or both");
    if (s->n == ENDS && !(s->at[0] < s->at[1]))
        bg_value_fail(v, "'lower' (%g) must be less than 'upper' (%g)", s->at[0], s->at[1]);
    check_turns(v, s);
}

static const char *const sensor_names[] = {"angle", "rate", "torque", "contact"};

extern const bg_force_class bg_force_limit;
const bg_force_class bg_force_limit = {
    .name = "limit",
    .summary = "stops at the ends of a joint coordinate's range",
    .read = read,
    .apply = apply,
    .energy = energy,
    .rates = rates,
    .switching = switching,
    .event = event,
    .sides = sides,
    .describe = describe,
    .start = start,
    .settle = settle,
    .derivatives = derivatives,
    .drive = drive,
    .sensor_names = sensor_names,
    .nsensors = 4,
    .sensor = sensor,
    .clear = bg_element_free,
};
