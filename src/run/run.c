/* The run driver: consistent start, steps, events, rows, checkpoints, certificate.
 *
 * After each accepted step events are looked for first; up to an event that changes the system the
 * step counts, the rest of it is given up, and the method starts again from the changed and
 * projected state. */
#include "run/runner.h"

#include "base/memory.h"
#include "consistent/assemble.h"
#include "consistent/projection.h"
#include "integrators/trouble.h"
#include "run/verdict.h"
#include "system/masses.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENT_CAPACITY = 4096 };

bg_run_options bg_default_run_options(void)
{
    return (bg_run_options){.integrator = "auto",
                            .method = bg_default_integrator_options(),
                            .t_start = NAN,
                            .t_end = NAN,
                            .model = "",
                            .checkpoint_seconds = 10};
}

static bg_status check_options(bg_runner *r, bg_error *err)
{
    const bg_run_options *o = r->options;
    const bg_system_def *def = &r->sys->def;
    r->t_start = isnan(o->t_start) ? def->t_start : o->t_start;
    r->t_end = isnan(o->t_end) ? def->t_end : o->t_end;
    if (!isfinite(r->t_start) || !isfinite(r->t_end))
        return bg_error_set(err, BG_BAD_INPUT, "start time %g and end time %g must be finite",
                            r->t_start, r->t_end);
    if (r->t_end < r->t_start)
        return bg_error_set(err, BG_BAD_INPUT,
                            "end time %g is before start time %g; time runs forwards", r->t_end,
                            r->t_start);
    if (!isfinite(o->output_interval) || o->output_interval < 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "output interval %g is not usable; give a positive number of seconds",
                            o->output_interval);
    if (o->output_interval > 0 && (r->t_end - r->t_start) / o->output_interval > 1e9)
        return bg_error_set(err, BG_BAD_INPUT,
                            "output interval %g gives more than a thousand million rows; choose a "
                            "larger one",
                            o->output_interval);
    if (o->max_steps < 0 || o->checkpoint_steps < 0)
        return bg_error_set(err, BG_BAD_INPUT, "step counts must not be negative");
    return BG_OK;
}

/* Room for at least `count` events more. Between steps for half of the room, so that none is needed
 * in a step. */
static bg_status reserve_events(bg_runner *r, long count, bg_error *err)
{
    bg_run_report *p = r->report;
    if (r->event_capacity - p->nevents >= count)
        return BG_OK;
    bg_event *more = realloc(p->events, (size_t)(2 * r->event_capacity) * sizeof *p->events);
    if (!more)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for events");
    p->events = more;
    r->event_capacity *= 2;
    return BG_OK;
}

static bg_status record_event(void *self, const bg_event *event, bg_error *err)
{
    bg_runner *r = self;
    bg_run_report *p = r->report;
    const bg_sink *sink = &r->options->sink;
    bg_status st = reserve_events(r, 1, err);
    if (st != BG_OK)
        return st;
    p->events[p->nevents++] = *event;
    return sink->event ? sink->event(sink->self, event, err) : BG_OK;
}

bg_runner bg_runner_make(const bg_run_options *options, bg_run_report *report)
{
    const double now = bg_clock_get_wall();
    *report = (bg_run_report){.t_checkpoint = NAN};
    strncpy(report->integrator, options->integrator, sizeof report->integrator - 1);
    if (options->formulation)
        strncpy(report->formulation, options->formulation, sizeof report->formulation - 1);
    return (bg_runner){.options = options,
                       .report = report,
                       .potential_start = NAN,
                       .t_last_row = -HUGE_VAL,
                       .wall_start = now,
                       .wall_last_checkpoint = now,
                       .cpu_start = bg_clock_get_cpu(),
                       .place = {.fd = -1}};
}

bg_status bg_runner_create(bg_runner *r, const bg_system *system, bg_error *err)
{
    bg_status st = bg_evaluator_create(system, &r->sys, err);
    if (st == BG_OK)
        st = check_options(r, err);
    if (st == BG_OK)
        st = bg_integrator_create_with(r->options->integrator, r->sys, &r->options->method, &r->ig,
                                       err);
    if (st == BG_OK)
        st = bg_instant_create(r->sys, r->ig, &r->report->assembly.redundancy, &r->at, err);
    if (st != BG_OK)
        return st;
    if (!bg_drive_work_create(&r->drives, r->ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the work of drives");
    st = bg_comparison_create(r->sys->system, r->options, &r->comparison, err);
    if (st != BG_OK)
        return st;
    r->at.t_start = r->t_start;
    r->at.t_end = r->t_end;
    r->at.self = r;
    r->at.tell = record_event;
    r->at.account = bg_runner_account_energy;
    const bg_system_def *def = &system->def;
    r->y = BG_NEW_ARRAY(double, def->ny);
    r->u = BG_NEW_ARRAY(double, 3 * def->nu);
    r->event_capacity = def->ns > 0 ? EVENT_CAPACITY : 0;
    r->report->events = BG_NEW_ARRAY(bg_event, r->event_capacity);
    if (!bg_filters_create(def, &r->filters) || !r->y || !r->u || !r->report->events)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the run");
    return BG_OK;
}

/* Instants with events inside the last step. *cut: the run goes on from one of them, or ends there.
 */
static bg_status events_in_step(bg_runner *r, bool *cut, bool *stop, bg_error *err)
{
    *cut = false;
    while (r->at.detector && !*cut) {
        bool found, changed;
        double t_retry;
        bg_status st = bg_detector_find(r->at.detector, &found, &t_retry, err);
        if (st == BG_RETRY) {
            bg_integrator_undo(r->ig, t_retry);
            *cut = true;
            return BG_OK;
        }
        if (st != BG_OK || !found)
            return st;
        st = bg_runner_write_to_event(r, err);
        if (st == BG_OK)
            st = bg_instant_pass(&r->at, &changed, stop, err);
        if (st != BG_OK)
            return st;
        *cut = changed || *stop;
        if (*cut && r->options->output_steps && changed)
            st = bg_runner_write_row(r, r->at.state, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

static bool should_stop(const bg_runner *r)
{
    return r->options->stop && *r->options->stop;
}

/* Progress and checkpoints after a step. */
static bg_status housekeeping(bg_runner *r, bg_error *err)
{
    const bg_run_options *o = r->options;
    if (!o->progress && !o->checkpoint)
        return BG_OK;
    double now = bg_clock_get_wall();
    long steps = r->ig->count.accepted;
    if (o->progress && now - r->wall_last_progress >= 0.05) {
        bg_progress p = {r->t_start, bg_integrator_get_state(r->ig)->t, r->t_end,
                         now - r->wall_start, steps};
        o->progress(o->progress_self, &p);
        r->wall_last_progress = now;
    }
    bool due = (o->checkpoint_steps > 0 && steps % o->checkpoint_steps == 0) ||
               (o->checkpoint_seconds > 0 &&
                now - r->wall_last_checkpoint >= o->checkpoint_seconds);
    if (!o->checkpoint || !due)
        return BG_OK;
    r->wall_last_checkpoint = now;
    return bg_checkpoint_write(r, err);
}

/* Whether a step could not be made because of a corner that lies just ahead. */
static bg_status explain_inputs(bg_runner *r, bg_status st, bg_error *err)
{
    const double t = bg_integrator_get_state(r->ig)->t, ahead = 1e-6 * (r->t_end - r->t_start);
    bg_error found = {BG_OK, ""};
    const bg_status cause = bg_runner_check_inputs(r, t, fmin(t + ahead, r->t_end), &found);
    if ((st > 0 || st == BG_STEP_TOO_SMALL) && cause != BG_OK) {
        st = cause;
        if (err)
            *err = found;
    }
    return st;
}

bg_status bg_runner_step(bg_runner *r, bg_error *err)
{
    bg_status st = bg_integrator_step(r->ig, err);
    if (st != BG_OK)
        return explain_inputs(r, st, err);
    st = bg_runner_check_inputs(r, bg_integrator_get_step_start(r->ig),
                                bg_integrator_get_state(r->ig)->t, err);
    if (st != BG_OK)
        bg_integrator_undo(r->ig, r->t_end);
    return st;
}

/* One step with everything that belongs to it. */
static bg_status advance(bg_runner *r, bool *ended, bg_error *err)
{
    const bg_run_options *o = r->options;
    bool cut = false;
    bg_status st = bg_runner_step(r, err);
    if (st != BG_OK)
        return st;
    const double begin = bg_integrator_get_step_start(r->ig);
    bg_drive_work_look(&r->drives, begin, bg_integrator_get_state(r->ig)->t);
    bg_system_turn_to(r->sys, BG_FOR_EVENTS);
    st = events_in_step(r, &cut, ended, err);
    bg_system_turn_to(r->sys, BG_FOR_STEPS);
    if (st != BG_OK) { /* what lies beyond an event that failed is not part of the trajectory */
        if (!cut)
            bg_integrator_undo(r->ig, r->t_end);
        return st;
    }
    const bg_state *x = bg_integrator_get_state(r->ig);
    bg_runner_update_certificate(r);
    if (x->t > begin) /* else it was given up */
        st = bg_runner_write_step(r, begin, err);
    if (!cut && st == BG_OK) {
        st = bg_runner_write_grid(r, x->t, err);
        if (st == BG_OK && o->output_steps && x->t > r->t_last_row)
            st = bg_runner_write_row(r, x, err);
        if (st == BG_OK)
            st = bg_runner_check_redundant(r, err);
    }
    if (st == BG_OK)
        st = reserve_events(r, r->event_capacity / 2, err);
    return st == BG_OK ? housekeeping(r, err) : st;
}

/* The limit of steps was reached: says what made them so many, where that is known. */
static bg_status report_limit(const bg_runner *r, bg_error *err)
{
    char cause[BG_ERROR_LENGTH / 2];
    const bg_state *x = bg_integrator_get_state(r->ig);
    bg_trouble_search(r->ig);
    bool found = bg_integrator_explain(r->ig, NULL, cause, sizeof cause);
    return bg_error_set(err, BG_TOO_MANY_STEPS,
                        "the limit of %ld steps was reached at t = %.17g of %g; %s",
                        r->options->max_steps, x->t, r->t_end,
                        found ? cause : "raise it, or loosen the tolerances");
}

static bg_status loop(bg_runner *r, bg_error *err)
{
    const bg_run_options *o = r->options;
    bg_status st = BG_OK;
    bg_drive_work_begin(&r->drives, bg_integrator_get_state(r->ig));
    if (!o->resume)
        st = bg_start_pass_events(&r->at, &r->ended, err);
    while (st == BG_OK && !r->ended) {
        const bg_state *x = bg_integrator_get_state(r->ig);
        if (x->t >= r->t_end)
            break;
        if (should_stop(r))
            return bg_error_set(err, BG_STOPPED, "stopped on request at t = %.17g", x->t);
        if (o->max_steps > 0 && r->ig->count.accepted >= o->max_steps)
            return report_limit(r, err);
        st = advance(r, &r->ended, err);
    }
    if (st != BG_OK)
        return st;
    const bg_state *x = bg_integrator_get_state(r->ig);
    bool wanted = o->output_interval > 0 || o->output_steps;
    return wanted && x->t > r->t_last_row ? bg_runner_write_row(r, x, err) : BG_OK;
}

/* A consistent start, or the state of a checkpoint. */
bg_status bg_runner_begin(bg_runner *r, bg_error *err)
{
    bg_run_report *p = r->report;
    const bg_sink *sink = &r->options->sink;
    bg_status st = BG_OK;
    if (r->options->resume) {
        st = bg_checkpoint_read(r, err);
        r->rejected_told = r->ig->count.rejected;
        return st == BG_OK && sink->begin ? sink->begin(sink->self, err) : st;
    }
    st = bg_start_find(r->sys, r->t_start, r->at.state, &p->assembly, err);
    if (st != BG_OK)
        return st;
    if (r->options->refuse_redundant && p->assembly.redundancy.count > 0) {
        char buffer[32];
        return bg_error_set(
            err, BG_REDUNDANT,
            "system '%s' has %d redundant constraint(s), the first is '%s'; remove them, or allow "
            "them to be eliminated",
            r->sys->def.name, p->assembly.redundancy.count,
            bg_system_get_name(r->sys->system, 'g', p->assembly.redundancy.eliminated[0], buffer,
                               sizeof buffer));
    }
    st = bg_comparison_move(r->ig, r->options->moved, &p->assembly.redundancy, r->at.state, err);
    if (st == BG_OK)
        st = bg_instant_restart(&r->at, BG_RESTART_START, err);
    if (st != BG_OK)
        return st;
    bg_comparison_begin(&r->comparison, r->t_start, r->t_end);
    bg_state_copy(r->sys->system, bg_integrator_get_state(r->ig), r->at.state);
    r->energy_start = bg_runner_calc_energy(r, r->at.state);
    bg_runner_update_certificate(r);
    st = sink->begin ? sink->begin(sink->self, err) : BG_OK;
    if (st == BG_OK)
        st = bg_runner_write_step(r, r->t_start, err);
    if (st == BG_OK && r->options->output_steps)
        st = bg_runner_write_row(r, r->at.state, err);
    if (st == BG_OK && r->options->output_interval > 0 && !r->options->output_steps)
        st = bg_runner_write_row(r, r->at.state, err);
    r->next_output = 1;
    return st;
}

/* What the run has reached goes into the report, whatever ended it. */
static bg_status finish(bg_runner *r, bg_status st, bg_error *err)
{
    bg_run_report *p = r->report;
    const bg_state *x = bg_integrator_get_state(r->ig);
    bg_error own = {BG_OK, ""};
    if (st != BG_OK && err)
        own = *err;
    p->counters = bg_integrator_get_counters(r->ig);
    p->cpu_seconds = r->cpu_before + bg_clock_get_cpu() - r->cpu_start;
    p->certificate.unconverged_steps = p->counters.unconverged;
    p->certificate.real_time_factor = p->cpu_seconds > 0 ? (x->t - r->t_start) / p->cpu_seconds : 0;
    p->certificate.has_drift = bg_integrator_get_drift(r->ig, &p->certificate.drift);
    char why[BG_ERROR_LENGTH];
    if (st == BG_OK || st == BG_STOPPED) /* else the message says it */
        bg_integrator_explain(r->ig, &p->warnings, why, sizeof why);
    bg_integrator_describe(r->ig, p->certificate.note, sizeof p->certificate.note);
    if (bg_state_create(r->sys->system, &p->final, NULL) != BG_OK) {
        p->warnings.lost++; /* those about it */
        return st != BG_OK ? st : bg_error_set(err, BG_NO_MEMORY, "out of memory for the report");
    }
    bg_state_copy(r->sys->system, x, p->final);
    bg_status measured = bg_runner_calc_outputs(r, x, false, st == BG_OK ? &own : NULL);
    if (st == BG_OK)
        st = measured;
    if (measured == BG_OK) {
        p->y = r->y;
        r->y = NULL;
    }
    bool resumable = st == BG_OK || st == BG_STOPPED || st == BG_TOO_MANY_STEPS;
    if (r->options->checkpoint && resumable) {
        bg_status written = bg_checkpoint_write(r, &p->checkpoint);
        if (written != BG_OK && st == BG_OK) {
            if (err)
                *err = p->checkpoint;
            return written;
        }
    }
    if (st != BG_OK && err)
        *err = own;
    return st;
}

/* Whether M is positive where the run has ended: not every method sees a sign on its way, and one
 * that ends in small steps beside the point where it turns does not know why. */
static bg_status judge_masses(bg_runner *r, bg_status st, bg_error *err)
{
    const bg_system *system = r->sys->system;
    const bg_state *x = r->report->final;
    bg_dynamics *d = r->ig->dyn;
    bg_error found = {BG_OK, ""}, ignored;
    if (!x || d->by_formalism || system->def.check_start ||
        bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, BG_TERM_M, &ignored) != BG_OK)
        return st;
    bg_status positive = bg_masses_check(system, x->t, d->terms.M, &found);
    if (positive == BG_NO_MEMORY) {
        r->report->warnings.lost++;
        if (st == BG_OK)
            *err = found;
        return st == BG_OK ? positive : st;
    }
    if (positive != BG_BAD_INPUT)
        return st;
    bg_warnings_add(&r->report->warnings, BG_DOUBTFUL, "mass", "%s", found.text);
    if ((st == BG_STEP_TOO_SMALL || st == BG_NOT_CONVERGED) &&
        !strstr(err->text, "mass matrix is not positive")) {
        char text[BG_ERROR_LENGTH];
        memcpy(text, err->text, sizeof text);
        bg_error_set(err, st, "%.400s; %.500s", found.text, text);
    }
    return st;
}

void bg_runner_clear(bg_runner *r)
{
    bg_drive_work_clear(&r->drives);
    bg_integrator_destroy(r->ig);
    bg_instant_clear(&r->at);
    free(r->y);
    bg_filters_clear(&r->filters);
    free(r->u);
    bg_archive_clear(&r->archive);
    bg_checkpoint_close(r);
    bg_comparison_clear(&r->comparison);
    bg_evaluator_destroy(r->sys);
}

bg_status bg_run(const bg_system *system, const bg_run_options *options, bg_run_report *report,
                 bg_error *err)
{
    bg_error own = {BG_OK, ""};
    bg_runner r = bg_runner_make(options, report);
    bg_status st = bg_runner_create(&r, system, &own);
    if (st == BG_OK)
        st = bg_checkpoint_open(&r, &own);
    if (st == BG_OK)
        st = bg_runner_begin(&r, &own);
    bool started = st == BG_OK;
    if (started)
        st = loop(&r, &own);
    if (started)
        st = finish(&r, st, &own);
    if (started)
        st = judge_masses(&r, st, &own);
    if (started && st == BG_OK)
        bg_comparison_judge(&r.comparison, system, options, bg_integrator_get_order(r.ig),
                            r.t_start, report->final->t, &report->warnings);
    if (started && st == BG_OK)
        bg_comparison_judge_digits(&r.comparison, system, options, r.t_start, report);
    if (started && st == BG_OK)
        bg_comparison_judge_growth(&r.comparison, system, options, r.t_start, report);
    bg_runner_clear(&r);
    if (st > 0 && st != BG_STOPPED)
        st = BG_BROKE_DOWN; /* steps were made smaller already, and another run would end there */
    if (st == BG_OK)
        own.text[0] = '\0'; /* of attempts that were repeated */
    report->status = st;
    memcpy(report->message, own.text, sizeof report->message);
    bg_verdict_update(system, options, report);
    if (err) {
        *err = own;
        err->status = st;
    }
    return st;
}

void bg_run_report_clear(bg_run_report *report)
{
    free(report->events);
    free(report->y);
    bg_state_destroy(report->final);
    bg_assembly_report_clear(&report->assembly);
    bg_warnings_clear(&report->warnings);
    *report = (bg_run_report){0};
}
