/* Where implicit Runge-Kutta methods may fail: each case ends in progress, or in one sentence with
 * the time, the stage, what is worst there, and the remedy; and corners that steps do not end at.
 */
#include "failing_lines.h"
#include "random_mechanism.h"

static const char *const methods[] = {"sdirk4", "trapezoidal", "sdirk4-first-order"};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct dirk_outcome {
    bg_status status;
    double t, q[8], v[8];
    long accepted, rejected, failures;
    char message[BG_ERROR_LENGTH];
} dirk_outcome;

static dirk_outcome follow(const bg_system_def *def, const char *method, double tolerance,
                           double h_max, double t_end, const char *independent)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    dirk_outcome x = {BG_OK};
    const bg_setting setting = {"independent", independent};
    assert_true(def->nq <= 8 && def->nv <= 8);
    assert_ok(bg_system_create(def, &sys, &err));
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.method.h_max = h_max;
    o.method.settings = &setting;
    o.method.nsettings = independent ? 1 : 0;
    o.t_end = t_end;
    o.max_steps = 20000;
    x.status = bg_run(sys, &o, &r, &err);
    x.accepted = r.counters.accepted;
    x.rejected = r.counters.rejected;
    x.failures = r.counters.corrector.convergence_failures;
    if (r.final) {
        x.t = r.final->t;
        memcpy(x.q, r.final->q, (size_t)def->nq * sizeof(double));
        memcpy(x.v, r.final->v, (size_t)def->nv * sizeof(double));
    }
    memcpy(x.message, err.text, sizeof x.message);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    return x;
}

static double stick(double t, double x, double v)
{
    (void)t, (void)x;
    return v > 0 ? -1e13 : 1e13; /* holds the block by jumping: no acceleration is right */
}

static double wall(double t, double x, double v)
{
    (void)t;
    return x > 0.5 ? -1e8 * (x - 0.5) - 1e3 * v
                   : 0; /* of which derivatives before it know nothing */
}

/* Iterations that do not converge shorten the step; where no step helps, the sentence names the
 * stage and the equation. */
static void test_divergence(void **state)
{
    (void)state;
    static const double rolling[] = {1}, slow[] = {0.97};
    /* half a period of 2 pi/1e4 s with 500/s of damping */
    const double rebound = exp(-500 * M_PI / 1e4);
    for (int k = 0; k < METHODS; k++) {
        failing_line l = {stick};
        bg_system_def d = define_line(&l, NULL, NULL);
        dirk_outcome x = follow(&d, methods[k], 1e-6, 0, 1, NULL);
        check_sentence(x.status, x.message, NAMES("'line'", "stage ", "'block'", "t = 0 "));
        l.force = wall;
        d = define_line(&l, NULL, rolling);
        x = follow(&d, methods[k], 1e-4, 0, 1, NULL);
        print_message("%s: %ld steps, %ld iterations failed\n", methods[k], x.accepted, x.failures);
        assert_true(x.status == BG_OK && x.failures > 0 && x.accepted < 2000);
        assert_near(x.v[0], -rebound, 0.01);
        l.force = root;
        d = define_line(&l, NULL, slow);
        x = follow(&d, methods[k], 1e-6, 0, 3, NULL);
        assert_true(x.status == BG_OK && fabs(x.q[0]) < 0.2 && x.v[0] < -0.9);
    }
}

/* g = x y with y = 0: its row vanishes at x = 0. */
static int crossing_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_g)
        out->g[0] = p->q[0] * p->q[1];
    if (want & BG_TERM_G) {
        out->G[0] = p->q[1];
        out->G[1] = p->q[0];
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = 2 * p->v[0] * p->v[1];
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f)
        out->f[0] = out->f[1] = 0.1;
    return 0;
}

/* A singular G_u: the motion leads through, or the sentence says where it is. */
static void test_singular(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "y"}, *const rows[] = {"rail"};
    static const char *const independent[] = {"directions", "coordinates"};
    static const double q0[] = {1, 0}, v0[] = {-1, 0};
    for (int k = 0; k < 2 * METHODS; k++) {
        bg_system_def d = bg_default_system_def();
        d.name = "crossing";
        d.nq = d.nv = 2;
        d.ng = 1;
        d.scleronomic = 1;
        d.q_names = d.v_names = names;
        d.g_names = rows;
        d.q0 = q0;
        d.v0 = v0;
        d.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
        d.terms = crossing_terms;
        dirk_outcome x = follow(&d, methods[k / 2], 1e-6, 0, 2, independent[k % 2]);
        print_message("%s, %s: x %g, y %g, %s\n", methods[k / 2], independent[k % 2], x.q[0],
                      x.q[1], x.message);
        if (x.status != BG_OK) {
            check_sentence(x.status, x.message, NAMES("'crossing'", "t = ", "singular"));
        } else {
            assert_near(x.q[0], 1 - 2 + 0.05 * 4, 1e-3);
            assert_near(x.q[1], 0, 1e-3);
        }
    }
}

/* A bump of about 0.05 s at a time that no step knows. */
typedef struct bump {
    double t;
} bump;

static int bump_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const bump *b = self;
    const double s = (p->t - b->t) / 0.02;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = 10 * exp(-s * s) - 100 * p->q[0] - 2 * p->v[0];
    return 0;
}

/* From rest, where every error is zero, no bump is jumped over; without the limit of a hundredth of
 * the run some are. */
static void test_bump_from_rest(void **state)
{
    (void)state;
    int jumps = 0;
    for (int k = 0; k < 4 * METHODS; k++) {
        const char *method = methods[k % METHODS];
        bump b = {0.6 + 0.23 * (k / METHODS)};
        failing_line l = {NULL};
        bg_system_def d = define_line(&l, NULL, NULL);
        d.self = &b;
        d.terms = bump_terms;
        dirk_outcome fine = follow(&d, "mdop8", 1e-11, 1e-3, 1.5, NULL);
        dirk_outcome x = follow(&d, method, 1e-4, 0, 1.5, NULL);
        dirk_outcome free_ = follow(&d, method, 1e-4, 10, 1.5, NULL);
        assert_true(x.status == BG_OK && fabs(fine.v[0]) > 0.01);
        assert_near(x.q[0], fine.q[0], 1e-4);
        assert_near(x.v[0], fine.v[0], 2e-4);
        jumps += fabs(free_.v[0]) < 1e-6;
    }
    print_message("without a limit %d of %d bumps are jumped over\n", jumps, 4 * METHODS);
    assert_true(jumps > 0);
}

static bool has_remark(const char *text, const char *method, double step, const char *place)
{
    bg_error err = {BG_OK, ""};
    bg_model *model = parse_quoted(text);
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bool found = false;
    assert_ok(bg_model_create_system(model, "joint", &sys, &err));
    o.integrator = method;
    o.t_end = 0.1;
    o.method.step = step;
    o.skip_comparison = 1;
    assert_ok(bg_run(sys, &o, &r, &err));
    for (int i = 0; i < r.warnings.count; i++) {
        const bg_warning *w = &r.warnings.items[i];
        if (strcmp(w->topic, "corners") != 0)
            continue;
        assert_true(w->verdict == BG_GOOD && !found && strstr(w->text, "raise no event"));
        if (!place || !strstr(w->text, place))
            fail_msg("'%s' is not in: %s", place ? place : "", w->text);
        found = true;
    }
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return found;
}

/* Corners of laws, outputs, tables and inputs that raise no event are remarked where a method does
 * not see them, and nowhere else. */
static void test_corners(void **state)
{
    (void)state;
    static const struct {
        const char *force, *inputs, *place;
    } cases[] = {
        {"'force': '-100*stretch - 2*abs(rate)*rate'", "", "forces.spring.force (abs)"},
        {"'force': '-100*max(stretch - 0.05, 0)'", "", "forces.spring.force (max)"},
        {"'force': '-100*stretch*(1 + high)'", "", "forces.spring.force (if)"},
        {"'stiffness_table': [[-1, -100], [0, 0], [1, 50]], 'interpolation': 'linear'", "",
         "forces.spring (linear table)"},
        {"'force': '-100*stretch + u'", "'u': 'abs(sin(20*t))'", "inputs.u (abs)"},
        {"'force': '-100*stretch + u'",
         "'u': {'type': 'table', 'times': [0, 0.05, 0.2], 'values': [0, 1, 0], 'interpolation': "
         "'linear'}",
         NULL},
        {"'force': '-100*stretch - 2*smooth(rate, 0.1)*rate'", "", NULL},
        {"'stiffness_table': [[-1, -100], [0, 0], [1, 50]], 'interpolation': 'cubic'", "", NULL},
        {"'stiffness_table': [[-1, -100], [1, 100]], 'interpolation': 'linear'", "", NULL},
        {"'force': '-100*stretch*max(2, 3)'", "", NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "{'gravity': 0, 'bodies': {'block': {'mass': 1, 'center': [1, 0, 0], 'inertia': "
            "[1, 1, 1]}}, 'joints': {'guide': {'type': 'prismatic', 'bodies': ['ground', "
            "'block'], 'at': [0, 0, 0], 'axis': [1, 0, 0], 'initial': {'velocity': 1}}}, "
            "'inputs': {%s}, 'outputs': {'x': {'position': 'block', 'component': 'x'}, 'high': "
            "'if(x - 1, 1, 0)'}, 'forces': {'spring': {'type': 'spring-damper', 'from': "
            "{'body': 'ground', 'at': [0, 0, 0]}, 'to': {'body': 'block', 'at': [1, 0, 0]}, "
            "'free_length': 1, %s}}}",
            cases[k].inputs, cases[k].force);
        for (int i = 0; i < METHODS; i++)
            assert_int_equal(has_remark(text, methods[i], 0, cases[k].place),
                             cases[k].place != NULL);
        assert_false(has_remark(text, "sdirk4", 1e-3, NULL));
        assert_false(has_remark(text, "mdop5", 0, NULL));
        assert_false(has_remark(text, "bdf", 0, NULL));
    }
}

/* A force with a corner that raises no event: the motion goes on beyond it, with an error that no
 * estimate has bounded. */
static double corner(double t, double x, double v)
{
    return 100 * fmax(t - 0.3141, 0) - 25 * x - 2 * v;
}

static void test_corner_inside(void **state)
{
    (void)state;
    failing_line l = {corner};
    bg_system_def d = define_line(&l, NULL, NULL);
    dirk_outcome fine = follow(&d, "mdop8", 1e-11, 1e-4, 1, NULL);
    for (int k = 0; k < METHODS; k++) {
        dirk_outcome x = follow(&d, methods[k], 1e-4, 0, 1, NULL);
        print_message("%s: error across a corner %.1e\n", methods[k], fabs(x.v[0] - fine.v[0]));
        assert_true(x.status == BG_OK && fabs(x.v[0] - fine.v[0]) < 1e-2);
    }
}

/* A body that nothing holds but a damped spring along z: x, y and yaw are free. */
static void test_free_directions(void **state)
{
    (void)state;
    static const char text[] =
        "{'gravity': 9.81, 'bodies': {'car': {'mass': 1000, 'center': [0, 0, 0.5], 'inertia': [400,"
        " 1200, 1400], 'velocity': [4, 0.5, 0], 'angular_velocity': [0, 0, 0.3], 'points': "
        "{'centre': [0, 0, 0.5]}}}, 'outputs': {'r':"
        " {'position': 'car'}, 'v': {'velocity': 'car'}, 'w': {'angular_velocity': 'car'}, 'z': "
        "'r.z', 'up': 'v.z'}, "
        "'forces': {'air': {'type': 'force', 'at': 'car.centre', 'force': [0, 0, "
        "'-1e7*(z - 0.5) - 1e6*up']}}}";
    for (int k = 0; k < 2 * METHODS; k++) {
        bg_error err = {BG_OK, ""};
        char *copy = quote(text);
        bg_model *model;
        bg_system *sys;
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        if (bg_model_parse(copy, "test", NULL, 0, &model, &err) != BG_OK)
            fail_msg("%s", err.text);
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        o.integrator = methods[k / 2];
        o.t_end = 2;
        assert_ok(bg_run(sys, &o, &r, &err));
        assert_near(r.y[0], 8, 1e-5);
        assert_near(r.y[1], 1, 1e-5);
        assert_near(r.y[2], 0.5 - 9.81e-4, 1e-6);
        assert_near(r.y[3], 4, 1e-6);
        assert_near(r.y[8], 0.3, 1e-6);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        bg_model_destroy(model);
        free(copy);
    }
}

/* Bushings of the HMMWV whose arm vanishes, so that they hold less and less of a rotation. */
static void test_vanishing_arm(void **state)
{
    (void)state;
    static const char *const arms[] = {"1e-3", "1e-6", "0"};
    for (int k = 0; k < 6; k++) {
        bg_error err = {BG_OK, ""};
        const bg_setting set = {"parameters.bushing_arm", arms[k / 2]};
        bg_model *model;
        bg_system *sys;
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/hmmwv14.json", &set, 1, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        o.integrator = "sdirk4";
        o.method.rtol = o.method.atol = 1e-4;
        o.t_end = 0.2;
        bg_status st = bg_run(sys, &o, &r, &err);
        print_message("arm %s, %s: %s, %ld steps\n", arms[k / 2], forms[k % 2],
                      st == BG_OK ? "ends" : err.text, r.counters.accepted);
        assert_true(st == BG_OK ? r.counters.accepted < 5000 : strlen(err.text) > 40);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

static double stiffest(double t, double x, double v)
{
    return -1e12 * (x - 0.01 * sin(20 * t)) - 1e7 * (v - 0.2 * cos(20 * t));
}

static double stiff_load(double t, double x, double v)
{
    return -1e12 * x - 1e7 * v + 1e6 * sin(15 * t);
}

/* A spring of 1e12 N/m holds a mass of 1 kg to its support: to one at rest with long steps, to one
 * that moves within the tolerance, if with an order of 1 in velocities. */
static void test_stiffest(void **state)
{
    (void)state;
    static const double v0[] = {0.2};
    for (int k = 0; k < 2 * METHODS; k++) {
        failing_line l = {k % 2 ? stiff_load : stiffest};
        bg_system_def d = define_line(&l, NULL, k % 2 ? NULL : v0);
        const double tolerance = k % 2 ? 1e-6 : 1e-3;
        dirk_outcome x = follow(&d, methods[k / 2], tolerance, 0, 1, NULL);
        double q = k % 2 ? 1e-6 * sin(15) : 0.01 * sin(20),
               v = k % 2 ? 15e-6 * cos(15) : 0.2 * cos(20);
        print_message("%s: %ld steps, %ld rejected, errors %.1e, %.1e\n", methods[k / 2],
                      x.accepted, x.rejected, fabs(x.q[0] - q), fabs(x.v[0] - v));
        assert_true(x.status == BG_OK && x.accepted < (k % 2 ? 300 : 3000));
        assert_near(x.q[0], q, tolerance);
        assert_near(x.v[0], v, 3 * tolerance);
    }
}

/* Tolerances of zero are refused by name. */
static void test_tolerance_zero(void **state)
{
    (void)state;
    failing_line l = {wall};
    bg_system_def d = define_line(&l, NULL, NULL);
    for (int k = 0; k < METHODS; k++) {
        dirk_outcome x = follow(&d, methods[k], 0, 0, 1, NULL);
        check_sentence(x.status, x.message, NAMES("rtol"));
    }
}

static bg_status run_random(const bg_model *model, const char *form, const char *method,
                            bg_error *err)
{
    bg_system *sys;
    bg_run_report r = {0};
    bg_run_options o = bg_default_run_options();
    bg_status st = bg_model_create_system(model, form, &sys, err);
    if (st != BG_OK)
        return st;
    o.integrator = method;
    o.t_end = 0.03;
    o.max_steps = 20000;
    st = bg_run(sys, &o, &r, err);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    return st;
}

/* Random mechanisms with drives, one of which nothing can move: what Newton's iteration leaves of
 * its velocities, down to the smallest numbers there are, contradicts nothing. */
static void test_drives(void **state)
{
    (void)state;
    for (unsigned seed = 73; seed < (SANITIZED ? 74 : 75); seed++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        random_mechanism m = random_mechanism_make_driven(seed);
        assert_ok(bg_model_parse(m.text, "random", NULL, 0, &model, &err));
        for (int f = 0; f < 2; f++) {
            if (run_random(model, forms[f], "mdop5", &err) != BG_OK) /* drives that disagree */
                continue;
            for (int k = 0; k < METHODS; k++)
                if (run_random(model, forms[f], methods[k], &err) != BG_OK)
                    fail_msg("%u, %s, %s: %s", seed, forms[f], methods[k], err.text);
        }
        bg_model_destroy(model);
        free(m.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence),     cmocka_unit_test(test_singular),
        cmocka_unit_test(test_bump_from_rest), cmocka_unit_test(test_corners),
        cmocka_unit_test(test_corner_inside),  cmocka_unit_test(test_free_directions),
        cmocka_unit_test(test_vanishing_arm),  cmocka_unit_test(test_stiffest),
        cmocka_unit_test(test_tolerance_zero), cmocka_unit_test(test_drives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
