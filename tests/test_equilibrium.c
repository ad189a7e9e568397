/* Static equilibria and steady motions: closed forms, rough starts, shipped models, both
 * formulations, and what is said where there is none. */
#include "linear/equilibrium.h"
#include "math/vec3.h"
#include "model/model.h"
#include "modes_support.h"
#include "random_mechanism.h"

static const double gravity = 9.81;

static bg_equilibrium_report find(linear_model *m)
{
    bg_error err = {BG_OK, ""};
    bg_equilibrium_report r;
    bg_modes_clear(&m->modes);
    assert_ok(
        bg_equilibrium_find(m->evaluator, m->state, &m->report.redundancy, &r, &m->modes, &err));
    return r;
}

/* The largest acceleration at the state, found anew, with inputs that hold what they are. */
static double calc_acceleration(linear_model *m)
{
    bg_error err = {BG_OK, ""};
    const bg_state *x = m->linearisation->at;
    double most = 0;
    bg_point p;
    assert_ok(bg_system_set_state(m->evaluator, m->state, &p, &err));
    for (int i = 0; i < m->linearisation->nu; i++)
        bg_system_set_live(m->evaluator, i, m->state->t, p.u[i], 0);
    assert_ok(bg_linearisation_update(m->linearisation, m->state, &m->report.redundancy, &err));
    for (int i = 0; i < m->linearisation->nv; i++)
        most = fmax(most, fabs(x->a[i]));
    return most;
}

static void assert_fails(const char *text, const char *words)
{
    for (int k = 0; k < 2; k++) {
        linear_model m;
        bg_error err = {BG_OK, ""};
        bg_equilibrium_report r;
        linear_begin(&m, text, forms[k]);
        assert_int_equal(
            bg_equilibrium_find(m.evaluator, m.state, &m.report.redundancy, &r, &m.modes, &err),
            BG_NOT_CONVERGED);
        if (!strstr(err.text, words))
            fail_msg("'%s' does not say '%s'", err.text, words);
        linear_end(&m);
    }
}

#define PENDULUM(angle)                                                                         \
    "{'gravity': 9.81, 'bodies': {'bob': {'mass': 2, 'center': [0, 0, -0.5], 'inertia': [0.1, " \
    "0.1, 0.1]}}, 'joints': {'pivot': {'type': 'revolute', 'bodies': ['ground', 'bob'], 'at': " \
    "[0, "                                                                                      \
    "0, 0], 'axis': [0, 1, 0], 'initial': '" angle "'}}, 'outputs': {'angle': {'joint': "       \
    "'pivot'}}}"

/* It hangs, wherever it starts; standing upright it is pushed, and leaves. */
static void test_pendulum(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int left;
    } cases[] = {{PENDULUM("30*deg"), 0},
                 {PENDULUM("90*deg"), 0},
                 {PENDULUM("170*deg"), 0},
                 {PENDULUM("180*deg"), 1}};
    double w = sqrt(2 * gravity * 0.5 / (0.1 + 2 * 0.25));
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < 2; k++) {
            linear_model m;
            linear_begin(&m, cases[c].text, forms[k]);
            bg_equilibrium_report r = find(&m);
            if (r.left != cases[c].left)
                fail_msg("case %d, %s: left %d", c, forms[k], r.left);
            assert_int_equal(r.unstable, 0);
            assert_true(calc_acceleration(&m) < 1e-9);
            assert_int_equal(m.modes.count, 1);
            assert_near(m.modes.mode[0].im, w, 1e-9);
            linear_end(&m);
        }
}

/* A body on a vertical slide with a spring sinks by m g / k; started in the air, onto a tyre. */
static void test_spring_and_tyre(void **state)
{
    (void)state;
    const char *spring =
        "{'gravity': 9.81, 'bodies': {'m': {'mass': 2, 'center': [0, 0, 1], 'inertia': [1, 1, "
        "1]}}, 'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'm'], 'at': [0, 0, 1], "
        "'axis': [0, 0, 1]}}, 'forces': {'k': {'type': 'torsion', 'joint': 's', 'stiffness': 50, "
        "'damping': 4}}, 'outputs': {'z': {'position': 'm', 'component': 'z'}}}";
    const char *tyre =
        "{'gravity': 9.81, 'bodies': {'m': {'mass': 2, 'center': [0, 0, 0.8], 'inertia': [1, 1, "
        "1]}}, 'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'm'], 'at': [0, 0, 0.8], "
        "'axis': [0, 0, 1]}}, 'tyres': {'t': {'type': 'point-follower', 'wheel': 'm', 'radius': "
        "0.3, 'stiffness': 5000, 'damping': 20}}, 'road': {'type': 'flat'}, 'outputs': {'z': "
        "{'position': 'm', 'component': 'z'}}}";
    for (int k = 0; k < 4; k++) {
        linear_model m;
        linear_begin(&m, k < 2 ? spring : tyre, forms[k % 2]);
        find(&m);
        double z = m.system->def.nq == 1 ? m.state->q[0] + (k < 2 ? 1 : 0.8) : m.state->q[2];
        assert_near(z, k < 2 ? 1 - 2 * gravity / 50 : 0.3 - 2 * gravity / 5000, 1e-11);
        assert_int_equal(m.modes.count, 1);
        assert_int_equal(m.modes.unstable, 0);
        linear_end(&m);
    }
}

/* A chain of bodies, each on a bushing, in any place, turned, moved and scaled (times stay). */
typedef struct placing {
    double turn, shift, scale;
} placing;

static bg_vec3 place(const placing *p, bg_vec3 a, bool free_)
{
    double c = cos(p->turn), s = sin(p->turn);
    bg_vec3 b = bg_vec3_make(c * a.x + s * a.z, a.y, -s * a.x + c * a.z);
    b = bg_vec3_make(c * b.x - s * b.y, s * b.x + c * b.y, b.z);
    b = bg_scale(p->scale, b);
    return free_ ? b : bg_add(b, bg_vec3_make(p->shift, -2 * p->shift, p->shift));
}

static void put(FILE *out, const char *key, bg_vec3 a)
{
    fprintf(out, "\"%s\": [%.17g, %.17g, %.17g]", key, a.x, a.y, a.z);
}

static char *make_chain(unsigned number, const placing *p)
{
    static const char *const types[] = {"revolute", "universal", "prismatic", "cylindrical"};
    uint64_t seed = 77u * number + 5;
    int bodies = 2 + random_below(&seed, 4);
    double s = p->scale, s2 = s * s;
    bg_vec3 centre[8] = {{0, 0, 0}}, axis;
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "{");
    put(out, "gravity", place(p, bg_vec3_make(0, 0, -9.81), true));
    fprintf(out, ", \"bodies\": {");
    for (int k = 1; k <= bodies; k++) {
        centre[k] = bg_add(centre[k - 1], random_vec3(&seed, 0.6));
        fprintf(out, "%s\"b%d\": {\"mass\": %.17g, ", k > 1 ? ", " : "", k,
                random_between(&seed, 0.5, 4));
        put(out, "center", place(p, centre[k], false));
        double j = s2 * random_between(&seed, 0.02, 0.2);
        fprintf(out, ", \"inertia\": [%.17g, %.17g, %.17g]}", j, j, j);
    }
    fprintf(out, "}, \"joints\": {");
    for (int k = 1; k <= bodies; k++) {
        int type = random_below(&seed, 4);
        axis = random_direction(&seed);
        fprintf(out, "%s\"j%d\": {\"type\": \"%s\", \"bodies\": [\"", k > 1 ? ", " : "", k,
                types[type]);
        fprintf(out, k > 1 ? "b%d" : "ground", k - 1);
        fprintf(out, "\", \"b%d\"], ", k);
        put(out, "at", place(p, bg_scale(0.5, bg_add(centre[k], centre[k - 1])), false));
        fprintf(out, ", ");
        put(out, "axis", place(p, axis, true));
        if (type == 1) {
            fprintf(out, ", ");
            put(out, "second", place(p, bg_cross(axis, bg_vec3_make(0.3, 0.5, -0.7)), true));
        }
        double start = random_between(&seed, -0.8, 0.8);
        const char *coordinate = type == 2 ? "slide" : "angle";
        fprintf(out, ", \"initial\": {\"%s\": %.17g}}", coordinate, type == 2 ? s * start : start);
    }
    fprintf(out, "}, \"forces\": {");
    for (int k = 1; k <= bodies; k++) {
        double c = random_between(&seed, 80, 800);
        fprintf(out, "%s\"f%d\": {\"type\": \"bushing\", \"bodies\": [\"ground\", \"b%d\"], ",
                k > 1 ? ", " : "", k, k);
        put(out, "at", place(p, bg_add(centre[k], random_vec3(&seed, 0.2)), false));
        fprintf(out,
                ", \"stiffness\": [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g], \"damping\": "
                "[1, 1, 1, %.17g, %.17g, %.17g]}",
                c, c, c, 0.3 * c * s2, 0.3 * c * s2, 0.3 * c * s2, 0.2 * s2, 0.2 * s2, 0.2 * s2);
    }
    fprintf(out, "}}");
    fclose(out);
    return text;
}

static void assert_same_modes(const bg_modes *a, const bg_modes *b, double tolerance,
                              const char *what)
{
    assert_int_equal(a->count, b->count);
    for (int k = 0; k < a->count; k++) {
        double d = HUGE_VAL; /* neighbours may have changed places */
        for (int i = 0; i < b->count; i++)
            d = fmin(d, hypot(a->mode[k].re - b->mode[i].re, a->mode[k].im - b->mode[i].im));
        if (!(d <= tolerance * hypot(a->mode[k].re, a->mode[k].im)))
            fail_msg("%s: mode %d, %.12g %+.12g i, has no like within %.2g", what, k, a->mode[k].re,
                     a->mode[k].im, d);
    }
}

/* Rough starts of 20 chains: both forms, and the model turned, moved and scaled, come to the same
 * modes. */
static void test_rough_starts(void **state)
{
    (void)state;
    static const placing placings[] = {{0, 0, 1}, {0, 0, 1}, {0.7, 3, 1}, {-1.9, 0.5, 40}};
    for (unsigned number = 1; number <= (SANITIZED ? 5 : 20); number++) {
        linear_model m[4];
        for (int k = 0; k < 4; k++) {
            char *text = make_chain(number, &placings[k]), what[64];
            snprintf(what, sizeof what, "chain %u, variant %d", number, k);
            linear_begin(&m[k], text, forms[k % 2]);
            bg_equilibrium_report r = find(&m[k]);
            assert_int_equal(r.unstable, 0);
            assert_true(calc_acceleration(&m[k]) < 1e-8 * placings[k].scale);
            if (k > 0)
                assert_same_modes(&m[0].modes, &m[k].modes, 1e-6, what);
            free(text);
        }
        for (int k = 0; k < 4; k++)
            linear_end(&m[k]);
    }
}

/* Shipped models: at rest in both forms, or in steady motion in joint coordinates. */
static void test_models(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        bool moves, both;
        int free_;
    } cases[] = {{"models/five-link-suspension.json", true, true, 1},
                 {"models/double-wishbone.json", true, true, 1},
                 {"models/front-axle.json", true, false, 4},
                 {"models/vehicle-trailer.json", true, false, 8},
                 {"models/passenger-car.json", true, false, 6},
                 {"models/hmmwv14.json", true, true, 3},
                 {"models/rear-axle-stamp.json", false, true, 0},
                 {"models/iftomm-a05-governor.json", true, false, 1},
                 {"models/four-bar.json", false, true, 0},
                 {"models/slider-crank-3d.json", false, true, 0},
                 {"models/iftomm-a03-andrews.json", false, true, 0}};
    for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
        linear_model m[2];
        for (int k = 0; k < 1 + cases[c].both; k++) {
            linear_begin(&m[k], cases[c].file, forms[k]);
            bg_equilibrium_report r = find(&m[k]);
            assert_int_equal(r.unstable, 0);
            assert_int_equal(r.changing, -1);
            if (!(calc_acceleration(&m[k]) < 1e-6))
                fail_msg("%s, %s: accelerates by %g", cases[c].file, forms[k],
                         calc_acceleration(&m[k]));
            if (k == 0) {
                assert_int_equal(r.moves, cases[c].moves);
                assert_int_equal(m[0].modes.nfree, cases[c].free_);
            } else {
                assert_same_modes(&m[0].modes, &m[1].modes, 1e-6, cases[c].file);
            }
        }
        for (int k = 0; k < 1 + cases[c].both; k++)
            linear_end(&m[k]);
    }
}

/* Governor: at its speed, each mass hangs where m w^2 r = tension and so on; that the motion stays
 * is what counts. From the steady state nothing but the angle of the bearing changes in a second.
 */
static void test_stays(void **state)
{
    (void)state;
    static const char *const files[] = {"models/iftomm-a05-governor.json",
                                        "models/vehicle-trailer.json"};
    for (int f = 0; f < 2; f++) {
        bg_error err = {BG_OK, ""};
        char path[256];
        bg_problem_def def = bg_default_problem_def();
        bg_problem *problem;
        bg_run_report r;
        snprintf(path, sizeof path, "%s/%s", BOGIE_SOURCE_DIR, files[f]);
        def.reference = path;
        def.equilibrium = 1;
        def.t_end = f == 0 ? 0.5 : 1;
        def.rtol = def.atol = 1e-9;
        assert_ok(bg_problem_create(&def, &problem, &err));
        bg_run_options o = bg_problem_get_run_options(problem);
        assert_ok(bg_run(bg_problem_get_system(problem), &o, &r, &err));
        for (int i = 0; i < bg_system_get_def(bg_problem_get_system(problem))->nv; i++)
            if (!(fabs(r.final->a[i]) < 1e-4))
                fail_msg("%s: acceleration %d is %g after the run", files[f], i, r.final->a[i]);
        bg_run_report_clear(&r);
        bg_problem_destroy(problem);
    }
}

/* A conical pendulum at w: cos theta = g / (w^2 L), and it swings about that with
 * w sqrt(1 + 3 cos^2 theta), free to change its turn. */
static void test_conical_pendulum(void **state)
{
    (void)state;
    const char *text =
        "{'gravity': 9.81, 'bodies': {'post': {'mass': 1, 'center': [0, 0, 1], 'inertia': [1e-7, "
        "1e-7, 1e-7]}, 'bob': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1e-7, 1e-7, 1e-7]}}, "
        "'joints': {'turn': {'type': 'revolute', 'bodies': ['ground', 'post'], 'at': [0, 0, 1], "
        "'axis': [0, 0, 1], 'initial': {'velocity': 5}}, 'swing': {'type': 'revolute', 'bodies': "
        "['post', 'bob'], 'at': [0, 0, 0.9], 'axis': [0, 1, 0], 'initial': '-30*deg'}}}";
    double L = 0.9, w = 5, c = gravity / (w * w * L);
    linear_model m;
    linear_begin(&m, text, "joint");
    bg_equilibrium_report r = find(&m);
    assert_true(r.moves);
    assert_near(fabs(m.state->q[1]), acos(c), 2e-6); /* but for the inertia of the post */
    assert_near(m.state->v[0], w, 1e-9);
    assert_int_equal(m.modes.count, 1);
    assert_near(m.modes.mode[0].im, w * sqrt(1 + 3 * c * c), 1e-4);
    linear_end(&m);
}

static void test_none(void **state)
{
    (void)state;
    assert_fails("{'gravity': 9.81, 'bodies': {'stone': {'mass': 1, 'center': [0, 0, 1], "
                 "'inertia': [1, 1, 1]}}, 'joints': {'flight': {'type': 'free', 'bodies': "
                 "['ground', 'stone']}}}",
                 "has no equilibrium");
    /* a block on a slope, which nothing holds */
    assert_fails("{'gravity': 9.81, 'bodies': {'block': {'mass': 1, 'center': [0, 0, 1], "
                 "'inertia': [1, 1, 1]}}, 'joints': {'slope': {'type': 'prismatic', 'bodies': "
                 "['ground', 'block'], 'at': [0, 0, 1], 'axis': [1, 0, -0.1]}}}",
                 "nothing resists a motion along");
    /* a stool that stands on three contacts and tips over the first of them */
    assert_fails("{'gravity': 9.81, 'bodies': {'stool': {'mass': 10, 'center': [0.9, 0, 0.5], "
                 "'inertia': [1, 1, 1], 'points': {'a': [0.5, 0, 0.02], 'b': [-0.3, 0.4, 0.02], "
                 "'c': [-0.3, -0.4, 0.02]}}}, 'joints': {'flight': {'type': 'free', 'bodies': "
                 "['ground', 'stool']}}, 'forces': {'a': {'type': 'contact', 'at': 'stool.a', "
                 "'radius': 0.02, 'stiffness': 1e6, 'damping': 100}, 'b': {'type': 'contact', "
                 "'at': 'stool.b', 'radius': 0.02, 'stiffness': 1e6, 'damping': 100}, 'c': "
                 "{'type': 'contact', 'at': 'stool.c', 'radius': 0.02, 'stiffness': 1e6, "
                 "'damping': 100}}}",
                 "contact b opens, contact c opens, and what is left does not hold it up");
}

/* A vehicle without brakes on a road that falls rolls away in the direction that it falls, from
 * rest and at its speed: gravity is turned by a twentieth, to any side. */
static void test_slopes(void **state)
{
    (void)state;
    static const double slopes[][2] = {{0.5, 0}, {0, -0.5}, {-0.1, 0.5}};
    for (int n = 0; n < (SANITIZED ? 1 : 6); n++) {
        bg_error err = {BG_OK, ""};
        linear_model m = {0};
        bg_equilibrium_report r;
        char turned[64], expected[16];
        const double *slope = slopes[n % 3];
        snprintf(turned, sizeof turned, "[%g, %g, -9.8]", slope[0], slope[1]);
        snprintf(expected, sizeof expected, ".%c'", fabs(slope[0]) > fabs(slope[1]) ? 'x' : 'y');
        const bg_setting set[] = {{"gravity", turned}};
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/hmmwv14.json", set, 1, &m.model, &err));
        m.model->equilibrium = false;
        assert_ok(bg_model_create_system(m.model, forms[n / 3], &m.system, &err));
        linear_begin_system(&m);
        if (n % 3 == 1)
            memset(m.state->v, 0, (size_t)m.system->def.nv * sizeof(double));
        assert_int_equal(
            bg_equilibrium_find(m.evaluator, m.state, &m.report.redundancy, &r, &m.modes, &err),
            BG_NOT_CONVERGED);
        if (!strstr(err.text, "nothing resists a motion along") || !strstr(err.text, expected))
            fail_msg("%s: '%s'", turned, err.text);
        linear_end(&m);
    }
}

/* A beam on two supports that only push, with its weight beyond them, tips over: it ends far away,
 * and that is told. With its weight between them it stays. */
static void test_tips_over(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        linear_model m;
        linear_begin(
            &m,
            k ? "{'gravity': 9.81, 'bodies': {'beam': {'mass': 10, 'center': [0.3, 0, 0.1], "
                "'inertia': [1, 1, 1], 'points': {'a': [-0.5, 0, 0.1], 'b': [0.5, 0, 0.1]}}}, "
                "'joints': {'plane': {'type': 'planar', 'bodies': ['ground', 'beam'], 'at': [0.3, "
                "0, 0.1], 'axis': [0, 1, 0]}}, 'tyres': {'a': {'type': 'point-follower', 'wheel': "
                "'beam.a', 'radius': 0.1, 'stiffness': 20000, 'damping': 200}, 'b': {'type': "
                "'point-follower', 'wheel': 'beam.b', 'radius': 0.1, 'stiffness': 20000, "
                "'damping': 200}}, 'road': {'type': 'flat'}}"
              : "{'gravity': 9.81, 'bodies': {'beam': {'mass': 10, 'center': [2, 0, 0.1], "
                "'inertia': [1, 1, 1], 'points': {'a': [-0.5, 0, 0.1], 'b': [0.5, 0, 0.1]}}}, "
                "'joints': {'plane': {'type': 'planar', 'bodies': ['ground', 'beam'], 'at': [2, 0, "
                "0.1], 'axis': [0, 1, 0]}}, 'tyres': {'a': {'type': 'point-follower', 'wheel': "
                "'beam.a', 'radius': 0.1, 'stiffness': 20000, 'damping': 200}, 'b': {'type': "
                "'point-follower', 'wheel': 'beam.b', 'radius': 0.1, 'stiffness': 20000, "
                "'damping': 200}}, 'road': {'type': 'flat'}}",
            "joint");
        bg_equilibrium_report r = find(&m);
        assert_true(k ? r.distance < 0.1 : r.distance > 1);
        linear_end(&m);
    }
}

/* What a file says is what runs do. */
static void test_initial(void **state)
{
    (void)state;
    const char *text =
        "{'gravity': 9.81, 'bodies': {'bob': {'mass': 2, 'center': [0, 0, -0.5], 'inertia': [0.1, "
        "0.1, 0.1]}}, 'joints': {'pivot': {'type': 'revolute', 'bodies': ['ground', 'bob'], 'at': "
        "[0, 0, 0], 'axis': [0, 1, 0]}}, 'forces': {'spring': {'type': 'torsion', 'joint': "
        "'pivot', 'stiffness': 40, 'free_angle': 1}}, 'initial': {'pivot': 0.3, 'equilibrium': "
        "true}, 'outputs': {'angle': {'joint': 'pivot'}}, 'run': {'t_end': 1}}";
    for (int k = 0; k < 2; k++) {
        double y[3] = {0};
        run_model(text, forms[k], 1e-9, y, NULL);
        assert_near(40 * (1 - y[0]), 2 * gravity * 0.5 * sin(y[0]), 1e-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),     cmocka_unit_test(test_spring_and_tyre),
        cmocka_unit_test(test_rough_starts), cmocka_unit_test(test_models),
        cmocka_unit_test(test_stays),        cmocka_unit_test(test_conical_pendulum),
        cmocka_unit_test(test_none),         cmocka_unit_test(test_tips_over),
        cmocka_unit_test(test_initial),      cmocka_unit_test(test_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
