/* What the links of the tree carry and obey: inertias of the bodies on them, elements that drive
 * their coordinates, rows among these coordinates alone; and what recursions may leave out. */
#include "formalism/joint/joint_form.h"

#include <string.h>

/* Mass, centre and moment of inertia of the bodies on each link, in its axes. */
void bg_joint_collect_inertia(bg_joint_form *f)
{
    const bg_model *m = f->mb.model;
    for (int pass = 0; pass < 2; pass++) { /* first masses and centres, then moments about them */
        for (int b = 1; b < m->nbodies; b++) {
            int k = f->mech->body_link[b];
            if (k < 0)
                continue;
            const bg_frame *at = &f->mech->body_offset[b];
            bg_inertia *o = &f->own[k];
            if (pass == 0) {
                o->h = bg_add_scaled(o->h, m->bodies[b].mass, at->r);
                o->m += m->bodies[b].mass;
                continue;
            }
            bg_mat3 Rt = bg_mat3_transpose(&at->R),
                    RJ = bg_mat3_multiply(&at->R, &m->bodies[b].inertia);
            bg_mat3 J = bg_mat3_multiply(&RJ, &Rt);
            bg_inertia x = bg_inertia_about(m->bodies[b].mass, &J, bg_sub(at->r, o->h));
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    o->I.m[i][j] += x.I.m[i][j];
        }
        for (int k = 0; pass == 0 && k < f->mech->nlinks; k++)
            if (f->own[k].m > 0)
                f->own[k].h = bg_scale(1 / f->own[k].m, f->own[k].h);
    }
}

/* What update_position may leave out. */
void bg_joint_find_shortcuts(bg_joint_form *f)
{
    const bg_mat3 identity = bg_mat3_identity();
    const bg_inertia none = {0};
    for (int k = 0; k < f->mech->nlinks; k++) {
        f->is_shift[k] = memcmp(&f->mech->links[k].before.R, &identity, sizeof identity) == 0;
        f->is_massless[k] = memcmp(&f->own[k], &none, sizeof none) == 0;
    }
    for (int b = 1; b < f->mb.nbodies; b++)
        f->is_carried[b] = memcmp(&f->mech->body_offset[b].R, &identity, sizeof identity) == 0;
}

/* Elements that act along a coordinate of the tree. */
void bg_joint_find_driven(bg_joint_form *f)
{
    const bg_model *m = f->mb.model;
    for (int k = 0; k < m->nforces; k++) {
        const bg_force *x = &m->forces[k];
        f->driven[k] = -1;
        if (!x->class_->drive || f->mech->joint_tree[x->joint] < 0)
            continue;
        const bg_link *l = &f->mech
                                ->links[bg_mechanism_find_link(f->mech, x->joint, x->coordinate)];
        f->driven[k] = l->signal < 0 ? l->v : -1;
    }
}

/* Prescribed coordinates that are not eliminated, and couplers whose joints are all in the tree. */
void bg_joint_collect_rows(bg_joint_form *f)
{
    const bg_model *m = f->mb.model;
    for (int j = 0; j < m->njoints; j++)
        for (int c = 0; c < m->joints[j].class_->ncoordinates && f->mech->joint_tree[j] >= 0; c++)
            if (m->joints[j].start[c].signal >= 0 &&
                f->mech->links[bg_mechanism_find_link(f->mech, j, c)].signal < 0)
                f->rows[f->nrows++] = (bg_direct_row){
                    .n = 1,
                    .link = {bg_mechanism_find_link(f->mech, j, c)},
                    .factor = {1},
                    .coupler = -1,
                    .signal = m->joints[j].start[c].signal};
    for (int k = 0; k < m->ncouplers; k++) {
        const bg_coupler *x = &m->couplers[k];
        bg_direct_row r = {.n = x->n, .offset = x->offset, .signal = -1, .coupler = k};
        bool all = true;
        for (int i = 0; i < x->n; i++)
            all = all && f->mech->joint_tree[x->joint[i]] >= 0;
        for (int i = 0; all && i < x->n; i++) {
            r.link[i] = bg_mechanism_find_link(f->mech, x->joint[i], x->coordinate[i]);
            r.factor[i] = x->factor[i];
        }
        if (all)
            f->rows[f->nrows++] = r;
    }
}

void bg_joint_find_following(const bg_joint_form *f, bool *follows)
{
    const bg_link *links = f->mech->links;
    for (int b = 0; b < f->mb.nbodies; b++) {
        follows[b] = true;
        for (int k = f->mech->body_link[b]; k >= 0; k = links[k].parent)
            follows[b] = follows[b] && links[k].nv == 0;
    }
}

/* A tree is of one part, that of its bodies; links without bodies are of that behind them. */
void bg_joint_sort_parts(bg_joint_form *f)
{
    const bg_link *links = f->mech->links;
    bg_fast_part *x = &f->fast_part;
    if (!x->exist)
        return;
    for (int b = 1; b < f->mb.nbodies; b++)
        for (int k = f->mech->body_link[b]; k >= 0; k = links[k].parent) {
            f->is_fast[k] = f->is_fast[k] || x->body[b] == BG_PART_FAST;
            f->support[k] = f->support[k] || x->seen[b];
        }
    for (int k = 0; k < f->mech->nlinks; k++)
        for (int i = links[k].v; i < links[k].v + links[k].nv; i++)
            x->v[i] = f->is_fast[k] ? BG_PART_FAST : BG_PART_SLOW;
    bg_joint_find_floating(f);
    for (int k = 0; k < f->nrows; k++) { /* that of a velocity it acts on, if there is one */
        const bg_direct_row *r = &f->rows[k];
        bool fast = false;
        for (int i = 0; i < r->n; i++)
            fast = fast || (links[r->link[i]].nv > 0 && f->is_fast[r->link[i]]);
        x->g[f->mb.nrows + k] = fast ? BG_PART_FAST : BG_PART_SLOW;
    }
}
