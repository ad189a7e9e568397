/* A point mass held on the unit circle and driven around it by a PI controller.
 *
 * Burgermeister, Arnold, Esterl: "DAE time integration for real-time applications in multi-body
 * dynamics", section 4.1. With n = x / |x| (outward) and t = (-n2, n1),
 *
 *   m x'' = F_PI t + F_R n - 2 x lambda,       0 = x1^2 + x2^2 - 1
 *   F_PI  = kP e + kI z,   z' = e = v_ref - t . x'
 *
 * The controller holds the speed, so the errors that are left show up as drift off the circle.
 *
 * The paper gives no numbers; these defaults are Bogie's own. From rest at (1, 0) the polar angle
 * is phi = v_ref t - z on the circle, and m z'' + kP z' + kI z = 0 with z(0) = 0, z'(0) = v_ref.
 * The default gains damp that critically, so that z = v_ref t exp(-t): a closed form to test
 * against. There lambda = (F_R + m phi'^2) / 2.
 *
 * Derivatives: dn/dx = t t^T / rho and dt/dx = -n t^T / rho with rho = |x|.
 */
#include "equations.h"

#include <math.h>
#include <stdlib.h>

typedef struct circular_track {
    double m, v_ref, kP, kI, F_R;
} circular_track;

/* Everything the functions below share at one point. */
typedef struct frame {
    double rho, n1, n2;       /* |x| and the outward normal; the tangent is (-n2, n1) */
    double v_n, v_t, e, F_PI; /* normal and tangential speed, control error, control force */
} frame;

static int calc_frame(const circular_track *k, const bg_point *p, frame *o)
{
    const double *x = p->q, *v = p->v;
    o->rho = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (!(o->rho > 0.0))
        return 1;
    o->n1 = x[0] / o->rho;
    o->n2 = x[1] / o->rho;
    o->v_n = o->n1 * v[0] + o->n2 * v[1];
    o->v_t = o->n1 * v[1] - o->n2 * v[0];
    o->e = k->v_ref - o->v_t;
    o->F_PI = k->kP * o->e + k->kI * p->z[0];
    return 0;
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const circular_track *k = self;
    const double *x = p->q, *v = p->v;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = k->m;
    if (want & BG_TERM_g)
        out->g[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
    if (want & BG_TERM_G) {
        out->G[0] = 2.0 * x[0];
        out->G[1] = 2.0 * x[1];
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = 2.0 * (v[0] * v[0] + v[1] * v[1]);
    if (!(want & (BG_TERM_f | BG_TERM_h)))
        return 0;

    frame o;
    if (calc_frame(k, p, &o))
        return 1;
    if (want & BG_TERM_f) {
        out->f[0] = k->F_R * o.n1 - o.F_PI * o.n2;
        out->f[1] = k->F_R * o.n2 + o.F_PI * o.n1;
    }
    if (want & BG_TERM_h)
        out->h[0] = o.e;
    return 0;
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    const circular_track *k = self;
    const double *v = p->v;
    (void)a;
    frame o;
    if (calc_frame(k, p, &o))
        return 1;
    const double t[2] = {-o.n2, o.n1}, n[2] = {o.n1, o.n2};
    double *const *r = out->block[BG_OF_r], *const *h = out->block[BG_OF_h];
    double *w_q = out->block[BG_OF_w][BG_BY_q], *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    for (int i = 0; i < 2; i++) {
        /* df/dq = c t^T / rho, df/dv = -kP t t^T, df/dz = kI t */
        const double c = (k->kP * o.v_n + k->F_R) * t[i] - o.F_PI * n[i];
        for (int j = 0; j < 2; j++) {
            if (r[BG_BY_q])
                r[BG_BY_q][2 * i + j] = (i == j ? 2.0 * lambda[0] : 0.0) - c * t[j] / o.rho;
            if (r[BG_BY_v])
                r[BG_BY_v][2 * i + j] = k->kP * t[i] * t[j];
        }
        if (r[BG_BY_z])
            r[BG_BY_z][i] = -k->kI * t[i];
        if (h[BG_BY_q])
            h[BG_BY_q][i] = o.v_n * t[i] / o.rho;
        if (h[BG_BY_v])
            h[BG_BY_v][i] = -t[i];
        if (w_q)
            w_q[i] = 2.0 * v[i];
        if (gamma_v)
            gamma_v[i] = 4.0 * v[i];
    }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const circular_track *k = self;
    frame o;
    if (calc_frame(k, p, &o))
        return 1;
    out->kinetic = 0.5 * k->m * (p->v[0] * p->v[0] + p->v[1] * p->v[1]);
    out->potential = -k->F_R * o.rho;
    out->power = o.F_PI * o.v_t;
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    (void)a;
    (void)lambda;
    frame o;
    if (calc_frame(self, p, &o))
        return 1;
    y[0] = o.v_t;
    y[1] = o.rho;
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"mass", 1.0, "kg", "of the point"},
    {"v_ref", 2.0, "m/s", "speed the controller holds"},
    {"kP", 2.0, "N s/m", "proportional gain"},
    {"kI", 1.0, "N/m", "integral gain"},
    {"F_R", 10.0, "N", "force away from the centre"},
};

const bg_equations bg_equations_circular_track = {
    .abi = BG_ABI,
    .name = "circular-track",
    .summary = "point mass on a circle with a speed controller, to show drift off the constraint",
    .parameters = parameters,
    .nparameters = 5,
    .define = define,
};

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"x1", "x2"}, *const v_names[] = {"x1_dot", "x2_dot"};
    static const char *const z_names[] = {"integral"}, *const g_names[] = {"circle"};
    static const char *const y_names[] = {"speed", "radius"};
    static const double q0[] = {1.0, 0.0};

    const bg_equations *family = &bg_equations_circular_track;
    const bg_status status = bg_parameters_check(family, values, "+rrrr", err);
    if (status)
        return status;
    circular_track *k = calloc(1, sizeof *k);
    if (!k)
        return bg_equations_no_memory(family, err);
    *k = (circular_track){values[0], values[1], values[2], values[3], values[4]};

    def->nq = def->nv = 2;
    def->nz = def->ng = 1;
    def->ny = 2;
    def->self = k;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_h;
    def->scleronomic = 1;
    def->terms = terms;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    unsigned char(*supplied)[BG_BY_COUNT] = def->derivative_supplied;
    for (int by = BG_BY_q; by <= BG_BY_z; by++)
        supplied[BG_OF_r][by] = supplied[BG_OF_h][by] = 1;
    supplied[BG_OF_w][BG_BY_q] = 1;
    supplied[BG_OF_gamma][BG_BY_q] = supplied[BG_OF_gamma][BG_BY_v] = 1;
    def->energy = energy;
    def->outputs = outputs;
    def->q_names = q_names;
    def->v_names = v_names;
    def->z_names = z_names;
    def->g_names = g_names;
    def->y_names = y_names;
    def->q0 = q0;
    def->t_end = 10.0;
    return BG_OK;
}
