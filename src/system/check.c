/* The derivative checker: supplied G, g_t, gamma and derivative blocks against differences.
 *
 * States are drawn around the start values: q0 + 0.1 (1 + |q0|) r along V, v and z likewise around
 * theirs, a and lambda in [-1, 1], with r uniform in [-1, 1] from a small counter-based generator, so
 * that a seed gives the same states everywhere. An entry's error is measured against the largest
 * magnitude in its row (and 1e-3 of the largest in the whole quantity), since a row mixes entries of
 * one unit and differences cannot see an entry that is tiny beside its neighbours. */
#include "system/system.h"

#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample {
    double *q, *v, *z, *a, *lambda, *u, *u_t, *u_tt;
    int *mode;
    double *supplied, *differenced; /* values of the largest quantity */
    double *V;
} sample;

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

static bool sample_create(const bg_system *sys, sample *s)
{
    const bg_system_def *d = &sys->def;
    int n = largest_quantity(sys) + d->ng;
    s->q = BG_NEW_ARRAY(double, d->nq);
    s->v = BG_NEW_ARRAY(double, d->nv);
    s->z = BG_NEW_ARRAY(double, d->nz);
    s->a = BG_NEW_ARRAY(double, d->nv);
    s->lambda = BG_NEW_ARRAY(double, d->ng);
    s->u = BG_NEW_ARRAY(double, d->nu);
    s->u_t = BG_NEW_ARRAY(double, d->nu);
    s->u_tt = BG_NEW_ARRAY(double, d->nu);
    s->mode = BG_NEW_ARRAY(int, d->nmode);
    s->supplied = BG_NEW_ARRAY(double, n);
    s->differenced = BG_NEW_ARRAY(double, n);
    s->V = BG_NEW_ARRAY(double, d->nq * d->nv);
    return s->q && s->v && s->z && s->a && s->lambda && s->u && s->u_t && s->u_tt && s->mode &&
           s->supplied && s->differenced && s->V;
}

static void sample_clear(sample *s)
{
    void *const arrays[] = {s->q,   s->v,    s->z,    s->a,        s->lambda,      s->u,
                            s->u_t, s->u_tt, s->mode, s->supplied, s->differenced, s->V};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static void draw_around(const double *x0, double *x, int n, uint64_t *state)
{
    for (int i = 0; i < n; i++) {
        double c = x0 ? x0[i] : 0.0;
        x[i] = c + 0.1 * (1.0 + fabs(c)) * uniform(state);
    }
}

static bg_status draw(bg_system *sys, sample *s, uint64_t *state, bg_point *p, bg_error *err)
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
    *p = (bg_point){t, s->q, s->v, s->z, s->u, s->u_t, s->u_tt, s->mode};
    return BG_OK;
}

/* What the rows and columns of a quantity are called. */
typedef struct quantity {
    const char *name;
    int rows, columns;
    const bg_pattern *pattern;
    char row_kind, column_kind;
} quantity;

static void keep_worst(const bg_system *sys, const quantity *x, const sample *s, double t,
                       bg_derivative_check *check)
{
    double largest = 0;
    int n = x->pattern ? x->pattern->row_start[x->rows] : x->rows * x->columns;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(s->differenced[k]));
    for (int i = 0; i < x->rows; i++) {
        int begin = x->pattern ? x->pattern->row_start[i] : i * x->columns;
        int end = x->pattern ? x->pattern->row_start[i + 1] : begin + x->columns;
        double scale = fmax(1e-3 * largest, 1e-6);
        for (int k = begin; k < end; k++)
            scale = fmax(scale, fabs(s->differenced[k]));
        for (int k = begin; k < end; k++) {
            double error = fabs(s->supplied[k] - s->differenced[k]) / scale;
            if (error <= check->error && check->entry[0])
                continue;
            char row[32], column[32];
            int j = x->pattern ? x->pattern->column[k] : k - begin;
            check->error = isfinite(error) ? error : HUGE_VAL;
            check->supplied = s->supplied[k];
            check->differenced = s->differenced[k];
            check->t = t;
            const char *row_name = bg_system_get_name(sys, x->row_kind, i, row, sizeof row);
            if (x->column_kind)
                snprintf(check->entry, sizeof check->entry, "%s by %s", row_name,
                         bg_system_get_name(sys, x->column_kind, j, column, sizeof column));
            else
                snprintf(check->entry, sizeof check->entry, "%s", row_name);
        }
    }
    snprintf(check->quantity, sizeof check->quantity, "%s", x->name);
}

static bg_status check_term(bg_system *sys, const bg_point *p, unsigned term, sample *s,
                            bg_derivative_check *check, bg_error *err)
{
    const bg_system_def *d = &sys->def;
    quantity x = {term == BG_TERM_G    ? "G"
                  : term == BG_TERM_gt ? "g_t"
                                       : "gamma",
                  d->ng,
                  term == BG_TERM_G ? d->nv : 1,
                  term == BG_TERM_G ? d->pattern_G : NULL,
                  'g',
                  term == BG_TERM_G ? 'v' : '\0'};
    bg_terms supplied = {.G = s->supplied, .gt = s->supplied, .gamma = s->supplied};
    bg_terms differenced = {.G = s->differenced, .gt = s->differenced, .gamma = s->differenced};
    memset(s->supplied, 0, (size_t)bg_system_get_size_G(sys) * sizeof(double));
    bg_status st = bg_system_calc_terms(sys, p, term, &supplied, err);
    if (st == BG_OK)
        st = bg_system_difference_term(sys, p, term, &differenced, err);
    if (st == BG_OK)
        keep_worst(sys, &x, s, p->t, check);
    return st;
}

static bg_status check_block(bg_system *sys, const bg_point *p, bg_of of, bg_by by, sample *s,
                             bg_derivative_check *check, bg_error *err)
{
    static const char row_kinds[] = "vzggg", column_kinds[] = "vvzu";
    int rows = bg_system_get_rows(sys, of), columns = bg_system_get_columns(sys, by);
    quantity x = {bg_block_get_name(of, by), rows,         columns, bg_system_get_pattern(sys, of, by),
                  row_kinds[of],             column_kinds[by]};
    bg_derivatives out = {{{0}}};
    out.block[of][by] = s->supplied;
    memset(s->supplied, 0, (size_t)(rows * columns) * sizeof(double));
    bg_status st = bg_system_calc_derivatives(sys, p, s->a, s->lambda, &out, err);
    if (st == BG_OK)
        st = bg_system_difference_block(sys, p, s->a, s->lambda, of, by, s->differenced, err);
    if (st == BG_OK)
        keep_worst(sys, &x, s, p->t, check);
    return st;
}

/* All checks at one state, in a fixed order; *count of them. */
static bg_status check_at(bg_system *sys, const bg_point *p, sample *s, bg_derivative_check *checks,
                          int *count, bg_error *err)
{
    static const unsigned terms[] = {BG_TERM_G, BG_TERM_gt, BG_TERM_gamma};
    bg_status st = BG_OK;
    *count = 0;
    for (int i = 0; i < 3 && st == BG_OK; i++)
        if (sys->def.ng > 0 && (sys->def.supplied & terms[i]))
            st = check_term(sys, p, terms[i], s, &checks[(*count)++], err);
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT && st == BG_OK; by++)
            if (sys->def.derivative_supplied[of][by] && bg_system_get_rows(sys, (bg_of)of) > 0 &&
                bg_system_get_columns(sys, (bg_by)by) > 0)
                st = check_block(sys, p, (bg_of)of, (bg_by)by, s, &checks[(*count)++], err);
    return st;
}

bg_status bg_system_check_derivatives(bg_system *sys, int samples, unsigned seed,
                                      bg_derivative_check checks[BG_DERIVATIVE_CHECKS], int *count,
                                      bg_error *err)
{
    sample s = {0};
    uint64_t state = seed;
    *count = 0;
    memset(checks, 0, BG_DERIVATIVE_CHECKS * sizeof *checks);
    bg_status st = sample_create(sys, &s)
                       ? BG_OK
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory in the derivative check");
    for (int i = 0; i < samples && st == BG_OK; i++) {
        bg_point p;
        st = draw(sys, &s, &state, &p, err);
        if (st == BG_OK)
            st = check_at(sys, &p, &s, checks, count, err);
    }
    sample_clear(&s);
    return st;
}
