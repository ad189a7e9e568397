/* Inside of a bg_realtime. */
#ifndef BG_REALTIME_INTERNAL_H
#define BG_REALTIME_INTERNAL_H

#include "bogie/realtime.h"
#include "integrators/integrator.h"
#include "run/filters.h"

/* An output: the index-th entry of y, q, v or z. */
typedef struct bg_live_output {
    char kind;
    int index;
    char name[80];
} bg_live_output;

/* An input from outside. */
typedef struct bg_live_feed {
    int u; /* which input of the system it is */
    bool fresh;
    double next;         /* fresh: its value from the next step on; NAN: the system's own again */
    double last, t_last; /* the last sample, and s, when it came; NAN: there was none */
    bool taken;          /* in this step */
    bool owed;           /* steps before it have failed, behind the last one that had not, where: */
    double before, last_before, t_last_before; /* NAN: the system's own */
} bg_live_feed;

struct bg_realtime {
    bg_evaluator *sys;
    bg_integrator *ig;
    bg_setting *settings; /* [nsettings + 1] of the method */
    int nsettings;        /* in the options */
    bg_assembly_report assembly;
    bg_hold hold;
    int ninputs, noutputs;
    bg_live_feed *inputs;    /* [ninputs] */
    bg_live_output *outputs; /* [noutputs] */
    double *y;               /* [ny] */
    bg_filters filters;      /* of y, from step to step */
    double *u, *u_t;         /* [nu] inputs and their rates before new ones came */
    double *shift;           /* [nv] of coordinates, with a jump of inputs */
    bool wants_y;            /* some output is one of y */
    double *s;               /* [ns] switching functions */
    int *side;               /* [ns] +1 or -1: the side of zero each is on */
    int *said;               /* [ns] scratch: sides that follow from the modes */
    bool *resting;           /* [ns] has been reported at zero and is still there */
    bool *fired;             /* [ns] scratch: is an event of this step */
    bg_state *changed;       /* what events make of the state */
    long nevents;
    long *event_counts; /* [3 ns] falling, touching, rising */
    bg_arena arena;     /* all arrays */
};

/* Hands the event of function i, heading for `direction`, to the system, which may change
 * rt->changed. *action is a bg_event_action. */
bg_status bg_realtime_deliver(bg_realtime *rt, int i, int direction, int *action, bg_error *err);

/* Evaluates y at the present state, with the outputs that are made of the steps before. */
bg_status bg_realtime_update_outputs(bg_realtime *rt, bg_error *err);

#endif
