/* What makes steps short is found and named: stiff elements and laws that jump, in random models,
 * in both forms; and nothing is found where steps are limited by accuracy. */
#include "model_support.h"

#include <unistd.h>

/* Numbers in [0, 1) from a seed. */
static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

/* Three masses in a row on sliders along a random direction, coupled to each other and to the
 * ground; damping[k] of element k, or the law of it. */
static char *write_row(unsigned *seed, const double damping[4], int lawful, const char *law)
{
    static char text[4096];
    double d[3], length = 0;
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = draw(seed) - 0.5;
        length += d[i] * d[i];
    }
    length = sqrt(length);
    n += (size_t)snprintf(text + n, sizeof text - n, "{\"gravity\": 9.81, \"bodies\": {");
    for (int k = 0; k < 3; k++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s\"b%d\": {\"mass\": %g, \"center\": [%.17g, %.17g, %.17g], "
                              "\"inertia\": [1, 1, 1]}",
                              k > 0 ? ", " : "", k, 1 + 4 * draw(seed), (k + 1) * d[0] / length,
                              (k + 1) * d[1] / length, (k + 1) * d[2] / length);
    n += (size_t)snprintf(text + n, sizeof text - n, "}, \"joints\": {");
    for (int k = 0; k < 3; k++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s\"j%d\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", "
                              "\"b%d\"], \"at\": [%.17g, %.17g, %.17g], \"axis\": [%.17g, %.17g, "
                              "%.17g], \"initial\": {\"velocity\": %g}}",
                              k > 0 ? ", " : "", k, k, (k + 1) * d[0] / length,
                              (k + 1) * d[1] / length, (k + 1) * d[2] / length, d[0] / length,
                              d[1] / length, d[2] / length, draw(seed) - 0.5);
    n += (size_t)snprintf(text + n, sizeof text - n, "}, \"forces\": {");
    char wall[128];
    snprintf(wall, sizeof wall, "[%.17g, %.17g, %.17g]", 4 * d[0] / length, 4 * d[1] / length,
             4 * d[2] / length);
    const char *const from[] = {"[0, 0, 0]", "\"b0\"", "\"b1\"", "\"b2\""}, *const to[] = {
                                                                                "\"b0\"", "\"b1\"",
                                                                                "\"b2\"", wall};
    for (int k = 0; k < 4; k++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"e%d\": {", k > 0 ? ", " : "", k);
        if (k == lawful)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "\"type\": \"torsion\", \"joint\": \"j%d\", \"torque\": \"%s\"}",
                                  k % 3, law);
        else
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "\"type\": \"spring-damper\", \"from\": %s, \"to\": %s, "
                                  "\"stiffness\": %g, \"damping\": %g}",
                                  from[k], to[k], 50 + 100 * draw(seed), damping[k]);
    }
    snprintf(text + n, sizeof text - n, "}, \"run\": {\"t_end\": 5}}");
    return text;
}

typedef struct trouble_outcome {
    bg_status status;
    char message[BG_ERROR_LENGTH], remark[BG_WARNING_LENGTH];
    bg_verdict verdict;
    long accepted;
} trouble_outcome;

static trouble_outcome run_text(const char *text, const char *form, const char *method,
                                bg_run_options o)
{
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    trouble_outcome out = {0};
    assert_ok(bg_model_parse(text, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = method;
    o.model = "test";
    o.formulation = form;
    out.status = bg_run(sys, &o, &r, &err);
    memcpy(out.message, r.message, sizeof out.message);
    for (int i = 0; i < r.warnings.count; i++)
        if (strcmp(r.warnings.items[i].topic, "stiff") == 0 ||
            strcmp(r.warnings.items[i].topic, "jump") == 0)
            memcpy(out.remark, r.warnings.items[i].text, sizeof out.remark);
    out.verdict = r.verdict;
    out.accepted = r.counters.accepted;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return out;
}

static void check_names(const char *text, const char *kind, const char *element, const char *where)
{
    if (!strstr(text, kind) || !strstr(text, element))
        fail_msg("%s: '%s' and %s expected in: %s", where, kind, element, text);
}

static void the_stiff_element_is_named(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "adams", "hem5", "mdop8", "hem4"};
    unsigned seed = 7;
    for (int k = 0; k < 12; k++) {
        double damping[4] = {1, 1, 1, 1};
        char element[8], where[32];
        damping[k % 4] = pow(10, 4.5 + draw(&seed));
        snprintf(element, sizeof element, "'e%d'", k % 4);
        snprintf(where, sizeof where, "case %d", k);
        bg_run_options o = bg_default_run_options();
        const char *text = write_row(&seed, damping, -1, NULL);
        o.max_steps = 1500;
        trouble_outcome x = run_text(text, forms[k / 4 % 2], methods[k % 5], o);
        assert_int_equal(x.status, BG_TOO_MANY_STEPS);
        check_names(x.message, "limited by stability", element, where);
        assert_null(strstr(x.message, "loosen"));
        o.max_steps = 0; /* a run that ends says it, too: as a remark on a result that is good */
        o.t_end = 0.1;
        x = run_text(text, forms[k / 4 % 2], methods[k % 5], o);
        assert_int_equal(x.status, BG_OK);
        check_names(x.remark, "limited by stability", element, where);
        assert_int_equal(x.verdict, BG_GOOD);
    }
}

static void the_law_that_jumps_is_named(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "bdf", "adams", "mdop8", "hem5"};
    unsigned seed = 3;
    const double damping[4] = {1, 1, 1, 1};
    for (int k = 0; k < 10; k++) {
        char element[8], where[32], law[64];
        snprintf(element, sizeof element, "'e%d'", k % 4);
        snprintf(where, sizeof where, "case %d", k);
        snprintf(law, sizeof law, "-%g*sign(rate)", 40 + 40 * draw(&seed));
        bg_run_options o = bg_default_run_options();
        o.max_steps = 3000;
        trouble_outcome x = run_text(write_row(&seed, damping, k % 4, law), forms[k / 5],
                                     methods[k % 5], o);
        assert_int_equal(x.status, BG_TOO_MANY_STEPS);
        check_names(x.message, "jumps", element, where);
        snprintf(law, sizeof law, "-40*tanh(rate/0.05)");
        x = run_text(write_row(&seed, damping, k % 4, law), forms[k / 5], methods[k % 5], o);
        assert_null(strstr(x.remark, "jump"));
        assert_null(strstr(x.message, "jump"));
    }
}

/* An oscillator with a law; where it ends, and what is said of it. */
static double oscillate(const char *law, const char *form, const char *method, double tolerance,
                        bg_verdict *verdict, bool *jumps)
{
    char text[1024];
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    snprintf(
        text, sizeof text,
        "{\"gravity\": 0, \"inputs\": {\"u\": \"sign(t - 0.37)\"}, \"bodies\": {\"a\": "
        "{\"mass\": 1, \"center\": [0, 0, 0], \"inertia\": [1, 1, 1]}}, \"joints\": {\"j\": "
        "{\"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], \"at\": [0, 0, 0], "
        "\"axis\": [1, 0, 0], \"initial\": {\"velocity\": 2}}}, \"forces\": {\"k\": {\"type\": "
        "\"torsion\", \"joint\": \"j\", \"stiffness\": 40}, \"e\": {\"type\": \"torsion\", "
        "\"joint\": \"j\", \"torque\": \"%s + 0*u\"}}}",
        law);
    assert_ok(bg_model_parse(text, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.t_end = 1;
    assert_ok(bg_run(sys, &o, &r, &err));
    double x = r.final->q[0];
    *verdict = r.verdict;
    *jumps = false;
    for (int i = 0; i < r.warnings.count; i++)
        *jumps = *jumps || strcmp(r.warnings.items[i].topic, "jump") == 0;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return x;
}

/* Steps that an error estimate lets pass across a jump: no run that is wrong by it is called good,
 * whatever the method; laws that only bend are blamed for nothing. */
static void jumps_that_pass_are_noticed(void **state)
{
    (void)state;
    static const char *const laws[] = {"-%.3f*if(rate, 1, -1)",   "-%g*sign(angle - 0.1)",
                                       "-%g*floor(4*angle)",      "-%g*mod(angle, 0.3)",
                                       "%g*if(t - 0.41, 1, 0)",   "%g*u",
                                       "-%g*rate/abs(rate)",      "-%g*abs(angle - 0.1)",
                                       "-%g*max(angle - 0.1, 0)", "-%g*abs(rate)*rate"};
    enum { LAWS = sizeof laws / sizeof *laws, JUMPS = 7 };
    const bg_integrator_info *info;
    unsigned seed = 11;
    int wrong = 0;
    for (int k = 0; k < LAWS; k += SANITIZED ? 4 : 1) {
        char law[64];
        bg_verdict verdict;
        bool jumps;
        snprintf(law, sizeof law, laws[k], 2 + 2 * draw(&seed));
        double x = oscillate(law, "joint", "mdop5", 1e-11, &verdict, &jumps);
        for (int n = 0; (info = get_method(n)); n++) {
            if (info->fixed_steps)
                continue;
            double y = oscillate(law, forms[n % 2], info->name, 1e-5, &verdict, &jumps);
            wrong += fabs(y - x) > 5e-4;
            if (fabs(y - x) > 5e-4 && verdict == BG_GOOD)
                fail_msg("%s, %s: off by %g, good", info->name, law, y - x);
            if (k >= JUMPS && jumps)
                fail_msg("%s, %s: called a jump", info->name, law);
        }
    }
    assert_true(SANITIZED || wrong > 5);
}

/* Fast oscillations of large amplitude need their short steps: that is no stiffness. */
static void accuracy_is_not_called_stiffness(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-2, 1e-3, 1e-6, 1e-9};
    static const char *const methods[] = {"mdop5", "adams", "hem5"};
    for (int k = 0; k < 12; k++) {
        double frequency = pow(10, k % 4), damping = k % 2 ? 0 : 0.01 * frequency;
        char text[512];
        snprintf(text, sizeof text,
                 "{\"bodies\": {\"a\": {\"mass\": 1, \"center\": [0, 0, 0], \"inertia\": [1, 1, "
                 "1]}}, \"joints\": {\"j\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", "
                 "\"a\"], \"at\": [0, 0, 0], \"axis\": [1, 0, 0], \"initial\": {\"velocity\": 1}}},"
                 "\"forces\": {\"e\": {\"type\": \"torsion\", \"joint\": \"j\", \"stiffness\": %g, "
                 "\"damping\": %g}}}",
                 frequency * frequency, damping);
        bg_run_options o = bg_default_run_options();
        o.method.rtol = tolerances[k / 3];
        o.method.atol = tolerances[k / 3] / frequency;
        o.t_end = 300 / frequency;
        trouble_outcome x = run_text(text, forms[k % 2], methods[k % 3], o);
        assert_int_equal(x.status, BG_OK);
        assert_true(x.accepted > 100);
        assert_string_equal(x.remark, "");
    }
}

/* A plane four-bar whose laws are smooth: attempts with tolerances that bound nothing go astray,
 * and no law of the model is blamed for it. */
static void loose_tolerances_are_not_called_jumps(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": 9.81, \"bodies\": {"
        "\"a\": {\"mass\": 2, \"center\": [0, 0, 0.5], \"inertia\": [0.2, 0.2, 0.1]}, "
        "\"b\": {\"mass\": 5, \"center\": [1.25, 0, 1.5], \"inertia\": [3, 3, 3]}, "
        "\"c\": {\"mass\": 4, \"center\": [2.75, 0, 1], \"inertia\": [1, 1.4, 1]}}, \"joints\": {"
        "\"A\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], \"at\": [0, 0, 0], "
        "\"axis\": [0, 1, 0], \"initial\": {\"velocity\": 4}}, "
        "\"B\": {\"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], \"at\": [0, 0, 1], "
        "\"axis\": [0, 1, 0]}, "
        "\"D\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"c\"], \"at\": [3, 0, 0], "
        "\"axis\": [0, 1, 0]}, "
        "\"C\": {\"type\": \"point-on-line\", \"bodies\": [\"c\", \"b\"], \"at\": [2.5, 0, 2], "
        "\"axis\": [0, 1, 0]}}, \"run\": {\"t_end\": 5}}";
    static const char *const methods[] = {"mdop5", "bdf", "hem5", "adams", "hem4"};
    for (int k = 0; k < (SANITIZED ? 12 : 60); k++) {
        bg_run_options o = bg_default_run_options();
        double loose = pow(10, k / 12 * 6);
        o.max_steps = 1000;
        *(k / 3 % 2 ? &o.method.rtol : &o.method.atol) = loose;
        trouble_outcome x = run_text(text, forms[k / 6 % 2], methods[k % 5], o);
        if (strstr(x.message, "jump") || strstr(x.remark, "jump"))
            fail_msg("tolerance %g, %s, %s: %s%s", loose, forms[k / 6 % 2], methods[k % 5],
                     x.message, x.remark);
    }
}

/* What was noticed before a checkpoint is still known behind it, in the same words. */
static void a_resumed_run_says_the_same(void **state)
{
    (void)state;
    unsigned seed = 11;
    char path[] = "/tmp/bogie-trouble-XXXXXX";
    const double damping[4] = {1, 50000, 1, 1};
    char *text = strdup(write_row(&seed, damping, -1, NULL));
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(unlink(path), 0);
    for (int k = 0; k < 2; k++) {
        bg_run_options o = bg_default_run_options();
        o.t_end = 0.02;
        trouble_outcome whole = run_text(text, forms[k], "mdop5", o);
        o.t_end = 0.012;
        o.checkpoint = path;
        run_text(text, forms[k], "mdop5", o);
        o.t_end = 0.02;
        o.resume = path;
        o.checkpoint = NULL;
        trouble_outcome rest = run_text(text, forms[k], "mdop5", o);
        assert_int_equal(rest.status, BG_OK);
        check_names(rest.remark, "stability", "'e1'", "resume");
        assert_string_equal(rest.remark, whole.remark);
        unlink(path);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stiff_element_is_named),
        cmocka_unit_test(the_law_that_jumps_is_named),
        cmocka_unit_test(jumps_that_pass_are_noticed),
        cmocka_unit_test(accuracy_is_not_called_stiffness),
        cmocka_unit_test(loose_tolerances_are_not_called_jumps),
        cmocka_unit_test(a_resumed_run_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
