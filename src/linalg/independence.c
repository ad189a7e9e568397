#include "linalg/independence.h"

#include "base/memory.h"

#include <amd.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEETING = 64 };                  /* rows that share a column; with more it is left out */
static const double negligible = 1e-12; /* coefficients of rows */

void bg_independence_clear(bg_independence *s)
{
    bg_arena_clear(&s->factor);
    bg_arena_clear(&s->arena);
    *s = (bg_independence){0};
}

/* Entries of S by columns, without those of crowded ones. */
static bool transpose(bg_independence *s)
{
    const bg_pattern *p = s->pattern;
    int n = p->columns, count = p->row_start[s->m];
    int *next = BG_NEW_ARRAY(int, n);
    if (!next)
        return false;
    for (int k = 0; k < count; k++)
        s->column_start[p->column[k] + 1]++;
    for (int j = 0; j < n; j++) {
        int meeting = s->column_start[j + 1];
        s->column_start[j + 1] = s->column_start[j] + (meeting <= MEETING ? meeting : 0);
        next[j] = meeting <= MEETING ? s->column_start[j] : -1;
    }
    for (int i = 0; i < s->m; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            if (next[p->column[k]] >= 0) {
                int at = next[p->column[k]]++;
                s->row[at] = i;
                s->entry[at] = k;
            }
    free(next);
    return true;
}

/* list <- the rows other than i that meet row i; returns how many. mark[] = i: seen. */
static int find_neighbours(bg_independence *s, int i)
{
    const bg_pattern *p = s->pattern;
    int n = 0;
    s->mark[i] = i;
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        for (int e = s->column_start[p->column[k]]; e < s->column_start[p->column[k] + 1]; e++)
            if (s->mark[s->row[e]] != i) {
                s->mark[s->row[e]] = i;
                s->list[n++] = s->row[e];
            }
    return n;
}

static void forget_marks(bg_independence *s)
{
    for (int i = 0; i < s->m; i++)
        s->mark[i] = -1;
}

/* An order of the rows that fills L little. */
static bool choose_order(bg_independence *s)
{
    int *start = BG_NEW_ARRAY(int, s->m + 1), *neighbour = NULL, total = 0;
    forget_marks(s);
    for (int i = 0; i < s->m && start; i++)
        start[i + 1] = total += find_neighbours(s, i);
    forget_marks(s);
    neighbour = BG_NEW_ARRAY(int, total > 0 ? total : 1);
    for (int i = 0; i < s->m && start && neighbour; i++)
        memcpy(neighbour + start[i], s->list, (size_t)find_neighbours(s, i) * sizeof(int));
    bool done = start && neighbour &&
                amd_order(s->m, start, neighbour, s->order, NULL, NULL) >= AMD_OK;
    free(start);
    free(neighbour);
    for (int k = 0; k < s->m && done; k++)
        s->place[s->order[k]] = k;
    return done;
}

/* list <- the columns of row k of L, children before parents; returns how many. With first set the
 * tree is made on the way. mark[] = k: seen. */
static int find_row(bg_independence *s, int k, bool first)
{
    const bg_pattern *p = s->pattern;
    int i = s->order[k], top = s->m;
    s->mark[k] = k;
    if (first)
        s->parent[k] = -1;
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++)
        for (int f = s->column_start[p->column[e]]; f < s->column_start[p->column[e] + 1]; f++) {
            int depth = 0;
            for (int j = s->place[s->row[f]]; j < k && s->mark[j] != k; j = s->parent[j]) {
                if (first && s->parent[j] < 0)
                    s->parent[j] = k;
                s->list[depth++] = j;
                s->mark[j] = k;
            }
            while (depth > 0)
                s->list[--top] = s->list[--depth];
        }
    memmove(s->list, s->list + top, (size_t)(s->m - top) * sizeof(int));
    return s->m - top;
}

static void list_factor(void *object, bg_arena *arena)
{
    bg_independence *s = object;
    int total = s->start[s->m];
    BG_TAKE(arena, s->column, total);
    BG_TAKE(arena, s->value, total);
    BG_TAKE(arena, s->below, total);
    BG_TAKE(arena, s->where, total);
}

/* Rows and columns of L: the tree and how many, then where. */
static bool find_structure(bg_independence *s)
{
    forget_marks(s);
    for (int k = 0; k < s->m; k++) {
        int n = find_row(s, k, true);
        s->start[k + 1] = s->start[k] + n;
        for (int e = 0; e < n; e++)
            s->column_top[s->list[e] + 1]++;
    }
    for (int k = 0; k < s->m; k++)
        s->column_top[k + 1] += s->column_top[k];
    if (!bg_arena_create(&s->factor, list_factor, s))
        return false;
    forget_marks(s);
    for (int k = 0; k < s->m; k++) {
        int n = find_row(s, k, false);
        for (int e = 0; e < n; e++) {
            int j = s->list[e], at = s->column_top[j] + s->used[j]++;
            s->column[s->start[k] + e] = j;
            s->below[at] = k;
            s->where[at] = s->start[k] + e;
        }
    }
    return true;
}

/* But for L, whose size is found with them. */
static void list(void *object, bg_arena *arena)
{
    bg_independence *s = object;
    int m = s->m, count = s->pattern->row_start[m];
    BG_TAKE(arena, s->column_start, s->pattern->columns + 1);
    BG_TAKE(arena, s->row, count);
    BG_TAKE(arena, s->entry, count);
    BG_TAKE(arena, s->order, m);
    BG_TAKE(arena, s->place, m);
    BG_TAKE(arena, s->start, m + 1);
    BG_TAKE(arena, s->column_top, m + 1);
    BG_TAKE(arena, s->used, m);
    BG_TAKE(arena, s->pivot, m);
    BG_TAKE(arena, s->x, m);
    BG_TAKE(arena, s->parent, m);
    BG_TAKE(arena, s->mark, m);
    BG_TAKE(arena, s->list, m);
    BG_TAKE(arena, s->waiting, m);
}

bool bg_independence_create(bg_independence *s, const bg_pattern *pattern)
{
    *s = (bg_independence){.m = pattern->rows, .pattern = pattern};
    return bg_arena_create(&s->arena, list, s) && transpose(s) && choose_order(s) &&
           find_structure(s);
}

/* x <- row order[k] of S S^T, up to its diagonal. */
static void multiply_row(bg_independence *s, const double *S, int k)
{
    const bg_pattern *p = s->pattern;
    int i = s->order[k];
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++)
        for (int f = s->column_start[p->column[e]]; f < s->column_start[p->column[e] + 1]; f++)
            if (s->place[s->row[f]] <= k)
                s->x[s->place[s->row[f]]] += S[e] * S[s->entry[f]];
}

void bg_independence_calc(bg_independence *s, const double *S, const bool *out, double doubt,
                          bool *doubtful, double *remainder)
{
    memset(s->used, 0, (size_t)s->m * sizeof(int));
    s->S = S;
    for (int k = 0; k < s->m; k++) {
        int i = s->order[k];
        multiply_row(s, S, k);
        double d = s->x[k];
        s->x[k] = 0;
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int j = s->column[e];
            double x = s->x[j];
            s->x[j] = 0;
            for (int f = s->column_top[j]; f < s->column_top[j] + s->used[j]; f++)
                s->x[s->below[f]] -= s->value[s->where[f]] * x;
            s->value[e] = x / s->pivot[j];
            d -= s->value[e] * x;
            s->used[j]++;
        }
        remainder[i] = d > 0 ? sqrt(d) : 0;
        doubtful[i] = out[i] || !(remainder[i] > doubt);
        s->pivot[k] = doubtful[i] ? INFINITY : d;
    }
}

/* A heap in mark[0 .. count-1], the largest key on top: j, or ~j for places in rising order. */
static void push(bg_independence *s, int *count, int key)
{
    int j = key < 0 ? ~key : key, k = *count;
    if (s->waiting[j])
        return;
    s->waiting[j] = true;
    ++*count;
    for (; k > 0 && s->mark[(k - 1) / 2] < key; k = (k - 1) / 2)
        s->mark[k] = s->mark[(k - 1) / 2];
    s->mark[k] = key;
}

static int pop(bg_independence *s, int *count)
{
    int top = s->mark[0], last = s->mark[--*count], k = 0;
    for (int child; (child = 2 * k + 1) < *count; k = child) {
        child += child + 1 < *count && s->mark[child + 1] > s->mark[child];
        if (s->mark[child] <= last)
            break;
        s->mark[k] = s->mark[child];
    }
    s->mark[k] = last;
    top = top < 0 ? ~top : top;
    s->waiting[top] = false;
    return top;
}

/* x <- the products of row i with the rows beyond doubt, whose places begin a heap. */
static void multiply_sure(bg_independence *s, int i, int *count)
{
    const bg_pattern *p = s->pattern;
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++)
        for (int f = s->column_start[p->column[e]]; f < s->column_start[p->column[e] + 1]; f++) {
            int j = s->place[s->row[f]];
            if (s->row[f] == i || isinf(s->pivot[j]))
                continue;
            s->x[j] += s->S[e] * s->S[s->entry[f]];
            push(s, count, ~j);
        }
}

/* x <- D^-1 L^-1 x from the places in the heap upwards; returns how many in `list` matter. */
static int solve_forwards(bg_independence *s, int *count)
{
    int n = 0;
    while (*count > 0) {
        int j = pop(s, count);
        double y = s->x[j];
        s->x[j] = 0;
        if (!(fabs(y) > negligible) || isinf(s->pivot[j]))
            continue;
        for (int f = s->column_top[j]; f < s->column_top[j + 1]; f++) {
            double value = s->value[s->where[f]];
            if (value == 0 || isinf(s->pivot[s->below[f]]))
                continue;
            s->x[s->below[f]] -= value * y;
            push(s, count, ~s->below[f]);
        }
        s->x[j] = y / s->pivot[j];
        s->list[n++] = j;
    }
    return n;
}

int bg_independence_find(bg_independence *s, int i, const int **rows)
{
    int count = 0, n = 0;
    multiply_sure(s, i, &count);
    int begun = solve_forwards(s, &count);
    for (int k = 0; k < begun; k++)
        push(s, &count, s->list[k]);
    while (count > 0) { /* L^T c = x, downwards */
        int k = pop(s, &count);
        double c = s->x[k];
        s->x[k] = 0;
        if (!(fabs(c) > negligible))
            continue;
        s->list[n++] = s->order[k];
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            if (s->value[e] != 0) {
                s->x[s->column[e]] -= s->value[e] * c;
                push(s, &count, s->column[e]);
            }
    }
    *rows = s->list;
    return n;
}
