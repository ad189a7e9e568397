/* A run: from a system to a trajectory with events, outputs, checkpoints and a certificate. */
#ifndef BOGIE_RUN_H
#define BOGIE_RUN_H

#include "bogie/integrator.h"

#include <signal.h>

BG_API_BEGIN

/* One row of results: the state and the system's outputs at one time. */
typedef struct bg_row {
    const bg_state *state;
    const double *y; /* ny */
    double h;        /* s, length of the step this row lies in; 0 at the start */
} bg_row;

/* One accepted step, or what is left of it where an event that changed the system cut it. The first
 * one has length 0 and stands for the start. */
typedef struct bg_step {
    double t, h;      /* s: its end, and its length */
    int order;        /* of the method in it; 0: it has none */
    long rejected;    /* attempts rejected before it */
    double g, gv, ga; /* largest residuals of the constraints at its end; ga NAN: not known */
    const bg_counters *counters; /* work of the whole run up to its end; valid during the call */
} bg_step;

/* Receives what a run produces. Any function may be NULL; a negative return ends the run.
 * begin comes once, after the consistent start was found and before the first row, so that bad
 * input costs the user no earlier file. */
typedef struct bg_sink {
    void *self;
    bg_status (*begin)(void *self, bg_error *err);
    bg_status (*row)(void *self, const bg_row *row, bg_error *err);
    bg_status (*event)(void *self, const bg_event *event, bg_error *err);
    bg_status (*flush)(void *self,
                       bg_error *err); /* before every checkpoint: rows up to it are kept */
    bg_status (*step)(void *self, const bg_step *step, bg_error *err); /* before rows of its end */
} bg_sink;

typedef struct bg_progress {
    double t_start, t, t_end;
    double wall_seconds;
    long steps;
} bg_progress;

typedef struct bg_run_options {
    const char *integrator; /* default "auto" */
    bg_integrator_options method;
    double t_start, t_end;  /* s; NAN: as the system says */
    long max_steps;         /* accepted steps; 0: no limit */
    double output_interval; /* s; > 0: a row at t_start + k * interval, and at the end */
    int output_steps;       /* non-zero: a row at every accepted step and event */
    int refuse_redundant;   /* non-zero: redundant constraints are an error */
    bg_sink sink;
    void (*progress)(void *self, const bg_progress *progress); /* at most 20 times a second */
    void *progress_self;
    const volatile sig_atomic_t *stop; /* becomes non-zero: end cleanly after this step */
    const char *model;                 /* how the user named the system, kept in checkpoints */
    const bg_setting *parameters; /* and what it was created with: must be the same to resume */
    int nparameters;
    const char *formulation;   /* of a model's equations of motion; NULL: not from a model */
    const char *checkpoint;    /* file written at stops, at the end and ... */
    long checkpoint_steps;     /* ... every so many accepted steps (0: no) */
    double checkpoint_seconds; /* ... every so many seconds of wall time (default 10) */
    const char *resume;        /* checkpoint file to go on from */
    /* Non-zero: a run with fixed steps is not done again with others, beside what is counted, to
     * see how wrong it is; it takes half as long again, or of long runs some thousand steps. Nor is
     * one with controlled steps done again with looser tolerances, a quarter or, if that ends
     * elsewhere, as long again, to see whether errors grow out of bounds. Nor is one whose
     * constraints are redundant but for the digits of the data, with constraints moved by what
     * these leave open, to see what that comes to; it takes as long again. */
    int skip_comparison;
    /* Constraints of joints are moved by so much of their sizes, some to one side, some to the
     * other; 0: not. */
    double moved;
} bg_run_options;

bg_run_options bg_default_run_options(void);

/* How trustworthy a result is; residuals are maxima over all accepted steps. */
typedef struct bg_certificate {
    double max_g, max_gv, max_ga; /* max_ga NAN: not known at every step; of rows that are kept */
    double max_redundant;         /* |g| of redundant rows, in their sizes (bg_residuals) */
    double energy_error;          /* J, largest |T + U - work - (T + U at start)|; NAN: not known */
    double energy_scale;          /* J, largest |T|, |U| or |work| seen; in U weights count from
                                   * the middle of the model as drawn */
    double energy_range;          /* J, the same with the change of U, which has no zero: what the
                                     error is judged by */
    long unconverged_steps;
    double real_time_factor; /* simulated time / CPU time */
    int has_drift;           /* non-zero: the method bounds its drift, see drift */
    bg_drift drift;
    char note[256]; /* what the method chose by itself; may be empty */
} bg_certificate;

typedef struct bg_run_report {
    bg_status status; /* BG_OK at t_end, BG_STOPPED, or why it ended early */
    char message[BG_ERROR_LENGTH];
    bg_warnings warnings; /* of system, assembly and run, and what the certificate shows */
    bg_verdict verdict;   /* the worst of them: whether the result can be trusted */
    char integrator[32];
    char formulation[16]; /* as in the options, empty: not from a model */
    bg_counters counters;
    double cpu_seconds;
    bg_certificate certificate;
    bg_event *events; /* [nevents]; names belong to the system */
    long nevents;
    bg_assembly_report assembly;
    bg_state *final;     /* state reached; NULL when the run never started */
    double *y;           /* [ny] outputs there */
    long rows;           /* rows given to the sink */
    double t_checkpoint; /* s, of the last checkpoint that was written; NAN: none was */
    bg_error checkpoint; /* why the last one could not be written; BG_OK: it was, or none was due */
} bg_run_report;

/* Runs system. Returns report->status; report is always filled in and must be cleared, also after
 * failure: everything computed up to then is in it and has gone to the sink. */
bg_status bg_run(const bg_system *system, const bg_run_options *options, bg_run_report *report,
                 bg_error *err);
void bg_run_report_clear(bg_run_report *report);

BG_API_END
#endif
