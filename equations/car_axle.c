/* The car axis of the IVP Test Set (Mazzia, Magherini; University of Bari, release 2.4).
 *
 * Two points (xl, yl) and (xr, yr), the ends of an axle of length L, stand on springs of stiffness
 * 1 N/m and free length L0: the left one over (0, 0), the right one over (xb, yb), which follows a
 * bumpy road. The road is the input u = yb = r sin(w t), and xb = sqrt(L^2 - yb^2). With the small
 * mass k = M eps^2 / 2 of each point, and phi in the Test Set's form
 *
 *   k q'' = f(q, t) + (dphi/dq)^T lambda
 *   phi1 = xb xl + yb yl                      the left suspension stays normal to the chassis
 *   phi2 = (xl - xr)^2 + (yl - yr)^2 - L^2    the axle keeps its length
 *
 * Bogie writes M v' = f - G^T lambda. Here g = -phi, so that lambda has the sign (and the value) of
 * the Test Set's lambda. Both the road (through the right spring) and phi1 depend on time:
 *
 *   xb' = -u u' / xb,   xb'' = -(u'^2 + u u'' + xb'^2) / xb
 *
 * Energy: the springs store (l - L0)^2 / 2 each; the road feeds (dU/du) u' into the right one.
 */
#include "equations.h"

#include <math.h>
#include <stdlib.h>

typedef struct axle {
    double k, L, L0, r, w, gravity;
    double q0[4], v0[4];
} axle;

static int inputs(void *self, double t, const int *mode, double *u, double *u_t, double *u_tt)
{
    (void)mode;
    const axle *s = self;
    const double sine = sin(s->w * t), cosine = cos(s->w * t);
    u[0] = s->r * sine;
    u_t[0] = s->r * s->w * cosine;
    u_tt[0] = -s->r * s->w * s->w * sine;
    return 0;
}

/* The end of the road's chassis point and its time derivatives; fails for |u| >= L. */
typedef struct axle_road {
    double x, x_t, x_tt;
} axle_road;

static int calc_road(const axle *s, const bg_point *p, axle_road *b)
{
    const double u = p->u[0], square = s->L * s->L - u * u;
    if (!(square > 0.0))
        return 1;
    b->x = sqrt(square);
    b->x_t = -u * p->u_t[0] / b->x;
    b->x_tt = -(p->u_t[0] * p->u_t[0] + u * p->u_tt[0] + b->x_t * b->x_t) / b->x;
    return 0;
}

static int calc_forces(const axle *s, const bg_point *p, const axle_road *b, double *f)
{
    const double *q = p->q, xr = q[2] - b->x, yr = q[3] - p->u[0];
    const double l = sqrt(q[0] * q[0] + q[1] * q[1]), r = sqrt(xr * xr + yr * yr);
    if (!(l > 0.0 && r > 0.0))
        return 1;
    const double Fl = (s->L0 - l) / l, Fr = (s->L0 - r) / r, weight = s->k * s->gravity;
    f[0] = Fl * q[0];
    f[1] = Fl * q[1] - weight;
    f[2] = Fr * xr;
    f[3] = Fr * yr - weight;
    return 0;
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const axle *s = self;
    const double *q = p->q, *v = p->v;
    const double dx = q[0] - q[2], dy = q[1] - q[3], dvx = v[0] - v[2], dvy = v[1] - v[3];
    axle_road b;
    if (calc_road(s, p, &b))
        return 1;
    if (want & BG_TERM_M)
        out->M[0] = out->M[5] = out->M[10] = out->M[15] = s->k;
    if (want & BG_TERM_f && calc_forces(s, p, &b, out->f))
        return 1;
    if (want & BG_TERM_g) {
        out->g[0] = -(b.x * q[0] + p->u[0] * q[1]);
        out->g[1] = s->L * s->L - (dx * dx + dy * dy);
    }
    if (want & BG_TERM_gt)
        out->gt[0] = -(b.x_t * q[0] + p->u_t[0] * q[1]);
    if (want & BG_TERM_G) {
        double *G = out->G;
        G[0] = -b.x;
        G[1] = -p->u[0];
        G[4] = -2.0 * dx;
        G[5] = -2.0 * dy;
        G[6] = 2.0 * dx;
        G[7] = 2.0 * dy;
    }
    if (want & BG_TERM_gamma) {
        out->gamma[0] = -(b.x_tt * q[0] + p->u_tt[0] * q[1]) -
                        2.0 * (b.x_t * v[0] + p->u_t[0] * v[1]);
        out->gamma[1] = -2.0 * (dvx * dvx + dvy * dvy);
    }
    return 0;
}

/* Stiffness of a spring (L0 - l) d / l with l = |d|: K = -dF/dd = (1 - L0/l) I + L0 d d^T / l^3. */
static int calc_stiffness(double L0, double dx, double dy, double K[3])
{
    const double square = dx * dx + dy * dy, l = sqrt(square);
    if (!(l > 0.0))
        return 1;
    const double c = L0 / (l * square);
    K[0] = 1.0 - L0 / l + c * dx * dx;
    K[1] = c * dx * dy;
    K[2] = 1.0 - L0 / l + c * dy * dy;
    return 0;
}

static void write_constraint_blocks(const bg_point *p, const axle_road *b, bg_derivatives *out)
{
    const double dvx = p->v[0] - p->v[2], dvy = p->v[1] - p->v[3];
    const double row1[2] = {-b->x_t, -p->u_t[0]}, row2[2] = {-2.0 * dvx, -2.0 * dvy};
    double *w_q = out->block[BG_OF_w][BG_BY_q], *gamma_q = out->block[BG_OF_gamma][BG_BY_q];
    double *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    for (int i = 0; i < 2; i++) {
        if (w_q) {
            w_q[i] = row1[i];
            w_q[4 + i] = row2[i];
            w_q[6 + i] = -row2[i];
        }
        if (gamma_v) { /* twice dw/dq */
            gamma_v[i] = 2.0 * row1[i];
            gamma_v[4 + i] = 2.0 * row2[i];
            gamma_v[6 + i] = -2.0 * row2[i];
        }
    }
    if (gamma_q) {
        gamma_q[0] = -b->x_tt;
        gamma_q[1] = -p->u_tt[0];
    }
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    const axle *s = self;
    const double *q = p->q;
    (void)a;
    axle_road b;
    double Kl[3], Kr[3];
    if (calc_road(s, p, &b) || calc_stiffness(s->L0, q[0], q[1], Kl) ||
        calc_stiffness(s->L0, q[2] - b.x, q[3] - p->u[0], Kr))
        return 1;
    double *r_q = out->block[BG_OF_r][BG_BY_q], *r_u = out->block[BG_OF_r][BG_BY_u];
    double *g_u = out->block[BG_OF_g][BG_BY_u];
    if (r_q) {
        const double c = 2.0 * lambda[1]; /* d(G^T lambda)/dq = c [-I I; I -I] */
        r_q[0] = Kl[0] - c;
        r_q[1] = r_q[4] = Kl[1];
        r_q[5] = Kl[2] - c;
        r_q[10] = Kr[0] - c;
        r_q[11] = r_q[14] = Kr[1];
        r_q[15] = Kr[2] - c;
        r_q[2] = r_q[7] = r_q[8] = r_q[13] = c;
    }
    const double x_u = -p->u[0] / b.x; /* dxb/du */
    if (r_u) {
        r_u[0] = -lambda[0] * x_u;
        r_u[1] = -lambda[0];
        r_u[2] = -(Kr[0] * x_u + Kr[1]);
        r_u[3] = -(Kr[1] * x_u + Kr[2]);
    }
    if (g_u)
        g_u[0] = -(x_u * q[0] + q[1]);
    write_constraint_blocks(p, &b, out);
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const axle *s = self;
    const double *q = p->q, *v = p->v;
    axle_road b;
    if (calc_road(s, p, &b))
        return 1;
    const double xr = q[2] - b.x, yr = q[3] - p->u[0], r = sqrt(xr * xr + yr * yr);
    const double dl = sqrt(q[0] * q[0] + q[1] * q[1]) - s->L0, dr = r - s->L0;
    if (!(r > 0.0))
        return 1;
    out->kinetic = 0.5 * s->k * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
    out->potential = 0.5 * (dl * dl + dr * dr) + s->k * s->gravity * (q[1] + q[3]);
    out->power = -dr / r * (xr * b.x_t + yr * p->u_t[0]);
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    const double *q = p->q;
    (void)a;
    (void)lambda;
    axle_road b;
    if (calc_road(self, p, &b))
        return 1;
    y[0] = hypot(q[0], q[1]);
    y[1] = hypot(q[2] - b.x, q[3] - p->u[0]);
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"eps", 1e-2, "", "smallness of the mass, k = M eps^2 / 2"},
    {"M", 10.0, "kg", "mass before scaling"},
    {"L", 1.0, "m", "length of the axle"},
    {"L0", 0.5, "m", "free length of the springs"},
    {"r", 0.1, "m", "height of the bumps"},
    {"w", 10.0, "rad/s", "angular frequency of the bumps"},
    {"gravity", 1.0, "m/s^2", ""},
};

const bg_equations bg_equations_car_axle = {
    .abi = BG_ABI,
    .name = "car-axle",
    .summary = "car axis on a bumpy road, index 3, moving constraint (IVP Test Set)",
    .parameters = parameters,
    .nparameters = 7,
    .define = define,
};

static void set_start(axle *s)
{
    const double q0[4] = {0.0, s->L0, s->L, s->L0};
    const double speed = -s->L0 * s->r * s->w / s->L; /* from phi1' = 0 at t = 0 */
    for (int i = 0; i < 4; i++)
        s->q0[i] = q0[i];
    s->v0[0] = s->v0[2] = speed;
}

static void set_derivatives(bg_system_def *def)
{
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    unsigned char(*supplied)[BG_BY_COUNT] = def->derivative_supplied;
    supplied[BG_OF_r][BG_BY_q] = supplied[BG_OF_r][BG_BY_v] = 1; /* the latter is zero */
    supplied[BG_OF_r][BG_BY_u] = supplied[BG_OF_g][BG_BY_u] = supplied[BG_OF_w][BG_BY_q] = 1;
    supplied[BG_OF_gamma][BG_BY_q] = supplied[BG_OF_gamma][BG_BY_v] = 1;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"xl", "yl", "xr", "yr"};
    static const char *const v_names[] = {"xl_dot", "yl_dot", "xr_dot", "yr_dot"};
    static const char *const g_names[] = {"suspension", "axle"}, *const u_names[] = {"yb"};
    static const char *const y_names[] = {"spring_left", "spring_right"};

    const bg_equations *family = &bg_equations_car_axle;
    const bg_status status = bg_parameters_check(family, values, "++++rrr", err);
    if (status)
        return status;
    if (fabs(values[4]) >= values[2])
        return bg_error_set(err, BG_BAD_INPUT,
                            "parameter r of car-axle is %g; bumps must be lower than L = %g",
                            values[4], values[2]);
    axle *s = calloc(1, sizeof *s);
    if (!s)
        return bg_equations_no_memory(family, err);
    s->k = 0.5 * values[1] * values[0] * values[0];
    s->L = values[2];
    s->L0 = values[3];
    s->r = values[4];
    s->w = values[5];
    s->gravity = values[6];
    set_start(s);

    def->nq = def->nv = 4;
    def->ng = def->ny = 2;
    def->nu = 1;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma;
    def->terms = terms;
    set_derivatives(def);
    def->inputs = inputs;
    def->energy = energy;
    def->outputs = outputs;
    def->q_names = q_names;
    def->v_names = v_names;
    def->g_names = g_names;
    def->u_names = u_names;
    def->y_names = y_names;
    def->q0 = s->q0;
    def->v0 = s->v0;
    def->t_end = 3.0;
    return BG_OK;
}
