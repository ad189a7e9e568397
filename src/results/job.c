/* A run whose rows, events and steps stay in one batch, which grows. */
#include "bogie/job.h"

#include "base/memory.h"
#include "results/save.h"

#include <stdlib.h>
#include <string.h>

struct bg_job {
    const bg_problem *problem;
    bg_run_options options;
    bg_batch batch;
    bg_run_report report;
    volatile sig_atomic_t stop;
    int (*watch)(void *self, double t, long steps);
    void *watch_self;
    bool begun, ran;
};

static bg_status begin(void *self, bg_error *err)
{
    (void)err;
    ((bg_job *)self)->begun = true;
    return BG_OK;
}

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    bg_job *job = self;
    if (!bg_batch_make_room(&job->batch))
        return bg_error_set(err, BG_NO_MEMORY,
                            "out of memory after %d rows of results; ask for fewer (output "
                            "interval), or write them to a file while the model runs",
                            job->batch.rows);
    bg_batch_add_row(&job->batch, row);
    return BG_OK;
}

static bg_status take_event(void *self, const bg_event *event, bg_error *err)
{
    return bg_batch_add_event(&((bg_job *)self)->batch, event, err);
}

static bg_status take_step(void *self, const bg_step *step, bg_error *err)
{
    bg_job *job = self;
    if (!bg_batch_make_room(&job->batch))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the history of %d steps",
                            job->batch.steps);
    bg_batch_add_step(&job->batch, step);
    return BG_OK;
}

static void report_progress(void *self, const bg_progress *progress)
{
    bg_job *job = self;
    if (job->watch && job->watch(job->watch_self, progress->t, progress->steps) != 0)
        job->stop = 1;
}

bg_status bg_job_create(const bg_problem *problem, bg_job **job, bg_error *err)
{
    bg_job *j = BG_NEW(bg_job);
    *job = NULL;
    if (!j)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a job");
    j->problem = problem;
    j->options = bg_problem_get_run_options(problem);
    j->options.stop = &j->stop;
    j->options.progress = report_progress;
    j->options.progress_self = j;
    j->options.sink = (bg_sink){
        .self = j, .begin = begin, .row = take_row, .event = take_event, .step = take_step};
    bg_status st = bg_batch_create(bg_problem_get_system(problem), &j->batch, err);
    if (st == BG_OK)
        *job = j;
    else
        bg_job_destroy(j);
    return st;
}

void bg_job_destroy(bg_job *job)
{
    if (!job)
        return;
    bg_run_report_clear(&job->report);
    bg_batch_clear(&job->batch);
    free(job);
}

void bg_job_watch(bg_job *job, int (*watch)(void *self, double t, long steps), void *self)
{
    job->watch = watch;
    job->watch_self = self;
}

void bg_job_stop(bg_job *job)
{
    job->stop = 1;
}

bg_status bg_job_run(bg_job *job, bg_error *err)
{
    if (job->ran)
        return bg_error_set(err, BG_BAD_INPUT, "a job runs once; make another one");
    job->ran = true;
    bg_status st = bg_run(bg_problem_get_system(job->problem), &job->options, &job->report, err);
    if (st != BG_OK && !job->report.final)
        bg_problem_locate(job->problem, st, err);
    return st;
}

char *bg_job_create_summary(const bg_job *job)
{
    return bg_summary_create(bg_problem_get_system(job->problem),
                             bg_problem_get_reference(job->problem), &job->report);
}

static const bg_field *find_field(const bg_batch *batch, const char *dataset)
{
    for (int k = 0; k < BG_FIELD_COUNT; k++)
        if (strcmp(batch->field[k].name, dataset) == 0)
            return &batch->field[k];
    return NULL;
}

static const void *found(const void *data, int n, int columns, long *rows, int *width)
{
    *rows = n;
    *width = columns;
    return data;
}

const double *bg_job_get(const bg_job *job, const char *dataset, long *rows, int *width)
{
    const bg_batch *b = &job->batch;
    const bg_field *field = find_field(b, dataset);
    if (field && !field->integer)
        return found(field->data, b->rows, field->width, rows, width);
    if (strcmp(dataset, "events/t") == 0)
        return found(b->event_t, b->events, 1, rows, width);
    for (int k = 0; k < BG_STEP_COUNT; k++)
        if (strncmp(dataset, "steps/", 6) == 0 && strcmp(dataset + 6, bg_step_names[k]) == 0)
            return found(b->step[k], b->steps, 1, rows, width);
    return found(NULL, 0, 0, rows, width);
}

const int *bg_job_get_whole(const bg_job *job, const char *dataset, long *rows, int *width)
{
    const bg_batch *b = &job->batch;
    const bg_field *field = find_field(b, dataset);
    if (field && field->integer)
        return found(field->data, b->rows, field->width, rows, width);
    const struct {
        const char *name;
        const int *data;
        int rows;
    } others[] = {{"events/index", b->event_index, b->events},
                  {"events/direction", b->event_direction, b->events},
                  {"steps/order", b->step_order, b->steps},
                  {"steps/rejected", b->step_rejected, b->steps}};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (strcmp(dataset, others[k].name) == 0)
            return found(others[k].data, others[k].rows, 1, rows, width);
    return found(NULL, 0, 0, rows, width);
}

const char *bg_job_get_name(const bg_job *job, const char *dataset, int column, char *buffer,
                            size_t size)
{
    const bg_field *field = find_field(&job->batch, dataset);
    return field && column >= 0 && column < field->width
               ? bg_batch_get_name(&job->batch, field, column, buffer, size)
               : NULL;
}

const char *bg_job_get_unit(const bg_job *job, const char *dataset, int column)
{
    const bg_field *field = find_field(&job->batch, dataset);
    return field && column >= 0 && column < field->width
               ? bg_batch_get_unit(&job->batch, field, column)
               : "";
}

bg_status bg_job_save(const bg_job *job, const char *path, bg_error *err)
{
    if (!job->begun)
        return bg_error_set(err, BG_BAD_INPUT,
                            "there are no results to write to '%s': the run has not started", path);
    return bg_result_save(path, job->problem, &job->options, &job->batch, &job->report, err);
}
