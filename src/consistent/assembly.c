/* The memory of an assembly, and the small steps that its files share. */
#include "consistent/assembly.h"

#include "base/memory.h"
#include "consistent/projection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *take(double **room, int n)
{
    double *array = *room;
    *room += n;
    return array;
}

static bool allocate(bg_assembly *a)
{
    int nq = a->dyn->nq, nv = a->dyn->nv, ng = a->dyn->ng, nu = a->sys->def.nu;
    size_t n = (size_t)ng;
    double *room = a->doubles = BG_NEW_ARRAY(double, 4 * (size_t)nq + 3 * (size_t)nv +
                                                         2 * (size_t)nu + 6 * n);
    unsigned char *flags = a->flags = BG_NEW_ARRAY(unsigned char, 5 * n);
    a->order = BG_NEW_ARRAY(signed char, 2 * n);
    if (!room || !flags || !a->order)
        return false;
    a->guess = take(&room, nq);
    a->origin = take(&room, nq);
    a->trial = take(&room, nq);
    a->found = take(&room, nq);
    a->delta = take(&room, nv);
    a->increment = take(&room, nv);
    a->top = take(&room, nv);
    a->tau = take(&room, ng);
    a->scale = take(&room, ng);
    a->first = take(&room, ng);
    a->remainder = take(&room, ng);
    a->other_remainder = take(&room, ng);
    a->misfit = take(&room, ng);
    a->lever = take(&room, nu);
    a->shift = take(&room, nu);
    a->dependent = flags;
    a->involved = flags + n;
    a->other_dependent = flags + 2 * n;
    a->other_involved = flags + 3 * n;
    a->unused = flags + 4 * n;
    a->chosen = a->order + n;
    return true;
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
    if (st == BG_OK && !allocate(a))
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
    free(a->doubles);
    free(a->flags);
    free(a->order);
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
    bg_rank_answer answer = {a->dependent, a->involved, a->remainder};
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
