/* What `bogie modes` and `bogie linearise` share: a system, linearised somewhere. */
#ifndef BG_CLI_LINEAR_H
#define BG_CLI_LINEAR_H

#include "cli/cli.h"
#include "results/analysis.h"

#include <stddef.h>

typedef struct bg_linear_arguments {
    double at; /* s; NAN: at the start */
    int formulation, equilibrium;
    bg_cli_settings settings;
} bg_linear_arguments;

/* Options of both verbs, whose arguments begin with a bg_linear_arguments. */
/* clang-format off */
#define BG_LINEAR_OPTIONS                                                                          \
    {"--equilibrium", NULL, NULL, BG_CLI_FLAG, offsetof(bg_linear_arguments, equilibrium),         \
     "about the equilibrium, or steady motion, that is found from the start"},                     \
    {"--at", NULL, "T", BG_CLI_NUMBER, offsetof(bg_linear_arguments, at),                          \
     "about the motion at T s (default: at its start)"},                                           \
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE,                                        \
     offsetof(bg_linear_arguments, formulation),                                                   \
     "coordinates of a model (default: the model's, or joint)"},                                   \
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, offsetof(bg_linear_arguments, settings),         \
     "parameter of the system, path into a model, or integrator.OPTION=VALUE"}
/* clang-format on */

typedef struct bg_linear_job {
    bg_problem *problem;
    bg_analysis *analysis;
} bg_linear_job;

/* Finds the state and linearises there; to be closed after a failure, too. */
bg_status bg_linear_job_open(const char *reference, const bg_linear_arguments *args,
                             bg_linear_job *job, bg_error *err);
void bg_linear_job_close(bg_linear_job *job);
/* Eigenvalues mean something for all coordinates where nothing accelerates; else a remark. */
void bg_linear_job_print_doubt(const bg_linear_job *job);

/* What a verb does with its arguments: it checks its own, and works on a job. */
typedef struct bg_linear_verb {
    bg_status (*check)(const void *args, bg_error *err);
    bg_status (*work)(bg_linear_job *job, const void *args, bg_error *err);
} bg_linear_verb;

/* Reads the arguments, which begin with a bg_linear_arguments, finds the state, linearises there,
 * and does the work. Returns the exit code. */
int bg_linear_run(const bg_verb *verb, const bg_linear_verb *own, int argc, char **argv,
                  void *args);

#endif
