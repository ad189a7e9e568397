/* What signals do in joint coordinates: the power of links that follow them, and derivatives by
 * those that stand in rows and forces as such.
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

void bg_joint_add_row_signals(const bg_joint_form *f, double *block)
{
    int nu = f->mb.model->nsignals;
    bg_multibody_add_row_signals(&f->mb, block);
    for (int k = 0; block && k < f->nrows; k++) {
        const bg_direct_row *r = &f->rows[k];
        double *row = block + (f->mb.nrows + k) * nu;
        if (r->signal >= 0)
            row[r->signal] -= 1;
        for (int i = 0; i < r->n; i++)
            if (f->mech->links[r->link[i]].signal >= 0)
                row[f->mech->links[r->link[i]].signal] += r->factor[i];
    }
}

/* A column of r. */
typedef struct drive_column {
    bg_joint_form *f;
    double *block;
} drive_column;

static void add_force_column(void *self, const bg_wrench *wrench, int signal)
{
    const drive_column *c = self;
    bg_joint_form *f = c->f;
    for (int k = 0; k < f->mech->nlinks; k++)
        f->F[k] = rest;
    for (int b = 1; b < f->mb.nbodies; b++) {
        int k = f->mech->body_link[b];
        if (k < 0)
            continue;
        bg_vec3 arm = bg_sub(f->mb.body[b].r, f->c);
        bg_spatial W = {bg_add(wrench[b].n, bg_cross(arm, wrench[b].f)), wrench[b].f};
        f->F[k] = bg_spatial_add(f->F[k], W);
    }
    for (int k = f->mech->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv; i++)
            c->block[i * f->mb.model->nsignals + signal] -= bg_spatial_dot(f->S[i], f->F[k]);
        if (l->parent >= 0)
            f->F[l->parent] = bg_spatial_add(f->F[l->parent], f->F[k]);
    }
}

void bg_joint_add_force_signals(bg_joint_form *f, bg_derivatives *out)
{
    for (int by = BG_BY_u; by <= BG_BY_u_t; by++) {
        drive_column c = {f, out->block[BG_OF_r][by]};
        bg_signal_visit visit = {.by = (bg_by)by,
                                 .force = c.block ? add_force_column : NULL,
                                 .self = &c,
                                 .h = out->block[BG_OF_h][by],
                                 .only_stiff = out->only_stiff != 0};
        bg_multibody_visit_signals(&f->mb, &visit);
    }
}
