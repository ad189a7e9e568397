/* LU of a sparse matrix: order and memory once, then numbers only.
 *
 * Compressed rows of A are compressed columns of A^T, which is what sparse_lu.c factors; A x = b is
 * solved with its transpose. The pivots are chosen at the first factorisation; later ones repeat
 * their order, which is several times cheaper. Whether that order still serves is asked of one
 * solve with a fixed right-hand side b: the componentwise backward error
 * omega = max_i |b - A x|_i / (|b| + |A| |x|)_i is about eps for good pivots. Above 1e-10 (or a
 * hundred times what fresh pivots gave, if that is more) new pivots are chosen; below, the one step
 * of iterative refinement in every solve squares it away. Pivots that are noise (backend.h) also
 * ask for new ones before they count as singular. The memory holds whatever is chosen. */
#include "base/archive.h"
#include "base/arena.h"
#include "base/memory.h"
#include "linalg/backend.h"
#include "linalg/sparse_lu.h"

#include <stdlib.h>
#include <string.h>

#define OMEGA_REPEATED 1e-10 /* repeated pivots: larger ones ask for new pivots */
#define OMEGA_CHOSEN 1e-6    /* fresh pivots: larger ones mean a singular matrix */
#define PIVOT_TOLERANCE 0.1  /* the diagonal is taken above this part of the largest candidate */

typedef struct sparse {
    int n, count;             /* unknowns, entries */
    int *row_start, *column;  /* n+1, count */
    double *values;           /* count, A of the last factorisation */
    double *pivot_values;     /* count, A of the last choice of pivots */
    double omega;             /* backward error of the last choice of pivots */
    bool chosen;              /* there is such a choice */
    bg_sparse_lu lu;          /* of A^T */
    double *b, *x, *r, *size; /* n each, scratch */
    bg_arena arena;
} sparse;

static void list(void *object, bg_arena *arena)
{
    sparse *s = object;
    int n = s->n;
    BG_TAKE(arena, s->row_start, n + 1);
    BG_TAKE(arena, s->column, s->count);
    BG_TAKE(arena, s->values, s->count);
    BG_TAKE(arena, s->pivot_values, s->count);
    BG_TAKE(arena, s->b, n);
    BG_TAKE(arena, s->x, n);
    BG_TAKE(arena, s->r, n);
    BG_TAKE(arena, s->size, n);
}

static bg_status create(int n, const bg_pattern *pattern, void **self)
{
    sparse *s = BG_NEW(sparse);
    *self = s;
    if (!s)
        return BG_NO_MEMORY;
    s->n = n;
    s->count = pattern->row_start[n];
    if (!bg_arena_create(&s->arena, list, s))
        return BG_NO_MEMORY;
    memcpy(s->row_start, pattern->row_start, (size_t)(n + 1) * sizeof(int));
    memcpy(s->column, pattern->column, (size_t)s->count * sizeof(int));
    return bg_sparse_lu_create(&s->lu, n, s->row_start, s->column) ? BG_OK : BG_NO_MEMORY;
}

static void destroy(void *self)
{
    sparse *s = self;
    if (!s)
        return;
    bg_sparse_lu_clear(&s->lu);
    bg_arena_clear(&s->arena);
    free(s);
}

/* r <- b - A x and, when magnitude is not NULL, magnitude <- |b| + |A| |x|. */
static void calc_residual(const sparse *s, const double *b, const double *x, double *r,
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
static double calc_omega(sparse *s)
{
    double omega = 0;
    for (int i = 0; i < s->n; i++) {
        double sum = 0;
        for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++)
            sum += fabs(s->values[k]);
        s->b[i] = (unsigned)i * 2654435769u >> 31 ? -sum : sum;
        s->x[i] = s->b[i];
    }
    bg_sparse_lu_solve_transposed(&s->lu, s->x, s->r);
    calc_residual(s, s->b, s->x, s->r, s->size);
    for (int i = 0; i < s->n; i++) {
        double ratio = fabs(s->r[i]) / s->size[i];
        if (!(ratio <= omega))
            omega = ratio >= 0 ? ratio : INFINITY;
    }
    return omega;
}

/* |l_kj|, by searching column j of L. */
static double find_multiplier(const bg_sparse_lu *lu, int k, int j)
{
    for (int p = lu->start_L[j]; p < lu->start_L[j + 1]; p++)
        if (lu->row_L[p] == k)
            return fabs(lu->value_L[p]);
    return 0;
}

static bool is_noise(const bg_sparse_lu *lu, int k)
{
    double pivot = fabs(lu->pivot[k]), sum = 0, terms = pivot;
    for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
        sum += fabs(lu->value_U[p]) / PIVOT_TOLERANCE; /* |l_kj| <= 1 / tolerance */
    if (pivot > BG_PIVOT_SUSPECT * sum)
        return bg_pivot_is_unusable(pivot);
    for (int p = lu->start_U[k]; p < lu->start_U[k + 1]; p++)
        terms += fabs(lu->value_U[p]) * find_multiplier(lu, k, lu->row_U[p]);
    return bg_pivot_is_noise(pivot, terms, lu->n);
}

/* Is some pivot noise? The factors are looked at only when the ratio of the smallest to the largest
 * pivot is suspicious (the largest entry of every column of A is scaled to 1). */
static bool has_noise(const sparse *s)
{
    if (bg_sparse_lu_calc_ratio(&s->lu) > BG_PIVOT_SUSPECT)
        return false;
    for (int k = 0; k < s->n; k++)
        if (is_noise(&s->lu, k))
            return true;
    return false;
}

/* Pivots of a singular matrix serve no other. */
static bg_status choose_pivots(sparse *s)
{
    s->chosen = false;
    if (!bg_sparse_lu_choose(&s->lu, s->values, PIVOT_TOLERANCE))
        return BG_SINGULAR;
    memcpy(s->pivot_values, s->values, (size_t)s->count * sizeof(double));
    s->omega = calc_omega(s);
    s->chosen = s->omega <= OMEGA_CHOSEN && !has_noise(s);
    return s->chosen ? BG_OK : BG_SINGULAR;
}

/* Repeats the last pivots; false when they do not serve. */
static bool repeat_pivots(sparse *s)
{
    return s->chosen && bg_sparse_lu_repeat(&s->lu, s->values) &&
           calc_omega(s) <= fmax(OMEGA_REPEATED, 100 * s->omega) && !has_noise(s);
}

static bg_status factor(void *self, const double *values)
{
    sparse *s = self;
    memcpy(s->values, values, (size_t)s->count * sizeof(double));
    return repeat_pivots(s) ? BG_OK : choose_pivots(s);
}

static void solve(void *self, double *x)
{
    sparse *s = self;
    memcpy(s->b, x, (size_t)s->n * sizeof(double));
    bg_sparse_lu_solve_transposed(&s->lu, x, s->size);
    calc_residual(s, s->b, x, s->r, NULL);
    bg_sparse_lu_solve_transposed(&s->lu, s->r, s->size);
    for (int i = 0; i < s->n; i++)
        x[i] += s->r[i];
}

static void solve_transposed(void *self, double *x)
{
    sparse *s = self;
    bg_sparse_lu_solve(&s->lu, x, s->size);
}

/* Later factorisations depend on the order of pivots, and that on the values they were chosen
 * for: these are saved, and restoring chooses again. */
static void archive_pivots(void *self, bg_archive *archive)
{
    sparse *s = self;
    int sizes[2] = {s->count, s->chosen};
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
    s->chosen = false;
    if (sizes[1]) {
        memcpy(s->values, s->pivot_values, (size_t)s->count * sizeof(double));
        archive->failed = choose_pivots(s) != BG_OK;
    }
}

static int get_sign(const void *self)
{
    const sparse *s = self;
    int sign = s->lu.parity;
    for (int k = 0; k < s->n; k++)
        sign = s->lu.pivot[k] < 0 ? -sign : sign;
    return sign;
}

/* A choice of new pivots takes as many multiplications as their repetition, beside its search. */
static void get_work(const void *self, bg_matrix_work *work)
{
    const sparse *s = self;
    work->factorisation = s->lu.operations;
    work->solution = 2.0 * (double)(s->lu.capacity_L + s->lu.capacity_U) + s->count;
    work->repeats = 1;
}

static void reset(void *self)
{
    sparse *s = self;
    s->chosen = false;
}

const bg_linear_class bg_linear_sparse = {
    create, destroy, factor, solve, solve_transposed, archive_pivots, get_sign, get_work, reset};
