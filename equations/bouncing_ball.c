/* A ball that falls on the ground and bounces until it rests.
 *
 *   y'' = -gravity in flight (mode 0),   y'' = 0 at rest (mode 1)
 *
 * The switching function "ground" is s = y. When it falls through zero the ball leaves with
 * v <- -e v, or stays for good when that rebound would be slower than rest_speed. Rising and
 * touching events (the take-off after an impact) change nothing. At rest s = y + 1 m, which stays
 * positive, so that nothing triggers any more.
 *
 * From height h the impact n = 0, 1, ... happens with speed V e^n, V = sqrt(2 gravity h), at
 *
 *   t_n = V / gravity (1 + 2 (e + e^2 + ... + e^n)),
 *
 * and the ball rests from the first impact with V e^(n+1) < rest_speed on. The impacts take energy
 * away; between them it is constant.
 */
#include "equations.h"

#include <stdlib.h>

enum { FLIGHT = 0, REST = 1 };

typedef struct ball {
    double gravity, e, rest_speed;
    double q0[1];
} ball;

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const ball *b = self;
    const int flies = p->mode[0] == FLIGHT;
    if (want & BG_TERM_M)
        out->M[0] = 1.0;
    if (want & BG_TERM_f)
        out->f[0] = flies ? -b->gravity : 0.0;
    if (want & BG_TERM_s)
        out->s[0] = flies ? p->q[0] : p->q[0] + 1.0;
    return 0;
}

/* dr/dq = dr/dv = 0 */
static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    (void)self;
    (void)p;
    (void)a;
    (void)lambda;
    (void)out;
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const ball *b = self;
    out->kinetic = 0.5 * p->v[0] * p->v[0];
    out->potential = b->gravity * p->q[0];
    out->power = 0.0;
    return 0;
}

static int event(void *self, const bg_event *what, const bg_event_state *state)
{
    const ball *b = self;
    if (what->direction >= 0 || state->mode[0] == REST || state->v[0] >= 0.0)
        return BG_EVENT_NOTE;
    const double rebound = -b->e * state->v[0];
    const int rests = rebound < b->rest_speed;
    state->q[0] = 0.0;
    state->v[0] = rests ? 0.0 : rebound;
    state->mode[0] = rests ? REST : FLIGHT;
    return BG_EVENT_CHANGED;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"height", 1.0, "m", "at the start, from rest"},
    {"gravity", 9.81, "m/s^2", "downwards"},
    {"restitution", 0.8, "", "speed after an impact / before, at most 1"},
    {"rest_speed", 0.01, "m/s", "slower rebounds end the motion"},
};

const bg_equations bg_equations_bouncing_ball = {
    .abi = BG_ABI,
    .name = "bouncing-ball",
    .summary = "ball on the ground: impacts at known times, then rest (events and modes)",
    .parameters = parameters,
    .nparameters = 4,
    .define = define,
};

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"y"}, *const v_names[] = {"y_dot"};
    static const char *const s_names[] = {"ground"};
    static const char *const s_falls[] = {"ball hits the ground"};
    static const char *const s_rises[] = {"ball leaves the ground"};

    const bg_equations *family = &bg_equations_bouncing_ball;
    const bg_status status = bg_parameters_check(family, values, "++0+", err);
    if (status)
        return status;
    if (values[2] > 1.0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "parameter restitution of bouncing-ball is %g; it must be at most 1",
                            values[2]);
    ball *b = calloc(1, sizeof *b);
    if (!b)
        return bg_equations_no_memory(family, err);
    *b = (ball){values[1], values[2], values[3], {values[0]}};

    def->nq = def->nv = def->ns = def->nmode = 1;
    def->self = b;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_s;
    def->terms = terms;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    def->derivative_supplied[BG_OF_r][BG_BY_q] = def->derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def->energy = energy;
    def->event = event;
    def->q_names = q_names;
    def->v_names = v_names;
    def->s_names = s_names;
    def->s_falls = s_falls;
    def->s_rises = s_rises;
    def->q0 = b->q0;
    def->t_end = 5.0;
    return BG_OK;
}
