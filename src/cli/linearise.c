/* bogie linearise: A, B, C, D about a state, with names and units. */
#include "cli/linear.h"
#include "results/linear.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct linearise_arguments {
    bg_linear_arguments linear;
    const char *output;
} linearise_arguments;

#define FIELD(name) offsetof(linearise_arguments, name)

static const bg_cli_option options[] = {
    BG_LINEAR_OPTIONS,
    {"--output", "-o", "FILE|-", BG_CLI_FILE, FIELD(output),
     "the matrices, FILE.json, FILE.csv, FILE.mat or FILE.h5; - is JSON on stdout (default)"},
};

static bg_status check(const void *args, bg_error *err)
{
    return bg_linear_check_place(((const linearise_arguments *)args)->output, err);
}

static bg_status work(bg_linear_job *job, const void *args, bg_error *err)
{
    const char *path = ((const linearise_arguments *)args)->output;
    const bg_linear_matrices *m;
    bg_status st = bg_analysis_calc_matrices(job->analysis, &m, err);
    if (st == BG_OK)
        st = bg_linear_write(m, path, err);
    if (st == BG_OK && strcmp(path, "-") != 0)
        printf("%s, linearised %s: %d states, %d inputs, %d outputs in '%s'\n", m->model, m->where,
               m->nx, m->nu, m->ny, path);
    return st;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    linearise_arguments args = {.linear = {.at = NAN, .formulation = BG_FORMULATION_DEFAULT},
                                .output = "-"};
    return bg_linear_run(verb, &(bg_linear_verb){check, work}, argc, argv, &args);
}

const bg_verb bg_verb_linearise = {
    .name = "linearise",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .summary = "A, B, C, D of a system about a state or the equilibrium",
    .description = "Writes the matrices of x' = A x + B u, y = C x + D u with names and units of "
                   "states, inputs and outputs (docs/modes.md).",
    .examples = "bogie linearise models/double-wishbone.json --equilibrium -o wishbone.h5",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
