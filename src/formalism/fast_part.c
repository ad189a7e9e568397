#include "formalism/fast_part.h"

#include "formalism/multibody.h"

static void list(void *object, bg_arena *arena)
{
    bg_fast_part *x = object;
    BG_TAKE(arena, x->v, x->nv);
    BG_TAKE(arena, x->z, x->of->nz);
    BG_TAKE(arena, x->g, x->ng);
    BG_TAKE(arena, x->body, x->of->nbodies);
    BG_TAKE(arena, x->acts, x->of->model->nforces);
    BG_TAKE(arena, x->seen, x->of->nbodies);
}

static bool has_fast(const bg_model *m)
{
    for (int b = 1; b < m->nbodies; b++)
        if (m->bodies[b].fast)
            return true;
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].fast)
            return true;
    return false;
}

/* An element depends on the bodies that its derivatives list. */
static void sort_force(const bg_multibody *mb, const bg_force *f, bg_fast_part *x)
{
    bg_force_derivatives d;
    bool fast = f->fast;
    f->class_->derivatives(f, &mb->world, &d);
    for (int i = 0; i < d.nbodies; i++)
        fast = fast || x->body[d.body[i]] == BG_PART_FAST;
    for (int i = 0; i < f->nz; i++)
        x->z[f->z0 + i] = fast ? BG_PART_FAST : BG_PART_SLOW;
    x->acts[f->index] = fast;
    for (int i = 0; i < d.nbodies && fast; i++)
        x->seen[d.body[i]] = true;
}

static void sort_turn(const bg_turn *t, bg_fast_part *x)
{
    const int a = t->coordinate.a.body, b = t->coordinate.b.body;
    const bool fast = (x->body[a] | x->body[b]) & BG_PART_FAST;
    x->z[t->z] = fast ? BG_PART_FAST : BG_PART_SLOW;
    x->seen[a] = x->seen[a] || fast;
    x->seen[b] = x->seen[b] || fast;
}

/* What no velocity moves is slow. */
static void sort_rows(const bg_row_group *group, bg_fast_part *x)
{
    unsigned char part = 0;
    int a, b;
    for (int k = 0; k < bg_row_group_count_pairs(group); k++) {
        bg_row_group_get_pair(group, k, &a, &b);
        part |= x->body[a] | x->body[b];
    }
    for (int k = 0; k < bg_row_group_count_pairs(group) && part == BG_PART_FAST; k++) {
        bg_row_group_get_pair(group, k, &a, &b);
        x->seen[a] = x->seen[b] = true;
    }
    for (int i = 0; i < bg_primitive_get_rows(&group->primitive); i++)
        x->g[group->row + i] = part ? part : BG_PART_SLOW;
}

bool bg_fast_part_create(bg_multibody *mb, int nv, int ng, const bool *follows, bg_fast_part *x)
{
    const bg_model *m = mb->model;
    *x = (bg_fast_part){.exist = has_fast(m), .nv = nv, .ng = ng, .of = mb};
    if (!x->exist)
        return true;
    if (!bg_arena_create(&x->arena, list, x))
        return false;
    for (int b = 1; b < m->nbodies; b++) {
        if (follows && follows[b])
            continue;
        x->body[b] = m->bodies[b].fast ? BG_PART_FAST : BG_PART_SLOW;
        x->seen[b] = m->bodies[b].fast;
    }
    for (int k = 0; k < m->nforces; k++)
        sort_force(mb, &m->forces[k], x);
    for (int k = 0; k < mb->nturns; k++)
        sort_turn(&mb->turns[k], x);
    for (int k = 0; k < mb->ngroups; k++)
        sort_rows(&mb->groups[k], x);
    return true;
}

void bg_fast_part_clear(bg_fast_part *x)
{
    bg_arena_clear(&x->arena);
}

void bg_fast_part_apply_forces(bg_multibody *mb, const bg_fast_part *x)
{
    const bg_model *m = mb->model;
    for (int b = 0; b < mb->nbodies; b++) {
        const double mass = x->body[b] == BG_PART_FAST ? m->bodies[b].mass : 0.0;
        mb->wrench[b] = (bg_wrench){bg_scale(mass, m->gravity), {0, 0, 0}};
    }
    for (int k = 0; k < m->nforces; k++)
        if (x->acts[k])
            m->forces[k].class_->apply(&m->forces[k], &mb->world, mb->wrench);
}

void bg_fast_part_apply_reactions(bg_multibody *mb, const bg_fast_part *x, const double *lambda)
{
    for (int k = 0; k < mb->ngroups; k++)
        if (x->g[mb->groups[k].row] == BG_PART_FAST)
            bg_multibody_apply_reaction(mb, k, lambda);
}

void bg_fast_part_calc_gamma(bg_multibody *mb, const bg_fast_part *x, double *gamma)
{
    for (int k = 0; k < mb->ngroups; k++)
        if (x->g[mb->groups[k].row] == BG_PART_FAST)
            bg_multibody_calc_group_gamma(mb, k, gamma);
}

void bg_fast_part_calc_rates(bg_multibody *mb, const bg_fast_part *x, double *z_t)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nforces; k++)
        if (x->acts[k] && m->forces[k].nz > 0)
            m->forces[k].class_->rates(&m->forces[k], &mb->world, z_t + m->forces[k].z0);
    for (int k = 0; k < mb->nturns; k++)
        if (x->z[mb->turns[k].z] == BG_PART_FAST)
            z_t[mb->turns[k].z] = bg_coordinate_calc_rate(&mb->world, &mb->turns[k].coordinate);
}
