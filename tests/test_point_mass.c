/* Point masses are part of bodies: against formulas, and against bodies that are fixed to others.
 */
#include "model_support.h"

#include "model/model.h"

/* A plate of 3 kg in the origin, turned by 90 degrees about z, with 1 kg at its corner. */
static void bodies_become_heavier(void **state)
{
    (void)state;
    bg_model *m = parse_quoted(
        "{'bodies': {'plate': {'mass': 3, 'center': [0, 0, 0], 'inertia': [1, 2, 3],"
        "  'orientation': {'axis': [0, 0, 1], 'angle': '90*deg'}, 'points': {'eye': [0.4, 0.8, 0]},"
        "  'shapes': [{'type': 'sphere', 'radius': 0.1, 'at': [0.4, 0, 0]}],"
        "  'velocity': [1, 0, 0], 'angular_velocity': [0, 0, 5]},"
        "  'frame': {'mass': 0, 'center': [9, 9, 9]}},"
        " 'forces': {'load': {'type': 'point-mass', 'at': 'plate.eye', 'mass': 1},"
        "  'bob': {'type': 'point-mass', 'at': {'body': 'frame', 'at': [1, 2, 3]}, 'mass': 2},"
        "  'pull': {'type': 'force', 'at': 'plate.eye', 'force': [1, 0, 0]}}}");
    const bg_body *b = &m->bodies[1], *frame = &m->bodies[2];
    assert_near(b->mass, 4, 0);
    assert_near(b->pose.r.x, 0.1, 1e-16);
    assert_near(b->pose.r.y, 0.2, 1e-16);
    /* body x is along world y: d = (0.8, -0.4, 0) in body axes, mu = 0.75 */
    assert_near(b->inertia.m[0][0], 1 + 0.75 * 0.16, 1e-15);
    assert_near(b->inertia.m[1][1], 2 + 0.75 * 0.64, 1e-15);
    assert_near(b->inertia.m[2][2], 3 + 0.75 * 0.8, 1e-15);
    assert_near(b->inertia.m[0][1], 0.75 * 0.32, 1e-15);
    bg_vec3 eye = bg_frame_apply(&b->pose, b->points[0].r);
    bg_vec3 ball = bg_frame_apply(&b->pose, b->shapes[0].frame.r);
    assert_near(eye.x, 0.4, 1e-16);
    assert_near(eye.y, 0.8, 1e-15);
    assert_near(ball.x, 0.4, 1e-15);
    assert_near(ball.y, 0, 1e-15);
    bg_vec3 place = bg_frame_apply(&b->pose, b->v_place); /* what was given holds where it did */
    assert_near(place.x, 0, 1e-15);
    assert_near(place.y, 0, 1e-15);
    assert_near(b->v.x, 1, 0);
    assert_near(frame->mass, 2, 0);
    assert_near(frame->pose.r.y, 2, 1e-15);
    assert_near(frame->inertia.m[1][1], 0, 0);
    assert_int_equal(m->nforces, 1);
    assert_int_equal(m->warnings.count, 1); /* nothing holds the frame; it has mass, though */
    assert_non_null(strstr(m->warnings.items[0].text, "'frame' moves freely"));
    bg_model_destroy(m);
}

/* A double pendulum in space with loads, once as point masses, once as bodies fixed to the links.
 */
#define LINKS                                                                                  \
    "{'bodies': {'upper': {'mass': 1, 'center': [0.5, 0, 0], 'inertia': [0.02, 0.1, 0.1]},"    \
    " 'lower': {'mass': 2, 'center': [1.5, 0, 0], 'inertia': [0.03, 0.2, 0.25]}%s},"           \
    " 'joints': {'top': {'type': 'universal', 'bodies': ['ground', 'upper'], 'at': [0, 0, 0]," \
    "  'axis': [0, 1, 0], 'second': [0, 0, 1]}, 'knee': {'type': 'revolute',"                  \
    "  'bodies': ['upper', 'lower'], 'at': [1, 0, 0], 'axis': [0, 1, 1], 'initial': 0.3}%s},"  \
    " 'forces': {'spring': {'type': 'torsion', 'joint': 'knee', 'stiffness': 30}%s},"          \
    " 'outputs': {'bend': {'joint': 'knee'}, 'tip': {'position': {'body': 'lower',"            \
    "  'at': [2, 0, 0]}}, 'speed': {'velocity': {'body': 'upper', 'at': [1, 0, 0]}},"          \
    "  'bearing': {'reaction': 'top'}, 'total': {'energy': 'total'}}, 'run': {'t_end': 1}}"

static void loads_move_like_fixed_bodies(void **state)
{
    (void)state;
    static const char bodies[] = ", 'x': {'mass': 0.7, 'center': [0.9, 0.2, 0.1]},"
                                 " 'y': {'mass': 1.3, 'center': [1.8, -0.3, 0.2]},"
                                 " 'z': {'mass': 0.4, 'center': [1.1, 0.3, -0.2]}";
    static const char joints[] = ", 'jx': {'type': 'fixed', 'bodies': ['upper', 'x']},"
                                 " 'jy': {'type': 'fixed', 'bodies': ['lower', 'y']},"
                                 " 'jz': {'type': 'fixed', 'bodies': ['lower', 'z']}";
    static const char masses[] = ", 'x': {'type': 'point-mass', 'mass': 0.7, 'at': {'body': "
                                 "'upper', 'at': [0.9, 0.2, 0.1]}},"
                                 " 'y': {'type': 'point-mass', 'mass': 1.3, 'at': {'body': "
                                 "'lower', 'at': [1.8, -0.3, 0.2]}},"
                                 " 'z': {'type': 'point-mass', 'mass': 0.4, 'at': {'body': "
                                 "'lower', 'at': [1.1, 0.3, -0.2]}}";
    char text[4096];
    double y[4][16], plain[16];
    for (int k = 0; k < 4; k++) {
        snprintf(text, sizeof text, LINKS, k < 2 ? "" : bodies, k < 2 ? "" : joints,
                 k < 2 ? masses : "");
        run_model(text, forms[k % 2], 1e-11, y[k], NULL);
        for (int i = 0; i < 14; i++)
            assert_near(y[k][i], y[0][i], 1e-8);
    }
    snprintf(text, sizeof text, LINKS, "", "", "");
    run_model(text, "joint", 1e-11, plain, NULL);
    assert_true(fabs(plain[0] - y[0][0]) > 0.01); /* the loads do matter */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_become_heavier),
        cmocka_unit_test(loads_move_like_fixed_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
