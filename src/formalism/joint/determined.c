/* Motions that nothing determines: without mass to resist them, and without a constraint behind
 * them.
 *
 * With X the articulated inertia of a link, D = S^T X S is the inertia that a force along S meets
 * (explicit.c). It vanishes where nothing behind the link has mass, or where the joints behind it
 * leave the same motion free (two hinges on one axis with a massless body between them). As X comes
 * from a difference, D is compared with what was there before the motions of the next links were
 * taken out. A link without rows behind it does not depend on the rest of the mechanism, so that
 * D = 0 there is final; behind rows, assembly has the last word. */
#include "formalism/joint/joint_form.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const double negligible = 1e-13; /* D against what it is the difference of */

static bool is_inside(const bg_joint_form *f, int k, int link)
{
    return link >= k && link < f->mech->links[k].last;
}

static bool touches(const bg_joint_form *f, int k, const bg_marker *a, const bg_marker *b)
{
    return is_inside(f, k, f->mech->body_link[a->body]) ||
           is_inside(f, k, f->mech->body_link[b->body]);
}

/* Whether a constraint has to do with link k or something behind it. */
static bool is_held(const bg_joint_form *f, int k)
{
    for (int i = 0; i < f->mb.ngroups; i++) {
        const bg_primitive *p = &f->mb.groups[i].primitive;
        for (int n = 0; n < p->n; n++)
            if (touches(f, k, &p->coordinate[n].a, &p->coordinate[n].b))
                return true;
        if (p->kind != BG_PRIMITIVE_RELATION && touches(f, k, &p->a, &p->b))
            return true;
    }
    for (int i = 0; i < f->nrows; i++)
        for (int n = 0; n < f->rows[i].n; n++)
            if (is_inside(f, k, f->rows[i].link[n]))
                return true;
    return false;
}

/* Takes the motions of link k out of X[k] and returns one that is not determined, or -1. */
static int reduce(const bg_joint_form *f, int k, bg_sym6 *X, const bg_sym6 *before)
{
    const bg_link *l = &f->mech->links[k];
    int count = l->kind == BG_LINK_BALL ? 3 : 1;
    for (int i = l->v + count - 1; i >= l->v; i--) {
        bg_spatial U = bg_sym6_apply(X, f->S[i]);
        double D = bg_spatial_dot(f->S[i], U);
        if (D > negligible * bg_spatial_dot(f->S[i], bg_sym6_apply(before, f->S[i])))
            bg_sym6_subtract_square(X, 1 / D, U);
        else if (!is_held(f, k))
            return i;
    }
    return -1;
}

/* The first such motion, from the tips inwards, and its link; -1: none. */
static int find_undetermined(bg_joint_form *f, bg_sym6 *before, int *link)
{
    const bg_mechanism *x = f->mech;
    for (int k = 0; k < x->nlinks; k++)
        before[k] = f->articulated[k] = bg_sym6_from_inertia(&f->I[k]);
    for (int k = x->nlinks - 1; k >= 0; k--) {
        bg_sym6 whole = f->articulated[k];
        int parent = x->links[k].parent, i = reduce(f, k, &f->articulated[k], &before[k]);
        *link = k;
        if (i >= 0)
            return i;
        if (parent >= 0) {
            bg_sym6_add(&before[parent], &whole);
            bg_sym6_add(&f->articulated[parent], &f->articulated[k]);
        }
    }
    return -1;
}

bg_status bg_joint_check_determined(bg_joint_form *f, bg_error *err)
{
    const bg_model *m = f->mb.model;
    bg_sym6 *before = BG_NEW_ARRAY(bg_sym6, f->mech->nlinks);
    int link = 0, t = 0;
    if (!before)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    bg_joint_update_position(f, f->q0);
    bg_joint_update_inertia(f);
    int i = find_undetermined(f, before, &link);
    free(before);
    if (i < 0)
        return BG_OK;
    while (f->mech->tree[t].first + f->mech->tree[t].count <= link)
        t++;
    const bg_body *b = &m->bodies[f->mech->tree[t].child];
    return bg_error_set(err, BG_BAD_INPUT,
                        "bodies.%s: nothing resists the motion '%s', because what moves with it "
                        "has no mass, or no inertia about that axis; give body '%s' %s, or a joint "
                        "without this motion",
                        b->name, f->v_names[i], b->name,
                        b->mass > 0 ? "inertia" : "mass and inertia");
}
