/* Inside of change points: what the search knows, and its pieces (change_points.c has the whole).
 */
#ifndef BG_CHANGE_POINTS_PARTS_H
#define BG_CHANGE_POINTS_PARTS_H

#include "base/arena.h"
#include "integrators/change_points.h"

enum { BG_WEAK = 8 /* rows that become dependent at once */ };

/* How far to look, and the unit of the search across the motion, in sizes of coordinates. */
static const double bg_reach = 0.3;
/* What others leave of a row near a change point. */
static const double bg_weak = 0.1;
/* Offsets below are nothing; below they are rounding near the origin, in sizes of rows. */
static const double bg_offset_least = 1e-14, bg_offset_rounding = 1e-12;
/* The most that six digits make of them: sizes are reaches of bodies from their centres, and places
 * are rounded beside their distance from the origin. */
static const double bg_offset_most = 3e-4;
/* Offsets beyond are no matter of digits: dimensions meant so. */
static const double bg_offset_chance = 3e-3;
/* What misfits may grow to away from where they were found. */
static const double bg_misfit_grows = 300;

/* The rows that become dependent at the change point ahead, and how they hold at the beginning. */
typedef struct bg_passage {
    int n;                   /* rows; 0: none ahead */
    int row[BG_WEAK];        /* rows that become dependent */
    double *across[BG_WEAK]; /* [nv] direction in which each holds */
    double slope[BG_WEAK];   /* how it changes along that, at the beginning */
    double offset;           /* largest, in sizes of rows */
    bool by_digits;          /* that is more than rounding: digits of the data would decide */
    double t_end;            /* s, when it should be behind */
    double rest, t_rest;     /* least slope beside that of the beginning, and when that was, s */
    double t_cross;          /* s, when it will be nothing; NAN: not known yet */
} bg_passage;

struct bg_change_points {
    const bg_system *system;
    bg_arena arena; /* all arrays */
    bg_rank *rank;
    double misfit;                  /* of redundant rows */
    bool redundant;                 /* there are such */
    bool needed;                    /* rows may become dependent */
    double *M, *G;                  /* [sizes of M, G] at x0 */
    double *q, *other_q, *foreseen; /* [nq] iterate, shifted; the motion foreseen */
    double *velocity;               /* [nv] of the motion foreseen */
    double *tangent[1 + BG_WEAK];   /* [nv] directions of the search, at the iterate */
    double *size, *remainder;       /* [ng] */
    double *others;                 /* [ng] what all other kept rows leave of a row */
    double *offset_before;          /* [ng] offsets to go back to */
    double *before, t_before;       /* [ng] that at the last look; s; INFINITY: none */
    double *rate, since;            /* [ng] how it changed before that, 1/s; s; 0: not known */
    double t_clear;                 /* s, until when there need not be a look */
    double least;                   /* remainder of kept rows, and */
    bool falls;                     /* whether that was more before */
    unsigned char *dependent;       /* [ng] */
    unsigned char *held;            /* [ng] rows out of the matrix of a search */
    unsigned char *kept_before;     /* [ng] rows left out to go back to */
    double *offset_first;           /* [ng] offsets, rows left out and */
    unsigned char *kept_first;      /* [ng] ... state before anything was tried */
    bg_state *first;
    unsigned char *named; /* [ng] rows of the first passage that was doubtful */
    signed char *order;   /* [ng] */
    bg_passage ahead;
    long doubtful;  /* passages in which digits would have decided */
    double t_first; /* s, of the first of them */
    double largest; /* offset of them */
    double t_near;  /* s, when a change point was come near to that none led through; NAN: never */
    double t_drifted;   /* s, when a method that drifts was next to one; NAN: never */
    double t_undecided; /* s, when more rows hung together than there was memory to decide upon;
                           NAN: never */
    double used;        /* largest offset so far, in sizes of rows */
    bg_state *moved;    /* x0 on the rows moved */
    int spent;          /* evaluations of this look ahead, BG_LOOK_MAX at most */
};

/* Terms at q, s after x0, with V where it is not the identity. */
bool bg_foresight_evaluate(bg_integrator *ig, double s, const double *q, unsigned want);
/* foreseen <- where the motion is after s, and G there. */
bool bg_foresight_look(bg_integrator *ig, double s);
/* How far to look, s: to where coordinates have moved by bg_reach, or a step and a half. */
double bg_foresight_calc_horizon(const bg_integrator *ig);
/* Time from x0 to where rows become dependent; 0: they do not. */
double bg_foresight_find(bg_integrator *ig, double horizon);
/* Whether the rows that are not left out stay independent until s after x0, whose M and G are at
 * hand in M and G: none turns round. */
bool bg_foresight_stay(bg_integrator *ig, const unsigned char *left_out, double s);
/* The rows that become dependent near where the motion is after s, and held <- they and those left
 * out; false: none, or too many. */
bool bg_foresight_find_rows(bg_integrator *ig, double s, bg_passage *passage);
/* Rank of G at hand: remainders of rows with these left out, or, where others may be left out as
 * well, dependent <- the best choice, and its remainders. Returns the least of those kept. */
double bg_foresight_calc_rank(bg_integrator *ig, const unsigned char *left_out, bool choose);
/* The largest entry of a velocity beside the size of its coordinate. */
double bg_foresight_find_largest(const bg_integrator *ig, const double *x);

/* Moves q at s onto the rows that are not held out of the matrix; slope <- how the rows of the
 * passage change there along the motion, in units of the horizon, and across, in those of
 * bg_reach. */
bool bg_critical_calc_slopes(bg_integrator *ig, const bg_passage *passage, double horizon, double s,
                             double *q, double slope[BG_WEAK][1 + BG_WEAK]);
/* Offsets of the rows of the passage, into the dynamics; false: they lead through no change point
 * within the precision of the data. The matrix is left without these rows. */
bool bg_critical_find_offsets(bg_integrator *ig, bg_passage *passage, double s, double horizon);
/* The largest offset that would lead these rows through a change point near foreseen, in sizes of
 * rows; NAN: there is none. */
double bg_critical_measure(bg_integrator *ig, bg_passage *passage, double horizon);

#endif
