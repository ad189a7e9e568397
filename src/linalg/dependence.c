#include "linalg/dependence.h"

#include "base/arena.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AS_GOOD 0.3

static void list(void *object, bg_arena *arena)
{
    bg_dependence *x = object;
    BG_TAKE(arena, x->S, x->entries);
    BG_TAKE(arena, x->W, x->entries);
    BG_TAKE(arena, x->Q, x->entries);
    BG_TAKE(arena, x->R, x->squares);
    BG_TAKE(arena, x->c, x->rows);
    BG_TAKE(arena, x->left, x->rows);
    BG_TAKE(arena, x->of_W, x->rows);
    BG_TAKE(arena, x->of_Q, x->rows);
    BG_TAKE(arena, x->kept, x->rows);
    BG_TAKE(arena, x->decided, x->rows);
    BG_TAKE(arena, x->order, x->rows);
    BG_TAKE(arena, x->remainder, x->rows);
    BG_TAKE(arena, x->dependent, x->rows);
}

void bg_dependence_clear(bg_dependence *d)
{
    bg_arena_clear(&d->arena);
    *d = (bg_dependence){0};
}

static bool reserve(bg_dependence *d, size_t m, size_t entries, size_t squares)
{
    if (d->S && m <= d->rows && entries <= d->entries && squares <= d->squares)
        return true;
    if (d->settled)
        return false;
    bg_dependence x = {.rows = m > d->rows ? m : d->rows,
                       .entries = entries > d->entries ? entries : d->entries,
                       .squares = squares > d->squares ? squares : d->squares};
    bool made = bg_arena_create(&x.arena, list, &x);
    if (made)
        bg_arena_clear(&d->arena);
    if (made)
        *d = x;
    return made;
}

bool bg_dependence_settle(bg_dependence *d, size_t rows, size_t entries, size_t squares)
{
    bool made = reserve(d, rows, entries, squares);
    d->settled = made;
    return made;
}

bool bg_dependence_begin(bg_dependence *d, int m, int n)
{
    if (!reserve(d, (size_t)m, (size_t)m * (size_t)n, (size_t)m * (size_t)m))
        return false;
    d->m = m;
    d->n = n;
    memset(d->S, 0, (size_t)m * (size_t)n * sizeof(double));
    memset(d->order, 0, (size_t)m);
    return true;
}

static double *row_of(double *A, int i, int n)
{
    return A + (size_t)i * (size_t)n;
}

double *bg_dependence_get_row(bg_dependence *d, int i)
{
    return row_of(d->S, i, d->n);
}

double bg_dependence_calc_length(const double *x, int n)
{
    double largest = 0, sum = 0;
    for (int j = 0; j < n; j++)
        largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
    if (largest == 0)
        return 0;
    for (int j = 0; j < n; j++)
        sum += (x[j] / largest) * (x[j] / largest);
    return largest * sqrt(sum);
}

/* Four sums that do not wait for each other. */
static double dot(const double *x, const double *y, bg_column_range at)
{
    double a = 0, b = 0, c = 0, d = 0;
    int j = at.first;
    for (; j + 4 <= at.last; j += 4) {
        a += x[j] * y[j];
        b += x[j + 1] * y[j + 1];
        c += x[j + 2] * y[j + 2];
        d += x[j + 3] * y[j + 3];
    }
    for (; j < at.last; j++)
        a += x[j] * y[j];
    return (a + b) + (c + d);
}

static bg_column_range intersect(bg_column_range a, bg_column_range b)
{
    return (bg_column_range){a.first > b.first ? a.first : b.first,
                             a.last < b.last ? a.last : b.last};
}

static bg_column_range unite(bg_column_range a, bg_column_range b)
{
    return (bg_column_range){a.first < b.first ? a.first : b.first,
                             a.last > b.last ? a.last : b.last};
}

static bg_column_range find_span(const double *x, int n)
{
    bg_column_range at = {0, n};
    while (at.first < n && x[at.first] == 0)
        at.first++;
    while (at.last > at.first && x[at.last - 1] == 0)
        at.last--;
    return at;
}

/* The next row to keep, or -1 when the rest depends on those kept. */
static int find_next(bg_dependence *d, double tolerance, double least)
{
    double largest = 0;
    for (int i = 0; i < d->m; i++) {
        bool may = !d->decided[i] && d->left[i] > (d->order[i] > 0 ? least : tolerance);
        d->c[i] = may ? d->left[i] : 0;
        largest = d->c[i] > largest ? d->c[i] : largest;
    }
    int found = -1;
    for (int i = d->m - 1; i >= 0; i--) {
        bool good = d->c[i] > 0 && d->c[i] >= AS_GOOD * largest;
        if (good && (found < 0 || d->order[i] > 0 || d->order[found] <= 0))
            found = i;
    }
    return found;
}

/* Q[rank] <- row i orthogonally to those before, in two passes: s_i = sum_p R_p,rank q_p. */
static void orthogonalise(bg_dependence *d, int i)
{
    int n = d->n, r = d->rank;
    double *q = row_of(d->Q, r, n);
    bg_column_range at = d->of_W[i];
    memcpy(q, row_of(d->S, i, n), (size_t)n * sizeof(double));
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < r; p++) {
            const double *q_p = row_of(d->Q, p, n);
            double h = dot(q_p, q, intersect(at, d->of_Q[p]));
            d->R[p * d->m + r] += h;
            for (int j = d->of_Q[p].first; h != 0 && j < d->of_Q[p].last; j++)
                q[j] -= h * q_p[j];
            at = h != 0 ? unite(at, d->of_Q[p]) : at;
        }
    double length = sqrt(dot(q, q, at));
    d->R[r * d->m + r] = length;
    for (int j = at.first; j < at.last; j++)
        q[j] /= length;
    d->of_Q[r] = at;
}

/* Keeps row i, and takes it out of the rest. */
static void keep_row(bg_dependence *d, int i)
{
    d->remainder[i] = d->c[i];
    d->dependent[i] = false;
    d->decided[i] = true;
    orthogonalise(d, i);
    const double *q = row_of(d->Q, d->rank, d->n);
    bg_column_range at = d->of_Q[d->rank];
    d->kept[d->rank++] = i;
    for (int k = 0; k < d->m; k++) {
        double *w = row_of(d->W, k, d->n);
        double h = d->dependent[k] ? dot(q, w, intersect(at, d->of_W[k])) : 0;
        if (h == 0)
            continue;
        for (int j = at.first; j < at.last; j++)
            w[j] -= h * q[j];
        d->of_W[k] = unite(at, d->of_W[k]);
        d->left[k] = sqrt(dot(w, w, d->of_W[k]));
    }
}

void bg_dependence_decide(bg_dependence *d, int most, double tolerance, double least)
{
    size_t m = (size_t)d->m;
    memset(d->R, 0, m * m * sizeof(double));
    memcpy(d->W, d->S, m * (size_t)d->n * sizeof(double));
    d->rank = 0;
    for (int i = 0; i < d->m; i++) {
        const double *s = row_of(d->S, i, d->n);
        bg_column_range at = d->of_W[i] = find_span(s, d->n);
        d->left[i] = bg_dependence_calc_length(s + at.first, at.last - at.first);
        d->decided[i] = d->order[i] < 0;
        d->dependent[i] = true;
    }
    for (int i; d->rank < most && (i = find_next(d, tolerance, least)) >= 0;)
        keep_row(d, i);
    for (int i = 0; i < d->m; i++)
        if (d->dependent[i])
            d->remainder[i] = d->left[i];
}

/* R <- the products of rows that may be kept, lower half. */
static void multiply_rows(bg_dependence *d)
{
    for (int i = 0; i < d->m; i++) {
        const double *s = row_of(d->S, i, d->n);
        double *to = row_of(d->R, i, d->m);
        d->dependent[i] = true;
        d->decided[i] = d->order[i] < 0;
        d->of_W[i] = d->decided[i] ? (bg_column_range){0, 0} : find_span(s, d->n);
        for (int k = 0; k <= i; k++) {
            bg_column_range both = intersect(d->of_W[i], d->of_W[k]);
            to[k] = both.first < both.last ? dot(s, row_of(d->S, k, d->n), both) : 0;
        }
        d->left[i] = sqrt(to[i]);
    }
}

/* Takes row i out of the products of those that are not decided. */
static void eliminate(bg_dependence *d, int i)
{
    const int m = d->m;
    double *from = d->c;
    for (int k = 0; k < m; k++)
        from[k] = d->decided[k] ? 0 : k > i ? d->R[k * m + i] : d->R[i * m + k];
    const double pivot = d->R[i * m + i];
    for (int k = 0; k < m; k++) {
        if (from[k] == 0)
            continue;
        double *to = row_of(d->R, k, m), factor = from[k] / pivot;
        for (int j = 0; j <= k; j++)
            to[j] -= factor * from[j];
        d->left[k] = to[k] > 0 ? sqrt(to[k]) : 0;
    }
}

bool bg_dependence_decide_quickly(bg_dependence *d, int most)
{
    const double rough = 1e-3;
    multiply_rows(d);
    for (d->rank = 0; d->rank < most; d->rank++) {
        int i = find_next(d, rough, rough);
        if (i < 0 || d->left[i] < rough / AS_GOOD)
            return false;
        d->dependent[i] = false;
        d->decided[i] = true;
        d->kept[d->rank] = i;
        eliminate(d, i);
    }
    memcpy(d->remainder, d->left, (size_t)d->m * sizeof(double));
    return true;
}

/* C_pk of kept rows by their order, where S S^T = C^T C; C_kk is the remainder. */
static double get_product(const bg_dependence *d, bool quickly, int p, int k)
{
    if (!quickly)
        return d->R[p * d->m + k];
    const int a = d->kept[p], b = d->kept[k];
    return (a > b ? d->R[a * d->m + b] : d->R[b * d->m + a]) / d->remainder[a];
}

/* 1 / others_i^2 is the diagonal of (C^T C)^-1: squares of row i of C^-1, summed. */
void bg_dependence_calc_others(bg_dependence *d, bool quickly, double *others)
{
    memcpy(others, d->remainder, (size_t)d->m * sizeof(double));
    for (int i = 0; i < d->rank; i++) {
        double *x = d->c, squares = 0;
        for (int k = i; k < d->rank; k++) {
            double sum = k == i ? -1 : 0;
            for (int p = i; p < k; p++)
                sum += x[p] * get_product(d, quickly, p, k);
            x[k] = -sum / d->remainder[d->kept[k]];
            squares += x[k] * x[k];
        }
        others[d->kept[i]] = 1 / sqrt(squares);
    }
}

void bg_dependence_calc_coefficients(bg_dependence *d, int i)
{
    for (int p = d->rank - 1; p >= 0; p--) {
        double sum = dot(row_of(d->Q, p, d->n), row_of(d->S, i, d->n), d->of_Q[p]);
        for (int k = p + 1; k < d->rank; k++)
            sum -= d->R[p * d->m + k] * d->c[k];
        d->c[p] = sum / d->R[p * d->m + p];
    }
}
