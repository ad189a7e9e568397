/* The joint formalism: its memory, its creation, and what forces and outputs ask it for. */
#include "formalism/joint/joint_form.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void mb_update(bg_multibody *mb, const bg_point *p, const double *a)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    bg_joint_update(f, p);
    if (a)
        bg_joint_update_acceleration(f, a);
}

static bool mb_find_coordinate(bg_multibody *mb, int joint, int coordinate, const bg_point *p,
                               const double *a, double out[3])
{
    const bg_joint_form *f = (const bg_joint_form *)mb;
    if (f->mech->joint_tree[joint] < 0)
        return false;
    const bg_link *l = &f->mech->links[bg_mechanism_find_link(f->mech, joint, coordinate)];
    if (l->signal >= 0) {
        out[0] = f->u[l->place - f->nv];
        out[1] = f->u_t[l->place - f->nv];
        out[2] = f->u_t[l->place - f->nv + f->nfollowing];
        return true;
    }
    out[0] = p->q[l->q];
    out[1] = p->v[l->v];
    out[2] = a ? a[l->v] : 0;
    return true;
}

/* What stays as it is, but for what depends on the number of rows. */
static void list_constants(void *object, bg_arena *arena)
{
    bg_joint_form *f = object;
    int links = f->mech->nlinks;
    BG_TAKE(arena, f->own, links);
    BG_TAKE(arena, f->is_shift, links);
    BG_TAKE(arena, f->is_massless, links);
    BG_TAKE(arena, f->is_carried, f->mb.nbodies);
    BG_TAKE(arena, f->rows, f->nv + f->mb.model->ncouplers);
    BG_TAKE(arena, f->following, f->nfollowing);
    BG_TAKE(arena, f->driven, f->mb.model->nforces);
    BG_TAKE(arena, f->diagonal, f->nv);
    BG_TAKE(arena, f->q0, f->nq);
    BG_TAKE(arena, f->v0, f->nv);
    BG_TAKE(arena, f->mb.block, f->nv);
    BG_TAKE(arena, f->mb.endless, f->nv);
    BG_TAKE(arena, f->q_fixed, f->nv);
    BG_TAKE(arena, f->marks, f->nv);
    BG_TAKE(arena, f->is_fast, links);
    BG_TAKE(arena, f->support, links);
    BG_TAKE(arena, f->by_recursion, links);
    BG_TAKE(arena, f->floating, links);
}

static void list_names(void *object, bg_arena *arena)
{
    bg_joint_form *f = object;
    BG_TAKE(arena, f->q_names, f->nq);
    BG_TAKE(arena, f->v_names, f->nv);
    BG_TAKE(arena, f->g_names, f->ng);
    BG_TAKE(arena, f->q_units, f->nq);
    BG_TAKE(arena, f->v_units, f->nv);
    BG_TAKE(arena, f->g_units, f->ng);
    BG_TAKE(arena, f->v_size, f->nv);
    BG_TAKE(arena, f->g_size, f->ng);
    BG_TAKE(arena, f->names, f->nq + f->nv + f->ng);
}

static void list_scratch(void *object, bg_arena *arena)
{
    bg_joint_form *f = object;
    int links = f->mech->nlinks, nv = f->nv, following = f->nfollowing;
    bg_multibody_take_scratch(&f->mb, arena);
    BG_TAKE(arena, f->L, links);
    BG_TAKE(arena, f->S, nv + following);
    BG_TAKE(arena, f->V, links);
    BG_TAKE(arena, f->bias, links);
    BG_TAKE(arena, f->A, links);
    BG_TAKE(arena, f->F, links);
    BG_TAKE(arena, f->I, links);
    BG_TAKE(arena, f->composite, links);
    BG_TAKE(arena, f->articulated, links);
    BG_TAKE(arena, f->p, links);
    BG_TAKE(arena, f->U, nv);
    BG_TAKE(arena, f->D, nv);
    BG_TAKE(arena, f->rest, nv);
    BG_TAKE(arena, f->u, following);
    BG_TAKE(arena, f->u_t, 2 * following);
    BG_TAKE(arena, f->q_now, f->nq + following);
    BG_TAKE(arena, f->v_now, nv + 2 * following);
    f->places = bg_joint_count_places(&f->patterns.G);
    BG_TAKE(arena, f->G_now, f->places);
    BG_TAKE(arena, f->shift, nv + following);
    BG_TAKE(arena, f->sums, links);
    BG_TAKE(arena, f->tau, nv);
    BG_TAKE(arena, f->jump, following > 0 ? nv : 0);
    BG_TAKE(arena, f->part, nv > f->mb.nz ? nv : f->mb.nz);
    BG_TAKE(arena, f->inside, f->mb.nbodies);
}

static void forget(bg_multibody *mb)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    f->placed = f->moving = f->weighed = f->held = false;
}

static void detach(bg_multibody *mb)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    memset(&f->expansion, 0, sizeof f->expansion);
}

static void clear_fork(bg_multibody *mb)
{
    bg_joint_clear_expansion((bg_joint_form *)mb);
}

static const bg_form itself = {sizeof(bg_joint_form), list_scratch, forget, detach, clear_fork};

static bg_status fill(bg_joint_form *f, bg_error *err)
{
    const bg_model *m = f->mb.model;
    bool *in_tree = BG_NEW_ARRAY(bool, m->njoints);
    if (!in_tree)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    for (int k = 0; k < m->njoints; k++)
        in_tree[k] = f->mech->joint_tree[k] >= 0;
    f->mb.form = &itself;
    bg_status st = bg_multibody_create(m, in_tree, &f->mb, err);
    free(in_tree);
    if (st != BG_OK)
        return st;
    f->nq = f->mech->nq;
    f->nv = f->mech->nv;
    f->nfollowing = f->mech->nfollowing;
    if (!bg_arena_create(&f->constants, list_constants, f) || !bg_multibody_create_scratch(&f->mb))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    for (int k = 0; k < f->mech->nlinks; k++)
        if (f->mech->links[k].signal >= 0)
            f->following[f->mech->links[k].place - f->nv] = f->mech->links[k].signal;
    bg_joint_collect_inertia(f);
    bg_joint_find_blocks(f);
    bg_joint_find_shortcuts(f);
    bg_joint_collect_rows(f);
    f->ng = f->mb.nrows + f->nrows;
    if (!bg_arena_create(&f->named, list_names, f))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    bg_joint_calc_sizes(f);
    bg_joint_name_all(f);
    f->mb.update = mb_update;
    f->mb.find_coordinate = mb_find_coordinate;
    f->mb.calc_tree_reaction = bg_joint_calc_tree_reaction;
    f->mb.transmit = bg_joint_transmit;
    f->mb.find_coupler = bg_joint_find_coupler;
    f->mb.jump = f->nfollowing > 0 ? bg_joint_jump : NULL;
    double t = isnan(m->t_start) ? 0.0 : m->t_start;
    bg_multibody_start(&f->mb, t, f->q0, f->v0); /* signals, which rates may follow */
    bg_joint_update_position(f, f->q0);
    st = bg_joint_guess_velocity(f, f->v0, err);
    if (st != BG_OK)
        return st;
    bg_multibody_start(&f->mb, t, f->q0, f->v0);
    double *lambda = BG_NEW_ARRAY(double, f->ng);
    bg_joint_find_driven(f);
    bg_joint_find_following(f, f->inside);
    bool good = lambda && bg_joint_make_patterns(f, lambda) &&
                bg_fast_part_create(&f->mb, f->nv, f->ng, f->inside, &f->fast_part);
    if (good)
        bg_joint_sort_parts(f);
    f->mb
        .driven = f->driven; /* patterns are from all pairs of bodies: they have all that is left */
    free(lambda);
    return good ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
}

bg_status bg_joint_form_create(const bg_model *model, bool constrain, bg_joint_form **form,
                               bg_error *err)
{
    *form = NULL;
    bg_joint_form *f = BG_NEW(bg_joint_form);
    if (!f)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", model->name);
    f->mb.model = model;
    bg_status st = bg_mechanism_create_as(model, constrain, &f->mech, err);
    if (st == BG_OK)
        st = fill(f, err);
    if (st != BG_OK) {
        bg_joint_form_destroy(f);
        return st;
    }
    *form = f;
    return BG_OK;
}

void bg_joint_form_destroy(void *form)
{
    bg_joint_form *f = form;
    if (!f)
        return;
    bg_multibody_clear(&f->mb);
    bg_joint_clear_patterns(f);
    bg_joint_clear_expansion(f);
    bg_fast_part_clear(&f->fast_part);
    bg_mechanism_destroy(f->mech);
    bg_arena_clear(&f->constants);
    bg_arena_clear(&f->named);
    bg_arena_clear(&f->mb.scratch);
    free(f);
}
