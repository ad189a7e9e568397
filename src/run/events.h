/* Events: zeros of the switching functions inside a step (003 section 4.3). */
#ifndef BG_EVENTS_H
#define BG_EVENTS_H

#include "base/archive.h"
#include "bogie/run.h"
#include "system/dynamics.h"

typedef struct bg_watch {
    bg_system *sys;
    bg_integrator *ig;
    int ns;
    int *sign;              /* [ns] +1 or -1: the side of zero each function is on at t_done */
    double *scale;          /* [ns] largest |s| seen */
    double *touched;        /* [ns] s, where it last touched zero (NAN: nowhere) */
    unsigned char *at_zero; /* [ns] set by reset: the function is zero at the state */
    unsigned char *resting; /* [ns] reported at zero, and not yet seen on the new side */
    double t_done;          /* s, everything up to here has been reported */
    int repeats;            /* times the present step was repeated for a lost enclosure */
    double *last, t_last;   /* [ns] values at the time t_last, s, up to which steps were searched */
    double *s, *s_early;    /* [ns] scratch: values at a time and just before or after it */
    double *left, *left_slope, *right,
        *right_slope;  /* [ns] values and slopes at the ends of a piece */
    double *q, *v, *z; /* scratch */
    bg_state *state;   /* scratch: projected dense output */
} bg_watch;

bg_status bg_watch_create(bg_system *sys, bg_integrator *ig, bg_watch **watch, bg_error *err);
void bg_watch_destroy(bg_watch *watch);

/* Takes the side of zero of each function from the state, looking ahead along the motion where one
 * is zero (at_zero), but not behind t_end. fired: functions that were just reported (ns flags or
 * NULL).
 */
bg_status bg_watch_reset(bg_watch *watch, const bg_state *state, const unsigned char *fired,
                         double t_end, bg_error *err);

/* The first event of the last step after t_done, if any: *found, with its time, index and
 * direction, and `state` at that time in watch->state. t_done moves there, or to the end of the
 * step. BG_RETRY: the enclosure was lost between phases; repeat the step up to *t_retry. */
bg_status bg_watch_find(bg_watch *watch, bool *found, bg_event *event, double *t_retry,
                        bg_error *err);

void bg_watch_archive(bg_watch *watch, bg_archive *archive);

#endif
