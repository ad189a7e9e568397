/* The wheelset of the IVP test set: the published start and end (tests/reference), the motion by
 * several methods, the friction that its equations cannot do with. */
#include "evaluator_support.h"
#include "run_support.h"

enum { COMPUTED = 2, PUBLISHED = 3 };

/* A column of tests/reference/wheelset.csv. */
static double reference(const char *t, const char *name, int column)
{
    char line[256];
    FILE *in = fopen(BOGIE_SOURCE_DIR "/tests/reference/wheelset.csv", "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        const char *part[4] = {NULL};
        char *rest = line;
        for (int i = 0; i < 4; i++)
            part[i] = strsep(&rest, ",");
        if (part[3] && strcmp(part[0], t) == 0 && strcmp(part[1], name) == 0) {
            fclose(in);
            return strtod(part[column], NULL);
        }
    }
    fclose(in);
    fail_msg("no %s at t = %s", name, t);
    return NAN;
}

static const char *const rates[] = {"x_ddot",     "y_ddot",   "z_ddot",
                                    "theta_ddot", "phi_ddot", "beta_dot"};
static const char *const multipliers[] = {"lambda[0]", "lambda[1]"};

/* M a - f + G^T lambda with the published accelerations, multipliers and contact coordinates. */
static void test_published_start(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:wheelset", NULL, NULL);
    const bg_system_def *def = bg_system_get_def(sys);
    bg_evaluator *ev = new_evaluator(sys);
    bg_state *x;
    bg_point p;
    double r[6], y[6];
    assert_ok(bg_state_create(sys, &x, &err));
    for (int i = 0; i < 6; i++)
        x->a[i] = reference("0", rates[i], PUBLISHED);
    for (int i = 0; i < 2; i++)
        x->lambda[i] = reference("0", multipliers[i], PUBLISHED);
    assert_ok(bg_system_set_state(ev, x, &p, &err));
    assert_ok(bg_system_calc_residual(ev, &p, x->a, x->lambda, r, &err));
    for (int i = 0; i < 6; i++)
        if (!(fabs(r[i]) < 1e-12)) /* of forces of 160 N */
            fail_msg("residual %d is %g", i, r[i]);
    calc_outputs(sys, x, y);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(y[i] - reference("0", def->y_names[i], PUBLISHED)) < 1e-16);
    bg_state_destroy(x);
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

/* The largest error of the 15 components but the multipliers, beside 1 + |reference|. */
static double calc_error(const bg_system *sys, const bg_state *x, int column)
{
    const bg_system_def *def = bg_system_get_def(sys);
    double y[6], error = 0;
    calc_outputs(sys, x, y);
    for (int i = 0; i < 15; i++) {
        const char *name = i < 5    ? def->q_names[i]
                           : i < 11 ? def->v_names[i - 5]
                                    : def->y_names[i - 11];
        double value = i < 5 ? x->q[i] : i < 11 ? x->v[i - 5] : y[i - 11];
        double expected = reference("10", name, column);
        error = fmax(error, fabs(value - expected) / (1 + fabs(expected)));
    }
    return error;
}

/* 10 s of limit cycle with saturating creep. The published end is good to 1.3e-7. */
static void test_published_end(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double tolerance, error;
        long steps;
    } runs[] = {{"mdop5", 1e-6, 1e-4, 4500},
                {"mdop5", 1e-8, 3e-6, 10000},
                {"hem5", 1e-8, 3e-6, 10000},
                {"mdop8", 1e-8, 3e-6, 8000},
                {"hem4", 1e-7, 3e-5, 25000}};
    for (int k = 0; k < (SANITIZED ? 1 : 5); k++) {
        bg_system *sys = create_system("equations:wheelset", NULL, NULL);
        trajectory x;
        trajectory_begin(&x, sys, runs[k].method, NULL, runs[k].tolerance, 0, 10);
        const bg_state *end = trajectory_run(&x, 10);
        bg_counters n = bg_integrator_get_counters(x.ig);
        double error = calc_error(sys, end, COMPUTED), published = calc_error(sys, end, PUBLISHED);
        print_message(
            "%s at %g: %ld steps, %ld evaluations, error %.1e, of the published end %.1e\n",
            runs[k].method, runs[k].tolerance, n.accepted, n.steps.terms, error, published);
        assert_true(error < runs[k].error && published < runs[k].error + 1.4e-7);
        for (int i = 0; i < 2; i++)
            assert_true(fabs(end->lambda[i] / reference("10", multipliers[i], PUBLISHED) - 1) <
                        10 * runs[k].error);
        assert_true(n.accepted + n.rejected < runs[k].steps);
        assert_true(n.steps.terms < 8 * n.steps.factorisations);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Methods of fixed work converge with order 1, and do the work they have planned. */
static void test_real_time(void **state)
{
    (void)state;
    static const char *const methods[] = {"euler", "linear-euler"};
    static const double t_end = 0.1;
    for (int k = 0; k < 2; k++) {
        double h[3], error[3];
        for (int i = 0; i < 3; i++) {
            bg_system *sys = create_system("equations:wheelset", NULL, NULL);
            trajectory fine, coarse;
            h[i] = 2e-4 / (1 << i);
            trajectory_begin(&fine, sys, "mdop8", NULL, 1e-11, 0, t_end);
            trajectory_begin(&coarse, sys, methods[k], NULL, 1e-6, h[i], t_end);
            const bg_state *a = trajectory_run(&fine, t_end), *b = trajectory_run(&coarse, t_end);
            error[i] = 0;
            for (int j = 0; j < 6; j++)
                error[i] = fmax(error[i], fabs(a->v[j] - b->v[j]));
            bg_step_plan plan;
            assert_true(bg_integrator_get_plan(coarse.ig, &plan));
            long steps = bg_integrator_get_counters(coarse.ig).accepted;
            assert_true(bg_integrator_get_counters(coarse.ig).steps.factorisations <=
                        plan.factorisations * steps + plan.first_factorisations + 1);
            trajectory_end(&fine);
            trajectory_end(&coarse);
            bg_system_destroy(sys);
        }
        double order = fit_order(3, h, error);
        print_message("%s: order %.2f, errors %.1e .. %.1e\n", methods[k], order, error[0],
                      error[2]);
        assert_true(order > 0.8 && order < 1.3);
    }
}

static void test_derivatives(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:wheelset", NULL, NULL);
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    int n;
    assert_ok(bg_system_check_derivatives(sys, 20, 3, checks, &n, &err));
    assert_int_equal(n, 7);
    for (int i = 0; i < n; i++)
        if (!(checks[i].error < 1e-7))
            fail_msg("%s, %s: %g", checks[i].quantity, checks[i].entry, checks[i].error);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_start),
        cmocka_unit_test(test_published_end),
        cmocka_unit_test(test_real_time),
        cmocka_unit_test(test_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
