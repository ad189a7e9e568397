#include "run/instant.h"

#include "consistent/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_ROUNDS = 100, EVENTS_PER_MARK = 10000 };

bg_status bg_instant_create(bg_evaluator *sys, bg_integrator *ig, bg_redundancy *redundancy,
                            bg_instant *x, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    *x = (bg_instant){.sys = sys, .ig = ig, .redundancy = redundancy, .t_last = -HUGE_VAL};
    bg_status st = BG_OK;
    if (def->ns > 0)
        st = bg_detector_create(sys, ig, &x->detector, err);
    if (st == BG_OK && def->ns > 0 && def->ng > 0)
        st = bg_assembly_create(sys, &x->assembly, err);
    if (st == BG_OK)
        st = bg_state_create(sys->system, &x->state, err);
    return st == BG_OK ? bg_state_create(sys->system, &x->before, err) : st;
}

void bg_instant_clear(bg_instant *x)
{
    bg_detector_destroy(x->detector);
    bg_assembly_destroy(x->assembly);
    bg_state_destroy(x->state);
    bg_state_destroy(x->before);
    *x = (bg_instant){0};
}

bg_status bg_instant_restart(bg_instant *x, bg_restart reason, bg_error *err)
{
    return bg_integrator_restart(x->ig, x->state, x->redundancy, x->t_end, reason, err);
}

/* Hands one event to the system; *action is a bg_event_action. */
static bg_status deliver(bg_instant *x, int i, int *action, bg_error *err)
{
    const bg_system_def *def = &x->sys->def;
    const bg_event event = bg_system_make_event(x->sys->system, x->state->t, i,
                                                x->detector->direction[i]);
    bg_event_state state = {x->state->q, x->state->v, x->state->z, x->state->mode};
    *action = BG_EVENT_NOTE;
    bg_status st = x->tell ? x->tell(x->self, &event, err) : BG_OK;
    x->nevents += st == BG_OK;
    if (st != BG_OK || !def->event)
        return st;
    *action = def->event(def->self, &event, &state);
    if (*action == BG_EVENT_STOP_LATER)
        *action = x->state->t > x->t_start ? BG_EVENT_STOP : BG_EVENT_NOTE;
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
static bg_status check_progress(bg_instant *x, bg_error *err)
{
    const double t = x->state->t;
    bool advanced = t - x->t_last > 32 * DBL_EPSILON * fmax(1.0, fabs(t)), crowded = false;
    x->rounds = advanced ? 0 : x->rounds + 1;
    x->t_last = t;
    const long marks = (x->nevents + x->detector->nfires) / EVENTS_PER_MARK;
    if (marks > x->nevents / EVENTS_PER_MARK) {
        crowded = t - x->t_mark < 1e-6 * (x->t_end - x->t_start);
        x->t_mark = t;
    }
    int first = 0;
    while (!x->detector->fires[first])
        first++;
    if (!crowded && x->rounds <= MAX_ROUNDS)
        return BG_OK;
    return bg_error_set(
        err, BG_EVENT_STUCK,
        "event '%s' repeats at t = %.17g and time hardly advances (%d rounds); let the system "
        "change its mode there, for instance come to rest below a small speed",
        bg_system_get_event_text(x->sys->system, first, x->detector->direction[first]), t,
        x->rounds);
}

/* One round: all its events act on the state. */
static bg_status deliver_round(bg_instant *x, bool *changed, bool *stop, bg_error *err)
{
    bg_status st = check_progress(x, err);
    *changed = false;
    for (int i = 0; i < x->detector->ns && st == BG_OK; i++) {
        int action = BG_EVENT_NOTE;
        if (!x->detector->fires[i])
            continue;
        st = deliver(x, i, &action, err);
        *changed = *changed || action == BG_EVENT_CHANGED;
        *stop = *stop || action == BG_EVENT_STOP;
    }
    return st;
}

/* A consistent state from what the system left, and a new start from it. */
static bg_status make_consistent(bg_instant *x, bool moved, bg_error *err)
{
    /* modes may change which constraints there are: look at their rank again */
    bg_integrator_update_redundancy(x->ig, x->redundancy);
    bg_status st = x->assembly ? bg_state_assemble_again(x->assembly, x->state, x->redundancy, err)
                               : bg_project_state(x->ig->dyn, x->state, err);
    if (st != BG_OK)
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    if (x->account)
        x->account(x->self, x->state, true);
    return bg_instant_restart(x, moved ? BG_RESTART_STATE : BG_RESTART_MODE, err);
}

/* One round, and what follows from it. *again: the system has changed. */
static bg_status pass_round(bg_instant *x, bool *again, bool *stop, bg_error *err)
{
    const bg_system_def *def = &x->sys->def;
    const size_t size = (size_t)(def->nq + def->nv + def->nz) * sizeof(double);
    if (x->account)
        x->account(x->self, x->state, false);
    bg_state_copy(x->sys->system, x->state, x->before);
    bg_status st = deliver_round(x, again, stop, err);
    if (st != BG_OK || !*again)
        return st;
    bool moved = memcmp(x->before->q, x->state->q, size) != 0; /* q, v and z lie together */
    st = bg_detector_change(x->detector, x->state, err);
    if (st == BG_OK)
        st = make_consistent(x, moved, err);
    if (st == BG_OK)
        st = bg_detector_reset(x->detector, x->state, moved, x->t_end, err);
    return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
}

bg_status bg_instant_pass(bg_instant *x, bool *changed, bool *stop, bg_error *err)
{
    bool again = true;
    *changed = false;
    while (again) {
        bg_status st = pass_round(x, &again, stop, err);
        if (st != BG_OK)
            return st;
        *changed = *changed || again;
        again = again && x->detector->nfires > 0 && !*stop;
    }
    return *stop && !*changed ? bg_instant_restart(x, BG_RESTART_MODE, err) : BG_OK;
}
