/* The structure of the expansion of r (expansion.c): which links make a node, the places of its
 * unknowns, and the patterns of its equations. */
#include "formalism/joint/expansion.h"

#include "base/memory.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int count_unknowns(const bg_joint_node *n)
{
    return 18 + n->ny;
}

/* Links without bodies that carry one other, which has coordinates, go with that. */
static void find_carriers(const bg_joint_form *f, bool *carrier)
{
    const bg_mechanism *x = f->mech;
    for (int k = 0; k < x->nlinks; k++) {
        int only = k + 1;
        carrier[k] = x->links[k].nv > 0 && only < x->nlinks && x->links[only].parent == k &&
                     x->links[only].last == x->links[k].last && x->links[only].nv > 0;
    }
    for (int b = 1; b < f->mb.nbodies; b++)
        if (x->body_link[b] >= 0)
            carrier[x->body_link[b]] = false;
}

static void number_nodes(bg_joint_form *f, const bool *carrier)
{
    bg_joint_expansion *e = &f->expansion;
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        int before = l->parent >= 0 ? e->node_of[l->parent] : -1;
        e->node_of[k] = before;
        if (l->nv == 0)
            continue;
        if (l->parent < 0 || !carrier[l->parent]) {
            e->node[e->nnodes] = (bg_joint_node){.parent = before, .ny = 3, .v = l->v};
            e->node_of[k] = e->nnodes++;
        }
        e->node[e->node_of[k]].nv += l->nv;
        for (int j = l->v; j < l->v + l->nv; j++)
            e->owner[j] = e->node_of[k];
    }
}

/* From here to the ground, linear parts of y are wanted. */
static void want_twist(bg_joint_form *f, int node)
{
    for (int n = node; n >= 0 && f->expansion.node[n].ny == 3; n = f->expansion.node[n].parent)
        f->expansion.node[n].ny = 6;
}

static void want_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    bg_joint_form *f = self;
    (void)pose, (void)twist;
    if (bg_joint_find_node(f, of) >= 0)
        want_twist(f, bg_joint_find_node(f, by));
}

void bg_joint_visit_driven(const bg_joint_form *f, bg_drive_visit *visit, void *self)
{
    const bg_model *m = f->mb.model;
    for (int k = 0; k < m->nforces; k++) {
        bg_drive d;
        if (f->driven[k] < 0)
            continue;
        memset(&d, 0, sizeof d);
        m->forces[k].class_->drive(&m->forces[k], &f->mb.world, &d);
        visit(self, f->driven[k], &d);
    }
}

static void want_drive(void *self, int j, const bg_drive *d)
{
    bg_joint_form *f = self;
    f->expansion.is_driven[j] = true;
    for (int k = 0; k < d->nbodies; k++)
        want_twist(f, bg_joint_find_node(f, d->body[k]));
}

/* A pattern on its way: counts the entries of rows, or lists them. */
typedef struct pattern_builder {
    const bg_joint_form *f;
    int *next;   /* [rows] */
    int *column; /* NULL: count */
} pattern_builder;

static void run(pattern_builder *b, int row, int column, int width)
{
    for (int i = 0; b->column && i < width; i++)
        b->column[b->next[row] + i] = column + i;
    b->next[row] += width;
}

static void run_coupling(pattern_builder *b, int of, int by, int width)
{
    const bg_joint_form *f = b->f;
    int n = bg_joint_find_node(f, of), m = bg_joint_find_node(f, by);
    for (int i = 0; i < 6 && n >= 0 && m >= 0; i++)
        run(b, bg_joint_get_force(&f->expansion.node[n]) + i, bg_joint_get_D(&f->expansion.node[m]),
            width);
}

static void run_force(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    (void)pose, (void)twist;
    run_coupling(self, of, by, 12);
}

static void run_reaction(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    (void)pose, (void)twist;
    run_coupling(self, of, by, 6);
}

static void run_drive(void *self, int j, const bg_drive *d)
{
    pattern_builder *b = self;
    const bg_joint_expansion *e = &b->f->expansion;
    for (int k = 0; k < d->nbodies; k++)
        if (bg_joint_find_node(b->f, d->body[k]) >= 0)
            run(b, e->def.nx + j, bg_joint_get_D(&e->node[bg_joint_find_node(b->f, d->body[k])]),
                12);
}

static void list_x(pattern_builder *b, const double *lambda)
{
    const bg_joint_form *f = b->f;
    const bg_joint_expansion *e = &f->expansion;
    for (int k = 0; k < e->nnodes; k++) {
        const bg_joint_node *n = &e->node[k], *p = n->parent >= 0 ? &e->node[n->parent] : NULL;
        const int own[] = {bg_joint_get_D(n), bg_joint_get_y(n), bg_joint_get_w(n),
                           bg_joint_get_force(n)};
        const int before[] = {p ? bg_joint_get_D(p) : -1, p ? bg_joint_get_y(p) : -1,
                              p ? bg_joint_get_w(p) : -1};
        for (int part = 0; part < 3; part++)
            for (int i = 0; i < (part == 1 ? n->ny : 6); i++) {
                run(b, own[part] + i, before[part] + i, p != NULL);
                run(b, own[part] + i, own[part] + i, 1);
            }
        for (int i = 0; i < 6; i++) {
            run(b, own[3] + i, own[0], 12 + n->ny);
            run(b, own[3] + i, own[3] + i, 1);
            if (p)
                run(b, bg_joint_get_force(p) + i, own[3] + i, 1);
        }
        for (int j = n->v; j < n->v + n->nv; j++) {
            run(b, e->def.nx + j, own[0], 6);
            run(b, e->def.nx + j, own[3], 6);
        }
    }
    bg_couplings_visit_forces(&f->mb, &(bg_force_visit){.coupling = run_force, .coupling_self = b});
    bg_couplings_visit_reactions(&f->mb, lambda, run_reaction, b);
    bg_joint_visit_driven(f, run_drive, b);
}

/* Columns of a node's coordinates in the first and the last of its rows D, y, w, and in the rows of
 * r: all of them, or only their own, where elements drive them. */
static void list_coordinates(pattern_builder *b, bool D, bool y, bool r, bool driven)
{
    const bg_joint_expansion *e = &b->f->expansion;
    for (int k = 0; k < e->nnodes; k++) {
        const bg_joint_node *n = &e->node[k];
        for (int i = D ? 0 : y ? 6 : 6 + n->ny; i < 12 + n->ny; i++)
            run(b, n->x + i, n->v, n->nv);
        for (int j = n->v; j < n->v + n->nv; j++) {
            if (r)
                run(b, e->def.nx + j, n->v, n->nv);
            else if (driven && e->is_driven[j])
                run(b, e->def.nx + j, j, 1);
        }
    }
}

static void list(pattern_builder *b, int which, const double *lambda)
{
    if (which == 0)
        list_x(b, lambda);
    else
        list_coordinates(b, which == 1, which <= 2, which == 1, which == 2);
}

/* Most rows are short and nearly in order: by insertion. */
static void sort_row(int *column, int n)
{
    enum { SHORT = 64 };
    if (n > SHORT)
        qsort(column, (size_t)n, sizeof(int), bg_compare_ints);
    for (int k = 1; k < n && n <= SHORT; k++) {
        int c = column[k], at = k;
        for (; at > 0 && column[at - 1] > c; at--)
            column[at] = column[at - 1];
        column[at] = c;
    }
}

/* Ascending columns, each once. */
static void sort_rows(int rows, int *start, int *column)
{
    int total = 0;
    for (int i = 0, from = 0; i < rows; i++) {
        int to = start[i + 1];
        sort_row(column + from, to - from);
        start[i] = total;
        for (int k = from; k < to; k++)
            if (k == from || column[k] != column[total - 1])
                column[total++] = column[k];
        from = to;
    }
    start[rows] = total;
}

static bool make_pattern(const bg_joint_form *f, int which, const double *lambda, bg_pattern *out)
{
    int rows = f->expansion.def.nx + f->nv;
    pattern_builder b = {f, BG_NEW_ARRAY(int, rows), NULL};
    int *start = BG_NEW_ARRAY(int, rows + 1);
    bool good = b.next && start;
    if (good) {
        list(&b, which, lambda);
        for (int i = 0; i < rows; i++) {
            start[i + 1] = start[i] + b.next[i];
            b.next[i] = start[i];
        }
        b.column = BG_NEW_ARRAY(int, start[rows]);
        good = b.column != NULL;
    }
    if (good) {
        list(&b, which, lambda);
        sort_rows(rows, start, b.column);
    }
    *out = (bg_pattern){rows, which == 0 ? f->expansion.def.nx : f->nv, start, b.column};
    free(b.next);
    return good;
}

/* At the present state of f: which entries there are does not depend on it. */
static bool make_expansion(bg_joint_form *f, const double *lambda)
{
    bg_joint_expansion *e = &f->expansion;
    bool *carrier = BG_NEW_ARRAY(bool, f->mech->nlinks);
    e->node = BG_NEW_ARRAY(bg_joint_node, f->mech->nlinks);
    e->node_of = BG_NEW_ARRAY(int, f->mech->nlinks);
    e->owner = BG_NEW_ARRAY(int, f->nv);
    e->is_driven = BG_NEW_ARRAY(bool, f->nv);
    bool good = carrier && e->node && e->node_of && e->owner && e->is_driven;
    if (good) {
        bg_force_visit want = {.coupling = want_coupling, .coupling_self = f};
        find_carriers(f, carrier);
        number_nodes(f, carrier);
        bg_couplings_visit_forces(&f->mb, &want);
        bg_joint_visit_driven(f, want_drive, f);
    }
    free(carrier);
    for (int k = 0; good && k < e->nnodes; k++) {
        e->node[k].x = e->def.nx;
        e->def.nx += count_unknowns(&e->node[k]);
    }
    bg_pattern *const patterns[] = {&e->def.x, &e->def.q, &e->def.v, &e->def.a};
    for (int k = 0; k < 4 && good; k++)
        good = make_pattern(f, k, lambda, patterns[k]);
    return good;
}

/* Another fork looks at the start and makes it, so that looking leaves no trace in this one. */
const bg_expansion *bg_joint_lay_out(void *form)
{
    bg_joint_form *f = form;
    if (f->expansion.node)
        return &f->expansion.def;
    bg_joint_form *maker = bg_multibody_fork(f);
    double *lambda = BG_NEW_ARRAY(double, f->ng), t = f->mb.model->t_start;
    bool good = maker && lambda;
    if (good) {
        bg_multibody_look_at(&maker->mb, isnan(t) ? 0 : t, f->q0, f->v0, f->mb.z0, f->mb.mode0);
        good = make_expansion(maker, lambda);
    }
    if (good) {
        f->expansion = maker->expansion;
        memset(&maker->expansion, 0, sizeof maker->expansion);
    }
    if (maker)
        bg_multibody_join(maker);
    free(lambda);
    return good ? &f->expansion.def : NULL;
}

void bg_joint_clear_expansion(bg_joint_form *f)
{
    bg_joint_expansion *e = &f->expansion;
    const bg_pattern *const patterns[] = {&e->def.x, &e->def.q, &e->def.v, &e->def.a};
    for (int k = 0; k < 4; k++) {
        free((void *)patterns[k]->row_start);
        free((void *)patterns[k]->column);
    }
    free(e->node);
    free(e->node_of);
    free(e->owner);
    free(e->is_driven);
}
