/* The power of links that follow signals.
 *
 * What drives such a link is the force F transmitted by its joint along its motion S, at the rate
 * u_t: with F of the Newton-Euler recursion (residual.c), linear in v',
 *     P = sum u_t S . F(v' = 0)  +  b . v',      b_i = sum u_t M_iu = S_i . (sum over subtree I U),
 * where U is the twist of the links from u_t alone. Constraint forces -J^T lambda add lambda . J S
 * u_t, which is the part of lambda . g_t that is due to these links, so it is not added here. */
#include "formalism/joint/joint_form.h"

static const bg_spatial rest = {{0, 0, 0}, {0, 0, 0}};

void bg_joint_calc_drive_power(bg_joint_form *f, double *power, double *by_a)
{
    const bg_mechanism *x = f->mech;
    bg_multibody_apply_forces(&f->mb);
    bg_joint_calc_inverse(f, NULL, f->tau);
    *power = 0;
    for (int k = 0; k < x->nlinks; k++) {
        const bg_link *l = &x->links[k];
        bg_spatial U = l->parent >= 0 ? f->A[l->parent] : rest; /* A is not needed any more */
        if (l->signal >= 0) {
            double u_t = f->u_t[l->place - f->nv];
            *power += u_t * bg_spatial_dot(f->S[l->place], f->F[k]);
            U = bg_spatial_add_scaled(U, u_t, f->S[l->place]);
        }
        f->A[k] = U;
        f->F[k] = bg_inertia_apply(&f->I[k], U);
    }
    for (int k = x->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &x->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            by_a[i] = bg_spatial_dot(f->S[i], f->F[k]);
        if (l->parent >= 0)
            f->F[l->parent] = bg_spatial_add(f->F[l->parent], f->F[k]);
    }
}
