/* Runs a model, reads an output of it, and makes the same motion in steps of a millisecond. */
#include <bogie/bogie.h>

#include <stdio.h>

static int fail(const bg_error *err)
{
    fprintf(stderr, "drive: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    bg_error err;
    bg_problem *problem;
    bg_problem_def def = bg_default_problem_def();
    def.reference = argc > 1 ? argv[1] : "models/four-bar.json"; /* or equations:pendulum */
    def.t_end = 2;
    if (bg_problem_create(&def, &problem, &err) != BG_OK)
        return fail(&err);

    bg_job *job; /* with error control, as the model says under "run" */
    if (bg_job_create(problem, &job, &err) != BG_OK || bg_job_run(job, &err) != BG_OK)
        return fail(&err);
    long rows;
    int width;
    char buffer[64];
    const double *y = bg_job_get(job, "outputs", &rows, &width); /* rows x width */
    const char *name = bg_job_get_name(job, "outputs", 0, buffer, sizeof buffer);
    printf("%ld rows; %s is %.6f in the end\n", rows, name, y[(rows - 1) * width]);

    bg_realtime *rt; /* fixed work per step, for a loop with its own clock */
    bg_realtime_options options = bg_problem_get_realtime_options(problem);
    options.period = 1e-3;
    options.outputs = &name;
    options.noutputs = 1;
    if (bg_realtime_create(bg_problem_get_system(problem), &options, &rt, &err) != BG_OK)
        return fail(&err);
    double output = 0;
    for (int k = 0; k < 2000; k++)
        if (bg_realtime_step(rt, NULL, &output, &err) != BG_OK)
            return fail(&err);
    printf("%.6f after 2000 steps of 1 ms\n", output);

    bg_realtime_destroy(rt);
    bg_job_destroy(job);
    bg_problem_destroy(problem);
    return 0;
}
