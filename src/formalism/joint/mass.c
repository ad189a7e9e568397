/* The mass matrix by composite bodies: M_ij = S_i . I^c S_j for j in the subtree of i's link, where
 * I^c is the inertia of everything behind j. Links and coordinates are numbered with subtrees in
 * one piece, so a row of M's pattern has the way to the ground up to the diagonal, and behind it
 * the subtree without gaps. Links that follow a signal have no part in it but their inertia. */
#include "formalism/joint/joint_form.h"

#include <string.h>

static void calc_mass(bg_joint_form *f, const bool *only, double *M)
{
    const bg_mechanism *x = f->mech;
    const int *diagonal = f->diagonal;
    bool dense = !f->patterns.M.row_start;
    memcpy(f->composite, f->I, (size_t)x->nlinks * sizeof *f->I);
    for (int k = x->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &x->links[k];
        if (only && !only[k])
            continue;
        if (l->parent >= 0)
            bg_inertia_add(&f->composite[l->parent], &f->composite[k]);
        for (int j = l->v; j < l->v + l->nv; j++) {
            bg_spatial F = bg_inertia_apply(&f->composite[k], f->S[j]);
            int last = j, place = diagonal[j];
            for (int a = k; a >= 0; a = x->links[a].parent) {
                for (int i = last; i >= x->links[a].v; i--) {
                    double value = bg_spatial_dot(f->S[i], F);
                    M[dense ? diagonal[j] + i - j : place--] = value;
                    M[diagonal[i] + j - i] = value;
                }
                if (x->links[a].parent >= 0)
                    last = x->links[x->links[a].parent].v + x->links[x->links[a].parent].nv - 1;
            }
        }
    }
}

void bg_joint_calc_mass(bg_joint_form *f, double *M)
{
    calc_mass(f, NULL, M);
}

/* Behind a fast link that moves by itself everything is fast. */
void bg_joint_calc_fast_mass(bg_joint_form *f, double *M)
{
    calc_mass(f, f->is_fast, M);
}
