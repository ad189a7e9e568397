/* What the files of euler and linear-euler share. */
#ifndef BG_EULER_H
#define BG_EULER_H

#include "integrators/drift.h"
#include "integrators/integrator.h"
#include "integrators/jacobian.h"
#include "linalg/blocks.h"

enum {
    BG_JACOBIAN_NONE,
    BG_JACOBIAN_EXACT,
    BG_JACOBIAN_1,
    BG_JACOBIAN_2,
    BG_JACOBIAN_3,
    BG_JACOBIAN_SEMI
};
enum { BG_INDEX_1, BG_INDEX_2, BG_INDEX_GGL };
enum {
    BG_STABILISE_NONE,
    BG_STABILISE_BAUMGARTE,
    BG_STABILISE_VELOCITY,
    BG_STABILISE_PROJECT,
    BG_STABILISE_REGULARISE
};
enum { BG_PARTITION_ALL, BG_PARTITION_STIFF, BG_PARTITION_AUTO };
enum { BG_LEFT_OUT, BG_KEPT, BG_KEPT_EMPTY }; /* of an entry; empty: zero where the run starts */

typedef struct bg_euler {
    int jacobian, index, stabilisation, partition, newton_steps, refresh, ng;
    double alpha, beta, epsilon;
    bg_terms terms; /* those of the dynamics, with an M of its own */
    double *M;
    bg_kkt *hat;               /* the step's matrix; NULL: explicit formalism */
    bg_kkt *plain;             /* [M G^T; G 0] for projections */
    bool plain_ready;          /* it is that of the end of a step, ... */
    double plain_t;            /* ... at this time */
    bool uncounted;            /* making it again after a checkpoint is not counted */
    bg_blocks *states;         /* I - h h_z; NULL: explicit */
    int *place_of_M;           /* where values of M lie in the pattern of r */
    bg_jacobian kept_jacobian; /* the derivatives below, from step to step */
    uint64_t blocks;           /* which they are */
    double *r_q, *r_v;         /* in the pattern of r */
    double *hat_M;             /* the same */
    unsigned char *kept;       /* entries of r_q, r_v the partition keeps */
    int nkept, nentries;       /* how many, of how many; of auto: that are not zero */
    bool partitioned;
    double *h_q, *h_v, *h_z; /* in their patterns */
    double *moved;           /* [nz] by velocities */
    double *G0, *gt;         /* at the beginning of the step */
    double *G1;              /* [size of G] at q of the beginning with the inputs of the end */
    double *rhs, *along, *shifted, *dz, power;
    double *masses;    /* [nv] of blocks of coordinates */
    double *row_sizes; /* [ng] of G M^{-1} G^T, for regularise */
    double *sums;      /* [3 nv] scratch of the choice of a partition, and */
    int *stamps;       /* [nv] */
    double *again;     /* [nv + ng] right sides, for a repeated solution; NULL: f does not depend on
                          lambda */
    bg_drift_work drift;
    bg_arena arena; /* all arrays but those of kept_jacobian */
} bg_euler;

/* q moves with u1; J is used as a matrix; q is projected; q1 is known before u1; u1 is projected at
 * the end. */
bool bg_euler_is_late(const bg_euler *m);
bool bg_euler_uses_matrix(const bg_euler *m);
bool bg_euler_projects(const bg_euler *m);
bool bg_euler_position_first(const bg_euler *m);
bool bg_euler_settles_velocity(const bg_euler *m);

/* f and h of a step are those with the inputs of its end; they are, and G may depend on them. */
bool bg_euler_follows_inputs(const bg_euler *m);
bool bg_euler_has_moving_constraints(const bg_integrator *ig, const bg_euler *m);

bg_status bg_euler_attempt(bg_integrator *ig, double *error, bg_error *err);
void bg_euler_prepare(bg_integrator *ig);

/* euler_options.c: after reading, the system is checked once sizes are known. */
bg_status bg_euler_read_options(bg_integrator *ig, bg_euler *m, bg_error *err);
bg_status bg_euler_check_system(bg_integrator *ig, const bg_euler *m, bg_error *err);
/* What was chosen and not given. */
void bg_euler_describe(const bg_integrator *ig, char *text, size_t size);

/* partition.c: clears what the partition leaves out: of r_q and r_v when they are new (stiff), of
 * h r_v + h^2 r_q in hat_M (auto). */
void bg_partition_apply(bg_integrator *ig, bg_euler *m);
void bg_partition_apply_to_matrix(const bg_integrator *ig, const bg_euler *m);

#endif
