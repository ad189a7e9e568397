/* A tighter tolerance gives no larger error, or the run says that rounding is reached: random
 * cart-poles with light parts, toggle mechanisms and overconstrained ones, turned in space, in both
 * forms, by all methods with error control. The error is that of the state on the way against a run
 * at 3e-14; what rounding sums up to over the steps is allowed for. */
#include "integrators/integrator.h"
#include "model_support.h"
#include "overconstrained.h"

#include <float.h>
#include <glob.h>
#include <stdbool.h>

enum { SAMPLES = 20, STATES = 64 };

static double draw(unsigned *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * (double)(*seed >> 8) / 16777216.0;
}

static const char begins[] = ", \"initial\": {\"position\": %.17g, \"velocity\": %.17g}";

static void write_cart_pole(unsigned *seed, text *t, placement at)
{
    double cart = pow(10, draw(seed, -4, 0)), pole = pow(10, draw(seed, -2, 0));
    double l = draw(seed, 0.3, 2), J = pole * l * l * pow(10, draw(seed, -4, -1));
    double angle = draw(seed, 0.1, 3), speed = draw(seed, -2, 2);
    char start[128];
    snprintf(start, sizeof start, begins, angle, speed);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "cart", cart, AT(0, 0, 0), AT(0.1, 0.1, 0.1));
    put_body(t, "pole", pole, AT(0, 0, l), AT(J, J, J));
    put(t, "}, \"joints\": {");
    put_joint(t, "rail", "prismatic", "ground", "cart", AT(0, 0, 0), AT(1, 0, 0), "");
    put_joint(t, "pin", "revolute", "cart", "pole", AT(0, 0, 0), AT(0, 1, 0), start);
    end_model(t, "pin", 2);
}

/* Crank and rod of one length, or nearly: the mechanism passes positions in which it is singular.
 */
static void write_toggle(unsigned *seed, text *t, placement at)
{
    double rod = 1 + (draw(seed, 0, 1) < 0.5 ? 0 : pow(10, draw(seed, -6, -1)));
    double m[3], angle, speed;
    char start[128];
    for (int k = 0; k < 3; k++)
        m[k] = pow(10, draw(seed, -2, 0));
    angle = draw(seed, 0.5, 1.2);
    speed = draw(seed, 1, 4);
    snprintf(start, sizeof start, begins, angle, speed);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "crank", m[0], AT(0.5, 0, 0), AT(m[0] / 50, m[0] / 12, m[0] / 12));
    put_body(t, "rod", m[1], AT(1 + rod / 2, 0, 0), AT(m[1] / 50, m[1] / 12, m[1] / 12));
    put_body(t, "block", m[2], AT(1 + rod, 0, 0), AT(0.1, 0.1, 0.1));
    put(t, "}, \"joints\": {");
    put_joint(t, "A", "revolute", "ground", "crank", AT(0, 0, 0), AT(0, 1, 0), start);
    put_joint(t, "B", "revolute", "crank", "rod", AT(1, 0, 0), AT(0, 1, 0), "");
    put_joint(t, "S", "prismatic", "ground", "block", AT(1 + rod, 0, 0), AT(1, 0, 0), "");
    put_joint(t, "C", "point-on-line", "block", "rod", AT(1 + rod, 0, 0), AT(0, 1, 0), "");
    end_model(t, "A", 1);
}

typedef struct state_course {
    double y[SAMPLES + 2][STATES];
    int rows, n; /* n: q, v and z */
    long steps;
    bool said;
} state_course;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    (void)err;
    state_course *c = self;
    if (c->rows < SAMPLES + 2)
        memcpy(c->y[c->rows++], row->state->q, (size_t)c->n * sizeof(double));
    return BG_OK;
}

static state_course follow(const char *json, const char *form, const char *method, double tolerance)
{
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    state_course c = {0};
    bg_run_options o = bg_default_run_options();
    assert_ok(bg_model_parse(json, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    const bg_system_def *def = bg_system_get_def(sys);
    c.n = def->nq + def->nv + def->nz;
    assert_true(c.n <= STATES);
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.output_interval = def->t_end / SAMPLES;
    o.sink = (bg_sink){.self = &c, .row = take_row};
    if (bg_run(sys, &o, &r, &err) != BG_OK)
        fail_msg("%s, %s at %g: %s", form, method, tolerance, err.text);
    for (int i = 0; i < r.warnings.count; i++)
        c.said = c.said || strcmp(r.warnings.items[i].topic, "rounding") == 0;
    c.steps = r.counters.accepted;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return c;
}

static double calc_error(const state_course *a, const state_course *b)
{
    double error = 0;
    assert_int_equal(a->rows, b->rows);
    for (int k = 0; k < a->rows; k++)
        for (int i = 0; i < a->n; i++)
            error = fmax(error, fabs(a->y[k][i] - b->y[k][i]) / (1 + fabs(b->y[k][i])));
    return error;
}

static void check_model(const text *t, const char *form, const char *method, const char *name,
                        double tightest)
{
    static const double factor = 8, rounding = 20 * DBL_EPSILON;
    state_course best = follow(t->buffer, form, "mdop8", 3e-14);
    double least = HUGE_VAL;
    bool said = false;
    for (double tolerance = 1e-6; tolerance > 0.5 * tightest; tolerance /= 10) {
        state_course c = follow(t->buffer, form, method, tolerance);
        double error = calc_error(&c, &best);
        said = said || c.said;
        if (error > factor * least + rounding * (double)c.steps && !said)
            fail_msg("%s, %s, %s at %g: error %g after %g", name, form, method, tolerance, error,
                     least);
        least = fmin(least, error);
    }
}

/* All methods and forms on every kind of mechanism. */
static void errors_fall_with_the_tolerance(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem5", "hem4", "mdop8"};
    enum { FAMILIES = 5, CASES = SANITIZED ? FAMILIES : 8 * FAMILIES };
    static const char *const names[FAMILIES] = {"cart-pole", "toggle", "cranks", "Bennett",
                                                "four-bar"};
    unsigned seed = 5;
    for (int k = 0; k < CASES; k++) {
        int family = k % FAMILIES, combination = (k / FAMILIES + family) % 8;
        const char *method = methods[combination % 4];
        text t;
        placement at = as_drawn;
        if (k % 2)
            at.turn = draw_turn(&seed);
        if (family == 0)
            write_cart_pole(&seed, &t, at);
        else if (family == 1)
            write_toggle(&seed, &t, at);
        else
            (family == 2 ? write_cranks : family == 3 ? write_bennett : write_four_bar)(&t, at);
        check_model(&t, forms[combination / 4], method, names[family], 1e-12);
    }
}

/* adams, whose partition is no good one near singular positions, over those of toggles and cranks.
 */
static void adams_tells_of_singular_positions(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int k = 0; k < (SANITIZED ? 3 : 12); k++) {
        text t;
        placement at = as_drawn;
        if (k % 2)
            at.turn = draw_turn(&seed);
        if (k % 3 < 2)
            write_toggle(&seed, &t, at);
        else
            write_cranks(&t, at);
        check_model(&t, forms[(k / 3) % 2], "adams", k % 3 < 2 ? "toggle" : "cranks", 1e-12);
    }
}

/* 10 km away rounding is 1e-12 m, and all methods reach the end, and say so or are right. */
static void tolerances_below_rounding_are_survived(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem5", "hem4", "mdop8"};
    unsigned seed = 3;
    for (int k = 0; k < (SANITIZED ? 2 : 8); k++) {
        text t;
        placement at = {draw_turn(&seed), bg_vec3_make(6000, -8000, 100), 1, 17};
        write_cranks(&t, at);
        state_course c = follow(t.buffer, forms[k / 4], methods[k % 4], 1e-11);
        if (c.said)
            continue;
        state_course loose = follow(t.buffer, forms[k / 4], methods[k % 4], 1e-9);
        if (calc_error(&c, &loose) > 1e-8)
            fail_msg("%s, %s does not say that rounding is reached", forms[k / 4], methods[k % 4]);
    }
}

/* Largest error of `x` after the motion from `start`, by fine steps; in units of the tolerance. */
static double calc_step_error(trajectory *fine, const bg_state *start,
                              const bg_redundancy *redundancy, const bg_state *x, double tolerance)
{
    bg_error err = {0};
    const bg_system_def *def = bg_system_get_def(fine->sys);
    double worst = 0;
    assert_ok(bg_integrator_start(fine->ig, start, redundancy, x->t, &err));
    const double *y = trajectory_run(fine, x->t)->q;
    for (int i = 0; i < def->nq + def->nv + def->nz; i++)
        worst = fmax(worst, fabs(x->q[i] - y[i]) / (tolerance * (1 + fabs(y[i]))));
    return worst;
}

/* The same for all steps of mdop8: worst[0] of their ends, worst[1] of their dense output. */
static void check_steps(const text *t, const char *form, double tolerance, double *worst)
{
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    bg_state *start, *between;
    trajectory x, fine;
    assert_ok(bg_model_parse(t->buffer, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    assert_ok(bg_state_create(sys, &start, &err));
    assert_ok(bg_state_create(sys, &between, &err));
    double t_end = bg_system_get_def(sys)->t_end;
    trajectory_begin(&x, sys, "mdop8", NULL, tolerance, 0, t_end);
    trajectory_begin(&fine, sys, "mdop5", NULL, fmax(1e-4 * tolerance, 1e-13), 0, t_end);
    const bg_redundancy *rows = &x.assembly.redundancy;
    while (bg_integrator_get_state(x.ig)->t < t_end) {
        bg_state_copy(sys, bg_integrator_get_state(x.ig), start);
        assert_ok(bg_integrator_step(x.ig, &err));
        const bg_state *end = bg_integrator_get_state(x.ig);
        worst[0] = fmax(worst[0], calc_step_error(&fine, start, rows, end, tolerance));
        for (int k = 1; k < 4; k++) {
            double at = start->t + 0.25 * k * (end->t - start->t);
            assert_ok(bg_integrator_interpolate_state(x.ig, at, between, &err));
            worst[1] = fmax(worst[1], calc_step_error(&fine, start, rows, between, tolerance));
        }
    }
    trajectory_end(&x);
    trajectory_end(&fine);
    bg_state_destroy(start);
    bg_state_destroy(between);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* Light carts turn the motion round within hundredths of a second: no step of mdop8 overlooks it.
 * Toggles pass singular positions within a step: its dense output does not suffer. */
static void no_error_estimate_misses(void **state)
{
    (void)state;
    unsigned seed = 5;
    double poles[2] = {0, 0}, toggles[2] = {0, 0};
    for (int k = 0; k < (SANITIZED ? 1 : 8); k++) {
        text t;
        write_cart_pole(&seed, &t, as_drawn);
        for (double tolerance = 3e-6; tolerance > 0.5e-7; tolerance *= 0.316)
            check_steps(&t, forms[0], tolerance, poles);
        write_toggle(&seed, &t, as_drawn);
        check_steps(&t, forms[1], 1e-9, toggles);
    }
    print_message("worst step of cart-poles: %.3g tolerances, of toggles %.3g, dense output %.3g\n",
                  poles[0], toggles[0], toggles[1]);
    assert_true(poles[0] < 10 && toggles[0] < 10 && toggles[1] < 10);
}

static const char *const controlled[] = {"mdop5", "hem4",  "hem5",  "mdop8",
                                         "bdf",   "adams", "sdirk4"}; /* the slowest one last */
enum { CONTROLLED = sizeof controlled / sizeof *controlled };

/* A run over a part of a system's time says nothing of rounding. */
static void expect_silence(const bg_system *sys, const char *name, const char *method,
                           double tolerance, double part)
{
    bg_error err = {0};
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    const bg_system_def *def = bg_system_get_def(sys);
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    o.t_end = def->t_start + part * (def->t_end - def->t_start);
    if (bg_run(sys, &o, &r, &err) != BG_OK)
        fail_msg("%s, %s at %g: %s", name, method, tolerance, err.text);
    for (int i = 0; i < r.warnings.count; i++)
        if (strcmp(r.warnings.items[i].topic, "rounding") == 0)
            fail_msg("%s, %s at %g: %s", name, method, tolerance, r.warnings.items[i].text);
    bg_run_report_clear(&r);
}

/* Rejections at different places of a motion that varies are no rounding, and no run says so far
 * above it. */
static void nothing_is_said_without_rounding(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a03-andrews.json", NULL, 0, &model,
                                &err));
        assert_ok(bg_model_create_system(model, forms[k], &sys, &err));
        for (double tolerance = 1e-6; tolerance > (SANITIZED ? 0.5e-6 : 0.5e-8); tolerance *= 0.3)
            for (int i = 0; i < (tolerance > 1e-7 ? CONTROLLED : CONTROLLED - 1); i++)
                expect_silence(sys, forms[k], controlled[i], tolerance, 1);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* Nor does it of any other system that ships. */
static void shipped_systems_are_far_from_rounding(void **state)
{
    (void)state;
    const bg_equations *const *all = bg_equations_get_all();
    glob_t files;
    int count = 0, runs = 0;
    while (all[count])
        count++;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (int i = 0; i < count + 2 * (int)files.gl_pathc; i++) {
        bg_error err = {0};
        bg_model *model = NULL;
        bg_system *sys;
        const char *path = i < count ? all[i]->name : files.gl_pathv[(i - count) / 2];
        if (i < count) {
            assert_ok(bg_equations_create(all[i], NULL, 0, &sys, &err));
        } else {
            assert_ok(bg_model_read(path, NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, forms[(i - count) % 2], &sys, &err));
        }
        const bool large = bg_system_get_def(sys)->nv > 24;
        for (int k = 0; k < (large || SANITIZED ? 1 : CONTROLLED); k++, runs++) {
            int method = (i + k) % CONTROLLED; /* bdf where there is time for one alone */
            expect_silence(sys, path, large ? "bdf" : controlled[method], pow(10, -4 - (i + k) % 4),
                           large ? 0.01 : 0.05);
        }
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    globfree(&files);
    print_message("%d runs\n", runs);
}

/* But it is said where it is so, by methods that look back, too. */
static void rounding_is_said_where_it_is_reached(void **state)
{
    (void)state;
    bg_error err = {0};
    bg_model *model;
    bg_system *sys;
    assert_ok(
        bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a03-andrews.json", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, forms[0], &sys, &err));
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    bool said = false;
    o.integrator = "bdf";
    o.method.rtol = o.method.atol = 1e-13;
    assert_ok(bg_run(sys, &o, &r, &err));
    for (int i = 0; i < r.warnings.count; i++)
        said = said || strcmp(r.warnings.items[i].topic, "rounding") == 0;
    assert_true(said);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
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
static void write_pulse(unsigned *seed, text *t, placement at)
{
    double speed = draw(seed, 0.1, 1), when = draw(seed, 0.3, 0.7), width = draw(seed, -4, -2);
    char start[128];
    snprintf(start, sizeof start, begins, 0.0, speed);
    begin_model(t, at, 0, 0, 0);
    put_body(t, "disc", 1, AT(0.5, 0, 0), AT(0.1, 0.1, 0.1));
    put(t, "}, \"joints\": {");
    put_joint(t, "j", "revolute", "ground", "disc", AT(0, 0, 0), AT(0, 1, 0), start);
    put(t,
        "}, \"forces\": {\"pulse\": {\"type\": \"torsion\", \"joint\": \"j\", \"torque\": "
        "\"100*exp(-((t-%g)/%g)^2)\"}",
        when, pow(10, width));
    end_model(t, "j", 1);
}

/* The constraints of a tree in Cartesian coordinates never become dependent: where a pulse makes
 * steps short, they are not leapt over; those of toggles are. */
static void trees_are_not_leapt_over(void **state)
{
    (void)state;
    unsigned seed = 5;
    int most[2] = {0, 0};
    for (int k = 0; k < 12; k++) {
        text t;
        bg_error err = {0};
        bg_model *model;
        bg_system *sys;
        trajectory x;
        (k % 2 ? write_toggle : write_pulse)(&seed, &t, as_drawn);
        assert_ok(bg_model_parse(t.buffer, "test", NULL, 0, &model, &err));
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

/* Tens of kilometres away the tolerance is that of the mechanism, not of its distance: a carriage
 * on guides, whose velocities have next to no error, so that all depends on its places. */
static void distance_loosens_no_tolerance(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "mdop8", "hem4", "hem5", "bdf", "adams"};
    unsigned seed = 9;
    for (int k = 0; k < 12; k++) {
        text t;
        double error = 0;
        placement at = as_drawn;
        at.turn = draw_turn(&seed);
        at.shift = bg_vec3_make(draw(&seed, -5e4, 5e4), draw(&seed, 1e4, 5e4), draw(&seed, 0, 1e4));
        write_guides(&t, at);
        state_course best = follow(t.buffer, "cartesian", "mdop8", 1e-11);
        state_course c = follow(t.buffer, "cartesian", methods[k % 6], 1e-7);
        for (int row = 0; row < c.rows; row++)
            for (int i = 0; i < c.n; i++)
                error = fmax(error, fabs(c.y[row][i] - best.y[row][i]));
        if (error > 2e-6)
            fail_msg("%s: error %g", methods[k % 6], error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_fall_with_the_tolerance),
                                       cmocka_unit_test(adams_tells_of_singular_positions),
                                       cmocka_unit_test(tolerances_below_rounding_are_survived),
                                       cmocka_unit_test(no_error_estimate_misses),
                                       cmocka_unit_test(nothing_is_said_without_rounding),
                                       cmocka_unit_test(shipped_systems_are_far_from_rounding),
                                       cmocka_unit_test(rounding_is_said_where_it_is_reached),
                                       cmocka_unit_test(trees_are_not_leapt_over),
                                       cmocka_unit_test(distance_loosens_no_tolerance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
