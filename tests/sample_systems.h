/* Small systems for the tests of everything that works on a bg_system, with all terms known
 * analytically: a top with quaternions, linkages of points and bars, a pendulum whose pivot may
 * move, and two wrappers that change any system's constraints or plant an error in it. */
#ifndef SAMPLE_SYSTEMS_H
#define SAMPLE_SYSTEMS_H

#include "system/system.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evaluator_support.h"

static inline double *sample_array(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Uniform in [-1, 1]. */
static inline double sample_draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return 2.0 * ((double)(*seed >> 11) / 9007199254740992.0) - 1.0;
}

static inline bg_system *sample_create(const bg_system_def *def)
{
    bg_system *sys;
    bg_error err = {BG_OK, ""};
    if (bg_system_create(def, &sys, &err) != BG_OK)
        fail_msg("%s", err.text);
    return sys;
}

static inline bg_terms sample_terms_create(const bg_system *sys)
{
    const bg_system_def *d = &sys->def;
    return (bg_terms){sample_array(bg_system_get_size_M(sys)),
                      sample_array(d->nv),
                      sample_array(d->ng),
                      sample_array(d->ng),
                      sample_array(bg_system_get_size_G(sys)),
                      sample_array(d->ng),
                      sample_array(d->nq * d->nv),
                      sample_array(d->nz),
                      sample_array(d->ns)};
}

static inline void sample_terms_destroy(bg_terms *x)
{
    double *const arrays[] = {x->M, x->f, x->g, x->gt, x->G, x->gamma, x->V, x->h, x->s};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

/* Terms of a system at a state, all that it has. */
static inline bg_terms sample_evaluate(const bg_system *sys, const bg_state *x)
{
    bg_terms out = sample_terms_create(sys);
    bg_evaluator *ev = new_evaluator(sys);
    bg_point p;
    bg_error err;
    unsigned want = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma |
                    BG_TERM_V | BG_TERM_h;
    assert_int_equal(bg_system_set_point(ev, x->t, x->q, x->v, x->z, x->mode, &p, &err), BG_OK);
    assert_int_equal(bg_system_calc_terms(ev, &p, want, &out, &err), BG_OK);
    bg_evaluator_destroy(ev);
    return out;
}

static inline double sample_distance(const double *x, const double *y, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fabs(x[i] - y[i]) > largest || isnan(x[i] - y[i]) ? fabs(x[i] - y[i]) : largest;
    return largest;
}

static inline double sample_size(const double *x, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

#define assert_near(x, y, tolerance) \
    sample_assert_near((x), (y), (tolerance), #x, __FILE__, __LINE__)

static inline void sample_assert_near(double x, double y, double tolerance, const char *what,
                                      const char *file, int line)
{
    if (fabs(x - y) <= tolerance)
        return;
    print_error("%s = %.17g is not %.17g within %g\n", what, x, y, tolerance);
    _fail(file, line);
}

/* The heavy top as a free body held at a point: q = (r, quaternion w x y z) with the centre r in
 * world axes, v = (r', angular velocity omega in body axes), the fixed point is the origin and c
 * leads from it to the centre in body axes: g = r - R c,   G = [I  R c^],   gamma = -R (omega x
 * (omega x c))      (x^ y = x x y) f = (0, 0, -m gravity, -omega x J omega). */
typedef struct top {
    double m, J[3], c[3], gravity;
    double q0[7], v0[6];
} top;

static inline void top_cross(const double *a, const double *b, double *x)
{
    x[0] = a[1] * b[2] - a[2] * b[1];
    x[1] = a[2] * b[0] - a[0] * b[2];
    x[2] = a[0] * b[1] - a[1] * b[0];
}

/* R of a unit quaternion p. */
static inline void top_rotation(const double *p, double R[3][3])
{
    double w = p[0], x = p[1], y = p[2], z = p[3];
    double values[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(R, values, sizeof values);
}

static inline void top_rotate(double R[3][3], const double *a, double *x)
{
    for (int i = 0; i < 3; i++)
        x[i] = R[i][0] * a[0] + R[i][1] * a[1] + R[i][2] * a[2];
}

/* block (3 x 3 in a row-major matrix of 6 columns) <- factor A x^; A = NULL is the unit matrix. */
static inline void top_skew(double (*A)[3], const double *x, double factor, double *block)
{
    double skew[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = A ? 0 : skew[i][j];
            for (int k = 0; A && k < 3; k++)
                sum += A[i][k] * skew[k][j];
            block[6 * i + j] = factor * sum;
        }
}

static inline void top_write_V(const double *p, double *V)
{
    double w = 0.5 * p[0], x = 0.5 * p[1], y = 0.5 * p[2], z = 0.5 * p[3];
    double rates[4][3] = {{-x, -y, -z}, {w, -z, y}, {z, w, -x}, {-y, x, w}};
    V[0] = V[7] = V[14] = 1;
    for (int i = 0; i < 4; i++)
        memcpy(V + 6 * (3 + i) + 3, rates[i], sizeof rates[i]);
}

static inline int top_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const top *s = self;
    const double *omega = p->v + 3;
    double R[3][3], x[3], y[3];
    top_rotation(p->q + 3, R);
    if (want & BG_TERM_M)
        for (int i = 0; i < 3; i++) {
            out->M[7 * i] = s->m;
            out->M[7 * (3 + i)] = s->J[i];
        }
    if (want & BG_TERM_f) {
        for (int i = 0; i < 3; i++)
            x[i] = s->J[i] * omega[i];
        top_cross(x, omega, out->f + 3);
        out->f[2] = -s->m * s->gravity;
    }
    if (want & BG_TERM_g) {
        top_rotate(R, s->c, x);
        for (int i = 0; i < 3; i++)
            out->g[i] = p->q[i] - x[i];
    }
    if (want & BG_TERM_G) {
        out->G[0] = out->G[7] = out->G[14] = 1;
        top_skew(R, s->c, 1, out->G + 3);
    }
    if (want & BG_TERM_gamma) {
        top_cross(omega, s->c, x);
        top_cross(omega, x, y);
        top_rotate(R, y, out->gamma);
        for (int i = 0; i < 3; i++)
            out->gamma[i] = -out->gamma[i];
    }
    if (want & BG_TERM_V)
        top_write_V(p->q + 3, out->V);
    return 0;
}

/* With a body-fixed rotation d: dR = R d^. Blocks that are zero need not be written.
 *   dr/dq = -c^ (R^T lambda)^,  dr/domega = omega^ J - (J omega)^,  dw/dq = -R (c x omega)^,
 *   dgamma/dq = R (omega x (omega x c))^,  dgamma/domega = R ((omega x c)^ + omega^ c^). */
static inline int top_derivatives(void *self, const bg_point *p, const double *a,
                                  const double *lambda, bg_derivatives *out)
{
    const top *s = self;
    const double *omega = p->v + 3, unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double R[3][3], C[3][6] = {{0}}, A[3][3], x[3], y[3], force[3] = {0};
    double *r_q = out->block[BG_OF_r][BG_BY_q], *r_v = out->block[BG_OF_r][BG_BY_v];
    double *w_q = out->block[BG_OF_w][BG_BY_q], *gamma_q = out->block[BG_OF_gamma][BG_BY_q];
    double *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    (void)a;
    top_rotation(p->q + 3, R);
    top_cross(omega, s->c, x);
    top_cross(omega, x, y);
    if (r_q) {
        top_skew(NULL, s->c, -1, C[0]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                A[i][j] = C[i][j];
                force[i] += R[j][i] * lambda[j];
            }
        top_skew(A, force, 1, r_q + 6 * 3 + 3);
    }
    for (int i = 0; r_v && i < 3; i++) {
        double column[3] = {0}, momentum[3];
        for (int j = 0; j < 3; j++) {
            column[j] = unit[i][j] * s->J[i];
            momentum[j] = s->J[j] * omega[j];
        }
        double first[3], second[3];
        top_cross(omega, column, first);
        top_cross(momentum, unit[i], second);
        for (int j = 0; j < 3; j++)
            r_v[6 * (3 + j) + 3 + i] = first[j] - second[j];
    }
    if (w_q)
        top_skew(R, x, 1, w_q + 3);
    if (gamma_q)
        top_skew(R, y, 1, gamma_q + 3);
    for (int i = 0; gamma_v && i < 3; i++) {
        double first[3], second[3], column[3];
        top_cross(x, unit[i], first);
        top_cross(s->c, unit[i], column);
        top_cross(omega, column, second);
        for (int j = 0; j < 3; j++)
            first[j] += second[j];
        top_rotate(R, first, column);
        for (int j = 0; j < 3; j++)
            gamma_v[6 * j + 3 + i] = column[j];
    }
    return 0;
}

static inline int top_normalise(void *self, double *q)
{
    (void)self;
    double length = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int i = 3; i < 7; i++)
        q[i] /= length;
    return 0;
}

static inline int top_energy(void *self, const bg_point *p, bg_energy *out)
{
    const top *s = self;
    *out = (bg_energy){0, s->m * s->gravity * p->q[2], 0};
    for (int i = 0; i < 3; i++)
        out->kinetic += 0.5 * (s->m * p->v[i] * p->v[i] + s->J[i] * p->v[3 + i] * p->v[3 + i]);
    return 0;
}

/* Tilted and spinning, consistent to rounding. */
static inline bg_system_def top_define(void)
{
    static const char *const g_names[] = {"pin_x", "pin_y", "pin_z"};
    static const char *const v_names[] = {"vx", "vy", "vz", "omega_1", "omega_2", "omega_3"};
    top *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (top){2.5, {0.3, 0.4, 0.15}, {0.1, -0.2, 0.7}, 9.81, {0}, {0}};
    const double p[4] = {0.8, 0.36, -0.2, 0.43588989435406744}, omega[3] = {0.7, -1.1, 8.0};
    double R[3][3], x[3];
    memcpy(s->q0 + 3, p, sizeof p);
    top_normalise(s, s->q0);
    top_rotation(s->q0 + 3, R);
    top_rotate(R, s->c, s->q0);
    memcpy(s->v0 + 3, omega, sizeof omega);
    top_cross(omega, s->c, x);
    top_rotate(R, x, s->v0);

    bg_system_def def = bg_default_system_def();
    def.name = "top";
    def.nq = 7;
    def.nv = 6;
    def.ng = 3;
    def.self = s;
    def.destroy = free;
    def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_V;
    def.terms = top_terms;
    def.derivatives = top_derivatives;
    def.derivative_supplied[BG_OF_r][BG_BY_q] = def.derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def.derivative_supplied[BG_OF_w][BG_BY_q] = 1;
    def.derivative_supplied[BG_OF_gamma][BG_BY_q] = def.derivative_supplied[BG_OF_gamma][BG_BY_v] =
        1;
    def.normalise = top_normalise;
    def.energy = top_energy;
    def.g_names = g_names;
    def.v_names = v_names;
    def.q0 = s->q0;
    def.v0 = s->v0;
    return def;
}

/* A bar from point a to point b < a, or to the anchor (x, y) where b < 0. */
typedef struct bar {
    int a, b;
    double length, x, y;
} bar;

/* Points in the plane, q = (x0, y0, x1, y1, ...), with bars: g = (|d|^2 - length^2) / 2, d = p_a -
 * p_b. Forces: weight, drag v^3 and a spring stiffness q^3 for each coordinate. */
typedef struct linkage {
    int points, bars;
    bar *bar;
    double gravity, drag, stiffness;
    bool sparse;
    double *q0;
    int *column_M, *start_M, *column_G, *start_G, *column_r, *start_r; /* of the patterns */
    bg_pattern pattern_M, pattern_G, pattern_r; /* dr/dv is diagonal as M is */
} linkage;

static inline double linkage_mass(int point)
{
    return 1 + 0.25 * (point % 3);
}

static inline void linkage_span(const bar *b, const double *q, bool velocities, double d[2])
{
    for (int c = 0; c < 2; c++) {
        double anchor = velocities ? 0 : c ? b->y : b->x;
        d[c] = q[2 * b->a + c] - (b->b < 0 ? anchor : q[2 * b->b + c]);
    }
}

static inline int linkage_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const linkage *s = self;
    int nv = 2 * s->points;
    for (int i = 0; i < nv; i++) {
        double m = linkage_mass(i / 2);
        if (want & BG_TERM_M)
            out->M[s->sparse ? i : i * (nv + 1)] = m;
        if (want & BG_TERM_f)
            out->f[i] = -(i % 2) * m * s->gravity - s->drag * pow(p->v[i], 3) -
                        s->stiffness * pow(p->q[i], 3);
    }
    for (int k = 0; k < s->bars; k++) {
        const bar *b = &s->bar[k];
        double d[2], d_t[2];
        linkage_span(b, p->q, false, d);
        linkage_span(b, p->v, true, d_t);
        if (want & BG_TERM_g)
            out->g[k] = 0.5 * (d[0] * d[0] + d[1] * d[1] - b->length * b->length);
        if (want & BG_TERM_gamma)
            out->gamma[k] = d_t[0] * d_t[0] + d_t[1] * d_t[1];
        for (int c = 0; want & BG_TERM_G && c < 2; c++) {
            int end = s->start_G[k + 1];
            out->G[s->sparse ? end - 2 + c : k * nv + 2 * b->a + c] = d[c];
            if (b->b >= 0)
                out->G[s->sparse ? end - 4 + c : k * nv + 2 * b->b + c] = -d[c];
        }
    }
    return 0;
}

static inline void linkage_destroy(void *self)
{
    linkage *s = self;
    void *const arrays[] = {s->bar,      s->q0,      s->column_M, s->start_M,
                            s->column_G, s->start_G, s->column_r, s->start_r};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(s);
}

static inline bool linkage_joined(const linkage *s, int i, int j)
{
    bool joined = i == j;
    for (int k = 0; k < s->bars; k++)
        joined = joined || (s->bar[k].a == i && s->bar[k].b == j) ||
                 (s->bar[k].a == j && s->bar[k].b == i);
    return joined;
}

static inline int *linkage_ints(int n)
{
    int *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline void linkage_make_patterns(linkage *s)
{
    int nv = 2 * s->points, n = 0;
    s->start_M = linkage_ints(nv);
    s->column_M = linkage_ints(nv);
    s->start_G = linkage_ints(s->bars);
    s->column_G = linkage_ints(4 * s->bars);
    s->start_r = linkage_ints(nv);
    s->column_r = linkage_ints(nv * s->points);
    for (int i = 0; i < nv; i++) {
        s->start_M[i + 1] = i + 1;
        s->column_M[i] = i;
        for (int j = 0; j < s->points; j++)
            if (linkage_joined(s, i / 2, j))
                s->column_r[n++] = 2 * j + i % 2;
        s->start_r[i + 1] = n;
    }
    n = 0;
    for (int k = 0; k < s->bars; k++) {
        assert(s->bar[k].b < s->bar[k].a);
        for (int c = 0; s->bar[k].b >= 0 && c < 2; c++)
            s->column_G[n++] = 2 * s->bar[k].b + c;
        for (int c = 0; c < 2; c++)
            s->column_G[n++] = 2 * s->bar[k].a + c;
        s->start_G[k + 1] = n;
    }
    s->pattern_M = (bg_pattern){nv, nv, s->start_M, s->column_M};
    s->pattern_G = (bg_pattern){s->bars, nv, s->start_G, s->column_G};
    s->pattern_r = (bg_pattern){nv, nv, s->start_r, s->column_r};
}

static inline bg_system_def linkage_define(int points, int bars, const bar *list, const double *q0,
                                           bool sparse)
{
    linkage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (linkage){.points = points, .bars = bars, .gravity = 9.81, .sparse = sparse};
    s->drag = 0.1;
    s->stiffness = 0.2;
    s->bar = calloc((size_t)bars, sizeof *s->bar);
    assert_non_null(s->bar);
    memcpy(s->bar, list, (size_t)bars * sizeof *list);
    s->q0 = sample_array(2 * points);
    memcpy(s->q0, q0, 2 * (size_t)points * sizeof *q0);
    linkage_make_patterns(s);

    bg_system_def def = bg_default_system_def();
    def.name = "linkage";
    def.nq = def.nv = 2 * points;
    def.ng = bars;
    def.self = s;
    def.destroy = linkage_destroy;
    def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def.terms = linkage_terms;
    def.q0 = s->q0;
    if (sparse) {
        def.pattern_M = &s->pattern_M;
        def.pattern_G = &s->pattern_G;
        def.pattern[BG_OF_r][BG_BY_q] = &s->pattern_r;
        def.pattern[BG_OF_r][BG_BY_v] = &s->pattern_M;
        def.pattern[BG_OF_w][BG_BY_q] = def.pattern[BG_OF_w][BG_BY_v] = &s->pattern_G;
        def.pattern[BG_OF_gamma][BG_BY_v] = &s->pattern_G;
    }
    return def;
}

/* A hanging, slightly wound chain of n points and n bars of length 1 from the origin. */
static inline bg_system_def chain_define(int n, bool sparse)
{
    bar *bars = calloc((size_t)n, sizeof *bars);
    double *q0 = sample_array(2 * n), x = 0, y = 0;
    assert_non_null(bars);
    for (int k = 0; k < n; k++) {
        double angle = 0.4 * sin(1.0 + 0.3 * k);
        bars[k] = (bar){k, k - 1, 1, 0, 0};
        q0[2 * k] = x += sin(angle);
        q0[2 * k + 1] = y -= cos(angle);
    }
    bg_system_def def = linkage_define(n, n, bars, q0, sparse);
    def.name = "rope";
    free(bars);
    free(q0);
    return def;
}

/* A pendulum of length 1 and mass m on a pivot at x_p(t), y = 0, which stands still, moves as
 * 0.1 sin(3 t) by itself, or is the input u. g = ((x - x_p)^2 + y^2 - 1) / 2. */
typedef enum pivot { PIVOT_FIXED, PIVOT_IN_TIME, PIVOT_AS_INPUT } pivot;

typedef struct swing {
    double m, gravity;
    pivot pivot;
    double q0[2], v0[2];
} swing;

static inline int swing_inputs(void *self, double t, const int *mode, double *u, double *u_t,
                               double *u_tt)
{
    (void)mode;
    (void)self;
    u[0] = 0.1 * sin(3 * t);
    u_t[0] = 0.3 * cos(3 * t);
    u_tt[0] = -0.9 * sin(3 * t);
    return 0;
}

static inline int swing_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const swing *s = self;
    double x_p = 0, x_p_t = 0, x_p_tt = 0;
    if (s->pivot == PIVOT_IN_TIME)
        swing_inputs(self, p->t, p->mode, &x_p, &x_p_t, &x_p_tt);
    if (s->pivot == PIVOT_AS_INPUT) {
        x_p = p->u[0];
        x_p_t = p->u_t[0];
        x_p_tt = p->u_tt[0];
    }
    double x = p->q[0] - x_p, y = p->q[1], vx = p->v[0] - x_p_t, vy = p->v[1];
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = s->m;
    if (want & BG_TERM_f)
        out->f[1] = -s->m * s->gravity;
    if (want & BG_TERM_g)
        out->g[0] = 0.5 * (x * x + y * y - 1);
    if (want & BG_TERM_gt)
        out->gt[0] = -x * x_p_t;
    if (want & BG_TERM_G) {
        out->G[0] = x;
        out->G[1] = y;
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = vx * vx + vy * vy - x * x_p_tt;
    return 0;
}

static inline bg_system_def swing_define(pivot kind, unsigned without)
{
    static const char *const g_names[] = {"rod"}, *const q_names[] = {"x", "y"};
    swing *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (swing){1.5, 9.81, kind, {0.6, -0.8}, {0}};
    s->v0[0] = kind == PIVOT_FIXED ? 0 : 0.3; /* moves with the pivot at t = 0 */
    bg_system_def def = bg_default_system_def();
    def.name = "swing";
    def.nq = def.nv = 2;
    def.ng = 1;
    def.nu = kind == PIVOT_AS_INPUT;
    def.inputs = kind == PIVOT_AS_INPUT ? swing_inputs : NULL;
    def.scleronomic = kind == PIVOT_FIXED;
    def.self = s;
    def.destroy = free;
    def.supplied = (BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma) &
                   ~without;
    def.terms = swing_terms;
    def.g_names = g_names;
    def.q_names = q_names;
    def.q0 = s->q0;
    def.v0 = s->v0;
    return def;
}

/* A skater on a circle, q = (x, y, theta), with speeds along and across his own axes, v = (forward,
 * sideways, theta'): V turns with theta and is not the unit matrix although nq = nv.
 *   g = (x^2 + y^2 - 1) / 2,   gamma = x'^2 + y'^2 + theta' (y x' - x y')  at v' = 0. */
static inline int skater_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    double x = p->q[0], y = p->q[1], c = cos(p->q[2]), s = sin(p->q[2]);
    double x_t = c * p->v[0] - s * p->v[1], y_t = s * p->v[0] + c * p->v[1];
    if (want & BG_TERM_M)
        out->M[0] = out->M[4] = out->M[8] = 1.5;
    if (want & BG_TERM_f)
        out->f[0] = -0.1 * p->v[0];
    if (want & BG_TERM_g)
        out->g[0] = 0.5 * (x * x + y * y - 1);
    if (want & BG_TERM_G) {
        out->G[0] = x * c + y * s;
        out->G[1] = y * c - x * s;
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = x_t * x_t + y_t * y_t + p->v[2] * (y * x_t - x * y_t);
    if (want & BG_TERM_V) {
        out->V[0] = out->V[4] = c;
        out->V[1] = -s;
        out->V[3] = s;
        out->V[8] = 1;
    }
    return 0;
}

static inline bg_system_def skater_define(void)
{
    static const double q0[] = {0.28, -0.96, 0.7}, v0[] = {0.5, -0.4, 2};
    bg_system_def def = bg_default_system_def();
    def.name = "skater";
    def.nq = def.nv = 3;
    def.ng = 1;
    def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_V;
    def.terms = skater_terms;
    def.q0 = q0;
    def.v0 = v0;
    return def;
}

/* Another system's constraints combined: g' = C g + offset + rate t, so that rows can be repeated,
 * scaled, added up or made to disagree. The inner system is dense. */
enum { MIXED_MAX = 8 };

typedef struct mixed {
    bg_system_def inner;
    int rows; /* of C, each with inner.ng entries */
    double C[MIXED_MAX][MIXED_MAX], offset[MIXED_MAX], rate[MIXED_MAX];
    double g[MIXED_MAX], gt[MIXED_MAX], gamma[MIXED_MAX], G[MIXED_MAX * 2 * MIXED_MAX];
} mixed;

static inline int mixed_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    mixed *s = self;
    int ng = s->inner.ng, nv = s->inner.nv;
    bg_terms inner = *out;
    inner.g = s->g;
    inner.gt = s->gt;
    inner.G = s->G;
    inner.gamma = s->gamma;
    int code = s->inner.terms(s->inner.self, p, want & s->inner.supplied, &inner);
    for (int i = 0; i < s->rows; i++) {
        double g = s->offset[i] + s->rate[i] * p->t, gt = s->rate[i], gamma = 0;
        for (int k = 0; k < ng; k++) {
            g += s->C[i][k] * s->g[k];
            gt += s->C[i][k] * s->gt[k];
            gamma += s->C[i][k] * s->gamma[k];
        }
        if (want & BG_TERM_g)
            out->g[i] = g;
        if (want & BG_TERM_gt)
            out->gt[i] = gt;
        if (want & BG_TERM_gamma)
            out->gamma[i] = gamma;
        for (int j = 0; want & BG_TERM_G && j < nv; j++) {
            out->G[i * nv + j] = 0;
            for (int k = 0; k < ng; k++)
                out->G[i * nv + j] += s->C[i][k] * s->G[k * nv + j];
        }
    }
    return code;
}

static inline void mixed_destroy(void *self)
{
    mixed *s = self;
    s->inner.destroy(s->inner.self);
    free(s);
}

/* C is rows x inner.ng, row-major; offset and rate may be NULL. */
static inline bg_system_def mixed_define(const bg_system_def *inner, int rows, const double *C,
                                         const double *offset, const double *rate)
{
    static const char *const g_names[] = {"first", "second", "third",   "fourth",
                                          "fifth", "sixth",  "seventh", "eighth"};
    mixed *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert(rows <= MIXED_MAX && inner->ng <= MIXED_MAX && inner->nv <= 2 * MIXED_MAX);
    s->inner = *inner;
    s->rows = rows;
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < inner->ng; k++)
            s->C[i][k] = C[i * inner->ng + k];
        s->offset[i] = offset ? offset[i] : 0;
        s->rate[i] = rate ? rate[i] : 0;
    }
    bg_system_def def = *inner;
    def.name = "mixed";
    def.ng = rows;
    def.self = s;
    def.destroy = mixed_destroy;
    def.terms = mixed_terms;
    def.scleronomic = inner->scleronomic && !rate;
    def.supplied |= BG_TERM_gt;
    def.derivatives = NULL;
    memset(def.derivative_supplied, 0, sizeof def.derivative_supplied);
    def.g_names = g_names;
    return def;
}

/* Another system with one entry of one term or derivative block changed: multiplied by 1 +
 * relative, then increased by absolute. term 0: the block of by by. */
typedef struct spoiled {
    bg_system_def inner;
    unsigned term;
    bg_of of;
    bg_by by;
    int entry;
    double relative, absolute;
} spoiled;

static inline void spoil(const spoiled *s, double *x)
{
    x[s->entry] += s->relative * x[s->entry] + s->absolute;
}

static inline int spoiled_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    spoiled *s = self;
    int code = s->inner.terms(s->inner.self, p, want, out);
    const struct {
        unsigned term;
        double *values;
    } all[] = {{BG_TERM_M, out->M},   {BG_TERM_f, out->f}, {BG_TERM_g, out->g},
               {BG_TERM_gt, out->gt}, {BG_TERM_G, out->G}, {BG_TERM_gamma, out->gamma},
               {BG_TERM_V, out->V},   {BG_TERM_h, out->h}, {BG_TERM_s, out->s}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (s->term & want & all[i].term)
            spoil(s, all[i].values);
    return code;
}

static inline int spoiled_derivatives(void *self, const bg_point *p, const double *a,
                                      const double *lambda, bg_derivatives *out)
{
    spoiled *s = self;
    int code = s->inner.derivatives(s->inner.self, p, a, lambda, out);
    if (!s->term && out->block[s->of][s->by])
        spoil(s, out->block[s->of][s->by]);
    return code;
}

static inline int spoiled_residual(void *self, const bg_point *p, const double *a,
                                   const double *lambda, double *r)
{
    spoiled *s = self;
    return s->inner.residual(s->inner.self, p, a, lambda, r);
}

static inline int spoiled_inputs(void *self, double t, const int *mode, double *u, double *u_t,
                                 double *u_tt)
{
    spoiled *s = self;
    return s->inner.inputs(s->inner.self, t, mode, u, u_t, u_tt);
}

static inline int spoiled_normalise(void *self, double *q)
{
    spoiled *s = self;
    return s->inner.normalise(s->inner.self, q);
}

static inline void spoiled_destroy(void *self)
{
    spoiled *s = self;
    if (s->inner.destroy)
        s->inner.destroy(s->inner.self);
    free(s);
}

static inline bg_system_def spoiled_define(const spoiled *what)
{
    spoiled *s = malloc(sizeof *s);
    assert_non_null(s);
    *s = *what;
    bg_system_def def = s->inner;
    def.self = s;
    def.destroy = spoiled_destroy;
    def.terms = spoiled_terms;
    def.derivatives = def.derivatives ? spoiled_derivatives : NULL;
    def.residual = def.residual ? spoiled_residual : NULL;
    def.inputs = def.inputs ? spoiled_inputs : NULL;
    def.normalise = def.normalise ? spoiled_normalise : NULL;
    def.accelerate = NULL;
    def.energy = NULL;
    def.outputs = NULL;
    def.ny = 0;
    def.event = NULL;
    return def;
}

/* A built-in system by name with its default parameters, the first one replaced unless it is NAN.
 */
static inline bg_system_def builtin_define(const char *name, double first)
{
    bg_system_def def = bg_default_system_def();
    bg_error err;
    double values[16];
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++)
        if (strcmp((*all)->name, name) == 0) {
            assert_true((*all)->nparameters <= 16);
            for (int i = 0; i < (*all)->nparameters; i++)
                values[i] = (*all)->parameters[i].value;
            if (!isnan(first))
                values[0] = first;
            def.name = (*all)->name;
            assert_int_equal((*all)->define(values, &def, &err), BG_OK);
            return def;
        }
    fail_msg("there is no system %s", name);
    return def;
}

#endif
