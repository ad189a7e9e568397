/* How a motion starts, for runs, for real time and for those who look at a start only. */
#ifndef BG_START_H
#define BG_START_H

#include "run/instant.h"

/* Consistent values at time t, in equilibrium where the system says so, and the modes and states z
 * that follow from them. x comes from bg_state_create. Clear the report also after a failure. */
bg_status bg_start_find(bg_evaluator *sys, double t, bg_state *x, bg_assembly_report *report,
                        bg_error *err);
/* The equilibrium, or steady motion, that is found from there: inputs of the evaluator hold from
 * then on what they are at t. Modes stay open. */
bg_status bg_start_find_rest(bg_evaluator *sys, double t, bg_state *x, bg_assembly_report *report,
                             bg_error *err);
/* With the method at that start: functions that are zero there are events. `state` is then where
 * the motion begins; *stop is set where an event ends it at once. */
bg_status bg_start_pass_events(bg_instant *instant, bool *stop, bg_error *err);

#endif
