/* The matrix of a step of euler and linear-euler, seen from outside: the regularisation enters with
 * its sign, and partition=auto leaves out exactly what it says. */
#include "integrators/integrator.h"
#include "run_support.h"

/* Largest deviation from M du + G^T lambda = f and G du - epsilon D (lambda - lambda0) = -gamma
 * - 2 alpha w - beta g over one step of explicit Euler, D_k = sum_i G_ki^2 / M_ii. */
static double calc_misfit(bg_integrator *ig, double epsilon, double alpha, double beta)
{
    bg_error err = {BG_OK, ""};
    bg_dynamics *d = ig->dyn;
    double v0[8], lambda0[8], du[8], w[8], largest = 0;
    const bg_state *x = bg_integrator_get_state(ig);
    assert_true(d->nv <= 8 && d->ng <= 8);
    memcpy(v0, x->v, (size_t)d->nv * sizeof(double));
    memcpy(lambda0, x->lambda, (size_t)d->ng * sizeof(double));
    assert_ok(bg_integrator_step(ig, &err));
    const bg_state *begin = ig->x0, *end = ig->x1;
    assert_ok(bg_dynamics_evaluate(
        d, begin->t, begin->q, v0, begin->z, begin->mode,
        BG_TERM_M | BG_TERM_f | BG_TERM_G | BG_TERM_g | BG_TERM_gt | BG_TERM_gamma, &err));
    bg_dynamics_calc_w(d, v0, w);
    for (int i = 0; i < d->nv; i++)
        du[i] = (end->v[i] - v0[i]) / ig->h;
    for (int i = 0; i < d->nv; i++) {
        double sum = -d->terms.f[i];
        for (int j = 0; j < d->nv; j++)
            sum += d->terms.M[i * d->nv + j] * du[j];
        for (int k = 0; k < d->ng; k++)
            sum += d->terms.G[k * d->nv + i] * end->lambda[k];
        largest = fmax(largest, fabs(sum));
    }
    for (int k = 0; k < d->ng; k++) {
        double sum = d->terms.gamma[k] + 2 * alpha * w[k] + beta * d->terms.g[k], size = 0;
        for (int i = 0; i < d->nv; i++) {
            double G = d->terms.G[k * d->nv + i];
            sum += G * du[i];
            size += G * G / d->terms.M[i * d->nv + i];
        }
        sum -= epsilon * size * (end->lambda[k] - lambda0[k]);
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

static void test_regularisation(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:pendulum", "equations:slider-crank"};
    for (int i = 0; i < 2; i++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_system(systems[i], NULL, NULL);
        bg_assembly_report report = {0};
        bg_integrator_options o = bg_default_integrator_options();
        const bg_setting settings[] = {
            {"stabilisation", "regularise"}, {"epsilon", "0.5"}, {"alpha", "20"}, {"beta", "300"}};
        bg_integrator *ig;
        bg_state *x;
        o.step = 0.01;
        o.settings = settings;
        o.nsettings = 4;
        assert_ok(bg_state_create(sys, &x, &err));
        assert_ok(bg_state_assemble(sys, x, &report, &err));
        assert_ok(bg_integrator_create("euler", sys, &o, &ig, &err));
        assert_ok(bg_integrator_start(ig, x, &report.redundancy, 1, &err));
        for (int k = 0; k < 10; k++)
            assert_true(calc_misfit(ig, 0.5, 20, 300) < 1e-10);
        bg_integrator_destroy(ig);
        bg_state_destroy(x);
        bg_assembly_report_clear(&report);
        bg_system_destroy(sys);
    }
}

/* Two masses of 1 kg with dampers: v' = -D v, D = [strong weak; weak strong]. */
typedef struct damped {
    double strong, weak;
} damped;

static int calc_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const damped *s = self;
    if (want & BG_TERM_M) {
        out->M[0] = out->M[3] = 1;
        out->M[1] = out->M[2] = 0;
    }
    if (want & BG_TERM_f) {
        out->f[0] = -s->strong * p->v[0] - s->weak * p->v[1];
        out->f[1] = -s->weak * p->v[0] - s->strong * p->v[1];
    }
    return 0;
}

/* How many entries of the Jacobian are kept when h weak / m is `part`. */
static int count_kept(double part)
{
    bg_error err = {BG_OK, ""};
    const double h = 1e-3, v0[] = {1, -0.5};
    damped self = {10 / h, part / h};
    bg_system_def def = bg_default_system_def();
    bg_integrator_options o = bg_default_integrator_options();
    const bg_setting automatic = {"partition", "auto"};
    bg_system *sys;
    bg_integrator *ig;
    bg_state *x;
    char text[256];
    int kept = 0, entries = 0;
    def.name = "damped";
    def.nq = def.nv = 2;
    def.self = &self;
    def.v0 = v0;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = calc_terms;
    o.step = h;
    o.settings = &automatic;
    o.nsettings = 1;
    assert_ok(bg_system_create(&def, &sys, &err));
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_integrator_create("linear-euler", sys, &o, &ig, &err));
    assert_ok(bg_integrator_start(ig, x, NULL, 1, &err));
    assert_ok(bg_integrator_step(ig, &err));
    bg_integrator_describe(ig, text, sizeof text);
    if (sscanf(text, "the partition keeps %d of %d", &kept, &entries) != 2 || entries != 4)
        fail_msg("the partition is described as '%s'", text);
    bg_integrator_destroy(ig);
    bg_state_destroy(x);
    bg_system_destroy(sys);
    return kept;
}

/* A twentieth of the mass may be left out of a row, and no more. */
static void test_partition_limit(void **state)
{
    (void)state;
    assert_int_equal(count_kept(0.0499), 2);
    assert_int_equal(count_kept(0.0501), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regularisation),
        cmocka_unit_test(test_partition_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
