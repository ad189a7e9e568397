/* Coordinates and rows of the joint form as others see them: start values, names, blocks that a
 * turn of the model mixes, and what a large displacement or violation is. */
#include "base/memory.h"
#include "formalism/joint/joint_form.h"
#include "formalism/sizes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Start values and names of the coordinates of link k, which belongs to tree joint t. */
static void start_link(bg_joint_form *f, const bg_tree_joint *t, int k, int *name)
{
    const bg_link *l = &f->mech->links[k];
    const bg_model *m = f->mb.model;
    const bg_joint *j = l->joint >= 0 ? &m->joints[l->joint] : NULL;
    const char *owner = j ? j->name : m->bodies[t->child].name; /* loose bodies have no joint */
    if (l->kind == BG_LINK_BALL) {
        static const char *const q_parts[] = {"p0", "p1", "p2", "p3"}, *const v_parts[] = {
                                                                           "wx", "wy", "wz"};
        f->q0[l->q] = 1;
        for (int i = 0; i < 4; i++) {
            snprintf(f->names[*name], sizeof *f->names, "%.50s.%s", owner, q_parts[i]);
            f->q_names[l->q + i] = f->names[(*name)++];
        }
        for (int i = 0; i < 3; i++) {
            snprintf(f->names[*name], sizeof *f->names, "%.50s.%s", owner, v_parts[i]);
            f->v_units[l->v + i] = "rad/s";
            f->v_names[l->v + i] = f->names[(*name)++];
        }
        return;
    }
    if (l->signal >= 0)
        return;
    const char *part = l->axis == 0 ? "x" : l->axis == 1 ? "y" : "z";
    for (int c = 0; j && c < j->class_->ncoordinates; c++)
        if (bg_mechanism_find_link(f->mech, l->joint, c) == k) {
            part = j->class_->coordinate[c].name;
            f->q0[l->q] = j->start[c].q;
            f->q_fixed[l->v] = j->start[c].q_fixed;
        }
    snprintf(f->names[*name], sizeof *f->names, "%.50s.%s", owner, part);
    f->q_units[l->q] = l->kind == BG_LINK_TRANSLATE ? "m" : "rad";
    f->v_units[l->v] = l->kind == BG_LINK_TRANSLATE ? "m/s" : "rad/s";
    f->q_names[l->q] = f->v_names[l->v] = f->names[(*name)++];
}

static void name_rows(bg_joint_form *f, int *name)
{
    for (int k = 0; k < f->mb.ngroups; k++)
        for (int i = 0; i < bg_primitive_get_rows(&f->mb.groups[k].primitive); i++) {
            bg_multibody_name_row(&f->mb, k, i, f->names[*name], sizeof *f->names);
            f->g_units[f->mb.groups[k].row + i] = bg_multibody_get_row_unit(&f->mb, k);
            f->g_names[f->mb.groups[k].row + i] = f->names[(*name)++];
        }
    for (int k = 0; k < f->nrows; k++) {
        const bg_direct_row *r = &f->rows[k];
        if (r->coupler >= 0)
            snprintf(f->names[*name], sizeof *f->names, "%.50s",
                     f->mb.model->couplers[r->coupler].name);
        else
            snprintf(f->names[*name], sizeof *f->names, "%.57s.drive",
                     f->q_names[f->mech->links[r->link[0]].q]);
        const bg_link *last = &f->mech->links[r->link[r->n - 1]];
        f->g_units[f->mb.nrows + k] = last->kind == BG_LINK_TRANSLATE ? "N" : "N m";
        f->g_names[f->mb.nrows + k] = f->names[(*name)++];
    }
}

void bg_joint_name_all(bg_joint_form *f)
{
    int name = 0;
    for (int t = 0; t < f->mech->ntree; t++)
        for (int k = 0; k < f->mech->tree[t].count; k++)
            start_link(f, &f->mech->tree[t], f->mech->tree[t].first + k, &name);
    name_rows(f, &name);
}

/* Balls, and the three directions in which a free joint slides; angles that may turn for ever. */
void bg_joint_find_blocks(bg_joint_form *f)
{
    const bg_mechanism *x = f->mech;
    for (int t = 0; t < x->ntree; t++)
        for (int k = x->tree[t].first; k < x->tree[t].first + x->tree[t].count; k++) {
            const bg_link *l = &x->links[k];
            bool slides = x->tree[t].count == 4 && l->kind == BG_LINK_TRANSLATE;
            bool goes_on = slides && k > x->tree[t].first &&
                           x->links[k - 1].kind == BG_LINK_TRANSLATE;
            for (int i = l->v; i < l->v + l->nv; i++)
                f->mb.block[i] = goes_on ? f->mb.block[l->v - 1] : l->v;
            if (l->nv == 1)
                f->mb.endless[l->v] = l->kind == BG_LINK_ROTATE;
        }
}

/* The displacement of a link that is large; body: sizes. */
static double calc_link_size(const bg_mechanism *x, const bg_tree_joint *t, int link,
                             const double *body)
{
    return x->links[link].kind == BG_LINK_TRANSLATE ? body[t->child] : 1;
}

void bg_joint_calc_sizes(bg_joint_form *f)
{
    const bg_mechanism *x = f->mech;
    const double *body = f->mb.reach;
    bg_sizes_calc_rows(&f->mb, body, f->g_size);
    for (int t = 0; t < x->ntree; t++)
        for (int k = x->tree[t].first; k < x->tree[t].first + x->tree[t].count; k++)
            for (int i = 0; i < x->links[k].nv; i++)
                f->v_size[x->links[k].v + i] = calc_link_size(x, &x->tree[t], k, body);
    for (int k = 0; k < f->nrows; k++) {
        double size = 0;
        for (int i = 0; i < f->rows[k].n; i++) {
            int link = f->rows[k].link[i];
            const bg_tree_joint *t = &x->tree[x->joint_tree[x->links[link].joint]];
            size = fmax(size, fabs(f->rows[k].factor[i]) * calc_link_size(x, t, link, body));
        }
        f->g_size[f->mb.nrows + k] = size > 0 ? size : 1;
    }
}
