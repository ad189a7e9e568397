/* Stability polynomials: known optima, bounds by duality, and what the exchange gives against an
 * independent search. */
#include "design/exchange.h"
#include "design/polynomial.h"
#include "run_support.h"

typedef struct known {
    int stages, order;
    double reach, digits;
} known;

static void check(const known *k, bg_target_kind kind)
{
    bg_error err = {BG_OK, ""};
    bg_target target = {kind, 0, NULL, NULL};
    bg_polynomial p;
    assert_ok(bg_polynomial_find(k->stages, k->order, &target, &p, &err));
    print_message("s = %d, order %d: %.9f, at most %.9f;", p.stages, p.order, p.reach, p.bound);
    for (int i = p.order + 1; i <= p.stages; i++)
        print_message(" %.12g", p.beta[i]);
    print_message("\n");
    for (int i = 0; i <= p.order; i++)
        assert_true(fabs(p.beta[i] - 1 / tgamma(i + 1.0)) < 1e-15);
    assert_true(fabs(p.reach - k->reach) < k->digits);
    assert_true(p.bound >= p.reach && p.bound - p.reach < 1e-6 * p.reach);
    assert_true(bg_polynomial_calc_interval(p.beta, p.stages, kind, 1e-9) >= p.reach - 1e-9);
}

static void test_imaginary(void **state)
{
    (void)state;
    static const known cases[] = {
        {5, 2, 4, 1e-8},          {5, 3, 3.91328, 5e-6},     {6, 2, 4.898979486, 1e-8},
        {8, 3, 6.92820323, 1e-8}, {3, 2, 2, 1e-8},           {4, 2, 2.828427125, 1e-8},
        {7, 2, 6, 1e-8},          {8, 2, 6.92820323, 1e-8},  {3, 3, 1.732050808, 1e-8},
        {7, 3, 5.945, 5e-4},      {10, 2, 8.94427191, 1e-6}, {6, 4, 4.898979486, 1e-8},
        {3, 1, 2, 1e-8}};
    for (int k = 0; k < (SANITIZED ? 2 : (int)(sizeof cases / sizeof *cases)); k++)
        check(&cases[k], BG_TARGET_IMAGINARY);
}

/* Order 1: Chebyshev's, 2 s^2. Order 2: two stages have no choice. */
static void test_real(void **state)
{
    (void)state;
    static const known cases[] = {
        {2, 1, 8, 1e-6}, {3, 1, 18, 1e-6}, {4, 1, 32, 1e-6}, {2, 2, 2, 1e-8}, {5, 1, 50, 1e-5}};
    for (int k = 0; k < (SANITIZED ? 2 : (int)(sizeof cases / sizeof *cases)); k++)
        check(&cases[k], BG_TARGET_REAL);
}

/* Many stages along the real axis, where powers of z cancel by 6^s: order 1 has 2 s^2, which the
 * bound is never below, orders 2 and 3 come near 0.822 and 0.494 s^2; the polynomial with its
 * digits reaches as far as is said. */
static void test_many_stages(void **state)
{
    (void)state;
    static const double limit[] = {0, 2, 0.822, 0.494};
    const bg_target target = {BG_TARGET_REAL, 0, NULL, NULL};
    for (int s = 11; s <= (SANITIZED ? 11 : 16); s += 5)
        for (int order = 1; order <= 3; order++) {
            bg_error err = {BG_OK, ""};
            bg_polynomial p;
            assert_ok(bg_polynomial_find(s, order, &target, &p, &err));
            print_message("s = %d, order %d: %.6f, at most %.6f\n", s, order, p.reach, p.bound);
            assert_true(fabs(p.reach / (s * s) - limit[order]) < 0.02);
            assert_true(p.bound >= p.reach && p.bound < p.reach * (s <= 12 ? 1 + 1e-6 : 1 + 4e-4));
            if (order == 1)
                assert_true(p.bound >= 2.0 * s * s * (1 - 1e-12) && p.reach <= 2.0 * s * s);
            assert_true(bg_polynomial_calc_interval(p.beta, s, BG_TARGET_REAL, 1e-9) >=
                        p.reach * (1 - 1e-9));
        }
}

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

/* Clouds at random: stable for all steps up to what is said, and no polynomial found by trying many
 * near it stands more than the bound. */
static void test_clouds(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int k = 0; k < (SANITIZED ? 2 : 14); k++) {
        bg_error err = {BG_OK, ""};
        double re[6], im[6];
        bg_target target = {BG_TARGET_CLOUD, 2 + k % 5, re, im};
        bg_polynomial p;
        for (int i = 0; i < target.n; i++) {
            double size = 1 + 300 * draw(&seed), angle = 1.5708 * (1 + draw(&seed));
            re[i] = size * cos(angle);
            im[i] = size * sin(angle);
        }
        assert_ok(bg_polynomial_find(k < 12 ? 3 + k % 4 : k - 3, 2 + k % 2, &target, &p, &err));
        print_message("cloud %d: %d stages, %g s, at most %g s\n", k, p.stages, p.reach, p.bound);
        assert_true(p.reach > 0 && p.reach <= p.bound && p.bound - p.reach < 1e-5 * p.bound);
        assert_true(bg_polynomial_calc_step(p.beta, p.stages, &target, p.reach * 0.999999, 1e-10) >=
                    p.reach * 0.999999);
        for (int n = 0; n < 200; n++) {
            double beta[BG_POLYNOMIAL_MAX + 1];
            for (int i = 0; i <= p.stages; i++)
                beta[i] = p.beta[i] * (i > p.order
                                           ? 1 + pow(10, -1 - 5 * draw(&seed)) * (draw(&seed) - 0.5)
                                           : 1);
            assert_true(bg_polynomial_calc_step(beta, p.stages, &target, 2 * p.bound, 1e-12) <=
                        p.bound * (1 + 1e-6));
        }
    }
}

/* Real eigenvalues and damped pairs over four decades, many stages: the peaks of R are narrow
 * beside the largest of them. */
static void test_wide_clouds(void **state)
{
    (void)state;
    unsigned seed = 11;
    for (int k = 0; k < (SANITIZED ? 1 : 6); k++) {
        bg_error err = {BG_OK, ""};
        double re[6], im[6];
        bg_target target = {BG_TARGET_CLOUD, 3 + k % 4, re, im};
        bg_polynomial p;
        for (int i = 0; i < target.n; i++) {
            const double size = pow(10, 4 * draw(&seed)), angle = i % 2 ? 1.5708 * draw(&seed) : 0;
            re[i] = -size * cos(angle);
            im[i] = size * sin(angle);
        }
        assert_ok(bg_polynomial_find(9 + k, 2 + k % 2, &target, &p, &err));
        print_message("wide cloud %d: %d stages, %g s, at most %g s\n", k, p.stages, p.reach,
                      p.bound);
        assert_true(p.reach <= p.bound && p.reach >= p.bound * (1 - 1e-3));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_imaginary), cmocka_unit_test(test_real),
        cmocka_unit_test(test_many_stages), cmocka_unit_test(test_clouds),
        cmocka_unit_test(test_wide_clouds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
