/* Result files as a source: what is read back is what the run gave, the model can be rebuilt from
 * the file alone and runs to the same bits, and files that cannot be used say why. */
#include "bogie/result.h"
#include "folder_support.h"
#include "model/model.h"

#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>

enum { MAX_STEPS = 4096 };

/* A driven pendulum: the drive is a table in a file of its own, its mass comes from a setting. */
static const char model_text[] =
    "{\"parameters\": {\"load\": 1}, \"inputs\": {\"push\": {\"type\": \"table\", \"file\": "
    "\"push.csv\", \"interpolation\": \"linear\"}},"
    "\"bodies\": {\"bob\": {\"mass\": \"load\", \"center\": [1, 0, 0]}},"
    "\"joints\": {\"pin\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"bob\"], \"at\": [0, "
    "0, "
    "0], \"axis\": [0, 1, 0]}},"
    "\"forces\": {\"push\": {\"type\": \"force\", \"at\": \"bob\", \"force\": [\"push\", 0, 0]}},"
    "\"outputs\": {\"angle\": {\"joint\": \"pin\"}},"
    "\"run\": {\"t_end\": 2}}";
static const char table_text[] = "t,push\n0,0\n0.5,3.25\n1.1,-1\n";

/* What a run gave, beside the file. */
typedef struct run_record {
    bg_sink file;
    bg_step step[MAX_STEPS];
    int steps;
    double last_angle;
    long rows;
} run_record;

static bg_status record_begin(void *self, bg_error *err)
{
    run_record *r = self;
    return r->file.begin(r->file.self, err);
}

static bg_status record_row(void *self, const bg_row *row, bg_error *err)
{
    run_record *r = self;
    r->last_angle = row->state->q[0];
    r->rows++;
    return r->file.row(r->file.self, row, err);
}

static bg_status record_event(void *self, const bg_event *event, bg_error *err)
{
    run_record *r = self;
    return r->file.event(r->file.self, event, err);
}

static bg_status record_step(void *self, const bg_step *step, bg_error *err)
{
    run_record *r = self;
    assert_true(r->steps < MAX_STEPS);
    r->step[r->steps++] = *step;
    return r->file.step(r->file.self, step, err);
}

/* Runs the model and writes path; the counters go to *counters. */
static void run(bg_model *model, const char *path, run_record *seen, bg_counters *counters)
{
    bg_system *system;
    bg_result *result;
    bg_error err = {0};
    bg_run_report report;
    bg_run_options options = bg_default_run_options();
    assert_int_equal(bg_model_create_system(model, "joint", &system, &err), BG_OK);
    options.method.rtol = options.method.atol = 1e-8;
    options.output_steps = 1;
    options.model = "drive.json";
    options.formulation = "joint";
    assert_int_equal(bg_result_create(path, "drive.json", "mdop5", system, &result, &err), BG_OK);
    assert_int_equal(bg_result_describe(result, model, &options, &err), BG_OK);
    *seen = (run_record){.file = bg_result_get_sink(result)};
    options.sink = (bg_sink){.self = seen,
                             .begin = record_begin,
                             .row = record_row,
                             .event = record_event,
                             .step = record_step};
    assert_int_equal(bg_run(system, &options, &report, &err), BG_OK);
    assert_int_equal(bg_result_finish(result, &report, &err), BG_OK);
    *counters = report.counters;
    bg_run_report_clear(&report);
    bg_result_destroy(result);
    bg_system_destroy(system);
}

/* The model file with its table, run with another mass; both files are gone afterwards. */
static void make_result(const folder *w, const char *path, run_record *seen, bg_counters *counters)
{
    char file[PATH], table[PATH];
    bg_error err = {0};
    bg_model *model;
    const bg_setting heavy = {"parameters.load", "2.5"};
    write_text(locate(w, "drive.json", file), model_text);
    write_text(locate(w, "push.csv", table), table_text);
    if (bg_model_read(file, &heavy, 1, &model, &err))
        fail_msg("%s", err.text);
    unlink(file);
    unlink(table);
    run(model, path, seen, counters);
    bg_model_destroy(model);
}

static bg_result_file *open_file(const char *path)
{
    bg_error err = {0};
    bg_result_file *file;
    if (bg_result_open(path, &file, &err))
        fail_msg("%s", err.text);
    return file;
}

static double *read_set(bg_result_file *file, const char *name, long rows)
{
    bg_error err = {0};
    double *x = calloc((size_t)(rows * bg_result_get_width(file, name)) + 1, sizeof *x);
    assert_non_null(x);
    if (bg_result_read(file, name, x, &err))
        fail_msg("%s", err.text);
    return x;
}

static void check_column(bg_result_file *file, const run_record *seen, const char *name,
                         size_t offset)
{
    double *x = read_set(file, name, seen->steps);
    for (int k = 0; k < seen->steps; k++)
        assert_memory_equal(&x[k], (const char *)&seen->step[k] + offset, sizeof(double));
    free(x);
}

static void steps_are_those_of_the_run(void **state)
{
    char path[PATH];
    static run_record seen;
    bg_counters counters;
    make_result(*state, locate(*state, "steps.h5", path), &seen, &counters);
    bg_result_file *file = open_file(path);
    assert_int_equal(bg_result_get_info(file)->steps, seen.steps);
    assert_int_equal(bg_result_get_info(file)->rows, seen.rows);
    check_column(file, &seen, "steps/t", offsetof(bg_step, t));
    check_column(file, &seen, "steps/h", offsetof(bg_step, h));
    check_column(file, &seen, "steps/g", offsetof(bg_step, g));
    check_column(file, &seen, "steps/gv", offsetof(bg_step, gv));
    check_column(file, &seen, "steps/ga", offsetof(bg_step, ga));
    double *order = read_set(file, "steps/order", seen.steps);
    double *rejected = read_set(file, "steps/rejected", seen.steps), all = 0, span = 0;
    for (int k = 0; k < seen.steps; k++) {
        assert_int_equal((int)order[k], 5);
        assert_true(k == 0 ? seen.step[k].h == 0 : seen.step[k].h > 0);
        assert_true(k == 0 || fabs(seen.step[k].t - seen.step[k - 1].t - seen.step[k].h) < 1e-14);
        all += rejected[k];
        span += seen.step[k].h;
    }
    assert_int_equal((long)all, counters.rejected); /* every attempt is told once ... */
    assert_true(fabs(span - 2) < 1e-12);            /* ... and the steps cover the run, ... */
    assert_true(bg_result_get_info(file)->events == 3 &&
                seen.steps > 20); /* ... corners included */
    free(order);
    free(rejected);
    bg_result_close(file);
}

static void models_run_again_from_the_file_alone(void **state)
{
    char first[PATH], second[PATH];
    static run_record seen, again;
    bg_counters counters;
    bg_error err = {0};
    bg_model *model;
    make_result(*state, locate(*state, "first.h5", first), &seen, &counters);
    bg_result_file *file = open_file(first);
    const bg_result_info *info = bg_result_get_info(file);
    assert_non_null(info->model_text);
    if (bg_model_parse(info->model_text, "/nowhere/else.json", NULL, 0, &model, &err))
        fail_msg("%s", err.text);
    assert_string_equal(model->name, "drive");
    assert_true(model->bodies[1].mass == 2.5);
    run(model, locate(*state, "second.h5", second), &again, &counters);
    assert_int_equal(again.steps, seen.steps);
    for (int k = 0; k < seen.steps; k++) {
        const bg_step *a = &seen.step[k], *b = &again.step[k];
        assert_true(a->t == b->t && a->h == b->h && a->rejected == b->rejected && a->ga == b->ga);
    }
    assert_true(again.last_angle == seen.last_angle && fabs(seen.last_angle) > 0.1);
    char *text = bg_model_create_text(model);
    assert_string_equal(text, info->model_text);
    free(text);
    bg_model_destroy(model);
    bg_result_close(file);
}

static void setup_and_names_are_there(void **state)
{
    char path[PATH], buffer[32];
    static run_record seen;
    bg_counters counters;
    make_result(*state, locate(*state, "setup.h5", path), &seen, &counters);
    bg_result_file *file = open_file(path);
    const bg_result_info *info = bg_result_get_info(file);
    json_t *setup = json_loads(info->setup, 0, NULL), *summary = json_loads(info->summary, 0, NULL);
    assert_non_null(setup);
    assert_non_null(summary);
    assert_true(json_real_value(json_object_get(setup, "rtol")) == 1e-8);
    assert_true(json_real_value(json_object_get(setup, "t_end")) == 2);
    assert_string_equal(json_string_value(json_object_get(setup, "formulation")), "joint");
    assert_string_equal(info->integrator, "mdop5");
    assert_int_equal(info->complete, 1);
    assert_int_equal(bg_result_get_width(file, "q"), 1);
    assert_int_equal(bg_result_get_width(file, "z"), 0);
    assert_string_equal(bg_result_get_name(file, "outputs", 0, buffer, sizeof buffer), "angle");
    assert_string_equal(bg_result_get_name(file, "events", 0, buffer, sizeof buffer), "push");
    assert_string_equal(bg_result_get_name(file, "outputs", 7, buffer, sizeof buffer),
                        "outputs[7]");
    double none;
    bg_error err;
    assert_int_equal(bg_result_read(file, "z", &none, &err), BG_MISSING);
    json_decref(setup);
    json_decref(summary);
    bg_result_close(file);
}

static void expect_refusal(const char *path, const char *word)
{
    bg_error err = {0};
    bg_result_file *file;
    bg_status st = bg_result_open(path, &file, &err);
    assert_true(st == BG_BAD_INPUT || st == BG_IO);
    assert_null(file);
    assert_non_null(strstr(err.text, path));
    if (!strstr(err.text, word))
        fail_msg("'%s' lacks '%s'", err.text, word);
}

static void files_that_cannot_be_used_say_why(void **state)
{
    char path[PATH], other[PATH];
    static run_record seen;
    bg_counters counters;
    size_t size;
    make_result(*state, locate(*state, "good.h5", path), &seen, &counters);
    char *data = read_file(path, &size);
    locate(*state, "bad.h5", other);
    expect_refusal(other, "No such file");
    write_text(other, "");
    expect_refusal(other, "empty");
    write_text(other, "t,h,q\n0,0,1\n");
    expect_refusal(other, "no HDF5 file");
    write_file(other, data, 4);
    expect_refusal(other, "no HDF5 file");
    for (size_t part = 1; part < 16; part++) {
        write_file(other, data, size * part / 16);
        expect_refusal(other, "cut off or damaged");
    }
    write_file(other, data, size - 1);
    expect_refusal(other, "cut off or damaged");
    free(data);
}

/* Changes a good result through HDF5 itself. */
static void change(const char *path, const char *attribute, int value, const char *dataset)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (attribute) {
        hid_t a = H5Aopen(file, attribute, H5P_DEFAULT);
        assert_true(H5Awrite(a, H5T_NATIVE_INT, &value) >= 0);
        H5Aclose(a);
    }
    if (dataset) {
        hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
        hsize_t extent[2] = {3, 1};
        assert_true(H5Dset_extent(set, extent) >= 0);
        H5Dclose(set);
    }
    assert_true(H5Fclose(file) >= 0);
}

static void other_layouts_are_refused(void **state)
{
    char path[PATH];
    static run_record seen;
    bg_counters counters;
    make_result(*state, locate(*state, "newer.h5", path), &seen, &counters);
    change(path, "format_version", 2, NULL);
    expect_refusal(path, "newer version");
    change(path, "format_version", 1, "q");
    expect_refusal(path, "another length");
    make_result(*state, locate(*state, "steps.h5", path), &seen, &counters);
    change(path, NULL, 0, "steps/g");
    expect_refusal(path, "another length");
    hid_t file = H5Fcreate(locate(*state, "plain.h5", path), H5F_ACC_TRUNC, H5P_DEFAULT,
                           H5P_DEFAULT);
    H5Fclose(file);
    expect_refusal(path, "no result of Bogie");
}

static void copy_file(const char *from, const char *to)
{
    char block[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Puts something else under the name of a dataset. */
typedef void disguise(hid_t file, const char *name, const char *elsewhere);

static void by_external_storage(hid_t file, const char *name, const char *elsewhere)
{
    hsize_t size[2] = {3, 1};
    hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
    assert_true(H5Pset_external(how, elsewhere, 0, 24) >= 0);
    H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(how);
}

static void by_virtual_dataset(hid_t file, const char *name, const char *elsewhere)
{
    hsize_t size[2] = {3, 1};
    hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
    assert_true(H5Pset_virtual(how, space, elsewhere, "q", space) >= 0);
    H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(how);
}

static void by_external_link(hid_t file, const char *name, const char *elsewhere)
{
    assert_true(H5Lcreate_external(elsewhere, "q", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void by_soft_link(hid_t file, const char *name, const char *elsewhere)
{
    (void)elsewhere;
    assert_true(H5Lcreate_soft("/h", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void by_numbers_nobody_wrote(hid_t file, const char *name, const char *elsewhere)
{
    (void)elsewhere;
    hsize_t size[2] = {(hsize_t)1 << 38, 1}, chunk[2] = {64, 1};
    hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
    assert_true(H5Pset_chunk(how, 2, chunk) >= 0);
    H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(how);
}

/* A page must not carry what is in another file, nor more than this one holds. */
static void data_elsewhere_are_refused(void **state)
{
    static disguise *const disguises[] = {by_external_storage, by_virtual_dataset, by_external_link,
                                          by_soft_link, by_numbers_nobody_wrote};
    static const char *const names[] = {"q", "t", "steps/h", "events/t"};
    char path[PATH], base[PATH];
    static run_record seen;
    bg_counters counters;
    make_result(*state, locate(*state, "whole.h5", base), &seen, &counters);
    locate(*state, "disguised.h5", path);
    for (size_t k = 0; k < sizeof disguises / sizeof *disguises; k++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            bg_result_file *file = NULL;
            bg_error err = {0};
            copy_file(base, path);
            hid_t f = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
            assert_true(f >= 0 && H5Ldelete(f, names[i], H5P_DEFAULT) >= 0);
            disguises[k](f, names[i], base);
            H5Fclose(f);
            assert_int_equal(bg_result_open(path, &file, &err), BG_BAD_INPUT);
            assert_non_null(strstr(err.text, names[i]));
            assert_null(file);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_run),
        cmocka_unit_test(models_run_again_from_the_file_alone),
        cmocka_unit_test(setup_and_names_are_there),
        cmocka_unit_test(files_that_cannot_be_used_say_why),
        cmocka_unit_test(other_layouts_are_refused),
        cmocka_unit_test(data_elsewhere_are_refused),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
