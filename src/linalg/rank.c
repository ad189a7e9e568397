/* Rank and dependencies of the rows of a matrix, for redundant constraints.
 *
 * Of a large matrix, most rows are independent beyond doubt (independence.h); those in doubt, with
 * the rows they may depend on, make groups that have nothing to do with each other, and each of
 * these is decided upon carefully (dependence.h). A small matrix is one such group. */
#include "base/arena.h"
#include "base/memory.h"
#include "linalg/dependence.h"
#include "linalg/independence.h"
#include "linalg/linalg.h"
#include "linalg/products.h"
#include "linalg/sort.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 48 /* rows */ };
/* Entries of a group, once settled: so many in any case, and so many a row. */
enum { ENTRIES = 1000000, ENTRIES_OF_ROW = 500 };
static const double doubt = 1e-3, beyond = 10; /* and at least so many tolerances */

/* How a dependent row depends: coefficients over kept rows. */
typedef struct coefficients {
    int *row;
    double *value;
    size_t count, room;
    size_t *start; /* [m] where those of row i begin, */
    int *length;   /* [m] and how many they are */
} coefficients;

struct bg_rank {
    int m, n, rank;
    bg_pattern pattern;
    int *row_start, *column; /* of the pattern */
    double *value;           /* entries in units of rows and columns */
    double *unit;            /* [m] what row i was divided by */
    double *length;          /* [m] of the scaled row */
    double *left;            /* [m] remainders */
    bool *out, *doubtful;    /* [m] never kept; in doubt */
    bool sparse;
    bg_independence sure; /* if sparse */
    bg_products all;      /* if not */
    bg_dependence group;  /* the one at work */
    int *leader;          /* [m] row of the same group, the first of it in the end; itself: none */
    int *next;            /* [m] of the same group; -1: last */
    int *local;           /* [n] column of the group; -1: none */
    int *used;            /* [n] columns of the group */
    int *member;          /* [m] rows of the group */
    int *quota;           /* [m] by the first row of a group: rows of it to keep */
    double *sorted;       /* [m] scratch */
    coefficients parts;
    bool settled;   /* nothing is allocated any more, and coefficients are not kept */
    bool failed;    /* out of memory since create, or more than was reserved */
    int count;      /* entries of the pattern */
    bg_arena arena; /* all arrays but those of coefficients that grow */
};

static void list(void *object, bg_arena *arena)
{
    bg_rank *w = object;
    int m = w->m, n = w->n;
    BG_TAKE(arena, w->row_start, m + 1);
    BG_TAKE(arena, w->column, w->count);
    BG_TAKE(arena, w->value, w->count);
    BG_TAKE(arena, w->unit, m);
    BG_TAKE(arena, w->length, m);
    BG_TAKE(arena, w->left, m);
    BG_TAKE(arena, w->out, m);
    BG_TAKE(arena, w->doubtful, m);
    BG_TAKE(arena, w->leader, m);
    BG_TAKE(arena, w->next, m);
    BG_TAKE(arena, w->local, n);
    BG_TAKE(arena, w->used, n);
    BG_TAKE(arena, w->member, m);
    BG_TAKE(arena, w->quota, m);
    BG_TAKE(arena, w->sorted, m);
    BG_TAKE(arena, w->parts.start, m);
    BG_TAKE(arena, w->parts.length, m);
}

static bool copy_pattern(bg_rank *w, const bg_pattern *pattern)
{
    for (int i = 0; i <= w->m; i++)
        w->row_start[i] = pattern ? pattern->row_start[i] : i * w->n;
    for (int k = 0; k < w->count; k++)
        w->column[k] = pattern ? pattern->column[k] : k % w->n;
    w->pattern = (bg_pattern){w->m, w->n, w->row_start, w->column};
    return true;
}

/* Room for so many more coefficients; false: out of memory. */
static bool reserve(bg_rank *w, size_t more)
{
    coefficients *c = &w->parts;
    size_t room = c->count + more;
    if (room <= c->room)
        return true;
    room = room > 2 * c->room ? room : 2 * c->room;
    int *row = realloc(c->row, room * sizeof(int));
    c->row = row ? row : c->row;
    double *value = row ? realloc(c->value, room * sizeof(double)) : NULL;
    c->value = value ? value : c->value;
    c->room = value ? room : c->room;
    w->failed = w->failed || !value;
    return value != NULL;
}

static bool forget_columns(bg_rank *w)
{
    for (int j = 0; j < w->n; j++)
        w->local[j] = -1;
    return true;
}

bg_status bg_rank_create(int m, int n, const bg_pattern *pattern, bg_rank **rank, bg_error *err)
{
    assert(m >= 0 && n >= 0);
    bg_rank *w = *rank = BG_NEW(bg_rank);
    if (w) {
        w->m = m;
        w->n = n;
        w->sparse = pattern && m > SMALL;
        w->count = pattern ? pattern->row_start[m] : m * n;
        if (bg_arena_create(&w->arena, list, w) && copy_pattern(w, pattern) && forget_columns(w) &&
            (w->sparse ? bg_independence_create(&w->sure, &w->pattern)
                       : bg_products_create(&w->all, m, n) &&
                             bg_dependence_begin(&w->group, m, n, (size_t)m * (size_t)n) &&
                             reserve(w, (size_t)m * (size_t)m / 4 + 1)))
            return BG_OK;
    }
    bg_rank_destroy(w);
    *rank = NULL;
    return bg_error_set(err, BG_NO_MEMORY, "no memory for the rank of a %d x %d matrix", m, n);
}

void bg_rank_destroy(bg_rank *w)
{
    if (!w)
        return;
    bg_independence_clear(&w->sure);
    bg_products_clear(&w->all);
    bg_dependence_clear(&w->group);
    bg_arena_clear(&w->arena);
    free(w->parts.row);
    free(w->parts.value);
    free(w);
}

static int find_leader(bg_rank *w, int i)
{
    while (w->leader[i] != i)
        i = w->leader[i] = w->leader[w->leader[i]];
    return i;
}

static void join(bg_rank *w, int i, int k)
{
    int a = find_leader(w, i), b = find_leader(w, k);
    w->leader[a > b ? a : b] = a > b ? b : a;
}

/* The rows and columns of the largest set of rows that hang together by columns. */
static void find_largest(bg_rank *w, size_t *rows, size_t *columns)
{
    int *m = w->member, *n = w->next;
    *rows = *columns = 0;
    for (int i = 0; i < w->m; i++)
        w->leader[i] = i;
    for (int i = 0; i < w->m; i++)
        for (int k = w->row_start[i]; k < w->row_start[i + 1]; k++) {
            int *first = &w->local[w->column[k]]; /* row with an entry in this column */
            if (*first >= 0)
                join(w, i, *first);
            else
                *first = i;
        }
    for (int i = 0; i < w->m; i++)
        m[i] = n[i] = 0;
    for (int i = 0; i < w->m; i++)
        m[find_leader(w, i)]++;
    for (int j = 0; j < w->n; j++)
        if (w->local[j] >= 0)
            n[find_leader(w, w->local[j])]++;
    for (int i = 0; i < w->m; i++) {
        *rows = (size_t)m[i] > *rows ? (size_t)m[i] : *rows;
        *columns = (size_t)n[i] > *columns ? (size_t)n[i] : *columns;
    }
    forget_columns(w);
}

bg_status bg_rank_settle(bg_rank *w, bg_error *err)
{
    size_t m, n;
    find_largest(w, &m, &n);
    const size_t most = m < ENTRIES / ENTRIES_OF_ROW ? ENTRIES : ENTRIES_OF_ROW * m;
    w->settled = bg_dependence_settle(&w->group, (size_t)w->m, n, m * n < most ? m * n : most);
    return w->settled ? BG_OK
                      : bg_error_set(err, BG_NO_MEMORY,
                                     "no memory for the rank of a %d x %d matrix", w->m, w->n);
}

/* value <- A without fixed columns, in units of rows and columns. */
static void scale_rows(bg_rank *w, const bg_rank_question *x)
{
    double longest = 0;
    for (int i = 0; i < w->m; i++) {
        int first = w->row_start[i], count = w->row_start[i + 1] - first;
        for (int k = first; k < first + count; k++)
            w->value[k] = x->A[k] * (x->column_size ? x->column_size[w->column[k]] : 1);
        w->length[i] = bg_dependence_calc_length(w->value + first, count);
        longest = fmax(longest, w->length[i]);
        for (int k = first; x->fixed && k < first + count; k++)
            if (x->fixed[w->column[k]])
                w->value[k] = 0;
        if (x->fixed)
            w->length[i] = bg_dependence_calc_length(w->value + first, count);
        w->unit[i] = x->row_size ? x->row_size[i] : w->length[i];
    }
    for (int i = 0; i < w->m; i++) {
        bool zero = !x->row_size && w->unit[i] <= 1e3 * DBL_EPSILON * longest;
        for (int k = w->row_start[i]; k < w->row_start[i + 1]; k++)
            w->value[k] = zero ? 0 : w->value[k] / w->unit[i];
        w->length[i] = zero ? 0 : w->length[i] / w->unit[i];
        w->out[i] = zero || (x->order && x->order[i] < 0);
    }
}

/* Rows in doubt, of which no more than `least` is left, and those they may depend on, chained from
 * the first row of each group; doubtful says of every row whether it is in a group. */
static void make_groups(bg_rank *w, double least)
{
    for (int i = 0; i < w->m; i++)
        w->leader[i] = w->sparse ? i : 0;
    if (w->sparse) {
        bg_independence_calc(&w->sure, w->value, w->out, least, w->doubtful, w->left);
        for (int i = 0; i < w->m; i++) {
            const int *rows;
            int n = w->doubtful[i] ? bg_independence_find(&w->sure, i, &rows) : 0;
            for (int k = 0; k < n; k++)
                join(w, i, rows[k]);
        }
    }
    for (int i = w->m - 1; i >= 0; i--) {
        w->next[i] = -1;
        w->quota[i] = w->m;
        w->leader[i] = find_leader(w, i);
    }
    for (int i = w->m - 1; i >= 0; i--) { /* a row is chained behind the first of its group */
        int first = w->leader[i];
        if (first == i)
            continue;
        w->next[i] = w->next[first];
        w->next[first] = i;
        w->doubtful[first] = true;
    }
    for (int i = 0; i < w->m; i++)
        w->doubtful[i] = !w->sparse || w->doubtful[w->leader[i]];
}

/* group <- the rows chained from `first`; false: out of memory. */
static bool gather(bg_rank *w, const bg_rank_question *x, int first)
{
    int m = 0, n = 0;
    size_t entries = 0;
    for (int i = first; i >= 0; i = w->next[i]) {
        w->member[m++] = i;
        entries += (size_t)(w->row_start[i + 1] - w->row_start[i]);
        for (int k = w->row_start[i]; k < w->row_start[i + 1]; k++)
            if (w->local[w->column[k]] < 0) {
                w->local[w->column[k]] = 0;
                w->used[n++] = w->column[k];
            }
    }
    bg_sort_ints(w->used, n);
    bool done = bg_dependence_begin(&w->group, m, n, entries);
    for (int j = 0; j < n; j++)
        w->local[w->used[j]] = j;
    for (int r = 0; r < m && done; r++) {
        int i = w->member[r];
        w->group.order[r] = (signed char)(w->out[i] ? -1 : x->order ? x->order[i] : 0);
        for (int k = w->row_start[i]; k < w->row_start[i + 1] && done; k++)
            done = w->value[k] == 0 ||
                   bg_dependence_add(&w->group, r, w->local[w->column[k]], w->value[k]);
    }
    for (int j = 0; j < n; j++)
        w->local[w->used[j]] = -1;
    w->failed = w->failed || !done;
    return done;
}

/* Row i, the r-th of the group, in terms of those kept. Coefficients of unit rows below the root of
 * the tolerance are noise; so is what a row takes from others when it is itself no longer than
 * that. */
static void report_dependent(bg_rank *w, int r, double tolerance, unsigned char *involved)
{
    int i = w->member[r];
    double noticeable = sqrt(tolerance);
    bg_dependence *g = &w->group;
    coefficients *c = &w->parts;
    involved[i] = 1;
    const int n = bg_dependence_calc_coefficients(g, r);
    bool room = !w->settled && reserve(w, (size_t)n);
    c->start[i] = c->count;
    for (int p = 0; p < n; p++) {
        int other = w->member[g->part[p]];
        if (fabs(g->coefficient[p]) * w->length[other] >
            noticeable * fmax(w->length[i], noticeable))
            involved[other] = 1;
        if (!room)
            continue;
        c->row[c->count] = other;
        c->value[c->count++] = g->coefficient[p] * (w->unit[i] / w->unit[other]);
        c->length[i]++;
    }
}

/* Decides upon all groups; returns how many rows are kept. */
static int decide_groups(bg_rank *w, const bg_rank_question *x, const bg_rank_answer *y)
{
    double rounding = 8 * DBL_EPSILON * (w->m + w->n), tolerance = fmax(x->tolerance, rounding);
    int kept = 0;
    if (y->involved)
        memset(y->involved, 0, (size_t)w->m);
    memset(w->parts.length, 0, (size_t)w->m * sizeof(int));
    w->parts.count = 0;
    for (int i = 0; i < w->m; i++) {
        if (w->doubtful[i] && w->leader[i] == i && gather(w, x, i)) {
            bg_dependence *g = &w->group;
            w->failed = !bg_dependence_decide(g, w->quota[i], tolerance,
                                              fmax(x->least, rounding)) ||
                        w->failed;
            if (y->others)
                bg_dependence_calc_others(g, w->sorted);
            for (int r = 0; r < g->m; r++) {
                if (y->others)
                    y->others[w->member[r]] = w->sorted[r];
                y->dependent[w->member[r]] = g->dependent[r];
                w->left[w->member[r]] = g->remainder[r];
                if (g->dependent[r] && y->involved)
                    report_dependent(w, r, tolerance, y->involved);
            }
        }
        if (!w->doubtful[i])
            y->dependent[i] = 0;
        if (!w->doubtful[i] && y->others)
            y->others[i] = w->left[i];
        kept += !y->dependent[i];
    }
    return kept;
}

/* The smallest remainder but excess - 1 of rows that are kept in groups; HUGE_VAL: there are fewer.
 */
static double find_limit(bg_rank *w, const unsigned char *dependent, int excess)
{
    int n = 0;
    for (int i = 0; i < w->m; i++)
        if (w->doubtful[i] && !dependent[i])
            w->sorted[n++] = w->left[i];
    bg_sort_doubles(w->sorted, n);
    return excess <= n ? w->sorted[excess - 1] : HUGE_VAL;
}

/* Takes so many rows, with remainders up to the limit, from what may be kept of groups. */
static void ration(bg_rank *w, const unsigned char *dependent, int excess, double limit)
{
    for (int i = 0; i < w->m; i++)
        w->quota[i] = 0;
    for (int i = w->m - 1; i >= 0; i--) {
        if (!w->doubtful[i] || dependent[i])
            continue;
        bool less = excess > 0 && w->left[i] <= limit;
        excess -= less;
        w->quota[w->leader[i]] += !less;
    }
}

/* The same for a small matrix of which only kept rows count; false: it is not one, or some rows are
 * near to depend on others, and nothing is decided. */
static bool calc_quickly(bg_rank *w, const bg_rank_question *x, const bg_rank_answer *y, int most)
{
    bg_products *g = &w->all;
    if (!x->quick || w->sparse || !x->row_size || x->fixed || y->involved)
        return false;
    memset(g->S, 0, (size_t)w->m * (size_t)w->n * sizeof(double));
    for (int i = 0; i < w->m; i++) {
        double *s = g->S + (size_t)i * (size_t)w->n;
        g->order[i] = (signed char)(x->order ? x->order[i] : 0);
        for (int k = w->row_start[i]; k < w->row_start[i + 1]; k++) {
            int j = w->column[k];
            s[j] = x->A[k] * (x->column_size ? x->column_size[j] : 1) / x->row_size[i];
        }
    }
    if (!bg_products_decide(g, most))
        return false;
    for (int i = 0; i < w->m; i++) {
        y->dependent[i] = g->dependent[i];
        if (y->remainder)
            y->remainder[i] = g->remainder[i];
    }
    if (y->others)
        bg_products_calc_others(g, y->others);
    w->rank = g->rank;
    return true;
}

int bg_rank_calc(bg_rank *w, const bg_rank_question *x, const bg_rank_answer *y)
{
    int most = x->most > 0 && x->most < w->n ? x->most : w->n;
    double least = fmax(doubt, beyond * x->tolerance);
    if (calc_quickly(w, x, y, most))
        return w->rank;
    scale_rows(w, x);
    w->failed = w->failed && !w->settled;
    for (bool again = true; again; least *= beyond) {
        memset(y->dependent, 1, (size_t)w->m);
        make_groups(w, least);
        if (!w->sparse && w->m > 0)
            w->quota[0] = most;
        w->rank = decide_groups(w, x, y);
        int excess = w->rank - most;
        double limit = excess > 0 ? find_limit(w, y->dependent, excess) : 0;
        again = limit > least;
        if (excess > 0 && !again) {
            ration(w, y->dependent, excess, limit);
            memset(y->dependent, 1, (size_t)w->m);
            w->rank = decide_groups(w, x, y);
        }
    }
    if (y->remainder)
        memcpy(y->remainder, w->left, (size_t)w->m * sizeof(double));
    return w->settled && w->failed ? -1 : w->rank;
}

int bg_rank_get_parts(const bg_rank *w, int i, const int **rows, const double **values)
{
    const coefficients *c = &w->parts;
    *rows = c->row + c->start[i];
    *values = c->value + c->start[i];
    return c->length[i];
}

double bg_rank_get_coefficient(const bg_rank *w, int i, int k)
{
    const int *rows;
    const double *values;
    int n = bg_rank_get_parts(w, i, &rows, &values);
    for (int e = 0; e < n; e++)
        if (rows[e] == k)
            return values[e];
    return 0;
}

bool bg_rank_has_failed(const bg_rank *w)
{
    return w->failed;
}
