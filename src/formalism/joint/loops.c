/* Constraint rows in joint coordinates. A body-level row J . (v_b, w_b) is a spatial force about c;
 * its entry for velocity coordinate k is that force's power on S_k, for every k on the way to the
 * ground. With links that follow signals on the way, g_t has the same sum over their S u_t. */
#include "formalism/couplings.h"
#include "formalism/joint/joint_form.h"

#include <string.h>

void bg_joint_calc_g(bg_joint_form *f, double *g)
{
    bg_multibody_calc_g(&f->mb, g);
    for (int k = 0; k < f->nrows; k++) {
        const bg_direct_row *r = &f->rows[k];
        double sum = -r->offset - (r->signal >= 0 ? f->mb.world.u[r->signal] : 0.0);
        for (int i = 0; i < r->n; i++)
            sum += r->factor[i] * f->q_now[f->mech->links[r->link[i]].q];
        g[f->mb.nrows + k] = sum;
    }
}

/* A direct row of rates: factors times those of links that follow signals, less its own signal's.
 */
static double sum_rates(const bg_joint_form *f, const bg_direct_row *r, const double *u_t,
                        const double *own)
{
    double sum = r->signal >= 0 ? -own[r->signal] : 0.0;
    for (int i = 0; i < r->n && f->nfollowing > 0; i++) {
        const bg_link *l = &f->mech->links[r->link[i]];
        sum += l->signal >= 0 ? r->factor[i] * u_t[l->place - f->nv] : 0.0;
    }
    return sum;
}

double bg_joint_calc_following(const bg_joint_form *f, int body, const double *J)
{
    bg_spatial F = bg_joint_make_force(f, body, J);
    double sum = 0;
    for (int k = f->mech->body_link[body]; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        if (l->signal >= 0)
            sum += bg_spatial_dot(f->S[l->place], F) * f->u_t[l->place - f->nv];
    }
    return sum;
}

typedef void visit_block(bg_joint_form *f, int body, const double *J, int row, double *out);

/* Every body's part of every body-level row, or of those of the fast part. */
static void visit_blocks(bg_joint_form *f, bool fast, visit_block *visit, double *out)
{
    double J[36];
    for (int k = 0; k < f->mb.ngroups; k++) {
        const bg_row_group *g = &f->mb.groups[k];
        if (fast && f->fast_part.g[g->row] != BG_PART_FAST)
            continue;
        const bg_primitive *p = &g->primitive;
        bool relation = p->kind == BG_PRIMITIVE_RELATION;
        int blocks = relation ? p->n : bg_primitive_get_rows(p);
        bg_primitive_calc_jacobian(&f->mb.world, p, J);
        for (int i = 0; i < blocks; i++) {
            int row = g->row + (relation ? 0 : i);
            visit(f, relation ? p->coordinate[i].a.body : p->a.body, J + 12 * i, row, out);
            visit(f, relation ? p->coordinate[i].b.body : p->b.body, J + 12 * i + 6, row, out);
        }
    }
}

static void add_following(bg_joint_form *f, int body, const double *J, int row, double *gt)
{
    gt[row] += bg_joint_calc_following(f, body, J);
}

void bg_joint_calc_gt(bg_joint_form *f, double *gt)
{
    bg_multibody_calc_gt(&f->mb, gt);
    for (int k = 0; k < f->nrows; k++)
        gt[f->mb.nrows + k] = sum_rates(f, &f->rows[k], f->u_t, f->mb.world.u_t);
    if (f->nfollowing > 0)
        visit_blocks(f, false, add_following, gt);
}

/* Adds one body's part of a row. */
static void add_chain(bg_joint_form *f, int body, const double *J, int row, double *G)
{
    bg_spatial F = bg_joint_make_force(f, body, J);
    for (int k = f->mech->body_link[body]; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            G[bg_joint_find_place(&f->patterns.G, f->patterns.G_places, row, i)] += bg_spatial_dot(
                f->S[i], F);
    }
}

static void calc_G(bg_joint_form *f, bool fast, double *G)
{
    memset(G, 0, bg_joint_count_places(&f->patterns.G) * sizeof(double));
    visit_blocks(f, fast, add_chain, G);
    for (int k = 0; k < f->nrows; k++)
        for (int i = 0; i < f->rows[k].n; i++) {
            const bg_link *l = &f->mech->links[f->rows[k].link[i]];
            if (l->signal < 0)
                G[bg_joint_find_place(&f->patterns.G, f->patterns.G_places, f->mb.nrows + k,
                                      l->v)] += f->rows[k].factor[i];
        }
}

void bg_joint_calc_G(bg_joint_form *f, double *G)
{
    if (!f->held)
        calc_G(f, false, G);
    if (f->places > 0)
        memcpy(f->held ? G : f->G_now, f->held ? f->G_now : G, f->places * sizeof(double));
    f->held = f->places > 0;
}

void bg_joint_calc_fast_G(bg_joint_form *f, double *G)
{
    calc_G(f, true, G);
}

/* One body's part of a row of J, or what acts on it, in a column of r by lambda. */
static void add_column(bg_joint_form *f, int body, const double *J, int row, double *block)
{
    bg_spatial F = bg_joint_make_force(f, body, J);
    for (int k = f->mech->body_link[body]; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            block[i * f->ng + row] += bg_spatial_dot(f->S[i], F);
    }
}

typedef struct lambda_target {
    bg_joint_form *f;
    double *block;
} lambda_target;

static void take_off(void *self, int of, int row, const double wrench[6])
{
    const lambda_target *t = self;
    double J[6];
    for (int i = 0; i < 6; i++)
        J[i] = -wrench[i];
    add_column(t->f, of, J, row, t->block);
}

void bg_joint_calc_by_lambda(bg_joint_form *f, double *block)
{
    lambda_target t = {f, block};
    memset(block, 0, (size_t)f->nv * (size_t)f->ng * sizeof(double));
    visit_blocks(f, false, add_column, block);
    for (int k = 0; k < f->nrows; k++)
        for (int i = 0; i < f->rows[k].n; i++) {
            const bg_link *l = &f->mech->links[f->rows[k].link[i]];
            if (l->signal < 0)
                block[l->v * f->ng + f->mb.nrows + k] += f->rows[k].factor[i];
        }
    bg_couplings_visit_lambda(&f->mb, take_off, &t);
}

static void calc_direct_gamma(const bg_joint_form *f, double *gamma)
{
    for (int k = 0; k < f->nrows; k++)
        gamma[f->mb.nrows + k] = sum_rates(f, &f->rows[k], f->u_t + f->nfollowing,
                                           f->mb.world.u_tt);
}

void bg_joint_calc_gamma(bg_joint_form *f, double *gamma)
{
    bg_joint_update_acceleration(f, NULL);
    bg_multibody_calc_gamma(&f->mb, gamma);
    calc_direct_gamma(f, gamma);
}

void bg_joint_calc_fast_gamma(bg_joint_form *f, double *gamma)
{
    bg_joint_update_fast_acceleration(f);
    bg_fast_part_calc_gamma(&f->mb, &f->fast_part, gamma);
    calc_direct_gamma(f, gamma);
}

void bg_joint_add_direct_forces(const bg_joint_form *f, const double *lambda, double *tau)
{
    for (int k = 0; k < f->nrows; k++)
        for (int i = 0; i < f->rows[k].n; i++) {
            const bg_link *l = &f->mech->links[f->rows[k].link[i]];
            if (l->signal < 0)
                tau[l->v] -= f->rows[k].factor[i] * lambda[f->mb.nrows + k];
        }
}
