/* Where bdf may fail: each case ends in progress, or in one sentence with the time, what is worst
 * there, and the remedy. */
#include "bdf_support.h"
#include "failing_lines.h"

/* A run of a system to t_end, with options of the method. */
static bdf_outcome run_system(const bg_system_def *def, double tolerance, double step, double t_end,
                              const bg_setting *o, int n)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    assert_ok(bg_system_create(def, &sys, &err));
    bdf_outcome x = follow(sys, "bdf", tolerance, step, t_end, o, n);
    bg_system_destroy(sys);
    return x;
}

static double repel(double t, double x, double v)
{
    (void)t, (void)v;
    return 4 * x; /* omega 2/s: the matrix of backward Euler steps of 0.5 s is 1 - h^2 4 = 0 */
}

static double jump(double t, double x, double v)
{
    (void)t;
    return x < 0.5 ? -v : -50 - v;
}

static double pole(double t, double x, double v)
{
    (void)x, (void)v;
    return 1 / (0.5 - t) / (0.5 - t);
}

/* Negative stiffness at the very step that makes the matrix singular, and around it. */
static void test_singular_matrix(void **state)
{
    (void)state;
    static const double q0[] = {1e-3};
    static const bg_setting order[] = {{"max_order", "1"}};
    failing_line l = {repel};
    bg_system_def d = define_line(&l, q0, NULL);
    bdf_outcome x = run_system(&d, 1e-6, 0, 3, NULL, 0);
    assert_int_equal(x.status, BG_OK);
    assert_near(x.q[0] / (1e-3 * cosh(6)), 1, 1e-2);
    x = run_system(&d, 1e-6, 0.5, 3, order, 1);
    check_sentence(x.status, x.message, NAMES("'line'", "t = 0.5", "'block'", "try a smaller one"));
}

/* A force that jumps without an event, one that is not a number for trial points, one with a pole.
 */
static void test_forces(void **state)
{
    (void)state;
    static const double v0[] = {1}, slow[] = {0.97};
    failing_line l = {jump};
    bg_system_def d = define_line(&l, NULL, v0);
    bdf_outcome x = run_system(&d, 1e-6, 0, 2, NULL, 0);
    if (x.status != BG_OK)
        fail_msg("%s", x.message);
    assert_true(x.accepted < 2000);
    assert_near(x.q[0], 0.5 - 0.5 * (1 - exp(-(2 - log(2) - 0.02))), 1e-2); /* thrown back */
    l.force = root;
    d = define_line(&l, NULL, slow);
    x = run_system(&d, 1e-6, 0, 3, NULL, 0);
    assert_int_equal(x.status, BG_OK);
    assert_true(fabs(x.q[0]) < 0.2 && x.v[0] < -0.9);
    l.force = pole;
    d = define_line(&l, NULL, NULL);
    x = run_system(&d, 1e-6, 0, 2, NULL, 0);
    check_sentence(x.status, x.message, NAMES("t = 0.49999", "singular", "tolerances"));
}

/* Tolerances below rounding, of zero, intervals of one unit in the last place, steps without room.
 */
static void test_settings(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:slider-crank", NULL, NULL);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.integrator = "bdf";
    assert_int_equal(follow(sys, "bdf", 1e-14, 0, 1, NULL, 0).status, BG_OK);
    o.t_start = 1;
    o.t_end = nextafter(1, 2);
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_true(r.final->t == o.t_end && r.counters.accepted == 1);
    bg_run_report_clear(&r);
    o.t_start = 0;
    o.t_end = 1;
    static const double tolerances[][2] = {{0, 1e-6}, {1e-6, 0}};
    for (int k = 0; k < 2; k++) {
        o.method.rtol = tolerances[k][0];
        o.method.atol = tolerances[k][1];
        assert_true(bg_run(sys, &o, &r, &err) != BG_OK);
        assert_non_null(strstr(err.text, k ? "atol" : "rtol"));
        bg_run_report_clear(&r);
    }
    o.method = bg_default_run_options().method;
    o.method.h_max = 1e-20;
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_BAD_INPUT);
    assert_true(strstr(err.text, "h_max") && strstr(err.text, "t = 0") &&
                strstr(err.text, "allow longer"));
    bg_run_report_clear(&r);
    o.method.h_max = 1e-3;
    o.method.h_min = 1e-2;
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_BAD_INPUT);
    assert_true(strstr(err.text, "h_min") && strstr(err.text, "h_max"));
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* A top that spins with 100 rad/s, in fixed steps of 0.1 s, 10 rad each: a sentence; under error
 * control it keeps its spin. */
static void test_spin(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/gyroscope.json", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, "joint", &sys, &err));
    bdf_outcome x = follow(sys, "bdf", 1e-6, 0, 0.5, NULL, 0);
    bdf_outcome fine = follow(sys, "mdop8", 1e-11, 0, 0.5, NULL, 0);
    assert_true(x.status == BG_OK && calc_distance(&x, &fine) < 5e-2);
    x = follow(sys, "bdf", 1e-6, 0.1, 0.5, NULL, 0);
    check_sentence(x.status, x.message,
                   NAMES("'gyroscope'", "t = 0", "0.1 s", "'tip.w", "try a smaller one"));
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* A body that wobbles as it spins, half a radian in each fixed step: F1 alone leaves a quarter of
 * an error in every iteration of order 1, so that it takes many, but ends. */
static void test_wobble(void **state)
{
    (void)state;
    static const char *const spins[] = {"100, 0.1, 0", "0.2, 100, 0.1", "-100, 0, 0.1"};
    static const char *const orders[] = {"1", "2", "3", "4", "5"};
    for (int k = 0; k < 15; k++) {
        const bg_setting set = {"max_order", orders[k % 5]};
        bg_error err = {BG_OK, ""};
        bg_system *sys;
        char text[512];
        snprintf(text, sizeof text,
                 "{'gravity': 0, 'bodies': {'a': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, "
                 "2.5, 2], 'angular_velocity': [%s]}}, 'joints': {'f': {'type': 'spherical', "
                 "'bodies': ['ground', 'a'], 'at': [0, 0, 0]}}}",
                 spins[k / 5]);
        bg_model *model = parse_quoted(text);
        assert_ok(bg_model_create_system(model, "joint", &sys, &err));
        bdf_outcome x = follow(sys, "bdf", 1e-6, 0.005, 0.2, &set, 1);
        assert_true(x.status == BG_OK);
        assert_near(sqrt(x.v[0] * x.v[0] + x.v[1] * x.v[1] + x.v[2] * x.v[2]), 100, 1);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* A force with corners in time, without events. */
static double corner(double t, double x, double v)
{
    (void)x, (void)v;
    return fabs(sin(20 * t));
}

static int ticking_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    if (want & BG_TERM_s)
        out->s[0] = sin(2000 * p->t + 0.3);
    return line_terms(self, p, want, out);
}

/* Corners, and events in every step. */
static void test_corners_and_events(void **state)
{
    (void)state;
    failing_line l = {corner};
    bg_error err = {BG_OK, ""};
    bg_system_def d = define_line(&l, NULL, NULL);
    bdf_outcome x = run_system(&d, 1e-8, 0, M_PI / 20, NULL, 0);
    assert_int_equal(x.status, BG_OK);
    assert_near(x.v[0], 0.1, 1e-6); /* the integral over an arc */
    x = run_system(&d, 1e-8, 0, M_PI / 2, NULL, 0);
    assert_true(x.status == BG_OK && x.accepted < 3000);
    assert_near(x.v[0], 1, 1e-5);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bg_system *sys;
    d.ns = 1;
    d.supplied |= BG_TERM_s;
    d.terms = ticking_terms;
    o.integrator = "bdf";
    o.t_end = 1;
    assert_ok(bg_system_create(&d, &sys, &err));
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(r.nevents, 636); /* (2000 + 0.3) / pi */
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* A start that misses constraints of positions or velocities ends in a sentence; one without
 * multipliers goes on. */
static void test_inconsistent_start(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 3; k++) {
        bg_system *sys = create_system("equations:slider-crank", NULL, NULL);
        const bg_system_def *def = bg_system_get_def(sys);
        trajectory x = {.sys = sys, .options = bg_default_integrator_options()};
        assert_ok(bg_state_create(sys, &x.start, &err));
        assert_ok(bg_state_assemble(sys, x.start, &x.assembly, &err));
        x.start->q[0] += k == 0 ? 1e-3 : 0;
        x.start->v[1] += k == 1 ? 1e-2 : 0;
        for (int i = 0; i < def->ng; i++)
            x.start->lambda[i] = 0;
        assert_ok(bg_integrator_create("bdf", sys, &x.options, &x.ig, &err));
        assert_ok(bg_integrator_start(x.ig, x.start, &x.assembly.redundancy, 1, &err));
        bg_status st = BG_OK;
        while (st == BG_OK && bg_integrator_get_state(x.ig)->t < 1)
            st = bg_integrator_step(x.ig, &err);
        if (k < 2) {
            assert_int_equal(st, BG_STEP_TOO_SMALL);
            assert_non_null(strstr(err.text, "t = 0"));
            assert_non_null(strstr(err.text, "misses constraint '"));
            assert_non_null(strstr(err.text, "bg_state_assemble"));
        } else {
            bg_residuals now = bg_integrator_get_residuals(x.ig);
            assert_int_equal(st, BG_OK);
            assert_true(now.g < 1e-5 && now.gv < 1e-4);
        }
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Without energies the residuals at ends of steps are found when somebody asks, and are what they
 * are found on the way else: to the last bit, at the start, in every step and after the last. */
static void test_residuals_asked_for(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:slider-crank", "equations:car-axle",
                                          "equations:andrews"};
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_system(systems[k], NULL, NULL);
        trajectory x[2] = {{0}, {0}};
        long asked = 0;
        for (int e = 0; e < 2; e++) {
            x[e] = (trajectory){.sys = sys, .options = bg_default_integrator_options()};
            x[e].options.energy = e;
            assert_ok(bg_state_create(sys, &x[e].start, &err));
            assert_ok(bg_state_assemble(sys, x[e].start, &x[e].assembly, &err));
            assert_ok(bg_integrator_create("bdf", sys, &x[e].options, &x[e].ig, &err));
            assert_ok(
                bg_integrator_start(x[e].ig, x[e].start, &x[e].assembly.redundancy, 0.3, &err));
        }
        while (bg_integrator_get_state(x[1].ig)->t < 0.3) {
            assert_ok(bg_integrator_step(x[0].ig, &err));
            assert_ok(bg_integrator_step(x[1].ig, &err));
            assert_true(bg_integrator_get_state(x[0].ig)->t == bg_integrator_get_state(x[1].ig)->t);
            if (asked++ % 3 == 0) /* the others are never asked for */
                continue;
            const bg_residuals a = bg_integrator_get_residuals(x[0].ig),
                               again = bg_integrator_get_residuals(x[0].ig),
                               b = bg_integrator_get_residuals(x[1].ig);
            assert_true(b.g > 0 || b.gv > 0);
            assert_true(a.g == b.g && a.gv == b.gv && a.worst_g == b.worst_g);
            assert_true(again.g == b.g && again.gv == b.gv);
        }
        assert_true(asked > 10);
        trajectory_end(&x[0]);
        trajectory_end(&x[1]);
        bg_system_destroy(sys);
    }
}

/* g = x y with y = 0: its row vanishes at x = 0. dependent: the same row twice, the motion leads
 * away. */
typedef struct crossing_lines {
    int twice;
} crossing_lines;

static int crossing_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const crossing_lines *c = self;
    for (int i = 0; i <= c->twice; i++) {
        if (want & BG_TERM_g)
            out->g[i] = p->q[0] * p->q[1];
        if (want & BG_TERM_G) {
            out->G[2 * i] = p->q[1];
            out->G[2 * i + 1] = p->q[0];
        }
        if (want & BG_TERM_gamma)
            out->gamma[i] = 2 * p->v[0] * p->v[1];
    }
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f)
        out->f[0] = out->f[1] = 0.1;
    return 0;
}

static bdf_outcome run_crossing(int twice, double speed)
{
    static const char *const names[] = {"x", "y"}, *const rows[] = {"rail", "copy"};
    static const double q0[] = {1, 0};
    const double v0[] = {speed, 0};
    crossing_lines c = {twice};
    bg_system_def d = bg_default_system_def();
    d.name = "crossing";
    d.nq = d.nv = 2;
    d.ng = 1 + twice;
    d.scleronomic = 1;
    d.q_names = d.v_names = names;
    d.g_names = rows;
    d.q0 = q0;
    d.v0 = v0;
    d.self = &c;
    d.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    d.terms = crossing_terms;
    return run_system(&d, 1e-6, 0, 2, NULL, 0);
}

static void test_constraints(void **state)
{
    (void)state;
    bdf_outcome x = run_crossing(1, 1); /* one of both counts */
    assert_int_equal(x.status, BG_OK);
    assert_near(x.q[0], 1 + 2 + 0.05 * 4, 1e-5);
    assert_near(x.q[1], 0, 1e-6);
    x = run_crossing(0, -1);
    print_message("status %d, x %g, y %g: %s\n", (int)x.status, x.q[0], x.q[1], x.message);
    if (x.status != BG_OK) {
        check_sentence(x.status, x.message, NAMES("'crossing'", "t = ", "singular"));
    } else {
        assert_near(x.q[0], 1 - 2 + 0.05 * 4, 1e-3);
        assert_near(x.q[1], 0, 1e-3);
    }
}

/* Order 6 on undamped modes, which it pumps up: as far as the tolerance. */
static void test_order_six(void **state)
{
    (void)state;
    static const bg_setting o[] = {{"max_order", "6"}};
    bg_system *sys = create_system("equations:chain", NULL, NULL);
    bdf_outcome x = follow(sys, "bdf", 1e-6, 0, SANITIZED ? 2 : 20, o, 1);
    bdf_outcome fine = follow(sys, "mdop8", 1e-11, 0, SANITIZED ? 2 : 20, NULL, 0);
    assert_true(x.status == BG_OK && calc_distance(&x, &fine) < 1e-3);
    bg_system_destroy(sys);
}

/* Wheels that lift off and that climb, in a curve far too tight. */
static void test_rail(void **state)
{
    (void)state;
    static const struct {
        const char *friction, *happens;
    } cases[] = {{"0.3", "lifts off its rail"}, {"0.9", "climbs its rail"}};
    for (int k = 0; k < (SANITIZED ? 0 : 2); k++) {
        bg_error err = {BG_OK, ""};
        const bg_setting set[] = {{"parameters.curvature", "1/80"},
                                  {"parameters.friction", cases[k].friction}};
        bg_model *model;
        bg_system *sys;
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        assert_ok(
            bg_model_read(BOGIE_SOURCE_DIR "/models/train-carriage.json", set, 2, &model, &err));
        assert_ok(bg_model_create_system(model, "joint", &sys, &err));
        o.integrator = "bdf";
        o.method.rtol = o.method.atol = 1e-5;
        assert_ok(bg_run(sys, &o, &r, &err));
        assert_true(r.nevents > 0 && r.final->t > 1.5 && r.final->t < 4);
        assert_non_null(strstr(r.events[r.nevents - 1].name, cases[k].happens));
        assert_non_null(strstr(r.events[r.nevents - 1].name, "front.w1."));
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* Laws with poles, that end, and that blow the motion up, in both forms and with every Jacobian:
 * what is said names the law, or what moves fastest, and what to do. */
static void test_laws(void **state)
{
    (void)state;
    static const char *const laws[] = {"1/(0.3 - t)",       "1/(0.2 - angle)", "sqrt(0.1 - angle)",
                                       "log(0.05 - angle)", "100*rate^3 + 1",  "50*rate^2 + 5"};
    static const char *const jacobians[] = {"analytic", "dense", "sparse"};
    for (int k = 0; k < 36; k++) {
        const bg_setting set = {"jacobian", jacobians[k % 3]};
        char text[1024];
        bg_error err = {BG_OK, ""};
        const int law = k / 6;
        snprintf(text, sizeof text,
                 "{'bodies': {'a': {'mass': 1, 'center': [0.3, 0, -1], 'inertia': [1, 1, 1]}, 'b':"
                 " {'mass': 1, 'center': [0.3, 0, -2], 'inertia': [1, 1, 1]}}, 'joints': {'j': {"
                 "'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [0, 1, "
                 "0], 'initial': {'velocity': 0.5}}, 'k': {'type': 'revolute', "
                 "'bodies': ['a', 'b'], 'at': [0.3, 0, -1.5], 'axis': [0, 1, 0]}}, 'forces': {"
                 "'odd': {'type': 'torsion', 'joint': 'j', 'torque': '%s'}}}",
                 laws[law]);
        bg_model *model = parse_quoted(text);
        bg_system *sys;
        assert_ok(bg_model_create_system(model, k / 3 % 2 ? "cartesian" : "joint", &sys, &err));
        bdf_outcome x = follow(sys, "bdf", 1e-6, 0, 2, &set, 1);
        const bool ends = strstr(x.message, "is no number beyond it: keep its arguments");
        check_sentence(x.status, x.message,
                       law == 2 || law == 3
                           ? NAMES("t = 0.", "the law of torsion 'odd'", "sqrt(max(0, x))")
                           : NAMES("t = 0.", "look at what acts", "'"));
        assert_int_equal(ends, law == 2 || law == 3);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_singular_matrix),
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_spin),
        cmocka_unit_test(test_wobble),
        cmocka_unit_test(test_corners_and_events),
        cmocka_unit_test(test_inconsistent_start),
        cmocka_unit_test(test_residuals_asked_for),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_order_six),
        cmocka_unit_test(test_rail),
        cmocka_unit_test(test_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
