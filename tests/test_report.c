/* Pages of reports: what is in a page, parsed back, is what the result holds; poses and reactions
 * follow the closed-form pendulum and do not depend on the formulation; results that are large,
 * empty, cut short or not finite become pages that say so. */
#include "bogie/report.h"
#include "bogie/result.h"
#include "folder_support.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

static const char template_text[] =
    "<!doctype html>\n<html><body>\n"
    "<script id=\"bogie-data\" type=\"application/json\">null</script>\n</body></html>\n";

/* Released from rest in the horizontal; 1 kg, 1 m. */
static const char pendulum[] =
    "{\"name\": \"pendulum\", \"comment\": \"Ends </script> nothing.\","
    "\"bodies\": {\"bob\": {\"mass\": 1, \"center\": [1, 0, 0], \"points\": {\"tip\": [1.5, 0, "
    "0]}}},"
    "\"joints\": {\"pin\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"bob\"], \"at\": [0, "
    "0, "
    "0], \"axis\": [0, 1, 0]}},"
    "\"inputs\": {\"wave\": \"sin(3*t)\"},"
    "\"outputs\": {\"x\": {\"position\": \"bob\", \"component\": \"x\"}, \"turn\": {\"joint\": "
    "\"pin\"}}, \"plots\": [{\"show\": [\"x\"], \"spectrum\": true}],"
    "\"view\": {\"camera\": \"driver\"}, \"run\": {\"t_end\": 2}}";

/* How a result is made: rows every `interval`, or at every step. */
typedef struct recipe {
    const char *text; /* of the model */
    const char *formulation;
    double rtol, interval, t_end;
} recipe;

static void make_result(const recipe *r, const char *path)
{
    bg_model *model;
    bg_system *system;
    bg_result *result;
    bg_run_report report;
    bg_error err = {0};
    bg_run_options options = bg_default_run_options();
    if (bg_model_parse(r->text, "model.json", NULL, 0, &model, &err))
        fail_msg("%s", err.text);
    assert_int_equal(bg_model_create_system(model, r->formulation, &system, &err), BG_OK);
    options.method.rtol = options.method.atol = r->rtol;
    options.output_interval = r->interval;
    options.output_steps = r->interval == 0;
    options.t_end = r->t_end;
    options.formulation = r->formulation;
    options.model = "model.json";
    assert_int_equal(bg_result_create(path, "model.json", "mdop5", system, &result, &err), BG_OK);
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

/* The page of a file, and the data in it. */
static json_t *make_page(const folder *w, const char *source, const char *title)
{
    char path[PATH];
    bg_error err = {0};
    bg_report *report;
    assert_int_equal(bg_report_create(&report, &err), BG_OK);
    if (bg_report_add(report, source, &err))
        fail_msg("%s", err.text);
    if (bg_report_write(report, template_text, title, locate(w, "page.html", path), &err))
        fail_msg("%s", err.text);
    bg_report_destroy(report);
    char *text = read_file(path, NULL);
    char *begin = strstr(text, "application/json\">");
    assert_non_null(begin);
    begin += strlen("application/json\">");
    char *end = strstr(begin, "</script>");
    assert_non_null(end);
    assert_string_equal(end, "</script>\n</body></html>\n"); /* nothing inside ends the element */
    json_error_t error;
    json_t *page = json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, &error);
    if (!page)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    unlink(path);
    return page;
}

static const json_t *get(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("there is no '%s'", key);
    return value;
}

static const json_t *get_result(const json_t *page)
{
    return json_array_get(get(page, "results"), 0);
}

/* An ARRAY as doubles, after its type and number were checked. */
typedef struct array {
    double *x;
    size_t n;
} array;

static int find_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return c == '=' ? 0 : (int)(strchr(digits, c) - digits);
}

static array decode(const json_t *a)
{
    const char *text = json_string_value(get(a, "base64"));
    bool wide = strcmp(json_string_value(get(a, "type")), "f64") == 0;
    size_t length = strlen(text), n = 1, size = wide ? 8 : 4;
    for (size_t k = 0; k < json_array_size(get(a, "shape")); k++)
        n *= (size_t)json_integer_value(json_array_get(get(a, "shape"), k));
    assert_int_equal(length, (n * size + 2) / 3 * 4);
    unsigned char *bytes = calloc(length + 4, 1);
    array out = {calloc(n + 1, sizeof(double)), n};
    assert_true(bytes && out.x);
    for (size_t k = 0; k < length; k += 4) {
        unsigned x = 0;
        for (size_t i = 0; i < 4; i++)
            x = x << 6 | (unsigned)find_digit(text[k + i]);
        bytes[k / 4 * 3] = (unsigned char)(x >> 16);
        bytes[k / 4 * 3 + 1] = (unsigned char)(x >> 8);
        bytes[k / 4 * 3 + 2] = (unsigned char)x;
    }
    for (size_t k = 0; k < n; k++) {
        float f;
        memcpy(&f, bytes + 4 * k, sizeof f);
        out.x[k] = f;
        if (wide)
            memcpy(&out.x[k], bytes + 8 * k, sizeof(double));
    }
    free(bytes);
    return out;
}

static const json_t *find_channel(const json_t *result, const char *group, const char *name)
{
    const json_t *list = get(result, "channels");
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *c = json_array_get(list, k);
        if (strcmp(json_string_value(get(c, "group")), group) == 0 &&
            strcmp(json_string_value(get(c, "name")), name) == 0)
            return c;
    }
    fail_msg("there is no channel '%s' among %s", name, group);
    return NULL;
}

/* Whether a fact of this label has a text with these words in it. */
static bool has_fact(const json_t *result, const char *label, const char *words)
{
    const json_t *facts = get(result, "facts");
    for (size_t k = 0; k < json_array_size(facts); k++) {
        const json_t *fact = json_array_get(facts, k);
        if (strcmp(json_string_value(json_array_get(fact, 0)), label) == 0 &&
            strstr(json_string_value(json_array_get(fact, 1)), words))
            return true;
    }
    return false;
}

/* Jacobi's cn and dn with parameter m by descending Landen transformations (arithmetic-geometric
 * mean). */
static void calc_jacobi(double u, double m, double *cn, double *dn)
{
    double a[16], c[16], b = sqrt(1 - m);
    int n = 0;
    a[0] = 1;
    c[0] = sqrt(m);
    for (; fabs(c[n]) > 1e-16 && n < 14; n++) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
    }
    double phi = ldexp(a[n] * u, n);
    for (; n > 0; n--)
        phi = 0.5 * (phi + asin(c[n] * sin(phi) / a[n]));
    *cn = cos(phi);
    *dn = sqrt(1 - m * sin(phi) * sin(phi));
}

/* The angle from the vertical of a pendulum that was released at 90 degrees: sin(theta/2) = k cd(w
 * t), k = sin(45 degrees). */
static double calc_angle(double t)
{
    double cn, dn;
    calc_jacobi(sqrt(9.81) * t, 0.5, &cn, &dn);
    return 2 * asin(sqrt(0.5) * cn / dn);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void check_pendulum(const folder *w, const char *formulation)
{
    char path[PATH];
    const recipe r = {pendulum, formulation, 1e-11, 0.01, 2};
    make_result(&r, locate(w, "pendulum.h5", path));
    json_t *page = make_page(w, path, NULL);
    const json_t *scene = get(get_result(page), "scene");
    array t = decode(get(scene, "t")), poses = decode(get(scene, "poses"));
    array force = decode(get(json_array_get(get(scene, "reactions"), 0), "force"));
    assert_true(t.n >= 600 && poses.n == t.n * 2 * 7 && force.n == 3 * t.n);
    double place = 0, turn = 0, pull = 0;
    for (size_t k = 0; k < t.n; k++) {
        const double *ground = poses.x + k * 14, *bob = ground + 7;
        double theta = calc_angle(t.x[k]), phi = 0.5 * M_PI - theta;
        static const double rest[7] = {0, 0, 0, 1, 0, 0, 0};
        assert_memory_equal(ground, rest, sizeof rest);
        place = larger(place, fabs(bob[0] - sin(theta)) + fabs(bob[1]) + fabs(bob[2] + cos(theta)));
        turn = larger(turn, fabs(bob[3] - cos(0.5 * phi)) + fabs(bob[4]) +
                                fabs(bob[5] - sin(0.5 * phi)) + fabs(bob[6]));
        double tension = 3 * 9.81 * cos(theta); /* of a fall from the horizontal */
        pull = larger(pull, fabs(force.x[3 * k] + tension * sin(theta)) +
                                fabs(force.x[3 * k + 2] - tension * cos(theta)));
    }
    print_message("%s: place %.1e m, quaternion %.1e, reaction %.1e N\n", formulation, place, turn,
                  pull);
    assert_true(t.x[0] == 0 && t.x[t.n - 1] == 2);
    assert_true(place < 1e-6 && turn < 1e-6); /* single precision, and the cubic between rows */
    /* straight lines between rows 0.01 s apart: h^2/8 of 14.7 N (sin 2 theta)'' is 0.018 N, twice
     */
    assert_true(pull < 0.036);
    free(t.x);
    free(poses.x);
    free(force.x);
    json_decref(page);
}

static void poses_are_the_closed_form(void **state)
{
    check_pendulum(*state, "joint");
    check_pendulum(*state, "cartesian");
}

static void check_dataset(bg_result_file *file, const json_t *result, const char *dataset,
                          long rows)
{
    int width = bg_result_get_width(file, dataset);
    double *x = calloc((size_t)rows * (size_t)width + 1, sizeof *x);
    char buffer[64];
    assert_true(x && width > 0);
    assert_int_equal(bg_result_read(file, dataset, x, NULL), BG_OK);
    for (int i = 0; i < width; i++) {
        const char *name = bg_result_get_name(file, dataset, i, buffer, sizeof buffer);
        array c = decode(get(find_channel(result, dataset, name), "data"));
        assert_int_equal(c.n, rows);
        for (long k = 0; k < rows; k++)
            assert_true(c.x[k] == (float)x[k * width + i]);
        free(c.x);
    }
    free(x);
}

static void numbers_are_those_of_the_result(void **state)
{
    char path[PATH];
    const recipe r = {pendulum, "cartesian", 1e-7, 0, 2};
    make_result(&r, locate(*state, "steps.h5", path));
    json_t *page = make_page(*state, path, "A <title>");
    const json_t *result = get_result(page);
    assert_string_equal(json_string_value(get(page, "title")), "A <title>");
    assert_string_equal(json_string_value(get(result, "name")), "steps");
    bg_result_file *file;
    assert_int_equal(bg_result_open(path, &file, NULL), BG_OK);
    long rows = bg_result_get_info(file)->rows;
    array t = decode(get(result, "t"));
    assert_int_equal(t.n, rows);
    static const char *const datasets[] = {"q", "v", "lambda", "outputs"};
    for (int k = 0; k < 4; k++)
        check_dataset(file, result, datasets[k], rows);
    array wave = decode(get(find_channel(result, "signals", "wave"), "data"));
    for (long k = 0; k < rows; k++)
        assert_true(wave.x[k] == (float)sin(3 * t.x[k]));
    long steps = bg_result_get_info(file)->steps;
    array h = decode(get(get(result, "steps"), "h"));
    array g = decode(get(get(result, "residuals"), "g"));
    assert_int_equal(h.n + 1, steps);
    assert_int_equal(g.n, steps);
    double sum = 0;
    for (size_t k = 0; k < h.n; k++)
        sum += h.x[k];
    assert_true(fabs(sum - 2) < 1e-5);
    json_t *summary = json_loads(bg_result_get_info(file)->summary, 0, NULL);
    assert_true(json_equal(summary, (json_t *)get(result, "summary")));
    assert_string_equal(json_string_value(get(find_channel(result, "outputs", "x"), "unit")), "m");
    assert_string_equal(json_string_value(get(find_channel(result, "outputs", "turn"), "unit")),
                        "rad");
    assert_true(has_fact(result, "about", "Ends </script> nothing."));
    assert_true(has_fact(result, "degrees of freedom", "1"));
    assert_true(json_is_true(get(json_array_get(get(result, "plots"), 0), "spectrum")));
    assert_string_equal(json_string_value(get(get(get(result, "scene"), "view"), "camera")),
                        "driver");
    assert_false(has_fact(result, "note", ""));
    json_decref(summary);
    free(t.x);
    free(wave.x);
    free(h.x);
    free(g.x);
    bg_result_close(file);
    json_decref(page);
}

static void scenes_hold_the_mechanism(void **state)
{
    char path[PATH], *text = read_file(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", NULL);
    json_t *page[2];
    for (int k = 0; k < 2; k++) {
        const recipe r = {text, k == 0 ? "joint" : "cartesian", 1e-9, 0.002, 0.5};
        make_result(&r, locate(*state, "five.h5", path));
        page[k] = make_page(*state, path, NULL);
    }
    const json_t *scene = get(get_result(page[0]), "scene");
    assert_int_equal(json_array_size(get(scene, "bodies")), 8);
    assert_int_equal(json_array_size(get(scene, "springs")), 2);
    for (size_t k = 0; k < 2; k++) { /* they are called what they are */
        const json_t *spring = json_array_get(get(scene, "springs"), k);
        assert_string_equal(json_string_value(get(spring, "type")),
                            json_string_value(get(spring, "name")));
    }
    assert_int_equal(json_array_size(get(scene, "tyres")), 1);
    size_t cuts = 0;
    for (size_t k = 0; k < json_array_size(get(scene, "joints")); k++)
        cuts += json_is_true(get(json_array_get(get(scene, "joints"), k), "cut"));
    assert_int_equal(cuts, 4);
    const json_t *road = get(get(scene, "road"), "profile");
    double top = -1, base = json_real_value(json_array_get(json_array_get(road, 0), 1));
    for (size_t k = 0; k < json_array_size(road); k++)
        top = larger(top, json_number_value(json_array_get(json_array_get(road, k), 1)));
    print_message("bump %.4g m\n", top - base);
    assert_true(top - base > 0.01 && json_array_size(road) > 100);
    array a = decode(get(scene, "poses"));
    array b = decode(get(get(get_result(page[1]), "scene"), "poses"));
    double worst = 0, moved = 0;
    assert_int_equal(a.n, b.n);
    for (size_t k = 0; k < a.n; k++) {
        worst = larger(worst, fabs(a.x[k] - b.x[k]));
        moved = larger(moved, fabs(a.x[k] - a.x[k % 56]));
    }
    print_message("formulations differ by %.1e\n", worst);
    assert_true(worst < 1e-5 && moved > 0.01);
    free(a.x);
    free(b.x);
    json_decref(page[0]);
    json_decref(page[1]);
    free(text);
}

/* Ground that is uneven across is a surface: its heights are those of the expression. */
static void surfaces_are_drawn(void **state)
{
    const char *text =
        "{\"bodies\": {\"w\": {\"mass\": 20, \"center\": [0, 1, 0.3], \"inertia\": [1, 1, 1],"
        "  \"velocity\": [3, 0, 0]}}, \"joints\": {\"j\": {\"type\": \"free\", \"bodies\":"
        "  [\"ground\", \"w\"]}}, \"road\": {\"type\": \"expression\", \"speed\": 2,"
        "  \"expression\": \"0.05*sin(x)*y\"}, \"tyres\": {\"t\": {\"type\": \"point-follower\","
        "  \"wheel\": \"w\", \"radius\": 0.3, \"stiffness\": 1e5}}}";
    char path[PATH];
    const recipe r = {text, "joint", 1e-6, 0.05, 0.5};
    make_result(&r, locate(*state, "ground.h5", path));
    json_t *page = make_page(*state, path, NULL);
    const json_t *road = get(get(get_result(page), "scene"), "road");
    const json_t *rows = get(road, "heights"), *profile = get(road, "profile");
    const double y = json_number_value(get(road, "y")),
                 width = json_number_value(get(road, "width"));
    const size_t n = json_array_size(rows);
    double highest = 0;
    assert_true(n > 50 && n == json_array_size(profile));
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i), *middle = json_array_get(profile, i);
        const double x = json_number_value(json_array_get(middle, 0));
        const size_t lanes = json_array_size(row);
        assert_true(lanes > 4);
        assert_true(fabs(json_number_value(json_array_get(middle, 1)) - 0.05 * sin(x) * y) < 1e-6);
        for (size_t k = 0; k < lanes; k++) {
            const double at = y + width * ((double)k / (double)(lanes - 1) - 0.5);
            const double z = json_number_value(json_array_get(row, k));
            assert_true(fabs(z - 0.05 * sin(x) * at) < 1e-6);
            highest = larger(highest, z);
        }
    }
    assert_true(highest > 0.03);
    json_decref(page);
}

static void long_results_keep_their_extremes(void **state)
{
    char path[PATH];
    enum { POINTS = 20000 };
    const recipe r = {pendulum, "joint", 1e-6, 2e-5, 2};
    make_result(&r, locate(*state, "long.h5", path));
    json_t *page = make_page(*state, path, NULL);
    const json_t *result = get_result(page);
    bg_result_file *file;
    assert_int_equal(bg_result_open(path, &file, NULL), BG_OK);
    long rows = bg_result_get_info(file)->rows;
    assert_true(rows > 100000);
    double *v = calloc((size_t)rows, sizeof *v), low = 0, high = 0;
    assert_int_equal(bg_result_read(file, "v", v, NULL), BG_OK);
    for (long k = 0; k < rows; k++) {
        low = v[k] < low ? v[k] : low;
        high = larger(high, v[k]);
    }
    array t = decode(get(result, "t")),
          c = decode(get(find_channel(result, "v", "pin.angle"), "data"));
    float seen_low = 0, seen_high = 0;
    assert_true(t.n <= POINTS && t.n > POINTS / 2 && c.n == t.n);
    for (size_t k = 0; k < t.n; k++) {
        assert_true(k == 0 || t.x[k] >= t.x[k - 1]);
        long row = lround(t.x[k] / 2e-5);
        assert_true(fabs(c.x[k] - v[row]) < 5e-3); /* within the stretch: 20 rows at 9.81 1/s^2 */
        seen_low = (float)c.x[k] < seen_low ? (float)c.x[k] : seen_low;
        seen_high = (float)c.x[k] > seen_high ? (float)c.x[k] : seen_high;
    }
    assert_true(seen_low == (float)low && seen_high == (float)high && low < -4 && high > 4);
    assert_true(t.x[0] == 0 && t.x[t.n - 1] == 2);
    assert_true(has_fact(result, "note", "of 100001 rows"));
    free(v);
    free(t.x);
    free(c.x);
    bg_result_close(file);
    json_decref(page);
}

/* A pendulum's result written by hand: rows of a circle at 0.1 s, NaN from row `bad` on. */
static void make_rows(const char *path, int rows, int bad, bool finish)
{
    bg_model *model;
    bg_system *system;
    bg_result *result;
    bg_run_options options = bg_default_run_options();
    bg_run_report report = {.integrator = "mdop5"};
    assert_int_equal(bg_model_parse(pendulum, "model.json", NULL, 0, &model, NULL), BG_OK);
    assert_int_equal(bg_model_create_system(model, "joint", &system, NULL), BG_OK);
    options.formulation = "joint";
    assert_int_equal(bg_result_create(path, "model.json", "mdop5", system, &result, NULL), BG_OK);
    assert_int_equal(bg_result_describe(result, model, &options, NULL), BG_OK);
    bg_sink sink = bg_result_get_sink(result);
    assert_int_equal(sink.begin(sink.self, NULL), BG_OK);
    for (int k = 0; k < rows; k++) {
        double q = k < bad ? 0.1 * k : NAN, v = 1, a = 0, y[2] = {cos(q), q};
        bg_state x = {.t = 0.1 * k, .q = &q, .v = &v, .a = &a};
        bg_row row = {.state = &x, .y = y, .h = 0.1};
        assert_int_equal(sink.row(sink.self, &row, NULL), BG_OK);
    }
    assert_int_equal(
        finish ? bg_result_finish(result, &report, NULL) : bg_result_flush(result, NULL), BG_OK);
    bg_result_destroy(result);
    bg_system_destroy(system);
    bg_model_destroy(model);
}

static void results_that_are_not_finite_say_so(void **state)
{
    char path[PATH];
    make_rows(locate(*state, "nan.h5", path), 30, 20, true);
    json_t *page = make_page(*state, path, NULL);
    const json_t *result = get_result(page);
    assert_true(has_fact(result, "note", "not finite"));
    assert_true(has_fact(result, "note", "The animation ends at t = 1.9"));
    array q = decode(get(find_channel(result, "q", "pin.angle"), "data"));
    assert_true(q.n == 30 && isnan(q.x[29]) && q.x[19] == (float)1.9);
    array t = decode(get(get(result, "scene"), "t")),
          p = decode(get(get(result, "scene"), "poses"));
    assert_true(fabs(t.x[t.n - 1] - 1.9) < 1e-12);
    for (size_t k = 0; k < p.n; k++)
        assert_true(isfinite(p.x[k]));
    free(q.x);
    free(t.x);
    free(p.x);
    json_decref(page);
    make_rows(locate(*state, "allnan.h5", path), 5, 0, true);
    page = make_page(*state, path, NULL);
    assert_true(json_is_null(get(get_result(page), "scene")));
    assert_true(has_fact(get_result(page), "note", "no row with finite states"));
    json_decref(page);
}

static void results_without_rows_or_end_say_so(void **state)
{
    char path[PATH];
    make_rows(locate(*state, "none.h5", path), 0, 0, true);
    json_t *page = make_page(*state, path, NULL);
    assert_true(has_fact(get_result(page), "note", "no rows"));
    assert_true(json_is_null(get(get_result(page), "scene")));
    array t = decode(get(get_result(page), "t"));
    assert_int_equal(t.n, 0);
    free(t.x);
    json_decref(page);
    make_rows(locate(*state, "one.h5", path), 1, 1, true);
    page = make_page(*state, path, NULL);
    t = decode(get(get(get_result(page), "scene"), "t"));
    assert_int_equal(t.n, 1);
    free(t.x);
    json_decref(page);
    make_rows(locate(*state, "killed.h5", path), 8, 8, false);
    page = make_page(*state, path, NULL);
    assert_true(has_fact(get_result(page), "note", "goes on, or was ended"));
    assert_string_equal(json_string_value(get(get(get_result(page), "summary"), "status")),
                        "incomplete");
    json_decref(page);
}

static void refuse(const char *path, const char *word)
{
    bg_error err = {0};
    bg_report *report;
    assert_int_equal(bg_report_create(&report, NULL), BG_OK);
    assert_true(bg_report_add(report, path, &err) < 0);
    if (!strstr(err.text, word) || !strstr(err.text, path))
        fail_msg("'%s' lacks '%s'", err.text, word);
    bg_report_destroy(report);
}

static void studies_go_into_the_page_as_they_are(void **state)
{
    static const char text[] = "{\"format\": 1, \"kind\": \"study\", \"name\": \"n\", \"title\": "
                               "\"A </script> <!-- title\", "
                               "\"columns\": [{\"key\": \"steps\"}], \"rows\": [{\"values\": [0.1, "
                               "\"<b>\", null, 1e-300]}]}";
    char path[PATH];
    write_text(locate(*state, "study.json", path), text);
    json_t *page = make_page(*state, path, NULL), *study = json_loads(text, 0, NULL);
    assert_true(json_equal(json_array_get(get(page, "studies"), 0), study));
    assert_int_equal(json_array_size(get(page, "results")), 0);
    assert_string_equal(json_string_value(get(page, "title")), "A </script> <!-- title");
    json_decref(page);
    json_decref(study);
    write_text(path, "{\"format\": 2, \"kind\": \"study\", \"columns\": [], \"rows\": []}");
    refuse(path, "newer version");
    write_text(path, "{\"format\": 1, \"kind\": \"study\", \"rows\": []}");
    refuse(path, "table is missing");
    write_text(path, "{\"bodies\": {}}");
    refuse(path, "not the output of a study");
    write_text(path, "{\"format\": 1, \"kind\": \"stu");
    refuse(path, "line 1");
    write_text(path, "some text");
    refuse(path, "no HDF5 file");
    write_text(path, "");
    refuse(path, "empty");
}

static void other_files_are_not_replaced(void **state)
{
    char source[PATH], path[PATH], partial[PATH + 16];
    bg_error err = {0};
    bg_report *report;
    make_rows(locate(*state, "rows.h5", source), 3, 3, true);
    assert_int_equal(bg_report_create(&report, NULL), BG_OK);
    assert_int_equal(bg_report_write(report, template_text, NULL, source, &err), BG_BAD_INPUT);
    assert_int_equal(bg_report_add(report, source, NULL), BG_OK);
    write_text(locate(*state, "notes.txt", path), "precious\n");
    assert_int_equal(bg_report_write(report, template_text, NULL, path, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "is no HTML page"));
    assert_int_equal(bg_report_write_gltf(report, path, &err), BG_BAD_INPUT);
    char *text = read_file(path, NULL);
    assert_string_equal(text, "precious\n");
    free(text);
    snprintf(partial, sizeof partial, "%s.partial", path);
    assert_true(access(partial, F_OK) != 0);
    write_text(path, "<!DOCTYPE HTML><p>somebody's page</p>");
    assert_int_equal(bg_report_write(report, template_text, NULL, path, &err), BG_BAD_INPUT);
    write_text(path, "");
    for (int k = 0; k < 2; k++) /* over an empty file, then over its own page */
        assert_int_equal(bg_report_write(report, template_text, NULL, path, &err), BG_OK);
    assert_true(access(partial, F_OK) != 0);
    assert_int_equal(bg_report_write(report, "<html></html>", NULL, path, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "exactly once"));
    assert_int_equal(bg_report_write(report, template_text, NULL, "/nowhere/page.html", &err),
                     BG_IO);
    assert_int_equal(bg_report_write(report, template_text, NULL, "/dev/full", &err), BG_IO);
    bg_report_destroy(report);
}

static void gltf_moves_as_the_page(void **state)
{
    char source[PATH], path[PATH];
    bg_report *report;
    make_rows(locate(*state, "circle.h5", source), 11, 11, true);
    assert_int_equal(bg_report_create(&report, NULL), BG_OK);
    assert_int_equal(bg_report_add(report, source, NULL), BG_OK);
    assert_int_equal(bg_report_write_gltf(report, locate(*state, "circle.glb", path), NULL), BG_OK);
    bg_report_destroy(report);
    char *data = read_file(path, NULL);
    uint32_t head[5];
    memcpy(head, data, sizeof head);
    assert_memory_equal(data, "glTF", 4);
    assert_int_equal(head[1], 2);
    json_t *all = json_loadb(data + 20, head[3], 0, NULL);
    assert_non_null(all);
    const char *bin = data + 20 + head[3] + 8;
    /* the first animated body, after a radian's turn: (cos 1, 0, -sin 1) */
    const json_t *animation = json_array_get(get(all, "animations"), 0);
    const json_t *sampler = json_array_get(get(animation, "samplers"), 0);
    const json_t *accessor = json_array_get(get(all, "accessors"),
                                            (size_t)json_integer_value(get(sampler, "output")));
    const json_t *view = json_array_get(get(all, "bufferViews"),
                                        (size_t)json_integer_value(get(accessor, "bufferView")));
    json_int_t n = json_integer_value(get(accessor, "count"));
    float r[3];
    memcpy(r, bin + json_integer_value(get(view, "byteOffset")) + 12 * (n - 1), sizeof r);
    assert_true(fabs(r[0] - cos(1)) < 1e-6 && fabs(r[1]) < 1e-6 && fabs(r[2] + sin(1)) < 1e-6);
    json_decref(all);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_are_the_closed_form),
        cmocka_unit_test(numbers_are_those_of_the_result),
        cmocka_unit_test(scenes_hold_the_mechanism),
        cmocka_unit_test(surfaces_are_drawn),
        cmocka_unit_test(long_results_keep_their_extremes),
        cmocka_unit_test(results_that_are_not_finite_say_so),
        cmocka_unit_test(results_without_rows_or_end_say_so),
        cmocka_unit_test(studies_go_into_the_page_as_they_are),
        cmocka_unit_test(other_files_are_not_replaced),
        cmocka_unit_test(gltf_moves_as_the_page),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
