/* Where LAPACK is not installed: large dense matrices are factored all the same. */
#include "run_support.h"

#include "linalg/lapack.h"
#include "linalg/linalg.h"

bg_status __wrap_bg_lapack_load(const bg_lapack **lapack, bg_error *err);

bg_status __wrap_bg_lapack_load(const bg_lapack **lapack, bg_error *err)
{
    (void)lapack;
    return bg_error_set(err, BG_MISSING, "not installed");
}

/* Random matrices of 33 to 60 unknowns against their definition, and a singular one. */
static void test_matrices(void **state)
{
    (void)state;
    bg_error err = {0};
    unsigned seed = 7;
    for (int n = 33; n <= 60; n += 9) {
        bg_linear *linear;
        double b[60], x[60], A[60 * 60];
        assert_ok(bg_linear_create(n, NULL, &linear, &err));
        for (int k = 0; k < n * n; k++) {
            seed = seed * 1664525u + 1013904223u;
            A[k] = (double)(seed >> 8) / (1 << 24) - 0.5;
        }
        memcpy(bg_linear_get_values(linear), A, (size_t)(n * n) * sizeof *A);
        for (int i = 0; i < n; i++) {
            b[i] = 0;
            for (int j = 0; j < n; j++)
                b[i] += A[i * n + j] * (1 + j % 3);
            x[i] = b[i];
        }
        assert_int_equal(bg_linear_factor(linear), BG_OK);
        bg_linear_solve(linear, x);
        for (int j = 0; j < n; j++)
            assert_true(fabs(x[j] - (1 + j % 3)) < 1e-10);
        assert_true(bg_linear_calc_rcond(linear) > 1e-8);
        memcpy(A + n, A, (size_t)n * sizeof *A);
        memcpy(bg_linear_get_values(linear), A, (size_t)(n * n) * sizeof *A);
        assert_true(bg_linear_factor(linear) != BG_OK);
        bg_linear_destroy(linear);
    }
}

/* A model whose methods keep such matrices. */
static void test_model(void **state)
{
    (void)state;
    bg_error err = {0};
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    bg_run_report report;
    def.reference = BOGIE_SOURCE_DIR "/models/five-link-suspension.json";
    def.integrator = "bdf";
    def.t_end = 0.2;
    assert_ok(bg_problem_create(&def, &problem, &err));
    const bg_run_options options = bg_problem_get_run_options(problem);
    assert_ok(bg_run(bg_problem_get_system(problem), &options, &report, &err));
    assert_int_equal(report.verdict, BG_GOOD);
    bg_run_report_clear(&report);
    bg_problem_destroy(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
