/* Parts of mechanisms that are described once and used several times.
 *
 * Any mechanism can be a part: random ones, with all joints, forces and tyres, are put into a part
 * and compared with the mechanism itself. Used as it is, the part gives the same bits. Moved,
 * turned and mirrored, with gravity turned alike, it moves as its image does, in both forms: what
 * it measures itself is the same, and what the model measures of it, in world axes, is the image.
 */
#include "bogie/model.h"
#include "model/model.h"
#include "model_support.h"
#include "random_mechanism.h"

#include <jansson.h>
#include <sys/stat.h>

static const char *const sections[] = {"bodies", "joints", "forces", "tyres", "inputs", "outputs"};

/* Where the part goes. */
typedef struct image {
    bg_vec3 at, axis;
    double angle;
    char mirror; /* 0: none */
    bg_mat3 M;
    double det;
} image;

static image make_image(uint64_t *seed, bool upright)
{
    image x = {.at = random_vec3(seed, upright ? 0 : 3), .axis = random_direction(seed)};
    x.angle = upright ? 0 : random_between(seed, -3, 3);
    x.mirror = upright ? 'y' : (char)"\0xyz"[random_below(seed, 4)];
    x.M = bg_rotation_about(x.axis, x.angle);
    x.det = x.mirror ? -1 : 1;
    for (int i = 0; i < 3 && x.mirror; i++)
        x.M.m[i][x.mirror - 'x'] *= -1;
    return x;
}

static json_t *make_list(bg_vec3 a)
{
    return json_pack("[f, f, f]", a.x, a.y, a.z);
}

/* An output for every value of every force and tyre. */
static void add_values(json_t *outputs, const char *text)
{
    bg_model *model;
    bg_error err = {BG_OK, ""};
    assert_ok(bg_model_parse(text, "test", NULL, 0, &model, &err));
    for (int k = 0; k < model->nforces; k++)
        for (int i = 0; i < model->forces[k].class_->nsensors; i++) {
            char name[64];
            const char *value = model->forces[k].class_->sensor_names[i];
            snprintf(name, sizeof name, "%d:%s:%s", k, model->forces[k].class_->name, value);
            json_object_set_new(
                outputs, name,
                json_pack("{s:s, s:s}", "force", model->forces[k].name, "value", value));
        }
    bg_model_destroy(model);
}

/* The mechanism as a model of its own, and as a part that a model uses; both get outputs of centres
 * and angular velocities, of which the second's are those of the model, in world axes. */
static void write_both(const char *source, const image *x, bool tyres, char *text[2])
{
    json_t *flat = json_loads(source, 0, NULL), *part = json_object(), *outside = json_object();
    json_t *use = json_pack("{s:s, s:o}", "part", "mechanism", "at", make_list(x->at));
    assert_non_null(flat);
    if (!tyres) {
        json_object_del(flat, "tyres");
        json_object_del(flat, "road");
    }
    char *without = json_dumps(flat, JSON_REAL_PRECISION(17));
    add_values(json_object_get(flat, "outputs"), without);
    free(without);
    json_object_set_new(use, "orientation",
                        json_pack("{s:o, s:f}", "axis", make_list(x->axis), "angle", x->angle));
    if (x->mirror)
        json_object_set_new(use, "mirror", json_stringn(&x->mirror, 1));
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
        if (json_object_get(flat, sections[k]))
            json_object_set_new(part, sections[k],
                                json_deep_copy(json_object_get(flat, sections[k])));
    const int bodies = (int)json_object_size(json_object_get(flat, "bodies"));
    for (int k = 1; k <= bodies; k++) {
        char name[32], body[32];
        json_t *outputs = json_object_get(flat, "outputs");
        snprintf(name, sizeof name, "X%d", k);
        snprintf(body, sizeof body, "u.b%d", k);
        json_object_set_new(outputs, name, json_pack("{s:s}", "position", body + 2));
        json_object_set_new(outside, name, json_pack("{s:s}", "position", body));
        name[0] = 'W';
        json_object_set_new(outputs, name, json_pack("{s:s}", "angular_velocity", body + 2));
        json_object_set_new(outside, name, json_pack("{s:s}", "angular_velocity", body));
    }
    const bg_vec3 down = {0, 0, -9.81};
    json_t *used = json_pack("{s:{s:o}, s:{s:o}, s:o, s:o}", "parts", "mechanism", part, "use", "u",
                             use, "outputs", outside, "gravity", make_list(bg_rotate(&x->M, down)));
    json_t *road = json_deep_copy(json_object_get(flat, "road"));
    if (road && x->M.m[0][0] < 0) /* it comes from the other side */
        json_object_set_new(road, "speed",
                            json_real(-json_number_value(json_object_get(road, "speed"))));
    if (road)
        json_object_set_new(used, "road", road);
    text[0] = json_dumps(flat, JSON_REAL_PRECISION(17));
    text[1] = json_dumps(used, JSON_REAL_PRECISION(17));
    json_decref(flat);
    json_decref(used);
}

typedef struct parts_outcome {
    bg_model *model;
    bg_status status;
    double *y;
    int n;
} parts_outcome;

/* A few steps of fixed length, and the outputs behind them. */
static parts_outcome run(const char *text, const char *form, bool *possible)
{
    parts_outcome x = {0};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    o.integrator = "rk4";
    o.method.step = 2e-3;
    o.skip_comparison = 1; /* not what is looked at here */
    o.t_end = 8e-3;
    assert_ok(bg_model_parse(text, "test", NULL, 0, &x.model, &err));
    x.status = bg_model_create_system(x.model, form, &sys, &err);
    if (x.status == BG_OK) {
        x.status = bg_run(sys, &o, &r, &err);
        x.n = bg_system_get_def(sys)->ny;
        x.y = calloc((size_t)x.n, sizeof *x.y);
        if (x.status == BG_OK)
            memcpy(x.y, r.y, (size_t)x.n * sizeof *x.y);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
    *possible = x.status == BG_OK;
    return x;
}

static void clear(parts_outcome *x)
{
    free(x->y);
    bg_model_destroy(x->model);
}

static double find(const parts_outcome *x, const char *prefix, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    for (int k = 0; k < x->n; k++)
        if (strcmp(x->model->outputs[k].name, full) == 0)
            return x->y[k];
    fail_msg("no output '%s'", full);
    return 0;
}

static bg_vec3 find_vec3(const parts_outcome *x, const char *name)
{
    double a[3];
    for (int k = 0; k < 3; k++) {
        char component[32];
        snprintf(component, sizeof component, "%s.%c", name, 'x' + k);
        a[k] = find(x, "", component);
    }
    return bg_vec3_load(a);
}

/* The largest of the outputs of a kind, which are called by one letter or the number of a force; 1
 * at least, as the mechanisms are some metres large, weigh some kilograms and are in motion. */
static double calc_size(const parts_outcome *x, char letter)
{
    double size = 1;
    for (int k = 0; k < x->n; k++)
        if (x->model->outputs[k].name[0] == letter)
            size = fmax(size, fabs(x->y[k]));
    return size;
}

/* How far the part is from being the image of the mechanism. */
static double compare(const parts_outcome *flat, const parts_outcome *used, const image *x)
{
    double worst = 0;
    const double X = 1 + calc_size(flat, 'X'), W = calc_size(flat, 'W');
    for (int k = 0; k < flat->n; k++) {
        const char *name = flat->model->outputs[k].name;
        if (name[0] != 'X' && name[0] != 'W')
            worst = fmax(worst,
                         fabs(find(used, "u.", name) - flat->y[k]) / calc_size(flat, name[0]));
    }
    for (int k = 1; k < flat->model->nbodies; k++) {
        char name[2][16];
        snprintf(name[0], 16, "X%d", k);
        snprintf(name[1], 16, "W%d", k);
        bg_vec3 r = bg_add(x->at, bg_rotate(&x->M, find_vec3(flat, name[0])));
        bg_vec3 w = bg_scale(x->det, bg_rotate(&x->M, find_vec3(flat, name[1])));
        worst = fmax(worst, bg_length(bg_sub(find_vec3(used, name[0]), r)) / X);
        worst = fmax(worst, bg_length(bg_sub(find_vec3(used, name[1]), w)) / W);
    }
    return worst;
}

/* The largest difference of a mechanism and its image; -1: it cannot be run, nor can its image. */
static double check_image(const char *source, const image *x, bool tyres, int form)
{
    char *text[2];
    bool possible[2];
    write_both(source, x, tyres, text);
    parts_outcome flat = run(text[0], forms[form], &possible[0]);
    parts_outcome used = run(text[1], forms[form], &possible[1]);
    assert_int_equal(possible[0], possible[1]);
    double error = possible[0] ? compare(&flat, &used, x) : -1;
    clear(&flat);
    clear(&used);
    for (int k = 0; k < 2; k++)
        free(text[k]);
    return error;
}

enum { MECHANISMS = SANITIZED ? 20 : 150 };

/* The same for many random mechanisms, of which most can be run. */
static double check_images(unsigned first, bool upright, const image *given)
{
    double worst = 0;
    int count = 0;
    for (unsigned k = 0; k < MECHANISMS; k++) {
        uint64_t seed = k;
        random_mechanism m = random_mechanism_make(first + k);
        image x = given ? *given : make_image(&seed, upright);
        double error = check_image(m.text, &x, upright, (int)(k % 2));
        if (error > 1e-10)
            print_message("mechanism %u, %s: %.1e\n", first + k, forms[k % 2], error);
        count += error >= 0;
        worst = fmax(worst, error);
        free(m.text);
    }
    assert_true(count > 0.9 * MECHANISMS);
    return worst;
}

static void test_mirrored(void **state)
{
    (void)state;
    double worst = check_images(0, true, NULL);
    print_message("mirrored mechanisms differ by %.1e\n", worst);
    assert_true(worst < 1e-10);
}

static void test_turned(void **state)
{
    (void)state;
    double worst = check_images(1000, false, NULL);
    print_message("moved, turned and mirrored mechanisms differ by %.1e\n", worst);
    assert_true(worst < 1e-10);
}

static void test_same_bits(void **state)
{
    (void)state;
    const image none = {.axis = {0, 0, 1}, .M = bg_mat3_identity(), .det = 1};
    assert_true(check_images(2000, true, &none) == 0);
}

/* What random mechanisms do not have: controllers that look at points, values along oblique axes,
 * wheels that roll, steered and cambered, on axes of their own. */
static const char fixture[] =
    "{'bodies': {"
    "  'b1': {'mass': 40, 'center': [0.1, 0.2, 0.7], 'inertia': [3, 4, 5, 0.2, -0.3, 0.1],"
    "    'orientation': {'rpy': [0.3, -0.2, 0.5]}, 'velocity': [9, 0.5, -0.1],"
    "    'points': {'eye': [0.3, 0.1, 0.9]}, 'shapes': [{'type': 'box', 'size': [1, 2, 3]}]},"
    "  'b2': {'mass': 9, 'center': [0.5, 0.6, 0.31], 'inertia': [0.3, 0.5, 0.3]},"
    "  'b3': {'mass': 9, 'center': [-0.5, 0.5, 0.3], 'inertia': [0.3, 0.5, 0.3]}},"
    " 'joints': {"
    "  'left': {'type': 'revolute', 'bodies': ['b1', 'b2'], 'at': 'b2', 'axis': [0.1, 1, 0.05],"
    "    'initial': {'velocity': 28}},"
    "  'right': {'type': 'cylindrical', 'bodies': ['b3', 'b1'], 'at': 'b3', 'axis': [0, -1, 0.1],"
    "    'initial': {'angle': {'velocity': 25}, 'slide': {'position': 0.02, 'velocity': 0.3}}}},"
    " 'forces': {"
    "  'height': {'type': 'controller', 'input': {'position': 'b1.eye', 'component': 'y'},"
    "    'reference': 0.3, 'kp': 700, 'kd': 30, 'output': {'joint': 'right', 'coordinate': "
    "'slide'}},"
    "  'side': {'type': 'controller', 'input': {'velocity': 'b1.eye', 'component': 'y', 'axes': "
    "'body'}, 'kp': 60, 'ki': 90, 'reference': 'x.y', 'output': {'joint': 'left'}},"
    "  'speed': {'type': 'controller', 'input': {'velocity': 'b1.eye', 'component': 'x'},"
    "    'kp': 50, 'output': {'joint': 'right', 'coordinate': 'angle'}},"
    "  'block': {'type': 'bushing', 'bodies': ['b1', 'b3'], 'at': [-0.4, 0.4, 0.4],"
    "    'orientation': {'rpy': [0.2, 0.4, -0.6]}, 'stiffness': [900, 2000, 300, 10, 20, 30],"
    "    'damping': [9, 8, 7, 0.6, 0.5, 0.4]},"
    "  'wind': {'type': 'force', 'at': 'b1.eye', 'axes': 'body', 'force': ['3*w.x', 5, 'o.y*90']},"
    "  'twist': {'type': 'torque', 'body': 'b1', 'axes': 'body', 'torque': [3, '2*w.y', "
    "'-5*x.y']}},"
    " 'road': {'type': 'flat', 'speed': 1},"
    " 'tyres': {"
    "  'fiala': {'type': 'fiala', 'wheel': 'b2', 'axis': [0.1, 1, 0.05], 'radius': 0.35,"
    "    'stiffness': 9000, 'damping': 50, 'relaxation': [0.1, 0.2], 'longitudinal_stiffness': "
    "4000,"
    "    'cornering_stiffness': 3000, 'friction': 1, 'sliding_friction': 0.8, 'half_length': 0.05,"
    "    'rolling_resistance': 0.01},"
    "  'brush': {'type': 'brush', 'wheel': {'body': 'b3', 'at': [-0.5, 0.6, 0.3]}, 'axis': [0, 1, "
    "-0.1], 'radius': 0.34, 'stiffness': 9000, 'relaxation': [0.1, 0.2], 'tread_stiffness': [9e5, "
    "6e5], 'friction': [1, 0.9], 'half_length': 0.05, 'load': 300}},"
    " 'outputs': {'x': {'position': 'b1.eye'}, 'w': {'angular_velocity': 'b1'},"
    "  'o': {'orientation': 'b1'}, 'r': {'reaction': 'right'}, 'a': {'angular_acceleration': 'b1'},"
    "  'c': {'joint': 'right', 'coordinate': 'slide', 'derivative': 2},"
    "  'C': {'joint': 'right', 'coordinate': 'slide'}}}";

/* Images that leave gravity and the plane of the road where they are. */
static void test_wheels(void **state)
{
    (void)state;
    double worst = 0;
    char *text = quote(fixture);
    for (int k = 0; k < 12; k++) {
        image x = {.at = {k, 2 * k, 0}, .axis = {0, 0, 1}, .det = k % 6 < 2 ? 1 : -1};
        x.mirror = (char)(k % 6 < 2 ? 0 : k % 6 < 4 ? 'x' : 'y');
        x.angle = k % 2 ? M_PI : 0;
        x.M = bg_rotation_about(x.axis, x.angle);
        for (int i = 0; i < 3 && x.mirror; i++)
            x.M.m[i][x.mirror - 'x'] *= -1;
        double error = check_image(text, &x, true, k / 6);
        assert_true(error >= 0);
        worst = fmax(worst, error);
    }
    free(text);
    print_message("images of wheels differ by %.1e\n", worst);
    assert_true(worst < 1e-10);
}

/* Parts in parts, used many times, against the same written out by hand: axles of two wheels each,
 * which hang on one another. */
static const char nested[] =
    "{'parameters': {'n': 3, 'pitch': 0.5, 'c': 40},"
    " 'parts': {"
    "  'wheel': {'parameters': {'mass': 2, 'k': '100*mass'},"
    "    'bodies': {'disc': {'mass': 'mass', 'center': [0, 0.3, 0], 'inertia': [0.1, 0.15, 0.1, "
    "0.03, 0, -0.02], 'angular_velocity': [0.2, 1, 0.3]}},"
    "    'joints': {'hub': {'type': 'revolute', 'bodies': ['beam', 'disc'], 'at': [0, 0.2, 0], "
    "'axis': [0.1, 1, 0], 'initial': 0.1}},"
    "    'forces': {'stop': {'type': 'torsion', 'joint': 'hub', 'stiffness': 'k', 'torque': "
    "'-c*spin*shift.y'}},"
    "    'outputs': {'spin': {'joint': 'hub', 'derivative': 1}, 'shift': {'position': 'disc'}}},"
    "  'axle': {'bodies': {'beam': {'mass': 3, 'center': [0, 0, 0], 'inertia': [0.2, 0.1, 0.2], "
    "'points': {'end': ['pitch', 0, 0]}}},"
    "    'joints': {'hinge': {'type': 'universal', 'bodies': ['before', 'beam'], 'at': [0, 0, 0], "
    "'axis': [0, 1, 0], 'second': [0, 0, 1]}},"
    "    'use': {'l': {'part': 'wheel', 'connect': {'beam': 'beam'}},"
    "            'r': {'part': 'wheel', 'mirror': 'y', 'connect': {'beam': 'beam'}}},"
    "    'outputs': {'both': 'l.spin + r.spin'}}},"
    " 'use': {'a1': {'part': 'axle', 'connect': {'before': 'ground'}},"
    "   'a[i=2..n]': {'part': 'axle', 'at': ['({i} - 1)*pitch', 0, 0], 'connect': {'before': "
    "'a{i-1}"
    ".beam'}}},"
    " 'outputs': {'end': {'position': 'a{n}.beam.end'}, 'all': 'a1.both + a2.both'},"
    " 'events': {'turn': 'a1.l.spin - 0.1'}, 'run': {'t_end': 0.3}}";

/* The same without parts, wheel by wheel. */
static void write_bodies(FILE *out, double mass_of_a2_r)
{
    for (int i = 1; i <= 3; i++) {
        fprintf(out,
                "%s\"a%d\": {\"mass\": 3, \"center\": [%g, 0, 0], \"inertia\": [0.2, 0.1, 0.2]}",
                i > 1 ? ", " : "", i, 0.5 * (i - 1));
        for (int s = 1; s >= -1; s -= 2)
            fprintf(
                out,
                ", \"a%d%c\": {\"mass\": %.17g, \"center\": [%g, %g, 0], \"inertia\": [0.1, 0.15, "
                "0.1, %g, 0, %g], \"angular_velocity\": [%g, 1, %g]}",
                i, s > 0 ? 'l' : 'r', i == 2 && s < 0 ? mass_of_a2_r : 2, 0.5 * (i - 1), 0.3 * s,
                0.03 * s, -0.02 * s, 0.2 * s, 0.3 * s);
    }
}

static void write_joints(FILE *out)
{
    for (int i = 1; i <= 3; i++) {
        char before[16] = "ground";
        if (i > 1)
            snprintf(before, sizeof before, "a%d", i - 1);
        fprintf(
            out,
            "%s\"h%d\": {\"type\": \"universal\", \"bodies\": [\"%s\", \"a%d\"], \"at\": [%g, 0, "
            "0], \"axis\": [0, 1, 0], \"second\": [0, 0, 1]}",
            i > 1 ? ", " : "", i, before, i, 0.5 * (i - 1));
        for (int s = 1; s >= -1; s -= 2)
            fprintf(
                out,
                ", \"h%d%c\": {\"type\": \"revolute\", \"bodies\": [\"a%d\", \"a%d%c\"], \"at\": "
                "[%g, %g, 0], \"axis\": [%g, 1, 0], \"initial\": 0.1}",
                i, s > 0 ? 'l' : 'r', i, i, s > 0 ? 'l' : 'r', 0.5 * (i - 1), 0.2 * s, 0.1 * s);
    }
}

static char *write_nested(double mass_of_a2_r)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size), *outputs;
    char *rest;
    outputs = open_memstream(&rest, &size);
    fprintf(out, "{\"bodies\": {");
    write_bodies(out, mass_of_a2_r);
    fprintf(out, "}, \"joints\": {");
    write_joints(out);
    fprintf(out, "}, \"forces\": {");
    for (int i = 1; i <= 3; i++)
        for (int s = 1; s >= -1; s -= 2) {
            const char c = s > 0 ? 'l' : 'r';
            fprintf(
                out,
                "%s\"f%d%c\": {\"type\": \"torsion\", \"joint\": \"h%d%c\", \"stiffness\": %.17g, "
                "\"torque\": \"%g*spin%d%c*shift%d%c.y\"}",
                i > 1 || s < 0 ? ", " : "", i, c, i, c, 100 * (i == 2 && s < 0 ? mass_of_a2_r : 2),
                -40.0 * s, i, c, i, c);
            fprintf(outputs,
                    "\"spin%d%c\": {\"joint\": \"h%d%c\", \"derivative\": 1}, \"shift%d%c\": "
                    "{\"position\": \"a%d%c\"}, ",
                    i, c, i, c, i, c, i, c);
        }
    fclose(outputs);
    fprintf(out,
            "}, \"outputs\": {%s\"end\": {\"position\": {\"body\": \"a3\", \"at\": [1.5, 0, 0]}}, "
            "\"all\": \"spin1l + spin1r + spin2l + spin2r\"}, \"run\": {\"t_end\": 0.3}}",
            rest);
    fclose(out);
    free(rest);
    return text;
}

static parts_outcome run_with(const char *text, const bg_setting *settings, int n, const char *form)
{
    parts_outcome x = {0};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    o.method.rtol = o.method.atol = 1e-9;
    assert_ok(bg_model_parse(text, "test", settings, n, &x.model, &err));
    assert_ok(bg_model_create_system(x.model, form, &sys, &err));
    o.t_end = x.model->t_end;
    assert_ok(bg_run(sys, &o, &r, &err));
    x.n = bg_system_get_def(sys)->ny;
    x.y = calloc((size_t)x.n, sizeof *x.y);
    memcpy(x.y, r.y, (size_t)x.n * sizeof *x.y);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    return x;
}

/* By hand and by parts, after one wheel has got another mass in each of the ways there are. */
static void test_nested(void **state)
{
    (void)state;
    static const bg_setting ways[][2] = {
        {{"parameters.a2.r.mass", "2"}, {NULL, NULL}},
        {{"parameters.a2.r.mass", "5"}, {NULL, NULL}},
        {{"use.a2.parameters", "{}"}, {"parameters.a2.r.mass", "3 + 2"}},
        {{"bodies.a2.r.disc.mass", "5"}, {"forces.a2.r.stop.stiffness", "500"}},
    };
    char *text = quote(nested);
    for (int k = 0; k < 8; k++) {
        const bg_setting *way = ways[k / 2];
        char *flat = write_nested(k < 2 ? 2 : 5);
        parts_outcome used = run_with(text, way, way[1].name ? 2 : 1, forms[k % 2]);
        parts_outcome by_hand = run_with(flat, NULL, 0, forms[k % 2]);
        char *again = bg_model_create_text(used.model);
        parts_outcome reread = run_with(again, NULL, 0, forms[k % 2]);
        assert_near(find(&used, "", "all"), find(&by_hand, "", "all"), 1e-10);
        for (int i = 0; i < 3; i++) {
            static const char *const names[] = {"end.x", "end.y", "end.z"};
            assert_near(find(&used, "", names[i]), find(&by_hand, "", names[i]), 1e-10);
        }
        assert_near(find(&used, "", "a3.r.spin"), find(&by_hand, "", "spin3r"), 1e-10);
        assert_near(find(&used, "", "a3.r.shift.y"), -find(&by_hand, "", "shift3r.y"), 1e-10);
        assert_int_equal(reread.n, used.n); /* what is kept with results is the same model */
        assert_memory_equal(reread.y, used.y, (size_t)used.n * sizeof *used.y);
        clear(&used);
        clear(&by_hand);
        clear(&reread);
        free(flat);
        free(again);
    }
    free(text);
}

/* Names of what parts have, as everything that speaks of them uses them. */
static void test_names(void **state)
{
    (void)state;
    char *text = quote(nested);
    bg_model *m;
    bg_error err = {BG_OK, ""};
    const bg_setting fewer = {"parameters.n", "2"};
    assert_ok(bg_model_parse(text, "test", &fewer, 1, &m, &err));
    static const char *const bodies[] = {"ground", "a1.beam", "a1.l.disc", "a1.r.disc", "a2.beam"};
    assert_int_equal(m->nbodies, 7);
    for (int k = 0; k < 5; k++)
        assert_string_equal(m->bodies[k].name, bodies[k]);
    assert_string_equal(m->joints[1].name, "a1.l.hub");
    assert_string_equal(m->forces[3].name, "a2.r.stop");
    assert_string_equal(m->outputs[0].name, "a1.l.spin");
    assert_string_equal(m->outputs[m->noutputs - 1].name, "all");
    assert_string_equal(m->bodies[4].points[0].name, "end");
    for (int k = 0; k < m->warnings.count; k++)
        fail_msg("%s", m->warnings.items[k].text);
    bg_model_destroy(m);
    free(text);
}

/* What an inner name hides, and what is seen from inside: own variables of an element before
 * parameters of the part, these before those of the model, inputs and outputs alike. */
static void test_hiding(void **state)
{
    (void)state;
    static const char model[] =
        "{'parameters': {'a': 1, 'b': 2, 'length': '7*b'}, 'inputs': {'u': 100, 'w': 1000},"
        " 'parts': {'p': {'parameters': {'b': 'a + 2', 'length': '10*b'}, 'inputs': {'u': 200},"
        "   'bodies': {'x': {'mass': 1, 'center': [0, 0, 2]}},"
        "   'joints': {'slide': {'type': 'prismatic', 'bodies': ['ground', 'x'], 'at': [0, 0, 0], "
        "'axis': [0, 0, 1]}},"
        "   'forces': {'f': {'type': 'spring-damper', 'from': [0, 0, 0], 'to': 'x', 'force': "
        "'length "
        "+ 1000*b + u + w + 1e5*parameters.length + 1e7*high'}},"
        "   'outputs': {'f': {'force': 'f', 'value': 'force'}}}},"
        " 'use': {'i': {'part': 'p', 'parameters': {'b': '2*b'}, 'connect': {'w': 'v'}},"
        "   'j': {'part': 'p'}},"
        " 'outputs': {'high': {'position': [0, 0, 3], 'component': 'z'}, 'v': {'position': [0, 0, "
        "4000], 'component': 'z'}},"
        " 'run': {'t_end': 1e-9}}";
    char *text = quote(model);
    parts_outcome x = run_with(text, NULL, 0, "joint");
    assert_near(find(&x, "", "i.f"), 2 + 4000 + 200 + 4000 + 40e5 + 3e7, 1e-3);
    assert_near(find(&x, "", "j.f"), 2 + 3000 + 200 + 1000 + 30e5 + 3e7, 1e-3);
    clear(&x);
    free(text);
}

/* The example of docs/model.md: the indented lines behind the heading. */
static char *load_example(void)
{
    FILE *in = fopen(BOGIE_SOURCE_DIR "/docs/model.md", "r");
    char *text, line[4096];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool begun = false, ended = false;
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        const bool indented = strncmp(line, "    ", 4) == 0;
        begun = begun || strcmp(line, "## Parts used several times\n") == 0;
        ended = ended || (begun && size > 0 && !indented);
        if (begun && !ended && indented)
            fputs(line, out);
        fflush(out);
    }
    fclose(in);
    fclose(out);
    return text;
}

/* With equal springs it stays upright, and both wheels do the same; with those of the example it
 * leans to the softer side. */
static void test_example(void **state)
{
    (void)state;
    const bg_setting same = {"parameters.right.stiffness", "20*kN/m"};
    char *text = load_example();
    for (int k = 0; k < 2; k++) {
        parts_outcome even = run_with(text, &same, 1, forms[k]),
                      uneven = run_with(text, NULL, 0, forms[k]);
        assert_near(find(&even, "", "roll"), 0, 1e-12);
        assert_near(find(&even, "", "skew"), 0, 1e-12);
        assert_true(find(&even, "", "left.travel") > 0.05);
        assert_near(find(&even, "", "left.centre.y"), find(&even, "", "right.centre.y"), 1e-12);
        assert_near(find(&even, "", "right.y"), -find(&even, "", "right.centre.y"), 1e-12);
        assert_true(find(&uneven, "", "roll") < -0.01);
        assert_true(find(&uneven, "", "skew") > 0.01);
        clear(&even);
        clear(&uneven);
    }
    free(text);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    char *quoted = quote(text);
    fputs(quoted, out);
    free(quoted);
    fclose(out);
}

/* A model of three files and a table, each named relative to the one that names it, where parts are
 * described or where they are used; what is kept of it needs none of them. */
static void test_files(void **state)
{
    (void)state;
    static const char *const models[] = {
        "{'parts': {'pair': {'file': 'inner/pair.json'}}, 'use': {'p': {'part': 'pair'}}, 'run': "
        "{'t_end': 0.1}}",
        "{'use': {'p': {'part': {'file': 'inner/pair.json'}}}, 'run': {'t_end': 0.1}}",
        "{'use': {'p': {'part': {'parts': {'one': {'file': 'inner/one.json'}}, 'use': {'a': {"
        "'part': 'one'}, 'b': {'part': {'file': 'inner/one.json'}, 'mirror': 'x', 'parameters': {"
        "'reach': 2}}}}}}, 'run': {'t_end': 0.1}}"};
    static const char *const pairs[] = {
        "{'parts': {'one': {'file': 'one.json'}}, 'use': {'a': {'part': 'one'}, 'b': {'part': "
        "'one', 'mirror': 'x', 'parameters': {'reach': 2}}}}",
        "{'use': {'a': {'part': {'file': 'one.json'}}, 'b': {'part': {'file': 'one.json'}, "
        "'mirror': 'x', 'parameters': {'reach': 2}}}}"};
    char folder[] = "/tmp/bogie-parts-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/inner", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(
        folder, "inner/one.json",
        "{'parameters': {'reach': 1}, 'bodies': {'x': {'mass': 1, 'center': ['reach', 0, 0]}},"
        " 'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'x'], 'at': [0, 0, 0], "
        "'axis': [1, 0, 0]}}, 'inputs': {'u': {'type': 'table', 'file': 'u.csv'}},"
        " 'forces': {'f': {'type': 'force', 'at': 'x', 'force': ['u', 0, 0]}},"
        " 'outputs': {'s': {'joint': 's'}, 'x': {'position': 'x', 'component': 'x'}}}");
    write_file(folder, "inner/u.csv", "0, 2\n1, 2\n");
    bg_model *model;
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 6; k++) {
        write_file(folder, "model.json", models[k % 3]);
        write_file(folder, "inner/pair.json", pairs[k / 3]);
        snprintf(path, sizeof path, "%s/model.json", folder);
        assert_ok(bg_model_read(path, NULL, 0, &model, &err));
        char *text = bg_model_create_text(model);
        assert_null(strstr(text, "file"));
        assert_near(model->bodies[2].pose.r.x, -2, 0);
        parts_outcome x = run_with(text, NULL, 0, "joint"); /* 2 N on 1 kg for 0.1 s */
        assert_near(find(&x, "", "p.a.s"), 0.01, 1e-12);
        assert_near(find(&x, "", "p.b.s"), 0.01, 1e-12);
        assert_near(find(&x, "", "p.b.x"), 2.01, 1e-12);
        clear(&x);
        free(text);
        bg_model_destroy(model);
    }
    write_file(folder, "inner/one.json",
               "{'parameters': {'reach': 1}, 'bodies': {'x': {'mas': 1, 'center': [0, 0, 0]}}}");
    assert_int_equal(bg_model_read(path, NULL, 0, &model, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "/model.json: "));
    assert_non_null(
        strstr(err.text, "/inner/one.json: bodies.x.mas (used as 'p.a'): is not a known"));
    static const char *const names[] = {"inner/u.csv", "inner/one.json", "inner/pair.json",
                                        "model.json", "inner"};
    for (int k = 0; k < 5; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_mirrored),
        cmocka_unit_test(test_turned),    cmocka_unit_test(test_wheels),
        cmocka_unit_test(test_nested),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_hiding),    cmocka_unit_test(test_example),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
