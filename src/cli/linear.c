#include "cli/linear.h"

#include <math.h>
#include <stdio.h>

bg_status bg_linear_job_open(const char *reference, const bg_linear_arguments *args,
                             bg_linear_job *job, bg_error *err)
{
    bg_problem_def def = bg_cli_make_def(reference, args->formulation, &args->settings);
    bg_analysis_options options = bg_default_analysis_options();
    def.equilibrium = args->equilibrium;
    options.at = args->at;
    options.stop = bg_stop_get();
    if (!isnan(args->at))
        bg_stop_listen();
    bg_status st = bg_problem_create(&def, &job->problem, err);
    return st == BG_OK ? bg_analysis_create(job->problem, &options, &job->analysis, err) : st;
}

void bg_linear_job_close(bg_linear_job *job)
{
    bg_analysis_destroy(job->analysis);
    bg_problem_destroy(job->problem);
}

int bg_linear_run(const bg_verb *verb, const bg_linear_verb *own, int argc, char **argv, void *args)
{
    bg_linear_arguments *linear = args;
    const char *reference;
    bg_error err = {0};
    bg_linear_job job = {0};
    bg_status st = bg_cli_parse(verb, argc, argv, args, &reference, &err);
    if (st == BG_OK && linear->equilibrium && !isnan(linear->at))
        st = bg_error_set(&err, BG_BAD_INPUT,
                          "--equilibrium and --at exclude each other: an equilibrium is found from "
                          "the start");
    if (st == BG_OK)
        st = own->check(args, &err);
    if (st == BG_OK)
        st = bg_linear_job_open(reference, linear, &job, &err);
    if (st == BG_OK)
        st = own->work(&job, args, &err);
    bg_linear_job_close(&job);
    bg_cli_settings_clear(&linear->settings);
    fflush(stdout);
    err.status = st;
    return st == BG_OK ? BG_EXIT_DONE : bg_error_print(&err);
}
