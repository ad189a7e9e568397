/* The memory of an assembly, and the small steps that its files share. */
#include "consistent/assembly.h"

#include "base/memory.h"
#include "consistent/projection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void list(void *object, bg_arena *arena)
{
    bg_assembly *a = object;
    int nq = a->dyn->nq, nv = a->dyn->nv, ng = a->dyn->ng, nu = a->sys->def.nu;
    BG_TAKE(arena, a->guess, nq);
    BG_TAKE(arena, a->origin, nq);
    BG_TAKE(arena, a->trial, nq);
    BG_TAKE(arena, a->found, nq);
    BG_TAKE(arena, a->delta, nv);
    BG_TAKE(arena, a->increment, nv);
    BG_TAKE(arena, a->top, nv);
    BG_TAKE(arena, a->tau, ng);
    BG_TAKE(arena, a->scale, ng);
    BG_TAKE(arena, a->first, ng);
    BG_TAKE(arena, a->remainder, ng);
    BG_TAKE(arena, a->other_remainder, ng);
    BG_TAKE(arena, a->misfit, ng);
    BG_TAKE(arena, a->lever, nu);
    BG_TAKE(arena, a->shift, nu);
    BG_TAKE(arena, a->dependent, ng);
    BG_TAKE(arena, a->involved, ng);
    BG_TAKE(arena, a->other_dependent, ng);
    BG_TAKE(arena, a->other_involved, ng);
    BG_TAKE(arena, a->unused, ng);
    BG_TAKE(arena, a->order, ng);
    BG_TAKE(arena, a->chosen, ng);
}

bg_status bg_assembly_create(bg_evaluator *sys, bg_assembly **assembly, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    bg_assembly *a = *assembly = BG_NEW(bg_assembly);
    if (!a)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
    a->sys = sys;
    bg_status st = bg_state_create(sys->system, &a->before, err);
    if (st == BG_OK)
        st = bg_dynamics_create(sys, &a->dyn, err);
    if (st == BG_OK)
        st = bg_rank_create(def->ng, def->nv, def->pattern_G, &a->ranking, err);
    if (st == BG_OK && !bg_arena_create(&a->arena, list, a))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'", def->name);
    if (st != BG_OK) {
        bg_assembly_destroy(a);
        *assembly = NULL;
    }
    return st;
}

void bg_assembly_destroy(bg_assembly *a)
{
    if (!a)
        return;
    bg_arena_clear(&a->arena);
    bg_state_destroy(a->before);
    bg_rank_destroy(a->ranking);
    bg_dynamics_destroy(a->dyn);
    free(a);
}

bg_status bg_assembly_evaluate(bg_assembly *a, const double *q, unsigned want, bg_error *err)
{
    const bg_state *x = a->x;
    if (a->dyn->kinematic)
        want |= BG_TERM_V;
    bg_status st = bg_dynamics_evaluate(a->dyn, x->t, q, x->v, x->z, x->mode, want, err);
    if (st != BG_OK)
        return st;
    char name[96];
    if (bg_system_find_not_finite(a->sys->system, &a->dyn->terms, want, name, sizeof name))
        return bg_dynamics_report_not_finite(a->dyn, err);
    return BG_OK;
}

void bg_assembly_update_rank(bg_assembly *a, const unsigned char *fixed)
{
    int freedom = fixed ? -1
                        : a->sys->system->freedom; /* known: so many rows, however little is left */
    bg_rank_question question = {.A = a->dyn->terms.G,
                                 .fixed = fixed,
                                 .row_size = a->scale,
                                 .column_size = a->sys->def.v_size,
                                 .order = a->order,
                                 .most = freedom >= 0 ? a->dyn->nv - freedom : 0,
                                 .tolerance = freedom >= 0 ? BG_RANK_ROUNDING : BG_RANK_DATA,
                                 .least = BG_RANK_ROUNDING};
    bg_rank_answer answer = {
        .dependent = a->dependent, .involved = a->involved, .remainder = a->remainder};
    a->rank = bg_rank_calc(a->ranking, &question, &answer);
    memcpy(a->dyn->eliminated, a->dependent, (size_t)a->dyn->ng);
    bg_kkt_set_eliminated(a->dyn->kkt, a->rank < a->dyn->ng ? a->dependent : NULL);
    bg_kkt_set_fixed(a->dyn->kkt, fixed);
}

double bg_assembly_calc_size(const bg_assembly *a, const double *increment, const double *q)
{
    double size = bg_project_calc_size(a->dyn, increment, q);
    return isfinite(size) ? size : HUGE_VAL;
}
