/* Diagonally implicit Runge-Kutta methods on independent motions, in descriptor form (002): see
 * dirk.c for the method. A method of this kind is a tableau and a line in the table. */
#ifndef BG_DIRK_H
#define BG_DIRK_H

#include "base/arena.h"
#include "integrators/frame.h"
#include "integrators/integrator.h"
#include "integrators/jacobian.h"

enum { BG_DIRK_STAGES = 5 };

/* A stage whose a[i][i] is 0 is the beginning of the step; the last stage is its end, and all other
 * a[i][i] are the same. */
typedef struct bg_dirk_tableau {
    int stages;
    double gamma; /* a[i][i] */
    double c[BG_DIRK_STAGES], a[BG_DIRK_STAGES][BG_DIRK_STAGES];
    double error[BG_DIRK_STAGES]; /* weights of the step less those of the embedded method */
    /* start[i] [0 ... i]: what the accelerations of stage i are guessed to be, from those of the
     * beginning, which come first, and of the stages before */
    double start[BG_DIRK_STAGES][BG_DIRK_STAGES];
} bg_dirk_tableau;

extern const bg_dirk_tableau bg_sdirk4_tableau;

/* What belongs to stages, an array for each. */
typedef struct bg_dirk_stages {
    double *v[BG_DIRK_STAGES], *a[BG_DIRK_STAGES];         /* [nv] */
    double *lambda[BG_DIRK_STAGES], *zeta[BG_DIRK_STAGES]; /* [ng], [nz] */
    double *slope[BG_DIRK_STAGES];                         /* [nq] q' */
    double power[BG_DIRK_STAGES];                          /* W */
} bg_dirk_stages;

/* A point at which derivatives are made. */
typedef struct bg_dirk_place {
    double t; /* s */
    const double *q, *v, *z, *a, *lambda;
} bg_dirk_place;

/* Derivatives on the columns of B (002 (34), (45), (51)); column-major. */
typedef struct bg_dirk_columns {
    int n, room;       /* columns: independent motions, or all of P */
    double *B;         /* [nv n] */
    double *S1, *S2;   /* [nv n] of r */
    double *T1, *T2;   /* [ng n] of the constraints of accelerations */
    double *D1, *D2;   /* [nv n] corrections with G D = T */
    double *Z1, *Z2;   /* [nz n] of h */
    double *M, *C, *K; /* [n n] reduced: masses, damping, stiffness */
    double *WZ;        /* [nz n] (I - h gamma h_z)^-1 Z */
    double *x;         /* [n] scratch */
    bg_arena arena;
} bg_dirk_columns;

typedef struct bg_dirk {
    const bg_dirk_tableau *tableau;
    int nq, nv, nz, ng;
    bool first_order; /* Newton's iteration in positions and velocities (dirk_first.c), */
    bool solves;      /* or this attempt's alone, as the other does not converge; */
    int solving,
        next_solving; /* steps that begin so; what becomes of that when the step is final */
    bool full;        /* the matrix (51) with all rows, else the reduced one */
    bool filtered;    /* error estimate */
    double kappa;     /* Newton's bound, in units of the tolerance */
    bg_motion_frame frame;
    bg_jacobian B;   /* derivatives, and M */
    uint64_t blocks; /* of B */
    double *kept;    /* [kept_size] what they were when the step began */
    int kept_size;
    double *G;       /* where they were made, as the system writes it */
    double *G_begin; /* at the beginning of a step by stages */
    double *Ga;      /* (G a) by q, as w by q */
    double *Ga_zero; /* scratch: w by q at rest */
    bg_dirk_columns columns;
    bg_linear *reduced;   /* [n n] */
    bg_blocks *whole;     /* (51); NULL: reduced */
    bg_blocks *states;    /* I - h gamma h_z of the reduced one; NULL without z */
    double factored;      /* s, h gamma of the factors; 0: none */
    double made_at;       /* s, time of the derivatives; NAN: none */
    bool slow, next_slow; /* Newton's iteration asks for new derivatives before the next step; what
                             becomes of that when the step is final */
    double rate, eta;     /* theta/(1 - theta) of the last iteration; the same */
    double worst;         /* rate of convergence in this step */
    bool changed;         /* derivatives were made in a step that is not final yet */
    int tries;            /* attempts of this step */
    double h_rejected;    /* s, length of the last one whose error was too large; 0: none */
    double e_rejected;    /* its error */
    bool within;          /* the last start is within a motion: an event */
    bool starting;        /* no step is final since the last start or event */
    bool by_stage;        /* every stage has a matrix of its own, */
    bool own_frames;      /* and a frame; else that of the beginning decides what is integrated */
    bool restored;        /* from a checkpoint: the matrix is to be factored as it was */
    bg_status ready;      /* BG_OK, or what is wrong with memory that a start asked for */
    bg_dirk_stages stage;
    double *v_base, *q_base, *z_base; /* what the stages before give */
    double *v_free;                   /* [nv] velocities before they are corrected */
    double *shift;                    /* [nv] the correction */
    double *p;                        /* [nv] velocities of positions, in first-order form, */
    double *rest_p, *rest_a;          /* and what is left, then increments */
    double *closed;                   /* [nq] q before it is corrected */
    double *q, *v, *z;                /* of the iterate, one after another */
    double *a, *lambda, *zeta;
    double *psi1, *psi2, *psi3; /* residuals, then increments */
    double *motion;             /* [nv] of the increment that is independent */
    double *work_v, *work_g, *work_z, *work_q, *work_n;
    double *weight;         /* [2 nv + nz] */
    int *q_of;              /* [nv] the entry of q that moves with it, -1: a rotation */
    double t_start, t_span; /* s, of the motion */
    bg_arena arena;
} bg_dirk;

bg_status bg_dirk_create(bg_integrator *ig, const bg_dirk_tableau *tableau, bg_error *err);
void bg_dirk_destroy(bg_integrator *ig);
void bg_dirk_restart(bg_integrator *ig, bg_restart reason);
bg_status bg_dirk_attempt(bg_integrator *ig, double *error, bg_error *err);
bg_status bg_dirk_leap(bg_integrator *ig, double *error, bg_error *err);
void bg_dirk_accept(bg_integrator *ig);
void bg_dirk_commit(bg_integrator *ig);
void bg_dirk_archive(bg_integrator *ig, bg_archive *archive);
void bg_dirk_describe(const bg_integrator *ig, char *text, size_t size);

bg_status bg_dirk_refuse_memory(const bg_integrator *ig, bg_error *err);

/* dirk_stage.c: stage i, whose base is known, from the guess in its a, lambda and zeta. */
bg_status bg_dirk_solve_stage(bg_integrator *ig, int i, bg_error *err);
/* Terms at the iterate: what of them, and of the forces, a method needs at the end. */
bg_status bg_dirk_evaluate(bg_integrator *ig, double t, unsigned want, bg_error *err);

/* dirk_first.c: slopes of positions at the guess of a stage. */
void bg_dirk_begin_first(bg_integrator *ig, double s);
/* One iteration at positions and velocities of the slopes at hand; size: its increment, in units
 * of the tolerance. */
bg_status bg_dirk_iterate_first(bg_integrator *ig, double t, double s, double *size, bg_error *err);

/* dirk_columns.c: a block of the derivatives, its pattern, y <- (block) x. */
const double *bg_dirk_get_block(const bg_dirk *m, bg_of of, bg_by by);
const bg_pattern *bg_dirk_get_pattern(const bg_integrator *ig, bg_of of, bg_by by);
void bg_dirk_multiply(const bg_integrator *ig, bg_of of, bg_by by, const double *x, double *y);
/* B and all columns, from the derivatives and the frame at hand. */
void bg_dirk_columns_fill(bg_integrator *ig);

/* dirk_matrix.c; resize, refuse, update and apply are in dirk_columns.c. */
bg_status bg_dirk_matrix_create(bg_integrator *ig, bg_error *err);
/* Memory for the independent motions of a start. */
bg_status bg_dirk_matrix_resize(bg_integrator *ig);
void bg_dirk_matrix_clear(bg_dirk *m);
/* Saves the derivatives, or takes them back. */
void bg_dirk_matrix_keep(bg_integrator *ig);
void bg_dirk_matrix_take_back(bg_integrator *ig);
/* BG_SINGULAR, with a sentence: constraints depend on each other at the beginning of the step. */
bg_status bg_dirk_matrix_refuse(const bg_integrator *ig, bg_error *err);
/* Derivatives at a point, usually the beginning of the step. */
bg_status bg_dirk_matrix_update(bg_integrator *ig, const bg_dirk_place *at, bg_error *err);
bg_status bg_dirk_matrix_factor(bg_integrator *ig, double s, bg_error *err);
/* (51) (da, dlambda, dzeta) = (x1, x2, x3) in place; motion [nv] <- the independent part of da. */
void bg_dirk_matrix_solve(bg_integrator *ig, double *x1, double *x2, double *x3, double *motion);
/* (e_q, e_v, e_z) <- (I - s J)^-1 of them, J the Jacobian of the equations of the independent
 * motions: e_q [nv] and e_v [nv] are motions, e_v is left alone and its result is in motion [nv],
 * which may be e_v. What it changes in accelerations and multipliers is in psi1 and psi2. */
void bg_dirk_matrix_filter(bg_integrator *ig, double *e_q, const double *e_v, double *e_z,
                           double *motion);
/* What the derivatives give along a motion x [nv] of positions: r, constraints, h. */
void bg_dirk_matrix_apply(bg_integrator *ig, const double *x, double *r, double *g, double *h);
void bg_dirk_matrix_archive(bg_integrator *ig, bg_archive *archive);
/* The matrix as it was, from what a checkpoint holds. */
bg_status bg_dirk_matrix_restore(bg_integrator *ig, bg_error *err);

/* dirk_control.c: the error of a step from those of positions and velocities along the motions,
 * [nv] each, and of z [nz], in units of the tolerance. */
double bg_dirk_calc_norm(const bg_integrator *ig, const double *e_q, const double *e_v,
                         const double *e_z);
bg_status bg_dirk_first_step(bg_integrator *ig, double *h, bg_error *err);
double bg_dirk_control(bg_integrator *ig, bg_outcome outcome, double error);

/* What all methods of this kind fill in. */
#define BG_DIRK_FUNCTIONS                                                               \
    .create = create, .destroy = bg_dirk_destroy, .restart = bg_dirk_restart,           \
    .attempt = bg_dirk_attempt, .leap = bg_dirk_leap, .first_step = bg_dirk_first_step, \
    .control = bg_dirk_control, .accept = bg_dirk_accept, .commit = bg_dirk_commit,     \
    .archive = bg_dirk_archive, .describe = bg_dirk_describe, .cuts = true

#define BG_DIRK_OPTIONS                                                                   \
    {"independent", "directions|coordinates", "directions",                               \
     "what is integrated: motions, or coordinates (the partition of 002)"},               \
        {"matrix", "auto|reduced|full", "auto",                                           \
         "of Newton's iteration: as many rows as motions, or all of (51)"},               \
        {"estimate", "filtered|plain", "filtered",                                        \
         "error of a step: damped as the method is, "                                     \
         "or as 002 has it"},                                                             \
    {                                                                                     \
        "newton", NULL, "0.01", "part of the tolerance that Newton's iteration may leave" \
    }

#endif
