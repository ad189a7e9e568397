#include "model/mechanism.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool bg_joint_has_start(const bg_joint *j)
{
    for (int c = 0; c < j->class_->ncoordinates; c++)
        if (j->start[c].q_given || j->start[c].v_given)
            return true;
    return false;
}

static bool is_prescribed(const bg_joint *j)
{
    for (int c = 0; c < j->class_->ncoordinates; c++)
        if (j->start[c].signal >= 0)
            return true;
    return false;
}

/* Of equals, a joint whose coordinates the user speaks of is better in the tree. */
static int cost(const bg_joint *j)
{
    if (j->class_->constraint_only || j->cut == BG_CUT_FORCE)
        return -1; /* never in the tree */
    if (j->cut == BG_CUT_FORBID)
        return 0;
    return 2 + 2 * bg_joint_class_count_velocities(j->class_) -
           (bg_joint_has_start(j) || is_prescribed(j));
}

/* The joints of every body, one body after another, and those from reached to unreached bodies as a
 * heap, the cheapest on top. */
typedef struct frontier {
    const bg_model *model;
    int *start; /* [nbodies + 1] */
    int *joint; /* [2 njoints] joints of body b at start[b] .. start[b + 1] - 1, in file order */
    int *heap;  /* [njoints] */
    int n;
    bool *reached; /* [nbodies] */
} frontier;

static bool is_before(const frontier *f, int a, int b)
{
    int x = cost(&f->model->joints[a]), y = cost(&f->model->joints[b]);
    return x < y || (x == y && a < b);
}

static void swap(int *a, int *b)
{
    int c = *a;
    *a = *b;
    *b = c;
}

static void push(frontier *f, int joint)
{
    int k = f->n++;
    f->heap[k] = joint;
    for (; k > 0 && is_before(f, f->heap[k], f->heap[(k - 1) / 2]); k = (k - 1) / 2)
        swap(&f->heap[k], &f->heap[(k - 1) / 2]);
}

static int pop(frontier *f)
{
    int top = f->heap[0], k = 0;
    f->heap[0] = f->heap[--f->n];
    for (;;) {
        int least = k;
        for (int child = 2 * k + 1; child <= 2 * k + 2 && child < f->n; child++)
            if (is_before(f, f->heap[child], f->heap[least]))
                least = child;
        if (least == k)
            return top;
        swap(&f->heap[k], &f->heap[least]);
        k = least;
    }
}

/* The cheapest joint from a reached to an unreached body; -1: none. */
static int find_next(frontier *f)
{
    while (f->n > 0) {
        int k = pop(f);
        if (f->reached[f->model->joints[k].a.body] != f->reached[f->model->joints[k].b.body])
            return k;
    }
    return -1;
}

/* Joints to bodies that are reached already never come on the heap, so each comes once. */
static void reach(frontier *f, int body)
{
    f->reached[body] = true;
    for (int i = f->start[body]; i < f->start[body + 1]; i++) {
        const bg_joint *j = &f->model->joints[f->joint[i]];
        if (cost(j) >= 0 && f->reached[j->a.body] != f->reached[j->b.body])
            push(f, f->joint[i]);
    }
}

static bool create_frontier(const bg_model *m, frontier *f)
{
    *f = (frontier){.model = m,
                    .start = BG_NEW_ARRAY(int, m->nbodies + 1),
                    .joint = BG_NEW_ARRAY(int, 2 * m->njoints),
                    .heap = BG_NEW_ARRAY(int, m->njoints),
                    .reached = BG_NEW_ARRAY(bool, m->nbodies)};
    if (!f->start || !f->joint || !f->heap || !f->reached)
        return false;
    for (int k = 0; k < m->njoints; k++)
        f->start[m->joints[k].a.body]++, f->start[m->joints[k].b.body]++;
    for (int b = 0; b < m->nbodies; b++)
        f->start[b + 1] += f->start[b];
    for (int k = m->njoints - 1; k >= 0; k--) {
        f->joint[--f->start[m->joints[k].a.body]] = k;
        f->joint[--f->start[m->joints[k].b.body]] = k;
    }
    return true;
}

static void clear_frontier(frontier *f)
{
    free(f->start);
    free(f->joint);
    free(f->heap);
    free(f->reached);
}

/* The heaviest body that is not reached, of equals the first by name; -1: none. */
static int find_loose(const bg_model *m, const bool *reached)
{
    int best = -1;
    for (int b = 1; b < m->nbodies; b++)
        if (!reached[b] && (best < 0 || m->bodies[b].mass > m->bodies[best].mass ||
                            (m->bodies[b].mass == m->bodies[best].mass &&
                             strcmp(m->bodies[b].name, m->bodies[best].name) < 0)))
            best = b;
    return best;
}

/* Grows the forest; fills tree (joint, parent, child, reversed). A component that nothing connects
 * to the ground hangs on its heaviest body. */
static void grow(bg_mechanism *x, frontier *f)
{
    reach(f, 0);
    for (;;) {
        int k = find_next(f);
        bg_tree_joint t = {.joint = k};
        if (k >= 0) {
            const bg_joint *j = &x->model->joints[k];
            t.reversed = !f->reached[j->a.body];
            t.parent = t.reversed ? j->b.body : j->a.body;
            t.child = t.reversed ? j->a.body : j->b.body;
        } else {
            t.child = find_loose(x->model, f->reached);
            if (t.child < 0)
                return;
        }
        reach(f, t.child);
        x->tree[x->ntree++] = t;
    }
}

static const bg_joint_class *free_class(void)
{
    extern const bg_joint_class bg_joint_free;
    return &bg_joint_free;
}

/* The signal that link `which` of a joint follows; -1: it has coordinates. */
static int find_signal(const bg_mechanism *x, const bg_joint *j, int which)
{
    if (j->class_->rolling > 0 && which == j->class_->rolling)
        return j->rolling;
    for (int c = 0; c < j->class_->ncoordinates && !x->constrain; c++)
        if (j->class_->coordinate[c].link == which)
            return j->start[c].signal;
    return -1;
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
    const bool slides_back = j && j->slides_back;
    bg_frame before = bg_frame_multiply(&x->body_offset[t->parent], &at_parent);
    int parent = x->body_link[t->parent];
    t->first = x->nlinks;
    t->count = c->nlinks;
    for (int k = 0; k < c->nlinks; k++) {
        int which = t->reversed ? c->nlinks - 1 - k : k;
        bg_link *l = &x->links[x->nlinks];
        const bool translates = c->link[which].kind == BG_LINK_TRANSLATE;
        *l = (bg_link){.kind = c->link[which].kind,
                       .axis = c->link[which].axis,
                       .sign = t->reversed != (slides_back && translates) ? -1.0 : 1.0,
                       .pitch = j ? j->pitch : 0.0,
                       .parent = parent,
                       .q = x->nq,
                       .v = x->nv,
                       .place = x->nv,
                       .signal = j ? find_signal(x, j, which) : -1,
                       .joint = t->joint,
                       .before = before};
        bool follows = l->signal >= 0;
        l->nv = follows ? 0 : bg_link_count_motions(l);
        x->nv += l->nv;
        x->nq += follows ? 0 : l->kind == BG_LINK_BALL ? 4 : 1;
        x->nfollowing += follows;
        parent = x->nlinks++;
        before = identity;
    }
    bg_frame back = bg_frame_inverse(&at_child);
    x->body_link[t->child] = parent;
    x->body_offset[t->child] = c->nlinks > 0 ? back : bg_frame_multiply(&before, &back);
}

/* Depth-first order of the tree joints, so that subtrees of links are contiguous. */
static bool order(const bg_mechanism *x, bg_tree_joint *sorted)
{
    int *first = BG_NEW_ARRAY(int, x->model->nbodies); /* tree joint to a body's first child */
    int *next = BG_NEW_ARRAY(int, x->ntree);           /* and from there to the others */
    int *stack = BG_NEW_ARRAY(int, x->ntree + 1);
    bool enough = first && next && stack;
    for (int b = 0; enough && b < x->model->nbodies; b++)
        first[b] = -1;
    for (int k = x->ntree - 1; enough && k >= 0; k--) {
        next[k] = first[x->tree[k].parent];
        first[x->tree[k].parent] = k;
    }
    int depth = 0;
    if (enough && first[0] >= 0)
        stack[depth++] = first[0];
    for (int n = 0; depth > 0; n++) {
        int k = stack[--depth];
        sorted[n] = x->tree[k];
        if (next[k] >= 0)
            stack[depth++] = next[k];
        if (first[x->tree[k].child] >= 0)
            stack[depth++] = first[x->tree[k].child];
    }
    free(first);
    free(next);
    free(stack);
    return enough;
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

/* Values and motions of links that follow a signal stand behind those of all coordinates. */
static void number_following(bg_mechanism *x)
{
    int n = 0;
    for (int k = 0; k < x->nlinks; k++)
        if (x->links[k].signal >= 0) {
            x->links[k].q = x->nq + n;
            x->links[k].place = x->nv + n++;
        }
}

static void number(bg_mechanism *x, const bg_tree_joint *sorted)
{
    x->body_link[0] = -1;
    x->body_offset[0] = (bg_frame){{0, 0, 0}, bg_mat3_identity()};
    for (int k = 0; k < x->ntree; k++) {
        x->tree[k] = sorted[k];
        add_links(x, &x->tree[k]);
        if (sorted[k].joint >= 0)
            x->joint_tree[sorted[k].joint] = k;
    }
    number_subtrees(x);
    number_following(x);
    for (int k = 0; k < x->model->njoints; k++)
        if (x->joint_tree[k] < 0)
            x->cuts[x->ncuts++] = k;
}

static bg_status build(bg_mechanism *x, bg_error *err)
{
    frontier f;
    bg_tree_joint *sorted = BG_NEW_ARRAY(bg_tree_joint, x->model->nbodies);
    bool enough = create_frontier(x->model, &f) && sorted;
    if (enough) {
        grow(x, &f);
        enough = order(x, sorted);
    }
    if (enough)
        number(x, sorted);
    clear_frontier(&f);
    free(sorted);
    return enough ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory");
}

static void list(void *object, bg_arena *arena)
{
    bg_mechanism *x = object;
    const bg_model *m = x->model;
    BG_TAKE(arena, x->links, 7 * m->nbodies);
    BG_TAKE(arena, x->tree, m->nbodies);
    BG_TAKE(arena, x->cuts, m->njoints);
    BG_TAKE(arena, x->body_link, m->nbodies);
    BG_TAKE(arena, x->body_offset, m->nbodies);
    BG_TAKE(arena, x->joint_tree, m->njoints);
}

bg_status bg_mechanism_create(const bg_model *m, bg_mechanism **mechanism, bg_error *err)
{
    return bg_mechanism_create_as(m, m->constrain, mechanism, err);
}

bg_status bg_mechanism_create_as(const bg_model *m, bool constrain, bg_mechanism **mechanism,
                                 bg_error *err)
{
    *mechanism = NULL;
    bg_mechanism *x = BG_NEW(bg_mechanism);
    if (!x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory");
    x->model = m;
    x->constrain = constrain;
    bg_status st = BG_OK;
    if (!bg_arena_create(&x->arena, list, x))
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
    bg_arena_clear(&x->arena);
    free(x);
}

int bg_mechanism_find_link(const bg_mechanism *x, int joint, int coordinate)
{
    const bg_tree_joint *t = &x->tree[x->joint_tree[joint]];
    int which = x->model->joints[joint].class_->coordinate[coordinate].link;
    return t->first + (t->reversed ? t->count - 1 - which : which);
}
