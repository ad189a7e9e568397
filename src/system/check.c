/* The derivative checker: supplied G, g_t, gamma and derivative blocks against differences.
 *
 * States are drawn around the start values: q0 + 0.1 (1 + |q0|) r along V, v and z likewise around
 * theirs, a and lambda in [-1, 1], with r uniform in [-1, 1] from a small counter-based generator,
 * so that a seed gives the same states everywhere.
 *
 * Differences D(h), D(2h), D(4h) with wide shifts have little rounding, about eps |F| / h for a
 * function F, and extrapolation takes out their truncation: (4 D(h) - D(2h)) / 3. How far that is
 * from (4 D(2h) - D(4h)) / 3 shows how well differences know an entry at all.
 *
 * An entry's error is measured against the largest magnitude in its row (and 1e-3 of the largest in
 * the whole quantity), since a row mixes entries of one unit. Disagreement within the doubt about
 * the differences in its row is no evidence and never counts as more than 1e-8. */
#include "system/system.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const double widening = 16; /* of the shifts h of differences.c, to about 1e-4 */
static const double shift = 1e-4;  /* h, for the rounding eps |F| / h */
static const double no_evidence = 1e-8;
static const double margin = 8; /* doubt is an estimate */

typedef struct check_sample {
    const bg_system *system;
    double *q, *v, *z, *a, *lambda, *u, *u_t, *u_tt;
    int *mode;
    double *supplied, *differenced; /* values of the largest quantity */
    double *doubt, *wider;          /* likewise: uncertainty of differenced, differences over 2h */
    double *V;
    bg_arena arena; /* all arrays */
} check_sample;

static double uniform(uint64_t *state)
{
    uint64_t x = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return 2.0 * ((double)(x >> 11) / 9007199254740992.0) - 1.0;
}

static int largest_quantity(const bg_system *sys)
{
    int largest = bg_system_get_size_G(sys);
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++) {
            int n = bg_system_get_rows(sys, (bg_of)of) * bg_system_get_columns(sys, (bg_by)by);
            largest = n > largest ? n : largest;
        }
    return largest;
}

static void list(void *object, bg_arena *arena)
{
    check_sample *s = object;
    const bg_system_def *d = &s->system->def;
    int n = largest_quantity(s->system) + d->ng;
    BG_TAKE(arena, s->q, d->nq);
    BG_TAKE(arena, s->v, d->nv);
    BG_TAKE(arena, s->z, d->nz);
    BG_TAKE(arena, s->a, d->nv);
    BG_TAKE(arena, s->lambda, d->ng);
    BG_TAKE(arena, s->u, d->nu);
    BG_TAKE(arena, s->u_t, d->nu);
    BG_TAKE(arena, s->u_tt, d->nu);
    BG_TAKE(arena, s->mode, d->nmode);
    BG_TAKE(arena, s->supplied, n);
    BG_TAKE(arena, s->differenced, n);
    BG_TAKE(arena, s->doubt, n);
    BG_TAKE(arena, s->wider, n);
    BG_TAKE(arena, s->V, bg_system_get_size_V(s->system));
}

static void draw_around(const double *x0, double *x, int n, uint64_t *state)
{
    for (int i = 0; i < n; i++) {
        double c = x0 ? x0[i] : 0.0;
        x[i] = c + 0.1 * (1.0 + fabs(c)) * uniform(state);
    }
}

static bg_status draw(bg_evaluator *sys, check_sample *s, uint64_t *state, bg_point *p,
                      bg_error *err)
{
    const bg_system_def *d = &sys->def;
    double t = d->t_start + (d->t_end - d->t_start) * 0.5 * (1.0 + uniform(state));
    for (int i = 0; i < d->nq; i++)
        s->q[i] = d->q0 ? d->q0[i] : 0.0;
    for (int i = 0; i < d->nmode; i++)
        s->mode[i] = d->mode0 ? d->mode0[i] : 0;
    draw_around(d->v0, s->v, d->nv, state);
    draw_around(d->z0, s->z, d->nz, state);
    for (int i = 0; i < d->nv; i++)
        s->a[i] = uniform(state);
    for (int i = 0; i < d->ng; i++)
        s->lambda[i] = uniform(state);
    bg_status st = bg_system_set_point(sys, t, s->q, s->v, s->z, s->mode, p, err);
    if (st != BG_OK)
        return st;
    if (d->supplied & BG_TERM_V) { /* move along V: stay on unit quaternions */
        bg_terms out = {.V = s->V};
        if ((st = bg_system_calc_terms(sys, p, BG_TERM_V, &out, err)) != BG_OK)
            return st;
        for (int i = 0; i < d->nv; i++)
            s->differenced[i] = 0.1 * uniform(state);
        bg_system_move(sys, s->q, s->V, 1.0, s->differenced, s->q);
    } else {
        draw_around(d->q0, s->q, d->nq, state);
    }
    memcpy(s->u, sys->u, (size_t)d->nu * sizeof(double));
    memcpy(s->u_t, sys->u_t, (size_t)d->nu * sizeof(double));
    memcpy(s->u_tt, sys->u_tt, (size_t)d->nu * sizeof(double));
    *p = (bg_point){
        t, s->q, s->v, s->z, s->u, s->u_t, s->u_tt, s->mode, d->f_of_lambda ? s->lambda : NULL, 0};
    return BG_OK;
}

/* A term or a derivative block, and what its rows and columns are called. */
typedef struct checked_quantity {
    const char *name;
    unsigned term; /* 0: the block of by by */
    bg_of of;
    bg_by by;
    int rows, columns;
    const bg_pattern *pattern;
    char row_kind, column_kind;
    const double
        *magnitude; /* [rows] the function that is differenced, at the last shifted point */
} checked_quantity;

static checked_quantity describe_term(const bg_evaluator *sys, unsigned term)
{
    const bg_system_def *d = &sys->def;
    checked_quantity x = {.term = term, .rows = d->ng, .columns = 1, .row_kind = 'g'};
    x.name = term == BG_TERM_G ? "G" : term == BG_TERM_gt ? "g_t" : "gamma";
    x.magnitude = (term == BG_TERM_gamma ? sys->for_gamma : sys->for_terms).value[0];
    if (term == BG_TERM_G) {
        x.columns = d->nv;
        x.pattern = d->pattern_G;
        x.column_kind = 'v';
    }
    return x;
}

static checked_quantity describe_block(const bg_evaluator *sys, bg_of of, bg_by by)
{
    static const char row_kinds[] = "vzggg", column_kinds[] = "vvzuuug";
    return (checked_quantity){bg_block_get_name(of, by),
                              0,
                              of,
                              by,
                              bg_system_get_rows(sys->system, of),
                              bg_system_get_columns(sys->system, by),
                              bg_system_get_pattern(sys->system, of, by),
                              row_kinds[of],
                              column_kinds[by],
                              sys->for_blocks.value[0]};
}

static int row_begin(const checked_quantity *x, int i)
{
    return x->pattern ? x->pattern->row_start[i] : i * x->columns;
}

static bg_status calc_supplied(bg_evaluator *sys, const bg_point *p, const checked_quantity *x,
                               check_sample *s, bg_error *err)
{
    memset(s->supplied, 0, (size_t)row_begin(x, x->rows) * sizeof(double));
    if (x->term) {
        bg_terms out = {.G = s->supplied, .gt = s->supplied, .gamma = s->supplied};
        return bg_system_calc_terms(sys, p, x->term, &out, err);
    }
    bg_derivatives out = {.only_stiff = 0};
    out.block[x->of][x->by] = s->supplied;
    return bg_system_calc_derivatives(sys, p, s->a, s->lambda, &out, err);
}

static bg_status calc_differences(bg_evaluator *sys, const bg_point *p, const checked_quantity *x,
                                  const check_sample *s, double wide, double *values, bg_error *err)
{
    bg_terms out = {.G = values, .gt = values, .gamma = values};
    sys->widening = wide;
    bg_status st = x->term ? bg_system_difference_term(sys, p, x->term, &out, err)
                           : bg_system_difference_block(sys, p, s->a, s->lambda, x->of, x->by,
                                                        values, err);
    sys->widening = 1;
    return st;
}

/* Extrapolated differences and the doubt about them. */
static bg_status calc_extrapolated(bg_evaluator *sys, const bg_point *p, const checked_quantity *x,
                                   check_sample *s, bg_error *err)
{
    bg_status st = calc_differences(sys, p, x, s, widening, s->differenced, err);
    if (st == BG_OK)
        st = calc_differences(sys, p, x, s, 2 * widening, s->wider, err);
    if (st == BG_OK)
        st = calc_differences(sys, p, x, s, 4 * widening, s->doubt, err);
    for (int k = 0; k < row_begin(x, x->rows) && st == BG_OK; k++) {
        double fine = (4 * s->differenced[k] - s->wider[k]) / 3;
        double coarse = (4 * s->wider[k] - s->doubt[k]) / 3;
        s->differenced[k] = fine;
        s->doubt[k] = fabs(fine - coarse);
    }
    return st;
}

static void note(const bg_system *sys, const checked_quantity *x, const check_sample *s, int i,
                 int k, double error, double t, bg_derivative_check *check)
{
    char row[32], column[32];
    int j = x->pattern ? x->pattern->column[k] : k - row_begin(x, i);
    check->error = error;
    check->supplied = s->supplied[k];
    check->differenced = s->differenced[k];
    check->t = t;
    const char *name = bg_system_get_name(sys, x->row_kind, i, row, sizeof row);
    if (x->column_kind)
        snprintf(check->entry, sizeof check->entry, "%s by %s", name,
                 bg_system_get_name(sys, x->column_kind, j, column, sizeof column));
    else
        snprintf(check->entry, sizeof check->entry, "%s", name);
}

static void keep_worst(const bg_system *sys, const checked_quantity *x, const check_sample *s,
                       double t, bg_derivative_check *check)
{
    double largest = 0;
    for (int k = 0; k < row_begin(x, x->rows); k++)
        largest = fmax(largest, fabs(s->differenced[k]));
    for (int i = 0; i < x->rows; i++) {
        int begin = row_begin(x, i), end = row_begin(x, i + 1);
        double scale = fmax(1e-3 * largest, DBL_MIN);
        double doubt = DBL_EPSILON * fabs(x->magnitude[i]) / shift;
        for (int k = begin; k < end; k++) {
            scale = fmax(scale, fabs(s->differenced[k]));
            doubt = fmax(doubt, s->doubt[k]);
        }
        for (int k = begin; k < end; k++) {
            double difference = fabs(s->supplied[k] - s->differenced[k]);
            double error = isfinite(difference) ? difference / scale : HUGE_VAL;
            if (difference <= margin * doubt)
                error = fmin(error, no_evidence);
            if (error > check->error || !check->entry[0])
                note(sys, x, s, i, k, error, t, check);
        }
    }
    snprintf(check->quantity, sizeof check->quantity, "%s", x->name);
}

static bg_status check_quantity(bg_evaluator *sys, const bg_point *p, const checked_quantity *x,
                                check_sample *s, bg_derivative_check *check, bg_error *err)
{
    bg_status st = calc_supplied(sys, p, x, s, err);
    if (st == BG_OK)
        st = calc_extrapolated(sys, p, x, s, err);
    if (st == BG_OK)
        keep_worst(sys->system, x, s, p->t, check);
    return st;
}

/* All checks at one state, in a fixed order; *count of them. */
static bg_status check_at(bg_evaluator *sys, const bg_point *p, check_sample *s,
                          bg_derivative_check *checks, int *count, bg_error *err)
{
    static const unsigned terms[] = {BG_TERM_G, BG_TERM_gt, BG_TERM_gamma};
    bg_status st = BG_OK;
    checked_quantity x;
    *count = 0;
    for (int i = 0; i < 3 && st == BG_OK; i++)
        if (sys->def.ng > 0 && (sys->def.supplied & terms[i])) {
            x = describe_term(sys, terms[i]);
            st = check_quantity(sys, p, &x, s, &checks[(*count)++], err);
        }
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT && st == BG_OK; by++) {
            x = describe_block(sys, (bg_of)of, (bg_by)by);
            if (sys->def.derivative_supplied[of][by] && x.rows > 0 && x.columns > 0)
                st = check_quantity(sys, p, &x, s, &checks[(*count)++], err);
        }
    return st;
}

bg_status bg_system_check_derivatives(const bg_system *system, int samples, unsigned seed,
                                      bg_derivative_check checks[BG_DERIVATIVE_CHECKS], int *count,
                                      bg_error *err)
{
    check_sample s = {.system = system};
    uint64_t state = seed;
    *count = 0;
    memset(checks, 0, BG_DERIVATIVE_CHECKS * sizeof *checks);
    bg_evaluator *sys;
    bg_status st = bg_evaluator_create(system, &sys, err);
    if (st == BG_OK && !bg_arena_create(&s.arena, list, &s))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory in the derivative check");
    for (int i = 0; i < samples && st == BG_OK; i++) {
        bg_point p;
        st = draw(sys, &s, &state, &p, err);
        if (st == BG_OK)
            st = check_at(sys, &p, &s, checks, count, err);
    }
    bg_arena_clear(&s.arena);
    bg_evaluator_destroy(sys);
    return st;
}
