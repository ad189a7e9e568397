#include "system/separability.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double coupled = 1e-12; /* of an entry of M beside its row's and column's own */

bool bg_pattern_get_entry(const bg_pattern *p, int columns, int i, int k, int *column, int *place)
{
    int begin = p ? p->row_start[i] : i * columns;
    int end = p ? p->row_start[i + 1] : begin + columns;
    *place = begin + k;
    if (*place >= end)
        return false;
    *column = p ? p->column[*place] : k;
    return true;
}

/* All entries that the pattern of G has, or those of G that are not zero. */
static bg_status visit_rows(const bg_system_def *def, const double *G,
                            const bg_coupling_visitor *visitor, bg_error *err)
{
    bg_status st = BG_OK;
    int j, place;
    for (int i = 0; i < def->ng; i++)
        for (int k = 0;
             st == BG_OK && bg_pattern_get_entry(def->pattern_G, def->nv, i, k, &j, &place); k++)
            if (def->pattern_G || G[place] != 0)
                st = visitor->couple(visitor->self, 'G', i, j, 1, err);
    return st;
}

static double get_diagonal(const bg_system_def *def, const double *M, int i)
{
    int j, place;
    for (int k = 0; bg_pattern_get_entry(def->pattern_M, def->nv, i, k, &j, &place); k++)
        if (j == i)
            return fabs(M[place]);
    return 0;
}

static bg_status visit_masses(const bg_system_def *def, const double *M,
                              const bg_coupling_visitor *visitor, bg_error *err)
{
    bg_status st = BG_OK;
    int j, place;
    for (int i = 0; i < def->nv; i++)
        for (int k = 0;
             st == BG_OK && bg_pattern_get_entry(def->pattern_M, def->nv, i, k, &j, &place); k++)
            if (fabs(M[place]) > coupled * sqrt(get_diagonal(def, M, i) * get_diagonal(def, M, j)))
                st = visitor->couple(visitor->self, 'M', i, j, M[place], err);
    return st;
}

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

/* The state that x is moved to at random, with terms there; what cannot be evaluated there is
 * judged by the other state. */
static bg_status visit_at(bg_dynamics *d, bg_state *x, bg_terms *terms, unsigned *seed,
                          const bg_coupling_visitor *visitor, bg_error *err)
{
    const bg_system_def *def = &d->sys->def;
    const unsigned mass = def->supplied & BG_TERM_M,
                   rows = def->ng > 0 && !def->pattern_G ? BG_TERM_G : 0u;
    bg_point p;
    for (int i = 0; i < def->nv; i++) {
        d->work_v[i] = 0.1 * (def->v_size ? def->v_size[i] : 1) * draw(seed);
        x->v[i] += draw(seed);
    }
    bg_status st = bg_system_set_point(d->sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    if (st == BG_OK && d->kinematic)
        st = bg_system_calc_terms(d->sys, &p, BG_TERM_V, terms, err);
    if (st == BG_OK)
        bg_system_move(d->sys, x->q, terms->V, 1, d->work_v, x->q);
    if (st == BG_OK)
        st = bg_system_calc_terms(d->sys, &p, mass | rows, terms, err);
    if (st != BG_OK)
        return st > 0 ? BG_OK : st;
    st = rows ? visit_rows(def, terms->G, visitor, err) : BG_OK;
    return st == BG_OK && mass ? visit_masses(def, terms->M, visitor, err) : st;
}

bg_status bg_system_visit_couplings(bg_dynamics *d, const bg_coupling_visitor *visitor,
                                    bg_error *err)
{
    const bg_system *sys = d->sys->system;
    const bg_purpose before = bg_system_turn_to(d->sys, BG_ASIDE);
    bg_terms terms = d->terms;
    unsigned seed = 14;
    bg_status st = sys->def.pattern_G ? visit_rows(&sys->def, NULL, visitor, err) : BG_OK;
    double *M = BG_NEW_ARRAY(double, bg_system_get_size_M(sys));
    if (st == BG_OK && !M)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of system '%s'",
                          sys->def.name);
    terms.M = M; /* which the dynamics may lack */
    for (int k = 0; k < 2 && st == BG_OK; k++) {
        bg_state *x = NULL;
        st = bg_state_create(sys, &x, err);
        if (st == BG_OK)
            st = visit_at(d, x, &terms, &seed, visitor, err);
        bg_state_destroy(x);
    }
    free(M);
    bg_system_turn_to(d->sys, before);
    return st;
}

/* Groups as trees: each velocity refers to one before it, or to itself. */
typedef struct group_forest {
    int *parent; /* [nv] */
    int *first;  /* [ng] a velocity the row acts on; -1: none yet */
} group_forest;

static int find_root(const group_forest *f, int i)
{
    while (f->parent[i] != i)
        i = f->parent[i] = f->parent[f->parent[i]];
    return i;
}

static void join(group_forest *f, int i, int j)
{
    const int a = find_root(f, i), b = find_root(f, j);
    f->parent[a > b ? a : b] = a > b ? b : a;
}

static bg_status unite(void *self, char kind, int i, int j, double value, bg_error *err)
{
    group_forest *f = self;
    (void)value;
    (void)err;
    if (kind == 'G' && f->first[i] < 0)
        f->first[i] = j;
    join(f, kind == 'G' ? f->first[i] : i, j);
    return BG_OK;
}

/* The motion of the parts with one velocity (-1: none) at the start. */
static bg_status move(bg_dynamics *d, const bg_state *x, int i, double *motion, bg_error *err)
{
    const bg_parts *parts = &d->sys->system->parts;
    bg_point p;
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    if (i >= 0)
        d->work_v[i] = 1;
    bg_status st = bg_system_set_point(d->sys, x->t, x->q, d->work_v, x->z, x->mode, &p, err);
    if (st == BG_OK)
        parts->place(d->sys->def.self, &p, motion);
    return st;
}

/* Velocities that move the same body go together, also where no mass couples them. */
static bg_status unite_movers(bg_dynamics *d, group_forest *f, bg_error *err)
{
    enum { TWIST = 6 }; /* numbers of a motion for each body */
    const bg_system *sys = d->sys->system;
    const int n = sys->parts.width;
    if (!sys->parts.place)
        return BG_OK;
    bg_state *x = NULL;
    double *rest = BG_NEW_ARRAY(double, n), *moved = BG_NEW_ARRAY(double, n);
    int *first = BG_NEW_ARRAY(int, n / TWIST);
    bg_status st = rest && moved && first
                       ? bg_state_create(sys, &x, err)
                       : bg_error_set(err, BG_NO_MEMORY,
                                      "out of memory for the parts of system '%s'", sys->def.name);
    for (int b = 0; b < n / TWIST && st == BG_OK; b++)
        first[b] = -1;
    if (st == BG_OK)
        st = move(d, x, -1, rest, err);
    for (int i = 0; i < d->nv && st == BG_OK; i++) {
        st = move(d, x, i, moved, err);
        for (int k = 0; k < n && st == BG_OK; k++) {
            if (!(fabs(moved[k] - rest[k]) > coupled))
                continue;
            if (first[k / TWIST] < 0)
                first[k / TWIST] = i;
            join(f, first[k / TWIST], i);
        }
    }
    bg_state_destroy(x);
    free(first);
    free(moved);
    free(rest);
    return st;
}

bg_status bg_system_find_components(bg_dynamics *d, int *component, int *g_component, int *count,
                                    bg_error *err)
{
    const int nv = d->nv, ng = d->ng;
    group_forest f = {BG_NEW_ARRAY(int, nv), BG_NEW_ARRAY(int, ng)};
    bg_coupling_visitor visitor = {&f, unite};
    bg_status st = BG_OK;
    *count = 0;
    if (!f.parent || !f.first)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of system '%s'",
                          d->sys->def.name);
    for (int i = 0; i < nv && st == BG_OK; i++)
        f.parent[i] = i;
    for (int i = 0; i < ng && st == BG_OK; i++)
        f.first[i] = -1;
    if (st == BG_OK)
        st = bg_system_visit_couplings(d, &visitor, err);
    if (st == BG_OK)
        st = unite_movers(d, &f, err);
    for (int i = 0; i < nv && st == BG_OK; i++) {
        const int root = find_root(&f, i);
        component[i] = root == i ? (*count)++ : component[root];
    }
    for (int i = 0; i < ng && st == BG_OK && g_component; i++)
        g_component[i] = f.first[i] < 0 ? -1 : component[f.first[i]];
    free(f.parent);
    free(f.first);
    return st;
}
