/* Ring tyres in motion, on an axle that is held or led: frequencies and their gyroscopic split,
 * stiffnesses, rolling, cornering, locked wheels, slopes, standing for a minute and spinning on the
 * spot; in both formulations. Expected values: an independent program, to the digits given here. */
#include "modes_support.h"
#include "ring_support.h"

#define RING_OUTPUTS                                                                          \
    " 'outputs': {'N': {'force': 't', 'value': 'force'},"                                     \
    "   'F_x': {'force': 't', 'value': 'longitudinal'},"                                      \
    "   'F_y': {'force': 't', 'value': 'lateral'}, 'M': {'force': 't', 'value': 'aligning'}," \
    "   's': {'force': 't', 'value': 'slip'}, 'spin': {'force': 't', 'value': 'spin'},"       \
    "   'z': {'position': 't.ring', 'component': 'z'}}"

/* The rim is on the ground, or led by inputs. */
#define RIG(center, joints, inputs, road, tyre, more)                                       \
    "{'bodies': {'rim': {'mass': 13.053, 'center': [0, 0, " center "], 'inertia': [0.2931," \
    "   0.5862, 0.2931]}}, 'joints': {" joints "}, 'inputs': {" inputs "},"                 \
    " 'road': " road ", 'tyres': {'t': {" tyre ", 'wheel': 'rim'" more "}}," RING_OUTPUTS "}"
enum { N, F_X, F_Y, M, S, SPIN, Z, OUTPUTS };

#define HELD "'held': {'type': 'fixed', 'bodies': ['ground', 'rim']}"
#define FLAT "{'type': 'flat'}"
#define DEEP "{'type': 'flat', 'base': -5}"

static void run_within(const char *text, const char *form, const char *method, double step,
                       double tolerance, double t_end, double y[OUTPUTS])
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report report;
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
    free(copy);
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.t_end = t_end;
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.method.step = step;
    assert_ok(bg_run(sys, &o, &report, &err));
    memcpy(y, report.y, OUTPUTS * sizeof *y);
    bg_run_report_clear(&report);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

static void run_to(const char *text, const char *form, const char *method, double step,
                   double t_end, double y[OUTPUTS])
{
    run_within(text, form, method, step, 1e-9, t_end, y);
}

static void near_value(const char *what, double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s is %.10g, not %.10g", what, found, expected);
}

typedef struct mode {
    double re, im;
    int count;
} mode;

/* Each of these is there so often. */
static void expect_modes(const char *text, const char *form, const mode *modes, int n, double near)
{
    linear_model m;
    linear_begin(&m, text, form);
    linear_find_modes(&m);
    for (int k = 0; k < n; k++) {
        int count = 0;
        for (int i = 0; i < m.modes.count; i++)
            count += fabs(m.modes.mode[i].re - modes[k].re) <= near &&
                     fabs(m.modes.mode[i].im - modes[k].im) <= near;
        if (count != modes[k].count) {
            for (int i = 0; i < m.modes.count; i++)
                print_message("%.4f %+.4fi\n", m.modes.mode[i].re, m.modes.mode[i].im);
            fail_msg("%s: %g +- %gi is there %d times", form, modes[k].re, modes[k].im, count);
        }
    }
    linear_end(&m);
}

static mode make_mode(double frequency, double damping, int count)
{
    const double w = 2 * M_PI * frequency;
    return (mode){-damping * w, w * sqrt(1 - damping * damping), count};
}

/* The rim held, no road: frequencies and damping ratios from which the stiffnesses were made. */
static void test_frequencies(void **state)
{
    (void)state;
    static const char space[] = RIG("0.3135", HELD, "", DEEP, RING_SPATIAL, "");
    static const char plane[] = RIG("0.3135", HELD, "", DEEP, RING_PLANAR, "");
    const mode expected[] = {make_mode(77.17, 0.056, 2), make_mode(58.95, 0.05, 1),
                             make_mode(42.41, 0.037, 1), make_mode(53.49, 0.007, 2)};
    for (int k = 0; k < 2; k++) {
        expect_modes(space, forms[k], expected, 4, 2e-3);
        expect_modes(plane, forms[k], expected, 2, 2e-3);
    }
}

/* A rim that turns with 100 rad/s: the two modes of tilt part, as those of a gyroscope do, by
 * |+-I_y W/(2 I_x) + sqrt(c/I_x + (I_y W/(2 I_x))^2)|, and dampers that turn with it damp one of
 * the in-plane modes more, the other less. */
static void test_gyroscopic_split(void **state)
{
    (void)state;
    static const char text[] = RIG(
        "0.3135",
        "'turns': {'type': 'revolute', 'bodies': ['ground', 'rim'], 'at': [0, 0, 0.3135],"
        " 'axis': [0, 1, 0], 'prescribed': 'turn'}",
        "'turn': '100*t'", DEEP, RING_SPATIAL, "");
    linear_model m;
    double split[2] = {0, 0}, damped[2] = {0, 0};
    linear_begin(&m, text, "joint");
    linear_find_modes(&m);
    for (int i = 0; i < m.modes.count; i++) {
        const bg_mode *x = &m.modes.mode[i];
        if (fabs(x->im - 264.73) < 0.02)
            split[0]++;
        if (fabs(x->im - 426.65) < 0.02)
            split[1]++;
        if (fabs(x->im - 484.1) < 1 && fabs(x->re + 21.5) < 0.06)
            damped[0]++;
        if (fabs(x->im - 484.1) < 1 && fabs(x->re + 32.8) < 0.06)
            damped[1]++;
    }
    if (!(split[0] == 1 && split[1] == 1 && damped[0] == 1 && damped[1] == 1)) {
        for (int i = 0; i < m.modes.count; i++)
            print_message("%.4f %+.4fi\n", m.modes.mode[i].re, m.modes.mode[i].im);
        fail();
    }
    linear_end(&m);
}

/* The axle at 0.29 m: load, deflection and vertical stiffness, those of two springs in series. */
static void test_loads(void **state)
{
    (void)state;
    static const char *const texts[] = {RIG("0.29", HELD, "", FLAT, RING_SPATIAL, ""),
                                        RIG("0.29", HELD, "", FLAT, RING_PLANAR, ""),
                                        RIG("0.2899", HELD, "", FLAT, RING_SPATIAL, "")};
    double y[OUTPUTS], lower[OUTPUTS];
    for (int k = 0; k < 2; k++)
        for (int plane = 0; plane < 2; plane++) {
            run_to(texts[plane], forms[k], "bdf", 0, 8, y);
            near_value("load", y[N], 4935.547, 1e-3);
            near_value("deflection", y[Z] - 0.29, 2.855085e-3, 1e-9);
        }
    run_to(texts[2], "joint", "bdf", 0, 8, lower);
    near_value("stiffness", (lower[N] - y[N]) / 1e-4, 209651.0, 1);
}

/* A slope of 10 %, the axle 0.29 m above it along the normal. */
static void test_slope(void **state)
{
    (void)state;
    char text[4096];
    const double m = sqrt(1.01);
    double y[OUTPUTS];
    snprintf(text, sizeof text, RIG("%.17g", HELD, "", "%s", RING_SPATIAL, ""), 0.29 * m,
             "{'type': 'table', 'points': [[-50, -5], [50, 5]], 'interpolation': 'linear'}");
    for (int k = 0; k < 2; k++) {
        run_to(text, forms[k], "bdf", 0, 8, y);
        /* of two springs in series, and the ring's weight along the normal between them */
        const double c = 1703786, c_r = 239068.4, weight = 7.247 * 9.81 / m;
        near_value("load", y[N], (c * (0.3135 - 0.29) + weight) * c_r / (c + c_r), 1e-4);
    }
}

/* As RIG, with a carriage that is led along x, and an axle turned by `yaw` about z. */
static void write_led(char *text, size_t size, double yaw, const char *axle, const char *way,
                      const char *more)
{
    snprintf(text, size,
             "{'bodies': {'carriage': {'mass': 1, 'center': [0, 0, 0.29], 'inertia': [1, 1, 1]},"
             "  'rim': {'mass': 13.053, 'center': [0, 0, 0.29], 'inertia': [0.2931, 0.5862,"
             "   0.2931]}},"
             " 'joints': {'led': {'type': 'prismatic', 'bodies': ['ground', 'carriage'], 'at':"
             "   [0, 0, 0.29], 'axis': [1, 0, 0], 'prescribed': 'way'},"
             "  'axle': {'type': '%s', 'bodies': ['carriage', 'rim'], 'at': [0, 0, 0.29]%s}},"
             " 'inputs': {'way': '%s'},"
             " 'tyres': {'t': {" RING_SPATIAL
             ", 'wheel': 'rim', 'axis': [%.17g, %.17g, 0]}}," RING_OUTPUTS "}",
             axle, more, way, -sin(yaw), cos(yaw));
}

static void write_rolling(char *text, size_t size, double yaw)
{
    char more[160];
    snprintf(more, sizeof more, ", 'axis': [%.17g, %.17g, 0], 'initial': {'velocity': 32.86556}",
             -sin(yaw), cos(yaw));
    write_led(text, size, yaw, "revolute", "10*t", more);
}

/* Free rolling, and steady slip angles, at 10 m/s. */
static void test_rolling(void **state)
{
    (void)state;
    static const struct {
        double angle, F_y, near, M, near_M;
    } expected[] = {{0.001, 51.51, 0.006, NAN, 0},
                    {0.01, 498.69, 0.006, -10.478, 6e-4},
                    {0.05, 2131.7, 0.06, -30.41, 6e-3},
                    {0.1, 3432.0, 0.06, -24.80, 6e-3},
                    {0.2, 4283.8, 0.06, -1.06, 6e-3}};
    char text[4096];
    double y[OUTPUTS];
    write_rolling(text, sizeof text, 0);
    for (int k = 0; k < (SANITIZED ? 1 : 2); k++) {
        run_to(text, forms[k], "mdop5", 0, 4, y);
        near_value("resistance", y[F_X], -42.89, 6e-3);
        near_value("slip", y[S], -4.958e-4, 6e-8);
        near_value("spin", y[SPIN], 32.86556, 6e-6);
    }
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        if (SANITIZED && k != 2)
            continue;
        write_rolling(text, sizeof text, expected[k].angle);
        run_to(text, "joint", "mdop5", 0, 4, y);
        near_value("cornering force", y[F_Y], expected[k].F_y, expected[k].near);
        if (!isnan(expected[k].M))
            near_value("aligning torque", y[M], expected[k].M, expected[k].near_M);
    }
}

/* A locked wheel at 10 m/s, yawed by 0.3 rad: full sliding. */
static void test_locked(void **state)
{
    (void)state;
    char text[4096];
    double y[OUTPUTS];
    write_led(text, sizeof text, 0.3, "fixed", "10*t", "");
    run_to(text, "joint", "mdop5", 0, 5, y);
    near_value("F_x", y[F_X], -5013.9, 2); /* the value was read before the lean had settled */
    near_value("use of friction", hypot(y[F_X], y[F_Y]) / y[N], 1.0348, 6e-5);
    near_value("friction", hypot(y[F_X] / 1.0422, y[F_Y] / 0.8785) / y[N], 1, 1e-12);
}

/* A wheel that stands, with the rim locked and its axle moved by 1 mm, along and across: a spring;
 * and with steps of two rates it does not creep in a minute. */
static void test_standing(void **state)
{
    (void)state;
    static const struct {
        const char *axis;
        int which;
        double force;
    } cases[] = {{"0, 1, 0", F_Y, -176.804}, {"1, 0, 0", F_X, -388.492}};
    for (int k = 0; k < 2; k++) {
        char text[4096];
        double exact[OUTPUTS], early[OUTPUTS], late[OUTPUTS];
        snprintf(text, sizeof text,
                 "{'bodies': {'carriage': {'mass': 1, 'center': [0, 0, 0.29], 'inertia': [1, 1,"
                 " 1]}, 'rim': {'mass': 13.053, 'center': [0, 0, 0.29], 'inertia': [0.2931,"
                 " 0.5862, 0.2931]}}, 'joints': {'led': {'type': 'prismatic', 'bodies': ['ground',"
                 " 'carriage'], 'at': [0, 0, 0.29], 'axis': [%s], 'prescribed': 'way'},"
                 "  'locked': {'type': 'fixed', 'bodies': ['carriage', 'rim']}},"
                 " 'inputs': {'way': '0.001*step(t, 0, 0.1)'},"
                 " 'tyres': {'t': {" RING_SPATIAL ", 'wheel': 'rim'}}," RING_OUTPUTS
                 ", 'run': {'rheonomic': 'constrain', 'fast': ['t']}}",
                 cases[k].axis);
        const int i = cases[k].which;
        run_to(text, "joint", "bdf", 0, 6, exact);
        near_value("force", exact[i], cases[k].force, 1e-3);
        run_to(text, "joint", "prk38", 0.006, 6, early);
        run_to(text, "joint", "prk38", 0.006, 60, late);
        near_value("force", early[i], cases[k].force, 1e-2);
        near_value("force after a minute", late[i], early[i], 1e-9);
    }
}

/* 2500 N m for 0.3 s on the spot: the slip does not wind up, and when the torque is gone the wheel
 * comes to rest; with the rim as a body and as a rotor, whose motions are the same. */
static void test_spinning(void **state)
{
    (void)state;
    static const char body[] = RIG(
        "0.29",
        "'axle': {'type': 'revolute', 'bodies': ['ground', 'rim'], 'at': [0, 0, 0.29],"
        " 'axis': [0, 1, 0]}",
        "", FLAT, RING_SPATIAL, "");
    static const char rotor[] = RIG("0.29", HELD, "", FLAT, RING_SPATIAL,
                                    ", 'rotor': {'inertia': 0.5862, 'torque':"
                                    " '2500*(1 - step(t, 0.3, 0.31))'}");
    char driven[4096], plane[4096];
    double y[OUTPUTS], z[OUTPUTS];
    snprintf(driven, sizeof driven,
             "%.*s, 'forces': {'motor': {'type': 'torsion', 'joint': 'axle',"
             " 'torque': '2500*(1 - step(t, 0.3, 0.31))'}}}",
             (int)strlen(body) - 1, body);
    static const char flat_rotor[] = RIG("0.29", HELD, "", FLAT, RING_PLANAR,
                                         ", 'rotor': {'inertia': 0.5862, 'torque':"
                                         " '2500*(1 - step(t, 0.3, 0.31))'}");
    snprintf(plane, sizeof plane, "%s", flat_rotor);
    const char *const texts[] = {driven, rotor, plane};
    for (int k = 0; k < 3; k++) {
        run_to(texts[k], "joint", "mdop5", 0, 0.3, y);
        assert_true(y[SPIN] > 100 && fabs(y[S]) <= 1.001);
        if (k == 0)
            memcpy(z, y, sizeof z);
        else if (k == 1)
            for (int i = 0; i < OUTPUTS; i++)
                near_value("of the rotor", y[i], z[i], 1e-5 * (1 + fabs(z[i])));
        run_to(texts[k], "joint", "mdop5", 0, 2.5, y);
        near_value("spin at the end", y[SPIN], 0, 1e-2);
    }
}

/* A wheel at a slip angle that is moved, turned about the vertical, mirrored, and both: the same
 * loads, forces, torques and slips. */
static void test_turned(void **state)
{
    (void)state;
    static const char text[] =
        "{'parts': {'rig': {'bodies': {'carriage': {'mass': 1, 'center': [0, 0, 0.29], 'inertia':"
        "   [1, 1, 1]}, 'rim': {'mass': 13.053, 'center': [0, 0, 0.29], 'inertia': [0.2931, 0.5862,"
        "   0.2931]}}, 'joints': {'led': {'type': 'prismatic', 'bodies': ['ground', 'carriage'],"
        "   'at': [0, 0, 0.29], 'axis': [1, 0, 0], 'prescribed': 'way'}, 'axle': {'type':"
        "   'revolute', 'bodies': ['carriage', 'rim'], 'at': [0, 0, 0.29], 'axis': [-0.05, 1, 0],"
        "   'initial': {'velocity': 32.8}}}, 'inputs': {'way': '10*t'},"
        "  'tyres': {'t': {" RING_SPATIAL ", 'wheel': 'rim', 'axis': [-0.05, 1, 0]}}," RING_OUTPUTS
        " }},"
        " 'use': {'a': {'part': 'rig'}, 'b': {'part': 'rig', 'at': [3, -2, 0], 'orientation':"
        "  {'axis': [0, 0, 1], 'angle': 2.1}}, 'c': {'part': 'rig', 'at': [0, 5, 0], 'mirror':"
        "  'y'}, 'd': {'part': 'rig', 'at': [3, -7, 0], 'mirror': 'y', 'orientation': {'axis': [0,"
        "  0, 1], 'angle': -1.3}}}}";
    for (int k = 0; k < (SANITIZED ? 1 : 2); k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        bg_run_options o = bg_default_run_options();
        bg_run_report report;
        char *copy = quote(text);
        assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
        free(copy);
        assert_ok(bg_model_create_system(model, forms[k], &sys, &err));
        o.t_end = SANITIZED ? 0.01 : 0.2;
        o.integrator = "mdop8";
        o.method.rtol = o.method.atol = 1e-10;
        assert_ok(bg_run(sys, &o, &report, &err));
        const double *y = report.y;
        assert_true(SANITIZED || y[F_Y] > 1000);
        for (int use = 1; use < 4; use++)
            for (int i = 0; i < OUTPUTS; i++)
                near_value("a turned or mirrored wheel", y[use * OUTPUTS + i], y[i],
                           1e-6 * (1 + fabs(y[i])));
        bg_run_report_clear(&report);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* A held axle, a rim that turns freely, 10 m/s. */
static void test_rolling_modes(void **state)
{
    (void)state;
    static const mode expected[] = {{-73.2, 762.4, 1}, {-60.8, 636.2, 1}, {-60.2, 514.3, 1},
                                    {-33.1, 505.5, 1}, {-1.9, 341.5, 1},  {-8.1, 283.9, 1},
                                    {-30.8, 204.7, 1}};
    char text[4096];
    linear_model m;
    bg_error err = {BG_OK, ""};
    write_rolling(text, sizeof text, 0);
    linear_begin(&m, text, "joint");
    /* to the steady motion */
    bg_run_options o = bg_default_run_options();
    bg_run_report report;
    o.t_end = 4;
    o.method.rtol = o.method.atol = 1e-8;
    assert_ok(bg_run(m.system, &o, &report, &err));
    bg_state_copy(m.system, report.final, m.state);
    m.state->z[1] = m.state->z[2] = 0; /* the values are those without slip */
    linear_find_modes(&m);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        bool found = false;
        for (int i = 0; i < m.modes.count; i++)
            found = found || (fabs(m.modes.mode[i].re - expected[k].re) < 0.4 &&
                              fabs(m.modes.mode[i].im - expected[k].im) < 0.7);
        if (!found) {
            for (int i = 0; i < m.modes.count; i++)
                print_message("%.4f %+.4fi\n", m.modes.mode[i].re, m.modes.mode[i].im);
            fail_msg("no mode %g +- %gi", expected[k].re, expected[k].im);
        }
    }
    bg_run_report_clear(&report);
    linear_end(&m);
}

/* A quarter of a car goes down a stair, lifts off, lands and hits a stop, and its drive jumps
 * between steps: in what modes and inputs change, all part by part, pairs keep their order. */
static void test_orders_across_events(void **state)
{
    (void)state;
    static const char text[] =
        "{'bodies': {'car': {'mass': 300, 'center': [0, 0, 0.63], 'inertia': [20, 20, 20]},"
        "   'rim': {'mass': 30, 'center': [0, 0, 0.3], 'inertia': [0.2931, 0, 0.2931]}},"
        " 'joints': {'body': {'type': 'prismatic', 'bodies': ['ground', 'car'],"
        "     'at': [0, 0, 0.63], 'axis': [0, 0, 1]},"
        "   'axle': {'type': 'prismatic', 'bodies': ['car', 'rim'], 'at': [0, 0, 0.3],"
        "     'axis': [0, 0, 1]}},"
        " 'forces': {'spring': {'type': 'spring-damper', 'from': {'body': 'rim', 'at': [0, 0, "
        "0.3]},"
        "     'to': {'body': 'car', 'at': [0, 0, 0.63]}, 'stiffness': 20000, 'damping': 1500,"
        "     'free_length': 0.47715},"
        "   'stop': {'type': 'bump-stop', 'from': {'body': 'rim', 'at': [0, 0, 0.3]},"
        "     'to': {'body': 'car', 'at': [0, 0, 0.63]}, 'below': 0.3, 'stiffness': 2e5,"
        "     'damping': 200}},"
        " 'inputs': {'drive': {'type': 'jump', 'to': 300, 't0': 0.3337}},"
        " 'road': {'type': 'stair', 'height': -0.1, 'at': 1, 'speed': 10},"
        " 'tyres': {'t': {" RING_SPATIAL ", 'wheel': 'rim', 'spin': 32.88,"
        "   'rotor': {'inertia': 0.5862, 'torque': 'drive'}}}, 'run': {'fast': ['t']},"
        " 'outputs': {'z': {'position': 'car', 'component': 'z'},"
        "   'v': {'velocity': 'car', 'component': 'z'},"
        "   'ring': {'position': 't.ring', 'component': 'z'},"
        "   'rate': {'velocity': 't.ring', 'component': 'z'}, 'spin': {'force': 't', 'value': "
        "'spin'},"
        "   's': {'force': 't', 'value': 'slip'}, 'N': {'force': 't', 'value': 'force'}}}";
    static const struct {
        const char *method;
        double order, within;
    } pairs[] = {{"prk28", 2, 0.1}, {"prk38", 3, 0.15}, {"prk48", 4, 0.2}};
    double exact[OUTPUTS];
    run_within(text, "joint", "mdop8", 0, 1e-11, 0.7, exact);
    for (int form = 0; form < (SANITIZED ? 1 : 2); form++)
        for (int k = 0; k < 3; k++) {
            double error[2] = {0, 0}; /* of places and velocities */
            for (int i = 0; i < 2; i++) {
                double y[OUTPUTS];
                run_to(text, forms[form], pairs[k].method, 1e-3 / (1 + i), 0.7, y);
                for (int j = 0; j < 4; j++)
                    error[i] = hypot(error[i], y[j] - exact[j]);
            }
            near_value(pairs[k].method, log2(error[0] / error[1]), pairs[k].order, pairs[k].within);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_across_events),
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_gyroscopic_split),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_locked),
        cmocka_unit_test(test_standing),
        cmocka_unit_test(test_spinning),
        cmocka_unit_test(test_rolling_modes),
        cmocka_unit_test(test_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
