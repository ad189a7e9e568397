/* A pendulum with a light mass on a spring at its bob, for methods of two rates with constraints.
 *
 *   bob (x, y), slow:    M r'' = F - (0, M gravity) - r lambda1,       0 = (|r|^2 - l^2)/2
 *   mass (x2, y2), fast: m r2'' = -F - (0, m gravity) [- r2 lambda2],  [0 = (|r2|^2 - l2^2)/2]
 *   F = k (r2 - r) + d (r2' - r')
 *
 * The spring has no length of its own. What stands in brackets is there with rod = 1: the fast mass
 * then has a rod to the same pivot, as long as it is away from it at the start. All start at rest,
 * the bob at an angle from the vertical, the mass beside it.
 */
#include "equations.h"

#include <math.h>
#include <stdlib.h>

typedef struct fast_pendulum {
    double M, m, k, d, l, gravity, angle;
    double l2; /* 0: no rod */
    double q0[4];
} fast_pendulum;

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const fast_pendulum *s = self;
    const double *q = p->q, *v = p->v;
    double F[2];
    for (int i = 0; i < 2; i++)
        F[i] = s->k * (q[2 + i] - q[i]) + s->d * (v[2 + i] - v[i]);
    for (int i = 0; i < 2; i++) {
        if (want & BG_TERM_M) {
            out->M[5 * i] = s->M;
            out->M[5 * (i + 2)] = s->m;
        }
        if (want & BG_TERM_f) {
            out->f[i] = F[i] - (i == 1 ? s->M * s->gravity : 0);
            out->f[2 + i] = -F[i] - (i == 1 ? s->m * s->gravity : 0);
        }
    }
    for (int k = 0; k < (s->l2 > 0 ? 2 : 1); k++) {
        const double *r = q + 2 * k, *w = v + 2 * k, l = k == 0 ? s->l : s->l2;
        if (want & BG_TERM_g)
            out->g[k] = 0.5 * (r[0] * r[0] + r[1] * r[1] - l * l);
        if (want & BG_TERM_G) {
            out->G[4 * k + 2 * k] = r[0];
            out->G[4 * k + 2 * k + 1] = r[1];
        }
        if (want & BG_TERM_gamma)
            out->gamma[k] = w[0] * w[0] + w[1] * w[1];
    }
    return 0;
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    const fast_pendulum *s = self;
    double *const block[] = {out->block[BG_OF_r][BG_BY_q], out->block[BG_OF_r][BG_BY_v]};
    const double between[] = {s->k, s->d};
    const int rods = s->l2 > 0 ? 2 : 1;
    (void)a;
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 4 && block[b]; i++) {
            int other = (i + 2) % 4, rod = i / 2;
            block[b][5 * i] = between[b] + (b == 0 && rod < rods ? lambda[rod] : 0);
            block[b][4 * i + other] = -between[b];
        }
    for (int k = 0; k < rods; k++)
        for (int i = 0; i < 2; i++) {
            int at = 4 * k + 2 * k + i;
            if (out->block[BG_OF_w][BG_BY_q])
                out->block[BG_OF_w][BG_BY_q][at] = p->v[2 * k + i];
            if (out->block[BG_OF_gamma][BG_BY_v])
                out->block[BG_OF_gamma][BG_BY_v][at] = 2.0 * p->v[2 * k + i];
        }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const fast_pendulum *s = self;
    const double *q = p->q, *v = p->v, x[] = {q[2] - q[0], q[3] - q[1]},
                 w[] = {v[2] - v[0], v[3] - v[1]};
    out->kinetic = 0.5 * (s->M * (v[0] * v[0] + v[1] * v[1]) + s->m * (v[2] * v[2] + v[3] * v[3]));
    out->potential = 0.5 * s->k * (x[0] * x[0] + x[1] * x[1]) +
                     s->gravity * (s->M * q[1] + s->m * q[3]);
    out->power = -s->d * (w[0] * w[0] + w[1] * w[1]);
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"mass", 1.0, "kg", "of the bob, slow"},
    {"fast", 0.05, "kg", "of the mass on the spring, fast"},
    {"k", 20.0, "N/m", "of the spring"},
    {"d", 0.02, "N s/m", "of its damper"},
    {"length", 1.0, "m", "of the rod"},
    {"gravity", 9.81, "m/s^2", "downwards, along -y"},
    {"angle", 1.0, "rad", "of the rod at the start"},
    {"right", 0.05, "m", "the fast mass begins so far to the right of the bob"},
    {"below", 0.02, "m", "and below it"},
    {"rod", 0.0, "", "1: the fast mass has a rod of its own to the pivot"},
};

const bg_equations bg_equations_fast_pendulum = {
    .abi = BG_ABI,
    .name = "fast-pendulum",
    .summary = "a pendulum with a fast mass on a spring, for methods of two rates",
    .parameters = parameters,
    .nparameters = 10,
    .define = define,
};

static void set_derivatives(bg_system_def *def)
{
    unsigned char(*supplied)[BG_BY_COUNT] = def->derivative_supplied;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    supplied[BG_OF_r][BG_BY_q] = supplied[BG_OF_r][BG_BY_v] = supplied[BG_OF_w][BG_BY_q] = 1;
    supplied[BG_OF_gamma][BG_BY_q] = supplied[BG_OF_gamma][BG_BY_v] = 1; /* the former is zero */
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"x", "y", "x2", "y2"};
    static const char *const v_names[] = {"x_dot", "y_dot", "x2_dot", "y2_dot"};
    static const char *const g_names[] = {"rod", "fast rod"};
    static const unsigned char v_part[] = {BG_PART_SLOW, BG_PART_SLOW, BG_PART_FAST, BG_PART_FAST};
    static const unsigned char g_part[] = {BG_PART_SLOW, BG_PART_FAST};

    const bg_equations *family = &bg_equations_fast_pendulum;
    const bg_status status = bg_parameters_check(family, values, "++00+rrrr0", err);
    if (status)
        return status;
    fast_pendulum *s = calloc(1, sizeof *s);
    if (!s)
        return bg_equations_no_memory(family, err);
    *s = (fast_pendulum){values[0], values[1], values[2], values[3], values[4],
                         values[5], values[6], 0,         {0}};
    s->q0[0] = s->l * sin(s->angle);
    s->q0[1] = -s->l * cos(s->angle);
    s->q0[2] = s->q0[0] + values[7];
    s->q0[3] = s->q0[1] - values[8];
    s->l2 = values[9] != 0 ? hypot(s->q0[2], s->q0[3]) : 0;

    def->nq = def->nv = 4;
    def->ng = s->l2 > 0 ? 2 : 1;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def->scleronomic = 1;
    def->terms = terms;
    set_derivatives(def);
    def->v_part = v_part;
    def->g_part = g_part;
    def->energy = energy;
    def->q_names = q_names;
    def->v_names = v_names;
    def->g_names = g_names;
    def->q0 = s->q0;
    def->t_end = 2.0;
    return BG_OK;
}
