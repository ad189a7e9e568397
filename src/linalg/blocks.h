/* A square matrix summed from blocks at places, in one fixed pattern, factored and solved many
 * times.
 *
 * Unknowns come in groups (velocities, multipliers, states), and a block couples two of them:
 *
 *     A = sum_b  factor_b  E_row(b) B_b E_column(b)^T,
 *
 * where B_b is dense, in a pattern, the transpose of either, or the unit matrix. A caller names its
 * blocks by an enumeration. [M G^T; G 0] has blocks M at (v, v), G at (g, v) and G transposed at
 * (v, g) (kkt.c); I - h dh/dz a unit matrix and h_z with factor -h; Newton's matrix of a BDF
 * method M, r_v and r_q at (v, v) with factors 1, 1/alpha and 1/alpha^2. Only factors and values
 * change: nothing is allocated after create.
 *
 * The matrix goes to a small own LU, LAPACK, or an own sparse LU, all with exchanges of rows; where
 * groups say which sign their pivots have and it takes less work, to a factorisation without
 * exchanges (tree_lu.h) first, as long as that is safe; where an order is given, and the matrix is
 * sparse, first to one in that order (ordered_lu.h). */
#ifndef BG_BLOCKS_H
#define BG_BLOCKS_H

#include "linalg/linalg.h"

typedef struct bg_group {
    int size;
    /* 1 or -1: A is positive on this group, or what eliminating the positive groups leaves of it is
     * negative; 0: nothing is known */
    int sign;
} bg_group;

typedef enum bg_block_kind { BG_BLOCK_PLAIN, BG_BLOCK_TRANSPOSED, BG_BLOCK_UNIT } bg_block_kind;

typedef struct bg_block {
    int row, column; /* groups */
    bg_block_kind kind;
    const bg_pattern *pattern; /* of the values as they are stored; NULL: dense, row-major */
} bg_block;

typedef struct bg_blocks_def {
    const bg_group *groups;
    const bg_block *blocks;
    int ngroups, nblocks;
} bg_blocks_def;

enum { BG_GROUPS_MAX = 8, BG_BLOCKS_MAX = 24 };

/* What a block contributes: factor times its values. Factor 0 leaves it out. */
typedef struct bg_block_value {
    double factor;
    const double *values; /* NULL for a unit matrix, or what its diagonal is instead */
} bg_block_value;

typedef struct bg_blocks bg_blocks;

bg_status bg_blocks_create(const bg_blocks_def *def, bg_blocks **blocks, bg_error *err);
/* An order of elimination that is known to be good, of all unknowns of all groups, or is none where
 * a factorisation takes more than `most` multiplications with it. Solutions may be undefined but
 * for unknowns that are wanted (flags; NULL: all are). */
typedef struct bg_blocks_order {
    const int *order;
    const unsigned char *wanted;
    double most;
} bg_blocks_order;
bg_status bg_blocks_create_ordered(const bg_blocks_def *def, const bg_blocks_order *order,
                                   bg_blocks **blocks, bg_error *err);
void bg_blocks_destroy(bg_blocks *blocks);
/* Holds unknowns of a group (flags, copied; NULL: none): their rows and columns become those of the
 * unit matrix, and their solutions 0. The pattern stays. */
void bg_blocks_hold(bg_blocks *blocks, int group, const unsigned char *held);
/* Assembles and factors; value: one for each block. symmetric: the sum is, so that one half of it
 * need not be looked at. BG_SINGULAR, without text: numerically singular. */
bg_status bg_blocks_factor(bg_blocks *blocks, const bg_block_value *value, bool symmetric);
/* x <- A^-1 x, one array for each group; what is held counts as 0. */
void bg_blocks_solve(bg_blocks *blocks, double *const *x);
/* Estimate of 1 / (|A| |A^-1|) in the 1-norm of the last factorisation. */
double bg_blocks_calc_rcond(bg_blocks *blocks);
/* 1 or -1: the sign of the determinant of the last factorisation, held unknowns left out. */
int bg_blocks_get_sign(const bg_blocks *blocks);
/* Whether the last factorisation did without exchanges, along the tree or in the order given. */
bool bg_blocks_is_direct(const bg_blocks *blocks);
bg_matrix_work bg_blocks_get_work(const bg_blocks *blocks, bool symmetric);
/* As bg_linear_reset and bg_linear_archive. */
void bg_blocks_reset(bg_blocks *blocks);
void bg_blocks_archive(bg_blocks *blocks, bg_archive *archive);

#endif
