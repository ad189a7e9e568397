/* What keeps the steps of an explicit method short: stiffness, or a law that jumps. */
#ifndef BG_TROUBLE_H
#define BG_TROUBLE_H

#include "integrators/integrator.h"

/* A part of the system, an input or a coordinate: 'p' part, 'u' input, 'v' velocity, 'z' state, 0
 * nothing. */
typedef struct bg_culprit {
    char kind;
    int index;
} bg_culprit;

/* When a costly test may be made again: after ever more accepted steps where it found nothing. */
typedef struct bg_patience {
    long next, wait;
} bg_patience;

struct bg_trouble {
    double looks, proved; /* h |lambda|, see bg_trouble_set_limits */
    int suspect, calm;    /* steps in a row that look limited by stability; and that do not */
    long limited;         /* accepted steps that looked so since stiffness was found */
    bool stiff, jump;     /* found */
    double rate;          /* 1/s, of the fastest motion */
    double t_stiff;       /* s, where that was found first */
    double t_jump;        /* s, last jump */
    bg_culprit fastest;   /* what is behind that motion */
    bg_culprit jumping;   /* what jumps */
    long jumps;           /* found so far */
    uint64_t side;        /* of their jumps that laws were on at the last end of a step, */
    double t_side;        /* s; NAN: not known, or other since then */
    bg_patience stiff_patience, jump_patience;
    long next_look;          /* accepted steps after which stiffness is looked for unsuspected */
    long accepted, rejected; /* counts where the present window of steps began */
    bg_arena arena;          /* of the arrays below */
    double *x, *y;           /* [2 nv + nz] tangent vectors (delta, w, zeta) */
    double *a0, *a1, *a2;    /* [nv + nz] accelerations and rates of z at two points */
    double *state[3];        /* [n] points of a segment */
    double *lambda;          /* [ng] */
    double *motion, *force;  /* [width of the parts] */
    double *share;           /* [parts] */
};

bg_status bg_trouble_create(bg_integrator *ig, bg_error *err);
void bg_trouble_destroy(bg_trouble *trouble);
/* h |lambda| from which on steps look limited by stability, and which proves that they are; without
 * it no step does. */
void bg_trouble_set_limits(bg_integrator *ig, double looks, double proved);
/* Stiffness that was found is looked for anew. */
void bg_trouble_forget_stiffness(bg_integrator *ig);
void bg_trouble_archive(bg_integrator *ig, bg_archive *archive);

/* Called with every accepted step of a method on a pair (pair.h): y and rate are value and rate of
 * its last stage but one, at the same time as the end of the step. */
void bg_trouble_watch_step(bg_integrator *ig, const double *y, const double *rate);
/* Called with every attempt that was rejected for its error, or (`computed` false) because an
 * iteration did not converge, and x1 is of no use. */
void bg_trouble_watch_rejection(bg_integrator *ig, bool computed);
/* Looks at the present state without waiting for more steps: for runs that end here. */
void bg_trouble_search(bg_integrator *ig);

/* stiffness.c: whether steps of this length from x are limited by stability, and by what. */
void bg_stiffness_search(bg_integrator *ig, const bg_state *x, double h);
/* jumps.c: looks on the way to the end of the attempt, unless it was not computed, and along the
 * tangent, where its second stage was: what crosses a jump there is often thrown back. */
void bg_jumps_search(bg_integrator *ig, bool computed);
/* Called when a step with error control, from x1 to x0, can no longer be undone: whether it crossed
 * a jump that the control should have stopped at. */
void bg_jumps_watch_crossing(bg_integrator *ig);
/* Why a step from x0 meets what is no number, as the end of a sentence; false: not found. */
bool bg_jumps_explain_end(bg_integrator *ig, double h_min, char *text, size_t size);

/* v' and z' at a point given as y. */
bool bg_trouble_calc_rates(bg_integrator *ig, double t, const double *y, double *out);
/* Places the system's parts at y; false: its inputs cannot be evaluated. */
bool bg_trouble_place(bg_integrator *ig, double t, const double *y, double *motion);
/* The next test is made after twice as many steps as the last. */
void bg_trouble_wait_longer(const bg_integrator *ig, bg_patience *patience);

#endif
