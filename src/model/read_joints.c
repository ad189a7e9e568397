/* "joints": two bodies, a place, axes, given in the world of the design position. Which members a
 * joint may have follows from its class: axes from naxes, "pitch" from a screw link, "length" from
 * a distance, "points" where the two markers need not coincide. */
#include "model/rings.h"

#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 16, MAX_CLASSES = 64 };

bool bg_read_is_coupler(const char *type)
{
    return strcmp(type, "gear") == 0 || strcmp(type, "rack-pinion") == 0;
}

static bool is_distance(const bg_joint_class *c)
{
    return c->nprimitives > 0 && c->primitive[0].kind == BG_PRIMITIVE_DISTANCE;
}

static bool is_screw(const bg_joint_class *c)
{
    return c->nlinks > 0 && c->link[0].kind == BG_LINK_SCREW;
}

/* Its displacements are along axes of the part in the design position, or along a track. */
static bool is_cardan(const bg_joint_class *c)
{
    return c->ncoordinates > 3;
}

static bool is_cylindrical(const bg_joint_class *c)
{
    return c->nlinks == 2 && c->link[1].kind == BG_LINK_TRANSLATE;
}

/* The class named by "type"; NULL for couplers and after a failure. */
static const bg_joint_class *read_class(const bg_value *v)
{
    const bg_joint_class *const *classes = bg_joint_get_classes();
    const char *names[MAX_CLASSES + 3];
    int n = 0;
    for (; classes[n] && n < MAX_CLASSES; n++)
        names[n] = classes[n]->name;
    names[n] = "gear";
    names[n + 1] = "rack-pinion";
    names[n + 2] = NULL;
    if (!bg_value_expect_object(v))
        return NULL;
    int k = bg_value_choice(v, "type", names, -1);
    return v->reader->status == BG_OK && k < n ? classes[k] : NULL;
}

static void expect_keys(const bg_value *v, const bg_joint_class *c)
{
    const char *keys[MAX_KEYS] = {"type", "bodies", "cut", "prescribed", "initial"};
    int n = 5;
    if (!is_distance(c))
        keys[n++] = "at";
    if (c->naxes > 0) {
        keys[n++] = "axis";
        keys[n++] = "second";
    }
    if (is_screw(c))
        keys[n++] = "pitch";
    if (is_distance(c))
        keys[n++] = "length";
    if (c->constraint_only)
        keys[n++] = "points";
    if (c->rolling > 0)
        keys[n++] = "radius";
    bg_value_expect(v, keys);
}

static void read_body_pair(const bg_value *v, int body[2])
{
    bg_value pair = bg_value_member(v, "bodies");
    body[0] = body[1] = 0;
    if (!bg_value_expect_list(&pair, 2))
        return;
    for (int k = 0; k < 2; k++) {
        bg_value name = bg_value_element(&pair, k);
        if (!bg_value_expect_text(&name))
            return;
        body[k] = bg_value_find(&name, BG_NAME_BODY, json_string_value(name.json));
    }
    if (v->reader->status == BG_OK && body[0] == body[1])
        bg_value_fail(&pair, "connects body '%s' with itself",
                      v->reader->model->bodies[body[0]].name);
}

/* "at": a place in the world, or a point of a body. Joints without axes (fixed, free) may leave it
 * out: then it is the centre of the second body. */
static bg_vec3 read_place(const bg_value *v, const bg_joint_class *c, int body)
{
    const bg_model *m = v->reader->model;
    bg_value at = bg_value_member(v, "at");
    bool optional = strcmp(c->name, "fixed") == 0 || c->nprimitives == 0 || is_cardan(c);
    if (!bg_value_exists(&at) && optional)
        return m->bodies[body].pose.r;
    if (!json_is_string(at.json))
        return bg_value_get_place(&at);
    bg_marker p = bg_value_get_marker(&at);
    return bg_frame_apply(&m->bodies[p.body].pose, p.frame.r);
}

/* Axes about which angles keep their values in a mirror: as of axial vectors; slides, along true
 * vectors, go against them (slides_back). */
static bg_mat3 read_cardan_axes(const bg_value *v, const bg_mat3 *unit)
{
    const double det = bg_scope_get_handedness(v->scope);
    const double axial[3] = {det, det, det};
    double sign[3];
    bg_mat3 axes = *unit;
    if (!bg_scope_is_along(v->scope, sign))
        return bg_scope_turn_frame(v->scope, unit, axial);
    for (int k = 0; k < 3; k++) /* to the last digit, for frames of tracks */
        axes.m[k][k] = det * sign[k];
    return axes;
}

/* Along none of the axes of the file. */
static bool is_oblique(bg_vec3 a)
{
    static const double digits = 1e-9;
    return fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))) < 1 - digits;
}

/* Axes of both markers: z along "axis", x along "second", but for the digits in which the two are
 * written. In a mirrored part coordinates keep their values: z, about which a joint turns, is
 * axial, but a slide is along a true vector; a universal joint turns about x, too. */
static bg_mat3 read_axes(const bg_value *v, const bg_joint_class *c)
{
    const double digits = 1e-4; /* as of constraints that are redundant */
    bg_value second = bg_value_member(v, "second");
    const bg_mat3 unit = bg_mat3_identity();
    if (is_cardan(c))
        return read_cardan_axes(v, &unit);
    if (c->naxes == 0)
        return bg_scope_turn_axes(v->scope, &unit);
    bg_vec3 z = bg_value_unit(v, "axis"), x = {0, 0, 0};
    if (c->naxes > 1 || bg_value_exists(&second)) {
        x = bg_value_unit(v, "second");
        double sine = bg_dot(x, z);
        if (fabs(sine) > digits)
            bg_value_fail(&second,
                          "must be perpendicular to 'axis'; the angle between them is %.6g degrees",
                          acos(fmax(-1, fmin(1, sine))) * 180 / M_PI);
    }
    const double det = bg_scope_get_handedness(v->scope);
    const bool slides = c->nlinks == 1 && c->link[0].kind == BG_LINK_TRANSLATE;
    const double flip[3] = {c->naxes > 1 ? det : 1, c->naxes > 1 || slides ? det : 1,
                            slides ? 1 : det};
    const bg_mat3 F = bg_frame_from_z(z, x);
    return bg_scope_turn_frame(v->scope, &F, flip);
}

/* "points": the two markers of a constraint between points. */
static void read_points(const bg_value *v, const bg_mat3 *axes, bg_joint *j)
{
    const bg_model *m = v->reader->model;
    bg_value points = bg_value_member(v, "points"), bodies = bg_value_member(v, "bodies");
    if (!bg_value_expect_list(&points, 2))
        return;
    bg_marker *marker[2] = {&j->a, &j->b};
    for (int k = 0; k < 2; k++) {
        bg_value point = bg_value_element(&points, k);
        bg_marker p = bg_value_get_marker(&point);
        bg_vec3 r = bg_frame_apply(&m->bodies[p.body].pose, p.frame.r);
        *marker[k] = bg_body_make_marker(m, p.body, r, axes);
    }
    if (v->reader->status == BG_OK && j->a.body == j->b.body)
        bg_value_fail(&points, "both points belong to body '%s'", m->bodies[j->a.body].name);
    if (bg_value_exists(&bodies)) {
        int body[2];
        read_body_pair(v, body);
        if (v->reader->status == BG_OK && (body[0] != j->a.body || body[1] != j->b.body))
            bg_value_fail(&bodies, "are not the bodies of 'points'; leave them out");
    }
}

static void read_length(const bg_value *v, bg_joint *j)
{
    const bg_model *m = v->reader->model;
    bg_value length = bg_value_member(v, "length"), points = bg_value_member(v, "points");
    if (bg_value_exists(&length)) {
        j->length = bg_value_positive(v, "length");
        return;
    }
    bg_vec3 a = bg_frame_apply(&m->bodies[j->a.body].pose, j->a.frame.r);
    bg_vec3 b = bg_frame_apply(&m->bodies[j->b.body].pose, j->b.frame.r);
    j->length = bg_length(bg_sub(b, a));
    if (v->reader->status == BG_OK && !(j->length > 0 && isfinite(j->length)))
        bg_value_fail(
            &points,
            "coincide; a rod of zero length is no constraint on distance, use 'spherical'");
}

static void read_markers(const bg_value *v, bg_joint *j)
{
    const bg_joint_class *c = j->class_;
    bg_value points = bg_value_member(v, "points"), at = bg_value_member(v, "at");
    bg_value second = bg_value_member(v, "second");
    bg_mat3 axes = read_axes(v, c);
    if (v->reader->status != BG_OK)
        return;
    j->x_given = is_cardan(c) || (c->naxes > 0 && bg_value_exists(&second));
    j->x_open = c->naxes > 0 && !j->x_given && is_oblique(bg_value_unit(v, "axis"));
    if (bg_value_exists(&points) && bg_value_exists(&at)) {
        bg_value_fail(v, "has both 'at' and 'points'; give one of them");
    } else if (bg_value_exists(&points) || is_distance(c)) {
        read_points(v, &axes, j);
    } else {
        int body[2];
        read_body_pair(v, body);
        bg_vec3 r = read_place(v, c, body[1]);
        if (v->reader->status != BG_OK)
            return;
        j->a = bg_body_make_marker(v->reader->model, body[0], r, &axes);
        j->b = bg_body_make_marker(v->reader->model, body[1], r, &axes);
    }
}

static void read_cut(const bg_value *v, bg_joint *j)
{
    bg_value cut = bg_value_member(v, "cut");
    if (!bg_value_exists(&cut))
        return;
    j->cut = bg_value_bool_or(v, "cut", true) ? BG_CUT_FORCE : BG_CUT_FORBID;
    if (j->cut == BG_CUT_FORBID && j->class_->constraint_only)
        bg_value_fail(&cut, "a joint of type '%s' always closes a loop", j->class_->name);
}

/* The wheel that rolls without slip, from which the spin counts. */
static void read_rolling(const bg_value *v, bg_joint *j)
{
    const bg_value bodies = bg_value_member(v, "bodies");
    const double radius = bg_value_positive(v, "radius");
    if (v->reader->status != BG_OK)
        return;
    const bg_track *track = v->reader->model->bodies[j->a.body].track;
    if (!track) {
        bg_value_fail(&bodies, "the first body of a joint of type '%s' must follow a track",
                      j->class_->name);
        return;
    }
    double sign[3];
    if (!bg_scope_is_along(v->scope, sign))
        bg_value_fail(v, "needs a part that stands along the track and upright");
    const double forward = bg_scope_get_handedness(v->scope) * sign[1];
    const bg_signal s = {.kind = BG_SIGNAL_TRACK,
                         .track = track,
                         .n = BG_TRACK_PARTS,
                         .b = forward * radius}; /* spin about y, as the axes have it */
    j->rolling = bg_read_add_track_signal(v->reader, j->name, "rolling", &s);
}

/* The signal named at v, a member of object; it must not jump, as bodies cannot. */
static int read_drive(const bg_value *object, const bg_value *v)
{
    const bg_reader *reader = v->reader;
    int k = bg_value_signal(object, v->key);
    const bg_signal *s = reader->status == BG_OK ? &reader->model->signals[k] : NULL;
    if (s && bg_signal_has_jump(s))
        bg_value_fail(v,
                      "follows input '%s', which jumps at %g s, but a body cannot; use a 'step' or "
                      "a 'ramp'",
                      s->name, bg_signal_get_corner(s, 0));
    return k;
}

/* A signal name for the only coordinate, or an object coordinate -> signal name. */
static void read_prescribed(const bg_value *v, int joint)
{
    bg_joint *j = &v->reader->model->joints[joint];
    bg_value prescribed = bg_value_member(v, "prescribed"), member;
    if (!bg_value_exists(&prescribed))
        return;
    if (!json_is_object(prescribed.json)) {
        int k = bg_read_coordinate(&prescribed, joint, NULL);
        bg_read_refuse_cardan(&prescribed, j, k, "prescribed");
        j->start[k].signal = read_drive(v, &prescribed);
        return;
    }
    for (void *i = NULL; bg_value_next(&prescribed, &i, &member);) {
        int k = bg_read_coordinate(&member, joint, member.key);
        bg_read_refuse_cardan(&member, j, k, "prescribed");
        j->start[k].signal = read_drive(&prescribed, &member);
    }
}

static void read_joint(const bg_value *v, const bg_joint_class *c, int joint)
{
    bg_joint *j = &v->reader->model->joints[joint];
    bg_value initial = bg_value_member(v, "initial"), pitch = bg_value_member(v, "pitch");
    j->class_ = c;
    j->a.frame.R = j->b.frame.R = bg_mat3_identity();
    for (int k = 0; k < BG_JOINT_COORDINATES; k++)
        j->start[k].signal = -1;
    j->rolling = -1;
    j->slides_back = (is_cylindrical(c) || is_cardan(c)) && bg_scope_get_handedness(v->scope) < 0;
    expect_keys(v, c);
    read_markers(v, j);
    if (is_distance(c))
        read_length(v, j);
    if (is_screw(c)) {
        j->pitch = bg_value_get_number(&pitch) * bg_scope_get_handedness(v->scope);
        if (j->pitch == 0)
            bg_value_fail(&pitch, "must not be zero; a screw without pitch is 'revolute'");
    }
    if (c->rolling > 0)
        read_rolling(v, j);
    read_cut(v, j);
    read_prescribed(v, joint);
    if (bg_value_exists(&initial))
        bg_read_start(&initial, joint);
}

void bg_read_joints(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value section, v;
    m->joints = bg_reader_allocate(reader,
                                   bg_reader_count(reader, "joints") +
                                       bg_read_count_frames(reader) +
                                       BG_RING_JOINTS * bg_read_count_rings(reader),
                                   sizeof *m->joints);
    if (reader->status != BG_OK)
        return;
    bg_read_add_frames(reader);
    for (int k = 0; bg_reader_next_section(reader, "joints", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);) {
            const bg_joint_class *c = read_class(&v);
            if (!c)
                continue;
            bg_reader_register(&v, BG_NAME_JOINT, v.key, m->njoints);
            m->joints[m->njoints].name = bg_value_copy_name(&v);
            if (m->joints[m->njoints].name)
                read_joint(&v, c, m->njoints++);
        }
    bg_read_ring_joints(reader);
}
