/* Stability of pairs on coupled linear systems: against steps of the implemented method, and
 * against the table of an independent computation. */
#include "design/coupled.h"
#include "run_support.h"

static const double ratios[] = {0.02, 0.05, 0.1, 0.3, 1};
static const char *const names[] = {"prk25-paper", "prk25", "prk26",  "prk27", "prk28",
                                    "prk35",       "prk36", "prk36b", "prk38", "prk48"};
enum { RATIOS = 5, PAIRS = 10 };

/* Largest h omega_f, positions by part and fast. */
static const double table[RATIOS][2][PAIRS] = {
    {{3.44, 4.05, 4.88, 5.92, 6.81, 3.99, 3.90, 3.95, 6.48, 5.51},
     {4.01, 4.05, 4.90, 5.88, 6.70, 3.97, 4.93, 4.93, 6.07, 5.93}},
    {{2.54, 2.72, 4.73, 2.83, 6.83, 3.95, 3.48, 3.52, 3.78, 4.91},
     {3.73, 2.70, 3.89, 2.87, 6.74, 3.89, 3.73, 4.97, 5.90, 5.27}},
    {{2.36, 2.35, 2.81, 2.25, 2.51, 3.98, 3.15, 3.22, 3.35, 4.45},
     {2.62, 2.54, 3.49, 2.70, 2.79, 3.80, 3.45, 3.58, 4.82, 4.82}},
    {{1.89, 1.63, 1.36, 1.45, 1.33, 2.23, 2.50, 2.58, 2.60, 3.78},
     {2.18, 2.11, 2.33, 2.04, 2.12, 2.30, 2.94, 3.05, 3.45, 3.84}},
    {{0.81, 0.93, 0.86, 0.89, 0.86, 1.65, 1.71, 1.73, 1.72, 2.74},
     {1.61, 1.49, 1.32, 1.37, 1.28, 1.69, 1.73, 2.29, 2.52, 2.29}}};

static void test_table(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double worst = 0;
    for (int r = 0; r < RATIOS; r++)
        for (int fast = 0; fast < 2; fast++) {
            print_message("%5.2f %-8s", ratios[r], fast ? "fast" : "by-part");
            for (int k = 0; k < PAIRS; k++) {
                bg_coupled system;
                bg_prk_pair pair;
                double limit;
                bg_coupled_make_masses(&system, ratios[r], !fast);
                assert_true(bg_prk_pair_find(names[k], &pair));
                assert_ok(bg_coupled_find_limit(&system, &pair, 1e-8, 0.01, 8, &limit, &err));
                print_message(" %6.3f", limit);
                worst = fmax(worst, fabs(limit / table[r][fast][k] - 1));
            }
            print_message("\n");
        }
    static const double heun[RATIOS] = {0.80, 0.79, 0.78, 0.75, 0.66};
    bg_prk_pair rk2 = {.stages = 2, .order = 2};
    for (int k = 0; k < 2; k++) {
        rk2.of[k].a[1][0] = 1;
        rk2.of[k].b[0] = rk2.of[k].b[1] = 0.5;
    }
    bg_prk_pair_update(&rk2);
    for (int r = 0; r < RATIOS; r++) {
        bg_coupled system;
        double limit;
        bg_coupled_make_masses(&system, ratios[r], false);
        assert_ok(bg_coupled_find_limit(&system, &rk2, 1e-8, 0.01, 8, &limit, &err));
        print_message("%5.2f rk2 %.3f\n", ratios[r], limit);
        worst = fmax(worst, fabs(limit / heun[r] - 1));
    }
    print_message("largest difference %.2f %%\n", 100 * worst);
    assert_true(worst < 0.02);
}

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

/* One step of the implemented method on two masses, with all pairs and both rules of positions. */
static void test_steps(void **state)
{
    (void)state;
    unsigned seed = 4;
    for (int n = 0; n < 60; n++) {
        bg_error err = {BG_OK, ""};
        const bg_equations *family;
        void *handle;
        bg_system *sys;
        bg_coupled system;
        bg_prk_pair pair;
        bg_state *x;
        bg_integrator *ig;
        double ratio = 0.02 + draw(&seed), h = 2 * draw(&seed), S[16], y[4];
        char value[4][32];
        const double numbers[] = {1 / ratio, 1, 0.05 * 0.05 / ratio, 2 * 0.2 * 0.05 / ratio};
        for (int k = 0; k < 4; k++)
            snprintf(value[k], sizeof value[k], "%.17g", numbers[k]);
        const bg_setting settings[] = {{"m1", value[0]}, {"m2", "1"},      {"k", "1"},
                                       {"d", "0.1"},     {"k0", value[2]}, {"d0", value[3]}};
        const bg_setting positions = {"positions", n % 2 ? "fast" : "by-part"};
        bg_integrator_options o = bg_default_integrator_options();
        assert_ok(bg_equations_open("equations:two-masses", &family, &handle, &err));
        assert_ok(bg_equations_create(family, settings, 6, &sys, &err));
        assert_ok(bg_state_create(sys, &x, &err));
        for (int k = 0; k < 2; k++) {
            x->q[k] = y[k] = draw(&seed) - 0.5;
            x->v[k] = y[2 + k] = draw(&seed) - 0.5;
        }
        o.step = h;
        o.settings = &positions;
        o.nsettings = 1;
        assert_ok(bg_integrator_create(names[n / 2 % PAIRS], sys, &o, &ig, &err));
        assert_ok(bg_integrator_start(ig, x, NULL, 10, &err));
        assert_ok(bg_integrator_step(ig, &err));
        const bg_state *end = bg_integrator_get_state(ig);
        bg_coupled_make_masses(&system, ratio, n % 2 == 0);
        bg_prk_pair_find(names[n / 2 % PAIRS], &pair);
        assert_ok(bg_coupled_calc_step(&system, &pair, h, S, &err));
        for (int i = 0; i < 4; i++) {
            double sum = 0;
            for (int j = 0; j < 4; j++)
                sum += S[4 * i + j] * y[j];
            assert_true(fabs(sum - (i < 2 ? end->q[i] : end->v[i - 2])) < 1e-13);
        }
        bg_integrator_destroy(ig);
        bg_state_destroy(x);
        bg_system_destroy(sys);
    }
}

/* x' = A x + B y, y' = C x + D y as 004 steps it: Table 2, and equations (7) to (12) of Table 4. */
static void test_paper(void **state)
{
    (void)state;
    unsigned seed = 11;
    for (int n = 0; n < 200; n++) {
        double J[4], y0[2], S[4], a[3], b[3], a32 = 2 * draw(&seed) - 1, h = draw(&seed);
        const int tableau[] = {BG_PRK_SLOW, BG_PRK_FAST};
        const bg_coupled system = {.n = 2, .J = J, .tableau = tableau};
        bg_error err = {BG_OK, ""};
        bg_prk_pair pair;
        for (int i = 0; i < 4; i++)
            J[i] = 2 * draw(&seed) - 1;
        for (int i = 0; i < 2; i++)
            y0[i] = 2 * draw(&seed) - 1;
        for (int i = 0; i < 3; i++) {
            a[i] = 2 * draw(&seed) - 1;
            b[i] = 2 * draw(&seed) - 1;
        }
        const double A = J[0], B = J[1], C = J[2], D = J[3], x = y0[0], y = y0[1];
        double x1 = x + h * (A * x + B * y), y1 = y + h / 3 * (C * x + D * y);
        y1 += h / 3 * (C * (2 * x / 3 + x1 / 3) + D * y1);
        y1 += h / 3 * (C * (x / 3 + 2 * x1 / 3) + D * y1);
        bg_prk_pair_make_dual_euler(&pair, 3);
        assert_ok(bg_coupled_calc_step(&system, &pair, h, S, &err));
        assert_true(fabs(S[0] * x + S[1] * y - x1) < 1e-14);
        assert_true(fabs(S[2] * x + S[3] * y - y1) < 1e-14);
        double l1 = C * x + D * y, k2 = A * x + B * (y + h * a[0] * l1);
        double l2 = C * x + D * (y + h * a[0] * l1);
        double l3 = C * (x + h * a32 * k2) + D * (y + h * a[1] * l1 + h * a[2] * l2);
        bg_prk_pair_make_averaged_euler(&pair, a32, a, b);
        assert_ok(bg_coupled_calc_step(&system, &pair, h, S, &err));
        assert_true(fabs(S[0] * x + S[1] * y - (x + h * k2)) < 1e-14);
        assert_true(fabs(S[2] * x + S[3] * y - (y + h * (b[0] * l1 + b[1] * l2 + b[2] * l3))) <
                    1e-14);
    }
}

/* What pairs lose, as steps of the method have it (test_prk). */
static void test_losses(void **state)
{
    (void)state;
    bg_prk_pair pair;
    double place, momentum;
    bg_prk_pair_find("prk25-paper", &pair);
    bg_coupled_calc_losses(&pair, true, 0.01, &place, &momentum);
    assert_true(fabs(place - 31.7) < 0.05 && fabs(momentum - 1.26) < 0.005);
    bg_coupled_calc_losses(&pair, false, 0.01, &place, &momentum);
    assert_true(place < 1e-12 && fabs(momentum / 2.2e-4 - 1) < 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_losses), cmocka_unit_test(test_paper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
