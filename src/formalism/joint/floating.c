/* Bodies of the fast part that float: three slides from the ground and then three rotations, or a
 * ball, with nothing behind them, such as the ring of a tyre. Newton's and Euler's equations give
 * their accelerations at once, where the recursion of explicit.c would go through every link.
 *
 * With force F and torque N about the centre of mass r, moment of inertia J about it, and A = (w',
 * v') the spatial acceleration about the common point c,
 *
 *   w' = J^{-1} (N - w x J w),    v' = F / m - w' x (r - c) - w x v_r,
 *   sum S a = A - sum of the links' bias:
 *
 * slides do not turn, so that rotations follow from w' alone, by Cramer's rule; and their motions
 * are orthonormal. */
#include "formalism/joint/joint_form.h"

enum { SLIDES = 3 };

/* Whether such a chain begins with link k; *n: its links. */
static bool is_floating(const bg_joint_form *f, int k, int *n)
{
    const bg_link *l = f->mech->links + k;
    const bool ball = k + SLIDES < f->mech->nlinks && l[SLIDES].kind == BG_LINK_BALL;
    *n = ball ? SLIDES + 1 : 2 * SLIDES;
    if (!f->is_fast[k] || l->parent != -1 || l->last != k + *n)
        return false;
    for (int i = 0; i < *n; i++) {
        const bool slides = i < SLIDES, last = i == *n - 1;
        const bg_link_kind kind = slides ? BG_LINK_TRANSLATE : ball ? BG_LINK_BALL : BG_LINK_ROTATE;
        if (l[i].kind != kind || l[i].signal >= 0 || (i > 0 && l[i].parent != k + i - 1) ||
            (i > 0 && slides && (!f->is_shift[k + i] || l[i].axis == l[i - 1].axis)) ||
            f->is_massless[k + i] == last)
            return false;
    }
    return l[0].axis != l[2].axis && f->own[k + *n - 1].m > 0;
}

void bg_joint_find_floating(bg_joint_form *f)
{
    for (int k = 0; k < f->mech->nlinks; k++)
        f->by_recursion[k] = f->is_fast[k];
    for (int k = 0, n; k < f->mech->nlinks; k++) {
        if (!is_floating(f, k, &n))
            continue;
        f->floating[f->nfloating++] = k + n - 1;
        for (int i = 0; i < n; i++)
            f->by_recursion[k + i] = false;
    }
}

/* x of J x = b for a symmetric J. */
static bg_vec3 solve_symmetric(const bg_mat3 *J, bg_vec3 b)
{
    const bg_vec3 x = bg_axis(J, 0), y = bg_axis(J, 1), z = bg_axis(J, 2), yz = bg_cross(y, z);
    const double det = bg_dot(x, yz);
    return bg_scale(1 / det,
                    (bg_vec3){bg_dot(b, yz), bg_dot(b, bg_cross(z, x)), bg_dot(b, bg_cross(x, y))});
}

/* The spatial acceleration of link k by the wrenches on its bodies, about c. */
static bg_spatial calc_acceleration(const bg_joint_form *f, int k)
{
    const bg_inertia *own = &f->own[k];
    const bg_frame *L = &f->L[k];
    const bg_vec3 r = bg_add(L->r, bg_rotate(&L->R, own->h)), w = f->V[k].w;
    bg_vec3 F = {0, 0, 0}, N = {0, 0, 0};
    for (int b = 1; b < f->mb.nbodies; b++) {
        if (f->mech->body_link[b] != k)
            continue;
        F = bg_add(F, f->mb.wrench[b].f);
        N = bg_add(
            N, bg_add(f->mb.wrench[b].n, bg_cross(bg_sub(f->mb.body[b].r, r), f->mb.wrench[b].f)));
    }
    const bg_vec3 turn = bg_rotate_back(&L->R, w), spin = bg_rotate(&own->I, turn);
    const bg_vec3 moment = bg_sub(bg_rotate_back(&L->R, N), bg_cross(turn, spin));
    bg_spatial A = {.w = bg_rotate(&L->R, solve_symmetric(&own->I, moment))};
    const bg_vec3 arm = bg_sub(r, f->c), v = bg_add(f->V[k].v, bg_cross(w, arm));
    A.v = bg_sub(bg_scale(1 / own->m, F), bg_add(bg_cross(A.w, arm), bg_cross(w, v)));
    return A;
}

static void accelerate(const bg_joint_form *f, int k, double *a)
{
    const bg_link *links = f->mech->links;
    bg_spatial A = calc_acceleration(f, k);
    int first = k;
    for (int i = k; i >= 0; i = links[i].parent) {
        A.w = bg_sub(A.w, f->bias[i].w);
        A.v = bg_sub(A.v, f->bias[i].v);
        first = links[i].v;
    }
    const bg_spatial *S = f->S + first, *T = S + SLIDES;
    const bg_vec3 across = bg_cross(T[1].w, T[2].w);
    const double det = bg_dot(T[0].w, across);
    double *turns = a + first + SLIDES;
    turns[0] = bg_dot(A.w, across) / det;
    turns[1] = bg_dot(A.w, bg_cross(T[2].w, T[0].w)) / det;
    turns[2] = bg_dot(A.w, bg_cross(T[0].w, T[1].w)) / det;
    for (int i = 0; i < 3; i++)
        A.v = bg_add_scaled(A.v, -turns[i], T[i].v);
    for (int i = 0; i < SLIDES; i++)
        a[first + i] = bg_dot(S[i].v, A.v);
}

void bg_joint_accelerate_floating(const bg_joint_form *f, double *a)
{
    for (int i = 0; i < f->nfloating; i++)
        accelerate(f, f->floating[i], a);
}
