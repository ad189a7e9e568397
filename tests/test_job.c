/* Runs that keep their results in memory: the same numbers and the same files as runs that write
 * them, rows beyond the first block of memory, ends from outside, systems made by the caller. */
#include "folder_support.h"
#include "run_support.h"

static bg_problem *make_problem(const char *reference, double t_end, double interval)
{
    bg_error err = {BG_OK, ""};
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    def.reference = reference;
    def.t_end = t_end;
    def.output_interval = interval;
    assert_ok(bg_problem_create(&def, &problem, &err));
    return problem;
}

/* A run with a result file of its own. */
static void write_directly(const bg_problem *problem, const char *path)
{
    bg_error err = {BG_OK, ""};
    bg_result *result;
    bg_run_report report = {0};
    bg_run_options o = bg_problem_get_run_options(problem);
    const bg_system *sys = bg_problem_get_system(problem);
    assert_ok(bg_result_create(path, bg_problem_get_reference(problem), o.integrator, sys, &result,
                               &err));
    assert_ok(bg_result_describe(result, bg_problem_get_model(problem), &o, &err));
    o.sink = bg_result_get_sink(result);
    assert_ok(bg_run(sys, &o, &report, &err));
    assert_ok(bg_result_finish(result, &report, &err));
    bg_result_destroy(result);
    bg_run_report_clear(&report);
}

static void compare_datasets(bg_result_file *file, const bg_job *job)
{
    static const char *const names[] = {"t",      "q",       "v",       "a",
                                        "lambda", "outputs", "steps/h", "events/t"};
    bg_error err = {BG_OK, ""};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        long rows;
        int width;
        const double *values = bg_job_get(job, names[k], &rows, &width);
        assert_int_equal(width, bg_result_get_width(file, names[k]));
        double *read = calloc((size_t)(rows * width) + 1, sizeof *read);
        assert_non_null(read);
        if (width > 0)
            assert_ok(bg_result_read(file, names[k], read, &err));
        assert_memory_equal(read, values, (size_t)(rows * width) * sizeof *read);
        free(read);
    }
}

/* Bytes of CSV, numbers of HDF5. */
static void test_same_results(void **state)
{
    (void)state;
    static const char *const models[] = {BOGIE_SOURCE_DIR "/models/four-bar.json",
                                         BOGIE_SOURCE_DIR "/models/double-wishbone.json",
                                         "equations:bouncing-ball"};
    folder f;
    assert_int_equal(folder_make(&f), 0);
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        bg_error err = {BG_OK, ""};
        bg_problem *problem = make_problem(models[k], 0.5, k == 1 ? 0.01 : 0);
        char direct[PATH], saved[PATH], whole[PATH];
        snprintf(direct, PATH, "%s/direct%zu.csv", f.path, k);
        snprintf(saved, PATH, "%s/saved%zu.csv", f.path, k);
        snprintf(whole, PATH, "%s/saved%zu.h5", f.path, k);
        write_directly(problem, direct);
        bg_job *job;
        assert_ok(bg_job_create(problem, &job, &err));
        assert_int_equal(bg_job_save(job, saved, &err), BG_BAD_INPUT); /* nothing is there */
        assert_ok(bg_job_run(job, &err));
        assert_int_equal(bg_job_run(job, &err), BG_BAD_INPUT);
        assert_ok(bg_job_save(job, saved, &err));
        assert_ok(bg_job_save(job, whole, &err));
        char *a = read_file(direct, NULL), *b = read_file(saved, NULL);
        assert_string_equal(a, b);
        free(a);
        free(b);
        bg_result_file *file;
        assert_ok(bg_result_open(whole, &file, &err));
        compare_datasets(file, job);
        assert_true(bg_result_get_info(file)->complete);
        bg_result_close(file);
        bg_job_destroy(job);
        bg_problem_destroy(problem);
    }
    folder_remove(&f);
}

/* More rows and steps than are made room for at first, and columns by name. */
static void test_many_rows(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_problem *problem = make_problem("equations:pendulum", 7, 1e-4);
    bg_job *job;
    long rows, orders;
    int width;
    char buffer[64];
    assert_ok(bg_job_create(problem, &job, &err));
    assert_ok(bg_job_run(job, &err));
    const double *t = bg_job_get(job, "t", &rows, &width);
    assert_int_equal(rows, 70001);
    for (long i = 0; i < rows; i++)
        assert_true(fabs(t[i] - 1e-4 * (double)i) < 1e-9);
    assert_non_null(bg_job_get_whole(job, "steps/order", &orders, &width));
    bg_job_get(job, "steps/t", &rows, &width);
    assert_int_equal(orders, rows);
    assert_null(bg_job_get(job, "steps/order", &rows, &width)); /* whole numbers */
    assert_null(bg_job_get(job, "nothing", &rows, &width));
    assert_int_equal(rows, 0);
    assert_string_equal(bg_job_get_name(job, "q", 0, buffer, sizeof buffer), "x");
    assert_null(bg_job_get_name(job, "q", 99, buffer, sizeof buffer));
    bg_job_destroy(job);
    bg_problem_destroy(problem);
}

static int stop_late(void *self, double t, long steps)
{
    (void)steps;
    *(double *)self = t;
    return 1;
}

/* A run that is ended keeps what it has. */
static void test_stopped(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_problem *problem = make_problem("equations:andrews", 1e3, 0);
    bg_job *job;
    double seen = 0;
    long rows;
    int width;
    assert_ok(bg_job_create(problem, &job, &err));
    bg_job_watch(job, stop_late, &seen);
    assert_int_equal(bg_job_run(job, &err), BG_STOPPED);
    const double *t = bg_job_get(job, "t", &rows, &width);
    assert_true(rows > 1 && t[rows - 1] >= seen && seen > 0 && t[rows - 1] < 1e3);
    char *summary = bg_job_create_summary(job);
    assert_non_null(strstr(summary, "\"stopped\""));
    free(summary);
    bg_job_destroy(job);
    assert_ok(bg_job_create(problem, &job, &err));
    bg_job_stop(job);
    assert_int_equal(bg_job_run(job, &err), BG_STOPPED);
    bg_job_destroy(job);
    bg_problem_destroy(problem);
}

/* A system of the caller's goes through the same door; nothing of it can be set there. */
static void test_given_system(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:slider-crank", NULL, NULL);
    bg_setting settings[] = {{"integrator.projection", "control"}, {"mass", "2"}};
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    bg_job *job, *same;
    def.system = sys;
    def.settings = settings;
    def.nsettings = 1;
    def.t_end = 0.1;
    def.integrator = "mdop5";
    assert_ok(bg_problem_create(&def, &problem, &err));
    assert_string_equal(bg_problem_get_reference(problem), "slider-crank");
    assert_ok(bg_job_create(problem, &job, &err));
    assert_ok(bg_job_run(job, &err));
    def.system = NULL;
    def.reference = "equations:slider-crank";
    bg_problem *other;
    assert_ok(bg_problem_create(&def, &other, &err));
    assert_ok(bg_job_create(other, &same, &err));
    assert_ok(bg_job_run(same, &err));
    long rows, n;
    int width;
    const double *q = bg_job_get(job, "q", &rows, &width), *p = bg_job_get(same, "q", &n, &width);
    assert_int_equal(rows, n);
    assert_memory_equal(q, p, (size_t)(n * width) * sizeof *q);
    bg_job_destroy(job);
    bg_job_destroy(same);
    bg_problem_destroy(problem);
    bg_problem_destroy(other);
    def.system = sys;
    def.nsettings = 2;
    assert_int_equal(bg_problem_create(&def, &problem, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "'mass'"));
    def.nsettings = 0;
    def.equilibrium = 1;
    assert_int_equal(bg_problem_create(&def, &problem, &err), BG_BAD_INPUT);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_results),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_given_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
