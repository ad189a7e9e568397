/* Linearisation and modes: closed forms, both formulations, differences of the motion itself. */
#include "modes_support.h"

static const double gravity = 9.81;

static void assert_mode(const bg_modes *m, int k, double re, double im, double tolerance)
{
    if (k >= m->count)
        fail_msg("there are only %d modes", m->count);
    if (!(hypot(m->mode[k].re - re, m->mode[k].im - im) <= tolerance * hypot(re, im)))
        fail_msg("mode %d is %.15g %+.15g i, not %.15g %+.15g i", k, m->mode[k].re, m->mode[k].im,
                 re, im);
}

/* Two points of 1 kg on massless rods of 1 m, with a little inertia each. */
static const char *const double_pendulum =
    "{'gravity': 9.81, 'bodies': {"
    "'a': {'mass': 1, 'center': [0, 0, -1], 'inertia': [0.01, 0.01, 0.01]},"
    "'b': {'mass': 1, 'center': [0, 0, -2], 'inertia': [0.01, 0.01, 0.01]}},"
    "'joints': {'first': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': "
    "[0, 1, 0]}, 'second': {'type': 'revolute', 'bodies': ['a', 'b'], 'at': [0, 0, -1], 'axis': "
    "[0, 1, 0]}}}";

/* With absolute angles M = [2 + j, 1; 1, 1 + j], K = g [2 0; 0 1]: det(K - s M) = 0. */
static void test_double_pendulum(void **state)
{
    (void)state;
    double j = 0.01, a = (2 + j) * (1 + j) - 1, b = -gravity * (2 * (1 + j) + (2 + j));
    double c = 2 * gravity * gravity, root = sqrt(b * b - 4 * a * c);
    for (int k = 0; k < 2; k++) {
        linear_model m;
        linear_begin(&m, double_pendulum, forms[k]);
        linear_find_modes(&m);
        assert_int_equal(m.modes.count, 2);
        assert_int_equal(m.modes.zeros, 0);
        assert_mode(&m.modes, 0, 0, sqrt((-b - root) / (2 * a)), 1e-12);
        assert_mode(&m.modes, 1, 0, sqrt((-b + root) / (2 * a)), 1e-12);
        linear_end(&m);
    }
}

static const char *const quarter =
    "{'gravity': 0, 'bodies': {'m': {'mass': 2, 'center': [0, 0, 1], 'inertia': [1, 1, 1]}},"
    "'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'm'], 'at': [0, 0, 1], 'axis': [0, "
    "0, 1]}}, 'forces': {'k': {'type': 'torsion', 'joint': 's', 'stiffness': 50, 'damping': 4}}}";

/* x'' + 2 x' + 25 x = 0. */
static void test_damped(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        linear_model m;
        linear_begin(&m, quarter, forms[k]);
        linear_find_modes(&m);
        assert_int_equal(m.modes.count, 1);
        assert_mode(&m.modes, 0, -1, sqrt(24), 1e-12);
        assert_near(m.modes.mode[0].frequency, 5 / (2 * acos(-1)), 1e-12);
        assert_near(m.modes.mode[0].damping, 0.2, 1e-12);
        assert_near(m.modes.mode[0].participation[0], 1, 1e-12);
        linear_end(&m);
    }
}

/* A top that sleeps, J1 across and J3 along its axis, both about its foot, centre at l above it:
 * (J3 w +- sqrt((J3 w)^2 - 4 J1 m g l)) / (2 J1), and a turn about its axis that nothing resists. On
 * a ball joint coordinates turn with the top, which sees the same frequencies less its own. */
static void test_sleeping_top(void **state)
{
    (void)state;
    const char *ball = "{'gravity': 9.81, 'bodies': {'top': {'mass': 3, 'center': [0, 0, 0.5], "
                       "'inertia': [0.1, 0.1, 0.4], 'angular_velocity': [0, 0, 20]}}, 'joints': "
                       "{'tip': {'type': 'spherical', 'bodies': ['ground', 'top'], 'at': [0, 0, "
                       "0]}}}";
    const char *gimbal =
        "{'gravity': 9.81, 'bodies': {'ring': {'mass': 1, 'center': [0, 0, 0], 'inertia': [0.05, "
        "0.05, 0.05]}, 'top': {'mass': 3, 'center': [0, 0, 0.5], 'inertia': [0.05, 0.05, 0.4], "
        "'angular_velocity': [0, 0, 20]}}, 'joints': {'tip': {'type': 'universal', 'bodies': "
        "['ground', 'ring'], 'at': [0, 0, 0], 'axis': [1, 0, 0], 'second': [0, 1, 0]}, 'spin': "
        "{'type': 'revolute', 'bodies': ['ring', 'top'], 'at': [0, 0, 0], 'axis': [0, 0, 1]}}}";
    double J1 = 0.1 + 3 * 0.25, L = 0.4 * 20, root = sqrt(L * L - 4 * J1 * 3 * gravity * 0.5);
    for (int k = 0; k < 2; k++) {
        double slow = (L - root) / (2 * J1), fast = (L + root) / (2 * J1);
        linear_model m;
        linear_begin(&m, k ? gimbal : ball, "joint");
        linear_find_modes(&m);
        assert_int_equal(m.modes.zeros, 2);
        assert_int_equal(m.modes.nfree, 1);
        assert_int_equal(m.modes.count, 2);
        assert_mode(&m.modes, 0, 0, k ? slow : 20 - fast, 1e-10);
        assert_mode(&m.modes, 1, 0, k ? fast : 20 - slow, 1e-10);
        assert_int_equal(m.modes.unstable, 0);
        linear_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_damped),
        cmocka_unit_test(test_sleeping_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
