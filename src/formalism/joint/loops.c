/* Constraint rows in joint coordinates. A body-level row J . (v_b, w_b) is a spatial force about c;
 * its entry for velocity coordinate k is that force's power on S_k, for every k on the way to the
 * ground. */
#include "formalism/joint/joint_form.h"

#include <string.h>

static int count(const bg_link *l)
{
    return l->kind == BG_LINK_BALL ? 3 : 1;
}

void bg_joint_calc_g(bg_joint_form *f, const double *q, double *g)
{
    bg_multibody_calc_g(&f->mb, g);
    for (int k = 0; k < f->nrows; k++) {
        const bg_direct_row *r = &f->rows[k];
        double sum = -r->offset - (r->signal >= 0 ? f->mb.world.u[r->signal] : 0.0);
        for (int i = 0; i < r->n; i++)
            sum += r->factor[i] * q[f->mech->links[r->link[i]].q];
        g[f->mb.nrows + k] = sum;
    }
}

void bg_joint_calc_gt(bg_joint_form *f, double *gt)
{
    bg_multibody_calc_gt(&f->mb, gt);
    for (int k = 0; k < f->nrows; k++)
        gt[f->mb.nrows + k] = f->rows[k].signal >= 0 ? -f->mb.world.u_t[f->rows[k].signal] : 0.0;
}

/* Adds one body's part of a row. */
static void add_chain(bg_joint_form *f, int body, const double *J, int row, double *G)
{
    bg_vec3 force = bg_vec3_load(J), moment = bg_vec3_load(J + 3);
    bg_vec3 arm = bg_sub(f->mb.body[body].r, f->c);
    bg_spatial F = {bg_add(moment, bg_cross(arm, force)), force};
    for (int k = f->mech->body_link[body]; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + count(l); i++)
            G[bg_joint_find_place(&f->patterns.G, f->patterns.G_places, row, i)] += bg_spatial_dot(
                f->S[i], F);
    }
}

void bg_joint_calc_G(bg_joint_form *f, double *G)
{
    double J[36];
    memset(G, 0, bg_joint_count_places(&f->patterns.G) * sizeof(double));
    for (int k = 0; k < f->mb.ngroups; k++) {
        const bg_row_group *g = &f->mb.groups[k];
        const bg_primitive *p = &g->primitive;
        bool relation = p->kind == BG_PRIMITIVE_RELATION;
        int blocks = relation ? p->n : bg_primitive_get_rows(p);
        bg_primitive_calc_jacobian(&f->mb.world, p, J);
        for (int i = 0; i < blocks; i++) {
            int row = g->row + (relation ? 0 : i);
            add_chain(f, relation ? p->coordinate[i].a.body : p->a.body, J + 12 * i, row, G);
            add_chain(f, relation ? p->coordinate[i].b.body : p->b.body, J + 12 * i + 6, row, G);
        }
    }
    for (int k = 0; k < f->nrows; k++)
        for (int i = 0; i < f->rows[k].n; i++)
            G[bg_joint_find_place(&f->patterns.G, f->patterns.G_places, f->mb.nrows + k,
                                  f->mech->links[f->rows[k].link[i]].v)] += f->rows[k].factor[i];
}

void bg_joint_calc_gamma(bg_joint_form *f, double *gamma)
{
    bg_joint_update_acceleration(f, NULL);
    bg_multibody_calc_gamma(&f->mb, gamma);
    for (int k = 0; k < f->nrows; k++)
        gamma[f->mb.nrows + k] = f->rows[k].signal >= 0 ? -f->mb.world.u_tt[f->rows[k].signal]
                                                        : 0.0;
}

void bg_joint_add_direct_forces(const bg_joint_form *f, const double *lambda, double *tau)
{
    for (int k = 0; k < f->nrows; k++)
        for (int i = 0; i < f->rows[k].n; i++)
            tau[f->mech->links[f->rows[k].link[i]].v] -= f->rows[k].factor[i] *
                                                         lambda[f->mb.nrows + k];
}
