/* Scenes of pages: forces of springs and tyres are those that the run gives as outputs, in both
 * forms; titles are names of models; what is up follows gravity. */
#include "bogie/report.h"
#include "bogie/result.h"
#include "folder_support.h"
#include "report/scene.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

static const char template_text[] =
    "<script id=\"bogie-data\" type=\"application/json\">null</script>\n";

/* A run of the model with rows every millisecond for 0.6 s: as many rows as frames. */
static void make_result(const char *text, const char *name, const char *form, const char *path)
{
    bg_model *model;
    bg_system *system;
    bg_result *result;
    bg_run_report report;
    bg_error err = {0};
    bg_run_options options = bg_default_run_options();
    if (bg_model_parse(text, name, NULL, 0, &model, &err))
        fail_msg("%s", err.text);
    assert_int_equal(bg_model_create_system(model, form, &system, &err), BG_OK);
    options.output_interval = 1e-3;
    options.output_steps = false;
    options.t_end = 0.6;
    options.formulation = form;
    options.model = name;
    assert_int_equal(bg_result_create(path, name, "mdop5", system, &result, &err), BG_OK);
    assert_int_equal(bg_result_describe(result, model, &options, &err), BG_OK);
    options.sink = bg_result_get_sink(result);
    if (bg_run(system, &options, &report, &err))
        fail_msg("%s", err.text);
    assert_int_equal(bg_result_finish(result, &report, &err), BG_OK);
    bg_run_report_clear(&report);
    bg_result_destroy(result);
    bg_system_destroy(system);
    bg_model_destroy(model);
}

static const bg_scene_force *find_force(const bg_scene *s, const char *name)
{
    for (int k = 0; k < s->ndrawn; k++)
        if (strcmp(s->model->forces[s->forces[k].force].name, name) == 0)
            return &s->forces[k];
    fail_msg("no force '%s' is drawn", name);
    return NULL;
}

static int find_output(bg_result_file *file, const char *name)
{
    char buffer[64];
    for (int k = 0; k < bg_result_get_width(file, "outputs"); k++)
        if (strcmp(bg_result_get_name(file, "outputs", k, buffer, sizeof buffer), name) == 0)
            return k;
    fail_msg("no output '%s'", name);
    return -1;
}

/* Largest difference of |f| from |output|, beside the largest output. */
static double compare(bg_result_file *file, const bg_scene *s, const char *force,
                      const char *output, const double *outputs)
{
    const bg_scene_force *x = find_force(s, force);
    const int column = find_output(file, output), width = bg_result_get_width(file, "outputs");
    double worst = 0, most = 0;
    for (long k = 0; k < s->frames; k++) {
        const float *f = x->f + 3 * k;
        const double size = sqrt((double)f[0] * f[0] + (double)f[1] * f[1] + (double)f[2] * f[2]);
        const double expected = fabs(outputs[k * width + column]);
        worst = fmax(worst, fabs(size - expected));
        most = fmax(most, expected);
    }
    assert_true(most > 100);
    return worst / most;
}

static void check_forces(const folder *w, const char *form)
{
    char path[PATH], note[BG_SCENE_NOTE];
    char *text = read_file(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", NULL);
    bg_result_file *file;
    bg_scene *s;
    bg_error err = {0};
    make_result(text, "five.json", form, locate(w, "five.h5", path));
    assert_int_equal(bg_result_open(path, &file, &err), BG_OK);
    assert_int_equal(bg_scene_create(file, &s, note, &err), BG_OK);
    assert_non_null(s);
    const long rows = bg_result_get_info(file)->rows;
    double *y = calloc((size_t)(rows * bg_result_get_width(file, "outputs")), sizeof *y);
    assert_true(y && rows == s->frames && s->ndrawn == 3);
    assert_int_equal(bg_result_read(file, "outputs", y, &err), BG_OK);
    const double spring = compare(file, s, "spring", "spring", y);
    const double damper = compare(file, s, "damper", "damper", y);
    const double tyre = compare(file, s, "tyre", "load", y);
    print_message("%s: spring %.1e, damper %.1e, tyre %.1e\n", form, spring, damper, tyre);
    /* frames are at the times of rows up to rounding, numbers in single precision */
    assert_true(spring < 1e-6 && damper < 1e-6 && tyre < 1e-6);
    assert_true(find_force(s, "tyre")->wheel && !find_force(s, "spring")->wheel);
    assert_true(find_force(s, "tyre")->f[2] > 1000); /* the road pushes the wheel up */
    free(y);
    bg_scene_destroy(s);
    bg_result_close(file);
    free(text);
}

/* Force on a wheel of the carriage: the rail's normal force, with its creep force in the plane of
 * contact, which depends on it. */
static void check_rail(const folder *w, const char *form)
{
    static const char outputs[] =
        "\"normal\": {\"force\": \"front.w1.left\", \"value\": \"normal\"},"
        "\"along\": {\"force\": \"front.w1.left\", \"value\": \"longitudinal\"},"
        "\"across\": {\"force\": \"front.w1.left\", \"value\": \"lateral\"},"
        "\"creep\": {\"expression\": \"sqrt(along^2 + across^2)\"},"
        "\"whole\": {\"expression\": \"sqrt(normal^2 + along^2 + across^2)\"},";
    char path[PATH], note[BG_SCENE_NOTE];
    const char *name = BOGIE_SOURCE_DIR "/models/train-carriage.json";
    char *model = read_file(name, NULL), *own = strstr(model, "\"car_y\"");
    const size_t size = strlen(model) + sizeof outputs;
    char *text = malloc(size);
    assert_true(own && text);
    snprintf(text, size, "%.*s%s%s", (int)(own - model), model, outputs, own);
    bg_result_file *file;
    bg_scene *s;
    bg_error err = {0};
    make_result(text, name, form, locate(w, "rail.h5", path));
    assert_int_equal(bg_result_open(path, &file, &err), BG_OK);
    assert_int_equal(bg_scene_create(file, &s, note, &err), BG_OK);
    assert_non_null(s);
    const long rows = bg_result_get_info(file)->rows;
    const int width = bg_result_get_width(file, "outputs"), creep = find_output(file, "creep");
    double *y = calloc((size_t)(rows * width), sizeof *y), most = 0;
    assert_true(y && rows == s->frames);
    assert_int_equal(bg_result_read(file, "outputs", y, &err), BG_OK);
    for (long k = 0; k < rows; k++)
        most = fmax(most, y[k * width + creep]);
    const double whole = compare(file, s, "front.w1.left", "whole", y);
    print_message("%s: wheel on rail %.1e, creep force up to %.0f N\n", form, whole, most);
    assert_true(whole < 1e-6 && most > 1000);
    assert_true(find_force(s, "front.w1.left")->wheel &&
                find_force(s, "front.w1.left")->f[2] > 1e4);
    free(y);
    bg_scene_destroy(s);
    bg_result_close(file);
    free(text);
    free(model);
}

static void forces_on_wheels_of_rails_are_whole(void **state)
{
    check_rail(*state, "joint");
    check_rail(*state, "cartesian");
}

static void forces_are_those_of_the_outputs(void **state)
{
    check_forces(*state, "joint");
    check_forces(*state, "cartesian");
}

static const char pendulum[] =
    "{%s\"gravity\": [%s], \"bodies\": {\"bob\": {\"mass\": 1, \"center\": [1, 0, 0]}},"
    "\"joints\": {\"pin\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"bob\"], \"at\": "
    "[0, 0, 0], \"axis\": [1, 1, 1]}}}";

/* The data of the page of some files. */
static json_t *make_page(const folder *w, const char *const *names, int n)
{
    char path[PATH];
    bg_report *report;
    bg_error err = {0};
    assert_int_equal(bg_report_create(&report, &err), BG_OK);
    for (int k = 0; k < n; k++)
        assert_int_equal(bg_report_add(report, locate(w, names[k], path), &err), BG_OK);
    assert_int_equal(
        bg_report_write(report, template_text, NULL, locate(w, "page.html", path), &err), BG_OK);
    bg_report_destroy(report);
    char *text = read_file(path, NULL), *begin = strchr(text, '>') + 1;
    json_t *page = json_loadb(begin, (size_t)(strstr(begin, "</script>") - begin), 0, NULL);
    assert_non_null(page);
    free(text);
    unlink(path);
    return page;
}

static void expect_title(const folder *w, const char *const *names, int n, const char *title)
{
    json_t *page = make_page(w, names, n);
    assert_string_equal(json_string_value(json_object_get(page, "title")), title);
    json_decref(page);
}

static void titles_are_names_of_models(void **state)
{
    char text[512], path[PATH];
    snprintf(text, sizeof text, pendulum, "\"name\": \"A <swing>\", ", "0, 0, -9.81");
    make_result(text, "models/one.json", "joint", locate(*state, "a.h5", path));
    make_result(text, "models/one.json", "cartesian", locate(*state, "b.h5", path));
    snprintf(text, sizeof text, pendulum, "", "0, 0, -9.81");
    make_result(text, "models/other.json", "joint", locate(*state, "c.h5", path));
    expect_title(*state, (const char *const[]){"a.h5"}, 1, "A <swing>");
    expect_title(*state, (const char *const[]){"a.h5", "b.h5"}, 2, "A <swing>");
    expect_title(*state, (const char *const[]){"c.h5"}, 1, "other"); /* the file's, of the model */
    expect_title(*state, (const char *const[]){"a.h5", "c.h5"}, 2, "Bogie report");
}

static void up_is_against_gravity(void **state)
{
    static const struct {
        const char *gravity;
        double up[3];
    } cases[] = {{"0, 0, -9.81", {0, 0, 1}}, {"0, -9.81, 0", {0, 1, 0}}, {"9.81, 0, 0", {-1, 0, 0}},
                 {"0, 0, 0", {0, 0, 1}},     {"3, 0, -9", {0, 0, 1}},    {"0, 0, 5", {0, 0, 1}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[512], path[PATH];
        snprintf(text, sizeof text, pendulum, "", cases[k].gravity);
        make_result(text, "up.json", "joint", locate(*state, "up.h5", path));
        json_t *page = make_page(*state, (const char *const[]){"up.h5"}, 1);
        const json_t *result = json_array_get(json_object_get(page, "results"), 0);
        const json_t *up = json_object_get(json_object_get(result, "scene"), "up");
        for (size_t i = 0; i < 3; i++)
            assert_true(json_number_value(json_array_get(up, i)) == cases[k].up[i]);
        json_decref(page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_those_of_the_outputs),
        cmocka_unit_test(forces_on_wheels_of_rails_are_whole),
        cmocka_unit_test(titles_are_names_of_models),
        cmocka_unit_test(up_is_against_gravity),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
