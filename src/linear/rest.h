/* What remains to an equilibrium or a steady motion, and a step towards it. Inside of
 * equilibrium.c. */
#ifndef BG_REST_H
#define BG_REST_H

#include "linear/linearisation.h"

typedef struct bg_rest {
    bg_linearisation *lin; /* at the present state */
    const bg_redundancy *redundancy;
    int nv, nz, n;
    int ncyclic;               /* directions along which nothing changes, whose rates may stay */
    double *cyclic;            /* [ncyclic nv] */
    double *gamma;             /* [ncyclic] how fast the rates along these drift */
    bool moves;                /* rates are kept, or inputs move, so that rates are looked for */
    double *by_inputs, *parts; /* [2 nv + nz] scratch of cyclic.c */
    /* Forces, stiffness and damping in units of masses, states z eliminated: they follow at once.
     */
    double *A, *R;            /* [nx nx] of the linearisation; [n n] R^T R = B^T M B */
    double *F;                /* [n] forces, R a_I */
    double *K;                /* [n n] */
    double *C;                /* [n ncyclic] by rates of the cyclic directions */
    double *Gx, *Gc, *Z;      /* [nz n], [nz ncyclic] h by x and c; [n nz] F by z */
    int nintegrals;           /* states that nothing but the position and rates makes settle, */
    int *integral;            /* [nz] such as those of controllers */
    double *Hh, *Hx, *Hc;     /* [nz], [nz n], [nz ncyclic] z = -(Hh + Hx x + Hc c) */
    double *s, *Ut, *Vt;      /* singular values and vectors of a step */
    double *T, *x, *y, *work; /* scratch */
    /* The step: x and c in units of masses, and in coordinates */
    double *delta, *dv, *dz; /* [nv], [nv], [nz] */
    double *left;            /* [nv] accelerations that no step takes away, but for those along */
    double unresolved;       /* rates that are kept; the largest in sizes, 1/s^2; */
    int pushed;              /* and its coordinate; */
    double drift;            /* 1/s^2, the largest along those rates, */
    double decay;            /* 1/s, the same beside all rates, masses weighed; */
    int worst;               /* and its coordinate */
    double energy;           /* twice the kinetic energy, with that of what inputs move */
    double force;            /* 1/s^2, the largest acceleration in sizes */
    double size;             /* the largest of delta and dv in sizes */
    bg_arena arena;
} bg_rest;

bg_status bg_rest_create(bg_linearisation *lin, const bg_redundancy *redundancy, bg_rest **rest,
                         bg_error *err);
void bg_rest_destroy(bg_rest *rest);

/* all [nv] <- B R^{-1} x, x [n] in units of masses. */
void bg_rest_expand(const bg_rest *rest, const double *x, double *all);
/* x [n] <- R times the independent part of all [nv]. */
void bg_rest_collect(const bg_rest *rest, const double *all, double *x);

/* cyclic.c: which directions are cyclic, at the state of the linearisation. motion [3 nu], or NULL,
 * are rates of the inputs, (u', u'', u'''): *steady says whether nothing changes while they move
 * so, all together, and freedoms with them (`along`). */
bg_status bg_rest_find_cyclic(bg_rest *rest, const double *motion, bool *steady, bg_error *err);
/* v of x becomes what is kept of it; *dropped is true where that is not all. driven: rates of
 * inputs are kept. */
void bg_rest_keep_rates(bg_rest *rest, bool driven, bg_state *x, bool *dropped);
/* Linearises at x: forces, stiffness, damping. */
bg_status bg_rest_update(bg_rest *rest, const bg_state *x, bg_error *err);
/* Newton's step, damped; downhill: along directions that push away from an equilibrium it goes with
 * the force. */
bg_status bg_rest_calc_step(bg_rest *rest, bool downhill, bg_error *err);
/* A step of length h (s^2) of the motion x' = F. */
bg_status bg_rest_calc_flow(bg_rest *rest, double h, bg_error *err);
/* A step of length h (s) of the motion itself, by the linearly implicit Euler method, with cyclic
 * directions held; right after an update. BG_RETRY: its matrix is singular. */
bg_status bg_rest_calc_march(bg_rest *rest, double h, bg_error *err);
/* The force along the step, (step . F) / |step|, at accelerations a. */
double bg_rest_calc_push(const bg_rest *rest, const double *a);

#endif
