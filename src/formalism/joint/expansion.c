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
#include "formalism/joint/expansion.h"

#include <string.h>

/* The values on their way to the caller. */
typedef struct expansion_target {
    bg_joint_form *f;
    bg_expansion_values *out;
} expansion_target;

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
static void add_block(const expansion_target *t, int n, int column, const bg_mat6 *X, int width,
                      double factor)
{
    const bg_joint_expansion *e = &t->f->expansion;
    int row = bg_joint_get_force(&e->node[n]), at = find(&e->def.x, row, column);
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
    const expansion_target *t = self;
    const bg_joint_form *f = t->f;
    int n = bg_joint_find_node(f, of), m = bg_joint_find_node(f, by);
    if (n < 0 || m < 0)
        return;
    bg_mat6 E, C;
    bg_joint_map_coupling(f, of, by, pose, twist, true, &E, &C);
    add_block(t, n, bg_joint_get_D(&f->expansion.node[m]), &E, 6, 1);
    if (f->expansion.node[m].ny == 6)
        add_block(t, n, bg_joint_get_y(&f->expansion.node[m]), &C, 6, 1);
}

static void add_reaction(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const expansion_target *t = self;
    const bg_joint_form *f = t->f;
    int n = bg_joint_find_node(f, of), m = bg_joint_find_node(f, by);
    bg_mat6 E;
    if (n < 0 || m < 0)
        return;
    bg_joint_map_coupling(f, of, by, pose, twist, false, &E, NULL);
    add_block(t, n, bg_joint_get_D(&f->expansion.node[m]), &E, 6, 1);
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
static void add_link(const expansion_target *t, int k)
{
    const bg_joint_form *f = t->f;
    int n = f->expansion.node_of[k];
    const bg_joint_node *node = &f->expansion.node[n];
    const bg_link_sums *s = &f->sums[k];
    add_block(t, n, bg_joint_get_D(node), &s->E, 6, -1);
    if (f->is_massless[k])
        return;
    bg_mat6 turned = make_cross(s->F), I = make_inertia(&f->I[k]);
    add_block(t, n, bg_joint_get_D(node), &turned, 6, -1);
    add_block(t, n, bg_joint_get_y(node), &s->B, 3, -1);
    add_block(t, n, bg_joint_get_w(node), &I, 6, -1);
}

/* 1 and -1 of the sums along the tree. */
static void add_units(const expansion_target *t, const bg_joint_node *n)
{
    const bg_joint_expansion *e = &t->f->expansion;
    const bg_pattern *p = &e->def.x;
    for (int i = n->x; i < bg_joint_get_force(n); i++) { /* the node before, then this one */
        double *to = t->out->x + p->row_start[i];
        if (n->parent >= 0)
            *to++ = -1;
        *to = 1;
    }
    int row = bg_joint_get_force(n), own = find(p, row, row);
    for (int i = 0; i < 6; i++)
        t->out->x[p->row_start[row + i] + own] = 1;
    if (n->parent < 0)
        return;
    int before = bg_joint_get_force(&e->node[n->parent]), place = find(p, before, row);
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
static void add_coordinates(const expansion_target *t, const bg_joint_node *n)
{
    const bg_joint_form *f = t->f;
    const bg_expansion *e = &f->expansion.def;
    const bg_expansion_values *to = t->out;
    for (int k = 0; k < n->nv; k++) {
        bg_spatial S = f->S[n->v + k];
        const bg_shift *s = &f->shift[n->v + k];
        add_column(to->q, &e->q, bg_joint_get_D(n), 6, k, S);
        add_column(to->q, &e->q, bg_joint_get_y(n), n->ny, k, s->P);
        add_column(to->q, &e->q, bg_joint_get_w(n), 6, k, s->Q);
        add_column(to->v, &e->v, bg_joint_get_y(n), n->ny, k, S);
        add_column(to->v, &e->v, bg_joint_get_w(n), 6, k, s->X);
        add_column(to->a, &e->a, bg_joint_get_w(n), 6, k, S);
    }
}

/* Row i of r, of link k, where Phi is transmitted. The axis does not go with what is behind it. */
static void add_row(const expansion_target *t, int k, int i, bg_spatial Phi)
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
    double *D = x + find(&e->x, row, bg_joint_get_D(n)),
           *force = x + find(&e->x, row, bg_joint_get_force(n));
    for (int c = 0; c < 6; c++) {
        D[c] += turned[c];
        force[c] += along[c];
    }
    for (int j = first; j < n->v + n->nv; j++)
        q[j - n->v] -= bg_spatial_dot(bg_spatial_cross(f->S[j], f->S[i]), Phi);
}

static void add_drive(void *self, int j, const bg_drive *d)
{
    const expansion_target *t = self;
    const bg_joint_form *f = t->f;
    const bg_joint_expansion *e = &f->expansion;
    int row = e->def.nx + j;
    t->out->q[e->def.q.row_start[row] + j - e->node[e->owner[j]].v] -= d->Q.x;
    t->out->v[e->def.v.row_start[row]] -= d->Q.rate;
    for (int k = 0; k < d->nbodies; k++) {
        int n = bg_joint_find_node(f, d->body[k]);
        int at = n >= 0 ? find(&e->def.x, row, bg_joint_get_D(&e->node[n])) : -1;
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
    expansion_target t = {f, out};
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
    bg_joint_visit_driven(f, add_drive, &t);
}
