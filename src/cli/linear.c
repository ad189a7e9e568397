#include "cli/linear.h"

#include "run/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void bg_linear_job_print_doubt(const bg_linear_job *job)
{
    const char *form = job->problem->formulation;
    if (!bg_analysis_is_instant(job->analysis))
        return;
    if (job->analysis->rests && form && strcmp(form, "cartesian") == 0)
        printf("  remark           the motion is steady, but not in these coordinates: its "
               "eigenvalues are those of the instant; --formulation joint has others\n");
    else
        printf("  remark           this state is no equilibrium: its eigenvalues are those of the "
               "instant, and depend on the coordinates\n");
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
