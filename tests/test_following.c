/* linear-euler follows its inputs: masses on springs that are pulled by signals, roads, laws of
 * time and controllers stay where they belong, not a step behind. With x the motion and e the error
 * of a coordinate, the delay is -sum(e x') / sum(x'^2) over some times; without the term h f_t it
 * is one step. Random cases, both forms, standing and moving constraints. */
#include "model_support.h"

#include <stdbool.h>

static double uniform(double from, double to)
{
    return from + (to - from) * rand() / RAND_MAX;
}

enum { LAW, EXPLICIT, ROAD, CONTROLLER, KINDS };
static const char *const kind_names[] = {"law of an input", "law of t", "road", "controller"};

/* A slow signal of any type, and as it is written. */
static void draw_signal(char *text, size_t size)
{
    double a = uniform(0.005, 0.02), f = uniform(0.3, 1.2), p = uniform(0, 6),
           b = (rand() % 2 ? 1 : -1) * uniform(0.05, 0.2);
    switch (rand() % 8) {
    case 0:
        snprintf(text, size, "{'type': 'sine', 'amplitude': %g, 'frequency': %g, 'phase': %g}", a,
                 f, p);
        return;
    case 1:
        snprintf(text, size, "{'type': 'sines', 'amplitudes': [%g, %g], 'frequencies': [%g, 1.1]}",
                 a, 0.4 * a, f);
        return;
    case 2:
        snprintf(text, size, "{'type': 'ramp', 'slope': %g, 't0': 0.07}", b);
        return;
    case 3:
        snprintf(text, size, "{'type': 'step', 'to': %g, 't0': 0.02, 't1': 0.7}", a);
        return;
    case 4:
        snprintf(text, size,
                 "{'type': 'table', 'times': [0, 0.2, 0.5, 0.8], 'values': [0, %g, %g, 0.001]}", a,
                 -0.7 * a);
        return;
    case 5:
        snprintf(text, size,
                 "{'type': 'table', 'times': [0, 0.1, 0.8], 'values': [0, %g, %g], "
                 "'interpolation': 'linear'}",
                 a, -a);
        return;
    case 6:
        snprintf(text, size,
                 "{'type': 'chirp', 'amplitude': %g, 'frequencies': [0.3, 1.2], 't1': 0.8}", a);
        return;
    default:
        snprintf(text, size, "'%g*sin(%g*t)*exp(-t) + %g*t^2'", a, 6 * f, b);
    }
}

/* One that begins level or rising, under a mass that rests on it: it does not lift off. */
static void draw_road(double base, char *text, size_t size)
{
    double a = uniform(0.005, 0.02), speed = uniform(1, 30);
    switch (rand() % 3) {
    case 0:
        snprintf(text, size, "'type': 'sine', 'amplitude': %g, 'wavelength': %g, 'speed': %g", a,
                 speed / uniform(0.3, 1.2), speed);
        break;
    case 1:
        snprintf(text, size, "'type': 'bump', 'height': %g, 'from': %g, 'length': %g, 'speed': %g",
                 a, 0.02 * speed, 0.9 * speed, speed);
        break;
    default:
        snprintf(text, size,
                 "'type': 'table', 'points': [[0, 0], [%g, %g], [%g, %g], [%g, 0]], 'speed': %g",
                 0.25 * speed, a, 0.5 * speed, 0.3 * a, 0.9 * speed, speed);
    }
    snprintf(text + strlen(text), size - strlen(text), ", 'base': %g", base);
}

/* A mass that slides along z on something of eigenfrequency w rad/s; `moving`: another body whose
 * motion is prescribed makes constraints depend on time. */
static void draw_model(int kind, double w, bool moving, char *text, size_t size)
{
    char signal[300], pull[800], tail[500] = "";
    double m = uniform(1, 20), k = m * w * w, c = 2 * uniform(0.6, 1) * w * m;
    draw_signal(signal, sizeof signal);
    if (kind == LAW)
        snprintf(pull, sizeof pull,
                 "{'pull': {'type': 'torsion', 'joint': 'slide', 'damping': %g, "
                 "'torque': '%g*(pull - angle)'}}",
                 c, k);
    else if (kind == EXPLICIT)
        snprintf(pull, sizeof pull,
                 "{'pull': {'type': 'torsion', 'joint': 'slide', 'damping': %g, "
                 "'torque': '%g*(%g*sin(%g*t) + %g*t - angle)'}}",
                 c, k, uniform(0.005, 0.02), uniform(2, 7), uniform(-0.05, 0.05));
    else if (kind == CONTROLLER)
        snprintf(pull, sizeof pull,
                 "{'pull': {'type': 'controller', 'input': {'joint': 'slide'}, 'reference': "
                 "'pull + 0.3*t', 'kp': %g, 'kd': %g, 'filter': %g, 'output': {'joint': 'slide'}}}",
                 0.1 * k, 0.3 * c, 1 / w);
    else
        snprintf(pull, sizeof pull, "{}");
    if (kind == ROAD) {
        char road[200];
        draw_road(9.81 / (w * w), road, sizeof road);
        snprintf(tail, sizeof tail,
                 ", 'road': {%s}, 'tyres': {'tyre': {'type': 'point-follower', 'wheel': 'mass', "
                 "'radius': 0.3, 'stiffness': %g, 'damping': %g}}",
                 road, k, c);
    }
    snprintf(
        text, size,
        "{'gravity': %g, 'inputs': {'pull': %s, 'aside': {'type': 'sine', 'amplitude': 0.1, "
        "'frequency': 1}}, 'bodies': {'mass': {'mass': %g, 'center': [0, 0, 0.3], 'inertia': "
        "[1, 1, 1]}%s}, 'joints': {'slide': {'type': 'prismatic', 'bodies': ['ground', 'mass'],"
        " 'at': [0, 0, 0.3], 'axis': [0, 0, 1]}%s}, 'forces': %s, 'outputs': {'x': {'joint': "
        "'slide'}, 'rate': {'joint': 'slide', 'derivative': 1}, 'signal': {'signal': 'pull'}}%s}",
        kind == ROAD ? 9.81 : 0, signal, m,
        moving ? ", 'other': {'mass': 1, 'center': [1, 0, 0], 'inertia': [1, 1, 1]}" : "",
        moving ? ", 'drive': {'type': 'prismatic', 'bodies': ['ground', 'other'], 'at': "
                 "[1, 0, 0], 'axis': [1, 0, 0], 'prescribed': 'aside'}"
               : "",
        pull, tail);
}

/* Position and rate of the mass at t_end. */
static void run_to(const char *text, const char *form, const bg_run_options *options, double t_end,
                   double y[3])
{
    bg_error err = {BG_OK, ""};
    char *copy = quote(text);
    bg_model *model;
    bg_system *sys;
    bg_run_options o = *options;
    bg_run_report r;
    o.t_end = t_end;
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    assert_ok(bg_run(sys, &o, &r, &err));
    memcpy(y, r.y, 3 * sizeof *y);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    free(copy);
}

/* How late the mass is in steps of h, in units of h. */
static double measure_delay(const char *text, const char *form, const bg_setting *settings, int n,
                            double h)
{
    bg_run_options fine = bg_default_run_options(), coarse = bg_default_run_options();
    double product = 0, square = 0;
    fine.method.rtol = fine.method.atol = 1e-9;
    coarse.integrator = "linear-euler";
    coarse.method.step = h;
    coarse.skip_comparison = 1; /* not what is looked at here */
    coarse.method.settings = settings;
    coarse.method.nsettings = n;
    for (int i = 0; i < 4; i++) {
        double exact[3], y[3], t = 0.3 + 0.1 * i + 0.037 * (i % 2);
        run_to(text, "joint", &fine, t, exact);
        run_to(text, form, &coarse, t, y);
        product -= (y[0] - exact[0]) * exact[1];
        square += exact[1] * exact[1];
    }
    return product / square / h;
}

static void test_delay(void **state)
{
    (void)state;
    static const char *const jacobians[] = {"J2", "exact", "J1", "J3"};
    static const char *const indices[] = {"1", "2", "ggl"};
    double worst[KINDS] = {0};
    srand(23);
    for (int run = 0; run < (SANITIZED ? 16 : 96); run++) {
        char text[4000];
        int kind = run % KINDS, method = run / KINDS % 4, form = rand() % 2;
        bool moving = rand() % 2;
        bg_setting settings[] = {{"jacobian", jacobians[method]}, {"index", indices[rand() % 3]}};
        draw_model(kind, method < 2 && kind <= EXPLICIT && rand() % 2 ? 3000 : 300, moving, text,
                   sizeof text);
        double delay = measure_delay(text, forms[form], settings, 2, 1e-3);
        worst[kind] = fmax(worst[kind], fabs(delay));
        if (!(fabs(delay) < 0.1))
            fail_msg("run %d (%s, %s, index %s, %s form%s): late by %.3f steps\n%s", run,
                     kind_names[kind], settings[0].value, settings[1].value, forms[form],
                     moving ? ", moving constraints" : "", delay, text);
    }
    for (int k = 0; k < KINDS; k++)
        print_message("%s: late by at most %.3f steps\n", kind_names[k], worst[k]);
}

/* A planar truck over a hump: chassis that heaves, pitches and is held along the road, two axles on
 * springs, a cab; `late`: the road comes that much later. */
static void write_truck(double speed, double late, char *text, size_t size)
{
    snprintf(
        text, size,
        "{'bodies': {'chassis': {'mass': 8000, 'center': [0, 0, 1.5], 'inertia': [2e3, 3e4, 3e4]}, "
        "'front': {'mass': 500, 'center': [2, 0, 0.5], 'inertia': [50, 50, 50]}, "
        "'rear': {'mass': 900, 'center': [-2, 0, 0.5], 'inertia': [50, 50, 50]}, "
        "'cab': {'mass': 1000, 'center': [2.2, 0, 2.5], 'inertia': [500, 800, 500]}}, "
        "'joints': {'plane': {'type': 'planar', 'bodies': ['ground', 'chassis'], 'at': [0, 0, "
        "1.5], "
        "'axis': [0, 1, 0]}, 'f': {'type': 'prismatic', 'bodies': ['chassis', 'front'], 'at': "
        "[2, 0, 0.5], 'axis': [0, 0, 1]}, 'r': {'type': 'prismatic', 'bodies': ['chassis', "
        "'rear'], "
        "'at': [-2, 0, 0.5], 'axis': [0, 0, 1]}, 'c': {'type': 'prismatic', 'bodies': ['chassis', "
        "'cab'], 'at': [2.2, 0, 2.5], 'axis': [0, 0, 1]}}, "
        "'forces': {'kf': {'type': 'torsion', 'joint': 'f', 'stiffness': 3e5, 'damping': 1.5e4}, "
        "'kr': {'type': 'torsion', 'joint': 'r', 'stiffness': 5e5, 'damping': 2.5e4}, "
        "'kc': {'type': 'torsion', 'joint': 'c', 'stiffness': 6e4, 'damping': 6e3}, "
        "'kx': {'type': 'torsion', 'joint': 'plane', 'coordinate': 'x', 'stiffness': 1e5, "
        "'damping': 4e4}}, "
        "'road': {'type': 'bump', 'height': 0.05, 'from': 12, 'length': 6, 'speed': %g, 'start': "
        "%g}, "
        "'tyres': {'tf': {'type': 'point-follower', 'wheel': 'front', 'radius': 0.5, 'stiffness': "
        "1.5e6, 'damping': 2000}, 'tr': {'type': 'point-follower', 'wheel': 'rear', 'radius': 0.5, "
        "'stiffness': 3e6, 'damping': 4000}}, "
        "'outputs': {'cab': {'position': 'cab', 'component': 'z'}, 'front': {'position': 'front', "
        "'component': 'z'}, 'chassis': {'position': 'chassis', 'component': 'z'}}}",
        speed, -speed * late);
}

enum { HEIGHTS = 3 };

static void calc_truck(double speed, double t_end, double exact[HEIGHTS])
{
    char text[4000];
    bg_run_options fine = bg_default_run_options();
    fine.method.rtol = fine.method.atol = 1e-11;
    write_truck(speed, 0, text, sizeof text);
    run_to(text, "joint", &fine, t_end, exact);
}

/* The error of heights at t_end. */
static double measure_truck(const char *form, const bg_setting *settings, double h, double speed,
                            double late, double t_end, const double exact[HEIGHTS])
{
    char text[4000];
    double y[HEIGHTS], error = 0;
    bg_run_options o = bg_default_run_options();
    o.integrator = "linear-euler";
    o.method.step = h;
    o.skip_comparison = 1;
    o.method.settings = settings;
    o.method.nsettings = 2;
    write_truck(speed, late, text, sizeof text);
    run_to(text, form, &o, t_end, y);
    for (int i = 0; i < HEIGHTS; i++)
        error = fmax(error, fabs(y[i] - exact[i]));
    return error;
}

/* Order 1 at 20 m/s. */
static void test_truck_order(void **state)
{
    (void)state;
    static const char *const jacobians[] = {"J1", "J2", "J3", "exact"};
    static const char *const indices[] = {"1", "2", "ggl"};
    double exact[HEIGHTS];
    calc_truck(20, 0.8, exact);
    for (int k = 0; k < 4 * 2; k++) {
        enum { STEPS = SANITIZED ? 2 : 3 };
        double h[STEPS], e[STEPS];
        bg_setting settings[] = {{"jacobian", jacobians[k % 4]}, {"index", indices[k % 3]}};
        for (int i = 0; i < STEPS; i++) {
            h[i] = 1e-3 / (1 << i);
            e[i] = measure_truck(forms[k / 4], settings, h[i], 20, 0, 0.8, exact);
        }
        print_message("%s, index %s, %s form: %.1e m at 1 ms, order %.2f\n", settings[0].value,
                      settings[1].value, forms[k / 4], e[0], fit_order(STEPS, h, e));
        assert_true(fabs(fit_order(STEPS, h, e) - 1) < 0.1);
    }
}

/* At walking pace the truck rises and falls with the road: an error far below that of a road that
 * comes one step late, which is what the method made of it without h f_t. (exact moves q with u1
 * and has an error of its own.) */
static void test_truck_slowly(void **state)
{
    (void)state;
    static const struct {
        const char *jacobian;
        double most;
    } rows[] = {{"J1", 0.05}, {"J2", 0.05}, {"J3", 0.05}, {"exact", 0.3}};
    double exact[HEIGHTS];
    if (SANITIZED) /* a comparison of numbers, over the code of the runs above */
        skip();
    calc_truck(1, 12.6, exact);
    for (int k = 0; k < 4; k++) {
        bg_setting settings[] = {{"jacobian", rows[k].jacobian}, {"index", "1"}};
        double e = measure_truck("joint", settings, 1e-3, 1, 0, 12.6, exact);
        double late = measure_truck("joint", settings, 1e-3, 1, 1e-3, 12.6, exact);
        print_message("%s: %.1e m, one step late %.1e m\n", rows[k].jacobian, e, late);
        assert_true(e < rows[k].most * late);
    }
}

/* A live input that rises steadily: held by its value, the mass is late by the step for which the
 * value stands; along its slope, it is not. */
static void test_live(void **state)
{
    (void)state;
    const double h = 1e-3, speed = 0.1, damping = 500, stiffness = 1e5;
    const char *const names[] = {"pull"};
    char *text = quote("{'gravity': 0, 'inputs': {'pull': 0}, 'bodies': {'mass': {'mass': 1, "
                       "'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, 'joints': {'slide': {'type': "
                       "'prismatic', 'bodies': ['ground', 'mass'], 'at': [0, 0, 0], 'axis': [0, 0, "
                       "1]}}, 'forces': {'pull': {'type': 'torsion', 'joint': 'slide', 'damping': "
                       "500, 'torque': '1e5*(pull - angle)'}}, 'outputs': {'x': {'joint': "
                       "'slide'}}}");
    for (int hold = 0; hold < 2; hold++) {
        bg_error err = {BG_OK, ""};
        bg_realtime_options o = bg_default_realtime_options();
        bg_model *model;
        bg_system *sys;
        bg_realtime *rt;
        double x = 0;
        o.period = h;
        o.inputs = names;
        o.ninputs = 1;
        o.hold = hold ? BG_HOLD_SLOPE : BG_HOLD_VALUE;
        assert_ok(bg_model_parse(text, "test", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, "joint", &sys, &err));
        assert_ok(bg_realtime_create(sys, &o, &rt, &err));
        for (int k = 0; k < 500; k++) {
            double u = speed * h * k;
            assert_ok(bg_realtime_step(rt, &u, &x, &err));
            if (k % 2)
                bg_realtime_prepare(rt);
        }
        double late = 500 - (x / speed + damping / stiffness) / h;
        assert_near(late, hold ? 0 : 1, 1e-6);
        bg_realtime_destroy(rt);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_truck_order),
        cmocka_unit_test(test_truck_slowly),
        cmocka_unit_test(test_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
