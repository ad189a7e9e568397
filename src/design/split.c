#include "design/split.h"

#include "base/memory.h"
#include "system/separability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double alike = 0.9;    /* groups with such a ratio of eigenvalues stay together */
static const double present = 1e-6; /* an entry of A beside the largest of its row */
static const double margin = 1.02;  /* of the largest stable step over the one that is taken */

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the choice of a fast part");
}

static void list(void *object, bg_arena *arena)
{
    bg_split *s = object;
    BG_TAKE(arena, s->group, s->nv);
    BG_TAKE(arena, s->g_group, s->ng);
    BG_TAKE(arena, s->largest, s->nv);
    BG_TAKE(arena, s->order, s->nv);
    BG_TAKE(arena, s->v, s->nv);
    BG_TAKE(arena, s->z, s->nz);
    BG_TAKE(arena, s->g, s->ng);
}

/* Whether entry (i, j) of A is more than rounding. */
static bool is_present(const bg_rates *r, int i, int j)
{
    double most = 0;
    for (int k = 0; k < r->nx; k++)
        most = fmax(most, fabs(r->A[i * r->nx + k]));
    return fabs(r->A[i * r->nx + j]) > present * most;
}

/* A state is fast where it acts on what is fast or depends on it. */
static void mark_states(bg_split *s, const bg_rates *r, const bg_linearisation *l)
{
    for (int k = 0; k < s->nz; k++) {
        bool fast = false;
        for (int i = 0; i < r->n && !fast; i++)
            if (s->v[l->tangent->independent[i]] == BG_PART_FAST)
                fast = is_present(r, 2 * r->n + k, i) || is_present(r, 2 * r->n + k, r->n + i) ||
                       is_present(r, r->n + i, 2 * r->n + k);
        s->z[k] = fast ? BG_PART_FAST : BG_PART_SLOW;
    }
}

/* Groups [from, to) of the order are fast. */
static void mark(bg_split *s, const bg_rates *r, const bg_linearisation *l, int from, int to)
{
    memset(s->v, BG_PART_SLOW, (size_t)s->nv);
    memset(s->g, BG_PART_SLOW, (size_t)s->ng);
    for (int k = from; k < to; k++) {
        for (int i = 0; i < s->nv; i++)
            if (s->group[i] == s->order[k])
                s->v[i] = BG_PART_FAST;
        for (int i = 0; i < s->ng; i++)
            if (s->g_group[i] == s->order[k])
                s->g[i] = BG_PART_FAST;
    }
    mark_states(s, r, l);
}

void bg_split_mark(bg_split *s, const bg_rates *r, const bg_linearisation *l, int groups)
{
    mark(s, r, l, 0, groups);
}

static bg_status find_largest(const bg_rates *r, unsigned part, double *largest, bg_error *err)
{
    bg_rates_spectrum spectrum;
    bg_status st = bg_rates_calc_spectrum(r, part, &spectrum, err);
    *largest = spectrum.count > 0 ? hypot(spectrum.re[0], spectrum.im[0]) : 0;
    bg_rates_spectrum_clear(&spectrum);
    return st;
}

/* The eigenvalues of each group by itself, and their order. */
static bg_status sort_groups(bg_split *s, bg_rates *r, const bg_linearisation *l, bg_error *err)
{
    bg_status st = BG_OK;
    for (int k = 0; k < s->ngroups && st == BG_OK; k++) {
        s->order[k] = k;
        mark(s, r, l, k, k + 1);
        bg_rates_sort(r, l, s->v, s->z);
        st = find_largest(r, BG_PART_FAST, &s->largest[k], err);
    }
    for (int k = 1; k < s->ngroups && st == BG_OK; k++) {
        const int x = s->order[k];
        int at = k;
        for (; at > 0 && s->largest[s->order[at - 1]] < s->largest[x]; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = x;
    }
    return st;
}

/* All about the first so many groups as the fast part. */
static bg_status judge(bg_split *s, bg_rates *r, const bg_linearisation *l, int groups,
                       const bg_prk_pair *pair, bool by_part, bg_cut *cut, bg_error *err)
{
    int fast = 0;
    *cut = (bg_cut){.groups = groups};
    mark(s, r, l, 0, groups);
    bg_rates_sort(r, l, s->v, s->z);
    for (int i = 0; i < s->nv; i++)
        cut->velocities += s->v[i] == BG_PART_FAST;
    for (int i = 0; i < s->ng; i++)
        fast += s->g[i] == BG_PART_FAST;
    fast += cut->velocities;
    cut->work = pair->nslow * (s->nv + s->ng - fast) + pair->stages * fast;
    bg_status st = find_largest(r, BG_PART_SLOW, &cut->slow, err);
    if (st == BG_OK)
        st = find_largest(r, BG_PART_FAST, &cut->fast, err);
    if (st == BG_OK)
        st = bg_rates_calc_ratio(r, &cut->ratio, err);
    return st == BG_OK ? bg_rates_find_step(r, pair, by_part, false, &cut->step, err) : st;
}

static bg_status judge_all(bg_split *s, bg_rates *r, const bg_linearisation *l,
                           const bg_prk_pair *pair, bool by_part, bg_error *err)
{
    bg_status st = judge(s, r, l, s->ngroups, pair, by_part, &s->whole, err);
    for (int k = 1; k < s->ngroups && st == BG_OK && s->ncuts < BG_SPLIT_CUTS; k++) {
        const double before = s->largest[s->order[k - 1]], next = s->largest[s->order[k]];
        if (before > 0 && next < alike * before)
            st = judge(s, r, l, k, pair, by_part, &s->cuts[s->ncuts++], err);
    }
    return st;
}

/* The work for a step that is stable, or for a second; HUGE_VAL: not stable. */
static double calc_price(const bg_cut *cut, double step)
{
    if (isnan(step))
        return cut->work / cut->step;
    return cut->step >= margin * step ? cut->work : HUGE_VAL;
}

static void choose(bg_split *s, double step)
{
    int longest = -1;
    double price = calc_price(&s->whole, step);
    s->chosen = -1;
    for (int k = 0; k < s->ncuts; k++) {
        const double own = calc_price(&s->cuts[k], step);
        if (own < price) {
            price = own;
            s->chosen = k;
        }
        if (longest < 0 || s->cuts[k].step > s->cuts[longest].step)
            longest = k;
    }
    if (s->ngroups < 2)
        snprintf(s->reason, sizeof s->reason,
                 "masses, joints or constraints couple everything, so that nothing can be fast");
    else if (longest < 0)
        snprintf(s->reason, sizeof s->reason, "no group is stiffer than the others");
    else if (price == HUGE_VAL) {
        s->chosen = s->cuts[longest].step > s->whole.step ? longest : -1;
        snprintf(s->reason, sizeof s->reason, "none is stable in steps of %g s; this holds longest",
                 step);
    } else if (s->chosen < 0)
        snprintf(s->reason, sizeof s->reason, "no cut saves work");
    else if (isnan(step))
        snprintf(s->reason, sizeof s->reason, "the least work for a second");
    else
        snprintf(s->reason, sizeof s->reason, "the least work that is stable in steps of %g s",
                 step);
}

bg_status bg_split_find(bg_linearisation *l, const bg_prk_pair *pair, bool by_part, double step,
                        bg_split **out, bg_error *err)
{
    const bg_system_def *def = &l->sys->def;
    bg_rates *rates = NULL;
    bg_split *s = *out = BG_NEW(bg_split);
    if (!s)
        return no_memory(err);
    s->nv = def->nv;
    s->nz = def->nz;
    s->ng = def->ng;
    bg_status st = bg_arena_create(&s->arena, list, s) ? BG_OK : no_memory(err);
    if (st == BG_OK)
        st = bg_rates_create(l, &rates, err);
    if (st == BG_OK)
        st = bg_system_find_components(l->dyn, s->group, s->g_group, &s->ngroups, err);
    if (st == BG_OK)
        st = sort_groups(s, rates, l, err);
    if (st == BG_OK)
        st = judge_all(s, rates, l, pair, by_part, err);
    if (st == BG_OK) {
        choose(s, step);
        bg_split_mark(s, rates, l, s->chosen < 0 ? 0 : s->cuts[s->chosen].groups);
    }
    bg_rates_destroy(rates);
    if (st == BG_OK)
        return BG_OK;
    bg_split_destroy(s);
    *out = NULL;
    return st;
}

void bg_split_destroy(bg_split *s)
{
    if (!s)
        return;
    bg_arena_clear(&s->arena);
    free(s);
}
