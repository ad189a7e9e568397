/* What the files of assembly share: its memory and small steps. */
#ifndef BG_ASSEMBLY_H
#define BG_ASSEMBLY_H

#include "consistent/assemble.h"
#include "system/dynamics.h"

struct bg_assembly {
    bg_evaluator *sys;
    bg_dynamics *dyn;
    bg_rank *ranking;
    bg_state *before;                       /* where it began */
    bg_state *x;                            /* the caller's */
    bg_assembly_report *report;             /* the caller's; redundancy is not in it yet */
    const unsigned char *q_fixed, *v_fixed; /* [nv] or NULL */
    bool wished;                            /* the start is to be found as the model wants it */
    double *guess, *origin;                 /* [nq] of the round, of the first */
    double *delta, *increment;              /* [nv] displacement so far, next increment */
    double *tau, *top;                      /* [ng], [nv] */
    double *trial, *found;                  /* [nq] on the way; a solution that may have to do */
    double *scale;                       /* [ng] size of a row: that of the system, or |row of G| */
    double *first;                       /* [ng] |g| / scale at the first guess */
    unsigned char *dependent, *involved; /* [ng] */
    unsigned char *unused;               /* [ng] rows that were dependent at the last guess */
    double *remainder;                   /* [ng] what other rows leave of a row, beside scale */
    signed char *order;                  /* [ng] -1: redundant, 1: not, 0: to be found out */
    double *misfit; /* [ng] of rows left out: largest change of g and remainder on trial motions */
    signed char *chosen;                             /* [ng] order before trial motions */
    unsigned char *other_dependent, *other_involved; /* [ng] on trial motions */
    double *other_remainder;                         /* [ng] */
    double *lever, *shift; /* [nu] of inputs: what changes g by its size, and on a trial motion */
    double allowed;        /* residual of a redundant row, beside its size */
    bg_arena arena;        /* all arrays */
    int rank;
    bool begun;  /* `first` is known */
    bool onward; /* on the way, not at the start */
};

#define BG_FULFILLED 1e-9 /* residual of a row beside its size */
#define BG_REDUNDANT 2e-3 /* misfit: trial motions make that of others a tenth */

/* Terms at (t, q) with the other values of the state; fails where one is not finite. */
bg_status bg_assembly_evaluate(bg_assembly *a, const double *q, unsigned want, bg_error *err);
/* Rank of G at hand with some coordinates fixed; dependent rows leave the linear systems. */
void bg_assembly_update_rank(bg_assembly *a, const unsigned char *fixed);
/* The largest increment beside the coordinates it changes; HUGE_VAL if one is not finite. */
double bg_assembly_calc_size(const bg_assembly *a, const double *increment, const double *q);

/* redundancy.c: decides of every row whether it is redundant, at the state at hand, which fulfils
 * those that are independent there. Returns whether a row that was left out is not redundant. */
bg_status bg_assembly_decide(bg_assembly *a, bool *changed, bg_error *err);

/* redundancy.c: adds to the sentence in err, where what the user insists on cannot be met, that
 * nothing can move, if so. Returns st. */
bg_status bg_assembly_explain(bg_assembly *a, bg_status st, bg_error *err);

/* reactions.c: which reactions of the system are not unique, into the report; by the rank and the
 * terms at hand. */
bg_status bg_assembly_find_reactions(bg_assembly *a, bg_error *err);

/* redundancy.c: says where nothing can move, and where a decision was close. */
void bg_assembly_warn(bg_assembly *a, bg_assembly_report *report);
/* "'a', 'b' and 3 more", for up to six of the rows for which pick is set: in order, or the largest
 * key first. */
void bg_assembly_list(const bg_assembly *a, const unsigned char *pick, const double *key,
                      char *text, size_t size);

/* assembly_errors.c: " in the loop of 'a', 'b' and 'c'", the joints of the rows for which `rows` is
 * set and of those on which they nearly depend, up to `margin`; "" where rows have no joints. */
void bg_assembly_list_loop(bg_assembly *a, const unsigned char *rows, double margin, char *text,
                           size_t size);

/* positions.c: x->q from the guess to g = 0 of the rows that are not redundant, which are decided
 * on the way unless they are. */
bg_status bg_assembly_solve_positions(bg_assembly *a, bool decided, bg_error *err);

/* assembly_errors.c: constraints that cannot be met from this start; always an error. */
bg_status bg_assembly_report_unreachable(bg_assembly *a, bg_error *err);
/* Redundant rows must be fulfilled on their level, 0 (position) to 2, up to limit and what the
 * precision of the data explains, beside unit[ng], how large coordinates, velocities or
 * accelerations are in each row (NULL: 1). */
bg_status bg_assembly_check_eliminated(bg_assembly *a, const double *residual, int level,
                                       double limit, const double *unit, bool fixed, bg_error *err);

#endif
