/* Designed pairs: the intervals asked for, everything verified; what cannot be is refused with the
 * theorem. */
#include "design/design.h"
#include "run_support.h"

typedef struct wanted {
    int slow, fast, order;
    bg_target_kind kind;
    bool search, free_;
    double reach; /* at least; of the fast tableau along the target */
    double merit; /* at least: h omega_f of two masses of ratio 0.1, positions fast */
} wanted;

static void check(const wanted *w)
{
    bg_error err = {BG_OK, ""};
    bg_design_def def = {w->slow,   w->fast,  w->order, {w->kind, 0, NULL, NULL},
                         w->search, w->free_, w->free_, 1};
    bg_polynomial p;
    bg_prk_pair pair;
    bg_design_facts f;
    assert_ok(bg_design_find(&def, &p, &pair, &err));
    assert_ok(bg_design_verify(&pair, &f, &err));
    print_message(
        "%d-%d order %d: reach %.6f, missed %.1e, next %.3f, masses %.2f %.2f, lost %.1e m, "
        "%.1e\n",
        w->slow, w->fast, w->order, p.reach, f.missed, f.next, f.masses[2][0], f.masses[2][1],
        f.place[1], f.momentum[1]);
    assert_true(f.missed < 1e-12);
    assert_int_equal(pair.nslow, w->slow);
    assert_int_equal(pair.stages, w->fast);
    assert_true(p.reach >= w->reach && p.reach <= p.bound);
    double own = w->kind == BG_TARGET_REAL ? f.real[BG_PRK_FAST] : f.imaginary[BG_PRK_FAST];
    assert_true(fabs(own - p.reach) < 1e-4 * p.reach);
    assert_true(f.masses[2][1] >= w->merit);
    if (!w->free_) {
        assert_true(pair.equal_abscissae && pair.equal_weights);
        assert_true(f.place[0] < 1e-11 && f.place[1] < 1e-11);
        assert_true(f.momentum[0] < 1e-12 && f.momentum[1] < 1e-12);
    }
}

/* Intervals asked for, by the family in closed form. */
static void test_closed(void **state)
{
    (void)state;
    static const wanted cases[] = {
        {2, 5, 2, BG_TARGET_IMAGINARY, false, false, 3.9999, 2.5},
        {3, 5, 3, BG_TARGET_IMAGINARY, false, false, 3.913, 3.8},
        {2, 6, 2, BG_TARGET_IMAGINARY, false, false, 4.89895, 3.4},
        {3, 8, 3, BG_TARGET_IMAGINARY, false, false, 6.928, 4.8},
        {3, 7, 3, BG_TARGET_IMAGINARY, false, false, 5.945, 4.5},
        {2, 5, 2, BG_TARGET_REAL, false, false, 19.45, 1},
    };
    for (int k = 0; k < (SANITIZED ? 2 : 6); k++)
        check(&cases[k]);
}

/* What is not in that family: other targets, more slow stages, different abscissae and weights. */
static void test_search(void **state)
{
    (void)state;
    static const wanted cases[] = {
        {2, 5, 2, BG_TARGET_IMAGINARY, true, true, 3.9999, 3},
        {2, 5, 2, BG_TARGET_IMAGINARY, true, false, 3.9999, 2.5},
        {3, 5, 3, BG_TARGET_REAL, true, false, 10.5, 2},
        {3, 6, 2, BG_TARGET_IMAGINARY, false, false, 4.89895, 4},
    };
    for (int k = 0; k < (SANITIZED ? 1 : 4); k++)
        check(&cases[k]);
}

/* The pairs there are reach what can be reached, and no farther. */
static void test_built_in(void **state)
{
    (void)state;
    for (int k = 0; bg_prk_pair_get_name(k) && !SANITIZED; k++) {
        bg_error err = {BG_OK, ""};
        bg_target target = {BG_TARGET_IMAGINARY, 0, NULL, NULL};
        bg_prk_pair pair;
        bg_polynomial best;
        double beta[BG_PRK_STAGES + 1];
        bg_prk_pair_find(bg_prk_pair_get_name(k), &pair);
        if (strncmp(pair.name, "prk", 3) != 0)
            continue;
        bg_tableau_calc_polynomial(&pair.of[BG_PRK_FAST], pair.stages, beta);
        assert_ok(bg_polynomial_find(pair.stages, pair.order, &target, &best, &err));
        double digits = pair.tolerance > 1e-10 ? 2e-7 : 1e-11;
        double reach = bg_polynomial_calc_interval(beta, pair.stages, BG_TARGET_IMAGINARY, digits);
        print_message("%-12s %.8f of %.8f\n", pair.name, reach, best.bound);
        assert_true(reach <= best.bound + 1e-6 && reach > best.bound - 1e-5);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        int slow, fast, order;
        const char *said;
    } cases[] = {{2, 5, 3, "order s at most (004 Theorem 1)"},
                 {1, 3, 2, "order s at most (004 Theorem 1)"},
                 {3, 2, 3, "2 fast stages are fewer than 3 slow ones"},
                 {5, 8, 5, "give 2, 3 or 4"},
                 {3, 17, 3, "more than the 16"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        bg_design_def def = {.slow = cases[k].slow, .fast = cases[k].fast, .order = cases[k].order};
        bg_polynomial p;
        bg_prk_pair pair;
        assert_int_equal(bg_design_find(&def, &p, &pair, &err), BG_BAD_INPUT);
        if (!strstr(err.text, cases[k].said))
            fail_msg("'%s' does not say '%s'", err.text, cases[k].said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed), cmocka_unit_test(test_search),
                                       cmocka_unit_test(test_built_in),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
