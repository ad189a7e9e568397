/* Forward dynamics by articulated bodies, O(N). Inwards, with X the articulated inertia and p the
 * bias force of a link, U = X S,  D = S^T U,  u = tau - S^T (p + X c), X_parent += X - U D^{-1}
 * U^T,   p_parent += p + X c + U D^{-1} u   (c = S' v), outwards  v' = D^{-1} (u - U^T A_parent),
 * A = A_parent + c + S v'. A ball has a 3 x 3 D, which is factored as L D L^T by handling its three
 * motions one after another. A link that follows a signal is carried along: c has S u_tt, and
 * nothing is taken out.
 *
 * Where the rates of such links jump by d, so do the other velocities: M dv + M_u d = 0, as in the
 * recursion without forces and with c = S d. */
#include "formalism/joint/joint_form.h"

#include <string.h>

static const bg_spatial rest = {{0, 0, 0}, {0, 0, 0}};

static bool is_wanted(const bool *only, int k)
{
    return !only || only[k];
}

/* Bias forces without accelerations: V x* I V - W; only: of these links, NULL: of all. */
static void begin(bg_joint_form *f, const bool *only)
{
    const bg_mechanism *x = f->mech;
    for (int k = 0; k < x->nlinks; k++) {
        if (!is_wanted(only, k))
            continue;
        f->articulated[k] = bg_sym6_from_inertia(&f->I[k]);
        f->p[k] = bg_spatial_cross_force(f->V[k], bg_inertia_apply(&f->I[k], f->V[k]));
    }
    for (int b = 1; b < f->mb.nbodies; b++) {
        int k = x->body_link[b];
        if (k < 0 || !is_wanted(only, k))
            continue;
        const bg_wrench *w = &f->mb.wrench[b];
        bg_vec3 arm = bg_sub(f->mb.body[b].r, f->c);
        f->p[k].w = bg_sub(f->p[k].w, bg_add(w->n, bg_cross(arm, w->f)));
        f->p[k].v = bg_sub(f->p[k].v, w->f);
    }
}

/* Takes the motions of one link out of its articulated inertia, one at a time: the reduced inertia
 * of one is the full inertia for the next. */
static void reduce(bg_joint_form *f, int k, const double *tau)
{
    const bg_link *l = &f->mech->links[k];
    bg_sym6 *X = &f->articulated[k];
    bg_spatial *p = &f->p[k];
    *p = bg_spatial_add(*p, bg_sym6_apply(X, f->bias[k]));
    for (int i = l->v + l->nv - 1; i >= l->v; i--) {
        f->U[i] = bg_sym6_apply(X, f->S[i]);
        f->D[i] = 1 / bg_spatial_dot(f->S[i], f->U[i]);
        f->rest[i] = tau[i] - bg_spatial_dot(f->S[i], *p);
        bg_sym6_subtract_square(X, f->D[i], f->U[i]);
        *p = bg_spatial_add_scaled(*p, f->D[i] * f->rest[i], f->U[i]);
    }
}

static void solve(bg_joint_form *f, const bool *only, const double *tau, double *a)
{
    const bg_mechanism *x = f->mech;
    for (int k = x->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &x->links[k];
        if (!is_wanted(only, k))
            continue;
        reduce(f, k, tau);
        if (l->parent >= 0) {
            bg_sym6_add(&f->articulated[l->parent], &f->articulated[k]);
            f->p[l->parent] = bg_spatial_add(f->p[l->parent], f->p[k]);
        }
    }
    for (int k = 0; k < x->nlinks; k++) {
        const bg_link *l = &x->links[k];
        if (!is_wanted(only, k))
            continue;
        bg_spatial A = l->parent >= 0 ? f->A[l->parent] : rest;
        for (int i = l->v; i < l->v + l->nv; i++) {
            a[i] = f->D[i] * (f->rest[i] - bg_spatial_dot(f->U[i], A));
            A = bg_spatial_add_scaled(A, a[i], f->S[i]);
        }
        f->A[k] = bg_spatial_add(A, f->bias[k]);
    }
}

void bg_joint_calc_forward(bg_joint_form *f, const double *tau, double *a)
{
    begin(f, NULL);
    solve(f, NULL, tau, a);
}

void bg_joint_calc_forward_fast(bg_joint_form *f, const double *tau, double *a)
{
    const bool *links = tau ? f->is_fast : f->by_recursion;
    bg_joint_weigh(f, links);
    begin(f, links);
    if (!tau)
        memset(f->tau, 0, (size_t)f->nv * sizeof(double));
    solve(f, links, tau ? tau : f->tau, a);
    if (!tau)
        bg_joint_accelerate_floating(f, a);
}

/* Signals that no link follows act through constraints, which the start behind an event meets. */
static bool has_jump(const bg_joint_form *f, const double *u_t)
{
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        if (l->signal >= 0 && f->u_t[l->place - f->nv] != u_t[l->signal])
            return true;
    }
    return false;
}

void bg_joint_calc_jump(bg_joint_form *f, const double *u_t, double *v)
{
    if (!has_jump(f, u_t))
        return;
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        f->articulated[k] = bg_sym6_from_inertia(&f->I[k]);
        f->p[k] = f->bias[k] = rest;
        if (l->signal >= 0)
            f->bias[k] = bg_spatial_add_scaled(rest, f->u_t[l->place - f->nv] - u_t[l->signal],
                                               f->S[l->place]);
    }
    f->moving = false; /* bias is not that of v_now any more */
    memset(f->tau, 0, (size_t)f->nv * sizeof(double));
    solve(f, NULL, f->tau, f->jump);
    for (int i = 0; i < f->nv; i++)
        v[i] += f->jump[i];
}
