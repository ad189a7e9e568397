/* The simple pendulum in Cartesian coordinates: problem A01 of the IFToMM library of multibody
 * benchmarks (Gonzalez, Dopico, Lugris, Cuadrado 2006).
 *
 *   m x'' = -x lambda,   m y'' = -y lambda - m gravity,   0 = (x^2 + y^2 - l^2) / 2
 *
 * It starts at rest at (-l, 0). The tension of the rod is l lambda. The switching function
 * "crossing" is x: the pendulum passes the vertical; such events are only noted.
 */
#include "equations.h"

#include <math.h>
#include <stdlib.h>

typedef struct planar_pendulum {
    double m, l, gravity;
    double q0[2];
} planar_pendulum;

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const planar_pendulum *s = self;
    const double x = p->q[0], y = p->q[1];
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = s->m;
    if (want & BG_TERM_f)
        out->f[1] = -s->m * s->gravity;
    if (want & BG_TERM_g)
        out->g[0] = 0.5 * (x * x + y * y - s->l * s->l);
    if (want & BG_TERM_G) {
        out->G[0] = x;
        out->G[1] = y;
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = p->v[0] * p->v[0] + p->v[1] * p->v[1];
    if (want & BG_TERM_s)
        out->s[0] = x;
    return 0;
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    double *r_q = out->block[BG_OF_r][BG_BY_q], *w_q = out->block[BG_OF_w][BG_BY_q];
    double *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    (void)self;
    (void)a;
    if (r_q)
        r_q[0] = r_q[3] = lambda[0];
    for (int i = 0; i < 2; i++) {
        if (w_q)
            w_q[i] = p->v[i];
        if (gamma_v)
            gamma_v[i] = 2.0 * p->v[i];
    }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const planar_pendulum *s = self;
    out->kinetic = 0.5 * s->m * (p->v[0] * p->v[0] + p->v[1] * p->v[1]);
    out->potential = s->m * s->gravity * p->q[1];
    out->power = 0.0;
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    const planar_pendulum *s = self;
    (void)a;
    y[0] = atan2(p->q[0], -p->q[1]);
    y[1] = lambda[0] * s->l;
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"mass", 1.0, "kg", "of the point"},
    {"length", 1.0, "m", "of the rod"},
    {"gravity", 9.81, "m/s^2", "downwards, along -y"},
};

const bg_equations bg_equations_pendulum = {
    .abi = BG_ABI,
    .name = "pendulum",
    .summary = "simple pendulum in Cartesian coordinates (IFToMM A01)",
    .parameters = parameters,
    .nparameters = 3,
    .define = define,
};

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"x", "y"}, *const v_names[] = {"x_dot", "y_dot"};
    static const char *const g_names[] = {"rod"}, *const s_names[] = {"crossing"};
    static const char *const s_falls[] = {"pendulum passes its lowest point towards -x"};
    static const char *const s_rises[] = {"pendulum passes its lowest point towards +x"};
    static const char *const y_names[] = {"angle", "tension"};

    const bg_equations *family = &bg_equations_pendulum;
    const bg_status status = bg_parameters_check(family, values, "++r", err);
    if (status)
        return status;
    planar_pendulum *s = calloc(1, sizeof *s);
    if (!s)
        return bg_equations_no_memory(family, err);
    *s = (planar_pendulum){values[0], values[1], values[2], {-values[1], 0.0}};

    def->nq = def->nv = def->ny = 2;
    def->ng = def->ns = 1;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_s;
    def->scleronomic = 1;
    def->terms = terms;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    /* dr/dv and dgamma/dq are zero: supplied, with nothing to write */
    def->derivative_supplied[BG_OF_r][BG_BY_q] = def->derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def->derivative_supplied[BG_OF_w][BG_BY_q] = 1;
    def->derivative_supplied[BG_OF_gamma][BG_BY_q] = 1;
    def->derivative_supplied[BG_OF_gamma][BG_BY_v] = 1;
    def->energy = energy;
    def->outputs = outputs;
    def->q_names = q_names;
    def->v_names = v_names;
    def->g_names = g_names;
    def->s_names = s_names;
    def->s_falls = s_falls;
    def->s_rises = s_rises;
    def->y_names = y_names;
    def->q0 = s->q0;
    def->t_end = 10.0;
    return BG_OK;
}
