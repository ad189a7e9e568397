/* prk: orders of slow and fast variables on coupled problems, with constraints in either part;
 * evaluations; what is kept of uniform motion and momentum; parts that cannot be told apart. */
#include "integrators/integrator.h"
#include "integrators/prk_pair.h"
#include "prk_support.h"

/* Errors and orders that an independent computation found (two digits). */
static void test_orders(void **state)
{
    (void)state;
    static const double end[2][2] = {{-0.243690841, -0.3439684393}, {-0.6654114619, -0.6934980272}};
    static const struct {
        const char *name;
        int order, steps;
        double error[2][2]; /* of positions=by-part and =fast, slow and fast; 0: not known */
    } cases[] = {
        {"prk25", 2, 320, {{6.1e-6, 1.6e-5}, {4.1e-6, 1.3e-5}}},
        {"prk25-paper", 2, 320, {{9.5e-6, 1.5e-5}, {2.7e-6, 8.8e-6}}},
        {"prk26", 2, 320, {{0, 0}, {0, 0}}},
        {"prk27", 2, 320, {{0, 0}, {0, 0}}},
        {"prk28", 2, 320, {{6.5e-6, 1.1e-5}, {3.3e-6, 3.5e-6}}},
        {"prk35", 3, 320, {{1.3e-8, 3.0e-8}, {1.2e-8, 5.7e-8}}},
        {"prk36", 3, 320, {{6.3e-9, 5.9e-8}, {5.4e-9, 3.5e-9}}},
        {"prk36b", 3, 320, {{8.8e-9, 2.0e-8}, {3.8e-9, 4.2e-9}}},
        {"prk38", 3, 320, {{9.4e-9, 2.2e-8}, {3.4e-9, 3.8e-9}}},
        {"prk48", 4, 160, {{0, 0}, {0, 0}}},
    };
    const bg_system_def def = define_coupled();
    bg_system *sys = create_def(&def);
    double q[2], v[2], exact[2][2];
    follow(sys, "mdop8", NULL, 2, 2000, exact[0], exact[1]);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            assert_true(fabs(exact[i][k] - end[i][k]) < 1e-9);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int fast = 0; fast < 2; fast++) {
            double error[2][2], order[2];
            for (int half = 0; half < 2; half++) {
                follow(sys, cases[k].name, fast ? "fast" : "by-part", 2, cases[k].steps << half, q,
                       v);
                for (int i = 0; i < 2; i++)
                    error[half][i] = fmax(fabs(q[i] - exact[0][i]), fabs(v[i] - exact[1][i]));
            }
            for (int i = 0; i < 2; i++)
                order[i] = log2(error[0][i] / error[1][i]);
            print_message("%-12s %-8s %.2e %.2e, orders %.3f %.3f\n", cases[k].name,
                          fast ? "fast" : "by-part", error[0][0], error[0][1], order[0], order[1]);
            for (int i = 0; i < 2; i++) {
                double known = cases[k].error[fast][i];
                assert_true(known == 0 || fabs(error[0][i] / known - 1) < 0.04);
                assert_true(fabs(order[i] - cases[k].order) < 0.05 * cases[k].order);
            }
        }
    bg_system_destroy(sys);
}

typedef struct constrained {
    const char *rod;  /* of the fast mass, too */
    double end[2][2]; /* of bob and mass; 0: not known */
} constrained;

/* Constraints in the slow part, and in both. */
static void test_constrained_orders(void **state)
{
    (void)state;
    static const constrained cases[] = {
        {"0", {{0.7943056748, -0.6075183083}, {0.7823001816, -0.6093047932}}}, {"1", {{0}}}};
    static const struct {
        const char *name;
        int order, steps;
    } methods[] = {{"prk25", 2, 1600},
                   {"prk28", 2, 1600},
                   {"prk36", 3, 1600},
                   {"prk38", 3, 1600},
                   {"prk48", 4, 800}};
    for (int c = 0; c < 2; c++) {
        bg_system *sys = create_system("equations:fast-pendulum", "rod", cases[c].rod);
        double exact[4], speed[4], q[4], v[4];
        follow(sys, "mdop8", NULL, 2, 2000, exact, speed);
        for (int i = 0; i < 4; i++)
            assert_true(cases[c].end[i / 2][i % 2] == 0 ||
                        fabs(exact[i] - cases[c].end[i / 2][i % 2]) < 2e-10);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            for (int fast = 0; fast < 2; fast++) {
                double error[2][2] = {{0}};
                for (int half = 0; half < 2; half++) {
                    follow(sys, methods[k].name, fast ? "fast" : "by-part", 2,
                           methods[k].steps << half, q, v);
                    for (int i = 0; i < 4; i++)
                        error[half][i / 2] = fmax(
                            error[half][i / 2], fmax(fabs(q[i] - exact[i]), fabs(v[i] - speed[i])));
                }
                double slow = log2(error[0][0] / error[1][0]),
                       two = log2(error[0][1] / error[1][1]);
                print_message("rod %s %-12s %-8s %.1e %.1e, orders %.3f %.3f\n", cases[c].rod,
                              methods[k].name, fast ? "fast" : "by-part", error[0][0], error[0][1],
                              slow, two);
                double allowed = 0.05 * methods[k].order;
                assert_true(fabs(slow - methods[k].order) < allowed);
                assert_true(fabs(two - methods[k].order) < allowed);
            }
        bg_system_destroy(sys);
    }
}

/* Evaluations are those of the tableau, and as announced. */
static void test_evaluations(void **state)
{
    (void)state;
    static const char *const systems[][2] = {{"equations:two-masses", NULL},
                                             {"equations:fast-pendulum", "0"},
                                             {"equations:fast-pendulum", "1"}};
    enum { STEPS = 50 };
    bg_error err = {BG_OK, ""};
    for (int s = 0; s < 3; s++)
        for (int k = 0; bg_prk_pair_get_name(k); k++) {
            bg_system *sys = create_system(systems[s][0], systems[s][1] ? "rod" : NULL,
                                           systems[s][1]);
            bg_integrator_options o = bg_default_integrator_options();
            bg_setting settings[] = {{"pair", bg_prk_pair_get_name(k)}, {"projection", "once"}};
            bg_prk_pair p;
            bg_state *x;
            bg_integrator *ig;
            bg_step_plan plan;
            bg_prk_pair_find(settings[0].value, &p);
            o.step = 1e-4;
            o.settings = settings;
            o.nsettings = 2;
            assert_ok(bg_state_create(sys, &x, &err));
            assert_ok(bg_state_assemble(sys, x, NULL, &err));
            assert_ok(bg_integrator_create("prk", sys, &o, &ig, &err));
            assert_ok(bg_integrator_start(ig, x, NULL, 1, &err));
            assert_true(bg_integrator_get_plan(ig, &plan));
            bg_counters before = bg_integrator_get_counters(ig);
            for (int n = 0; n < STEPS; n++)
                assert_ok(bg_integrator_step(ig, &err));
            bg_counters after = bg_integrator_get_counters(ig);
            bg_work a = bg_counters_sum_steps(&before), b = bg_counters_sum_steps(&after);
            assert_int_equal(b.slow - a.slow, STEPS * p.nslow);
            assert_int_equal(b.fast - a.fast, STEPS * p.stages);
            assert_int_equal(after.rows.slow - before.rows.slow, p.slow[0] ? 0 : STEPS);
            assert_int_equal(plan.slow, p.nslow);
            assert_int_equal(plan.fast, p.stages);
            assert_int_equal(b.terms + b.constraints - a.terms - a.constraints, STEPS * plan.terms);
            assert_int_equal(b.explicit_ - a.explicit_, STEPS * plan.explicit_);
            assert_int_equal(b.factorisations - a.factorisations, STEPS * plan.factorisations);
            assert_int_equal(b.projections - a.projections, STEPS * plan.projections);
            if (s == 0) { /* whole evaluations are those of slow stages, and of the end */
                assert_int_equal(plan.explicit_, p.stages);
            }
            bg_integrator_destroy(ig);
            bg_state_destroy(x);
            bg_system_destroy(sys);
        }
}

/* How far the slow mass is from where it should be, and what becomes of the momentum. */
static void run_masses(const char *method, const char *positions, const char *stretch, double *away,
                       double *momentum)
{
    bg_system *sys = create_system("equations:two-masses", "stretch", stretch);
    double q[2], v[2];
    follow(sys, method, positions, 5, 500, q, v);
    *away = fabs(q[0] - 50);
    *momentum = fabs((50 * v[0] + 5 * v[1]) / 550 - 1);
    bg_system_destroy(sys);
}

/* Two free masses with a stiff spring, h = 0.01 s (h omega_f = 1.48), 5 s at 10 m/s. */
static void test_invariants(void **state)
{
    (void)state;
    for (int k = 0; bg_prk_pair_get_name(k); k++)
        for (int fast = 0; fast < 2; fast++) {
            const char *name = bg_prk_pair_get_name(k), *positions = fast ? "fast" : "by-part";
            bg_prk_pair p;
            double away, momentum, unused;
            bg_prk_pair_find(name, &p);
            if (strncmp(name, "prk", 3) != 0)
                continue; /* unstable with this step */
            run_masses(name, positions, "0", &away, &unused);
            run_masses(name, positions, "0.001", &unused, &momentum);
            print_message("%-12s %-8s away by %.2g m, momentum by %.2g\n", name, positions, away,
                          momentum);
            if (p.equal_abscissae || fast)
                assert_true(away < 50 * 1e-12);
            if (p.equal_weights)
                assert_true(momentum < 1e-12);
            if (strcmp(name, "prk25-paper") == 0 && !fast)
                assert_true(fabs(away - 31.7) < 0.05 && fabs(momentum - 1.26) < 0.005);
            if (strcmp(name, "prk25-paper") == 0 && fast)
                assert_true(fabs(momentum / 2.2e-4 - 1) < 0.03);
        }
}

/* A force on both in proportion to their masses: uniformly accelerated, and nothing is loaded. */
static int calc_falling(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double m[] = {50, 5}, F = 1e5 * (p->q[1] - p->q[0]) + 100 * (p->v[1] - p->v[0]);
    (void)self;
    for (int i = 0; i < 2; i++) {
        if (want & BG_TERM_M)
            out->M[3 * i] = m[i];
        if (want & BG_TERM_f)
            out->f[i] = (i == 0 ? F : -F) - m[i] * 9.81;
    }
    return 0;
}

static void test_acceleration(void **state)
{
    (void)state;
    bg_system_def def = define_coupled();
    static const double zeros[2] = {0, 0}, v0[2] = {10, 10};
    def.terms = calc_falling;
    def.q0 = zeros;
    def.v0 = v0;
    bg_system *sys = create_def(&def);
    double q[2], v[2];
    for (int k = 0; bg_prk_pair_get_name(k); k++) {
        bg_prk_pair p;
        const char *name = bg_prk_pair_get_name(k);
        bg_prk_pair_find(name, &p);
        if (strncmp(name, "prk", 3) != 0)
            continue;
        follow(sys, name, "fast", 2, 200, q, v);
        double error = fmax(fabs(q[0] - (20 - 2 * 9.81)), fabs(q[1] - q[0]));
        print_message("%-12s falls right to %.1e m\n", name, error);
        assert_true(p.equal_abscissae ? error < 1e-12 : error > 1e-6);
    }
    bg_system_destroy(sys);
}

/* A system that tells no parts apart runs with the fast tableau, and says so. */
static void test_one_rate(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system_def def = define_coupled();
    def.v_part = NULL;
    bg_system *sys = create_def(&def);
    bg_integrator_options o = bg_default_integrator_options();
    bg_integrator *ig;
    char text[256];
    o.step = 0.01;
    assert_ok(bg_integrator_create("prk38", sys, &o, &ig, &err));
    bg_integrator_describe(ig, text, sizeof text);
    assert_non_null(strstr(text, "nothing is marked as fast"));
    bg_integrator_destroy(ig);
    bg_system_destroy(sys);
}

/* The balance of work and energy has the order of the pair; with weights that differ it shows what
 * is lost. */
static void test_balance(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double least;
    } cases[] = {{"prk38", 2.8}, {"prk48", 3.8}, {"prk28", 1.8}};
    for (int k = 0; k < 3; k++) {
        double error[2];
        for (int half = 0; half < 2; half++) {
            bg_error err = {BG_OK, ""};
            bg_system *sys = create_system("equations:fast-pendulum", NULL, NULL);
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            o.integrator = cases[k].name;
            o.method.step = half ? 0.0025 : 0.005;
            o.skip_comparison = 1;
            assert_ok(bg_run(sys, &o, &r, &err));
            error[half] = r.certificate.energy_error;
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
        print_message("%-8s energy %.1e, order %.2f\n", cases[k].name, error[0],
                      log2(error[0] / error[1]));
        assert_true(log2(error[0] / error[1]) > cases[k].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),       cmocka_unit_test(test_constrained_orders),
        cmocka_unit_test(test_evaluations),  cmocka_unit_test(test_invariants),
        cmocka_unit_test(test_acceleration), cmocka_unit_test(test_one_rate),
        cmocka_unit_test(test_balance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
