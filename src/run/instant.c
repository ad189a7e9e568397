/* What happens in one instant of a run: its events, one after the other, act on one state; then the
 * state is made consistent once, the method starts anew, and functions that have to fire again in
 * the same instant are the next round. */
#include "run/runner.h"

#include "consistent/projection.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 100, EVENTS_PER_MARK = 10000 };

bg_status bg_runner_restart(bg_runner *r, const bg_state *x, bg_restart reason, bg_error *err)
{
    return bg_integrator_restart(r->ig, x, &r->report->assembly.redundancy, r->t_end, reason, err);
}

bg_status bg_runner_reserve_events(bg_runner *r, long count, bg_error *err)
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

static bg_status record_event(bg_runner *r, const bg_event *event, bg_error *err)
{
    bg_run_report *p = r->report;
    bg_status st = bg_runner_reserve_events(r, 1, err);
    if (st != BG_OK)
        return st;
    p->events[p->nevents++] = *event;
    const bg_sink *sink = &r->options->sink;
    return sink->event ? sink->event(sink->self, event, err) : BG_OK;
}

/* Hands one event to the system; *action is a bg_event_action. */
static bg_status deliver(bg_runner *r, int i, int *action, bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(r->sys);
    bg_state *x = r->row;
    const int direction = r->watch->direction[i];
    const bg_event event = bg_system_make_event(r->sys, x->t, i, direction);
    bg_event_state state = {x->q, x->v, x->z, x->mode};
    *action = BG_EVENT_NOTE;
    bg_status st = record_event(r, &event, err);
    if (st != BG_OK || !def->event)
        return st;
    *action = def->event(def->self, &event, &state);
    if (*action > BG_EVENT_STOP)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `event` returned %d for '%s'; it must return a "
                            "bg_event_action or a negative number",
                            def->name, *action, event.name);
    if (*action < 0)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `event` failed with code %d for '%s' at t = %.17g",
                            def->name, *action, event.name, event.t);
    return BG_OK;
}

/* Ever so many rounds, or events, that hardly lead on. */
static bg_status check_progress(bg_runner *r, bg_error *err)
{
    const bg_run_report *p = r->report;
    const double t = r->row->t;
    bool advanced = t - r->t_last_event > 32 * DBL_EPSILON * fmax(1.0, fabs(t)), crowded = false;
    r->rounds = advanced ? 0 : r->rounds + 1;
    r->t_last_event = t;
    const long marks = (p->nevents + r->watch->nfires) / EVENTS_PER_MARK;
    if (marks > p->nevents / EVENTS_PER_MARK) {
        crowded = t - r->t_mark < 1e-6 * (r->t_end - r->t_start);
        r->t_mark = t;
    }
    int first = 0;
    while (!r->watch->fires[first])
        first++;
    if (!crowded && r->rounds <= MAX_ROUNDS)
        return BG_OK;
    return bg_error_set(
        err, BG_EVENT_STUCK,
        "event '%s' repeats at t = %.17g and time hardly advances (%d rounds); let the system "
        "change its mode there, for instance come to rest below a small speed",
        bg_system_get_event_text(r->sys, first, r->watch->direction[first]), t, r->rounds);
}

/* One round: all its events act on the state in row. */
static bg_status deliver_round(bg_runner *r, bool *changed, bool *stop, bg_error *err)
{
    bg_status st = check_progress(r, err);
    *changed = false;
    for (int i = 0; i < r->watch->ns && st == BG_OK; i++) {
        int action = BG_EVENT_NOTE;
        if (!r->watch->fires[i])
            continue;
        st = deliver(r, i, &action, err);
        *changed = *changed || action == BG_EVENT_CHANGED;
        *stop = *stop || action == BG_EVENT_STOP;
    }
    return st;
}

/* A consistent state from what the system left in row, and a new start from it. */
static bg_status make_consistent(bg_runner *r, double energy, bool moved, bg_error *err)
{
    bg_state *x = r->row;
    /* modes may change which constraints there are: look at their rank again */
    bg_integrator_update_redundancy(r->ig, &r->report->assembly.redundancy);
    bg_status st = r->assembly ? bg_state_assemble_again(r->assembly, x,
                                                         &r->report->assembly.redundancy, err)
                               : bg_project_state(r->ig->dyn, x, err);
    if (st != BG_OK)
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    double jump = bg_runner_calc_energy(r, x) - energy; /* an impact may dissipate */
    r->energy_start += isfinite(jump) ? jump : 0;
    return bg_runner_restart(r, x, moved ? BG_RESTART_STATE : BG_RESTART_MODE, err);
}

bg_status bg_runner_pass_instant(bg_runner *r, bool *changed, bool *stop, bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(r->sys);
    const size_t size = (size_t)(def->nq + def->nv + def->nz) * sizeof(double);
    bool again = true;
    *changed = false;
    while (again) {
        double energy = bg_runner_calc_energy(r, r->row);
        bool moved;
        bg_state_copy(r->sys, r->row, r->before);
        bg_status st = deliver_round(r, &again, stop, err);
        if (st != BG_OK)
            return st;
        if (!again)
            break;
        *changed = true;
        moved = memcmp(r->before->q, r->row->q, size) != 0; /* q, v and z lie together */
        st = bg_watch_change(r->watch, r->row, err);
        if (st == BG_OK)
            st = make_consistent(r, energy, moved, err);
        if (st == BG_OK)
            st = bg_watch_reset(r->watch, r->row, moved, r->t_end, err);
        if (st != BG_OK)
            return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
        again = r->watch->nfires > 0 && !*stop;
    }
    return *stop && !*changed ? bg_runner_restart(r, r->row, BG_RESTART_MODE, err) : BG_OK;
}
