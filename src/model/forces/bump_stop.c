/* bump-stop: a stop along the line between two points, for what happens when they come too near
 * (a rubber on the rod of a damper) or too far apart (a check strap).
 *
 * With the length L between point a and point b and its rate (forces/span.h),
 *
 *   delta = below - L  or  L - above          compression
 *   F     = k delta^n + c delta'              of a stop (forces/stop.h)
 *
 * pushes the points apart, or pulls them together: with sign = dL/d(-delta) the pull is -sign F,
 * and d(-sign F) = F_delta dL + F_rate dL'. */
#include "model/forces/span.h"
#include "model/forces/stop.h"

#include <stdio.h>

typedef struct bump_stop {
    bg_marker a, b;
    int body[2];
    double at, sign; /* length, m, where it touches; 1: below, -1: above */
    bg_stop stop;
} bump_stop;

typedef struct bump_stop_line {
    bg_span span;
    bg_stop_state y;
    double pull;
} bump_stop_line;

static bump_stop_line calc_line(const bump_stop *s, const bg_world *w, int mode)
{
    bump_stop_line x = {.span = bg_span_calc(w, &s->a, &s->b)};
    x.y = bg_stop_calc(&s->stop, mode, s->sign * (s->at - x.span.L), -s->sign * x.span.L_t);
    x.pull = -s->sign * x.y.F;
    return x;
}

static bump_stop_line find_line(const bg_force *f, const bg_world *w)
{
    return calc_line(f->self, w, w->mode[f->mode0]);
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const bump_stop *s = f->self;
    const bump_stop_line x = find_line(f, w);
    bg_span_pull(&x.span, w, &s->a, &s->b, x.pull, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const bump_stop *s = f->self;
    const bump_stop_line x = find_line(f, w);
    bg_stop_add_energy(&s->stop, &x.y, out);
}

static void switching(const bg_force *f, const bg_world *w, double *out)
{
    const bump_stop *s = f->self;
    const bump_stop_line x = find_line(f, w);
    out[0] = bg_stop_calc_switch(&s->stop, x.y.delta, x.y.delta_t);
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const bump_stop *s = f->self;
    const bump_stop_line x = calc_line(s, w, BG_STOP_OPEN);
    bg_stop_settle(&s->stop, x.y.delta, x.y.delta_t, mode);
}

static void describe(const bg_force *f, int k, int direction, bool several, char *text, size_t size)
{
    (void)k;
    (void)several;
    snprintf(text, size, "stop %.60s %s", f->name,
             direction > 0   ? "is hit"
             : direction < 0 ? "comes free"
                             : "is only touched");
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const bump_stop_line *x = context;
    (void)dh;
    const bg_span_variation v = bg_span_vary(&x->span, d);
    bg_vec3 df = {0, 0, 0};
    if (x->span.directed)
        df = bg_span_vary_pull(&x->span, &v, x->pull, x->y.F_delta * v.dL + x->y.F_rate * v.dL_t);
    bg_span_vary_wrenches(&x->span, d, x->pull, df, dwrench);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const bump_stop *s = f->self;
    const bump_stop_line x = find_line(f, w);
    bg_wrench on[2];
    bg_span_calc_wrenches(&x.span, x.pull, on);
    bg_element_calc_pair_derivatives(tangent, &x, s->body, w, on, true, out);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const bump_stop_line x = find_line(f, w);
    const double values[] = {x.span.L, x.span.L_t, x.y.F, -x.y.delta, x.y.touches};
    return values[which];
}

static void look(const bg_force *f, bg_force_look *out)
{
    const bump_stop *s = f->self;
    *out = (bg_force_look){.nends = 2, .end = {s->a, s->b}};
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",      "from",    "to",       "below", "above",
                                       "stiffness", "damping", "exponent", NULL};
    bump_stop *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    const bg_value below = bg_value_member(v, "below"), above = bg_value_member(v, "above");
    s->a = bg_value_marker(v, "from");
    s->b = bg_value_marker(v, "to");
    s->body[0] = s->a.body;
    s->body[1] = s->b.body;
    s->sign = bg_value_exists(&below) ? 1 : -1;
    s->stop = bg_stop_read(v);
    f->ns = f->nmode = 1;
    if (v->reader->status == BG_OK && bg_value_exists(&below) == bg_value_exists(&above))
        bg_value_fail(v, "must have one of 'below' and 'above', the length at which it touches; "
                         "stops for both are two elements");
    if (v->reader->status != BG_OK)
        return;
    s->at = bg_value_positive(v, s->sign > 0 ? "below" : "above");
    if (v->reader->status == BG_OK && s->body[0] == s->body[1])
        bg_value_fail(v, "both points belong to body '%s'; a stop is between two bodies",
                      v->reader->model->bodies[s->body[0]].name);
}

static const char *const sensor_names[] = {"length", "rate", "force", "gap", "contact"};

extern const bg_force_class bg_force_bump_stop;
const bg_force_class bg_force_bump_stop = {
    .name = "bump-stop",
    .summary = "stop between two points that come too near, or too far apart",
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
    .nsensors = 5,
    .sensor = sensor,
    .look = look,
    .clear = bg_element_free,
};
