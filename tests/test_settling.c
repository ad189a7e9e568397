/* Forces that depend on constraint forces: multipliers that settle, on systems that can be solved
 * otherwise, with every method; and sentences where there is no motion to be found. */
#include "integrators/integrator.h"
#include "run_support.h"
#include "sample_systems.h"
#include "system/dynamics.h"

/* A linear problem of random numbers, M a = f0 + mu K |lambda| - G^T lambda, G a + gamma = 0, with
 * |x| rounded off below 0.1; rows of different units. */
enum { NV = 7, NG = 3, NZ = 1 };

typedef struct coupled {
    double M[NV * NV], G[NG * NV], f0[NV], gamma[NG], K[NV * NG], mu, zeros[NV];
} coupled;

static double soft(double x)
{
    return sqrt(x * x + 0.01);
}

static int coupled_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const coupled *s = self;
    if (want & BG_TERM_M)
        memcpy(out->M, s->M, sizeof s->M);
    for (int i = 0; want & BG_TERM_f && i < NV; i++) {
        out->f[i] = s->f0[i];
        for (int k = 0; k < NG; k++)
            out->f[i] += s->mu * s->K[NG * i + k] * soft(p->lambda[k]);
    }
    for (int k = 0; want & BG_TERM_g && k < NG; k++) {
        out->g[k] = 0;
        for (int i = 0; i < NV; i++)
            out->g[k] += s->G[NV * k + i] * p->q[i];
    }
    if (want & BG_TERM_G)
        memcpy(out->G, s->G, sizeof s->G);
    if (want & BG_TERM_gamma)
        memcpy(out->gamma, s->gamma, sizeof s->gamma);
    if (want & BG_TERM_h)
        out->h[0] = 2 * p->lambda[0] + p->lambda[NG - 1];
    return 0;
}

static bg_system_def coupled_define(uint64_t *seed, double mu)
{
    coupled *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->mu = mu;
    double A[NV * NV];
    for (int i = 0; i < NV * NV; i++)
        A[i] = sample_draw(seed);
    for (int i = 0; i < NV; i++) {
        for (int j = 0; j < NV; j++)
            for (int k = 0; k < NV; k++)
                s->M[NV * i + j] += A[NV * i + k] * A[NV * j + k];
        s->M[NV * i + i] += 1;
        s->f0[i] = 5 * sample_draw(seed);
    }
    for (int k = 0; k < NG; k++) {
        double unit = pow(10, 2 * sample_draw(seed));
        for (int i = 0; i < NV; i++) {
            s->G[NV * k + i] = unit * sample_draw(seed);
            s->K[NG * i + k] = unit * sample_draw(seed);
        }
        s->gamma[k] = unit * sample_draw(seed);
    }
    bg_system_def def = bg_default_system_def();
    def.name = "coupled";
    def.nq = def.nv = NV;
    def.ng = NG;
    def.nz = NZ;
    def.self = s;
    def.destroy = free;
    def.scleronomic = def.f_of_lambda = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_h;
    def.terms = coupled_terms;
    return def;
}

/* Solves A x = b of size n in place; returns the determinant. */
static double eliminate(int n, double *A, double *b)
{
    double det = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = fabs(A[n * i + k]) > fabs(A[n * best + k]) ? i : best;
        for (int j = 0; j <= n; j++) {
            double *x = j < n ? &A[n * k + j] : &b[k], *y = j < n ? &A[n * best + j] : &b[best];
            double swap = *x;
            *x = *y;
            *y = swap;
        }
        det *= best == k ? A[n * k + k] : -A[n * k + k];
        for (int i = k + 1; i < n; i++) {
            double factor = A[n * i + k] / A[n * k + k];
            for (int j = k; j < n; j++)
                A[n * i + j] -= factor * A[n * k + j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= A[n * i + j] * b[j];
        b[i] /= A[n * i + i];
    }
    return det;
}

/* The coupled equations by Newton's method from x = (a, lambda), with mu raised from 0 in 200
 * steps: the solution that friction leads to. False: lost on the way, or the determinant changed
 * sign. */
static bool continue_coupled(const coupled *s, double *x)
{
    enum { N = NV + NG };
    double sign = 0;
    memset(x, 0, N * sizeof *x);
    for (int m = 0; m <= 200; m++) {
        double mu = s->mu * m / 200, last = HUGE_VAL;
        for (int n = 0; n < 30; n++) {
            double A[N * N] = {0}, b[N], det, size = 0, scale = 1;
            for (int i = 0; i < NV; i++) {
                b[i] = s->f0[i];
                for (int j = 0; j < NV; j++) {
                    A[N * i + j] = s->M[NV * i + j];
                    b[i] -= s->M[NV * i + j] * x[j];
                }
                for (int k = 0; k < NG; k++) {
                    double l = x[NV + k], K = mu * s->K[NG * i + k];
                    A[N * i + NV + k] = s->G[NV * k + i] - K * l / soft(l);
                    A[N * (NV + k) + i] = s->G[NV * k + i];
                    b[i] += K * soft(l) - s->G[NV * k + i] * l;
                }
            }
            for (int k = 0; k < NG; k++) {
                b[NV + k] = -s->gamma[k];
                for (int i = 0; i < NV; i++)
                    b[NV + k] -= s->G[NV * k + i] * x[i];
            }
            det = eliminate(N, A, b);
            sign = sign == 0 ? copysign(1, det) : sign;
            if (!(det * sign > 0))
                return false;
            for (int i = 0; i < N; i++) {
                x[i] += b[i];
                size = fmax(size, fabs(b[i]));
                scale = fmax(scale, fabs(x[i]));
            }
            last = size / scale;
            if (last < 1e-15)
                break;
        }
        if (!(last < 1e-12))
            return false;
    }
    return true;
}

/* How far a and lambda miss the equations, beside the forces in them. */
static double calc_miss(const coupled *s, const double *a, const double *lambda)
{
    double miss = 0;
    for (int i = 0; i < NV; i++) {
        double sum = -s->f0[i], scale = fabs(s->f0[i]);
        for (int j = 0; j < NV; j++) {
            sum += s->M[NV * i + j] * a[j];
            scale += fabs(s->M[NV * i + j] * a[j]);
        }
        for (int k = 0; k < NG; k++) {
            double friction = s->mu * s->K[NG * i + k] * soft(lambda[k]);
            sum += s->G[NV * k + i] * lambda[k] - friction;
            scale += fabs(s->G[NV * k + i] * lambda[k]) + fabs(friction);
        }
        miss = fmax(miss, fabs(sum) / scale);
    }
    return miss;
}

typedef struct outcomes {
    int same, other, refused, lost;
} outcomes;

static void solve_coupled(uint64_t *seed, double mu, outcomes *n)
{
    bg_error err = {BG_OK, ""};
    bg_system_def def = coupled_define(seed, mu);
    coupled *s = def.self;
    bg_system *sys = sample_create(&def);
    bg_evaluator *ev = new_evaluator(sys);
    bg_dynamics *d;
    double a[NV], lambda[NG], z = 0, x[NV + NG];
    assert_ok(bg_dynamics_create(ev, &d, &err));
    bg_status st = bg_dynamics_accelerate(d, 0.25, s->zeros, s->zeros, &z, NULL, 0, a, lambda,
                                          &err);
    bool found = continue_coupled(s, x);
    if (st == BG_OK) {
        bg_point p;
        double r[NV];
        assert_true(calc_miss(s, a, lambda) < 1e-12);
        assert_near(d->terms.h[0], 2 * lambda[0] + lambda[NG - 1], 1e-14 * sample_size(lambda, NG));
        assert_ok(bg_system_set_point(ev, 0.25, s->zeros, s->zeros, &z, NULL, &p, &err));
        assert_ok(bg_system_calc_residual(ev, &p, a, lambda, r, &err));
        assert_true(sample_size(r, NV) < 1e-11 * (1 + sample_size(a, NV)));
        bool same = found && sample_distance(a, x, NV) < 1e-9 * (1 + sample_size(x, NV));
        n->same += same;
        n->other += !same;
    } else {
        assert_int_equal(st, BG_NOT_CONVERGED);
        assert_non_null(strstr(err.text, "system 'coupled'"));
        assert_non_null(strstr(err.text, "t = 0.25"));
        assert_non_null(strstr(err.text, "'g["));
        n->refused += !found;
        n->lost += found;
    }
    bg_dynamics_destroy(d);
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

static void test_random_systems(void **state)
{
    (void)state;
    static const double mu[] = {0.03, 0.3, 1, 3};
    uint64_t seed = 5;
    for (int k = 0; k < 4; k++) {
        outcomes n = {0};
        for (int i = 0; i < 300; i++)
            solve_coupled(&seed, mu[k], &n);
        print_message("mu %-5g the solution that friction leads to %3d, another one %3d, none %3d, "
                      "not found %3d\n",
                      mu[k], n.same, n.other, n.refused, n.lost);
        if (k == 0)
            assert_int_equal(n.same, 300);
        assert_true(n.lost == 0 && n.other <= 3);
        assert_true(k < 3 || n.refused > 100);
    }
}

/* A rod of mass m and half length l at the angle theta whose lower end slides on the ground, q =
 * (x, y, theta) of its centre: g = l sin(theta) - y. The ground pushes up with lambda, friction
 * acts against the end's speed. lambda = (m gravity - m l sin(theta) theta'^2) / (c - mu s sgn), c
 * = 1 + 3 cos^2, s = 3 sin cos: Painleve's rod, which has no such motion where mu s >= c. */
typedef struct rod {
    double m, l, gravity, mu, width; /* width: speed over which friction turns round */
    double q0[3], v0[3];
} rod;

static int rod_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const rod *s = self;
    double c = cos(p->q[2]), n = sin(p->q[2]), omega = p->v[2];
    if (want & BG_TERM_M) {
        out->M[0] = out->M[4] = s->m;
        out->M[8] = s->m * s->l * s->l / 3;
    }
    if (want & BG_TERM_f) {
        double slip = p->v[0] + s->l * n * omega;
        double friction = -s->mu * fabs(p->lambda[0]) * tanh(slip / s->width);
        out->f[0] = friction;
        out->f[1] = -s->m * s->gravity;
        out->f[2] = s->l * n * friction;
    }
    if (want & BG_TERM_g)
        out->g[0] = s->l * n - p->q[1];
    if (want & BG_TERM_G) {
        out->G[1] = -1;
        out->G[2] = s->l * c;
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = -s->l * n * omega * omega;
    return 0;
}

static int rod_energy(void *self, const bg_point *p, bg_energy *out)
{
    const rod *s = self;
    const double *v = p->v;
    double slip = v[0] + s->l * sin(p->q[2]) * v[2];
    out->kinetic = 0.5 * s->m * (v[0] * v[0] + v[1] * v[1] + s->l * s->l / 3 * v[2] * v[2]);
    out->potential = s->m * s->gravity * p->q[1];
    out->power = -s->mu * fabs(p->lambda[0]) * tanh(slip / s->width) * slip;
    return 0;
}

static bg_system_def rod_define(double mu, double theta, double speed, double omega)
{
    static const char *const g_names[] = {"ground"};
    rod *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (rod){1.3, 0.7, 9.81, mu, 1e-3, {0}, {0}};
    s->q0[1] = s->l * sin(theta);
    s->q0[2] = theta;
    s->v0[2] = omega;
    s->v0[1] = s->l * cos(theta) * omega;
    s->v0[0] = speed - s->l * sin(theta) * omega;
    bg_system_def def = bg_default_system_def();
    def.name = "rod";
    def.nq = def.nv = 3;
    def.ng = 1;
    def.self = s;
    def.destroy = free;
    def.scleronomic = def.f_of_lambda = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def.terms = rod_terms;
    def.energy = rod_energy;
    def.q0 = s->q0;
    def.v0 = s->v0;
    def.g_names = g_names;
    def.t_end = 0.5;
    return def;
}

/* Consistent starts: friction that takes load off the end (b < 0, of any size), that adds to it,
 * and so much that no load would do. */
static void test_rod(void **state)
{
    (void)state;
    int settled = 0, refused = 0;
    for (double theta = 0.3; theta < 1.5; theta += 0.2)
        for (double mu = 0; mu < 6; mu += 0.37)
            for (int sign = -1; sign <= 1; sign += 2) {
                bg_error err = {BG_OK, ""};
                bg_system_def def = rod_define(mu, theta, sign * 2.0, 0.5);
                const rod *s = def.self;
                bg_system *sys = sample_create(&def);
                bg_state *x;
                bg_assembly_report report = {0};
                double c = 1 + 3 * cos(theta) * cos(theta), n = 3 * sin(theta) * cos(theta);
                double free_ = s->m * (s->gravity - s->l * sin(theta) * 0.25),
                       rest = c + sign * mu * n;
                assert_ok(bg_state_create(sys, &x, &err));
                bg_status st = bg_state_assemble(sys, x, &report, &err);
                if (rest > 0) {
                    if (st != BG_OK)
                        fail_msg("mu %g, theta %g, sign %d: %s", mu, theta, sign, err.text);
                    assert_near(x->lambda[0] / (free_ / rest), 1, 1e-12 * (1 + mu));
                    settled++;
                } else {
                    assert_int_equal(st, BG_NOT_CONVERGED);
                    assert_non_null(strstr(err.text, "'ground'"));
                    assert_non_null(strstr(err.text, "t = 0"));
                    refused++;
                }
                bg_assembly_report_clear(&report);
                bg_state_destroy(x);
                bg_system_destroy(sys);
            }
    assert_true(settled > 150 && refused > 20);
}

/* The same with a row that is there twice: the second one is left out, with weak friction and with
 * so strong that Newton's method is needed. */
static void test_redundant_rows(void **state)
{
    (void)state;
    static const double C[2] = {1, 1}, mu[3] = {0.1, 1, 5};
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        bg_system_def inner = rod_define(mu[k], 1.0, 2.0, 0.5);
        const rod *s = inner.self;
        bg_system_def def = mixed_define(&inner, 2, C, NULL, NULL);
        def.energy = NULL;
        bg_system *sys = sample_create(&def);
        bg_state *x;
        bg_assembly_report report = {0};
        double c = 1 + 3 * cos(1.0) * cos(1.0), n = 3 * sin(1.0) * cos(1.0);
        double expected = s->m * (s->gravity - s->l * sin(1.0) * 0.25) / (c + mu[k] * n);
        assert_ok(bg_state_create(sys, &x, &err));
        assert_ok(bg_state_assemble(sys, x, &report, &err));
        assert_int_equal(report.redundancy.count, 1);
        assert_near(x->lambda[0], expected, 1e-11);
        assert_true(x->lambda[1] == 0);
        bg_assembly_report_clear(&report);
        bg_state_destroy(x);
        bg_system_destroy(sys);
    }
}

/* Rates of (x, theta, x', theta') with the closed form of lambda, for an end that slides forwards.
 */
static void reduced_rates(const rod *s, const double *y, double *rate)
{
    double c = cos(y[1]), n = sin(y[1]), omega = y[3];
    double lambda = s->m * (s->gravity - s->l * n * omega * omega) /
                    (1 + 3 * c * c + 3 * s->mu * n * c);
    rate[0] = y[2];
    rate[1] = omega;
    rate[2] = -s->mu * lambda / s->m;
    rate[3] = -3 * lambda * (s->mu * n + c) / (s->m * s->l);
}

/* (x, theta, x', theta') at t by the classical Runge-Kutta method with 4000 steps. */
static void reduced_solve(const rod *s, double t, double *y)
{
    const double h = t / 4000, c[4] = {0, 0.5, 0.5, 1};
    y[0] = 0;
    y[1] = s->q0[2];
    y[2] = s->v0[0];
    y[3] = s->v0[2];
    for (int n = 0; n < 4000; n++) {
        double k[4][4] = {{0}}, at[4];
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++)
                at[j] = y[j] + (i > 0 ? c[i] * h * k[i - 1][j] : 0);
            reduced_rates(s, at, k[i]);
        }
        for (int j = 0; j < 4; j++)
            y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

static double calc_error(const bg_state *x, const double *y)
{
    return fmax(fmax(fabs(x->q[0] - y[0]), fabs(x->q[2] - y[1])),
                fmax(fabs(x->v[0] - y[2]), fabs(x->v[2] - y[3])));
}

static bg_system *create_rod(double mu, double theta, double speed, const rod **data)
{
    bg_system_def def = rod_define(mu, theta, speed, 0.5);
    *data = def.self;
    return sample_create(&def);
}

/* Every method keeps its order on the sliding rod, whose load is 2.4 times what it were without
 * friction; bounded methods, too, which solve twice in every step. */
static void test_orders(void **state)
{
    (void)state;
    static const double t_end = 0.25;
    for (int k = 0; get_method(k); k++) {
        const bg_integrator_info *info = get_method(k);
        double h[4], error[4], y[4];
        const rod *s;
        bg_system *sys = create_rod(0.6, 1.0, 3.0, &s);
        reduced_solve(s, t_end, y);
        const int known = info->fixed_order > 0 ? info->fixed_order : info->order;
        /* the first fixed steps of these are made of parts: fewer than 32 measure those */
        bool steps_back = strcmp(info->name, "bdf") == 0 || strcmp(info->name, "adams") == 0;
        int first = steps_back ? 32 : known >= 8 ? 3 : known >= 4 ? 8 : 64;
        for (int i = 0; i < 4; i++) {
            trajectory x;
            h[i] = t_end / (first << i);
            trajectory_begin(&x, sys, info->name, NULL, 1e-6, h[i], t_end);
            error[i] = calc_error(trajectory_run(&x, t_end), y);
            trajectory_end(&x);
        }
        double order = fit_order(known >= 8 ? 2 : 4, h, error);
        print_message("%-14s order %.2f, errors %.1e .. %.1e\n", info->name, order, error[0],
                      error[3]);
        assert_true(order > known - 0.35);
        bg_system_destroy(sys);
    }
}

/* Energy and work of friction balance, between steps as well, and dense output has a and lambda of
 * its point. */
static void test_dense_output(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "mdop8", "hem4", "hem5"};
    for (int k = 0; k < 4; k++) {
        bg_error err = {BG_OK, ""};
        const rod *s;
        bg_system *sys = create_rod(0.6, 1.0, 3.0, &s);
        bg_state *at;
        bg_energy e[2] = {{0, 0, 0}, {0, 0, 0}};
        trajectory x;
        trajectory_begin(&x, sys, methods[k], NULL, 1e-10, 0, 0.25);
        assert_ok(bg_state_create(sys, &at, &err));
        while (bg_integrator_get_state(x.ig)->t < 0.25) {
            assert_ok(bg_integrator_step(x.ig, &err));
            double t0 = bg_integrator_get_step_start(x.ig), t1 = bg_integrator_get_state(x.ig)->t;
            assert_ok(bg_integrator_interpolate_state(x.ig, 0.4 * t0 + 0.6 * t1, at, &err));
            double c = cos(at->q[2]), n = sin(at->q[2]);
            double lambda = s->m * (s->gravity - s->l * n * at->v[2] * at->v[2]) /
                            (1 + 3 * c * c + 3 * s->mu * n * c);
            assert_near(at->lambda[0] / lambda, 1, 1e-12);
            assert_near(at->a[0], -s->mu * lambda / s->m, 1e-11);
        }
        const bg_state *end = bg_integrator_get_state(x.ig);
        bg_point p = {.q = x.start->q, .v = x.start->v, .lambda = x.start->lambda};
        rod_energy((void *)(uintptr_t)s, &p, &e[0]);
        p = (bg_point){.q = end->q, .v = end->v, .lambda = end->lambda};
        rod_energy((void *)(uintptr_t)s, &p, &e[1]);
        double change = e[1].kinetic + e[1].potential - e[0].kinetic - e[0].potential;
        assert_true(change < -0.5);
        assert_near(*end->work, change, 1e-8);
        bg_state_destroy(at);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* A slider whose guide is pressed on by t |lambda|: lambda = 2 / (1 - t), while it moves with x'' =
 * 1 and feels nothing of it. */
static int guide_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f) {
        out->f[0] = 1;
        out->f[1] = 2 + p->t * fabs(p->lambda[0]);
    }
    if (want & BG_TERM_g)
        out->g[0] = p->q[1];
    if (want & BG_TERM_G)
        out->G[1] = 1;
    if (want & BG_TERM_gamma)
        out->gamma[0] = 0;
    return 0;
}

/* No method goes on where the forces cease to determine lambda, at t = 1: all end there, with a
 * sentence that says so. */
static void test_jam(void **state)
{
    (void)state;
    for (int k = 0; get_method(k); k++) {
        const bg_integrator_info *info = get_method(k);
        bg_error err = {BG_OK, ""};
        bg_system_def def = bg_default_system_def();
        def.name = "guide";
        def.nq = def.nv = 2;
        def.ng = def.scleronomic = def.f_of_lambda = 1;
        def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
        def.terms = guide_terms;
        bg_system *sys = sample_create(&def);
        bg_status st = BG_OK;
        trajectory x;
        trajectory_begin(&x, sys, info->name, NULL, 1e-6, info->fixed_steps ? 1e-2 : 0, 2);
        while (st == BG_OK && bg_integrator_get_state(x.ig)->t < 2) {
            const bg_state *at = bg_integrator_get_state(x.ig);
            /* unknowns of a corrector: that of bdf is good to what errors come to by 1/h */
            bool corrects = strcmp(info->name, "bdf") == 0;
            bool stages = strncmp(info->name, "sdirk4", 6) == 0 ||
                          strcmp(info->name, "trapezoidal") == 0;
            if (!info->fixed_steps && at->t < 1 - 1e-6)
                assert_near(at->lambda[0] * (1 - at->t), 2,
                            stages        ? 1e-6
                            : !corrects   ? 1e-9
                            : at->t < 0.5 ? 1e-2
                                          : 2e-2);
            st = bg_integrator_step(x.ig, &err);
        }
        const bg_state *end = bg_integrator_get_state(x.ig);
        print_message("%-14s t %.9f, lambda %.3g: %s\n", info->name, end->t, end->lambda[0],
                      err.text);
        assert_true(st != BG_OK && end->t > (info->order == 1 ? 0.8 : 0.98) && end->t < 1 + 1e-9);
        assert_non_null(strstr(err.text, "forces that depend on constraint forces"));
        assert_true(info->order == 1 || strstr(err.text, "'g[0]'"));
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* r by lambda where forces do not depend on it is G^T, dense and in a pattern. */
static void test_blocks_by_lambda(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:andrews", "equations:slider-crank",
                                          "equations:car-axle"};
    for (int k = 0; k < 3; k++)
        for (int patterned = 0; patterned < 2; patterned++) {
            bg_error err = {BG_OK, ""};
            bg_system *made = create_system(systems[k], NULL, NULL);
            bg_system_def def = made->def;
            int row_start[16] = {0}, column[64], n = 0;
            bg_pattern pattern = {def.nv, def.ng, row_start, column};
            for (int i = 0; i < def.nv; i++) {
                for (int j = 0; j < def.ng; j++)
                    column[n++] = j;
                row_start[i + 1] = n;
            }
            def.destroy = NULL; /* it stays with the one that was made */
            def.pattern[BG_OF_r][BG_BY_lambda] = patterned ? &pattern : NULL;
            bg_system *sys = sample_create(&def);
            bg_evaluator *ev = new_evaluator(sys);
            bg_state *x;
            bg_point p;
            assert_ok(bg_state_create(sys, &x, &err));
            bg_terms terms = sample_evaluate(sys, x);
            double block[64], w_block[64];
            bg_derivatives out = {.only_stiff = 0};
            out.block[BG_OF_r][BG_BY_lambda] = block;
            out.block[BG_OF_w][BG_BY_lambda] = w_block;
            assert_ok(bg_system_set_state(ev, x, &p, &err));
            assert_ok(bg_system_calc_derivatives(ev, &p, x->a, x->lambda, &out, &err));
            for (int i = 0; i < def.nv; i++)
                for (int j = 0; j < def.ng; j++)
                    assert_true(block[i * def.ng + j] == terms.G[j * def.nv + i]);
            for (int i = 0; i < def.ng * def.ng; i++)
                assert_true(w_block[i] == 0);
            sample_terms_destroy(&terms);
            bg_state_destroy(x);
            bg_evaluator_destroy(ev);
            bg_system_destroy(sys);
            if (patterned) { /* one entry less */
                memmove(column, column + 1, (size_t)(n - 1) * sizeof *column);
                for (int i = 1; i <= def.nv; i++)
                    row_start[i]--;
                assert_int_equal(bg_system_create(&def, &sys, &err), BG_BAD_INPUT);
                assert_non_null(strstr(err.text, "dr/dlambda leaves out"));
            }
            bg_system_destroy(made);
        }
}

/* A block slides down an incline: g (sin - mu cos), whatever the method; and the other way round.
 */
static int block_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double *s = self; /* mu, slope */
    double c = cos(s[1]), n = sin(s[1]), slip = c * p->v[0] - n * p->v[1];
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 4;
    if (want & BG_TERM_f) {
        double friction = -s[0] * fabs(p->lambda[0]) * tanh(slip / 1e-3);
        out->f[0] = c * friction;
        out->f[1] = -n * friction - 4 * 9.81;
    }
    if (want & BG_TERM_g)
        out->g[0] = -n * p->q[0] - c * p->q[1];
    if (want & BG_TERM_G) {
        out->G[0] = -n;
        out->G[1] = -c;
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = 0;
    return 0;
}

static void test_incline(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; get_method(k); k++)
        for (int n = 0; n < 10; n++) {
            double s[2] = {0.4 + 0.4 * sample_draw(&seed), 0.7 + 0.5 * sample_draw(&seed)};
            double speed = n % 2 ? 12 : -12, c = cos(s[1]), v0[2] = {c * speed, -sin(s[1]) * speed};
            double expected = 9.81 * (sin(s[1]) - s[0] * c * (n % 2 ? 1 : -1));
            bg_system_def def = bg_default_system_def();
            def.name = "block";
            def.nq = def.nv = 2;
            def.ng = def.scleronomic = def.f_of_lambda = 1;
            def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
            def.terms = block_terms;
            def.self = s;
            def.v0 = v0;
            bg_system *sys = sample_create(&def);
            trajectory x;
            const bg_integrator_info *info = get_method(k);
            trajectory_begin(&x, sys, info->name, NULL, 1e-6, info->fixed_steps ? 0.01 : 0, 0.5);
            const bg_state *end = trajectory_run(&x, 0.5);
            assert_near(c * end->v[0] - sin(s[1]) * end->v[1], speed + 0.5 * expected, 1e-11);
            assert_near(end->lambda[0], 4 * 9.81 * c, 1e-11); /* it presses on the incline */
            trajectory_end(&x);
            bg_system_destroy(sys);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_systems),
        cmocka_unit_test(test_rod),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_jam),
        cmocka_unit_test(test_blocks_by_lambda),
        cmocka_unit_test(test_incline),
        cmocka_unit_test(test_redundant_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
