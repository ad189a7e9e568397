/* Results in front of a file format: chooses the format, gathers rows and decides when they go to
 * disk. A failure is final: later calls repeat its sentence. */
#include "bogie/result.h"

#include "base/clock.h"
#include "base/memory.h"
#include "results/save.h"
#include "results/setup.h"
#include "results/writer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const double flush_interval = 1.0; /* s of wall time between timed flushes, at least ... */
static const double flush_share = 0.1; /* ... and so long that they take no more than this share */

struct bg_result {
    bg_place place;
    bg_batch batch;
    const bg_writer_class *class;
    void *writer; /* of the class */
    const bg_system *system;
    char *model;
    double next_flush;    /* s, on the monotonic clock */
    bool begun, finished; /* begun: a consistent start was found, or a row came */
    bg_error failure;     /* BG_OK until a write failed */
};

/* The format by the ending; devices and pipes need none and get CSV. NULL: not a known ending. */
static const bg_writer_class *find_class(const char *path)
{
    static const struct {
        const char *ending;
        const bg_writer_class *class;
    } formats[] = {{".h5", &bg_writer_hdf5}, {".hdf5", &bg_writer_hdf5}, {".csv", &bg_writer_csv}};
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    for (size_t k = 0; dot && k < sizeof formats / sizeof formats[0]; k++)
        if (strcasecmp(dot, formats[k].ending) == 0)
            return formats[k].class;
    return bg_place_is_direct(path) ? &bg_writer_csv : NULL;
}

static bg_status open_result(bg_result *r, const char *path, const char *integrator, bg_error *err)
{
    bg_status status = bg_batch_create(r->system, &r->batch, err);
    if (!status)
        status = bg_place_create(path, r->class->kind, &r->place, err);
    if (!status)
        status = r->class->create(&(bg_writer_def){.place = &r->place,
                                                   .batch = &r->batch,
                                                   .model = r->model,
                                                   .integrator = integrator},
                                  &r->writer, err);
    return status;
}

bg_status bg_result_create(const char *path, const char *model, const char *integrator,
                           const bg_system *system, bg_result **result, bg_error *err)
{
    assert(path && model && integrator && system && result);
    *result = NULL;
    const bg_writer_class *class = find_class(path);
    if (!class)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the ending of '%s' names no format for results; use .h5 or .hdf5 "
                            "(HDF5) or .csv",
                            path);
    bg_result *r = BG_NEW(bg_result);
    if (!r)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the results");
    r->place.fd = -1;
    r->class = class;
    r->system = system;
    r->model = strdup(model);
    r->next_flush = bg_clock_get_wall() + flush_interval;
    bg_status status = r->model ? open_result(r, path, integrator, err)
                                : bg_error_set(err, BG_NO_MEMORY, "out of memory for the results");
    if (status) {
        bg_result_destroy(r);
        return status;
    }
    *result = r;
    return BG_OK;
}

void bg_result_destroy(bg_result *result)
{
    if (!result)
        return;
    if (result->writer)
        result->class->destroy(result->writer);
    bg_place_clear(&result->place);
    bg_batch_clear(&result->batch);
    free(result->model);
    free(result);
}

bg_status bg_result_describe(bg_result *r, const bg_model *model, const bg_run_options *options,
                             bg_error *err)
{
    assert(!r->begun);
    if (!r->class->describe)
        return BG_OK;
    char *text = model ? bg_model_create_text(model) : NULL;
    char *setup = bg_setup_create(r->system, options);
    bg_status status = setup && (text || !model)
                           ? r->class->describe(r->writer, text, setup, err)
                           : bg_error_set(err, BG_NO_MEMORY, "out of memory for the results");
    free(text);
    free(setup);
    return status;
}

static bg_status repeat_failure(const bg_result *r, bg_error *err)
{
    if (err)
        *err = r->failure;
    return r->failure.status;
}

bg_status bg_result_flush(bg_result *r, bg_error *err)
{
    assert(!r->finished);
    if (r->failure.status)
        return repeat_failure(r, err);
    if (r->batch.rows == 0 && r->batch.events == 0 && r->batch.steps == 0)
        return BG_OK;
    double start = bg_clock_get_wall();
    if (r->class->flush(r->writer, &r->batch, &r->failure))
        return repeat_failure(r, err);
    bg_batch_reset(&r->batch);
    double end = bg_clock_get_wall();
    r->next_flush = end + fmax(flush_interval, (end - start) / flush_share);
    return BG_OK;
}

bg_status bg_result_finish(bg_result *r, const bg_run_report *report, bg_error *err)
{
    assert(!r->finished);
    if (r->failure.status)
        return repeat_failure(r, err);
    r->finished = true;
    if (!r->begun) { /* the run never started: nothing to replace an older file with */
        bg_place_discard(&r->place);
        return BG_OK;
    }
    char *summary = bg_summary_create(r->system, r->model, report);
    if (!summary)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the summary of the run");
    bg_status status = r->class->finish(r->writer, &r->batch, summary, &r->failure);
    free(summary);
    if (status)
        return repeat_failure(r, err);
    bg_batch_reset(&r->batch);
    return BG_OK;
}

bg_status bg_result_save(const char *path, const bg_problem *problem, const bg_run_options *options,
                         const bg_batch *batch, const bg_run_report *report, bg_error *err)
{
    bg_result *r = NULL;
    bg_status st = bg_result_create(path, bg_problem_get_reference(problem), report->integrator,
                                    bg_problem_get_system(problem), &r, err);
    if (st == BG_OK)
        st = bg_result_describe(r, bg_problem_get_model(problem), options, err);
    char *summary = st == BG_OK ? bg_summary_create(r->system, r->model, report) : NULL;
    if (summary)
        st = r->class->finish(r->writer, batch, summary, err);
    else if (st == BG_OK)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the summary of the run");
    free(summary);
    bg_result_destroy(r);
    return st;
}

long bg_result_get_rows(const bg_result *r)
{
    return r->place.direct || bg_place_is_current(&r->place) ? r->batch.safe_rows : 0;
}

static bg_status begin(void *self, bg_error *err)
{
    (void)err;
    bg_result *r = self;
    r->begun = true;
    r->next_flush = bg_clock_get_wall() + flush_interval;
    return BG_OK;
}

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    bg_result *r = self;
    assert(!r->finished);
    if (r->failure.status)
        return repeat_failure(r, err);
    r->begun = true;
    bg_batch_add_row(&r->batch, row);
    if (r->batch.rows < r->batch.capacity && bg_clock_get_wall() < r->next_flush)
        return BG_OK;
    return bg_result_flush(r, err);
}

static bg_status take_event(void *self, const bg_event *event, bg_error *err)
{
    bg_result *r = self;
    assert(!r->finished);
    return r->failure.status ? repeat_failure(r, err) : bg_batch_add_event(&r->batch, event, err);
}

static bg_status take_step(void *self, const bg_step *step, bg_error *err)
{
    bg_result *r = self;
    assert(!r->finished);
    if (r->failure.status)
        return repeat_failure(r, err);
    bg_batch_add_step(&r->batch, step);
    return r->batch.steps < r->batch.step_capacity ? BG_OK : bg_result_flush(r, err);
}

static bg_status flush_rows(void *self, bg_error *err)
{
    return bg_result_flush(self, err);
}

bg_sink bg_result_get_sink(bg_result *result)
{
    return (bg_sink){.self = result,
                     .begin = begin,
                     .row = take_row,
                     .event = take_event,
                     .flush = flush_rows,
                     .step = result->class->keeps_steps ? take_step : NULL};
}
