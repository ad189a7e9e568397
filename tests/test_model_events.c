/* The section "events" of model files: zeros are found at their times in both forms, named, and end
 * the run where they should. */
#include "model_support.h"

#include <stdbool.h>

/* Thrown upwards with g/2 m/s from 1 m: at the top after 1/2 s, at h below 1 m on its way down. */
static const char *const ball =
    "{'bodies': {'ball': {'mass': 2, 'center': [0, 0, 1], 'inertia': [1, 2, 2], 'velocity': [1, 0, "
    "4.905], 'angular_velocity': [3, 0, 0]}}, 'joints': {'air': {'type': 'free', 'bodies': "
    "['ground', 'ball']}}, 'inputs': {'shift': '0.1*t'}, 'outputs': {'height': {'position': "
    "'ball', 'component': 'z'}, 'rise': {'velocity': 'ball', 'component': 'z'}, 'way': "
    "{'distance': "
    "['ball', [0, 0, 1]]}, 'twice': '2*height - 1'}, 'events': {'top': 'rise', 'late': {'comment': "
    "'not reached', 'expression': 't - 5', 'stop': 'both'}, 'low': {'expression': 'twice', "
    "'stop': '%s'}, 'moved': 'shift - 0.03'}, 'run': {'t_end': 2}}";

/* Runs text in a form and leaves the report. */
static void run_events(const char *text, const char *form, bg_run_report *r, bg_system **sys,
                       bg_model **model)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, model, &err));
    assert_ok(bg_model_create_system(*model, form, sys, &err));
    o.method.rtol = o.method.atol = 1e-11;
    assert_ok(bg_run(*sys, &o, r, &err));
    free(copy);
}

static void finish(bg_run_report *r, bg_system *sys, bg_model *model)
{
    bg_run_report_clear(r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

static void check_event(const bg_run_report *r, int k, const char *name, double t)
{
    assert_true(k < r->nevents);
    assert_string_equal(r->events[k].name, name);
    assert_near(r->events[k].t, t, 1e-10);
}

static void test_found(void **state)
{
    (void)state;
    const double low = 0.5 + sqrt(0.25 + 2 * 0.5 / 9.81);
    static const char *const stops[] = {"rising", "falling", "both"};
    for (int k = 0; k < 6; k++) {
        char text[2048];
        bg_run_report r;
        bg_system *sys;
        bg_model *model;
        snprintf(text, sizeof text, ball, stops[k / 2]);
        run_events(text, forms[k % 2], &r, &sys, &model);
        check_event(&r, 0, "moved: shift - 0.03 rises above zero", 0.3);
        check_event(&r, 1, "top: rise falls below zero", 0.5);
        check_event(&r, 2, "low: twice falls below zero", low);
        assert_string_equal(r.events[2].of, "low");
        assert_int_equal(r.nevents, 3);
        assert_near(r.final->t, k < 2 ? 2 : low, 1e-10);
        finish(&r, sys, model);
    }
}

/* Released from rest: the speed leaves zero at the start, which does not end the run. */
static void test_begins_on_a_zero(void **state)
{
    (void)state;
    static const char *const oscillator =
        "{'gravity': 0, 'bodies': {'a': {'mass': 1, 'center': [0, 0, 0]}}, 'joints': {'s': "
        "{'type': "
        "'prismatic', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [1, 0, 0], 'initial': "
        "1}}, 'forces': {'k': {'type': 'torsion', 'joint': 's', 'stiffness': 1}}, 'outputs': "
        "{'v': {'joint': 's', 'derivative': 1}}, 'events': {'rest': {'expression': 'v', 'stop': "
        "'%s'}}, 'run': {'t_end': 9}}";
    static const char *const stops[] = {"both", "rising", "falling"};
    const double pi = acos(-1);
    for (int k = 0; k < 6; k++) {
        char text[1024];
        bg_run_report r;
        bg_system *sys;
        bg_model *model;
        snprintf(text, sizeof text, oscillator, stops[k / 2]);
        run_events(text, forms[k % 2], &r, &sys, &model);
        assert_near(r.final->t, k < 4 ? pi : 2 * pi, 1e-9);
        check_event(&r, 0, "rest: v falls below zero", 0);
        finish(&r, sys, model);
    }
}

/* An angle is followed through turns: a wheel at constant speed, and its angle at 25 rad. */
static void test_turns(void **state)
{
    (void)state;
    static const char *const wheel =
        "{'gravity': 0, 'bodies': {'wheel': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, "
        "1]}}, "
        "'joints': {'hub': {'type': 'revolute', 'bodies': ['ground', 'wheel'], 'at': [0, 0, 0], "
        "'axis': [0, 1, 0], 'initial': {'velocity': 10}}}, 'outputs': {'angle': {'joint': 'hub'}}, "
        "'events': {'enough': {'expression': 'angle - 25', 'stop': 'rising'}}, 'run': {'t_end': "
        "9}}";
    for (int form = 0; form < 2; form++) {
        bg_run_report r;
        bg_system *sys;
        bg_model *model;
        run_events(wheel, forms[form], &r, &sys, &model);
        check_event(&r, 0, "enough: angle - 25 rises above zero", 2.5);
        assert_near(r.y[0], 25, 1e-8);
        finish(&r, sys, model);
    }
}

/* Half way up a pendulum's swing; its angular acceleration is that of the coordinate. */
static void test_angular_acceleration(void **state)
{
    (void)state;
    static const char *const pendulum =
        "{'bodies': {'bob': {'mass': 1, 'center': [0, 0, -1]}}, 'joints': {'pivot': {'type': "
        "'revolute', 'bodies': ['ground', 'bob'], 'at': [0, 0, 0], 'axis': [0, 1, 0], 'initial': "
        "1}}, 'outputs': {'angle': {'joint': 'pivot'}, 'second': {'joint': 'pivot', 'derivative': "
        "2}, 'spin': {'angular_acceleration': 'bob'}}, 'events': {'half': {'expression': 'angle - "
        "0.5', 'stop': 'falling'}}, 'run': {'t_end': 9}}";
    for (int form = 0; form < 2; form++) {
        double y[5];
        run_model(pendulum, forms[form], 1e-11, y, NULL);
        assert_near(y[0], 0.5, 1e-10);
        assert_near(y[1], -9.81 * sin(0.5), 1e-9);
        assert_near(y[2], 0, 1e-9);
        assert_near(y[3], -9.81 * sin(0.5), 1e-9);
        assert_near(y[4], 0, 1e-9);
    }
}

/* What happens, for people: tyres, roads with one wheel and with several, backwards too; inputs;
 * events in the user's own words. */
static bool has_event(const bg_run_report *r, const char *name, const char *of)
{
    for (long k = 0; k < r->nevents; k++)
        if (strcmp(r->events[k].name, name) == 0)
            return strcmp(r->events[k].of, of) == 0;
    return false;
}

static void test_words(void **state)
{
    (void)state;
    static const char *const car =
        "{'gravity': 9.81, 'bodies': {'car': {'mass': 500, 'center': [0, 0, 0.35], 'inertia': "
        "[100, "
        "300, 300]}}, 'joints': {'rail': {'type': 'planar', 'bodies': ['ground', 'car'], 'at': [0, "
        "0, 0.35], 'axis': [0, 1, 0]}}, 'road': %s, 'tyres': {%s'front wheel': {'type': "
        "'point-follower', 'wheel': {'body': 'car', 'at': [0, 0, 0.35]}, 'radius': 0.3, "
        "'stiffness': 2e5, 'damping': 900}}, 'inputs': {'u': {'type': 'jump', 'from': 1, 'to': "
        "-2.5, 't0': 0.3}, 'r': {'type': 'ramp', 'slope': 2, 't0': 0.1, 't1': 0.4}, 'w': {'type': "
        "'table', 'times': [0, 0.2, 0.5], 'values': [0, 1, 0], 'interpolation': 'linear'}}, "
        "'outputs': {'z': {'position': 'car', 'component': 'z'}}, 'events': {'low': {'expression': "
        "'z - 0.32', 'falling': 'the car is down', 'rising': 'the car is up'}}, 'run': {'t_end': "
        "0.6}}";
    static const struct {
        const char *road, *more, *names[10][2];
    } cases[] = {
        {"{'type': 'stair', 'at': 1, 'height': 0.01, 'count': 2, 'spacing': 1, 'speed': 5}",
         "'l': {'type': 'point-follower', 'wheel': {'body': 'car', 'at': [0, 0.5, 0.35]}, "
         "'radius': "
         "0.3, 'stiffness': 2e5}, ",
         {{"tyre l lands", "l"},
          {"front wheel lands", "front wheel"},
          {"road: stair begins under tyre l", "l"},
          {"road: stair, step 2 of 2 under front wheel", "front wheel"},
          {"input u jumps from 1 to -2.5", "u"},
          {"input r: ramp begins", "r"},
          {"input r: ramp ends", "r"},
          {"input w: corner 2 of 3 in its table", "w"},
          {"the car is down", "low"},
          {"the car is up", "low"}}},
        {"{'type': 'bump', 'from': 1, 'length': 1, 'height': 0.1, 'speed': 5}",
         "",
         {{"front wheel lands", "front wheel"},
          {"front wheel lifts off", "front wheel"},
          {"road: bump begins", "front wheel"},
          {"road: bump ends", "front wheel"}}},
        {"{'type': 'bump', 'from': -2, 'length': 1, 'height': 0.1, 'speed': -5}",
         "",
         {{"road: bump begins (backwards)", "front wheel"},
          {"road: bump ends (backwards)", "front wheel"}}},
    };
    for (int k = 0; k < 6; k++) {
        char text[4096];
        bg_run_report r;
        bg_system *sys;
        bg_model *model;
        snprintf(text, sizeof text, car, cases[k / 2].road, cases[k / 2].more);
        run_events(text, forms[k % 2], &r, &sys, &model);
        for (int i = 0; i < 10 && cases[k / 2].names[i][0]; i++)
            if (!has_event(&r, cases[k / 2].names[i][0], cases[k / 2].names[i][1]))
                fail_msg("no event '%s' in case %d", cases[k / 2].names[i][0], k);
        finish(&r, sys, model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found), cmocka_unit_test(test_begins_on_a_zero),
        cmocka_unit_test(test_turns), cmocka_unit_test(test_angular_acceleration),
        cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
