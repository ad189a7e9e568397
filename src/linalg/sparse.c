/* LU of a sparse matrix with KLU: block triangular form and AMD once, then numbers only.
 *
 * KLU wants compressed columns; our compressed rows of A are the compressed columns of A^T, so that
 * A^T is factored and A x = b is solved with klu_tsolve. The pivots are chosen by klu_factor (which
 * allocates) at the first factorisation; later ones repeat their order with klu_refactor (which
 * does not). Whether that order still serves is asked of one solve with a fixed right-hand side b:
 * the componentwise backward error omega = max_i |b - A x|_i / (|b| + |A| |x|)_i is about eps for
 * good pivots. Above 1e-10 (or a hundred times what fresh pivots gave, if that is more) new pivots
 * are chosen; below, the one step of iterative refinement in every solve squares it away. Pivots
 * that are noise (backend.h) also ask for new ones before they count as singular. */
#include "base/archive.h"
#include "base/memory.h"
#include "linalg/backend.h"

#include <klu.h>
#include <stdlib.h>
#include <string.h>

#define OMEGA_REFACTOR 1e-10 /* refactored: larger ones ask for new pivots */
#define OMEGA_FACTOR 1e-6    /* fresh pivots: larger ones mean a singular matrix */
#define PIVOT_TOLERANCE 0.1  /* the diagonal is taken above this part of the largest candidate */

typedef struct factors { /* L or U in compressed columns, copied out of KLU for the pivot check */
    int capacity;
    int *start, *row; /* n+1, capacity */
    double *value;    /* capacity */
} factors;

typedef struct sparse_lu {
    int n, count;            /* unknowns, entries */
    int *row_start, *column; /* n+1, count */
    double *values;          /* count, A of the last factorisation */
    double *pivot_values;    /* count, A of the last choice of pivots */
    double omega;            /* backward error of the last choice of pivots */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;     /* NULL: no pivots chosen yet */
    double *b, *x, *r, *size; /* n each, scratch */
    factors L, U;
} sparse_lu;

static bg_status create(int n, const bg_pattern *pattern, void **self)
{
    sparse_lu *s = BG_NEW(sparse_lu);
    *self = s;
    if (!s)
        return BG_NO_MEMORY;
    klu_defaults(&s->common);
    s->common.tol = PIVOT_TOLERANCE;
    s->n = n;
    s->count = pattern->row_start[n];
    s->row_start = BG_NEW_ARRAY(int, n + 1);
    s->column = BG_NEW_ARRAY(int, s->count);
    s->values = BG_NEW_ARRAY(double, s->count);
    s->pivot_values = BG_NEW_ARRAY(double, s->count);
    s->b = BG_NEW_ARRAY(double, n);
    s->x = BG_NEW_ARRAY(double, n);
    s->r = BG_NEW_ARRAY(double, n);
    s->size = BG_NEW_ARRAY(double, n);
    s->L.start = BG_NEW_ARRAY(int, n + 1);
    s->U.start = BG_NEW_ARRAY(int, n + 1);
    if (!s->row_start || !s->column || !s->values || !s->pivot_values || !s->b || !s->x || !s->r ||
        !s->size || !s->L.start || !s->U.start)
        return BG_NO_MEMORY;
    memcpy(s->row_start, pattern->row_start, (size_t)(n + 1) * sizeof(int));
    memcpy(s->column, pattern->column, (size_t)s->count * sizeof(int));
    s->symbolic = klu_analyze(n, s->row_start, s->column, &s->common);
    return s->symbolic ? BG_OK : BG_NO_MEMORY;
}

static void destroy(void *self)
{
    sparse_lu *s = self;
    if (!s)
        return;
    klu_free_numeric(&s->numeric, &s->common);
    klu_free_symbolic(&s->symbolic, &s->common);
    void *owned[] = {s->row_start, s->column,  s->values, s->pivot_values, s->b,
                     s->x,         s->r,       s->size,   s->L.start,      s->L.row,
                     s->L.value,   s->U.start, s->U.row,  s->U.value,      s};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
}

/* r <- b - A x and, when magnitude is not NULL, magnitude <- |b| + |A| |x|. */
static void calc_residual(const sparse_lu *s, const double *b, const double *x, double *r,
                          double *magnitude)
{
    for (int i = 0; i < s->n; i++) {
        double sum = b[i], size = fabs(b[i]);
        for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++) {
            double term = s->values[k] * x[s->column[k]];
            sum -= term;
            size += fabs(term);
        }
        r[i] = sum;
        if (magnitude)
            magnitude[i] = size;
    }
}

/* omega for b_i = +- sum_k |a_ik| with scattered signs; not a number counts as infinite. */
static double calc_omega(sparse_lu *s)
{
    double omega = 0;
    for (int i = 0; i < s->n; i++) {
        double sum = 0;
        for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++)
            sum += fabs(s->values[k]);
        s->b[i] = (unsigned)i * 2654435769u >> 31 ? -sum : sum;
        s->x[i] = s->b[i];
    }
    klu_tsolve(s->symbolic, s->numeric, s->n, 1, s->x, &s->common);
    calc_residual(s, s->b, s->x, s->r, s->size);
    for (int i = 0; i < s->n; i++) {
        double ratio = fabs(s->r[i]) / s->size[i];
        if (!(ratio <= omega))
            omega = ratio >= 0 ? ratio : INFINITY;
    }
    return omega;
}

static bool reserve(factors *f, int count)
{
    if (count <= f->capacity)
        return true;
    free(f->row);
    free(f->value);
    f->row = BG_NEW_ARRAY(int, count);
    f->value = BG_NEW_ARRAY(double, count);
    f->capacity = f->row && f->value ? count : 0;
    return f->capacity > 0;
}

/* |l_kj|, by searching column j of L. */
static double find_multiplier(const factors *L, int k, int j)
{
    for (int p = L->start[j]; p < L->start[j + 1]; p++)
        if (L->row[p] == k)
            return fabs(L->value[p]);
    return 0;
}

static bool is_noise(const sparse_lu *s, int k)
{
    const factors *U = &s->U;
    double pivot = 0, sum = 0;
    for (int p = U->start[k]; p < U->start[k + 1]; p++) {
        if (U->row[p] == k)
            pivot = fabs(U->value[p]);
        else
            sum += fabs(U->value[p]) / PIVOT_TOLERANCE; /* |l_kj| <= 1 / tolerance */
    }
    if (pivot > BG_PIVOT_SUSPECT * sum)
        return bg_pivot_is_unusable(pivot);
    double terms = pivot;
    for (int p = U->start[k]; p < U->start[k + 1]; p++)
        if (U->row[p] != k)
            terms += fabs(U->value[p]) * find_multiplier(&s->L, k, U->row[p]);
    return bg_pivot_is_noise(pivot, terms, s->n);
}

/* Is some pivot noise? The factors are looked at only when the ratio of the smallest to the largest
 * pivot is suspicious (KLU scales the columns of A, so that their largest entry is 1). */
static bool has_noise(sparse_lu *s)
{
    klu_rcond(s->symbolic, s->numeric, &s->common);
    if (s->common.rcond > BG_PIVOT_SUSPECT)
        return false;
    klu_extract(s->numeric, s->symbolic, s->L.start, s->L.row, s->L.value, s->U.start, s->U.row,
                s->U.value, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &s->common);
    for (int k = 0; k < s->n; k++)
        if (is_noise(s, k))
            return true;
    return false;
}

static bg_status choose_pivots(sparse_lu *s)
{
    klu_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_factor(s->row_start, s->column, s->values, s->symbolic, &s->common);
    if (!s->numeric)
        return s->common.status == KLU_SINGULAR ? BG_SINGULAR : BG_NO_MEMORY;
    if (!reserve(&s->L, s->numeric->lnz) || !reserve(&s->U, s->numeric->unz)) {
        klu_free_numeric(&s->numeric, &s->common);
        return BG_NO_MEMORY;
    }
    memcpy(s->pivot_values, s->values, (size_t)s->count * sizeof(double));
    s->omega = calc_omega(s);
    if (s->omega <= OMEGA_FACTOR && !has_noise(s))
        return BG_OK;
    klu_free_numeric(&s->numeric, &s->common); /* pivots of a singular matrix serve no other */
    return BG_SINGULAR;
}

/* Repeats the last pivots; false when they do not serve. */
static bool repeat_pivots(sparse_lu *s)
{
    return s->numeric &&
           klu_refactor(s->row_start, s->column, s->values, s->symbolic, s->numeric, &s->common) &&
           s->common.status == KLU_OK && calc_omega(s) <= fmax(OMEGA_REFACTOR, 100 * s->omega) &&
           !has_noise(s);
}

static bg_status factor(void *self, const double *values)
{
    sparse_lu *s = self;
    memcpy(s->values, values, (size_t)s->count * sizeof(double));
    return repeat_pivots(s) ? BG_OK : choose_pivots(s);
}

static void solve(void *self, double *x)
{
    sparse_lu *s = self;
    memcpy(s->b, x, (size_t)s->n * sizeof(double));
    klu_tsolve(s->symbolic, s->numeric, s->n, 1, x, &s->common);
    calc_residual(s, s->b, x, s->r, NULL);
    klu_tsolve(s->symbolic, s->numeric, s->n, 1, s->r, &s->common);
    for (int i = 0; i < s->n; i++)
        x[i] += s->r[i];
}

static void solve_transposed(void *self, double *x)
{
    sparse_lu *s = self;
    klu_solve(s->symbolic, s->numeric, s->n, 1, x, &s->common);
}

/* Later refactorisations depend on the order of pivots, and that on the values they were chosen
 * for: these are saved, and restoring chooses again. */
static void archive_pivots(void *self, bg_archive *archive)
{
    sparse_lu *s = self;
    int sizes[2] = {s->count, s->numeric != NULL};
    bg_archive_mark(archive, "sparse");
    bg_archive_ints(archive, sizes, 2);
    if (sizes[0] != s->count)
        archive->failed = true;
    if (archive->failed)
        return;
    if (sizes[1])
        bg_archive_doubles(archive, s->pivot_values, s->count);
    if (!archive->loading || archive->failed)
        return;
    klu_free_numeric(&s->numeric, &s->common);
    if (sizes[1]) {
        memcpy(s->values, s->pivot_values, (size_t)s->count * sizeof(double));
        choose_pivots(s);
        archive->failed = s->numeric == NULL;
    }
}

static void reset(void *self)
{
    sparse_lu *s = self;
    klu_free_numeric(&s->numeric, &s->common);
}

const bg_linear_class bg_linear_sparse = {create,           destroy,        factor, solve,
                                          solve_transposed, archive_pivots, reset};
