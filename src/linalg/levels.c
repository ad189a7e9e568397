/* Least squares in levels (lexicographic), by orthogonal transformations.
 *
 * With D = diag(unit), x = D y, and Z an orthonormal basis of the directions that the levels before
 * leave free, a level minimises |A D Z s - r|, r = b - A x. Householder reflections with pivoting
 * bring (A D Z)^T = Q [R; 0] with R of full row rank; the first columns of Z Q are the directions
 * that the level decides, the others are the next Z. In the former the problem is
 * |R^T s - r| -> min with R^T of full column rank, solved by reflections once more. */
#include "linalg/levels.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bg_levels {
    int n, freedom;
    double *unit; /* [n] */
    double *x;    /* [n] */
    double *Z;    /* [n * n] freedom columns of length n, one after another */
    double *h;    /* [n] a reflection */
};

/* Scratch of one level; matrices by columns. */
typedef struct level {
    int m, k, rank;
    double *B; /* [k * m] (A D Z)^T, then R */
    double *C; /* [m * k] R^T */
    double *r; /* [m] */
    double *s; /* [k] */
    double *h; /* [max(m, k)] a reflection */
} level;

bg_status bg_levels_create(int n, const double *unit, bg_levels **levels, bg_error *err)
{
    bg_levels *l = BG_NEW(bg_levels);
    *levels = l;
    if (l) {
        l->n = n;
        l->unit = BG_NEW_ARRAY(double, n);
        l->x = BG_NEW_ARRAY(double, n);
        l->Z = BG_NEW_ARRAY(double, (size_t)n *(size_t)n);
        l->h = BG_NEW_ARRAY(double, n);
    }
    if (!l || !l->unit || !l->x || !l->Z || !l->h) {
        bg_levels_destroy(l);
        *levels = NULL;
        return bg_error_set(err, BG_NO_MEMORY, "no memory for least squares of %d unknowns", n);
    }
    memcpy(l->unit, unit, (size_t)n * sizeof(double));
    bg_levels_reset(l);
    return BG_OK;
}

void bg_levels_destroy(bg_levels *l)
{
    if (!l)
        return;
    free(l->unit);
    free(l->x);
    free(l->Z);
    free(l->h);
    free(l);
}

void bg_levels_reset(bg_levels *l)
{
    memset(l->x, 0, (size_t)l->n * sizeof(double));
    memset(l->Z, 0, (size_t)l->n * (size_t)l->n * sizeof(double));
    for (int i = 0; i < l->n; i++)
        l->Z[(size_t)i * (size_t)l->n + (size_t)i] = 1;
    l->freedom = l->n;
}

static double *column(double *A, int rows, int j)
{
    return A + (size_t)rows * (size_t)j;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The reflection I - h h^T that takes c[from .. n-1] to a multiple of its first entry. */
static void make_reflection(const double *c, int from, int n, double *h)
{
    double length = sqrt(dot(c + from, c + from, n - from));
    memset(h, 0, (size_t)n * sizeof(double));
    if (length == 0)
        return;
    memcpy(h + from, c + from, (size_t)(n - from) * sizeof(double));
    h[from] += c[from] >= 0 ? length : -length;
    double factor = sqrt(2 / dot(h + from, h + from, n - from));
    for (int i = from; i < n; i++)
        h[i] *= factor;
}

static void reflect(const double *h, int from, int n, double *c)
{
    double s = dot(h + from, c + from, n - from);
    for (int i = from; i < n && s != 0; i++)
        c[i] -= s * h[i];
}

/* Z <- Z (I - h h^T) for the columns at hand. */
static void reflect_basis(bg_levels *l, const double *h, int from, int k)
{
    memset(l->h, 0, (size_t)l->n * sizeof(double));
    for (int j = from; j < k; j++)
        for (int i = 0; i < l->n && h[j] != 0; i++)
            l->h[i] += h[j] * column(l->Z, l->n, j)[i];
    for (int j = from; j < k; j++)
        for (int i = 0; i < l->n && h[j] != 0; i++)
            column(l->Z, l->n, j)[i] -= h[j] * l->h[i];
}

/* B <- (A D Z)^T and r <- b - A x; returns the length of the longest row of A D. */
static double fill(const bg_levels *l, level *w, const double *A, const double *b)
{
    double longest = 0;
    for (int i = 0; i < w->m; i++) {
        const double *a = A + (size_t)i * (size_t)l->n;
        double sum = 0;
        w->r[i] = b[i] - dot(a, l->x, l->n);
        for (int k = 0; k < l->n; k++) {
            double scaled = a[k] * l->unit[k];
            sum += scaled * scaled;
            for (int j = 0; j < w->k && scaled != 0; j++)
                column(w->B, w->k, i)[j] += scaled * column(l->Z, l->n, j)[k];
        }
        longest = fmax(longest, sqrt(sum));
    }
    return longest;
}

/* Reflects B to R, and Z along with it; the rank is where nothing longer than `least` is left. */
static void decide(bg_levels *l, level *w, double least)
{
    for (w->rank = 0; w->rank < w->k && w->rank < w->m; w->rank++) {
        int from = w->rank, best = -1;
        double longest = least;
        for (int i = 0; i < w->m; i++) {
            const double *c = column(w->B, w->k, i) + from;
            double length = sqrt(dot(c, c, w->k - from));
            if (length > longest)
                longest = length, best = i;
        }
        if (best < 0)
            return;
        make_reflection(column(w->B, w->k, best), from, w->k, w->h);
        for (int i = 0; i < w->m; i++)
            reflect(w->h, from, w->k, column(w->B, w->k, i));
        reflect_basis(l, w->h, from, w->k);
    }
}

/* s <- argmin |R^T s - r| */
static void solve(level *w)
{
    int m = w->m, rank = w->rank;
    for (int j = 0; j < rank; j++)
        for (int i = 0; i < m; i++)
            column(w->C, m, j)[i] = column(w->B, w->k, i)[j];
    for (int j = 0; j < rank; j++) {
        make_reflection(column(w->C, m, j), j, m, w->h);
        for (int i = j; i < rank; i++)
            reflect(w->h, j, m, column(w->C, m, i));
        reflect(w->h, j, m, w->r);
    }
    for (int j = rank - 1; j >= 0; j--) {
        double sum = w->r[j];
        for (int i = j + 1; i < rank; i++)
            sum -= column(w->C, m, i)[j] * w->s[i];
        w->s[j] = sum / column(w->C, m, j)[j];
    }
}

/* x <- x + D Z s; the basis keeps the columns behind those. */
static void take(bg_levels *l, const level *w)
{
    for (int j = 0; j < w->rank; j++)
        for (int i = 0; i < l->n; i++)
            l->x[i] += l->unit[i] * column(l->Z, l->n, j)[i] * w->s[j];
    l->freedom = w->k - w->rank;
    memmove(l->Z, column(l->Z, l->n, w->rank), (size_t)l->freedom * (size_t)l->n * sizeof(double));
}

bg_status bg_levels_add(bg_levels *l, int m, const double *A, const double *b, double tolerance,
                        double size, bg_error *err)
{
    level w = {.m = m, .k = l->freedom};
    if (m == 0 || w.k == 0)
        return BG_OK;
    size_t entries = (size_t)m * (size_t)w.k;
    w.B = BG_NEW_ARRAY(double, entries);
    w.C = BG_NEW_ARRAY(double, entries);
    w.r = BG_NEW_ARRAY(double, m);
    w.s = BG_NEW_ARRAY(double, w.k);
    w.h = BG_NEW_ARRAY(double, m > w.k ? m : w.k);
    bg_status st = BG_OK;
    if (w.B && w.C && w.r && w.s && w.h) {
        double longest = fill(l, &w, A, b);
        decide(l, &w, tolerance * (size > 0 ? size : longest));
        solve(&w);
        take(l, &w);
    } else {
        st = bg_error_set(err, BG_NO_MEMORY, "no memory for least squares of %d rows", m);
    }
    free(w.B);
    free(w.C);
    free(w.r);
    free(w.s);
    free(w.h);
    return st;
}

const double *bg_levels_get_x(const bg_levels *l)
{
    return l->x;
}

int bg_levels_get_freedom(const bg_levels *l)
{
    return l->freedom;
}
