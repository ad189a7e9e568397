/* Repetition in model files: "rod[i=1..N]" and {i-1} give the file that one would have written by
 * hand. The errors are among tests/broken-models. */
#include "bogie/model.h"
#include "model/model.h"
#include "model_support.h"

#include <time.h>

static bg_model *parse(const char *text, const bg_setting *settings, int n)
{
    bg_model *m;
    bg_error err = {BG_OK, ""};
    char *copy = quote(text);
    if (bg_model_parse(copy, "text", settings, n, &m, &err) != BG_OK)
        fail_msg("%s", err.text);
    free(copy);
    return m;
}

static void expect_failure(const char *text, const bg_setting *settings, int n, const char *message)
{
    bg_model *m;
    bg_error err = {BG_OK, ""};
    char *copy = quote(text);
    assert_int_equal(bg_model_parse(copy, "text", settings, n, &m, &err), BG_BAD_INPUT);
    assert_null(m);
    if (!strstr(err.text, message))
        fail_msg("expected '%s', got '%s'", message, err.text);
    free(copy);
}

static const bg_body *get_body(const bg_model *m, const char *name)
{
    for (int k = 0; k < m->nbodies; k++)
        if (strcmp(m->bodies[k].name, name) == 0)
            return &m->bodies[k];
    fail_msg("no body '%s'", name);
    return NULL;
}

static const char chain[] =
    "{'parameters': {'N': 3, 'L': '0.25*parameters.N'},"
    " 'bodies': {'ground': {'points': {'wall[k=1..2]': ['{k}', 0, 0]}},"
    "   'rod[i=1..N]': {'comment': '{ is no brace here', 'mass': '{i}*L', 'center': ['{i}', 0, 0],"
    "     'points': {'p[k=0..i]': ['{i}', '{k}', '{10*i + k}']}},"
    "   'extra[i = N+1 .. N]': {'mass': 1, 'center': [0, 0, 0]}},"
    " 'joints': {'hinge1': {'type': 'revolute', 'bodies': ['ground', 'rod1'], 'at': [0, 0, 0],"
    "     'axis': [0, 1, 0]},"
    "   'hinge[i=2..N]': {'type': 'revolute', 'bodies': ['rod{i-1}', 'rod{i}'], 'at': 'rod{i}.p0',"
    "     'axis': [0, 1, 0]}},"
    " 'inputs': {'u[i=1..2]': '{i}*t'},"
    " 'forces': {'motor[i=1..2]': {'type': 'torsion', 'joint': 'hinge{i}', 'torque': 'u{i} + "
    "{i}'}},"
    " 'outputs': {'a[i=1..N]': {'joint': 'hinge{i}'}, 'last': {'position': 'rod{N}.p{N}'},"
    "   'sum[i=2..N]': 'a{i} + a{i-1}'},"
    " 'initial': {'hinge[i=1..N]': '0.1*{i}'}}";

/* What a model consists of, number by number. */
static void assert_same(const bg_model *a, const bg_model *b)
{
    assert_int_equal(a->nbodies, b->nbodies);
    assert_int_equal(a->njoints, b->njoints);
    assert_int_equal(a->nforces, b->nforces);
    assert_int_equal(a->nsignals, b->nsignals);
    assert_int_equal(a->noutputs, b->noutputs);
    for (int k = 0; k < a->nbodies; k++) {
        const bg_body *x = &a->bodies[k], *y = &b->bodies[k];
        assert_string_equal(x->name, y->name);
        assert_near(x->mass, y->mass, 0);
        assert_memory_equal(&x->pose, &y->pose, sizeof x->pose);
        assert_int_equal(x->npoints, y->npoints);
        for (int i = 0; i < x->npoints; i++) {
            assert_string_equal(x->points[i].name, y->points[i].name);
            assert_memory_equal(&x->points[i].r, &y->points[i].r, sizeof x->points[i].r);
        }
    }
    for (int k = 0; k < a->njoints; k++) {
        const bg_joint *x = &a->joints[k], *y = &b->joints[k];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->a.body, y->a.body);
        assert_int_equal(x->b.body, y->b.body);
        assert_memory_equal(&x->a.frame, &y->a.frame, sizeof x->a.frame);
        assert_near(x->start[0].q, y->start[0].q, 0);
    }
    for (int k = 0; k < a->noutputs; k++)
        assert_string_equal(a->outputs[k].name, b->outputs[k].name);
}

static void test_every_section(void **state)
{
    (void)state;
    static const char by_hand[] =
        "{'bodies': {'ground': {'points': {'wall1': [1, 0, 0], 'wall2': [2, 0, 0]}},"
        "   'rod1': {'mass': 0.75, 'center': [1, 0, 0],"
        "     'points': {'p0': [1, 0, 10], 'p1': [1, 1, 11]}},"
        "   'rod2': {'mass': 1.5, 'center': [2, 0, 0],"
        "     'points': {'p0': [2, 0, 20], 'p1': [2, 1, 21], 'p2': [2, 2, 22]}},"
        "   'rod3': {'mass': 2.25, 'center': [3, 0, 0],"
        "     'points': {'p0': [3, 0, 30], 'p1': [3, 1, 31], 'p2': [3, 2, 32], 'p3': [3, 3, 33]}}},"
        " 'joints': {'hinge1': {'type': 'revolute', 'bodies': ['ground', 'rod1'], 'at': [0, 0, 0],"
        "     'axis': [0, 1, 0]},"
        "   'hinge2': {'type': 'revolute', 'bodies': ['rod1', 'rod2'], 'at': [2, 0, 20],"
        "     'axis': [0, 1, 0]},"
        "   'hinge3': {'type': 'revolute', 'bodies': ['rod2', 'rod3'], 'at': [3, 0, 30],"
        "     'axis': [0, 1, 0]}},"
        " 'inputs': {'u1': 't', 'u2': '2*t'},"
        " 'forces': {'motor1': {'type': 'torsion', 'joint': 'hinge1', 'torque': 'u1 + 1'},"
        "   'motor2': {'type': 'torsion', 'joint': 'hinge2', 'torque': 'u2 + 2'}},"
        " 'outputs': {'a1': {'joint': 'hinge1'}, 'a2': {'joint': 'hinge2'},"
        "   'a3': {'joint': 'hinge3'}, 'last': {'position': 'rod3.p3'}, 'sum2': 'a2 + a1',"
        "   'sum3': 'a3 + a2'},"
        " 'initial': {'hinge1': 0.1, 'hinge2': '0.1*2', 'hinge3': '0.1*3'}}";
    bg_model *a = parse(chain, NULL, 0), *b = parse(by_hand, NULL, 0);
    assert_same(a, b);
    assert_int_equal(a->warnings.count, b->warnings.count); /* N is used */
    bg_model_destroy(a);
    bg_model_destroy(b);

    double y[2][16];
    run_model(chain, "joint", 1e-8, y[0], NULL); /* laws and outputs, too */
    run_model(by_hand, "joint", 1e-8, y[1], NULL);
    for (int k = 0; k < 8; k++)
        assert_near(y[0][k], y[1][k], 0);
    assert_true(fabs(y[0][7]) > 1e-3);
}

/* Numbers in braces: negative ones, and the forms a name may have. */
static void test_numbers(void **state)
{
    (void)state;
    bg_model *m = parse(
        "{'parameters': {'n': 2}, 'bodies': {"
        " 'a[i=-2..-n]b': {'mass': '{i}^2', 'center': ['3-{i}', '{ i } ^2', '{-i}^2']},"
        " 'm[i=1..n]x[j=i..n]': {'mass': '{i}{j}', 'center': ['2^{i-2}', 0, 0]},"
        " 'z{n+1}': {'mass': '{floor(n*3/4)}', 'center': [0, 0, 0]}}}",
        NULL, 0);
    const char *const names[] = {"ground", "a-2b", "m1x1", "m1x2", "m2x2", "z3"};
    const double masses[] = {0, 4, 11, 12, 22, 1};
    assert_int_equal(m->nbodies, 6);
    for (int k = 1; k < m->nbodies; k++) {
        assert_string_equal(m->bodies[k].name, names[k]);
        assert_near(m->bodies[k].mass, masses[k], 0);
    }
    bg_vec3 r = m->bodies[1].pose.r;
    assert_true(r.x == 5 && r.y == 4 && r.z == 4);
    assert_near(m->bodies[2].pose.r.x, 0.5, 0);
    bg_model_destroy(m);
}

/* The number of members is set first, whatever the order; then every member can be set by itself.
 */
static void test_settings(void **state)
{
    (void)state;
    const bg_setting settings[] = {{"bodies.rod5.mass", "7"},
                                   {"bodies.rod2.center[1]", "\"{N}\""},
                                   {"bodies.rod4.points.p1", "[9, 9, 9]"},
                                   {"parameters.N", "5"},
                                   {"inputs.u2", "t*{2*N}"},
                                   {"outputs.last.position", "rod{N-1}.p0"}};
    bg_model *m = parse(chain, settings, sizeof settings / sizeof *settings);
    assert_int_equal(m->nbodies, 6);
    assert_near(get_body(m, "rod5")->mass, 7, 0);
    assert_near(get_body(m, "rod4")->mass, 4 * 1.25, 0);
    assert_near(get_body(m, "rod2")->pose.r.y, 5, 0);
    assert_near(get_body(m, "rod3")->pose.r.y, 0, 0); /* siblings share nothing */
    assert_near(get_body(m, "rod4")->points[1].r.x, 9 - 4, 0);
    double u[3];
    bg_signal_calc(&m->signals[1], 2, u);
    assert_near(u[0], 20, 0);
    bg_model_destroy(m);

    expect_failure(
        chain, &(bg_setting){"bodies.rod4.mass", "7"}, 1,
        "setting 'bodies.rod4.mass': the model has no bodies.rod4; did you mean 'rod1'?");
    expect_failure(chain, &(bg_setting){"parameters.N", "2.5"}, 1,
                   "bodies.rod[i=1..N]: the last index 'N' is 2.5, not a whole number");
    expect_failure(chain, &(bg_setting){"bodies.rod2.mass", "2*{i}"}, 1,
                   "bodies.rod2.mass: there is no index or parameter 'i'");
    expect_failure(chain, &(bg_setting){"bodies.rod2.mass", "N"}, 1,
                   "bodies.rod2.mass: 'N' is both a parameter and the unit newton");
    bg_model *none = parse("{'bodies': {'x': {'mass': '2*N', 'center': [0, 0, 0]}}}", NULL, 0);
    assert_near(none->bodies[1].mass, 2, 0); /* without such a parameter it is the unit */
    bg_model_destroy(none);
}

/* CPU time of reading a chain of n rods, the least of three. */
static double time_reading(const char *n)
{
    const bg_setting setting = {"parameters.N", n};
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        bg_model *m;
        bg_error err = {BG_OK, ""};
        clock_t start = clock();
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/n-pendulum.json", &setting, 1, &m, &err));
        least = fmin(least, (double)(clock() - start) / CLOCKS_PER_SEC);
        assert_int_equal(m->nbodies, atoi(n) + 1);
        bg_model_destroy(m);
    }
    return least;
}

/* Ten times the members take about ten times as long; a quadratic part would make it a hundred. */
static void test_linear_cost(void **state)
{
    (void)state;
    double small = time_reading("1000"), large = time_reading("10000");
    print_message("1000 rods: %.3g s, 10000 rods: %.3g s\n", small, large);
    assert_true(large < 30 * small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_section),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_linear_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
