/* Where the projection of positions stops: where the next increment would be below 1e-13 of a
 * coordinate's size; increments that no longer shrink are rounding below 1e-11 of it, and a failure
 * above. How often projection control asks for it. */
#include "consistent/projection.h"
#include "evaluator_support.h"
#include "integrators/projection_control.h"
#include "run_support.h"

/* x = 1 with a constraint that is known to +- noise, alternately, and whose slope is not G's 1. */
typedef struct noisy {
    double noise, slope;
    int sign;
} noisy;

static int calc_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    noisy *s = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_G)
        out->G[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = 0;
    if (want & BG_TERM_gamma)
        out->gamma[0] = 0;
    if (want & BG_TERM_g) {
        s->sign = -s->sign;
        out->g[0] = s->slope * (p->q[0] - 1) + s->sign * s->noise;
    }
    return 0;
}

/* Projects x with increments that end at +-2 noise, and fall by 1 - slope. */
static bg_status project_with(double noise, double slope, double *x)
{
    bg_error err = {BG_OK, ""};
    noisy self = {noise, slope, 1};
    const double q0[] = {1.0}, zero = 0;
    bg_system_def def = bg_default_system_def();
    bg_system *sys;
    bg_dynamics *d;
    def.name = "noisy";
    def.nq = def.nv = def.ng = 1;
    def.self = &self;
    def.q0 = q0;
    def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def.terms = calc_terms;
    assert_ok(bg_system_create(&def, &sys, &err));
    bg_evaluator *ev = new_evaluator(sys);
    assert_ok(bg_dynamics_create(ev, &d, &err));
    assert_ok(bg_dynamics_evaluate(d, 0, x, &zero, NULL, NULL, BG_TERM_M | BG_TERM_G, &err));
    assert_ok(bg_dynamics_factor(d, NULL, &err));
    bg_status st = bg_project_position(d, 0, x, &zero, NULL, NULL, NULL, &err);
    bg_dynamics_destroy(d);
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
    return st;
}

static bg_status project(double noise, double *x)
{
    *x = 1 + 3e-11;
    return project_with(noise, 1, x);
}

/* What is left is what the next increments would have been, however fast they fall. */
static void test_convergence(void **state)
{
    (void)state;
    double worst = 0;
    for (double slope = 0.91; slope < 0.99; slope += 0.01)
        for (double start = 1e-4; start > 1e-6; start *= 0.7) {
            double x = 1 + start;
            assert_int_equal(project_with(0, slope, &x), BG_OK);
            worst = fmax(worst, fabs(x - 1));
        }
    assert_true(worst < 1.1e-13 && worst > 1e-14); /* neither more nor much less work */
}

static void test_rounding(void **state)
{
    (void)state;
    double x;
    assert_int_equal(project(0, &x), BG_OK);
    assert_true(fabs(x - 1) < 1e-15);
    assert_int_equal(project(4e-12, &x), BG_OK); /* increments of 8e-12 */
    assert_true(fabs(x - 1) < 1e-11);
    assert_int_equal(project(6e-12, &x), BG_RETRY); /* of 1.2e-11 */
}

/* 003 (16): from four steps on, small drift doubles the number of steps between projections, up to
 * eight; large drift halves it, down to one; what lies between leaves it. */
static void test_control(void **state)
{
    (void)state;
    static const struct {
        double drift;
        int k;
    } expected[] = {{0.0089, 8}, {0.001, 8}, {0.0091, 8}, {0.0199, 8}, {0.0201, 4},
                    {0.015, 4},  {1, 2},     {1, 1},      {1, 1},      {0.005, 2}};
    bg_projection_control c = {.k = 1, .since = 3};
    bg_projection_control_reset(&c);
    assert_int_equal(c.k, 4);
    assert_int_equal(c.since, 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        c.projected = false;
        for (int k = 0; k < 3; k++)
            bg_projection_control_commit(&c);
        assert_int_equal(c.since, 3);
        c.projected = true;
        c.drift = expected[i].drift;
        bg_projection_control_commit(&c);
        assert_int_equal(c.since, 0);
        assert_int_equal(c.k, expected[i].k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
