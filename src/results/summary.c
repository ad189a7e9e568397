/* The summary of a run, and how it was made, as one JSON object each; keys and their order are part
 * of the interface (docs/results.md). */
#include "results/summary.h"

#include "bogie/version.h"
#include "results/setup.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* JSON has no word for NaN and infinity. */
static json_t *new_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* A JSON text is UTF-8; of a text that is not, only the ASCII part survives. */
static json_t *new_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    char *ascii = strdup(text);
    for (char *c = ascii; c && *c; c++)
        *c = isascii((unsigned char)*c) ? *c : '?';
    value = ascii ? json_string(ascii) : NULL;
    free(ascii);
    return value;
}

static json_t *new_reals(const double *x, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++) {
        if (json_array_append_new(array, new_real(x[i]))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* An object under construction; a failed allocation is remembered until the end. */
typedef struct summary_builder {
    json_t *object;
    bool failed;
} summary_builder;

static summary_builder begin_object(void)
{
    return (summary_builder){.object = json_object()};
}

/* Takes over value, which may be NULL (out of memory). */
static void put(summary_builder *b, const char *key, json_t *value)
{
    if (json_object_set_new(b->object, key, value))
        b->failed = true;
}

/* As put, for a key that need not be UTF-8. */
static void put_named(summary_builder *b, const char *name, json_t *value)
{
    json_t *key = new_text(name);
    if (json_is_string(key)) {
        put(b, json_string_value(key), value);
    } else {
        json_decref(value);
        b->failed = true;
    }
    json_decref(key);
}

/* The object, or NULL when a part is missing. */
static json_t *end_object(summary_builder *b)
{
    if (!b->failed)
        return b->object;
    json_decref(b->object);
    return NULL;
}

/* "done", "stopped", or the name of the status in small letters: "step-too-small". */
static json_t *new_status(bg_status status)
{
    if (status == BG_OK)
        return json_string("done");
    char word[64] = {0};
    const char *name = bg_status_name(status);
    if (strncmp(name, "BG_", 3) == 0)
        name += 3;
    for (size_t i = 0; name[i] && i + 1 < sizeof word; i++)
        word[i] = isalpha((unsigned char)name[i]) ? (char)tolower((unsigned char)name[i]) : '-';
    return json_string(word);
}

static json_t *new_dimensions(const bg_system_def *def, const bg_run_report *report)
{
    int redundant = report->assembly.redundancy.count;
    summary_builder b = begin_object();
    put(&b, "nq", json_integer(def->nq));
    put(&b, "nv", json_integer(def->nv));
    put(&b, "nz", json_integer(def->nz));
    put(&b, "ng", json_integer(def->ng));
    put(&b, "dof", json_integer(def->nv - (def->ng - redundant)));
    put(&b, "redundant", json_integer(redundant));
    return end_object(&b);
}

static json_t *new_steps(const bg_counters *counters)
{
    summary_builder b = begin_object();
    put(&b, "accepted", json_integer(counters->accepted));
    put(&b, "rejected", json_integer(counters->rejected));
    return end_object(&b);
}

static json_t *new_work(const bg_work *work)
{
    summary_builder b = begin_object();
    put(&b, "terms", json_integer(work->terms));
    put(&b, "constraints", json_integer(work->constraints));
    put(&b, "switching", json_integer(work->switching));
    put(&b, "explicit", json_integer(work->explicit_));
    put(&b, "residual", json_integer(work->residual));
    put(&b, "jacobian", json_integer(work->jacobian));
    put(&b, "jacobian_updates", json_integer(work->jacobian_updates));
    put(&b, "factorisations", json_integer(work->factorisations));
    put(&b, "projections", json_integer(work->projections));
    if (work->slow + work->fast > 0) {
        put(&b, "slow", json_integer(work->slow));
        put(&b, "fast", json_integer(work->fast));
    }
    return end_object(&b);
}

static json_t *new_corrector(const bg_corrector_work *work)
{
    summary_builder b = begin_object();
    put(&b, "residuals", json_integer(work->fc));
    put(&b, "iterations", json_integer(work->fcw));
    put(&b, "jacobians", json_integer(work->evaluations));
    put(&b, "updates", json_integer(work->updates));
    put(&b, "groups", json_integer(work->groups));
    put(&b, "nonzeros", json_integer(work->nonzeros));
    put(&b, "growths", json_integer(work->growths));
    put(&b, "error_failures", json_integer(work->error_failures));
    put(&b, "convergence_failures", json_integer(work->convergence_failures));
    return end_object(&b);
}

static json_t *new_drift(const bg_drift *drift)
{
    summary_builder b = begin_object();
    put(&b, "C0", new_real(drift->C0));
    put(&b, "C1", new_real(drift->C1));
    put(&b, "C2", new_real(drift->C2));
    put(&b, "holds", json_boolean(drift->holds));
    put(&b, "limit", new_real(drift->limit));
    put(&b, "observed", new_real(drift->observed));
    put(&b, "why", drift->why ? json_string(drift->why) : json_null());
    return end_object(&b);
}

static json_t *new_certificate(const bg_certificate *certificate, const bg_redundancy *redundancy)
{
    summary_builder b = begin_object();
    put(&b, "max_g", new_real(certificate->max_g));
    put(&b, "max_gv", new_real(certificate->max_gv));
    put(&b, "max_ga", new_real(certificate->max_ga));
    put(&b, "max_redundant", new_real(certificate->max_redundant));
    put(&b, "redundancy_misfit", new_real(redundancy->misfit));
    put(&b, "redundancy_margin",
        redundancy->count > 0 ? new_real(redundancy->margin) : json_null());
    put(&b, "energy_error", new_real(certificate->energy_error));
    put(&b, "energy_scale", new_real(certificate->energy_scale));
    put(&b, "energy_range", new_real(certificate->energy_range));
    put(&b, "unconverged_steps", json_integer(certificate->unconverged_steps));
    put(&b, "real_time_factor", new_real(certificate->real_time_factor));
    if (certificate->has_drift)
        put(&b, "drift", new_drift(&certificate->drift));
    if (certificate->note[0])
        put(&b, "note", json_string(certificate->note));
    return end_object(&b);
}

static json_t *new_events(const bg_run_report *report)
{
    json_t *array = json_array();
    for (long i = 0; i < report->nevents; i++) {
        summary_builder b = begin_object();
        put(&b, "t", new_real(report->events[i].t));
        put(&b, "name", new_text(report->events[i].name));
        put(&b, "direction", json_integer(report->events[i].direction));
        put(&b, "of", new_text(report->events[i].of));
        if (json_array_append_new(array, end_object(&b))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *new_warnings(const bg_warnings *list)
{
    json_t *array = json_array();
    for (int i = 0; i < list->count; i++) {
        summary_builder b = begin_object();
        put(&b, "verdict", json_string(bg_verdict_get_name(list->items[i].verdict)));
        put(&b, "topic", new_text(list->items[i].topic));
        put(&b, "text", new_text(list->items[i].text));
        if (json_array_append_new(array, end_object(&b))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *new_outputs(const bg_system *system, const double *y)
{
    int ny = bg_system_get_def(system)->ny;
    summary_builder b = begin_object();
    for (int i = 0; i < ny; i++) {
        char buffer[64];
        const char *name = bg_system_get_name(system, 'y', i, buffer, sizeof buffer);
        put_named(&b, name, y ? new_real(y[i]) : json_null());
    }
    return end_object(&b);
}

static json_t *new_output_units(const bg_system *system)
{
    int ny = bg_system_get_def(system)->ny;
    summary_builder b = begin_object();
    for (int i = 0; i < ny; i++) {
        char buffer[64];
        const char *name = bg_system_get_name(system, 'y', i, buffer, sizeof buffer);
        put_named(&b, name, new_text(bg_system_get_unit(system, 'y', i)));
    }
    return end_object(&b);
}

static json_t *new_final(const bg_system *system, const bg_run_report *report)
{
    const bg_state *state = report->final;
    if (!state)
        return json_null();
    const bg_system_def *def = bg_system_get_def(system);
    summary_builder b = begin_object();
    put(&b, "t", new_real(state->t));
    put(&b, "q", new_reals(state->q, def->nq));
    put(&b, "v", new_reals(state->v, def->nv));
    put(&b, "z", new_reals(state->z, def->nz));
    put(&b, "lambda", new_reals(state->lambda, def->ng));
    put(&b, "outputs", new_outputs(system, report->y));
    put(&b, "output_units", new_output_units(system));
    return end_object(&b);
}

/* def and system may be NULL where the report has no final state. */
static json_t *make_summary(const bg_system_def *def, const bg_system *system, const char *model,
                            const bg_run_report *report)
{
    summary_builder b = begin_object();
    put(&b, "generator", json_string("Bogie " BG_VERSION));
    put(&b, "model", new_text(model));
    put(&b, "formulation", json_string(report->formulation[0] ? report->formulation : "equations"));
    put(&b, "integrator", new_text(report->integrator));
    put(&b, "status", new_status(report->status));
    put(&b, "message", new_text(report->message));
    const bg_warning *reason;
    bg_warnings_judge(&report->warnings, &reason);
    put(&b, "verdict", json_string(bg_verdict_get_name(report->verdict)));
    put(&b, "reason", new_text(reason ? reason->text : ""));
    put(&b, "warnings", new_warnings(&report->warnings));
    put(&b, "t_end", report->final ? new_real(report->final->t) : json_null());
    put(&b, "dimensions", def ? new_dimensions(def, report) : json_null());
    put(&b, "steps", new_steps(&report->counters));
    const bg_work own = bg_counters_sum_steps(&report->counters);
    put(&b, "evaluations", new_work(&own));
    if (report->counters.corrector.fc > 0)
        put(&b, "corrector", new_corrector(&report->counters.corrector));
    put(&b, "projection_evaluations", new_work(&report->counters.projection));
    put(&b, "event_evaluations", new_work(&report->counters.events));
    put(&b, "row_evaluations", new_work(&report->counters.rows));
    put(&b, "foresight_evaluations", new_work(&report->counters.foresight));
    put(&b, "cpu_seconds", new_real(report->cpu_seconds));
    put(&b, "certificate", new_certificate(&report->certificate, &report->assembly.redundancy));
    put(&b, "events", new_events(report));
    put(&b, "final", new_final(system, report));
    return end_object(&b);
}

json_t *bg_summary_make_json(const bg_system *system, const char *model,
                             const bg_run_report *report)
{
    return make_summary(system ? bg_system_get_def(system) : NULL, system, model, report);
}

json_t *bg_summary_make_layout(void)
{
    const bg_system_def nothing = {0};
    const bg_run_report report = {.counters.corrector.fc = 1, .counters.steps.slow = 1};
    return make_summary(&nothing, NULL, "", &report);
}

char *bg_summary_create(const bg_system *system, const char *model, const bg_run_report *report)
{
    json_t *summary = bg_summary_make_json(system, model, report);
    char *text = summary ? json_dumps(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(summary);
    return text;
}

static json_t *new_settings(const bg_setting *settings, int n)
{
    summary_builder b = begin_object();
    for (int i = 0; i < n; i++)
        put_named(&b, settings[i].name, new_text(settings[i].value));
    return end_object(&b);
}

char *bg_setup_create(const bg_system *system, const bg_run_options *options)
{
    const bg_system_def *def = bg_system_get_def(system);
    const bg_integrator_options *o = &options->method;
    summary_builder b = begin_object();
    put(&b, "version", json_string(BG_VERSION));
    put(&b, "model", new_text(options->model));
    put(&b, "parameters", new_settings(options->parameters, options->nparameters));
    put(&b, "formulation", new_text(options->formulation ? options->formulation : "equations"));
    put(&b, "integrator", new_text(options->integrator));
    put(&b, "options", new_settings(o->settings, o->nsettings));
    put(&b, "rtol", new_real(o->rtol));
    put(&b, "atol", new_real(o->atol));
    put(&b, "step", new_real(o->step));
    put(&b, "h_initial", new_real(o->h_initial));
    put(&b, "h_min", new_real(o->h_min));
    put(&b, "h_max", new_real(o->h_max));
    put(&b, "t_start", new_real(isnan(options->t_start) ? def->t_start : options->t_start));
    put(&b, "t_end", new_real(isnan(options->t_end) ? def->t_end : options->t_end));
    put(&b, "output_interval", new_real(options->output_interval));
    put(&b, "output_steps", json_boolean(options->output_steps));
    json_t *setup = end_object(&b);
    char *text = setup ? json_dumps(setup, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(setup);
    return text;
}
