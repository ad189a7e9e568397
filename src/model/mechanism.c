#include "model/mechanism.h"

#include "base/memory.h"

#include <stdlib.h>

static int cost(const bg_joint *j)
{
    if (j->class_->constraint_only || j->cut == BG_CUT_FORCE)
        return -1; /* never in the tree */
    return j->cut == BG_CUT_FORBID ? 0 : 1 + bg_joint_class_count_velocities(j->class_);
}

/* The cheapest joint from a reached to an unreached body; -1: none. */
static int find_next(const bg_model *m, const bool *reached)
{
    int best = -1;
    for (int k = 0; k < m->njoints; k++) {
        const bg_joint *j = &m->joints[k];
        int c = cost(j);
        if (c < 0 || reached[j->a.body] == reached[j->b.body])
            continue;
        if (best < 0 || c < cost(&m->joints[best]))
            best = k;
    }
    return best;
}

/* Which body a loose component hangs on: the first unreached one. */
static int find_loose(const bg_model *m, const bool *reached)
{
    for (int b = 1; b < m->nbodies; b++)
        if (!reached[b])
            return b;
    return -1;
}

/* Grows the forest; fills tree (joint, parent, child, reversed). */
static void grow(bg_mechanism *x, bool *reached)
{
    const bg_model *m = x->model;
    reached[0] = true;
    for (;;) {
        int k = find_next(m, reached);
        bg_tree_joint t = {.joint = k};
        if (k >= 0) {
            const bg_joint *j = &m->joints[k];
            t.reversed = !reached[j->a.body];
            t.parent = t.reversed ? j->b.body : j->a.body;
            t.child = t.reversed ? j->a.body : j->b.body;
        } else {
            t.child = find_loose(m, reached);
            if (t.child < 0)
                return;
        }
        reached[t.child] = true;
        x->tree[x->ntree++] = t;
    }
}

static const bg_joint_class *free_class(void)
{
    extern const bg_joint_class bg_joint_free;
    return &bg_joint_free;
}

/* Adds the links of one tree joint behind the link of its parent body. */
static void add_links(bg_mechanism *x, bg_tree_joint *t)
{
    const bg_model *m = x->model;
    const bg_joint *j = t->joint >= 0 ? &m->joints[t->joint] : NULL;
    const bg_joint_class *c = j ? j->class_ : free_class();
    const bg_frame identity = {{0, 0, 0}, bg_mat3_identity()};
    /* a loose body's free joint starts at its design position, with world axes */
    bg_frame at_parent = j ? (t->reversed ? j->b.frame : j->a.frame) : m->bodies[t->child].pose;
    bg_frame at_child = j ? (t->reversed ? j->a.frame : j->b.frame) : identity;
    if (!j)
        at_parent.R = bg_mat3_identity(),
        at_child.R = bg_mat3_transpose(&m->bodies[t->child].pose.R);
    bg_frame before = bg_frame_multiply(&x->body_offset[t->parent], &at_parent);
    int parent = x->body_link[t->parent];
    t->first = x->nlinks;
    t->count = c->nlinks;
    for (int k = 0; k < c->nlinks; k++) {
        int which = t->reversed ? c->nlinks - 1 - k : k;
        bg_link *l = &x->links[x->nlinks];
        *l = (bg_link){.kind = c->link[which].kind,
                       .axis = c->link[which].axis,
                       .sign = t->reversed ? -1.0 : 1.0,
                       .pitch = j ? j->pitch : 0.0,
                       .parent = parent,
                       .q = x->nq,
                       .v = x->nv,
                       .joint = t->joint,
                       .before = before};
        x->nq += l->kind == BG_LINK_BALL ? 4 : 1;
        x->nv += l->kind == BG_LINK_BALL ? 3 : 1;
        parent = x->nlinks++;
        before = identity;
    }
    bg_frame back = bg_frame_inverse(&at_child);
    x->body_link[t->child] = parent;
    x->body_offset[t->child] = c->nlinks > 0 ? back : bg_frame_multiply(&before, &back);
}

/* Depth-first order of the tree joints, so that subtrees of links are contiguous. */
static void order(bg_mechanism *x, bg_tree_joint *sorted, int body, int *n)
{
    for (int k = 0; k < x->ntree; k++)
        if (x->tree[k].parent == body) {
            sorted[(*n)++] = x->tree[k];
            order(x, sorted, x->tree[k].child, n);
        }
}

static void number_subtrees(bg_mechanism *x)
{
    for (int k = 0; k < x->nlinks; k++)
        x->links[k].last = k + 1;
    for (int k = x->nlinks - 1; k >= 0; k--) {
        int p = x->links[k].parent;
        if (p >= 0 && x->links[k].last > x->links[p].last)
            x->links[p].last = x->links[k].last;
    }
}

static bg_status build(bg_mechanism *x, bg_error *err)
{
    const bg_model *m = x->model;
    bool *reached = BG_NEW_ARRAY(bool, m->nbodies);
    bg_tree_joint *sorted = BG_NEW_ARRAY(bg_tree_joint, m->nbodies);
    bg_status st = reached && sorted ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory");
    if (st == BG_OK) {
        int n = 0;
        grow(x, reached);
        order(x, sorted, 0, &n);
        x->body_link[0] = -1;
        x->body_offset[0] = (bg_frame){{0, 0, 0}, bg_mat3_identity()};
        for (int k = 0; k < n; k++) {
            add_links(x, &sorted[k]);
            x->tree[k] = sorted[k];
            if (sorted[k].joint >= 0)
                x->joint_tree[sorted[k].joint] = k;
        }
        number_subtrees(x);
        for (int k = 0; k < m->njoints; k++)
            if (x->joint_tree[k] < 0)
                x->cuts[x->ncuts++] = k;
    }
    free(reached);
    free(sorted);
    return st;
}

bg_status bg_mechanism_create(const bg_model *m, bg_mechanism **mechanism, bg_error *err)
{
    *mechanism = NULL;
    bg_mechanism *x = BG_NEW(bg_mechanism);
    if (!x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory");
    x->model = m;
    x->links = BG_NEW_ARRAY(bg_link, 6 * m->nbodies);
    x->tree = BG_NEW_ARRAY(bg_tree_joint, m->nbodies);
    x->cuts = BG_NEW_ARRAY(int, m->njoints);
    x->body_link = BG_NEW_ARRAY(int, m->nbodies);
    x->body_offset = BG_NEW_ARRAY(bg_frame, m->nbodies);
    x->joint_tree = BG_NEW_ARRAY(int, m->njoints);
    bg_status st = BG_OK;
    if (!x->links || !x->tree || !x->cuts || !x->body_link || !x->body_offset || !x->joint_tree)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory");
    for (int k = 0; st == BG_OK && k < m->njoints; k++)
        x->joint_tree[k] = -1;
    if (st == BG_OK)
        st = build(x, err);
    if (st != BG_OK) {
        bg_mechanism_destroy(x);
        return st;
    }
    *mechanism = x;
    return BG_OK;
}

void bg_mechanism_destroy(bg_mechanism *x)
{
    if (!x)
        return;
    free(x->links);
    free(x->tree);
    free(x->cuts);
    free(x->body_link);
    free(x->body_offset);
    free(x->joint_tree);
    free(x);
}

int bg_mechanism_find_link(const bg_mechanism *x, int joint, int coordinate)
{
    const bg_tree_joint *t = &x->tree[x->joint_tree[joint]];
    int which = x->model->joints[joint].class_->coordinate[coordinate].link;
    return t->first + (t->reversed ? t->count - 1 - which : which);
}
