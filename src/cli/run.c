/* bogie run: simulates a system and writes results, summary, checkpoint and certificate. */
#include "base/output.h"
#include "cli/cli.h"

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct arguments {
    const char *integrator, *output, *summary, *checkpoint, *resume;
    double t_start, t_end, rtol, atol, step, h_initial, h_min, h_max, output_interval; /* NAN: - */
    long max_steps, checkpoint_steps;
    int formulation, output_steps, refuse_redundant, quiet, strict;
    bg_cli_settings settings;
} arguments;

#define FIELD(name) offsetof(arguments, name)

static const bg_cli_option options[] = {
    {"--integrator", NULL, "NAME", BG_CLI_TEXT, FIELD(integrator),
     "method (default: the model's, or mdop5)"},
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE, FIELD(formulation),
     "coordinates of a model (default: the model's, or joint)"},
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
    {"--max-steps", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(max_steps),
     "give up after N accepted steps"},
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, FIELD(settings),
     "parameter of the system, path into a model, or integrator.OPTION=VALUE"},
    {"--output", "-o", "FILE", BG_CLI_TEXT, FIELD(output), "results, FILE.h5 or FILE.csv"},
    {"--output-interval", NULL, "DT", BG_CLI_POSITIVE, FIELD(output_interval),
     "a row of results every DT s"},
    {"--output-steps", NULL, NULL, BG_CLI_FLAG, FIELD(output_steps),
     "a row at every step (default without --output-interval)"},
    {"--summary", NULL, "FILE|-", BG_CLI_TEXT, FIELD(summary), "summary as JSON; - is stdout"},
    {"--checkpoint", NULL, "FILE", BG_CLI_TEXT, FIELD(checkpoint),
     "where to save the state to go on from"},
    {"--checkpoint-steps", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(checkpoint_steps),
     "save it also every N accepted steps"},
    {"--resume", NULL, "FILE", BG_CLI_TEXT, FIELD(resume), "go on from a checkpoint"},
    {"--redundant", NULL, "allow|refuse", BG_CLI_CHOICE, FIELD(refuse_redundant),
     "what to do with dependent constraints (default allow)"},
    {"--strict", NULL, NULL, BG_CLI_FLAG, FIELD(strict),
     "exit code 1 unless the verdict on the result is good"},
    {"--quiet", NULL, NULL, BG_CLI_FLAG, FIELD(quiet), "no certificate and no progress bar"},
};

static arguments default_arguments(void)
{
    return (arguments){
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

/* Splits args->settings: those before the integrator's go to the system, *nparameters of them. */
static bg_run_options make_options(arguments *args, const char *model, int *nparameters)
{
    bg_run_options run = bg_default_run_options();
    *nparameters = bg_cli_settings_split(&args->settings, "integrator.");
    run.model = model;
    run.parameters = args->settings.items;
    run.nparameters = *nparameters;
    if (args->integrator)
        run.integrator = args->integrator;
    run.t_start = args->t_start;
    run.t_end = args->t_end;
    set_if_given(&run.method.rtol, args->rtol);
    set_if_given(&run.method.atol, args->atol);
    set_if_given(&run.method.step, args->step);
    set_if_given(&run.method.h_initial, args->h_initial);
    set_if_given(&run.method.h_min, args->h_min);
    set_if_given(&run.method.h_max, args->h_max);
    set_if_given(&run.output_interval, args->output_interval);
    run.method.nsettings = args->settings.count - *nparameters;
    if (run.method.nsettings > 0)
        run.method.settings = args->settings.items + *nparameters;
    run.max_steps = args->max_steps;
    run.output_steps = args->output_steps || (args->output && isnan(args->output_interval));
    run.refuse_redundant = args->refuse_redundant;
    run.checkpoint = args->checkpoint;
    run.checkpoint_steps = args->checkpoint_steps;
    run.resume = args->resume;
    run.stop = bg_stop_get();
    return run;
}

/* Options of the file's integrator before those of the command line, which win. */
static bg_status join_options(const bg_model *file, bg_run_options *run, bg_setting **joined,
                              bg_error *err)
{
    int n = file->noptions + run->method.nsettings;
    if (file->noptions == 0 || strcmp(file->integrator, run->integrator) != 0)
        return BG_OK;
    bg_setting *all = *joined = calloc((size_t)n, sizeof *all);
    if (!all)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the integrator's options");
    memcpy(all, file->options, (size_t)file->noptions * sizeof *all);
    if (run->method.nsettings > 0)
        memcpy(all + file->noptions, run->method.settings,
               (size_t)run->method.nsettings * sizeof *all);
    run->method.settings = all;
    run->method.nsettings = n;
    return BG_OK;
}

/* Where the command line says nothing, a model file may; its times are the system's. */
static void use_file(const bg_cli_model *model, const arguments *args, bg_run_options *run)
{
    const bg_model *file = model->file;
    run->formulation = model->formulation;
    if (!file)
        return;
    if (!args->integrator && file->integrator[0])
        run->integrator = file->integrator;
    if (isnan(args->rtol))
        set_if_given(&run->method.rtol, file->rtol);
    if (isnan(args->atol))
        set_if_given(&run->method.atol, file->atol);
    if (isnan(args->step))
        set_if_given(&run->method.step, file->step);
    if (args->output && !args->output_steps && isnan(args->output_interval) &&
        !isnan(file->output_interval)) {
        run->output_interval = file->output_interval;
        run->output_steps = 0;
    }
}

/* One file cannot serve two purposes, and rows already computed are not written over. */
static bg_status check_files(const arguments *args, bg_error *err)
{
    const struct {
        const char *option, *path;
    } files[] = {
        {"-o", args->output}, {"--summary", args->summary}, {"--checkpoint", args->checkpoint}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            if (files[i].path && files[k].path && bg_place_is_same(files[i].path, files[k].path))
                return bg_error_set(err, BG_BAD_INPUT, "%s and %s both name '%s'; give two files",
                                    files[k].option, files[i].option, files[i].path);
    struct stat info;
    if (args->resume && args->output && stat(args->output, &info) == 0 && S_ISREG(info.st_mode))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' exists; a resumed run writes only the rows that follow: give -o "
                            "another name, and keep both",
                            args->output);
    return BG_OK;
}

/* What can be refused before anything is opened. */
static bg_status check_arguments(const arguments *args, bg_error *err)
{
    if (!args->output && (args->output_steps || !isnan(args->output_interval)))
        return bg_error_set(err, BG_BAD_INPUT,
                            "%s needs a file for the rows: -o FILE.h5 or FILE.csv",
                            args->output_steps ? "--output-steps" : "--output-interval");
    if (args->checkpoint_steps > 0 && !args->checkpoint)
        return bg_error_set(err, BG_BAD_INPUT, "--checkpoint-steps needs --checkpoint FILE");
    bg_status status = check_files(args, err);
    if (!status && args->checkpoint)
        status = bg_place_check(args->checkpoint, BG_PLACE_CHECKPOINT, err);
    if (status)
        return status;
    if (args->summary && strcmp(args->summary, "-") != 0)
        return bg_place_check(args->summary, BG_PLACE_SUMMARY, err);
    return BG_OK;
}

static bg_status check_times(const bg_system_def *def, const arguments *args, bg_error *err)
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
    bg_cli_model model;
    bg_result *result; /* NULL without -o */
    bg_run_report report;
    bg_progress_bar bar;
    bg_setting *options; /* of the integrator, where the file has some */
    bool saved;          /* the result is complete */
} simulation;

static void simulation_clear(simulation *job)
{
    if (job->result)
        bg_result_destroy(job->result);
    bg_run_report_clear(&job->report);
    bg_cli_model_close(&job->model);
    free(job->options);
}

/* Opens the system and the result file. *run gets the sink and what a model
 * file says. */
static bg_status prepare(simulation *job, const char *reference, const arguments *args,
                         int nparameters, bg_run_options *run, bg_error *err)
{
    bg_status status = check_arguments(args, err);
    if (!status)
        status = bg_cli_model_read(reference, args->formulation, args->settings.items, nparameters,
                                   &job->model, err);
    if (!status)
        status = bg_cli_model_create(&job->model, args->settings.items, nparameters, err);
    if (!status) {
        use_file(&job->model, args, run);
        status = check_times(bg_system_get_def(job->model.system), args, err);
        if (!status && job->model.file)
            status = join_options(job->model.file, run, &job->options, err);
    }
    if (!status && args->output) {
        status = bg_result_create(args->output, reference, run->integrator, job->model.system,
                                  &job->result, err);
        if (!status)
            status = bg_result_describe(job->result, job->model.file, run, err);
        if (!status)
            run->sink = bg_result_get_sink(job->result);
    }
    return status;
}

/* Runs and completes the result file. A run that never started leaves files as they were. */
static bg_status simulate(simulation *job, const arguments *args, bg_run_options *run,
                          bg_error *err)
{
    if (!args->quiet && isatty(STDERR_FILENO)) {
        run->progress = bg_progress_bar_update;
        run->progress_self = &job->bar;
    }
    bg_stop_listen();
    bg_status status = bg_run(job->model.system, run, &job->report, err);
    if (status && !job->report.final)
        bg_cli_model_locate(&job->model, status, err);
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

static bg_status write_summary(const simulation *job, const arguments *args, bg_error *err)
{
    bool to_stdout = strcmp(args->summary, "-") == 0;
    if (!to_stdout && !job->report.final)
        return BG_OK; /* never started: keep an earlier summary */
    char *text = bg_summary_create(job->model.system, job->model.reference, &job->report);
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
static void print_reached(const simulation *job, const arguments *args)
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

/* Prints the outcome and returns the exit code. */
static int conclude(const simulation *job, const arguments *args, const bg_run_options *run,
                    bg_status status, bg_error *err)
{
    bool json_on_stdout = args->summary && strcmp(args->summary, "-") == 0;
    if (!args->quiet && !json_on_stdout && job->report.final)
        bg_certificate_print(&job->model, run, &job->report, job->saved ? args->output : NULL);
    bg_error summary_err = {0};
    bg_status summarised = args->summary ? write_summary(job, args, &summary_err) : BG_OK;
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
    if (summarised) {
        int summary_code = bg_error_print(&summary_err);
        code = code == BG_EXIT_DONE ? summary_code : code;
    }
    return code;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    arguments args = default_arguments();
    const char *reference;
    bg_error err = {0};
    bg_status status = bg_cli_parse(verb, argc, argv, &args, &reference, &err);
    if (status) {
        bg_cli_settings_clear(&args.settings);
        return bg_error_print(&err);
    }
    simulation job = {0};
    int nparameters, code;
    bg_run_options run_options = make_options(&args, reference, &nparameters);
    status = prepare(&job, reference, &args, nparameters, &run_options, &err);
    if (status) {
        code = bg_error_print(&err);
    } else {
        status = simulate(&job, &args, &run_options, &err);
        code = conclude(&job, &args, &run_options, status, &err);
    }
    simulation_clear(&job);
    bg_cli_settings_clear(&args.settings);
    return code;
}

const bg_verb bg_verb_run = {
    .name = "run",
    .operand = "MODEL",
    .summary = "simulate a system and print how far the result can be trusted",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
