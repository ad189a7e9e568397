/* The command line program: verbs, what they share, and how outcomes become exit codes. */
#ifndef BG_CLI_H
#define BG_CLI_H

#include "bogie/bogie.h"
#include "cli/options.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    BG_EXIT_DONE = 0,
    BG_EXIT_FAILED = 1,    /* the computation failed */
    BG_EXIT_BAD_INPUT = 2, /* bad input or usage, files included */
    BG_EXIT_STOPPED = 130  /* ended by the user's signal, everything saved */
};

/* A verb: one file, and one line in the table of main.c. */
struct bg_verb {
    const char *name;          /* "run" */
    const char *operand;       /* "MODEL", or NULL when the verb takes none */
    bg_cli_kind operand_kind;  /* what to complete it with */
    const char *operand_words; /* of a choice, separated by | */
    bool operand_optional;
    const char *explain; /* what the operand is, a sentence for help; NULL: a model */
    const char *summary;
    const char *description; /* for help and manual; an empty line between paragraphs, `code` */
    const char *examples;    /* commands, a line each, that work beside models/ and studies/ */
    const bg_cli_option *options;
    int noptions;
    int (*run)(const bg_verb *verb, int argc, char **argv); /* arguments after the verb */
};

extern const bg_verb bg_verb_run, bg_verb_check, bg_verb_realtime, bg_verb_study, bg_verb_report,
    bg_verb_stability, bg_verb_design, bg_verb_rates, bg_verb_modes, bg_verb_linearise, bg_verb_fmu,
    bg_verb_list, bg_verb_help, bg_verb_new;

/* The table of main.c, ended by NULL. */
const bg_verb *const *bg_verbs_get(void);
/* Says on stderr that there is no such verb, and returns the exit code. */
int bg_verb_refuse(const char *name);

/* What exit codes mean. */
extern const char bg_exit_codes[];
/* Usage and options of a verb, or of the program, on stdout. */
void bg_help_print(const bg_verb *verb);
void bg_help_print_program(void);
/* "MODEL.json, equations:NAME ..." of a verb's operand, as a sentence. */
const char *bg_help_explain(const bg_verb *verb);
/* The page of section 1 of the manual in roff; verb NULL: of the program. */
void bg_manual_print(FILE *file, const bg_verb *verb);
/* Completion for a shell. */
void bg_completion_print_bash(FILE *file);
void bg_completion_print_zsh(FILE *file);

/* The page of reports without data; NULL: the program was built without the viewer. */
const char *bg_template_get(void);

int bg_exit_code_find(bg_status status);
/* Prints "bogie: " and the error's sentence on stderr and returns the exit code it stands for. */
int bg_error_print(const bg_error *err);

/* What --formulation chooses from: its words, and their indices. */
#define BG_FORMULATIONS "joint|cartesian"
enum { BG_FORMULATION_DEFAULT = -1, BG_FORMULATION_JOINT, BG_FORMULATION_CARTESIAN };

/* What a MODEL operand and the options that verbs share ask for. */
bg_problem_def bg_cli_make_def(const char *reference, int formulation,
                               const bg_cli_settings *settings);

/* The readable certificate of a run, on stdout. file may be NULL. */
void bg_certificate_print(const bg_problem *problem, const bg_run_options *options,
                          const bg_run_report *report, const char *file);
/* One line "warning" or "remark" on stdout. */
void bg_warning_print(const bg_warning *warning);
/* How the start was assembled and which constraints depend on others, on stdout. */
void bg_assembly_print(const bg_system *system, const bg_assembly_report *report);

/* Bodies, tree and cuts of a model, on stdout. */
bg_status bg_topology_print(const bg_model *model, bg_error *err);

/* Draws the Jacobian of a started bdf with jacobian=sparse after a step, or after those to `until`,
 * as path.svg, and prints its size. */
bg_status bg_pattern_draw(const bg_system *system, bg_integrator *bdf, double until,
                          const char *path, bg_error *err);

/* From now on the first SIGINT or SIGTERM sets the flag to non-zero; a second one kills. */
void bg_stop_listen(void);
const volatile sig_atomic_t *bg_stop_get(void);

/* The work of a step that is known beforehand, on stdout. */
void bg_plan_print(const bg_step_plan *plan);
/* The most a step does and how many times the work of others that is. */
void bg_plan_print_most(const bg_step_bound *bound);
/* The bound of the drift, or that there is none, on stdout. */
void bg_drift_print(const bg_drift *drift);

/* A progress bar on stderr for bg_run_options.progress; self is the bg_progress_bar. */
typedef struct bg_progress_bar {
    bool shown;
} bg_progress_bar;

void bg_progress_bar_update(void *self, const bg_progress *progress);
void bg_progress_bar_erase(bg_progress_bar *bar);

#endif
