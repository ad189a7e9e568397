/* M of a tree by articulated bodies: M^{-1} x in time that grows as the number of links does,
 * however long the chains are, where M = S_i . I^c S_j itself is full.
 *
 * With the articulated inertia X of a link, from the tips inwards (explicit.c): U = X S,
 * D = 1 / (S . U), X_parent += X - D U U^T, one motion after another. For x, without forces and
 * velocities, inwards  r_i = x_i - S_i . p,  p += D r_i U_i,  p_parent += p,  and outwards
 * x_i = D (r_i - U_i . A),  A += x_i S_i. The factorisation has S, U and D of every coordinate and
 * a spatial vector of scratch memory for every link. S . U is what elimination leaves of M_ii;
 * where that is next to nothing, there is no factorisation. */
#include "formalism/joint/joint_form.h"

#include <math.h>
#include <string.h>

static const double least = 1e-10; /* of M_ii */

/* One coordinate of the factorisation. */
typedef struct factored_motion {
    bg_spatial S, U;
    double D;
} factored_motion;

enum {
    MOTION = sizeof(factored_motion) / sizeof(double),
    SPATIAL = sizeof(bg_spatial) / sizeof(double)
};

/* Operations with M's entries, along the tree, beside those with a recursion for each constraint.
 */
int bg_joint_get_mass_size(const bg_joint_form *f)
{
    const bg_mechanism *x = f->mech;
    double entries = 0, ng = f->ng, nv = f->nv;
    for (int k = 0; k < x->nlinks; k++) {
        const bg_link *l = &x->links[k], *end = &x->links[l->last - 1];
        double behind = end->v + end->nv - l->v;
        entries += l->nv * behind * behind; /* of a chain: the sum of the squares of its lengths */
    }
    bool worth = ng > 0 && entries > nv * (800 + 200 * ng + 4 * ng * ng);
    return worth ? MOTION * f->nv + SPATIAL * x->nlinks : 0;
}

/* False: M is singular, or nearly so. */
static bool reduce(bg_joint_form *f, int k, factored_motion *m)
{
    const bg_link *l = &f->mech->links[k];
    bg_sym6 *X = &f->articulated[k];
    for (int i = l->v + l->nv - 1; i >= l->v; i--) {
        bg_spatial S = f->S[i], U = bg_sym6_apply(X, S);
        double d = bg_spatial_dot(S, U);
        if (!(d > least * bg_spatial_dot(S, bg_inertia_apply(&f->composite[k], S)) && d < HUGE_VAL))
            return false;
        m[i] = (factored_motion){S, U, 1 / d};
        bg_sym6_subtract_square(X, m[i].D, U);
    }
    return true;
}

void bg_joint_factor_mass(bg_joint_form *f, double *factor)
{
    const bg_mechanism *x = f->mech;
    factored_motion *m = (factored_motion *)factor;
    memcpy(f->composite, f->I, (size_t)x->nlinks * sizeof *f->I);
    for (int k = 0; k < x->nlinks; k++)
        f->articulated[k] = bg_sym6_from_inertia(&f->I[k]);
    for (int k = x->nlinks - 1; k >= 0; k--) {
        int parent = x->links[k].parent;
        if (!reduce(f, k, m)) {
            factor[0] = NAN;
            return;
        }
        if (parent >= 0) {
            bg_sym6_add(&f->articulated[parent], &f->articulated[k]);
            bg_inertia_add(&f->composite[parent], &f->composite[k]);
        }
    }
}

void bg_joint_solve_mass(const void *self, double *factor, double *x)
{
    const bg_joint_form *f = self;
    const bg_link *links = f->mech->links;
    const factored_motion *m = (const factored_motion *)factor;
    bg_spatial *p = (bg_spatial *)(factor + (size_t)MOTION * (size_t)f->nv);
    int n = f->mech->nlinks;
    memset(p, 0, (size_t)n * sizeof *p);
    for (int k = n - 1; k >= 0; k--) {
        for (int i = links[k].v + links[k].nv - 1; i >= links[k].v; i--) {
            x[i] -= bg_spatial_dot(m[i].S, p[k]);
            p[k] = bg_spatial_add_scaled(p[k], m[i].D * x[i], m[i].U);
        }
        if (links[k].parent >= 0)
            p[links[k].parent] = bg_spatial_add(p[links[k].parent], p[k]);
    }
    for (int k = 0; k < n; k++) { /* p is the acceleration now */
        bg_spatial A = {{0, 0, 0}, {0, 0, 0}};
        if (links[k].parent >= 0)
            A = p[links[k].parent];
        for (int i = links[k].v; i < links[k].v + links[k].nv; i++) {
            x[i] = m[i].D * (x[i] - bg_spatial_dot(m[i].U, A));
            A = bg_spatial_add_scaled(A, x[i], m[i].S);
        }
        p[k] = A;
    }
}
