/* The expansion of r in joint coordinates: the Newton-Euler recursion, linearised and left as the
 * sparse system that it is.
 *
 * With the changes of derivatives.c summed along the way of a link to the ground,
 *     D = sum S dq,   y = sum P dq + S dv,   w = sum Q dq + X dv + S da,                        (1)
 * its twist, acceleration and inertia force change by
 *     dV = D x V + y,    dA = D x A + y x V + w,    dF = D x* F + B y + I w.                    (2)
 * A wrench on it changes with the link itself (its arm) and with other links, dW = sum E D + C y.
 * The force that its joint transmits, Phi = F - W + (those of the next links), and r = S . Phi
 * change by
 *     dPhi = D x* F + B y + I w - dW + sum dPhi,     dr = S . dPhi + (D x S) . Phi,             (3)
 * where D is that of the link the axis S is fixed in, or of its own, which along its own S is the
 * same. Unknowns are D, y, w and dPhi, equations are (1), as differences from the link before, and
 * the first of (3): a row has few entries, whatever the length of the chain.
 *
 * Links that always move alike make one node: one that follows a signal has no changes of its own,
 * and one without bodies that carries a single other (within joints of several coordinates)
 * transmits what that does. There, the D of its axes is that of the node without the changes
 * behind it, which are in dq itself. B does not see linear velocities (derivatives.c): where
 * nothing else asks for the linear part of y, it is left out. */
#include "formalism/joint/derivatives.h"

#include "base/memory.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int get_D(const bg_joint_node *n)
{
    return n->x;
}

static int get_y(const bg_joint_node *n)
{
    return n->x + 6;
}

static int get_w(const bg_joint_node *n)
{
    return n->x + 6 + n->ny;
}

static int get_force(const bg_joint_node *n)
{
    return n->x + 12 + n->ny;
}

static int count_unknowns(const bg_joint_node *n)
{
    return 18 + n->ny;
}

/* The node a body moves with, -1: none. */
static int find_node(const bg_joint_form *f, int body)
{
    int link = f->mech->body_link[body];
    return link >= 0 ? f->expansion.node_of[link] : -1;
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
    if (find_node(f, of) >= 0)
        want_twist(f, find_node(f, by));
}

typedef void visit_drive(void *self, int j, const bg_drive *d);

/* Elements that act along coordinate j of the tree. */
static void visit_driven(const bg_joint_form *f, visit_drive *visit, void *self)
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
        want_twist(f, find_node(f, d->body[k]));
}

/* A pattern on its way: counts the entries of rows, or lists them. */
typedef struct builder {
    const bg_joint_form *f;
    int *next;   /* [rows] */
    int *column; /* NULL: count */
} builder;

static void run(builder *b, int row, int column, int width)
{
    for (int i = 0; b->column && i < width; i++)
        b->column[b->next[row] + i] = column + i;
    b->next[row] += width;
}

static void run_coupling(builder *b, int of, int by, int width)
{
    const bg_joint_form *f = b->f;
    int n = find_node(f, of), m = find_node(f, by);
    for (int i = 0; i < 6 && n >= 0 && m >= 0; i++)
        run(b, get_force(&f->expansion.node[n]) + i, get_D(&f->expansion.node[m]), width);
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
    builder *b = self;
    const bg_joint_expansion *e = &b->f->expansion;
    for (int k = 0; k < d->nbodies; k++)
        if (find_node(b->f, d->body[k]) >= 0)
            run(b, e->def.nx + j, get_D(&e->node[find_node(b->f, d->body[k])]), 12);
}

static void list_x(builder *b, const double *lambda)
{
    const bg_joint_form *f = b->f;
    const bg_joint_expansion *e = &f->expansion;
    for (int k = 0; k < e->nnodes; k++) {
        const bg_joint_node *n = &e->node[k], *p = n->parent >= 0 ? &e->node[n->parent] : NULL;
        const int own[] = {get_D(n), get_y(n), get_w(n), get_force(n)};
        const int before[] = {p ? get_D(p) : -1, p ? get_y(p) : -1, p ? get_w(p) : -1};
        for (int part = 0; part < 3; part++)
            for (int i = 0; i < (part == 1 ? n->ny : 6); i++) {
                run(b, own[part] + i, before[part] + i, p != NULL);
                run(b, own[part] + i, own[part] + i, 1);
            }
        for (int i = 0; i < 6; i++) {
            run(b, own[3] + i, own[0], 12 + n->ny);
            run(b, own[3] + i, own[3] + i, 1);
            if (p)
                run(b, get_force(p) + i, own[3] + i, 1);
        }
        for (int j = n->v; j < n->v + n->nv; j++) {
            run(b, e->def.nx + j, own[0], 6);
            run(b, e->def.nx + j, own[3], 6);
        }
    }
    bg_couplings_visit_forces(&f->mb, &(bg_force_visit){.coupling = run_force, .coupling_self = b});
    bg_couplings_visit_reactions(&f->mb, lambda, run_reaction, b);
    visit_driven(f, run_drive, b);
}

/* Columns of a node's coordinates in the first and the last of its rows D, y, w, and in the rows of
 * r: all of them, or only their own, where elements drive them. */
static void list_coordinates(builder *b, bool D, bool y, bool r, bool driven)
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

static void list(builder *b, int which, const double *lambda)
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
    builder b = {f, BG_NEW_ARRAY(int, rows), NULL};
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
        visit_driven(f, want_drive, f);
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

/* The values on their way to the caller. */
typedef struct target {
    bg_joint_form *f;
    bg_expansion_values *out;
} target;

static const bg_spatial rest = {{0, 0, 0}, {0, 0, 0}};

static void store(bg_spatial x, double c[6])
{
    bg_vec3_store(x.w, c);
    bg_vec3_store(x.v, c + 3);
}

/* Where an entry lies within its row; -1: the pattern has none. */
static int find(const bg_pattern *p, int row, int column)
{
    int low = p->row_start[row], high = p->row_start[row + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= high && p->column[low] == column ? low - p->row_start[row] : -1;
}

/* Adds factor times `width` columns of a matrix to the rows of node n's force, from a column on:
 * these rows have the same columns, but for those of forces, which take as many places. */
static void add_block(const target *t, int n, int column, const bg_mat6 *X, int width,
                      double factor)
{
    const bg_joint_expansion *e = &t->f->expansion;
    int row = get_force(&e->node[n]), at = find(&e->def.x, row, column);
    for (int i = 0; i < 6 && at >= 0; i++) {
        double *to = t->out->x + e->def.x.row_start[row + i] + at, c[6];
        store(X->row[i], c);
        for (int j = 0; j < width; j++)
            to[j] += factor * c[j];
    }
}

/* The same of a wrench that changes. */
static void add_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const target *t = self;
    const bg_joint_form *f = t->f;
    int n = find_node(f, of), m = find_node(f, by);
    if (n < 0 || m < 0)
        return;
    bg_mat6 E, C;
    bg_joint_map_coupling(f, of, by, pose, twist, true, &E, &C);
    add_block(t, n, get_D(&f->expansion.node[m]), &E, 6, 1);
    if (f->expansion.node[m].ny == 6)
        add_block(t, n, get_y(&f->expansion.node[m]), &C, 6, 1);
}

static void add_reaction(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const target *t = self;
    const bg_joint_form *f = t->f;
    int n = find_node(f, of), m = find_node(f, by);
    bg_mat6 E;
    if (n < 0 || m < 0)
        return;
    bg_joint_map_coupling(f, of, by, pose, twist, false, &E, NULL);
    add_block(t, n, get_D(&f->expansion.node[m]), &E, 6, 1);
}

/* The matrix of x -> x x* F. */
static bg_mat6 make_cross(bg_spatial F)
{
    bg_mat3 n = bg_skew(F.w), f = bg_skew(F.v);
    bg_mat6 out;
    for (int i = 0; i < 3; i++) {
        bg_vec3 row = bg_scale(-1, bg_vec3_load(f.m[i]));
        out.row[i] = (bg_spatial){bg_scale(-1, bg_vec3_load(n.m[i])), row};
        out.row[3 + i] = (bg_spatial){row, {0, 0, 0}};
    }
    return out;
}

static bg_mat6 make_inertia(const bg_inertia *I)
{
    bg_mat3 h = bg_skew(I->h);
    bg_mat6 out;
    for (int i = 0; i < 3; i++) {
        bg_vec3 row = bg_vec3_load(h.m[i]), e = {i == 0, i == 1, i == 2};
        out.row[i] = (bg_spatial){bg_vec3_load(I->I.m[i]), row};
        out.row[3 + i] = (bg_spatial){bg_scale(-1, row), bg_scale(I->m, e)};
    }
    return out;
}

/* Rows of forces: what link k contributes to its node. */
static void add_link(const target *t, int k)
{
    const bg_joint_form *f = t->f;
    int n = f->expansion.node_of[k];
    const bg_joint_node *node = &f->expansion.node[n];
    const bg_link_sums *s = &f->sums[k];
    add_block(t, n, get_D(node), &s->E, 6, -1);
    if (f->is_massless[k])
        return;
    bg_mat6 turned = make_cross(s->F), I = make_inertia(&f->I[k]);
    add_block(t, n, get_D(node), &turned, 6, -1);
    add_block(t, n, get_y(node), &s->B, 3, -1);
    add_block(t, n, get_w(node), &I, 6, -1);
}

/* 1 and -1 of the sums along the tree. */
static void add_units(const target *t, const bg_joint_node *n)
{
    const bg_joint_expansion *e = &t->f->expansion;
    const bg_pattern *p = &e->def.x;
    for (int i = n->x; i < get_force(n); i++) { /* the node before, then this one */
        double *to = t->out->x + p->row_start[i];
        if (n->parent >= 0)
            *to++ = -1;
        *to = 1;
    }
    int row = get_force(n), own = find(p, row, row);
    for (int i = 0; i < 6; i++)
        t->out->x[p->row_start[row + i] + own] = 1;
    if (n->parent < 0)
        return;
    int before = get_force(&e->node[n->parent]), place = find(p, before, row);
    for (int i = 0; i < 6; i++)
        t->out->x[p->row_start[before + i] + place] = -1;
}

static void add_column(double *values, const bg_pattern *p, int row, int rows, int place,
                       bg_spatial S)
{
    double c[6];
    store(S, c);
    for (int i = 0; i < rows; i++)
        values[p->row_start[row + i] + place] = -c[i];
}

/* Columns of the coordinates of a node in its sums. */
static void add_coordinates(const target *t, const bg_joint_node *n)
{
    const bg_joint_form *f = t->f;
    const bg_expansion *e = &f->expansion.def;
    const bg_expansion_values *to = t->out;
    for (int k = 0; k < n->nv; k++) {
        bg_spatial S = f->S[n->v + k];
        const bg_shift *s = &f->shift[n->v + k];
        add_column(to->q, &e->q, get_D(n), 6, k, S);
        add_column(to->q, &e->q, get_y(n), n->ny, k, s->P);
        add_column(to->q, &e->q, get_w(n), 6, k, s->Q);
        add_column(to->v, &e->v, get_y(n), n->ny, k, S);
        add_column(to->v, &e->v, get_w(n), 6, k, s->X);
        add_column(to->a, &e->a, get_w(n), 6, k, S);
    }
}

/* Row i of r, of link k, where Phi is transmitted. The axis does not go with what is behind it. */
static void add_row(const target *t, int k, int i, bg_spatial Phi)
{
    const bg_joint_form *f = t->f;
    const bg_expansion *e = &f->expansion.def;
    const bg_link *l = &f->mech->links[k];
    const bg_joint_node *n = &f->expansion.node[f->expansion.node_of[k]];
    int row = e->nx + i, first = l->v + (l->kind == BG_LINK_BALL && l->sign < 0 ? 0 : l->nv);
    double *x = t->out->x + e->x.row_start[row], *q = t->out->q + e->q.row_start[row];
    double along[6], turned[6];
    store(f->S[i], along);
    store(bg_spatial_cross_force(f->S[i], Phi), turned);
    double *D = x + find(&e->x, row, get_D(n)), *force = x + find(&e->x, row, get_force(n));
    for (int c = 0; c < 6; c++) {
        D[c] += turned[c];
        force[c] += along[c];
    }
    for (int j = first; j < n->v + n->nv; j++)
        q[j - n->v] -= bg_spatial_dot(bg_spatial_cross(f->S[j], f->S[i]), Phi);
}

static void add_drive(void *self, int j, const bg_drive *d)
{
    const target *t = self;
    const bg_joint_form *f = t->f;
    const bg_joint_expansion *e = &f->expansion;
    int row = e->def.nx + j;
    t->out->q[e->def.q.row_start[row] + j - e->node[e->owner[j]].v] -= d->Q.x;
    t->out->v[e->def.v.row_start[row]] -= d->Q.rate;
    for (int k = 0; k < d->nbodies; k++) {
        int n = find_node(f, d->body[k]);
        int at = n >= 0 ? find(&e->def.x, row, get_D(&e->node[n])) : -1;
        if (at < 0)
            continue;
        bg_pull g = bg_joint_pull_gradient(f, d->body[k], d->Q.body[k], d->Q.body[k] + 6, NULL);
        double c[12], *to = t->out->x + e->def.x.row_start[row] + at;
        store(g.S, c);
        store(g.P, c + 6);
        for (int i = 0; i < 12; i++)
            to[i] -= c[i];
    }
}

static void clear(const bg_expansion *e, const bg_expansion_values *out)
{
    const bg_pattern *const p[] = {&e->x, &e->q, &e->v, &e->a};
    double *const values[] = {out->x, out->q, out->v, out->a};
    for (int k = 0; k < 4; k++)
        memset(values[k], 0, (size_t)p[k]->row_start[p[k]->rows] * sizeof(double));
}

void bg_joint_calc_expansion(bg_joint_form *f, const bg_point *p, const double *a,
                             const double *lambda, bg_expansion_values *out)
{
    const bg_joint_expansion *e = &f->expansion;
    target t = {f, out};
    bg_joint_update_acceleration(f, a);
    bg_joint_update_shifts(f, p->v, a, false);
    bg_joint_start_sums(f);
    clear(&e->def, out);
    for (int k = 0; k < e->nnodes; k++) {
        add_units(&t, &e->node[k]);
        add_coordinates(&t, &e->node[k]);
    }
    for (int k = 0; k < f->mech->nlinks; k++)
        f->F[k] = rest;
    for (int k = f->mech->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &f->mech->links[k];
        f->F[k] = bg_spatial_add(f->F[k], bg_spatial_sub(f->sums[k].F, f->sums[k].W));
        if (e->node_of[k] >= 0)
            add_link(&t, k);
        for (int i = l->v; i < l->v + l->nv; i++)
            add_row(&t, k, i, f->F[k]);
        if (l->parent >= 0)
            f->F[l->parent] = bg_spatial_add(f->F[l->parent], f->F[k]);
    }
    bg_couplings_visit_forces(&f->mb,
                              &(bg_force_visit){.coupling = add_coupling, .coupling_self = &t});
    if (f->ng > 0)
        bg_couplings_visit_reactions(&f->mb, lambda, add_reaction, &t);
    visit_driven(f, add_drive, &t);
}
