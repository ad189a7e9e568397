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
#include <stdlib.h>
#include <string.h>

/* While the list is made. */
typedef struct wish_maker {
    const bg_model *model;
    struct bg_wishes *out;
    double *length; /* [nbodies] m: radius of gyration */
    int *pairs;     /* [njoints] joints that count, by pairs of bodies */
    int npairs;
    int *part;   /* [nbodies] lowest body of the part it is joined to */
    int *anchor; /* [nbodies] of a part, at its lowest body: the one that stays */
} wish_maker;

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
    const bg_joint_class *c = j->class_;
    const bool says = c->nprimitives > 0 || c->ncoordinates > 0;
    return ((!c->constraint_only && !c->is_loose && says) || c->is_sidewall) &&
           j->a.body != j->b.body;
}

static double calc_gyration(const bg_body *b)
{
    double trace = b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2];
    return b->mass > 0 && trace > 0 ? sqrt(trace / (2 * b->mass)) : 0;
}

/* Radii of gyration; of bodies without inertia, how far out their joints are. */
static void measure(wish_maker *m)
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

static double weigh(const wish_maker *m, const bg_joint *j, int c)
{
    bool angle = c < 0 || j->class_->coordinate[c].kind != BG_COORDINATE_SLIDE;
    return angle ? m->length[j->a.body] + m->length[j->b.body] : 1;
}

static bg_wish *add(wish_maker *m, bg_wish_kind kind, bg_start_of of, bg_start_level level,
                    double weight)
{
    bg_wish *w = &m->out->wish[m->out->n++];
    *w = (bg_wish){.kind = kind, .of = of, .level = level, .weight = weight};
    return w;
}

static void add_given_body(wish_maker *m, int body)
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

static void add_given_joint(wish_maker *m, int joint)
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

/* Whether the file says where a body is that nothing else rests on. */
static bool is_placed(const bg_model *m, int body)
{
    for (int k = 0; k < m->njoints; k++)
        if (m->joints[k].class_->is_loose && m->joints[k].b.body == body &&
            speaks_at_all(&m->joints[k], BG_START_POSITIONS))
            return true;
    return false;
}

/* A ring moves along with the centre of its wheel, whose spin does not carry it around. */
static void add_ring(wish_maker *m, int joint, bg_start_of of)
{
    const bg_joint *j = &m->model->joints[joint];
    const bg_mat3 *axes = &m->model->bodies[j->b.body].pose.R;
    const bool position = of == BG_START_POSITIONS;
    if (position && is_placed(m->model, j->b.body))
        return;
    bg_wish *turn = add(m, BG_WISH_BALL, of, BG_START_REST, weigh(m, j, -1));
    bg_wish *centre = add(m, BG_WISH_CENTRE, of, BG_START_REST, 1);
    turn->joint = centre->joint = joint;
    if (position)
        bg_vec3_store(bg_scale(j->start[0].q, bg_axis(axes, 2)), centre->target);
    else
        bg_vec3_store(bg_scale(j->start[0].v, bg_axis(axes, 1)), turn->target);
}

static void add_rest(wish_maker *m, int joint, bg_start_of of)
{
    const bg_joint *j = &m->model->joints[joint];
    if (j->class_->is_sidewall)
        add_ring(m, joint, of);
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

static void sort_pairs(wish_maker *m)
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
static void add_rests(wish_maker *m, bg_start_of of)
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

static void find_parts(wish_maker *m)
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
static void find_anchors(wish_maker *m)
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

static void add_anchor(wish_maker *m, int body)
{
    for (bg_start_of of = BG_START_POSITIONS; of <= BG_START_VELOCITIES; of++) {
        add(m, BG_WISH_TURN, of, BG_START_TURN, m->length[body])->body = body;
        add(m, BG_WISH_PLACE, of, BG_START_DRIFT, 1)->body = body;
    }
}

static void make(wish_maker *m)
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
    wish_maker m = {.model = x, .out = BG_NEW(struct bg_wishes)};
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
