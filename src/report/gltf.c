/* Binary glTF 2.0 (Khronos, glTF 2.0 Specification, 2021): a JSON chunk that describes nodes,
 * meshes and the animation, and a binary chunk with their numbers.
 *
 * A root node turns z up into glTF's y up. Below it every body is a node whose translation and
 * rotation are animated, with its shapes as children: nodes that scale one of three unit meshes. A
 * spring is a cylinder whose place, direction and length are animated. */
#include "report/gltf.h"

#include "base/memory.h"
#include "report/mesh.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_COLOURS = 8, MATERIAL_TYRE = BODY_COLOURS, MATERIAL_ROAD, MATERIAL_SPRING, MATERIALS };

static const double colours[MATERIALS][5] =
    {/* red, green, blue, metallic, roughness */
     {0.18, 0.36, 0.62, 0.4, 0.5}, {0.72, 0.33, 0.12, 0.4, 0.5}, {0.22, 0.49, 0.27, 0.4, 0.5},
     {0.53, 0.25, 0.51, 0.4, 0.5}, {0.70, 0.55, 0.13, 0.4, 0.5}, {0.13, 0.50, 0.55, 0.4, 0.5},
     {0.60, 0.17, 0.22, 0.4, 0.5}, {0.40, 0.42, 0.45, 0.4, 0.5}, {0.03, 0.03, 0.03, 0.0, 0.9},
     {0.25, 0.25, 0.26, 0.0, 1.0}, {0.75, 0.75, 0.78, 0.8, 0.3}};

/* A component type and a target of the specification. */
enum { FLOAT = 5126, UNSIGNED = 5125, VERTICES = 34962, INDICES = 34963 };

typedef struct document {
    const bg_scene *scene;
    json_t *nodes, *meshes, *materials, *accessors, *views, *channels, *samplers, *top; /* lists */
    unsigned char *data; /* the binary chunk */
    size_t size, capacity;
    int geometry[BG_MESH_KINDS][3];     /* accessors of positions, normals, triangles; 0: not yet */
    int mesh[BG_MESH_KINDS][MATERIALS]; /* index + 1; 0: not yet */
    int material[MATERIALS];            /* index + 1; 0: not yet */
    int times;                          /* accessor of the frames' times */
    double thin;                        /* m, radius of lines */
    bool failed;                        /* out of memory */
} document;

/* Appends a value to a list and returns its index. */
static int append(document *d, json_t *list, json_t *value)
{
    int index = (int)json_array_size(list);
    d->failed = json_array_append_new(list, value) != 0 || d->failed;
    return index;
}

static void put(document *d, json_t *object, const char *key, json_t *value)
{
    d->failed = json_object_set_new(object, key, value) != 0 || d->failed;
}

static json_t *new_numbers(document *d, const double *x, int n)
{
    json_t *list = json_array();
    for (int k = 0; k < n; k++)
        append(d, list, json_real(x[k]));
    return list;
}

static json_t *new_vec3(document *d, bg_vec3 r)
{
    const double x[3] = {r.x, r.y, r.z};
    return new_numbers(d, x, 3);
}

static json_t *new_rotation(document *d, const bg_mat3 *R)
{
    bg_quat p = bg_quat_normalise(bg_quat_from_rotation(R));
    const double x[4] = {p.x, p.y, p.z, p.w};
    return new_numbers(d, x, 4);
}

/* Adds bytes to the binary chunk and a view of them. */
static int add_view(document *d, const void *data, size_t size, int target)
{
    size_t room = (size + 3) & ~(size_t)3;
    if (d->size + room > d->capacity) {
        size_t capacity = 2 * (d->size + room);
        unsigned char *grown = realloc(d->data, capacity);
        if (!grown) {
            d->failed = true;
            return 0;
        }
        d->data = grown;
        d->capacity = capacity;
    }
    memset(d->data + d->size, 0, room);
    memcpy(d->data + d->size, data, size);
    json_t *view = json_object();
    put(d, view, "buffer", json_integer(0));
    put(d, view, "byteOffset", json_integer((json_int_t)d->size));
    put(d, view, "byteLength", json_integer((json_int_t)size));
    if (target)
        put(d, view, "target", json_integer(target));
    d->size += room;
    return append(d, d->views, view);
}

/* Smallest and largest of each component, as the specification wants for positions and times. */
static void put_range(document *d, json_t *accessor, const float *x, size_t n, int width)
{
    double low[3], high[3];
    for (int i = 0; i < width; i++) {
        low[i] = high[i] = x[i];
        for (size_t k = 0; k < n; k++) {
            low[i] = fmin(low[i], x[k * (size_t)width + (size_t)i]);
            high[i] = fmax(high[i], x[k * (size_t)width + (size_t)i]);
        }
    }
    put(d, accessor, "min", new_numbers(d, low, width));
    put(d, accessor, "max", new_numbers(d, high, width));
}

static int add_floats(document *d, const float *x, size_t n, int width, int target, bool range)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    json_t *accessor = json_object();
    put(d, accessor, "bufferView",
        json_integer(add_view(d, x, n * (size_t)width * sizeof *x, target)));
    put(d, accessor, "componentType", json_integer(FLOAT));
    put(d, accessor, "count", json_integer((json_int_t)n));
    put(d, accessor, "type", json_string(types[width]));
    if (range)
        put_range(d, accessor, x, n, width);
    return append(d, d->accessors, accessor);
}

static void add_geometry(document *d, const bg_mesh *m, int geometry[3])
{
    geometry[0] = add_floats(d, m->position[0], (size_t)m->n, 3, VERTICES, true);
    geometry[1] = add_floats(d, m->normal[0], (size_t)m->n, 3, VERTICES, false);
    json_t *accessor = json_object();
    size_t size = (size_t)m->triangles * sizeof *m->triangle;
    put(d, accessor, "bufferView", json_integer(add_view(d, m->triangle, size, INDICES)));
    put(d, accessor, "componentType", json_integer(UNSIGNED));
    put(d, accessor, "count", json_integer(3 * m->triangles));
    put(d, accessor, "type", json_string("SCALAR"));
    geometry[2] = append(d, d->accessors, accessor);
}

/* A material of the file, made when it is first needed. */
static int find_material(document *d, int which)
{
    if (d->material[which])
        return d->material[which] - 1;
    const double *c = colours[which], colour[4] = {c[0], c[1], c[2], 1};
    json_t *pbr = json_object(), *material = json_object();
    put(d, pbr, "baseColorFactor", new_numbers(d, colour, 4));
    put(d, pbr, "metallicFactor", json_real(c[3]));
    put(d, pbr, "roughnessFactor", json_real(c[4]));
    put(d, material, "pbrMetallicRoughness", pbr);
    if (which == MATERIAL_ROAD)
        put(d, material, "doubleSided", json_true());
    d->material[which] = 1 + append(d, d->materials, material);
    return d->material[which] - 1;
}

static int add_mesh(document *d, const int geometry[3], int material)
{
    json_t *attributes = json_object(), *primitive = json_object(), *list = json_array();
    json_t *mesh = json_object();
    put(d, attributes, "POSITION", json_integer(geometry[0]));
    put(d, attributes, "NORMAL", json_integer(geometry[1]));
    put(d, primitive, "attributes", attributes);
    put(d, primitive, "indices", json_integer(geometry[2]));
    put(d, primitive, "material", json_integer(find_material(d, material)));
    append(d, list, primitive);
    put(d, mesh, "primitives", list);
    return append(d, d->meshes, mesh);
}

/* A unit mesh in a colour; made when it is first needed. */
static int find_mesh(document *d, bg_mesh_kind kind, int material)
{
    if (!d->geometry[kind][1]) {
        bg_mesh m;
        d->failed = !bg_mesh_create(kind, &m) || d->failed;
        if (!d->failed)
            add_geometry(d, &m, d->geometry[kind]);
        bg_mesh_clear(&m);
    }
    if (!d->mesh[kind][material])
        d->mesh[kind][material] = 1 + add_mesh(d, d->geometry[kind], material);
    return d->mesh[kind][material] - 1;
}

/* A node with a unit mesh, placed and scaled. */
static int add_solid(document *d, bg_mesh_kind kind, int material, const bg_frame *place,
                     bg_vec3 scale)
{
    json_t *node = json_object();
    put(d, node, "mesh", json_integer(find_mesh(d, kind, material)));
    put(d, node, "translation", new_vec3(d, place->r));
    put(d, node, "rotation", new_rotation(d, &place->R));
    put(d, node, "scale", new_vec3(d, scale));
    return append(d, d->nodes, node);
}

/* The frame in the middle of a line, z along it; its length, 0: there is none. */
static double find_along(bg_vec3 from, bg_vec3 to, bg_frame *frame)
{
    bg_vec3 along = bg_sub(to, from);
    double length = bg_length(along);
    frame->r = bg_scale(0.5, bg_add(from, to));
    frame->R = length > 0 ? bg_frame_from_z(bg_scale(1 / length, along), bg_vec3_make(0, 0, 0))
                          : bg_mat3_identity();
    return length;
}

static void add_shape(document *d, const bg_shape *s, int material, json_t *children)
{
    const double *x = s->size, least = 1e-3 * d->thin;
    bg_frame frame = s->frame;
    double length;
    switch (s->kind) {
    case BG_SHAPE_BOX:
        append(d, children,
               json_integer(add_solid(
                   d, BG_MESH_BOX, material, &frame,
                   bg_vec3_make(fmax(x[0], least), fmax(x[1], least), fmax(x[2], least)))));
        break;
    case BG_SHAPE_CYLINDER:
        append(d, children,
               json_integer(add_solid(d, BG_MESH_CYLINDER, material, &frame,
                                      bg_vec3_make(x[0], x[0], x[1]))));
        break;
    case BG_SHAPE_SPHERE:
        append(d, children,
               json_integer(
                   add_solid(d, BG_MESH_SPHERE, material, &frame, bg_vec3_make(x[0], x[0], x[0]))));
        break;
    case BG_SHAPE_LINE:
        length = find_along(s->from, s->to, &frame);
        if (length > 0)
            append(d, children,
                   json_integer(add_solid(d, BG_MESH_CYLINDER, material, &frame,
                                          bg_vec3_make(d->thin, d->thin, length))));
        break;
    }
}

static void animate(document *d, int node, const char *path, int input, int output)
{
    json_t *sampler = json_object(), *target = json_object(), *channel = json_object();
    put(d, sampler, "input", json_integer(input));
    put(d, sampler, "output", json_integer(output));
    int index = append(d, d->samplers, sampler);
    put(d, target, "node", json_integer(node));
    put(d, target, "path", json_string(path));
    put(d, channel, "sampler", json_integer(index));
    put(d, channel, "target", target);
    append(d, d->channels, channel);
}

/* Translation and rotation of a body, frame by frame. */
static void animate_body(document *d, int node, int body)
{
    const bg_scene *s = d->scene;
    const size_t n = (size_t)s->frames;
    float *r = BG_NEW_ARRAY(float, 3 * n), *p = BG_NEW_ARRAY(float, 4 * n);
    for (size_t k = 0; r && p && k < n; k++) {
        const float *pose = s->poses + (k * (size_t)s->nbodies + (size_t)body) * BG_POSE;
        memcpy(r + 3 * k, pose, 3 * sizeof *r);
        memcpy(p + 4 * k, pose + 4, 3 * sizeof *p); /* x, y, z, then w */
        p[4 * k + 3] = pose[3];
    }
    d->failed = !r || !p || d->failed;
    if (!d->failed) {
        animate(d, node, "translation", d->times, add_floats(d, r, n, 3, 0, false));
        animate(d, node, "rotation", d->times, add_floats(d, p, n, 4, 0, false));
    }
    free(r);
    free(p);
}

/* A wheel as a disc about the axis that points to the left in the design position. */
static void add_tyres(document *d, int body, json_t *children)
{
    const bg_model *m = d->scene->model;
    for (int k = 0; k < m->nforces; k++) {
        bg_force_look look = {0};
        if (m->forces[k].class_->look)
            m->forces[k].class_->look(&m->forces[k], &look);
        if (!(look.radius > 0) || look.end[0].body != body)
            continue;
        bg_vec3 axis = bg_rotate_back(&m->bodies[body].pose.R, bg_vec3_make(0, 1, 0));
        bg_frame frame = {look.end[0].frame.r, bg_frame_from_z(axis, bg_vec3_make(0, 0, 0))};
        bg_vec3 scale = {look.radius, look.radius, bg_scene_find_width(&look)};
        append(d, children,
               json_integer(add_solid(d, BG_MESH_CYLINDER, MATERIAL_TYRE, &frame, scale)));
    }
}

static void add_body(document *d, int body)
{
    const bg_body *b = &d->scene->model->bodies[body];
    json_t *children = json_array();
    for (int k = 0; k < b->nshapes; k++)
        add_shape(d, &b->shapes[k], body % BODY_COLOURS, children);
    add_tyres(d, body, children);
    bool empty = json_array_size(children) == 0;
    if (empty && body == 0) { /* nothing to see, nothing that moves */
        json_decref(children);
        return;
    }
    json_t *node = json_object(), *name = json_string(body == 0 ? "ground" : b->name);
    put(d, node, "name", name ? name : json_string("body"));
    if (empty)
        json_decref(children);
    else
        put(d, node, "children", children);
    int index = append(d, d->nodes, node);
    append(d, d->top, json_integer(index));
    if (body > 0)
        animate_body(d, index, body);
}

/* A cylinder from one end to the other, frame by frame. */
static void animate_spring(document *d, int node, const bg_force_look *look)
{
    const size_t n = (size_t)d->scene->frames;
    float *r = BG_NEW_ARRAY(float, 3 * n), *p = BG_NEW_ARRAY(float, 4 * n);
    float *scale = BG_NEW_ARRAY(float, 3 * n);
    d->failed = !r || !p || !scale || d->failed;
    for (size_t k = 0; !d->failed && k < n; k++) {
        bg_vec3 end[2];
        bg_frame frame;
        for (int i = 0; i < 2; i++)
            end[i] = bg_scene_calc_place(d->scene, (long)k, look->end[i].body,
                                         look->end[i].frame.r);
        double length = fmax(find_along(end[0], end[1], &frame), 1e-3 * d->thin);
        bg_quat q = bg_quat_normalise(bg_quat_from_rotation(&frame.R));
        const double x[10] = {frame.r.x, frame.r.y, frame.r.z,   q.x,         q.y,
                              q.z,       q.w,       2 * d->thin, 2 * d->thin, length};
        for (int i = 0; i < 3; i++) {
            r[3 * k + (size_t)i] = (float)x[i];
            scale[3 * k + (size_t)i] = (float)x[7 + i];
        }
        for (int i = 0; i < 4; i++)
            p[4 * k + (size_t)i] = (float)x[3 + i];
    }
    if (!d->failed) {
        animate(d, node, "translation", d->times, add_floats(d, r, n, 3, 0, false));
        animate(d, node, "rotation", d->times, add_floats(d, p, n, 4, 0, false));
        animate(d, node, "scale", d->times, add_floats(d, scale, n, 3, 0, false));
    }
    free(r);
    free(p);
    free(scale);
}

static void add_springs(document *d)
{
    const bg_model *m = d->scene->model;
    for (int k = 0; k < m->nforces; k++) {
        bg_force_look look = {0};
        if (m->forces[k].class_->look)
            m->forces[k].class_->look(&m->forces[k], &look);
        if (look.nends != 2)
            continue;
        json_t *node = json_object(), *name = json_string(m->forces[k].name);
        put(d, node, "name", name ? name : json_string("spring"));
        put(d, node, "mesh", json_integer(find_mesh(d, BG_MESH_CYLINDER, MATERIAL_SPRING)));
        int index = append(d, d->nodes, node);
        append(d, d->top, json_integer(index));
        animate_spring(d, index, &look);
    }
}

/* A road that passes under the vehicle moves evenly: two frames tell it. */
static void animate_road(document *d, int node, const bg_scene_road *road)
{
    const bg_scene *s = d->scene;
    const double t[2] = {s->t[0], s->t[s->frames - 1]};
    float times[2], r[6] = {0};
    for (int k = 0; k < 2; k++) {
        times[k] = (float)(t[k] - t[0]);
        r[3 * k] = (float)(-road->speed * t[k] - road->start);
        r[3 * k + 1] = (float)road->y;
    }
    size_t n = times[1] > times[0] ? 2 : 1;
    int input = add_floats(d, times, n, 1, 0, true);
    animate(d, node, "translation", input, add_floats(d, r, n, 3, 0, false));
}

static bg_status add_road(document *d, int side, bg_error *err)
{
    bg_scene_road road;
    bg_mesh mesh = {0};
    bg_status st = bg_scene_create_road(d->scene, side, &road, err);
    if (st != BG_OK || road.n < 2) {
        bg_scene_clear_road(&road);
        return st;
    }
    const double(*points)[2] = (const double(*)[2])road.points;
    d->failed = !(road.lanes > 0 ? bg_mesh_create_surface(points, road.n, road.heights, road.lanes,
                                                          road.width, &mesh)
                                 : bg_mesh_create_strip(points, road.n, road.width, &mesh)) ||
                d->failed;
    if (!d->failed) {
        int geometry[3];
        json_t *node = json_object();
        add_geometry(d, &mesh, geometry);
        put(d, node, "name", json_string("road"));
        put(d, node, "mesh", json_integer(add_mesh(d, geometry, MATERIAL_ROAD)));
        int index = append(d, d->nodes, node);
        append(d, d->top, json_integer(index));
        animate_road(d, index, &road);
    }
    bg_mesh_clear(&mesh);
    bg_scene_clear_road(&road);
    return BG_OK;
}

static void add_times(document *d)
{
    const size_t n = (size_t)d->scene->frames;
    float *t = BG_NEW_ARRAY(float, n);
    d->failed = !t || d->failed;
    for (size_t k = 0; t && k < n; k++)
        t[k] = (float)(d->scene->t[k] - d->scene->t[0]);
    if (t)
        d->times = add_floats(d, t, n, 1, 0, true);
    free(t);
}

static bg_status fill(document *d, bg_error *err)
{
    d->thin = 0.006 * d->scene->size;
    add_times(d);
    for (int b = 0; b < d->scene->nbodies; b++)
        add_body(d, b);
    add_springs(d);
    bg_status st = add_road(d, 1, err);
    return st == BG_OK ? add_road(d, -1, err) : st;
}

/* The whole JSON chunk; takes over the lists. */
static json_t *new_document(document *d, const char *name)
{
    const double to_y_up[4] = {-M_SQRT1_2, 0, 0, M_SQRT1_2};
    json_t *all = json_object(), *asset = json_object(), *root = json_object();
    json_t *scene = json_object(), *animation = json_object(), *buffer = json_object();
    put(d, asset, "version", json_string("2.0"));
    put(d, asset, "generator", json_string("Bogie"));
    put(d, root, "name", json_string("z up"));
    put(d, root, "rotation", new_numbers(d, to_y_up, 4));
    put(d, root, "children", d->top);
    int index = append(d, d->nodes, root);
    put(d, scene, "nodes", json_pack("[i]", index));
    json_t *title = json_string(name);
    put(d, scene, "name", title ? title : json_string("result"));
    put(d, animation, "channels", d->channels);
    put(d, animation, "samplers", d->samplers);
    put(d, buffer, "byteLength", json_integer((json_int_t)d->size));
    put(d, all, "asset", asset);
    put(d, all, "scene", json_integer(0));
    put(d, all, "scenes", json_pack("[o]", scene));
    put(d, all, "nodes", d->nodes);
    if (json_array_size(d->meshes) > 0) {
        put(d, all, "meshes", json_incref(d->meshes));
        put(d, all, "materials", json_incref(d->materials));
    }
    put(d, all, "accessors", d->accessors);
    put(d, all, "bufferViews", d->views);
    put(d, all, "buffers", json_pack("[o]", buffer));
    put(d, all, "animations", json_pack("[o]", animation));
    json_decref(d->meshes);
    json_decref(d->materials);
    return all;
}

static void write_word(FILE *out, size_t x)
{
    const unsigned char bytes[4] = {(unsigned char)x, (unsigned char)(x >> 8),
                                    (unsigned char)(x >> 16), (unsigned char)(x >> 24)};
    fwrite(bytes, 1, 4, out);
}

static bg_status write_file(const document *d, const char *text, FILE *out, bg_error *err)
{
    const size_t length = strlen(text), padded = (length + 3) & ~(size_t)3;
    const size_t total = 12 + 8 + padded + 8 + d->size;
    if (total > UINT32_MAX)
        return bg_error_set(err, BG_BAD_INPUT, "the motion is too long for one glTF file (4 GiB)");
    fwrite("glTF", 1, 4, out);
    write_word(out, 2);
    write_word(out, total);
    write_word(out, padded);
    fwrite("JSON", 1, 4, out);
    fwrite(text, 1, length, out);
    for (size_t k = length; k < padded; k++)
        putc(' ', out);
    write_word(out, d->size);
    fwrite("BIN", 1, 4, out);
    fwrite(d->data, 1, d->size, out);
    return BG_OK;
}

bg_status bg_gltf_write(const bg_scene *scene, const char *name, FILE *out, bg_error *err)
{
    if (scene->nbodies < 2)
        return bg_error_set(err, BG_BAD_INPUT, "'%s' has no bodies that move, so there is no glTF",
                            name);
    document d = {.scene = scene,
                  .nodes = json_array(),
                  .meshes = json_array(),
                  .materials = json_array(),
                  .accessors = json_array(),
                  .views = json_array(),
                  .channels = json_array(),
                  .samplers = json_array(),
                  .top = json_array()};
    bg_status st = fill(&d, err);
    json_t *all = new_document(&d, name);
    char *text = d.failed ? NULL : json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (st == BG_OK && !text)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for glTF");
    if (st == BG_OK)
        st = write_file(&d, text, out, err);
    free(text);
    free(d.data);
    json_decref(all);
    return st;
}
