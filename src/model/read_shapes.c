/* "shapes" of a body, for drawing: boxes, cylinders, spheres and lines, placed in the world of the
 * design position. Bodies without shapes get lines to their joints, or a sphere when they have
 * none. */
#include "model/read.h"

#include <stdlib.h>

/* A place of the world relative to the centre of mass, in body axes. */
static bg_vec3 to_body(const bg_body *b, bg_vec3 r)
{
    return bg_rotate_back(&b->pose.R, bg_sub(r, b->pose.r));
}

/* "at" (default: the centre) and "orientation" (default: world axes). */
static bg_frame read_place(const bg_value *v, const bg_body *b)
{
    const bg_value at = bg_value_member(v, "at");
    bg_frame world = {bg_value_exists(&at) ? bg_value_get_place(&at) : b->pose.r,
                      bg_read_axes(v, "orientation")};
    bg_frame back = bg_frame_inverse(&b->pose);
    return bg_frame_multiply(&back, &world);
}

static void read_box(const bg_value *v, const bg_body *b, bg_shape *s)
{
    static const char *const keys[] = {"type", "size", "at", "orientation", NULL};
    bg_value_expect(v, keys);
    bg_value size = bg_value_member(v, "size");
    s->kind = BG_SHAPE_BOX;
    s->frame = read_place(v, b);
    bg_vec3_store(bg_value_get_vec3(&size), s->size);
    for (int k = 0; k < 3; k++)
        if (s->size[k] < 0)
            bg_value_fail(&size, "edges must not be negative");
}

static void read_sphere(const bg_value *v, const bg_body *b, bg_shape *s)
{
    static const char *const keys[] = {"type", "radius", "at", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SHAPE_SPHERE;
    s->frame = read_place(v, b);
    s->size[0] = bg_value_positive(v, "radius");
}

static void read_ends(const bg_value *v, const bg_body *b, bg_shape *s)
{
    s->from = to_body(b, bg_value_place(v, "from"));
    s->to = to_body(b, bg_value_place(v, "to"));
}

/* The frame has its z axis along the cylinder and its origin half way. */
static void read_cylinder(const bg_value *v, const bg_body *b, bg_shape *s)
{
    static const char *const keys[] = {"type", "radius", "from", "to", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SHAPE_CYLINDER;
    s->size[0] = bg_value_positive(v, "radius");
    read_ends(v, b, s);
    bg_vec3 along = bg_sub(s->to, s->from);
    s->size[1] = bg_length(along);
    if (v->reader->status != BG_OK)
        return;
    if (!(s->size[1] > 0) || !isfinite(s->size[1])) {
        bg_value_fail(v, "the ends 'from' and 'to' of a cylinder must differ");
        return;
    }
    s->frame.R = bg_frame_from_z(bg_scale(1 / s->size[1], along), bg_vec3_make(0, 0, 0));
    s->frame.r = bg_scale(0.5, bg_add(s->from, s->to));
}

static void read_line(const bg_value *v, const bg_body *b, bg_shape *s)
{
    static const char *const keys[] = {"type", "from", "to", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SHAPE_LINE;
    s->frame.R = bg_mat3_identity();
    read_ends(v, b, s);
}

void bg_read_shapes(const bg_value *body, bg_body *b)
{
    static const char *const names[] = {"box", "cylinder", "sphere", "line", NULL};
    static void (*const readers[])(const bg_value *, const bg_body *,
                                   bg_shape *) = {read_box, read_cylinder, read_sphere, read_line};
    bg_value list = bg_value_member(body, "shapes");
    if (!bg_value_exists(&list) || !bg_value_expect_list(&list, -1))
        return;
    int n = bg_value_get_size(&list);
    b->shapes = bg_reader_allocate(body->reader, (size_t)n, sizeof *b->shapes);
    for (int k = 0; k < n && body->reader->status == BG_OK; k++) {
        bg_value v = bg_value_element(&list, k);
        if (!bg_value_expect_object(&v))
            return;
        int type = bg_value_choice(&v, "type", names, -1);
        if (body->reader->status == BG_OK)
            readers[type](&v, b, &b->shapes[b->nshapes++]);
    }
}

/* A sphere of the body's mass in water. */
static void add_sphere(bg_body *b)
{
    bg_shape *s = &b->shapes[b->nshapes++];
    s->kind = BG_SHAPE_SPHERE;
    s->frame.R = bg_mat3_identity();
    s->size[0] = cbrt(fmax(b->mass, 0.001) * 3 / (4 * M_PI * 1000));
}

static void add_line(bg_body *b, const bg_marker *m)
{
    if (bg_length(m->frame.r) == 0)
        return;
    bg_shape *s = &b->shapes[b->nshapes++];
    s->kind = BG_SHAPE_LINE;
    s->frame.R = bg_mat3_identity();
    s->to = m->frame.r;
}

/* A frame that follows a track is a point on its centre line. */
static void add_mark(bg_reader *reader, bg_body *b)
{
    b->shapes = bg_reader_allocate(reader, 1, sizeof *b->shapes);
    if (!b->shapes)
        return;
    b->shapes[0] = (bg_shape){.kind = BG_SHAPE_SPHERE,
                              .frame = {{0, 0, 0}, bg_mat3_identity()},
                              .size = {0.05, 0, 0}}; /* m */
    b->nshapes = 1;
}

void bg_read_default_shapes(bg_reader *reader)
{
    bg_model *m = reader->model;
    int *ends = bg_reader_allocate(reader, (size_t)m->nbodies, sizeof *ends);
    for (int k = 0; ends && k < m->njoints; k++) {
        ends[m->joints[k].a.body]++;
        ends[m->joints[k].b.body]++;
    }
    for (int k = 1; ends && k < m->nbodies; k++) {
        bg_body *b = &m->bodies[k];
        if (!b->shapes && b->track)
            add_mark(reader, b);
        if (b->shapes) /* given by the user, perhaps as an empty list; or a frame */
            ends[k] = -1;
        else
            b->shapes = bg_reader_allocate(reader, (size_t)ends[k] + 1, sizeof *b->shapes);
    }
    for (int k = 0; reader->status == BG_OK && k < m->njoints; k++) {
        const bg_marker *end[2] = {&m->joints[k].a, &m->joints[k].b};
        for (int i = 0; i < 2; i++)
            if (end[i]->body > 0 && ends[end[i]->body] >= 0)
                add_line(&m->bodies[end[i]->body], end[i]);
    }
    for (int k = 1; reader->status == BG_OK && k < m->nbodies; k++)
        if (ends[k] >= 0 && m->bodies[k].nshapes == 0)
            add_sphere(&m->bodies[k]);
    free(ends);
}
