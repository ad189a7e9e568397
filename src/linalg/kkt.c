/* The saddle-point matrix [M A^T; B -epsilon I] of nv + ng unknowns as a matrix of blocks. */
#include "linalg/blocks.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

enum { V, G, GROUPS };
enum { MASS, UPPER, LOWER, REGULARISATION, BLOCKS };

struct bg_kkt {
    int ng, nheld; /* constraints, and how many of them are held */
    bool symmetric;
    double epsilon;
    const double *sizes; /* [ng] that it is multiplied with; NULL: ones */
    bg_blocks *blocks;
};

/* sign: 1 where M is positive, 0 where it is not known to be. */
static bg_status create(int nv, int ng, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                        int sign, bg_kkt **kkt, bg_error *err)
{
    assert(nv >= 0 && ng >= 0 && kkt);
    const bg_group groups[GROUPS] = {[V] = {nv, sign}, [G] = {ng, -sign}};
    const bg_block blocks[BLOCKS] = {
        [MASS] = {V, V, BG_BLOCK_PLAIN, pattern_M},
        [UPPER] = {V, G, BG_BLOCK_TRANSPOSED, pattern_G},
        [LOWER] = {G, V, BG_BLOCK_PLAIN, pattern_G},
        [REGULARISATION] = {G, G, BG_BLOCK_UNIT, NULL},
    };
    const bg_blocks_def def = {groups, blocks, GROUPS, BLOCKS};
    *kkt = NULL;
    bg_kkt *made = BG_NEW(bg_kkt);
    if (!made)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a saddle-point matrix");
    made->ng = ng;
    made->symmetric = true;
    bg_status status = bg_blocks_create(&def, &made->blocks, err);
    if (status != BG_OK) {
        bg_kkt_destroy(made);
        return status;
    }
    *kkt = made;
    return BG_OK;
}

bg_status bg_kkt_create(int nv, int ng, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                        bg_kkt **kkt, bg_error *err)
{
    return create(nv, ng, pattern_M, pattern_G, 1, kkt, err);
}

bg_status bg_kkt_create_semidefinite(int nv, int ng, const bg_pattern *pattern_M,
                                     const bg_pattern *pattern_G, bg_kkt **kkt, bg_error *err)
{
    return create(nv, ng, pattern_M, pattern_G, 0, kkt, err);
}

void bg_kkt_destroy(bg_kkt *kkt)
{
    if (!kkt)
        return;
    bg_blocks_destroy(kkt->blocks);
    free(kkt);
}

void bg_kkt_set_eliminated(bg_kkt *kkt, const unsigned char *eliminated)
{
    kkt->nheld = 0;
    for (int i = 0; i < kkt->ng && eliminated; i++)
        kkt->nheld += eliminated[i] != 0;
    bg_blocks_hold(kkt->blocks, G, eliminated);
}

void bg_kkt_set_fixed(bg_kkt *kkt, const unsigned char *fixed)
{
    bg_blocks_hold(kkt->blocks, V, fixed);
}

void bg_kkt_set_regularisation(bg_kkt *kkt, double epsilon)
{
    kkt->epsilon = epsilon;
}

void bg_kkt_set_regularisation_sizes(bg_kkt *kkt, const double *sizes)
{
    kkt->sizes = sizes;
}

void bg_kkt_set_unsymmetric(bg_kkt *kkt)
{
    kkt->symmetric = false;
}

bg_status bg_kkt_factor(bg_kkt *kkt, const double *M, const double *G_upper, const double *G_lower)
{
    const bg_block_value values[BLOCKS] = {
        [MASS] = {1, M},
        [UPPER] = {1, G_upper},
        [LOWER] = {1, G_lower},
        [REGULARISATION] = {-kkt->epsilon, kkt->sizes},
    };
    return bg_blocks_factor(kkt->blocks, values, kkt->symmetric && G_upper == G_lower);
}

void bg_kkt_solve(bg_kkt *kkt, double *x, double *y)
{
    double *const groups[GROUPS] = {[V] = x, [G] = y};
    bg_blocks_solve(kkt->blocks, groups);
}

double bg_kkt_calc_rcond(bg_kkt *kkt)
{
    return bg_blocks_calc_rcond(kkt->blocks);
}

bool bg_kkt_is_inverted(const bg_kkt *kkt)
{
    int sign = (kkt->ng - kkt->nheld) % 2 ? -1 : 1;
    return !bg_blocks_is_direct(kkt->blocks) && bg_blocks_get_sign(kkt->blocks) != sign;
}

bg_matrix_work bg_kkt_get_work(const bg_kkt *kkt)
{
    return bg_blocks_get_work(kkt->blocks, kkt->symmetric);
}

void bg_kkt_reset(bg_kkt *kkt)
{
    bg_blocks_reset(kkt->blocks);
}

void bg_kkt_archive(bg_kkt *kkt, bg_archive *archive)
{
    bg_blocks_archive(kkt->blocks, archive);
}
