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
    print_message("largest difference %.2f %%\n", 100 * worst);
    assert_true(worst < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
