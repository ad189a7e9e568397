/* Steps in which no switching function comes near zero: they cost little, and nothing that shows at
 * the places looked at is passed over. */
#include "run_support.h"

#include "sample_systems.h"

/* A particle that moves evenly, with one switching function of time. */
typedef struct clear_step_probe {
    double (*s)(const struct clear_step_probe *x, double t);
    double at, width, step; /* s, of a pulse; of a fixed step */
    int follows;            /* the motion, and is not faster */
    long looks;             /* evaluations of s alone */
} clear_step_probe;

static int probe_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    clear_step_probe *x = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = 0;
    if (want & BG_TERM_s)
        out->s[0] = x->s(x, p->t);
    x->looks += want == BG_TERM_s;
    return 0;
}

static void run_probe(clear_step_probe *x, const char *method, bg_run_report *report)
{
    static const double speed[] = {1};
    bg_error err = {BG_OK, ""};
    bg_system_def def = bg_default_system_def();
    bg_run_options o = bg_default_run_options();
    bg_system *sys;
    def.name = "probe";
    def.nq = def.nv = def.ns = 1;
    def.self = x;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_s;
    def.terms = probe_terms;
    def.v0 = speed;
    def.s_follows_motion = x->follows;
    assert_ok(bg_system_create(&def, &sys, &err));
    o.integrator = method;
    o.method.step = x->step;
    o.skip_comparison = 1; /* values are counted */
    assert_ok(bg_run(sys, &o, report, &err));
    bg_system_destroy(sys);
}

static double far_away(const clear_step_probe *x, double t)
{
    (void)x;
    return 10 + sin(3 * t);
}

static double coming(const clear_step_probe *x, double t)
{
    (void)x;
    return 0.777 - t;
}

/* A step far from zero takes three values with fixed steps and nine otherwise; of functions that
 * follow the motion one, at its end; one function on its way to zero takes
 * more only in the steps around it. */
static void test_cost(void **state)
{
    (void)state;
    const struct {
        const char *method;
        double step;
        long looks; /* per step */
        int follows;
    } cases[] = {{"euler", 0.001, 3, 0},
                 {"linear-euler", 0.001, 3, 0},
                 {"mdop5", 0.01, 9, 0},
                 {"mdop5", 0.01, 1, 1}};
    for (int k = 0; k < 4; k++) {
        clear_step_probe x = {.s = far_away, .step = cases[k].step},
                         y = {.s = coming, .step = cases[k].step};
        x.follows = y.follows = cases[k].follows;
        bg_run_report r;
        run_probe(&x, cases[k].method, &r);
        print_message("%s: %ld values in %ld steps\n", cases[k].method, x.looks,
                      r.counters.accepted);
        assert_int_equal(r.nevents, 0);
        assert_in_range(x.looks, cases[k].looks * r.counters.accepted,
                        cases[k].looks * r.counters.accepted + 10);
        bg_run_report_clear(&r);
        run_probe(&y, cases[k].method, &r);
        assert_int_equal(r.nevents, 1);
        assert_true(fabs(r.events[0].t - 0.777) <= 1e-12);
        assert_true(y.looks < cases[k].looks * r.counters.accepted + 400);
        bg_run_report_clear(&r);
    }
}

/* 1, but for a pulse down to -1 that is below zero for `width`, around `at`. */
static double pulse(const clear_step_probe *x, double t)
{
    return 1 - 2 * fmax(0, 1 - fabs(t - x->at) / x->width);
}

/* Short pulses are found wherever in a step they are: of 0.4 of a fixed step, and of 0.15 of the
 * single step that mdop5 makes here. */
static void test_pulses(void **state)
{
    (void)state;
    for (int k = 0; k < 100; k++)
        for (int fixed = 0; fixed < 2; fixed++) {
            clear_step_probe x = {.s = pulse,
                                  .step = fixed ? 0.05 : 0,
                                  .width = fixed ? 0.4 * 0.05 : 0.15,
                                  .at = fixed ? 0.5 + 0.0005 * k : 0.2 + 0.006 * k};
            bg_run_report r;
            run_probe(&x, fixed ? "euler" : "mdop5", &r);
            assert_int_equal(r.nevents, 2);
            assert_true(fabs(r.events[0].t - (x.at - 0.5 * x.width)) <= 1e-12);
            assert_true(fabs(r.events[1].t - (x.at + 0.5 * x.width)) <= 1e-12);
            assert_int_equal(r.events[0].direction, -1);
            assert_int_equal(r.events[1].direction, 1);
            bg_run_report_clear(&r);
        }
}

static double dip(const clear_step_probe *x, double t)
{
    return (t - x->at) * (t - x->at) - 0.25 * x->width * x->width;
}

/* A function that follows the motion is not taken for far from zero where it bends towards it: dips
 * of a third of a step and more, anywhere in steps at whose ends it is positive, are found. */
static void test_dips(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 200; k++) {
        const double h = 0.05, left = 0.2 + 0.6 * fabs(sample_draw(&seed));
        clear_step_probe x = {.s = dip, .step = h, .follows = 1, .at = left};
        x.width = h * (0.3 + 0.7 * fabs(sample_draw(&seed)));
        bg_run_report r;
        run_probe(&x, "mdop5", &r);
        if (r.nevents != 2)
            fail_msg("%d events of a dip of %g steps at %g steps", r.nevents, x.width / h,
                     left / h);
        assert_true(fabs(r.events[0].t - (x.at - 0.5 * x.width)) <= 1e-12);
        assert_true(fabs(r.events[1].t - (x.at + 0.5 * x.width)) <= 1e-12);
        bg_run_report_clear(&r);
    }
}

static double periodic(const clear_step_probe *x, double t)
{
    return 0.5 + cos(x->at * 2 * M_PI * t / x->step);
}

/* The same value at the end of every step: `at` periods pass in each. */
static void test_periods_of_the_step(void **state)
{
    (void)state;
    for (int periods = 1; periods <= 12; periods++) {
        clear_step_probe x = {.s = periodic, .step = 1.0 / 64, .at = periods};
        bg_run_report r;
        run_probe(&x, "euler", &r);
        assert_int_equal(r.nevents, 2 * 64 * periods);
        bg_run_report_clear(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_pulses),
        cmocka_unit_test(test_dips),
        cmocka_unit_test(test_periods_of_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
