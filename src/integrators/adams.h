/* Inside of adams: differences, order and step, the method. */
#ifndef BG_ADAMS_H
#define BG_ADAMS_H

#include "integrators/independent.h"
#include "integrators/pair.h"

enum { BG_ADAMS_ORDER_MAX = 12, BG_ADAMS_DIFFERENCES = BG_ADAMS_ORDER_MAX + 2 };
enum { BG_ADAMS_STARTS = 32 }; /* fixed steps that may be made of parts, and more */

/* Rates of the points behind as modified divided differences. */
typedef struct bg_adams_history {
    int n;         /* entries of y */
    int k_used;    /* order of the last step; 0: none */
    int k_next;    /* of the next */
    int ns;        /* steps in a row with the same length */
    int steps;     /* of fixed length since the start, at most BG_ADAMS_STARTS */
    bool starting; /* order and length rise with every step */
    bool leapt;    /* the last step was a leap, which leaves no differences */
    double h_used;
    double psi[BG_ADAMS_ORDER_MAX];    /* s, psi_i at [i - 1]: sums of the last i steps */
    double *phi[BG_ADAMS_DIFFERENCES]; /* [n] phi_i at [i - 1] */
} bg_adams_history;

/* Coefficients of one step, index 1 on. */
typedef struct bg_adams_formula {
    int k;
    double h;
    double psi[BG_ADAMS_ORDER_MAX + 2];
    double beta[BG_ADAMS_ORDER_MAX + 2];
    double sigma[BG_ADAMS_ORDER_MAX + 3];
    double g[BG_ADAMS_ORDER_MAX + 2];
} bg_adams_formula;

/* Errors of the last attempt, in units of the tolerance, at its order and around it. */
typedef struct bg_adams_estimate {
    double error; /* that is tested */
    double at, below, below2, above;
    bool has_above;
} bg_adams_estimate;

typedef struct bg_adams {
    bg_pair_memory pair; /* of leaps */
    int max_order;
    bool by_independent;                  /* only independent coordinates are judged */
    double gamma[BG_ADAMS_ORDER_MAX + 2]; /* coefficients of Moulton's formulas */
    bg_adams_history now, next;           /* behind x0; behind x1, once it was tried */
    bg_adams_formula formula;             /* of the last attempt */
    bg_adams_estimate estimate;
    bg_independent *partition;
    unsigned char *mask;     /* [n] entries of y that count in the error ... */
    unsigned char *judged;   /* ... the same, or NULL: all do */
    double *p, *y;           /* [n] predicted; the same on the constraints */
    double *d, *e;           /* [n] f_p - phi^e_1; scratch */
    double *f_p;             /* [n] rates where `y` is */
    double *defect;          /* [n] of dense output where the step begins */
    double *start, *lambda;  /* [n], [ng] where a part of a step begins; multipliers there */
    int tries, failures;     /* attempts of this step; those with too large an error, */
    int cuts;                /* and those without a result */
    bool repeated;           /* the step that was accepted was not the first attempt */
    int k_try;               /* order of the next one */
    bool at_x0;              /* the factors of the partition are those of x0 */
    bool resumed;            /* they were, where the run was saved */
    bool worse, choose_anew; /* behind the last attempt, behind x0: another partition is due */
    bg_arena arena;
} bg_adams;

void bg_adams_history_take(bg_adams_history *x, int n, bg_arena *arena);
void bg_adams_history_reset(bg_adams_history *x);
/* gamma[0 .. ORDER_MAX + 1]: coefficients of Moulton's formulas with constant steps. */
void bg_adams_calc_gamma(double *gamma);
/* Coefficients of a step of h and order k from where x ends. */
void bg_adams_calc_formula(const bg_adams_history *x, int k, double h, bg_adams_formula *f);
/* p [n] <- the prediction from y [n]; `to` has the predicted differences phi^e then, and behind
 * them phi_{k+1} of `from`, which may be the same. */
void bg_adams_predict(const bg_adams_history *from, const bg_adams_formula *f, const double *y,
                      bg_adams_history *to, double *p);
/* The differences with the rates f_end [n] at the end. */
void bg_adams_push(bg_adams_history *x, const bg_adams_formula *f, const double *f_end);
/* Entries of the polynomial whose rates go through the points behind, less its value at the end of
 * the last step, at `tau` s from there, and of its slope; either may be NULL. */
void bg_adams_interpolate(const bg_adams_history *x, double tau, int begin, int end, double *rise,
                          double *slope);
void bg_adams_history_archive(bg_adams_history *x, bg_archive *archive);

/* Estimates from d and phi^e; behind `push` also that of the order above. */
void bg_adams_calc_estimate(bg_integrator *ig);
void bg_adams_calc_above(bg_integrator *ig);
double bg_adams_control(bg_integrator *ig, bg_outcome outcome, double error);

#endif
