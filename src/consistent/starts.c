/* The start that comes nearest to what was asked for.
 *
 * Velocities: of all v with G v + g_t = 0, those that meet what is fixed; of these, those that come
 * nearest to what is given, in least squares; of these, those for which joints of which nobody
 * speaks move least, and so on through the levels of system/starts.h (linalg/levels.c). The rows
 * speak of velocities of bodies and joints, so the answer does not depend on the coordinates. The
 * unknown is the correction of a guess, so that what the guess meets stays as it is, bit by bit.
 *
 * Positions: the same for increments, repeated (start_positions.c). */
#include "consistent/start_search.h"

#include "base/arena.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOLD = 10 /* warnings */,
    LARGEST = 400 /* directions tied together: iterations need cubes */
};

static const double kept = 1e-12; /* constraints: their rank is decided elsewhere */
static const double missed = 1e-3, near_end = 0.03; /* positions; leverage there */
static const double met = 1e-9;                     /* what is given, relative to its size */

void bg_start_search_clear(bg_start_search *s)
{
    bg_levels_destroy(s->levels);
    bg_sparse_rows_clear(&s->A);
    bg_arena_clear(&s->arena);
    free(s->use);
}

bool bg_start_search_goes_on(bg_start_search *s, bg_status st)
{
    s->starved = s->starved || st == BG_NO_MEMORY;
    return st == BG_OK;
}

bg_status bg_start_search_check_memory(const bg_start_search *s, bg_error *err)
{
    return s->starved ? bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of '%s'",
                                     s->d->sys->def.name)
                      : BG_OK;
}

static void list(void *object, bg_arena *arena)
{
    bg_start_search *s = object;
    const bg_dynamics *d = s->d;
    BG_TAKE(arena, s->from, d->nv);
    BG_TAKE(arena, s->last, d->nv);
    BG_TAKE(arena, s->design, d->nq);
    BG_TAKE(arena, s->z, d->nz);
    BG_TAKE(arena, s->found, d->nq + d->nz);
    BG_TAKE(arena, s->size, d->ng);
    BG_TAKE(arena, s->b, s->most);
    BG_TAKE(arena, s->owner, s->most);
}

bg_status bg_start_search_create(bg_dynamics *d, bg_start_search *s, bg_error *err)
{
    const bg_starts *starts = d->sys->def.starts;
    void *self = d->sys->def.self;
    int most = d->ng;
    *s = (bg_start_search){
        .d = d, .starts = starts, .unit = d->sys->def.v_size, .leverage = BG_START_LEVERAGE};
    for (int of = BG_START_POSITIONS; of <= BG_START_VELOCITIES; of++)
        for (int level = 0; level < BG_START_LEVELS; level++) {
            int n = starts->calc_rows(self, NULL, (bg_start_of)of, (bg_start_level)level, NULL,
                                      NULL, NULL);
            most = n > most ? n : most;
        }
    s->most = most;
    s->starved = !bg_arena_create(&s->arena, list, s);
    if (s->starved)
        return bg_start_search_check_memory(s, err);
    if (starts->get_design)
        starts->get_design(self, s->design);
    return bg_levels_create(d->nv, s->unit, &s->levels, err);
}

/* Moves the rows of what is used so to the front; returns how many. */
static int pick_rows(bg_start_search *s, int n, bg_start_use use)
{
    int picked = 0;
    for (int i = 0; i < n; i++) {
        if (s->use[s->owner[i]] != use)
            continue;
        bg_sparse_rows_move(&s->A, i, picked);
        s->b[picked] = s->b[i];
        s->owner[picked++] = s->owner[i];
    }
    bg_sparse_rows_cut(&s->A, picked);
    return picked;
}

int bg_start_search_calc_rows(bg_start_search *s, bg_start_of of, int level)
{
    bool demoted = s->use && level == BG_START_GIVEN;
    bg_sparse_rows_reset(&s->A);
    int n = s->starts->calc_rows(s->d->sys->def.self, &s->point, of,
                                 demoted ? BG_START_FIXED : (bg_start_level)level, &s->A, s->b,
                                 s->owner);
    s->starved = s->starved || s->A.failed;
    if (s->A.failed)
        return 0;
    if (s->use && level <= BG_START_GIVEN)
        n = pick_rows(s, n, demoted ? BG_USE_GIVEN : BG_USE_FIXED);
    for (int i = 0; i < n && demoted; i++)
        s->b[i] -= s->less;
    for (int i = 0; i < n && of == BG_START_VELOCITIES; i++)
        s->b[i] -= bg_sparse_rows_multiply(&s->A, i, s->from);
    return n;
}

bg_status bg_start_search_add_constraints(bg_start_search *s, const unsigned char *eliminated,
                                          const double *rest, double tolerance, bg_error *err)
{
    const bg_dynamics *d = s->d;
    const bg_pattern *p = d->sys->def.pattern_G;
    int n = 0;
    bg_sparse_rows_reset(&s->A);
    bg_system_calc_row_sizes(d->sys->system, d->terms.G, s->size);
    for (int i = 0; i < d->ng; i++) {
        double right = -rest[i];
        int begin = p ? p->row_start[i] : i * d->nv, end = p ? p->row_start[i + 1] : begin + d->nv;
        if (eliminated && eliminated[i])
            continue;
        bg_sparse_rows_begin(&s->A);
        for (int k = begin; k < end; k++) {
            int j = p ? p->column[k] : k - begin;
            if (d->terms.G[k] != 0)
                bg_sparse_rows_add(&s->A, j, d->terms.G[k] / s->size[i]);
            right -= d->terms.G[k] * s->from[j];
        }
        s->b[n++] = right / s->size[i];
    }
    return bg_levels_add_rows(s->levels, &s->A, s->b, tolerance, 1, err);
}

void bg_given_print(const double *values, int n, double unit, char *text, size_t size)
{
    double x[3] = {0};
    for (int i = 0; i < n; i++)
        x[i] = fabs(values[i]) <= met * unit ? 0 : values[i];
    if (n == 1)
        snprintf(text, size, "%.9g", x[0]);
    else
        snprintf(text, size, "(%.9g, %.9g, %.9g)", x[0], x[1], x[2]);
}

bool bg_given_is_met(const bg_given *g, double misfit)
{
    for (int i = 0; i < g->n; i++)
        if (!(fabs(g->got[i] - g->given[i]) <= fmax(met, misfit) * g->size))
            return false;
    return true;
}

bool bg_given_is_velocity(const bg_given *g)
{
    return strstr(g->unit, "/s") != NULL;
}

/* v <- the guess, corrected. What is no correction but for rounding is none: a plane mechanism is
 * to start in its plane. */
static void take_solution(const bg_start_search *s, double *v)
{
    const double *x = bg_levels_get_x(s->levels);
    double largest = 0;
    for (int i = 0; i < s->d->nv; i++)
        largest = fmax(largest, fabs(x[i]) / s->unit[i]);
    for (int i = 0; i < s->d->nv; i++) {
        bool none = fabs(x[i]) / s->unit[i] <= 64 * DBL_EPSILON * largest;
        v[i] = s->from[i] + (none ? 0 : x[i]);
    }
}

/* A level of fixed velocities must be met. */
static bool are_fixed_met(const bg_start_search *s, int n)
{
    const double *x = bg_levels_get_x(s->levels);
    for (int i = 0; i < n; i++) {
        double sum = -s->b[i], size = fabs(s->b[i]);
        for (int k = s->A.start[i]; k < s->A.start[i + 1]; k++) {
            double a = s->A.value[k];
            int j = s->A.column[k];
            sum += a * x[j];
            size += fabs(a) * (fabs(x[j]) + fabs(s->from[j]));
        }
        if (!(fabs(sum) <= met * size))
            return false;
    }
    return true;
}

bg_status bg_start_search_solve_velocity(bg_start_search *s, const unsigned char *eliminated,
                                         bg_state *x, bool *fixed_met, bg_error *err)
{
    bg_status st = BG_OK;
    bg_levels_reset(s->levels);
    if (s->d->ng > 0)
        st = bg_start_search_add_constraints(s, eliminated, s->d->terms.gt, kept, err);
    for (int level = 0; level < BG_START_LEVELS && st == BG_OK; level++) {
        int n = bg_levels_get_freedom(s->levels) > 0 || level == BG_START_FIXED
                    ? bg_start_search_calc_rows(s, BG_START_VELOCITIES, level)
                    : 0;
        if (n > 0)
            st = bg_levels_add_rows(s->levels, &s->A, s->b, s->leverage, 0, err);
        if (level == BG_START_FIXED)
            *fixed_met = st != BG_OK || are_fixed_met(s, n);
    }
    if (st == BG_OK)
        st = bg_start_search_check_memory(s, err);
    if (st == BG_OK)
        take_solution(s, x->v);
    return st;
}

/* Whether G v + g_t = 0 but for rounding, with the terms at hand. */
static bool fits(const bg_dynamics *d, const double *v)
{
    const bg_pattern *p = d->sys->def.pattern_G;
    for (int i = 0; i < d->ng; i++) {
        double sum = d->terms.gt[i], size = fabs(sum);
        int begin = p ? p->row_start[i] : i * d->nv, end = p ? p->row_start[i + 1] : begin + d->nv;
        for (int k = begin; k < end; k++) {
            double part = d->terms.G[k] * v[p ? p->column[k] : k - begin];
            sum += part;
            size += fabs(part);
        }
        if (!(fabs(sum) <= 1e-11 * size))
            return false;
    }
    return true;
}

/* Where a position is out of reach, the start is near the end of a range, and how near is for the
 * weights of nearest.c to say: what is given of velocities is met there only if that takes little.
 */
static double find_leverage(const bg_system_def *def, const bg_point *p)
{
    bg_given g;
    for (int k = 0; def->starts->get_given(def->self, k == 0 ? p : NULL, k, &g) == 0; k++)
        if (!bg_given_is_velocity(&g) && !bg_given_is_met(&g, missed))
            return near_end;
    return BG_START_LEVERAGE;
}

bg_status bg_starts_find_velocity(bg_dynamics *d, const unsigned char *eliminated, bg_state *x,
                                  bg_error *err)
{
    const bg_system_def *def = &d->sys->def;
    bg_start_search s;
    bg_point p;
    bg_status st = bg_system_set_point(d->sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    if (st != BG_OK)
        return st;
    st = def->starts->guess(def->self, &p, x->v, err);
    if (st != BG_OK)
        return st;
    if (fits(d, x->v) && def->starts->is_settled(def->self, &p, BG_START_VELOCITIES))
        return BG_OK;
    st = bg_start_search_create(d, &s, err);
    s.point = p;
    s.leverage = find_leverage(def, &p);
    if (st == BG_OK)
        memcpy(s.from, x->v, (size_t)d->nv * sizeof(double));
    bool fixed_met;
    if (st == BG_OK)
        st = bg_start_search_solve_velocity(&s, eliminated, x, &fixed_met, err);
    if (st == BG_OK && !fixed_met) {
        st = bg_starts_find_contradiction(&s, eliminated, x, err);
        if (st == BG_OK) /* rounding */
            st = bg_start_search_solve_velocity(&s, eliminated, x, &fixed_met, err);
    }
    bg_start_search_clear(&s);
    return st;
}

/* Whether positions are where the user insists, and joints closed as designed; velocities come
 * later. */
static bool are_positions_good(const bg_start_search *s)
{
    bg_given g;
    if (s->starts->find_reversed(s->d->sys->def.self, &s->point))
        return false;
    for (int k = 0;
         s->starts->get_given(s->d->sys->def.self, k == 0 ? &s->point : NULL, k, &g) == 0; k++)
        if (g.fixed && !bg_given_is_velocity(&g) && !bg_given_is_met(&g, 0))
            return false;
    return true;
}

bg_status bg_starts_find_position(bg_dynamics *d, bg_state *x, bg_error *err)
{
    const bg_system_def *def = &d->sys->def;
    bg_start_search s;
    bool exact;
    bg_error ignored;
    unsigned want = d->ng > 0 ? BG_TERM_G | BG_TERM_g : 0u;
    if (bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, want, &ignored) != BG_OK ||
        (bg_start_search_find_opening(d) <= 1e-12 &&
         def->starts->is_settled(def->self, &d->point, BG_START_POSITIONS)))
        return BG_OK;
    double *guess = BG_NEW_ARRAY(double, d->nq);
    bg_status st = bg_start_search_create(d, &s, err);
    s.starved = s.starved || !guess;
    if (st == BG_OK && guess) {
        bg_levels_set_limit(s.levels, LARGEST);
        memcpy(guess, x->q, (size_t)d->nq * sizeof(double));
        if (!bg_start_search_find_position(&s, x, s.design, guess, are_positions_good, &exact)) {
            memcpy(x->q, guess, (size_t)d->nq * sizeof(double));
            memcpy(x->z, s.z, (size_t)d->nz * sizeof(double));
        }
    }
    if (st == BG_OK)
        st = bg_start_search_check_memory(&s, err);
    free(guess);
    bg_start_search_clear(&s);
    return st;
}

/* Guesses that are corrected a little are no reason for doubt. */
static void warn(const bg_given *g, bg_warnings *warnings)
{
    char given[96], got[96];
    double most = 0;
    for (int i = 0; i < g->n; i++)
        most = fmax(most, fabs(g->got[i] - g->given[i]));
    bg_given_print(g->given, g->n, 0, given, sizeof given);
    bg_given_print(g->got, g->n, g->size, got, sizeof got);
    bg_warnings_add(warnings, most > 1e-3 * g->size ? BG_DOUBTFUL : BG_GOOD, "start",
                    "%s is given as %s and becomes %s %s, because the mechanism or what else is "
                    "given does not allow it; correct it, or leave it out",
                    g->name, given, got, g->unit);
}

bg_status bg_starts_report(bg_evaluator *sys, const bg_state *x, double misfit,
                           bg_assembly_report *report, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    bg_given g;
    bg_point p;
    int count = 0;
    bg_status st = bg_system_set_point(sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    const char *reversed = st == BG_OK ? def->starts->find_reversed(def->self, &p) : NULL;
    if (reversed)
        return bg_error_set(err, BG_NOT_ASSEMBLED,
                            "joint '%s' of '%s' would be closed the wrong way round, with an axis "
                            "against its own as designed; give positions nearer to the design "
                            "position, or fewer of them",
                            reversed, def->name);
    for (int k = 0;
         st == BG_OK && def->starts->get_given(def->self, k == 0 ? &p : NULL, k, &g) == 0; k++) {
        count += !bg_given_is_met(&g, misfit);
        if (g.fixed && !bg_given_is_met(&g, misfit))
            return bg_starts_report_fixed(&g, err);
    }
    if (count == 0 || st != BG_OK)
        return st;
    report->unmet = BG_NEW_ARRAY(bg_given, count);
    if (!report->unmet)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of '%s'", def->name);
    for (int k = 0; report->nunmet < count; k++) {
        def->starts->get_given(def->self, k == 0 ? &p : NULL, k, &g);
        if (bg_given_is_met(&g, misfit))
            continue;
        report->unmet[report->nunmet++] = g;
        if (report->nunmet <= TOLD)
            warn(&g, &report->warnings);
    }
    if (count > TOLD)
        bg_warnings_add(&report->warnings, BG_DOUBTFUL, "start",
                        "%d more that were given for the start are not met", count - TOLD);
    return BG_OK;
}
