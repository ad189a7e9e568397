/* The pattern of a sum of blocks, and where the values of each block lie in it. */
#include "linalg/block_places.h"

#include "base/memory.h"
#include "linalg/backend.h"
#include "math/arrays.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_MAX = 40, SHORT = 24 /* row */ };

static int get_begin(const bg_blocks_part *p, const bg_block *b, int i)
{
    return p->kind == BG_BLOCK_UNIT ? i : b->pattern ? b->pattern->row_start[i] : i * p->columns;
}

static int get_column(const bg_blocks_part *p, const bg_block *b, int i, int k)
{
    return p->kind == BG_BLOCK_UNIT ? i : b->pattern ? b->pattern->column[k] : k - i * p->columns;
}

static void place_part(bg_blocks *b, const bg_block *block, bg_blocks_part *p)
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

/* Rows of few blocks are mostly in order. */
static void sort_row(int *column, int n)
{
    bool ascending = true;
    for (int k = 1; k < n; k++)
        ascending = ascending && column[k - 1] <= column[k];
    if (!ascending && n > SHORT)
        qsort(column, (size_t)n, sizeof(int), bg_compare_ints);
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
        const bg_blocks_part *p = &b->part[k];
        for (int i = 0; i < p->rows; i++)
            for (int e = get_begin(p, &blocks[k], i); e < get_begin(p, &blocks[k], i + 1); e++) {
                int row, col;
                bg_blocks_locate(p, i, get_column(p, &blocks[k], i, e), &row, &col);
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
static bool map_general(bg_blocks *b, const bg_block *block, bg_blocks_part *p)
{
    if (!b->column && !block->pattern && p->kind != BG_BLOCK_UNIT)
        return true;
    p->general = BG_NEW_ARRAY(int, p->count);
    for (int i = 0; p->general && i < p->rows; i++)
        for (int k = get_begin(p, block, i); k < get_begin(p, block, i + 1); k++) {
            int row, column;
            bg_blocks_locate(p, i, get_column(p, block, i, k), &row, &column);
            p->general[k] = find_place(b, row, column);
        }
    return p->general != NULL;
}

static bool map_tree(bg_blocks *b, const bg_block *block, bg_blocks_part *p)
{
    p->whole = BG_NEW_ARRAY(int, 3 * (size_t)p->count); /* and the others */
    if (!p->whole)
        return false;
    p->from = p->whole + p->count;
    p->half = p->from + p->count;
    for (int i = 0; i < p->rows; i++)
        for (int k = get_begin(p, block, i); k < get_begin(p, block, i + 1); k++) {
            int row, column;
            bg_blocks_locate(p, i, get_column(p, block, i, k), &row, &column);
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
    b->target[WHOLE] = (bg_blocks_target){b->tree.whole, 2 * count, 0};
    b->target[HALF] = (bg_blocks_target){b->tree.half, count, 0};
    return done ? BG_OK : BG_NO_MEMORY;
}

bg_status bg_blocks_lay_out(bg_blocks *b, const bg_blocks_def *def, const bg_blocks_order *order,
                            bg_error *err)
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
    b->has_order = order && b->column &&
                   bg_ordered_lu_create(&b->in_order, b->n, b->row_start, b->column, order->order,
                                        order->wanted, order->most);
    if (order && b->column && !b->has_order && b->in_order.operations <= order->most)
        return BG_NO_MEMORY;
    b->zero = BG_NEW_ARRAY(int, b->target[GENERAL].count);
    return b->zero ? BG_OK : BG_NO_MEMORY;
}
