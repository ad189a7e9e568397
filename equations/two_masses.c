/* Two masses on a line for methods of two rates: a heavy one that is slow, and a light one that
 * hangs on it by a stiff spring and is fast.
 *
 *   m1 x1'' = -k0 x1 - d0 x1' + F,   m2 x2'' = -F,   F = k (x2 - x1) + d (x2' - x1')
 *
 * Without k0 and d0 nothing acts from outside: m1 x1' + m2 x2' is kept, and where both start with
 * one speed and the spring is not stretched both go on with it. Exact: centre of mass and stretch
 * are two oscillators.
 */
#include "equations.h"

#include <stdlib.h>

typedef struct masses {
    double m1, m2, k, d, k0, d0;
    double q0[2], v0[2];
} masses;

static double calc_spring(const masses *s, const bg_point *p)
{
    return s->k * (p->q[1] - p->q[0]) + s->d * (p->v[1] - p->v[0]);
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const masses *s = self;
    const double F = calc_spring(s, p);
    if (want & BG_TERM_M) {
        out->M[0] = s->m1;
        out->M[3] = s->m2;
    }
    if (want & BG_TERM_f) {
        out->f[0] = F - s->k0 * p->q[0] - s->d0 * p->v[0];
        out->f[1] = -F;
    }
    return 0;
}

static int accelerate_part(void *self, const bg_point *p, unsigned part, const double *lambda,
                           double *a, double *z_t)
{
    const masses *s = self;
    const double F = calc_spring(s, p);
    (void)lambda;
    (void)z_t;
    if (part & BG_PART_SLOW)
        a[0] = (F - s->k0 * p->q[0] - s->d0 * p->v[0]) / s->m1;
    if (part & BG_PART_FAST)
        a[1] = -F / s->m2;
    return 0;
}

static int accelerate(void *self, const bg_point *p, const double *lambda, double *a)
{
    return accelerate_part(self, p, BG_PART_SLOW | BG_PART_FAST, lambda, a, NULL);
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    const masses *s = self;
    double *const block[] = {out->block[BG_OF_r][BG_BY_q], out->block[BG_OF_r][BG_BY_v]};
    const double between[] = {s->k, s->d}, ground[] = {s->k0, s->d0};
    (void)p;
    (void)a;
    (void)lambda;
    for (int i = 0; i < 2; i++)
        if (block[i]) {
            block[i][0] = between[i] + ground[i];
            block[i][1] = block[i][2] = -between[i];
            block[i][3] = between[i];
        }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const masses *s = self;
    const double *q = p->q, *v = p->v, x = q[1] - q[0], w = v[1] - v[0];
    out->kinetic = 0.5 * (s->m1 * v[0] * v[0] + s->m2 * v[1] * v[1]);
    out->potential = 0.5 * (s->k * x * x + s->k0 * q[0] * q[0]);
    out->power = -s->d * w * w - s->d0 * v[0] * v[0];
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    const masses *s = self;
    (void)a;
    (void)lambda;
    y[0] = p->q[1] - p->q[0];
    y[1] = s->m1 * p->v[0] + s->m2 * p->v[1];
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"m1", 50.0, "kg", "of the slow mass"},
    {"m2", 5.0, "kg", "of the fast mass"},
    {"k", 1e5, "N/m", "of the spring between them"},
    {"d", 0.0, "N s/m", "of the damper between them"},
    {"k0", 0.0, "N/m", "of a spring from the slow mass to the ground"},
    {"d0", 0.0, "N s/m", "of a damper from the slow mass to the ground"},
    {"speed", 10.0, "m/s", "of both at the start"},
    {"stretch", 0.0, "m", "of the spring at the start"},
};

const bg_equations bg_equations_two_masses = {
    .abi = BG_ABI,
    .name = "two-masses",
    .summary = "a slow mass and a fast one with a stiff spring, for methods of two rates",
    .parameters = parameters,
    .nparameters = 8,
    .define = define,
};

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"x1", "x2"}, *const v_names[] = {"x1_dot", "x2_dot"};
    static const char *const y_names[] = {"stretch", "momentum"};
    static const unsigned char part[] = {BG_PART_SLOW, BG_PART_FAST};

    const bg_equations *family = &bg_equations_two_masses;
    const bg_status status = bg_parameters_check(family, values, "++0000rr", err);
    if (status)
        return status;
    masses *s = calloc(1, sizeof *s);
    if (!s)
        return bg_equations_no_memory(family, err);
    *s = (masses){values[0], values[1], values[2],        values[3],
                  values[4], values[5], {0.0, values[7]}, {values[6], values[6]}};

    def->nq = def->nv = def->ny = 2;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->accelerate = accelerate;
    def->accelerate_part = accelerate_part;
    def->v_part = part;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    def->derivative_supplied[BG_OF_r][BG_BY_q] = def->derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def->energy = energy;
    def->outputs = outputs;
    def->q_names = q_names;
    def->v_names = v_names;
    def->y_names = y_names;
    def->q0 = s->q0;
    def->v0 = s->v0;
    def->t_end = 1.0;
    return BG_OK;
}
