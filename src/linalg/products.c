#include "linalg/products.h"

#include <math.h>
#include <string.h>

static void list(void *object, bg_arena *arena)
{
    bg_products *x = object;
    BG_TAKE(arena, x->S, (size_t)x->m * (size_t)x->n);
    BG_TAKE(arena, x->R, (size_t)x->m * (size_t)x->m);
    BG_TAKE(arena, x->c, x->m);
    BG_TAKE(arena, x->left, x->m);
    BG_TAKE(arena, x->remainder, x->m);
    BG_TAKE(arena, x->span, x->m);
    BG_TAKE(arena, x->kept, x->m);
    BG_TAKE(arena, x->decided, x->m);
    BG_TAKE(arena, x->dependent, x->m);
    BG_TAKE(arena, x->order, x->m);
}

bool bg_products_create(bg_products *p, int m, int n)
{
    *p = (bg_products){.m = m, .n = n};
    return bg_arena_create(&p->arena, list, p);
}

void bg_products_clear(bg_products *p)
{
    bg_arena_clear(&p->arena);
    *p = (bg_products){0};
}

static double *row_of(double *A, int i, int n)
{
    return A + (size_t)i * (size_t)n;
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

static bg_column_range find_span(const double *x, int n)
{
    bg_column_range at = {0, n};
    while (at.first < n && x[at.first] == 0)
        at.first++;
    while (at.last > at.first && x[at.last - 1] == 0)
        at.last--;
    return at;
}

/* R <- the products of rows that may be kept, lower half. */
static void multiply_rows(bg_products *p)
{
    for (int i = 0; i < p->m; i++) {
        const double *s = row_of(p->S, i, p->n);
        double *to = row_of(p->R, i, p->m);
        p->dependent[i] = true;
        p->decided[i] = p->order[i] < 0;
        p->span[i] = p->decided[i] ? (bg_column_range){0, 0} : find_span(s, p->n);
        for (int k = 0; k <= i; k++) {
            bg_column_range both = intersect(p->span[i], p->span[k]);
            to[k] = both.first < both.last ? dot(s, row_of(p->S, k, p->n), both) : 0;
        }
        p->left[i] = sqrt(to[i]);
    }
}

/* Takes row i out of the products of those that are not decided. */
static void eliminate(bg_products *p, int i)
{
    const int m = p->m;
    double *from = p->c;
    for (int k = 0; k < m; k++)
        from[k] = p->decided[k] ? 0 : k > i ? p->R[k * m + i] : p->R[i * m + k];
    const double pivot = p->R[i * m + i];
    for (int k = 0; k < m; k++) {
        if (from[k] == 0)
            continue;
        double *to = row_of(p->R, k, m), factor = from[k] / pivot;
        for (int j = 0; j <= k; j++)
            to[j] -= factor * from[j];
        p->left[k] = to[k] > 0 ? sqrt(to[k]) : 0;
    }
}

bool bg_products_decide(bg_products *p, int most)
{
    static const double rough = 1e-3, safe = 1 / 0.3; /* of which find_next takes a part */
    const bg_candidates candidates = {p->m, p->left, p->decided, p->order};
    multiply_rows(p);
    for (p->rank = 0; p->rank < most; p->rank++) {
        int i = bg_candidates_find_next(&candidates, rough, rough);
        if (i < 0 || p->left[i] < rough * safe)
            return false;
        p->dependent[i] = false;
        p->decided[i] = true;
        p->kept[p->rank] = i;
        eliminate(p, i);
    }
    memcpy(p->remainder, p->left, (size_t)p->m * sizeof(double));
    return true;
}

/* C_ak of kept rows by their order, where S S^T = C^T C; C_kk is the remainder. */
static double get_product(const bg_products *p, int a, int k)
{
    const int i = p->kept[a], j = p->kept[k];
    return (i > j ? p->R[i * p->m + j] : p->R[j * p->m + i]) / p->remainder[i];
}

/* 1 / others_i^2 is the diagonal of (C^T C)^-1: squares of row i of C^-1, summed. */
void bg_products_calc_others(bg_products *p, double *others)
{
    memcpy(others, p->remainder, (size_t)p->m * sizeof(double));
    for (int i = 0; i < p->rank; i++) {
        double *x = p->c, squares = 0;
        for (int k = i; k < p->rank; k++) {
            double sum = k == i ? -1 : 0;
            for (int a = i; a < k; a++)
                sum += x[a] * get_product(p, a, k);
            x[k] = -sum / p->remainder[p->kept[k]];
            squares += x[k] * x[k];
        }
        others[p->kept[i]] = 1 / sqrt(squares);
    }
}
