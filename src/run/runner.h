/* Inside of a run: everything between the system and the report. */
#ifndef BG_RUNNER_H
#define BG_RUNNER_H

#include "base/archive.h"
#include "base/clock.h"
#include "base/place.h"
#include "bogie/run.h"
#include "run/comparison.h"
#include "run/drive_work.h"
#include "run/filters.h"
#include "run/start.h"

typedef struct bg_runner {
    bg_evaluator *sys;
    const bg_run_options *options;
    bg_run_report *report;
    bg_integrator *ig;
    bg_instant at;          /* events; its state is also that of the row being written */
    double *y;              /* [ny] outputs of a row */
    bg_filters filters;     /* outputs made of rows */
    double *u;              /* [3 nu] inputs and their derivatives, scratch */
    bool ended;             /* an event ended the run */
    double t_start, t_end;  /* s */
    long next_output;       /* index of the next row on the grid */
    double t_last_row;      /* s; no second row at the same time */
    long rejected_told;     /* rejected attempts the sink knows of */
    bg_drive_work drives;   /* work that steps do not see */
    double energy_start;    /* J, so that energy - work - energy_start is the error */
    double potential_start; /* J; NAN before it is known */
    long event_capacity;
    double energy_before; /* J, before the events of a round */
    double wall_start, wall_last_progress, wall_last_checkpoint, cpu_start; /* s */
    double cpu_before, wall_before; /* s, spent before a resume */
    bg_archive archive;             /* kept from one checkpoint to the next */
    bg_comparison comparison;       /* of fixed steps */
    bg_place place;                 /* of the checkpoint, locked as long as the run lasts */
} bg_runner;

/* run.c: a runner of nothing yet, with an empty report; everything it needs, which is released by
 * clear also after a failure; a consistent start, or the state to resume from, before whose events
 * the run stands (bg_start_pass_events); one step, with a sentence where inputs that are followed
 * stand in its way. */
bg_runner bg_runner_make(const bg_run_options *options, bg_run_report *report);
bg_status bg_runner_create(bg_runner *runner, const bg_system *system, bg_error *err);
void bg_runner_clear(bg_runner *runner);
bg_status bg_runner_begin(bg_runner *runner, bg_error *err);
bg_status bg_runner_step(bg_runner *runner, bg_error *err);

/* certificate.c: energy less the work done, NAN where it is not known; x lies in the last step. */
double bg_runner_calc_energy(bg_runner *runner, const bg_state *x);
/* What the last step shows. */
void bg_runner_update_certificate(bg_runner *runner);
/* Fails where a row that was redundant at the start is violated. */
bg_status bg_runner_check_redundant(const bg_runner *runner, bg_error *err);
/* Around a round of events (self: the runner): an impact may dissipate, and the balance goes on
 * from what it leaves. */
void bg_runner_account_energy(void *self, const bg_state *x, bool changed);

/* rows.c: outputs into y, which belong to a row that is written or are only looked at; a row of x;
 * rows on the grid up to and including t; rows up to the instant that was found, and there. */
bg_status bg_runner_calc_outputs(bg_runner *runner, const bg_state *x, bool written, bg_error *err);
bg_status bg_runner_write_row(bg_runner *runner, const bg_state *x, bg_error *err);
bg_status bg_runner_write_grid(bg_runner *runner, double t, bg_error *err);
bg_status bg_runner_write_to_event(bg_runner *runner, bg_error *err);
/* The step that ends at the present state and began at `begin`. */
bg_status bg_runner_write_step(bg_runner *runner, double begin, bg_error *err);

/* following.c: fails where an input that bodies follow, and whose corners are not known, has one in
 * between. */
bg_status bg_runner_check_inputs(bg_runner *runner, double from, double to, bg_error *err);

/* Makes sure that the checkpoint can be written, and that no other run writes to it meanwhile.
 * Close it also after a failure. */
bg_status bg_checkpoint_open(bg_runner *runner, bg_error *err);
void bg_checkpoint_close(bg_runner *runner);
/* Writes the checkpoint file atomically; reads it, checks that it belongs to this run, and restores
 * runner and integrator. */
bg_status bg_checkpoint_write(bg_runner *runner, bg_error *err);
bg_status bg_checkpoint_read(bg_runner *runner, bg_error *err);
/* What such a file keeps, saved to or loaded from memory, into a runner that was created and has
 * not begun. What does not fit fails the archive or gives a sentence. */
bg_status bg_checkpoint_archive(bg_runner *runner, bg_archive *archive, bg_error *err);

#endif
