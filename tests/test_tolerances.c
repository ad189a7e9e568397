/* A tighter tolerance gives no larger error, or the run says that rounding is reached: random
 * cart-poles with light parts and toggle mechanisms, in both forms, by all methods with error
 * control. The error is that of the positions on the way against a run at a thousandth of the
 * tolerance by another step sequence; what rounding sums up to over the steps is allowed for. */
#include "integrators/integrator.h"
#include "model_support.h"

#include <float.h>
#include <stdbool.h>

enum { SAMPLES = 20, OUTPUTS = 2 };

static double draw(unsigned *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * (double)(*seed >> 8) / 16777216.0;
}

static void write_cart_pole(unsigned *seed, char *text, size_t size)
{
    double cart = pow(10, draw(seed, -4, 0)), pole = pow(10, draw(seed, -2, 0));
    double l = draw(seed, 0.3, 2), J = pole * l * l * pow(10, draw(seed, -4, -1));
    snprintf(text, size,
             "{\"gravity\": 9.81, \"bodies\": {\"cart\": {\"mass\": %g, \"center\": [0, 0, 0], "
             "\"inertia\": [0.1, 0.1, 0.1]}, \"pole\": {\"mass\": %g, \"center\": [0, 0, %g], "
             "\"inertia\": [%g, %g, %g]}}, \"joints\": {\"rail\": {\"type\": \"prismatic\", "
             "\"bodies\": [\"ground\", \"cart\"], \"at\": [0, 0, 0], \"axis\": [1, 0, 0]}, "
             "\"pin\": {\"type\": \"revolute\", \"bodies\": [\"cart\", \"pole\"], \"at\": [0, 0, "
             "0], \"axis\": [0, 1, 0], \"initial\": {\"position\": %g, \"velocity\": %g}}}, "
             "\"outputs\": {\"x\": {\"joint\": \"rail\"}, \"angle\": {\"joint\": "
             "\"pin\"}}, \"run\": {\"t_end\": 2}}",
             cart, pole, l, J, J, J, draw(seed, 0.1, 3), draw(seed, -2, 2));
}

/* Crank and rod of one length, or nearly: the mechanism passes positions in which it is singular.
 */
static void write_toggle(unsigned *seed, char *text, size_t size)
{
    double rod = 1 + (draw(seed, 0, 1) < 0.5 ? 0 : pow(10, draw(seed, -6, -1)));
    double m[3];
    for (int k = 0; k < 3; k++)
        m[k] = pow(10, draw(seed, -2, 0));
    snprintf(text, size,
             "{\"gravity\": 9.81, \"bodies\": {\"crank\": {\"mass\": %g, \"center\": [0.5, 0, 0], "
             "\"inertia\": [%g, %g, %g]}, \"rod\": {\"mass\": %g, \"center\": [%.17g, 0, 0], "
             "\"inertia\": [%g, %g, %g]}, \"block\": {\"mass\": %g, \"center\": [%.17g, 0, 0], "
             "\"inertia\": [0.1, 0.1, 0.1]}}, \"joints\": {\"A\": {\"type\": \"revolute\", "
             "\"bodies\": [\"ground\", \"crank\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0], "
             "\"initial\": {\"position\": %g, \"velocity\": %g}}, \"B\": {\"type\": \"revolute\", "
             "\"bodies\": [\"crank\", \"rod\"], \"at\": [1, 0, 0], \"axis\": [0, 1, 0]}, \"S\": "
             "{\"type\": \"prismatic\", \"bodies\": [\"ground\", \"block\"], \"at\": [%.17g, 0, "
             "0], \"axis\": [1, 0, 0]}, \"C\": {\"type\": \"point-on-line\", \"bodies\": "
             "[\"block\", \"rod\"], \"at\": [%.17g, 0, 0], \"axis\": [0, 1, 0]}}, \"outputs\": "
             "{\"x\": {\"joint\": \"S\"}, \"angle\": {\"joint\": \"A\"}}, \"run\": "
             "{\"t_end\": 1}}",
             m[0], m[0] / 50, m[0] / 12, m[0] / 12, m[1], 1 + rod / 2, m[1] / 50, m[1] / 12,
             m[1] / 12, m[2], 1 + rod, draw(seed, 0.5, 1.2), draw(seed, 1, 4), 1 + rod, 1 + rod);
}

typedef struct course {
    double y[SAMPLES + 2][OUTPUTS];
    int rows;
    long steps;
    bool said;
} course;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    (void)err;
    course *c = self;
    if (c->rows < SAMPLES + 2)
        memcpy(c->y[c->rows++], row->y, sizeof c->y[0]);
    return BG_OK;
}

static course follow(const char *text, const char *form, const char *method, double tolerance)
{
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    course c = {0};
    bg_run_options o = bg_default_run_options();
    assert_ok(bg_model_parse(text, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.output_interval = bg_system_get_def(sys)->t_end / SAMPLES;
    o.sink = (bg_sink){.self = &c, .row = take_row};
    assert_ok(bg_run(sys, &o, &r, &err));
    for (int i = 0; i < r.warnings.count; i++)
        c.said = c.said || strcmp(r.warnings.items[i].topic, "rounding") == 0;
    c.steps = r.counters.accepted;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return c;
}

static double calc_error(const course *a, const course *b)
{
    double error = 0;
    for (int k = 0; k < a->rows; k++)
        for (int i = 0; i < OUTPUTS; i++) /* angles are told up to full turns */
            error = fmax(error, fabs(remainder(a->y[k][i] - b->y[k][i], 2 * acos(-1.0))));
    return error;
}

static void check_model(const char *text, const char *form, const char *method, int number)
{
    static const double factor = 8, rounding = 20 * DBL_EPSILON;
    course best = follow(text, form, "mdop5", 1e-13);
    double least = HUGE_VAL;
    bool said = best.said;
    for (double tolerance = 1e-6; tolerance > 0.5e-12; tolerance /= 10) {
        course c = follow(text, form, method, tolerance);
        double error = calc_error(&c, &best);
        said = said || c.said;
        if (error > factor * least + rounding * (double)c.steps && !said)
            fail_msg("model %d, %s, %s at %g: error %g after %g", number, form, method, tolerance,
                     error, least);
        least = fmin(least, error);
    }
}

static void errors_fall_with_the_tolerance(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem5", "hem4", "mdop8"};
    unsigned seed = 5;
    for (int k = 0; k < 12; k++) {
        char text[2048];
        (k % 2 ? write_toggle : write_cart_pole)(&seed, text, sizeof text);
        for (int form = 0; form < 2; form++)
            check_model(text, forms[form], methods[(k + 2 * form) % 4], k);
    }
}

/* Rejections at different places of a motion that varies are no rounding, and no run says so far
 * above it. */
static void nothing_is_said_without_rounding(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem4", "hem5"};
    for (int k = 0; k < 6; k++)
        for (double tolerance = 1e-6; tolerance > (SANITIZED ? 0.5e-6 : 0.5e-8); tolerance *= 0.3) {
            bg_error err = {0};
            bg_model *model;
            bg_system *sys;
            bg_run_report r;
            bg_run_options o = bg_default_run_options();
            assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a03-andrews.json", NULL, 0,
                                    &model, &err));
            assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
            o.integrator = methods[k / 2];
            o.method.rtol = o.method.atol = tolerance;
            assert_ok(bg_run(sys, &o, &r, &err));
            for (int i = 0; i < r.warnings.count; i++)
                fail_msg("%s, %s at %g: %s", forms[k % 2], methods[k / 2], tolerance,
                         r.warnings.items[i].text);
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
}

static int leaps;

static bg_status count_leap(bg_integrator *ig, double *error, bg_error *err)
{
    (void)ig;
    (void)error;
    leaps++;
    return bg_error_set(err, BG_RETRY, "a leap");
}

/* A disc on a hinge that is driven by a short pulse. */
static void write_pulse(unsigned *seed, char *text, size_t size)
{
    snprintf(text, size,
             "{\"gravity\": 0, \"bodies\": {\"disc\": {\"mass\": 1, \"center\": [0.5, 0, 0], "
             "\"inertia\": [0.1, 0.1, 0.1]}}, \"joints\": {\"j\": {\"type\": \"revolute\", "
             "\"bodies\": [\"ground\", \"disc\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0], "
             "\"initial\": {\"velocity\": %g}}}, \"forces\": {\"pulse\": {\"type\": \"torsion\", "
             "\"joint\": \"j\", \"torque\": \"100*exp(-((t-%g)/%g)^2)\"}}}",
             draw(seed, 0.1, 1), draw(seed, 0.3, 0.7), pow(10, draw(seed, -4, -2)));
}

/* The constraints of a tree in Cartesian coordinates never become dependent: where a pulse makes
 * steps short, they are not leapt over; those of toggles are. */
static void trees_are_not_leapt_over(void **state)
{
    (void)state;
    unsigned seed = 5;
    int most[2] = {0, 0};
    for (int k = 0; k < 12; k++) {
        char text[2048];
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        trajectory x;
        (k % 2 ? write_toggle : write_pulse)(&seed, text, sizeof text);
        assert_ok(bg_model_parse(text, "test", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, "cartesian", &sys, &err));
        trajectory_begin(&x, sys, "mdop5", NULL, 1e-6, 0, 1);
        bg_integrator_class counting = *x.ig->class_;
        counting.leap = count_leap;
        x.ig->class_ = &counting;
        leaps = 0;
        while (bg_integrator_get_state(x.ig)->t < 1 && bg_integrator_step(x.ig, &err) == BG_OK)
            continue; /* without leaps there may be no way on */
        most[k % 2] = leaps > most[k % 2] ? leaps : most[k % 2];
        trajectory_end(&x);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    print_message("leaps tried: %d, %d\n", most[0], most[1]);
    assert_int_equal(most[0], 0);
    assert_true(most[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_fall_with_the_tolerance),
                                       cmocka_unit_test(nothing_is_said_without_rounding),
                                       cmocka_unit_test(trees_are_not_leapt_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
