/* Wishes for the start on the level of bodies.
 *
 * Given are velocities and angular velocities of bodies and positions and rates of joint
 * coordinates. Joints of which the file does not speak rest: of several between two bodies, those
 * count of which it speaks, else the one that moves least freely, so that a joint more which
 * constrains nothing changes nothing; `free` and rods, lines and planes do not count. Of every
 * part that floats, the heaviest body does not turn, then does not drift, as far as nothing else
 * was given.
 *
 * Where wishes contradict each other, the least squares of velocities decide: an angular velocity
 * counts as the velocity at the radius of gyration, a rotation between two bodies at the sum of
 * theirs. */
#include "formalism/wishes.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double met = 1e-11; /* residual of what counts as met, relative to the motion */

static const double still = 1e-4; /* rad/s: 1e-9 of it are rounding, also where nothing moves */

/* While the list is made. */
typedef struct maker {
    const bg_model *model;
    struct bg_wishes *out;
    double *length; /* [nbodies] m: radius of gyration */
    int *pairs;     /* [njoints] joints that count, by pairs of bodies */
    int npairs;
    int *part;   /* [nbodies] lowest body of the part it is joined to */
    int *anchor; /* [nbodies] of a part, at its lowest body: the one that stays */
} maker;

static bool speaks(const bg_joint *j, int c, bg_start_of of)
{
    const bg_joint_start *s = &j->start[c];
    return s->signal >= 0 || (of == BG_START_POSITIONS ? s->q_given : s->v_given);
}

static bool speaks_at_all(const bg_joint *j, bg_start_of of)
{
    for (int c = 0; c < j->class_->ncoordinates; c++)
        if (speaks(j, c, of))
            return true;
    return false;
}

static bool is_ball(const bg_joint_class *c)
{
    return c->ncoordinates == 0 && c->nlinks == 1 && c->link[0].kind == BG_LINK_BALL;
}

/* Whether bodies rest against each other on it. */
static bool is_joined(const bg_joint *j)
{
    const bool says = j->class_->nprimitives > 0 || j->class_->ncoordinates > 0;
    return !j->class_->constraint_only && says && j->a.body != j->b.body;
}

static double calc_gyration(const bg_body *b)
{
    double trace = b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2];
    return b->mass > 0 && trace > 0 ? sqrt(trace / (2 * b->mass)) : 0;
}

/* Radii of gyration; of bodies without inertia, how far out their joints are. */
static void measure(maker *m)
{
    const bg_model *x = m->model;
    int counted = 0;
    double sum = 0;
    for (int k = 0; k < x->njoints; k++) {
        const bg_marker *marker[] = {&x->joints[k].a, &x->joints[k].b};
        for (int i = 0; i < 2 && x->joints[k].class_->nprimitives > 0; i++)
            m->length[marker[i]->body] = fmax(m->length[marker[i]->body],
                                              bg_length(marker[i]->frame.r));
    }
    m->length[0] = 0;
    for (int b = 1; b < x->nbodies; b++) {
        double radius = calc_gyration(&x->bodies[b]);
        if (radius > 0)
            m->length[b] = radius;
        sum += m->length[b];
        counted += m->length[b] > 0;
    }
    m->out->length = counted > 0 ? sum / counted : 1;
    for (int b = 1; b < x->nbodies; b++)
        if (m->length[b] == 0)
            m->length[b] = m->out->length;
}

static double weigh(const maker *m, const bg_joint *j, int c)
{
    bool angle = c < 0 || j->class_->coordinate[c].kind != BG_COORDINATE_SLIDE;
    return angle ? m->length[j->a.body] + m->length[j->b.body] : 1;
}

static bg_wish *add(maker *m, bg_wish_kind kind, bg_start_of of, bg_start_level level,
                    double weight)
{
    bg_wish *w = &m->out->wish[m->out->n++];
    *w = (bg_wish){.kind = kind, .of = of, .level = level, .weight = weight};
    return w;
}

static void add_given_body(maker *m, int body)
{
    const bg_body *b = &m->model->bodies[body];
    if (b->v_given) {
        bg_wish *w = add(m, BG_WISH_PLACE, BG_START_VELOCITIES,
                         b->v_fixed ? BG_START_FIXED : BG_START_GIVEN, 1);
        w->body = body;
        bg_vec3_store(b->v, w->target);
    }
    if (b->w_given) {
        bg_wish *w = add(m, BG_WISH_TURN, BG_START_VELOCITIES,
                         b->w_fixed ? BG_START_FIXED : BG_START_GIVEN, m->length[body]);
        w->body = body;
        bg_vec3_store(b->w, w->target);
    }
}

static void add_given_joint(maker *m, int joint)
{
    const bg_joint *j = &m->model->joints[joint];
    for (int c = 0; c < j->class_->ncoordinates; c++) {
        const bg_joint_start *s = &j->start[c];
        for (bg_start_of of = BG_START_POSITIONS; of <= BG_START_VELOCITIES; of++) {
            bool position = of == BG_START_POSITIONS;
            if (!(position ? s->q_given : s->v_given))
                continue;
            bool fixed = position ? s->q_fixed : s->v_fixed;
            bg_wish *w = add(m, BG_WISH_SCALAR, of, fixed ? BG_START_FIXED : BG_START_GIVEN,
                             weigh(m, j, c));
            w->joint = joint;
            w->coordinate = c;
            w->target[0] = position ? s->q : s->v;
        }
    }
}

static void add_rest(maker *m, int joint, bg_start_of of)
{
    const bg_joint *j = &m->model->joints[joint];
    for (int c = 0; c < j->class_->ncoordinates; c++)
        if (!speaks(j, c, of)) {
            bg_wish *w = add(m, BG_WISH_SCALAR, of, BG_START_REST, weigh(m, j, c));
            w->joint = joint;
            w->coordinate = c;
        }
    if (is_ball(j->class_))
        add(m, BG_WISH_BALL, of, BG_START_REST, weigh(m, j, -1))->joint = joint;
}

static void get_pair(const bg_joint *j, int pair[2])
{
    pair[0] = j->a.body < j->b.body ? j->a.body : j->b.body;
    pair[1] = j->a.body < j->b.body ? j->b.body : j->a.body;
}

/* By pair of bodies, then freedom, then name. */
static bool is_before(const bg_model *x, int first, int second)
{
    const bg_joint *a = &x->joints[first], *b = &x->joints[second];
    int p[2], q[2];
    get_pair(a, p);
    get_pair(b, q);
    if (p[0] != q[0] || p[1] != q[1])
        return p[0] != q[0] ? p[0] < q[0] : p[1] < q[1];
    int m = bg_joint_class_count_velocities(a->class_);
    int n = bg_joint_class_count_velocities(b->class_);
    return m != n ? m < n : strcmp(a->name, b->name) < 0;
}

/* Heap sort: few lines, no worst case. */
static void sift(const bg_model *x, int *list, int k, int n)
{
    for (int child; (child = 2 * k + 1) < n; k = child) {
        if (child + 1 < n && is_before(x, list[child], list[child + 1]))
            child++;
        if (!is_before(x, list[k], list[child]))
            return;
        int t = list[k];
        list[k] = list[child];
        list[child] = t;
    }
}

static void sort_pairs(maker *m)
{
    int n = 0;
    for (int k = 0; k < m->model->njoints; k++)
        if (is_joined(&m->model->joints[k]))
            m->pairs[n++] = k;
    m->npairs = n;
    for (int k = n / 2 - 1; k >= 0; k--)
        sift(m->model, m->pairs, k, n);
    for (int k = n - 1; k > 0; k--) {
        int t = m->pairs[0];
        m->pairs[0] = m->pairs[k];
        m->pairs[k] = t;
        sift(m->model, m->pairs, 0, k);
    }
}

/* Those of a pair of bodies that the file speaks of, else the least free. */
static void add_rests(maker *m, bg_start_of of)
{
    const bg_joint *joints = m->model->joints;
    for (int first = 0, end; first < m->npairs; first = end) {
        int pair[2], other[2];
        bool spoken = false;
        get_pair(&joints[m->pairs[first]], pair);
        for (end = first; end < m->npairs; end++) {
            get_pair(&joints[m->pairs[end]], other);
            if (other[0] != pair[0] || other[1] != pair[1])
                break;
            spoken = spoken || speaks_at_all(&joints[m->pairs[end]], of);
        }
        for (int k = first; k < end; k++)
            if (spoken ? speaks_at_all(&joints[m->pairs[k]], of) : k == first)
                add_rest(m, m->pairs[k], of);
    }
}

static void find_parts(maker *m)
{
    bool changed = true;
    for (int b = 0; b < m->model->nbodies; b++)
        m->part[b] = b;
    while (changed) {
        changed = false;
        for (int k = 0; k < m->npairs; k++) {
            const bg_joint *j = &m->model->joints[m->pairs[k]];
            int *a = &m->part[j->a.body], *b = &m->part[j->b.body];
            changed = changed || *a != *b;
            *a = *b = *a < *b ? *a : *b;
        }
    }
}

/* The heaviest body of a part that floats stays, of equals the first by name. */
static void find_anchors(maker *m)
{
    const bg_body *bodies = m->model->bodies;
    for (int b = 1; b < m->model->nbodies; b++) {
        int *best = &m->anchor[m->part[b]];
        if (*best == 0 || bodies[b].mass > bodies[*best].mass ||
            (bodies[b].mass == bodies[*best].mass &&
             strcmp(bodies[b].name, bodies[*best].name) < 0))
            *best = b;
    }
}

static void add_anchor(maker *m, int body)
{
    for (bg_start_of of = BG_START_POSITIONS; of <= BG_START_VELOCITIES; of++) {
        add(m, BG_WISH_TURN, of, BG_START_TURN, m->length[body])->body = body;
        add(m, BG_WISH_PLACE, of, BG_START_DRIFT, 1)->body = body;
    }
}

static void make(maker *m)
{
    const bg_model *x = m->model;
    measure(m);
    sort_pairs(m);
    find_parts(m);
    find_anchors(m);
    for (int b = 1; b < x->nbodies; b++)
        add_given_body(m, b);
    for (int k = 0; k < x->njoints; k++)
        add_given_joint(m, k);
    m->out->ngiven = m->out->n;
    add_rests(m, BG_START_POSITIONS);
    add_rests(m, BG_START_VELOCITIES);
    for (int b = 1; b < x->nbodies; b++)
        if (m->part[b] == b)
            add_anchor(m, m->anchor[b]);
}

bg_status bg_wishes_create(const bg_model *x, struct bg_wishes **wishes, bg_error *err)
{
    maker m = {.model = x, .out = BG_NEW(struct bg_wishes)};
    m.length = BG_NEW_ARRAY(double, x->nbodies);
    m.pairs = BG_NEW_ARRAY(int, x->njoints);
    m.part = BG_NEW_ARRAY(int, x->nbodies);
    m.anchor = BG_NEW_ARRAY(int, x->nbodies);
    if (m.out) /* per joint six coordinates of two kinds, given or at rest; per body 6 */
        m.out->wish = BG_NEW_ARRAY(bg_wish, 4 * BG_JOINT_COORDINATES * x->njoints + 6 * x->nbodies);
    bg_status st = BG_OK;
    if (m.out && m.out->wish && m.length && m.pairs && m.part && m.anchor)
        make(&m);
    else
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", x->name);
    if (st != BG_OK && m.out) {
        bg_wishes_destroy(m.out);
        m.out = NULL;
    }
    free(m.length);
    free(m.pairs);
    free(m.part);
    free(m.anchor);
    *wishes = m.out;
    return st;
}

void bg_wishes_destroy(struct bg_wishes *w)
{
    if (!w)
        return;
    free(w->wish);
    free(w);
}

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
    bool joint = w->kind == BG_WISH_SCALAR || w->kind == BG_WISH_BALL;
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
