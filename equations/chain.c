/* A chain of mathematical pendulums under a moving suspension point.
 *
 * Arnold, Fuchs, Fuhrer: "Efficient corrector iteration for DAE time integration in multibody
 * dynamics", section 4.2.1. Of its N + 1 point masses the first sits on the suspension point and
 * moves with it; N rods hang the other N masses below it, which gives the paper's dimension
 * n_p = 2 N. Parameter N is that number of rods, angles and moving masses. With
 *
 *   e_k = (sin alpha_k, -cos alpha_k)   along rod k, downwards for alpha = 0
 *   n_k = (cos alpha_k,  sin alpha_k)   normal to it, de/dalpha = n, dn/dalpha = -e
 *
 * mass k is at p_k = u + l (e_1 + ... + e_k), where the suspension point u = (x_susp, y_susp) is
 * the input. The paper's "omega = 0.05 Hz" is read as 0.05 cycles per second, omega = 2 pi 0.05
 * rad/s: Hz counts cycles, and the excitation then goes through ten periods in the paper's 200 s at
 * a third of the lowest eigenfrequency of 16 rods, which keeps the angles small as the paper says.
 * (The other reading is --set frequency=0.00795775.) The chain starts straight, moving with the
 * suspension point.
 *
 * Residual, O(N): with A_k = p_k'' + gravity e_y, a prefix sum, and S_i = m (A_i + ... + A_N), a
 * suffix sum, r_i = l n_i . S_i. Hence M_ij = m l^2 (N + 1 - max(i,j)) cos(alpha_i - alpha_j), and
 * f = -r at alpha'' = 0.
 *
 * Accelerations, O(N): rod tensions T_k, m p_k'' = -T_k e_k + T_(k+1) e_(k+1) - m gravity e_y, keep
 * the rods' lengths, e_k . (p_k'' - p_(k-1)'') = -l alpha_k'^2. That is tridiagonal,
 *
 *   T_1 - cos(alpha_1 - alpha_2) T_2 = m l alpha_1'^2 - m e_1 . (u'' + gravity e_y)
 *   -cos(alpha_(k-1) - alpha_k) T_(k-1) + 2 T_k - cos(alpha_k - alpha_(k+1)) T_(k+1) = m l
 * alpha_k'^2
 *
 * with pivots between 1 and 2, and l alpha_k'' = n_k . (p_k'' - p_(k-1)'') follows.
 *
 * Expansion of r, O(N): the increments of A_k and S_k are its unknowns, and the two recursions,
 * linearised, the equations that determine them.
 *
 * Energies are those seen from the suspension point, which needs no accelerations: there the
 * inertial forces -m u'' are the only ones without a potential.
 */
#include "equations.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define N_MAX 40000 /* N^2 entries of M stay within an int */

typedef struct pendulum_chain {
    int n;
    double m, l, gravity, omega, x_nominal, x_amplitude, y_amplitude;
    double *s, *c;       /* n: sines and cosines of the angles */
    double *inverse, *T; /* n: inverse pivots of the tridiagonal system, tensions */
    double *Sx, *Sy;     /* n: suffix sums */
    bg_expansion expansion;
    int *places;        /* what its patterns point to */
    const char **names; /* 2 n: of q, then of v */
    char (*labels)[24]; /* 2 n: what they point to */
} pendulum_chain;

static int inputs(void *self, double t, const int *mode, double *u, double *u_t, double *u_tt)
{
    (void)mode;
    const pendulum_chain *o = self;
    const double sine = sin(o->omega * t), cosine = cos(o->omega * t);
    const double amplitude[2] = {o->x_amplitude, o->y_amplitude};
    u[0] = o->x_nominal;
    u[1] = 0.0;
    for (int i = 0; i < 2; i++) {
        u[i] += amplitude[i] * sine;
        u_t[i] = amplitude[i] * o->omega * cosine;
        u_tt[i] = -amplitude[i] * o->omega * o->omega * sine;
    }
    return 0;
}

static void update_angles(pendulum_chain *o, const double *alpha)
{
    for (int i = 0; i < o->n; i++) {
        const double angle = alpha[i]; /* in one call of sincos: no store in between */
        o->s[i] = sin(angle);
        o->c[i] = cos(angle);
    }
}

/* Suffix sums S of m A for angular accelerations a (NULL: zero). Needs update_angles. */
static void update_sums(pendulum_chain *o, const bg_point *p, const double *a)
{
    double Ax = p->u_tt[0], Ay = p->u_tt[1] + o->gravity;
    for (int i = 0; i < o->n; i++) {
        const double inward = o->l * p->v[i] * p->v[i], across = a ? o->l * a[i] : 0.0;
        Ax += across * o->c[i] - inward * o->s[i];
        Ay += across * o->s[i] + inward * o->c[i];
        o->Sx[i] = o->m * Ax;
        o->Sy[i] = o->m * Ay;
    }
    for (int i = o->n - 2; i >= 0; i--) {
        o->Sx[i] += o->Sx[i + 1];
        o->Sy[i] += o->Sy[i + 1];
    }
}

static void write_mass(const pendulum_chain *o, double *M)
{
    const size_t n = (size_t)o->n;
    for (size_t i = 0; i < n; i++) {
        const double mu = o->m * o->l * o->l * (double)(n - i);
        for (size_t j = 0; j <= i; j++)
            M[i * n + j] = M[j * n + i] = mu * (o->c[i] * o->c[j] + o->s[i] * o->s[j]);
    }
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    pendulum_chain *o = self;
    update_angles(o, p->q);
    if (want & BG_TERM_M)
        write_mass(o, out->M);
    if (want & BG_TERM_f) {
        update_sums(o, p, NULL);
        for (int i = 0; i < o->n; i++)
            out->f[i] = -o->l * (o->c[i] * o->Sx[i] + o->s[i] * o->Sy[i]);
    }
    return 0;
}

static int residual(void *self, const bg_point *p, const double *a, const double *lambda, double *r)
{
    pendulum_chain *o = self;
    (void)lambda;
    update_angles(o, p->q);
    update_sums(o, p, a);
    for (int i = 0; i < o->n; i++)
        r[i] = o->l * (o->c[i] * o->Sx[i] + o->s[i] * o->Sy[i]);
    return 0;
}

/* Cosine of the angle between rods i - 1 and i, and sine of alpha_(i-1) - alpha_i. */
static double calc_joint_cosine(const pendulum_chain *o, int i)
{
    return o->c[i - 1] * o->c[i] + o->s[i - 1] * o->s[i];
}

static double calc_joint_sine(const pendulum_chain *o, int i)
{
    return o->s[i - 1] * o->c[i] - o->c[i - 1] * o->s[i];
}

/* Rod tensions by elimination downwards and substitution upwards. Needs update_angles. */
static void update_tensions(pendulum_chain *o, const bg_point *p)
{
    const int n = o->n;
    const double ml = o->m * o->l, *v = p->v;
    const double load = p->u_tt[0] * o->s[0] - (p->u_tt[1] + o->gravity) * o->c[0];
    o->inverse[0] = 1.0;
    o->T[0] = ml * v[0] * v[0] - o->m * load;
    for (int k = 1; k < n; k++) {
        const double cosine = calc_joint_cosine(o, k), factor = cosine * o->inverse[k - 1];
        o->inverse[k] = 1.0 / (2.0 - factor * cosine);
        o->T[k] = ml * v[k] * v[k] + factor * o->T[k - 1];
    }
    o->T[n - 1] *= o->inverse[n - 1];
    for (int k = n - 2; k >= 0; k--)
        o->T[k] = (o->T[k] + calc_joint_cosine(o, k + 1) * o->T[k + 1]) * o->inverse[k];
}

static int accelerate(void *self, const bg_point *p, const double *lambda, double *a)
{
    pendulum_chain *o = self;
    const double ml = o->m * o->l;
    (void)lambda;
    update_angles(o, p->q);
    update_tensions(o, p);
    a[0] = -(p->u_tt[0] * o->c[0] + (p->u_tt[1] + o->gravity) * o->s[0]) / o->l;
    for (int k = 1; k < o->n; k++) {
        const double sine = calc_joint_sine(o, k) / ml;
        a[k] = sine * o->T[k - 1];
        a[k - 1] -= sine * o->T[k];
    }
    return 0;
}

/* dr_i/dalpha_j = l n_i . dS_i/dalpha_j - [i = j] l e_i . S_i, with
 * dS_i = m l (N + 1 - max(i,j)) (-alpha_j'' e_j - alpha_j'^2 n_j) dalpha_j + (...) (-2 alpha_j'
 * e_j) dv_j. */
static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    pendulum_chain *o = self;
    double *r_q = out->block[BG_OF_r][BG_BY_q], *r_v = out->block[BG_OF_r][BG_BY_v];
    const size_t n = (size_t)o->n;
    (void)lambda;
    update_angles(o, p->q);
    update_sums(o, p, a);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const double mu = o->m * o->l * o->l * (double)(n - (i > j ? i : j)), w = p->v[j];
            const double n_e = o->c[i] * o->s[j] - o->s[i] * o->c[j];
            const double n_n = o->c[i] * o->c[j] + o->s[i] * o->s[j];
            if (r_q)
                r_q[i * n + j] = -mu * (a[j] * n_e + w * w * n_n);
            if (r_v)
                r_v[i * n + j] = -2.0 * mu * w * n_e;
        }
        if (r_q)
            r_q[i * n + i] -= o->l * (o->s[i] * o->Sx[i] - o->c[i] * o->Sy[i]);
    }
    return 0;
}

/* x has dA_i (2) and dS_i (2) of one rod after the other. With de = n dalpha, dn = -e dalpha:
 *      0 = dA_i - dA_(i-1) + l (a_i e_i + v_i^2 n_i) dalpha_i + 2 l v_i e_i dv_i - l n_i da_i
 *      0 = dS_i - dS_(i+1) - m dA_i
 *   dr_i = l n_i . dS_i - l (e_i . S_i) dalpha_i */
static int expand(void *self, const bg_point *p, const double *a, const double *lambda,
                  bg_expansion_values *out)
{
    pendulum_chain *o = self;
    double *x = out->x, *q = out->q, *v = out->v, *by_a = out->a;
    (void)lambda;
    update_angles(o, p->q);
    update_sums(o, p, a);
    for (int i = 0; i < o->n; i++) {
        const double e[2] = {o->s[i], -o->c[i]}, n[2] = {o->c[i], o->s[i]}, w = p->v[i];
        for (int k = 0; k < 2; k++) {
            if (i > 0)
                *x++ = -1.0;
            *x++ = 1.0;
            *q++ = o->l * (a[i] * e[k] + w * w * n[k]);
            *v++ = 2.0 * o->l * w * e[k];
            *by_a++ = -o->l * n[k];
        }
        for (int k = 0; k < 2; k++) {
            *x++ = -o->m;
            *x++ = 1.0;
            if (i < o->n - 1)
                *x++ = -1.0;
        }
    }
    for (int i = 0; i < o->n; i++) {
        *x++ = o->l * o->c[i];
        *x++ = o->l * o->s[i];
        *q++ = o->l * (o->c[i] * o->Sy[i] - o->s[i] * o->Sx[i]);
    }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    pendulum_chain *o = self;
    double vx = 0.0, vy = 0.0, y = 0.0, square = 0.0, height = 0.0, px = 0.0, py = 0.0;
    update_angles(o, p->q);
    for (int i = 0; i < o->n; i++) {
        vx += o->l * p->v[i] * o->c[i];
        vy += o->l * p->v[i] * o->s[i];
        y -= o->l * o->c[i];
        square += vx * vx + vy * vy;
        height += y;
        px += vx;
        py += vy;
    }
    out->kinetic = 0.5 * o->m * square;
    out->potential = o->m * o->gravity * height;
    out->power = -o->m * (p->u_tt[0] * px + p->u_tt[1] * py);
    return 0;
}

/* Of the support that accelerates; rod i carries n - i points. */
static int power(void *self, const bg_point *p, double *out)
{
    pendulum_chain *o = self;
    double px = 0.0, py = 0.0;
    *out = 0.0;
    if (p->u_tt[0] == 0.0 && p->u_tt[1] == 0.0)
        return 0;
    update_angles(o, p->q);
    for (int i = 0; i < o->n; i++) {
        px += (o->n - i) * p->v[i] * o->c[i];
        py += (o->n - i) * p->v[i] * o->s[i];
    }
    *out = -o->m * o->l * (p->u_tt[0] * px + p->u_tt[1] * py);
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    pendulum_chain *o = self;
    (void)a;
    (void)lambda;
    update_angles(o, p->q);
    y[0] = p->u[0];
    y[1] = p->u[1];
    for (int i = 0; i < o->n; i++) {
        y[0] += o->l * o->s[i];
        y[1] -= o->l * o->c[i];
    }
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"N", 16.0, "", "number of rods and of moving masses, a whole number"},
    {"mass", 1.0, "kg", "of each point"},
    {"length", 1.0, "m", "of each rod"},
    {"gravity", 9.81, "m/s^2", "downwards, along -y"},
    {"frequency", 0.05, "Hz", "of the suspension point; angular frequency is 2 pi times it"},
    {"amplitude_x", 0.3, "m", "of the suspension point"},
    {"amplitude_y", 0.2, "m", "of the suspension point"},
};

const bg_equations bg_equations_chain = {
    .abi = BG_ABI,
    .name = "chain",
    .summary = "N pendulums in a row under a moving suspension point, no constraints",
    .parameters = parameters,
    .nparameters = 7,
    .define = define,
};

static void destroy(void *self)
{
    pendulum_chain *o = self;
    if (!o)
        return;
    free(o->s);
    free(o->places);
    free(o->names);
    free(o->labels);
    free(o);
}

/* Six arrays of scratch memory in one; false: out of memory. */
static bool allocate(pendulum_chain *o)
{
    const size_t size = (size_t)o->n;
    o->s = calloc(6 * size, sizeof *o->s);
    if (!o->s)
        return false;
    o->c = o->s + size;
    o->inverse = o->c + size;
    o->T = o->inverse + size;
    o->Sx = o->T + size;
    o->Sy = o->Sx + size;
    return true;
}

static void *fork_scratch(const void *self)
{
    pendulum_chain *o = malloc(sizeof *o);
    if (!o)
        return NULL;
    *o = *(const pendulum_chain *)self;
    if (allocate(o))
        return o;
    free(o);
    return NULL;
}

static void join_scratch(void *fork)
{
    pendulum_chain *o = fork;
    free(o->s);
    free(o);
}

/* Patterns of the expansion, in the order in which `expand` writes. False: out of memory. */
static bool make_patterns(pendulum_chain *o)
{
    const int n = o->n, rows = 5 * n;
    bg_expansion *e = &o->expansion;
    o->places = malloc((size_t)(4 * (rows + 1) + 19 * n) * sizeof *o->places);
    if (!o->places)
        return false;
    int *start[4], *column[4] = {o->places + 4 * (rows + 1)};
    for (int b = 0; b < 4; b++)
        start[b] = o->places + b * (rows + 1);
    column[1] = column[0] + 12 * n;
    column[2] = column[1] + 3 * n;
    column[3] = column[2] + 2 * n;
    int nx = 0, nq = 0, nv = 0;
    for (int row = 0; row < rows; row++) {
        const int i = row < 4 * n ? row / 4 : row - 4 * n, part = row < 4 * n ? row % 4 : 4;
        start[0][row] = nx, start[1][row] = nq, start[2][row] = start[3][row] = nv;
        if (part < 2 && i > 0)
            column[0][nx++] = row - 4;
        if (part == 2 || part == 3)
            column[0][nx++] = row - 2;
        if (part < 4)
            column[0][nx++] = row;
        if ((part == 2 || part == 3) && i < n - 1)
            column[0][nx++] = row + 4;
        for (int k = 2; part == 4 && k < 4; k++)
            column[0][nx++] = 4 * i + k;
        if (part < 2)
            column[2][nv] = column[3][nv] = i, nv++;
        if (part < 2 || part == 4)
            column[1][nq++] = i;
    }
    start[0][rows] = nx, start[1][rows] = nq, start[2][rows] = start[3][rows] = nv;
    e->nx = 4 * n;
    e->x = (bg_pattern){rows, 4 * n, start[0], column[0]};
    e->q = (bg_pattern){rows, n, start[1], column[1]};
    e->v = (bg_pattern){rows, n, start[2], column[2]};
    e->a = (bg_pattern){rows, n, start[3], column[3]};
    return true;
}

static const bg_expansion *lay_out(void *self)
{
    return &((pendulum_chain *)self)->expansion;
}

static pendulum_chain *create(int n)
{
    const size_t size = (size_t)n;
    pendulum_chain *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->n = n;
    o->names = calloc(2 * size, sizeof *o->names);
    o->labels = calloc(2 * size, sizeof *o->labels);
    if (!allocate(o) || !make_patterns(o) || !o->names || !o->labels) {
        destroy(o);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        snprintf(o->labels[i], sizeof o->labels[i], "alpha_%d", i + 1);
        snprintf(o->labels[n + i], sizeof o->labels[n + i], "alpha_%d_dot", i + 1);
        o->names[i] = o->labels[i];
        o->names[n + i] = o->labels[n + i];
    }
    return o;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const u_names[] = {"x_susp", "y_susp"}, *const y_names[] = {"tip_x",
                                                                                   "tip_y"};

    const bg_equations *family = &bg_equations_chain;
    const bg_status status = bg_parameters_check(family, values, "r++rrrr", err);
    if (status)
        return status;
    if (values[0] < 1.0 || values[0] > N_MAX || values[0] != floor(values[0]))
        return bg_error_set(err, BG_BAD_INPUT,
                            "parameter N of chain is %g; it must be a whole number from 1 to %d",
                            values[0], N_MAX);
    pendulum_chain *o = create((int)values[0]);
    if (!o)
        return bg_equations_no_memory(family, err);
    o->m = values[1];
    o->l = values[2];
    o->gravity = values[3];
    o->omega = 4.0 * acos(0.0) * values[4];
    o->x_nominal = 2.0;
    o->x_amplitude = values[5];
    o->y_amplitude = values[6];

    def->nq = def->nv = o->n;
    def->nu = def->ny = 2;
    def->self = o;
    def->destroy = destroy;
    def->fork = fork_scratch;
    def->join = join_scratch;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->accelerate = accelerate;
    def->residual = residual;
    def->derivatives = derivatives;
    def->derivative_supplied[BG_OF_r][BG_BY_q] = def->derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def->derivative_supplied[BG_OF_r][BG_BY_u] = 1; /* zero: only u'' enters */
    def->lay_out = lay_out;
    def->expand = expand;
    def->inputs = inputs;
    def->energy = energy;
    def->power = power;
    def->outputs = outputs;
    def->q_names = o->names;
    def->v_names = o->names + o->n;
    def->u_names = u_names;
    def->y_names = y_names;
    def->t_end = 200.0;
    return BG_OK;
}
