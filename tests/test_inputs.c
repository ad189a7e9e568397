/* Inputs that bodies follow, written as expressions: one with a corner or a jump, which nobody told
 * beforehand, ends the run there with a sentence, by every method and in every form; smooth ones,
 * however steep, do not. */
#include "run_support.h"

#include "model/model.h"
#include "model_support.h"

/* Two rods; the first follows u, or a body slides along it, or frames of a track do. */
#define RODS                                                                                     \
    "{'inputs': {'u': '%s'}, 'bodies': {'a': {'mass': 1, 'center': [0.3, 0, -1], 'inertia': "    \
    "[0.1, 0.1, 0.1]}, 'b': {'mass': 1, 'center': [0.3, 0, -2], 'inertia': [0.1, 0.1, 0.1]}}, "  \
    "'joints': {'j': {'type': '%s', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [0, 1, " \
    "0], 'prescribed': 'u'}, 'k': {'type': 'revolute', 'bodies': ['a', 'b'], 'at': [0.3, 0, "    \
    "-1.5], 'axis': [%s]}}, 'run': {'t_end': 1}}"

enum { FORMS = 3 };

/* The end of a run, and its sentence where it fails; at a tolerance of so many 1e-6, below that
 * also what is said of jumps. */
static double run_rods(const char *text, const char *method, int form, double tolerance, char *says,
                       size_t size)
{
    static const bg_setting constrain = {"run.rheonomic", "\"constrain\""};
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bg_model *m;
    bg_system *sys;
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", &constrain, form == 1, &m, &err));
    assert_ok(bg_model_create_system(m, form == 2 ? "cartesian" : "joint", &sys, &err));
    o.integrator = method;
    o.t_end = 1;
    o.method.step = strcmp(method, "rk4") == 0 ? 0.01 : 0;
    o.method.rtol = o.method.atol = 1e-6 * tolerance;
    const bg_status st = bg_run(sys, &o, &r, &err);
    snprintf(says, size, "%s", st == BG_OK ? "" : err.text);
    for (int i = 0; i < r.warnings.count && tolerance < 1; i++)
        if (strcmp(r.warnings.items[i].topic, "jump") == 0)
            snprintf(says, size, "%s", r.warnings.items[i].text);
    const double t = r.final ? r.final->t : NAN;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(m);
    free(copy);
    return t;
}

static const char *const methods[] = {"mdop5", "mdop8", "hem4",   "bdf",
                                      "adams", "rk4",   "sdirk4", "trapezoidal"};

static void corners_end_runs(void **state)
{
    (void)state;
    static const struct {
        const char *u, *says;
        double t; /* s; 0: never */
    } cases[] = {{"0.3*abs(t - 0.4142)", "has a corner, its rate jumps at t = 0.4142 s", 0.4142},
                 {"min(0.5*t, 0.1 + 0.1*t)", "has a corner, its rate jumps at t = 0.25 s", 0.25},
                 {"if(t - 0.7, 0.1, 0)", "jumps at t = 0.7 s from 0 to 0.1", 0.7},
                 {"0.05*floor(3*t)", "jumps at t = 0.333333333 s from 0 to 0.05", 1.0 / 3},
                 {"0.01*mod(t, 0.6)", "jumps at t = 0.6 s from 0.006 to 0", 0.6},
                 {"0.2*sin(9*t)*step(t, 0.1, 0.6)", "", 0},
                 {"0.1*tanh((t - 0.5)/0.004)", "", 0},
                 {"0.05*sin(40*t) + t^3*exp(-t)", "", 0},
                 {"0.1*abs(t + 1)", "", 0}};
    char text[2048], says[BG_ERROR_LENGTH];
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            for (int form = 0; form < FORMS; form++) {
                const bool slides = n % 2;
                snprintf(text, sizeof text, RODS, cases[n].u, slides ? "prismatic" : "revolute",
                         slides ? "1, 0, 0" : "0, 1, 0");
                const double t = run_rods(text, methods[k], form, 1, says, sizeof says);
                const double end = cases[n].t > 0 ? cases[n].t : 1;
                if (cases[n].t > 0 ? !strstr(says, cases[n].says) : says[0] != 0)
                    fail_msg("'%s', %s, form %d: '%s'", cases[n].u, methods[k], form, says);
                if (!(t <= end + 1e-12 && t > end - 0.3))
                    fail_msg("'%s', %s, form %d: ends at %g s", cases[n].u, methods[k], form, t);
            }
}

/* The way along a track must be smooth, too. */
static void ways_have_no_corners(void **state)
{
    (void)state;
    static const char text[] =
        "{'inputs': {'way': '%s'}, 'tracks': {'line': {'distance': 'way', 'segments': [{'length': "
        "9}]}}, 'bodies': {'f': {'track': 'line', 'center': [0, 0, 0]}, 'b': {'mass': 1, 'center':"
        " [0, 0, 1], 'inertia': [1, 1, 1]}}, 'joints': {'j': {'type': 'cardan', 'bodies': ['f', "
        "'b']}}, 'run': {'t_end': 1}}";
    char model[1024], says[BG_ERROR_LENGTH];
    for (int form = 0; form < FORMS; form++) {
        snprintf(model, sizeof model, text, "5*t - 2*max(0, t - 0.5)");
        run_rods(model, "bdf", form, 1, says, sizeof says);
        if (!strstr(says,
                    "input 'way', which bodies follow, has a corner, its rate jumps at t = 0.5"))
            fail_msg("form %d: '%s'", form, says);
        snprintf(model, sizeof model, text, "5*t + sin(3*t)");
        run_rods(model, "bdf", form, 1, says, sizeof says);
        assert_string_equal(says, "");
    }
}

/* Where only its second derivative jumps, a run goes on, and the remark blames the input, not what
 * it moves. */
static void curvature_is_told(void **state)
{
    (void)state;
    static const char *const some[] = {"mdop5", "mdop8", "bdf"};
    char text[2048], says[BG_ERROR_LENGTH];
    for (int k = 0; k < 3; k++)
        for (int form = 0; form < FORMS; form++) {
            snprintf(text, sizeof text, RODS, "0.4*step(t, 0.2, 0.5)", "revolute", "0, 1, 0");
            assert_near(run_rods(text, some[k], form, 1e-3, says, sizeof says), 1, 1e-12);
            if (!strstr(says, "the second derivative of input 'u' jumps, last at t = 0."))
                fail_msg("%s, form %d: '%s'", some[k], form, says);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_end_runs),
        cmocka_unit_test(ways_have_no_corners),
        cmocka_unit_test(curvature_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
