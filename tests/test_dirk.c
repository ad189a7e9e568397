/* sdirk4 and trapezoidal: stability, estimates of the error on a stiff bushing, one motion by both
 * matrices, crank drives that turn fully with coordinates as the independent motions, and the
 * HMMWV. */
#include "integrators/dirk.h"
#include "model_support.h"
#include "plain_systems.h"
#include "turning_cranks.h"

static const char *const methods[] = {"sdirk4", "trapezoidal"};

/* The bushing of 002, m a = -k (x - s) - c (v - s') + F with a support s = 0.01 sin 20 t and a load
 * F = 5000 sin 15 t. */
static const double mass = 7.69, stiffness = 2e7, damping = 2e6;

static int bushing_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    double s = 0.01 * sin(20 * p->t), s_t = 0.2 * cos(20 * p->t), F = 5000 * sin(15 * p->t);
    if (want & BG_TERM_M)
        out->M[0] = mass;
    if (want & BG_TERM_f)
        out->f[0] = -stiffness * (p->q[0] - s) - damping * (p->v[0] - s_t) + F;
    return 0;
}

/* One step multiplies a stiff deviation by R(-h rate). */
static void test_stability(void **state)
{
    (void)state;
    static const double factors[] = {9.14e-3, -0.996};
    double rate = 1e6, q0 = 0, v0 = 2;
    for (int k = 0; k < 2; k++) {
        trajectory x;
        bg_system *sys = create_plain("decay", 1, &rate, decay_terms, &q0, &v0);
        trajectory_begin(&x, sys, methods[k], NULL, 1e-6, 1e-3, 1e-3);
        double v = trajectory_run(&x, 1e-3)->v[0] - cos(1e-3);
        assert_near(v, factors[k], 5e-4);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* The periodic motion of the bushing: the response to sin(w t), at t. */
static void add_response(double w, double s, double F, double t, double *x, double *v)
{
    /* (k - m w^2) + i c w times the amplitude is k s + i c w s + F */
    double re = stiffness - mass * w * w, im = damping * w, size = re * re + im * im;
    double a = stiffness * s + F, b = damping * w * s;
    double p = (a * re + b * im) / size, q = (b * re - a * im) / size;
    *x += p * sin(w * t) + q * cos(w * t);
    *v += w * (p * cos(w * t) - q * sin(w * t));
}

static void begin(trajectory *x, bg_system *sys, const char *method, const char *option,
                  const char *value, double step)
{
    bg_error err = {BG_OK, ""};
    memset(x, 0, sizeof *x);
    x->sys = sys;
    x->options = bg_default_integrator_options();
    x->options.rtol = x->options.atol = 1e-12; /* of Newton's iteration: no step is judged */
    x->options.step = step;
    x->settings[0] = (bg_setting){option, value};
    x->options.settings = x->settings;
    x->options.nsettings = 1;
    assert_ok(bg_state_create(sys, &x->start, &err));
    assert_ok(bg_state_assemble(sys, x->start, &x->assembly, &err));
    assert_ok(bg_integrator_create(method, sys, &x->options, &x->ig, &err));
    assert_ok(bg_integrator_start(x->ig, x->start, &x->assembly.redundancy, 10, &err));
}

/* Errors of one step from the periodic motion, and what each method thinks they are: the filtered
 * estimate is of their size, the plain one hundreds of times larger. */
static void test_estimates(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const char *method = methods[k / 4];
        const double h = 0.02 / (1 << k % 4);
        double q0 = 0, v0 = 0, q1 = 0, v1 = 0, estimate[2], error = 0;
        add_response(20, 0.01, 0, 0, &q0, &v0);
        add_response(15, 0, 5000, 0, &q0, &v0);
        add_response(20, 0.01, 0, h, &q1, &v1);
        add_response(15, 0, 5000, h, &q1, &v1);
        for (int plain = 0; plain < 2; plain++) {
            bg_system *sys = create_plain("bushing", 1, NULL, bushing_terms, &q0, &v0);
            bg_error err = {BG_OK, ""};
            trajectory x;
            begin(&x, sys, method, "estimate", plain ? "plain" : "filtered", 0);
            x.ig->h = h;
            x.ig->x1->t = h;
            assert_ok(x.ig->class_->attempt(x.ig, &estimate[plain], &err));
            estimate[plain] = fabs(x.ig->work_n[1]);
            error = fabs(x.ig->x1->v[0] - v1);
            trajectory_end(&x);
            bg_system_destroy(sys);
        }
        print_message("%-11s h %.4f: error %.1e, filtered %.1e, plain %.1e\n", method, h, error,
                      estimate[0], estimate[1]);
        assert_true(estimate[0] > 0.7 * error && estimate[0] < 5 * error);
        assert_true(estimate[1] > 20 * error);
    }
}

/* The bushing over 0.4 s in fixed steps: positions of sdirk4 with an order of 3 and more, as long
 * as errors are above what stages of order 1 leave of a stiff motion, and below those of the
 * trapezoidal rule at every step. */
static void test_stiff_order(void **state)
{
    (void)state;
    const double span = 0.4;
    double h[3], error[2][3];
    for (int k = 0; k < 6; k++) {
        double q0 = 0, v0 = 0, q1 = 0, v1 = 0;
        bg_system *sys;
        trajectory x;
        add_response(20, 0.01, 0, 0, &q0, &v0);
        add_response(15, 0, 5000, 0, &q0, &v0);
        add_response(20, 0.01, 0, span, &q1, &v1);
        add_response(15, 0, 5000, span, &q1, &v1);
        sys = create_plain("bushing", 1, NULL, bushing_terms, &q0, &v0);
        begin(&x, sys, methods[k / 3], "estimate", "filtered", h[k % 3] = span / (10 << k % 3));
        const bg_state *end = trajectory_run(&x, span);
        error[k / 3][k % 3] = fabs(end->q[0] - q1);
        print_message("%s, h %.3g: error of q %.1e, of v %.1e\n", methods[k / 3], h[k % 3],
                      error[k / 3][k % 3], fabs(end->v[0] - v1));
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
    assert_true(fit_order(3, h, error[0]) > 3);
    for (int i = 0; i < 3; i++)
        assert_true(error[0][i] < error[1][i]);
}

/* The end (q, v, z) of a short motion in fixed steps; returns its length. */
static int run_fixed(bg_system *sys, const char *method, bool full, double *end)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    const bg_setting matrix = {"matrix", "full"};
    const int n = sys->def.nq + sys->def.nv + sys->def.nz;
    o.integrator = method;
    o.method.step = 2e-3;
    o.method.settings = &matrix;
    o.method.nsettings = full;
    o.skip_comparison = 1;
    o.t_end = 0.1;
    assert_true(n <= 250);
    assert_ok(bg_run(sys, &o, &r, &err));
    memcpy(end, r.final->q, (size_t)n * sizeof(double));
    bg_run_report_clear(&r);
    return n;
}

/* The reduced matrix and all of (51) lead to one motion, in fixed steps to rounding; so does
 * Newton's iteration in first-order form. */
static void test_matrices(void **state)
{
    (void)state;
    static const char *const models[] = {
        "four-bar",        "double-wishbone",     "gyroscope", "iftomm-a01-pendulum",
        "slider-crank-3d", "iftomm-a05-governor", "hmmwv14",   "vehicle-trailer-spring"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        for (int form = 0; form < 2; form++) {
            bg_error err = {BG_OK, ""};
            char path[256];
            bg_model *model;
            bg_system *sys;
            double end[3][250];
            snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", models[k]);
            assert_ok(bg_model_read(path, NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, forms[form], &sys, &err));
            run_fixed(sys, "sdirk4", false, end[0]);
            run_fixed(sys, "sdirk4", true, end[1]);
            const int n = run_fixed(sys, "sdirk4-first-order", false, end[2]);
            for (int i = 0; i < n; i++)
                for (int j = 1; j < 3; j++)
                    assert_near(end[j][i], end[0][i], 1e-10 * fmax(1, fabs(end[0][i])));
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
}

/* With coordinates as independent motions, others become the independent ones, and the order stays.
 */
static void test_turns(void **state)
{
    (void)state;
    static const char *const texts[] = {slider_crank, crank_rocker};
    const double span = 0.8;
    const int runs = SANITIZED ? 1 : 3;
    for (int k = 0; k < 8; k += SANITIZED ? 3 : 1) {
        const char *method = methods[k / 4];
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        char *copy = quote(texts[k / 2 % 2]);
        double h[3], error[3], exact[64];
        long choices = 0;
        assert_ok(bg_model_parse(copy, "turns", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        const int n = sys->def.nq + sys->def.nv;
        assert_true(n <= 64);
        for (int i = -1; i < runs; i++) {
            trajectory x;
            if (i < 0)
                trajectory_begin(&x, sys, "mdop8", NULL, 1e-12, 0, span);
            else
                begin(&x, sys, method, "independent", "coordinates", h[i] = span / (400 << i));
            const bg_state *end = trajectory_run(&x, span);
            if (i < 0)
                memcpy(exact, end->q, (size_t)n * sizeof(double));
            else
                choices = ((bg_dirk *)x.ig->method)->frame.choices;
            for (int j = 0; j < n && i >= 0; j++)
                error[i] = fmax(j == 0 ? 0 : error[i], fabs(end->q[j] - exact[j]));
            trajectory_end(&x);
        }
        double order = runs == 3 ? fit_order(3, h, error) : NAN, known = k < 4 ? 4 : 2;
        print_message("%s %s, %s: chosen %ld times, order %.2f, errors %.1e .. %.1e\n", method,
                      k / 2 % 2 ? "crank-rocker" : "slider-crank", forms[k % 2], choices, order,
                      error[0], error[runs - 1]);
        assert_true(choices > 1 || k % 2 == 0);
        assert_true(runs < 3 || (order > 0.95 * known && order < known + 0.6));
        bg_system_destroy(sys);
        bg_model_destroy(model);
        free(copy);
    }
}

/* A spinning body on a ball joint of a carriage that an input moves, with a rod to the ground, a
 * controller with two states along a slide, and a spring. */
static const char carried_top[] =
    "{'gravity': 9.81, 'inputs': {'drive': '0.1*sin(3*t)', 'lift': '0.05*sin(4*t)'}, 'bodies': "
    "{'carriage': {'mass': 2, 'center': [0, 0, 0], 'inertia': [0.1, 0.1, 0.1]}, 'top': {'mass': 1, "
    "'center': [0.3, 0, 0], 'inertia': [0.02, 0.05, 0.06], 'angular_velocity': [8, 0.5, 2], "
    "'points': {'tip': [0.5, 0.1, 0]}}, 'slider': {'mass': 0.5, 'center': [1, 0, 0.5], 'inertia': "
    "[0.01, 0.01, 0.01], 'points': {'eye': [1, 0, 0.5]}}}, 'joints': {'rail': {'type': 'prismatic',"
    " 'bodies': ['ground', 'carriage'], 'at': [0, 0, 0], 'axis': [0, 1, 0], 'prescribed': 'drive'},"
    " 'ball': {'type': 'spherical', 'bodies': ['carriage', 'top'], 'at': [0, 0, 0]}, 'guide': "
    "{'type': 'prismatic', 'bodies': ['ground', 'slider'], 'at': [1, 0, 0.5], 'axis': [0, 0, 1]}, "
    "'rod': {'type': 'distance', 'points': ['top.tip', 'slider.eye']}}, 'forces': {'hold': {'type':"
    " 'controller', 'input': {'joint': 'guide', 'coordinate': 'slide'}, 'reference': 'lift', 'kp': "
    "200, 'ki': 100, 'kd': 5, 'filter': 0.1, 'output': {'joint': 'guide', 'coordinate': 'slide'}}, "
    "'spring': {'type': 'spring-damper', 'from': {'body': 'ground', 'at': [0.5, 1, 0]}, 'to': "
    "{'body': 'top', 'at': [0.5, 0.1, 0]}, 'stiffness': 30, 'damping': 1}}}";

/* Orders of positions, velocities and states each, in both forms, with the input as a constraint
 * and eliminated. */
static void test_orders(void **state)
{
    (void)state;
    static const char *const variants[][2] = {
        {"joint", "eliminate"}, {"joint", "constrain"}, {"cartesian", "eliminate"}};
    const double span = 0.4;
    const int runs = 3;
    for (int k = 0; k < (SANITIZED ? 0 : 6); k++) {
        const char *method = methods[k / 3], *const *variant = variants[k % 3];
        const bg_setting set = {"run.rheonomic", variant[1]};
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        char *copy = quote(carried_top);
        double h[3], error[3][3], exact[128];
        assert_ok(bg_model_parse(copy, "carried top", &set, 1, &model, &err));
        assert_ok(bg_model_create_system(model, variant[0], &sys, &err));
        const int begins[] = {0, sys->def.nq, sys->def.nq + sys->def.nv,
                              sys->def.nq + sys->def.nv + sys->def.nz};
        assert_true(begins[3] <= 128 && sys->def.nz == 2 && sys->def.ng > 0);
        for (int i = -1; i < runs; i++) {
            trajectory x;
            if (i < 0)
                trajectory_begin(&x, sys, "mdop8", NULL, 1e-13, 0, span);
            else
                begin(&x, sys, method, "estimate", "filtered", h[i] = span / (80 << i));
            const bg_state *end = trajectory_run(&x, span);
            if (i < 0)
                memcpy(exact, end->q, (size_t)begins[3] * sizeof(double));
            for (int part = 0; part < 3 && i >= 0; part++) {
                error[part][i] = 0;
                for (int j = begins[part]; j < begins[part + 1]; j++)
                    error[part][i] = fmax(error[part][i], fabs(end->q[j] - exact[j]));
            }
            trajectory_end(&x);
        }
        const double known = k < 3 ? 4 : 2, margin = k < 3 ? 0.2 : 0.1;
        for (int part = 0; part < 3; part++) {
            double order = fit_order(runs, h, error[part]);
            print_message("%s, %s, %s: order %.2f in %s, errors %.1e .. %.1e\n", method, variant[0],
                          variant[1], order,
                          part == 0   ? "q"
                          : part == 1 ? "v"
                                      : "z",
                          error[part][0], error[part][runs - 1]);
            assert_near(order, known, margin);
        }
        bg_system_destroy(sys);
        bg_model_destroy(model);
        free(copy);
    }
}

/* What Newton's iteration leaves is little of the tolerance at the end of a run, too: weights
 * of 7.8 and -7.1 make errors of stages 3 and 4 many times larger in the end of a step. */
static void test_iteration(void **state)
{
    (void)state;
    static const struct {
        const char *name, *form;
        double bound; /* tolerances */
    } cases[] = {{"front-axle", "cartesian", 1},
                 {"iftomm-a05-governor", "joint", 0.2},
                 {"iftomm-a05-governor", "cartesian", 3}};
    for (int k = 0; k < (SANITIZED ? 0 : 3); k++) {
        bg_error err = {BG_OK, ""};
        char path[256];
        bg_model *model;
        bg_system *sys;
        double end[2][256], worst = 0;
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", cases[k].name);
        assert_ok(bg_model_read(path, NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, cases[k].form, &sys, &err));
        const int n = sys->def.nq + sys->def.nv + sys->def.nz;
        assert_true(n <= 256);
        for (int i = 0; i < 2; i++) {
            const bg_setting newton = {"newton", "1e-6"};
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            o.integrator = "sdirk4";
            o.method.rtol = o.method.atol = 1e-5;
            o.method.settings = &newton;
            o.method.nsettings = i;
            o.t_end = 1;
            assert_ok(bg_run(sys, &o, &r, &err));
            memcpy(end[i], r.final->q, (size_t)n * sizeof(double));
            bg_run_report_clear(&r);
        }
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs(end[0][i] - end[1][i]) / (1e-5 * (1 + fabs(end[1][i]))));
        print_message("%s, %s: %.2g tolerances\n", cases[k].name, cases[k].form, worst);
        assert_true(worst < cases[k].bound);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stability), cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_matrices),  cmocka_unit_test(test_turns),
        cmocka_unit_test(test_orders),    cmocka_unit_test(test_stiff_order),
        cmocka_unit_test(test_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
