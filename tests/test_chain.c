/* The chain of pendulums: its O(N) formalisms against M and f, against each other, and their cost.
 */
#include "bogie/system.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* A chain of n rods at a random state. */
typedef struct fixture {
    bg_system_def def;
    bg_point p;
    double u[6];
    double *alpha, *v, *a, *r; /* n */
} fixture;

static double draw(unsigned long long *seed, double half_width)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return half_width * (2.0 * (double)(*seed >> 11) / 9007199254740992.0 - 1.0);
}

static double *allocate(size_t n)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    return x;
}

static void create(fixture *x, int n, double spread, double t)
{
    const bg_equations *const *all = bg_equations_get_all();
    while (*all && strcmp((*all)->name, "chain") != 0)
        all++;
    assert_non_null(*all);
    double values[16];
    bg_error err;
    for (int i = 0; i < (*all)->nparameters; i++)
        values[i] = (*all)->parameters[i].value;
    values[0] = n;
    x->def = (bg_system_def){.name = "chain"};
    assert_int_equal((*all)->define(values, &x->def, &err), BG_OK);
    x->alpha = allocate((size_t)n);
    x->v = allocate((size_t)n);
    x->a = allocate((size_t)n);
    x->r = allocate((size_t)n);
    unsigned long long seed = (unsigned long long)n;
    for (int i = 0; i < n; i++) {
        x->alpha[i] = draw(&seed, spread);
        x->v[i] = draw(&seed, spread);
    }
    x->p = (bg_point){t, x->alpha, x->v, NULL, x->u, x->u + 2, x->u + 4, NULL, NULL, 0};
    assert_int_equal(x->def.inputs(x->def.self, t, NULL, x->u, x->u + 2, x->u + 4), 0);
}

static void clear(fixture *x)
{
    x->def.destroy(x->def.self);
    free(x->alpha);
    free(x->v);
    free(x->a);
    free(x->r);
}

/* |r| relative to the forces that balance in it. */
static double calc_relative(const fixture *x, const double *r)
{
    double largest = 0.0;
    for (int i = 0; i < x->def.nv; i++)
        largest = fmax(largest, fabs(r[i]));
    return largest / (9.81 * x->def.nv);
}

static void test_residual_is_mass_times_acceleration_minus_force(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 16, 60};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = (size_t)sizes[k];
        fixture x;
        create(&x, sizes[k], 2.0, 17.0);
        double *M = allocate(n * n), *f = allocate(n), *difference = allocate(n);
        bg_terms out = {.M = M, .f = f};
        unsigned long long seed = 5;
        for (size_t i = 0; i < n; i++)
            x.a[i] = draw(&seed, 5.0);
        assert_int_equal(x.def.terms(x.def.self, &x.p, BG_TERM_M | BG_TERM_f, &out), 0);
        assert_int_equal(x.def.residual(x.def.self, &x.p, x.a, NULL, x.r), 0);
        double scale = 0.0;
        for (size_t i = 0; i < n; i++) {
            difference[i] = x.r[i] + f[i];
            for (size_t j = 0; j < n; j++) {
                difference[i] -= M[i * n + j] * x.a[j];
                scale = fmax(scale, fabs(M[i * n + j] * x.a[j]) * (double)n);
            }
        }
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(difference[i]) < 1e-14 * scale);
        free(M);
        free(f);
        free(difference);
        clear(&x);
    }
}

/* Angular accelerations grow with the tensions, n m gravity, so that is the scale of r. */
static void test_accelerate_inverts_residual(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 16, 60, 1000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (int wild = 0; wild < 2; wild++) {
            fixture x;
            create(&x, sizes[k], wild ? 2.0 : 0.01, 3.0);
            assert_int_equal(x.def.accelerate(x.def.self, &x.p, NULL, x.a), 0);
            assert_int_equal(x.def.residual(x.def.self, &x.p, x.a, NULL, x.r), 0);
            const double error = calc_relative(&x, x.r);
            if (!(error < 1e-11))
                fail_msg("N = %d: residual %g of the accelerations", sizes[k], error);
            clear(&x);
        }
    }
}

/* One rod: l alpha'' = -(gravity + y'') sin(alpha) - x'' cos(alpha). */
static void test_one_rod_is_a_pendulum(void **state)
{
    (void)state;
    const double omega = 2.0 * 3.14159265358979323846 * 0.05, t = 3.0;
    const double x_tt = -0.3 * omega * omega * sin(omega * t);
    const double y_tt = -0.2 * omega * omega * sin(omega * t);
    fixture x;
    create(&x, 1, 2.0, t);
    assert_true(fabs(x.u[0] - (2.0 + 0.3 * sin(omega * t))) < 1e-15);
    assert_true(fabs(x.u[1] - 0.2 * sin(omega * t)) < 1e-15);
    assert_true(fabs(x.u[4] - x_tt) < 1e-15 && fabs(x.u[5] - y_tt) < 1e-15);
    assert_int_equal(x.def.accelerate(x.def.self, &x.p, NULL, x.a), 0);
    const double expected = -(9.81 + y_tt) * sin(x.alpha[0]) - x_tt * cos(x.alpha[0]);
    assert_true(fabs(x.a[0] - expected) < 1e-14);
    clear(&x);
}

/* Least processor time of a few calls, s. */
static double measure(int n, int of_residual)
{
    fixture x;
    double best = INFINITY;
    create(&x, n, 0.01, 3.0);
    for (int k = 0; k < 7; k++) {
        const clock_t begin = clock();
        for (int i = 0; i < 4; i++)
            assert_int_equal(of_residual ? x.def.residual(x.def.self, &x.p, x.a, NULL, x.r)
                                         : x.def.accelerate(x.def.self, &x.p, NULL, x.a),
                             0);
        best = fmin(best, (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    clear(&x);
    return best;
}

/* Ten times the rods: ten times the work, where O(N^2) would take a hundred times. */
static void test_work_grows_linearly(void **state)
{
    (void)state;
    for (int of_residual = 0; of_residual < 2; of_residual++) {
        const double small = measure(4000, of_residual), large = measure(40000, of_residual);
        if (!(large < 30.0 * small))
            fail_msg("40000 rods take %g s, 4000 take %g s", large, small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual_is_mass_times_acceleration_minus_force),
        cmocka_unit_test(test_accelerate_inverts_residual),
        cmocka_unit_test(test_one_rod_is_a_pendulum),
        cmocka_unit_test(test_work_grows_linearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
