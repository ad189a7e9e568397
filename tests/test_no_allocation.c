/* Between the first step and the last nothing is allocated, by nobody in the process: this program
 * brings its own malloc family, which counts. (Not under the address sanitizer, which brings its
 * own.) */
#include "run_support.h"

static long allocations;

#if !defined(__SANITIZE_ADDRESS__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *data, size_t size)
{
    allocations++;
    return __libc_realloc(data, size);
}
#endif

static long first, last, rows;

static bg_status count_row(void *self, const bg_row *row, bg_error *err)
{
    (void)self;
    (void)row;
    (void)err;
    if (rows++ == 0)
        first = allocations;
    last = allocations;
    return BG_OK;
}

/* A whole run with events, rows on a grid and at steps: as many allocations at the last row as at
 * the first. */
static void test_runs(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:andrews",      "equations:car-axle",
                                          "equations:slider-crank", "equations:circular-track",
                                          "equations:pendulum",     "equations:bouncing-ball",
                                          "equations:chain"};
    bg_error err = {BG_OK, ""};
    for (int i = 0; i < 7; i++)
        for (int k = 0; bg_integrator_get_info(k); k++) {
            bg_system *sys = create_system(systems[i], NULL, NULL);
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            o.integrator = bg_integrator_get_info(k)->name;
            if (bg_integrator_get_info(k)->fixed_steps)
                o.method.step = bg_system_get_def(sys)->t_end / 20000;
            o.output_steps = 1;
            o.output_interval = (bg_system_get_def(sys)->t_end) / 50;
            o.sink.row = count_row;
            rows = 0;
            bg_status st = bg_run(sys, &o, &r, &err);
            /* explicit Euler cannot hold every one of them, which costs no memory either */
            if (st != BG_OK && !(st == BG_NOT_FINITE && strcmp(o.integrator, "euler") == 0))
                fail_msg("%s %s: %s", systems[i], o.integrator, err.text);
            assert_true(rows > 50);
            if (last != first)
                fail_msg("%s %s: %ld allocations on the way", systems[i], o.integrator,
                         last - first);
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
}

/* Steps in real time, with events and outputs. */
static void test_realtime_steps(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:car-axle", "equations:bouncing-ball",
                                          "equations:slider-crank"};
    bg_error err = {BG_OK, ""};
    for (int i = 0; i < 3; i++) {
        bg_system *sys = create_system(systems[i], NULL, NULL);
        bg_realtime_options o = bg_default_realtime_options();
        bg_realtime *rt;
        double y[64];
        assert_ok(bg_realtime_create(sys, &o, &rt, &err));
        assert_true(bg_realtime_get_noutputs(rt) <= 64);
        long before = allocations;
        for (int k = 0; k < 1000; k++)
            assert_ok(bg_realtime_step(rt, NULL, y, &err));
        assert_int_equal(allocations - before, 0);
        assert_true(i != 1 || bg_realtime_get_nevents(rt) > 0);
        bg_realtime_destroy(rt);
        bg_system_destroy(sys);
    }
}

/* The counter does count. */
static void test_counter(void **state)
{
    (void)state;
    long before = allocations;
    void *volatile x = malloc(10);
    free(x);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(allocations == before + 1);
#else
    assert_true(allocations == before);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_realtime_steps),
                                       cmocka_unit_test(test_counter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
