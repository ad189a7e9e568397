/* Every allocation of the library is made to fail once: each time the call reports it, nothing
 * leaks (the sanitizer build checks that) and nothing crashes. Linked with wrapped malloc, calloc,
 * realloc. */
#include "linear/modes.h"
#include "run/start.h"
#include "run_support.h"

#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *data, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *data, size_t size);

static long calls, fail_at; /* fail_at 0: never */

static int fails(void)
{
    return ++calls == fail_at;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *data, size_t size)
{
    return fails() ? NULL : __real_realloc(data, size);
}

static bg_status create(const char *reference, bg_system **sys, bg_error *err)
{
    const bg_equations *family;
    void *handle;
    *sys = NULL;
    bg_status st = bg_equations_open(reference, &family, &handle, err);
    return st == BG_OK ? bg_equations_create(family, NULL, 0, sys, err) : st;
}

/* A run; a remark that found no room is counted, and the run goes on. */
static bg_status run(const bg_system *sys, const bg_run_options *o, bg_run_report *r, bg_error *err)
{
    bg_status st = bg_run(sys, o, r, err);
    return r->warnings.lost > 0 ? BG_NO_MEMORY : st;
}

/* One thing a user does, from nothing to nothing. */
typedef bg_status scenario(const char *system, const char *method, bg_error *err);

static bg_status run_with_checkpoint(const char *system, const char *method, bg_error *err)
{
    char file[] = "/tmp/bogie-allocation-XXXXXX";
    close(mkstemp(file));
    bg_system *sys;
    bg_status st = create(system, &sys, err);
    bg_run_options o = bg_default_run_options();
    const bg_setting projecting = {"form", "projecting"};
    o.method.settings = &projecting;
    o.method.nsettings = strcmp(method, "mdop5 projecting") == 0;
    o.integrator = o.method.nsettings > 0 ? "mdop5" : method;
    int fixed = 0;
    for (int k = 0; get_method(k); k++)
        if (strcmp(get_method(k)->name, method) == 0)
            fixed = get_method(k)->fixed_steps;
    o.method.step = fixed ? 1e-3 : 0;
    o.output_interval = 0.01;
    o.t_end = 0.02;
    o.checkpoint = file;
    for (int k = 0; k < 2 && st == BG_OK; k++) {
        bg_run_report r;
        st = run(sys, &o, &r, err);
        bg_run_report_clear(&r);
        o.resume = file;
    }
    bg_system_destroy(sys);
    unlink(file);
    return st;
}

static bg_status write_results(const char *system, const char *ending, bg_error *err)
{
    char file[64];
    snprintf(file, sizeof file, "/tmp/bogie-allocation-%d%s", (int)getpid(), ending);
    bg_system *sys;
    bg_result *result = NULL;
    bg_run_report r = {0};
    bg_status st = create(system, &sys, err);
    if (st == BG_OK)
        st = bg_result_create(file, system, "mdop5", sys, &result, err);
    if (st == BG_OK) {
        bg_run_options o = bg_default_run_options();
        o.output_steps = 1;
        o.t_end = 0.01;
        o.sink = bg_result_get_sink(result);
        st = run(sys, &o, &r, err);
    }
    if (st == BG_OK)
        st = bg_result_finish(result, &r, err);
    bg_result_destroy(result);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    unlink(file);
    return st;
}

static bg_status check(const char *system, const char *unused, bg_error *err)
{
    (void)unused;
    bg_system *sys;
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    int count;
    bg_status st = create(system, &sys, err);
    if (st == BG_OK)
        st = bg_system_check_derivatives(sys, 2, 1, checks, &count, err);
    bg_system_destroy(sys);
    return st;
}

static bg_status run_model(const char *path, const char *formulation, bg_error *err)
{
    bg_model *model;
    bg_system *sys = NULL;
    bg_run_report r = {0};
    bg_run_options o = bg_default_run_options();
    bg_status st = bg_model_read(path, NULL, 0, &model, err);
    if (st == BG_OK)
        st = bg_model_create_system(model, formulation, &sys, err);
    if (st == BG_OK)
        st = run(sys, &o, &r, err);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return st;
}

static bg_status read_model(const char *path, const char *none, bg_error *err)
{
    bg_model *model;
    (void)none;
    bg_status st = bg_model_read(path, NULL, 0, &model, err);
    bg_model_destroy(model);
    return st;
}

/* Starts that are looked for: velocities on a ball and a hinge; a crank that is given angles out of
 * its reach; and two positions that are fixed, of which the second is met on a way of its own. */
static const struct {
    const char *name, *json;
} started[] = {
    {"velocities",
     "{\"bodies\": {\"a\": {\"mass\": 1, \"inertia\": [1, 1, 1], \"center\": [1, 0, 0], "
     "\"angular_velocity\": [1, 2, 3]}, \"b\": {\"mass\": 1, \"inertia\": [1, 1, 1], \"center\": "
     "[3, 0, 0], \"velocity\": [0, 2, 1]}}, \"joints\": {\"ball\": {\"type\": \"spherical\", "
     "\"bodies\": [\"ground\", \"a\"], \"at\": [0, 0, 0]}, \"hinge\": {\"type\": \"revolute\", "
     "\"bodies\": [\"a\", \"b\"], \"at\": [2, 0, 0], \"axis\": [0, 1, 0]}}, \"run\": {\"t_end\": "
     "0.01}}"},
#define CRANK(given)                                                                               \
    "{\"bodies\": {\"a\": {\"mass\": 1, \"inertia\": [1, 1, 1], \"center\": [0, 0, 0.5]}, \"b\": " \
    "{\"mass\": 1, \"inertia\": [1, 1, 1], \"center\": [1.5, 0, 1.5]}, \"c\": {\"mass\": 1, "      \
    "\"inertia\": [1, 1, 1], \"center\": [3, 0, 1]}}, \"joints\": {\"A\": {\"type\": "             \
    "\"revolute\", "                                                                               \
    "\"bodies\": [\"ground\", \"a\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0]" given "}, \"B\": "   \
    "{\"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], \"at\": [0, 0, 1], \"axis\": [0, 1, "    \
    "0]}, "                                                                                        \
    "\"C\": {\"type\": \"revolute\", \"bodies\": [\"b\", \"c\"], \"at\": [3, 0, 2], \"axis\": "    \
    "[0, "                                                                                         \
    "1, 0]}, \"D\": {\"type\": \"revolute\", \"bodies\": [\"c\", \"ground\"], \"at\": [3, 0, 0], " \
    "\"axis\": [0, 1, 0], \"initial\": {\"position\": 2}}}, \"run\": {\"t_end\": 0.01}}"
    {"out of reach", CRANK("")},
    {"fixed", CRANK(", \"initial\": {\"position\": 1, \"fixed\": true}")},
};

static bg_status start_model(const char *name, const char *formulation, bg_error *err)
{
    bg_model *model = NULL;
    bg_system *sys = NULL;
    bg_run_report r = {0};
    bg_run_options o = bg_default_run_options();
    const char *json = NULL;
    for (size_t k = 0; k < sizeof started / sizeof *started; k++)
        json = strcmp(started[k].name, name) == 0 ? started[k].json : json;
    bg_status st = bg_model_parse(json, name, NULL, 0, &model, err);
    if (st == BG_OK)
        st = bg_model_create_system(model, formulation, &sys, err);
    if (st == BG_OK)
        st = run(sys, &o, &r, err);
    if (r.assembly.warnings.lost > 0)
        st = BG_NO_MEMORY;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return st;
}

/* A result of a model that describes itself. */
static bg_status write_model_result(const char *model, const char *file, bg_error *err)
{
    bg_model *m;
    bg_system *sys = NULL;
    bg_result *result = NULL;
    bg_run_report r = {0};
    bg_run_options o = bg_default_run_options();
    o.output_steps = 1;
    o.t_end = 0.01;
    o.formulation = "joint";
    bg_status st = bg_model_read(model, NULL, 0, &m, err);
    if (st == BG_OK)
        st = bg_model_create_system(m, "joint", &sys, err);
    if (st == BG_OK)
        st = bg_result_create(file, model, "mdop5", sys, &result, err);
    if (st == BG_OK)
        st = bg_result_describe(result, m, &o, err);
    if (st == BG_OK) {
        o.sink = bg_result_get_sink(result);
        st = run(sys, &o, &r, err);
    }
    if (st == BG_OK)
        st = bg_result_finish(result, &r, err);
    bg_result_destroy(result);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(m);
    return st;
}

static bg_status write_report(const char *file, const char *unused, bg_error *err)
{
    static const char page[] = "<script id=\"bogie-data\" type=\"application/json\">null</script>";
    (void)unused;
    bg_report *report;
    bg_status st = bg_report_create(&report, err);
    if (st == BG_OK)
        st = bg_report_add(report, file, err);
    if (st == BG_OK)
        st = bg_report_write(report, page, NULL, "/dev/null", err);
    if (st == BG_OK)
        st = bg_report_write_gltf(report, "/dev/null", err);
    bg_report_destroy(report);
    return st;
}

static bg_status step_in_real_time(const char *system, const char *method, bg_error *err)
{
    bg_system *sys;
    bg_realtime *rt = NULL;
    bg_realtime_options o = bg_default_realtime_options();
    bg_status st = create(system, &sys, err);
    o.integrator = method;
    if (st == BG_OK)
        st = bg_realtime_create(sys, &o, &rt, err);
    for (int k = 0; k < 3 && st == BG_OK; k++)
        st = bg_realtime_step(rt, NULL, NULL, err);
    bg_realtime_destroy(rt);
    bg_system_destroy(sys);
    return st;
}

/* A start in equilibrium, and the modes about it. */
static bg_status find_modes(const char *file, const char *formulation, bg_error *err)
{
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem = NULL;
    bg_evaluator *evaluator = NULL;
    bg_state *x = NULL;
    bg_assembly_report report = {0};
    bg_linearisation *l = NULL;
    bg_modes modes = {0};
    def.reference = file;
    def.formulation = formulation;
    def.equilibrium = 1;
    bg_status st = bg_problem_create(&def, &problem, err);
    const bg_system *sys = st == BG_OK ? bg_problem_get_system(problem) : NULL;
    if (st == BG_OK)
        st = bg_state_create(sys, &x, err);
    if (st == BG_OK)
        st = bg_evaluator_create(sys, &evaluator, err);
    if (st == BG_OK)
        st = bg_start_find(evaluator, 0, x, &report, err);
    if (st == BG_OK && report.warnings.lost > 0)
        st = BG_NO_MEMORY;
    if (st == BG_OK)
        st = bg_linearisation_create(evaluator, &l, err);
    if (st == BG_OK)
        st = bg_linearisation_update(l, x, &report.redundancy, err);
    if (st == BG_OK)
        st = bg_modes_create(l, &modes, err);
    bg_modes_clear(&modes);
    bg_linearisation_destroy(l);
    bg_assembly_report_clear(&report);
    bg_evaluator_destroy(evaluator);
    bg_state_destroy(x);
    bg_problem_destroy(problem);
    return st;
}

/* Of scenarios with many allocations the sanitizers look at every seventh one. */
enum { MANY = SANITIZED ? 60 : 200, STRIDE = SANITIZED ? 7 : 1 };

static void fail_each(scenario *what, const char *system, const char *method)
{
    bg_error err = {BG_OK, ""};
    long k = 0;
    bg_status st;
    do {
        k += k < MANY ? 1 : STRIDE;
        fail_at = k;
        calls = 0;
        st = what(system, method, &err);
        long made = calls;
        fail_at = 0;
        if (made < k) { /* the k-th allocation never came: everything was tried */
            if (st != BG_OK)
                fail_msg("%s %s without a failure: %s", system, method, err.text);
            break;
        }
        if (st != BG_NO_MEMORY)
            fail_msg("%s %s: allocation %ld of the library failed, the status is %s", system,
                     method, k, bg_status_name(st));
    } while (k < 10000);
    assert_true(k > 3 && k < 10000);
    print_message("%s %s: about %ld allocations\n", system, method, k - 1);
}

static void test_runs(void **state)
{
    (void)state;
    for (int k = 0; get_method(k); k++)
        fail_each(run_with_checkpoint, "equations:car-axle", get_method(k)->name);
    fail_each(run_with_checkpoint, "equations:fast-pendulum", "prk"); /* of two rates */
    fail_each(run_with_checkpoint, "equations:andrews", "mdop5 projecting");
    fail_each(run_with_checkpoint, "equations:bouncing-ball", "mdop5");
    fail_each(run_with_checkpoint, "equations:chain", "mdop5");
    fail_each(run_with_checkpoint, "equations:wheelset", "mdop5");
}

static void test_real_time(void **state)
{
    (void)state;
    fail_each(step_in_real_time, "equations:car-axle", "linear-euler");
    fail_each(step_in_real_time, "equations:wheelset", "linear-euler");
    fail_each(step_in_real_time, "equations:bouncing-ball", "euler");
}

static void test_results(void **state)
{
    (void)state;
    fail_each(write_results, "equations:bouncing-ball", ".csv");
    fail_each(write_results, "equations:slider-crank", ".h5");
}

static void test_checks(void **state)
{
    (void)state;
    fail_each(check, "equations:andrews", "");
    fail_each(check, "equations:circular-track", "");
}

static void test_models(void **state)
{
    (void)state;
    fail_each(run_model, BOGIE_SOURCE_DIR "/tests/laws.json", "joint");
    fail_each(run_model, BOGIE_SOURCE_DIR "/tests/laws.json", "cartesian");
    fail_each(run_model, BOGIE_SOURCE_DIR "/models/n-pendulum.json", "joint");
    fail_each(read_model, BOGIE_SOURCE_DIR "/tests/fuzz/seeds/parts.json", "");
}

static void test_linear(void **state)
{
    (void)state;
    fail_each(find_modes, BOGIE_SOURCE_DIR "/models/double-wishbone.json", "joint");
    fail_each(find_modes, BOGIE_SOURCE_DIR "/models/iftomm-a01-pendulum.json", "cartesian");
}

static void test_starts(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * (sizeof started / sizeof *started); k++)
        fail_each(start_model, started[k / 2].name, k % 2 ? "cartesian" : "joint");
}

static void test_reports(void **state)
{
    (void)state;
    char file[64];
    bg_error err = {BG_OK, ""};
    snprintf(file, sizeof file, "/tmp/bogie-allocation-%d.h5", (int)getpid());
    if (write_model_result(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", file, &err))
        fail_msg("%s", err.text);
    fail_each(write_report, file, "report");
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),    cmocka_unit_test(test_real_time),
        cmocka_unit_test(test_results), cmocka_unit_test(test_checks),
        cmocka_unit_test(test_models),  cmocka_unit_test(test_starts),
        cmocka_unit_test(test_linear),  cmocka_unit_test(test_reports)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
