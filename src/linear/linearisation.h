/* The equations of motion linearised on independent coordinates about one point of a motion.
 *
 *   x' = A x + B (u, u', u''),   y = C x + D (u, u', u''),   x = (delta, dv, dz)
 *
 * are changes: of the n coordinates that stand for the freedoms, of their velocities, and of the
 * states z. linearisation.c has the derivation. */
#ifndef BG_LINEARISATION_H
#define BG_LINEARISATION_H

#include "linear/tangent.h"

/* A change of the state and of the inputs, and what follows from it. */
typedef struct bg_perturbation {
    double *delta, *v, *z; /* [nv] along V, [nv], [nz] */
    double *u;             /* [3 nu] of u, u' and u'' */
    double *a, *lambda;    /* [nv], [ng] what follows of v' and of the multipliers, */
    double *delta_t, *z_t; /* [nv], [nz] and of the rates of delta and z */
} bg_perturbation;

typedef struct bg_linearisation {
    bg_evaluator *sys;
    int nq, nv, nz, ng, nu, ny;
    int n, nx;                               /* freedoms; 2 n + nz; known after update */
    bool exact;                              /* no derivative comes from differences */
    bool kinematic;                          /* V is not the identity */
    bool moves;                              /* v is not zero */
    bool of_forces;                          /* set by the user: derivatives as if a were zero */
    bg_dynamics *dyn;                        /* for a and lambda */
    bg_tangent *tangent;                     /* at the point */
    bg_state *at;                            /* the point, with a and lambda */
    double *h;                               /* [nz] z' there */
    bg_terms terms;                          /* M, G, V and g_t there */
    double *block[BG_OF_COUNT][BG_BY_COUNT]; /* in patterns; NULL: zero */
    double *Ga_q, *Ga_u;                     /* G a by q and by u, as w by q and by u */
    double *zero;                            /* [nv] */
    double *side[2], *path[2];               /* [nq nv] V beside the point */
    double *q, *qt, *rhs, *work_g, *work_v;  /* [nq], [nq], [nv + ng], [ng], [nv] scratch */
    double *y[2];                            /* [ny] scratch */
    bg_linear *matrix;                       /* [M dr/dlambda; G 0] */
    bg_linear *metric;                       /* V^T V; NULL where V = I */
    bg_perturbation change;
    bg_arena arena;
} bg_linearisation;

bg_status bg_linearisation_create(bg_evaluator *sys, bg_linearisation **linearisation,
                                  bg_error *err);
void bg_linearisation_destroy(bg_linearisation *linearisation);

/* Whether none of its derivatives by what comes before `end` would come from differences. */
bool bg_linearisation_is_exact(const bg_system_def *def, bg_by end);
/* About x, which is consistent; its a and lambda are found anew, from its lambda. */
bg_status bg_linearisation_update(bg_linearisation *linearisation, const bg_state *x,
                                  const bg_redundancy *redundancy, bg_error *err);

/* A change of one state or input by one unit, index k of x or (k - nx) of (u, u', u''), completed
 * so that the constraints stay fulfilled, with what follows from it. */
bg_status bg_linearisation_vary(bg_linearisation *linearisation, int k,
                                const bg_perturbation **change, bg_error *err);

/* A jump of the inputs alone, by du [nu], with what follows from it: what is driven without a
 * constraint, and then what constraints ask for, by the least changes in the mass metric, as a
 * motion goes on whose inputs jump. Independent coordinates are not held. */
bg_status bg_linearisation_jump(bg_linearisation *linearisation, const double *du,
                                const bg_perturbation **change, bg_error *err);
/* dy [ny] <- how the outputs change with such a jump; *moves: coordinates do. */
bg_status bg_linearisation_calc_jump(bg_linearisation *linearisation, const double *du, double *dy,
                                     bool *moves, bg_error *err);

/* A [nx nx], B [nx 3nu], C [ny nx], D [ny 3nu] by rows; what is NULL is not wanted. */
bg_status bg_linearisation_calc(bg_linearisation *linearisation, double *A, double *B, double *C,
                                double *D, bg_error *err);
/* Upper triangular R [n n], R^T R = B^T M B: in units of R the freedoms have unit masses and do not
 * couple. BG_SINGULAR: a freedom without mass. */
bg_status bg_linearisation_calc_masses(const bg_linearisation *linearisation, double *R,
                                       bg_error *err);
/* The largest change of a coordinate in sizes, |delta_i| / v_size_i, or, of those that a turn of
 * the axes mixes (bg_system.block), the length. */
double bg_linearisation_calc_size(const bg_linearisation *linearisation, const double *delta);

#endif
