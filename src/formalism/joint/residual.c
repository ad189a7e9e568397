/* Inverse dynamics by the recursive Newton-Euler method: outwards accelerations, inwards forces
 *     F_k = I A + V x* I V - W_k + sum over children F,     tau_k = S_k . F_k,
 * where W_k are the wrenches of forces and reactions on the link's bodies. */
#include "formalism/joint/joint_form.h"

static void subtract_wrenches(bg_joint_form *f, const bool *only)
{
    for (int b = 1; b < f->mb.nbodies; b++) {
        int k = f->mech->body_link[b];
        if (k < 0 || (only && !only[k]))
            continue;
        const bg_wrench *x = &f->mb.wrench[b];
        bg_vec3 arm = bg_sub(f->mb.body[b].r, f->c);
        f->F[k].w = bg_sub(f->F[k].w, bg_add(x->n, bg_cross(arm, x->f)));
        f->F[k].v = bg_sub(f->F[k].v, x->f);
    }
}

/* With accelerations at hand; only: of these links, NULL: of all. */
static void transmit(bg_joint_form *f, const bool *only, double *tau)
{
    const bg_mechanism *x = f->mech;
    for (int k = 0; k < x->nlinks; k++) {
        if (only && !only[k])
            continue;
        bg_spatial momentum = bg_inertia_apply(&f->I[k], f->V[k]);
        f->F[k] = bg_spatial_add(bg_inertia_apply(&f->I[k], f->A[k]),
                                 bg_spatial_cross_force(f->V[k], momentum));
    }
    subtract_wrenches(f, only);
    for (int k = x->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &x->links[k];
        if (only && !only[k])
            continue;
        for (int i = l->v; i < l->v + l->nv; i++)
            tau[i] = bg_spatial_dot(f->S[i], f->F[k]);
        if (l->parent >= 0)
            f->F[l->parent] = bg_spatial_add(f->F[l->parent], f->F[k]);
    }
}

void bg_joint_calc_inverse(bg_joint_form *f, const double *a, double *tau)
{
    bg_joint_update_acceleration(f, a);
    transmit(f, NULL, tau);
}

void bg_joint_calc_fast_inverse(bg_joint_form *f, double *tau)
{
    bg_joint_update_fast_acceleration(f);
    transmit(f, f->is_fast, tau);
}
