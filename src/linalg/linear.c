/* The front of the linear solvers: owns the values, picks the backend, estimates the condition. */
#include "base/archive.h"
#include "base/arena.h"
#include "base/memory.h"
#include "linalg/backend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct bg_linear {
    const bg_linear_class *class;
    void *self; /* of the backend */
    int n;
    bool factored;  /* the last factorisation succeeded */
    double *values; /* n*n row-major, or in the order of the pattern */
    int *row_start; /* n+1 and ... */
    int *column;    /* ... row_start[n]; both NULL when dense */
    double *x;      /* n, scratch of the condition estimate */
    int *sign;      /* n, likewise */
    bool sparse;    /* in a pattern */
    size_t count;   /* of values */
    bg_arena arena; /* all arrays */
};

static void list(void *object, bg_arena *arena)
{
    bg_linear *linear = object;
    BG_TAKE(arena, linear->values, linear->count);
    BG_TAKE(arena, linear->x, linear->n);
    BG_TAKE(arena, linear->sign, linear->n);
    if (linear->sparse) {
        BG_TAKE(arena, linear->row_start, linear->n + 1);
        BG_TAKE(arena, linear->column, linear->count);
    }
}

static bg_status fill(bg_linear *linear, const bg_pattern *pattern)
{
    int n = linear->n;
    linear->sparse = pattern != NULL;
    linear->count = pattern ? (size_t)pattern->row_start[n] : (size_t)n * (size_t)n;
    if (!bg_arena_create(&linear->arena, list, linear))
        return BG_NO_MEMORY;
    if (pattern) {
        memcpy(linear->row_start, pattern->row_start, ((size_t)n + 1) * sizeof(int));
        memcpy(linear->column, pattern->column, linear->count * sizeof(int));
    }
    return linear->class->create(n, pattern, &linear->self);
}

/* Without LAPACK a large dense matrix is one in a pattern that is full, whose values lie alike:
 * more work, but none that nobody can do. */
static bg_status do_without(bg_linear *linear)
{
    const int n = linear->n;
    int *row_start = BG_NEW_ARRAY(int, n + 1), *column = BG_NEW_ARRAY(int, n *n);
    linear->class->destroy(linear->self);
    linear->self = NULL;
    linear->class = &bg_linear_sparse;
    bg_status st = row_start && column ? BG_OK : BG_NO_MEMORY;
    for (int k = 0; k < n * n && st == BG_OK; k++)
        column[k] = k % n;
    for (int i = 0; i <= n && st == BG_OK; i++)
        row_start[i] = i * n;
    const bg_pattern full = {n, n, row_start, column};
    if (st == BG_OK)
        st = linear->class->create(n, &full, &linear->self);
    free(row_start);
    free(column);
    return st;
}

bg_status bg_linear_create(int n, const bg_pattern *pattern, bg_linear **linear, bg_error *err)
{
    assert(n >= 0 && linear);
    assert(!pattern || (pattern->rows == n && pattern->columns == n));
    *linear = NULL;
    bg_linear *made = BG_NEW(bg_linear);
    if (!made)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a linear system of size %d", n);
    made->n = n;
    if (pattern && n > 0)
        made->class = &bg_linear_sparse;
    else
        made->class = n > BG_SMALL_MAX ? &bg_linear_dense : &bg_linear_small;
    bg_status st = fill(made, pattern);
    if (st == BG_MISSING)
        st = do_without(made);
    if (st != BG_OK) {
        bg_linear_destroy(made);
        return bg_error_set(err, st, "no memory for a linear system of size %d", n);
    }
    *linear = made;
    return BG_OK;
}

void bg_linear_destroy(bg_linear *linear)
{
    if (!linear)
        return;
    linear->class->destroy(linear->self);
    bg_arena_clear(&linear->arena);
    free(linear);
}

double *bg_linear_get_values(bg_linear *linear)
{
    return linear->values;
}

bg_status bg_linear_factor(bg_linear *linear)
{
    bg_status status = linear->class->factor(linear->self, linear->values);
    linear->factored = status == BG_OK;
    return status;
}

void bg_linear_solve(bg_linear *linear, double *x)
{
    assert(linear->factored);
    linear->class->solve(linear->self, x);
}

/* |A|_1, the largest column sum. */
static double calc_norm(bg_linear *linear)
{
    int n = linear->n;
    double *sum = linear->x, norm = 0;
    for (int j = 0; j < n; j++)
        sum[j] = 0;
    for (int i = 0; i < n; i++) {
        int from = linear->column ? linear->row_start[i] : i * n;
        int to = linear->column ? linear->row_start[i + 1] : from + n;
        for (int k = from; k < to; k++)
            sum[linear->column ? linear->column[k] : k - from] += fabs(linear->values[k]);
    }
    for (int j = 0; j < n; j++)
        norm = fmax(norm, sum[j]);
    return norm;
}

double bg_linear_calc_rcond(bg_linear *linear)
{
    if (!linear->factored)
        return 0;
    if (linear->n == 0)
        return 1;
    double norm = calc_norm(linear);
    double rcond = 1 / norm /
                   bg_condition_estimate(linear->class, linear->self, linear->n, linear->x,
                                         linear->sign);
    return rcond >= 0 ? fmin(rcond, 1) : 0; /* not a number: 0 */
}

int bg_linear_get_sign(const bg_linear *linear)
{
    return linear->class->get_sign(linear->self);
}

bg_matrix_work bg_linear_get_work(const bg_linear *linear)
{
    double n = linear->n;
    bg_matrix_work work = {
        .unknowns = linear->n, .factorisation = (n * n * n - n) / 3, .solution = n * n};
    if (linear->class->get_work)
        linear->class->get_work(linear->self, &work);
    work.usual = work.factorisation;
    return work;
}

void bg_linear_reset(bg_linear *linear)
{
    linear->factored = false;
    if (linear->class->reset)
        linear->class->reset(linear->self);
}

void bg_linear_archive(bg_linear *linear, bg_archive *archive)
{
    int n = linear->n;
    bg_archive_mark(archive, "linear");
    bg_archive_ints(archive, &n, 1);
    if (n != linear->n)
        archive->failed = true;
    if (archive->failed)
        return;
    if (archive->loading)
        linear->factored = false;
    linear->class->archive(linear->self, archive);
}
