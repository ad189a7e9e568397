/* Which reactions are not unique.
 *
 * Multipliers along a null vector of G^T, G^T lambda = 0, change no motion. What they change is the
 * reactions of the joints: of one that has rows by those rows, of one in the tree by what the rows
 * do to everything behind it, since that moves as before. So the answer is the same whatever is
 * cut: all joints of an overconstrained loop whose wrenches change, and couplers whose forces do.
 * Wrenches are taken about the place of the joint, torques beside the size of the model. */
#include "formalism/multibody.h"

#include <math.h>

int bg_multibody_count_reactions(const bg_multibody *mb)
{
    return mb->model->njoints + mb->model->ncouplers;
}

const char *bg_multibody_get_reaction_name(const bg_multibody *mb, int k)
{
    const bg_model *m = mb->model;
    return k < m->njoints ? m->joints[k].name : m->couplers[k - m->njoints].name;
}

static void add_coupler(const bg_multibody *mb, int coupler, double lambda, double size,
                        double *change)
{
    const bg_coupler *c = &mb->model->couplers[coupler];
    for (int i = 0; i < c->n; i++) {
        bool slides = mb->model->joints[c->joint[i]].class_->coordinate[c->coordinate[i]].kind ==
                      BG_COORDINATE_SLIDE;
        change[mb->model->njoints + coupler] += fabs(c->factor[i] * lambda) / (slides ? 1 : size);
    }
}

/* About the joint's place, torques beside the size. */
static double calc_size(const bg_multibody *mb, int joint, const bg_wrench *on_b, double size)
{
    const bg_marker *b = &mb->model->joints[joint].b;
    bg_vec3 arm = bg_marker_get_arm(&mb->world, b);
    bg_vec3 n = bg_sub(on_b->n, bg_cross(arm, on_b->f));
    return bg_length(on_b->f) + bg_length(n) / size;
}

/* What a group of rows does to its joints, and to a coupler. */
static void add_group(bg_multibody *mb, const bg_row_group *g, const double *lambda, double size,
                      double *change)
{
    const bg_primitive *p = &g->primitive;
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    int rows = bg_primitive_get_rows(p), blocks = relation ? p->n : rows;
    double J[36], largest = 0;
    for (int i = 0; i < rows; i++)
        largest = fmax(largest, fabs(lambda[g->row + i]));
    if (largest == 0)
        return;
    bg_primitive_calc_jacobian(&mb->world, p, J);
    for (int i = 0; i < blocks; i++) {
        int joint = g->joint[relation ? i : 0];
        double l = -lambda[g->row + (relation ? 0 : i)];
        if (joint < 0)
            continue;
        bg_wrench *x = &mb->through[joint];
        x->f = bg_add_scaled(x->f, l, bg_vec3_load(J + 12 * i + 6));
        x->n = bg_add_scaled(x->n, l, bg_vec3_load(J + 12 * i + 9));
    }
    if (g->coupler >= 0)
        add_coupler(mb, g->coupler, lambda[g->row], size, change);
}

void bg_multibody_calc_changes(bg_multibody *mb, const bg_point *p, const double *lambda,
                               double size, double *change)
{
    const bg_wrench none = {{0, 0, 0}, {0, 0, 0}};
    int joints = mb->model->njoints;
    mb->update(mb, p, NULL);
    for (int b = 0; b < mb->nbodies; b++)
        mb->wrench[b] = none;
    for (int k = 0; k < joints; k++)
        mb->through[k] = none;
    for (int k = 0; k < bg_multibody_count_reactions(mb); k++)
        change[k] = 0;
    bg_multibody_apply_reactions(mb, lambda);
    for (int k = 0; k < mb->ngroups; k++)
        add_group(mb, &mb->groups[k], lambda, size, change);
    for (int k = 0; mb->find_coupler && k < mb->model->ncouplers; k++) {
        int row = mb->find_coupler(mb, k);
        if (row >= 0)
            add_coupler(mb, k, lambda[row], size, change);
    }
    if (mb->transmit)
        mb->transmit(mb, mb->through);
    for (int k = 0; k < joints; k++)
        change[k] = calc_size(mb, k, &mb->through[k], size);
}
