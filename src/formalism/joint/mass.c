/* The mass matrix by composite bodies: M_ij = S_i . I^c S_j for j in the subtree of i's link, where
 * I^c is the inertia of everything behind j. */
#include "formalism/joint/joint_form.h"

#include <string.h>

static int count(const bg_link *l)
{
    return l->kind == BG_LINK_BALL ? 3 : 1;
}

static void set_both(const bg_pattern *pattern, double *M, int i, int j, double value)
{
    M[bg_joint_find_place(pattern, i, j)] = value;
    M[bg_joint_find_place(pattern, j, i)] = value;
}

void bg_joint_calc_mass(bg_joint_form *f, double *M)
{
    const bg_mechanism *x = f->mech;
    const bg_pattern *m = &f->patterns.M;
    memcpy(f->composite, f->I, (size_t)x->nlinks * sizeof *f->I);
    for (int k = x->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &x->links[k];
        if (l->parent >= 0)
            bg_inertia_add(&f->composite[l->parent], &f->composite[k]);
        for (int j = l->v; j < l->v + count(l); j++) {
            bg_spatial F = bg_inertia_apply(&f->composite[k], f->S[j]);
            for (int i = l->v; i <= j; i++)
                set_both(m, M, i, j, bg_spatial_dot(f->S[i], F));
            for (int a = l->parent; a >= 0; a = x->links[a].parent)
                for (int i = x->links[a].v; i < x->links[a].v + count(&x->links[a]); i++)
                    set_both(m, M, i, j, bg_spatial_dot(f->S[i], F));
        }
    }
}
