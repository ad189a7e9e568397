#include "model/rings.h"

#include <stdio.h>
#include <string.h>

static const double upright = 1e-3; /* of the axis beside the vertical: a wheel that lies */

/* The class of the tyre at v, if it adds a ring; NULL: it adds none, or is no tyre at all, of which
 * its own reader will tell. */
static const bg_force_class *find_class(const bg_value *v)
{
    const bg_force_class *const *classes = bg_force_get_classes();
    const char *type = json_string_value(json_object_get(v->json, "type"));
    for (int k = 0; type && classes[k]; k++)
        if (classes[k]->ring && strncmp(classes[k]->name, "tyre-", 5) == 0 &&
            strcmp(classes[k]->name + 5, type) == 0)
            return classes[k];
    return NULL;
}

/* The next tyre with a ring: start with *k = 0 and *i = NULL. */
static bool next(bg_reader *reader, int *k, void **i, bg_value *section, bg_value *v)
{
    for (;;) {
        if (!*i && !bg_reader_next_section(reader, "tyres", false, k, section))
            return false;
        while (bg_value_next(section, i, v))
            if (find_class(v))
                return true;
        if (reader->status != BG_OK)
            return false;
        *i = NULL;
    }
}

size_t bg_read_count_rings(bg_reader *reader)
{
    bg_value section, v;
    void *i = NULL;
    size_t n = 0;
    for (int k = 0; next(reader, &k, &i, &section, &v);)
        n++;
    return n;
}

static const char *write_name(const bg_value *v, const char *part, char *name, size_t size)
{
    snprintf(name, size, "%.100s.%s", v->key, part);
    return name;
}

int bg_ring_find_body(const bg_value *v)
{
    char name[128];
    return bg_value_find(v, BG_NAME_BODY, write_name(v, "ring", name, sizeof name));
}

bg_vec3 bg_ring_read_axis(const bg_value *v)
{
    const bg_value given = bg_value_member(v, "axis");
    bg_vec3 axis = bg_value_exists(&given) ? bg_value_unit(v, "axis") : bg_vec3_make(0, 1, 0);
    axis = bg_scope_turn_axial(v->scope, axis);
    if (v->reader->status == BG_OK && hypot(axis.x, axis.y) < upright) {
        bg_value_fail(&given, "stands upright in the design position, so that the wheel would lie "
                              "on its side; give the axis it turns about, such as [0, 1, 0]");
        axis = bg_vec3_make(0, 1, 0);
    }
    return axis;
}

/* x forward, y along the axis, z up as far as the axis allows. */
static bg_mat3 find_axes(const bg_value *v)
{
    const bg_vec3 y = bg_ring_read_axis(v), up = {0, 0, 1};
    const bg_vec3 x = bg_cross(y, up);
    const bg_vec3 forward = bg_scale(1 / bg_length(x), x);
    return bg_mat3_from_axes(forward, y, bg_cross(forward, y));
}

static void read_body(const bg_value *v, bg_body *b)
{
    static const char *const keys[] = {"mass", "polar", "diametral", NULL};
    const bg_value ring = bg_value_member(v, "ring"), wheel = bg_value_member(v, "wheel");
    const bg_marker at = bg_value_get_marker(&wheel);
    if (v->reader->status == BG_OK && at.body >= v->reader->own_bodies)
        bg_value_fail(&wheel, "is the ring of a tyre, which no other can carry; name the rim");
    b->pose.R = find_axes(v);
    b->pose.r = bg_frame_apply(&v->reader->model->bodies[at.body].pose, at.frame.r);
    if (!bg_value_expect_object(&ring))
        return;
    bg_value_expect(&ring, keys);
    b->mass = bg_value_positive(&ring, "mass");
    const double polar = bg_value_positive(&ring, "polar");
    const double across = bg_value_positive(&ring, "diametral");
    const bg_value member = bg_value_member(&ring, "polar");
    if (v->reader->status == BG_OK && polar > 2 * across)
        bg_value_fail(&member,
                      "must not be above twice 'diametral', %g kg m^2, but is %g: no body has such "
                      "moments of inertia",
                      across, polar);
    b->inertia.m[0][0] = b->inertia.m[2][2] = across;
    b->inertia.m[1][1] = polar;
}

/* The ring is drawn as its tyre: it has no shapes, also not of its joints. */
void bg_read_ring_bodies(bg_reader *reader)
{
    bg_model *m = reader->model;
    bg_value section, v;
    void *i = NULL;
    reader->own_bodies = m->nbodies;
    for (int k = 0; reader->status == BG_OK && next(reader, &k, &i, &section, &v);) {
        char name[128];
        bg_body *b = &m->bodies[m->nbodies];
        b->pose.R = bg_mat3_identity();
        bg_reader_register_part(&v, BG_NAME_BODY, write_name(&v, "ring", name, sizeof name),
                                m->nbodies++);
        b->name = bg_value_copy_part_name(&v, name);
        b->shapes = bg_reader_allocate(reader, 1, sizeof *b->shapes);
        if (reader->status == BG_OK)
            read_body(&v, b);
    }
}

static bg_joint *add_joint(const bg_value *v, const bg_joint_class *c, const char *part, int body,
                           int ring)
{
    bg_model *m = v->reader->model;
    const bg_frame *at = &m->bodies[ring].pose;
    bg_joint *j = &m->joints[m->njoints];
    char name[128];
    write_name(v, part, name, sizeof name);
    bg_reader_register_part(v, BG_NAME_JOINT, name, m->njoints++);
    j->name = bg_value_copy_part_name(v, name);
    j->class_ = c;
    j->a = bg_body_make_marker(m, body, at->r, &at->R);
    j->b = bg_body_make_marker(m, ring, at->r, &at->R);
    j->x_given = true;
    j->rolling = -1;
    for (int i = 0; i < BG_JOINT_COORDINATES; i++)
        j->start[i].signal = -1;
    return j;
}

void bg_read_ring_joints(bg_reader *reader)
{
    extern const bg_joint_class bg_joint_sidewall;
    bg_value section, v;
    void *i = NULL;
    for (int k = 0; reader->status == BG_OK && next(reader, &k, &i, &section, &v);) {
        const bg_value wheel = bg_value_member(&v, "wheel");
        const int body = bg_value_get_marker(&wheel).body, ring = bg_ring_find_body(&v);
        if (reader->status != BG_OK)
            return;
        add_joint(&v, find_class(&v)->ring, "ring", 0, ring)->cut = BG_CUT_FORBID;
        bg_joint *j = add_joint(&v, &bg_joint_sidewall, "sidewall", body, ring);
        j->start[0].q = bg_value_number_or(&v, "deflection", 0);
        j->start[0].v = bg_value_number_or(&v, "spin", 0);
    }
}
