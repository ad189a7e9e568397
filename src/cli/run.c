/* bogie run: simulates a system and writes results, summary, checkpoint and certificate. */
#include "base/output.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/page.h"
#include "run/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct run_arguments {
    const char *integrator, *output, *html, *summary, *checkpoint, *resume;
    double t_start, t_end, rtol, atol, step, h_initial, h_min, h_max, output_interval; /* NAN: - */
    long max_steps, checkpoint_steps;
    int formulation, output_steps, refuse_redundant, quiet, strict, equilibrium;
    bg_cli_settings settings;
} run_arguments;

#define FIELD(name) offsetof(run_arguments, name)

static const bg_cli_option options[] = {
    {"--integrator", NULL, "NAME", BG_CLI_INTEGRATOR, FIELD(integrator),
     "method (default: the model's, or auto); `bogie list` names them"},
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE, FIELD(formulation),
     "coordinates of a model: those of its joints, with constraints for closed loops alone, or "
     "seven for every body, with constraints for every joint (default: the model's, or joint)"},
    {"--t-start", NULL, "T", BG_CLI_NUMBER, FIELD(t_start),
     "start time in s (default: the system's)"},
    {"--t-end", NULL, "T", BG_CLI_NUMBER, FIELD(t_end), "end time in s (default: the system's)"},
    {"--rtol", NULL, "R", BG_CLI_POSITIVE, FIELD(rtol),
     "relative tolerance (default: the model's, or 1e-6)"},
    {"--atol", NULL, "A", BG_CLI_POSITIVE, FIELD(atol),
     "absolute tolerance (default: the model's, or 1e-6)"},
    {"--step", NULL, "H", BG_CLI_POSITIVE, FIELD(step),
     "fixed steps of H s, without error control"},
    {"--h-initial", NULL, "H", BG_CLI_POSITIVE, FIELD(h_initial), "first step in s"},
    {"--h-min", NULL, "H", BG_CLI_POSITIVE, FIELD(h_min), "smallest step in s"},
    {"--h-max", NULL, "H", BG_CLI_POSITIVE, FIELD(h_max), "largest step in s"},
    {"--equilibrium", NULL, NULL, BG_CLI_FLAG, FIELD(equilibrium),
     "start in the equilibrium, or steady motion, that is found from the start given"},
    {"--max-steps", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(max_steps),
     "give up after N accepted steps, with exit code 1"},
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, FIELD(settings),
     "parameter of the system, path into a model, or integrator.OPTION=VALUE; may be repeated"},
    {"--output", "-o", "FILE", BG_CLI_FILE, FIELD(output), "results, FILE.h5 (HDF5) or FILE.csv"},
    {"--html", NULL, "PAGE", BG_CLI_FILE, FIELD(html),
     "the page of `bogie report` at once; with -o FILE.h5 the result is kept, too"},
    {"--output-interval", NULL, "DT", BG_CLI_POSITIVE, FIELD(output_interval),
     "a row of results every DT s"},
    {"--output-steps", NULL, NULL, BG_CLI_FLAG, FIELD(output_steps),
     "a row at every accepted step and event; so it is without --output-interval, unless the model "
     "gives an interval"},
    {"--summary", NULL, "FILE|-", BG_CLI_FILE, FIELD(summary), "summary as JSON; - is stdout"},
    {"--checkpoint", NULL, "FILE", BG_CLI_FILE, FIELD(checkpoint),
     "where to save the complete state, every ten seconds, at a stop and at the end"},
    {"--checkpoint-steps", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(checkpoint_steps),
     "save it also every N accepted steps"},
    {"--resume", NULL, "FILE", BG_CLI_FILE, FIELD(resume),
     "go on from a checkpoint; the result is bit by bit that of a run that was never cut"},
    {"--redundant", NULL, "allow|refuse", BG_CLI_CHOICE, FIELD(refuse_redundant),
     "constraints that depend on others are left out and reported (allow, the default), or end the "
     "run before it starts (refuse)"},
    {"--strict", NULL, NULL, BG_CLI_FLAG, FIELD(strict),
     "exit code 1 unless the verdict on the result is good"},
    {"--quiet", NULL, NULL, BG_CLI_FLAG, FIELD(quiet), "no certificate and no progress bar"},
};

static run_arguments default_arguments(void)
{
    return (run_arguments){
        .formulation = BG_FORMULATION_DEFAULT,
        .t_start = NAN,
        .t_end = NAN,
        .rtol = NAN,
        .atol = NAN,
        .step = NAN,
        .h_initial = NAN,
        .h_min = NAN,
        .h_max = NAN,
        .output_interval = NAN,
    };
}

static void set_if_given(double *field, double value)
{
    if (!isnan(value))
        *field = value;
}

static bg_problem_def make_def(const char *reference, const run_arguments *args)
{
    bg_problem_def def = bg_cli_make_def(reference, args->formulation, &args->settings);
    def.integrator = args->integrator;
    def.t_start = args->t_start;
    def.t_end = args->t_end;
    def.rtol = args->rtol;
    def.atol = args->atol;
    def.step = args->step;
    def.output_interval = args->output_interval;
    def.equilibrium = args->equilibrium;
    return def;
}

static bg_run_options make_options(const bg_problem *problem, const run_arguments *args)
{
    bg_run_options run = bg_problem_get_run_options(problem);
    set_if_given(&run.method.h_initial, args->h_initial);
    set_if_given(&run.method.h_min, args->h_min);
    set_if_given(&run.method.h_max, args->h_max);
    bool rows = args->output || args->html;
    if (!rows || (args->output_steps && isnan(args->output_interval)))
        run.output_interval = 0;
    run.output_steps = rows && (args->output_steps || run.output_steps);
    run.max_steps = args->max_steps;
    run.refuse_redundant = args->refuse_redundant;
    run.checkpoint = args->checkpoint;
    run.checkpoint_steps = args->checkpoint_steps;
    run.resume = args->resume;
    run.stop = bg_stop_get();
    return run;
}

/* One file cannot serve two purposes, and rows already computed are not written over. */
static bg_status check_files(const run_arguments *args, bg_error *err)
{
    const bg_cli_file files[] = {{"-o", args->output, BG_PLACE_ROWS}, /* or BG_PLACE_RESULT */
                                 {"--summary", args->summary, BG_PLACE_SUMMARY},
                                 {"--checkpoint", args->checkpoint, BG_PLACE_CHECKPOINT},
                                 {"--html", args->html, BG_PLACE_PAGE}};
    struct stat info;
    bg_status status = bg_cli_check_distinct(files, 4, err);
    if (!status)
        status = bg_cli_check_places(files + 1, 3, err);
    if (status)
        return status;
    if (args->resume && args->output && stat(args->output, &info) == 0 && S_ISREG(info.st_mode))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' exists; a resumed run writes only the rows that follow: give -o "
                            "another name, and keep both",
                            args->output);
    return BG_OK;
}

/* What can be refused before anything is opened. */
static bg_status check_arguments(const run_arguments *args, bg_error *err)
{
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    if (!args->output && !args->html && (args->output_steps || !isnan(args->output_interval)))
        return bg_error_set(err, BG_BAD_INPUT,
                            "%s needs a file for the rows: -o FILE.h5 or FILE.csv",
                            args->output_steps ? "--output-steps" : "--output-interval");
    if (args->checkpoint_steps > 0 && !args->checkpoint)
        return bg_error_set(err, BG_BAD_INPUT, "--checkpoint-steps needs --checkpoint FILE");
    if (args->html && args->output && (!dot || strcmp(dot, ".h5") != 0))
        return bg_error_set(err, BG_BAD_INPUT,
                            "--html makes its page of a result FILE.h5, not of '%s'; name one with "
                            "-o, or leave it out",
                            args->output);
    bg_status status = bg_page_check(args->html, err);
    return status ? status : check_files(args, err);
}

static bg_status check_times(const bg_system_def *def, const run_arguments *args, bg_error *err)
{
    double t_start = isnan(args->t_start) ? def->t_start : args->t_start;
    double t_end = isnan(args->t_end) ? def->t_end : args->t_end;
    if (!args->resume && t_end < t_start)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the end time %g s (--t-end) lies before the start time %g s "
                            "(--t-start)",
                            t_end, t_start);
    return BG_OK;
}

/* Everything of a run that has to be released. */
typedef struct simulation {
    bg_problem *problem;
    bg_run_options options;
    bg_result *result;  /* NULL without -o and --html */
    const char *rows;   /* the file of the result */
    bg_page_folder own; /* with --html alone */
    bg_run_report report;
    bg_progress_bar bar;
    bool checked; /* nothing stands in the way of the outputs */
    bool saved;   /* the result is complete */
} simulation;

static void simulation_clear(simulation *job)
{
    bg_result_destroy(job->result);
    bg_page_folder_close(&job->own);
    bg_run_report_clear(&job->report);
    bg_problem_destroy(job->problem);
}

/* Opens the system and the result file. */
static bg_status prepare(simulation *job, const char *reference, const run_arguments *args,
                         bg_error *err)
{
    bg_problem_def def = make_def(reference, args);
    bg_status status = check_arguments(args, err);
    job->checked = !status;
    if (!status)
        status = bg_problem_read(&def, &job->problem, err);
    if (!status) {
        job->options = make_options(job->problem, args);
        status = bg_problem_create_system(job->problem, err);
    }
    if (status)
        return status;
    const bg_system *system = bg_problem_get_system(job->problem);
    job->options = make_options(job->problem, args);
    status = check_times(bg_system_get_def(system), args, err);
    job->rows = args->output;
    if (!status && args->html && !args->output) {
        status = bg_page_folder_open(args->html, &job->own, err);
        job->rows = job->own.path;
    }
    if (!status && job->rows) {
        status = bg_result_create(job->rows, reference, job->options.integrator, system,
                                  &job->result, err);
        if (!status)
            status = bg_result_describe(job->result, bg_problem_get_model(job->problem),
                                        &job->options, err);
        if (!status)
            job->options.sink = bg_result_get_sink(job->result);
    }
    return status;
}

/* Runs and completes the result file. A run that never started leaves files as they were. */
static bg_status simulate(simulation *job, const run_arguments *args, bg_error *err)
{
    bg_run_options *run = &job->options;
    if (!args->quiet && isatty(STDERR_FILENO)) {
        run->progress = bg_progress_bar_update;
        run->progress_self = &job->bar;
    }
    bg_stop_listen();
    bg_status status = bg_run(bg_problem_get_system(job->problem), run, &job->report, err);
    if (status && !job->report.final)
        bg_problem_locate(job->problem, status, err);
    bg_progress_bar_erase(&job->bar);
    if (job->result && job->report.final) {
        bg_error finish_err = {0};
        bg_status finished = bg_result_finish(job->result, &job->report, &finish_err);
        if (finished && status != BG_IO) {
            *err = finish_err;
            status = finished;
        }
        job->saved = !finished;
    }
    return status;
}

/* A run whose input is refused keeps an earlier summary. */
static bg_status write_summary(const simulation *job, const char *reference,
                               const run_arguments *args, bg_error *err)
{
    bool to_stdout = strcmp(args->summary, "-") == 0;
    bg_status st = job->report.status;
    bool refused = !job->report.final && (st == BG_BAD_INPUT || st == BG_IO);
    if (!to_stdout && refused && access(args->summary, F_OK) == 0)
        return BG_OK;
    const bg_system *system = job->problem ? bg_problem_get_system(job->problem) : NULL;
    char *text = bg_summary_create(system, reference, &job->report);
    if (!text)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while writing the summary");
    bg_status status = BG_OK;
    if (to_stdout)
        puts(text);
    else
        status = bg_output_write_text(args->summary, BG_PLACE_SUMMARY, text, err);
    free(text);
    return status;
}

/* Of what was computed, whether the run reached its end or not. */
static bg_status write_page(const simulation *job, const run_arguments *args, bool talks,
                            bg_error *err)
{
    if (!args->html || !job->saved)
        return BG_OK;
    bg_status status = bg_page_write(job->rows, NULL, args->html, err);
    if (!status && talks)
        printf("  page             %s\n", args->html);
    return status;
}

/* What is left of the rows of a run that did not reach its end. */
static void print_saved_rows(const simulation *job, const char *path)
{
    long rows = job->result ? bg_result_get_rows(job->result) : 0;
    if (job->report.rows == 0)
        return;
    if (rows == 0 || access(path, F_OK) != 0)
        fprintf(stderr, "; none of its results are saved");
    else if (rows < job->report.rows)
        fprintf(stderr, "; the first %ld of its %ld rows are in '%s'", rows, job->report.rows,
                path);
    else
        fprintf(stderr, "; the results so far are in '%s'", path);
}

/* From where it can go on. */
static void print_saved_state(const bg_run_report *report, const char *path)
{
    bool there = !isnan(report->t_checkpoint) && access(path, F_OK) == 0;
    if (!there)
        fprintf(stderr, "; there is no checkpoint to go on from");
    else if (report->t_checkpoint == report->final->t)
        fprintf(stderr, "; go on with --resume '%s'", path);
    else
        fprintf(stderr, "; go on from t = %.9g s with --resume '%s'", report->t_checkpoint, path);
}

/* Says on stderr how far a run came that did not reach its end, and what is left of it. */
static void print_reached(const simulation *job, const run_arguments *args)
{
    const bg_run_report *report = &job->report;
    if (!report->final)
        return;
    fprintf(stderr, "bogie: the run reached t = %.9g s", report->final->t);
    if (args->output)
        print_saved_rows(job, args->output);
    if (args->checkpoint && (report->status == BG_STOPPED || report->status == BG_TOO_MANY_STEPS ||
                             report->status == BG_IO))
        print_saved_state(report, args->checkpoint);
    fputc('\n', stderr);
}

/* Says on stderr why --strict does not take the result. */
static int refuse_doubtful(const bg_run_report *report)
{
    const bg_warning *reason;
    bg_warnings_judge(&report->warnings, &reason);
    fprintf(stderr, "bogie: the result is %s: %s (--strict)\n",
            bg_verdict_get_name(report->verdict), reason ? reason->text : "warnings were lost");
    return BG_EXIT_FAILED;
}

/* The report of a run that never started, whether the start was looked for with the equations, as
 * in Cartesian form, or by the run. */
static void report_unstarted(simulation *job, bg_status status, const bg_error *err)
{
    bg_run_report *report = &job->report;
    const bg_run_options *run = &job->options;
    snprintf(report->integrator, sizeof report->integrator, "%s",
             run->integrator ? run->integrator : "");
    snprintf(report->formulation, sizeof report->formulation, "%s",
             run->formulation ? run->formulation : "");
    report->status = status;
    report->verdict = BG_BAD;
    report->t_checkpoint = NAN;
    snprintf(report->message, sizeof report->message, "%s", err->text);
}

/* Prints the outcome and returns the exit code. */
static int conclude(const simulation *job, const char *reference, const run_arguments *args,
                    bg_status status, bg_error *err)
{
    bool json_on_stdout = args->summary && strcmp(args->summary, "-") == 0;
    bool talks = !args->quiet && !json_on_stdout;
    if (talks && job->report.final)
        bg_certificate_print(job->problem, &job->options, &job->report,
                             job->saved ? args->output : NULL);
    bg_error summary_err = {0}, page_err = {0};
    bg_status paged = write_page(job, args, talks, &page_err);
    bg_status summarised = args->summary ? write_summary(job, reference, args, &summary_err)
                                         : BG_OK;
    fflush(stdout);

    int code = BG_EXIT_DONE;
    if (status == BG_STOPPED && *bg_stop_get()) {
        fprintf(stderr, "bogie: stopped by a signal\n");
        code = job->report.checkpoint.status ? bg_error_print(&job->report.checkpoint)
                                             : BG_EXIT_STOPPED;
    } else if (status && status != BG_STOPPED) {
        err->status = status;
        code = bg_error_print(err);
        if (job->report.final && status != BG_IO) {
            code = BG_EXIT_FAILED; /* the input was good enough to start with */
            if (job->report.checkpoint.status)
                bg_error_print(&job->report.checkpoint);
        }
    }
    if (code == BG_EXIT_DONE && args->strict && job->report.verdict != BG_GOOD)
        code = refuse_doubtful(&job->report);
    else if (code != BG_EXIT_DONE)
        print_reached(job, args);
    int summary_code = summarised ? bg_error_print(&summary_err) : BG_EXIT_DONE;
    int page_code = paged ? bg_error_print(&page_err) : BG_EXIT_DONE;
    return code != BG_EXIT_DONE ? code : summary_code != BG_EXIT_DONE ? summary_code : page_code;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    run_arguments args = default_arguments();
    const char *reference;
    bg_error err = {0};
    bg_status status = bg_cli_parse(verb, argc, argv, &args, &reference, &err);
    if (status) {
        bg_cli_settings_clear(&args.settings);
        return bg_error_print(&err);
    }
    simulation job = {0};
    int code;
    status = prepare(&job, reference, &args, &err);
    if (!status)
        status = simulate(&job, &args, &err);
    if (status && !job.report.final)
        report_unstarted(&job, status, &err);
    code = job.checked ? conclude(&job, reference, &args, status, &err) : bg_error_print(&err);
    simulation_clear(&job);
    bg_cli_settings_clear(&args.settings);
    return code;
}

const bg_verb bg_verb_run = {
    .name = "run",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .summary = "simulate a system and print how far the result can be trusted",
    .description = "Integrates the equations of motion from a consistent start, writes results, "
                   "and prints the certificate: the largest violations of the constraints, the "
                   "energy error, events, and a verdict.\n\n"
                   "Ctrl-C ends a run cleanly; with --checkpoint it can go on later, bit by bit "
                   "like one that was never cut. Of a model file --set changes anything by its "
                   "path: `parameters.speed=20`, `joints.a.axis=[0,1,0]`; parameters are set "
                   "first.",
    .examples =
        "bogie run models/five-link-suspension.json --set parameters.speed=20 --html bump.html\n"
        "bogie run models/iftomm-a01-pendulum.json --formulation cartesian\n"
        "bogie run equations:car-axle --rtol 1e-8 --atol 1e-8 -o axle.csv\n"
        "bogie run equations:chain --set N=20 --t-end 2 --summary -",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
