/* What the files of bdf share: see bdf.c for the method. */
#ifndef BG_BDF_H
#define BG_BDF_H

#include "base/arena.h"
#include "integrators/expanded.h"
#include "integrators/integrator.h"
#include "integrators/jacobian.h"
#include "linalg/blocks.h"
#include "linalg/newton.h"

enum { BG_BDF_ORDER_MAX = 6, BG_BDF_DIFFERENCES = BG_BDF_ORDER_MAX + 2 };
enum { BG_FORM_GGL, BG_FORM_INDEX_3, BG_FORM_INDEX_2, BG_FORM_INDEX_1 };
enum { BG_FORMALISM_RESIDUAL, BG_FORMALISM_EXPLICIT };
enum { BG_DIFFERENCE_ANALYTIC, BG_DIFFERENCE_DENSE, BG_DIFFERENCE_SPARSE };
enum { BG_UPDATE_AUTO, BG_UPDATE_PARTITIONED, BG_UPDATE_FULL, BG_UPDATE_EXTENDED };
enum { BG_RULE_SMOOTH, BG_RULE_DASSL };
enum { BG_MATRIX_AUTO, BG_MATRIX_BLOCKS, BG_MATRIX_EXPANSION };
enum { BG_OMEGA_ESTIMATED, BG_OMEGA_KNOWN };
enum { BG_COLUMNS_KEPT, BG_COLUMNS_WHOLE };
enum { BG_NORM_PARTS, BG_NORM_LARGEST, BG_NORM_RMS };

/* bdf_history.c: scaled differences of y = (q, v, z, work, lambda), n of them. */
typedef struct bg_bdf_history {
    int n, ng;                       /* entries, of which lambda */
    double *phi[BG_BDF_DIFFERENCES]; /* [n] phi[0] is the state */
    double psi[BG_BDF_DIFFERENCES];  /* s, sums of step lengths */
    double h_used;                   /* s, of the last step; 0: there was none */
    int k_used, ns;                  /* its order; steps of this length and order */
    int k_next;                      /* order of the step to come */
    bool growing;                    /* order and step still grow together, after a start */
    bool failed, held;               /* the last step at first; the next is as long as it */
    double noise; /* the largest that rounding of constraints came to of late, in tolerances */
    int weak;     /* steps for which that counts; 0: it does not */
    double rest, t_rest; /* distance from the singular position, in a unit of its own, and when */
    double t_cross;      /* s, when it is passed; NAN: not known */
    double h_over;       /* s, length of steps before that which leads up to it; 0: it was none */
    int filled;          /* parts of the first fixed steps made so far */
} bg_bdf_history;

/* Coefficients of one step. */
typedef struct bg_bdf_formula {
    int k;
    double h, alpha, error;           /* alpha 1/s; error: what e is multiplied with */
    double sigma[BG_BDF_DIFFERENCES]; /* of the estimates at neighbouring orders */
    double gamma[BG_BDF_DIFFERENCES]; /* 1/s, of y' at the predictor */
} bg_bdf_formula;

/* Errors at the orders around that of an attempt, in units of the tolerance. */
typedef struct bg_bdf_estimate {
    double error; /* of the step */
    double at, below, below2, above;
    bool has_above;
    double at_two; /* of a step of order 2 */
} bg_bdf_estimate;

void bg_bdf_history_take(bg_bdf_history *history, int n, int ng, bg_arena *arena);
/* lambda goes on from its present value alone. */
void bg_bdf_history_forget_lambda(bg_bdf_history *history);
void bg_bdf_history_copy(const bg_bdf_history *from, bg_bdf_history *to);
/* A start: nothing but the state and its rate. */
void bg_bdf_history_reset(bg_bdf_history *history);
/* The state and, at the first step, the rate at the beginning of a step of h. */
void bg_bdf_history_begin(bg_bdf_history *history, const double *y, const double *rate,
                          const double *lambda, double h);
/* Makes the differences those of a step of h and order k, and predicts y and y' at its end. */
void bg_bdf_history_predict(bg_bdf_history *history, int k, double h, bg_bdf_formula *formula,
                            double *y, double *rate);
/* The step is made: e = y - predicted. */
void bg_bdf_history_push(bg_bdf_history *history, const bg_bdf_formula *formula, const double *e,
                         const double *y, const double *lambda);
/* Entries [begin, end) of the polynomial through the last k + 1 points at tau <= 0 from the last
 * one, or of its derivative. */
void bg_bdf_history_interpolate(const bg_bdf_history *history, double tau, int begin, int end,
                                double *y, double *slope);
void bg_bdf_history_archive(bg_bdf_history *history, bg_archive *archive);

enum { BG_BDF_RITZ_MAX = 40 };

/* bdf_cap.c: eigenvalues of the linearised motion, 1/s. */
typedef struct bg_bdf_spectrum {
    int count, since; /* evaluations of derivatives since they were found; 0: they are due */
    double alpha;     /* 1/s, of the iteration matrix that they were found with */
    double re[BG_BDF_RITZ_MAX], im[BG_BDF_RITZ_MAX];
} bg_bdf_spectrum;

/* How Newton's iteration went with a matrix made for the step itself, or for the one before. */
typedef struct bg_bdf_seen {
    double rate, size; /* rho/(1 - rho), 0: not seen yet; the first increment */
    int uses;          /* of it since then */
} bg_bdf_seen;

/* Whether new derivatives would pay: increments beyond the first of each step since B was
 * evaluated, steps since then, and those before the first half of these increments; how many times
 * the cost of derivatives is waited for. */
typedef struct bg_bdf_payment {
    int excess, steps, early, patience;
} bg_bdf_payment;

/* What the iteration matrix is made of; two of them, so that a step can be undone. */
typedef struct bg_bdf_parts {
    bg_jacobian B;         /* derivatives of r, h and w at fixed rates, and M */
    bg_expansion_values E; /* with matrix.expanded: in place of r by q and v, and of M */
    double *G;             /* as the system writes it */
    double *u;             /* [3 nu] inputs and their rates where B was made */
    double alpha;          /* 1/s of the factorisation */
    double t;              /* s, the end of the step that it was made for */
    bool made, slow;       /* B is there; it is to be made anew before the next step */
    double rate;           /* remembered rho/(1 - rho) */
    bool own;              /* it is that of `seen`, for that step alone */
    bg_bdf_seen seen, later;
    int slow_steps; /* in a row */
    bg_bdf_payment payment;
    bg_bdf_spectrum spectrum;
} bg_bdf_parts;

/* (A S G^T) of a block A in a pattern, in a pattern of its own (NULL: dense). */
typedef struct bg_bdf_product {
    int rows;
    const bg_pattern *of; /* of A */
    bg_pattern pattern;
    int *row_start, *column;
    double *values;
} bg_bdf_product;

typedef struct bg_bdf_matrix {
    bg_expanded *expanded; /* through unknowns of the system's own; NULL: */
    bg_blocks *blocks;
    bg_bdf_product r, h, w, g; /* r_q G^T, h_q G^T, w_q G^T, G G^T */
    double *row;               /* [nv] scratch */
    double *x_v, *x_z, *x_g, *x_e;
    bg_block block[BG_BLOCKS_MAX];
    int nblocks;
} bg_bdf_matrix;

typedef struct bg_bdf_differences bg_bdf_differences;
typedef struct bg_bdf_cap bg_bdf_cap;

/* Residuals of all rows at the present iterate. */
typedef struct bg_bdf_residual {
    double *F1, *F2, *Fz, *F3, *F4; /* [nv], [nv], [nz], [ng], [ng] */
} bg_bdf_residual;

typedef struct bg_bdf {
    int form, formalism, jacobian, update, rule, omega, columns, through, norm, max_order;
    bool automatic; /* max_order=auto */
    bool weighs;    /* update=auto: derivatives are evaluated where they pay */
    double kappa;   /* Newton's bound, 0: by order */
    int nq, nv, nz, ng;
    bool second_row; /* F3 and F4 both: eta is there */
    bg_bdf_history now, next;
    bg_bdf_history ends,
        next_ends; /* fixed steps: of the first whole steps, until they are enough */
    bg_bdf_formula formula;
    bg_bdf_estimate estimate;
    int tries;                /* attempts of this step */
    int k_try;                /* order of the attempt */
    int error_failures;       /* of this step */
    int cuts;                 /* of this step, because the corrector did not converge */
    double *y_P, *rate_P;     /* [n] predictor */
    double power_P;           /* W, that of the work */
    double *e;                /* [n] y - y_P */
    double *tangent;          /* [nv] of q */
    double *metric;           /* [nv] squares of the sizes of displacements */
    double *weight;           /* [2 nv + nz] */
    double *entries;          /* [2 nv + nz] scratch of norms */
    double *forgiven;         /* [2 nv + nz] likewise */
    double *base, *moved;     /* [nq] normalised predictor; scratch */
    double *V;                /* kinematic matrix at base */
    double *VV;               /* [nv] squared lengths of its columns */
    double *q_t;              /* [nq] */
    double *a, *eta, *lambda; /* [nv], [ng], [ng] */
    double *step_q, *step_v, *step_z, *step_lambda, *step_eta; /* an increment */
    int *q_of;                /* [nv] the entry of q that moves with it, -1: a rotation */
    bg_bdf_residual F, other; /* of the iterate; scratch */
    double *rhs;              /* [nv] */
    bool current;             /* G of the matrix is of this attempt */
    bool along;               /* norms are without what rounding of constraints allows for, ... */
    double allowance;         /* ... which is this */
    double noise;             /* rounding that Newton's iteration of the attempt ended with */
    bg_bdf_parts parts, kept;
    double t_now;    /* s, where `now` ends */
    bool uncounted;  /* factoring again after a checkpoint is not counted */
    bool changed;    /* parts are not those kept when the step began */
    bool ready;      /* the matrix is factored for parts */
    uint64_t blocks; /* of B */
    bg_bdf_matrix matrix;
    bg_newton newton;
    bg_bdf_differences *differences; /* NULL: analytic */
    double **second;                 /* [3 nu] second derivatives of update=extended; NULL: none */
    bool second_made;
    bg_bdf_cap *cap;
    bg_arena arena;
} bg_bdf;

/* bdf_norm.c */
void bg_bdf_update_weights(bg_integrator *ig);
double bg_bdf_calc_norm(const bg_integrator *ig, const double *q, const double *v, const double *z);
/* Norm of a vector [n] of differences of y; *_by the tangent of its q. */
double bg_bdf_calc_norm_of(bg_integrator *ig, const double *x, const double *more,
                           const double *most);

/* bdf_order.c */
void bg_bdf_calc_estimate(bg_integrator *ig);
double bg_bdf_control(bg_integrator *ig, bg_outcome outcome, double error);

/* bdf_residual.c: F at the iterate in x1, m->a, m->lambda, m->eta, from which rates m->q_t follow.
 */
bg_status bg_bdf_calc_residual(bg_integrator *ig, bg_error *err);
/* q of the iterate from the tangent increment, and e of it. */
void bg_bdf_move(bg_integrator *ig);
bg_status bg_bdf_prepare_base(bg_integrator *ig, bg_error *err);
/* The largest residual by name, for messages. */
void bg_bdf_describe_residual(const bg_integrator *ig, char *text, size_t size);

/* bdf_rounding.c: whether an increment of this size that does not shrink any more is rounding of
 * the constraints, and all else has converged to kappa. */
bool bg_bdf_is_rounding(bg_integrator *ig, double size, double kappa);
/* Whether errors are to be measured along the motion alone: rounding of the constraints comes near
 * to the tolerance, with the matrix at hand, or did so of late. error: of the attempt. */
bool bg_bdf_look_along(bg_integrator *ig, double error);
/* The length of the step behind an attempt, which was to be h, so that none ends near the singular
 * position. */
double bg_bdf_straddle(bg_integrator *ig, double h);
/* Takes as much of the part across the constraints as may be rounding out of a difference [nv nv]
 * of q (tangent) and v. */
void bg_bdf_forgive(bg_integrator *ig, double *x);

/* bdf_corrector.c */
bg_status bg_bdf_correct(bg_integrator *ig, double t, bg_error *err);

/* bdf_expanded.c: makes matrix.expanded, where it is less work than the blocks of r. */
bg_status bg_bdf_matrix_choose(bg_integrator *ig, bg_error *err);
/* What it is made of now. */
bg_expanded_values bg_bdf_matrix_get_values(const bg_bdf *m);
/* Numbers of an expansion, all in one block of memory, which begins with x; false: none left. */
int bg_bdf_count_expansion(const bg_integrator *ig);
bool bg_bdf_create_expansion(const bg_integrator *ig, bg_expansion_values *values);

/* bdf_matrix.c */
bg_status bg_bdf_matrix_create(bg_integrator *ig, bg_error *err);
void bg_bdf_matrix_clear(bg_bdf_matrix *matrix);
/* Assembles the iteration matrix of `parts` with alpha and factors it: where another way to solve
 * it, such as by unknowns of its own for each link, is plugged in, together with solve. */
bg_status bg_bdf_matrix_factor(bg_integrator *ig, double alpha, bg_error *err);
/* The increment of all unknowns from the residuals F. */
void bg_bdf_matrix_solve(bg_integrator *ig);
/* The same increments step_q, step_v, step_z as the linearised motion x' = A x answers with: (alpha
 * - A)^-1 x for x = (delta, w, zeta); F is used up. */
void bg_bdf_matrix_respond(bg_integrator *ig, const double *delta, const double *w,
                           const double *zeta);
void bg_bdf_matrix_hold(bg_integrator *ig);

/* bdf_jacobian.c */
bg_status bg_bdf_parts_create(bg_integrator *ig, bg_bdf_parts *parts, bg_error *err);
/* How many values B has. */
int bg_bdf_count_values(const bg_bdf *m);
void bg_bdf_parts_copy(const bg_integrator *ig, const bg_bdf_parts *from, bg_bdf_parts *to);
void bg_bdf_parts_archive(bg_integrator *ig, bg_bdf_parts *parts, bg_archive *archive);
/* B, M and G at the iterate (whole: as bg_bdf_differences_update); M and G alone, with inputs
 * followed where update=extended. */
bg_status bg_bdf_evaluate(bg_integrator *ig, bool whole, bg_error *err);
bg_status bg_bdf_renew(bg_integrator *ig, bg_error *err);

/* bdf_differences.c */
bg_status bg_bdf_differences_create(bg_integrator *ig, bg_error *err);
void bg_bdf_differences_destroy(bg_bdf_differences *differences);
/* B at the iterate by differences; whole: column by column, by which the pattern may grow. */
bg_status bg_bdf_differences_update(bg_integrator *ig, bool whole, bg_error *err);
void bg_bdf_differences_forget(bg_integrator *ig);
/* Residuals that B takes. */
int bg_bdf_differences_count(const bg_integrator *ig);
/* The iteration has failed in spite of new derivatives: whether all columns are to be looked at. */
bool bg_bdf_differences_suspect(bg_integrator *ig);
void bg_bdf_differences_archive(bg_integrator *ig, bg_archive *archive);

/* What is differenced: rows r, h, w; columns q (tangent), v, z, lambda; entries column by column.
 */
typedef struct bg_bdf_pattern {
    int rows, columns, ngroups;
    const unsigned char *topology, *omega; /* [columns rows] may be there; Omega */
    const int *group;                      /* [columns] */
} bg_bdf_pattern;

/* False: the integrator is another one, or makes no differences in groups (yet). */
bool bg_bdf_get_pattern(const bg_integrator *ig, bg_bdf_pattern *pattern);

/* bdf_cap.c */
bg_status bg_bdf_cap_create(bg_integrator *ig, bg_error *err);
void bg_bdf_cap_destroy(bg_bdf_cap *cap);
/* Derivatives were evaluated; the iteration matrix was factored. */
void bg_bdf_cap_count(bg_integrator *ig);
void bg_bdf_cap_update(bg_integrator *ig);
/* The longest step up to h that pumps up no fast mode with order k. */
double bg_bdf_cap_limit(bg_integrator *ig, int k, double h);
/* Lengths |h lambda| between which order k raises modes of a damping ratio; false: nowhere. margin:
 * how far beyond the upper one steps should stay, since they change on their way. */
bool bg_bdf_cap_find_raised(int k, double damping, double *low, double *high, double *margin);

#endif
