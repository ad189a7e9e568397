/* tyre-point-follower: a vertical spring and damper between the wheel centre and the road below it.
 *
 * With the road's height h(x_r, y) at the place x_r = x + speed t + start under the centre (x, y,
 * z),
 *
 *   delta  = h + radius - z               compression (-delta is the gap)
 *   delta' = h_t - v_z,   h_t = h_x (v_x + speed) + h_y v_y
 *   F      = k delta + c delta'           in contact, 0 when lifted (tyres/contact.h)
 *
 * F pushes the wheel up at its centre, and the ground down.
 *
 * Energy: U = k delta^2 / 2 in contact; what is left of it at a lift-off is lost. The rest of the
 * power on the wheel, F v_z = -U' - c delta'^2 + F h_t, is dissipation and the work of the road. */
#include "model/tyres/contact.h"

typedef struct point_follower_state {
    const bg_contact *s;
    bg_contact_state y;
    bg_vec3 arm, v, w;
} point_follower_state;

static double calc_rise(const point_follower_state *x)
{
    return x->y.road[1] * x->y.advance + x->y.across[0] * x->v.y;
}

static point_follower_state calc_state_in(const bg_force *f, const bg_world *w, const int *mode)
{
    const bg_contact *s = f->self;
    const bg_vec3 p = bg_world_get_place(w, bg_marker_get_position(w, &s->wheel)),
                  v = bg_marker_get_velocity(w, &s->wheel);
    point_follower_state x = {s, bg_contact_find_road(f, p, v, w->t, mode),
                              bg_marker_get_arm(w, &s->wheel), v, w->body[s->wheel.body].w};
    x.y.delta = x.y.road[0] + s->radius - p.z;
    x.y.delta_t = calc_rise(&x) - v.z;
    bg_contact_close(s, mode, &x.y);
    return x;
}

static point_follower_state calc_state(const bg_force *f, const bg_world *w)
{
    return calc_state_in(f, w, w->mode + f->mode0);
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const point_follower_state x = calc_state(f, w);
    const bg_vec3 p = bg_marker_get_position(w, &x.s->wheel), none = {0, 0, 0};
    bg_wrench_add(wrench, w, x.s->wheel.body, p, bg_vec3_make(0, 0, x.y.F), none);
    bg_wrench_add(wrench, w, 0, p, bg_vec3_make(0, 0, -x.y.F), none);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const point_follower_state x = calc_state(f, w);
    const bg_contact_state *y = &x.y;
    if (!y->touches)
        return;
    out->potential += 0.5 * x.s->k * y->delta * y->delta;
    out->power += y->F * calc_rise(&x) - x.s->c * y->delta_t * y->delta_t;
}

static void switching(const bg_force *f, const bg_world *w, double *s)
{
    const point_follower_state x = calc_state(f, w);
    bg_contact_switching(x.s, &x.y, s);
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const point_follower_state x = calc_state_in(f, w, mode);
    bg_contact_settle(f, &x.y, mode);
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const point_follower_state *x = context;
    const bg_contact_state *y = &x->y;
    const bg_vec3 dp = bg_variation_of_point(d, x->arm);
    const bg_vec3 dv = bg_variation_of_velocity(d, x->arm, x->w);
    const double d_delta = y->road[1] * dp.x + y->across[0] * dp.y - dp.z;
    const double d_slope = y->road[2] * dp.x + y->across[1] * dp.y;
    const double d_across = y->across[1] * dp.x + y->across[2] * dp.y;
    const double d_delta_t = d_slope * y->advance + y->road[1] * dv.x + d_across * x->v.y +
                             y->across[0] * dv.y - dv.z;
    const double dF = y->touches ? x->s->k * d_delta + x->s->c * d_delta_t : 0;
    (void)dh;
    dwrench[0] = bg_wrench_vary(x->arm, bg_variation_of_arm(d, x->arm), bg_vec3_make(0, 0, y->F),
                                bg_vec3_make(0, 0, dF));
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const point_follower_state x = calc_state(f, w);
    bg_element_calc_derivatives(tangent, &x, &x.s->wheel.body, 1, 0, out);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const point_follower_state x = calc_state(f, w);
    const double values[] = {x.y.F, -x.y.delta, -x.y.delta_t, x.y.touches, x.y.road[0]};
    return values[which];
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",    "wheel", "radius", "stiffness",
                                       "damping", "road",  NULL};
    bg_contact *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    bg_contact_read(v, f, s);
}

static const char *const sensor_names[] = {"force", "gap", "gap_rate", "contact", "road"};

extern const bg_force_class bg_force_tyre_point_follower;
const bg_force_class bg_force_tyre_point_follower = {
    .name = "tyre-point-follower",
    .summary = "vertical spring and damper between the wheel centre and the road below it",
    .read = read,
    .apply = apply,
    .energy = energy,
    .switching = switching,
    .event = bg_contact_event,
    .sides = bg_contact_sides,
    .describe = bg_contact_describe,
    .settle = settle,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 5,
    .sensor = sensor,
    .look = bg_contact_look,
    .clear = bg_contact_clear,
};
