/* controller: a PID controller with a first-order lag, from a measured quantity y to a force along
 * a joint coordinate.
 *
 *   e = reference - y
 *   x = e, x' = reference' - y'               without lag (filter T = 0)
 *   x' = (e - x) / T                          with it: x is a state, and its rate needs no y'
 *   i' = x                                    a state where ki is not 0
 *   u = kp x + ki i + kd x'
 *
 * so the transfer function from e to u is (kp + ki/s + kd s) / (1 + T s). u drives the output
 * coordinate upwards (forces/lever.c) and does the work u x_out'. The reference, and y unless it is
 * measured here, are laws of t, signals and outputs. The rate of a law follows from t and the
 * signals alone, so x' without lag allows no outputs in them. The lag starts at the error, so that
 * the start is no jump; the integral starts at 0.
 *
 * States in this order, each only where it is needed: x, i, the turns of a measured angle. */
#include "model/forces/law.h"
#include "model/forces/lever.h"

#include <stdlib.h>
#include <string.h>

typedef struct controller {
    bg_law measured;  /* y, where it is given; else: */
    bool from_marker; /* y is a component of a marker's position or velocity */
    bool is_rate;     /* y is the velocity or the coordinate's rate */
    bg_marker marker;
    bg_vec3 direction; /* of that component, in the axes of the world or, turning, of the body */
    double offset;     /* m, which is added to a position */
    bool turning;      /* of a velocity: along the axes of the marker's body */
    bg_coordinate input;
    bg_law reference;
    double kp, ki, kd, T;
    int lag, integral, turns; /* indices of states, -1: none */
    bg_coordinate output;
    int nbodies, body[BG_FORCE_BODIES]; /* of output and input, then those of outputs in laws */
} controller;

/* All signals of the loop at one state. */
typedef struct controller_state {
    const controller *s;
    bg_lever in, out;
    bg_vec3 arm, w; /* of the measured marker */
    bg_vec3 v;      /* its velocity, world axes */
    bg_mat3 R;      /* of its body */
    double y, y_t, r, e;
    double x, x_t, u;
    bg_slope *y_slope, *r_slope; /* of y and r through outputs; NULL: not wanted */
} controller_state;

static double calc_law(const bg_law *law, const bg_world *w, double *rate, bg_slope *slope)
{
    return rate || slope ? bg_law_calc_gradient(law, w, NULL, NULL, rate, slope)
                         : bg_law_calc(law, w, NULL);
}

static void measure(const bg_force *f, const bg_world *w, controller_state *y)
{
    const controller *s = y->s;
    if (s->measured.given) {
        y->y = calc_law(&s->measured, w, NULL, y->y_slope);
    } else if (s->from_marker) {
        y->arm = bg_marker_get_arm(w, &s->marker);
        y->w = w->body[s->marker.body].w;
        const bg_vec3 place = bg_world_get_place(w, bg_marker_get_position(w, &s->marker));
        y->y = bg_dot(s->direction, place) + s->offset;
        y->v = bg_marker_get_velocity(w, &s->marker);
        y->R = w->body[s->marker.body].R;
        y->y_t = bg_dot(s->direction, s->turning ? bg_rotate_back(&y->R, y->v) : y->v);
    } else {
        bg_coordinate c = s->input;
        c.turns = s->turns >= 0 && w->z ? f->z0 + s->turns : -1;
        y->in = bg_lever_calc(w, &c);
        y->y = y->in.x;
        y->y_t = y->in.rate;
    }
    if (s->is_rate)
        y->y = y->y_t;
}

static controller_state calc_state(const bg_force *f, const bg_world *w, bg_slope *y_slope,
                                   bg_slope *r_slope)
{
    const controller *s = f->self;
    controller_state y = {
        .s = s, .out = bg_lever_calc(w, &s->output), .y_slope = y_slope, .r_slope = r_slope};
    double r_t = 0;
    measure(f, w, &y);
    y.r = calc_law(&s->reference, w, s->kd != 0 && s->lag < 0 ? &r_t : NULL, r_slope);
    y.e = y.x = y.r - y.y;
    y.x_t = r_t - y.y_t;
    if (s->lag >= 0) {
        y.x = w->z[f->z0 + s->lag];
        y.x_t = (y.e - y.x) / s->T;
    }
    y.u = s->kp * y.x;
    if (s->kd != 0)
        y.u += s->kd * y.x_t;
    if (s->integral >= 0)
        y.u += s->ki * w->z[f->z0 + s->integral];
    return y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const controller_state y = calc_state(f, w, NULL, NULL);
    bg_lever_push(&y.out, y.u, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const controller_state y = calc_state(f, w, NULL, NULL);
    out->power += y.u * y.out.rate;
}

static void rates(const bg_force *f, const bg_world *w, double *z_t)
{
    const controller_state y = calc_state(f, w, NULL, NULL);
    if (y.s->lag >= 0)
        z_t[y.s->lag] = y.x_t;
    if (y.s->integral >= 0)
        z_t[y.s->integral] = y.x;
    if (y.s->turns >= 0)
        z_t[y.s->turns] = y.in.rate;
}

static void start(const bg_force *f, const bg_world *w, double *z)
{
    const controller *s = f->self;
    bg_world without = *w; /* the states are not known yet: the angle as it is */
    without.z = NULL;
    controller_state y = {.s = s};
    measure(f, s->measured.given ? w : &without, &y);
    if (s->lag >= 0)
        z[s->lag] = bg_law_calc(&s->reference, w, NULL) - y.y;
    if (s->integral >= 0)
        z[s->integral] = 0;
    if (s->turns >= 0)
        z[s->turns] = y.in.x;
}

/* The changes of u and of the rates of states. Bodies: output a, output b, then, unless a law says
 * what is measured, input a (or the marker's), input b. */
static double respond(const controller_state *y, const bg_variation *d, double *dh)
{
    const controller *s = y->s;
    double dy, dy_t = 0;
    if (s->measured.given) {
        dy = bg_slope_vary(y->y_slope, d);
    } else if (s->from_marker) {
        dy = bg_dot(s->direction, bg_variation_of_point(&d[2], y->arm));
        bg_vec3 dv = bg_variation_of_velocity(&d[2], y->arm, y->w);
        if (s->turning) /* d(R^T v) = R^T (dv - dtheta x v) */
            dv = bg_rotate_back(&y->R, bg_sub(dv, bg_cross(d[2].dtheta, y->v)));
        dy_t = bg_dot(s->direction, dv);
    } else {
        dy = bg_lever_vary(&y->in, &d[2], &d[3], &dy_t);
    }
    const double de = bg_slope_vary(y->r_slope, d) - (s->is_rate ? dy_t : dy);
    const double dx = s->lag >= 0 ? 0 : de, dx_t = s->lag >= 0 ? de / s->T : -dy_t;
    if (s->lag >= 0)
        dh[s->lag] = dx_t;
    if (s->integral >= 0)
        dh[s->integral] = dx;
    if (s->turns >= 0)
        dh[s->turns] = dy_t;
    return s->kp * dx + (s->kd != 0 ? s->kd * dx_t : 0);
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const controller_state *y = context;
    const double du = respond(y, d, dh);
    bg_lever_vary_push(&y->out, y->u, du, &d[0], &d[1], &dwrench[0], &dwrench[1]);
}

/* u and the rates of states by state j. */
typedef struct by_state {
    double u[BG_FORCE_STATES], h[BG_FORCE_STATES][BG_FORCE_STATES];
} by_state;

static by_state calc_by_state(const controller *s)
{
    by_state y = {0};
    if (s->lag >= 0) {
        y.u[s->lag] = s->kp - s->kd / s->T;
        y.h[s->lag][s->lag] = -1 / s->T;
    }
    if (s->integral >= 0)
        y.u[s->integral] = s->ki;
    if (s->integral >= 0 && s->lag >= 0)
        y.h[s->integral][s->lag] = 1;
    return y;
}

/* The wrenches of a unit change of u, as a column by state j. */
static void add_by_z(const controller_state *y, double du, int j, bg_force_derivatives *out)
{
    const bg_variation none = {0};
    bg_wrench on[2] = {0};
    bg_lever_vary_push(&y->out, 0, du, &none, &none, &on[0], &on[1]);
    for (int k = 0; k < 2; k++) {
        double rows[6];
        bg_vec3_store(on[k].f, rows);
        bg_vec3_store(on[k].n, rows + 3);
        for (int i = 0; i < 6; i++)
            out->wrench_z[6 * k + i][j] = rows[i];
    }
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const controller *s = f->self;
    bg_slope y_slope = bg_slope_make(s->body, s->nbodies), r_slope = y_slope;
    const controller_state y = calc_state(f, w, &y_slope, &r_slope);
    bg_element_calc_derivatives(tangent, &y, s->body, s->nbodies, f->nz, out);
    const by_state by = calc_by_state(s);
    for (int j = 0; j < f->nz; j++)
        add_by_z(&y, by.u[j], j, out);
    memcpy(out->h_z, by.h, sizeof by.h);
}

static void drive(const bg_force *f, const bg_world *w, bg_drive *out)
{
    const controller *s = f->self;
    bg_slope y_slope = bg_slope_make(s->body, s->nbodies), r_slope = y_slope;
    const controller_state y = calc_state(f, w, &y_slope, &r_slope);
    const by_state by = calc_by_state(s);
    bg_variation d[BG_FORCE_BODIES] = {0};
    memcpy(out->Q.z, by.u, sizeof by.u);
    for (int i = 0; i < f->nz; i++)
        memcpy(out->h[i].z, by.h[i], sizeof by.h[i]);
    const bool looks = s->measured.noutputs + s->reference.noutputs > 0;
    const int first = looks ? 0 : 2; /* only laws look at the output's own */
    out->nbodies = s->nbodies - first;
    out->body = s->body + first;
    for (int k = first; k < s->nbodies; k++) {
        for (int c = 0; c < 12 && s->body[k] != 0; c++) {
            double dh[BG_FORCE_STATES] = {0};
            d[k] = bg_variation_of_unit(c);
            out->Q.body[k - first][c] = respond(&y, d, dh);
            for (int i = 0; i < f->nz; i++)
                out->h[i].body[k - first][c] = dh[i];
        }
        d[k] = (bg_variation){0};
    }
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const controller_state y = calc_state(f, w, NULL, NULL);
    const double values[] = {y.u, y.e, y.y, y.r};
    return values[which];
}

/* Laws may have any unit. */
static const char *get_unit(const bg_force *f, char kind, int which)
{
    static const char *const units[2][2][2] = {{{"rad", "rad s"}, {"rad/s", "rad"}},
                                               {{"m", "m s"}, {"m/s", "m"}}};
    const controller *s = f->self;
    const bool slides = s->from_marker || s->input.kind == BG_COORDINATE_SLIDE;
    if (kind == 'y' && which == 0)
        return NULL;
    if (kind == 'z' && which == s->turns)
        return "rad";
    if (s->measured.given)
        return "";
    return units[slides][s->is_rate][kind == 'z' && which == s->integral];
}

static void clear(bg_force *f)
{
    controller *s = f->self;
    if (s) {
        bg_law_clear(&s->reference);
        bg_law_clear(&s->measured);
    }
    free(s);
    f->self = NULL;
}

/* A part measures in its own axes. */
static void set_direction(const bg_scope *scope, int k, controller *s)
{
    const bg_vec3 e = {k == 0, k == 1, k == 2};
    s->direction = s->turning ? bg_scale(bg_scope_get_flip(scope, k), e) : bg_scope_turn(scope, e);
    if (scope && !s->is_rate)
        s->offset = -bg_dot(s->direction, scope->placement.r);
}

/* {"joint", "coordinate", "rate", "turns"}, {"position", "component"}, {"velocity", "component",
 * "axes"} or, read elsewhere, a text. */
static void read_input(const bg_value *v, controller *s, bool *turns)
{
    static const char *const joint_keys[] = {"joint", "coordinate", "rate", "turns", NULL};
    static const char *const marker_keys[] = {"position", "velocity", "component", "axes", NULL};
    static const char *const all_keys[] = {"joint", "position",  "velocity", "coordinate", "rate",
                                           "turns", "component", "axes",     NULL};
    static const char *const components[] = {"x", "y", "z", NULL};
    static const char *const axes[] = {"world", "body", NULL};
    const bg_value joint = bg_value_member(v, "joint"), velocity = bg_value_member(v, "velocity");
    *turns = false;
    if (json_is_string(v->json) || !bg_value_expect_object(v))
        return;
    const bg_value position = bg_value_member(v, "position");
    s->from_marker = !bg_value_exists(&joint);
    s->is_rate = s->from_marker && bg_value_exists(&velocity);
    const bool any = !s->from_marker || s->is_rate || bg_value_exists(&position);
    bg_value_expect(v, !any ? all_keys : s->from_marker ? marker_keys : joint_keys);
    if (s->from_marker) {
        if (s->is_rate && bg_value_exists(&position))
            bg_value_fail(&velocity, "cannot stand beside 'position'; give one of them");
        else if (!s->is_rate && !bg_value_exists(&position))
            bg_value_fail(v, "must have a joint, a position or a velocity to measure");
        s->marker = bg_value_marker(v, s->is_rate ? "velocity" : "position");
        s->turning = bg_value_choice(v, "axes", axes, 0) == 1;
        set_direction(v->scope, bg_value_choice(v, "component", components, -1), s);
        const bg_value along = bg_value_member(v, "axes");
        if (s->turning && !s->is_rate)
            bg_value_fail(&along, "can be 'body' for a velocity only");
        return;
    }
    s->input = bg_element_read_coordinate(v);
    s->is_rate = bg_value_bool_or(v, "rate", false);
    *turns = bg_value_bool_or(v, "turns", false);
    const bg_value place = bg_value_member(v, "turns");
    if (*turns && (s->is_rate || s->input.kind == BG_COORDINATE_SLIDE))
        bg_value_fail(&place, "counts turns of an angle, but this input measures none");
}

static void collect_bodies(const bg_value *v, controller *s)
{
    int n = 0;
    s->body[n++] = s->output.a.body;
    s->body[n++] = s->output.b.body;
    if (!s->measured.given)
        s->body[n++] = s->from_marker ? s->marker.body : s->input.a.body;
    if (!s->measured.given && !s->from_marker)
        s->body[n++] = s->input.b.body;
    n = bg_law_add_bodies(v, &s->measured, s->body, n);
    s->nbodies = bg_law_add_bodies(v, &s->reference, s->body, n);
}

/* Without a lag kd needs the rate of the error. */
static void check_rates(const bg_value *v, const controller *s)
{
    const bg_value kd = bg_value_member(v, "kd");
    if (s->kd == 0 || s->T > 0)
        return;
    if (s->is_rate)
        bg_value_fail(&kd,
                      "on a measured rate needs an acceleration; give a 'filter' time instead");
    else if (s->measured.given || s->reference.noutputs > 0)
        bg_value_fail(&kd,
                      "needs the rate of %s, which is not known for outputs; give a 'filter' "
                      "time, or measure a joint or a position",
                      s->measured.given ? "the input" : "the reference");
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type", "input",  "reference", "kp", "ki",
                                       "kd",   "filter", "output",    NULL};
    static const char *const output_keys[] = {"joint", "coordinate", NULL};
    controller *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    const bg_value input = bg_value_member(v, "input"), output = bg_value_member(v, "output");
    bool turns;
    bg_value_expect(v, keys);
    read_input(&input, s, &turns);
    if (json_is_string(input.json))
        bg_law_read(v, "input", NULL, 0, &s->measured);
    bg_law_read(v, "reference", NULL, 0, &s->reference);
    s->kp = bg_value_number_or(v, "kp", 0);
    s->ki = bg_value_number_or(v, "ki", 0);
    s->kd = bg_value_number_or(v, "kd", 0);
    s->T = bg_value_not_negative_or(v, "filter", 0);
    bg_value_expect(&output, output_keys);
    s->output = bg_element_read_drive(&output, f);
    s->lag = s->T > 0 ? f->nz++ : -1;
    s->integral = s->ki != 0 ? f->nz++ : -1;
    s->turns = turns ? f->nz++ : -1;
    if (v->reader->status != BG_OK)
        return;
    if (s->kp == 0 && s->ki == 0 && s->kd == 0)
        bg_value_fail(v, "has no effect; give kp, ki or kd");
    check_rates(v, s);
    collect_bodies(v, s);
}

static const char *const sensor_names[] = {"output", "error", "measured", "reference"};

extern const bg_force_class bg_force_controller;
const bg_force_class bg_force_controller = {
    .name = "controller",
    .summary =
        "PID with first-order lag from a measured quantity to a force along a joint coordinate",
    .read = read,
    .apply = apply,
    .energy = energy,
    .rates = rates,
    .start = start,
    .derivatives = derivatives,
    .drive = drive,
    .sensor_names = sensor_names,
    .nsensors = 4,
    .sensor = sensor,
    .get_unit = get_unit,
    .clear = clear,
};
