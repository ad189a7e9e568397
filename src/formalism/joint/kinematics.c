/* Positions, twists and accelerations along the tree, from the ground outwards. */
#include "formalism/joint/joint_form.h"

#include <math.h>
#include <string.h>

static const bg_spatial rest = {{0, 0, 0}, {0, 0, 0}};

static bg_quat load_quat(const double *q)
{
    return (bg_quat){q[0], q[1], q[2], q[3]};
}

/* A frame turned by x about its own axis k: two columns of R change. */
static void turn(bg_frame *L, int k, double x)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double c = cos(x), s = sin(x);
    for (int row = 0; row < 3; row++) {
        double u = L->R.m[row][i], v = L->R.m[row][j];
        L->R.m[row][i] = c * u + s * v;
        L->R.m[row][j] = c * v - s * u;
    }
}

/* at T(q). */
static bg_frame move(const bg_link *l, const bg_frame *at, const double *q)
{
    bg_frame L = *at;
    double x = l->sign * q[0];
    if (l->kind == BG_LINK_BALL) {
        bg_mat3 R = bg_rotation_from_quat(load_quat(q));
        if (l->sign < 0)
            R = bg_mat3_transpose(&R);
        L.R = bg_mat3_multiply(&at->R, &R);
        return L;
    }
    if (l->kind != BG_LINK_TRANSLATE)
        turn(&L, l->axis, x);
    if (l->kind != BG_LINK_ROTATE)
        L.r = bg_add_scaled(L.r, l->kind == BG_LINK_SCREW ? l->pitch * x : x,
                            bg_axis(&at->R, l->axis));
    return L;
}

/* Where a link's joint is before it moves; `before` is often a mere shift. */
static bg_frame place(const bg_joint_form *f, const bg_link *l, bool shift)
{
    const bg_frame ground = {f->mb.body[0].r, f->mb.body[0].R};
    const bg_frame *parent = l->parent >= 0 ? &f->L[l->parent] : &ground;
    if (!shift)
        return bg_frame_multiply(parent, &l->before);
    return (bg_frame){bg_frame_apply(parent, l->before.r), parent->R};
}

/* Motion of a unit rate about the axis n through o, or along n. */
static bg_spatial turn_about(const bg_joint_form *f, bg_vec3 n, bg_vec3 o)
{
    return (bg_spatial){n, bg_cross(n, bg_sub(f->c, o))};
}

static void calc_S(bg_joint_form *f, const bg_link *l, const bg_frame *at, const bg_frame *moved)
{
    bg_spatial *S = f->S + l->place;
    bg_vec3 n = bg_scale(l->sign, bg_axis(&at->R, l->axis));
    switch (l->kind) {
    case BG_LINK_ROTATE:
        S[0] = turn_about(f, n, at->r);
        break;
    case BG_LINK_TRANSLATE:
        S[0] = (bg_spatial){{0, 0, 0}, n};
        break;
    case BG_LINK_SCREW:
        S[0] = turn_about(f, n, at->r);
        S[0].v = bg_add_scaled(S[0].v, l->pitch, n);
        break;
    case BG_LINK_BALL: /* w of b relative to a in axes of b: the child forwards, the parent
                          backwards */
        for (int k = 0; k < 3; k++)
            S[k] = turn_about(f, bg_scale(l->sign, bg_axis(l->sign > 0 ? &moved->R : &at->R, k)),
                              at->r);
        break;
    }
}

static void calc_inertia(bg_joint_form *f, int k)
{
    const bg_inertia *own = &f->own[k];
    const bg_mat3 *R = &f->L[k].R;
    bg_mat3 Rt = bg_mat3_transpose(R), RJ = bg_mat3_multiply(R, &own->I);
    bg_mat3 J = bg_mat3_multiply(&RJ, &Rt); /* about the centre of the link's mass */
    bg_vec3 centre = bg_add(f->L[k].r, bg_rotate(R, own->h)); /* h holds the centre here */
    f->I[k] = bg_inertia_about(own->m, &J, bg_sub(centre, f->c));
}

void bg_joint_update_inertia(bg_joint_form *f)
{
    for (int k = 0; k < f->mech->nlinks && !f->weighed; k++)
        if (!f->is_massless[k])
            calc_inertia(f, k);
    f->weighed = true;
}

void bg_joint_weigh(bg_joint_form *f, const bool *only)
{
    for (int k = 0; k < f->mech->nlinks; k++)
        if (only[k] && !f->is_massless[k])
            calc_inertia(f, k);
}

/* Takes x, and behind it what comes from signals, as the present value; false: it was that already.
 */
static bool renew(double *now, const double *x, int n, const double *u, int nu, bool *valid)
{
    size_t size = (size_t)n * sizeof(double), more = (size_t)nu * sizeof(double);
    if (*valid && memcmp(now, x, size) == 0 && (nu == 0 || memcmp(now + n, u, more) == 0))
        return false;
    memcpy(now, x, size);
    if (nu > 0)
        memcpy(now + n, u, more);
    *valid = true;
    return true;
}

void bg_joint_set_point(bg_joint_form *f, const bg_point *p)
{
    bg_multibody_set_point(&f->mb, p);
    for (int k = 0; k < f->nfollowing; k++) {
        f->u[k] = p->u[f->following[k]];
        f->u_t[k] = p->u_t[f->following[k]];
        f->u_t[f->nfollowing + k] = p->u_tt[f->following[k]];
    }
}

/* What of the tree is wanted; NULL: everything. */
static bool is_wanted(const bool *only, int k)
{
    return !only || only[k];
}

static void place_links(bg_joint_form *f, const bool *only_links, const bool *only_bodies)
{
    const bg_mechanism *x = f->mech;
    const bg_frame ground = {f->mb.body[0].r, f->mb.body[0].R};
    bool first = true;
    for (int k = 0; k < x->nlinks; k++) {
        if (!is_wanted(only_links, k))
            continue;
        const bg_link *l = &x->links[k];
        bg_frame at = place(f, l, f->is_shift[k]);
        f->L[k] = move(l, &at, f->q_now + l->q);
        if (first)
            f->c = f->L[k].r; /* the common point */
        first = false;
        calc_S(f, l, &at, &f->L[k]);
    }
    for (int b = 1; b < f->mb.nbodies; b++) {
        if (!is_wanted(only_bodies, b))
            continue;
        int k = x->body_link[b];
        const bg_frame *link = k >= 0 ? &f->L[k] : &ground, *offset = &x->body_offset[b];
        f->mb.body[b].r = bg_frame_apply(link, offset->r);
        f->mb.body[b].R = f->is_carried[b] ? link->R : bg_mat3_multiply(&link->R, &offset->R);
    }
}

static void move_links(bg_joint_form *f, const bool *only_links, const bool *only_bodies)
{
    const bg_mechanism *x = f->mech;
    const double *now = f->v_now;
    for (int k = 0; k < x->nlinks; k++) {
        if (!is_wanted(only_links, k))
            continue;
        const bg_link *l = &x->links[k];
        bg_spatial parent = l->parent >= 0 ? f->V[l->parent] : rest, relative = rest;
        for (int i = l->place; i < l->place + bg_link_count_motions(l); i++)
            relative = bg_spatial_add_scaled(relative, now[i], f->S[i]);
        f->V[k] = bg_spatial_add(parent, relative);
        bool with_child = l->kind == BG_LINK_BALL && l->sign > 0;
        f->bias[k] = bg_spatial_cross(with_child ? f->V[k] : parent, relative);
        if (l->signal >= 0) /* S u_tt */
            f->bias[k] = bg_spatial_add_scaled(f->bias[k], now[l->place + f->nfollowing],
                                               f->S[l->place]);
    }
    for (int b = 1; b < f->mb.nbodies; b++) {
        if (!is_wanted(only_bodies, b))
            continue;
        int k = x->body_link[b];
        bg_spatial V = k >= 0 ? f->V[k] : rest;
        bg_body_state *s = &f->mb.body[b];
        s->w = V.w;
        s->v = bg_add(V.v, bg_cross(V.w, bg_sub(s->r, f->c)));
    }
}

void bg_joint_update_position(bg_joint_form *f, const double *q)
{
    if (!renew(f->q_now, q, f->nq, f->u, f->nfollowing, &f->placed))
        return;
    f->moving = f->weighed = f->held = false;
    place_links(f, NULL, NULL);
}

void bg_joint_update_velocity(bg_joint_form *f, const double *v)
{
    if (renew(f->v_now, v, f->nv, f->u_t, 2 * f->nfollowing, &f->moving))
        move_links(f, NULL, NULL);
}

void bg_joint_update_fast(bg_joint_form *f, const bg_point *p)
{
    bg_joint_set_point(f, p);
    f->placed = f->moving = false;
    renew(f->q_now, p->q, f->nq, f->u, f->nfollowing, &f->placed);
    renew(f->v_now, p->v, f->nv, f->u_t, 2 * f->nfollowing, &f->moving);
    place_links(f, f->support, f->fast_part.seen);
    move_links(f, f->support, f->fast_part.seen);
    f->placed = f->moving = f->weighed = f->held =
        false; /* the others are where they were before */
}

static void accelerate_links(bg_joint_form *f, const bool *only_links, const bool *only_bodies,
                             const double *a)
{
    const bg_mechanism *x = f->mech;
    for (int k = 0; k < x->nlinks; k++) {
        if (!is_wanted(only_links, k))
            continue;
        const bg_link *l = &x->links[k];
        bg_spatial A = bg_spatial_add(l->parent >= 0 ? f->A[l->parent] : rest, f->bias[k]);
        for (int i = l->v; a && i < l->v + l->nv; i++)
            A = bg_spatial_add_scaled(A, a[i], f->S[i]);
        f->A[k] = A;
    }
    for (int b = 1; b < f->mb.nbodies; b++) {
        if (!is_wanted(only_bodies, b))
            continue;
        int k = x->body_link[b];
        bg_spatial A = k >= 0 ? f->A[k] : rest;
        const bg_body_state *s = &f->mb.body[b];
        bg_body_acceleration *out = &f->mb.acceleration[b];
        out->w = A.w;
        out->v = bg_add(bg_add(A.v, bg_cross(A.w, bg_sub(s->r, f->c))), bg_cross(s->w, s->v));
    }
}

void bg_joint_update_acceleration(bg_joint_form *f, const double *a)
{
    accelerate_links(f, NULL, NULL, a);
}

void bg_joint_update_fast_acceleration(bg_joint_form *f)
{
    accelerate_links(f, f->support, f->fast_part.seen, NULL);
}

/* q' = V v: unit entries for single coordinates, p' = 1/2 p (0, w) for quaternions. */
void bg_joint_calc_V(const bg_joint_form *f, const double *q, double *V)
{
    const int *start = f->patterns.V.row_start;
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        if (l->signal >= 0)
            continue;
        if (l->kind != BG_LINK_BALL) {
            V[start[l->q]] = 1;
            continue;
        }
        const double *p = q + l->q;
        const double rows[4][3] = {
            {-p[1], -p[2], -p[3]}, {p[0], -p[3], p[2]}, {p[3], p[0], -p[1]}, {-p[2], p[1], p[0]}};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++)
                V[start[l->q + i] + j] = 0.5 * rows[i][j];
    }
}
