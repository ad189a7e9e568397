/* Steady motions that inputs keep up: frames on a track of one curvature, driven rotors, in both
 * formulations; and inputs whose motion is not steady. */
#include "modes_support.h"
#include "rail_support.h"
#include "random_mechanism.h"

#include "bogie/run.h"
#include "model/model.h"

enum { OUTPUTS = 64 };

typedef struct result {
    double y[2][OUTPUTS]; /* outputs at the start and at the end */
    char remarks[2048];
} result;

/* The start that is found, and a run from it. */
static result run_steady(const bg_model *model, const char *form, double t_end)
{
    result out = {0};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    sys->equilibrium = true;
    assert_true(sys->def.ny <= OUTPUTS);
    for (int k = 0; k < 2; k++) {
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        o.integrator = k == 0 ? "mdop5" : "bdf";
        o.method.rtol = o.method.atol = 1e-9;
        o.t_end = sys->def.t_start + (k == 0 ? 1e-9 : t_end);
        assert_ok(bg_run(sys, &o, &r, &err));
        memcpy(out.y[k], r.y, (size_t)sys->def.ny * sizeof(double));
        for (int i = 0; i < r.warnings.count && k == 0; i++)
            strncat(out.remarks, r.warnings.items[i].text,
                    sizeof out.remarks - strlen(out.remarks) - 1);
        bg_run_report_clear(&r);
    }
    bg_system_destroy(sys);
    return out;
}

/* A rotor that an input turns drags another one by a damper, and a damper to the ground brakes it:
 * c x + d (w + x) = 0 for its rate x beside the first one, whatever rate it starts with. */
static void rotors_are_dragged_along(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 8; n++) {
        double w = random_between(&seed, -40, 40), c = random_between(&seed, 1, 9);
        double d = random_between(&seed, 0.5, 5), x = random_between(&seed, -3, 3);
        char text[2048];
        snprintf(text, sizeof text,
                 "{'inputs': {'turn': '%.17g*t'}, 'bodies': {'a': {'mass': 1, 'center': [0, 0, 0], "
                 "'inertia': [1, 1, 2]}, 'b': {'mass': 2, 'center': [0, 0, 0.3], 'inertia': [0.4, "
                 "0.4, 0.3]}}, 'joints': {'a': {'type': 'revolute', 'bodies': ['ground', 'a'], "
                 "'at': [0, 0, 0], 'axis': [0, 0, 1], 'prescribed': 'turn'}, 'b': {'type': "
                 "'revolute', 'bodies': ['a', 'b'], 'at': [0, 0, 0], 'axis': [0, 0, 1], 'initial': "
                 "{'velocity': %.17g}}}, 'forces': {'c': {'type': 'torsion', 'joint': 'b', "
                 "'damping': %.17g}, 'd': {'type': 'bushing', 'bodies': ['ground', 'b'], 'at': [0, "
                 "0, 0.3], 'stiffness': [0, 0, 0, 0, 0, 0], 'damping': [0, 0, 0, 0, 0, %.17g]}}, "
                 "'outputs': {'rate': {'joint': 'b', 'derivative': 1}}}",
                 w, x, c, d);
        bg_model *model = parse_quoted(text);
        for (int k = 0; k < 2; k++) {
            result r = run_steady(model, forms[k], 0.1);
            assert_near(r.y[0][0], -d * w / (c + d), 1e-9 * fabs(w));
            assert_near(r.y[1][0], -d * w / (c + d), 1e-7 * fabs(w));
            assert_non_null(strstr(r.remarks, "starts in steady motion"));
        }
        bg_model_destroy(model);
    }
}

static bg_model *read_carriage(double curvature)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    char segments[96];
    snprintf(segments, sizeof segments, "[{\"length\": 500, \"curvature\": %.17g}]", curvature);
    const bg_setting set[] = {{"tracks.line.segments", segments}, {"parameters.stop", "0"}};
    assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/train-carriage.json", set, 2, &model, &err));
    return model;
}

static double get(const bg_model *model, const double *y, const char *name)
{
    for (int k = 0; k < model->noutputs; k++)
        if (strcmp(model->outputs[k].name, name) == 0)
            return y[k];
    fail_msg("there is no output %s", name);
    return NAN;
}

/* From its start on straight track the carriage comes to the steady curve that another program has,
 * to the left and mirrored to the right, the same in both forms, and stays there. */
static void carriages_run_through_curves(void **state)
{
    (void)state;
    static const char *const axles[] = {"front.w1", "front.w2", "rear.w1", "rear.w2"};
    static const double y[] = {-6.138, -1.356, -6.047, -1.009};
    static const double yaw[] = {-4.241, 0.511, -3.879, 0.859};
    static const double spin[] = {-0.2548, -0.0088, -0.2258, -0.0029};
    double first[OUTPUTS];
    for (int n = 0; n < (SANITIZED ? 1 : 4); n++) {
        double side = n < 2 ? 1 : -1;
        bg_model *model = read_carriage(side / 500);
        result r = run_steady(model, forms[n % 2], SANITIZED ? 1e-3 : 0.1);
        for (int k = 0; k < 4; k++) {
            char name[3][32];
            snprintf(name[0], sizeof *name, "%s.y", axles[k]);
            snprintf(name[1], sizeof *name, "%s.yaw", axles[k]);
            snprintf(name[2], sizeof *name, "%s.spin", axles[k]);
            assert_near(1e3 * side * get(model, r.y[0], name[0]), y[k], 0.005);
            assert_near(1e3 * side * get(model, r.y[0], name[1]), yaw[k], 0.005);
            assert_near(get(model, r.y[0], name[2]), spin[k], 0.002 * fabs(spin[k]) + 5e-5);
        }
        if (n == 0)
            memcpy(first, r.y[0], sizeof first);
        for (int k = 0; k < model->noutputs && n < 2; k++) {
            assert_near(r.y[0][k], first[k], 1e-7 * (1 + fabs(first[k])));
            assert_near(r.y[1][k], first[k], 1e-5 * (1 + fabs(first[k])));
        }
        bg_model_destroy(model);
    }
}

/* A wheelset that is held along the track only, in curves of random radius. */
static void wheelsets_roll_in_curves(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int n = 0; n < (SANITIZED ? 1 : 4); n++) {
        char text[RAIL_TEXT], track[128];
        snprintf(track, sizeof track,
                 "'speed': %.17g, 'segments': [{'length': 1000, 'curvature': %.17g}]",
                 random_between(&seed, 5, 25), random_between(&seed, -5e-4, 5e-4));
        write_wheelset(text, n % 2 ? CONE : S1002, track, "'y': 0",
                       ", 'rod': {'type': 'bushing', 'bodies': ['f', 'b'], 'at': [0, 0, 0.46], "
                       "'stiffness': [1e6, 0, 0, 0, 0, 0], 'damping': [2e4, 0, 0, 0, 0, 0]}",
                       "'t_end': 1");
        bg_model *model = parse_quoted(text);
        result r[2];
        for (int k = 0; k < 2; k++) {
            r[k] = run_steady(model, forms[k], 0.02);
            for (int i = 0; i < WHEELSET_OUTPUTS; i++) {
                assert_near(r[k].y[0][i], r[0].y[0][i], 1e-7 * (1 + fabs(r[0].y[0][i])));
                assert_near(r[k].y[1][i], r[0].y[0][i], 1e-6 * (1 + fabs(r[0].y[0][i])));
            }
        }
        bg_model_destroy(model);
    }
}

/* Where the curvature changes no motion is steady: the track stands still for the search, which is
 * told. */
static void transitions_are_not_steady(void **state)
{
    (void)state;
    char text[RAIL_TEXT];
    write_wheelset(
        text, CONE, "'speed': 5, 'segments': [{'length': 50, 'curvature': [-0.0001, 0.0001]}]",
        "'y': 0",
        ", 'rod': {'type': 'bushing', 'bodies': ['f', 'b'], 'at': [0, 0, 0.46], "
        "'stiffness': [1e6, 1e6, 0, 0, 0, 1e6], 'damping': [2e4, 2e4, 0, 0, 0, 1e4]}",
        "'t_end': 4, 't_start': 3");
    bg_model *model = parse_quoted(text);
    result r = run_steady(model, "joint", 1e-3);
    assert_non_null(strstr(r.remarks, "moves there; it was held"));
    bg_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotors_are_dragged_along),
        cmocka_unit_test(carriages_run_through_curves),
        cmocka_unit_test(wheelsets_roll_in_curves),
        cmocka_unit_test(transitions_are_not_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
