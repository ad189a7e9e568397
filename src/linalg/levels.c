/* Least squares in levels (lexicographic): which unknowns a level ties together, and its rows by
 * these; each set of them is solved by itself (level.c). */
#include "linalg/level.h"

#include "base/arena.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void list(void *object, bg_arena *arena)
{
    bg_levels *l = object;
    int n = l->n;
    BG_TAKE(arena, l->unit, n);
    BG_TAKE(arena, l->x, n);
    BG_TAKE(arena, l->groups, n);
    BG_TAKE(arena, l->first, n);
    BG_TAKE(arena, l->local, n);
    BG_TAKE(arena, l->leader, n);
    BG_TAKE(arena, l->next, n);
    BG_TAKE(arena, l->offset, n);
}

bg_status bg_levels_create(int n, const double *unit, bg_levels **levels, bg_error *err)
{
    bg_levels *l = BG_NEW(bg_levels);
    *levels = l;
    if (l)
        l->n = n;
    if (!l || !bg_arena_create(&l->arena, list, l)) {
        bg_levels_destroy(l);
        *levels = NULL;
        return bg_error_set(err, BG_NO_MEMORY, "no memory for least squares of %d unknowns", n);
    }
    memcpy(l->unit, unit, (size_t)n * sizeof(double));
    bg_levels_reset(l);
    return BG_OK;
}

void bg_levels_clear_group(bg_levels_group *g)
{
    free(g->column);
    free(g->Z);
    free(g->Q);
    *g = (bg_levels_group){0};
}

void bg_levels_destroy(bg_levels *l)
{
    if (!l)
        return;
    for (int i = 0; i < l->n && l->groups; i++)
        bg_levels_clear_group(&l->groups[i]);
    bg_sparse_rows_clear(&l->dense);
    bg_arena_clear(&l->arena);
    free(l);
}

void bg_levels_reset(bg_levels *l)
{
    for (int i = 0; i < l->n; i++) {
        bg_levels_clear_group(&l->groups[i]);
        l->groups[i] = (bg_levels_group){.n = 1, .k = 1};
        l->first[i] = i;
        l->local[i] = 0;
        l->x[i] = 0;
    }
    l->freedom = l->n;
}

void bg_levels_set_limit(bg_levels *l, int largest)
{
    l->limit = largest;
}

static int find_leader(bg_levels *l, int i)
{
    while (l->leader[i] != i)
        i = l->leader[i] = l->leader[l->leader[i]];
    return i;
}

/* Ties groups with free directions that rows have in common; the first of those tied together
 * leads, and the others are chained from it, with the offsets of their directions. */
static void tie(bg_levels *l, const bg_sparse_rows *A)
{
    for (int i = 0; i < l->n; i++)
        l->leader[i] = i;
    for (int i = 0; i < A->count; i++)
        for (int k = A->start[i], one = -1; k < A->start[i + 1]; k++) {
            int other = A->value[k] != 0 ? bg_levels_find_free(l, A->column[k]) : -1;
            if (other >= 0 && one >= 0) {
                int a = find_leader(l, one), b = find_leader(l, other);
                l->leader[a > b ? a : b] = a > b ? b : a;
            }
            one = other >= 0 ? other : one;
        }
    for (int i = l->n - 1; i >= 0; i--)
        l->next[i] = -1;
    for (int i = l->n - 1; i >= 0; i--) {
        int leader = find_leader(l, i);
        if (leader != i && l->first[i] == i) {
            l->next[i] = l->next[leader];
            l->next[leader] = i;
        }
    }
}

/* The group that leads those of a row's directions; -1: all are decided. */
static int find_tied(bg_levels *l, const bg_sparse_rows *A, int i)
{
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        int first = A->value[k] != 0 ? bg_levels_find_free(l, A->column[k]) : -1;
        if (first >= 0)
            return find_leader(l, first);
    }
    return -1;
}

/* The length of the longest row of A D; columns may come twice. */
static double find_longest(const bg_levels *l, const bg_sparse_rows *A)
{
    double longest = 0;
    for (int i = 0; i < A->count; i++) {
        double sum = 0;
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            double scaled = A->value[k] * l->unit[A->column[k]];
            sum += scaled * scaled;
        }
        longest = fmax(longest, sqrt(sum));
    }
    return longest;
}

/* list <- rows by the group that leads them, begin[first] those of each; rows of which everything
 * is decided are left out. */
static void sort_rows(bg_levels *l, const bg_sparse_rows *A, int *begin, int *list, int *of)
{
    for (int i = 0; i < A->count; i++) {
        of[i] = find_tied(l, A, i);
        if (of[i] >= 0)
            begin[of[i] + 1]++;
    }
    for (int f = 0; f <= l->n; f++)
        begin[f + 1] += begin[f];
    for (int i = A->count - 1; i >= 0; i--) /* from their ends */
        if (of[i] >= 0)
            list[--begin[of[i] + 1]] = i;
}

bg_status bg_levels_add_rows(bg_levels *l, const bg_sparse_rows *A, const double *b,
                             double tolerance, double size, bg_error *err)
{
    if (!A->failed && (A->count == 0 || l->freedom == 0))
        return BG_OK;
    int *begin = BG_NEW_ARRAY(int, l->n + 2), *list = BG_NEW_ARRAY(int, 2 * (size_t)A->count);
    bg_status st = begin && list && !A->failed ? BG_OK : BG_NO_MEMORY;
    double least = tolerance * (size > 0 ? size : find_longest(l, A));
    if (st == BG_OK) {
        tie(l, A);
        sort_rows(l, A, begin, list, list + A->count);
    }
    for (int f = 0; f < l->n && st == BG_OK; f++) { /* begin[f + 1] is where those of f begin */
        int m = begin[f + 2] - begin[f + 1];
        if (m > 0)
            st = bg_level_add(l, f, A, b, list + begin[f + 1], m, least);
    }
    free(begin);
    free(list);
    if (st == BG_NO_MEMORY)
        bg_error_set(err, st, "no memory for least squares of %d rows", A->count);
    return st;
}

bg_status bg_levels_add(bg_levels *l, int m, const double *A, const double *b, double tolerance,
                        double size, bg_error *err)
{
    bg_sparse_rows_reset(&l->dense);
    for (int i = 0; i < m; i++) {
        bg_sparse_rows_begin(&l->dense);
        for (int j = 0; j < l->n; j++)
            if (A[(size_t)i * (size_t)l->n + (size_t)j] != 0)
                bg_sparse_rows_add(&l->dense, j, A[(size_t)i * (size_t)l->n + (size_t)j]);
    }
    return bg_levels_add_rows(l, &l->dense, b, tolerance, size, err);
}

const double *bg_levels_get_x(const bg_levels *l)
{
    return l->x;
}

int bg_levels_get_freedom(const bg_levels *l)
{
    return l->freedom;
}

bg_status bg_levels_calc_directions(bg_levels *l, double *Z)
{
    memset(Z, 0, (size_t)l->freedom * (size_t)l->n * sizeof(double));
    for (int i = 0; i < l->n; i++) {
        l->next[i] = -1;
        bg_status st = bg_level_complete(l, i);
        if (st != BG_OK)
            return st;
    }
    for (int i = 0; i < l->n; i++) {
        const bg_levels_group *g = &l->groups[i];
        for (int k = 0; k < g->k && g->n > 0; k++, Z += l->n)
            for (int j = 0; j < g->n; j++)
                Z[g->column ? g->column[j] : i] = g->Z ? g->Z[k * g->n + j] : 1;
    }
    return BG_OK;
}
