/* The step of a bg_realtime: inputs, the method's step, events at its end, outputs.
 *
 * Every part has a bounded amount of work. An event costs at most two evaluations with a
 * factorisation each (velocities onto the constraints of the new mode, restart of the method) and
 * one more evaluation of the switching functions, and the step after it a factorisation that the
 * step before would have left to it; positions are left to the stabilisation of the following
 * steps. bg_realtime_calc_most is the sum. */
#include "realtime/realtime.h"

#include "consistent/projection.h"
#include "run/driven.h"

#include <math.h>
#include <string.h>

bg_status bg_realtime_set_inputs(bg_realtime *rt, const double *values, const unsigned char *given,
                                 bg_error *err)
{
    char buffer[32];
    for (int k = 0; k < rt->ninputs; k++)
        if ((!given || given[k]) && !isfinite(values[k]))
            return bg_error_set(
                err, BG_BAD_INPUT, "the value %g of input '%s' at t = %.17g is not a finite number",
                values[k],
                bg_system_get_name(rt->sys->system, 'u', rt->inputs[k].u, buffer, sizeof buffer),
                bg_integrator_get_state(rt->ig)->t);
    for (int k = 0; k < rt->ninputs; k++)
        if (!given || given[k]) {
            rt->inputs[k].fresh = true;
            rt->inputs[k].next = values[k];
        }
    return BG_OK;
}

/* From t on: the next value, or what the last one and its slope have come to. */
static void take_input(bg_realtime *rt, bg_live_feed *x, double t)
{
    const bg_live_input *now = &rt->sys->outside[x->u];
    const double reached = now->live ? now->value + now->rate * (t - now->since) : NAN;
    const double value = x->fresh ? x->next : reached;
    const bool slope = x->fresh && rt->hold == BG_HOLD_SLOPE && t > x->t_last;
    x->taken = x->fresh;
    if (!x->owed) {
        x->before = reached;
        x->last_before = x->last;
        x->t_last_before = x->t_last;
    }
    x->owed = false;
    if (!x->fresh && !now->live)
        return;
    bg_system_set_live(rt->sys, x->u, t, value, slope ? (value - x->last) / (t - x->t_last) : 0);
    if (x->fresh) {
        x->last = value;
        x->t_last = isnan(value) ? NAN : t;
    }
    x->fresh = false;
}

static bg_status take_inputs(bg_realtime *rt, const double *inputs, bg_error *err)
{
    bg_status st = inputs ? bg_realtime_set_inputs(rt, inputs, NULL, err) : BG_OK;
    const double t = bg_integrator_get_state(rt->ig)->t;
    for (int k = 0; k < rt->ninputs; k++) {
        rt->inputs[k].taken = false;
        if (st == BG_OK)
            take_input(rt, &rt->inputs[k], t);
    }
    return st;
}

/* After a step that failed the next one begins with what inputs were before it. */
static void give_back_inputs(bg_realtime *rt)
{
    for (int k = 0; k < rt->ninputs; k++) {
        bg_live_feed *x = &rt->inputs[k];
        if (!x->taken)
            continue;
        x->fresh = x->owed = true;
        x->next = x->before;
        x->last = x->last_before;
        x->t_last = x->t_last_before;
    }
}

static bg_status calc_switches(bg_realtime *rt, const bg_state *x, bg_error *err)
{
    bg_point p;
    bg_terms out = {.s = rt->s};
    bg_status st = bg_system_set_state(rt->sys, x, &p,
                                       err); /* its multipliers, where s sees them */
    if (st == BG_OK)
        st = bg_system_calc_terms(rt->sys, &p, BG_TERM_s, &out, err);
    for (int i = 0; i < rt->sys->def.ns && st == BG_OK; i++)
        if (!isfinite(rt->s[i]))
            st = bg_error_set(err, BG_NOT_FINITE,
                              "system '%s': switching function '%s' is not finite at t = %.17g",
                              rt->sys->def.name, bg_system_get_event_name(rt->sys->system, i),
                              x->t);
    return st;
}

bg_status bg_realtime_deliver(bg_realtime *rt, int i, int direction, int *action, bg_error *err)
{
    const bg_system_def *def = &rt->sys->def;
    bg_state *x = rt->changed;
    bg_event event = bg_system_make_event(rt->sys->system, x->t, i, direction);
    bg_event_state state = {x->q, x->v, x->z, x->mode};
    *action = def->event ? def->event(def->self, &event, &state) : BG_EVENT_NOTE;
    if (*action < 0 || *action > BG_EVENT_STOP_LATER)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `event` failed with code %d for '%s' at t = %.17g",
                            def->name, *action, event.name, x->t);
    rt->nevents++;
    rt->event_counts[3 * i + 1 + direction]++;
    return BG_OK;
}

/* The sides after the system was changed: those that the modes stand for, else where the functions
 * are. One that the system moved to another side has no event. One that is zero keeps its side when
 * the event threw the state back, and has passed it when only modes changed. */
static bg_status update_sides(bg_realtime *rt, bool moved, bg_error *err)
{
    const bg_system_def *def = &rt->sys->def;
    bg_status st = calc_switches(rt, rt->changed, err);
    memset(rt->said, 0, (size_t)def->ns * sizeof(int));
    int code = st == BG_OK && def->sides ? def->sides(def->self, rt->changed->mode, rt->said) : 0;
    if (code != 0)
        st = bg_error_set(err, BG_SYSTEM_FAILED,
                          "system '%s': `sides` failed with code %d at t = %.17g", def->name, code,
                          rt->changed->t);
    for (int i = 0; i < def->ns && st == BG_OK; i++) {
        rt->resting[i] = rt->s[i] == 0;
        if (rt->said[i] == BG_SIDE_KEPT)
            continue;
        if (rt->said[i] != BG_SIDE_OPEN)
            rt->side[i] = rt->said[i];
        else if (rt->s[i] != 0)
            rt->side[i] = rt->s[i] > 0 ? 1 : -1;
        else if (rt->fired[i] && moved)
            rt->side[i] = -rt->side[i];
    }
    return st;
}

/* A new start from the changed state, with velocities on the constraints. */
static bg_status restart(bg_realtime *rt, bool moved, bg_error *err)
{
    bg_state *x = rt->changed;
    bg_status st = BG_OK;
    if (rt->sys->def.ng > 0) {
        st = bg_dynamics_accelerate(rt->ig->dyn, x->t, x->q, x->v, x->z, x->mode, BG_TERM_gt, x->a,
                                    x->lambda, err);
        if (st == BG_OK)
            bg_project_velocity(rt->ig->dyn, x->v);
    }
    bg_integrator_update_redundancy(rt->ig, &rt->assembly.redundancy);
    if (st == BG_OK)
        st = bg_integrator_restart(rt->ig, x, &rt->assembly.redundancy, HUGE_VAL,
                                   moved ? BG_RESTART_STATE : BG_RESTART_MODE, err);
    return st;
}

/* Goes on from the changed state behind events. */
static bg_status go_on(bg_realtime *rt, bg_error *err)
{
    const bg_state *x = rt->changed;
    const bg_system_def *def = &rt->sys->def;
    const bg_state *before = bg_integrator_get_state(rt->ig);
    size_t size = (size_t)(def->nq + def->nv + def->nz) * sizeof(double);
    bool moved = memcmp(before->q, x->q, size) != 0; /* q, v and z lie together */
    bg_status st = update_sides(rt, moved, err);
    return st == BG_OK ? restart(rt, moved, err) : st;
}

/* Takes inputs that parts of the system follow without a constraint. */
static bg_status follow_inputs(bg_realtime *rt, const double *inputs, bg_error *err)
{
    const bg_state *x = bg_integrator_get_state(rt->ig);
    size_t size = (size_t)rt->sys->def.nu * sizeof(double);
    bg_point p;
    bg_status st = bg_system_set_point(rt->sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    memcpy(rt->u, rt->sys->u, size);
    memcpy(rt->u_t, rt->sys->u_t, size);
    if (st == BG_OK)
        st = take_inputs(rt, inputs, err);
    if (st == BG_OK)
        st = bg_system_set_point(rt->sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    if (st != BG_OK || (memcmp(rt->u_t, p.u_t, size) == 0 && memcmp(rt->u, p.u, size) == 0))
        return st;
    bg_state_copy(rt->sys->system, x, rt->changed);
    st = bg_driven_jump(rt->sys, rt->ig->dyn, &p, rt->u, rt->u_t, rt->shift, rt->changed, err);
    return st == BG_OK ? restart(rt, true, err) : st;
}

/* Events at the end of the step: functions that have changed sides in it. */
static bg_status handle_events(bg_realtime *rt, bool *stop, bg_error *err)
{
    int ns = rt->sys->def.ns, action;
    bool any = false, changed = false;
    bg_status st = calc_switches(rt, bg_integrator_get_state(rt->ig), err);
    for (int i = 0; i < ns && st == BG_OK; i++) {
        double ahead = rt->s[i] * rt->side[i];
        rt->fired[i] = ahead < 0 || (ahead == 0 && !rt->resting[i]);
        rt->resting[i] = rt->resting[i] && ahead == 0;
        if (!rt->fired[i])
            continue;
        if (!any)
            bg_state_copy(rt->sys->system, bg_integrator_get_state(rt->ig), rt->changed);
        any = true;
        rt->side[i] = -rt->side[i];
        rt->resting[i] = ahead == 0;
        st = bg_realtime_deliver(rt, i, rt->side[i], &action, err);
        changed = changed || action == BG_EVENT_CHANGED;
        *stop = *stop || action >= BG_EVENT_STOP;
    }
    return st == BG_OK && changed ? go_on(rt, err) : st;
}

bg_status bg_realtime_update_outputs(bg_realtime *rt, bg_error *err)
{
    const bg_system_def *def = &rt->sys->def;
    const bg_state *x = bg_integrator_get_state(rt->ig);
    bg_point p;
    bg_status st = bg_system_set_state(rt->sys, x, &p, err);
    if (st != BG_OK)
        return st;
    int code = def->outputs(def->self, &p, x->a, x->lambda, rt->y);
    if (code != 0)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `outputs` failed with code %d at t = %.17g", def->name,
                            code, x->t);
    bg_filters_apply(&rt->filters, x->t, rt->y, true);
    return BG_OK;
}

bg_status bg_realtime_calc_outputs(bg_realtime *rt, double *outputs, bg_error *err)
{
    const bg_state *x = bg_integrator_get_state(rt->ig);
    bg_status st = rt->wants_y ? bg_realtime_update_outputs(rt, err) : BG_OK;
    if (st != BG_OK)
        return st;
    for (int k = 0; k < rt->noutputs; k++) {
        const bg_live_output *o = &rt->outputs[k];
        const double *from = o->kind == 'y'   ? rt->y
                             : o->kind == 'q' ? x->q
                             : o->kind == 'v' ? x->v
                                              : x->z;
        outputs[k] = from[o->index];
    }
    return BG_OK;
}

bg_status bg_realtime_step(bg_realtime *rt, const double *inputs, double *outputs, bg_error *err)
{
    bool stop = false;
    bg_status st = rt->sys->def.jump ? follow_inputs(rt, inputs, err)
                                     : take_inputs(rt, inputs, err);
    if (st == BG_OK)
        st = bg_integrator_step(rt->ig, err);
    if (st != BG_OK) {
        give_back_inputs(rt);
        return st;
    }
    if (rt->sys->def.ns > 0)
        st = handle_events(rt, &stop, err);
    if (st == BG_OK && outputs)
        st = bg_realtime_calc_outputs(rt, outputs, err);
    if (st == BG_OK)
        return stop ? bg_error_set(err, BG_STOPPED, "an event ended the motion at t = %.17g",
                                   bg_integrator_get_state(rt->ig)->t)
                    : BG_OK;
    give_back_inputs(rt);
    if (rt->ig->stepped) /* else an event has made a new start, which stays */
        bg_integrator_undo(rt->ig, HUGE_VAL);
    return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
}

void bg_realtime_prepare(bg_realtime *rt)
{
    bg_integrator_prepare(rt->ig);
}

/* A factorisation that finds its pivots bad, searches new ones and tries them, in units of one that
 * repeats them: 3.1 by instructions on the models there are, 1.9 to 2.4 of them the choice. */
static const double with_new_pivots = 4;

/* The same functions take a few instructions more or less by their arguments: sines and roots of
 * the C library, rows that a factorisation swaps. */
static const double by_arguments = 1.25;

static double calc_ratio(double most, double ordinary)
{
    return ordinary > 0 ? most / ordinary : most > 0 ? most + 1 : 1;
}

/* How many times the work of `plan` that of `most` is at most, with factorisations of a price.
 * Terms and factorisations cost what they cost beside each other: the larger ratio holds for any
 * sum. */
static double calc_times(const bg_step_plan *plan, const bg_step_plan *most, double price)
{
    double solved = plan->first_solutions * plan->matrix.solution;
    double factored = price * most->factorisations + (solved > 0 ? solved / plan->matrix.usual : 0);
    return by_arguments *
           fmax(calc_ratio(most->terms + most->explicit_, plan->terms + plan->explicit_),
                calc_ratio(factored, plan->factorisations));
}

/* A factorisation without exchanges, and then with them, or with new pivots. */
static double calc_price(const bg_matrix_work *m)
{
    double pivots = m->repeats ? with_new_pivots : 1;
    double other = m->usual > 0 ? (m->factorisation - m->usual) / m->usual : 0;
    return fmax(1 + pivots * other, pivots + other);
}

/* Looks ahead, one before a step and one at the new start after an event. */
static void add_looks(bg_step_plan *most, int looks, int terms, int factorisations, int projections)
{
    most->terms += looks * terms;
    most->factorisations += looks * factorisations;
    most->projections += terms > 0 ? looks * projections : 0;
}

int bg_realtime_calc_most(const bg_integrator *ig, bg_step_bound *bound)
{
    const bg_dynamics *d = ig->dyn;
    bg_step_plan plan;
    if (!bg_integrator_get_plan(ig, &plan))
        return false;
    bool events = ig->sys->def.ns > 0 || ig->sys->def.jump, constrained = events && d->ng > 0;
    plan.terms += events;
    plan.jacobian += plan.jacobian_every > 0;
    plan.jacobian_every = 0;
    bg_step_plan most = plan;
    most.terms += events + constrained + (events && !d->by_formalism);
    most.terms += events && d->by_formalism && (d->nz > 0 || d->kinematic);
    most.explicit_ += events && d->by_formalism;
    most.factorisations += constrained + (events && !d->by_formalism);
    most.factorisations += plan.first_factorisations + plan.exchange_factorisations;
    most.terms += plan.exchange_terms;
    most.projections += plan.exchange_terms > 0;
    double price = calc_price(&plan.matrix);
    bound->most = bound->searching = most;
    add_looks(&bound->most, 1 + events, plan.foresight_terms, plan.foresight_factorisations, 0);
    add_looks(&bound->searching, 1 + events, plan.search_terms, plan.search_factorisations, 2);
    bound->event = calc_times(&plan, &bound->most, 1);
    bound->pivots = calc_times(&plan, &bound->most, price);
    bound->search = plan.search_terms > 0 ? calc_times(&plan, &bound->searching, price) : 0;
    return true;
}
