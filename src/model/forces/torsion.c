/* torsion: a spring, damper and drive along one coordinate x of a joint, an angle or a slide.
 *
 *   Q = -k (x - x0) - c x' + torque(angle, rate, t, signals, outputs)
 *
 * Q drives the coordinate upwards: torque Q about the axis on the joint's second body, -Q on its
 * first (forces/lever.c). The spring has the potential 1/2 k (x - x0)^2; the rest does the work (Q
 * + k (x - x0)) x'. With "turns" an angle is followed through full turns by a state z' = x'. */
#include "model/forces/law.h"
#include "model/forces/lever.h"

#include <stdlib.h>
#include <string.h>

typedef struct torsion {
    bg_coordinate coordinate;
    bool turns;
    double k, c, x0;
    bg_law torque;
    int nbodies, body[BG_FORCE_BODIES]; /* of the joint, then those of outputs in the law */
} torsion;

enum { ANGLE, RATE, VARIABLES };
static const char *const variables[VARIABLES] = {"angle", "rate"};

/* The coordinate now, and the force along it with its derivatives. */
typedef struct torsion_state {
    bg_lever lever;
    double Q, Q_x, Q_rate;
    bool turns;
    const bg_slope *slope; /* of Q through outputs; NULL: not wanted */
} torsion_state;

static torsion_state calc_state(const bg_force *f, const bg_world *w, bg_slope *slope)
{
    const torsion *s = f->self;
    bg_coordinate c = s->coordinate;
    c.turns = s->turns ? f->z0 : -1;
    torsion_state y = {.lever = bg_lever_calc(w, &c),
                       .Q_x = -s->k,
                       .Q_rate = -s->c,
                       .turns = s->turns,
                       .slope = slope};
    const double own[VARIABLES] = {y.lever.x, y.lever.rate};
    y.Q = -s->k * (own[ANGLE] - s->x0) - s->c * own[RATE];
    if (slope) {
        double by[VARIABLES];
        y.Q += bg_law_calc_gradient(&s->torque, w, own, by, NULL, slope);
        y.Q_x += by[ANGLE];
        y.Q_rate += by[RATE];
    } else {
        y.Q += bg_law_calc(&s->torque, w, own);
    }
    return y;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const torsion_state y = calc_state(f, w, NULL);
    bg_lever_push(&y.lever, y.Q, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const torsion *s = f->self;
    const torsion_state y = calc_state(f, w, NULL);
    const double e = y.lever.x - s->x0;
    out->potential += 0.5 * s->k * e * e;
    out->power += (y.Q + s->k * e) * y.lever.rate;
}

static void rates(const bg_force *f, const bg_world *w, double *z_t)
{
    const torsion *s = f->self;
    if (s->turns)
        z_t[0] = bg_coordinate_calc_rate(w, &s->coordinate);
}

static void start(const bg_force *f, const bg_world *w, double *z)
{
    const torsion *s = f->self;
    if (s->turns)
        z[0] = bg_coordinate_calc(w, &s->coordinate);
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const torsion_state *y = context;
    double d_rate;
    const double dx = bg_lever_vary(&y->lever, &d[0], &d[1], &d_rate);
    const double dQ = y->Q_x * dx + y->Q_rate * d_rate + bg_slope_vary(y->slope, d);
    bg_lever_vary_push(&y->lever, y->Q, dQ, &d[0], &d[1], &dwrench[0], &dwrench[1]);
    if (y->turns)
        dh[0] = d_rate;
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const torsion *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const torsion_state y = calc_state(f, w, &slope);
    bg_element_calc_derivatives(tangent, &y, s->body, s->nbodies, f->nz, out);
}

static void drive(const bg_force *f, const bg_world *w, bg_drive *out)
{
    const torsion *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const torsion_state y = calc_state(f, w, &slope);
    out->Q.x = y.Q_x;
    out->Q.rate = y.Q_rate;
    out->h[0].rate = s->turns ? 1 : 0;
    if (s->torque.noutputs == 0) /* what it looks at does not change with the state */
        return;
    out->nbodies = s->nbodies;
    out->body = s->body;
    memcpy(out->Q.body, slope.by, sizeof slope.by);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const torsion_state y = calc_state(f, w, NULL);
    const double values[] = {y.lever.x, y.lever.rate, y.Q};
    return values[which];
}

static void clear(bg_force *f)
{
    torsion *s = f->self;
    if (s)
        bg_law_clear(&s->torque);
    free(s);
    f->self = NULL;
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",       "joint",  "coordinate", "stiffness", "damping",
                                       "free_angle", "torque", "turns",      NULL};
    torsion *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    s->coordinate = bg_element_read_drive(v, f);
    s->k = bg_value_not_negative_or(v, "stiffness", 0);
    s->c = bg_value_not_negative_or(v, "damping", 0);
    s->x0 = (s->coordinate.kind == BG_COORDINATE_SLIDE ? bg_value_number_or
                                                       : bg_value_angle_or)(v, "free_angle", 0);
    s->turns = bg_value_bool_or(v, "turns", false);
    bg_law_read(v, "torque", variables, VARIABLES, &s->torque);
    s->body[0] = s->coordinate.a.body;
    s->body[1] = s->coordinate.b.body;
    s->nbodies = bg_law_add_bodies(v, &s->torque, s->body, 2);
    f->nz = s->turns ? 1 : 0;
    if (v->reader->status != BG_OK)
        return;
    const bg_value turns = bg_value_member(v, "turns");
    if (s->turns && s->coordinate.kind == BG_COORDINATE_SLIDE)
        bg_value_fail(&turns, "counts turns of an angle, but this coordinate is a slide");
    if (s->k == 0 && s->c == 0 && !s->torque.given)
        bg_value_fail(v, "exerts no torque; give stiffness, damping or torque");
}

static const char *const sensor_names[] = {"angle", "rate", "torque"};

extern const bg_force_class bg_force_torsion;
const bg_force_class bg_force_torsion = {
    .name = "torsion",
    .summary = "spring, damper and drive along one coordinate of a joint",
    .read = read,
    .apply = apply,
    .energy = energy,
    .rates = rates,
    .start = start,
    .derivatives = derivatives,
    .drive = drive,
    .sensor_names = sensor_names,
    .nsensors = 3,
    .sensor = sensor,
    .clear = clear,
};
