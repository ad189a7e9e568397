/* bump-stop: a stop along the line between two points, for what happens when they come too near
 * (a rubber on the rod of a damper) or too far apart (a check strap).
 *
 * With d from point a to point b, L = |d|, e = d / L, L' = e . d',
 *
 *   delta = below - L  or  L - above          compression
 *   F     = k delta^n + c delta'              of a stop (forces/stop.h)
 *
 * pushes the points apart along e, or pulls them together. With sign = dL/d(-delta), P = sign F
 * is the push: -P e on a, P e on b. Variations as in spring_damper.c. */
#include "model/forces/stop.h"

#include <stdio.h>
#include <stdlib.h>

static const double no_length = 1e-100; /* m, below which the square of L underflows */

typedef struct bump_stop {
    bg_marker a, b;
    int body[2];
    double at, sign; /* length, m, where it touches; 1: below, -1: above */
    bg_stop stop;
} bump_stop;

typedef struct line {
    bg_vec3 s_a, s_b, w_a, w_b; /* arms, angular velocities */
    bg_vec3 d, d_t, e;
    double L, L_t, sign;
    bg_stop_state y;
} line;

static line calc_line(const bump_stop *s, const bg_world *w, int mode)
{
    line x = {.s_a = bg_marker_get_arm(w, &s->a),
              .s_b = bg_marker_get_arm(w, &s->b),
              .w_a = w->body[s->a.body].w,
              .w_b = w->body[s->b.body].w,
              .sign = s->sign};
    x.d = bg_sub(bg_marker_get_position(w, &s->b), bg_marker_get_position(w, &s->a));
    x.d_t = bg_sub(bg_marker_get_velocity(w, &s->b), bg_marker_get_velocity(w, &s->a));
    x.L = bg_length(x.d);
    if (x.L > no_length) {
        x.e = bg_scale(1 / x.L, x.d);
        x.L_t = bg_dot(x.e, x.d_t);
    }
    x.y = bg_stop_calc(&s->stop, mode, s->sign * (s->at - x.L), -s->sign * x.L_t);
    return x;
}

static line find_line(const bg_force *f, const bg_world *w)
{
    return calc_line(f->self, w, w->mode[f->mode0]);
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const bump_stop *s = f->self;
    const line x = find_line(f, w);
    const bg_vec3 none = {0, 0, 0}, push = bg_scale(x.sign * x.y.F, x.e);
    bg_wrench_add(wrench, w, s->a.body, bg_marker_get_position(w, &s->a), bg_scale(-1, push), none);
    bg_wrench_add(wrench, w, s->b.body, bg_marker_get_position(w, &s->b), push, none);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const bump_stop *s = f->self;
    const line x = find_line(f, w);
    bg_stop_add_energy(&s->stop, &x.y, out);
}

static void switching(const bg_force *f, const bg_world *w, double *out)
{
    const bump_stop *s = f->self;
    const line x = find_line(f, w);
    out[0] = bg_stop_calc_switch(&s->stop, x.y.delta, x.y.delta_t);
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const bump_stop *s = f->self;
    const line x = calc_line(s, w, BG_STOP_OPEN);
    bg_stop_settle(&s->stop, x.y.delta, x.y.delta_t, mode);
}

static int event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f;
    (void)k;
    return bg_stop_pass(direction, mode);
}

static void sides(const bg_force *f, const int *mode, int *side)
{
    (void)f;
    side[0] = bg_stop_get_side(mode[0]);
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
    const line *x = context;
    (void)dh;
    const bg_vec3 dd = bg_sub(bg_variation_of_point(&d[1], x->s_b),
                              bg_variation_of_point(&d[0], x->s_a));
    const bg_vec3 dd_t = bg_sub(bg_variation_of_velocity(&d[1], x->s_b, x->w_b),
                                bg_variation_of_velocity(&d[0], x->s_a, x->w_a));
    const double P = x->sign * x->y.F;
    bg_vec3 df = {0, 0, 0};
    if (x->L > no_length) {
        const double dL = bg_dot(x->e, dd);
        const double dL_t = bg_dot(x->e, dd_t) +
                            bg_dot(bg_add_scaled(x->d_t, -x->L_t, x->e), dd) / x->L;
        df = bg_scale(-x->y.F_delta * dL - x->y.F_rate * dL_t, x->e); /* ddelta = -sign dL */
        df = bg_add_scaled(df, P / x->L, bg_add_scaled(dd, -dL, x->e));
    }
    const bg_vec3 push = bg_scale(P, x->e);
    dwrench[0] = bg_wrench_vary(x->s_a, bg_variation_of_arm(&d[0], x->s_a), bg_scale(-1, push),
                                bg_scale(-1, df));
    dwrench[1] = bg_wrench_vary(x->s_b, bg_variation_of_arm(&d[1], x->s_b), push, df);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const bump_stop *s = f->self;
    const line x = find_line(f, w);
    const bg_vec3 push = bg_scale(x.sign * x.y.F, x.e), back = bg_scale(-1, push);
    const bg_wrench on[2] = {{back, bg_cross(x.s_a, back)}, {push, bg_cross(x.s_b, push)}};
    bg_element_calc_pair_derivatives(tangent, &x, s->body, w, on, true, out);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const line x = find_line(f, w);
    const double values[] = {x.L, x.L_t, x.y.F, -x.y.delta, x.y.touches};
    return values[which];
}

static void look(const bg_force *f, bg_force_look *out)
{
    const bump_stop *s = f->self;
    *out = (bg_force_look){.nends = 2, .end = {s->a, s->b}};
}

static void clear(bg_force *f)
{
    free(f->self);
    f->self = NULL;
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
    .event = event,
    .sides = sides,
    .describe = describe,
    .settle = settle,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 5,
    .sensor = sensor,
    .look = look,
    .clear = clear,
};
