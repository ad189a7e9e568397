/* tyre-point-follower: a vertical spring and damper between the wheel centre and the road below it.
 *
 * With the road's height h(x_r) at the place x_r = x + speed t + start under the centre (x, y, z),
 *
 *   delta  = h + radius - z               compression (-delta is the gap)
 *   delta' = h_x (v_x + speed) - v_z
 *   F      = k delta + c delta'           in contact, 0 when lifted
 *
 * F pushes the wheel up at its centre, and the ground down. The tyre can push but not pull: contact
 * is the set {delta > 0 and F > 0}, that is {s > 0} for the one switching function
 *
 *   s = min(k delta, k delta + c delta') = k delta + c min(0, delta').
 *
 * It serves both modes: a wheel that recedes lifts off when its force vanishes (still compressed;
 * the tread then relaxes by itself), a lifted wheel touches down when the gap closes, or, should it
 * turn back before the gap has opened, when the force would be positive again. s is continuous in
 * the state and does not depend on the mode. No chattering: at a lift-off F = 0 on both sides, so
 * the accelerations are continuous and s goes on falling through zero; at a touch-down s = k delta
 * goes on rising at the rate k delta' > 0, the jump of F from 0 to c delta' pushing the wheel only
 * later through delta''.
 *
 * mode[0] is contact (1), lifted (2) or open (0: by the sign of s); within a step the law of the
 * mode holds also beyond the switch. mode[1] is the road's piece + 1, or open (0: by x_r); s[1 + k]
 * = x_r - break k. A new piece may have another height, which leaves contact open again, to be
 * settled.
 *
 * Energy: U = k delta^2 / 2 in contact; what is left of it at a lift-off is lost. The rest of the
 * power on the wheel, F v_z = -U' - c delta'^2 + F h_x (v_x + speed), is dissipation and the work
 * of the road. */
#include "model/forces/element.h"
#include "model/roads.h"

#include <stdlib.h>

enum { OPEN = 0, CONTACT = 1, LIFTED = 2 };

typedef struct tyre {
    bg_marker wheel;
    double radius, k, c;
    bg_road road;
} tyre;

typedef struct state {
    const tyre *s;
    double road[3];        /* height, slope, curvature below the wheel */
    double place, advance; /* x_r and its rate */
    double delta, delta_t;
    bool contact;
    double F;
    bg_vec3 arm, w;
} state;

static double calc_switch(const tyre *s, double delta, double delta_t)
{
    return s->k * delta + s->c * fmin(0, delta_t);
}

static state calc_state_in(const bg_force *f, const bg_world *w, const int *mode)
{
    const tyre *s = f->self;
    const bg_vec3 p = bg_marker_get_position(w, &s->wheel),
                  v = bg_marker_get_velocity(w, &s->wheel);
    state y = {.s = s, .arm = bg_marker_get_arm(w, &s->wheel), .w = w->body[s->wheel.body].w};
    y.place = bg_road_calc_place(&s->road, p.x, w->t);
    y.advance = v.x + s->road.speed;
    const int piece = f->nmode > 1 && mode[1] != OPEN ? mode[1] - 1
                                                      : bg_road_find_piece(&s->road, y.place);
    bg_road_calc(&s->road, piece, y.place, y.road);
    y.delta = y.road[0] + s->radius - p.z;
    y.delta_t = y.road[1] * y.advance - v.z;
    y.contact = mode[0] == OPEN ? calc_switch(s, y.delta, y.delta_t) > 0 : mode[0] == CONTACT;
    y.F = y.contact ? s->k * y.delta + s->c * y.delta_t : 0;
    return y;
}

static state calc_state(const bg_force *f, const bg_world *w)
{
    return calc_state_in(f, w, w->mode + f->mode0);
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const state y = calc_state(f, w);
    const bg_vec3 p = bg_marker_get_position(w, &y.s->wheel), none = {0, 0, 0};
    bg_wrench_add(wrench, w, y.s->wheel.body, p, bg_vec3_make(0, 0, y.F), none);
    bg_wrench_add(wrench, w, 0, p, bg_vec3_make(0, 0, -y.F), none);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const state y = calc_state(f, w);
    if (!y.contact)
        return;
    out->potential += 0.5 * y.s->k * y.delta * y.delta;
    out->power += y.F * y.road[1] * y.advance - y.s->c * y.delta_t * y.delta_t;
}

static void switching(const bg_force *f, const bg_world *w, double *s)
{
    const state y = calc_state(f, w);
    const bg_road *road = &y.s->road;
    s[0] = calc_switch(y.s, y.delta, y.delta_t);
    for (int k = 0; k < road->nbreaks; k++)
        s[1 + k] = y.place - road->breaks[k];
}

static int event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f;
    if (direction == 0)
        return BG_EVENT_NOTE;
    const int changes = k == 0 ? 0 : 1;
    const int now = k > 0 ? k + (direction > 0) : direction > 0 ? CONTACT : LIFTED;
    if (mode[changes] == now)
        return BG_EVENT_NOTE;
    mode[changes] = now;
    if (k > 0)
        mode[0] = OPEN;
    return BG_EVENT_CHANGED;
}

static void settle(const bg_force *f, const bg_world *w, int *mode)
{
    const state y = calc_state_in(f, w, mode);
    const double s = calc_switch(y.s, y.delta, y.delta_t);
    if (f->nmode > 1 && mode[1] == OPEN)
        mode[1] = bg_road_find_piece(&y.s->road, y.place) + 1;
    if (mode[0] == OPEN && s != 0)
        mode[0] = s > 0 ? CONTACT : LIFTED;
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const state *y = context;
    const bg_vec3 dp = bg_variation_of_point(d, y->arm);
    const bg_vec3 dv = bg_variation_of_velocity(d, y->arm, y->w);
    const double d_delta = y->road[1] * dp.x - dp.z;
    const double d_delta_t = y->road[2] * dp.x * y->advance + y->road[1] * dv.x - dv.z;
    const double dF = y->contact ? y->s->k * d_delta + y->s->c * d_delta_t : 0;
    (void)dh;
    dwrench[0] = bg_wrench_vary(y->arm, bg_variation_of_arm(d, y->arm), bg_vec3_make(0, 0, y->F),
                                bg_vec3_make(0, 0, dF));
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const state y = calc_state(f, w);
    bg_element_calc_derivatives(tangent, &y, &y.s->wheel.body, 1, 0, out);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const state y = calc_state(f, w);
    const double values[] = {y.F, -y.delta, -y.delta_t, y.contact, y.road[0]};
    return values[which];
}

static void clear(bg_force *f)
{
    tyre *s = f->self;
    if (s)
        bg_road_clear(&s->road);
    free(s);
    f->self = NULL;
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type", "wheel", "radius", "stiffness", "damping", NULL};
    tyre *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    const bg_value *top = v;
    while (top->parent)
        top = top->parent;
    const bg_value road = bg_value_member(top, "road");
    bg_value_expect(v, keys);
    s->wheel = bg_value_marker(v, "wheel");
    s->radius = bg_value_positive(v, "radius");
    s->k = bg_value_positive(v, "stiffness");
    s->c = bg_value_not_negative_or(v, "damping", 0);
    if (v->reader->status == BG_OK)
        bg_road_read(&road, s->radius, &s->road);
    f->ns = 1 + s->road.nbreaks;
    f->nmode = s->road.nbreaks > 0 ? 2 : 1;
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
    .event = event,
    .settle = settle,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 5,
    .sensor = sensor,
    .clear = clear,
};
