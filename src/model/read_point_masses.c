/* Point masses among "forces": a mass at a point of a body becomes part of the body's inertia
 * before anything is placed relative to its centre, so nothing else has to know of them.
 *
 * A body of mass M with its centre at c and a mass m at p have, with mu = M m / (M + m), d = p - c,
 *
 *   M' = M + m,   c' = c + m / (M + m) d,   J' = J + mu (d.d 1 - d d^T)    about the new centre. */
#include "math/spatial.h"
#include "model/read.h"

#include <stdlib.h>
#include <string.h>

typedef struct point_mass {
    int body;
    bg_vec3 place; /* m, in the world of the design position */
    double mass;
} point_mass;

static bool is_point_mass(const bg_value *v)
{
    const char *type = json_string_value(json_object_get(v->json, "type"));
    return type && strcmp(type, "point-mass") == 0;
}

static point_mass read_one(const bg_value *v)
{
    static const char *const keys[] = {"type", "at", "mass", NULL};
    bg_reader *reader = v->reader;
    const bg_value at = bg_value_member(v, "at");
    point_mass x = {0};
    bg_value_expect(v, keys);
    x.mass = bg_value_positive(v, "mass");
    const bg_marker m = bg_value_get_marker(&at);
    if (reader->status == BG_OK && m.body == 0)
        bg_value_fail(&at, "is a point of the ground, which does not move; name a point of a body");
    x.body = m.body;
    x.place = bg_frame_apply(&reader->model->bodies[m.body].pose, m.frame.r);
    return x;
}

static void shift(bg_vec3 *r, bg_vec3 by)
{
    *r = bg_sub(*r, by);
}

static void add(bg_body *b, const point_mass *x)
{
    const double total = b->mass + x->mass;
    const bg_vec3 d = bg_rotate_back(&b->pose.R, bg_sub(x->place, b->pose.r));
    const bg_vec3 moved = bg_scale(x->mass / total, d); /* the centre, body axes */
    const bg_vec3 moved_w = bg_rotate(&b->pose.R, moved);
    b->inertia = bg_inertia_about(b->mass * (x->mass / total), &b->inertia, d).I;
    b->mass = total;
    b->pose.r = bg_add(b->pose.r, moved_w);
    shift(&b->v_place, moved);
    for (int k = 0; k < b->npoints; k++)
        shift(&b->points[k].r, moved);
    for (int k = 0; k < b->nshapes; k++) {
        shift(&b->shapes[k].frame.r, moved);
        shift(&b->shapes[k].from, moved);
        shift(&b->shapes[k].to, moved);
    }
}

void bg_read_point_masses(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_value section = bg_value_member(top, "forces"), v;
    int n = 0;
    if (reader->status != BG_OK)
        return;
    point_mass *list = bg_reader_allocate(reader, bg_reader_count(reader, "forces"), sizeof *list);
    for (int k = 0; bg_reader_next_section(reader, "forces", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            if (is_point_mass(&v))
                list[n++] = read_one(&v);
    for (int k = 0; k < n && reader->status == BG_OK; k++) {
        bg_body *b = &reader->model->bodies[list[k].body];
        add(b, &list[k]);
        if (!isfinite(b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2]))
            bg_value_fail(&section, "the point masses of body '%s' give it an infinite inertia",
                          b->name);
    }
    free(list);
}
