/* Derivatives that a method keeps from step to step.
 *
 * Blocks of r, h, w and gamma by q, v and z, and M, each in the pattern of the system, with the
 * time and the coefficient of the step it was made at and the number of steps since: a method asks
 * for the ones it wants renewed, and forms its matrix of what is kept (001 (24): alpha M + B, with
 * B and M kept apart, so that a new step length takes no new derivatives). */
#ifndef BG_JACOBIAN_KEEPER_H
#define BG_JACOBIAN_KEEPER_H

#include "base/archive.h"
#include "system/system.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bg_kept_block {
    double *values; /* [size] as the system writes them; NULL: not kept */
    int size;
    bool made;
    double t;           /* s, where it was made */
    double coefficient; /* of the step it was made in, as the method counts it: h, alpha, ... */
    int age;            /* steps that became final since */
} bg_kept_block;

enum { BG_KEPT_BLOCKS = (int)BG_OF_COUNT * (int)BG_BY_COUNT + 1, BG_KEPT_M = BG_KEPT_BLOCKS - 1 };

/* One bit per block, for `blocks` below. */
#define BG_KEPT(of, by) (UINT64_C(1) << ((int)(of) * (int)BG_BY_COUNT + (int)(by)))
#define BG_KEPT_MASS (UINT64_C(1) << BG_KEPT_M)

typedef struct bg_jacobian {
    bg_evaluator *sys;
    bg_kept_block block[BG_KEPT_BLOCKS];
} bg_jacobian;

/* Room for `blocks`. Clear it also after a failure. */
bg_status bg_jacobian_create(bg_jacobian *jacobian, bg_evaluator *sys, uint64_t blocks,
                             bg_error *err);
void bg_jacobian_clear(bg_jacobian *jacobian);
bg_kept_block *bg_jacobian_get(bg_jacobian *jacobian, bg_of of, bg_by by);

/* Which of `blocks` are to be made before the next step, when they serve at most `most` steps and
 * those of this step belong to t. */
uint64_t bg_jacobian_find_due(const bg_jacobian *jacobian, uint64_t blocks, int most, double t);
/* Makes `blocks` at the point, with a and lambda for those of r. A failure leaves none of them
 * made.
 */
bg_status bg_jacobian_update(bg_jacobian *jacobian, uint64_t blocks, bool only_stiff,
                             const bg_point *point, const double *a, const double *lambda,
                             double coefficient, bg_error *err);
/* A step became final. */
void bg_jacobian_commit(bg_jacobian *jacobian);
/* `blocks` are no longer true. */
void bg_jacobian_forget(bg_jacobian *jacobian, uint64_t blocks);
void bg_jacobian_archive(bg_jacobian *jacobian, bg_archive *archive);

#endif
