/* A planar slider-crank with a spring-damper between crank and rod: the example idaSlCrank of
 * SUNDIALS (Lawrence Livermore National Laboratory).
 *
 * Coordinates are the crank angle q, the place x of the slider and the rod angle p, with
 *
 *   0 = x - cos p - a cos q,   0 = -sin p - a sin q,   M = diag(J1, m2, J2)
 *
 * The spring-damper joins the middle of the crank to the middle of the rod. With
 *
 *   l^2 = x^2 - x (cos p + a cos q) + (1 + a^2)/4 + a cos(p - q)/2,
 *   psi = grad(l^2)/2 = l grad l,   l' = psi . v / l,
 *   phi = k (1 - l0/l) + c psi . v / l^2        (force divided by length)
 *
 * its generalised force is -phi psi; the constant force F on the rod adds -grad of -F (x + cos p).
 * The state z collects the integral of the kinetic energy, SUNDIALS' example functional.
 *
 * Derivatives: with Psi = dpsi/dq,
 *   d(phi psi)/dq = phi Psi + psi (dphi/dq)^T,   d(phi psi)/dv = c psi psi^T / l^2,
 *   dphi/dq = (k l0 / l^3 - 2 c psi.v / l^4) psi + c Psi v / l^2.
 */
#include "equations.h"

#include <math.h>
#include <stdlib.h>

enum { Q, X, P };

typedef struct crank {
    double a, J1, m2, J2, k, c, l0, F;
    double q0[3];
} crank;

/* Sines and cosines of q and p, and of p - q. */
typedef struct crank_angles {
    double sq, cq, sp, cp, s21, c21;
} crank_angles;

typedef struct crank_spring {
    double psi[3], l, rate, phi; /* rate = psi . v / l^2 = l'/l */
} crank_spring;

static crank_angles calc_angles(const double *q)
{
    crank_angles o = {sin(q[Q]), cos(q[Q]), sin(q[P]), cos(q[P]), 0.0, 0.0};
    o.s21 = o.sp * o.cq - o.cp * o.sq;
    o.c21 = o.cp * o.cq + o.sp * o.sq;
    return o;
}

static int calc_spring(const crank *s, const bg_point *p, const crank_angles *o, crank_spring *e)
{
    const double a = s->a, x = p->q[X], *v = p->v;
    const double square = x * x - x * (o->cp + a * o->cq) + 0.25 * (1.0 + a * a) + 0.5 * a * o->c21;
    if (!(square > 0.0))
        return 1;
    e->l = sqrt(square);
    e->psi[Q] = 0.5 * a * (x * o->sq + 0.5 * o->s21);
    e->psi[X] = x - 0.5 * (o->cp + a * o->cq);
    e->psi[P] = 0.5 * (x * o->sp - 0.5 * a * o->s21);
    e->rate = (e->psi[Q] * v[Q] + e->psi[X] * v[X] + e->psi[P] * v[P]) / square;
    e->phi = s->k * (1.0 - s->l0 / e->l) + s->c * e->rate;
    return 0;
}

static double calc_kinetic(const crank *s, const double *v)
{
    return 0.5 * (s->J1 * v[Q] * v[Q] + s->m2 * v[X] * v[X] + s->J2 * v[P] * v[P]);
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const crank *s = self;
    const double *v = p->v, a = s->a;
    if (want & BG_TERM_M) {
        out->M[0] = s->J1;
        out->M[4] = s->m2;
        out->M[8] = s->J2;
    }
    if (want & BG_TERM_h)
        out->h[0] = calc_kinetic(s, v);
    if (!(want & (BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma)))
        return 0;

    const crank_angles o = calc_angles(p->q);
    if (want & BG_TERM_f) {
        crank_spring e;
        if (calc_spring(s, p, &o, &e))
            return 1;
        out->f[Q] = -e.phi * e.psi[Q];
        out->f[X] = -e.phi * e.psi[X] + s->F;
        out->f[P] = -e.phi * e.psi[P] - s->F * o.sp;
    }
    if (want & BG_TERM_g) {
        out->g[0] = p->q[X] - o.cp - a * o.cq;
        out->g[1] = -o.sp - a * o.sq;
    }
    if (want & BG_TERM_G) {
        out->G[0] = a * o.sq;
        out->G[1] = 1.0;
        out->G[2] = o.sp;
        out->G[3] = -a * o.cq;
        out->G[5] = -o.cp;
    }
    if (want & BG_TERM_gamma) {
        const double q2 = a * v[Q] * v[Q], p2 = v[P] * v[P];
        out->gamma[0] = o.cq * q2 + o.cp * p2;
        out->gamma[1] = o.sq * q2 + o.sp * p2;
    }
    return 0;
}

static void write_force_blocks(const crank *s, const bg_point *p, const crank_angles *o,
                               const crank_spring *e, double *r_q, double *r_v)
{
    const double a = s->a, x = p->q[X], *v = p->v, *psi = e->psi, square = e->l * e->l;
    const double Psi[3][3] = {
        {0.5 * a * (x * o->cq - 0.5 * o->c21), 0.5 * a * o->sq, 0.25 * a * o->c21},
        {0.5 * a * o->sq, 1.0, 0.5 * o->sp},
        {0.25 * a * o->c21, 0.5 * o->sp, 0.5 * (x * o->cp - 0.5 * a * o->c21)},
    };
    const double along = s->k * s->l0 / (square * e->l) - 2.0 * s->c * e->rate / square;
    for (int j = 0; j < 3; j++) {
        const double Psi_v = Psi[j][Q] * v[Q] + Psi[j][X] * v[X] + Psi[j][P] * v[P];
        const double phi_j = along * psi[j] + s->c * Psi_v / square;
        for (int i = 0; i < 3; i++) {
            if (r_q)
                r_q[3 * i + j] = e->phi * Psi[i][j] + psi[i] * phi_j;
            if (r_v)
                r_v[3 * i + j] = s->c * psi[i] * psi[j] / square;
        }
    }
}

static void write_constraint_blocks(double a, const double *v, const crank_angles *o,
                                    bg_derivatives *out)
{
    double *w_q = out->block[BG_OF_w][BG_BY_q];
    double *gamma_q = out->block[BG_OF_gamma][BG_BY_q], *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    const double H[2][2] = {{a * o->cq * v[Q], o->cp * v[P]}, {a * o->sq * v[Q], o->sp * v[P]}};
    for (int i = 0; i < 2; i++) {
        if (w_q) {
            w_q[3 * i + Q] = H[i][0];
            w_q[3 * i + P] = H[i][1];
        }
        if (gamma_v) {
            gamma_v[3 * i + Q] = 2.0 * H[i][0];
            gamma_v[3 * i + P] = 2.0 * H[i][1];
        }
    }
    if (gamma_q) {
        gamma_q[Q] = -H[1][0] * v[Q];
        gamma_q[P] = -H[1][1] * v[P];
        gamma_q[3 + Q] = H[0][0] * v[Q];
        gamma_q[3 + P] = H[0][1] * v[P];
    }
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    const crank *s = self;
    const double *v = p->v;
    double *r_q = out->block[BG_OF_r][BG_BY_q], *r_v = out->block[BG_OF_r][BG_BY_v];
    double *h_v = out->block[BG_OF_h][BG_BY_v];
    (void)a;
    const crank_angles o = calc_angles(p->q);
    crank_spring e;
    if (calc_spring(s, p, &o, &e))
        return 1;
    write_force_blocks(s, p, &o, &e, r_q, r_v);
    if (r_q) { /* d(G^T lambda)/dq is diagonal, and so is the part of F */
        r_q[0] += s->a * (lambda[0] * o.cq + lambda[1] * o.sq);
        r_q[8] += lambda[0] * o.cp + lambda[1] * o.sp + s->F * o.cp;
    }
    if (h_v) {
        h_v[Q] = s->J1 * v[Q];
        h_v[X] = s->m2 * v[X];
        h_v[P] = s->J2 * v[P];
    }
    write_constraint_blocks(s->a, v, &o, out);
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const crank *s = self;
    const crank_angles o = calc_angles(p->q);
    crank_spring e;
    if (calc_spring(s, p, &o, &e))
        return 1;
    const double speed = e.rate * e.l;
    out->kinetic = calc_kinetic(s, p->v);
    out->potential = 0.5 * s->k * (e.l - s->l0) * (e.l - s->l0) - s->F * (p->q[X] + o.cp);
    out->power = -s->c * speed * speed;
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    (void)a;
    (void)lambda;
    const crank_angles o = calc_angles(p->q);
    crank_spring e;
    if (calc_spring(self, p, &o, &e))
        return 1;
    y[0] = e.l;
    y[1] = e.phi * e.l;
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"a", 0.5, "m", "length of the crank, below 1; the rod has length 1"},
    {"J1", 1.0, "kg m^2", "inertia of the crank"},
    {"m2", 1.0, "kg", "mass that moves with the slider"},
    {"J2", 2.0, "kg m^2", "inertia of the rod"},
    {"k", 1.0, "N/m", "spring stiffness"},
    {"c", 1.0, "N s/m", "damping"},
    {"l0", 1.0, "m", "free length of the spring"},
    {"F", 1.0, "N", "force along x at the end of the rod"},
};

const bg_equations bg_equations_slider_crank = {
    .abi = BG_ABI,
    .name = "slider-crank",
    .summary = "planar slider-crank with spring and damper (SUNDIALS idaSlCrank)",
    .parameters = parameters,
    .nparameters = 8,
    .define = define,
};

static void set_derivatives(bg_system_def *def)
{
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    unsigned char(*supplied)[BG_BY_COUNT] = def->derivative_supplied;
    for (int by = BG_BY_q; by <= BG_BY_z; by++) /* r/z, h/q, h/z are zero */
        supplied[BG_OF_r][by] = supplied[BG_OF_h][by] = 1;
    supplied[BG_OF_w][BG_BY_q] = 1;
    supplied[BG_OF_gamma][BG_BY_q] = supplied[BG_OF_gamma][BG_BY_v] = 1;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"q", "x", "p"};
    static const char *const v_names[] = {"q_dot", "x_dot", "p_dot"};
    static const char *const z_names[] = {"kinetic_integral"}, *const g_names[] = {"tip_x",
                                                                                   "tip_y"};
    static const char *const y_names[] = {"spring_length", "spring_force"};

    const bg_equations *family = &bg_equations_slider_crank;
    const bg_status status = bg_parameters_check(family, values, "++++rrrr", err);
    if (status)
        return status;
    if (values[0] >= 1.0)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "parameter a of slider-crank is %g; it must be below 1, the rod's length", values[0]);
    crank *s = calloc(1, sizeof *s);
    if (!s)
        return bg_equations_no_memory(family, err);
    *s = (crank){values[0], values[1], values[2], values[3], values[4],
                 values[5], values[6], values[7], {0.0}};
    s->q0[Q] = acos(0.0);
    s->q0[P] = asin(-s->a);
    s->q0[X] = cos(s->q0[P]) + s->a * cos(s->q0[Q]);

    def->nq = def->nv = 3;
    def->nz = 1;
    def->ng = def->ny = 2;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_h;
    def->scleronomic = 1;
    def->terms = terms;
    set_derivatives(def);
    def->energy = energy;
    def->outputs = outputs;
    def->q_names = q_names;
    def->v_names = v_names;
    def->z_names = z_names;
    def->g_names = g_names;
    def->y_names = y_names;
    def->q0 = s->q0;
    def->t_end = 10.0;
    return BG_OK;
}
