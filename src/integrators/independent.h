/* Independent motions for methods that integrate these alone, and how the rest follows by the
 * constraints (002 section 2): directions in which the constraints let the mechanism go, or
 * velocity coordinates that stand for them, the others being dependent.
 *
 * Indices u and I: dependent and independent velocity coordinates, G_u and G_I their columns of G;
 * of directions all are dependent. Positions move along V, so that quaternions are served, too. */
#ifndef BG_INDEPENDENT_H
#define BG_INDEPENDENT_H

#include "base/arena.h"
#include "integrators/integrator.h"

typedef struct bg_independent {
    bg_dynamics *dyn; /* whose terms, left-out rows and offsets are those of the constraints */
    int nv, ng, n;    /* n = nv - rank G: independent motions, once chosen */
    bool directions;  /* else coordinates */
    int *index;       /* [n] of [nv], rising: the independent ones */
    unsigned char *independent; /* [nv] 1: is one of them */
    bool chosen;
    long changes;           /* partitions given up for others since create, or before a resume */
    double condition;       /* of G_u in units of sizes, as of the last `judge`, */
    double condition_first; /* and where this partition was chosen */
    double condition_least; /* of all so far; 0: none yet */
    double magnification, magnification_first; /* of changes by G_u^-1 G_I, the same */
    double *unit, *size;                       /* [nv], [ng] sizes of coordinates and rows */
    double *A;                                 /* [ng nv] scratch of the choice */
    double *scaled;                            /* [as G] G in these sizes */
    double *metric;                            /* [nv] ones for directions, else zeros */
    double *x, *y, *q;                         /* [nv], [ng], [nq] scratch */
    double *VV;                                /* [nv] scratch: squares of the columns of V */
    int *diagonal;                             /* [nv + 1] pattern of `metric` */
    unsigned char *used;                       /* [ng] rows with a pivot, of the choice */
    unsigned char *before;                     /* [nv] the partition before it */
    bg_pattern pattern;                        /* of `metric` */
    bg_kkt *kkt; /* [1 G^T; G 0] or [0 G_u^T; G_u 0]; NULL without constraints */
    bg_arena arena;
} bg_independent;

bg_status bg_independent_create(bg_integrator *ig, bool directions, bg_independent **partition,
                                bg_error *err);
void bg_independent_destroy(bg_independent *partition);

/* Chooses coordinates by Gauss-Jordan elimination with full pivoting of the G at hand (dyn->terms),
 * and factors G_u; directions are factored. Rows that dyn leaves out do not count. BG_SINGULAR:
 * others depend on each other, too. */
bg_status bg_independent_choose(bg_independent *partition, bg_error *err);
/* Factors G_u of the G at hand. */
bg_status bg_independent_factor(bg_independent *partition, bg_error *err);
/* Updates the condition of the last factorisation. True: other coordinates are to be chosen, since
 * these have become worse by a quarter. */
bool bg_independent_judge(bg_independent *partition);

/* With the last factorisation: x [nv] <- the change with G x = y, y [ng], that is perpendicular to
 * all motions, in sizes, or has x_I = 0. */
void bg_independent_solve(bg_independent *partition, const double *y, double *x);
/* And y [ng] <- the solution of G_u^T y = x_u, of directions in least squares; 0 where rows are
 * left out. */
void bg_independent_solve_transposed(bg_independent *partition, const double *x, double *y);

/* (53): moves q along such changes onto g = 0 at t, with the last factorisation, which may
 * be that of a point nearby, else, where that is too far away, with one at every iterate. > 0: no
 * convergence, q is then of no use. */
bg_status bg_independent_close(bg_independent *partition, double t, double *q, const double *v,
                               const double *z, const int *mode, bg_error *err);
/* (54): v from its independent part, with G and g_t at hand, factored. */
void bg_independent_complete(bg_independent *partition, double *v);

/* e_q [nq] and e_v [nv] are small changes of q and v: they become what the constraints make of
 * their independent parts, with G and V at hand, G factored. */
void bg_independent_follow(bg_independent *partition, double *e_q, double *e_v);

/* Saves or restores the partition; its factors are found anew. */
void bg_independent_archive(bg_independent *partition, bg_archive *archive);

#endif
