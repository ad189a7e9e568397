/* What wishes for the start say of a motion: their rows on twists of bodies, what of them is
 * missing, what a file gave in words, and whether all of it is met. */
#include "formalism/wishes.h"

#include <math.h>
#include <stdio.h>

static const double met = 1e-11; /* residual of what counts as met, relative to the motion */

static const double still = 1e-4; /* rad/s: 1e-9 of it are rounding, also where nothing moves */

int bg_wish_count_rows(const bg_wish *w)
{
    return w->kind == BG_WISH_SCALAR ? 1 : 3;
}

/* The rotation as a vector: angle times axis, in the axes that R leads to. */
static bg_vec3 calc_rotation_vector(const bg_mat3 *R)
{
    bg_quat p = bg_quat_from_rotation(R);
    bg_vec3 e = {p.x, p.y, p.z};
    double s = bg_length(e), angle = 2 * atan2(s, fabs(p.w));
    return bg_scale((p.w < 0 ? -1 : 1) * (s > 1e-9 ? angle / s : 2), e);
}

static bg_coordinate get_coordinate(const bg_multibody *mb, const bg_wish *w)
{
    return bg_multibody_get_coordinate(mb->model, w->joint, w->coordinate);
}

static bg_vec3 get_arm(const bg_multibody *mb, const bg_wish *w)
{
    return bg_rotate(&mb->body[w->body].R, mb->model->bodies[w->body].v_place);
}

/* NULL: it is about a body. */
static const bg_joint *get_joint(const bg_model *m, const bg_wish *w)
{
    bool joint = w->kind == BG_WISH_SCALAR || w->kind == BG_WISH_BALL || w->kind == BG_WISH_CENTRE;
    return joint ? &m->joints[w->joint] : NULL;
}

/* Velocity, or displacement from the design position. */
static void calc_value(const bg_multibody *mb, const bg_wish *w, double value[3])
{
    const bg_body_state *s = &mb->body[w->body];
    const bg_body *b = &mb->model->bodies[w->body];
    const bg_joint *j = get_joint(mb->model, w);
    bool velocity = w->of == BG_START_VELOCITIES, given = w->level <= BG_START_GIVEN;
    if (w->kind == BG_WISH_SCALAR) {
        bg_coordinate c = get_coordinate(mb, w);
        value[0] = velocity ? bg_coordinate_calc_rate(&mb->world, &c)
                            : bg_coordinate_calc(&mb->world, &c);
    } else if (w->kind == BG_WISH_CENTRE) {
        const bg_world *x = &mb->world;
        bg_vec3 a = velocity ? bg_marker_get_velocity(x, &j->a) : bg_marker_get_position(x, &j->a);
        bg_vec3 c = velocity ? bg_marker_get_velocity(x, &j->b) : bg_marker_get_position(x, &j->b);
        bg_vec3_store(bg_sub(c, a), value);
    } else if (w->kind == BG_WISH_BALL && velocity) {
        bg_vec3_store(bg_sub(mb->body[j->b.body].w, mb->body[j->a.body].w), value);
    } else if (w->kind == BG_WISH_BALL) {
        bg_mat3 A = bg_marker_get_axes(&mb->world, &j->a),
                B = bg_marker_get_axes(&mb->world, &j->b);
        bg_mat3 At = bg_mat3_transpose(&A), R = bg_mat3_multiply(&B, &At);
        bg_vec3_store(calc_rotation_vector(&R), value);
    } else if (velocity) {
        bg_vec3 v = given ? bg_add(s->v, bg_cross(s->w, get_arm(mb, w))) : s->v;
        bg_vec3_store(w->kind == BG_WISH_PLACE ? v : s->w, value);
    } else {
        bg_mat3 Rt = bg_mat3_transpose(&b->pose.R), R = bg_mat3_multiply(&s->R, &Rt);
        bg_vec3 moved = bg_sub(s->r, bg_add(b->pose.r, mb->body[0].r));
        bg_vec3_store(w->kind == BG_WISH_PLACE ? moved : calc_rotation_vector(&R), value);
    }
}

/* target - value; of angles, the nearest. */
static void calc_missing(const bg_multibody *mb, const bg_wish *w, double missing[3])
{
    calc_value(mb, w, missing);
    for (int i = 0; i < bg_wish_count_rows(w); i++)
        missing[i] = w->target[i] - missing[i];
    if (w->kind == BG_WISH_SCALAR && w->of == BG_START_POSITIONS &&
        get_coordinate(mb, w).kind != BG_COORDINATE_SLIDE)
        missing[0] = remainder(missing[0], 8 * atan(1.0));
}

static void calc_scalar(const bg_multibody *mb, const bg_wish *w, bg_wish_row *row)
{
    bg_primitive p = {.kind = BG_PRIMITIVE_RELATION, .n = 1, .factor = {1}, .signal = -1};
    p.coordinate[0] = get_coordinate(mb, w);
    row->a = p.coordinate[0].a.body;
    row->b = p.coordinate[0].b.body;
    bg_primitive_calc_jacobian(&mb->world, &p, row->J);
}

/* Component i of the place of b against that of a. */
static void calc_centre(const bg_multibody *mb, const bg_joint *j, int i, bg_wish_row *row)
{
    const bg_mat3 a = bg_skew(bg_marker_get_arm(&mb->world, &j->a)),
                  b = bg_skew(bg_marker_get_arm(&mb->world, &j->b));
    row->a = j->a.body;
    row->b = j->b.body;
    row->J[i] = -1;
    row->J[6 + i] = 1;
    for (int k = 0; k < 3; k++) {
        row->J[3 + k] = a.m[i][k];
        row->J[9 + k] = -b.m[i][k];
    }
}

/* How fast what a coordinate counts from moves by itself. */
static double calc_moved(const bg_multibody *mb, const bg_wish *w)
{
    if (w->kind != BG_WISH_SCALAR)
        return 0;
    const bg_coordinate c = get_coordinate(mb, w);
    return c.kind == BG_COORDINATE_PITCH && c.reference >= 0 ? mb->world.u_t[c.reference] : 0;
}

void bg_wish_calc_rows(const bg_multibody *mb, const bg_wish *w, bg_wish_row rows[3])
{
    double missing[3];
    const bg_joint *j = get_joint(mb->model, w);
    bool at_centre = w->level > BG_START_GIVEN || w->kind != BG_WISH_PLACE;
    bg_vec3 arm = at_centre ? bg_vec3_make(0, 0, 0) : get_arm(mb, w);
    bg_mat3 turn = bg_skew(arm); /* arm x: v + w x arm = v - arm~ w */
    calc_missing(mb, w, missing);
    for (int i = 0; i < bg_wish_count_rows(w); i++) {
        bg_wish_row *row = &rows[i];
        *row = (bg_wish_row){.b = w->body};
        if (w->kind == BG_WISH_SCALAR) {
            calc_scalar(mb, w, row);
        } else if (w->kind == BG_WISH_BALL) {
            row->a = j->a.body;
            row->b = j->b.body;
            row->J[3 + i] = -1;
            row->J[9 + i] = 1;
        } else if (w->kind == BG_WISH_CENTRE) {
            calc_centre(mb, j, i, row);
        } else if (w->kind == BG_WISH_TURN) {
            row->J[9 + i] = 1;
        } else {
            row->J[6 + i] = 1;
            for (int k = 0; k < 3; k++)
                row->J[9 + k] = -turn.m[i][k];
        }
        row->value = w->weight *
                     (w->of == BG_START_VELOCITIES ? w->target[i] + calc_moved(mb, w) : missing[i]);
        for (int k = 0; k < 12; k++)
            row->J[k] *= w->weight;
    }
}

/* Whether its values are angles. */
static bool is_angle(const bg_multibody *mb, const bg_wish *w)
{
    return w->kind == BG_WISH_TURN || w->kind == BG_WISH_BALL ||
           (w->kind == BG_WISH_SCALAR && get_coordinate(mb, w).kind != BG_COORDINATE_SLIDE);
}

/* The largest speed of all bodies; they turn as they move at their typical size. */
static double calc_speed(const bg_multibody *mb)
{
    double speed = 0;
    for (int b = 1; b < mb->nbodies; b++)
        speed = fmax(speed,
                     fmax(bg_length(mb->body[b].v), mb->wishes->length * bg_length(mb->body[b].w)));
    return speed;
}

/* What values of a wish are compared with. */
static double calc_size(const bg_multibody *mb, const bg_wish *w, double speed)
{
    double size = 0;
    bool angle = is_angle(mb, w);
    for (int i = 0; i < bg_wish_count_rows(w); i++)
        size = fmax(size, fabs(w->target[i]));
    if (w->of == BG_START_POSITIONS)
        return size + (angle ? 1 : mb->wishes->length);
    speed += still * mb->wishes->length;
    return size + (angle ? speed / mb->wishes->length : speed);
}

/* "joints.cross.initial.second.velocity" */
static void name_given(const bg_model *m, const bg_wish *w, bg_given *out)
{
    const bg_joint *j = get_joint(m, w);
    size_t size = sizeof out->name;
    if (j) {
        const bg_joint_class *c = j->class_;
        bool section = j->start[w->coordinate].in_section, several = c->ncoordinates > 1;
        snprintf(out->name, size, "%s%.63s%s%s%s.%s", section ? "initial." : "joints.", j->name,
                 section ? "" : ".initial", several ? "." : "",
                 several ? c->coordinate[w->coordinate].name : "",
                 w->of == BG_START_POSITIONS ? "position" : "velocity");
    } else {
        snprintf(out->name, size, "bodies.%.63s.%s", m->bodies[w->body].name,
                 w->kind == BG_WISH_TURN ? "angular_velocity" : "velocity");
    }
}

int bg_wishes_get_given(bg_multibody *mb, bool news, int k, bg_given *out)
{
    static const char *const units[2][2] = {{"m", "rad"}, {"m/s", "rad/s"}};
    if (k >= mb->wishes->ngiven)
        return 1;
    const bg_wish *w = &mb->wishes->wish[k];
    double missing[3];
    if (news)
        mb->speed = calc_speed(mb);
    *out = (bg_given){.n = bg_wish_count_rows(w),
                      .fixed = w->level == BG_START_FIXED,
                      .unit = units[w->of][is_angle(mb, w)]};
    name_given(mb->model, w, out);
    calc_missing(mb, w, missing);
    for (int i = 0; i < out->n; i++) {
        out->given[i] = w->target[i];
        out->got[i] = w->target[i] - missing[i];
    }
    out->size = calc_size(mb, w, mb->speed);
    return 0;
}

/* Which axes of its markers a joint keeps parallel. Rows a_i . b_j = 0 for both other axes j do so,
 * and three such rows do it for all. */
static void find_parallel(const bg_joint_class *c, bool parallel[3])
{
    int rows[3] = {0}, n = 0;
    for (int k = 0; k < c->nprimitives; k++)
        if (c->primitive[k].kind == BG_PRIMITIVE_DOT1) {
            rows[c->primitive[k].i]++;
            n++;
        }
    for (int i = 0; i < 3; i++)
        parallel[i] = rows[i] == 2 || n == 3;
}

const char *bg_wishes_find_reversed(const bg_multibody *mb)
{
    for (int k = 0; k < mb->model->njoints; k++) {
        const bg_joint *j = &mb->model->joints[k];
        bool parallel[3];
        find_parallel(j->class_, parallel);
        bg_mat3 A = bg_marker_get_axes(&mb->world, &j->a),
                B = bg_marker_get_axes(&mb->world, &j->b);
        for (int i = 0; i < 3; i++)
            if (parallel[i] &&
                A.m[0][i] * B.m[0][i] + A.m[1][i] * B.m[1][i] + A.m[2][i] * B.m[2][i] < 0)
                return j->name;
    }
    return NULL;
}

/* Whether the file gives the twist that an anchor would rather not have. */
static bool is_overruled(const bg_multibody *mb, const bg_wish *w)
{
    const bg_body *b = &mb->model->bodies[w->body];
    return w->level > BG_START_REST && w->of == BG_START_VELOCITIES &&
           (w->kind == BG_WISH_TURN ? b->w_given : b->v_given);
}

bool bg_wishes_are_settled(const bg_multibody *mb, bg_start_of of)
{
    double speed = calc_speed(mb);
    for (int k = 0; k < mb->wishes->n; k++) {
        const bg_wish *w = &mb->wishes->wish[k];
        double missing[3];
        if (w->of != of || is_overruled(mb, w))
            continue;
        calc_missing(mb, w, missing);
        for (int i = 0; i < bg_wish_count_rows(w); i++)
            if (!(fabs(missing[i]) <= met * calc_size(mb, w, speed)))
                return false;
    }
    return true;
}
