/* Static equilibrium and steady motion. */
#ifndef BG_EQUILIBRIUM_H
#define BG_EQUILIBRIUM_H

#include "linear/modes.h"

/* How an equilibrium was found. */
typedef struct bg_equilibrium_report {
    int steps;       /* corrections */
    int relaxations; /* of these, in dynamic relaxation */
    bool moves;      /* a steady motion: some rates are not zero */
    bool dropped;    /* rates were given that cannot be constant; they are zero now */
    int held;     /* an input that moves, and is held, since the motion were not steady; -1: none */
    int left;     /* unstable equilibria that were met and left */
    int unstable; /* modes that grow there */
    int changing; /* a state z that still changes: nothing makes it settle; -1: none */
    double distance;  /* in sizes, of the coordinate that is farthest from its start, */
    int farthest;     /* and which that is */
    char lifted[200]; /* contacts that lifted off first: "tyre fl lifts off, ..."; or "" */
    double drift;     /* 1/s^2, in sizes: what is left along rates that are kept, */
    int worst;        /* at this coordinate the most; */
    double change;    /* how fast its rate grows, in its own unit */
} bg_equilibrium_report;

/* From x, a consistent start, which is kept on failure. Inputs of the evaluator move on as they do
 * at x->t where nothing changes with that. Else they hold what they are there, or, where nothing
 * depends on them but by their rates, their rates, and go on doing so.
 * Rates of x stay as far as they can be constant. BG_NOT_CONVERGED: there is none, says the
 * message. On success `modes`, which may be NULL, are those about it; clear them then. */
bg_status bg_equilibrium_find(bg_evaluator *sys, bg_state *x, const bg_redundancy *redundancy,
                              bg_equilibrium_report *report, bg_modes *modes, bg_error *err);

#endif
