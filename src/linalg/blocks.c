/* Blocks have fixed places among the values of a matrix (block_places.h). Places outside of blocks
 * are zero from the start; where several blocks meet, or one that was there is left out, all values
 * are cleared before assembly.
 *
 * A factorisation without exchanges that was not safe is not tried again the next time, and after
 * repeated failures for longer and longer: matrices that are never fit for it, such as those with
 * a semidefinite M, are hardly slower than without it. */
#include "linalg/block_places.h"

#include "base/archive.h"
#include "base/memory.h"
#include "linalg/backend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PAUSE = 1024 };

bg_status bg_blocks_create_ordered(const bg_blocks_def *def, const bg_blocks_order *order,
                                   bg_blocks **blocks, bg_error *err)
{
    assert(def->ngroups <= BG_GROUPS_MAX && def->nblocks <= BG_BLOCKS_MAX);
    *blocks = NULL;
    bg_blocks *b = BG_NEW(bg_blocks);
    if (!b)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a matrix");
    b->ngroups = def->ngroups;
    b->nblocks = def->nblocks;
    for (int g = 0; g < def->ngroups; g++) {
        assert(def->groups[g].size >= 0);
        b->sign[g] = def->groups[g].sign;
        b->n = b->offset[g + 1] = b->offset[g] + def->groups[g].size;
    }
    if (bg_blocks_lay_out(b, def, order, err) != BG_OK) {
        int n = b->n;
        bg_blocks_destroy(b);
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a matrix of %d unknowns", n);
    }
    *blocks = b;
    return BG_OK;
}

bg_status bg_blocks_create(const bg_blocks_def *def, bg_blocks **blocks, bg_error *err)
{
    return bg_blocks_create_ordered(def, NULL, blocks, err);
}

void bg_blocks_destroy(bg_blocks *b)
{
    if (!b)
        return;
    for (int k = 0; k < b->nblocks; k++) {
        free(b->part[k].general);
        free(b->part[k].whole);
    }
    bg_linear_destroy(b->linear);
    bg_tree_lu_clear(&b->tree);
    bg_ordered_lu_clear(&b->in_order);
    void *const owned[] = {b->row_start, b->column, b->held, b->held_index, b->zero, b->x, b};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* Finds the places that held unknowns clear or set, and clears all values: assembly does not reach
 * those that an earlier choice has set. */
void bg_blocks_hold(bg_blocks *b, int group, const unsigned char *held)
{
    int n = b->n, none = 0;
    bool changes = false;
    double *values = b->target[GENERAL].values;
    for (int i = b->offset[group]; i < b->offset[group + 1]; i++) {
        unsigned char now = held && held[i - b->offset[group]];
        changes = changes || b->held[i] != now;
        b->held[i] = now;
    }
    if (!changes)
        return;
    b->nheld = b->nzero = 0;
    for (int i = 0; i < n; i++)
        if (b->held[i])
            b->held_index[b->nheld++] = i;
    for (int i = 0; i < n; i++) {
        int from = b->column ? b->row_start[i] : i * n;
        int to = b->column ? b->row_start[i + 1] : from + n;
        for (int k = from; k < to; k++) {
            int j = b->column ? b->column[k] : k - from;
            values[k] = 0;
            if (i == j && b->held[i])
                b->one[none++] = k;
            else if (b->held[i] || b->held[j])
                b->zero[b->nzero++] = k;
        }
    }
    if (b->has_tree)
        bg_tree_lu_hold(&b->tree, b->held);
}

/* Values of a dense block to a dense matrix. */
static void put_dense(const bg_blocks *b, const bg_blocks_part *p, const bg_block_value *value)
{
    int n = b->n, rows = p->rows, columns = p->columns;
    double *restrict to = b->target[GENERAL].values + p->top * n + p->left;
    const double *restrict from = value->values, factor = value->factor;
    if (p->kind == BG_BLOCK_TRANSPOSED)
        for (int j = 0; j < columns; j++, to += n)
            for (int i = 0; i < rows; i++)
                to[i] = factor * from[i * columns + j];
    else
        for (int i = 0; i < rows; i++, to += n, from += columns)
            for (int j = 0; j < columns; j++)
                to[j] = factor * from[j];
}

/* The same where blocks meet. */
static void add_dense(const bg_blocks *b, const bg_blocks_part *p, const bg_block_value *value)
{
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < p->columns; j++) {
            int row, column;
            bg_blocks_locate(p, i, j, &row, &column);
            b->target[GENERAL].values[row * b->n + column] += value->factor *
                                                              value->values[i * p->columns + j];
        }
}

/* to[place[k]] <- factor values[from[k]], or added to it. from NULL: k; values NULL: ones. */
static void put_mapped(double *restrict to, const int *restrict place, const int *restrict from,
                       int count, const bg_block_value *value, bool add)
{
    const double *restrict values = value->values, factor = value->factor;
    for (int k = 0; k < count; k++) {
        double x = values ? factor * values[from ? from[k] : k] : factor;
        to[place[k]] = x + (add ? to[place[k]] : 0);
    }
}

/* The same for the most frequent case: values as they are, two at a time. */
static inline void copy_mapped(double *restrict to, const int *restrict place,
                               const int *restrict from, int count, const double *restrict values)
{
    int k = 0;
    for (; k + 1 < count && from; k += 2) {
        to[place[k]] = values[from[k]];
        to[place[k + 1]] = values[from[k + 1]];
    }
    for (; k + 1 < count; k += 2) {
        to[place[k]] = values[k];
        to[place[k + 1]] = values[k + 1];
    }
    if (k < count)
        to[place[k]] = values[from ? from[k] : k];
}

static void put_part(const bg_blocks *b, int which, const bg_blocks_part *p,
                     const bg_block_value *value)
{
    double *to = b->target[which].values;
    const int *place = which == HALF ? p->half : which == WHOLE ? p->whole : p->general;
    const int *from = which == HALF ? p->from : NULL;
    int count = which == HALF ? p->nhalf : p->count;
    if (which == GENERAL && !place && b->summed)
        add_dense(b, p, value);
    else if (which == GENERAL && !place)
        put_dense(b, p, value);
    else if (!b->summed && value->factor == 1 && value->values)
        copy_mapped(to, place, from, count, value->values);
    else
        put_mapped(to, place, from, count, value, b->summed);
}

static void assemble(bg_blocks *b, int which, const bg_block_value *value)
{
    bg_blocks_target *t = &b->target[which];
    unsigned given = 0;
    for (int k = 0; k < b->nblocks; k++)
        given |= (unsigned)(value[k].factor != 0) << k;
    if (b->summed || (t->given & ~given))
        memset(t->values, 0, t->count * sizeof(double));
    t->given = given;
    for (int k = 0; k < b->nblocks; k++)
        if (given >> k & 1)
            put_part(b, which, &b->part[k], &value[k]);
}

/* Without exchanges; false: not safe now. */
static bool factor_direct(bg_blocks *b, const bg_block_value *value, bool symmetric)
{
    if (b->wait > 0) {
        b->wait--;
        return false;
    }
    assemble(b, symmetric ? HALF : WHOLE, value);
    bool safe = bg_tree_lu_factor(&b->tree, symmetric);
    b->pause = safe ? 0 : b->pause == 0 ? 1 : 2 * b->pause;
    b->pause = b->pause < LONGEST_PAUSE ? b->pause : LONGEST_PAUSE;
    b->wait = b->pause;
    return safe;
}

bg_status bg_blocks_factor(bg_blocks *b, const bg_block_value *value, bool symmetric)
{
    b->ordered = false;
    b->direct = (symmetric ? b->has_tree : b->for_any) && factor_direct(b, value, symmetric);
    if (b->direct)
        return BG_OK;
    assemble(b, GENERAL, value);
    double *values = b->target[GENERAL].values;
    for (int k = 0; k < b->nzero; k++)
        values[b->zero[k]] = 0;
    for (int k = 0; k < b->nheld; k++)
        values[b->one[k]] = 1;
    b->ordered = b->has_order && bg_ordered_lu_factor(&b->in_order, values);
    return b->ordered ? BG_OK : bg_linear_factor(b->linear);
}

/* Without exchanges, in the order of the rows of the factors. */
static void solve_direct(bg_blocks *b, double *const *x)
{
    const int *place = b->tree.place;
    double *restrict y = b->x;
    for (int g = 0; g < b->ngroups; g++, place += b->offset[g] - b->offset[g - 1])
        for (int i = 0, size = b->offset[g + 1] - b->offset[g]; i < size; i++)
            y[place[i]] = x[g][i];
    place = b->tree.place;
    for (int k = 0; k < b->nheld; k++)
        y[place[b->held_index[k]]] = 0;
    bg_tree_lu_solve(&b->tree, y);
    for (int g = 0; g < b->ngroups; g++, place += b->offset[g] - b->offset[g - 1])
        for (int i = 0, size = b->offset[g + 1] - b->offset[g]; i < size; i++)
            x[g][i] = y[place[i]];
}

void bg_blocks_solve(bg_blocks *b, double *const *x)
{
    if (b->direct) {
        solve_direct(b, x);
        return;
    }
    double *restrict y = b->x;
    for (int g = 0; g < b->ngroups; y += b->offset[g + 1] - b->offset[g], g++)
        for (int i = 0, size = b->offset[g + 1] - b->offset[g]; i < size; i++)
            y[i] = x[g][i];
    y = b->x;
    for (int k = 0; k < b->nheld; k++)
        y[b->held_index[k]] = 0;
    if (b->ordered)
        bg_ordered_lu_solve(&b->in_order, y);
    else
        bg_linear_solve(b->linear, y);
    for (int g = 0; g < b->ngroups; y += b->offset[g + 1] - b->offset[g], g++)
        for (int i = 0, size = b->offset[g + 1] - b->offset[g]; i < size; i++)
            x[g][i] = y[i];
}

static void solve_tree(void *tree, double *x)
{
    bg_tree_lu_solve(tree, x);
}

static void solve_tree_transposed(void *tree, double *x)
{
    bg_tree_lu_solve_transposed(tree, x);
}

static void solve_ordered(void *lu, double *x)
{
    bg_ordered_lu_solve_whole(lu, x);
}

static void solve_ordered_transposed(void *lu, double *x)
{
    bg_ordered_lu_solve_transposed(lu, x);
}

/* The same of the factors in the order given. */
static double calc_rcond_ordered(bg_blocks *b)
{
    static const bg_linear_class class = {.solve = solve_ordered,
                                          .solve_transposed = solve_ordered_transposed};
    double *sum = b->x, norm = 0;
    memset(sum, 0, (size_t)b->n * sizeof(double));
    for (int k = 0; k < b->row_start[b->n]; k++)
        sum[b->column[k]] += fabs(b->target[GENERAL].values[k]);
    for (int j = 0; j < b->n; j++)
        norm = fmax(norm, sum[j]);
    double rcond = 1 / norm / bg_condition_estimate(&class, &b->in_order, b->n, b->x, b->signs);
    return rcond >= 0 ? fmin(rcond, 1) : 0; /* not a number: 0 */
}

double bg_blocks_calc_rcond(bg_blocks *b)
{
    if (b->ordered)
        return calc_rcond_ordered(b);
    if (!b->direct)
        return bg_linear_calc_rcond(b->linear);
    static const bg_linear_class tree = {.solve = solve_tree,
                                         .solve_transposed = solve_tree_transposed};
    double norm = bg_tree_lu_calc_norm(&b->tree, b->x);
    double rcond = 1 / norm / bg_condition_estimate(&tree, &b->tree, b->n, b->x, b->signs);
    return rcond >= 0 ? fmin(rcond, 1) : 0; /* not a number: 0 */
}

int bg_blocks_get_sign(const bg_blocks *b)
{
    if (b->ordered)
        return bg_ordered_lu_get_sign(&b->in_order);
    if (!b->direct)
        return bg_linear_get_sign(b->linear);
    int negative = 0;
    for (int g = 0; g < b->ngroups; g++)
        negative += b->sign[g] < 0 ? b->offset[g + 1] - b->offset[g] : 0;
    for (int k = 0; k < b->nheld; k++)
        for (int g = 0; g < b->ngroups; g++)
            negative -= b->sign[g] < 0 && b->held_index[k] >= b->offset[g] &&
                        b->held_index[k] < b->offset[g + 1];
    return negative % 2 ? -1 : 1;
}

bool bg_blocks_is_direct(const bg_blocks *b)
{
    return b->direct || b->ordered;
}

bg_matrix_work bg_blocks_get_work(const bg_blocks *b, bool symmetric)
{
    bg_matrix_work work = bg_linear_get_work(b->linear);
    if (symmetric ? b->has_tree : b->for_any) {
        work.usual = b->pause > 1 ? work.factorisation : b->tree.operations;
        work.factorisation += b->tree.operations; /* where it is not safe, both are made */
        if (work.solution < 2.0 * b->tree.count)
            work.solution = 2.0 * b->tree.count;
    }
    if (b->has_order) { /* with the solution that proves it */
        work.usual = b->in_order.operations + b->in_order.start_L[b->n] +
                     b->in_order.start_U[b->n] + 2.0 * b->row_start[b->n];
        work.factorisation += work.usual;
    }
    return work;
}

void bg_blocks_reset(bg_blocks *b)
{
    b->wait = b->pause = 0;
    b->direct = b->ordered = false;
    bg_linear_reset(b->linear);
}

void bg_blocks_archive(bg_blocks *b, bg_archive *archive)
{
    bg_archive_mark(archive, "blocks");
    bg_archive_whole(archive, &b->wait, 1, 0, LONGEST_PAUSE);
    bg_archive_whole(archive, &b->pause, 1, 0, LONGEST_PAUSE);
    if (archive->loading)
        b->direct = b->ordered = false;
    bg_linear_archive(b->linear, archive);
}
