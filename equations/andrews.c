/* Andrews' squeezing mechanism: seven rigid bodies with planar joints, index 3.
 *
 * IVP Test Set (Mazzia, Magherini; University of Bari, release 2.4), after Schiehlen: Multibody
 * Systems Handbook. Coordinates are the joint angles q = (beta, Theta, gamma, Phi, delta, Omega,
 * epsilon); a constant torque drives beta, and a spring acts on the triangle at gamma. The three
 * loops that close at the point E give six constraints.
 *
 * Every constraint is a sum of sines and cosines of seven angles phi_k, where phi = (beta,
 * beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon): row i of g contains
 * x_k = c_k cos(phi_k + shift_k) or y_k = c_k sin(phi_k + shift_k), so that
 *
 *   d/dphi_k (x_k, y_k) = (-y_k, x_k).
 *
 * Rows 0, 2, 4 are built from the x_k and rows 1, 3, 5 from the y_k of bar 0, bar 1 and the bars of
 * their loop. With w_k = phi_k' the hidden constraints and all derivative blocks follow from one
 * rule each: G from (-y, x), dw/dq and gamma from (-x, -y) w and (-x, -y) w^2, dgamma/dq from (y,
 * -x) w^2.
 *
 * Energy: T = v^T M v / 2, U = c0 (l - l0)^2 / 2 of the spring, power = torque beta'.
 */
#include "equations.h"

#include <math.h>
#include <stdlib.h>

enum { BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON, NV };
enum { BARS = 7 };

/* SI units, names of the Test Set. */
static const double m1 = .04325, m2 = .00365, m3 = .02373, m4 = .00706, m5 = .07050, m6 = .00706,
                    m7 = .05498;
static const double i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5,
                    i6 = 5.667e-7, i7 = 1.912e-5;
static const double xa = -.06934, ya = -.00227, xb = -.03635, yb = .03273, xc = .014, yc = .072;
static const double d = 28e-3, da = 115e-4, e = 2e-2, ea = 1421e-5, rr = 7e-3, ra = 92e-5,
                    l0 = 7785e-5, ss = 35e-3, sa = 1874e-5, sb = 1043e-5, sc = 18e-3, sd = 2e-2;
static const double ta = 2308e-5, tb = 916e-5, u = 4e-2, ua = 1228e-5, ub = 449e-5, zf = 2e-2,
                    zt = 4e-2, fa = 1421e-5;

/* Each bar: the coordinates whose sum is its angle (second -1: only one), and its loop (0, 1, 2;
 * -1: in all three). */
static const struct {
    int first, second, loop;
} bars[BARS] = {
    {BETA, -1, -1}, {BETA, THETA, -1},   {GAMMA, -1, 0},   {PHI, DELTA, 1},
    {DELTA, -1, 1}, {OMEGA, EPSILON, 2}, {EPSILON, -1, 2},
};

typedef struct andrews {
    double torque, c0;
} andrews;

/* Sines and cosines of the angles that M and f contain. */
typedef struct andrews_angles {
    double sT, cT, sg, cg, sP, cP, sO, cO;
} andrews_angles;

static andrews_angles calc_angles(const double *q)
{
    return (andrews_angles){sin(q[THETA]), cos(q[THETA]), sin(q[GAMMA]), cos(q[GAMMA]),
                            sin(q[PHI]),   cos(q[PHI]),   sin(q[OMEGA]), cos(q[OMEGA])};
}

/* The bars (x_k, y_k) as they enter the constraints. */
static void calc_bars(const double *q, const andrews_angles *o, double *x, double *y)
{
    const double sb_ = sin(q[BETA]), cb = cos(q[BETA]);
    const double sD = sin(q[DELTA]), cD = cos(q[DELTA]);
    const double sE = sin(q[EPSILON]), cE = cos(q[EPSILON]);
    x[0] = rr * cb;
    y[0] = rr * sb_;
    x[1] = -d * (cb * o->cT - sb_ * o->sT); /* -d cos(beta + Theta) */
    y[1] = -d * (sb_ * o->cT + cb * o->sT);
    x[2] = -ss * o->sg;
    y[2] = ss * o->cg;
    x[3] = -e * (o->sP * cD + o->cP * sD); /* -e sin(Phi + delta) */
    y[3] = e * (o->cP * cD - o->sP * sD);
    x[4] = -zt * cD;
    y[4] = -zt * sD;
    x[5] = -zf * (o->cO * cE - o->sO * sE); /* -zf cos(Omega + epsilon) */
    y[5] = -zf * (o->sO * cE + o->cO * sE);
    x[6] = -u * sE;
    y[6] = u * cE;
}

static void calc_rates(const double *v, double *w)
{
    for (int k = 0; k < BARS; k++)
        w[k] = v[bars[k].first] + (bars[k].second < 0 ? 0.0 : v[bars[k].second]);
}

/* out (6): for each loop the sum over its bars of (x_k, y_k), starting from the values in out. */
static void sum_loops(const double *x, const double *y, double *out)
{
    for (int i = 0; i < 3; i++) {
        out[2 * i] += x[0] + x[1];
        out[2 * i + 1] += y[0] + y[1];
    }
    for (int k = 2; k < BARS; k++) {
        out[2 * bars[k].loop] += x[k];
        out[2 * bars[k].loop + 1] += y[k];
    }
}

/* out (6 x 7): the derivative by q of such sums, given the derivatives (x_k, y_k) by the angles. */
static void scatter_loops(const double *x, const double *y, double *out)
{
    for (int i = 0; i < 3; i++) {
        double *row = out + 2 * i * NV;
        row[BETA] = x[0] + x[1];
        row[THETA] = x[1];
        row[NV + BETA] = y[0] + y[1];
        row[NV + THETA] = y[1];
    }
    out[GAMMA] = x[2];
    out[NV + GAMMA] = y[2];
    out[2 * NV + PHI] = x[3];
    out[3 * NV + PHI] = y[3];
    out[2 * NV + DELTA] = x[3] + x[4];
    out[3 * NV + DELTA] = y[3] + y[4];
    out[4 * NV + OMEGA] = x[5];
    out[5 * NV + OMEGA] = y[5];
    out[4 * NV + EPSILON] = x[5] + x[6];
    out[5 * NV + EPSILON] = y[5] + y[6];
}

static void write_mass(const andrews_angles *o, double *M)
{
    const double ee = e - ea, ff = zf - fa;
    M[BETA * NV + BETA] = m1 * ra * ra + m2 * (rr * rr - 2.0 * da * rr * o->cT + da * da) + i1 + i2;
    M[THETA * NV + BETA] = M[BETA * NV + THETA] = m2 * (da * da - da * rr * o->cT) + i2;
    M[THETA * NV + THETA] = m2 * da * da + i2;
    M[GAMMA * NV + GAMMA] = m3 * (sa * sa + sb * sb) + i3;
    M[PHI * NV + PHI] = m4 * ee * ee + i4;
    M[DELTA * NV + PHI] = M[PHI * NV + DELTA] = m4 * (ee * ee + zt * ee * o->sP) + i4;
    M[DELTA * NV + DELTA] = m4 * (zt * zt + 2.0 * zt * ee * o->sP + ee * ee) +
                            m5 * (ta * ta + tb * tb) + i4 + i5;
    M[OMEGA * NV + OMEGA] = m6 * ff * ff + i6;
    M[EPSILON * NV + OMEGA] = M[OMEGA * NV + EPSILON] = m6 * (ff * ff - u * ff * o->sO) + i6;
    M[EPSILON * NV + EPSILON] = m6 * (ff * ff - 2.0 * u * ff * o->sO + u * u) +
                                m7 * (ua * ua + ub * ub) + i6 + i7;
}

/* The spring from C to D on the triangle: D - C, its derivative by gamma, length. */
typedef struct andrews_spring {
    double x, y, x_g, y_g, l;
} andrews_spring;

static int calc_spring(const andrews_angles *o, andrews_spring *s)
{
    s->x_g = sc * o->cg - sd * o->sg;
    s->y_g = sd * o->cg + sc * o->sg;
    s->x = s->y_g + xb - xc; /* sd cos + sc sin */
    s->y = yb - yc - s->x_g; /* sd sin - sc cos */
    s->l = sqrt(s->x * s->x + s->y * s->y);
    return !(s->l > 0.0);
}

/* Coupling constants of M and f. */
#define K2 (m2 * da * rr)
#define K4 (m4 * zt * (e - ea))
#define K6 (m6 * u * (zf - fa))

static int write_forces(const andrews *s, const andrews_angles *o, const double *v, double *f)
{
    andrews_spring k;
    if (calc_spring(o, &k))
        return 1;
    const double F = -s->c0 * (1.0 - l0 / k.l);
    f[BETA] = s->torque - K2 * v[THETA] * (v[THETA] + 2.0 * v[BETA]) * o->sT;
    f[THETA] = K2 * v[BETA] * v[BETA] * o->sT;
    f[GAMMA] = F * (k.x * k.x_g + k.y * k.y_g);
    f[PHI] = K4 * v[DELTA] * v[DELTA] * o->cP;
    f[DELTA] = -K4 * v[PHI] * (v[PHI] + 2.0 * v[DELTA]) * o->cP;
    f[OMEGA] = -K6 * v[EPSILON] * v[EPSILON] * o->cO;
    f[EPSILON] = K6 * v[OMEGA] * (v[OMEGA] + 2.0 * v[EPSILON]) * o->cO;
    return 0;
}

static void write_constraints(const bg_point *p, const andrews_angles *o, unsigned want,
                              bg_terms *out)
{
    double x[BARS], y[BARS];
    calc_bars(p->q, o, x, y);
    if (want & BG_TERM_g) {
        const double offset[6] = {-xb, -yb, -xa, -ya, -xa, -ya};
        for (int i = 0; i < 6; i++)
            out->g[i] = offset[i];
        sum_loops(x, y, out->g);
    }
    if (want & BG_TERM_G) {
        double minus_y[BARS];
        for (int k = 0; k < BARS; k++)
            minus_y[k] = -y[k];
        scatter_loops(minus_y, x, out->G);
    }
    if (want & BG_TERM_gamma) {
        double w[BARS];
        calc_rates(p->v, w);
        for (int k = 0; k < BARS; k++) {
            x[k] *= -w[k] * w[k];
            y[k] *= -w[k] * w[k];
        }
        for (int i = 0; i < 6; i++)
            out->gamma[i] = 0.0;
        sum_loops(x, y, out->gamma);
    }
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const andrews_angles o = calc_angles(p->q);
    if (want & BG_TERM_M)
        write_mass(&o, out->M);
    if (want & BG_TERM_f && write_forces(self, &o, p->v, out->f))
        return 1;
    if (want & (BG_TERM_g | BG_TERM_G | BG_TERM_gamma))
        write_constraints(p, &o, want, out);
    return 0;
}

/* d(M a - f)/dq; only the columns Theta, gamma, Phi and Omega are not zero. */
static int write_force_by_q(const andrews *s, const andrews_angles *o, const double *v,
                            const double *a, double *r)
{
    andrews_spring k;
    if (calc_spring(o, &k))
        return 1;
    r[BETA * NV + THETA] = K2 * (o->sT * (2.0 * a[BETA] + a[THETA]) +
                                 o->cT * v[THETA] * (v[THETA] + 2.0 * v[BETA]));
    r[THETA * NV + THETA] = K2 * (o->sT * a[BETA] - o->cT * v[BETA] * v[BETA]);
    const double F = -s->c0 * (1.0 - l0 / k.l), pp = k.x * k.x_g + k.y * k.y_g;
    const double second = sd * sd + sc * sc - (k.x * (k.x - xb + xc) + k.y * (k.y - yb + yc));
    r[GAMMA * NV + GAMMA] = s->c0 * l0 * pp * pp / (k.l * k.l * k.l) - F * second;
    r[PHI * NV + PHI] = K4 * (o->cP * a[DELTA] + o->sP * v[DELTA] * v[DELTA]);
    r[DELTA * NV + PHI] = K4 * (o->cP * (a[PHI] + 2.0 * a[DELTA]) -
                                o->sP * v[PHI] * (v[PHI] + 2.0 * v[DELTA]));
    r[OMEGA * NV + OMEGA] = -K6 * (o->cO * a[EPSILON] + o->sO * v[EPSILON] * v[EPSILON]);
    r[EPSILON * NV + OMEGA] = -K6 * (o->cO * (a[OMEGA] + 2.0 * a[EPSILON]) -
                                     o->sO * v[OMEGA] * (v[OMEGA] + 2.0 * v[EPSILON]));
    return 0;
}

/* Adds d(G^T lambda)/dq: for bar k, -(x_k lambda_x + y_k lambda_y) between its coordinates. */
static void add_reaction_by_q(const double *x, const double *y, const double *lambda, double *r)
{
    for (int k = 0; k < BARS; k++) {
        const int i = bars[k].first, j = bars[k].second, loop = bars[k].loop;
        double lx = lambda[0] + lambda[2] + lambda[4], ly = lambda[1] + lambda[3] + lambda[5];
        if (loop >= 0) {
            lx = lambda[2 * loop];
            ly = lambda[2 * loop + 1];
        }
        const double c = -(x[k] * lx + y[k] * ly);
        r[i * NV + i] += c;
        if (j >= 0) {
            r[i * NV + j] += c;
            r[j * NV + i] += c;
            r[j * NV + j] += c;
        }
    }
}

/* -df/dv */
static void write_force_by_v(const andrews_angles *o, const double *v, double *r)
{
    r[BETA * NV + BETA] = 2.0 * K2 * v[THETA] * o->sT;
    r[BETA * NV + THETA] = 2.0 * K2 * (v[THETA] + v[BETA]) * o->sT;
    r[THETA * NV + BETA] = -2.0 * K2 * v[BETA] * o->sT;
    r[PHI * NV + DELTA] = -2.0 * K4 * v[DELTA] * o->cP;
    r[DELTA * NV + PHI] = 2.0 * K4 * (v[PHI] + v[DELTA]) * o->cP;
    r[DELTA * NV + DELTA] = 2.0 * K4 * v[PHI] * o->cP;
    r[OMEGA * NV + EPSILON] = 2.0 * K6 * v[EPSILON] * o->cO;
    r[EPSILON * NV + OMEGA] = -2.0 * K6 * (v[OMEGA] + v[EPSILON]) * o->cO;
    r[EPSILON * NV + EPSILON] = -2.0 * K6 * v[OMEGA] * o->cO;
}

static void write_constraint_blocks(const double *v, const double *x, const double *y,
                                    bg_derivatives *out)
{
    double *w_q = out->block[BG_OF_w][BG_BY_q];
    double *gamma_q = out->block[BG_OF_gamma][BG_BY_q], *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    double w[BARS], bx[BARS], by[BARS];
    calc_rates(v, w);
    for (int k = 0; k < BARS; k++) {
        bx[k] = -x[k] * w[k];
        by[k] = -y[k] * w[k];
    }
    if (w_q)
        scatter_loops(bx, by, w_q);
    for (int k = 0; k < BARS; k++) {
        bx[k] *= 2.0;
        by[k] *= 2.0;
    }
    if (gamma_v)
        scatter_loops(bx, by, gamma_v);
    for (int k = 0; k < BARS; k++) {
        bx[k] = y[k] * w[k] * w[k];
        by[k] = -x[k] * w[k] * w[k];
    }
    if (gamma_q)
        scatter_loops(bx, by, gamma_q);
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    double *r_q = out->block[BG_OF_r][BG_BY_q], *r_v = out->block[BG_OF_r][BG_BY_v];
    double x[BARS], y[BARS];
    const andrews_angles o = calc_angles(p->q);
    calc_bars(p->q, &o, x, y);
    if (r_q) {
        for (int i = 0; i < NV * NV; i++)
            r_q[i] = 0.0;
        if (write_force_by_q(self, &o, p->v, a, r_q))
            return 1;
        add_reaction_by_q(x, y, lambda, r_q);
    }
    if (r_v)
        write_force_by_v(&o, p->v, r_v);
    write_constraint_blocks(p->v, x, y, out);
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const andrews *s = self;
    const andrews_angles o = calc_angles(p->q);
    double M[NV * NV] = {0.0};
    andrews_spring k;
    if (calc_spring(&o, &k))
        return 1;
    write_mass(&o, M);
    double twice = 0.0;
    for (int i = 0; i < NV; i++)
        for (int j = 0; j < NV; j++)
            twice += p->v[i] * M[i * NV + j] * p->v[j];
    out->kinetic = 0.5 * twice;
    out->potential = 0.5 * s->c0 * (k.l - l0) * (k.l - l0);
    out->power = s->torque * p->v[BETA];
    return 0;
}

static int power(void *self, const bg_point *p, double *out)
{
    const andrews *s = self;
    *out = s->torque * p->v[BETA];
    return 0;
}

/* The point F at the end of the driven crank. */
static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    (void)self;
    (void)a;
    (void)lambda;
    y[0] = rr * cos(p->q[BETA]);
    y[1] = rr * sin(p->q[BETA]);
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"torque", 33e-3, "N m", "that drives beta"},
    {"c0", 4530.0, "N/m", "stiffness of the spring"},
};

const bg_equations bg_equations_andrews = {
    .abi = BG_ABI,
    .name = "andrews",
    .summary = "Andrews' squeezing mechanism, seven bodies, six constraints (IVP Test Set)",
    .parameters = parameters,
    .nparameters = 2,
    .define = define,
};

static void set_names(bg_system_def *def)
{
    static const char *const q_names[] = {"beta",  "Theta", "gamma",  "Phi",
                                          "delta", "Omega", "epsilon"};
    static const char *const v_names[] = {"beta_dot",  "Theta_dot", "gamma_dot",  "Phi_dot",
                                          "delta_dot", "Omega_dot", "epsilon_dot"};
    static const char *const g_names[] = {"loop_B_x",  "loop_B_y",  "loop_AG_x",
                                          "loop_AG_y", "loop_AH_x", "loop_AH_y"};
    static const char *const y_names[] = {"F_x", "F_y"};
    def->q_names = q_names;
    def->v_names = v_names;
    def->g_names = g_names;
    def->y_names = y_names;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const double q0[NV] = {
        -0.0617138900142764496358948458001, 0.0,
        0.455279819163070380255912382449,   0.222668390165885884674473185609,
        0.487364979543842550225598953530,   -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    };
    const bg_equations *family = &bg_equations_andrews;
    const bg_status status = bg_parameters_check(family, values, "rr", err);
    if (status)
        return status;
    andrews *s = calloc(1, sizeof *s);
    if (!s)
        return bg_equations_no_memory(family, err);
    *s = (andrews){values[0], values[1]};

    def->nq = def->nv = NV;
    def->ng = 6;
    def->ny = 2;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def->scleronomic = 1;
    def->terms = terms;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    def->derivative_supplied[BG_OF_r][BG_BY_q] = def->derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def->derivative_supplied[BG_OF_w][BG_BY_q] = 1;
    def->derivative_supplied[BG_OF_gamma][BG_BY_q] = 1;
    def->derivative_supplied[BG_OF_gamma][BG_BY_v] = 1;
    def->energy = energy;
    def->power = power;
    def->outputs = outputs;
    set_names(def);
    def->q0 = q0;
    def->t_end = 0.03;
    return BG_OK;
}
