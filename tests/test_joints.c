/* Every joint type with every choice of prescribed coordinates, as part of the tree and as a cut
 * joint, in both forms: the motion and the reactions are the same. */
#include "model_support.h"

enum { MOST_OUTPUTS = 64 };

typedef struct joint_type {
    const char *name, *geometry;
    int ncoordinates;
    const char *coordinate[3];
    int always_cut;
} joint_type;

#define AT "'bodies': ['b1', 'b2'], 'at': [0.3, 0.1, -0.6]"
#define AXIS AT ", 'axis': [1, 2, 2]"

static const joint_type types[] = {
    {"fixed", AT, 0, {NULL}, 0},
    {"revolute", AXIS, 1, {"angle"}, 0},
    {"prismatic", AXIS, 1, {"slide"}, 0},
    {"cylindrical", AXIS, 2, {"angle", "slide"}, 0},
    {"screw", AXIS ", 'pitch': 0.1", 1, {"angle"}, 0},
    {"universal", AXIS ", 'second': [2, -2, 1]", 2, {"angle", "second"}, 0},
    {"spherical", AT, 0, {NULL}, 0},
    {"planar", AXIS, 3, {"x", "y", "angle"}, 0},
    {"free", AT, 0, {NULL}, 0},
    {"distance",
     "'points': [{'body': 'b1', 'at': [0.2, 0, -0.5]}, {'body': 'b2', 'at': [0.7, 0.1, -0.9]}]",
     0,
     {NULL},
     1},
    {"point-on-line", AXIS, 0, {NULL}, 1},
    {"point-on-plane", AXIS, 0, {NULL}, 1},
};

/* Two bodies on a hinge and the joint, held by a spring; bits of `driven` prescribe coordinates.
 * All is at rest at the start, so that no choice of coordinates has to correct it. */
static void write_model(const joint_type *t, unsigned driven, int cut, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    assert_non_null(out);
    fprintf(out,
            "{'bodies': {'b1': {'mass': 2, 'center': [0.1, 0, -0.3], 'inertia': [0.1, 0.2, 0.15]}, "
            "'b2': {'mass': 1, 'center': [0.5, 0.2, -0.8], 'inertia': [0.05, 0.03, 0.04, 0.005, 0, "
            "0.003], 'orientation': {'rpy': [0.3, 0.2, 0.1]}}}, 'inputs': {'drive': "
            "'0.2*sin(3*t)^2'}, 'forces': {'spring': {'type': 'spring-damper', 'from': [0.5, 0.5, "
            "0], 'to': 'b2', 'stiffness': 20, 'damping': 1}}, 'joints': {'hinge': {'type': "
            "'revolute', 'bodies': ['ground', 'b1'], 'at': [0, 0, 0], 'axis': [0, 1, 0]}, 'joint': "
            "{'type': '%s', %s",
            t->name, t->geometry);
    if (!t->always_cut)
        fprintf(out, ", 'cut': %s", cut ? "true" : "false");
    for (int k = 0, n = 0; k < t->ncoordinates; k++)
        if (driven & (1u << k))
            fprintf(out, "%s'%s': 'drive'", n++ == 0 ? ", 'prescribed': {" : ", ",
                    t->coordinate[k]);
    fprintf(out, driven ? "}}}" : "}}");
    fprintf(out, ", 'outputs': {'p': {'position': 'b2'}, 'v': {'velocity': 'b2'}, 'a': "
                 "{'acceleration': 'b2'}, 'w': {'angular_velocity': 'b2'}, 'alpha': "
                 "{'angular_acceleration': 'b2'}, 'r': {'reaction': 'joint'}, 'h': {'reaction': "
                 "'hinge'}");
    for (int k = 0; k < t->ncoordinates; k++)
        for (int order = 0; order < 3; order++)
            fprintf(out, ", 'x%d%d': {'joint': 'joint', 'coordinate': '%s', 'derivative': %d}", k,
                    order, t->coordinate[k], order);
    fprintf(out, "}, 'run': {'t_end': 1}}");
    assert_int_equal(fclose(out), 0);
}

static void test_all(void **state)
{
    (void)state;
    int runs = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const joint_type *t = &types[i];
        double worst = 0;
        for (unsigned driven = 0; driven < 1u << t->ncoordinates; driven++) {
            double y[4][MOST_OUTPUTS];
            const int n = 27 + 3 * t->ncoordinates;
            for (int k = 0; k < 4; k++, runs++) {
                char text[4096];
                write_model(t, driven, k % 2, text, sizeof text);
                run_model(text, forms[k / 2], 1e-11, y[k], NULL);
            }
            for (int k = 1; k < 4; k++)
                for (int m = 0; m < n; m++) {
                    double error = fabs(y[k][m] - y[0][m]) / fmax(1, fabs(y[0][m]));
                    if (!(error <= worst))
                        worst = error;
                }
            assert_true(fabs(y[0][0] - 0.5) + fabs(y[0][2] + 0.8) > 1e-3); /* it moved */
        }
        print_message("%-14s tree and cut, both forms: %.1e\n", t->name, worst);
        assert_true(worst < 1e-9);
    }
    assert_int_equal(runs, 4 * 28);
}

/* Prescribed coordinates are where the input says, with its rates. */
static void test_prescribed(void **state)
{
    (void)state;
    const double drive[] = {0.2 * sin(3) * sin(3), 0.6 * sin(6), 3.6 * cos(6)};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int k = 0; k < 4 * types[i].ncoordinates; k++) {
            char text[4096];
            double y[MOST_OUTPUTS];
            const int c = k / 4;
            write_model(&types[i], 1u << c, k % 2, text, sizeof text);
            run_model(text, forms[k / 2 % 2], 1e-10, y, NULL);
            for (int order = 0; order < 3; order++)
                assert_near(y[27 + 3 * c + order], drive[order], 1e-10);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_prescribed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
