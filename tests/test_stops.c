/* Joint limits, friction, bump stops and contacts against closed forms: how long a rebound takes
 * and what it leaves, where sliding ends, when a slope is too steep, how a ball begins to roll; in
 * both forms, with every method, and in models that are turned. */
#include "model_support.h"
#include "random_mechanism.h"

#include <stdbool.h>

enum { MOST = 4096 };

/* One run: what is left at the end, and its events. */
typedef struct stop_outcome {
    double y[16], t;
    long n;
    double at[64];
    char what[64][96];
    double energy_error;
} stop_outcome;

static stop_outcome run_with(const char *text, const char *form, const char *method,
                             double tolerance, double step)
{
    bg_error err = {BG_OK, ""};
    stop_outcome x = {.n = 0};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bg_system *sys;
    bg_model *model = parse_quoted(text);
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.method.step = step;
    if (bg_run(sys, &o, &r, &err) != BG_OK)
        fail_msg("%s, %s: %s", form, method, err.text);
    assert_true(bg_system_get_def(sys)->ny <= 16 && r.nevents <= 64);
    memcpy(x.y, r.y, (size_t)bg_system_get_def(sys)->ny * sizeof(double));
    x.t = r.final->t;
    x.n = r.nevents;
    x.energy_error = r.certificate.energy_error;
    for (long k = 0; k < r.nevents; k++) {
        x.at[k] = r.events[k].t;
        snprintf(x.what[k], sizeof x.what[k], "%s", r.events[k].name);
    }
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return x;
}

static stop_outcome run(const char *text, int form)
{
    return run_with(text, forms[form], "mdop5", 1e-10, 0);
}

static void check_event(const stop_outcome *x, int k, const char *what, double t, double tolerance)
{
    if (k >= x->n)
        fail_msg("only %ld events, none '%s'", x->n, what);
    assert_string_equal(x->what[k], what);
    assert_near(x->at[k], t, tolerance);
}

/* A mass m that meets a spring k and damper c at speed 1: with w = sqrt(k/m), z = c/(2 m w) and w_d
 * = w sqrt(1 - z^2), delta = exp(-z w t) sin(w_d t)/w_d; the force vanishes with delta'', where w_d
 * t = pi - atan2(2 z sqrt(1 - z^2), 1 - 2 z^2). Returns how long it touches, and the
 * speed and delta after. */
static double calc_rebound(double m, double k, double c, double *speed, double *depth)
{
    const double w = sqrt(k / m), z = c / (2 * m * w), root = sqrt(1 - z * z);
    const double phi = acos(-1) - atan2(2 * z * root, 1 - 2 * z * z), t = phi / (w * root);
    *depth = exp(-z * w * t) * sin(phi) / (w * root);
    *speed = -exp(-z * w * t) * (cos(phi) - z / root * sin(phi));
    return t;
}

static const char *const rod =
    "{'gravity': 0, 'bodies': {'rod': {'mass': 3, 'center': [0, 0, 0], 'inertia': [1, 0.4, 2]}}, "
    "'joints': {'hinge': {'type': 'revolute', 'bodies': ['ground', 'rod'], 'at': [0, 0, 0], "
    "'axis': [0, 1, 0], 'initial': {'position': %g, 'velocity': %g}}}, 'forces': {'ends': {'type': "
    "'limit', 'joint': 'hinge', 'lower': '-30*deg', 'upper': %s, 'stiffness': 900, 'damping': %g "
    "%s}}, 'outputs': {'rate': {'joint': 'hinge', 'derivative': 1}, 'angle': {'joint': 'hinge'}, "
    "'beyond': {'force': 'ends', 'value': 'contact'}}, 'run': {'t_end': %g}}";

/* To and fro between two limits. */
static void limits_throw_back(void **state)
{
    (void)state;
    const double deg = acos(-1) / 180, c[] = {0, 5};
    for (int k = 0; k < 4; k++) {
        char text[MOST];
        double e, depth, dt = calc_rebound(0.4, 900, c[k / 2], &e, &depth);
        snprintf(text, sizeof text, rod, 0.0, 2.0, "'60*deg'", c[k / 2], "", 2.1);
        const stop_outcome x = run(text, k % 2);
        const double t1 = 60 * deg / 2, t2 = t1 + dt, t3 = t2 + (90 * deg + 2 * depth) / (2 * e);
        check_event(&x, 0, "joint hinge reaches its upper limit", t1, 1e-9);
        check_event(&x, 1, "joint hinge leaves its upper limit", t2, 1e-8);
        check_event(&x, 2, "joint hinge reaches its lower limit", t3, 2e-8);
        check_event(&x, 3, "joint hinge leaves its lower limit", t3 + dt, 2e-8);
        assert_int_equal(x.n, 4);
        assert_near(x.y[0], 2 * e * e, 1e-7);
    }
}

/* A limit beyond half a turn, and a spring of another power: at rest the energy is that of the
 * flight, k delta^(n+1)/(n+1) = I w^2/2. */
static void limits_may_count_turns(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        char text[MOST];
        snprintf(text, sizeof text, rod, 0.0, 20.0, "9", 0.0, ", 'turns': true, 'exponent': 1.5",
                 9.0);
        char *end = strstr(text, "'run'");
        strcpy(end, "'events': {'turn': {'expression': 'rate', 'stop': 'falling'}}, 'run': "
                    "{'t_end': 9}}");
        const stop_outcome x = run(text, form);
        check_event(&x, 0, "joint hinge reaches its upper limit", 9.0 / 20, 1e-9);
        assert_near(x.y[1], 9 + pow(2.5 * 0.5 * 0.4 * 400 / 900, 0.4), 1e-8);
        assert_near(x.y[2], 1, 0);
    }
}

/* Every method finds the same, as well as its order lets it. */
static void every_method_meets_limits(void **state)
{
    (void)state;
    char text[MOST];
    const bg_integrator_info *info;
    double e, depth, dt = calc_rebound(0.4, 900, 5, &e, &depth);
    const double t1 = acos(-1) / 6;
    snprintf(text, sizeof text, rod, 0.0, 2.0, "'60*deg'", 5.0, "", 1.0);
    for (int i = 0; (info = get_method(i)); i += SANITIZED ? 3 : 1)
        for (int form = 0; form < 2; form++) {
            const bool fixed = info->fixed_steps;
            const stop_outcome x = run_with(text, forms[form], info->name, 1e-8, fixed ? 2e-4 : 0);
            const double near = fixed ? 2e-3 : 2e-5;
            if (x.n != 2)
                fail_msg("%s, %s: %ld events", info->name, forms[form], x.n);
            check_event(&x, 0, "joint hinge reaches its upper limit", t1, near);
            check_event(&x, 1, "joint hinge leaves its upper limit", t1 + dt, near);
            assert_near(x.y[0], -2 * e, fixed ? 2e-2 : 2e-5);
        }
}

static const char *const block =
    "{'gravity': 0, 'bodies': {'block': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, "
    "'joints': {'guide': {'type': 'prismatic', 'bodies': ['ground', 'block'], 'at': [0, 0, 0], "
    "'axis': [1, 2, 2], 'initial': {'velocity': %g}}}, 'inputs': {'pull': '%s'}, 'forces': {'rub': "
    "{'type': 'friction', 'joint': 'guide', %s}, 'push': {'type': 'torsion', 'joint': 'guide', "
    "'torque': 'pull'}}, 'outputs': {'way': {'joint': 'guide'}, 'speed': {'joint': 'guide', "
    "'derivative': 1}, 'force': {'force': 'rub', 'value': 'torque'}, 'sticks': {'force': 'rub', "
    "'value': 'sticks'}}, 'run': {'t_end': %g}}";

/* Forwards and backwards, v^2 m/(2 L) and v m/L; then it holds. With a smooth law it stops after
 * m/(2 L) (v sqrt(v^2 + e^2) + e^2 asinh(v/e)). */
static void friction_stops_a_block(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        char text[MOST];
        const double side = k / 2 ? -1 : 1;
        snprintf(text, sizeof text, block, side * 3, "0", "'coulomb': 5, 'deflection': 1e-4", 2.0);
        stop_outcome x = run(text, k % 2);
        check_event(&x, 0, "joint guide sticks", 2 * 3 / 5.0, 1e-9);
        assert_int_equal(x.n, 1);
        /* the deflection with which stick began is given back */
        assert_near(x.y[0], side * (9 * 2 / 10.0 - 1e-4), 1e-8);
        assert_near(x.y[1], 0, 1e-8);
        assert_near(x.y[3], 1, 0);
        snprintf(text, sizeof text, block, side * 3, "0", "'coulomb': 5, 'speed': 0.05", 20.0);
        x = run(text, k % 2);
        const double e = 0.05;
        assert_near(x.y[0], side * 2 / 10.0 * (3 * sqrt(9 + e * e) + e * e * asinh(3 / e)), 1e-8);
        assert_int_equal(x.n, 0);
        snprintf(text, sizeof text, block, side * 3, "0", "'viscous': 4", 1.0);
        x = run(text, k % 2);
        assert_near(x.y[1], side * 3 * exp(-2), 1e-8);
    }
}

/* A level that falls through zero drives nothing: m v' = -max(0, 5 - 10 t). */
static void friction_never_drives(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        char text[MOST];
        const double side = k / 4 ? -1 : 1;
        snprintf(text, sizeof text, block, side * 3, "0",
                 k % 2 ? "'coulomb': '5 - 10*t', 'deflection': 1e-4"
                       : "'coulomb': '5 - 10*t', 'speed': 1e-4",
                 2.0);
        stop_outcome x = run(text, k / 2 % 2);
        assert_near(x.y[1], side * (3 - 1.25 / 2), 1e-6);
        assert_near(x.y[2], 0, 0);
    }
}

/* A pull that grows by 4 N/s breaks away when the spring of stick, behind it by its damper's time,
 * has 1.5 times the level; then m v' = pull - L. */
static void friction_holds_up_to_its_static_level(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        char text[MOST];
        const double side = k / 2 ? -1 : 1, t1 = 1.5 * 5 / 4 + 0.01;
        snprintf(text, sizeof text, block, 0.0, k / 2 ? "-4*t" : "4*t",
                 "'coulomb': 5, 'deflection': 1e-4, 'static': 1.5, 'damping': 0.01", 2.5);
        const stop_outcome x = run(text, k % 2);
        check_event(&x, 0,
                    k / 2 ? "joint guide begins to slip backward"
                          : "joint guide begins to slip forward",
                    t1, 1e-6);
        assert_int_equal(x.n, 1);
        const double v = (2 * (2.5 * 2.5 - t1 * t1) - 5 * (2.5 - t1)) / 2;
        assert_near(x.y[1], side * v, 1e-3);
        assert_near(x.y[2], -side * 5, 1e-9);
    }
}

/* To and fro by a sine: slips, sticks, slips, in the same order and at the same times with every
 * method. */
static void every_method_sticks_and_slips(void **state)
{
    (void)state;
    char text[MOST];
    const bg_integrator_info *info;
    snprintf(text, sizeof text, block, 0.0, "8*sin(4*t)",
             "'coulomb': 5, 'deflection': 1e-3, 'static': 1.1, 'viscous': 0.5", 2.5);
    const stop_outcome x = run_with(text, "joint", "mdop8", 1e-11, 0);
    assert_true(x.n >= 6 && strcmp(x.what[1], "joint guide sticks") == 0);
    for (int i = 0; (info = get_method(i)); i += SANITIZED ? 3 : 1)
        for (int form = 0; form < 2; form++) {
            const bool fixed = info->fixed_steps;
            const stop_outcome y = run_with(text, forms[form], info->name, 1e-9, fixed ? 5e-4 : 0);
            if (y.n != x.n)
                fail_msg("%s, %s: %ld events, not %ld", info->name, forms[form], y.n, x.n);
            for (int k = 0; k < x.n; k++)
                check_event(&y, k, x.what[k], x.at[k], fixed ? 5e-3 : 2e-5);
            assert_near(y.y[0], x.y[0], fixed ? 1e-2 : 1e-5);
        }
}

/* A plate is tilted slowly; the block on it goes when tan(tilt) is 1.2 mu, behind by tau. */
static void a_slope_becomes_too_steep(void **state)
{
    (void)state;
    static const char *const plate =
        "{'bodies': {'plate': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}, 'block': "
        "{'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, 'inputs': {'tilt': '0.01*t'}, "
        "'joints': {'hinge': {'type': 'revolute', 'bodies': ['ground', 'plate'], 'at': [0, 0, 0], "
        "'axis': [0, 1, 0], 'prescribed': 'tilt'}, 'guide': {'type': 'prismatic', 'bodies': "
        "['plate', 'block'], 'at': [0, 0, 0], 'axis': [1, 0, 0]}}, 'forces': {'rub': {'type': "
        "'friction', 'joint': 'guide', 'coulomb': '0.3*2*9.81*cos(slope)', 'deflection': 1e-3, "
        "'static': 1.2, 'damping': 0.01}}, 'outputs': {'slope': {'joint': 'hinge'}}, 'run': "
        "{'t_end': 36}}";
    for (int form = 0; form < 2; form++) {
        const stop_outcome x = run_with(plate, forms[form], "bdf", 1e-8, 0);
        check_event(&x, 0, "joint guide begins to slip forward", 100 * atan(0.36) + 0.01, 1e-3);
        assert_int_equal(x.n, 1);
    }
}

static const char *const strut =
    "{'gravity': 0, 'bodies': {'car': {'mass': 20, 'center': [0, 0, 1], 'inertia': [1, 1, 1]}, "
    "'wheel': {'mass': 5, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, 'joints': {'free': {'type': "
    "'prismatic', 'bodies': ['ground', 'wheel'], 'at': [0, 0, 0], 'axis': [0, 0, 1]}, 'leg': "
    "{'type': 'prismatic', 'bodies': ['wheel', 'car'], 'at': [0, 0, 0], 'axis': [0, 0, 1], "
    "'initial': {'velocity': %g}}}, 'forces': {'rubber': {'type': 'bump-stop', 'from': 'wheel', "
    "'to': 'car', '%s': %g, 'stiffness': 5e4, 'damping': 100}}, 'outputs': {'rate': {'joint': "
    "'leg', 'derivative': 1}}, 'run': {'t_end': 0.3}}";

/* Two bodies rebound as one of their reduced mass, 4 kg. */
static void bump_stops_throw_back(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        char text[MOST];
        const double side = k / 2 ? 1 : -1;
        double e, depth, dt = calc_rebound(4, 5e4, 100, &e, &depth);
        snprintf(text, sizeof text, strut, side * 2, k / 2 ? "above" : "below", k / 2 ? 1.2 : 0.8);
        const stop_outcome x = run(text, k % 2);
        check_event(&x, 0, "stop rubber is hit", 0.1, 1e-9);
        check_event(&x, 1, "stop rubber comes free", 0.1 + dt, 1e-8);
        assert_near(x.y[0], -side * 2 * e, 1e-7);
    }
}

/* A turned world: gravity, plane and start by the same rotation. */
static const char *const ball =
    "{'parameters': {'a': %g, 'b': %g}, 'gravity': ['-9.81*sin(b)', 0, '-9.81*cos(b)'], 'bodies': "
    "{'ball': {'mass': 2, 'center': ['%g*sin(b) + %g*cos(b)', 0, '%g*cos(b) - %g*sin(b)'], "
    "'inertia': [0.008, 0.008, 0.008], 'velocity': ['%g*cos(b)', 0, '-%g*sin(b)']}}, 'joints': "
    "{'air': {'type': 'free', 'bodies': ['ground', 'ball']}}, 'forces': {'floor': {'type': "
    "'contact', 'at': 'ball', 'radius': 0.1, 'stiffness': 2e5, %s, 'plane': {'normal': "
    "['sin(a+b)', "
    "0, 'cos(a+b)']}}}, 'outputs': {'way': {'velocity': 'ball'}, 'gap': {'force': 'floor', "
    "'value': "
    "'gap'}, 'slip': {'force': 'floor', 'value': 'slip'}, 'along': 'way.x*cos(a+b) - "
    "way.z*sin(a+b)', 'up': 'way.x*sin(a+b) + way.z*cos(a+b)', 'spin': {'angular_velocity': "
    "'ball', 'component': 'y'}}, 'run': {'t_end': %g}}";

/* Dropped from 1 m above the floor: the speed at landing is sqrt(2 g h), the spring under its
 * weight gives it back, or what the damper leaves of it. */
static void a_ball_bounces(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int turned = 0; turned < 2; turned++) {
            char text[MOST];
            const double b = 0.7 * turned;
            snprintf(text, sizeof text, ball, 0.0, b, 1.1, 0.3, 1.1, 0.3, 0.0, 0.0,
                     k / 2 ? "'damping': 60" : "'exponent': 1.5", 0.8);
            const stop_outcome x = run(text, k % 2);
            const double t1 = sqrt(2 / 9.81), v = 9.81 * t1;
            check_event(&x, 0, "contact floor closes", t1, 1e-9);
            assert_string_equal(x.what[1], "contact floor opens");
            if (k / 2 == 0) /* nothing is lost */
                assert_near(x.y[6], v - 9.81 * (0.8 - x.at[1]), 1e-6);
            double e, depth, dt = calc_rebound(2, 2e5, 60, &e, &depth);
            if (k / 2) { /* the weight is small beside what the spring does */
                assert_near(x.at[1], t1 + dt, 2e-4);
                assert_near(x.y[6] + 9.81 * (0.8 - x.at[1]), e * v, 0.05);
            }
            assert_near(x.y[5], 0, 1e-9);
        }
}

/* Thrown along the floor without spin: friction at the height h below the centre turns it until it
 * rolls, with v/(1 + I/(m h^2)), which is 5/7 v on a hard floor. */
static void a_ball_begins_to_roll(void **state)
{
    (void)state;
    const double sunk = 2 * 9.81 / 2e5, h = 0.1 - sunk;
    for (int k = 0; k < 4; k++) {
        char text[MOST];
        snprintf(text, sizeof text, ball, 0.0, 0.5 * (k / 2), 0.1 - sunk, 0.0, 0.1 - sunk, 0.0, 2.0,
                 2.0, "'damping': 100, 'friction': 0.3, 'speed': 1e-3", 1.0);
        const stop_outcome x = run_with(text, forms[k % 2], "bdf", 1e-8, 0);
        assert_near(x.y[5], 2 / (1 + 0.004 / (h * h)), 1e-5);
        assert_near(x.y[7], x.y[5] / h, 1e-4);
        assert_near(x.y[4], 0, 1e-4);
    }
}

/* A block that cannot turn creeps down a slope that is less steep than its friction: with the
 * smooth law mu s/sqrt(s^2 + e^2) = tan(a). */
static void a_block_creeps_by_the_smooth_law(void **state)
{
    (void)state;
    static const char *const slope =
        "{'parameters': {'a': 0.2}, 'bodies': {'block': {'mass': 2, 'center': ['0.1*sin(a)', 0, "
        "'0.1*cos(a)'], 'inertia': [1, 1, 1]}}, 'joints': {'upright': {'type': 'planar', 'bodies': "
        "['ground', 'block'], 'at': [0, 0, 0], 'axis': [0, 1, 0]}}, 'forces': {'foot': {'type': "
        "'contact', 'at': 'block', 'radius': 0.1, 'stiffness': 2e5, 'damping': 200, 'friction': "
        "0.4, 'speed': 1e-3, 'plane': {'normal': ['sin(a)', 0, 'cos(a)']}}, 'hold': {'type': "
        "'torsion', 'joint': 'upright', 'coordinate': 'angle', 'stiffness': 1e4, 'damping': 100}}, "
        "'outputs': {'slip': {'force': 'foot', 'value': 'slip'}}, 'run': {'t_end': 5}}";
    for (int form = 0; form < 2; form++) {
        const stop_outcome x = run_with(slope, forms[form], "bdf", 1e-9, 0);
        const double ratio = tan(0.2) / 0.4;
        assert_near(x.y[0], 1e-3 * ratio / sqrt(1 - ratio * ratio), 1e-7);
    }
}

/* Friction on what joints transmit, without a number for the load. A shaft of weight m g in a
 * bearing slows down by mu m g R/I; a block stops on a slope after v^2/(2 g (mu cos - sin)), and
 * goes where tan(slope) passes the static coefficient; a shaft that whirls has the load m e w^2
 * besides. */
static void friction_follows_the_load(void **state)
{
    (void)state;
    static const char *const shaft =
        "{'gravity': %g, 'bodies': {'shaft': {'mass': 3, 'center': [%g, 0, 0], 'inertia': [0.2, "
        "0.2, 0.2]}}, 'joints': {'bearing': {'type': 'revolute', 'bodies': ['ground', 'shaft'], "
        "'at': [0, 0, 0], 'axis': [0, %d, %d], 'initial': {'velocity': 20}}}, 'forces': {'rub': "
        "{'type': 'friction', 'joint': 'bearing', 'coefficient': 0.2, 'radius': 0.05, %s}}, "
        "'outputs': {'rate': {'joint': 'bearing', 'derivative': 1}, 'load': {'force': 'rub', "
        "'value': 'load'}}, 'run': {'t_end': %g}}";
    for (int form = 0; form < 2; form++) {
        char text[MOST];
        const double slow = 0.2 * 3 * 9.81 * 0.05 / 0.2; /* rad/s^2 */
        snprintf(text, sizeof text, shaft, 9.81, 0.0, 1, 0, "'deflection': 1e-3", 15.0);
        stop_outcome x = run(text, form);
        check_event(&x, 0, "joint bearing sticks", 20 / slow, 1e-7);
        assert_near(x.y[1], 3 * 9.81, 1e-6);
        /* about a vertical axis: w' = -mu R m e w^2 sqrt(1 + ...)/I_o; the load is m e |(w^2, w')|
         */
        snprintf(text, sizeof text, shaft, 0.0, 0.1, 0, 1, "'speed': 1e-6", 1.0);
        x = run(text, form);
        const double I = 0.2 + 3 * 0.01, k = 0.2 * 0.05 * 3 * 0.1 / I;
        const double c = k / sqrt(1 - k * k); /* w' = -k |(w^2, w')| */
        assert_near(x.y[0], 20 / (1 + 20 * c), 1e-7);
    }
}

static void friction_of_a_guide_follows_the_load(void **state)
{
    (void)state;
    static const char *const slope =
        "{'parameters': {'a': %g}, 'bodies': {'block': {'mass': 2, 'center': [0, 0, 0], 'inertia': "
        "[1, 1, 1]}}, 'joints': {'guide': {'type': '%s', 'bodies': ['ground', 'block'], 'at': [0, "
        "0, 0], 'axis': ['cos(a)', 0, '-sin(a)'], 'initial': {'slide': {'velocity': 2}}}}, "
        "'forces': {'rub': "
        "{'type': 'friction', 'joint': 'guide', 'coordinate': 'slide', 'coefficient': 0.5, "
        "'deflection': 1e-4}}, 'outputs': {'way': {'joint': 'guide', 'coordinate': 'slide'}, "
        "'load': "
        "{'force': 'rub', 'value': 'load'}}, 'run': {'t_end': 3}}";
    for (int k = 0; k < 8; k++) {
        char text[MOST];
        const double a = k / 4 ? 0.55 : 0.3;
        snprintf(text, sizeof text, slope, a, k % 4 / 2 ? "cylindrical" : "prismatic");
        const stop_outcome x = run(text, k % 2);
        const double slow = 9.81 * (0.5 * cos(a) - sin(a));
        assert_near(x.y[1], 2 * 9.81 * cos(a), 1e-6);
        if (slow < 0) { /* too steep: it gains speed */
            assert_int_equal(x.n, 0);
            assert_near(x.y[0], 2 * 3 - 0.5 * slow * 9, 1e-7);
            continue;
        }
        check_event(&x, 0, "joint guide sticks", 2 / slow, 1e-7);
        assert_near(x.y[0], 2 / slow, 2e-4);
    }
}

/* A joint that nothing loads has no friction: weightless bodies coast on as they were, in any
 * direction, and those that springs hold where they are stay there; by every method. What such a
 * joint transmits is rounding, which never settles. */
static void an_unloaded_joint_has_no_friction(void **state)
{
    (void)state;
    static const char *const deflects[] = {"'speed': 0.05", "'deflection': 0.001"};
    static const char *const methods[] = {"bdf", "bdf", "mdop5", "sdirk4"};
    uint64_t seed = 5;
    double worst = 0;
    for (int k = 0; k < (SANITIZED ? 16 : 160); k++) {
        const bool turns = k % 2, rests = k / 2 % 2, soft = k / 4 % 2;
        const bg_vec3 axis = random_direction(&seed), at = random_direction(&seed);
        const bg_vec3 foot = random_direction(&seed);
        const double speed = rests ? 0 : random_between(&seed, 0.2, 4), t_end = 1.5;
        const double tolerance = pow(10, random_between(&seed, -9, -4));
        char text[2048];
        snprintf(
            text, sizeof text,
            "{'gravity': 0, 'bodies': {'b': {'mass': %.17g, 'center': [%.17g, %.17g, %.17g], "
            "'inertia': [0.1, 0.1, 0.1]}}, 'joints': {'j': {'type': '%s', 'bodies': ['ground', "
            "'b'], 'at': [%.17g, %.17g, %.17g], 'axis': [%.17g, %.17g, %.17g], 'initial': "
            "{'velocity': %.17g}}}, 'forces': {'mu': {'type': 'friction', 'joint': 'j', "
            "'coefficient': 0.2, 'radius': 0.05, %s}, 's': {'type': 'spring-damper', 'from': "
            "[%.17g, %.17g, %.17g], 'to': 'b', 'stiffness': %.17g, 'damping': 3}}, 'outputs': "
            "{'x': {'joint': 'j'}}, 'run': {'t_end': %g}}",
            random_between(&seed, 0.5, 3), at.x, at.y, at.z, turns ? "revolute" : "prismatic", at.x,
            at.y, at.z, axis.x, axis.y, axis.z, speed, deflects[soft], foot.x, foot.y, foot.z,
            rests ? pow(10, random_between(&seed, 2, 5)) : 0, t_end);
        if (!rests) { /* a damper would be felt */
            char *damping = strstr(text, "'damping': 3");
            memcpy(damping, "'damping': 0", 12);
        }
        if (!turns) {
            char *radius = strstr(text, "'radius': 0.05, ");
            memset(radius, ' ', 16);
        }
        stop_outcome x = run_with(text, forms[k / 8 % 2], methods[k / 16 % 4], tolerance, 0);
        const double off = fabs(x.y[0] - speed * t_end) / (tolerance * (1 + speed * t_end));
        worst = fmax(worst, off);
        if (!(off < 20) || x.n > 1)
            fail_msg("case %d, %s: %g of the tolerance, %ld events", k, methods[k / 16 % 4], off,
                     x.n);
    }
    print_message("%.1e of the tolerance\n", worst);
}

/* Derivatives by positions, velocities and multipliers, in motion. */
static void derivatives_follow_the_load(void **state)
{
    (void)state;
    static const char *const arm =
        "{'bodies': {'a': {'mass': 2, 'center': [0.3, 0.1, 0.2], 'inertia': [0.1, 0.2, 0.3]}, 'b': "
        "{'mass': 1, 'center': [0.8, 0.2, 0.4], 'inertia': [0.1, 0.1, 0.2]}}, 'joints': {'h': "
        "{'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [1, 2, 0], "
        "'initial': {'velocity': 3}}, 'g': {'type': 'prismatic', 'bodies': ['a', 'b'], 'at': [0.5, "
        "0, 0.3], 'axis': [1, 0, 1], 'initial': {'velocity': 1}}}, 'forces': {'r': {'type': "
        "'friction', 'joint': 'h', 'coefficient': 0.2, 'radius': 0.1, 'speed': 2}, 's': {'type': "
        "'friction', 'joint': 'g', 'coefficient': 0.3, 'coulomb': 2, 'deflection': 0.01}}, "
        "'outputs': {'x': {'position': 'b'}}, 'run': {'t_end': 0.5}}";
    double last[2][3];
    for (int form = 0; form < 2; form++) {
        bg_error err = {BG_OK, ""};
        bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
        bg_system *sys;
        int n;
        bg_model *model = parse_quoted(arm);
        assert_ok(bg_model_create_system(model, forms[form], &sys, &err));
        assert_ok(bg_system_check_derivatives(sys, 10, 3, checks, &n, &err));
        bool seen = false;
        for (int k = 0; k < n; k++) {
            seen = seen || strcmp(checks[k].quantity, "dr/dlambda") == 0;
            if (checks[k].error > 1e-6)
                fail_msg("%s: %s at %s off by %g", forms[form], checks[k].quantity, checks[k].entry,
                         checks[k].error);
        }
        assert_true(seen);
        bg_system_destroy(sys);
        bg_model_destroy(model);
        const stop_outcome x = run(arm, form), y = run_with(arm, forms[form], "bdf", 1e-9, 0);
        memcpy(last[form], x.y, sizeof last[form]);
        for (int k = 0; k < 3; k++)
            assert_near(x.y[k], y.y[k], 1e-6);
    }
    for (int k = 0; k < 3; k++)
        assert_near(last[0][k], last[1][k], 1e-8);
}

/* What cannot be meant is named. */
static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const frame =
        "{'bodies': {'rod': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, 'joints': "
        "{'hinge': {'type': 'revolute', 'bodies': ['ground', 'rod'], 'at': [0, 0, 0], 'axis': [0, "
        "1, 0]%s}}, 'forces': {'x': {%s}}}";
    static const char *const cases[][3] = {
        {"", "'type': 'limit', 'joint': 'hinge', 'stiffness': 1", "limits nothing"},
        {"", "'type': 'limit', 'joint': 'hinge', 'stiffness': 1, 'lower': 1, 'upper': 0",
         "'lower' (1) must be less than 'upper' (0)"},
        {"", "'type': 'limit', 'joint': 'hinge', 'stiffness': 1, 'upper': 4",
         "forces.x.upper: an angle lies between -180 and 180 degrees"},
        {"", "'type': 'limit', 'joint': 'hinge', 'upper': 1", "forces.x.stiffness: is missing"},
        {"", "'type': 'limit', 'joint': 'hinge', 'upper': 1, 'stiffness': 1, 'exponent': 0.5",
         "exponent: must be between 1"},
        {"", "'type': 'friction', 'joint': 'hinge'", "exerts no friction"},
        {"", "'type': 'friction', 'joint': 'hinge', 'coulomb': 1", "one of 'speed'"},
        {"", "'type': 'friction', 'joint': 'hinge', 'coulomb': -1, 'speed': 1", "not be negative"},
        {"", "'type': 'friction', 'joint': 'hinge', 'coulomb': 1, 'speed': 1, 'static': 2",
         "belongs to stick and slip"},
        {"", "'type': 'friction', 'joint': 'hinge', 'coulomb': 1, 'deflection': 1, 'static': 0.9",
         "static: must be 1 or more"},
        {"", "'type': 'friction', 'joint': 'hinge', 'coefficient': 0.1, 'speed': 1",
         "forces.x.radius: is missing"},
        {", 'cut': false",
         "'type': 'friction', 'joint': 'hinge', 'coefficient': 0.1, 'radius': 1, 'speed': 1",
         "'cut': false there"},
        {"", "'type': 'bump-stop', 'from': 'rod', 'to': 'ground', 'stiffness': 1",
         "one of 'below' and 'above'"},
        {"", "'type': 'bump-stop', 'from': 'rod', 'to': 'rod', 'stiffness': 1, 'below': 1",
         "both points belong to body 'rod'"},
        {"", "'type': 'contact', 'at': [0, 0, 0], 'stiffness': 1", "same body 'ground'"},
        {"", "'type': 'contact', 'at': 'rod', 'stiffness': 1, 'speed': 1", "give 'friction'"},
        {"", "'type': 'contact', 'at': 'rod', 'stiffness': 1, 'plane': {'normal': [0, 0, 0]}",
         "plane.normal: has zero length"},
        {", 'limits': [0, 1]", "'type': 'friction', 'joint': 'hinge', 'viscous': 1",
         "docs/how-to.md"},
        {", 'friction': 0.1", "'type': 'friction', 'joint': 'hinge', 'viscous': 1",
         "docs/how-to.md"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[MOST];
        bg_error err = {BG_OK, ""};
        bg_model *model = NULL;
        snprintf(text, sizeof text, frame, cases[k][0], cases[k][1]);
        char *copy = quote(text);
        assert_int_equal(bg_model_parse(copy, "test", NULL, 0, &model, &err), BG_BAD_INPUT);
        if (!strstr(err.text, cases[k][2]))
            fail_msg("'%s' does not say '%s'", err.text, cases[k][2]);
        free(copy);
    }
}

/* Elements without events say nothing about the sides of others, nor of what lies behind them. */
static void smooth_elements_take_no_side(void **state)
{
    (void)state;
    enum { ROOM = 64 };
    static const char *const text =
        "{'gravity': 0, 'bodies': {'rod': {'mass': 3, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, "
        "'joints': {'hinge': {'type': 'revolute', 'bodies': ['ground', 'rod'], 'at': [0, 0, 0], "
        "'axis': [0, 1, 0]}}, 'forces': {'oil': {'type': 'friction', 'joint': 'hinge', 'viscous': "
        "1}, 'ends': {'type': 'limit', 'joint': 'hinge', 'upper': 1, 'stiffness': 900}, 'more': "
        "{'type': 'friction', 'joint': 'hinge', 'viscous': 1}}}";
    for (int form = 0; form < 2; form++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys;
        bg_model *model = parse_quoted(text);
        assert_ok(bg_model_create_system(model, forms[form], &sys, &err));
        const bg_system_def *def = bg_system_get_def(sys);
        int mode[ROOM], side[ROOM] = {0};
        for (int k = 0; k < ROOM; k++)
            mode[k] = 1;
        assert_true(def->ns == 1 && def->sides(def->self, mode, side) == 0);
        for (int k = 0; k < ROOM; k++)
            assert_true((side[k] != 0) == (k == 0));
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_throw_back),
        cmocka_unit_test(smooth_elements_take_no_side),
        cmocka_unit_test(limits_may_count_turns),
        cmocka_unit_test(every_method_meets_limits),
        cmocka_unit_test(friction_stops_a_block),
        cmocka_unit_test(friction_never_drives),
        cmocka_unit_test(friction_holds_up_to_its_static_level),
        cmocka_unit_test(every_method_sticks_and_slips),
        cmocka_unit_test(a_slope_becomes_too_steep),
        cmocka_unit_test(bump_stops_throw_back),
        cmocka_unit_test(a_ball_bounces),
        cmocka_unit_test(a_ball_begins_to_roll),
        cmocka_unit_test(a_block_creeps_by_the_smooth_law),
        cmocka_unit_test(friction_follows_the_load),
        cmocka_unit_test(friction_of_a_guide_follows_the_load),
        cmocka_unit_test(an_unloaded_joint_has_no_friction),
        cmocka_unit_test(derivatives_follow_the_load),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
