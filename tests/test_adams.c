/* adams: orders, steps and orders chosen on an ellipse, stiff decay, the HMMWV, and crank drives
 * that turn fully, so that other coordinates may become the independent ones on the way. Numbers of
 * steps are beside those of an independent program of the same formulas. */
#include "integrators/adams.h"
#include "model_support.h"
#include "plain_systems.h"
#include "turning_cranks.h"

#include "overconstrained.h"

/* Kepler's ellipse of half axis 1 and eccentricity 0.3 from its pericentre. */
static int ellipse_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    double r = hypot(p->q[0], p->q[1]);
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    for (int i = 0; i < 2 && (want & BG_TERM_f); i++)
        out->f[i] = -p->q[i] / (r * r * r);
    return 0;
}

static bg_system *create_ellipse(void)
{
    static const double q0[] = {0.7, 0};
    static double v0[] = {0, 0};
    v0[1] = sqrt(1.3 / 0.7);
    return create_plain("ellipse", 2, NULL, ellipse_terms, q0, v0);
}

/* Starts `x` with an option. */
static void begin(trajectory *x, bg_system *sys, const char *option, const char *value,
                  double tolerance, double step, double t_end)
{
    bg_error err = {BG_OK, ""};
    memset(x, 0, sizeof *x);
    x->sys = sys;
    x->options = bg_default_integrator_options();
    x->options.rtol = x->options.atol = tolerance;
    x->options.step = step;
    x->settings[0] = (bg_setting){option, value};
    x->options.settings = x->settings;
    x->options.nsettings = option ? 1 : 0;
    assert_ok(bg_state_create(sys, &x->start, &err));
    assert_ok(bg_state_assemble(sys, x->start, &x->assembly, &err));
    assert_ok(bg_integrator_create("adams", sys, &x->options, &x->ig, &err));
    assert_ok(bg_integrator_start(x->ig, x->start, &x->assembly.redundancy, t_end, &err));
}

static double calc_distance(const double *x, const double *y, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Moulton's coefficients, as far as they are printed. */
static void test_coefficients(void **state)
{
    (void)state;
    static const double known[] = {
        1,          -1.0 / 2,       -1.0 / 12,      -1.0 / 24,         -19.0 / 720,
        -3.0 / 160, -863.0 / 60480, -275.0 / 24192, -33953.0 / 3628800};
    double gamma[BG_ADAMS_ORDER_MAX + 2];
    bg_adams_calc_gamma(gamma);
    for (int k = 0; k < (int)(sizeof known / sizeof *known); k++)
        assert_near(gamma[k], known[k], 1e-15);
    assert_near(gamma[12], -0.00524, 5e-6);
}

/* The formula of order k with its correction is of order k + 1. */
static void test_orders(void **state)
{
    (void)state;
    const double span = 5;
    double exact[4];
    bg_system *sys = create_ellipse();
    trajectory fine;
    trajectory_begin(&fine, sys, "mdop8", NULL, 1e-14, 0, span);
    memcpy(exact, trajectory_run(&fine, span)->q, sizeof exact);
    trajectory_end(&fine);
    for (int k = 1; k <= 7; k++) {
        double h[3], error[3];
        char order[16];
        snprintf(order, sizeof order, "%d", k);
        for (int i = 0; i < 3; i++) {
            trajectory x;
            h[i] = span / ((k < 3 ? 400 : k < 7 ? 156 : 125) << i);
            begin(&x, sys, "max_order", order, 1e-6, h[i], span);
            error[i] = calc_distance(trajectory_run(&x, span)->q, exact, 4);
            trajectory_end(&x);
        }
        double slope = fit_order(3, h, error);
        print_message("max_order %d: order %.2f, errors %.1e .. %.1e\n", k, slope, error[0],
                      error[2]);
        assert_true(slope > k + 0.6 && slope < k + 1.45);
    }
    bg_system_destroy(sys);
}

/* Three turns with free order. */
static void test_steps(void **state)
{
    (void)state;
    static const struct {
        double tolerance;
        int steps;
    } known[] = {{1e-3, 73}, {1e-5, 129}, {1e-7, 204}, {1e-9, 308}, {1e-11, 447}};
    const double span = 6 * M_PI;
    double before = 0;
    for (int k = 0; k < 5; k++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_ellipse();
        trajectory x;
        double order = 0;
        begin(&x, sys, NULL, NULL, known[k].tolerance, 0, span);
        while (bg_integrator_get_state(x.ig)->t < span) {
            assert_ok(bg_integrator_step(x.ig, &err));
            order += bg_integrator_get_order(x.ig);
        }
        bg_counters c = bg_integrator_get_counters(x.ig);
        const bg_state *end = bg_integrator_get_state(x.ig);
        double error = hypot(end->q[0] - 0.7, end->q[1]);
        order /= (double)c.accepted;
        print_message("tolerance %.0e: %ld steps, %ld rejected, mean order %.1f, error %.1e\n",
                      known[k].tolerance, c.accepted, c.rejected, order, error);
        assert_true(fabs((double)c.accepted - known[k].steps) < 0.15 * known[k].steps);
        assert_true(c.rejected <= 10);
        assert_true(order > 5 && order < 11.5 && order > before);
        before = order;
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Where stability limits the step, it does so at every tolerance alike, with h |lambda| of 1.5 to
 * 1.7 on average and orders about 3.5. */
static void test_stiff(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        static const double tolerance[] = {1e-2, 1e-4, 1e-6};
        static const double q0[] = {0}, v0[] = {1};
        double rate = k % 2 ? 1e4 : 1e3, order = 0, span = 2000 / rate;
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_plain("decay", 1, &rate, decay_terms, q0, v0);
        trajectory x;
        begin(&x, sys, NULL, NULL, tolerance[k / 2], 0, span);
        while (bg_integrator_get_state(x.ig)->t < span) {
            assert_ok(bg_integrator_step(x.ig, &err));
            order += bg_integrator_get_order(x.ig);
        }
        bg_counters c = bg_integrator_get_counters(x.ig);
        double length = 2000 / (double)c.accepted;
        order /= (double)c.accepted;
        print_message("rate %g, tolerance %g: h |lambda| %.2f, order %.1f, %.0f %% rejected\n",
                      rate, tolerance[k / 2], length, order,
                      100.0 * (double)c.rejected / (double)(c.accepted + c.rejected));
        assert_true(length > 1.3 && length < 1.9);
        assert_true(order > 2.5 && order < 4.5);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* The bushings of the HMMWV ask for 3.5e5 evaluations a second, whatever the tolerance is. */
static void test_hmmwv(void **state)
{
    (void)state;
    const double span = SANITIZED ? 6e-3 : 2e-2;
    double least = HUGE_VAL, most = 0;
    for (int k = 0; k < 4; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        trajectory x;
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/hmmwv14.json", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, "joint", &sys, &err));
        begin(&x, sys, NULL, NULL, pow(10, -2 - k), 0, span); /* from the design position */
        trajectory_run(&x, span);
        bg_counters c = bg_integrator_get_counters(x.ig);
        double count = 2 * (double)c.accepted + (double)c.rejected; /* the end is left out there */
        least = fmin(least, count / span);
        most = fmax(most, count / span);
        assert_int_equal(((bg_adams *)x.ig->method)->partition->changes, 0);
        trajectory_end(&x);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    print_message("HMMWV: %.3g to %.3g evaluations a second\n", least, most);
    assert_true(least > 3e5 && most < 4e5 && most < 1.1 * least);
}

/* Directions, or coordinates of which others become the independent ones: the order stays. */
static void test_turns(void **state)
{
    (void)state;
    static const char *const texts[] = {slider_crank, crank_rocker};
    static const char *const independent[] = {"directions", "coordinates"};
    for (int k = 0; k < 8; k += SANITIZED ? 5 : 1) {
        /* where errors do not change their sign between these steps */
        const double span = k < 4 ? 0.5 : 0.8;
        const int steps = k < 4 ? 1200 : 800;
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        char *copy = quote(texts[k / 2 % 2]);
        double h[3], error[3], exact[64];
        long changes = 0;
        assert_ok(bg_model_parse(copy, "turns", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        const int n = sys->def.nq + sys->def.nv;
        assert_true(n <= 64);
        for (int i = -1; i < 3; i++) {
            trajectory x;
            if (i < 0)
                trajectory_begin(&x, sys, "mdop8", NULL, 1e-14, 0, span);
            else
                begin(&x, sys, "independent", independent[k / 4], 1e-6, h[i] = span / (steps << i),
                      span);
            const bg_state *end = trajectory_run(&x, span);
            if (i < 0)
                memcpy(exact, end->q, (size_t)n * sizeof(double));
            else
                error[i] = calc_distance(end->q, exact, n);
            if (i >= 0)
                changes = ((bg_adams *)x.ig->method)->partition->changes;
            trajectory_end(&x);
        }
        double order = fit_order(3, h, error);
        print_message("%s, %s, %s: %ld changes, order %.2f, errors %.1e .. %.1e\n",
                      k / 2 % 2 ? "crank-rocker" : "slider-crank", forms[k % 2], independent[k / 4],
                      changes, order, error[0], error[2]);
        assert_true(k < 4 ? changes == 0 : changes > 0 || k % 2 == 0);
        assert_true(order > 4.7 && order < 5.7);
        bg_system_destroy(sys);
        bg_model_destroy(model);
        free(copy);
    }
}

/* What the first output of a mechanism ends with. */
static double run_mechanism(const char *json, const char *form, const char *method,
                            double tolerance)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report r = {0};
    assert_ok(bg_model_parse(json, "turned", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    assert_ok(bg_run(sys, &o, &r, &err));
    double y = r.y[0];
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return y;
}

/* A bar on three parallel cranks; a cart with a pole that falls over. */
static void write_bar(text *t, placement at)
{
    static const char *const names[][3] = {
        {"c0", "a0", "b0"}, {"c1", "a1", "b1"}, {"c2", "a2", "b2"}};
    const double x = 0.5 * cos(0.8), z = 0.5 * sin(0.8);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "bar", 4, AT(x + 1, 0, z), AT(0.1, 2, 2));
    for (int i = 0; i < 3; i++)
        put_body(t, names[i][0], 1 + 0.1 * i, AT(i * (1 + 0.1 * i) + x / 2, 0, z / 2),
                 AT(0.05, 0.05, 0.05));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < 3; i++) {
        const double *y = AT(0, 1, 0), foot = i * (1 + 0.1 * i);
        put_joint(t, names[i][1], "revolute", "ground", names[i][0], AT(foot, 0, 0), y,
                  i == 0 ? start_fast : "");
        put_joint(t, names[i][2], "revolute", names[i][0], "bar", AT(foot + x, 0, z), y, "");
    }
    end_model(t, "a0", 1);
}

static void write_pole(text *t, placement at)
{
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "cart", 2, AT(0, 0, 0), AT(0.1, 0.1, 0.1));
    put_body(t, "pole", 1, AT(0, 0, 0.5), AT(0.09, 0.09, 0.01));
    put(t, "}, \"joints\": {");
    put_joint(t, "rail", "prismatic", "ground", "cart", AT(0, 0, 0), AT(1, 0, 0), "");
    put_joint(t, "pin", "revolute", "cart", "pole", AT(0, 0, 0), AT(0, 1, 0), start_fast);
    end_model(t, "pin", 1.5);
}

/* Cartesian coordinates of a turned mechanism stand badly for its freedom soon: they are given up
 * before errors grow with it, and a tolerance means what it does in joint coordinates. */
static void test_tolerances(void **state)
{
    (void)state;
    const double tolerance = 1e-8;
    double worst = 0;
    unsigned seed = 3;
    for (int k = 0; k < (SANITIZED ? 4 : 16); k++) {
        static text t;
        placement at = as_drawn;
        at.turn = draw_turn(&seed);
        (k % 2 ? write_bar : write_pole)(&t, at);
        double exact = run_mechanism(t.buffer, "joint", "mdop8", 1e-11);
        double e = fabs(run_mechanism(t.buffer, "cartesian", "adams", tolerance) - exact);
        worst = fmax(worst, e);
    }
    print_message("turned, Cartesian form: errors up to %.0f tolerances\n", worst / tolerance);
    assert_true(worst < 300 * tolerance); /* 48 in joint coordinates */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coefficients), cmocka_unit_test(test_orders),
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_hmmwv),        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_tolerances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
