/* "outputs": named sensors. A vector without "component" becomes one output per component, NAME.x
 * and so on; a text is an expression of earlier outputs and t. Laws of forces may use outputs, and
 * outputs may be values of forces: those are read after the forces, all others before. */
#include "model/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const xyz[] = {"x", "y", "z", NULL};
static const char *const wxyz[] = {"w", "x", "y", "z", NULL};
static const char *const wrench[] = {"fx", "fy", "fz", "tx", "ty", "tz", NULL};

/* What an output measures is named by one of these members; the others refine it. */
typedef struct sensor {
    const char *key;
    const char *refinements[4];
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

static void read_reaction(const bg_value *v, bg_output *out)
{
    out->index = bg_value_joint(v, "reaction");
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
    free(names);
}

static void read_expression(const bg_value *v, bg_output *out)
{
    bg_value text = bg_value_member(v, "expression");
    compile(&text, out);
}

static const sensor sensors[] = {
    {"joint", {"coordinate", "derivative"}, NULL, BG_OUTPUT_COORDINATE, read_coordinate},
    {"position", {"component"}, xyz, BG_OUTPUT_POSITION, read_marker},
    {"velocity", {"component"}, xyz, BG_OUTPUT_VELOCITY, read_marker},
    {"acceleration", {"component"}, xyz, BG_OUTPUT_ACCELERATION, read_marker},
    {"orientation", {"component"}, wxyz, BG_OUTPUT_ORIENTATION, read_marker},
    {"angular_velocity", {"component"}, xyz, BG_OUTPUT_ANGULAR_VELOCITY, read_marker},
    {"angular_acceleration", {"component"}, xyz, BG_OUTPUT_ANGULAR_ACCELERATION, read_marker},
    {"distance", {NULL}, NULL, BG_OUTPUT_DISTANCE, read_distance},
    {"force", {"value"}, NULL, BG_OUTPUT_FORCE, read_force},
    {"reaction", {"component"}, wrench, BG_OUTPUT_REACTION, read_reaction},
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
    const char *keys[5 * SENSORS + 1] = {NULL}; /* of all, where a misspelt one may be meant */
    int count, n = 0;
    const sensor *s = find_first(v, &count), *end = s ? s + 1 : sensors + SENSORS;
    if (!bg_value_expect_object(v))
        return NULL;
    for (const sensor *one = s ? s : sensors; one < end; one++)
        keys[n++] = one->key;
    for (const sensor *one = s ? s : sensors; one < end; one++)
        for (int k = 0; k < 4 && one->refinements[k]; k++)
            keys[n++] = one->refinements[k];
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
static void set_direction(const bg_scope *scope, const sensor *s, bg_output *out)
{
    const bool quaternion = s->components == wxyz;
    const int k = quaternion ? out->component - 1 : out->component % 3;
    const bool axial = quaternion || out->kind == BG_OUTPUT_ANGULAR_VELOCITY ||
                       out->kind == BG_OUTPUT_ANGULAR_ACCELERATION ||
                       (out->kind == BG_OUTPUT_REACTION && out->component > 2);
    if (!scope || !s->components || k < 0)
        return;
    out->turned = true;
    const bg_vec3 e = {k == 0, k == 1, k == 2};
    out->direction = axial ? bg_scope_turn_axial(scope, e) : bg_scope_turn(scope, e);
    if (out->kind == BG_OUTPUT_POSITION)
        out->offset = -bg_dot(out->direction, scope->placement.r);
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
        set_direction(v->scope, s, &out[k]);
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
