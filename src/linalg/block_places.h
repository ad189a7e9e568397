/* What the files of bg_blocks share: places of blocks among the values of a matrix, found once
 * (block_places.c). There are up to three sets of values: for a factorisation with exchanges
 * (bg_linear), and for one without (tree_lu.h) where the sum is symmetric or not. */
#ifndef BG_BLOCK_PLACES_H
#define BG_BLOCK_PLACES_H

#include "linalg/blocks.h"
#include "linalg/ordered_lu.h"
#include "linalg/tree_lu.h"

/* A block with its places. */
typedef struct bg_blocks_part {
    bg_block_kind kind;
    int rows, columns, top, left; /* of the values as they are stored; first row and column in A */
    int count;                    /* values */
    int *general;                 /* [count] place in bg_linear; NULL: by arithmetic */
    int *whole;                   /* [count] place in tree.whole */
    int *from, *half;             /* [nhalf] values that are needed of half of A; their places */
    int nhalf;
} bg_blocks_part;

/* One set of values. */
typedef struct bg_blocks_target {
    double *values;
    size_t count;
    unsigned given; /* blocks of the last assembly, as bits */
} bg_blocks_target;

enum { GENERAL, WHOLE, HALF, TARGETS }; /* sets of values */

struct bg_blocks {
    int n, ngroups, nblocks;
    int offset[BG_GROUPS_MAX + 1]; /* first unknowns of the groups */
    int sign[BG_GROUPS_MAX];
    bg_blocks_part part[BG_BLOCKS_MAX];
    bool summed; /* two blocks lie at the same place */
    bg_blocks_target target[TARGETS];
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
static inline void bg_blocks_locate(const bg_blocks_part *p, int i, int j, int *row, int *column)
{
    bool transposed = p->kind == BG_BLOCK_TRANSPOSED;
    *row = p->top + (transposed ? j : i);
    *column = p->left + (transposed ? i : j);
}

/* Finds the places and makes what factors the matrix; offsets and signs of groups are known. */
bg_status bg_blocks_lay_out(bg_blocks *blocks, const bg_blocks_def *def,
                            const bg_blocks_order *order, bg_error *err);

#endif
