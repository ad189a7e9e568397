/* mdop5, mdop8, hem4 and hem5: coefficients of the latter two, reference values, drift, counters,
 * failures. What holds for every method is in test_methods.c. */
#include "integrators/dopri5.h"
#include "integrators/hem4.h"
#include "integrators/hem5.h"
#include "model_support.h"

static double power(double x, int k)
{
    double p = 1;
    while (k-- > 0)
        p *= x;
    return p;
}

/* sum_j b_j c_j^k against theta^(k+1)/(k+1). */
static void check_quadrature(const double *b, const double *c, int n, double theta, int kmax)
{
    for (int k = 0; k <= kmax; k++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += b[j] * power(c[j], k);
        assert_true(fabs(sum - power(theta, k + 1) / (k + 1)) < 1e-14);
    }
}

static void test_hem5_table(void **state)
{
    (void)state;
    const bg_hem5_table *t = &bg_hem5_coefficients;
    for (int i = 1; i < 7; i++) {
        double sum = 0;
        for (int j = 0; j <= i; j++)
            sum += t->a[i][j];
        assert_true(fabs(sum - t->c[i]) < 1e-14);
        assert_true(fabs(t->a[i][i]) > 0.01);
        if (i >= 3) /* bar values of stage order 3, from the fourth stage on */
            check_quadrature(t->a[i], bg_dopri5.c, 7, t->c[i], 2);
    }
    for (int j = 0; j < 6; j++)
        assert_true(t->a[5][j] == bg_dopri5.a[6][j]);
    check_quadrature(t->dense, bg_dopri5.c, 7, t->theta, 3);
}

/* x <- W y, W the inverse of the rows of the stages 2 .. 5 and of the end: y_i belongs to row i
 * + 1.
 */
static void apply_inverse(const double *y, double *x)
{
    for (int i = 1; i <= 5; i++) {
        x[i] = y[i + 1];
        for (int j = 1; j < i; j++)
            x[i] -= bg_hem4_coefficients.a[i + 1][j] * x[j];
        x[i] /= bg_hem4_coefficients.a[i + 1][i];
    }
}

/* The conditions of order 4 of Brasey and Hairer: those of an ODE, and those with W of constraints;
 * the weights of the error fulfil those of order 3, with the rates at both ends as exact ones. */
static void test_hem4_table(void **state)
{
    (void)state;
    const bg_hem4_table *t = &bg_hem4_coefficients;
    double one[7], c2[7], cAc[7], Ac[7] = {0}, Ac2[7] = {0}, AAc[7] = {0}, AcW[7] = {0};
    double c3[7], Wc2[7] = {0}, Wc3[7] = {0}, WcAc[7] = {0}, cWc2[7];
    const double *c = t->c;
    for (int i = 0; i < 7; i++) {
        double sum = 0;
        one[i] = 1;
        c2[i] = c[i] * c[i];
        c3[i] = c[i] * c2[i];
        for (int j = 1; j < i; j++) {
            sum += t->a[i][j];
            Ac[i] += t->a[i][j] * c[j];
            Ac2[i] += t->a[i][j] * c2[j];
        }
        assert_true(fabs(sum - c[i]) < 1e-14);
        cAc[i] = c[i] * Ac[i];
    }
    apply_inverse(c2, Wc2);
    apply_inverse(c3, Wc3);
    apply_inverse(cAc, WcAc);
    for (int i = 1; i < 7; i++)
        for (int j = 1; j < i; j++) {
            AAc[i] += t->a[i][j] * Ac[j];
            AcW[i] += t->a[i][j] * c[j] * Wc2[j];
        }
    Wc2[6] = 2; /* at the end v' and lambda are those of the solution */
    Wc3[6] = 3;
    WcAc[6] = 3.0 / 2;
    for (int i = 0; i < 7; i++)
        cWc2[i] = c[i] * Wc2[i];
    const struct {
        int order;
        const double *x, *y;
        double value;
    } conditions[] = {
        {1, one, one, 1},        {2, one, c, 1.0 / 2},   {3, c, c, 1.0 / 3},
        {2, one, Wc2, 1},        {3, one, Wc3, 1},       {3, one, WcAc, 1.0 / 2},
        {3, one, Ac, 1.0 / 6},   {3, c, Wc2, 2.0 / 3},   {3, Wc2, Wc2, 4.0 / 3},
        {4, c, c2, 1.0 / 4},     {4, c, Ac, 1.0 / 8},    {4, one, Ac2, 1.0 / 12},
        {4, one, AAc, 1.0 / 24}, {4, c2, Wc2, 1.0 / 2},  {4, c, Wc3, 3.0 / 4},
        {4, c, WcAc, 3.0 / 8},   {4, one, AcW, 1.0 / 6}, {4, Wc2, Wc3, 3.0 / 2},
        {4, Ac, Wc2, 1.0 / 4},   {4, cWc2, Wc2, 1.0},
    };
    double gap = 0;
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++) {
        double sum = 0, embedded = 0;
        for (int i = 0; i < 7; i++) {
            sum += t->a[6][i] * conditions[k].x[i] * conditions[k].y[i];
            embedded += t->b_hat[i] * conditions[k].x[i] * conditions[k].y[i];
        }
        assert_true(fabs(sum - conditions[k].value) < 1e-14);
        if (conditions[k].order <= 3)
            assert_true(fabs(embedded - conditions[k].value) < 1e-14);
        else
            gap = fmax(gap, fabs(embedded - conditions[k].value));
    }
    assert_true(gap > 0.01); /* of order 3 and no more */
}

/* OWN reference values of the IVP Test Set problems (tests/reference). */
static const double andrews_end[7] = {15.810771195153707097,   -15.756371058411839470,
                                      0.040822240119645804858, -0.53473011634207959377,
                                      0.52440996587995406937,  0.53473011634207959377,
                                      1.0480807410419378731};
static const double axle_end[4] = {0.0493455784275240921315, 0.496989460230008106763,
                                   1.04174252488542611519, 0.373911027265365819358};
static const double axle_lambda[2] = {-0.00473688659085332651531, -0.00110468033125956583986};

static void check_andrews(double tolerance, double error, long steps)
{
    bg_system *sys = create_system("equations:andrews", NULL, NULL);
    trajectory x;
    trajectory_begin(&x, sys, "mdop5", NULL, tolerance, 0, 0.03);
    const bg_state *end = trajectory_run(&x, 0.03);
    assert_true(end->t == 0.03);
    for (int i = 0; i < 7; i++)
        assert_true(fabs(end->q[i] - andrews_end[i]) < error);
    assert_true(bg_integrator_get_counters(x.ig).accepted <= steps);
    assert_true(bg_integrator_get_residuals(x.ig).g <= 1e-12);
    trajectory_end(&x);
    bg_system_destroy(sys);
}

static void test_andrews(void **state)
{
    (void)state;
    check_andrews(1e-8, 2e-7, 320);
    check_andrews(1e-10, 2e-9, 800);
}

static void check_axle(const char *method)
{
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    trajectory x;
    trajectory_begin(&x, sys, method, NULL, 1e-9, 0, 3.0);
    const bg_state *end = trajectory_run(&x, 3.0);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(end->q[i] - axle_end[i]) < 1e-7);
    for (int i = 0; i < 2; i++)
        assert_true(fabs(end->lambda[i] - axle_lambda[i]) < 1e-6);
    trajectory_end(&x);
    bg_system_destroy(sys);
}

static void test_car_axle(void **state)
{
    (void)state;
    check_axle("mdop5");
    check_axle("mdop8");
    check_axle("hem4");
    check_axle("hem5");
}

/* 003 Table 1 on Andrews' mechanism: how far the constraints are violated at the end, how often
 * (12a) was solved, and what the error of the positions is. */
static void test_projection_modes(void **state)
{
    (void)state;
    static const char *const modes[] = {"none", "velocity", "control", "every-step"};
    double g[4], gv[4], error[4];
    long projections[4], steps[4];
    for (int k = 0; k < 4; k++) {
        bg_system *sys = create_system("equations:andrews", NULL, NULL);
        trajectory x;
        trajectory_begin(&x, sys, "mdop5", modes[k], 1e-4, 0, 0.03);
        const bg_state *end = trajectory_run(&x, 0.03);
        error[k] = 0;
        for (int i = 0; i < 7; i++)
            error[k] = fmax(error[k], fabs(end->q[i] - andrews_end[i]));
        g[k] = bg_integrator_get_residuals(x.ig).g;
        gv[k] = bg_integrator_get_residuals(x.ig).gv;
        bg_counters c = bg_integrator_get_counters(x.ig);
        projections[k] = c.projection.projections;
        steps[k] = c.accepted;
        print_message("%-10s %3ld steps, %3ld projections, |g| %.1e, |Gv| %.1e, error %.1e\n",
                      modes[k], steps[k], projections[k], g[k], gv[k], error[k]);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
    for (int k = 2; k < 4; k++) /* the same steps whether positions are projected or not */
        assert_int_equal(steps[k], steps[1]);
    assert_true(10 * labs(steps[1] - steps[0]) <= steps[0]);
    assert_true(g[0] > 5 * g[1] && g[1] > 1e3 * g[2]); /* none > velocity >> control */
    assert_true(g[2] < 1e-13 && g[3] < 1e-13);
    assert_true(gv[0] > 1e-5);
    for (int k = 1; k < 4; k++)
        assert_true(gv[k] < 1e-11);
    assert_true(projections[0] == 0 && projections[1] == 0);
    assert_true(projections[2] > 0 && projections[2] <= projections[3] / 4);
    assert_true(error[0] > 5 * error[1]); /* drift feeds back on the solution */
    assert_true(error[2] < 5 * error[3] && error[3] < 5 * error[2]);
}

/* Entries of a step's error that are masked out do not count, in either norm. */
static void test_norm(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_system("equations:car-axle", NULL, NULL);
        trajectory x;
        double e[9] = {0};
        unsigned char mask[9] = {0};
        trajectory_begin(&x, sys, "mdop5", k ? "every-step" : NULL, 1e-6, 0, 3.0);
        assert_ok(bg_integrator_step(x.ig, &err));
        const double *x0 = x.ig->x0->q, *x1 = x.ig->x1->q;
        for (int i = 0; i < 8; i++)
            e[i] = (i + 1) * 1e-6 * (1 + fmax(fabs(x0[i]), fabs(x1[i]))); /* i + 1 tolerances */
        double q = sqrt((1 + 4 + 9 + 16) / 4.0), v = sqrt((25 + 36 + 49 + 64) / 4.0);
        assert_near(bg_norm_calc_state(x.ig, e, NULL), k ? fmax(q, v) : 8, 1e-9);
        mask[1] = mask[2] = mask[4] = 1;
        assert_near(bg_norm_calc_state(x.ig, e, mask), 5, 1e-9);
        mask[5] = 1;
        assert_near(bg_norm_calc_state(x.ig, e, mask), k ? sqrt((25 + 36) / 2.0) : 6, 1e-9);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Six factorisations a step, whatever is projected. */
static void test_counters(void **state)
{
    (void)state;
    static const char *const modes[] = {"none", "velocity", "control", "every-step"};
    for (int k = 0; k < 4; k++) {
        bg_system *sys = create_system("equations:andrews", NULL, NULL);
        trajectory x;
        trajectory_begin(&x, sys, "mdop5", modes[k], 1e-6, 0, 0.03);
        long before = bg_integrator_get_counters(x.ig).steps.factorisations;
        trajectory_run(&x, 0.03);
        bg_counters c = bg_integrator_get_counters(x.ig);
        assert_int_equal(c.steps.factorisations - before, 6 * (c.accepted + c.rejected));
        assert_int_equal(c.unconverged, 0);
        if (k == 3) /* 5 stages, matrices and forces of the end, about two evaluations of g */
            assert_true((double)(c.steps.terms + c.projection.constraints) /
                            (double)(c.accepted + c.rejected) <
                        10.5);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Undo goes back to the beginning of the step exactly. */
static void test_undo(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "mdop8", "hem4", "hem5"};
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 4; k++) {
        bg_system *sys = create_system("equations:car-axle", NULL, NULL);
        trajectory x;
        double q[4];
        trajectory_begin(&x, sys, methods[k], NULL, 1e-6, 0, 3.0);
        for (int i = 0; i < 20; i++)
            assert_ok(bg_integrator_step(x.ig, &err));
        double t = bg_integrator_get_state(x.ig)->t;
        memcpy(q, bg_integrator_get_state(x.ig)->q, sizeof q);
        assert_ok(bg_integrator_step(x.ig, &err));
        double h = bg_integrator_get_state(x.ig)->t - t;
        bg_integrator_undo(x.ig, t + 0.3 * h);
        assert_true(bg_integrator_get_state(x.ig)->t == t);
        assert_memory_equal(bg_integrator_get_state(x.ig)->q, q, sizeof q);
        assert_ok(bg_integrator_step(x.ig, &err));
        assert_true(bg_integrator_get_state(x.ig)->t == t + 0.3 * h);
        assert_ok(
            bg_integrator_step(x.ig, &err)); /* the cut step does not hold the next one back */
        assert_true(bg_integrator_get_state(x.ig)->t - t > h);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Projected dense output fulfils the constraints on all levels between steps. */
static void test_projected_dense_output(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    trajectory x;
    bg_state *y;
    double q[4], v[4], z[1];
    trajectory_begin(&x, sys, "mdop5", NULL, 1e-4, 0, 3.0);
    assert_ok(bg_state_create(sys, &y, &err));
    double plain = 0;
    for (int k = 0; k < 30; k++) {
        assert_ok(bg_integrator_step(x.ig, &err));
        double t0 = bg_integrator_get_step_start(x.ig), t1 = bg_integrator_get_state(x.ig)->t;
        double t = t0 + 0.37 * (t1 - t0), yb = 0.1 * sin(10 * t), xb = sqrt(1 - yb * yb);
        bg_integrator_interpolate(x.ig, t, q, v, z);
        plain = fmax(plain, fabs(xb * q[0] + yb * q[1]));
        assert_ok(bg_integrator_interpolate_state(x.ig, t, y, &err));
        assert_true(fabs(xb * y->q[0] + yb * y->q[1]) < 1e-13);
        double dx = y->q[0] - y->q[2], dy = y->q[1] - y->q[3];
        assert_true(fabs(dx * dx + dy * dy - 1) < 1e-13);
        assert_true(fabs(dx * (y->v[0] - y->v[2]) + dy * (y->v[1] - y->v[3])) < 1e-13);
    }
    assert_true(plain > 1e-9); /* without projection there was something to correct */
    bg_state_destroy(y);
    trajectory_end(&x);
    bg_system_destroy(sys);
}

/* hem5 asks for gamma only at the start and for the certificate: without gamma it gives the same.
 */
static void test_hem5_without_gamma(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double q[2][4];
    for (int k = 0; k < 2; k++) {
        const bg_equations *family;
        void *handle;
        bg_system *sys;
        bg_system_def def = bg_default_system_def();
        assert_ok(bg_equations_open("equations:car-axle", &family, &handle, &err));
        double values[16];
        for (int i = 0; i < family->nparameters; i++)
            values[i] = family->parameters[i].value;
        def.name = "axle";
        assert_ok(family->define(values, &def, &err));
        if (k == 1)
            def.supplied &= ~(unsigned)BG_TERM_gamma;
        assert_ok(bg_system_create(&def, &sys, &err));
        trajectory x;
        trajectory_begin(&x, sys, "hem5", NULL, 1e-6, 0.002, 1.0);
        memcpy(q[k], trajectory_run(&x, 1.0)->q, sizeof q[k]);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
    for (int i = 0; i < 4; i++)
        assert_true(fabs(q[0][i] - q[1][i]) < 1e-9);
}

static void test_bad_options(void **state)
{
    (void)state;
    bg_system *sys = create_system("equations:pendulum", NULL, NULL);
    bg_integrator *ig;
    bg_error err;
    bg_integrator_options good = bg_default_integrator_options(), o;
    assert_int_equal(bg_integrator_create("mdop6", sys, &good, &ig, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "'mdop5'"));
    o = good;
    o.rtol = 0;
    assert_int_equal(bg_integrator_create("mdop5", sys, &o, &ig, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "rtol"));
    o = good;
    o.atol = NAN;
    assert_int_equal(bg_integrator_create("mdop5", sys, &o, &ig, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "atol"));
    bg_setting wrong = {"projektion", "none"}, value = {"projection", "sometimes"};
    o = good;
    o.settings = &wrong;
    o.nsettings = 1;
    assert_int_equal(bg_integrator_create("mdop5", sys, &o, &ig, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "'projection'"));
    o.settings = &value;
    assert_int_equal(bg_integrator_create("mdop5", sys, &o, &ig, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "every-step"));
    bg_system_destroy(sys);
}

/* A step that fails leaves time and state as they were, and says why. */
static void test_failed_step(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    trajectory x;
    trajectory_begin(&x, sys, "mdop5", NULL, 1e-6, 0.4, 3.0); /* far too large for the projection */
    bg_status st = BG_OK;
    double t = 0, q[4];
    for (int i = 0; i < 10 && st == BG_OK; i++) {
        t = bg_integrator_get_state(x.ig)->t;
        memcpy(q, bg_integrator_get_state(x.ig)->q, sizeof q);
        st = bg_integrator_step(x.ig, &err);
    }
    assert_true(st != BG_OK && st != BG_STOPPED);
    assert_non_null(strstr(err.text, "step"));
    assert_true(bg_integrator_get_state(x.ig)->t == t);
    assert_memory_equal(bg_integrator_get_state(x.ig)->q, q, sizeof q);
    trajectory_end(&x);
    bg_system_destroy(sys);
}

/* A very first step that is too long shrinks until it succeeds; one whose error is that of
 * rounding, whatever the tolerance, is accepted at once. */
static void test_first_step_shrinks(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:pendulum", NULL, NULL);
    trajectory x;
    for (int k = 0; k < 2; k++) {
        trajectory_begin(&x, sys, "mdop5", NULL, k ? 1e-30 : 1e-12, 0, 10.0);
        if (k == 0)
            x.ig->control.h_next = 1;
        assert_ok(bg_integrator_step(x.ig, &err));
        assert_int_equal(bg_integrator_get_counters(x.ig).rejected > 0, k == 0);
        assert_true(bg_integrator_get_state(x.ig)->t > 0);
        trajectory_end(&x);
    }
    bg_system_destroy(sys);
}

/* The first step goes with the root of the method's own order, whatever that is: h^order is the
 * same for two of them. Behind a rejection no step grows. */
static void test_lengths_of_steps(void **state)
{
    (void)state;
    bg_system *sys = create_system("equations:pendulum", NULL, NULL);
    trajectory x;
    for (double tolerance = 1e-9; tolerance > 1e-13; tolerance *= 0.1) {
        double product[2];
        for (int k = 0; k < 2; k++) {
            trajectory_begin(&x, sys, k ? "mdop8" : "mdop5", NULL, tolerance, 0, 10.0);
            assert_int_equal(x.ig->order, k ? 8 : 5);
            product[k] = x.ig->order * log(x.ig->control.h_next);
            x.ig->h = 1e-3;
            x.ig->control.last_rejected = false;
            assert_true(bg_control_calc(x.ig, BG_ACCEPTED, 1e-8) > 2e-3);
            x.ig->control.last_rejected = true;
            assert_true(bg_control_calc(x.ig, BG_ACCEPTED, 1e-8) == 1e-3);
            trajectory_end(&x);
        }
        assert_true(fabs(product[0] - product[1]) < 1e-9 && product[0] < -5);
    }
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_of_steps),
        cmocka_unit_test(test_hem5_table),
        cmocka_unit_test(test_hem4_table),
        cmocka_unit_test(test_andrews),
        cmocka_unit_test(test_car_axle),
        cmocka_unit_test(test_projection_modes),
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_undo),
        cmocka_unit_test(test_projected_dense_output),
        cmocka_unit_test(test_hem5_without_gamma),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_failed_step),
        cmocka_unit_test(test_first_step_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
