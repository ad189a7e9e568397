/* One case, from its number to its record.
 *
 * Processor time is the best of the study's repetitions, each a run that writes no rows; metrics
 * that need rows get a run of their own beside them. The largest stable step is found by bisection
 * on a logarithmic scale: a step is stable when the run reaches its end and the limits hold. */
#include "base/memory.h"
#include "results/summary.h"
#include "study/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct case_job {
    const bg_study *study;
    long k;
    const bg_trajectory *const *references;
    const json_t *settings;
    const bool *mask; /* which metrics; NULL: all */
} case_job;

static bool is_wanted(const case_job *j, int i)
{
    return !j->mask || j->mask[i];
}

static bool wants_time(const case_job *j)
{
    for (int i = 0; i < j->study->nmetrics; i++)
        if (j->study->timing && is_wanted(j, i) && j->study->metrics[i].timing)
            return true;
    return false;
}

/* Runs without rows; the least processor time of all, and the best speed. */
static bg_status repeat(const case_job *j, int times, double *cpu, double *speed, bg_error *err)
{
    bg_status st = BG_OK;
    for (int i = 0; i < times && st == BG_OK; i++) {
        bg_simulation sim;
        bg_run_report report = {0};
        st = bg_simulation_open(j->study, j->settings, &sim, err);
        if (st != BG_OK)
            return st;
        sim.run.output_steps = 0;
        sim.run.output_interval = 0;
        st = bg_run(sim.system, &sim.run, &report, err);
        *cpu = fmin(*cpu, report.cpu_seconds);
        *speed = fmax(*speed, report.certificate.real_time_factor);
        bg_run_report_clear(&report);
        bg_simulation_close(&sim);
        st = st == BG_STOPPED ? BG_OK : st;
    }
    return st;
}

static void fill_cells(const case_job *j, const bg_measure *m, const bg_run_report *report,
                       const json_t *summary, bool ok, bg_record *record)
{
    for (int i = 0; i < j->study->nmetrics; i++) {
        const bg_metric *metric = &j->study->metrics[i];
        bool hidden = metric->timing && !j->study->timing;
        if (!is_wanted(j, i) || hidden || !bg_metric_is_own(metric) ||
            metric->kind == BG_METRIC_STABLE_STEP || (!ok && metric->kind != BG_METRIC_SUMMARY))
            continue;
        record->cells[i] = bg_measure_get(m, i, report, summary);
    }
    for (int i = 0; i < j->study->ncurves && !j->mask && record->curves; i++)
        if (!bg_measure_get_curve(m, i, &record->curves[i]))
            bg_record_fail(record, "out of memory for the curves of a plot");
}

static void finish(const case_job *j, const bg_simulation *sim, const bg_measure *m,
                   const bg_run_report *report, bg_record *record)
{
    bool ok = report->status == BG_OK || report->status == BG_STOPPED;
    json_t *summary = bg_summary_make_json(sim->system, bg_problem_get_reference(sim->problem),
                                           report);
    if (!j->mask && j->study->ncurves > 0)
        record->curves = BG_NEW_ARRAY(bg_trajectory, j->study->ncurves);
    record->done = true;
    record->ok = ok;
    fill_cells(j, m, report, summary, ok, record);
    json_decref(summary);
    if (!ok)
        bg_record_fail(record,
                       report->message[0] ? report->message : bg_status_text(report->status));
}

/* A start that was not found is told with its place in the model, as `bogie run` does. */
static void locate(const bg_simulation *sim, bg_run_report *report)
{
    bg_error err = {.status = report->status};
    snprintf(err.text, sizeof err.text, "%s", report->message);
    bg_problem_locate(sim->problem, report->status, &err);
    snprintf(report->message, sizeof report->message, "%s", err.text);
}

/* The run that is measured; its time counts when it wrote no rows. */
static void run_measured(const case_job *j, bg_simulation *sim, bg_measure *m, bg_record *record)
{
    bg_run_report report = {0};
    bg_error err = {0};
    double cpu = HUGE_VAL, speed = 0;
    if (m->rows)
        sim->run.sink = bg_measure_get_sink(m);
    else
        sim->run.output_steps = 0, sim->run.output_interval = 0;
    bg_status st = bg_run(sim->system, &sim->run, &report, &err);
    if (st != BG_OK && !report.final)
        locate(sim, &report);
    if ((st == BG_OK || st == BG_STOPPED) && wants_time(j)) {
        if (!m->rows) {
            cpu = report.cpu_seconds;
            speed = report.certificate.real_time_factor;
        }
        repeat(j, j->study->repetitions - !m->rows, &cpu, &speed, &err);
        report.cpu_seconds = cpu;
        report.certificate.real_time_factor = speed;
    }
    finish(j, sim, m, &report, record);
    bg_run_report_clear(&report);
}

/* Runs the settings of the job and fills in the cells of its metrics. */
static void evaluate(const case_job *j, bg_record *record)
{
    bg_simulation sim;
    bg_measure measure = {0};
    bg_error err = {0};
    bg_status st = bg_simulation_open(j->study, j->settings, &sim, &err);
    if (st != BG_OK) {
        bg_record_fail(record, err.text);
        return;
    }
    st = bg_measure_create(j->study, j->k, j->references, j->mask, sim.system, &measure, &err);
    if (st == BG_OK)
        run_measured(j, &sim, &measure, record);
    else
        bg_record_fail(record, err.text);
    bg_measure_clear(&measure);
    bg_simulation_close(&sim);
}

/* Whether steps of h are stable. */
static bool is_stable(const case_job *j, const bg_metric *metric, double h)
{
    bg_record record;
    bool *mask = BG_NEW_ARRAY(bool, j->study->nmetrics);
    json_t *settings = json_copy((json_t *)j->settings);
    bool ok = mask && settings && bg_record_create(j->study, j->k, &record) == BG_OK;
    if (ok) {
        json_object_set_new(settings, "step", json_real(h));
        for (int i = 0; i < metric->nlimits; i++)
            mask[metric->limited[i]] = true;
        case_job inner = {j->study, j->k, j->references, settings, mask};
        evaluate(&inner, &record);
        ok = record.ok;
        for (int i = 0; i < metric->nlimits && ok; i++)
            ok = fabs(bg_cell_get_number(&record.cells[metric->limited[i]])) <= metric->limits[i];
        bg_record_clear(j->study, &record);
    }
    json_decref(settings);
    free(mask);
    return ok;
}

/* The largest step that was seen to be stable, with an unstable one close above it. `to` where
 * that is stable, none where `from` is not. */
static bg_cell find_stable_step(const case_job *j, const bg_metric *metric)
{
    double low = metric->from, high = metric->to;
    if (is_stable(j, metric, high))
        return bg_cell_from_number(high);
    if (!is_stable(j, metric, low))
        return (bg_cell){0};
    while (high > low * (1 + metric->accuracy)) {
        double middle = sqrt(low * high);
        if (is_stable(j, metric, middle))
            low = middle;
        else
            high = middle;
    }
    return bg_cell_from_number(low);
}

void bg_case_run(const bg_study *s, long k, const bg_trajectory *const *references,
                 bg_record *record)
{
    json_t *settings = bg_study_make_settings(s, k);
    if (!settings) {
        bg_record_fail(record, "out of memory for the settings of the case");
        return;
    }
    case_job j = {s, k, references, settings, NULL};
    evaluate(&j, record);
    for (int i = 0; i < s->nmetrics && record->ok; i++)
        if (s->metrics[i].kind == BG_METRIC_STABLE_STEP)
            record->cells[i] = find_stable_step(&j, &s->metrics[i]);
    json_decref(settings);
}

json_t *bg_reference_make_settings(const bg_study *s, long k, int r)
{
    json_t *settings = bg_study_make_settings(s, k);
    if (settings && bg_settings_merge(settings, s->references[r].settings))
        return settings;
    json_decref(settings);
    return NULL;
}

typedef struct case_recorder {
    bg_channels channels;
    bg_trajectory *samples;
    double *x;
} case_recorder;

static bg_status record_row(void *self, const bg_row *row, bg_error *err)
{
    case_recorder *r = self;
    bg_channels_read(&r->channels, row, r->x);
    if (bg_trajectory_add(r->samples, row->state->t, r->x))
        return BG_OK;
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the samples of a reference");
}

/* All quantities that metrics compare with reference r in case k, one metric after the other. */
static bg_status collect_channels(const bg_study *s, long k, int r, const bg_system *system,
                                  bg_channels *channels, bg_error *err)
{
    int total = 0;
    bg_names all = {0};
    for (int i = 0; i < s->nmetrics; i++)
        total += s->metrics[i].names.count;
    all.items = BG_NEW_ARRAY(const char *, total);
    if (!all.items)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a reference");
    for (int i = 0; i < s->nmetrics; i++)
        if (s->metrics[i].kind == BG_METRIC_ERROR &&
            bg_study_find_reference(s, &s->metrics[i], k) == r)
            for (int n = 0; n < s->metrics[i].names.count; n++)
                all.items[all.count++] = s->metrics[i].names.items[n];
    bg_status st = bg_channels_resolve(system, all, channels, err);
    free(all.items);
    return st;
}

bg_status bg_reference_run(const bg_study *s, long k, int r, bg_trajectory *samples, bg_error *err)
{
    bg_simulation sim;
    case_recorder rec = {.samples = samples};
    bg_run_report report = {0};
    json_t *settings = bg_reference_make_settings(s, k, r);
    if (!settings)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings of a reference");
    bg_status st = bg_simulation_open(s, settings, &sim, err);
    if (st == BG_OK) {
        st = collect_channels(s, k, r, sim.system, &rec.channels, err);
        rec.x = BG_NEW_ARRAY(double, rec.channels.count);
        samples->width = rec.channels.count;
        sim.run.sink = (bg_sink){.self = &rec, .row = record_row};
        if (st == BG_OK && rec.x)
            st = bg_run(sim.system, &sim.run, &report, err);
        st = st == BG_STOPPED ? BG_OK : st;
        bg_run_report_clear(&report);
        bg_channels_clear(&rec.channels);
        free(rec.x);
        bg_simulation_close(&sim);
    }
    json_decref(settings);
    return st;
}
