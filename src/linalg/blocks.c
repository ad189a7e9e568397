/* Blocks have fixed places among the values of a matrix, found once. There are up to three sets of
 * values: for a factorisation with exchanges (bg_linear), and for one without (tree_lu.h) where the
 * sum is symmetric or not. Places outside of blocks are zero from the start; where several blocks
 * meet, or one that was there is left out, all values are cleared before assembly.
 *
 * A factorisation without exchanges that was not safe is not tried again the next time, and after
 * repeated failures for longer and longer: matrices that are never fit for it, such as those with
 * a semidefinite M, are hardly slower than without it. */
#include "linalg/blocks.h"

#include "base/archive.h"
#include "base/memory.h"
#include "linalg/backend.h"
#include "linalg/ordered_lu.h"
#include "linalg/tree_lu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_MAX = 40, LONGEST_PAUSE = 1024, SHORT = 24 /* row */ };

/* A block with its places. */
typedef struct part {
    bg_block_kind kind;
    int rows, columns, top, left; /* of the values as they are stored; first row and column in A */
    int count;                    /* values */
    int *general;                 /* [count] place in bg_linear; NULL: by arithmetic */
    int *whole;                   /* [count] place in tree.whole */
    int *from, *half;             /* [nhalf] values that are needed of half of A; their places */
    int nhalf;
} part;

/* One set of values. */
typedef struct target {
    double *values;
    size_t count;
    unsigned given; /* blocks of the last assembly, as bits */
} target;

enum { GENERAL, WHOLE, HALF, TARGETS };

struct bg_blocks {
    int n, ngroups, nblocks;
    int offset[BG_GROUPS_MAX + 1]; /* first unknowns of the groups */
    int sign[BG_GROUPS_MAX];
    part part[BG_BLOCKS_MAX];
    bool summed; /* two blocks lie at the same place */
    target target[TARGETS];
    bg_linear *linear;
    int *row_start, *column; /* pattern of linear; NULL when it is dense */
    bool has_tree, for_any;  /* tree is there; and worth its while where A is not symmetric */
    bool direct;             /* the last factorisation is its own */
    bg_tree_lu tree;
    bool has_order, ordered; /* `in_order` is there; the last factorisation is its own */
    bg_ordered_lu in_order;
    int wait, pause;  /* factorisations until it is tried again, and were after the last failure */
    bool *held;       /* [n] */
    int *held_index;  /* [nheld] */
    int *zero, *one;  /* places of linear that held unknowns clear, [nheld] and set */
    int nheld, nzero; /* how many */
    double *x;        /* [n] right-hand side and solution */
    int *signs;       /* [n] scratch of the condition estimate */
};

/* Row and column in A of value k, which is in row i and column j as stored. */
static void locate(const part *p, int i, int j, int *row, int *column)
{
    bool transposed = p->kind == BG_BLOCK_TRANSPOSED;
    *row = p->top + (transposed ? j : i);
    *column = p->left + (transposed ? i : j);
}

static int get_begin(const part *p, const bg_block *b, int i)
{
    return p->kind == BG_BLOCK_UNIT ? i : b->pattern ? b->pattern->row_start[i] : i * p->columns;
}

static int get_column(const part *p, const bg_block *b, int i, int k)
{
    return p->kind == BG_BLOCK_UNIT ? i : b->pattern ? b->pattern->column[k] : k - i * p->columns;
}

static void place_part(bg_blocks *b, const bg_block *block, part *p)
{
    int rows = b->offset[block->row + 1] - b->offset[block->row];
    int columns = b->offset[block->column + 1] - b->offset[block->column];
    bool transposed = block->kind == BG_BLOCK_TRANSPOSED;
    assert(block->kind != BG_BLOCK_UNIT || rows == columns);
    p->kind = block->kind;
    p->rows = transposed ? columns : rows;
    p->columns = transposed ? rows : columns;
    p->top = b->offset[block->row];
    p->left = b->offset[block->column];
    p->count = get_begin(p, block, p->rows);
    assert(!block->pattern ||
           (block->pattern->rows == p->rows && block->pattern->columns == p->columns));
}

typedef struct pattern {
    int *start, *column;
} pattern;

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Rows of few blocks are mostly in order. */
static void sort_row(int *column, int n)
{
    bool ascending = true;
    for (int k = 1; k < n; k++)
        ascending = ascending && column[k - 1] <= column[k];
    if (!ascending && n > SHORT)
        qsort(column, (size_t)n, sizeof(int), compare);
    for (int k = 1; !ascending && n <= SHORT && k < n; k++) { /* insertion */
        int c = column[k], at = k;
        for (; at > 0 && column[at - 1] > c; at--)
            column[at] = column[at - 1];
        column[at] = c;
    }
}

/* Counts the entries of rows (column NULL), or lists them; with mirror images where asked. */
static void list_entries(const bg_blocks *b, const bg_block *blocks, bool mirrored, int *next,
                         int *column)
{
    for (int i = 0; i < b->n; i++) {
        if (column)
            column[next[i]] = i;
        next[i]++;
    }
    for (int k = 0; k < b->nblocks; k++) {
        const part *p = &b->part[k];
        for (int i = 0; i < p->rows; i++)
            for (int e = get_begin(p, &blocks[k], i); e < get_begin(p, &blocks[k], i + 1); e++) {
                int row, col;
                locate(p, i, get_column(p, &blocks[k], i, e), &row, &col);
                if (column)
                    column[next[row]] = col;
                next[row]++;
                if (mirrored && column)
                    column[next[col]] = row;
                next[col] += mirrored;
            }
    }
}

/* The pattern of the sum with a full diagonal, ascending in each row; false: no memory. */
static bool make_pattern(const bg_blocks *b, const bg_block *blocks, bool mirrored, pattern *out)
{
    int n = b->n, *next = BG_NEW_ARRAY(int, n), total = 0;
    out->start = BG_NEW_ARRAY(int, n + 1);
    out->column = NULL;
    if (next && out->start) {
        list_entries(b, blocks, mirrored, next, NULL);
        for (int i = 0; i < n; i++) {
            int count = next[i];
            out->start[i] = next[i] = total;
            total += count;
        }
        out->start[n] = total;
        out->column = BG_NEW_ARRAY(int, total);
    }
    if (out->column) {
        list_entries(b, blocks, mirrored, next, out->column);
        total = 0;
        for (int i = 0, from = 0; i < n; i++) {
            int to = out->start[i + 1];
            sort_row(out->column + from, to - from);
            out->start[i] = total;
            for (int k = from; k < to; k++)
                if (k == from || out->column[k] != out->column[total - 1])
                    out->column[total++] = out->column[k];
            from = to;
        }
        out->start[n] = total;
    }
    free(next);
    return out->column != NULL;
}

static void clear_pattern(pattern *p)
{
    free(p->start);
    free(p->column);
}

/* The place of (row, column) among the values of linear. */
static int find_place(const bg_blocks *b, int row, int column)
{
    if (!b->column)
        return row * b->n + column;
    int low = b->row_start[row], high = b->row_start[row + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (b->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Dense blocks of a dense matrix need no map. */
static bool map_general(bg_blocks *b, const bg_block *block, part *p)
{
    if (!b->column && !block->pattern && p->kind != BG_BLOCK_UNIT)
        return true;
    p->general = BG_NEW_ARRAY(int, p->count);
    for (int i = 0; p->general && i < p->rows; i++)
        for (int k = get_begin(p, block, i); k < get_begin(p, block, i + 1); k++) {
            int row, column;
            locate(p, i, get_column(p, block, i, k), &row, &column);
            p->general[k] = find_place(b, row, column);
        }
    return p->general != NULL;
}

static bool map_tree(bg_blocks *b, const bg_block *block, part *p)
{
    p->whole = BG_NEW_ARRAY(int, 3 * (size_t)p->count); /* and the others */
    if (!p->whole)
        return false;
    p->from = p->whole + p->count;
    p->half = p->from + p->count;
    for (int i = 0; i < p->rows; i++)
        for (int k = get_begin(p, block, i); k < get_begin(p, block, i + 1); k++) {
            int row, column;
            locate(p, i, get_column(p, block, i, k), &row, &column);
            p->whole[k] = bg_tree_lu_find(&b->tree, row, column);
            if (p->whole[k] % 2 == 0) {
                p->from[p->nhalf] = k;
                p->half[p->nhalf++] = p->whole[k] / 2;
            }
        }
    return true;
}

/* bg_linear, sparse where a block has a pattern and the sum is large and not half full. */
static bg_status make_general(bg_blocks *b, const bg_block *blocks, bg_error *err)
{
    bool sparse = false;
    pattern p = {NULL, NULL};
    for (int k = 0; k < b->nblocks; k++)
        sparse = sparse || (blocks[k].pattern && b->n > DENSE_MAX);
    if (sparse && !make_pattern(b, blocks, false, &p)) {
        clear_pattern(&p);
        return BG_NO_MEMORY;
    }
    if (sparse && 2.0 * p.start[b->n] <= (double)b->n * b->n) {
        b->row_start = p.start;
        b->column = p.column;
    } else {
        clear_pattern(&p);
    }
    bg_pattern whole = {b->n, b->n, b->row_start, b->column};
    bg_status st = bg_linear_create(b->n, b->column ? &whole : NULL, &b->linear, err);
    if (st != BG_OK)
        return st;
    b->target[GENERAL].values = bg_linear_get_values(b->linear);
    b->target[GENERAL].count = b->column ? (size_t)b->row_start[b->n] : (size_t)b->n * (size_t)b->n;
    for (int k = 0; k < b->nblocks; k++)
        if (!map_general(b, &blocks[k], &b->part[k]))
            return BG_NO_MEMORY;
    return BG_OK;
}

/* Operations up to which the tree is worth its while: they are much cheaper than those of the
 * sparse LU, which has to prove its pivots and to refine solutions besides, as dear as those of the
 * small one, and dearer than those of LAPACK's blocks. A symmetric matrix needs half of them. */
static double calc_most(const bg_blocks *b, bool symmetric)
{
    double share = b->column ? 2 : b->n <= BG_SMALL_MAX ? 1.1 : 0.3;
    return (symmetric ? 2 : 1) * share * bg_linear_get_work(b->linear).factorisation;
}

static bg_status make_tree(bg_blocks *b, const bg_block *blocks)
{
    signed char *sign = BG_NEW_ARRAY(signed char, b->n);
    pattern p = {NULL, NULL};
    bool done = sign && make_pattern(b, blocks, true, &p);
    for (int g = 0; g < b->ngroups && done; g++)
        for (int i = b->offset[g]; i < b->offset[g + 1]; i++)
            sign[i] = (signed char)b->sign[g];
    done = done && bg_tree_lu_create(&b->tree, b->n, p.start, p.column, sign, calc_most(b, true));
    free(sign);
    clear_pattern(&p);
    b->has_tree = done && b->tree.count > 0;
    b->for_any = b->has_tree && b->tree.operations <= calc_most(b, false);
    for (int k = 0; k < b->nblocks && b->has_tree && done; k++)
        done = map_tree(b, &blocks[k], &b->part[k]);
    size_t count = (size_t)b->tree.count;
    b->target[WHOLE] = (target){b->tree.whole, 2 * count, 0};
    b->target[HALF] = (target){b->tree.half, count, 0};
    return done ? BG_OK : BG_NO_MEMORY;
}

static bg_status fill(bg_blocks *b, const bg_blocks_def *def, const int *order,
                      const unsigned char *wanted, bg_error *err)
{
    bool known = b->n > 0;
    for (int k = 0; k < b->nblocks; k++) {
        place_part(b, &def->blocks[k], &b->part[k]);
        for (int j = 0; j < k; j++)
            b->summed = b->summed || (def->blocks[j].row == def->blocks[k].row &&
                                      def->blocks[j].column == def->blocks[k].column);
    }
    for (int g = 0; g < b->ngroups; g++)
        known = known && (b->sign[g] != 0 || def->groups[g].size == 0);
    bool full = b->n > BG_SMALL_MAX; /* and then LAPACK's */
    for (int k = 0; k < b->nblocks; k++)
        full = full && !def->blocks[k].pattern;
    b->held = BG_NEW_ARRAY(bool, b->n);
    b->held_index = BG_NEW_ARRAY(int, 3 * (size_t)b->n); /* and the other two */
    b->x = BG_NEW_ARRAY(double, b->n);
    if (!b->held || !b->held_index || !b->x)
        return BG_NO_MEMORY;
    b->one = b->held_index + b->n;
    b->signs = b->one + b->n;
    bg_status st = make_general(b, def->blocks, err);
    if (st == BG_OK && known && !full)
        st = make_tree(b, def->blocks);
    if (st != BG_OK)
        return st;
    b->has_order = order && b->column;
    if (b->has_order &&
        !bg_ordered_lu_create(&b->in_order, b->n, b->row_start, b->column, order, wanted))
        return BG_NO_MEMORY;
    b->zero = BG_NEW_ARRAY(int, b->target[GENERAL].count);
    return b->zero ? BG_OK : BG_NO_MEMORY;
}

bg_status bg_blocks_create_ordered(const bg_blocks_def *def, const int *order,
                                   const unsigned char *wanted, bg_blocks **blocks, bg_error *err)
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
    if (fill(b, def, order, wanted, err) != BG_OK) {
        int n = b->n;
        bg_blocks_destroy(b);
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a matrix of %d unknowns", n);
    }
    *blocks = b;
    return BG_OK;
}

bg_status bg_blocks_create(const bg_blocks_def *def, bg_blocks **blocks, bg_error *err)
{
    return bg_blocks_create_ordered(def, NULL, NULL, blocks, err);
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
static void put_dense(const bg_blocks *b, const part *p, const bg_block_value *value)
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
static void add_dense(const bg_blocks *b, const part *p, const bg_block_value *value)
{
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < p->columns; j++) {
            int row, column;
            locate(p, i, j, &row, &column);
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

static void put_part(const bg_blocks *b, int which, const part *p, const bg_block_value *value)
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
    target *t = &b->target[which];
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
