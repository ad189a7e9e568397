/* One verdict for terminal, summary and page: warnings of models, of assembly and of runs, and what
 * becomes of them. */
#include "model_support.h"
#include "overconstrained.h"
#include "results/summary.h"

#include <glob.h>
#include <stdbool.h>

static const char unused[] = "{\"parameters\": {\"spare\": 3},"
                             "\"bodies\": {\"arm\": {\"mass\": 2, \"inertia\": [1, 1, 1], "
                             "\"center\": [0.5, 0, 0]}},"
                             "\"joints\": {\"hinge\": {\"type\": \"revolute\", \"bodies\": "
                             "[\"ground\", \"arm\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0]}}}";

static const bg_warning *find_topic(const bg_warnings *list, const char *topic)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].topic, topic) == 0)
            return &list->items[i];
    return NULL;
}

static void lists_keep_every_sentence_once(void **state)
{
    (void)state;
    bg_warnings a = {0}, b = {0};
    const bg_warning *reason;
    assert_int_equal(bg_warnings_judge(&a, &reason), BG_GOOD);
    assert_null(reason);
    for (int i = 0; i < 40; i++)
        bg_warnings_add(&a, i == 30 ? BG_DOUBTFUL : BG_GOOD, "number", "sentence\n%d", i % 35);
    assert_int_equal(a.count, 35);
    assert_string_equal(a.items[7].text, "sentence 7");
    bg_warnings_add(&b, BG_BAD, "number", "worst");
    bg_warnings_append(&b, &a);
    bg_warnings_append(&b, &a);
    assert_int_equal(b.count, 36);
    assert_int_equal(bg_warnings_judge(&a, &reason), BG_DOUBTFUL);
    assert_string_equal(reason->text, "sentence 30");
    assert_int_equal(bg_warnings_judge(&b, &reason), BG_BAD);
    assert_string_equal(reason->text, "worst");
    bg_warnings_clear(&a);
    bg_warnings_clear(&b);
}

/* What the reader notices comes with every run, in both forms. */
static void warnings_of_models_reach_the_summary(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        assert_int_equal(bg_model_parse(unused, "unused", NULL, 0, &model, &err), BG_OK);
        assert_int_equal(bg_model_create_system(model, forms[k], &sys, &err), BG_OK);
        bg_run_options o = bg_default_run_options();
        bg_run_report report;
        o.t_end = 0.1;
        assert_int_equal(bg_run(sys, &o, &report, &err), BG_OK);
        assert_int_equal(report.verdict, BG_DOUBTFUL);
        assert_non_null(strstr(find_topic(&report.warnings, "parameter")->text, "'spare'"));
        json_t *summary = bg_summary_make_json(sys, "unused", &report);
        assert_string_equal(json_string_value(json_object_get(summary, "verdict")), "doubtful");
        assert_non_null(
            strstr(json_string_value(json_object_get(summary, "reason")), "'spare' is not used"));
        assert_int_equal(json_array_size(json_object_get(summary, "warnings")),
                         report.warnings.count);
        json_decref(summary);
        bg_run_report_clear(&report);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

static int count_topic(const char *json, const char *form, const char *topic)
{
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    assert_ok(bg_model_parse(json, "hint", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    const bg_warnings *list = bg_system_get_warnings(sys);
    int n = 0;
    for (int i = 0; i < list->count; i++)
        n += topic ? strcmp(list->items[i].topic, topic) == 0 : list->items[i].verdict != BG_GOOD;
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return n;
}

/* A pendulum of mm, under gravity g, that starts at an angle. */
static const char *write_pendulum(double length, const char *g, double angle)
{
    static char pendulum[1024];
    snprintf(pendulum, sizeof pendulum,
             "{\"gravity\": %s, \"bodies\": {\"arm\": {\"mass\": 2, \"inertia\": [1, 1, 1], "
             "\"center\": [%g, 0, 0]}}, \"joints\": {\"hinge\": {\"type\": \"revolute\", "
             "\"bodies\": [\"ground\", \"arm\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0], "
             "\"initial\": {\"position\": %g}}}}",
             g, length, angle);
    return pendulum;
}

static void implausible_models_are_hinted_at(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(count_topic(write_pendulum(0.5, "9.81", 1), forms[k], NULL), 0);
        assert_int_equal(count_topic(write_pendulum(500, "9.81", 1), forms[k], "lengths"), 1);
        assert_int_equal(count_topic(write_pendulum(0.5, "-9.81", 1), forms[k], "gravity"), 1);
        assert_int_equal(count_topic(write_pendulum(0.5, "[0, 0, 9.81]", 1), forms[k], "gravity"),
                         1);
        assert_int_equal(count_topic(write_pendulum(0.5, "[0, 0, 9.81]", 1), forms[k], NULL), 0);
        assert_int_equal(count_topic(write_pendulum(500, "9810", 90), forms[k], NULL), 0);
        assert_int_equal(count_topic(write_pendulum(500, "9810", 1), forms[k], "gravity"), 1);
        assert_int_equal(count_topic(write_pendulum(0.5, "[0, 9810, 0]", 1), forms[k], "gravity"),
                         1);
        assert_int_equal(count_topic(write_pendulum(0.5, "[0, -9.81, 0]", 1), forms[k], NULL), 0);
        assert_int_equal(count_topic(write_pendulum(0.5, "9.81", 90), forms[k], "angles"), 1);
    }
}

/* Wherever an angle is read: degrees without their unit are remarked on once, with it not, nor a
 * shaft that spins on. %s: the angle. */
static void angles_in_degrees_are_hinted_at(void **state)
{
    (void)state;
    static const struct {
        const char *body, *joint, *rest;
        bool degrees;
    } places[] = {
        {", 'orientation': {'axis': [1, 2, 3], 'angle': %s}", "", "", true},
        {", 'orientation': {'rpy': [0.1, %s, 0.2]}", "", "", true},
        {"", ", 'initial': {'position': %s}", "", true},
        {"", "",
         ", 'forces': {'f': {'type': 'torsion', 'joint': 'j', 'stiffness': 9, "
         "'free_angle': %s}}",
         true},
        {"", "",
         ", 'forces': {'f': {'type': 'limit', 'joint': 'j', 'stiffness': 9, 'turns': true, "
         "'upper': %s}}",
         true},
        {"", "", ", 'inputs': {'u': {'type': 'sine', 'amplitude': 1, 'frequency': 1, 'phase': %s}}",
         true},
        {"", "",
         ", 'inputs': {'u': {'type': 'sines', 'amplitudes': [1, 2], 'frequencies': [1, 3], "
         "'phases': [0, %s]}}",
         true},
        {"", ", 'prescribed': 'u'",
         ", 'inputs': {'u': {'type': 'sine', 'frequency': 1.3, 'amplitude': %s}}", true},
        {"", ", 'prescribed': 'u'",
         ", 'inputs': {'u': {'type': 'step', 't0': 0.1, 't1': 0.5, 'from': 0, 'to': %s}}", true},
        {"", ", 'prescribed': 'u'", ", 'inputs': {'u': '(%s)*sin(3*t)'}", true},
        {"", ", 'prescribed': 'u'", ", 'inputs': {'u': '(%s)*t'}", false},
        {"", ", 'initial': {'velocity': %s}", "", false},
    };
    unsigned seed = 11;
    for (int k = 0; k < 2 * 5 * (int)(sizeof places / sizeof *places); k++) {
        const int p = k / 10;
        char pattern[1024], angle[32], json[2048];
        seed = seed * 1664525u + 1013904223u;
        const int degrees = 10 + (int)(seed >> 8) % 350, unit = k % 5 > 2;
        const bool inside = strchr(places[p].rest, '(') != NULL;
        snprintf(angle, sizeof angle, "%s%d%s%s", unit && !inside ? "'" : "", degrees,
                 unit ? "*deg" : "", unit && !inside ? "'" : "");
        snprintf(pattern, sizeof pattern,
                 "{'bodies': {'a': {'mass': 1, 'center': [0.5, 0, 0], 'inertia': [1, 1, 1]%s}}, "
                 "'joints': {'j': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], "
                 "'axis': [0, 1, 0]%s}}%s, 'run': {'t_end': 2}}",
                 places[p].body, places[p].joint, places[p].rest);
        char *at = strstr(pattern, "%s");
        snprintf(json, sizeof json, "%.*s%s%s", (int)(at - pattern), pattern, angle, at + 2);
        char *quoted = quote(json);
        const int said = count_topic(quoted, forms[k % 2], "angles");
        if (said != (places[p].degrees && !unit))
            fail_msg("said %d times: %s", said, quoted);
        free(quoted);
    }
}

/* Which way x of a plane is, where its axis is oblique and x is used. */
static void open_axes_are_said(void **state)
{
    (void)state;
    static const char *const axes[] = {"[0, -1, 0]", "[0, 0.6, 0.8]"};
    static const char *const seconds[] = {"", ", \"second\": [1, 0, 0]"};
    static const char *const used[] = {"angle", "x", "y"};
    for (int k = 0; k < 24; k++) {
        const int oblique = k % 2, given = k / 2 % 2, which = k / 4 % 3;
        char json[1024];
        snprintf(json, sizeof json,
                 "{\"bodies\": {\"a\": {\"mass\": 1, \"center\": [0, 0, 0], \"inertia\": [1, 1, "
                 "1]}}, \"joints\": {\"p\": {\"type\": \"planar\", \"bodies\": [\"ground\", "
                 "\"a\"], \"at\": [0, 0, 0], \"axis\": %s%s}}, \"forces\": {\"k\": {\"type\": "
                 "\"torsion\", \"joint\": \"p\", \"coordinate\": \"%s\", \"stiffness\": 9}}}",
                 axes[oblique], seconds[given], used[which]);
        assert_int_equal(count_topic(json, forms[k / 12], "axes"), oblique && !given && which > 0);
    }
}

/* Gravity of any strength and direction: a unit or a sign that was forgotten is hinted at, gravity
 * of planets and of models that are turned is not. */
static void strange_gravity_is_hinted_at(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int k = 0; k < 60; k++) {
        double x[3], pull = k % 2 ? 9.81 : 1.62;
        char g[128];
        for (int i = 0; i < 3; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = (seed >> 8) / (double)(1 << 24);
        }
        double side = k % 3 ? 0.25 * x[0] : 0.4 + 3 * x[0], round = 6.2831853 * x[1];
        bool upwards = k % 3 == 1, down = k % 3 == 2, strong = x[2] > 0.5 && k % 2;
        pull *= strong ? 1000 : 1;
        double z = upwards ? 1 : down ? -1 : 0.5;
        double length = hypot(z, side);
        snprintf(g, sizeof g, "[%.17g, %.17g, %.17g]", pull * side * cos(round) / length,
                 pull * side * sin(round) / length, pull * z / length);
        for (int f = 0; f < 2; f++)
            assert_int_equal(count_topic(write_pendulum(0.5, g, 1), forms[f], "gravity"),
                             upwards + strong);
        for (int f = 0; f < 2; f++) /* turning or scaling a model makes no doubt */
            assert_int_equal(count_topic(write_pendulum(0.5, g, 1), forms[f], NULL), 0);
    }
}

/* Tolerances that bound nothing are said, beside what the result is made of: a ball 1e9 m away may
 * be wrong by a metre. */
static void useless_tolerances_are_said(void **state)
{
    (void)state;
    static const struct {
        double length, rtol, atol;
        bool said;
    } cases[] = {{0.5, 1e-6, 1e-6, false}, {0.5, 1, 1e-6, true},    {0.5, 1e30, 1e-6, true},
                 {0.5, 1e-6, 1e3, true},   {0.5, 1e-6, 1e30, true}, {1e9, 1e-6, 1, false}};
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        bg_run_report report;
        bg_run_options o = bg_default_run_options();
        const char *loose = write_pendulum(cases[k / 2].length, "9.81", 1);
        assert_ok(bg_model_parse(loose, "loose", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        o.method.rtol = cases[k / 2].rtol;
        o.method.atol = cases[k / 2].atol;
        o.t_end = 0.1;
        o.max_steps = 1000;
        bg_run(sys, &o, &report, &err);
        assert_int_equal(find_topic(&report.warnings, "tolerance") != NULL, cases[k / 2].said);
        assert_true(!cases[k / 2].said || report.verdict != BG_GOOD);
        bg_run_report_clear(&report);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* A pendulum at rest has no energies but rounding, wherever it hangs. */
static void rest_is_good(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int k = 0; k < 40; k++) {
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        bg_run_report report;
        bg_run_options o = bg_default_run_options();
        text t;
        placement at = as_drawn;
        at.turn = draw_turn(&seed);
        begin_model(&t, at, 0, 0, -9.81);
        put_body(&t, "rod", 2, AT(0, 0, 0), AT(0.1, 0.1, 0.1));
        put(&t, "}, \"joints\": {");
        put_joint(&t, "hinge", "revolute", "ground", "rod", AT(0, 0, 1), AT(0, 1, 0), "");
        end_model(&t, "hinge", 1);
        assert_ok(bg_model_parse(t.buffer, "rest", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        o.t_end = 1;
        o.method.step = k % 4 < 2 ? 0 : 0.01;
        o.integrator = k % 4 < 2 ? "mdop5" : "linear-euler";
        assert_ok(bg_run(sys, &o, &report, &err));
        if (report.verdict != BG_GOOD)
            fail_msg("at rest: %s", report.warnings.items[0].text);
        bg_run_report_clear(&report);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* Bodies on springs and dampers, with or without weight, that start where all forces are in
 * balance: stiff ones are moved by no more than the tolerance, and nothing else has an energy. */
static void balance_is_good(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto",  "mdop5", "mdop8", "hem5",
                                          "adams", "bdf",   "sdirk4"};
    unsigned seed = 11;
    for (int k = 0; k < (SANITIZED ? 14 : 140); k++) {
        const double size = pow(10, draw_within(&seed, -3, 1.5)), pull = k % 2 ? 9.81 : 0;
        const double mass = draw_within(&seed, 0.1, 5), damping = draw_within(&seed, 0, 20) * mass;
        const double stiffness = 98.1 * mass / size * pow(10, draw_within(&seed, 0, 3));
        const double x = draw_within(&seed, -1, 1), y = draw_within(&seed, -1, 1);
        char buffer[1024];
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        bg_run_report report;
        bg_run_options o = bg_default_run_options();
        snprintf(
            buffer, sizeof buffer,
            "{'gravity': %.17g, 'bodies': {'b': {'mass': %.17g, 'center': [0, 0, %.17g], "
            "'inertia': [1, 1, 1]}}, 'joints': {'j': {'type': 'prismatic', 'bodies': ['ground', "
            "'b'], 'at': [0, 0, 0], 'axis': [%.17g, %.17g, 1]}}, 'forces': {'s': {'type': "
            "'spring-damper', 'from': [0, 0, 0], 'to': 'b', 'stiffness': %.17g, 'damping': "
            "%.17g}}, 'initial': {'equilibrium': true}, 'run': {'t_end': 1.5}}",
            pull, mass, size, x, y, stiffness, damping);
        char *json = quote(buffer);
        assert_ok(bg_model_parse(json, "rest", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k / 2 % 2], &sys, &err));
        o.integrator = methods[k % 7];
        o.method.atol *= fmin(1, size);
        assert_ok(bg_run(sys, &o, &report, &err));
        if (report.verdict != BG_GOOD)
            fail_msg("%s, %g N/m, %g m, in balance: %s", o.integrator, stiffness, size,
                     report.warnings.items[0].text);
        bg_run_report_clear(&report);
        bg_system_destroy(sys);
        bg_model_destroy(model);
        free(json);
    }
}

/* What a run with fixed steps is called, and the energies it is judged by. */
static bg_verdict judge_steps(const char *json, const char *form, double step, double *scale)
{
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    bg_run_report report;
    bg_run_options o = bg_default_run_options();
    assert_ok(bg_model_parse(json, "placed", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = "linear-euler";
    o.method.step = step;
    o.t_end = 0.3;
    o.skip_comparison = 1;
    assert_ok(bg_run(sys, &o, &report, &err));
    bg_verdict verdict = report.verdict;
    *scale = report.certificate.energy_scale;
    bg_run_report_clear(&report);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return verdict;
}

/* The verdict is that of the mechanism, not of where it is drawn: 10 km of potential energy excuse
 * nothing. */
static void places_excuse_nothing(void **state)
{
    (void)state;
    void (*const write[])(text *, placement) = {write_four_bar, write_slider_crank, write_bennett};
    unsigned seed = 7;
    int count[3] = {0};
    for (int k = 0; k < (SANITIZED ? 6 : 36); k++) {
        const double step = pow(10, draw_within(&seed, -3.3, -1.8));
        double here, there;
        text t;
        placement at = as_drawn;
        write[k % 3](&t, at);
        bg_verdict drawn = judge_steps(t.buffer, forms[k / 3 % 2], step, &here);
        at.turn = draw_turn(&seed);
        at.shift = bg_scale(k % 4 ? 1e4 : 30,
                            turned(&(text){.at = at}, 0, 0.6, k % 2 ? 0.8 : -0.8));
        write[k % 3](&t, at);
        bg_verdict moved = judge_steps(t.buffer, forms[k / 3 % 2], step, &there);
        if (moved != drawn)
            fail_msg("%s, step %g: %d here, %d there", forms[k / 3 % 2], step, drawn, moved);
        assert_near(there, here, 1e-6 * here);
        count[drawn]++;
    }
    assert_true(SANITIZED || (count[BG_GOOD] > 5 && count[BG_DOUBTFUL] > 5));
}

/* A motion that explodes is never good, also where its energies are beyond all numbers. */
static void explosions_are_never_good(void **state)
{
    (void)state;
    static const char spring[] =
        "{\"gravity\": 0, \"bodies\": {\"a\": {\"mass\": 1, \"center\": [0, 0, 0]}},"
        "\"joints\": {\"s\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], \"at\": "
        "[0, 0, 0], \"axis\": [1, 0, 0], \"initial\": {\"position\": 0.3}}}, \"forces\": {\"k\": "
        "{\"type\": \"torsion\", \"joint\": \"s\", \"stiffness\": 100}}}";
    const bg_integrator_info *info;
    int beyond = 0;
    for (int n = 0; (info = get_method(n)); n++)
        for (int k = 0; k < 2; k++)
            for (double step = 0.5; step < 2; step += 0.4) {
                bg_error err = {0};
                bg_model *model;
                bg_system *sys;
                bg_run_report report;
                bg_run_options o = bg_default_run_options();
                assert_ok(bg_model_parse(spring, "spring", NULL, 0, &model, &err));
                assert_ok(bg_model_create_system(model, forms[k], &sys, &err));
                o.integrator = info->name;
                o.method.step = step;
                o.t_end = 150 * step;
                bg_status st = bg_run(sys, &o, &report, &err);
                assert_true(st <= 0 && st == report.status); /* it would end so again */
                beyond += report.status == BG_OK && !isfinite(report.certificate.energy_scale);
                if (report.verdict == BG_GOOD)
                    fail_msg("%s, %s, steps of %g s", info->name, forms[k], step);
                bg_run_report_clear(&report);
                bg_system_destroy(sys);
                bg_model_destroy(model);
            }
    assert_true(beyond > 0);
}

/* The error that a report estimates, of the variation of v; -1: it says nothing of it. */
static double find_estimate(const bg_run_report *report)
{
    const bg_warning *w = find_topic(&report->warnings, "step");
    const char *at = w ? strstr(w->text, "by about ") : NULL;
    return at ? strtod(at + 9, NULL) / 100 : -1;
}

typedef struct oscillation {
    double omega, zeta, start;
    double error, size; /* sums of squares of v - v(t), and of v(t) */
} oscillation;

static bg_status compare_row(void *self, const bg_row *row, bg_error *err)
{
    oscillation *x = self;
    double t = row->state->t, d = x->zeta * x->omega, w = x->omega * sqrt(1 - x->zeta * x->zeta);
    double v = -x->start * exp(-d * t) * (w + d * d / w) * sin(w * t);
    (void)err;
    x->error += (row->state->v[0] - v) * (row->state->v[0] - v);
    x->size += v * v;
    return BG_OK;
}

/* Fixed steps see no error of their own, and a wrong phase is not seen in the energy: what is said
 * of them is true within a factor of 3 (5 to the safe side: semi-implicit steps have a phase of
 * second order), for every method, whether errors add up or are damped, and a run that is wrong by
 * a third is not called good. */
static void fixed_steps_are_compared(void **state)
{
    (void)state;
    const bg_integrator_info *info;
    int seen = 0, large = 0;
    for (int n = 0; (info = get_method(n)); n++) {
        bool exact[4] = {
            false}; /* nothing to be said of this oscillation, nor with shorter steps */
        for (int k = 0; k < (SANITIZED ? 8 : 24); k++) { /* the last steps are the shortest */
            if (exact[k % 4])
                continue;
            bg_error err = {0};
            bg_model *model;
            bg_system *sys;
            bg_run_report report;
            bg_run_options o = bg_default_run_options();
            oscillation x = {.omega = 10, .zeta = k % 2 ? 0.15 : 0, .start = 0.3};
            char json[1024];
            snprintf(
                json, sizeof json,
                "{\"gravity\": 0, \"bodies\": {\"a\": {\"mass\": 1, \"center\": [0, 0, 0]}},"
                "\"joints\": {\"s\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], "
                "\"at\": [0, 0, 0], \"axis\": [1, 0, 0], \"initial\": {\"position\": %g}}}, "
                "\"forces\": {\"k\": {\"type\": \"torsion\", \"joint\": \"s\", \"stiffness\": "
                "%g, \"damping\": %g}}}",
                x.start, x.omega * x.omega, 2 * x.zeta * x.omega);
            assert_ok(bg_model_parse(json, "spring", NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, forms[k / 2 % 2], &sys, &err));
            o.integrator = info->name;
            o.method.step = 0.08 / pow(3, k / 4);
            o.t_end = k % 2 ? 1.5 : 9;
            o.output_steps = 1;
            o.sink = (bg_sink){.self = &x, .row = compare_row};
            bg_status st = bg_run(sys, &o, &report, &err);
            double error = sqrt(x.error / x.size), estimate = find_estimate(&report);
            if (st == BG_OK && error > 0.3 && report.verdict == BG_GOOD)
                fail_msg("%s, steps of %g s: wrong by %g", info->name, o.method.step, error);
            if (st == BG_OK && error < 0.1 && error > 1e-9) {
                if (!(estimate > error / 3 && estimate < 5 * error))
                    fail_msg("%s, steps of %g s, damping %g: wrong by %g, not %g", info->name,
                             o.method.step, x.zeta, error, estimate);
                seen++;
            }
            large += error > 0.3;
            exact[k % 4] = st == BG_OK && error < 1e-9;
            bg_run_report_clear(&report);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
    }
    assert_true(SANITIZED || (seen > 40 && large > 10));
}

/* A double pendulum, lifted by so many degrees; false: it takes more steps than are compared. */
static bool run_double_pendulum(const char *method, const char *form, double start,
                                double tolerance, double t_end, double w[2], bg_verdict *verdict)
{
    bg_error err = {0};
    bg_system *sys;
    bg_run_report report;
    bg_run_options o = bg_default_run_options();
    char json[1024];
    snprintf(json, sizeof json,
             "{'bodies': {'a': {'mass': 1, 'center': [0, 0, -0.5]}, "
             "'b': {'mass': 1, 'center': [0, 0, -1.5], 'inertia': [0.01, 0.01, 0.01]}}, "
             "'joints': {'h': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], "
             "'axis': [0, 1, 0], 'initial': '%g*deg'}, 'k': {'type': 'revolute', "
             "'bodies': ['a', 'b'], 'at': [0, 0, -1], 'axis': [0, 1, 0]}}, "
             "'outputs': {'a': {'angular_velocity': 'a', 'component': 'y'}, "
             "'b': {'angular_velocity': 'b', 'component': 'y'}}}",
             start);
    bg_model *model = parse_quoted(json);
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.t_end = t_end;
    o.max_steps = 32768;
    bg_status st = bg_run(sys, &o, &report, &err);
    assert_true(st == BG_OK || st == BG_TOO_MANY_STEPS);
    memcpy(w, report.y, 2 * sizeof *w);
    *verdict = report.verdict;
    if (st == BG_OK)
        assert_int_equal(report.verdict != BG_GOOD, find_topic(&report.warnings, "growth") != NULL);
    bg_run_report_clear(&report);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return st == BG_OK;
}

/* What a chaotic motion makes of errors is said where the end is wrong; what is good to a hundredth
 * is good. With every method, up to the number of steps that are done again, and beyond it where
 * the beginning shows it. */
static void growing_errors_are_said(void **state)
{
    (void)state;
    const bg_integrator_info *info;
    static const double ends[] = {3, 15};
    int good = 0, wrong = 0;
    double exact[2], w[2];
    bg_verdict v;
    for (int k = 0; k < 2; k++) {
        run_double_pendulum("mdop8", forms[0], 120, 1e-13, ends[k], exact, &v);
        for (int n = 0; (info = get_method(n)); n++)
            for (int j = 0; j < 3 && !info->fixed_steps; j++) {
                double tolerance = j < 2 ? 1e-5 : 1e-8;
                if (!run_double_pendulum(info->name, forms[j % 2], 120, tolerance, ends[k], w, &v))
                    continue;
                double error = hypot(w[0] - exact[0], w[1] - exact[1]) / 5;
                if (error > 0.5 ? v == BG_GOOD : error < 0.01 && v != BG_GOOD)
                    fail_msg("%s, %s, %g s at %g: wrong by %g, verdict %d", info->name,
                             forms[j % 2], ends[k], tolerance, error, (int)v);
                good += error < 0.01;
                wrong += error > 0.5;
            }
    }
    assert_true(good > 20 && wrong > 10);
    assert_true(run_double_pendulum("mdop5", forms[0], 120, 1e-9, 20, w, &v));
    assert_int_equal(v, BG_DOUBTFUL);
    assert_true(run_double_pendulum("mdop5", forms[0], 10, 1e-6, 200, w, &v)); /* it is regular */
    assert_int_equal(v, BG_GOOD);
}

/* No false alarms: the shipped models pass without any doubt. */
static void shipped_models_raise_no_doubt(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < 2 * files.gl_pathc; i++) {
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        assert_ok(bg_model_read(files.gl_pathv[i / 2], NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[i % 2], &sys, &err));
        const bg_warning *reason;
        if (bg_warnings_judge(bg_system_get_warnings(sys), &reason) != BG_GOOD)
            fail_msg("%s: %s", files.gl_pathv[i / 2], reason->text);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_keep_every_sentence_once),
        cmocka_unit_test(warnings_of_models_reach_the_summary),
        cmocka_unit_test(implausible_models_are_hinted_at),
        cmocka_unit_test(angles_in_degrees_are_hinted_at),
        cmocka_unit_test(open_axes_are_said),
        cmocka_unit_test(strange_gravity_is_hinted_at),
        cmocka_unit_test(useless_tolerances_are_said),
        cmocka_unit_test(rest_is_good),
        cmocka_unit_test(balance_is_good),
        cmocka_unit_test(places_excuse_nothing),
        cmocka_unit_test(explosions_are_never_good),
        cmocka_unit_test(fixed_steps_are_compared),
        cmocka_unit_test(growing_errors_are_said),
        cmocka_unit_test(shipped_models_raise_no_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
