/* What happens in one instant: its events, one after the other, act on one state; then the state is
 * made consistent once, the method starts anew, and functions that have to fire again in the same
 * instant are the next round. A run passes instants on its way; runs and real time begin with one
 * (start.h). */
#ifndef BG_INSTANT_H
#define BG_INSTANT_H

#include "consistent/assemble.h"
#include "integrators/integrator.h"
#include "run/events.h"

typedef struct bg_instant {
    bg_evaluator *sys;
    bg_integrator *ig;
    bg_redundancy *redundancy; /* of the run; follows modes that change the constraints */
    bg_detector *detector;     /* NULL without switching functions */
    bg_assembly *assembly;     /* for events that change the system; NULL without constraints */
    bg_state *state;           /* which events change */
    bg_state *before;          /* as it was before a round */
    double t_start, t_end;     /* s, of the run */
    /* Whether time advances: events so far, the time of the last instant and, every so many events,
     * that of a mark, s; rounds since time last advanced noticeably. */
    long nevents;
    double t_last, t_mark;
    int rounds;
    void *self; /* of the functions below, which may be NULL */
    bg_status (*tell)(void *self, const bg_event *event, bg_error *err);
    /* Energies before a round, and after it where it has changed the system. */
    void (*account)(void *self, const bg_state *x, bool changed);
} bg_instant;

/* On failure the instant must still be cleared. */
bg_status bg_instant_create(bg_evaluator *sys, bg_integrator *ig, bg_redundancy *redundancy,
                            bg_instant *instant, bg_error *err);
void bg_instant_clear(bg_instant *instant);
/* The method goes on from the state. */
bg_status bg_instant_restart(bg_instant *instant, bg_restart reason, bg_error *err);
/* Hands the events that the detector has found, at `state`, to the system, and what follows from
 * them in the same instant. *changed: the method has made a new start from `state`. *stop is set
 * where an event ends the motion. */
bg_status bg_instant_pass(bg_instant *instant, bool *changed, bool *stop, bg_error *err);

#endif
