/* One mechanism in two formulations: the trajectories agree. Quaternions, sparse and dense
 * matrices, angles and points, and runs on the sparse backend that stop and go on. */
#include "sample_systems.h"

#include "run_support.h"

#include <unistd.h>

/* The top keeps a unit quaternion and its order: largest error over a run beside one with tiny
 * steps. */
static void check_top(const char *method, double expected)
{
    const double h[] = {0.012, 0.008, 0.006, 0.004}, t_end = 2.4;
    double error[4] = {0}, q[7], v[6], z[1];
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 4; k++) {
        bg_system_def def = top_define(), twin_def = top_define();
        bg_system *sys = sample_create(&def), *twin = sample_create(&twin_def);
        trajectory x, fine;
        trajectory_begin(&x, sys, method, NULL, 1e-6, h[k], t_end);
        trajectory_begin(&fine, twin, method, NULL, 1e-6, 5e-4, t_end);
        while (bg_integrator_get_state(x.ig)->t < t_end) {
            assert_ok(bg_integrator_step(x.ig, &err));
            const bg_state *y = bg_integrator_get_state(x.ig);
            while (bg_integrator_get_state(fine.ig)->t < y->t)
                assert_ok(bg_integrator_step(fine.ig, &err));
            bg_integrator_interpolate(fine.ig, y->t, q, v, z);
            error[k] = fmax(error[k], sample_distance(y->q, q, 7));
            double length = 0;
            for (int i = 3; i < 7; i++)
                length += y->q[i] * y->q[i];
            assert_near(length, 1, 1e-14);
            assert_true(bg_integrator_get_residuals(x.ig).g < 1e-13);
            assert_true(bg_integrator_get_residuals(x.ig).gv < 1e-12);
        }
        trajectory_end(&x);
        trajectory_end(&fine);
        bg_system_destroy(sys);
        bg_system_destroy(twin);
    }
    double order = fit_order(4, h, error);
    print_message("top, %s: order %.2f, errors %.1e %.1e %.1e %.1e\n", method, order, error[0],
                  error[1], error[2], error[3]);
    assert_true(fabs(order - expected) < 0.2);
}

static void test_quaternions(void **state)
{
    (void)state;
    check_top("mdop5", 5);
    check_top("hem4", 4);
    check_top("hem5", 5);
    bg_error err = {BG_OK, ""};
    bg_system_def def = top_define();
    bg_system *sys = sample_create(&def);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.t_end = 5;
    o.method.rtol = o.method.atol = 1e-10;
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_true(r.certificate.energy_error < 1e-8 * r.certificate.energy_scale);
    assert_true(r.certificate.max_g < 1e-13);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* A rope of 30 points (90 unknowns) by the sparse LU and by LAPACK. */
static void test_sparse_and_dense(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem4", "hem5"};
    bg_error err = {BG_OK, ""};
    for (int m = 0; m < 3; m++) {
        double q[2][60], lambda[2][30];
        for (int sparse = 0; sparse < 2; sparse++) {
            bg_system_def def = chain_define(30, sparse);
            bg_system *sys = sample_create(&def);
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            o.integrator = methods[m];
            o.method.rtol = o.method.atol = 1e-8;
            assert_ok(bg_run(sys, &o, &r, &err));
            memcpy(q[sparse], r.final->q, sizeof q[0]);
            memcpy(lambda[sparse], r.final->lambda, sizeof lambda[0]);
            assert_true(r.certificate.max_g < 1e-12);
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
        assert_true(sample_distance(q[0], q[1], 60) < 1e-9);
        assert_true(sample_distance(lambda[0], lambda[1], 30) < 1e-7 * sample_size(lambda[0], 30));
    }
}

/* On the sparse backend, too, a stopped and resumed run ends with the same bits. */
static void test_sparse_resume(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem4", "hem5"};
    char file[] = "/tmp/bogie-sparse-XXXXXX";
    close(mkstemp(file));
    for (int m = 0; m < 3; m++) {
        double whole[60], pieces[60];
        bg_run_options o = bg_default_run_options();
        bg_error err = {BG_OK, ""};
        o.integrator = methods[m];
        int restarts = 0;
        bg_status st;
        for (int k = 0; k < 2; k++)
            do {
                bg_system_def def = chain_define(30, true);
                bg_system *sys = sample_create(&def);
                bg_run_report r;
                o.checkpoint = k ? file : NULL;
                o.max_steps = k ? o.max_steps + 5 : 0;
                st = bg_run(sys, &o, &r, &err);
                assert_true(st == BG_OK || st == BG_TOO_MANY_STEPS);
                memcpy(k ? pieces : whole, r.final->q, sizeof whole);
                bg_run_report_clear(&r);
                bg_system_destroy(sys);
                o.resume = k ? file : NULL;
                restarts += k;
            } while (st == BG_TOO_MANY_STEPS);
        assert_true(restarts > 3);
        assert_memory_equal(whole, pieces, sizeof whole);
    }
    unlink(file);
}

/* The built-in chain (angles, explicit formalism in O(N), no constraints) with resting suspension.
 */
enum { RODS = 6 };

static double chain_angle(int k)
{
    return 0.5 * sin(1.0 + 0.7 * k);
}

static void run_angles(double t_end, double *points)
{
    bg_error err = {BG_OK, ""};
    const bg_equations *family;
    void *handle;
    bg_system *sys;
    bg_system_def def = bg_default_system_def();
    double values[] = {RODS, 1, 1, 9.81, 0.05, 0, 0}, start[RODS];
    assert_ok(bg_equations_open("equations:chain", &family, &handle, &err));
    assert_int_equal(family->nparameters, 7);
    assert_ok(family->define(values, &def, &err));
    for (int k = 0; k < RODS; k++)
        start[k] = chain_angle(k);
    def.q0 = start;
    assert_ok(bg_system_create(&def, &sys, &err));
    trajectory x;
    trajectory_begin(&x, sys, "mdop5", NULL, 1e-11, 0, t_end);
    const bg_state *y = trajectory_run(&x, t_end);
    double px = 0, py = 0;
    for (int k = 0; k < RODS; k++) {
        points[2 * k] = px += sin(y->q[k]);
        points[2 * k + 1] = py -= cos(y->q[k]);
    }
    trajectory_end(&x);
    bg_system_destroy(sys);
}

/* The same as points with rods as constraints. */
static int points_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    for (int k = 0; k < RODS; k++) {
        const double *q = p->q + 2 * k, *v = p->v + 2 * k;
        double d[2] = {q[0] - (k ? q[-2] : 0), q[1] - (k ? q[-1] : 0)};
        double e[2] = {v[0] - (k ? v[-2] : 0), v[1] - (k ? v[-1] : 0)};
        for (int c = 0; c < 2; c++) {
            int i = 2 * k + c;
            if (want & BG_TERM_M)
                out->M[i * 2 * RODS + i] = 1;
            if (want & BG_TERM_f)
                out->f[i] = c ? -9.81 : 0;
            if (want & BG_TERM_G) {
                out->G[k * 2 * RODS + i] = d[c];
                if (k > 0)
                    out->G[k * 2 * RODS + i - 2] = -d[c];
            }
        }
        if (want & BG_TERM_g)
            out->g[k] = 0.5 * (d[0] * d[0] + d[1] * d[1] - 1);
        if (want & BG_TERM_gamma)
            out->gamma[k] = e[0] * e[0] + e[1] * e[1];
    }
    return 0;
}

static void run_points(const char *method, double t_end, double *points)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_system_def def = bg_default_system_def();
    double start[2 * RODS], px = 0, py = 0;
    for (int k = 0; k < RODS; k++) {
        start[2 * k] = px += sin(chain_angle(k));
        start[2 * k + 1] = py -= cos(chain_angle(k));
    }
    def.nq = def.nv = 2 * RODS;
    def.ng = RODS;
    def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def.terms = points_terms;
    def.q0 = start;
    assert_ok(bg_system_create(&def, &sys, &err));
    trajectory x;
    trajectory_begin(&x, sys, method, NULL, 1e-11, 0, t_end);
    memcpy(points, trajectory_run(&x, t_end)->q, 2 * RODS * sizeof(double));
    trajectory_end(&x);
    bg_system_destroy(sys);
}

static void test_angles_and_points(void **state)
{
    (void)state;
    double angles[2 * RODS], points[2 * RODS];
    run_angles(1.5, angles);
    run_points("mdop5", 1.5, points);
    print_message("angles against points: %.1e (mdop5)", sample_distance(angles, points, 2 * RODS));
    assert_true(sample_distance(angles, points, 2 * RODS) < 1e-8);
    run_points("hem5", 1.5, points);
    print_message(", %.1e (hem5)", sample_distance(angles, points, 2 * RODS));
    assert_true(sample_distance(angles, points, 2 * RODS) < 1e-8);
    run_points("hem4", 1.5, points);
    print_message(", %.1e (hem4)\n", sample_distance(angles, points, 2 * RODS));
    assert_true(sample_distance(angles, points, 2 * RODS) < 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_sparse_and_dense),
        cmocka_unit_test(test_sparse_resume),
        cmocka_unit_test(test_angles_and_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
