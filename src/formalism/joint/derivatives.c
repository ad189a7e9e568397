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
 * of coordinates that move only one of the two.
 *
 * A link that follows a signal moves what is behind it in the same way: u, u_t and u_tt take the
 * places of q, v and v', and by u_tt  dA = S  for every link behind. */
#include "formalism/joint/derivatives.h"

#include <string.h>

static const bg_spatial rest = {{0, 0, 0}, {0, 0, 0}};

static double at(bg_spatial x, int k)
{
    const double c[6] = {x.w.x, x.w.y, x.w.z, x.v.x, x.v.y, x.v.z};
    return c[k];
}

static bg_spatial load(const double c[6])
{
    return (bg_spatial){bg_vec3_load(c), bg_vec3_load(c + 3)};
}

/* X S. */
static bg_spatial apply(const bg_mat6 *X, bg_spatial S)
{
    double out[6];
    for (int k = 0; k < 6; k++)
        out[k] = bg_spatial_dot(X->row[k], S);
    return load(out);
}

/* X^T S. */
static bg_spatial apply_transposed(const bg_mat6 *X, bg_spatial S)
{
    bg_spatial out = rest;
    for (int k = 0; k < 6; k++)
        out = bg_spatial_add_scaled(out, at(S, k), X->row[k]);
    return out;
}

/* A block on its way to the caller. */
typedef struct joint_target {
    bg_joint_form *f;
    double *by_q, *by_v; /* NULL: not wanted */
    bg_pattern pattern;
    const int *places;               /* of the pattern, as in bg_joint_patterns */
    bool massless;                   /* no inertia contributes: I, Q and X are not looked at */
    double *by_u, *by_u_t, *by_u_tt; /* [rows nu]; NULL: not wanted */
    int signals;                     /* 1: any of these is wanted */
} joint_target;

static bool is_wanted(const joint_target *t)
{
    return t->by_q || t->by_v || t->signals;
}

/* The place in row i of the signal whose link has motion j. */
static size_t find_signal(const joint_target *t, int i, int j)
{
    const bg_joint_form *f = t->f;
    return (size_t)i * (size_t)f->mb.model->nsignals + (size_t)f->following[j - f->nv];
}

/* How many motions of a link are columns that are wanted. */
static inline int count(const joint_target *t, const bg_link *l)
{
    return l->signal < 0 ? l->nv : t->signals;
}

/* Column j is a motion that follows a signal. */
static void add_signal(const joint_target *t, int i, int j, double by_u, double by_u_t,
                       double by_u_tt)
{
    size_t k = find_signal(t, i, j);
    if (t->by_u)
        t->by_u[k] += by_u;
    if (t->by_u_t)
        t->by_u_t[k] += by_u_t;
    if (t->by_u_tt)
        t->by_u_tt[k] += by_u_tt;
}

static void add(const joint_target *t, int i, int j, double by_q, double by_v)
{
    size_t k = bg_joint_find_place(&t->pattern, t->places, i, j);
    if (t->by_q)
        t->by_q[k] += by_q;
    if (t->by_v)
        t->by_v[k] += by_v;
}

static void clear(const joint_target *t)
{
    double *const dense[] = {t->by_u, t->by_u_t, t->by_u_tt};
    size_t signals = (size_t)t->pattern.rows * (size_t)t->f->mb.model->nsignals;
    for (int k = 0; k < 3; k++)
        if (dense[k])
            memset(dense[k], 0, signals * sizeof(double));
    size_t size = bg_joint_count_places(&t->pattern) * sizeof(double);
    if (t->by_q)
        memset(t->by_q, 0, size);
    if (t->by_v)
        memset(t->by_v, 0, size);
}

void bg_joint_update_shifts(bg_joint_form *f, const double *v, const double *a, bool massless)
{
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        bg_spatial parent = l->parent >= 0 ? f->V[l->parent] : rest, rate = rest, second = rest;
        bool with_child = l->kind == BG_LINK_BALL && l->sign > 0;
        for (int i = l->v; i < l->v + l->nv && with_child; i++) {
            rate = bg_spatial_add_scaled(rate, v[i], f->S[i]);
            second = bg_spatial_add_scaled(second, a ? a[i] : 0, f->S[i]);
        }
        for (int j = l->place; j < l->place + bg_link_count_motions(l); j++) {
            bg_spatial S = f->S[j], turned = bg_spatial_cross(S, rate);
            f->shift[j].P = bg_spatial_sub(turned, bg_spatial_cross(S, f->V[k]));
            if (massless)
                continue;
            bg_spatial own = bg_spatial_add(bg_spatial_cross(S, second),
                                            bg_spatial_cross(parent, turned));
            bg_shift *x = &f->shift[j];
            x->Q = bg_spatial_sub(
                own, bg_spatial_add(bg_spatial_cross(S, f->A[k]), bg_spatial_cross(x->P, f->V[k])));
            x->X = bg_spatial_cross(bg_spatial_add(parent, f->V[k]), S);
        }
    }
}

bg_pull bg_joint_pull_gradient(const bg_joint_form *f, int b, const double *pose,
                               const double *twist, const double *acceleration)
{
    const bg_body_state *x = &f->mb.body[b];
    bg_vec3 arm = bg_sub(x->r, f->c), r = bg_vec3_load(pose), v = bg_vec3_load(twist);
    bg_vec3 w = bg_vec3_load(twist + 3);
    bg_pull out = {.S = {bg_add(bg_vec3_load(pose + 3), bg_cross(arm, r)), r},
                   .P = {bg_add(w, bg_cross(arm, v)), v}};
    out.S.w = bg_add(out.S.w, bg_add(bg_cross(x->v, v), bg_cross(x->w, w)));
    if (!acceleration)
        return out;
    const bg_body_acceleration *now = &f->mb.acceleration[b];
    bg_vec3 a = bg_vec3_load(acceleration), alpha = bg_vec3_load(acceleration + 3);
    out.S.w = bg_add(out.S.w, bg_add(bg_cross(now->v, a), bg_cross(now->w, alpha)));
    out.P.w = bg_add(out.P.w, bg_add(bg_scale(2, bg_cross(x->v, a)), bg_cross(x->w, alpha)));
    out.Q = (bg_spatial){bg_add(alpha, bg_cross(arm, a)), a};
    return out;
}

/* Wrench on a body, (f, n) about its centre, about the common point. */
static bg_spatial carry(const bg_joint_form *f, int b, const double w[6])
{
    bg_vec3 force = bg_vec3_load(w), arm = bg_sub(f->mb.body[b].r, f->c);
    return (bg_spatial){bg_add(bg_vec3_load(w + 3), bg_cross(arm, force)), force};
}

/* Rows of moments from those about the centre and the rows of forces: n + arm x f. */
static void carry_rows(bg_mat6 *X, bg_vec3 arm)
{
    const double a[3] = {arm.x, arm.y, arm.z};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        X->row[k] = bg_spatial_add_scaled(X->row[k], a[i], X->row[3 + j]);
        X->row[k] = bg_spatial_add_scaled(X->row[k], -a[j], X->row[3 + i]);
    }
}

void bg_joint_map_coupling(const bg_joint_form *f, int of, int by, double pose[6][6],
                           double twist[6][6], bool by_twist, bg_mat6 *E, bg_mat6 *C)
{
    const bg_body_state *x = &f->mb.body[by];
    bg_vec3 arm = bg_sub(f->mb.body[of].r, f->c), arm_by = bg_sub(x->r, f->c);
    for (int i = 0; i < 6; i++) { /* (f, n) become rows 3..5 and 0..2 */
        int row = (i + 3) % 6;
        if (by_twist) {
            bg_pull p = bg_joint_pull_gradient(f, by, pose[i], twist[i], NULL);
            E->row[row] = p.S;
            C->row[row] = p.P;
        } else {
            bg_vec3 r = bg_vec3_load(pose[i]);
            E->row[row] = (bg_spatial){bg_add(bg_vec3_load(pose[i] + 3), bg_cross(arm_by, r)), r};
        }
    }
    carry_rows(E, arm);
    if (by_twist)
        carry_rows(C, arm);
}

static void subtract(bg_mat6 *a, const bg_mat6 *b)
{
    for (int k = 0; k < 6; k++)
        a->row[k] = bg_spatial_sub(a->row[k], b->row[k]);
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

/* Entries of column j, a coordinate or a state, for the coordinates from link `from` down to but
 * not including link `to`. */
static void add_chain(const joint_target *t, int from, int to, int j, bg_spatial by_q,
                      bg_spatial by_v)
{
    for (int k = from; k != to; k = t->f->mech->links[k].parent) {
        const bg_link *l = &t->f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            add(t, i, j, -bg_spatial_dot(t->f->S[i], by_q), -bg_spatial_dot(t->f->S[i], by_v));
    }
}

/* The same where column j is a motion that follows a signal. */
static void add_signal_chain(const joint_target *t, int from, int to, int j, bg_spatial by_u,
                             bg_spatial by_u_t, bg_spatial by_u_tt)
{
    for (int k = from; k != to; k = t->f->mech->links[k].parent) {
        const bg_link *l = &t->f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            add_signal(t, i, j, -bg_spatial_dot(t->f->S[i], by_u),
                       -bg_spatial_dot(t->f->S[i], by_u_t), -bg_spatial_dot(t->f->S[i], by_u_tt));
    }
}

static bool is_zero(double block[6][6])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            if (block[i][j] != 0)
                return false;
    return true;
}

static void add_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const joint_target *t = self;
    bg_joint_form *f = t->f;
    int a = f->mech->body_link[of], b = f->mech->body_link[by];
    bool by_twist = !is_zero(twist);
    if (a < 0 || b < 0 || (!by_twist && is_zero(pose)))
        return;
    bg_mat6 E, C;
    int shared = find_shared(f->mech, a, b);
    bool below = true; /* the columns so far move only `by` */
    bg_joint_map_coupling(f, of, by, pose, twist, by_twist, &E, &C);
    if (shared >= 0)
        subtract(&f->sums[shared].E, &E);
    if (shared >= 0 && by_twist)
        subtract(&f->sums[shared].B, &C);
    for (int k = b; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        below = below && k != shared;
        for (int j = l->place; j < l->place + count(t, l) && (below || a != shared); j++) {
            bg_spatial by_q = apply(&E, f->S[j]), by_v = rest;
            if (by_twist) {
                by_q = bg_spatial_add(by_q, apply(&C, f->shift[j].P));
                by_v = apply(&C, f->S[j]);
            }
            if (j < f->nv)
                add_chain(t, a, below ? -1 : shared, j, by_q, by_v);
            else
                add_signal_chain(t, a, below ? -1 : shared, j, by_q, by_v, rest);
        }
    }
}

/* B of one link. With V = (w, u), momentum (L, p) and Jacobi's identity it does not see a change of
 * linear velocity, and of an angular one, a, it makes
 *     moment:  w x (2 I - tr I) a - 2 h x (u x a),      force:  -2 p x a. */
static void set_B(const bg_inertia *I, bg_spatial V, bg_vec3 p, bg_mat6 *B)
{
    bg_mat3 twice = I->I, w = bg_skew(V.w), u = bg_skew(V.v), h = bg_skew(I->h);
    double trace = I->I.m[0][0] + I->I.m[1][1] + I->I.m[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            twice.m[i][j] = 2 * I->I.m[i][j] - (i == j) * trace;
    bg_mat3 turned = bg_mat3_multiply(&w, &twice), carried = bg_mat3_multiply(&h, &u);
    bg_mat3 lost = bg_skew(bg_scale(-2, p));
    for (int i = 0; i < 3; i++) {
        const double *a = turned.m[i], *b = carried.m[i];
        B->row[i].w = bg_vec3_make(a[0] - 2 * b[0], a[1] - 2 * b[1], a[2] - 2 * b[2]);
        B->row[3 + i].w = bg_vec3_load(lost.m[i]);
    }
}

void bg_joint_start_sums(bg_joint_form *f)
{
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_inertia *I = &f->I[k];
        bg_link_sums *x = &f->sums[k];
        bg_spatial V = f->V[k], momentum = bg_inertia_apply(I, V);
        memset(x, 0, sizeof *x);
        f->composite[k] = *I;
        if (f->is_massless[k])
            continue;
        x->F = bg_spatial_add(bg_inertia_apply(I, f->A[k]), bg_spatial_cross_force(V, momentum));
        set_B(I, V, momentum.v, &x->B);
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
        /* dr x f = (S.v + S.w x arm) x f */
        for (int i = 0; i < 3; i++) {
            bg_vec3 e = {i == 0, i == 1, i == 2}, by_v = bg_cross(force, e);
            bg_spatial *row = &f->sums[k].E.row[i];
            *row = bg_spatial_sub(*row, (bg_spatial){bg_cross(arm, by_v), by_v});
        }
    }
}

static void add_sums(bg_link_sums *a, const bg_link_sums *b)
{
    for (int k = 0; k < 6; k++) {
        a->B.row[k] = bg_spatial_add(a->B.row[k], b->B.row[k]);
        a->E.row[k] = bg_spatial_add(a->E.row[k], b->E.row[k]);
    }
    a->F = bg_spatial_add(a->F, b->F);
    a->W = bg_spatial_add(a->W, b->W);
}

/* Row i of link m: entries of the coordinates on its way to the ground, which move all behind m. */
static void fill_row(const joint_target *t, int m, int i)
{
    const bg_joint_form *f = t->f;
    const bg_link_sums *x = &f->sums[m];
    bg_spatial S = f->S[i], I = rest, B = apply_transposed(&x->B, S);
    bg_spatial E = apply_transposed(&x->E, S);
    if (!t->massless) {
        I = bg_inertia_apply(&f->composite[m], S);
        E = bg_spatial_sub(E, bg_spatial_cross_force(S, x->W));
    }
    for (int k = m; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int j = l->place; j < l->place + count(t, l); j++) {
            const bg_shift *s = &f->shift[j];
            double by_q = bg_spatial_dot(B, s->P) + bg_spatial_dot(E, f->S[j]);
            double by_v = bg_spatial_dot(B, f->S[j]);
            if (!t->massless) {
                by_q += bg_spatial_dot(I, s->Q);
                by_v += bg_spatial_dot(I, s->X);
            }
            if (k == m && l->kind == BG_LINK_BALL && l->sign < 0) /* the axes stay */
                by_q -= bg_spatial_dot(bg_spatial_cross(f->S[j], S), bg_spatial_sub(x->F, x->W));
            if (j < f->nv)
                add(t, i, j, by_q, by_v);
            else
                add_signal(t, i, j, by_q, by_v, bg_spatial_dot(I, f->S[j]));
        }
    }
}

/* Column j of link k: entries of the links before it, of whose subtrees only that behind k moves.
 */
static void fill_column(const joint_target *t, int k, int j)
{
    const bg_joint_form *f = t->f;
    const bg_link_sums *x = &f->sums[k];
    const bg_shift *s = &f->shift[j];
    bg_spatial S = f->S[j], by_v = apply(&x->B, S);
    bg_spatial by_q = bg_spatial_add(apply(&x->B, s->P), apply(&x->E, S));
    if (!t->massless) {
        by_v = bg_spatial_add(by_v, bg_inertia_apply(&f->composite[k], s->X));
        by_q = bg_spatial_add(by_q, bg_inertia_apply(&f->composite[k], s->Q));
        by_q = bg_spatial_add(by_q, bg_spatial_cross_force(S, x->F));
    }
    if (j >= f->nv) {
        bg_spatial by_a = t->massless ? rest : bg_inertia_apply(&f->composite[k], S);
        add_signal_chain(t, f->mech->links[k].parent, -1, j, bg_spatial_sub(rest, by_q),
                         bg_spatial_sub(rest, by_v), bg_spatial_sub(rest, by_a));
        return;
    }
    for (int m = f->mech->links[k].parent; m >= 0; m = f->mech->links[m].parent) {
        const bg_link *l = &f->mech->links[m];
        for (int i = l->v; i < l->v + l->nv; i++)
            add(t, i, j, bg_spatial_dot(f->S[i], by_q), bg_spatial_dot(f->S[i], by_v));
    }
}

static void add_row(void *self, int row, int by, const bg_gradient *x)
{
    const joint_target *t = self;
    const bg_joint_form *f = t->f;
    bg_pull g = bg_joint_pull_gradient(f, by, x->pose, x->twist,
                                       t->massless ? NULL : x->acceleration);
    for (int k = f->mech->body_link[by]; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int j = l->place; j < l->place + count(t, l); j++) {
            const bg_shift *s = &f->shift[j];
            double by_q = bg_spatial_dot(g.S, f->S[j]) + bg_spatial_dot(g.P, s->P);
            double by_v = bg_spatial_dot(g.P, f->S[j]);
            if (!t->massless) {
                by_q += bg_spatial_dot(g.Q, s->Q);
                by_v += bg_spatial_dot(g.Q, s->X);
            }
            if (j < f->nv)
                add(t, row, j, by_q, by_v);
            else
                add_signal(t, row, j, by_q, by_v, bg_spatial_dot(g.Q, f->S[j]));
        }
    }
}

static void add_state(void *self, int of, int z, const double wrench[6])
{
    const joint_target *t = self;
    if (t->f->mech->body_link[of] >= 0)
        add_chain(t, t->f->mech->body_link[of], -1, z, carry(t->f, of, wrench), rest);
}

/* A row of r or h that a driving element contributes to. */
static void add_drive_row(const joint_target *t, int row, int j, const bg_drive *d,
                          const bg_drive_row *x, double sign)
{
    if (!is_wanted(t))
        return;
    add(t, row, j, sign * x->x, sign * x->rate);
    for (int k = 0; k < d->nbodies; k++) {
        bg_gradient g = {{0}, {0}, {0}};
        for (int c = 0; c < 6; c++) {
            g.pose[c] = sign * x->body[k][c];
            g.twist[c] = sign * x->body[k][6 + c];
        }
        add_row((void *)t, row, d->body[k], &g);
    }
}

/* Elements that act along coordinate j of the tree: Q changes r_j alone. */
static void add_driven(const bg_joint_form *f, const joint_target *r, const joint_target *h,
                       const joint_target *z, const bg_force_visit *v)
{
    const bg_model *m = f->mb.model;
    for (int k = 0; k < m->nforces; k++) {
        const bg_force *x = &m->forces[k];
        int j = f->driven[k];
        bool coupling = v->coupling && (x->stiff || !v->only_stiff);
        if (j < 0 || (!coupling && (x->nz == 0 || !(v->rate || v->state || v->h_z))))
            continue;
        bg_drive d;
        memset(&d, 0, sizeof d);
        x->class_->drive(x, &f->mb.world, &d);
        if (coupling)
            add_drive_row(r, j, j, &d, &d.Q, -1);
        for (int i = 0; i < x->nz; i++) {
            add_drive_row(h, x->z0 + i, j, &d, &d.h[i], 1);
            if (z->by_q)
                add(z, j, x->z0 + i, -d.Q.z[i], 0);
            for (int c = 0; c < x->nz && v->h_z; c++)
                v->h_z[f->mb.rates.z_start[x->z0 + i] + c] = d.h[i].z[c];
        }
    }
}

/* r by q and v, or what forces marked stiff contribute to it, and along with it what else is wanted
 * of the forces; the wrenches of mb are those at p with lambda, and A is that of a. */
static void calc_residual(joint_target *t, const double *lambda, const bg_force_visit *forces)
{
    bg_joint_form *f = t->f;
    if (t->massless)
        memset(f->sums, 0, (size_t)f->mech->nlinks * sizeof *f->sums);
    else
        bg_joint_start_sums(f);
    bg_couplings_visit_forces(&f->mb, forces);
    if (f->ng > 0 && !t->massless)
        bg_couplings_visit_reactions(&f->mb, lambda, add_coupling, t);
    for (int k = f->mech->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            fill_row(t, k, i);
        for (int j = l->place; j < l->place + count(t, l); j++)
            fill_column(t, k, j);
        if (l->parent >= 0)
            add_sums(&f->sums[l->parent], &f->sums[k]);
        if (l->parent >= 0 && !t->massless)
            bg_inertia_add(&f->composite[l->parent], &f->composite[k]);
    }
}

typedef void visit_rows(const bg_multibody *mb, bg_visit_row *visit, void *self);

static joint_target aim(bg_joint_form *f, bg_derivatives *out, bg_of of, const bg_pattern *pattern,
                        const int *places, bool massless)
{
    double *const *block = out->block[of];
    return (joint_target){f,
                          block[BG_BY_q],
                          block[BG_BY_v],
                          *pattern,
                          places,
                          massless,
                          block[BG_BY_u],
                          block[BG_BY_u_t],
                          block[BG_BY_u_tt],
                          block[BG_BY_u] || block[BG_BY_u_t] || block[BG_BY_u_tt]};
}

/* Rows of g (by u alone), w or gamma. */
static void calc_rows(bg_joint_form *f, bg_derivatives *out, bg_of of, visit_rows *visit)
{
    joint_target t = aim(f, out, of, &f->patterns.G, f->patterns.G_places, of != BG_OF_gamma);
    if (of == BG_OF_g) /* by q it is a term of its own */
        t.by_q = t.by_v = NULL;
    if (!is_wanted(&t))
        return;
    clear(&t);
    if (of == BG_OF_g) { /* g_u = w by u_t */
        t.by_u_t = t.by_u;
        t.by_u = t.by_u_tt = NULL;
    }
    visit(&f->mb, add_row, &t);
    bg_joint_add_row_signals(f, of == BG_OF_gamma ? t.by_u_tt : t.by_u_t);
}

void bg_joint_calc_derivatives(bg_joint_form *f, const bg_point *p, const double *a,
                               const double *lambda, bg_derivatives *out)
{
    bool stiff = out->only_stiff != 0;
    if (out->block[BG_OF_r][BG_BY_lambda])
        bg_joint_calc_by_lambda(f, out->block[BG_OF_r][BG_BY_lambda]);
    joint_target r = aim(f, out, BG_OF_r, &f->patterns.r, f->patterns.r_places, stiff);
    joint_target h = aim(f, out, BG_OF_h, &f->patterns.h, f->patterns.h_places, true);
    joint_target z = {
        f, out->block[BG_OF_r][BG_BY_z], NULL, f->patterns.z, NULL, true, NULL, NULL, NULL, 0};
    bg_force_visit forces = {.coupling_self = &r,
                             .rate = is_wanted(&h) ? add_row : NULL,
                             .rate_self = &h,
                             .state = z.by_q ? add_state : NULL,
                             .state_self = &z,
                             .h_z = out->block[BG_OF_h][BG_BY_z],
                             .only_stiff = stiff};
    if (!stiff)
        bg_joint_update_acceleration(f, a);
    bg_joint_update_shifts(f, p->v, a, stiff);
    clear(&r);
    clear(&h);
    clear(&z);
    if (is_wanted(&r)) {
        forces.coupling = add_coupling;
        calc_residual(&r, lambda, &forces);
    } else {
        bg_couplings_visit_forces(&f->mb, &forces);
    }
    add_driven(f, &r, &h, &z, &forces);
    calc_rows(f, out, BG_OF_g, bg_couplings_visit_w);
    calc_rows(f, out, BG_OF_w, bg_couplings_visit_w);
    if (out->block[BG_OF_w][BG_BY_v]) /* with the direct rows */
        bg_joint_calc_G(f, out->block[BG_OF_w][BG_BY_v]);
    joint_target gamma = aim(f, out, BG_OF_gamma, &f->patterns.G, NULL, false);
    if (is_wanted(&gamma)) {
        bg_joint_update_acceleration(f, NULL);
        bg_joint_update_shifts(f, p->v, NULL, false);
        calc_rows(f, out, BG_OF_gamma, bg_couplings_visit_gamma);
    }
    bg_joint_add_force_signals(f, out);
}
