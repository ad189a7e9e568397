#include "model/canonical.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* An order of things by name: from place in the copy to place in the model. */
typedef struct named_place {
    const char *name;
    int index;
} named_place;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const named_place *)a)->name, ((const named_place *)b)->name);
}

static bool is_idle(const bg_joint *j)
{
    return j->class_->nprimitives == 0 && j->class_->ncoordinates == 0 && !j->class_->is_sidewall;
}

static bool is_universal(const bg_joint *j)
{
    return j->class_->naxes == 2;
}

/* Displacements are measured along axes of the first body, angles one after the other. */
static bool is_directed(const bg_joint *j)
{
    return j->class_->ncoordinates > 3;
}

/* x and y of a plane are measured along axes of the first body. */
static bool is_planar(const bg_joint *j)
{
    return j->class_->ncoordinates == 3;
}

static bool is_given(const bg_joint_start *s)
{
    return s->q_given || s->v_given;
}

static bool is_coupled(const bg_model *m, int joint)
{
    for (int k = 0; k < m->ncouplers; k++)
        for (int i = 0; i < m->couplers[k].n; i++)
            if (m->couplers[k].joint[i] == joint)
                return true;
    return false;
}

/* Whether the joint is the same mechanism when its bodies are exchanged and the signs of its
 * coordinates change. */
static bool is_reversible(const bg_model *m, int joint)
{
    const bg_joint *j = &m->joints[joint];
    if (j->class_->constraint_only || is_directed(j))
        return false;
    for (int c = 0; c < j->class_->ncoordinates; c++)
        if (j->start[c].signal >= 0)
            return false;
    return !is_planar(j) ||
           (!is_given(&j->start[0]) && !is_given(&j->start[1]) && !is_coupled(m, joint));
}

/* Whether the file says how the joint starts or moves. */
static bool is_spoken_of(const bg_model *m, int joint)
{
    const bg_joint *j = &m->joints[joint];
    for (int c = 0; c < j->class_->ncoordinates; c++)
        if (is_given(&j->start[c]) || j->start[c].signal >= 0)
            return true;
    return is_coupled(m, joint);
}

static bool are_markers_equal(const bg_marker *a, const bg_marker *b)
{
    return a->body == b->body && memcmp(&a->frame, &b->frame, sizeof a->frame) == 0;
}

/* Whether two joints constrain the same in the same place. */
static bool are_twins(const bg_joint *a, const bg_joint *b)
{
    bool same = are_markers_equal(&a->a, &b->a) && are_markers_equal(&a->b, &b->b);
    bool exchanged = a->class_->naxes < 2 && !a->class_->constraint_only &&
                     are_markers_equal(&a->a, &b->b) && are_markers_equal(&a->b, &b->a);
    return a->class_ == b->class_ && (same || exchanged) && a->pitch == b->pitch &&
           a->length == b->length;
}

/* Whether nothing is said of the joint, and another of which something is said, or which has an
 * earlier name, stands in the same place. */
static bool is_repeated(const bg_model *m, int joint)
{
    const bg_joint *j = &m->joints[joint];
    if (is_spoken_of(m, joint))
        return false;
    for (int k = 0; k < m->njoints; k++)
        if (k != joint && are_twins(&m->joints[k], j) &&
            (is_spoken_of(m, k) || strcmp(m->joints[k].name, j->name) < 0))
            return true;
    return false;
}

static bool is_left_out(const bg_model *m, int joint)
{
    return is_idle(&m->joints[joint]) || is_repeated(m, joint);
}

/* The ground stands before all others, whatever its name. */
static bool is_reversed(const bg_model *m, int joint)
{
    const bg_joint *j = &m->joints[joint];
    int a = j->a.body, b = j->b.body;
    bool backward = b == 0 ? a != 0 : a != 0 && strcmp(m->bodies[a].name, m->bodies[b].name) > 0;
    return backward && is_reversible(m, joint);
}

bool bg_model_is_canonical(const bg_model *m)
{
    for (int b = 2; b < m->nbodies; b++)
        if (strcmp(m->bodies[b - 1].name, m->bodies[b].name) > 0)
            return false;
    for (int k = 0; k < m->njoints; k++)
        if ((k > 0 && strcmp(m->joints[k - 1].name, m->joints[k].name) > 0) ||
            m->joints[k].cut != BG_CUT_AUTO || is_reversed(m, k) || is_left_out(m, k))
            return false;
    for (int k = 1; k < m->ncouplers; k++)
        if (strcmp(m->couplers[k - 1].name, m->couplers[k].name) > 0)
            return false;
    return true;
}

static bg_joint_start negate(bg_joint_start s)
{
    s.q = -s.q;
    s.v = -s.v;
    return s;
}

/* Axes x, y, z become z, -y, x: the second axis of a universal joint is its first from behind. */
static bg_marker exchange_axes(bg_marker x)
{
    bg_mat3 R = x.frame.R;
    for (int i = 0; i < 3; i++) {
        x.frame.R.m[i][0] = R.m[i][2];
        x.frame.R.m[i][1] = -R.m[i][1];
        x.frame.R.m[i][2] = R.m[i][0];
    }
    return x;
}

static void reverse(bg_joint *j)
{
    bg_marker a = j->a;
    j->a = is_universal(j) ? exchange_axes(j->b) : j->b;
    j->b = is_universal(j) ? exchange_axes(a) : a;
    for (int c = 0; c < j->class_->ncoordinates; c++)
        j->start[c] = negate(j->start[c]);
    if (is_universal(j)) {
        bg_joint_start first = j->start[0];
        j->start[0] = j->start[1];
        j->start[1] = first;
    }
}

int bg_canonical_find_coordinate(const bg_canonical *x, int k, int c, double *sign)
{
    *sign = x->is_reversed[k] ? -1 : 1;
    return x->is_reversed[k] && is_universal(&x->model.joints[k]) ? 1 - c : c;
}

/* While a copy is made: where things of the model are in the copy; -1: nowhere. */
typedef struct places {
    named_place *order; /* scratch */
    int *body, *joint;
} places;

static void copy_bodies(const bg_model *m, bg_canonical *x, places *to)
{
    for (int b = 1; b < m->nbodies; b++)
        to->order[b] = (named_place){m->bodies[b].name, b};
    qsort(to->order + 1, (size_t)(m->nbodies - 1), sizeof *to->order, compare_names);
    x->model.bodies[0] = m->bodies[0];
    for (int b = 1; b < m->nbodies; b++) {
        int from = to->order[b].index;
        x->model.bodies[b] = m->bodies[from];
        x->body[b] = from;
        to->body[from] = b;
    }
}

static void copy_joints(const bg_model *m, bg_canonical *x, places *to)
{
    int n = 0;
    for (int k = 0; k < m->njoints; k++) {
        to->joint[k] = -1;
        if (!is_left_out(m, k))
            to->order[n++] = (named_place){m->joints[k].name, k};
    }
    qsort(to->order, (size_t)n, sizeof *to->order, compare_names);
    x->model.njoints = n;
    for (int k = 0; k < n; k++) {
        int from = to->order[k].index;
        bg_joint *j = &x->model.joints[k];
        *j = m->joints[from];
        j->cut = BG_CUT_AUTO;
        x->joint[k] = from;
        x->is_reversed[k] = is_reversed(m, from);
        if (x->is_reversed[k])
            reverse(j);
        j->a.body = to->body[j->a.body];
        j->b.body = to->body[j->b.body];
        to->joint[from] = k;
    }
}

static void copy_couplers(const bg_model *m, bg_canonical *x, places *to)
{
    for (int k = 0; k < m->ncouplers; k++)
        to->order[k] = (named_place){m->couplers[k].name, k};
    qsort(to->order, (size_t)m->ncouplers, sizeof *to->order, compare_names);
    for (int k = 0; k < m->ncouplers; k++) {
        bg_coupler *c = &x->model.couplers[k];
        *c = m->couplers[to->order[k].index];
        for (int i = 0; i < c->n; i++) {
            double sign;
            c->joint[i] = to->joint[c->joint[i]];
            c->coordinate[i] = bg_canonical_find_coordinate(x, c->joint[i], c->coordinate[i],
                                                            &sign);
            c->factor[i] *= sign;
        }
    }
}

static void copy_contacts(const bg_model *m, bg_canonical *x, const places *to)
{
    for (int k = 0; k < m->ncontacts; k++) {
        bg_rail_contact *c = &x->model.contacts[k];
        *c = m->contacts[k];
        c->a.body = to->body[c->a.body];
        c->b.body = to->body[c->b.body];
    }
}

/* An angle is followed through its turns once. */
static void follow(bg_canonical *x, const places *to, int joint, int coordinate)
{
    double sign;
    int k = to->joint[joint], n = x->model.nangles;
    if (k < 0)
        return;
    int c = bg_canonical_find_coordinate(x, k, coordinate, &sign);
    for (int i = 0; i < n; i++)
        if (x->model.angles[i].joint == k && x->model.angles[i].coordinate == c)
            return;
    x->model.angles[n] = (bg_followed_angle){k, c, n};
    x->model.nz = x->model.nangles = n + 1;
}

/* Angles of laws and outputs start with all turns that the search makes. */
static void copy_angles(const bg_model *m, bg_canonical *x, const places *to)
{
    for (int k = 0; k < m->nangles; k++)
        follow(x, to, m->angles[k].joint, m->angles[k].coordinate);
    for (int k = 0; k < m->noutputs; k++) {
        const bg_output *o = &m->outputs[k];
        if (o->kind == BG_OUTPUT_COORDINATE &&
            m->joints[o->index].class_->coordinate[o->coordinate].kind != BG_COORDINATE_SLIDE)
            follow(x, to, o->index, o->coordinate);
    }
}

bg_status bg_canonical_create(const bg_model *m, bg_canonical *x, bg_error *err)
{
    int most = m->nbodies + m->njoints + m->ncouplers;
    places to = {BG_NEW_ARRAY(named_place, most), BG_NEW_ARRAY(int, m->nbodies),
                 BG_NEW_ARRAY(int, m->njoints)};
    *x = (bg_canonical){
        .model = {.name = m->name,
                  .gravity = m->gravity,
                  .bodies = BG_NEW_ARRAY(bg_body, m->nbodies),
                  .joints = BG_NEW_ARRAY(bg_joint, m->njoints),
                  .couplers = BG_NEW_ARRAY(bg_coupler, m->ncouplers),
                  .angles = BG_NEW_ARRAY(bg_followed_angle, m->nangles + m->noutputs),
                  .contacts = BG_NEW_ARRAY(bg_rail_contact, m->ncontacts),
                  .signals = m->signals,
                  .nbodies = m->nbodies,
                  .ncouplers = m->ncouplers,
                  .nsignals = m->nsignals,
                  .ncontacts = m->ncontacts,
                  .t_start = m->t_start},
        .body = BG_NEW_ARRAY(int, m->nbodies),
        .joint = BG_NEW_ARRAY(int, m->njoints),
        .is_reversed = BG_NEW_ARRAY(bool, m->njoints)};
    bool enough = to.order && to.body && to.joint && x->model.bodies && x->model.joints &&
                  x->model.couplers && x->model.contacts && x->model.angles && x->body &&
                  x->joint && x->is_reversed;
    if (enough) {
        copy_bodies(m, x, &to);
        copy_joints(m, x, &to);
        copy_couplers(m, x, &to);
        copy_contacts(m, x, &to);
        copy_angles(m, x, &to);
    }
    free(to.order);
    free(to.body);
    free(to.joint);
    if (enough)
        return BG_OK;
    bg_canonical_clear(x);
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
}

void bg_canonical_clear(bg_canonical *x)
{
    free(x->model.bodies);
    free(x->model.joints);
    free(x->model.couplers);
    free(x->model.contacts);
    free(x->model.angles);
    free(x->body);
    free(x->joint);
    free(x->is_reversed);
    *x = (bg_canonical){0};
}
