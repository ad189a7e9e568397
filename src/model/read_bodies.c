/* "bodies": mass, centre, inertia, orientation, points, shapes, and a first guess of the velocity.
 * All places are in world coordinates of the design position. "ground" may have points and shapes
 * only. */
#include "model/rings.h"

#include <string.h>

static bg_mat3 read_quaternion(const bg_value *v)
{
    double p[4] = {1, 0, 0, 0}, largest = 0;
    if (bg_value_expect_list(v, 4))
        for (int k = 0; k < 4; k++) {
            bg_value element = bg_value_element(v, k);
            p[k] = bg_value_get_number(&element);
            largest = fmax(largest, fabs(p[k]));
        }
    if (v->reader->status != BG_OK)
        return bg_mat3_identity();
    if (!(largest > 1e-100)) {
        bg_value_fail(v, "a quaternion must not be zero");
        return bg_mat3_identity();
    }
    for (int k = 0; k < 4; k++)
        p[k] /= largest;
    return bg_rotation_from_quat(bg_quat_normalise((bg_quat){p[0], p[1], p[2], p[3]}));
}

bg_mat3 bg_read_orientation(const bg_value *object, const char *key)
{
    static const char *const axis_keys[] = {"axis", "angle", "rpy", NULL}; /* for hints, too */
    static const char *const rpy_keys[] = {"rpy", NULL};
    bg_value v = bg_value_member(object, key), rpy = bg_value_member(&v, "rpy");
    if (!bg_value_exists(&v) || v.reader->status != BG_OK)
        return bg_mat3_identity();
    if (json_is_array(v.json))
        return read_quaternion(&v);
    if (!json_is_object(v.json)) {
        bg_value_fail(&v, "must be [w,x,y,z], {\"axis\", \"angle\"} or {\"rpy\"}");
        return bg_mat3_identity();
    }
    if (bg_value_exists(&rpy)) {
        bg_value_expect(&v, rpy_keys);
        const bg_vec3 a = bg_value_get_vec3(&rpy);
        for (int k = 0; k < bg_value_get_size(&rpy); k++) {
            const bg_value angle = bg_value_element(&rpy, k);
            bg_value_get_angle(&angle);
        }
        bg_mat3 x = bg_rotation_about(bg_vec3_make(1, 0, 0), a.x);
        bg_mat3 y = bg_rotation_about(bg_vec3_make(0, 1, 0), a.y);
        bg_mat3 z = bg_rotation_about(bg_vec3_make(0, 0, 1), a.z), yx = bg_mat3_multiply(&y, &x);
        return bg_mat3_multiply(&z, &yx);
    }
    bg_value_expect(&v, axis_keys);
    bg_vec3 axis = bg_value_unit(&v, "axis");
    const bg_value angle = bg_value_member(&v, "angle");
    return bg_rotation_about(axis, bg_value_get_angle(&angle));
}

bg_mat3 bg_read_axes(const bg_value *object, const char *key)
{
    const bg_mat3 A = bg_read_orientation(object, key);
    return bg_scope_turn_axes(object->scope, &A);
}

static void read_points(const bg_value *body, bg_body *b)
{
    bg_reader *reader = body->reader;
    bg_value section = bg_value_member(body, "points"), v;
    if (!bg_value_exists(&section) || !bg_value_expect_object(&section))
        return;
    b->points = bg_reader_allocate(reader, json_object_size(section.json), sizeof *b->points);
    for (void *i = NULL; bg_value_next(&section, &i, &v);) {
        if (*v.key == '\0' || strchr(v.key, '.')) {
            bg_value_fail(&v, "the name of a point must not be empty and must not have a . in it");
            return;
        }
        bg_point_of_body *p = &b->points[b->npoints++];
        p->name = bg_reader_copy(reader, v.key);
        p->r = bg_rotate_back(&b->pose.R, bg_sub(bg_value_get_place(&v), b->pose.r));
    }
}

/* A frame that follows a track: its axes are those of the world in the design position, in which
 * the track is straight. A part that has one stands along it, either way round. */
static void read_frame(const bg_value *v, const bg_value *track, bg_body *b)
{
    const bg_value center = bg_value_member(v, "center");
    const double near = 1e-9;
    double sign[3];
    if (!bg_value_expect_text(track))
        return;
    if (!bg_scope_is_along(v->scope, sign))
        bg_value_fail(track, "needs a part that stands along the track and upright: it may be "
                             "mirrored in x and y and turned about z by 180 degrees, not else");
    const int k = bg_value_find(track, BG_NAME_TRACK, json_string_value(track->json));
    b->pose.r = bg_value_place(v, "center");
    if (v->reader->status != BG_OK)
        return;
    b->track = &v->reader->model->tracks[k];
    if (fabs(b->pose.r.y) > near || fabs(b->pose.r.z) > near)
        bg_value_fail(&center,
                      "is at y = %g, z = %g, but a frame follows the middle of the track "
                      "at the height of the rails: both are 0 in the design position",
                      b->pose.r.y, b->pose.r.z);
}

static void read_body(const bg_value *v, bg_body *b)
{
    static const char *const keys[] = {"mass",
                                       "center",
                                       "inertia",
                                       "orientation",
                                       "points",
                                       "shapes",
                                       "velocity",
                                       "angular_velocity",
                                       "fixed_velocity",
                                       "fixed_angular_velocity",
                                       "look",
                                       "track" /* for hints: there is none here */,
                                       NULL};
    static const char *const frame_keys[] = {"track", "center", "points", "shapes", "look", NULL};
    const bg_vec3 zero = {0, 0, 0};
    const bg_value track = bg_value_member(v, "track");
    if (bg_value_exists(&track)) {
        bg_value_expect(v, frame_keys);
        read_frame(v, &track, b);
        return;
    }
    bg_value_expect(v, keys);
    bg_value mass = bg_value_member(v, "mass");
    b->mass = bg_value_get_number(&mass);
    if (b->mass < 0)
        bg_value_fail(&mass, "must not be negative, but is %g kg", b->mass);
    b->pose.r = bg_value_place(v, "center");
    b->pose.R = bg_read_axes(v, "orientation");
    b->inertia = bg_read_inertia(v);
    b->v = bg_scope_turn(v->scope, bg_value_vec3_or(v, "velocity", zero));
    b->w = bg_scope_turn_axial(v->scope, bg_value_vec3_or(v, "angular_velocity", zero));
    b->v_fixed = bg_value_bool_or(v, "fixed_velocity", false);
    b->w_fixed = bg_value_bool_or(v, "fixed_angular_velocity", false);
    b->v_given = b->v_fixed || json_object_get(v->json, "velocity");
    b->w_given = b->w_fixed || json_object_get(v->json, "angular_velocity");
}

static void warn_massless(bg_reader *reader)
{
    const bg_model *m = reader->model;
    for (int k = 1; k < m->nbodies && reader->status == BG_OK; k++)
        if (m->bodies[k].mass == 0 && !m->bodies[k].track)
            bg_reader_warn(
                reader, BG_GOOD, "mass",
                "body '%s' has no mass, which is right only where joints tie it to bodies "
                "that have; elsewhere, give it a mass",
                m->bodies[k].name);
}

static void read_ground(const bg_value *v)
{
    static const char *const keys[] = {"points", "shapes", "look", NULL};
    if (!bg_value_exists(v))
        return;
    bg_value_expect(v, keys);
    if (v->scope)
        bg_value_fail(v, "a part cannot describe the ground; its places are written [x, y, z], and "
                         "its points and shapes belong to the model");
}

static void read_each(const bg_value *section)
{
    bg_reader *reader = section->reader;
    bg_model *m = reader->model;
    bg_value v = bg_value_member(section, "ground");
    read_ground(&v);
    for (void *i = NULL; bg_value_next(section, &i, &v);) {
        bool ground = strcmp(v.key, "ground") == 0;
        bg_body *b = ground ? &m->bodies[0] : &m->bodies[m->nbodies];
        if (!ground) {
            bg_reader_register(&v, BG_NAME_BODY, v.key, m->nbodies++);
            b->pose.R = bg_mat3_identity();
            b->name = bg_value_copy_name(&v);
            if (b->name)
                read_body(&v, b);
        }
        read_points(&v, b);
        bg_read_look(&v, &b->look);
        bg_read_shapes(&v, b);
    }
}

void bg_read_bodies(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value section = bg_value_member(top, "bodies");
    if (!json_object_get(top->json, "use") && !bg_value_expect_object(&section))
        return;
    size_t n = bg_reader_count(reader, "bodies") + bg_read_count_rings(reader) + 1;
    if (reader->status != BG_OK)
        return;
    m->bodies = bg_reader_allocate(reader, n, sizeof *m->bodies);
    reader->body_attached = bg_reader_allocate(reader, n, sizeof *reader->body_attached);
    if (reader->status != BG_OK)
        return;
    m->nbodies = 1;
    m->bodies[0].pose.R = bg_mat3_identity();
    m->bodies[0].look.opacity = 1;
    m->bodies[0].name = bg_reader_copy(reader, "ground");
    bg_reader_register(&section, BG_NAME_BODY, "ground", 0);
    for (int k = 0; bg_reader_next_section(reader, "bodies", false, &k, &section);)
        read_each(&section);
    if (reader->status == BG_OK && m->nbodies == 1)
        bg_value_fail(&section, "a model needs at least one body besides the ground");
    bg_read_point_masses(top);
    bg_read_ring_bodies(reader);
    memset(reader->body_attached, 0, n * sizeof *reader->body_attached); /* a mass ties nothing */
    warn_massless(reader);
}
