/* Redundant constraints are as many everywhere, but which of them can be left out changes with the
 * position: the third crank of a linkage of parallel cranks is redundant until the other two are in
 * line, and then it is the one that holds the mechanism together. As long as the kept rows have
 * remainders of at least a third of the best (linalg/rank.c) they stay, otherwise better ones take
 * their place. All describe the same motion, but for the precision of the data: the state is moved
 * onto the new ones, by no more than that. In a singular position, where no choice has the full
 * rank, the rows stay as they are; so they do where more entries would have to be decided upon
 * together than memory was reserved for (linalg/rank.c), and a warning says so. */
#include "integrators/selection.h"

#include "base/arena.h"
#include "base/memory.h"
#include "integrators/change_points.h"

#include <stdlib.h>
#include <string.h>

struct bg_selection {
    bg_rank *rank;
    double *G, *size;                  /* [size of G], [ng] */
    signed char *order;                /* [ng] */
    unsigned char *dependent, *before; /* [ng] */
    bg_state *moved;                   /* the state on the new rows */
    const bg_system *system;
    bg_arena arena;
};

static void list(void *object, bg_arena *arena)
{
    bg_selection *s = object;
    int ng = s->system->def.ng;
    BG_TAKE(arena, s->G, bg_system_get_size_G(s->system));
    BG_TAKE(arena, s->size, ng);
    BG_TAKE(arena, s->order, ng);
    BG_TAKE(arena, s->dependent, ng);
    BG_TAKE(arena, s->before, ng);
}

bg_status bg_selection_create(bg_evaluator *sys, bg_selection **selection, bg_error *err)
{
    int ng = sys->def.ng;
    bg_selection *s = *selection = BG_NEW(bg_selection);
    if (s)
        s->system = sys->system;
    bg_status st = s ? bg_rank_create(ng, sys->def.nv, sys->def.pattern_G, &s->rank, err)
                     : BG_NO_MEMORY;
    if (st == BG_OK)
        st = bg_rank_settle(s->rank, err);
    if (st == BG_OK)
        st = bg_state_create(sys->system, &s->moved, err);
    if (st == BG_OK && bg_arena_create(&s->arena, list, s))
        return BG_OK;
    bg_selection_destroy(s);
    *selection = NULL;
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the constraints of '%s'",
                        sys->def.name);
}

void bg_selection_destroy(bg_selection *s)
{
    if (!s)
        return;
    bg_rank_destroy(s->rank);
    bg_state_destroy(s->moved);
    bg_arena_clear(&s->arena);
    free(s);
}

bool bg_selection_is_needed(const bg_integrator *ig)
{
    for (int i = 0; i < ig->dyn->ng; i++)
        if (ig->dyn->eliminated[i])
            return true;
    return false;
}

/* dependent <- the rows to leave out at x0; false: those that are left out already. */
static bool choose(bg_selection *s, bg_integrator *ig)
{
    const bg_state *x = ig->x0;
    const bg_dynamics *d = ig->dyn;
    bg_terms terms = {.G = s->G};
    bg_point point;
    int kept = 0;
    for (int i = 0; i < d->ng; i++)
        kept += s->order[i] = !d->eliminated[i];
    if (kept == d->ng ||
        bg_system_set_point(ig->sys, x->t, x->q, x->v, x->z, x->mode, &point, NULL) != BG_OK ||
        bg_system_calc_terms(ig->sys, &point, BG_TERM_G, &terms, NULL) != BG_OK)
        return false;
    bg_system_calc_row_sizes(ig->sys->system, s->G, s->size);
    bg_rank_question question = {.A = s->G,
                                 .row_size = s->size,
                                 .column_size = ig->sys->def.v_size,
                                 .order = s->order,
                                 .most = kept,
                                 .tolerance = BG_RANK_DATA,
                                 .least = BG_RANK_ROUNDING,
                                 .quick = true};
    bg_rank_answer answer = {.dependent = s->dependent};
    const int rank = bg_rank_calc(s->rank, &question, &answer);
    if (rank < 0)
        bg_change_points_notice_undecided(ig);
    return rank == kept && memcmp(s->dependent, d->eliminated, (size_t)d->ng) != 0;
}

static void set_eliminated(bg_dynamics *d, const unsigned char *rows)
{
    memcpy(d->eliminated, rows, (size_t)d->ng);
    bg_kkt_set_eliminated(d->kkt, d->eliminated);
}

bool bg_selection_update(bg_selection *s, bg_integrator *ig)
{
    bg_dynamics *d = ig->dyn;
    if (!choose(s, ig))
        return false;
    memcpy(s->before, d->eliminated, (size_t)d->ng);
    set_eliminated(d, s->dependent);
    bg_state_copy(ig->sys->system, ig->x0, s->moved);
    if (bg_project_state(d, s->moved, NULL) != BG_OK) { /* as before: the next step will tell */
        set_eliminated(d, s->before);
        return false;
    }
    bg_state_copy(ig->sys->system, s->moved, ig->x0);
    return true;
}
