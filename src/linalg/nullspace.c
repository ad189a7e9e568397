/* Gauss elimination of sparse rows, and a basis of what they leave free.
 *
 * The next pivot is in the row with the fewest entries; of those entries that reach a tenth of its
 * largest, the one in the column with the fewest rows. That bounds the factors of the substitution
 * x_j = (r_i - sum_l b_il x_l) / b_ij, with which the free unknowns, those without a pivot, give
 * all others, as LU with pivots by rows does. A row of which next to nothing is left is put aside.
 * In the end the basis is made orthonormal, so that the solution without a part in it is the
 * shortest, and everything is checked with the rows as they were. */
#include "linalg/nullspace.h"

#include "base/arena.h"
#include "base/memory.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double doubt = 1e-6;   /* of the largest entry, and less than ten times what a row
                                       may be and depend on others: no pivot */
static const double good = 1e-12;   /* what may be missing in the end */
static const double reaching = 0.1; /* of the largest entry */

typedef struct entries {
    int count, room;
    int *column;
    double *value;
} entries;

typedef struct elimination {
    int m, n, rank;
    entries *row;     /* [m] what is left of them */
    double *right;    /* [m] */
    double least;     /* pivots are larger */
    double size;      /* largest entry of all rows, as they were */
    int *head;        /* [n+1] first row of so many entries that waits; -1: none */
    int *next, *prev; /* [m] */
    bool *waiting;    /* [m] has no pivot */
    bool *aside;      /* [m] and none is looked for */
    entries *of;      /* [n] rows that have or had an entry in the column (no values) */
    int *rows_in;     /* [n] how many of them wait and have one */
    int *pivot_row, *pivot_column; /* [min(m,n)] in the order of elimination */
    bool *found;                   /* [n] has a pivot */
    int *place;                    /* [n] 1 + where an entry of the row at work is; 0: nowhere */
    bool failed;                   /* out of memory */
    bg_arena arena;                /* all arrays but those of entries */
} elimination;

static void list(void *object, bg_arena *arena)
{
    elimination *e = object;
    int m = e->m, n = e->n;
    BG_TAKE(arena, e->row, m);
    BG_TAKE(arena, e->right, m);
    BG_TAKE(arena, e->head, n + 1);
    BG_TAKE(arena, e->next, m);
    BG_TAKE(arena, e->prev, m);
    BG_TAKE(arena, e->waiting, m);
    BG_TAKE(arena, e->aside, m);
    BG_TAKE(arena, e->of, n);
    BG_TAKE(arena, e->rows_in, n);
    BG_TAKE(arena, e->pivot_row, m);
    BG_TAKE(arena, e->pivot_column, m);
    BG_TAKE(arena, e->found, n);
    BG_TAKE(arena, e->place, n);
}

static void append(elimination *e, entries *x, int column, double value, bool values)
{
    if (x->count == x->room) {
        int room = 2 * x->room + 4;
        int *columns = realloc(x->column, (size_t)room * sizeof *columns);
        x->column = columns ? columns : x->column;
        double *v = columns && values ? realloc(x->value, (size_t)room * sizeof *v) : NULL;
        x->value = v ? v : x->value;
        if (!columns || (values && !v)) {
            e->failed = true;
            return;
        }
        x->room = room;
    }
    x->column[x->count] = column;
    if (values)
        x->value[x->count] = value;
    x->count++;
}

static void line_up(elimination *e, int i)
{
    int count = e->row[i].count, first = e->head[count];
    e->next[i] = first;
    e->prev[i] = -1;
    if (first >= 0)
        e->prev[first] = i;
    e->head[count] = i;
}

static void step_out(elimination *e, int i)
{
    int next = e->next[i], prev = e->prev[i];
    if (prev >= 0)
        e->next[prev] = next;
    else
        e->head[e->row[i].count] = next;
    if (next >= 0)
        e->prev[next] = prev;
}

static void add_entry(elimination *e, int i, int column, double value)
{
    append(e, &e->row[i], column, value, true);
    append(e, &e->of[column], i, 0, false);
    e->rows_in[column]++;
}

static void set_places(elimination *e, const entries *row, bool set)
{
    for (int k = 0; k < row->count; k++)
        e->place[row->column[k]] = set ? k + 1 : 0;
}

static bool create(elimination *e, const bg_sparse_rows *B, const double *r, int n)
{
    int m = B->count;
    *e = (elimination){.m = m, .n = n};
    if (!bg_arena_create(&e->arena, list, e)) {
        e->m = e->n = 0; /* nothing to release */
        return false;
    }
    for (int i = 0; i < m; i++) {
        for (int k = B->start[i]; k < B->start[i + 1] && !e->failed; k++) {
            int j = B->column[k];
            e->size = fmax(e->size, fabs(B->value[k]));
            if (e->place[j] > 0)
                e->row[i].value[e->place[j] - 1] += B->value[k];
            else if (B->value[k] != 0) {
                add_entry(e, i, j, B->value[k]);
                e->place[j] = e->row[i].count;
            }
        }
        if (e->failed)
            return false;
        set_places(e, &e->row[i], false);
        e->right[i] = r[i];
        e->waiting[i] = true;
    }
    return true;
}

static void destroy(elimination *e)
{
    for (int i = 0; i < e->m; i++) {
        free(e->row[i].column);
        free(e->row[i].value);
    }
    for (int j = 0; j < e->n; j++)
        free(e->of[j].column);
    bg_arena_clear(&e->arena);
}

/* The place of the pivot in row i; -1: next to nothing is left of it. */
static int choose(const elimination *e, int i)
{
    const entries *row = &e->row[i];
    double largest = 0;
    int best = -1;
    for (int k = 0; k < row->count; k++)
        largest = fmax(largest, fabs(row->value[k]));
    if (!(largest > e->least))
        return -1;
    for (int k = 0; k < row->count; k++)
        if (fabs(row->value[k]) >= reaching * largest &&
            (best < 0 || e->rows_in[row->column[k]] < e->rows_in[row->column[best]]))
            best = k;
    return best;
}

/* Row k <- row k - (its entry at the pivot's column / pivot) row i; entries of it stand in `place`.
 */
static void subtract(elimination *e, int k, int i, int pivot)
{
    entries *x = &e->row[k];
    const entries *p = &e->row[i];
    set_places(e, x, true);
    int at = e->place[p->column[pivot]] - 1;
    double factor = at >= 0 ? x->value[at] / p->value[pivot] : 0;
    for (int l = 0; l < p->count && at >= 0; l++) {
        int j = p->column[l];
        if (l == pivot)
            continue;
        if (e->place[j] > 0)
            x->value[e->place[j] - 1] -= factor * p->value[l];
        else
            add_entry(e, k, j, -factor * p->value[l]);
    }
    set_places(e, x, false);
    if (at < 0)
        return;
    e->rows_in[x->column[at]]--;
    x->column[at] = x->column[x->count - 1];
    x->value[at] = x->value[--x->count];
    e->right[k] -= factor * e->right[i];
}

/* Takes the pivot of row i out of all rows without one. */
static void eliminate(elimination *e, int i, int pivot)
{
    int j = e->row[i].column[pivot];
    e->pivot_row[e->rank] = i;
    e->pivot_column[e->rank++] = j;
    e->found[j] = true;
    for (int k = 0; k < e->row[i].count; k++)
        e->rows_in[e->row[i].column[k]]--;
    double first = e->row[i].value[0]; /* the pivot comes first */
    e->row[i].value[0] = e->row[i].value[pivot];
    e->row[i].value[pivot] = first;
    e->row[i].column[pivot] = e->row[i].column[0];
    e->row[i].column[0] = j;
    for (int l = 0; l < e->of[j].count && !e->failed; l++) {
        int k = e->of[j].column[l];
        if (k == i || !e->waiting[k])
            continue;
        if (!e->aside[k])
            step_out(e, k);
        subtract(e, k, i, 0);
        if (!e->aside[k])
            line_up(e, k);
    }
}

static void eliminate_all(elimination *e)
{
    for (int c = 0; c <= e->n; c++)
        e->head[c] = -1;
    for (int i = e->m - 1; i >= 0; i--)
        line_up(e, i);
    for (int c = 0; c <= e->n && !e->failed;) {
        int i = e->head[c];
        if (i < 0) {
            c++;
            continue;
        }
        int pivot = choose(e, i);
        step_out(e, i);
        if (pivot < 0) {
            e->aside[i] = true;
            continue;
        }
        e->waiting[i] = false;
        eliminate(e, i, pivot);
        c = c > 0 ? c - 1 : 0; /* what lost an entry, or gained none */
    }
}

/* The unknowns with a pivot from those without: x_j = (r - sum_l b_l x_l) / b_j. */
static void substitute(const elimination *e, bool homogeneous, double *x)
{
    for (int k = e->rank - 1; k >= 0; k--) {
        int i = e->pivot_row[k];
        const entries *row = &e->row[i];
        double sum = homogeneous ? 0 : e->right[i];
        for (int l = 1; l < row->count; l++)
            sum -= row->value[l] * x[row->column[l]];
        x[e->pivot_column[k]] = sum / row->value[0];
    }
}

/* x <- x without its part in the first `count` columns of N. */
static void project(const bg_nullspace *s, int count, double *x)
{
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < count; c++) {
            const double *z = s->N + (size_t)c * (size_t)s->n;
            double h = bg_dot_product(z, x, s->n);
            for (int i = 0; i < s->n && h != 0; i++)
                x[i] -= h * z[i];
        }
}

static bool fill(const elimination *e, bg_nullspace *s)
{
    s->n = e->n;
    s->freedom = e->n - e->rank;
    s->x = BG_NEW_ARRAY(double, e->n);
    s->N = BG_NEW_ARRAY(double, (size_t)e->n *(size_t)s->freedom);
    if (!s->x || !s->N)
        return false;
    substitute(e, false, s->x);
    for (int j = 0, c = 0; j < e->n; j++) {
        if (e->found[j])
            continue;
        double *z = s->N + (size_t)c * (size_t)e->n;
        z[j] = 1;
        substitute(e, true, z);
        project(s, c++, z);
        double length = sqrt(bg_dot_product(z, z, e->n));
        for (int i = 0; i < e->n; i++)
            z[i] /= length;
    }
    project(s, s->freedom, s->x);
    return true;
}

/* Whether the rows, as they were, are met; and change by no more than they may along the basis. */
static bool check(const elimination *e, const bg_sparse_rows *B, const double *r, double least,
                  const bg_nullspace *s)
{
    for (int i = 0; i < B->count; i++) {
        double sum = -r[i], size = fabs(r[i]), change = 0;
        for (int k = B->start[i]; k < B->start[i + 1]; k++) {
            double part = B->value[k] * s->x[B->column[k]];
            sum += part;
            size += fabs(part);
        }
        for (int c = 0; c < s->freedom; c++) {
            double b = bg_sparse_rows_multiply(B, i, s->N + (size_t)c * (size_t)s->n);
            change += b * b;
        }
        double most = e->waiting[i] ? least : good * e->size;
        if (!(fabs(sum) <= good * size && sqrt(change) <= most))
            return false;
    }
    return true;
}

bg_status bg_nullspace_calc(const bg_sparse_rows *B, const double *r, int n, double least,
                            bg_nullspace *out)
{
    elimination e;
    bg_status st = create(&e, B, r, n) ? BG_OK : BG_NO_MEMORY;
    *out = (bg_nullspace){0};
    e.least = fmax(10 * least, doubt * e.size);
    if (st == BG_OK && e.least > reaching * e.size)
        st = BG_RETRY;
    if (st == BG_OK) {
        eliminate_all(&e);
        st = !e.failed && fill(&e, out) ? BG_OK : BG_NO_MEMORY;
    }
    if (st == BG_OK && !check(&e, B, r, least, out))
        st = BG_RETRY;
    destroy(&e);
    if (st != BG_OK)
        bg_nullspace_clear(out);
    return st;
}

void bg_nullspace_clear(bg_nullspace *s)
{
    free(s->x);
    free(s->N);
    *s = (bg_nullspace){0};
}
