/* Real time: a system advanced by one fixed step whenever a rig asks for it.
 *
 * A bg_realtime makes exactly the same work in every step, but for events, which have their own
 * bound: no iteration, no allocation, no search for events. It suits a loop that already has its
 * own clock; `bogie realtime` brings the clock and the network (docs/realtime.md).
 *
 *   bg_realtime_options options = bg_default_realtime_options();
 *   options.period = 1e-3;
 *   bg_realtime_create(system, &options, &rt, &err);
 *   for (;;) {                                        every period of the rig
 *       if (bg_realtime_step(rt, inputs, outputs, &err) != BG_OK) ...
 *       bg_realtime_prepare(rt);                      when the outputs are out; may be left out
 *   }
 *
 * Switching functions are evaluated once, at the end of a step. One that has changed sides is an
 * event there: the mode, or the state, that the system makes of it holds from the next step on.
 */
#ifndef BOGIE_REALTIME_H
#define BOGIE_REALTIME_H

#include "bogie/integrator.h"

BG_API_BEGIN

/* What a live input is between two samples, and its time derivative. */
typedef enum bg_hold {
    BG_HOLD_VALUE, /* the last value; derivative 0 */
    BG_HOLD_SLOPE  /* the line through the last two; derivative its slope. For joints that follow
                      an input, whose velocity then is not that of a staircase */
} bg_hold;

typedef struct bg_realtime_options {
    const char *integrator;     /* default "linear-euler"; must do the same work in every step */
    double period;              /* s, the step; default 1e-3 */
    double t_start;             /* s; NAN: as the system says */
    const bg_setting *settings; /* options of the method, as in bg_integrator_options; the drift
                                   certificate, which costs time, is off unless set here */
    int nsettings;
    const char *const *inputs; /* [ninputs] names of inputs u that come from outside */
    int ninputs;
    bg_hold hold;
    /* [noutputs] names of outputs y, coordinates q, velocities v or states z, in that order; or
     * with the kind before them, "q:NAME". NULL: all y, of a system without any all q and v. */
    const char *const *outputs;
    int noutputs;
} bg_realtime_options;

bg_realtime_options bg_default_realtime_options(void);

typedef struct bg_realtime bg_realtime;

/* Finds the consistent start and makes everything ready for steps. The system must outlive it. */
bg_status bg_realtime_create(const bg_system *system, const bg_realtime_options *options,
                             bg_realtime **realtime, bg_error *err);
void bg_realtime_destroy(bg_realtime *realtime);

/* One step. inputs[ninputs] hold from its beginning; NULL: no new ones but those of
 * bg_realtime_set_inputs. What is not new stays as it is; an input that was never given is the
 * system's own signal. outputs[noutputs] (or NULL) are those at its end. BG_STOPPED: an event ended
 * the motion, the outputs are those there. On failure time, state and inputs are those before the
 * call, without what was set for it; after one at an event the handle is of no further use. */
bg_status bg_realtime_step(bg_realtime *realtime, const double *inputs, double *outputs,
                           bg_error *err);

/* New values of some inputs, those with given[k] non-zero, from the beginning of the next step on.
 * values[ninputs], given[ninputs]; all are taken, or none. */
bg_status bg_realtime_set_inputs(bg_realtime *realtime, const double *values,
                                 const unsigned char *given, bg_error *err);

/* Optional, between two steps, when the outputs have been sent: evaluates the Jacobian of the next
 * step, which then takes about half as long to answer to its inputs. A Jacobian made ahead knows
 * the inputs of the last step; without live inputs, results are the same with and without. */
void bg_realtime_prepare(bg_realtime *realtime);

/* How many inputs and outputs there are, and the name of the i-th (valid as long as the handle). */
int bg_realtime_get_ninputs(const bg_realtime *realtime);
int bg_realtime_get_noutputs(const bg_realtime *realtime);
const char *bg_realtime_get_output_name(const bg_realtime *realtime, int i);

/* The outputs at the present state. */
bg_status bg_realtime_calc_outputs(bg_realtime *realtime, double *outputs, bg_error *err);
const bg_state *bg_realtime_get_state(const bg_realtime *realtime);
/* What every step does, with the evaluation of the switching functions; one with an event,
 * and the next, do more: at most what bg_realtime_calc_most says. */
bg_step_plan bg_realtime_get_plan(const bg_realtime *realtime);
/* The most that steps do in real time, and how many times the work of an ordinary step (one that
 * evaluates its derivatives) that is at most. */
typedef struct bg_step_bound {
    bg_step_plan
        most;      /* with an event that changes the system at its end, or first after a start */
    double event;  /* times: where matrices are factored as in ordinary steps */
    double pivots; /* times: where all of them exchange rows, or choose pivots, as some do first */
    bg_step_plan searching; /* where change points are searched besides */
    double search;          /* times: whatever the pivots; 0: nothing is ever searched */
} bg_step_bound;
/* False: the work of a step is not known. */
int bg_realtime_calc_most(const bg_integrator *integrator, bg_step_bound *bound);
bg_counters bg_realtime_get_counters(const bg_realtime *realtime);
long bg_realtime_get_nevents(const bg_realtime *realtime); /* since the start */
/* How often since the start switching function i rose (+1) or fell (-1) through zero, and what that
 * is called. */
long bg_realtime_count_event(const bg_realtime *realtime, int i, int direction, const char **name);
/* The method, for its residuals, its drift and what it chose. */
const bg_integrator *bg_realtime_get_integrator(const bg_realtime *realtime);

BG_API_END
#endif
