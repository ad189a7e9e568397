/* Which of the things that a user fixes contradict each other.
 *
 * They are taken in the order of the file, each as well as the mechanism and those before it let it
 * be (BG_USE_GIVEN). The first that is not met is the one to name. Of those before it, one after
 * the other is left out: if it is still not met, that one had no part in it. What remains is a
 * smallest set that cannot be met together.
 *
 * Mechanisms are drawn with closed loops. Where one is drawn open and, were it closed as it is
 * drawn, everything fixed could be met, its joint is what is wrong first. */
#include "consistent/start_search.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST = 200 /* coordinates for positions: each is tried many times */,
    LISTED = 4,
    BISECTIONS = 14
};

typedef struct inquiry {
    bg_start_search *s;
    bg_state *x;
    bg_start_of of;
    const unsigned char *eliminated; /* of velocities */
    double *base;                    /* [nq] of positions: where those before it are met */
    bg_given last;
    bool exact; /* the last trial for positions came to rest */
} inquiry;

/* about: so much is possible but for 1e-4. Both texts have this size. */
static void print_fixed(const bg_given *g, bool about, char *given, char *got, size_t size)
{
    bg_given_print(g->given, g->n, 0, given, size);
    bg_given_print(g->got, g->n, g->size, got, size);
    if (about)
        snprintf(got, size, "about %.4g", g->got[0]);
}

/* others: what else is fixed and has part in it. */
static bg_status report_fixed(const bg_given *g, const char *others, bool about, bg_error *err)
{
    char given[96], got[96];
    print_fixed(g, about, given, got, sizeof got);
    return bg_error_set(err, BG_BAD_INPUT,
                        "%s: is fixed at %s %s, but %s%sthe mechanism allows no more than %s; %s",
                        g->name, given, g->unit, others[0] ? "with " : "", others, got,
                        others[0] ? "correct one of them, or fix fewer"
                                  : "correct it, or do not fix it");
}

bg_status bg_starts_report_fixed(const bg_given *g, bg_error *err)
{
    return report_fixed(g, "", false, err);
}

static bool is_closed(const bg_start_search *s)
{
    const bg_dynamics *d = s->d;
    bg_system_calc_row_sizes(d->sys->system, d->terms.G, s->size);
    for (int i = 0; i < d->ng; i++)
        if (!(fabs(d->terms.g[i]) <= BG_RANK_DATA * s->size[i]))
            return false;
    return true;
}

static int get_given(const inquiry *q, int k, bg_given *g)
{
    return q->s->starts->get_given(q->s->d->sys->def.self, &q->s->point, k, g);
}

/* From the base, or else from the design position. */
static bool solve_position(inquiry *q)
{
    return bg_start_search_find_position(q->s, q->x, q->base, q->s->design, is_closed, &q->exact);
}

/* Whether the k-th thing is met, with those that count. */
static bool is_possible(inquiry *q, int k)
{
    bg_error ignored;
    bool fixed_met;
    q->s->use[k] = BG_USE_GIVEN;
    bool solved = q->of == BG_START_POSITIONS
                      ? solve_position(q)
                      : bg_start_search_goes_on(
                            q->s, bg_start_search_solve_velocity(q->s, q->eliminated, q->x,
                                                                 &fixed_met, &ignored));
    get_given(q, k, &q->last);
    return solved && bg_given_is_met(&q->last, 0);
}

/* The first that those before it do not allow; -1: none. */
static int find_last(inquiry *q)
{
    bg_given g;
    for (int k = 0; k < q->s->ngiven; k++) {
        get_given(q, k, &g);
        if (!g.fixed || bg_given_is_velocity(&g) != (q->of == BG_START_VELOCITIES))
            continue;
        if (!is_possible(q, k))
            return k;
        q->s->use[k] = BG_USE_FIXED;
        if (q->base)
            memcpy(q->base, q->x->q, (size_t)q->s->d->nq * sizeof(double));
    }
    return -1;
}

/* "bodies.arm.velocity, fixed at (0, 2, 0) m/s, and 2 more, " */
static void list_others(const inquiry *q, char *text, size_t size)
{
    size_t used = 0;
    int listed = 0, more = 0;
    text[0] = '\0';
    for (int k = 0; k < q->s->ngiven; k++) {
        bg_given g;
        char value[96];
        if (q->s->use[k] != BG_USE_FIXED)
            continue;
        if (listed == LISTED || used >= size) {
            more++;
            continue;
        }
        get_given(q, k, &g);
        bg_given_print(g.given, g.n, 0, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s, fixed at %s %s, ",
                                 listed++ > 0 ? "and " : "", g.name, value, g.unit);
    }
    if (more > 0 && used < size)
        snprintf(text + used, size - used, "and %d more, ", more);
}

/* How much is missing of the one that is not met, at x. */
static double calc_missing(inquiry *q)
{
    int n = bg_start_search_calc_rows(q->s, BG_START_POSITIONS, BG_START_GIVEN);
    return n > 0 ? q->s->b[0] : 0;
}

/* A joint turns back at the end of its range, where the search does not come to rest: how far it
 * goes from the base, by bisection. */
static void find_range(inquiry *q, int last)
{
    double low = 0, high = 1;
    memcpy(q->x->q, q->base, (size_t)q->s->d->nq * sizeof(double));
    double way = calc_missing(q);
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = (low + high) / 2;
        q->s->less = (1 - middle) * way;
        if (solve_position(q) && fabs(calc_missing(q)) <= 1e-6 * fabs(way)) {
            memcpy(q->base, q->x->q, (size_t)q->s->d->nq * sizeof(double));
            low = middle;
        } else {
            high = middle;
        }
    }
    memcpy(q->x->q, q->base, (size_t)q->s->d->nq * sizeof(double));
    get_given(q, last, &q->last);
}

/* The row that is missed most where it is drawn, with the offsets <- what all are missed by there;
 * -1: loops are drawn closed but for the precision of data. */
static int find_drawn_open(inquiry *q)
{
    bg_dynamics *d = q->s->d;
    bg_error ignored;
    int worst = -1;
    double most = BG_RANK_DATA;
    memcpy(q->x->q, q->s->design, (size_t)d->nq * sizeof(double));
    if (!bg_start_search_goes_on(q->s, bg_start_search_find_closing(q->s, q->x, &ignored)))
        return -1;
    for (int i = 0; i < d->ng; i++) {
        double part = fabs(d->terms.g[i]) / q->s->size[i];
        worst = part > most ? i : worst;
        most = fmax(part, most);
    }
    for (int i = 0; i < d->ng && worst >= 0; i++)
        d->offset[i] = d->terms.g[i];
    return worst;
}

/* Names the joint that is drawn open, if what is fixed could be met were it closed so; else
 * BG_OK. What is fixed and not met is in q->last. */
static bg_status find_wrong_joint(inquiry *q, int last, bool about, bg_error *err)
{
    bg_dynamics *d = q->s->d;
    char buffer[32], given[96], got[96];
    bg_given unmet = q->last;
    int row = find_drawn_open(q);
    if (row < 0)
        return BG_OK;
    memcpy(q->base, q->s->design, (size_t)d->nq * sizeof(double));
    bool possible = is_possible(q, last);
    memset(d->offset, 0, (size_t)d->ng * sizeof(double));
    q->last = unmet;
    if (!possible)
        return BG_OK;
    print_fixed(&unmet, about, given, got, sizeof got);
    return bg_error_set(err, BG_NOT_ASSEMBLED,
                        "system '%s' cannot be assembled at t = %g: the constraint '%s' is not met "
                        "where it is drawn, and cannot be met where %s is fixed at %s %s (no more "
                        "than %s is possible); correct the dimensions of the joint, or do not fix "
                        "so much",
                        d->sys->def.name, q->x->t,
                        bg_system_get_name(d->sys->system, 'g', row, buffer, sizeof buffer),
                        unmet.name, given, unmet.unit, got);
}

static bg_status inquire(inquiry *q, bg_error *err)
{
    bg_start_search *s = q->s;
    char others[BG_ERROR_LENGTH / 2];
    int last = find_last(q);
    if (last < 0)
        return BG_OK;
    for (int k = 0; k < last; k++)
        if (s->use[k] == BG_USE_FIXED) {
            s->use[k] = BG_USE_NOT;
            if (is_possible(q, last))
                s->use[k] = BG_USE_FIXED;
        }
    is_possible(q, last);
    bool about = q->of == BG_START_POSITIONS && !q->exact;
    if (about)
        find_range(q, last);
    if (s->starved)
        return bg_start_search_check_memory(s, err);
    if (q->of == BG_START_POSITIONS) {
        s->less = 0;
        bg_status st = find_wrong_joint(q, last, about, err);
        if (st != BG_OK || s->starved)
            return s->starved ? bg_start_search_check_memory(s, err) : st;
    }
    list_others(q, others, sizeof others);
    return report_fixed(&q->last, others, about, err);
}

/* With nothing given, and nothing fixed. */
static bg_status begin(bg_start_search *s, bg_error *err)
{
    bg_given g;
    s->ngiven = 0;
    while (s->starts->get_given(s->d->sys->def.self, s->ngiven == 0 ? &s->point : NULL, s->ngiven,
                                &g) == 0)
        s->ngiven++;
    s->use = BG_NEW_ARRAY(bg_start_use, s->ngiven);
    if (!s->use)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of '%s'",
                            s->d->sys->def.name);
    for (int k = 0; k < s->ngiven; k++)
        s->use[k] = BG_USE_NOT;
    return BG_OK;
}

bg_status bg_starts_find_contradiction(bg_start_search *s, const unsigned char *eliminated,
                                       bg_state *x, bg_error *err)
{
    inquiry q = {.s = s, .x = x, .of = BG_START_VELOCITIES, .eliminated = eliminated};
    bg_status st = begin(s, err);
    if (st == BG_OK)
        st = inquire(&q, err);
    free(s->use);
    s->use = NULL;
    return st;
}

/* Whether a fixed position is not met at x. */
static bool is_one_missed(bg_dynamics *d, const bg_point *p, double misfit, bool *any)
{
    bg_given g;
    bool missed = false;
    *any = false;
    for (int k = 0; d->sys->def.starts->get_given(d->sys->def.self, k == 0 ? p : NULL, k, &g) == 0;
         k++)
        if (g.fixed && !bg_given_is_velocity(&g)) {
            *any = true;
            missed = missed || !bg_given_is_met(&g, misfit);
        }
    return missed;
}

bg_status bg_starts_explain_position(bg_dynamics *d, bg_state *x, double misfit, bg_status st,
                                     bg_error *err)
{
    bg_start_search s;
    bg_error own;
    bool any;
    bg_point p;
    if (d->nv > LARGEST || d->ng == 0 ||
        bg_system_set_point(d->sys, x->t, x->q, x->v, x->z, x->mode, &p, &own) != BG_OK ||
        (!is_one_missed(d, &p, misfit, &any) && st == BG_OK) || !any)
        return st;
    inquiry q = {.s = &s, .x = x, .of = BG_START_POSITIONS};
    double *before = BG_NEW_ARRAY(double, 2 * (size_t)d->nq);
    bg_status found = bg_start_search_create(d, &s, &own);
    s.point = p;
    s.starved = s.starved || !before;
    if (before && found == BG_OK && (found = begin(&s, &own)) == BG_OK) {
        q.base = before + d->nq;
        memcpy(before, x->q, (size_t)d->nq * sizeof(double));
        memcpy(q.base, s.design, (size_t)d->nq * sizeof(double));
        if (solve_position(&q)) { /* what nobody insists on can be */
            memcpy(q.base, x->q, (size_t)d->nq * sizeof(double));
            found = inquire(&q, &own);
        }
        memcpy(x->q, before, (size_t)d->nq * sizeof(double));
    }
    if (s.starved)
        found = bg_start_search_check_memory(&s, &own);
    free(before);
    bg_start_search_clear(&s);
    return found == BG_BAD_INPUT || found == BG_NOT_ASSEMBLED || found == BG_NO_MEMORY
               ? bg_error_set(err, found, "%s", own.text)
               : st;
}
