/* Results on disk: what is read back is what was given, bit for bit, and the published file is
 * whole at every moment: after a kill, a full disk, a reader that keeps it open, a second run. */
#include "bogie/result.h"
#include "bogie/version.h"
#include "folder_support.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { NQ = 2, NV = 2, NZ = 1, NG = 1, NY = 1, NMODE = 1 };

typedef struct world {
    folder folder;
    bg_system *system;
} world;

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f)
        out->f[0] = 0, out->f[1] = -9.81;
    if (want & BG_TERM_g)
        out->g[0] = p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1;
    if (want & BG_TERM_h)
        out->h[0] = -p->z[0];
    if (want & BG_TERM_s)
        out->s[0] = p->q[1];
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    (void)self;
    (void)a;
    y[0] = lambda[0] * p->q[1];
    return 0;
}

static const char *const q_names[] = {"x, lateral", "the \"y\""};
static const char *const s_names[] = {"crossing"};
static const char *const y_names[] = {"reaction"};

static int create_world(void **state)
{
    static const double q0[NQ] = {1, 0};
    world *w = calloc(1, sizeof *w);
    if (!w)
        return -1;
    bg_system_def def = bg_default_system_def();
    def.name = "pendulum";
    def.nq = NQ, def.nv = NV, def.nz = NZ, def.ng = NG, def.ns = 1, def.ny = NY, def.nmode = NMODE;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_h | BG_TERM_s;
    def.terms = terms;
    def.outputs = outputs;
    def.scleronomic = 1;
    def.q0 = q0;
    def.q_names = q_names;
    def.s_names = s_names;
    def.y_names = y_names;
    *state = w;
    return folder_make(&w->folder) || bg_system_create(&def, &w->system, NULL) ? -1 : 0;
}

static int destroy_world(void **state)
{
    world *w = *state;
    folder_remove(&w->folder);
    bg_system_destroy(w->system);
    free(w);
    return 0;
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static bool has_partial(const char *path)
{
    char partial[PATH + 16];
    snprintf(partial, sizeof partial, "%s.partial", path);
    return exists(partial);
}

/* The number at column i of field `kind` in row k: all 53 bits in use, and now and then one of the
 * values that are easily lost. */
static double calc_value(long k, char kind, int i)
{
    uint64_t x = (uint64_t)k * 0x9E3779B97F4A7C15u + (uint64_t)kind * 0xD1B54A32D192ED03u +
                 (uint64_t)i * 0x8CB92BA72F3D8DD7u;
    x ^= x >> 31;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 29;
    if (x % 97 == 0)
        return NAN;
    if (x % 97 == 1)
        return -0.0;
    if (x % 97 == 2)
        return -INFINITY;
    return ldexp((double)(int64_t)x, (int)(x % 200) - 150);
}

static double calc_time(long k)
{
    return (double)k / 1024;
}

static int calc_mode(long k)
{
    return (int)(k % 7) - 3;
}

static bg_status give_row(bg_result *result, long k, bg_error *err)
{
    double q[NQ], v[NV], a[NV], z[NZ], lambda[NG], y[NY];
    int mode[NMODE] = {calc_mode(k)};
    for (int i = 0; i < NQ; i++)
        q[i] = calc_value(k, 'q', i), v[i] = calc_value(k, 'v', i), a[i] = calc_value(k, 'a', i);
    z[0] = calc_value(k, 'z', 0), lambda[0] = calc_value(k, 'l', 0), y[0] = calc_value(k, 'y', 0);
    bg_state s = {
        .t = calc_time(k), .q = q, .v = v, .z = z, .a = a, .lambda = lambda, .mode = mode};
    bg_row row = {.state = &s, .y = y, .h = calc_value(k, 'h', 0)};
    bg_sink sink = bg_result_get_sink(result);
    return sink.row(sink.self, &row, err);
}

/* The m-th event; rows come first, one event after every fifth row. */
static bg_status give_event(bg_result *result, long m)
{
    bg_event event = {
        .t = calc_value(m, 'e', 0), .index = (int)m, .direction = (int)(m % 3) - 1, .name = "e"};
    bg_sink sink = bg_result_get_sink(result);
    return sink.event(sink.self, &event, NULL);
}

static bg_result *open_result(const world *w, const char *path)
{
    bg_error err = {0};
    bg_result *result;
    if (bg_result_create(path, "models/x.json", "mdop5", w->system, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

static bg_run_report make_report(void)
{
    bg_run_report report = {.status = BG_OK, .integrator = "mdop5"};
    return report;
}

static void give_rows(bg_result *result, long from, long to)
{
    for (long k = from; k < to; k++) {
        assert_int_equal(give_row(result, k, NULL), BG_OK);
        if (k % 5 == 4)
            assert_int_equal(give_event(result, k / 5), BG_OK);
    }
}

static hsize_t find_length(hid_t file, const char *name, int rank, hsize_t width)
{
    hsize_t size[2] = {0, 1}, limit[2];
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    assert_true(set >= 0 && space >= 0);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    H5Sget_simple_extent_dims(space, size, limit);
    assert_true(limit[0] == H5S_UNLIMITED && size[1] == width);
    H5Sclose(space);
    H5Dclose(set);
    return size[0];
}

static void *read_all(hid_t file, const char *name, hid_t type, hsize_t count)
{
    void *data = calloc(count + 1, sizeof(double));
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_non_null(data);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    return data;
}

static void check_reals(hid_t file, const char *name, int rank, char kind, int width, hsize_t rows)
{
    assert_int_equal(find_length(file, name, rank, (hsize_t)width), rows);
    double *x = read_all(file, name, H5T_NATIVE_DOUBLE, rows * (hsize_t)width);
    for (long k = 0; k < (long)rows; k++) {
        for (int i = 0; i < width; i++) {
            double expected = kind == 't' ? calc_time(k) : calc_value(k, kind, i);
            assert_memory_equal(&x[k * width + i], &expected, sizeof expected);
        }
    }
    free(x);
}

static void check_events(hid_t file, hsize_t rows)
{
    hsize_t events = rows / 5;
    /* A flush may fall between a row and its event. */
    hsize_t found = find_length(file, "events/t", 1, 1);
    assert_true(found == events || found + 1 == events);
    assert_int_equal(find_length(file, "events/index", 1, 1), found);
    assert_int_equal(find_length(file, "events/direction", 1, 1), found);
    double *t = read_all(file, "events/t", H5T_NATIVE_DOUBLE, found);
    int *index = read_all(file, "events/index", H5T_NATIVE_INT, found);
    int *direction = read_all(file, "events/direction", H5T_NATIVE_INT, found);
    for (long m = 0; m < (long)found; m++) {
        double expected = calc_value(m, 'e', 0);
        assert_memory_equal(&t[m], &expected, sizeof expected);
        assert_int_equal(index[m], m);
        assert_int_equal(direction[m], m % 3 - 1);
    }
    free(t);
    free(index);
    free(direction);
}

static int read_int(hid_t file, const char *name)
{
    int value = -1;
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT, &value) >= 0);
    H5Aclose(attribute);
    return value;
}

/* Compares the strings of an attribute of the object at path. */
static void check_text(hid_t file, const char *path, const char *name, int count,
                       const char *const *expected)
{
    char *text[8] = {0};
    hid_t attribute = H5Aopen_by_name(file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    assert_true(attribute >= 0 && H5Tis_variable_str(type) > 0);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Aread(attribute, type, text) >= 0);
    for (int i = 0; i < count; i++)
        assert_string_equal(text[i], expected[i]);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, text);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* Opens a result as any tool would, and compares all of it. Returns its number of rows. */
static long check_rows(const char *path, int complete)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_int_equal(read_int(file, "complete"), complete);
    assert_int_equal(H5Lexists(file, "summary", H5P_DEFAULT), complete);
    hsize_t rows = find_length(file, "t", 1, 1);
    check_reals(file, "t", 1, 't', 1, rows);
    check_reals(file, "h", 1, 'h', 1, rows);
    check_reals(file, "q", 2, 'q', NQ, rows);
    check_reals(file, "v", 2, 'v', NV, rows);
    check_reals(file, "a", 2, 'a', NV, rows);
    check_reals(file, "z", 2, 'z', NZ, rows);
    check_reals(file, "lambda", 2, 'l', NG, rows);
    check_reals(file, "outputs", 2, 'y', NY, rows);
    assert_int_equal(find_length(file, "mode", 2, NMODE), rows);
    int *mode = read_all(file, "mode", H5T_NATIVE_INT, rows);
    for (long k = 0; k < (long)rows; k++)
        assert_int_equal(mode[k], calc_mode(k));
    free(mode);
    check_events(file, rows);
    assert_true(H5Fclose(file) >= 0);
    return (long)rows;
}

static void hdf5_gives_back_every_bit(void **state)
{
    const world *w = *state;
    char path[PATH];
    bg_result *result = open_result(w, locate(&w->folder, "round.h5", path));
    assert_false(exists(path));
    for (long k = 0; k < 3000; k += 7) {
        give_rows(result, k, k + 7);
        assert_int_equal(bg_result_flush(result, NULL), BG_OK);
        assert_int_equal(bg_result_flush(result, NULL), BG_OK); /* nothing new: nothing done */
    }
    assert_int_equal(check_rows(path, 0), 3003);
    bg_run_report report = make_report();
    give_rows(result, 3003, 3010);
    assert_int_equal(bg_result_finish(result, &report, NULL), BG_OK);
    assert_false(has_partial(path));
    bg_result_destroy(result);
    assert_int_equal(check_rows(path, 1), 3010);

    /* Space reserved ahead has been given back: 12 chunks of 256 rows of 92 bytes, 10 chunks of 64
     * events of 16 bytes, and some metadata. */
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_in_range(info.st_size, 292000, 342000);
}

static void hdf5_has_the_documented_layout(void **state)
{
    const world *w = *state;
    char path[PATH];
    bg_result *result = open_result(w, locate(&w->folder, "layout.h5", path));
    give_rows(result, 0, 3);
    bg_run_report report = make_report();
    assert_int_equal(bg_result_finish(result, &report, NULL), BG_OK);
    bg_result_destroy(result);

    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_int_equal(read_int(file, "format_version"), 1);
    check_text(file, "/", "format", 1, (const char *[]){"bogie-result"});
    check_text(file, "/", "bogie_version", 1, (const char *[]){BG_VERSION});
    check_text(file, "/", "model", 1, (const char *[]){"models/x.json"});
    check_text(file, "/", "integrator", 1, (const char *[]){"mdop5"});
    check_text(file, "t", "names", 1, (const char *[]){"t"});
    check_text(file, "q", "names", 2, q_names);
    check_text(file, "v", "names", 2, (const char *[]){"v[0]", "v[1]"});
    check_text(file, "a", "names", 2, (const char *[]){"v[0]", "v[1]"});
    check_text(file, "lambda", "names", 1, (const char *[]){"g[0]"});
    check_text(file, "outputs", "names", 1, y_names);
    check_text(file, "mode", "names", 1, (const char *[]){"mode[0]"});
    check_text(file, "events", "names", 1, s_names);
    check_text(file, "events", "rising", 1, (const char *[]){"crossing rises through zero"});
    check_text(file, "events", "falling", 1, (const char *[]){"crossing falls through zero"});
    check_text(file, "events", "touching", 1, (const char *[]){"crossing touches zero"});

    hid_t set = H5Dopen2(file, "summary", H5P_DEFAULT), type = H5Dget_type(set);
    char *summary = NULL;
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &summary) >= 0);
    char *expected = bg_summary_create(w->system, "models/x.json", &report);
    assert_string_equal(summary, expected);
    free(expected);
    H5free_memory(summary);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
}

static void rows_flush_themselves(void **state)
{
    const world *w = *state;
    char path[PATH];
    bg_result *result = open_result(w, locate(&w->folder, "full.hdf5", path));
    give_rows(result, 0, 100000); /* more than the buffer of 4 MiB takes */
    assert_true(check_rows(path, 0) >= 40000);
    bg_result_destroy(result);
    assert_false(has_partial(path));

    result = open_result(w, locate(&w->folder, "timed.h5", path));
    give_rows(result, 0, 5);
    assert_false(exists(path));
    usleep(1010000);
    give_rows(result, 5, 6);
    assert_int_equal(check_rows(path, 0), 6);
    bg_result_destroy(result);
    assert_int_equal(check_rows(path, 0), 6);
}

/* Compares a CSV line with row k. */
static void check_line(const char *line, long k)
{
    const struct {
        char kind;
        int width;
    } fields[] = {{'t', 1},  {'h', 1}, {'q', NQ}, {'v', NV},
                  {'a', NV}, {'z', 1}, {'l', 1},  {'y', 1}};
    char *end = (char *)(uintptr_t)line;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        for (int i = 0; i < fields[f].width; i++) {
            double expected = f == 0 ? calc_time(k) : calc_value(k, fields[f].kind, i);
            double x = strtod(end, &end);
            assert_int_equal(*end++, ',');
            if (isnan(expected))
                assert_true(isnan(x));
            else
                assert_memory_equal(&x, &expected, sizeof x);
        }
    }
    assert_int_equal(strtol(end, &end, 10), calc_mode(k));
    assert_int_equal(*end, '\n');
}

/* Returns the number of whole lines after the header; each must be right. */
static long check_csv(const char *path, bool whole)
{
    char line[1024];
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    assert_string_equal(line,
                        "t,h,\"q:x, lateral\",\"q:the \"\"y\"\"\",v:v[0],v:v[1],a:v[0],a:v[1],"
                        "z:z[0],lambda:g[0],y:reaction,mode[0]\n");
    long rows = 0;
    while (fgets(line, sizeof line, in)) {
        if (!strchr(line, '\n')) {
            assert_false(whole);
            break;
        }
        check_line(line, rows++);
    }
    fclose(in);
    return rows;
}

static void csv_gives_back_every_bit(void **state)
{
    const world *w = *state;
    char path[PATH];
    bg_result *result = open_result(w, locate(&w->folder, "round.csv", path));
    give_rows(result, 0, 1000);
    assert_false(exists(path));
    assert_int_equal(bg_result_flush(result, NULL), BG_OK);
    assert_false(has_partial(path));
    assert_int_equal(check_csv(path, true), 1000);
    for (long k = 1000; k < 2000; k++) {
        give_rows(result, k, k + 1);
        assert_int_equal(bg_result_flush(result, NULL), BG_OK);
    }
    assert_int_equal(check_csv(path, true), 2000);
    give_rows(result, 2000, 2001);
    bg_run_report report = make_report();
    assert_int_equal(bg_result_finish(result, &report, NULL), BG_OK);
    bg_result_destroy(result);
    assert_int_equal(check_csv(path, true), 2001);
}

static void *create_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

/* What a writer tells about itself while it lives. */
typedef struct writer_progress {
    volatile long flushes, safe; /* flushes done, and the rows they cover */
} writer_progress;

static void write_until_killed(const world *w, const char *path, writer_progress *seen)
{
    bg_result *result;
    if (bg_result_create(path, "m", "mdop5", w->system, &result, NULL))
        _exit(1);
    for (long k = 0;; k++) {
        if (give_row(result, k, NULL) || (k % 5 == 4 && give_event(result, k / 5)))
            _exit(1);
        if (k % 41 < 3) {
            if (bg_result_flush(result, NULL))
                _exit(1);
            seen->safe = k + 1;
            seen->flushes++;
        }
    }
}

/* Starts a writer and kills it up to 4 ms, the time of a few flushes, after its n-th flush. */
static void kill_writer(const world *w, const char *path, long n, unsigned delay,
                        writer_progress *seen)
{
    seen->safe = seen->flushes = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        write_until_killed(w, path, seen);
    for (int wait = 0; seen->flushes < n && wait < 200000; wait++)
        usleep(50);
    usleep(delay % 4000);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it did not fail before */
}

/* Kills writers at many moments. Every second one finds the file of the one before, and all of them
 * the working file. */
static void kill_writers(const world *w, const char *path, int times, long (*check)(const char *))
{
    writer_progress *seen = create_shared(sizeof *seen);
    unsigned random = 12345;
    int with_rows = 0;
    for (int n = 0; n < times; n++) {
        if (n % 2 == 0)
            unlink(path);
        long before = exists(path) ? check(path) : 0;
        random = random * 1664525u + 1013904223u;
        kill_writer(w, path, n % 10, random >> 12, seen);
        if (!exists(path)) {
            assert_int_equal(seen->flushes, 0);
            continue;
        }
        long rows = check(path);
        assert_true(rows >= seen->safe);
        assert_true(seen->safe > 0 || rows == before || rows == 1);
        with_rows += seen->safe > 0;
    }
    assert_true(with_rows >= times / 2);
    munmap(seen, sizeof *seen);
}

static long check_killed_hdf5(const char *path)
{
    return check_rows(path, 0);
}

static long check_killed_csv(const char *path)
{
    return check_csv(path, false);
}

static void killed_runs_leave_readable_files(void **state)
{
    const world *w = *state;
    char path[PATH];
    kill_writers(w, locate(&w->folder, "killed.h5", path), 40, check_killed_hdf5);
    bg_result *result = open_result(w, path); /* takes over what they left */
    bg_result_destroy(result);
    assert_false(has_partial(path));
    kill_writers(w, locate(&w->folder, "killed.csv", path), 20, check_killed_csv);
}

static void older_files_survive_runs_without_a_flush(void **state)
{
    const world *w = *state;
    char path[PATH];
    bg_run_report report = make_report();
    const char *names[] = {"older.h5", "older.csv"};
    for (int n = 0; n < 2; n++) {
        locate(&w->folder, names[n], path);
        bg_result *result = open_result(w, path);
        give_rows(result, 0, 10);
        assert_int_equal(bg_result_finish(result, &report, NULL), BG_OK);
        bg_result_destroy(result);

        result = open_result(w, path); /* rows, but the process gives up before a flush */
        give_rows(result, 0, 3);
        bg_result_destroy(result);
        assert_false(has_partial(path));
        result = open_result(w, path); /* a run that found no consistent start */
        report.status = BG_NOT_ASSEMBLED;
        assert_int_equal(bg_result_finish(result, &report, NULL), BG_OK);
        bg_result_destroy(result);
        report.status = BG_OK;
        assert_false(has_partial(path));
        assert_int_equal(n == 0 ? check_rows(path, 1) : check_csv(path, true), 10);
    }
    /* A run that did start replaces it, even without rows. */
    bg_result *result = open_result(w, locate(&w->folder, "older.h5", path));
    bg_sink sink = bg_result_get_sink(result);
    assert_int_equal(sink.begin(sink.self, NULL), BG_OK);
    assert_int_equal(bg_result_finish(result, &report, NULL), BG_OK);
    bg_result_destroy(result);
    assert_int_equal(check_rows(path, 1), 0);
}

typedef struct writing_outcome {
    bg_error err, again, finish;
    long flushed;
} writing_outcome;

/* Writes under a limit on the size of files until that fails. HDF5 shuts down cleanly after it. */
static void write_until_full(const world *w, const char *path, writing_outcome *out)
{
    struct rlimit limit = {600000, 600000};
    bg_result *result;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) ||
        bg_result_create(path, "m", "mdop5", w->system, &result, NULL))
        _exit(1);
    for (long k = 0; k < 1000000 && !out->err.status; k++) {
        if (give_row(result, k, &out->err) || (k % 5 == 4 && give_event(result, k / 5)))
            break;
        if (k % 100 == 99 && bg_result_flush(result, &out->err) == BG_OK)
            out->flushed = k + 1;
    }
    bg_run_report report = make_report();
    give_row(result, 0, &out->again);
    bg_result_finish(result, &report, &out->finish);
    bg_result_destroy(result);
    _exit(H5close() < 0);
}

static void full_disks_cost_only_the_last_rows(void **state)
{
    const world *w = *state;
    writing_outcome *out = create_shared(sizeof *out);
    const char *names[] = {"limit.h5", "limit.csv"};
    for (int n = 0; n < 2; n++) {
        char path[PATH], expected[64];
        locate(&w->folder, names[n], path);
        memset(out, 0, sizeof *out);
        pid_t child = fork();
        if (child == 0)
            write_until_full(w, path, out);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(out->err.status, BG_IO);
        assert_non_null(strstr(out->err.text, path));
        assert_non_null(strstr(out->err.text, strerror(EFBIG)));
        snprintf(expected, sizeof expected, "first %ld rows, up to t = %.9g s, are safe",
                 out->flushed, calc_time(out->flushed - 1));
        assert_non_null(strstr(out->err.text, expected));
        assert_string_equal(out->again.text, out->err.text);
        assert_string_equal(out->finish.text, out->err.text);
        assert_true(out->flushed >= 2000);
        assert_int_equal(n == 0 ? check_rows(path, 0) : check_csv(path, true), out->flushed);
        assert_false(has_partial(path));
    }
    munmap(out, sizeof *out);
}

static void devices_are_written_directly(void **state)
{
    const world *w = *state;
    bg_error err = {0};
    char path[PATH];
    assert_int_equal(symlink("/dev/full", locate(&w->folder, "device.csv", path)), 0);
    const char *paths[] = {"/dev/full", path};
    for (int n = 0; n < 2; n++) {
        bg_result *result = open_result(w, paths[n]);
        give_rows(result, 0, 10);
        assert_int_equal(bg_result_flush(result, &err), BG_IO);
        assert_non_null(strstr(err.text, paths[n]));
        assert_non_null(strstr(err.text, strerror(ENOSPC)));
        assert_non_null(strstr(err.text, "no rows"));
        bg_result_destroy(result);
        assert_true(exists(paths[n]));
    }
    bg_run_report report = make_report();
    bg_result *result = open_result(w, "/dev/null");
    give_rows(result, 0, 10);
    assert_int_equal(bg_result_finish(result, &report, &err), BG_OK);
    bg_result_destroy(result);
    locate(&w->folder, "device.h5", path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(bg_result_create(path, "m", "mdop5", w->system, &result, &err), BG_IO);
    assert_non_null(strstr(err.text, "not a regular file"));
}

static void expect_refusal(const world *w, const char *name, bg_status status, const char *reason)
{
    char path[PATH];
    bg_error err = {0};
    bg_result *result;
    assert_int_equal(
        bg_result_create(locate(&w->folder, name, path), "m", "mdop5", w->system, &result, &err),
        status);
    assert_null(result);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.text, path));
    if (!strstr(err.text, reason))
        fail_msg("'%s' does not say '%s'", err.text, reason);
    assert_false(has_partial(path));
}

static void bad_places_are_refused_at_once(void **state)
{
    const world *w = *state;
    char path[PATH];
    assert_int_equal(mkdir(locate(&w->folder, "folder.h5", path), 0777), 0);
    assert_int_equal(close(open(locate(&w->folder, "plain", path), O_CREAT | O_WRONLY, 0666)), 0);
    expect_refusal(w, "result.txt", BG_BAD_INPUT, ".h5 or .hdf5 (HDF5) or .csv");
    expect_refusal(w, "result", BG_BAD_INPUT, ".csv");
    expect_refusal(w, "folder.h5/result", BG_BAD_INPUT, ".csv");
    expect_refusal(w, "none/result.h5", BG_IO, "/none' does not exist");
    expect_refusal(w, "none/result.csv", BG_IO, "/none' does not exist");
    expect_refusal(w, "plain/result.h5", BG_IO, "/plain' is not a folder");
    expect_refusal(w, "folder.h5", BG_IO, "is a directory");
    if (geteuid() != 0) {
        assert_int_equal(mkdir(locate(&w->folder, "closed", path), 0555), 0);
        expect_refusal(w, "closed/result.h5", BG_IO, strerror(EACCES));
    }
}

static void one_run_writes_at_a_time(void **state)
{
    const world *w = *state;
    char path[PATH];
    bg_error err;
    bg_result *first = open_result(w, locate(&w->folder, "two.h5", path)), *second;
    for (long k = 0; k < 3; k++) {
        assert_int_equal(bg_result_create(path, "m", "mdop5", w->system, &second, &err), BG_IO);
        assert_non_null(strstr(err.text, "another run"));
        give_rows(first, 2 * k, 2 * k + 2);
        assert_int_equal(bg_result_flush(first, NULL), BG_OK);
    }
    bg_result_destroy(first);
    assert_int_equal(check_rows(path, 0), 6);
}

static void readers_and_deletions_do_no_harm(void **state)
{
    const world *w = *state;
    char path[PATH], partial[PATH + 16];
    bg_result *result = open_result(w, locate(&w->folder, "read.h5", path));
    snprintf(partial, sizeof partial, "%s.partial", path);
    assert_int_equal(unlink(partial), 0);
    hid_t reader[6];
    for (int n = 0; n < 6; n++) { /* each reader keeps one version of the file open */
        give_rows(result, 100 * n, 100 * n + 100);
        assert_int_equal(bg_result_flush(result, NULL), BG_OK);
        reader[n] = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(reader[n] >= 0);
    }
    for (int n = 0; n < 6; n++) {
        check_reals(reader[n], "q", 2, 'q', NQ, (hsize_t)(100 * n + 100));
        assert_true(H5Fclose(reader[n]) >= 0);
    }
    for (long k = 600; k < 700; k += 10) {
        give_rows(result, k, k + 10);
        if (k % 3 == 0)
            unlink(partial);
        if (k % 3 == 1 && has_partial(path))
            unlink(path);
        assert_int_equal(bg_result_flush(result, NULL), BG_OK);
        assert_int_equal(check_rows(path, 0), k + 10);
    }
    bg_result_destroy(result);
    assert_false(has_partial(path));
}

static void damaged_working_files_are_given_up(void **state)
{
    const world *w = *state;
    char path[PATH], partial[PATH + 16];
    bg_error err = {0};
    H5E_auto2_t before, after;
    void *data_before, *data_after;
    H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
    bg_result *result = open_result(w, locate(&w->folder, "damaged.h5", path));
    snprintf(partial, sizeof partial, "%s.partial", path);
    for (long k = 0; k < 30; k += 10) {
        give_rows(result, k, k + 10);
        assert_int_equal(bg_result_flush(result, NULL), BG_OK);
    }
    assert_int_equal(truncate(partial, 100), 0);
    give_rows(result, 30, 40);
    assert_int_equal(bg_result_flush(result, &err), BG_IO);
    assert_non_null(strstr(err.text, "HDF5 says: "));
    assert_non_null(strstr(err.text, "first 30 rows"));
    assert_false(has_partial(path));
    assert_int_equal(check_rows(path, 0), 30);
    bg_result_destroy(result);
    H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    assert_true(before == after && data_before == data_after);
}

/* A report with a different number in every place. */
static bg_run_report make_full_report(bg_state *final, bg_event *events, double *y)
{
    return (bg_run_report){
        .status = BG_STEP_TOO_SMALL,
        .message = "the step fell to 1e-17 s at t = 0.1",
        .integrator = "bdf",
        .counters = {.accepted = 11,
                     .rejected = 12,
                     .steps = {13, 24, 25, 14, 15, 16, 17, 18, 1},
                     .projection = {100, 200, 300, 400, 500, 600, 700, 800, 18},
                     .events = {31, 32, 33, 34, 35, 36, 37, 38, 22},
                     .rows = {41, 42, 43, 44, 45, 46, 47, 48, 23},
                     .foresight = {51, 52, 53, 54, 55, 56, 57, 58, 24}},
        .cpu_seconds = 0.1,
        .certificate = {.max_g = 1e-300,
                        .max_gv = 2.0 / 3,
                        .max_ga = INFINITY,
                        .energy_error = NAN,
                        .energy_scale = 1.0 / 7,
                        .unconverged_steps = 20,
                        .real_time_factor = 21.5},
        .events = events,
        .nevents = 2,
        .assembly = {.redundancy = {.count = 1}},
        .final = final,
        .y = y,
    };
}

static void check_keys(json_t *object, int count, const char *const *keys)
{
    int n = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        assert_true(n < count);
        assert_string_equal(key, keys[n++]);
    }
    assert_int_equal(n, count);
}

static void check_real(const json_t *object, const char *key, double expected)
{
    const json_t *value = json_object_get(object, key);
    if (isfinite(expected)) {
        assert_true(json_is_real(value));
        assert_true(json_real_value(value) == expected);
    } else {
        assert_true(json_is_null(value));
    }
}

static void check_integers(json_t *object, int count, const char *const *keys, const long *expected)
{
    check_keys(object, count, keys);
    for (int i = 0; i < count; i++)
        assert_int_equal(json_integer_value(json_object_get(object, keys[i])), expected[i]);
}

static void check_final(json_t *final)
{
    check_keys(final, 7, (const char *[]){"t", "q", "v", "z", "lambda", "outputs", "output_units"});
    check_real(final, "t", 0.1);
    json_t *q = json_object_get(final, "q"), *v = json_object_get(final, "v");
    assert_int_equal(json_array_size(q), NQ);
    assert_true(json_real_value(json_array_get(q, 0)) == 1.0 / 3);
    assert_true(json_is_null(json_array_get(q, 1)));
    assert_true(json_real_value(json_array_get(v, 0)) == 5e-324);
    assert_true(json_real_value(json_array_get(v, 1)) == -1e22);
    assert_true(json_real_value(json_array_get(json_object_get(final, "z"), 0)) == 7);
    assert_true(json_real_value(json_array_get(json_object_get(final, "lambda"), 0)) == 8);
    json_t *y = json_object_get(final, "outputs");
    check_keys(y, 1, y_names);
    check_real(y, "reaction", 9.75);
}

static void check_events_of_summary(json_t *events)
{
    assert_int_equal(json_array_size(events), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *event = json_array_get(events, i);
        check_keys(event, 4, (const char *[]){"t", "name", "direction", "of"});
        check_real(event, "t", i == 0 ? 0.7 : 0.9);
        assert_string_equal(json_string_value(json_object_get(event, "name")), "it crosses");
        assert_int_equal(json_integer_value(json_object_get(event, "direction")), i == 0 ? 1 : -1);
        assert_string_equal(json_string_value(json_object_get(event, "of")), "crossing");
    }
}

static void summary_has_every_key_in_order(void **state)
{
    const world *w = *state;
    double q[NQ] = {1.0 / 3, NAN}, v[NV] = {5e-324, -1e22}, z = 7, lambda = 8, y = 9.75;
    bg_state final = {.t = 0.1, .q = q, .v = v, .z = &z, .lambda = &lambda};
    bg_event events[2] = {{.t = 0.7, .direction = 1, .name = "it crosses", .of = "crossing"},
                          {.t = 0.9, .direction = -1, .name = "it crosses", .of = "crossing"}};
    bg_run_report report = make_full_report(&final, events, &y);
    char *text = bg_summary_create(w->system,
                                   "m\xc3\xb6"
                                   "del.json",
                                   &report);
    char *again = bg_summary_create(w->system,
                                    "m\xc3\xb6"
                                    "del.json",
                                    &report);
    assert_non_null(text);
    assert_string_equal(text, again);
    json_t *s = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(s);

    check_keys(s, 21,
               (const char *[]){"generator",
                                "model",
                                "formulation",
                                "integrator",
                                "status",
                                "message",
                                "verdict",
                                "reason",
                                "warnings",
                                "t_end",
                                "dimensions",
                                "steps",
                                "evaluations",
                                "projection_evaluations",
                                "event_evaluations",
                                "row_evaluations",
                                "foresight_evaluations",
                                "cpu_seconds",
                                "certificate",
                                "events",
                                "final"});
    assert_string_equal(json_string_value(json_object_get(s, "model")), "m\xc3\xb6"
                                                                        "del.json");
    assert_string_equal(json_string_value(json_object_get(s, "formulation")), "equations");
    assert_string_equal(json_string_value(json_object_get(s, "integrator")), "bdf");
    assert_string_equal(json_string_value(json_object_get(s, "status")), "step-too-small");
    assert_string_equal(json_string_value(json_object_get(s, "message")), report.message);
    check_real(s, "t_end", 0.1);
    check_real(s, "cpu_seconds", 0.1);
    check_integers(json_object_get(s, "dimensions"), 6,
                   (const char *[]){"nq", "nv", "nz", "ng", "dof", "redundant"},
                   (const long[]){2, 2, 1, 1, 2, 1});
    check_integers(json_object_get(s, "steps"), 2, (const char *[]){"accepted", "rejected"},
                   (const long[]){11, 12});
    static const char *const work[] = {
        "terms",    "constraints",      "switching",      "explicit",   "residual",
        "jacobian", "jacobian_updates", "factorisations", "projections"};
    check_integers(json_object_get(s, "evaluations"), 9, work,
                   (const long[]){113, 224, 325, 414, 515, 616, 717, 818, 19});
    check_integers(json_object_get(s, "projection_evaluations"), 9, work,
                   (const long[]){100, 200, 300, 400, 500, 600, 700, 800, 18});
    check_integers(json_object_get(s, "event_evaluations"), 9, work,
                   (const long[]){31, 32, 33, 34, 35, 36, 37, 38, 22});
    check_integers(json_object_get(s, "row_evaluations"), 9, work,
                   (const long[]){41, 42, 43, 44, 45, 46, 47, 48, 23});
    check_integers(json_object_get(s, "foresight_evaluations"), 9, work,
                   (const long[]){51, 52, 53, 54, 55, 56, 57, 58, 24});
    json_t *certificate = json_object_get(s, "certificate");
    check_keys(certificate, 11,
               (const char *[]){"max_g", "max_gv", "max_ga", "max_redundant", "redundancy_misfit",
                                "redundancy_margin", "energy_error", "energy_scale", "energy_range",
                                "unconverged_steps", "real_time_factor"});
    check_real(certificate, "max_g", 1e-300);
    check_real(certificate, "max_gv", 2.0 / 3);
    check_real(certificate, "max_ga", INFINITY);
    check_real(certificate, "energy_error", NAN);
    check_real(certificate, "energy_scale", 1.0 / 7);
    check_real(certificate, "real_time_factor", 21.5);
    assert_int_equal(json_integer_value(json_object_get(certificate, "unconverged_steps")), 20);
    check_events_of_summary(json_object_get(s, "events"));
    check_final(json_object_get(s, "final"));
    json_decref(s);
    free(text);
    free(again);
}

static void summary_without_a_start(void **state)
{
    const world *w = *state;
    const struct {
        bg_status status;
        const char *word;
    } words[] = {{BG_OK, "done"}, {BG_STOPPED, "stopped"}, {BG_IO, "io"}};
    for (size_t i = 0; i < 3; i++) {
        bg_run_report report = {.status = words[i].status};
        char *text = bg_summary_create(w->system, "bad \xff name", &report);
        json_t *s = json_loads(text, 0, NULL);
        assert_non_null(s);
        assert_string_equal(json_string_value(json_object_get(s, "status")), words[i].word);
        assert_string_equal(json_string_value(json_object_get(s, "model")), "bad ? name");
        assert_true(json_is_null(json_object_get(s, "final")));
        assert_true(json_is_null(json_object_get(s, "t_end")));
        assert_int_equal(json_array_size(json_object_get(s, "events")), 0);
        json_decref(s);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hdf5_gives_back_every_bit),
        cmocka_unit_test(hdf5_has_the_documented_layout),
        cmocka_unit_test(rows_flush_themselves),
        cmocka_unit_test(csv_gives_back_every_bit),
        cmocka_unit_test(killed_runs_leave_readable_files),
        cmocka_unit_test(older_files_survive_runs_without_a_flush),
        cmocka_unit_test(full_disks_cost_only_the_last_rows),
        cmocka_unit_test(devices_are_written_directly),
        cmocka_unit_test(bad_places_are_refused_at_once),
        cmocka_unit_test(one_run_writes_at_a_time),
        cmocka_unit_test(readers_and_deletions_do_no_harm),
        cmocka_unit_test(damaged_working_files_are_given_up),
        cmocka_unit_test(summary_has_every_key_in_order),
        cmocka_unit_test(summary_without_a_start),
    };
    return cmocka_run_group_tests(tests, create_world, destroy_world);
}
