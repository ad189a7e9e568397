/* What `bogie modes` and `bogie linearise` share: a system, linearised somewhere. */
#ifndef BG_CLI_LINEAR_H
#define BG_CLI_LINEAR_H

#include "cli/cli.h"
#include "linear/modes.h"

typedef struct bg_linear_arguments {
    double at; /* s; NAN: at the start */
    int formulation, equilibrium;
    bg_cli_settings settings;
} bg_linear_arguments;

typedef struct bg_linear_job {
    bg_problem *problem;
    bg_evaluator *evaluator;
    bg_state *state;
    bg_assembly_report start; /* where it is the start */
    bg_run_report run;        /* else */
    bg_linearisation *linearisation;
    char where[64]; /* "in equilibrium", "at t = 2 s" */
} bg_linear_job;

/* Finds the state and linearises there. Close the job also after a failure. */
bg_status bg_linear_job_open(const char *reference, const bg_linear_arguments *args,
                             bg_linear_job *job, bg_error *err);
void bg_linear_job_close(bg_linear_job *job);
/* What was noticed on the way to the state. */
const bg_warnings *bg_linear_job_get_warnings(const bg_linear_job *job);

#endif
