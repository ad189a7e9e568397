/* Inside of a run: everything between the system and the report. */
#ifndef BG_RUNNER_H
#define BG_RUNNER_H

#include "base/archive.h"
#include "base/place.h"
#include "bogie/run.h"
#include "consistent/assemble.h"
#include "integrators/integrator.h"
#include "run/events.h"

typedef struct bg_runner {
    bg_system *sys;
    const bg_run_options *options;
    bg_run_report *report;
    bg_integrator *ig;
    bg_watch *watch;        /* NULL without switching functions */
    bg_assembly *assembly;  /* for events that change the system; NULL without constraints */
    bg_state *row;          /* state of the row being written */
    double *y;              /* [ny] its outputs */
    bg_state *before;       /* state at an event before the system changed it */
    bool ended;             /* an event ended the run */
    double t_mark;          /* s, every so many events: has time advanced since? */
    double t_start, t_end;  /* s */
    long next_output;       /* index of the next row on the grid */
    double t_last_row;      /* s; no second row at the same time */
    long rejected_told;     /* rejected attempts the sink knows of */
    double energy_start;    /* J, so that energy - work - energy_start is the error */
    double potential_start; /* J; NAN before it is known */
    long event_capacity;
    double t_last_event; /* s */
    int rounds;          /* rounds of events since time last advanced noticeably */
    double wall_start, wall_last_progress, wall_last_checkpoint, cpu_start; /* s */
    double cpu_before, wall_before; /* s, spent before a resume */
    bg_archive archive;             /* kept from one checkpoint to the next */
    bg_place place;                 /* of the checkpoint, locked as long as the run lasts */
} bg_runner;

/* Energy less the work done; NAN where it is not known. */
double bg_runner_calc_energy(bg_runner *runner, const bg_state *x);
/* The method goes on from x. */
bg_status bg_runner_restart(bg_runner *runner, const bg_state *x, bg_restart reason, bg_error *err);
/* Room for at least `count` events more. Between steps for half of the room, so that none is needed
 * in a step. */
bg_status bg_runner_reserve_events(bg_runner *runner, long count, bg_error *err);
/* Hands the events of the instant that the watch has found, at the state in runner->row, to the
 * system, and what follows from them in the same instant. *changed: it made a new start from row.
 * *stop is set where an event ends the run. */
bg_status bg_runner_pass_instant(bg_runner *runner, bool *changed, bool *stop, bg_error *err);

double bg_clock_get_wall(void); /* s, monotonic */
double bg_clock_get_cpu(void);  /* s, of this process */

/* Makes sure that the checkpoint can be written, and that no other run writes to it meanwhile.
 * Close it also after a failure. */
bg_status bg_checkpoint_open(bg_runner *runner, bg_error *err);
void bg_checkpoint_close(bg_runner *runner);
/* Writes the checkpoint file atomically; reads it, checks that it belongs to this run, and restores
 * runner and integrator. */
bg_status bg_checkpoint_write(bg_runner *runner, bg_error *err);
bg_status bg_checkpoint_read(bg_runner *runner, bg_error *err);

#endif
