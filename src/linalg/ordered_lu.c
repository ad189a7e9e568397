/* Row k of L and U from row k of A and the rows of U before it (Doolittle's order by rows):
 *     l_kj = a_kj / u_jj,   a_k. <- a_k. - l_kj u_j.      for all j < k where a_kj is not zero by
 * structure, in ascending order; what is left right of the diagonal is row k of U. The structure
 * follows from the same recursion with patterns in place of numbers. */
#include "linalg/ordered_lu.h"

#include "base/memory.h"
#include "linalg/backend.h"
#include "math/arrays.h"

#include <stdlib.h>
#include <string.h>

#define OMEGA_SAFE 1e-6  /* backward error up to which the factors are taken, ... */
#define OMEGA_EXACT 1e-9 /* and up to which solutions are not refined, which squares it away */

/* A list of columns that grows. */
typedef struct column_list {
    int *at, n, room;
} column_list;

static bool append(column_list *c, int column)
{
    if (c->n == c->room) {
        int room = 2 * c->room + 1024;
        int *grown = realloc(c->at, (size_t)room * sizeof *grown);
        if (!grown)
            return false;
        c->at = grown;
        c->room = room;
    }
    c->at[c->n++] = column;
    return true;
}

/* The columns of one row, linked in ascending order: next[c] follows c, next[n] is the first, n the
 * end. */
typedef struct linked_row {
    int n, *next;
} linked_row;

/* Adds the columns at[0 .. count-1], ascending. */
static void merge(linked_row *w, const int *at, int count)
{
    int before = w->n;
    for (int k = 0; k < count; k++) {
        while (w->next[before] < at[k])
            before = w->next[before];
        if (w->next[before] != at[k]) {
            w->next[at[k]] = w->next[before];
            w->next[before] = at[k];
        }
        before = at[k];
    }
}

/* Structure of row k; own: its columns in A, in the order of the factors. */
static bool find_row(bg_ordered_lu *lu, linked_row *w, int k, int *own, int count, column_list *L,
                     column_list *U)
{
    bool good = true;
    qsort(own, (size_t)count, sizeof *own, bg_compare_ints);
    w->next[w->n] = w->n;
    merge(w, own, count);
    merge(w, &k, 1);
    for (int j = w->next[w->n]; j < k && good; j = w->next[j]) {
        merge(w, U->at + lu->start_U[j], lu->start_U[j + 1] - lu->start_U[j]);
        lu->operations += lu->start_U[j + 1] - lu->start_U[j] + 1;
        good = append(L, j);
    }
    for (int j = w->next[k]; j < w->n && good; j = w->next[j])
        good = append(U, j);
    lu->start_L[k + 1] = L->n;
    lu->start_U[k + 1] = U->n;
    return good;
}

/* What the structure says the size of. */
static void list_factors(void *object, bg_arena *arena)
{
    bg_ordered_lu *lu = object;
    BG_TAKE(arena, lu->column_L, lu->nL);
    BG_TAKE(arena, lu->column_U, lu->nU);
    BG_TAKE(arena, lu->L, lu->nL);
    BG_TAKE(arena, lu->U, lu->nU);
}

/* False: out of memory, or more operations than `most`. */
static bool find_structure(bg_ordered_lu *lu, double most)
{
    int n = lu->n;
    linked_row w = {n, BG_NEW_ARRAY(int, n + 1)};
    column_list L = {NULL, 0, 0}, U = {NULL, 0, 0};
    int *own = BG_NEW_ARRAY(int, n);
    bool good = w.next && own;
    for (int k = 0; k < n && good && lu->operations <= most; k++) {
        int from = lu->row_start[lu->order[k]], count = lu->row_start[lu->order[k] + 1] - from;
        memcpy(own, lu->to + from, (size_t)count * sizeof *own);
        good = find_row(lu, &w, k, own, count, &L, &U);
    }
    lu->nL = L.n;
    lu->nU = U.n;
    good = good && lu->operations <= most && bg_arena_create(&lu->factors, list_factors, lu);
    for (int p = 0; p < L.n && good; p++)
        lu->column_L[p] = L.at[p];
    for (int p = 0; p < U.n && good; p++)
        lu->column_U[p] = U.at[p];
    free(L.at);
    free(U.at);
    free(own);
    free(w.next);
    return good;
}

/* What is wanted follows from rows to the right of it, which lie behind it. */
static bool list_rows(bg_ordered_lu *lu, const unsigned char *wanted)
{
    int n = lu->n;
    bool *need = BG_NEW_ARRAY(bool, n);
    for (int k = 0; k < n && need; k++) {
        if (lu->start_L[k + 1] > lu->start_L[k])
            lu->changed[lu->nchanged++] = k;
        need[k] = need[k] || !wanted || wanted[lu->order[k]];
        if (!need[k])
            continue;
        lu->needed[lu->nneeded++] = k;
        for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
            need[lu->column_U[p]] = true;
    }
    free(need);
    return need != NULL;
}

static void list(void *object, bg_arena *arena)
{
    bg_ordered_lu *lu = object;
    int n = lu->n;
    BG_TAKE(arena, lu->order, n);
    BG_TAKE(arena, lu->to, lu->row_start[n]);
    BG_TAKE(arena, lu->start_L, n + 1);
    BG_TAKE(arena, lu->start_U, n + 1);
    BG_TAKE(arena, lu->changed, n);
    BG_TAKE(arena, lu->needed, n);
    BG_TAKE(arena, lu->reciprocal, n);
    BG_TAKE(arena, lu->x, n);
    BG_TAKE(arena, lu->b, n);
    BG_TAKE(arena, lu->r, n);
    BG_TAKE(arena, lu->y, n);
}

bool bg_ordered_lu_create(bg_ordered_lu *lu, int n, const int *row_start, const int *column,
                          const int *order, const unsigned char *wanted, double most)
{
    int *place = BG_NEW_ARRAY(int, n);
    *lu = (bg_ordered_lu){.n = n, .row_start = row_start, .column = column};
    bool good = place && bg_arena_create(&lu->arena, list, lu);
    for (int k = 0; k < n && good; k++) {
        lu->order[k] = order[k];
        place[order[k]] = k;
    }
    for (int k = 0; good && k < row_start[n]; k++)
        lu->to[k] = place[column[k]];
    free(place);
    return good && find_structure(lu, most) && list_rows(lu, wanted);
}

void bg_ordered_lu_clear(bg_ordered_lu *lu)
{
    bg_arena_clear(&lu->arena);
    bg_arena_clear(&lu->factors);
    *lu = (bg_ordered_lu){0};
}

/* The numbers; false: a pivot cannot be divided by. */
static bool eliminate(bg_ordered_lu *lu, const double *values)
{
    double *restrict x = lu->x, *restrict U = lu->U;
    const int *restrict column = lu->column_U;
    bool good = true;
    for (int k = 0; k < lu->n && good; k++) {
        for (int p = lu->row_start[lu->order[k]]; p < lu->row_start[lu->order[k] + 1]; p++)
            x[lu->to[p]] = values[p];
        for (int p = lu->start_L[k]; p < lu->start_L[k + 1]; p++) {
            int j = lu->column_L[p];
            double factor = x[j] * lu->reciprocal[j];
            x[j] = 0;
            lu->L[p] = factor;
            if (factor == 0)
                continue;
            for (int s = lu->start_U[j]; s < lu->start_U[j + 1]; s++)
                x[column[s]] -= factor * U[s];
        }
        good = !bg_pivot_is_unusable(x[k]);
        lu->reciprocal[k] = 1 / x[k];
        x[k] = 0;
        for (int s = lu->start_U[k]; s < lu->start_U[k + 1]; s++) {
            U[s] = x[column[s]];
            x[column[s]] = 0;
        }
    }
    return good;
}

/* Row k of x <- U^-1 x. */
static inline void substitute_row(const bg_ordered_lu *lu, int k, double *restrict y)
{
    double sum = y[k];
    for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
        sum -= lu->U[p] * y[lu->column_U[p]];
    y[k] = sum * lu->reciprocal[k];
}

/* x <- A^-1 x with the factors alone; all: also what is not wanted. */
static void substitute(bg_ordered_lu *lu, double *x, bool all)
{
    double *restrict y = lu->y;
    for (int k = 0; k < lu->n; k++)
        y[k] = x[lu->order[k]];
    for (int i = 0; i < lu->nchanged; i++) {
        int k = lu->changed[i];
        double sum = y[k];
        for (int p = lu->start_L[k]; p < lu->start_L[k + 1]; p++)
            sum -= lu->L[p] * y[lu->column_L[p]];
        y[k] = sum;
    }
    for (int k = lu->n - 1; k >= 0 && all; k--)
        substitute_row(lu, k, y);
    for (int i = lu->nneeded - 1; i >= 0 && !all; i--)
        substitute_row(lu, lu->needed[i], y);
    for (int k = 0; k < lu->n; k++)
        x[lu->order[k]] = y[k];
}

/* max_i |b - A x|_i / (|b| + |A| |x|)_i for b_i = +- sum_k |a_ik| with scattered signs. */
static double calc_omega(bg_ordered_lu *lu)
{
    const double *a = lu->values;
    double omega = 0;
    for (int i = 0; i < lu->n; i++) {
        double sum = 0;
        for (int k = lu->row_start[i]; k < lu->row_start[i + 1]; k++)
            sum += fabs(a[k]);
        lu->r[i] = lu->b[i] = (unsigned)i * 2654435769u >> 31 ? -sum : sum;
    }
    substitute(lu, lu->r, true);
    for (int i = 0; i < lu->n; i++) {
        double rest = lu->b[i], size = fabs(rest);
        for (int k = lu->row_start[i]; k < lu->row_start[i + 1]; k++) {
            double term = a[k] * lu->r[lu->column[k]];
            rest -= term;
            size += fabs(term);
        }
        if (!(fabs(rest) <= omega * size)) /* not a number counts as infinite */
            omega = fabs(rest) >= 0 && size > 0 ? fabs(rest) / size : INFINITY;
    }
    return omega;
}

bool bg_ordered_lu_factor(bg_ordered_lu *lu, const double *values)
{
    lu->values = values;
    if (!eliminate(lu, values)) {
        memset(lu->x, 0, (size_t)lu->n * sizeof(double));
        return false;
    }
    double omega = calc_omega(lu);
    lu->refines = omega > OMEGA_EXACT;
    return omega <= OMEGA_SAFE;
}

void bg_ordered_lu_solve(bg_ordered_lu *lu, double *x)
{
    if (lu->refines)
        memcpy(lu->b, x, (size_t)lu->n * sizeof(double));
    substitute(lu, x, lu->refines);
    if (!lu->refines)
        return;
    for (int i = 0; i < lu->n; i++) {
        double rest = lu->b[i];
        for (int k = lu->row_start[i]; k < lu->row_start[i + 1]; k++)
            rest -= lu->values[k] * x[lu->column[k]];
        lu->r[i] = rest;
    }
    substitute(lu, lu->r, false);
    for (int k = 0; k < lu->nneeded; k++)
        x[lu->order[lu->needed[k]]] += lu->r[lu->order[lu->needed[k]]];
}

void bg_ordered_lu_solve_whole(bg_ordered_lu *lu, double *x)
{
    substitute(lu, x, true);
}

void bg_ordered_lu_solve_transposed(bg_ordered_lu *lu, double *x)
{
    double *restrict y = lu->y;
    for (int k = 0; k < lu->n; k++)
        y[k] = x[lu->order[k]];
    for (int k = 0; k < lu->n; k++) {
        y[k] *= lu->reciprocal[k];
        for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
            y[lu->column_U[p]] -= lu->U[p] * y[k];
    }
    for (int k = lu->n - 1; k >= 0; k--)
        for (int p = lu->start_L[k]; p < lu->start_L[k + 1]; p++)
            y[lu->column_L[p]] -= lu->L[p] * y[k];
    for (int k = 0; k < lu->n; k++)
        x[lu->order[k]] = y[k];
}

int bg_ordered_lu_get_sign(const bg_ordered_lu *lu)
{
    int sign = 1;
    for (int k = 0; k < lu->n; k++)
        sign = lu->reciprocal[k] < 0 ? -sign : sign;
    return sign;
}
