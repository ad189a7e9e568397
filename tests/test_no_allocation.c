/* Between the first step and the last nothing is allocated, by nobody in the process: this program
 * brings its own malloc family, which counts. (Not under the address sanitizer, which brings its
 * own.) */
#include "linalg/linalg.h"
#include "model_support.h"

#include <glob.h>
#include <stdbool.h>

static volatile long allocations;

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

/* Fixed steps without anything that keeps them stable. */
static bool is_explicit(const bg_integrator_info *info)
{
    return info->fixed_steps && strcmp(info->name, "linear-euler") != 0;
}

/* A whole run with events, rows on a grid and at steps: as many allocations at the last row as at
 * the first. form: that of mdop5, NULL for other methods. */
static void run_equations(const char *system, const bg_integrator_info *info, const char *form)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system(system, NULL, NULL);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    const bg_setting s = {"form", form};
    o.method.settings = &s;
    o.method.nsettings = form != NULL;
    o.integrator = info->name;
    if (info->fixed_steps)
        o.method.step = bg_system_get_def(sys)->t_end / 20000;
    o.output_steps = 1;
    o.output_interval = (bg_system_get_def(sys)->t_end) / 50;
    o.sink.row = count_row;
    rows = 0;
    bg_status st = bg_run(sys, &o, &r, &err);
    /* explicit fixed steps cannot hold every one of them, which costs no memory either */
    if (st != BG_OK && !(st == BG_BROKE_DOWN && is_explicit(info)))
        fail_msg("%s %s: %s", system, o.integrator, err.text);
    assert_true(rows > 50);
    if (last != first)
        fail_msg("%s %s %s: %ld allocations on the way", system, o.integrator, form ? form : "",
                 last - first);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

static void test_runs(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:andrews",      "equations:car-axle",
                                          "equations:slider-crank", "equations:circular-track",
                                          "equations:pendulum",     "equations:bouncing-ball",
                                          "equations:chain",        "equations:fast-pendulum",
                                          "equations:wheelset"};
    for (int i = 0; i < 8; i++)
        for (int k = 0; get_method(k); k++) {
            const bg_integrator_info *info = get_method(k);
            run_equations(systems[i], info, NULL);
            if (strcmp(info->name, "mdop5") == 0)
                run_equations(systems[i], info, "projecting");
        }
}

/* Steps in real time, with events and outputs. */
static void test_realtime_steps(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:car-axle", "equations:bouncing-ball",
                                          "equations:slider-crank", "equations:wheelset"};
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

static const bg_setting stair = {
    "road",
    "{\"type\":\"stair\",\"at\":0.5,\"height\":-0.05,\"speed\":\"speed\",\"base\":\"base\"}"};

/* A shipped model; the five-link suspension falls down a stair, its wheel lifts off and lands. */
static bg_system *create_model(const char *path, const char *form, bg_model **model)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    assert_ok(bg_model_read(path, &stair, strstr(path, "five-link") != NULL, model, &err));
    assert_ok(bg_model_create_system(*model, form, &sys, &err));
    return sys;
}

/* Steps of a run from its start on, the first one included. */
static void run_model_file(const char *path, const char *form, const bg_integrator_info *info)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys = create_model(path, form, &model);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bool events = strstr(path, "five-link") != NULL;
    o.integrator = info->name;
    o.method.step = info->fixed_steps ? 1e-3 : 0;
    o.max_steps = events ? 500 : strstr(path, "train") ? 30 : 100; /* whose steps cost most */
    if (info->order == 2) /* to see an event within these steps */
        o.method.rtol = o.method.atol = 1e-4;
    o.output_steps = 1;
    o.sink.row = count_row;
    rows = 0;
    bg_status st = bg_run(sys, &o, &r, &err);
    bool explicit_ = is_explicit(info); /* cannot hold every one of them */
    if (st != BG_OK && st != BG_TOO_MANY_STEPS && !explicit_)
        fail_msg("%s %s %s: %s", path, form, o.integrator, err.text);
    assert_true(rows > 20 || explicit_);
    assert_true(!events || explicit_ || r.nevents > 0);
    if (last != first)
        fail_msg("%s %s %s: %ld allocations on the way", path, form, o.integrator, last - first);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

static void step_model_file(const char *path, const char *form)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys = create_model(path, form, &model);
    bg_realtime_options o = bg_default_realtime_options();
    bg_realtime *rt;
    assert_ok(bg_realtime_create(sys, &o, &rt, &err));
    bool events = strstr(path, "five-link") != NULL;
    long before = allocations;
    for (int k = 0; k < (events ? 500 : 100); k++)
        assert_ok(bg_realtime_step(rt, NULL, NULL, &err));
    if (allocations != before)
        fail_msg("%s %s: %ld allocations in real time", path, form, allocations - before);
    assert_true(!events || bg_realtime_get_nevents(rt) > 0);
    bg_realtime_destroy(rt);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* Every shipped model, in both forms, with every method, and in real time. */
static void test_models(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* nothing is counted there */
#endif
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 13);
    for (size_t i = 0; i < files.gl_pathc; i++)
        for (int f = 0; f < 2; f++) {
            for (int k = 0; get_method(k); k++)
                run_model_file(files.gl_pathv[i], forms[f], get_method(k));
            step_model_file(files.gl_pathv[i], forms[f]);
        }
    globfree(&files);
}

enum { UNKNOWNS = 60, PER_ROW = 5 };

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

/* Entries of any size, many of them zero: hardly two matrices ask for the same pivots. */
static void fill_values(int n, double *values, unsigned *seed)
{
    for (int k = 0; k < n; k++)
        values[k] = draw(seed) < 0.2 ? 0 : (draw(seed) - 0.5) * pow(10, 6 * draw(seed) - 3);
}

static double calc_backward_error(const bg_pattern *p, const double *values, const double *x,
                                  const double *b)
{
    double largest = 0;
    for (int i = 0; i < p->rows; i++) {
        double sum = b[i], size = fabs(b[i]);
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) {
            sum -= values[k] * x[p->column[k]];
            size += fabs(values[k] * x[p->column[k]]);
        }
        largest = fmax(largest, fabs(sum) / size);
    }
    return largest;
}

/* New pivots, as often as values ask for them, fit into the memory that is there. */
static void test_pivots(void **state)
{
    (void)state;
    int start[UNKNOWNS + 1], column[UNKNOWNS * PER_ROW], solved = 0;
    bg_pattern p = {UNKNOWNS, UNKNOWNS, start, column};
    unsigned seed = 1;
    for (int pattern = 0; pattern < 20; pattern++) {
        bg_linear *a;
        for (int i = 0, n = start[0] = 0; i < UNKNOWNS; i++, start[i] = n) {
            bool there[UNKNOWNS] = {false};
            there[i] = true;
            for (int k = 1; k < PER_ROW; k++)
                there[(int)(UNKNOWNS * draw(&seed))] = true;
            for (int j = 0; j < UNKNOWNS; j++)
                if (there[j])
                    column[n++] = j;
        }
        assert_int_equal(bg_linear_create(UNKNOWNS, &p, &a, NULL), BG_OK);
        long before = allocations;
        for (int k = 0; k < 100; k++) {
            double x[UNKNOWNS], b[UNKNOWNS];
            fill_values(start[UNKNOWNS], bg_linear_get_values(a), &seed);
            if (bg_linear_factor(a) != BG_OK)
                continue;
            for (int i = 0; i < UNKNOWNS; i++)
                x[i] = b[i] = draw(&seed) - 0.5;
            bg_linear_solve(a, x);
            assert_true(calc_backward_error(&p, bg_linear_get_values(a), x, b) < 1e-13);
            solved++;
        }
        assert_int_equal(allocations - before, 0);
        bg_linear_destroy(a);
    }
    assert_true(solved > 200);
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

enum { ROWS = 120, COLUMNS = 150, REACH = 4 };

/* Rows of a band, of which some, other ones every time, are combinations of the rows before them:
 * what depends on each other makes groups of all sizes. */
static void fill_band(double *values, unsigned *seed)
{
    double part = pow(draw(seed), 3);
    for (int i = 0; i < ROWS; i++) {
        double *row = values + i * REACH;
        for (int k = 0; k < REACH; k++)
            row[k] = draw(seed) - 0.5;
        if (i % 2 == 1 && draw(seed) < part) /* the row before begins at the same column */
            for (int k = 0; k < REACH; k++)
                row[k] = (draw(seed) < 0.5 ? 1 : 2) * values[(i - 1) * REACH + k];
        if (draw(seed) < part / 4)
            memset(row, 0, REACH * sizeof *row);
    }
}

/* Which rows are redundant is decided upon in steps, however many depend on each other. */
static void test_groups(void **state)
{
    (void)state;
    int start[ROWS + 1], column[ROWS * REACH], larger = 0;
    bg_pattern p = {ROWS, COLUMNS, start, column};
    static double values[ROWS * REACH];
    unsigned char dependent[2][ROWS], involved[ROWS];
    unsigned seed = 5;
    bg_rank *rank[2];
    for (int i = 0; i <= ROWS; i++)
        start[i] = i * REACH;
    for (int k = 0; k < ROWS * REACH; k++)
        column[k] = k / REACH / 2 * 2 + k % REACH;
    for (int r = 0; r < 2; r++)
        assert_int_equal(bg_rank_create(ROWS, COLUMNS, &p, &rank[r], NULL), BG_OK);
    assert_int_equal(bg_rank_settle(rank[0], NULL), BG_OK);
    for (int k = 0; k < 200; k++) {
        int found[2];
        fill_band(values, &seed);
        bg_rank_question question = {.A = values, .tolerance = 1e-9, .least = 1e-9};
        for (int r = 0; r < 2; r++) {
            bg_rank_answer answer = {.dependent = dependent[r], .involved = involved};
            long before = allocations;
            found[r] = bg_rank_calc(rank[r], &question, &answer);
            if (r == 0)
                assert_int_equal(allocations - before, 0);
            else
                larger += allocations != before;
        }
        assert_int_equal(found[0], found[1]);
        assert_memory_equal(dependent[0], dependent[1], ROWS);
    }
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(larger > 3); /* groups larger than any before */
#endif
    bg_rank_destroy(rank[0]);
    bg_rank_destroy(rank[1]);
}

/* Twenty loops of hinges, three redundant rows each, through positions where all are singular. */
static void test_redundant_loops(void **state)
{
    (void)state;
    enum { LOOPS = 20 };
    char names[LOOPS][32];
    bg_setting settings[LOOPS + 1] = {{"parameters.N", "20"}};
    for (int k = 0; k < LOOPS; k++) {
        snprintf(names[k], sizeof names[k], "joints.loop%d.type", k);
        settings[k + 1] = (bg_setting){names[k], "revolute"};
    }
    bg_error err = {BG_OK, ""};
    for (int f = 0; f < 2; f++) {
        bg_model *model;
        bg_system *sys;
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", settings,
                                LOOPS + 1, &model, &err));
        assert_ok(bg_model_create_system(model, forms[f], &sys, &err));
        o.t_end = 1;
        o.method.rtol = o.method.atol = 1e-6;
        o.output_steps = 1;
        o.sink.row = count_row;
        rows = 0;
        assert_ok(bg_run(sys, &o, &r, &err));
        assert_true(r.assembly.redundancy.count >= 60);
        if (last != first)
            fail_msg("hinges, %s: %ld allocations on the way", forms[f], last - first);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),   cmocka_unit_test(test_realtime_steps),
        cmocka_unit_test(test_models), cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_groups), cmocka_unit_test(test_redundant_loops),
        cmocka_unit_test(test_counter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
