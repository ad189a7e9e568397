/* Reactions of joints in the tree, which have no rows: by Newton and Euler, what everything behind
 * the joint needs beyond the wrenches on it comes through the joint. */
#include "formalism/joint/joint_form.h"

#include <string.h>

/* Newton and Euler for everything behind a tree joint: what is not explained by wrenches comes
 * through the joint. */
void bg_joint_calc_tree_reaction(bg_multibody *mb, int joint, const double *lambda, bg_wrench *on_b)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    const bg_mechanism *x = f->mech;
    int t = x->joint_tree[joint];
    if (t < 0)
        return;
    bg_multibody_apply_forces(mb);
    bg_multibody_apply_reactions(mb, lambda);
    memset(f->inside, 0, (size_t)mb->nbodies * sizeof(bool));
    bg_spatial sum = {{0, 0, 0}, {0, 0, 0}};
    f->inside[x->tree[t].child] = true;
    for (int k = t; k < x->ntree; k++) {
        int b = x->tree[k].child;
        if (k > t && !f->inside[x->tree[k].parent])
            break;
        f->inside[b] = true;
        const bg_body_state *s = &mb->body[b];
        const bg_body *body = &mb->model->bodies[b];
        bg_vec3 w = bg_rotate_back(&s->R, s->w), e = bg_rotate_back(&s->R, mb->acceleration[b].w);
        bg_vec3 moment = bg_add(bg_rotate(&body->inertia, e),
                                bg_cross(w, bg_rotate(&body->inertia, w)));
        bg_vec3 force = bg_sub(bg_scale(body->mass, mb->acceleration[b].v), mb->wrench[b].f);
        bg_vec3 n = bg_sub(bg_rotate(&s->R, moment), mb->wrench[b].n);
        sum.v = bg_add(sum.v, force);
        sum.w = bg_add(sum.w, bg_add(n, bg_cross(bg_sub(s->r, f->c), force)));
    }
    double side = x->tree[t].reversed ? -1 : 1; /* the sum acts on the child */
    bg_vec3 arm = bg_sub(mb->body[mb->model->joints[joint].b.body].r, f->c);
    on_b->f = bg_add_scaled(on_b->f, side, sum.v);
    on_b->n = bg_add_scaled(on_b->n, side, bg_sub(sum.w, bg_cross(arm, sum.v)));
}

/* From the tips to the ground: mb->wrench of a body becomes that of everything behind its joint,
 * about c. */
void bg_joint_transmit(bg_multibody *mb, bg_wrench *on_b)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    for (int b = 0; b < mb->nbodies; b++)
        mb->wrench[b].n = bg_add(mb->wrench[b].n,
                                 bg_cross(bg_sub(mb->body[b].r, f->c), mb->wrench[b].f));
    for (int t = f->mech->ntree - 1; t >= 0; t--) { /* parents stand before children */
        const bg_tree_joint *x = &f->mech->tree[t];
        const bg_wrench *behind = &mb->wrench[x->child];
        bg_wrench *parent = &mb->wrench[x->parent];
        parent->f = bg_add(parent->f, behind->f);
        parent->n = bg_add(parent->n, behind->n);
        if (x->joint < 0)
            continue;
        double side = x->reversed ? 1 : -1; /* against what acts behind */
        bg_vec3 arm = bg_sub(mb->body[mb->model->joints[x->joint].b.body].r, f->c);
        bg_wrench *to = &on_b[x->joint];
        to->f = bg_add_scaled(to->f, side, behind->f);
        to->n = bg_add_scaled(to->n, side, bg_sub(behind->n, bg_cross(arm, behind->f)));
    }
}

int bg_joint_find_coupler(bg_multibody *mb, int coupler)
{
    const bg_joint_form *f = (const bg_joint_form *)mb;
    for (int k = 0; k < f->nrows; k++)
        if (f->rows[k].coupler == coupler)
            return mb->nrows + k;
    return -1;
}
