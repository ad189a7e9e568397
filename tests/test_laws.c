/* Force laws that use outputs, in whole runs: against exact solutions, against the same law written
 * otherwise, and the two formulations against each other. */
#include "model_support.h"

/* A wheel under the torque -k angle, applied from outside by the angle's output, swings over three
 * turns to either side: angle = 20 sin(2 t). It starts two full turns off the design position. */
static void angles_go_on_through_turns(void **state)
{
    (void)state;
    static const char wheel[] =
        "{'gravity': 0, 'bodies': {'wheel': {'mass': 2, 'center': [0, 0, 0],"
        " 'inertia': [0.3, 0.3, 0.5]}},"
        " 'joints': {'axle': {'type': 'revolute', 'bodies': ['ground', 'wheel'],"
        "  'at': [0, 0, 0], 'axis': [0, 0, 1], 'initial': {'position': '2*rev', 'velocity': 40}}},"
        " 'forces': {'spring': {'type': 'torque', 'body': 'wheel',"
        "            'torque': [0, 0, '-4*0.5*turned']}},"
        " 'outputs': {'angle': {'joint': 'axle'}, 'turned': 'angle - 2*rev',"
        "             'rate': {'joint': 'axle', 'derivative': 1}}, 'run': {'t_end': 2.9}}";
    for (int k = 0; k < 2; k++) {
        double y[3];
        bg_certificate c;
        run_model(wheel, forms[k], 1e-11, y, &c);
        assert_near(y[0], 4 * M_PI + 20 * sin(5.8), 1e-8);
        assert_near(y[1], 20 * sin(5.8), 1e-8);
        assert_near(y[2], 40 * cos(5.8), 1e-8);
        assert_true(c.energy_error < 1e-7 * c.energy_scale && c.energy_scale > 300);
    }
}

/* A double pendulum: a spring and damper on the lower hinge as a torsion element, and as outside
 * torques on both bodies by outputs, which is the same. */
#define PENDULUM                                                                                \
    "{'bodies': {'upper': {'mass': 1, 'center': [0.5, 0, 0], 'inertia': [0.01, 0.1, 0.1]},"     \
    " 'lower': {'mass': 2, 'center': [1.5, 0, 0], 'inertia': [0.02, 0.2, 0.2],"                 \
    "  'points': {'tip': [2, 0, 0]}}},"                                                         \
    " 'joints': {'top': {'type': 'revolute', 'bodies': ['ground', 'upper'], 'at': [0, 0, 0],"   \
    "  'axis': [0, 1, 0]}, 'knee': {'type': 'revolute', 'bodies': ['upper', 'lower'],"          \
    "  'at': [1, 0, 0], 'axis': [0, 1, 0]}},"                                                   \
    " 'outputs': {'bend': {'joint': 'knee'}, 'bend_rate': {'joint': 'knee', 'derivative': 1},"  \
    "  'drag': 'sin(5*bend) + 0.4*bend_rate', 'tip': {'position': 'lower.tip'},"                \
    "  'speed': {'velocity': 'lower.tip'}, 'reach': {'distance': ['lower.tip', [0, 0, 0.5]]}}," \
    " 'run': {'t_end': 1.5}, 'forces': {%s}}"

static void laws_by_outputs_are_the_same_laws(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "'k': {'type': 'torsion', 'joint': 'knee', 'torque': '-sin(5*angle) - 0.4*rate'}",
        "'k': {'type': 'torque', 'body': 'lower', 'torque': [0, '-drag', 0]},"
        "'l': {'type': 'torque', 'body': 'upper', 'torque': [0, 'drag', 0]}",
        "'k': {'type': 'controller', 'input': 'drag', 'kp': 1, 'output': {'joint': 'knee'}}",
        "'k': {'type': 'controller', 'input': {'joint': 'knee', 'rate': true}, 'kp': 0.4,"
        "      'reference': '-sin(5*bend)/0.4', 'output': {'joint': 'knee'}}",
    };
    double y[8][16];
    for (int k = 0; k < 8; k++) {
        char text[4096];
        bg_certificate c;
        snprintf(text, sizeof text, PENDULUM, ways[k / 2]);
        run_model(text, forms[k % 2], 1e-11, y[k], &c);
        assert_true(c.energy_error < 1e-8 * c.energy_scale);
        for (int i = 0; i < 10; i++)
            assert_near(y[k][i], y[0][i], 1e-8);
    }
    assert_true(fabs(y[0][0]) > 0.1);
}

/* Sensors of every kind in laws that change the motion: both formulations go the same way. */
static void formulations_agree(void **state)
{
    (void)state;
    static const char forces[] =
        "'wind': {'type': 'force', 'at': 'lower.tip', 'force': ['-0.3*speed.x*hypot(speed.x,"
        "speed.z)', 0, '2*reach']},"
        "'string': {'type': 'spring-damper', 'from': [0, 0, 0.5], 'to': 'upper',"
        "           'force': '30*stretch*(1 + bend^2) + 2*rate + reach'},"
        "'level': {'type': 'controller', 'input': 'tip.z + 0.2*bend', 'kp': 5, 'ki': 3, 'kd': 0.5,"
        "          'filter': 0.05, 'reference': '-1 + 0.1*tip.x', 'output': {'joint': 'top'}}";
    char text[4096];
    double y[2][16];
    bg_certificate c;
    snprintf(text, sizeof text, PENDULUM, forces);
    for (int k = 0; k < 2; k++) {
        run_model(text, forms[k], 1e-11, y[k], &c);
        assert_true(c.energy_error < 1e-8 * c.energy_scale);
    }
    for (int i = 0; i < 10; i++)
        assert_near(y[1][i], y[0][i], 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_go_on_through_turns),
        cmocka_unit_test(laws_by_outputs_are_the_same_laws),
        cmocka_unit_test(formulations_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
