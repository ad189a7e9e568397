#include "cli/linear.h"

#include "run/problem.h"
#include "run/start.h"

#include <math.h>
#include <stdio.h>

static bg_status start(bg_linear_job *job, bg_error *err)
{
    const bg_system *system = job->problem->system;
    double t = job->problem->run.t_start;
    snprintf(job->where, sizeof job->where, "%s",
             system->equilibrium ? "in equilibrium" : "at the start");
    t = isnan(t) ? system->def.t_start : t;
    job->rests = system->equilibrium;
    return system->equilibrium ? bg_start_find_rest(job->evaluator, t, job->state, &job->start, err)
                               : bg_start_find(job->evaluator, t, job->state, &job->start, err);
}

/* By the method that the problem says, without results. */
static bg_status run_to(bg_linear_job *job, double t, bg_error *err)
{
    bg_run_options options = bg_problem_get_run_options(job->problem);
    options.t_end = t;
    options.output_interval = 0;
    options.output_steps = 0;
    options.stop = bg_stop_get();
    bg_stop_listen();
    bg_status st = bg_run(job->problem->system, &options, &job->run, err);
    if (st == BG_OK)
        bg_state_copy(job->problem->system, job->run.final, job->state);
    snprintf(job->where, sizeof job->where, "at t = %g s", job->state->t);
    return st;
}

bg_status bg_linear_job_open(const char *reference, const bg_linear_arguments *args,
                             bg_linear_job *job, bg_error *err)
{
    bg_problem_def def = bg_cli_make_def(reference, args->formulation, &args->settings);
    def.equilibrium = args->equilibrium;
    bg_status st = bg_problem_create(&def, &job->problem, err);
    if (st != BG_OK)
        return st;
    const bg_system *system = job->problem->system;
    st = bg_evaluator_create(system, &job->evaluator, err);
    if (st == BG_OK)
        st = bg_state_create(system, &job->state, err);
    bool moved = !isnan(args->at);
    if (st == BG_OK)
        st = moved ? run_to(job, args->at, err) : start(job, err);
    if (st != BG_OK) {
        bg_problem_locate(job->problem, st, err);
        return st;
    }
    st = bg_linearisation_create(job->evaluator, &job->linearisation, err);
    return st == BG_OK ? bg_linearisation_update(
                             job->linearisation, job->state,
                             moved ? &job->run.assembly.redundancy : &job->start.redundancy, err)
                       : st;
}

void bg_linear_job_close(bg_linear_job *job)
{
    bg_linearisation_destroy(job->linearisation);
    bg_assembly_report_clear(&job->start);
    bg_run_report_clear(&job->run);
    bg_state_destroy(job->state);
    bg_evaluator_destroy(job->evaluator);
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

const bg_warnings *bg_linear_job_get_warnings(const bg_linear_job *job)
{
    return job->run.final ? &job->run.warnings : &job->start.warnings;
}
