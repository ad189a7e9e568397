/* Derivatives in joint coordinates, exploiting the tree.
 *
 * Coordinate j of link k moves everything behind it like a rigid body by S = S_j. For every link l
 * in the subtree of k, with V, A its twist and acceleration, this gives
 *     by q_j:  dV = S x V + P,     dA = S x A + P x V + Q,       dI = S x* I - I S x,
 *     by v_j:  dV = S,             dA = S x V + X,
 * where P, Q and X belong to j alone: they follow from dV and dA of link k itself, which are zero
 * by q_j, except for a ball whose axes go with the child, where all motions of the joint turn by S.
 * The inertia force F = I A + V x* I V of a link then changes by
 *     by q_j:  S x* F + B P + I Q,      by v_j:  B S + I X,      B x = I (x x V) + x x* I V + V x*
 * I x, so sums of I, B and F over subtrees suffice: an entry costs one product of six numbers. A
 * wrench W on a body, about the common point, changes by E S + C P and by C S, with its arm and the
 * law of the element in E and C; where both bodies of a law lie in a subtree, its E and C are
 * summed along as well, at the last link their ways to the ground share. What is left are entries
 * of coordinates that move only one of the two. */
#include "formalism/couplings.h"
#include "formalism/joint/joint_form.h"

#include <string.h>

static const bg_spatial rest = {{0, 0, 0}, {0, 0, 0}};

static int count(const bg_link *l)
{
    return l->kind == BG_LINK_BALL ? 3 : 1;
}

static bg_spatial unit(int k)
{
    return (bg_spatial){{k == 0, k == 1, k == 2}, {k == 3, k == 4, k == 5}};
}

static double at(bg_spatial x, int k)
{
    const double c[6] = {x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z};
    return c[k];
}

static bg_spatial load(const double c[6])
{
    return (bg_spatial){bg_vec3_load(c), bg_vec3_load(c + 3)};
}

/* X^T S. */
static bg_spatial apply_transposed(const bg_mat6 *X, bg_spatial S)
{
    double out[6];
    for (int k = 0; k < 6; k++)
        out[k] = bg_spatial_dot(S, X->column[k]);
    return load(out);
}

static bg_spatial apply(const bg_mat6 *X, bg_spatial S)
{
    bg_spatial out = rest;
    for (int k = 0; k < 6; k++)
        out = bg_spatial_add_scaled(out, at(S, k), X->column[k]);
    return out;
}

/* A block on its way to the caller. */
typedef struct target {
    bg_joint_form *f;
    double *values;
    bg_pattern pattern;
    bool by_v;
} target;

static double *place(const target *t, int i, int j)
{
    return t->values + bg_joint_find_place(&t->pattern, i, j);
}

/* P, Q and X of all coordinates, from V and A. */
static void update_shifts(bg_joint_form *f, const double *v, const double *a)
{
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        bg_spatial parent = l->parent >= 0 ? f->V[l->parent] : rest, rate = rest, second = rest;
        bool with_child = l->kind == BG_LINK_BALL && l->sign > 0;
        for (int i = l->v; i < l->v + count(l) && with_child; i++) {
            rate = bg_spatial_add_scaled(rate, v[i], f->S[i]);
            second = bg_spatial_add_scaled(second, a ? a[i] : 0, f->S[i]);
        }
        for (int j = l->v; j < l->v + count(l); j++) {
            bg_spatial S = f->S[j], turned = bg_spatial_cross(S, rate);
            bg_spatial own = bg_spatial_add(bg_spatial_cross(S, second),
                                            bg_spatial_cross(parent, turned));
            bg_shift *x = &f->shift[j];
            x->P = bg_spatial_sub(turned, bg_spatial_cross(S, f->V[k]));
            x->Q = bg_spatial_sub(
                own, bg_spatial_add(bg_spatial_cross(S, f->A[k]), bg_spatial_cross(x->P, f->V[k])));
            x->X = bg_spatial_cross(bg_spatial_add(parent, f->V[k]), S);
        }
    }
}

/* How body b moves where its link's pose changes by x, twist by y and acceleration by z. */
static bg_gradient vary(const bg_joint_form *f, int b, bg_spatial x, bg_spatial y, bg_spatial z)
{
    const bg_body_state *s = &f->mb.body[b];
    bg_vec3 arm = bg_sub(s->r, f->c), alpha = f->mb.acceleration[b].w;
    bg_vec3 dr = bg_add(x.v, bg_cross(x.w, arm));
    bg_vec3 dv = bg_add(bg_add(y.v, bg_cross(y.w, arm)), bg_cross(s->w, dr));
    bg_vec3 da = bg_add(bg_add(z.v, bg_cross(z.w, arm)), bg_cross(alpha, dr));
    bg_gradient d;
    da = bg_add(da, bg_add(bg_cross(y.w, s->v), bg_cross(s->w, dv)));
    bg_vec3_store(dr, d.pose);
    bg_vec3_store(x.w, d.pose + 3);
    bg_vec3_store(dv, d.twist);
    bg_vec3_store(y.w, d.twist + 3);
    bg_vec3_store(da, d.acceleration);
    bg_vec3_store(z.w, d.acceleration + 3);
    return d;
}

/* Wrench on a body, (f, n) about its centre, about the common point. */
static bg_spatial carry(const bg_joint_form *f, int b, const double w[6])
{
    bg_vec3 force = bg_vec3_load(w), arm = bg_sub(f->mb.body[b].r, f->c);
    return (bg_spatial){bg_add(bg_vec3_load(w + 3), bg_cross(arm, force)), force};
}

/* E and C of a pair. */
static void map_coupling(const bg_joint_form *f, int of, int by, double pose[6][6],
                         double twist[6][6], bg_mat6 *E, bg_mat6 *C)
{
    bg_spatial V = f->V[f->mech->body_link[by]];
    for (int k = 0; k < 6; k++) {
        bg_spatial e = unit(k);
        bg_gradient by_pose = vary(f, by, e, bg_spatial_cross(e, V), rest);
        bg_gradient by_twist = vary(f, by, rest, e, rest);
        double x[6] = {0}, y[6] = {0};
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                x[i] += pose[i][j] * by_pose.pose[j] + twist[i][j] * by_pose.twist[j];
                y[i] += twist[i][j] * by_twist.twist[j];
            }
        E->column[k] = carry(f, of, x);
        C->column[k] = carry(f, of, y);
    }
}

static void subtract(bg_mat6 *a, const bg_mat6 *b)
{
    for (int k = 0; k < 6; k++)
        a->column[k] = bg_spatial_sub(a->column[k], b->column[k]);
}

static int find_shared(const bg_mechanism *x, int a, int b)
{
    while (a != b) {
        if (a > b)
            a = x->links[a].parent;
        else
            b = x->links[b].parent;
    }
    return a;
}

/* Entries of column j for the coordinates from link `from` down to but not including link `to`. */
static void add_chain(const target *t, int from, int to, int j, bg_spatial dW)
{
    for (int k = from; k != to; k = t->f->mech->links[k].parent) {
        const bg_link *l = &t->f->mech->links[k];
        for (int i = l->v; i < l->v + count(l); i++)
            *place(t, i, j) -= bg_spatial_dot(t->f->S[i], dW);
    }
}

static void add_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const target *t = self;
    bg_joint_form *f = t->f;
    int a = f->mech->body_link[of], b = f->mech->body_link[by];
    if (a < 0 || b < 0)
        return;
    bg_mat6 E, C;
    int shared = find_shared(f->mech, a, b);
    bool below = true; /* the columns so far move only `by` */
    map_coupling(f, of, by, pose, twist, &E, &C);
    if (shared >= 0) {
        subtract(&f->sums[shared].E, &E);
        subtract(&f->sums[shared].B, &C);
    }
    for (int k = b; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        below = below && k != shared;
        for (int j = l->v; j < l->v + count(l) && (below || a != shared); j++) {
            bg_spatial dW = t->by_v ? apply(&C, f->S[j])
                                    : bg_spatial_add(apply(&E, f->S[j]), apply(&C, f->shift[j].P));
            add_chain(t, a, below ? -1 : shared, j, dW);
        }
    }
}

/* I, B, E, F of each link by itself. */
static void start_sums(bg_joint_form *f)
{
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_inertia *I = &f->I[k];
        bg_link_sums *x = &f->sums[k];
        bg_spatial V = f->V[k], momentum = bg_inertia_apply(I, V);
        memset(x, 0, sizeof *x);
        f->composite[k] = *I;
        x->F = bg_spatial_add(bg_inertia_apply(I, f->A[k]), bg_spatial_cross_force(V, momentum));
        for (int c = 0; c < 6; c++) {
            bg_spatial e = unit(c), y = bg_inertia_apply(I, bg_spatial_cross(e, V));
            y = bg_spatial_add(y, bg_spatial_cross_force(e, momentum));
            x->B.column[c] = bg_spatial_add(y, bg_spatial_cross_force(V, bg_inertia_apply(I, e)));
        }
    }
    for (int b = 1; b < f->mb.nbodies; b++) { /* arms: dr x f */
        int k = f->mech->body_link[b];
        if (k < 0)
            continue;
        double w[6];
        bg_vec3 force = f->mb.wrench[b].f, arm = bg_sub(f->mb.body[b].r, f->c);
        bg_vec3_store(force, w);
        bg_vec3_store(f->mb.wrench[b].n, w + 3);
        f->sums[k].W = bg_spatial_add(f->sums[k].W, carry(f, b, w));
        for (int c = 0; c < 6; c++) {
            bg_spatial e = unit(c);
            bg_vec3 dr = bg_add(e.v, bg_cross(e.w, arm)), *n = &f->sums[k].E.column[c].w;
            *n = bg_sub(*n, bg_cross(dr, force));
        }
    }
}

static void add_sums(bg_link_sums *a, const bg_link_sums *b)
{
    for (int k = 0; k < 6; k++) {
        a->B.column[k] = bg_spatial_add(a->B.column[k], b->B.column[k]);
        a->E.column[k] = bg_spatial_add(a->E.column[k], b->E.column[k]);
    }
    a->F = bg_spatial_add(a->F, b->F);
    a->W = bg_spatial_add(a->W, b->W);
}

/* Row i of link m: entries of the coordinates on its way to the ground, which move all behind m. */
static void fill_row(const target *t, int m, int i)
{
    const bg_joint_form *f = t->f;
    const bg_link_sums *x = &f->sums[m];
    bg_spatial S = f->S[i], I = bg_inertia_apply(&f->composite[m], S);
    bg_spatial B = apply_transposed(&x->B, S);
    bg_spatial E = bg_spatial_sub(apply_transposed(&x->E, S), bg_spatial_cross_force(S, x->W));
    for (int k = m; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int j = l->v; j < l->v + count(l); j++) {
            const bg_shift *s = &f->shift[j];
            double *out = place(t, i, j);
            if (t->by_v)
                *out += bg_spatial_dot(B, f->S[j]) + bg_spatial_dot(I, s->X);
            else
                *out += bg_spatial_dot(I, s->Q) + bg_spatial_dot(B, s->P) +
                        bg_spatial_dot(E, f->S[j]);
            if (k == m && !t->by_v && l->kind == BG_LINK_BALL && l->sign < 0)
                *out -= bg_spatial_dot(bg_spatial_cross(f->S[j], S), /* the axes stay */
                                       bg_spatial_sub(x->F, x->W));
        }
    }
}

/* Column j of link k: entries of the links before it, of whose subtrees only that behind k moves.
 */
static void fill_column(const target *t, int k, int j)
{
    const bg_joint_form *f = t->f;
    const bg_link_sums *x = &f->sums[k];
    const bg_shift *s = &f->shift[j];
    bg_spatial S = f->S[j], dF;
    if (t->by_v) {
        dF = bg_spatial_add(apply(&x->B, S), bg_inertia_apply(&f->composite[k], s->X));
    } else {
        dF = bg_spatial_add(apply(&x->B, s->P), bg_inertia_apply(&f->composite[k], s->Q));
        dF = bg_spatial_add(dF, apply(&x->E, S));
        dF = bg_spatial_add(dF, bg_spatial_cross_force(S, x->F));
    }
    for (int m = f->mech->links[k].parent; m >= 0; m = f->mech->links[m].parent) {
        const bg_link *l = &f->mech->links[m];
        for (int i = l->v; i < l->v + count(l); i++)
            *place(t, i, j) += bg_spatial_dot(f->S[i], dF);
    }
}

/* r by q or v, or what forces marked stiff contribute to it; wrenches of mb are those at p with
 * lambda, and A is that of a. */
static void calc_residual(target *t, const double *lambda, bool only_stiff)
{
    bg_joint_form *f = t->f;
    memset(t->values, 0, bg_joint_count_places(&t->pattern) * sizeof(double));
    if (only_stiff) {
        memset(f->sums, 0, (size_t)f->mech->nlinks * sizeof *f->sums);
        memset(f->composite, 0, (size_t)f->mech->nlinks * sizeof *f->composite);
    } else {
        start_sums(f);
    }
    bg_couplings_visit_wrenches(&f->mb, lambda, only_stiff, add_coupling, t);
    for (int k = f->mech->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + count(l); i++) {
            fill_row(t, k, i);
            fill_column(t, k, i);
        }
        if (l->parent >= 0) {
            add_sums(&f->sums[l->parent], &f->sums[k]);
            bg_inertia_add(&f->composite[l->parent], &f->composite[k]);
        }
    }
}

static double multiply(const bg_gradient *a, const bg_gradient *b)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += a->pose[i] * b->pose[i] + a->twist[i] * b->twist[i] +
               a->acceleration[i] * b->acceleration[i];
    return sum;
}

static void add_row(void *self, int row, int by, const bg_gradient *x)
{
    const target *t = self;
    const bg_joint_form *f = t->f;
    int link = f->mech->body_link[by];
    if (link < 0)
        return;
    double on_S[6], on_P[6], on_Q[6];
    bg_spatial V = f->V[link], A = f->A[link];
    for (int k = 0; k < 6; k++) {
        bg_spatial e = unit(k), turned = bg_spatial_cross(e, V);
        bg_gradient d = vary(f, by, e, turned, bg_spatial_cross(e, A));
        on_S[k] = multiply(x, &d);
        d = vary(f, by, rest, e, turned);
        on_P[k] = multiply(x, &d);
        d = vary(f, by, rest, rest, e);
        on_Q[k] = multiply(x, &d);
    }
    for (int k = link; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int j = l->v; j < l->v + count(l); j++) {
            const bg_shift *s = &f->shift[j];
            *place(t, row, j) += t->by_v ? bg_spatial_dot(load(on_P), f->S[j]) +
                                               bg_spatial_dot(load(on_Q), s->X)
                                         : bg_spatial_dot(load(on_S), f->S[j]) +
                                               bg_spatial_dot(load(on_P), s->P) +
                                               bg_spatial_dot(load(on_Q), s->Q);
        }
    }
}

static void add_state(void *self, int of, int z, const double wrench[6])
{
    const target *t = self;
    if (t->f->mech->body_link[of] >= 0)
        add_chain(t, t->f->mech->body_link[of], -1, z, carry(t->f, of, wrench));
}

typedef void visit_rows(const bg_multibody *mb, bg_visit_row *visit, void *self);

/* Rows of w, gamma or h by q or v. */
static void calc_rows(target *t, visit_rows *visit)
{
    memset(t->values, 0, bg_joint_count_places(&t->pattern) * sizeof(double));
    visit(&t->f->mb, add_row, t);
}

static void calc_blocks(bg_joint_form *f, bg_by by, const bg_point *p, const double *a,
                        const double *lambda, bg_derivatives *out)
{
    target t = {f, NULL, f->patterns.r, by == BG_BY_v};
    bg_joint_update_acceleration(f, a);
    update_shifts(f, p->v, a);
    if ((t.values = out->block[BG_OF_r][by]))
        calc_residual(&t, f->ng > 0 ? lambda : NULL, out->only_stiff != 0);
    t.pattern = (bg_pattern){f->mb.nz, f->nv, NULL, NULL};
    if ((t.values = out->block[BG_OF_h][by]))
        calc_rows(&t, bg_couplings_visit_rates);
    t.pattern = f->patterns.G;
    if (by == BG_BY_q && (t.values = out->block[BG_OF_w][by]))
        calc_rows(&t, bg_couplings_visit_w);
    if (!(t.values = out->block[BG_OF_gamma][by]))
        return;
    bg_joint_update_acceleration(f, NULL);
    update_shifts(f, p->v, NULL);
    calc_rows(&t, bg_couplings_visit_gamma);
}

void bg_joint_calc_derivatives(bg_joint_form *f, const bg_point *p, const double *a,
                               const double *lambda, bg_derivatives *out)
{
    double *r_z = out->block[BG_OF_r][BG_BY_z], *h_z = out->block[BG_OF_h][BG_BY_z];
    calc_blocks(f, BG_BY_q, p, a, lambda, out);
    calc_blocks(f, BG_BY_v, p, a, lambda, out);
    if (out->block[BG_OF_w][BG_BY_v])
        bg_joint_calc_G(f, out->block[BG_OF_w][BG_BY_v]);
    if (r_z) {
        target t = {f, r_z, {f->nv, f->mb.nz, NULL, NULL}, false};
        memset(r_z, 0, bg_joint_count_places(&t.pattern) * sizeof(double));
        bg_couplings_visit_wrenches_by_z(&f->mb, add_state, &t);
    }
    if (h_z)
        bg_couplings_calc_rates_by_z(&f->mb, h_z);
}
