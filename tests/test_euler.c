/* euler and linear-euler: order, drift by stabilisation (000 Fig. 6), the certified bound,
 * stability limits of 000 section 2 and of Baumgarte's feedback, work per step, partitions,
 * refusals. Checkpoints of Jacobians and partitions are in tests/cli/resume.sh. */
#include "integrators/stability.h"
#include "run_support.h"
#include "work_support.h"

#include <stdlib.h>

/* A run of `reference` with options given as "name=value ..."; the report is the caller's. */
typedef struct euler_job {
    bg_system *sys;
    bg_run_options options;
    bg_setting settings[8];
    char text[256];
    bg_run_report report;
} euler_job;

static void job_begin(euler_job *x, const char *reference, const char *method, const char *options,
                      double h)
{
    memset(x, 0, sizeof *x);
    x->sys = create_system(reference, NULL, NULL);
    x->options = bg_default_run_options();
    x->options.integrator = method;
    x->options.method.step = h;
    x->options.skip_comparison = 1; /* not what is looked at here */
    x->options.method.settings = x->settings;
    snprintf(x->text, sizeof x->text, "%s", options);
    char *save = NULL;
    for (char *item = strtok_r(x->text, " ", &save); item; item = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(item, '=');
        assert_non_null(equals);
        *equals = '\0';
        x->settings[x->options.method.nsettings++] = (bg_setting){item, equals + 1};
    }
}

static void job_run(euler_job *x)
{
    bg_error err = {BG_OK, ""};
    assert_ok(bg_run(x->sys, &x->options, &x->report, &err));
}

static void job_end(euler_job *x)
{
    bg_run_report_clear(&x->report);
    bg_system_destroy(x->sys);
}

static double max_g(const char *reference, const char *method, const char *options, double h,
                    double t_end)
{
    euler_job x;
    job_begin(&x, reference, method, options, h);
    x.options.t_end = t_end;
    job_run(&x);
    double g = x.report.certificate.max_g;
    if (x.report.certificate.has_drift && x.report.certificate.drift.holds)
        assert_true(x.report.certificate.drift.observed <= x.report.certificate.drift.limit);
    job_end(&x);
    return g;
}

/* Times of fixed steps are multiples of the step, not a sum of roundings: a minute has as many
 * milliseconds as it should, the last one a whole one. */
static void test_times(void **state)
{
    (void)state;
    euler_job x;
    job_begin(&x, "equations:pendulum", "euler", "", 1e-3);
    x.options.t_start = 0.3;
    x.options.t_end = 60.3;
    job_run(&x);
    assert_int_equal(x.report.counters.accepted, 60000);
    assert_true(x.report.final->t == 60.3);
    job_end(&x);
}

/* 000 Fig. 6: the largest |g| of the car axle is O(h) without stabilisation, O(h^2) with
 * Baumgarte's, O(h^3) with one Newton step of projection. Unstabilised index 1 reaches its slope
 * only at small steps, where velocity and position errors no longer cancel each other. */
static void test_drift(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        double h, order;
    } rows[] = {
        {"index=1 stabilisation=none", 2e-5, 1},
        {"index=2 stabilisation=none", 4e-3, 1},
        {"index=1 stabilisation=velocity", 4e-3, 1},
        {"index=1 stabilisation=baumgarte", 4e-3, 2},
        {"index=2 stabilisation=baumgarte", 4e-3, 2},
        {"index=1 stabilisation=regularise", 4e-3, 2},
        {"index=1 stabilisation=project", 4e-3, 3},
        {"index=2 stabilisation=project", 4e-3, 3},
        {"index=ggl stabilisation=none", 4e-3, 3},
        {"jacobian=exact index=1 stabilisation=project", 2e-3, 3},
        {"jacobian=semi index=1 stabilisation=project", 2e-3, 3},
        {"jacobian=J1 index=2 stabilisation=project", 4e-3, 3},
        {"jacobian=J3 index=1 stabilisation=project", 4e-3, 3},
    };
    /* the first takes two million steps: too many for the sanitizers */
    for (size_t k = SANITIZED ? 1 : 0; k < sizeof rows / sizeof *rows; k++) {
        double h[4], g[4];
        for (int i = 0; i < 4; i++) {
            h[i] = rows[k].h / (1 << i);
            g[i] = max_g("equations:car-axle", "linear-euler", rows[k].options, h[i], 3);
        }
        double slope = fit_order(4, h, g);
        print_message("%-46s %.1e .. %.1e, slope %.2f\n", rows[k].options, g[0], g[3], slope);
        assert_true(fabs(slope - rows[k].order) < 0.2);
    }
}

/* The bound of section 3.4 holds wherever its conditions do, on systems with moving, rheonomic and
 * strongly curved constraints; a step too large for it is told. */
static void test_certificate(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:car-axle", "equations:circular-track",
                                          "equations:slider-crank", "equations:pendulum"};
    int holds = 0, fails = 0;
    for (int s = 0; s < 4; s++)
        for (double h = 0.9; h > 2e-5; h /= 3) {
            euler_job x;
            bg_error err = {BG_OK, ""};
            job_begin(&x, systems[s], "linear-euler", "index=1 stabilisation=project", h);
            x.options.t_end = fmin(bg_system_get_def(x.sys)->t_end, 2000 * h);
            bg_status st = bg_run(x.sys, &x.options, &x.report, &err);
            const bg_certificate *c = &x.report.certificate;
            assert_true(c->has_drift || st != BG_OK);
            if (c->has_drift && c->drift.holds) {
                if (c->drift.observed > c->drift.limit)
                    fail_msg("%s at h = %g: |g| = %g beyond %g", systems[s], h, c->drift.observed,
                             c->drift.limit);
                holds++;
            } else {
                fails++;
            }
            job_end(&x);
        }
    print_message("certified in %d runs, refused in %d\n", holds, fails);
    assert_true(holds > 12 && fails > 1);
}

/* 000 section 2: the limits measured with the implemented steps are those of the closed forms. */
static void test_stability(void **state)
{
    (void)state;
    static const bg_setting jacobians[] = {{"jacobian", "none"},  {"jacobian", "J1"},
                                           {"jacobian", "J2"},    {"jacobian", "J3"},
                                           {"jacobian", "exact"}, {"jacobian", "semi"}};
    bg_error err = {BG_OK, ""};
    double worst = 0;
    for (int m = 0; m < 7; m++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) {
                bg_stability_method method = {m < 6 ? "linear-euler" : "euler", &jacobians[m % 6],
                                              m < 6};
                double a = pow(10, i), b = 0.37 * pow(6, j), found;
                const bg_stability_theory *theory = bg_stability_find_theory(&method);
                assert_non_null(theory);
                double expected = theory->calc_limit(a, b);
                assert_ok(bg_stability_find_limit(&method, a, b, &found, &err));
                if (isinf(expected)) {
                    assert_true(isinf(found));
                    continue;
                }
                worst = fmax(worst, fabs(found / expected - 1));
                if (!(fabs(found / expected - 1) < 0.01))
                    fail_msg("%s %s, a = %g, b = %g: limit %g, expected %g", method.integrator,
                             jacobians[m % 6].value, a, b, found, expected);
            }
    print_message("stability limits of 7 methods at 25 pairs (a, b) within %.1e\n", worst);
}

/* The excess is negative just where the spectral radius is below 1. */
static void test_excess(void **state)
{
    (void)state;
    int stable = 0, unstable = 0;
    srand(5);
    for (int k = 0; k < 2000; k++) {
        double A[2][2];
        for (int i = 0; i < 4; i++)
            A[i / 2][i % 2] = 3.0 * rand() / RAND_MAX - 1.5;
        double half = 0.5 * (A[0][0] + A[1][1]), det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
        double root = half * half - det;
        double radius = root >= 0 ? fabs(half) + sqrt(root) : sqrt(det);
        assert_true((radius < 1) == (bg_stability_calc_excess(A) < 0));
        stable += radius < 1;
        unstable += radius > 1;
    }
    assert_true(stable > 100 && unstable > 100);
}

/* Order 1 of positions, velocities and states, whatever the options. */
static void test_order(void **state)
{
    (void)state;
    static const char *const options[] = {"jacobian=none index=1",
                                          "jacobian=exact index=1",
                                          "jacobian=J1 index=2",
                                          "jacobian=J2 index=ggl",
                                          "jacobian=J3 index=1",
                                          "jacobian=semi index=1",
                                          "jacobian=exact index=2",
                                          "jacobian=J2 index=1 refresh=4",
                                          "jacobian=J2 index=1 partition=auto"};
    static const char *const systems[] = {"equations:slider-crank", "equations:circular-track"};
    for (int s = 0; s < 2; s++) {
        euler_job fine;
        double t_end = 0.2;
        bg_error err = {BG_OK, ""};
        job_begin(&fine, systems[s], "mdop5", "", 0);
        fine.options.t_end = t_end;
        fine.options.method.rtol = fine.options.method.atol = 1e-11;
        job_run(&fine);
        const bg_system_def *def = bg_system_get_def(fine.sys);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            enum { STEPS = SANITIZED ? 2 : 4 };
            double h[STEPS], e[3][STEPS] = {{0}};
            for (int i = 0; i < STEPS; i++) {
                euler_job x;
                h[i] = 4e-5 / (1 << i);
                job_begin(&x, systems[s], "linear-euler", options[k], h[i]);
                x.options.t_end = t_end;
                assert_ok(bg_run(x.sys, &x.options, &x.report, &err));
                for (int j = 0; j < def->nq; j++)
                    e[0][i] = fmax(e[0][i], fabs(x.report.final->q[j] - fine.report.final->q[j]));
                for (int j = 0; j < def->nv; j++)
                    e[1][i] = fmax(e[1][i], fabs(x.report.final->v[j] - fine.report.final->v[j]));
                for (int j = 0; j < def->nz; j++)
                    e[2][i] = fmax(e[2][i], fabs(x.report.final->z[j] - fine.report.final->z[j]));
                job_end(&x);
            }
            for (int part = 0; part < (def->nz > 0 ? 3 : 2); part++) {
                double order = fit_order(STEPS, h, e[part]);
                if (!(fabs(order - 1) < 0.15))
                    fail_msg("%s %s: order %.2f of %c (errors %.1e .. %.1e)", systems[s],
                             options[k], order, "qvz"[part], e[part][0], e[part][STEPS - 1]);
            }
        }
        job_end(&fine);
    }
}

/* What is announced is what is done, in every step. */
static void test_plan(void **state)
{
    (void)state;
    static const char *const jacobians[] = {"none", "exact", "J1", "J2", "J3", "semi"};
    static const char *const indices[] = {"1", "2", "ggl"};
    static const char *const ways[] = {"none", "baumgarte", "velocity", "project", "regularise"};
    static const char *const systems[] = {"equations:car-axle", "equations:chain",
                                          "equations:circular-track"};
    int compared = 0;
    for (int s = 0; s < 3; s++)
        for (int c = 0; c < 6 * 3 * 5; c++) {
            bg_error err = {BG_OK, ""};
            bg_setting settings[] = {{"jacobian", jacobians[c % 6]},
                                     {"index", indices[c / 6 % 3]},
                                     {"stabilisation", ways[c / 18]},
                                     {"newton_steps", c % 2 ? "1" : "3"},
                                     {"refresh", c % 4 ? "1" : "5"}};
            bg_integrator_options o = bg_default_integrator_options();
            bg_system *sys = create_system(systems[s], NULL, NULL);
            bg_assembly_report assembly;
            bg_integrator *ig;
            bg_state *x;
            bg_step_plan plan;
            enum { STEPS = 20 };
            o.step = 1e-4;
            o.energy = 0;
            o.settings = settings;
            o.nsettings = 5;
            if (bg_integrator_create("linear-euler", sys, &o, &ig, &err) != BG_OK) {
                assert_true(strcmp(settings[1].value, "1") != 0); /* refused, with the reason */
                bg_system_destroy(sys);
                continue;
            }
            assert_ok(bg_state_create(sys, &x, &err));
            assert_ok(bg_state_assemble(sys, x, &assembly, &err));
            assert_ok(bg_integrator_start(ig, x, &assembly.redundancy, 1, &err));
            assert_true(bg_integrator_get_plan(ig, &plan));
            for (int k = 0; k < 5; k++)
                assert_ok(bg_integrator_step(ig, &err));
            bg_counters counters = bg_integrator_get_counters(ig);
            const bg_work before = sum_work(&counters);
            for (int k = 0; k < STEPS; k++)
                assert_ok(bg_integrator_step(ig, &err));
            counters = bg_integrator_get_counters(ig);
            const bg_work after = sum_work(&counters);
            int jacobian = STEPS * plan.jacobian +
                           (plan.jacobian_every ? STEPS / plan.jacobian_every : 0);
            if (after.terms - before.terms != STEPS * plan.terms ||
                after.explicit_ - before.explicit_ != STEPS * plan.explicit_ ||
                after.factorisations - before.factorisations != STEPS * plan.factorisations ||
                after.projections - before.projections != STEPS * plan.projections ||
                after.jacobian - before.jacobian != jacobian)
                fail_msg(
                    "%s jacobian=%s index=%s stabilisation=%s: terms %ld of %d, factorisations "
                    "%ld of %d, projections %ld of %d, Jacobians %ld of %d",
                    systems[s], settings[0].value, settings[1].value, settings[2].value,
                    after.terms - before.terms, STEPS * plan.terms,
                    after.factorisations - before.factorisations, STEPS * plan.factorisations,
                    after.projections - before.projections, STEPS * plan.projections,
                    after.jacobian - before.jacobian, jacobian);
            compared++;
            bg_assembly_report_clear(&assembly);
            bg_integrator_destroy(ig);
            bg_state_destroy(x);
            bg_system_destroy(sys);
        }
    print_message("%d combinations of options do as planned\n", compared);
    assert_true(compared > 200);
}

static void expect_failure(const char *method, const char *options, double h, const char *words)
{
    euler_job x;
    bg_error err = {BG_OK, ""};
    job_begin(&x, "equations:car-axle", method, options, h);
    assert_int_equal(bg_run(x.sys, &x.options, &x.report, &err), BG_BAD_INPUT);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not speak of '%s'", err.text, words);
    job_end(&x);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_failure("euler", "", 0, "--step");
    expect_failure("linear-euler", "alpha=-1", 1e-3, "alpha");
    expect_failure("linear-euler", "newton_steps=0", 1e-3, "newton_steps");
    expect_failure("linear-euler", "newton_steps=2.5", 1e-3, "whole number");
    expect_failure("linear-euler", "newton_steps=1e300", 1e-3, "from 1 to 1000");
    expect_failure("linear-euler", "refresh=0", 1e-3, "whole number");
    expect_failure("linear-euler", "jacobian=J3 partition=auto", 1e-3, "J3 make none");
    expect_failure("linear-euler", "epsilon=0", 1e-3, "epsilon");
    expect_failure("linear-euler", "stabilisation=project alpha=10", 1e-3, "alpha=auto");
    expect_failure("euler", "stabilisation=baumgarte index=2 beta=10", 1e-3, "beta=auto");
    expect_failure("euler", "stabilisation=baumgarte epsilon=1e-6", 1e-3, "epsilon=auto");
    expect_failure("linear-euler", "partition=stiff", 1e-3, "run.stiff");
    expect_failure("linear-euler", "index=2 stabilisation=regularise", 1e-3, "index=1");
    expect_failure("linear-euler", "index=ggl stabilisation=baumgarte", 1e-3, "ggl");
    expect_failure("euler", "jacobian=J1", 1e-3, "jacobian");
}

/* Baumgarte's parameters are refused just where they let errors of the constraints grow: alpha up
 * to `most`/h, with beta = alpha^2, leaves the circular track on its circle, more is refused. (At
 * 1.03 times these limits |g| grew beyond 0.3 in 5 s in every row, when it was allowed.) */
static void test_feedback(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        double most;
    } rows[] = {
        {"jacobian=J2 index=1 stabilisation=baumgarte", 2},
        {"jacobian=none index=1 stabilisation=baumgarte", 2},
        {"jacobian=J3 index=1 stabilisation=regularise", 2},
        {"jacobian=J2 index=2 stabilisation=baumgarte", 2},
        {"jacobian=exact index=1 stabilisation=baumgarte", 0.8284271247461903},
        {"jacobian=semi index=1 stabilisation=baumgarte", 0.8284271247461903},
        {"jacobian=exact index=2 stabilisation=baumgarte", 2.0 / 3},
        {"jacobian=semi index=2 stabilisation=baumgarte", 2.0 / 3},
    };
    const double h = 1e-3;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char options[128];
        snprintf(options, sizeof options, "%s alpha=%.17g", rows[k].options,
                 0.97 * rows[k].most / h);
        assert_true(max_g("equations:circular-track", "linear-euler", options, h, 5) < 1e-4);
        snprintf(options, sizeof options, "%s alpha=%.17g", rows[k].options,
                 1.001 * rows[k].most / h);
        expect_failure("linear-euler", options, h, "let errors of the constraints grow");
    }
    expect_failure("linear-euler", "stabilisation=baumgarte alpha=10 beta=1e5", h,
                   "beta = 100000/s^2");
}

/* 000 Fig. 7: explicit Euler cannot hold the car axle's springs at 1 ms, J1, J2 and J3 can. */
static void test_car_axle(void **state)
{
    (void)state;
    static const char *const stable[] = {"jacobian=J1",
                                         "jacobian=J2",
                                         "jacobian=J3",
                                         "jacobian=exact",
                                         "jacobian=semi",
                                         "jacobian=J1 partition=auto",
                                         "jacobian=J2 partition=auto",
                                         "jacobian=exact partition=auto",
                                         "jacobian=semi partition=auto"};
    const int n = sizeof stable / sizeof *stable;
    const double reference[4] = {0.493455784275402809122e-1, 0.496989460230171153861,
                                 0.104174252488542151681e1, 0.373911027265361256927};
    for (int k = 0; k <= n; k++) {
        euler_job x;
        double error = 0;
        job_begin(&x, "equations:car-axle", "linear-euler", k < n ? stable[k] : "jacobian=none",
                  1e-3);
        job_run(&x);
        for (int i = 0; i < 4; i++)
            error = fmax(error, fabs(x.report.final->q[i] - reference[i]));
        print_message("%-30s error at t = 3 s: %.1e m\n", k < n ? stable[k] : "explicit", error);
        assert_true(k < n ? error < 0.03 : error > 0.1);
        job_end(&x);
    }
}

/* Bricard's linkage, with a redundant constraint: the methods that let constraints drift run it,
 * too; what drifts no more than the constraints it depends on contradicts nothing. */
static void test_redundant(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        double most; /* |g|: of the order h, h^2, h^3 */
    } rows[] = {
        {"index=1 stabilisation=none", 1e-2},      {"index=1 stabilisation=velocity", 1e-2},
        {"index=1 stabilisation=baumgarte", 1e-4}, {"index=1 stabilisation=regularise", 1e-4},
        {"index=2 stabilisation=baumgarte", 1e-4}, {"index=ggl stabilisation=none", 1e-7}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        euler_job x;
        bg_model *model;
        bg_error err = {BG_OK, ""};
        job_begin(&x, "equations:pendulum", "linear-euler", rows[k].options, 1e-3);
        bg_system_destroy(x.sys);
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a04-bricard.json", NULL, 0, &model,
                                &err));
        assert_ok(bg_model_create_system(model, "joint", &x.sys, &err));
        x.options.t_end = 1;
        job_run(&x);
        assert_int_equal(x.report.assembly.redundancy.count, 1);
        assert_true(x.report.certificate.max_g > 0 && x.report.certificate.max_g < rows[k].most);
        job_end(&x);
        bg_model_destroy(model);
    }
}

/* The epsilon of the regularisation matters where multipliers change quickly: two four-bars through
 * their singular positions. Far below 1 it does not on the car axle, whose constraints stay far
 * from dependence. */
static void test_epsilon(void **state)
{
    (void)state;
    static const char *const options[] = {"index=1 stabilisation=regularise epsilon=1e-8",
                                          "index=1 stabilisation=regularise epsilon=1e-2"};
    static const char *const small[] = {"index=1 stabilisation=regularise epsilon=2.5e-12",
                                        "index=1 stabilisation=regularise epsilon=2.5e-6"};
    double bars[2], axle[2];
    for (int k = 0; k < 2; k++) {
        euler_job x;
        bg_model *model;
        bg_error err = {BG_OK, ""};
        job_begin(&x, "equations:car-axle", "linear-euler", small[k], 1e-3);
        job_run(&x);
        axle[k] = x.report.certificate.max_g;
        job_end(&x);
        job_begin(&x, "equations:car-axle", "linear-euler", options[k], 1e-3);
        bg_system_destroy(x.sys);
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", NULL, 0,
                                &model, &err));
        assert_ok(bg_model_create_system(model, "joint", &x.sys, &err));
        x.options.t_end = 3;
        job_run(&x);
        bars[k] = x.report.certificate.max_g;
        job_end(&x);
        bg_model_destroy(model);
    }
    print_message(
        "|g| with epsilon 1e-8, 1e-2: %.1e, %.1e (four-bars), 2.5e-12, 2.5e-6: %.9e, %.9e (axle)\n",
        bars[0], bars[1], axle[0], axle[1]);
    assert_true(bars[0] > 0 && bars[1] > 100 * bars[0]);
    assert_true(fabs(axle[1] - axle[0]) < 1e-6 * axle[0]);
}

/* A four-bar with a hinge and a ball between its rods, k times as heavy: the last coordinates of
 * all bodies. */
static void run_heavy(const char *k, const char *form, const char *epsilon, double *q, int *nq)
{
    static const char text[] =
        "{\"parameters\": {\"k\": 1}, \"bodies\": {"
        "\"a\": {\"mass\": \"2*k\", \"center\": [0.5, 0, 0.1], \"inertia\": [\"0.1*k\", \"0.2*k\", "
        "\"0.2*k\"]},"
        "\"b\": {\"mass\": \"k\", \"center\": [1, 0.1, 0.5], \"inertia\": [\"0.1*k\", \"0.1*k\", "
        "\"0.1*k\"]},"
        "\"c\": {\"mass\": \"3*k\", \"center\": [1.5, 0, 1], \"inertia\": [\"0.1*k\", \"0.3*k\", "
        "\"0.3*k\"]}},"
        "\"joints\": {"
        "\"A\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], \"at\": [0, 0, 0], "
        "\"axis\": [0, 1, 0],"
        " \"initial\": {\"velocity\": 1}},"
        "\"B\": {\"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], \"at\": [1, 0, 0], \"axis\": "
        "[0, 1, 0]},"
        "\"C\": {\"type\": \"spherical\", \"bodies\": [\"b\", \"c\"], \"at\": [1, 0, 1]},"
        "\"D\": {\"type\": \"universal\", \"bodies\": [\"ground\", \"c\"], \"at\": [2, 0, 1.2], "
        "\"axis\": [0, 1, 0],"
        " \"second\": [1, 0, 0]}}}";
    const bg_setting setting = {"parameters.k", k};
    char options[96];
    bg_error err = {BG_OK, ""};
    bg_model *model;
    euler_job x;
    snprintf(options, sizeof options, "index=1 stabilisation=regularise epsilon=%s", epsilon);
    job_begin(&x, "equations:pendulum", "linear-euler", options, 1e-3);
    bg_system_destroy(x.sys);
    assert_ok(bg_model_parse(text, "heavy", &setting, 1, &model, &err));
    assert_ok(bg_model_create_system(model, form, &x.sys, &err));
    x.options.t_end = 0.3;
    job_run(&x);
    *nq = bg_system_get_def(x.sys)->nq;
    assert_true(*nq <= 21);
    memcpy(q, x.report.final->q, (size_t)*nq * sizeof(double));
    job_end(&x);
    bg_model_destroy(model);
}

/* Masses do not matter where weight is the only force, whatever epsilon is. */
static void test_epsilon_of_masses(void **state)
{
    (void)state;
    static const char *const epsilons[] = {"1e-3", "0.1", "1"};
    double worst = 0, effect = 0;
    for (int f = 0; f < 2; f++)
        for (int e = 0; e < 3; e++) {
            static const char *const masses[] = {"1", "1000", "0.001"};
            double q[3][21], exact[21];
            int nq;
            run_heavy("1", f ? "cartesian" : "joint", "1e-12", exact, &nq);
            for (int k = 0; k < 3; k++)
                run_heavy(masses[k], f ? "cartesian" : "joint", epsilons[e], q[k], &nq);
            for (int i = 0; i < nq; i++) {
                worst = fmax(worst, fmax(fabs(q[1][i] - q[0][i]), fabs(q[2][i] - q[0][i])));
                effect = fmax(effect, fabs(q[0][i] - exact[i]));
            }
        }
    print_message("masses change %.1e, epsilon %.1e\n", worst, effect);
    assert_true(effect > 1e-6);
    assert_true(worst < 1e-9);
}

/* A pendulum whose horizontal force is always zero and never written (and whose rod is there
 * twice): with every Jacobian it stays on its circle. */
static void test_unwritten_entries(void **state)
{
    (void)state;
    static const char *const options[] = {"jacobian=none", "jacobian=exact", "jacobian=J1",
                                          "jacobian=J2",   "jacobian=J3",    "jacobian=semi"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        assert_true(max_g(BOGIE_PLUGIN_DIR "/redundant.so", "linear-euler", options[k], 1e-3, 1) <
                    1e-6);
}

/* Two coordinates of mass matrix [1 c; c 1], each on a spring, without damping. Scaled by the
 * diagonal of M an entry of h^2 K looks small, but the mass of q0 - q1 is only 1 - c. */
typedef struct pair {
    double coupling, stiffness;
} pair;

static int pair_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const pair *s = self;
    if (want & BG_TERM_M) {
        out->M[0] = out->M[3] = 1;
        out->M[1] = out->M[2] = s->coupling;
    }
    for (int i = 0; i < 2 && (want & BG_TERM_f); i++)
        out->f[i] = -s->stiffness * p->q[i];
    return 0;
}

static int pair_derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                            bg_derivatives *out)
{
    const pair *s = self;
    double *r_q = out->block[BG_OF_r][BG_BY_q];
    (void)p, (void)a, (void)lambda;
    if (r_q)
        r_q[0] = r_q[3] = s->stiffness;
    return 0;
}

/* The largest |q| in 20 000 steps from (1, -1), and what is said of the partition; the integrator
 * has been started on a soft system before. */
static double run_pair(pair *s, const char *jacobian, double h, char note[256])
{
    bg_system_def def = bg_default_system_def();
    bg_integrator_options o = bg_default_integrator_options();
    bg_setting settings[] = {{"jacobian", jacobian}, {"partition", "auto"}};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_state *x;
    bg_integrator *ig;
    double largest = 0;
    def.name = "pair";
    def.nq = def.nv = 2;
    def.self = s;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = pair_terms;
    def.derivative_supplied[BG_OF_r][BG_BY_q] = def.derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def.derivatives = pair_derivatives;
    o.step = h;
    o.energy = 0;
    o.settings = settings;
    o.nsettings = 2;
    assert_ok(bg_system_create(&def, &sys, &err));
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_integrator_create("linear-euler", sys, &o, &ig, &err));
    x->q[0] = 1;
    x->q[1] = -1;
    double stiffness = s->stiffness;
    s->stiffness = 1;
    assert_ok(bg_integrator_start(ig, x, NULL, 1e9, &err));
    assert_ok(bg_integrator_step(ig, &err));
    s->stiffness = stiffness;
    assert_ok(bg_integrator_start(ig, x, NULL, 1e9, &err));
    for (int k = 0; k < (SANITIZED ? 2000 : 20000); k++) {
        assert_ok(bg_integrator_step(ig, &err));
        largest = fmax(largest, fabs(bg_integrator_get_state(ig)->q[0]));
    }
    bg_integrator_describe(ig, note, 256);
    bg_integrator_destroy(ig);
    bg_state_destroy(x);
    bg_system_destroy(sys);
    return largest;
}

/* partition=auto leaves out what it can and not more: undamped vibrations do not grow, whether the
 * entries are left out (stiffness 0.04/h^2, masses apart), must stay because masses are coupled, or
 * must stay because they are stiff. */
static void test_partition(void **state)
{
    (void)state;
    static const char *const jacobians[] = {"J2", "exact", "semi"};
    static const struct {
        pair system;
        const char *keeps;
    } rows[] = {
        {{0, 0.04}, "keeps 0 of 2"}, {{0.999, 0.04}, "keeps 2 of 2"}, {{0, 40}, "keeps 2 of 2"}};
    const double h = 1e-3;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) {
            pair s = rows[k].system;
            char note[256];
            s.stiffness /= h * h;
            double largest = run_pair(&s, jacobians[j], h, note);
            if (!(largest < 1.5) || !strstr(note, rows[k].keeps))
                fail_msg("%s, coupling %g: amplitude %g, %s", jacobians[j], s.coupling, largest,
                         note);
        }
}

/* A mass on a spring that a lagging state pulls; it notes which derivatives it is asked for. */
static int lag_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_M)
        out->M[0] = 2;
    if (want & BG_TERM_f)
        out->f[0] = p->z[0] - 30 * p->q[0] - p->v[0];
    if (want & BG_TERM_h)
        out->h[0] = (sin(p->t) - p->q[0] - p->z[0]) / 0.1;
    return 0;
}

static int lag_derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                           bg_derivatives *out)
{
    unsigned char(*asked)[BG_BY_COUNT] = self;
    static const double values[2][3] = {{30, 1, -1}, {-10, 0, -10}}; /* of r and h by q, v, z */
    (void)p, (void)a, (void)lambda;
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++)
            if (out->block[of][by]) {
                asked[of][by] = 1;
                if (of <= BG_OF_h && by <= BG_BY_z)
                    out->block[of][by][0] = values[of][by];
            }
    return 0;
}

/* The plan says of what derivatives are made: J3 has none of the forces, but those of the rates of
 * states, which it solves for like the others; explicit Euler has none. */
static void test_asked(void **state)
{
    (void)state;
    static const struct {
        const char *jacobian;
        int r, h;
    } rows[] = {{"none", 0, 0}, {"J1", 1, 1},    {"J2", 1, 1},
                {"J3", 0, 1},   {"exact", 1, 1}, {"semi", 1, 1}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        unsigned char asked[BG_OF_COUNT][BG_BY_COUNT] = {{0}};
        bg_system_def def = bg_default_system_def();
        bg_integrator_options o = bg_default_integrator_options();
        bg_setting setting = {"jacobian", rows[k].jacobian};
        bg_error err = {BG_OK, ""};
        bg_step_plan plan;
        bg_system *sys;
        bg_state *x;
        bg_integrator *ig;
        def.nq = def.nv = def.nz = 1;
        def.self = asked;
        def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h;
        def.terms = lag_terms;
        def.derivatives = lag_derivatives;
        for (int of = 0; of <= BG_OF_h; of++)
            for (int by = 0; by <= BG_BY_z; by++)
                def.derivative_supplied[of][by] = 1;
        o.step = 1e-3;
        o.settings = &setting;
        o.nsettings = 1;
        assert_ok(bg_system_create(&def, &sys, &err));
        assert_ok(bg_state_create(sys, &x, &err));
        assert_ok(bg_integrator_create("linear-euler", sys, &o, &ig, &err));
        assert_ok(bg_integrator_start(ig, x, NULL, 1, &err));
        assert_ok(bg_integrator_step(ig, &err));
        assert_true(bg_integrator_get_plan(ig, &plan));
        assert_true(plan.jacobian_r == rows[k].r && plan.jacobian_h == rows[k].h);
        assert_true(plan.states == rows[k].h && plan.solutions == 0);
        assert_true(asked[BG_OF_r][BG_BY_q] == rows[k].r && asked[BG_OF_r][BG_BY_v] == rows[k].r);
        assert_true(asked[BG_OF_h][BG_BY_q] == rows[k].h && asked[BG_OF_h][BG_BY_v] == rows[k].h);
        assert_true(asked[BG_OF_h][BG_BY_z] == rows[k].h && !asked[BG_OF_r][BG_BY_z]);
        bg_integrator_destroy(ig);
        bg_state_destroy(x);
        bg_system_destroy(sys);
    }
}

/* What partition=auto costs J1: of h^2 a <= 2 h b + 4 at most 0.2, where damping was left out (h b
 * up to 0.05), and nothing where it is kept. J2 and exact stay stable at any step. */
static void test_cost_of_auto(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double most = 0;
    for (int k = 0; k < 40; k++) {
        bg_setting settings[] = {{"jacobian", "J1"}, {"partition", "auto"}};
        bg_stability_method method = {"linear-euler", settings, 2};
        double a = pow(10, k % 5), b = 2e-3 * sqrt(a) * pow(1.3, k / 5 * 3), h;
        assert_null(bg_stability_find_theory(&method));
        assert_ok(bg_stability_find_limit(&method, a, b, &h, &err));
        double lost = 2 * h * b + 4 - h * h * a;
        most = fmax(most, lost);
        if (!(lost > -1e-6 && lost < 0.2 + 1e-6))
            fail_msg("a = %g, b = %g: stable up to h = %g, %g of the limit lost", a, b, h, lost);
        for (int j = 0; j < 2; j++) {
            settings[0].value = j ? "exact" : "J2";
            assert_ok(bg_stability_find_limit(&method, a, b, &h, &err));
            assert_true(isinf(h));
        }
    }
    print_message("partition=auto costs J1 up to %.3f of its limit\n", most);
    assert_true(most > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_stability),
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_car_axle),
        cmocka_unit_test(test_feedback),
        cmocka_unit_test(test_partition),
        cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_epsilon),
        cmocka_unit_test(test_epsilon_of_masses),
        cmocka_unit_test(test_unwritten_entries),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_cost_of_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
