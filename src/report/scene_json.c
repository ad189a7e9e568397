/* The scene of a page (docs/report.md): shapes, joints, springs, tyres, road, reactions, forces,
 * poses. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>

static void put_vec3(bg_json *j, const char *key, bg_vec3 r)
{
    const double x[3] = {r.x, r.y, r.z};
    bg_json_numbers(j, key, x, 3);
}

static void put_rotation(bg_json *j, const char *key, const bg_mat3 *R)
{
    bg_quat p = bg_quat_from_rotation(R);
    const double x[4] = {p.w, p.x, p.y, p.z};
    bg_json_numbers(j, key, x, 4);
}

static void write_shape(bg_json *j, const bg_shape *s)
{
    static const char *const kinds[] = {"box", "cylinder", "sphere", "line"};
    bg_json_open(j, NULL, '{');
    bg_json_text(j, "kind", kinds[s->kind]);
    if (s->kind == BG_SHAPE_LINE) {
        put_vec3(j, "from", s->from);
        put_vec3(j, "to", s->to);
    } else {
        put_vec3(j, "position", s->frame.r);
    }
    if (s->kind == BG_SHAPE_BOX || s->kind == BG_SHAPE_CYLINDER)
        put_rotation(j, "rotation", &s->frame.R);
    if (s->kind == BG_SHAPE_BOX)
        bg_json_numbers(j, "size", s->size, 3);
    if (s->kind == BG_SHAPE_CYLINDER || s->kind == BG_SHAPE_SPHERE)
        bg_json_number(j, "radius", s->size[0]);
    if (s->kind == BG_SHAPE_CYLINDER)
        bg_json_number(j, "length", s->size[1]);
    bg_json_close(j, '}');
}

/* Only what the model says. */
static void write_look(bg_json *j, const bg_body_look *look)
{
    if (*look->colour)
        bg_json_text(j, "colour", look->colour);
    if (look->opacity < 1)
        bg_json_number(j, "opacity", look->opacity);
    if (look->hidden)
        bg_json_bool(j, "hidden", true);
}

static void write_bodies(bg_json *j, const bg_model *m)
{
    bg_json_open(j, "bodies", '[');
    for (int b = 0; b < m->nbodies; b++) {
        const bg_body *body = &m->bodies[b];
        bg_json_open(j, NULL, '{');
        bg_json_text(j, "name", b == 0 ? "ground" : body->name);
        bg_json_number(j, "mass", body->mass);
        write_look(j, &body->look);
        bg_json_open(j, "shapes", '[');
        for (int k = 0; k < body->nshapes; k++)
            write_shape(j, &body->shapes[k]);
        bg_json_close(j, ']');
        bg_json_open(j, "points", '[');
        for (int k = 0; k < body->npoints; k++) {
            bg_json_open(j, NULL, '{');
            bg_json_text(j, "name", body->points[k].name);
            put_vec3(j, "position", body->points[k].r);
            bg_json_close(j, '}');
        }
        bg_json_close(j, ']');
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
}

static void write_joints(bg_json *j, const bg_scene *s)
{
    bg_json_open(j, "joints", '[');
    for (int k = 0; k < s->njoints; k++) {
        const bg_joint *x = &s->model->joints[k];
        bg_json_open(j, NULL, '{');
        bg_json_text(j, "name", x->name);
        bg_json_text(j, "type", x->class_->name);
        bg_json_open(j, "bodies", '[');
        bg_json_int(j, NULL, x->a.body);
        bg_json_int(j, NULL, x->b.body);
        bg_json_close(j, ']');
        put_vec3(j, "position", x->b.frame.r);
        if (x->class_->naxes > 0)
            put_vec3(j, "axis", bg_axis(&x->b.frame.R, 2));
        else
            bg_json_null(j, "axis");
        bg_json_bool(j, "cut", s->mechanism->joint_tree[k] < 0);
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
}

static bg_force_look find_look(const bg_force *f)
{
    bg_force_look look = {0};
    if (f->class_->look)
        f->class_->look(f, &look);
    return look;
}

static void write_end(bg_json *j, const char *key, const bg_marker *m)
{
    bg_json_open(j, key, '{');
    bg_json_int(j, "body", m->body);
    put_vec3(j, "position", m->frame.r);
    bg_json_close(j, '}');
}

static void write_springs(bg_json *j, const bg_model *m)
{
    bg_json_open(j, "springs", '[');
    for (int k = 0; k < m->nforces; k++) {
        const bg_force_look look = find_look(&m->forces[k]);
        if (look.nends != 2)
            continue;
        bg_json_open(j, NULL, '{');
        bg_json_text(j, "name", m->forces[k].name);
        bg_json_text(j, "type", look.kind ? look.kind : m->forces[k].class_->name);
        write_end(j, "from", &look.end[0]);
        write_end(j, "to", &look.end[1]);
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
}

/* A wheel turns about the axis that points to the left (y) in the design position. */
static void write_tyres(bg_json *j, const bg_model *m)
{
    bg_json_open(j, "tyres", '[');
    for (int k = 0; k < m->nforces; k++) {
        const bg_force_look look = find_look(&m->forces[k]);
        if (!(look.radius > 0))
            continue;
        const bg_body *body = &m->bodies[look.end[0].body];
        bg_json_open(j, NULL, '{');
        bg_json_text(j, "name", m->forces[k].name);
        bg_json_int(j, "body", look.end[0].body);
        put_vec3(j, "position", look.end[0].frame.r);
        put_vec3(j, "axis", bg_rotate_back(&body->pose.R, bg_vec3_make(0, 1, 0)));
        bg_json_number(j, "radius", look.radius);
        bg_json_number(j, "width", bg_scene_find_width(&look));
        if (look.flange)
            bg_json_int(j, "flange", look.flange);
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
}

static bg_status write_road(bg_json *j, const bg_scene *s, const char *key, int side, bg_error *err)
{
    bg_scene_road road;
    bg_status st = bg_scene_create_road(s, side, &road, err);
    if (st != BG_OK)
        return st;
    if (road.n == 0) {
        if (side > 0)
            bg_json_null(j, key);
        return BG_OK;
    }
    bg_json_open(j, key, '{');
    bg_json_text(j, "name", "road");
    bg_json_open(j, "profile", '[');
    for (int k = 0; k < road.n; k++)
        bg_json_numbers(j, NULL, road.points[k], 2);
    bg_json_close(j, ']');
    if (road.lanes > 0) {
        bg_json_open(j, "heights", '[');
        for (int k = 0; k < road.n; k++)
            bg_json_numbers(j, NULL, road.heights + (long)k * road.lanes, road.lanes);
        bg_json_close(j, ']');
    }
    bg_json_number(j, "width", road.width);
    bg_json_number(j, "y", road.y);
    bg_json_number(j, "speed", road.speed);
    bg_json_number(j, "start", road.start);
    bg_json_close(j, '}');
    bg_scene_clear_road(&road);
    return BG_OK;
}

static void write_reactions(bg_json *j, const bg_scene *s)
{
    bg_json_open(j, "reactions", '[');
    for (int k = 0; k < s->njoints; k++) {
        const bg_joint *x = &s->model->joints[k];
        bg_json_open(j, NULL, '{');
        bg_json_text(j, "joint", x->name);
        bg_json_int(j, "body", x->b.body);
        put_vec3(j, "position", x->b.frame.r);
        if (s->has_reactions)
            bg_json_floats(j, "force", s->reactions[k], (bg_json_shape){{(size_t)s->frames, 3}});
        else
            bg_json_null(j, "force");
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
}

static void write_forces(bg_json *j, const bg_scene *s)
{
    bg_json_open(j, "forces", '[');
    for (int k = 0; k < s->ndrawn; k++) {
        const bg_scene_force *x = &s->forces[k];
        bg_json_open(j, NULL, '{');
        bg_json_text(j, "name", s->model->forces[x->force].name);
        bg_json_text(j, "kind", x->wheel ? "tyre" : "spring");
        bg_json_int(j, "body", x->at.body);
        put_vec3(j, "position", x->at.frame.r);
        bg_json_floats(j, "force", x->f, (bg_json_shape){{(size_t)s->frames, 3}});
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
}

/* Against gravity where that is along x or y, as in models drawn in the plane of x and y; else z.
 */
static bg_vec3 find_up(const bg_model *m)
{
    const double g[2] = {m->gravity.x, m->gravity.y}, size = bg_length(m->gravity);
    for (int k = 0; k < 2; k++)
        if (size > 0 && fabs(g[k]) > 0.99 * size)
            return bg_vec3_make(k == 0 ? -copysign(1, g[0]) : 0, k == 1 ? -copysign(1, g[1]) : 0,
                                0);
    return bg_vec3_make(0, 0, 1);
}

bg_status bg_page_write_scene(bg_json *j, const bg_page_result *r, bg_error *err)
{
    const bg_scene *s = r->scene;
    if (!s) {
        bg_json_null(j, "scene");
        return BG_OK;
    }
    const size_t frames = (size_t)s->frames;
    bg_json_open(j, "scene", '{');
    put_vec3(j, "up", find_up(s->model));
    put_vec3(j, "gravity", s->model->gravity);
    bg_page_write_view(j, s->model);
    write_bodies(j, s->model);
    write_joints(j, s);
    write_springs(j, s->model);
    write_tyres(j, s->model);
    bg_status st = write_road(j, s, "road", 1, err);
    if (st == BG_OK)
        st = write_road(j, s, "right_road", -1, err);
    write_reactions(j, s);
    write_forces(j, s);
    bg_json_doubles(j, "t", s->t, (bg_json_shape){{frames}});
    bg_json_floats(j, "poses", s->poses, (bg_json_shape){{frames, (size_t)s->nbodies, BG_POSE}});
    bg_json_close(j, '}');
    return st;
}
