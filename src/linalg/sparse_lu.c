/* P R^-1 B Q = L U by columns (Gilbert and Peierls 1988), with R the largest moduli of the rows.
 *
 * Q is a minimum degree ordering of B + B^T, found once. Column k of L and U solves L x = b with
 * the columns of L so far; the rows that become non-zero are those that can be reached from b's in
 * the graph of L, found by depth-first search, in an order in which they can be eliminated.
 * Choosing pivots takes that search; repeating them walks through the columns as they were stored.
 *
 * How much memory, without knowing the pivots? In step k the rows that have a non-zero in column k
 * are merged (George and Ng 1987): whichever becomes the pivot, the others are afterwards non-zero
 * at most where any of them was. So groups of rows with one common pattern S are enough: step k
 * joins all groups with k in S into one of c rows, whose pattern then loses k and which loses one
 * row, the pivot. Column k of L has at most c - 1 entries below the diagonal, row k of U at most
 * |S| - 1 beside it, and their elimination costs at most (c - 1)(|S| - 1) multiplications with as
 * many subtractions. */
#include "linalg/sparse_lu.h"

#include "base/memory.h"
#include "linalg/backend.h"

#include <amd.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Rows with one common pattern, which begins with the column they are listed at. */
typedef struct row_group {
    int rows, length, next; /* next group of the same first column, -1: none */
    int *column;            /* [length] ascending or not, the first one anywhere */
} row_group;

typedef struct row_merge {
    int n, *first;    /* [n] groups by their first column, -1: none */
    int *mark;        /* [n] */
    row_group *group; /* [n] row i to begin with; a joined group takes the place of one of them */
} row_merge;

static void clear_merge(row_merge *m)
{
    for (int i = 0; m->group && i < m->n; i++)
        free(m->group[i].column);
    free(m->group);
    free(m->first);
    free(m->mark);
}

static void list_group(row_merge *m, int g)
{
    row_group *x = &m->group[g];
    int first = m->n;
    for (int p = 0; p < x->length; p++)
        first = x->column[p] < first ? x->column[p] : first;
    if (first == m->n)
        return;
    x->next = m->first[first];
    m->first[first] = g;
}

/* Rows of B with their columns in the order of elimination. */
static bool begin_merge(row_merge *m, const bg_sparse_lu *lu)
{
    int n = m->n = lu->n;
    m->first = BG_NEW_ARRAY(int, n);
    m->mark = BG_NEW_ARRAY(int, n);
    m->group = BG_NEW_ARRAY(row_group, n);
    if (!m->first || !m->mark || !m->group)
        return false;
    for (int p = 0; p < lu->start[n]; p++)
        m->group[lu->index[p]].rows++; /* entries, for now */
    for (int i = 0; i < n; i++) {
        m->group[i].column = BG_NEW_ARRAY(int, m->group[i].rows);
        m->first[i] = m->mark[i] = -1;
        m->group[i].rows = 1;
        if (!m->group[i].column)
            return false;
    }
    for (int k = 0; k < n; k++)
        for (int p = lu->start[lu->order[k]]; p < lu->start[lu->order[k] + 1]; p++) {
            row_group *x = &m->group[lu->index[p]];
            x->column[x->length++] = k;
        }
    for (int i = 0; i < n; i++)
        list_group(m, i);
    return true;
}

/* Joins the groups of column k into the one it returns, without k; -1: none, -2: out of memory. */
static int join_groups(row_merge *m, int k)
{
    int to = m->first[k], rows = 0, length = 0, sum = 0;
    for (int g = to; g >= 0; g = m->group[g].next)
        sum += m->group[g].length;
    int *column = to >= 0 ? BG_NEW_ARRAY(int, sum) : NULL;
    if (to < 0 || !column)
        return to < 0 ? -1 : -2;
    m->mark[k] = k;
    for (int g = to; g >= 0; g = m->group[g].next) {
        row_group *x = &m->group[g];
        for (int p = 0; p < x->length; p++)
            if (m->mark[x->column[p]] != k) {
                m->mark[x->column[p]] = k;
                column[length++] = x->column[p];
            }
        rows += x->rows;
        free(x->column);
        x->column = NULL;
    }
    m->group[to] = (row_group){.rows = rows, .length = length, .column = column};
    return to;
}

/* Capacities and operations that suffice for any choice of pivots. */
static bool calc_bounds(bg_sparse_lu *lu)
{
    row_merge m = {0};
    bool done = begin_merge(&m, lu);
    for (int k = 0; k < lu->n && done; k++) {
        int g = join_groups(&m, k);
        done = g != -2;
        if (g < 0)
            continue;
        row_group *x = &m.group[g];
        x->rows--; /* the pivot */
        lu->capacity_L += x->rows;
        lu->capacity_U += x->length;
        lu->operations += (double)x->rows * x->length;
        if (x->rows > 0)
            list_group(&m, g);
    }
    clear_merge(&m);
    return done && lu->capacity_L < INT_MAX && lu->capacity_U < INT_MAX;
}

static void list(void *object, bg_arena *arena)
{
    bg_sparse_lu *lu = object;
    int n = lu->n;
    BG_TAKE(arena, lu->place, n);
    BG_TAKE(arena, lu->scale, n);
    BG_TAKE(arena, lu->start_L, n + 1);
    BG_TAKE(arena, lu->start_U, n + 1);
    BG_TAKE(arena, lu->row_L, lu->capacity_L);
    BG_TAKE(arena, lu->row_U, lu->capacity_U);
    BG_TAKE(arena, lu->value_L, lu->capacity_L);
    BG_TAKE(arena, lu->value_U, lu->capacity_U);
    BG_TAKE(arena, lu->pivot, n);
    BG_TAKE(arena, lu->x, n);
    BG_TAKE(arena, lu->stack, n);
    BG_TAKE(arena, lu->next, n);
    BG_TAKE(arena, lu->mark, n);
    BG_TAKE(arena, lu->found, n);
}

bool bg_sparse_lu_create(bg_sparse_lu *lu, int n, const int *start, const int *index)
{
    *lu = (bg_sparse_lu){.n = n, .start = start, .index = index};
    lu->order = BG_NEW_ARRAY(int, n);
    if (!lu->order || amd_order(n, start, index, lu->order, NULL, NULL) < 0 || !calc_bounds(lu))
        return false;
    return bg_arena_create(&lu->arena, list, lu);
}

void bg_sparse_lu_clear(bg_sparse_lu *lu)
{
    free(lu->order);
    bg_arena_clear(&lu->arena);
    *lu = (bg_sparse_lu){0};
}

static void update_scale(bg_sparse_lu *lu, const double *values)
{
    memset(lu->scale, 0, (size_t)lu->n * sizeof(double));
    for (int p = 0; p < lu->start[lu->n]; p++)
        if (fabs(values[p]) > lu->scale[lu->index[p]])
            lu->scale[lu->index[p]] = fabs(values[p]);
    for (int i = 0; i < lu->n; i++)
        if (lu->scale[i] == 0)
            lu->scale[i] = 1;
}

/* Adds the rows that can be reached from `row` to found[top .. n-1], each before those it changes;
 * returns the new top. Rows are those of B, columns of L begin where they have become pivots. */
static int search(bg_sparse_lu *lu, int row, int k, int top)
{
    int depth = 0;
    lu->stack[0] = row;
    while (depth >= 0) {
        int i = lu->stack[depth], column = lu->place[i];
        if (lu->mark[i] != k) {
            lu->mark[i] = k;
            lu->next[depth] = column >= 0 ? lu->start_L[column] : 0;
        }
        int end = column >= 0 ? lu->start_L[column + 1] : 0, p = lu->next[depth];
        while (p < end && lu->mark[lu->row_L[p]] == k)
            p++;
        lu->next[depth] = p + 1;
        if (p < end)
            lu->stack[++depth] = lu->row_L[p];
        else {
            lu->found[--top] = i;
            depth--;
        }
    }
    return top;
}

/* The rows that are non-zero in column k, in found[top .. n-1]. */
static int find_rows(bg_sparse_lu *lu, int k)
{
    int top = lu->n, j = lu->order[k];
    for (int p = lu->start[j]; p < lu->start[j + 1]; p++)
        if (lu->mark[lu->index[p]] != k)
            top = search(lu, lu->index[p], k, top);
    return top;
}

/* x <- L^-1 b for column k, rows still those of B. */
static void solve_column(bg_sparse_lu *lu, const double *values, int k, int top)
{
    int j = lu->order[k];
    for (int p = lu->start[j]; p < lu->start[j + 1]; p++)
        lu->x[lu->index[p]] = values[p] / lu->scale[lu->index[p]];
    for (int f = top; f < lu->n; f++) {
        int column = lu->place[lu->found[f]];
        double u = lu->x[lu->found[f]];
        if (column < 0)
            continue;
        for (int p = lu->start_L[column]; p < lu->start_L[column + 1]; p++)
            lu->x[lu->row_L[p]] -= lu->value_L[p] * u;
    }
}

/* The row of the pivot of column k, -1: none. */
static int find_pivot(const bg_sparse_lu *lu, int k, int top, double tolerance)
{
    int row = -1, diagonal = lu->order[k];
    double largest = 0;
    for (int f = top; f < lu->n; f++) {
        int i = lu->found[f];
        if (lu->place[i] < 0 && fabs(lu->x[i]) > largest) {
            largest = fabs(lu->x[i]);
            row = i;
        }
    }
    if (lu->mark[diagonal] == k && lu->place[diagonal] < 0 &&
        fabs(lu->x[diagonal]) >= tolerance * largest)
        row = diagonal;
    return row >= 0 && !bg_pivot_is_unusable(lu->x[row]) ? row : -1;
}

/* Stores column k, whose pivot is in `row`, and clears x. */
static void store_column(bg_sparse_lu *lu, int k, int top, int row)
{
    int l = lu->start_L[k], u = lu->start_U[k];
    double pivot = lu->pivot[k] = lu->x[row];
    for (int f = top; f < lu->n; f++) {
        int i = lu->found[f];
        if (lu->place[i] >= 0) {
            lu->row_U[u] = lu->place[i];
            lu->value_U[u++] = lu->x[i];
        } else if (i != row) {
            lu->row_L[l] = i;
            lu->value_L[l++] = lu->x[i] / pivot;
        }
        lu->x[i] = 0;
    }
    lu->place[row] = k;
    lu->start_L[k + 1] = l;
    lu->start_U[k + 1] = u;
}

/* 1 or -1: whether an even number of exchanges makes a permutation. */
static int calc_parity(bg_sparse_lu *lu, const int *permutation)
{
    int parity = 1;
    for (int i = 0; i < lu->n; i++)
        lu->mark[i] = 0;
    for (int i = 0; i < lu->n; i++)
        for (int j = permutation[i]; !lu->mark[i] && j != i; j = permutation[j]) {
            lu->mark[j] = 1; /* a cycle of length m is m - 1 exchanges */
            parity = -parity;
        }
    return parity;
}

bool bg_sparse_lu_choose(bg_sparse_lu *lu, const double *values, double tolerance)
{
    int n = lu->n;
    update_scale(lu, values);
    for (int i = 0; i < n; i++)
        lu->place[i] = lu->mark[i] = -1;
    for (int k = 0; k < n; k++) {
        int top = find_rows(lu, k);
        solve_column(lu, values, k, top);
        int row = find_pivot(lu, k, top, tolerance);
        if (row < 0) {
            memset(lu->x, 0, (size_t)n * sizeof(double));
            return false;
        }
        store_column(lu, k, top, row);
    }
    for (int p = 0; p < lu->start_L[n]; p++)
        lu->row_L[p] = lu->place[lu->row_L[p]];
    lu->parity = calc_parity(lu, lu->place) * calc_parity(lu, lu->order);
    return true;
}

bool bg_sparse_lu_repeat(bg_sparse_lu *lu, const double *values)
{
    double *restrict x = lu->x;
    update_scale(lu, values);
    for (int k = 0; k < lu->n; k++) {
        int j = lu->order[k];
        for (int p = lu->start[j]; p < lu->start[j + 1]; p++)
            x[lu->place[lu->index[p]]] = values[p] / lu->scale[lu->index[p]];
        for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++) {
            int c = lu->row_U[p];
            double u = x[c];
            x[c] = 0;
            lu->value_U[p] = u;
            for (int s = lu->start_L[c]; s < lu->start_L[c + 1]; s++)
                x[lu->row_L[s]] -= lu->value_L[s] * u;
        }
        double pivot = lu->pivot[k] = x[k];
        x[k] = 0;
        for (int s = lu->start_L[k]; s < lu->start_L[k + 1]; s++) {
            lu->value_L[s] = x[lu->row_L[s]] / pivot;
            x[lu->row_L[s]] = 0;
        }
        if (bg_pivot_is_unusable(pivot))
            return false;
    }
    return true;
}

/* x = Q U^-1 L^-1 P R^-1 b */
void bg_sparse_lu_solve(const bg_sparse_lu *lu, double *x, double *work)
{
    int n = lu->n;
    for (int i = 0; i < n; i++)
        work[lu->place[i]] = x[i] / lu->scale[i];
    for (int k = 0; k < n; k++) {
        const double y = work[k];
        for (int p = lu->start_L[k]; p < lu->start_L[k + 1]; p++)
            work[lu->row_L[p]] -= lu->value_L[p] * y;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double y = work[k] /= lu->pivot[k];
        for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
            work[lu->row_U[p]] -= lu->value_U[p] * y;
    }
    for (int k = 0; k < n; k++)
        x[lu->order[k]] = work[k];
}

/* x = R^-1 P^T L^-T U^-T Q^T b */
void bg_sparse_lu_solve_transposed(const bg_sparse_lu *lu, double *x, double *work)
{
    int n = lu->n;
    for (int k = 0; k < n; k++) {
        double sum = x[lu->order[k]];
        for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
            sum -= lu->value_U[p] * work[lu->row_U[p]];
        work[k] = sum / lu->pivot[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        double sum = work[k];
        for (int p = lu->start_L[k]; p < lu->start_L[k + 1]; p++)
            sum -= lu->value_L[p] * work[lu->row_L[p]];
        work[k] = sum;
    }
    for (int i = 0; i < n; i++)
        x[i] = work[lu->place[i]] / lu->scale[i];
}

double bg_sparse_lu_calc_ratio(const bg_sparse_lu *lu)
{
    double smallest = INFINITY, largest = 0;
    for (int k = 0; k < lu->n; k++) {
        smallest = fmin(smallest, fabs(lu->pivot[k]));
        largest = fmax(largest, fabs(lu->pivot[k]));
    }
    return smallest / largest;
}
