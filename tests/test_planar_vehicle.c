/* The planar vehicle on rigid-ring tyres: loads and heights at rest, eigenvalues of its parts, its
 * motion against values of an independent program of order 8 at 1e-11, parts against the whole. */
#include "evaluator_support.h"
#include "run_support.h"
#include "sample_systems.h"

#include "linalg/spectrum.h"

enum { NV = 13, NZ = 2 };

static bg_system *create_vehicle(const char *driven, const char *torque)
{
    const bg_setting settings[] = {{"driven", driven}, {"torque", torque}};
    bg_system *sys = NULL;
    bg_error err = {BG_OK, ""};
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++)
        if (strcmp((*all)->name, "planar-vehicle") == 0)
            assert_ok(bg_equations_create(*all, settings, 2, &sys, &err));
    assert_non_null(sys);
    return sys;
}

/* Both sets at rest: loads of the road, heights of ring and hub. */
static void test_rest(void **state)
{
    (void)state;
    static const double expected[2][6] = {
        {2926.0718, 2436.5393, 0.30126052, 0.30330819, 0.29958486, 0.30191984},
        {3272.8651, 2783.3326, NAN, NAN, 0.29793071, 0.3002657}};
    for (int k = 0; k < 2; k++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_vehicle(k ? "1" : "0", "0");
        bg_state *x;
        double y[4];
        assert_ok(bg_state_create(sys, &x, &err));
        calc_outputs(sys, x, y);
        const double found[6] = {y[0], y[1], x->q[8], x->q[11], x->q[3], x->q[4]};
        for (int i = 0; i < 6; i++)
            if (fabs(found[i] - expected[k][i]) > (i < 2 ? 1e-4 : 1e-8))
                fail_msg("set %d, value %d: %.10g", k, i, found[i]);
        bg_state_destroy(x);
        bg_system_destroy(sys);
    }
}

/* A of the rates of one part by itself, x = (q, v, z): [n n], by differences. */
static int calc_part_matrix(bg_system *sys, unsigned part, double *A)
{
    const bg_system_def *d = bg_system_get_def(sys);
    bg_evaluator *ev = new_evaluator(sys);
    bg_error err = {BG_OK, ""};
    int entry[2 * NV + NZ], n = 0;
    for (int i = 0; i < 2 * NV + NZ; i++) {
        const unsigned char owner = i < 2 * NV ? d->v_part[i % NV] : d->z_part[i - 2 * NV];
        if (owner & part)
            entry[n++] = i;
    }
    for (int j = 0; j < n; j++) {
        double rate[2][2 * NV + NZ] = {{0}};
        for (int side = 0; side < 2; side++) {
            double x[2 * NV + NZ] = {0};
            bg_point p;
            memcpy(x, d->q0, NV * sizeof *x);
            memcpy(x + NV, d->v0, NV * sizeof *x);
            x[entry[j]] += side ? 1e-6 : -1e-6;
            assert_ok(bg_system_set_point(ev, 0, x, x + NV, x + 2 * NV, NULL, &p, &err));
            memcpy(rate[side], x + NV, NV * sizeof *x);
            assert_ok(bg_system_calc_part(ev, &p, part, NULL, rate[side] + NV, rate[side] + 2 * NV,
                                          &err));
        }
        for (int i = 0; i < n; i++)
            A[i * n + j] = (rate[1][entry[i]] - rate[0][entry[i]]) / 2e-6;
    }
    bg_evaluator_destroy(ev);
    return n;
}

/* Light hubs at 10 m/s: each eigenvalue, half of every pair, is there as often as is said. */
static void test_spectra(void **state)
{
    (void)state;
    static const struct {
        unsigned part;
        double re, im;
        int count;
    } expected[] = {{BG_PART_SLOW, -18.0, 364.7, 2}, {BG_PART_SLOW, -44.3, 260.1, 1},
                    {BG_PART_SLOW, -41.5, 260.2, 1}, {BG_PART_SLOW, -0.9, 81.4, 1},
                    {BG_PART_SLOW, -3.7, 8.7, 1},    {BG_PART_SLOW, -3.2, 8.9, 1},
                    {BG_PART_FAST, -71.6, 750.8, 2}, {BG_PART_FAST, -60.1, 514.3, 2},
                    {BG_PART_FAST, -24.5, 428.0, 2}, {BG_PART_FAST, -45.1, 0, 2}};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        enum { MOST = 2 * NV + NZ };
        static double A[MOST * MOST], left[MOST * MOST], right[MOST * MOST];
        double re[MOST], im[MOST];
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_vehicle("0", "0");
        int n = calc_part_matrix(sys, expected[k].part, A), count = 0;
        assert_ok(bg_spectrum_calc(n, A, re, im, left, right, &err));
        for (int i = 0; i < n; i++)
            count += fabs(re[i] - expected[k].re) < 0.06 && fabs(im[i] - expected[k].im) < 0.06;
        if (count != expected[k].count)
            fail_msg("%g +- %gi is there %d times", expected[k].re, expected[k].im, count);
        bg_system_destroy(sys);
    }
}

/* 3 s with a drive torque, heavy axles: methods that are explicit, that make r of M and f although
 * the system gives its accelerations, and of fixed steps. */
static void test_motion(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double tolerance, step, error;
    } runs[] = {{"mdop8", 1e-10, 0, 1e-8}, {"bdf", 1e-9, 0, 1e-6},
                {"sdirk4", 1e-9, 0, 1e-7}, {"trapezoidal", 1e-5, 0, 2e-4},
                {"rk4", 1e-6, 5e-4, 1e-7}, {"linear-euler", 1e-6, 1e-4, 1e-3}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        bg_system *sys = create_vehicle("1", "150");
        trajectory x;
        trajectory_begin(&x, sys, runs[k].method, NULL, runs[k].tolerance, runs[k].step, 3);
        const bg_state *end = trajectory_run(&x, 3);
        const double found[] = {end->q[0], end->v[0], end->q[2], end->q[1]};
        static const double expected[] = {35.24017863, 13.66487923, 0.01418723, 0.55429812};
        double error = 0;
        for (int i = 0; i < 4; i++)
            error = fmax(error, fabs(found[i] - expected[i]));
        print_message("%s: error %.1e\n", runs[k].method, error);
        assert_true(error < runs[k].error);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Accelerations of one part at a time, and of both, are those of the whole, and the others are left
 * alone. */
static void test_parts(void **state)
{
    (void)state;
    static const unsigned wanted[] = {BG_PART_SLOW, BG_PART_FAST, BG_PART_SLOW | BG_PART_FAST};
    bg_system *sys = create_vehicle("0", "150");
    const bg_system_def *d = bg_system_get_def(sys);
    bg_evaluator *ev = new_evaluator(sys);
    uint64_t seed = 1;
    for (int sample = 0; sample < 20; sample++) {
        bg_error err = {BG_OK, ""};
        double q[NV], v[NV], z[NZ], whole[NV], h[NZ];
        bg_point p;
        for (int i = 0; i < NV; i++) {
            q[i] = d->q0[i] + 0.02 * sample_draw(&seed);
            v[i] = d->v0[i] + sample_draw(&seed);
        }
        for (int i = 0; i < NZ; i++)
            z[i] = sample_draw(&seed);
        assert_ok(bg_system_set_point(ev, 0.7, q, v, z, NULL, &p, &err));
        assert_ok(bg_evaluator_prepare_acceleration(ev, &err));
        assert_ok(bg_system_calc_acceleration(ev, &p, NULL, whole, &err));
        bg_terms out = {.h = h};
        assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_h, &out, &err));
        for (int k = 0; k < 3; k++) {
            double a[NV], z_t[NZ];
            for (int i = 0; i < NV; i++)
                a[i] = 1e99;
            z_t[0] = z_t[1] = 1e99;
            assert_ok(bg_system_calc_part(ev, &p, wanted[k], NULL, a, z_t, &err));
            for (int i = 0; i < NV; i++)
                assert_true(a[i] == (d->v_part[i] & wanted[k] ? whole[i] : 1e99));
            for (int i = 0; i < NZ; i++)
                assert_true(z_t[i] == (d->z_part[i] & wanted[k] ? h[i] : 1e99));
        }
    }
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

static void test_derivatives(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_vehicle("0", "150");
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    int n;
    assert_ok(bg_system_check_derivatives(sys, 30, 3, checks, &n, &err));
    assert_int_equal(n, 7);
    for (int i = 0; i < n; i++)
        if (!(checks[i].error < 1e-7))
            fail_msg("%s, %s: %g", checks[i].quantity, checks[i].entry, checks[i].error);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest),        cmocka_unit_test(test_spectra),
        cmocka_unit_test(test_motion),      cmocka_unit_test(test_parts),
        cmocka_unit_test(test_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
