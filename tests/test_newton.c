/* The decisions of Newton's iteration, on sequences of increments whose limit is known. */
#include "linalg/newton.h"
#include "run_support.h"

static const bg_newton chord = {.most = 12,
                                .converged = 1e-13,
                                .foretells = true,
                                .roundoff = 1e-11,
                                .stalls = 0.5,
                                .slow = 0.9,
                                .diverges = 4};

/* Increments first, first rate, first rate^2, ... down to `floor`; the state they end in. */
static bg_newton_state iterate(bg_newton *n, double first, double rate, double floor)
{
    bg_newton_state state = BG_NEWTON_GOES_ON;
    double size = first;
    bg_newton_begin(n);
    while (state == BG_NEWTON_GOES_ON) {
        state = bg_newton_look(n, fmax(size, floor));
        size *= rate;
    }
    return state;
}

static void test_convergence(void **state)
{
    (void)state;
    bg_newton n = chord;
    for (double rate = 1e-6; rate < 0.08; rate *= 3) {
        assert_int_equal(iterate(&n, 0.01, rate, 0), BG_NEWTON_DONE);
        double left = n.size * n.rate / (1 - n.rate); /* the sum of all that would come */
        assert_true(left <= 1e-13 && fabs(n.rate / rate - 1) < 1e-9);
        assert_true(n.size / rate * rate / (1 - rate) > 1e-13); /* and not an increment too many */
    }
    n.foretells = false;
    assert_int_equal(iterate(&n, 0.01, 1e-3, 0), BG_NEWTON_DONE);
    assert_true(n.size <= 1e-13 && n.count == 5);
}

static void test_failure(void **state)
{
    (void)state;
    bg_newton n = chord;
    assert_int_equal(iterate(&n, 1e-3, 0.95, 0), BG_NEWTON_FAILED); /* slow */
    assert_int_equal(n.count, 3);
    assert_int_equal(iterate(&n, 1e-3, 5, 0), BG_NEWTON_FAILED); /* away from it */
    assert_int_equal(n.count, 2);
    assert_int_equal(iterate(&n, 1e-3, 0.8, 0), BG_NEWTON_FAILED); /* too many */
    assert_int_equal(n.count, 12);
    bg_newton_begin(&n);
    assert_int_equal(bg_newton_look(&n, NAN), BG_NEWTON_FAILED);
    bg_newton_begin(&n);
    assert_int_equal(bg_newton_look(&n, INFINITY), BG_NEWTON_FAILED);
    assert_int_equal(iterate(&n, 1e-9, 0.2, 9e-12), BG_NEWTON_DONE);     /* rounding, */
    assert_int_equal(iterate(&n, 1e-9, 0.2, 1.1e-11), BG_NEWTON_FAILED); /* and more than that */
}

/* What a matrix of another coefficient makes of increments, for y' = lambda y with any stiffness:
 * the rate |1 - c (alpha - lambda)/(alpha_matrix - lambda)| is at most |alpha_matrix - alpha| /
 * (alpha_matrix + alpha), the least that one factor can do for all of them. */
static void test_factor(void **state)
{
    (void)state;
    assert_true(bg_newton_calc_factor(3, 3) == 1);
    for (double ratio = 0.2; ratio < 5; ratio *= 1.3) {
        double c = bg_newton_calc_factor(ratio, 1), most = 0;
        for (double lambda = 1e-6; lambda < 1e6; lambda *= 2)
            most = fmax(most, fabs(1 - c * (ratio + lambda) / (1 + lambda)));
        assert_true(most <= fabs(ratio - 1) / (ratio + 1) * (1 + 1e-5) + 1e-15);
    }
}

static void test_size(void **state)
{
    (void)state;
    const double x[] = {1, -6, 100, 2}, weight[] = {1, 2, 1, 1};
    const unsigned char mask[] = {1, 1, 0, 1};
    assert_true(bg_newton_calc_size(4, x, weight, mask) == 3);
    assert_true(bg_newton_calc_size(4, x, weight, NULL) == 100);
    const double bad[] = {1, NAN, 5, 2};
    assert_true(isnan(bg_newton_calc_size(4, bad, weight, NULL)));
}

/* What is foretold is the sum of all increments to come: slow convergence is not taken for done. */
static void test_foretold(void **state)
{
    (void)state;
    bg_newton n = {.converged = 1e-6, .foretells = true, .most = 10};
    bg_newton_begin(&n);
    assert_int_equal(bg_newton_look(&n, 1.2e-6), BG_NEWTON_GOES_ON);
    assert_int_equal(bg_newton_look(&n, 1.08e-6), BG_NEWTON_GOES_ON); /* 9.7e-6 to come */
    bg_newton_begin(&n);
    assert_int_equal(bg_newton_look(&n, 1e-3), BG_NEWTON_GOES_ON);
    assert_int_equal(bg_newton_look(&n, 2e-5), BG_NEWTON_DONE); /* 4.1e-7 to come */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foretold), cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_failure),  cmocka_unit_test(test_factor),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
