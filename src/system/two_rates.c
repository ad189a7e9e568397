/* The fast part of a system alone. Where a system supplies accelerate_part and no constraint is
 * fast, that is all; else the matrix of the fast rows and columns is taken out of the terms, of
 * which a system that heeds bg_point.part writes no others. */
#include "system/two_rates.h"

#include "base/memory.h"
#include "math/arrays.h"
#include "system/separability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries of a matrix of the terms that belong to the fast part, in a pattern of their own. */
typedef struct section {
    bg_pattern pattern;
    int *row_start, *column; /* of that pattern */
    int *place;              /* in the terms */
    double *value;
} section;

struct bg_two_rates {
    bg_dynamics *dyn;
    bool by_part;   /* accelerate_part is all that is needed */
    bool by_pick;   /* neither that nor M: all accelerations, of which the fast ones are taken */
    bool by_rates;  /* no velocity is fast: rates of states alone */
    int nv, ng;     /* of the fast part */
    int *v, *g;     /* [nv], [ng] its velocities and constraints */
    int *column_of; /* [nv of all] which one a velocity is, -1: slow */
    section M, G;
    bg_kkt *kkt;
    double *x, *lambda;        /* [nv], [ng] */
    unsigned char *eliminated; /* [ng] */
    bg_arena arena;
};

static bool is_fast(const unsigned char *part, int i)
{
    return bg_part_get(part, i) == BG_PART_FAST;
}

bool bg_two_rates_are_marked(const bg_system_def *def)
{
    return def->v_part || def->z_part || def->g_part;
}

static int count_entries(const bg_pattern *p, int columns, const int *rows, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p ? p->row_start[rows[i] + 1] - p->row_start[rows[i]] : columns;
    return sum;
}

static void take_section(section *s, const bg_pattern *p, int columns, const int *rows, int n,
                         bg_arena *arena)
{
    int most = arena->memory || rows ? count_entries(p, columns, rows, n) : 0;
    BG_TAKE(arena, s->row_start, n + 1);
    BG_TAKE(arena, s->column, most);
    BG_TAKE(arena, s->place, most);
    BG_TAKE(arena, s->value, most);
}

static void list(void *object, bg_arena *arena)
{
    bg_two_rates *two = object;
    const bg_system_def *def = &two->dyn->sys->def;
    take_section(&two->M, def->pattern_M, def->nv, two->v, two->nv, arena);
    take_section(&two->G, def->pattern_G, def->nv, two->g, two->ng, arena);
    BG_TAKE(arena, two->x, two->nv);
    BG_TAKE(arena, two->lambda, two->ng);
    BG_TAKE(arena, two->eliminated, two->ng);
}

static void fill_section(const bg_two_rates *two, section *s, const bg_pattern *p, const int *rows,
                         int n)
{
    int count = 0, column, place;
    for (int i = 0; i < n; i++) {
        for (int k = 0; bg_pattern_get_entry(p, two->dyn->nv, rows[i], k, &column, &place); k++)
            if (two->column_of[column] >= 0) {
                s->column[count] = two->column_of[column];
                s->place[count++] = place;
            }
        s->row_start[i + 1] = count;
    }
    s->pattern = (bg_pattern){n, two->nv, s->row_start, s->column};
}

static void gather(section *s, const double *from)
{
    for (int k = 0; k < s->row_start[s->pattern.rows]; k++)
        s->value[k] = from[s->place[k]];
}

/* The velocities and constraints of the fast part. */
static bg_status find_fast(bg_two_rates *two, bg_error *err)
{
    const bg_system_def *def = &two->dyn->sys->def;
    two->v = BG_NEW_ARRAY(int, def->nv);
    two->g = BG_NEW_ARRAY(int, def->ng);
    two->column_of = BG_NEW_ARRAY(int, def->nv);
    if (!two->v || !two->g || !two->column_of)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of system '%s'",
                            def->name);
    int z = 0;
    for (int i = 0; i < def->nv; i++) {
        two->column_of[i] = is_fast(def->v_part, i) ? two->nv : -1;
        if (is_fast(def->v_part, i))
            two->v[two->nv++] = i;
    }
    for (int i = 0; i < def->ng; i++)
        if (is_fast(def->g_part, i))
            two->g[two->ng++] = i;
    for (int i = 0; i < def->nz; i++)
        z += is_fast(def->z_part, i);
    if (two->nv + z == 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the fast part of system '%s' is empty; mark some trees or force "
                            "states as fast, or take a method of one rate (rk2, rk4)",
                            def->name);
    if (two->nv == def->nv)
        return bg_error_set(err, BG_BAD_INPUT,
                            "everything that moves in system '%s' is marked as fast; leave the "
                            "marks away where nothing is slower, or take a method of one rate "
                            "(rk2, rk4)",
                            def->name);
    return BG_OK;
}

/* Row i of G acts on velocity j of the other part. */
static bg_status refuse_row(const bg_two_rates *two, int i, int j, bg_error *err)
{
    const bg_system *sys = two->dyn->sys->system;
    bool fast = is_fast(sys->def.g_part, i);
    char g[64], v[64];
    return bg_error_set(
        err, BG_BAD_INPUT,
        "constraint '%s' of the %s part also acts on '%s', which is %s; put what it "
        "joins into one part",
        bg_system_get_name(sys, 'g', i, g, sizeof g), fast ? "fast" : "slow",
        bg_system_get_name(sys, 'v', j, v, sizeof v), fast ? "slow" : "fast");
}

static bg_status refuse_mass(const bg_two_rates *two, int i, int j, double value, bg_error *err)
{
    const bg_system *sys = two->dyn->sys->system;
    char a[64], b[64];
    return bg_error_set(
        err, BG_BAD_INPUT,
        "a mass couples '%s' of the %s part with '%s' of the other: M is %g there; put "
        "both into one part",
        bg_system_get_name(sys, 'v', i, a, sizeof a), is_fast(sys->def.v_part, i) ? "fast" : "slow",
        bg_system_get_name(sys, 'v', j, b, sizeof b), value);
}

static bg_status check_coupling(void *self, char kind, int i, int j, double value, bg_error *err)
{
    const bg_two_rates *two = self;
    const bg_system_def *def = &two->dyn->sys->def;
    const unsigned char *part = kind == 'G' ? def->g_part : def->v_part;
    if (is_fast(part, i) == is_fast(def->v_part, j))
        return BG_OK;
    return kind == 'G' ? refuse_row(two, i, j, err) : refuse_mass(two, i, j, value, err);
}

static bg_status check_separable(bg_two_rates *two, bg_error *err)
{
    const bg_coupling_visitor visitor = {two, check_coupling};
    return bg_system_visit_couplings(two->dyn, &visitor, err);
}

static bg_status create_matrix(bg_two_rates *two, bg_error *err)
{
    const bg_system_def *def = &two->dyn->sys->def;
    fill_section(two, &two->M, def->pattern_M, two->v, two->nv);
    fill_section(two, &two->G, def->pattern_G, two->g, two->ng);
    const bg_pattern *M = &two->M.pattern, *G = two->ng > 0 ? &two->G.pattern : NULL;
    return def->semidefinite ? bg_kkt_create_semidefinite(two->nv, two->ng, M, G, &two->kkt, err)
                             : bg_kkt_create(two->nv, two->ng, M, G, &two->kkt, err);
}

bg_status bg_two_rates_create(bg_dynamics *dyn, bg_two_rates **out, bg_error *err)
{
    const bg_system_def *def = &dyn->sys->def;
    bg_two_rates *two = *out = BG_NEW(bg_two_rates);
    if (!two)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of system '%s'",
                            def->name);
    two->dyn = dyn;
    bg_status st = BG_OK;
    if (def->f_of_lambda)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "forces of system '%s' depend on its reactions, which are not known part "
                          "by part; take a method of one rate (rk2, rk4)",
                          def->name);
    if (st == BG_OK)
        st = find_fast(two, err);
    if (st == BG_OK && !bg_arena_create(&two->arena, list, two))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of system '%s'",
                          def->name);
    if (st == BG_OK)
        st = check_separable(two, err);
    two->by_part = def->accelerate_part && two->ng == 0;
    two->by_rates = !two->by_part && two->nv == 0;
    two->by_pick = !two->by_part && !two->by_rates && dyn->by_formalism;
    if (st == BG_OK && !two->by_part && !two->by_pick && !two->by_rates)
        st = create_matrix(two, err);
    if (st == BG_OK)
        return BG_OK;
    bg_two_rates_destroy(two);
    *out = NULL;
    return st;
}

void bg_two_rates_destroy(bg_two_rates *two)
{
    if (!two)
        return;
    bg_kkt_destroy(two->kkt);
    bg_arena_clear(&two->arena);
    free(two->v);
    free(two->g);
    free(two->column_of);
    free(two);
}

void bg_two_rates_update(bg_two_rates *two)
{
    if (!two->kkt)
        return;
    bool some = false;
    for (int k = 0; k < two->ng; k++) {
        two->eliminated[k] = two->dyn->eliminated[two->g[k]];
        some = some || two->eliminated[k];
    }
    bg_kkt_set_eliminated(two->kkt, some ? two->eliminated : NULL);
}

void bg_two_rates_archive(bg_two_rates *two, bg_archive *archive)
{
    if (!two->kkt)
        return;
    bg_kkt_archive(two->kkt, archive);
    if (archive->loading && !archive->failed)
        bg_two_rates_update(two);
}

/* The matrix of the fast rows and columns, at d->point. */
static bg_status solve(bg_two_rates *two, double *rate, bg_error *err)
{
    bg_dynamics *d = two->dyn;
    gather(&two->M, d->terms.M);
    gather(&two->G, d->terms.G);
    for (int k = 0; k < two->nv; k++)
        two->x[k] = d->terms.f[two->v[k]];
    for (int k = 0; k < two->ng; k++)
        two->lambda[k] = -d->terms.gamma[two->g[k]];
    bg_system_get_work(d->sys)->factorisations++;
    bg_status st = bg_kkt_factor(two->kkt, two->M.value, two->G.value, two->G.value);
    if (st != BG_OK)
        return bg_error_set(err, st,
                            "system '%s': the matrix [M G'; G 0] of its fast part is singular at t "
                            "= %.17g",
                            d->sys->def.name, d->point.t);
    bg_kkt_solve(two->kkt, two->x, two->lambda);
    for (int k = 0; k < two->nv; k++)
        rate[d->nq + two->v[k]] = two->x[k];
    return BG_OK;
}

static void take_states(const bg_two_rates *two, double *rate)
{
    const bg_dynamics *d = two->dyn;
    for (int i = 0; i < d->nz; i++)
        if (is_fast(d->sys->def.z_part, i))
            rate[d->nq + d->nv + i] = d->terms.h[i];
}

static bg_status check_finite(const bg_two_rates *two, const double *rate, bg_error *err)
{
    const bg_dynamics *d = two->dyn;
    double sum = 0;
    for (int k = 0; k < two->nv; k++)
        sum += rate[d->nq + two->v[k]] * 0;
    for (int i = 0; i < d->nz; i++)
        sum += is_fast(d->sys->def.z_part, i) ? rate[d->nq + d->nv + i] * 0 : 0;
    return sum == 0 ? BG_OK
                    : bg_error_set(err, BG_NOT_FINITE,
                                   "system '%s': accelerations or rates of its fast part are not "
                                   "finite at t = %.17g",
                                   d->sys->def.name, d->point.t);
}

bg_status bg_two_rates_calc_fast(bg_two_rates *two, double t, const double *q, const double *v,
                                 const double *z, const int *mode, double *rate, bg_error *err)
{
    bg_dynamics *d = two->dyn;
    const bool by_terms = two->kkt || two->by_rates;
    unsigned want = (d->kinematic ? BG_TERM_V : 0u) | (by_terms && d->nz > 0 ? BG_TERM_h : 0u);
    if (two->kkt)
        want |= BG_TERM_M | BG_TERM_f | (two->ng > 0 ? BG_TERM_G | BG_TERM_gamma : 0u);
    bg_status st = bg_system_set_point(d->sys, t, q, v, z, mode, &d->point, err);
    d->point.part = d->sys->system->own_parts ? 0u : BG_PART_FAST;
    d->has_mass = false;
    d->have = want;
    if (st == BG_OK && want)
        st = bg_system_calc_terms(d->sys, &d->point, want, &d->terms, err);
    if (st == BG_OK)
        bg_dynamics_calc_rates(d, v, rate);
    if (st == BG_OK && by_terms)
        take_states(two, rate);
    if (st == BG_OK && two->kkt)
        st = solve(two, rate, err);
    else if (st == BG_OK && !by_terms)
        st = bg_system_calc_part(d->sys, &d->point, BG_PART_FAST, NULL, rate + d->nq,
                                 rate + d->nq + d->nv, err);
    return st == BG_OK ? check_finite(two, rate, err) : st;
}

void bg_two_rates_plan(const bg_two_rates *two, int *terms, int *explicit_, int *factorisations)
{
    const bg_dynamics *d = two->dyn;
    *terms = d->kinematic || two->kkt || two->by_rates;
    *terms += two->by_pick && d->nz > 0;
    *explicit_ = two->by_part || two->by_pick;
    *factorisations = two->kkt != NULL;
}

int bg_two_rates_count_fast(const bg_two_rates *two, int *rows)
{
    *rows = two->ng;
    return two->nv;
}
