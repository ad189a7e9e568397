/* Which motions of a constrained system are integrated, and how the others follow (002 section 2).
 *
 * With constraints G x = 0 there are n = nv - rank G independent motions. A frame splits every
 * vector x of velocities into a motion that the constraints allow and a correction,
 *
 *     x = P x + d,    G P x = 0,    d = W^-1 G^T mu,
 *
 * by one symmetric matrix, whatever is asked for:  [W G^T; G 0] (x, mu) = (W y, b)  has as its
 * solution  x = P y + d  with  G d = b. Two choices of W are
 *
 *     directions    W = diag(1 / size^2): corrections are perpendicular to the motions, in sizes.
 *                   A model that is turned has the same frame, turned.
 *     coordinates   W = 1 for independent coordinates, 0 for dependent ones: corrections change the
 *                   dependent ones alone, which is the partition (6) of 002. They are found by
 *                   choice.c.
 *
 * The same matrix gives multipliers: with (y, 0) on the right, mu is what balances y on the
 * corrections. */
#ifndef BG_FRAME_H
#define BG_FRAME_H

#include "base/arena.h"
#include "linalg/blocks.h"
#include "system/system.h"

typedef struct bg_motion_frame {
    const bg_system *system;
    int nv, ng;
    int n;               /* independent motions */
    bool coordinates;    /* else directions */
    int *independent;    /* [nv] the first n: coordinates whose P e_j are a basis of the motions */
    double *metric;      /* [nv] W */
    double *unit;        /* [nv] sizes of coordinates */
    double *table;       /* [ng nv], at least [ng]: scratch */
    unsigned char *used; /* [ng] its rows that are done */
    unsigned char *chosen;         /* [nv] scratch: coordinates that are independent */
    const unsigned char *left_out; /* [ng] rows that depend on others; owned by the caller */
    bg_blocks *matrix;             /* NULL without constraints */
    double rcond;                  /* of the matrix when coordinates were chosen */
    long choices;                  /* how often they were */
    bg_arena arena;
} bg_motion_frame;

/* Clear it also after a failure. */
bg_status bg_frame_create(bg_motion_frame *frame, const bg_system *system, bool coordinates,
                          bg_error *err);
void bg_frame_clear(bg_motion_frame *frame);
/* From now on these rows are left out [ng]. */
void bg_frame_set_left_out(bg_motion_frame *frame, const unsigned char *left_out);
/* Chooses coordinates for G and factors; BG_SINGULAR: more rows depend on others. */
bg_status bg_frame_choose(bg_motion_frame *frame, const double *G);
/* With the coordinates chosen before. */
bg_status bg_frame_factor(bg_motion_frame *frame, const double *G);
/* Estimate of the reciprocal condition of the matrix. */
double bg_frame_calc_rcond(const bg_motion_frame *frame);

/* x [nv] <- P x. */
void bg_frame_project(const bg_motion_frame *frame, double *x);
/* x [nv] <- the correction with G x = b [ng]; b is overwritten. */
void bg_frame_correct(const bg_motion_frame *frame, double *b, double *x);
/* mu [ng] <- multipliers for which y - G^T mu does no work on corrections; y [nv] is overwritten.
 */
void bg_frame_balance(const bg_motion_frame *frame, double *y, double *mu);

void bg_frame_archive(bg_motion_frame *frame, bg_archive *archive);

#endif
