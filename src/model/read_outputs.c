/* "outputs": named sensors. A vector without "component" becomes one output per component, NAME.x
 * and so on; a text is an expression of earlier outputs and t. Laws of forces may use outputs, and
 * outputs may be values of forces: those are read after the forces, all others before. */
#include "model/read.h"
#include "model/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const xyz[] = {"x", "y", "z", NULL};
static const char *const wxyz[] = {"w", "x", "y", "z", NULL};
static const char *const rpy[] = {"roll", "pitch", "yaw", NULL};
static const char *const wheel[] = {"camber", "toe",         "steer", "travel",
                                    "caster", "inclination", NULL};
static const char *const wrench[] = {"fx", "fy", "fz", "tx", "ty", "tz", NULL};

enum { REFINEMENTS = 6 };

/* What an output measures is named by one of these members; the others refine it, besides "unit",
 * which all have. */
typedef struct sensor {
    const char *key;
    const char *refinements[REFINEMENTS];
    const char *const *components; /* NULL: a scalar */
    bg_output_kind kind;
    void (*read)(const bg_value *v, bg_output *out);
} sensor;

static const sensor *find_sensor(const bg_value *v);

static void read_coordinate(const bg_value *v, bg_output *out)
{
    bg_value name = bg_value_member(v, "coordinate"), derivative = bg_value_member(v, "derivative");
    out->index = bg_value_joint(v, "joint");
    const char *text = bg_value_exists(&name) ? bg_value_text(v, "coordinate") : NULL;
    int coordinate = bg_read_coordinate(bg_value_exists(&name) ? &name : v, out->index, text);
    double order = bg_value_number_or(v, "derivative", 0);
    if (order != 0 && order != 1 && order != 2)
        bg_value_fail(&derivative, "must be 0, 1 or 2, not %g", order);
    else
        out->component = (int)order;
    out->coordinate = coordinate;
    if (v->reader->status != BG_OK)
        return;
    out->measured = bg_joint_get_coordinate(&v->reader->model->joints[out->index], coordinate);
}

static void read_marker(const bg_value *v, bg_output *out)
{
    out->a = bg_value_marker(v, find_sensor(v)->key);
}

/* A marker at the centre of the body that a member names, with the world's axes in the design
 * position; false: there is no such member, and it is the ground. */
static bool read_reference(const bg_value *v, const char *key, bg_marker *out)
{
    const bg_model *m = v->reader->model;
    const bg_value member = bg_value_member(v, key);
    const bg_mat3 axes = bg_mat3_identity();
    const bool there = bg_value_exists(&member);
    const int body = there ? bg_value_body(v, key) : 0;
    if (v->reader->status == BG_OK)
        *out = bg_body_make_marker(m, body, m->bodies[body].pose.r, &axes);
    return there;
}

/* Of a point, in the world's axes or in those of a body. */
static void read_vector(const bg_value *v, bg_output *out)
{
    const bg_value axes = bg_value_member(v, "axes");
    read_marker(v, out);
    if (json_is_string(axes.json) && strcmp(json_string_value(axes.json), "world") == 0)
        return;
    out->carried = read_reference(v, "axes", &out->b);
}

static void read_reaction(const bg_value *v, bg_output *out)
{
    out->index = bg_value_joint(v, "reaction");
    out->carried = read_reference(v, "axes", &out->b);
}

/* The axes of the file, or of the part. */
static void set_axes(const bg_value *v, bg_output *out)
{
    const bg_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    out->axes = bg_mat3_from_axes(bg_scope_turn(v->scope, x), bg_scope_turn(v->scope, y),
                                  bg_scope_turn(v->scope, z));
}

static void read_angles(const bg_value *v, bg_output *out)
{
    read_marker(v, out);
    read_reference(v, "against", &out->b);
    set_axes(v, out);
}

static void read_kingpin(const bg_value *v, bg_output *out)
{
    const bg_value pair = bg_value_member(v, "kingpin"),
                   component = bg_value_member(v, "component");
    if (!bg_value_exists(&pair)) {
        if (out->component >= BG_WHEEL_CASTER)
            bg_value_fail(&component, "needs 'kingpin', the lower and the upper point of the "
                                      "steering axis");
        return;
    }
    for (int k = 0; k < 2 && bg_value_expect_list(&pair, 2); k++) {
        const bg_value point = bg_value_element(&pair, k);
        out->kingpin[k] = bg_value_get_marker(&point);
    }
}

/* Where its centre was in the design position, from that of the body, in the axes. */
static void read_wheel(const bg_value *v, bg_output *out)
{
    static const char *const sides[] = {"left", "right", NULL};
    const bg_value side = bg_value_member(v, "side"), axis = bg_value_member(v, "axis");
    const bg_vec3 left = {0, 1, 0};
    const bg_model *m = v->reader->model;
    read_angles(v, out);
    read_kingpin(v, out);
    const bg_vec3 given = bg_value_exists(&axis) ? bg_value_unit(v, "axis") : left;
    const int choice = bg_value_exists(&side) ? bg_value_choice(v, "side", sides, -1) : -1;
    if (v->reader->status != BG_OK)
        return;
    const bg_vec3 p = bg_frame_apply(&m->bodies[out->a.body].pose, out->a.frame.r);
    const bg_vec3 d = bg_rotate_back(&out->axes, bg_sub(p, m->bodies[out->b.body].pose.r));
    if (fabs(given.y) < 0.1)
        bg_value_fail(&axis, "must point to the side, as the axis of a wheel does");
    out->direction = bg_scope_turn(v->scope, bg_scale(given.y < 0 ? -1 : 1, given));
    out->side = choice == 1 || (choice < 0 && d.y < 0) ? -1 : 1;
    out->offset = -d.z;
}

/* An earlier output whose rows are smoothed. */
static void read_filter(const bg_value *v, bg_output *out)
{
    const bg_model *m = v->reader->model;
    const char *key = find_sensor(v)->key;
    const bg_value name = bg_value_member(v, key);
    out->component = strcmp(key, "rms") == 0;
    out->time = bg_value_positive(v, "time");
    if (!bg_value_expect_text(&name))
        return;
    out->index = bg_value_find(&name, BG_NAME_OUTPUT, json_string_value(name.json));
    if (v->reader->status == BG_OK && out->index >= (int)(out - m->outputs))
        bg_value_fail(&name, "must be an output that comes earlier; move that one up");
    if (v->reader->status != BG_OK)
        out->index = 0;
}

static void read_distance(const bg_value *v, bg_output *out)
{
    bg_value pair = bg_value_member(v, "distance");
    bg_value a = bg_value_element(&pair, 0), b = bg_value_element(&pair, 1);
    if (!bg_value_expect_list(&pair, 2))
        return;
    out->a = bg_value_get_marker(&a);
    out->b = bg_value_get_marker(&b);
}

static void read_force(const bg_value *v, bg_output *out)
{
    const bg_model *m = v->reader->model;
    bg_value name = bg_value_member(v, "force"), value = bg_value_member(v, "value");
    out->index = bg_value_find(&name, BG_NAME_FORCE, bg_value_text(v, "force"));
    if (v->reader->status == BG_OK && out->index < 0)
        bg_value_fail(&name, "is a point mass, which has no values; it is part of its body");
    if (v->reader->status != BG_OK)
        return;
    const bg_force_class *c = m->forces[out->index].class_;
    const char *text = bg_value_text(v, "value");
    for (int k = 0; k < c->nsensors; k++)
        if (strcmp(text, c->sensor_names[k]) == 0) {
            out->component = k;
            return;
        }
    char noun[128];
    snprintf(noun, sizeof noun, "value of force '%s' called", m->forces[out->index].name);
    bg_value_fail_unknown(&value, noun, text, c->sensor_names, c->nsensors);
}

static void read_energy(const bg_value *v, bg_output *out)
{
    static const char *const names[] = {"kinetic", "potential", "total", NULL};
    static const bg_output_kind kinds[] = {BG_OUTPUT_KINETIC, BG_OUTPUT_POTENTIAL,
                                           BG_OUTPUT_ENERGY};
    out->kind = kinds[bg_value_choice(v, "energy", names, -1)];
}

static void read_signal(const bg_value *v, bg_output *out)
{
    out->index = bg_value_signal(v, "signal");
}

/* Variables are all outputs by index, then t; only earlier ones may be used. */
static void compile(const bg_value *v, bg_output *out)
{
    const bg_model *m = v->reader->model;
    int n = m->noutputs, self = (int)(out - m->outputs);
    const char **names = bg_reader_allocate(v->reader, (size_t)n + 1, sizeof *names);
    if (!names)
        return;
    for (int k = 0; k < n; k++)
        names[k] = m->outputs[k].name;
    names[n] = "t";
    const bg_variables all = {names, n + 1, 0};
    out->expression = bg_value_compile(v, &all, NULL, 0);
    const int *used;
    int nused = out->expression ? bg_expression_get_variables(out->expression, &used) : 0;
    for (int k = 0; k < nused; k++)
        if (used[k] == self)
            bg_value_fail(v, "refers to itself");
        else if (used[k] > self && used[k] < n)
            bg_value_fail(v, "refers to output '%s', which comes later; move that one up",
                          names[used[k]]);
        else if (used[k] < n && m->outputs[used[k]].kind == BG_OUTPUT_FILTER)
            bg_value_fail(v,
                          "refers to output '%s', which is made of the rows of a run; filter "
                          "the expression instead",
                          names[used[k]]);
    free(names);
}

static void read_expression(const bg_value *v, bg_output *out)
{
    bg_value text = bg_value_member(v, "expression");
    compile(&text, out);
}

static const sensor sensors[] = {
    {"joint", {"coordinate", "derivative"}, NULL, BG_OUTPUT_COORDINATE, read_coordinate},
    {"position", {"component", "axes"}, xyz, BG_OUTPUT_POSITION, read_vector},
    {"velocity", {"component", "axes"}, xyz, BG_OUTPUT_VELOCITY, read_vector},
    {"acceleration", {"component", "axes"}, xyz, BG_OUTPUT_ACCELERATION, read_vector},
    {"orientation", {"component"}, wxyz, BG_OUTPUT_ORIENTATION, read_marker},
    {"angular_velocity", {"component", "axes"}, xyz, BG_OUTPUT_ANGULAR_VELOCITY, read_vector},
    {"angular_acceleration",
     {"component", "axes"},
     xyz,
     BG_OUTPUT_ANGULAR_ACCELERATION,
     read_vector},
    {"angles", {"component", "against"}, rpy, BG_OUTPUT_ANGLES, read_angles},
    {"wheel",
     {"component", "against", "axis", "side", "kingpin"},
     wheel,
     BG_OUTPUT_WHEEL,
     read_wheel},
    {"filter", {"time"}, NULL, BG_OUTPUT_FILTER, read_filter},
    {"rms", {"time"}, NULL, BG_OUTPUT_FILTER, read_filter},
    {"distance", {NULL}, NULL, BG_OUTPUT_DISTANCE, read_distance},
    {"force", {"value"}, NULL, BG_OUTPUT_FORCE, read_force},
    {"reaction", {"component", "axes"}, wrench, BG_OUTPUT_REACTION, read_reaction},
    {"energy", {NULL}, NULL, BG_OUTPUT_ENERGY, read_energy},
    {"signal", {NULL}, NULL, BG_OUTPUT_SIGNAL, read_signal},
    {"expression", {NULL}, NULL, BG_OUTPUT_EXPRESSION, read_expression},
};
enum { SENSORS = sizeof sensors / sizeof *sensors };

/* The first sensor an object describes, and how many it does. */
static const sensor *find_first(const bg_value *v, int *count)
{
    const sensor *found = NULL;
    *count = 0;
    for (int k = 0; k < SENSORS; k++)
        if (json_object_get(v->json, sensors[k].key) && (*count)++ == 0)
            found = &sensors[k];
    return found;
}

static const sensor *find_sensor(const bg_value *v)
{
    int count;
    return find_first(v, &count);
}

/* As above, but fails unless there is exactly one, with nothing else than its refinements. */
static const sensor *read_sensor(const bg_value *v)
{
    const char *keys[(REFINEMENTS + 1) * SENSORS + 2] = {
        NULL}; /* of all, where a misspelt one may be meant */
    int count, n = 0;
    const sensor *s = find_first(v, &count), *end = s ? s + 1 : sensors + SENSORS;
    if (!bg_value_expect_object(v))
        return NULL;
    for (const sensor *one = s ? s : sensors; one < end; one++)
        keys[n++] = one->key;
    for (const sensor *one = s ? s : sensors; one < end; one++)
        for (int k = 0; k < REFINEMENTS && one->refinements[k]; k++)
            keys[n++] = one->refinements[k];
    keys[n++] = "unit";
    if (count < 2)
        bg_value_expect(v, keys);
    if (count != 1)
        bg_value_fail(v, "must have exactly one member that says what is measured, such as "
                         "'position', 'joint' or 'energy'");
    return v->reader->status == BG_OK ? s : NULL;
}

static int count_components(const bg_value *v, const sensor *s)
{
    int n = 0;
    if (!s->components || json_object_get(v->json, "component"))
        return 1;
    while (s->components[n])
        n++;
    if (s->components == wheel && !json_object_get(v->json, "kingpin"))
        n = BG_WHEEL_CASTER;
    return n;
}

/* Names the outputs of one entry of the section; they are read when all names are known. */
static void name_outputs(const bg_value *v)
{
    bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    const sensor *s = json_is_string(v->json) ? NULL : read_sensor(v);
    if (reader->status != BG_OK)
        return;
    if (*v->key == '\0')
        bg_value_fail(v, "the name of an output must not be empty");
    int n = s ? count_components(v, s) : 1;
    for (int k = 0; k < n && reader->status == BG_OK; k++) {
        bg_output *out = &m->outputs[m->noutputs];
        const char *dot = n > 1 ? "." : "", *component = n > 1 ? s->components[k] : "";
        out->kind = s ? s->kind : BG_OUTPUT_EXPRESSION;
        out->a.frame.R = out->b.frame.R = bg_mat3_identity();
        out->component = n > 1 ? k : 0;
        out->scale = 1;
        const char *prefix = v->scope ? v->scope->prefix : "";
        if (asprintf(&out->name, "%s%s%s%s", prefix, v->key, dot, component) < 0) {
            out->name = NULL;
            bg_reader_fail_memory(reader);
            return;
        }
        bg_reader_register(v, BG_NAME_OUTPUT, out->name + strlen(prefix), m->noutputs++);
    }
}

/* A part measures components in its own axes. */
static void set_direction(const bg_model *m, const bg_scope *scope, const sensor *s, bg_output *out)
{
    const bool quaternion = s->components == wxyz;
    const int k = quaternion ? out->component - 1 : out->component % 3;
    const bool axial = quaternion || out->kind == BG_OUTPUT_ANGULAR_VELOCITY ||
                       out->kind == BG_OUTPUT_ANGULAR_ACCELERATION ||
                       (out->kind == BG_OUTPUT_REACTION && out->component > 2);
    const bool vector = s->components == xyz || s->components == wrench || quaternion;
    if ((!scope && !out->carried) || !vector || k < 0)
        return;
    out->turned = true;
    const bg_vec3 e = {k == 0, k == 1, k == 2};
    out->direction = axial ? bg_scope_turn_axial(scope, e) : bg_scope_turn(scope, e);
    if (out->kind == BG_OUTPUT_POSITION && scope)
        out->offset = -bg_dot(out->direction, scope->placement.r);
    if (out->kind == BG_OUTPUT_POSITION && out->carried) /* as if the body had not moved */
        out->offset += bg_dot(out->direction, m->bodies[out->b.body].pose.r);
}

/* "unit": what it is recorded in. */
static void read_unit(const bg_value *v, bg_output *out)
{
    const bg_value member = bg_value_member(v, "unit");
    const bg_model *m = v->reader->model;
    bg_unit unit, own;
    if (!bg_value_exists(&member) || v->reader->status != BG_OK || !bg_value_expect_text(&member))
        return;
    const char *text = json_string_value(member.json), *si = bg_output_get_si_unit(m, out);
    if (!bg_unit_parse(text, &unit)) {
        bg_value_fail(&member,
                      "'%.40s' is no unit that is known; write a product of units such as "
                      "'mm', 'deg/s', 'kN' or 'N/mm'",
                      text);
        return;
    }
    if (*si && bg_unit_parse(si, &own) && !bg_unit_is_alike(&unit, &own))
        bg_value_fail(&member, "'%.40s' does not fit: this output is in %s", text, si);
    out->unit = bg_reader_copy(v->reader, text);
    out->scale = 1 / unit.factor;
}

/* Reads the outputs of one entry, beginning with the first-th, unless it is not their turn (values
 * of forces or not); returns how many there were. */
static int read_output(const bg_value *v, int first, bool of_forces)
{
    bg_model *m = v->reader->model;
    bg_output *out = &m->outputs[first];
    const sensor *s = json_is_string(v->json) ? NULL : find_sensor(v);
    int n = s ? count_components(v, s) : 1;
    if ((out->kind == BG_OUTPUT_FORCE) != of_forces)
        return n;
    if (!s) {
        compile(v, out);
        return n;
    }
    if (s->components && n == 1)
        out->component = bg_value_choice(v, "component", s->components, -1);
    for (int k = 0; k < n && v->reader->status == BG_OK; k++) {
        s->read(v, &out[k]);
        if (v->reader->status == BG_OK)
            set_direction(m, v->scope, s, &out[k]);
        read_unit(v, &out[k]);
    }
    return n;
}

/* Parts come first, since what is around them may use their outputs. */
static void read_all(bg_reader *reader, bool of_forces)
{
    bg_value section, v;
    int first = 0;
    for (int k = 0; bg_reader_next_section(reader, "outputs", true, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            first += read_output(&v, first, of_forces);
}

void bg_read_outputs(const bg_value *top)
{
    enum { MOST = 6 }; /* components of a sensor */
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value section, v;
    m->outputs = bg_reader_allocate(reader, MOST * bg_reader_count(reader, "outputs"),
                                    sizeof *m->outputs);
    for (int k = 0; bg_reader_next_section(reader, "outputs", true, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            name_outputs(&v);
    m->angles = bg_reader_allocate(reader, (size_t)m->noutputs, sizeof *m->angles);
    read_all(reader, false);
}

void bg_read_force_outputs(const bg_value *top)
{
    read_all(top->reader, true);
}
