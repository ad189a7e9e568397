/* Places in the world of a mechanism that is far from its origin: what looks at them, roads,
 * controllers, laws of outputs, outputs, finds there what it finds near the origin. */
#include "model_support.h"

#include "random_mechanism.h"

/* An arm at (x, y) with a wheel on a wavy road, held by a controller of its height and by a force
 * that looks at where it is across. */
static const char arm[] =
    "{'parameters': {'x': 0, 'y': 0}, 'gravity': [0, 0, -9.81],"
    " 'road': {'type': 'sine', 'amplitude': 0.02, 'wavelength': 2, 'from': 'x', 'speed': 3},"
    " 'bodies': {'base': {'mass': 30, 'center': ['x', 'y', 0.5], 'inertia': [1, 1, 1]},"
    "            'arm': {'mass': 8, 'center': ['x + 0.4', 'y', 0.45], 'inertia': [0.1, 0.6, 0.6],"
    "                    'points': {'hub': ['x + 0.8', 'y', 0.3]}}},"
    " 'joints': {'slide': {'type': 'prismatic', 'bodies': ['ground', 'base'],"
    "                      'at': ['x', 'y', 0.5], 'axis': [0.1, 1, 0]},"
    "            'hinge': {'type': 'revolute', 'bodies': ['base', 'arm'], 'at': ['x', 'y', 0.5],"
    "                      'axis': [0.2, 1, 0.1]}},"
    " 'tyres': {'tyre': {'type': '%s', 'wheel': 'arm.hub', 'radius': 0.3, %s"
    "                     'stiffness': '90*kN/m', 'damping': 200}},"
    " 'forces': {'hold': {'type': 'controller', 'input': {'position': 'arm.hub', 'component': 'z'},"
    "                     'reference': 0.31, 'kp': 40, 'ki': 9, 'output': {'joint': 'hinge'}},"
    "            'pull': {'type': 'force', 'at': 'base',"
    "                     'force': [0, '-900*(hub.y - y) - 40*(hub.x - x)', 0]}},"
    " 'outputs': {'hub': {'position': 'arm.hub'}}, 'run': {'t_end': 0.8, 'rtol': 1e-9}}";

/* The hub at the end, from (x, y). */
static void run_at(const char *text, const char *form, double x, double y, double hub[3])
{
    bg_error err = {BG_OK, ""};
    char *copy = quote(text), number[2][40];
    bg_model *model;
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    snprintf(number[0], sizeof number[0], "%.17g", x);
    snprintf(number[1], sizeof number[1], "%.17g", y);
    const bg_setting at[] = {{"parameters.x", number[0]}, {"parameters.y", number[1]}};
    assert_ok(bg_model_parse(copy, "test", at, 2, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.method.rtol = o.method.atol = 1e-9;
    assert_ok(bg_run(sys, &o, &r, &err));
    hub[0] = r.y[0] - x;
    hub[1] = r.y[1] - y;
    hub[2] = r.y[2];
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    free(copy);
}

static void test_far(void **state)
{
    (void)state;
    static const char *const tyres[][2] = {
        {"point-follower", ""},
        {"fiala", "'axis': [0, 1, 0], 'relaxation': [0.05, 0.15], 'friction': 1,"
                  "'longitudinal_stiffness': 60000, 'cornering_stiffness': 40000,"}};
    enum { CASES = 3 };
    uint64_t seed = 5;
    for (size_t k = 0; k < sizeof tyres / sizeof *tyres; k++)
        for (int form = 0; form < 2; form++) {
            char text[sizeof arm + 200];
            double near[3], hub[3];
            snprintf(text, sizeof text, arm, tyres[k][0], tyres[k][1]);
            run_at(text, forms[form], 0, 0, near);
            assert_true(fabs(near[1]) > 1e-3 && fabs(near[2] - 0.3) > 1e-3);
            for (int i = 0; i < CASES; i++) {
                double x = random_between(&seed, -1e5, 1e5), y = random_between(&seed, -1e5, 1e5);
                run_at(text, forms[form], x, y, hub);
                for (int c = 0; c < 3; c++)
                    assert_near(hub[c], near[c], 1e-8);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_far)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
