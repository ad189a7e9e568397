/* Creation of a bg_realtime: names, consistent start, events at the start. Its step is in step.c.
 */
#include "realtime/realtime.h"

#include "base/memory.h"
#include "base/text.h"
#include "run/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_realtime_options bg_default_realtime_options(void)
{
    return (bg_realtime_options){.integrator = "linear-euler", .period = 1e-3, .t_start = NAN};
}

/* The index of a name among the entries of one kind, or -1. */
static int find_name(const bg_system *sys, char kind, int n, const char *name)
{
    char buffer[32];
    for (int i = 0; i < n; i++)
        if (strcmp(bg_system_get_name(sys, kind, i, buffer, sizeof buffer), name) == 0)
            return i;
    return -1;
}

/* Fails with a sentence that names the nearest of the names of one kind. */
static bg_status refuse_name(const bg_system *sys, const char *what, char kind, int n,
                             const char *name, bg_error *err)
{
    char buffer[32];
    const char *nearest = NULL;
    for (int i = 0; i < n && !nearest; i++) {
        const char *candidate = bg_system_get_name(sys, kind, i, buffer, sizeof buffer);
        if (bg_text_find_nearest(name, &candidate, 1) == 0)
            nearest = candidate;
    }
    if (nearest)
        return bg_error_set(err, BG_BAD_INPUT, "system '%s' has no %s '%s'; did you mean '%s'?",
                            sys->def.name, what, name, nearest);
    return bg_error_set(err, BG_BAD_INPUT, "system '%s' has no %s '%s'; it has %d%s%s",
                        sys->def.name, what, name, n, n > 0 ? ", the first is " : "",
                        n > 0 ? bg_system_get_name(sys, kind, 0, buffer, sizeof buffer) : "");
}

static bg_status find_inputs(bg_realtime *rt, const bg_realtime_options *o, bg_error *err)
{
    for (int k = 0; k < o->ninputs; k++) {
        const int u = find_name(rt->sys->system, 'u', rt->sys->def.nu, o->inputs[k]);
        rt->inputs[k] = (bg_live_feed){.u = u, .last = NAN, .t_last = NAN};
        if (u < 0)
            return refuse_name(rt->sys->system, "input", 'u', rt->sys->def.nu, o->inputs[k], err);
        for (int i = 0; i < k; i++)
            if (rt->inputs[i].u == u)
                return bg_error_set(err, BG_BAD_INPUT, "input '%s' is named twice; once will do",
                                    o->inputs[k]);
    }
    return BG_OK;
}

enum { KINDS = 4 };
static const char kinds[KINDS + 1] = "yqvz";

static void calc_sizes(const bg_system_def *def, int sizes[KINDS])
{
    const int all[KINDS] = {def->ny, def->nq, def->nv, def->nz};
    memcpy(sizes, all, sizeof all);
}

static bg_status find_output(const bg_realtime *rt, const char *name, bg_live_output *out,
                             bg_error *err)
{
    int sizes[KINDS];
    calc_sizes(&rt->sys->def, sizes);
    const char *colon = strchr(name, ':');
    bool marked = colon == name + 1 && strchr(kinds, name[0]);
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int k = 0; k < KINDS; k++) {
        if (marked && kinds[k] != name[0])
            continue;
        out->kind = kinds[k];
        out->index = find_name(rt->sys->system, kinds[k], sizes[k], marked ? name + 2 : name);
        if (out->index >= 0)
            return BG_OK;
    }
    return refuse_name(rt->sys->system, "output", 'y', sizes[0], marked ? name + 2 : name, err);
}

/* All y, or all q and v. */
static void choose_outputs(bg_realtime *rt)
{
    char buffer[32];
    const bg_system_def *def = &rt->sys->def;
    for (int k = 0; k < rt->noutputs; k++) {
        bg_live_output *out = &rt->outputs[k];
        out->kind = def->ny > 0 ? 'y' : k < def->nq ? 'q' : 'v';
        out->index = out->kind == 'v' ? k - def->nq : k;
        const char *name = bg_system_get_name(rt->sys->system, out->kind, out->index, buffer,
                                              sizeof buffer);
        if (out->kind == 'y')
            snprintf(out->name, sizeof out->name, "%s", name);
        else
            snprintf(out->name, sizeof out->name, "%c:%s", out->kind, name);
    }
}

static bg_status find_outputs(bg_realtime *rt, const bg_realtime_options *o, bg_error *err)
{
    bg_status st = BG_OK;
    if (!o->outputs)
        choose_outputs(rt);
    for (int k = 0; o->outputs && k < o->noutputs && st == BG_OK; k++)
        st = find_output(rt, o->outputs[k], &rt->outputs[k], err);
    for (int k = 0; k < rt->noutputs; k++)
        rt->wants_y = rt->wants_y || rt->outputs[k].kind == 'y';
    return st;
}

static void list(void *object, bg_arena *arena)
{
    bg_realtime *rt = object;
    const bg_system_def *def = &rt->sys->def;
    BG_TAKE(arena, rt->settings, rt->nsettings + 2);
    BG_TAKE(arena, rt->inputs, rt->ninputs);
    BG_TAKE(arena, rt->outputs, rt->noutputs);
    BG_TAKE(arena, rt->y, def->ny);
    BG_TAKE(arena, rt->u, def->nu);
    BG_TAKE(arena, rt->u_t, def->nu);
    BG_TAKE(arena, rt->shift, def->jump ? def->nv : 0);
    BG_TAKE(arena, rt->s, def->ns);
    BG_TAKE(arena, rt->side, def->ns);
    BG_TAKE(arena, rt->said, def->ns);
    BG_TAKE(arena, rt->resting, def->ns);
    BG_TAKE(arena, rt->fired, def->ns);
    BG_TAKE(arena, rt->event_counts, 3 * def->ns);
}

static bool allocate(bg_realtime *rt, const bg_realtime_options *o)
{
    const bg_system_def *def = &rt->sys->def;
    rt->hold = o->hold;
    rt->nsettings = o->nsettings;
    rt->ninputs = o->ninputs;
    rt->noutputs = o->outputs ? o->noutputs : def->ny > 0 ? def->ny : def->nq + def->nv;
    return bg_arena_create(&rt->arena, list, rt) && bg_filters_create(def, &rt->filters) &&
           bg_state_create(rt->sys->system, &rt->changed, NULL) == BG_OK;
}

/* Whether a method has an option with this choice. */
static bool has_option(const char *integrator, const char *option, const char *choice)
{
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)); k++)
        for (int i = 0; strcmp(info->name, integrator) == 0 && i < info->noptions; i++)
            if (strcmp(info->options[i].name, option) == 0)
                return strstr(info->options[i].choices, choice) != NULL;
    return false;
}

static bg_status create_integrator(bg_realtime *rt, const bg_realtime_options *o, bg_error *err)
{
    bg_integrator_options method = bg_default_integrator_options();
    bg_step_plan plan;
    if (!(isfinite(o->period) && o->period > 0))
        return bg_error_set(err, BG_BAD_INPUT,
                            "a period of %g s is not usable; give a positive number of seconds",
                            o->period);
    method.step = o->period;
    method.energy = 0;
    if (has_option(o->integrator, "certificate", "off")) /* the last setting of a name counts */
        rt->settings[method.nsettings++] = (bg_setting){"certificate", "off"};
    if (has_option(o->integrator, "projection", "once")) /* which does not iterate */
        rt->settings[method.nsettings++] = (bg_setting){"projection", "once"};
    for (int i = 0; i < o->nsettings; i++)
        rt->settings[method.nsettings++] = o->settings[i];
    method.settings = rt->settings;
    bg_status st = bg_integrator_create_with(o->integrator, rt->sys, &method, &rt->ig, err);
    if (st == BG_OK && !bg_integrator_get_plan(rt->ig, &plan))
        st = bg_error_set(err, BG_BAD_INPUT,
                          "integrator %s does not say before a step how much work it is; in real "
                          "time take linear-euler, euler, rk2 or prk",
                          o->integrator);
    return st;
}

static bg_status count_event(void *self, const bg_event *event, bg_error *err)
{
    bg_realtime *rt = self;
    (void)err;
    rt->nevents++;
    rt->event_counts[3 * event->index + 1 + event->direction]++;
    return BG_OK;
}

/* The events at the start, as those of a run, and the sides of all functions behind them. None of
 * them ends what has not begun. */
static bg_status settle_events(bg_realtime *rt, bg_error *err)
{
    bg_instant start;
    bool stop = false;
    bg_status st = bg_instant_create(rt->sys, rt->ig, &rt->assembly.redundancy, &start, err);
    start.t_start = rt->changed->t;
    start.t_end = HUGE_VAL;
    start.self = rt;
    start.tell = count_event;
    if (st == BG_OK)
        st = bg_start_pass_events(&start, &stop, err);
    for (int i = 0; st == BG_OK && i < start.detector->ns; i++) {
        rt->side[i] = start.detector->sign[i];
        rt->resting[i] = start.detector->resting[i];
    }
    bg_instant_clear(&start);
    return st;
}

/* Two steps with an integrator that is thrown away afterwards: whatever libraries make at their
 * first use (buffers of the linear algebra, code that is linked when it is called) is there when
 * time begins to count. How they end does not matter: the steps that follow will tell. */
static bg_status warm_up(bg_realtime *rt, const bg_realtime_options *o, bg_error *err)
{
    bg_error ignored = {BG_OK, ""};
    bg_status st = bg_integrator_start(rt->ig, rt->changed, &rt->assembly.redundancy, HUGE_VAL,
                                       &ignored);
    for (int k = 0; k < 2 && st == BG_OK; k++)
        st = bg_integrator_step(rt->ig, &ignored);
    bg_integrator_destroy(rt->ig);
    rt->ig = NULL;
    if (st == BG_NO_MEMORY)
        return bg_error_set(err, st, "%s", ignored.text);
    return create_integrator(rt, o, err);
}

static bg_status begin(bg_realtime *rt, bg_error *err)
{
    bg_status st = bg_integrator_start(rt->ig, rt->changed, &rt->assembly.redundancy, HUGE_VAL,
                                       err);
    if (st == BG_OK && rt->sys->def.ns > 0)
        st = settle_events(rt, err);
    rt->filters.t = NAN; /* of the warming up */
    return st == BG_OK && rt->wants_y && rt->filters.n > 0 ? bg_realtime_update_outputs(rt, err)
                                                           : st;
}

bg_status bg_realtime_create(const bg_system *system, const bg_realtime_options *o,
                             bg_realtime **realtime, bg_error *err)
{
    *realtime = NULL;
    bg_realtime *rt = BG_NEW(bg_realtime);
    bg_status st = rt ? bg_evaluator_create(system, &rt->sys, err) : BG_NO_MEMORY;
    if (st == BG_OK && !allocate(rt, o))
        st = BG_NO_MEMORY;
    if (st == BG_NO_MEMORY)
        bg_error_set(err, st, "out of memory for real time");
    if (st == BG_OK)
        st = find_inputs(rt, o, err);
    if (st == BG_OK)
        st = find_outputs(rt, o, err);
    if (st == BG_OK)
        st = create_integrator(rt, o, err);
    if (st == BG_OK)
        st = bg_start_find(rt->sys, isnan(o->t_start) ? system->def.t_start : o->t_start,
                           rt->changed, &rt->assembly, err);
    if (st == BG_OK)
        st = warm_up(rt, o, err);
    if (st == BG_OK)
        st = begin(rt, err);
    if (st != BG_OK) {
        bg_realtime_destroy(rt);
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    }
    *realtime = rt;
    return BG_OK;
}

void bg_realtime_destroy(bg_realtime *rt)
{
    if (!rt)
        return;
    bg_integrator_destroy(rt->ig);
    bg_assembly_report_clear(&rt->assembly);
    bg_state_destroy(rt->changed);
    bg_filters_clear(&rt->filters);
    bg_arena_clear(&rt->arena);
    bg_evaluator_destroy(rt->sys);
    free(rt);
}

int bg_realtime_get_ninputs(const bg_realtime *rt)
{
    return rt->ninputs;
}

int bg_realtime_get_noutputs(const bg_realtime *rt)
{
    return rt->noutputs;
}

const char *bg_realtime_get_output_name(const bg_realtime *rt, int i)
{
    return rt->outputs[i].name;
}

const bg_state *bg_realtime_get_state(const bg_realtime *rt)
{
    return bg_integrator_get_state(rt->ig);
}

bg_step_plan bg_realtime_get_plan(const bg_realtime *rt)
{
    bg_step_plan plan = {0};
    bg_integrator_get_plan(rt->ig, &plan);
    plan.terms += rt->sys->def.ns > 0;
    return plan;
}

bg_counters bg_realtime_get_counters(const bg_realtime *rt)
{
    return bg_integrator_get_counters(rt->ig);
}

long bg_realtime_count_event(const bg_realtime *rt, int i, int direction, const char **name)
{
    *name = bg_system_get_event_text(rt->sys->system, i, direction);
    return rt->event_counts[3 * i + 1 + direction];
}

long bg_realtime_get_nevents(const bg_realtime *rt)
{
    return rt->nevents;
}

const bg_integrator *bg_realtime_get_integrator(const bg_realtime *rt)
{
    return rt->ig;
}
