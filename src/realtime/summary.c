/* The report of a real-time run as one JSON object; its keys are part of the interface
 * (docs/realtime.md). */
#include "realtime/report.h"

#include "bogie/version.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static json_t *new_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Text that need not be UTF-8. */
static json_t *new_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    return value ? value : json_string("?");
}

/* The period is not known where a run ended before it. */
static double share(const bg_statistics *s, double ns)
{
    return s->period > 0 ? ns / (double)s->period : 0;
}

/* Percentiles as shares of the period. */
static json_t *new_percentiles(const bg_statistics *s, const bg_histogram *h)
{
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f}", "mean", h->n > 0 ? share(s, h->sum / (double)h->n) : 0.0,
        "p50", share(s, (double)bg_histogram_find(h, 0.5)), "p99",
        share(s, (double)bg_histogram_find(h, 0.99)), "p999",
        share(s, (double)bg_histogram_find(h, 0.999)), "max", share(s, (double)h->max));
}

/* Pairs of an upper end (share of the period) and how many steps were in the octave below it. */
static json_t *new_histogram(const bg_statistics *s)
{
    json_t *array = json_array();
    int64_t below = -1;
    for (int k = -10; k <= 30 && array; k++) {
        int64_t end = (int64_t)ldexp((double)s->period, k);
        long n = bg_histogram_count(&s->turnaround, below, end);
        if (n > 0)
            json_array_append_new(array, json_pack("[f, I]", ldexp(1, k), (json_int_t)n));
        below = end;
    }
    return array;
}

static json_t *new_misses(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    json_t *first = json_array(), *causes = json_object();
    for (long k = 0; k < s->misses && k < BG_MISSES_KEPT && first; k++)
        json_array_append_new(first,
                              json_pack("{s:I, s:f, s:f, s:s}", "step", (json_int_t)s->miss[k].step,
                                        "t", r->t_start + (double)s->miss[k].step / r->rate,
                                        "late_seconds", 1e-9 * (double)s->miss[k].late, "cause",
                                        bg_cause_get_key(s->miss[k].cause)));
    for (int k = 0; k < BG_CAUSES && causes; k++)
        json_object_set_new(causes, bg_cause_get_key((bg_cause)k),
                            json_integer((json_int_t)s->causes[k]));
    return json_pack("{s:I, s:o, s:I, s:o}", "count", (json_int_t)s->misses, "causes", causes,
                     "delayed_steps", (json_int_t)s->delayed, "first", first);
}

static json_t *new_spin(const bg_realtime_report *r)
{
    const bg_spin *spin = &r->statistics.spin;
    return json_pack("{s:f, s:f, s:I, s:f, s:f, s:I, s:I}", "seconds", 1e-9 * (double)r->spin,
                     "watched_seconds", 1e-9 * (double)spin->watched, "interruptions",
                     (json_int_t)spin->gaps, "interrupted_seconds", 1e-9 * (double)spin->total,
                     "longest_seconds", 1e-9 * (double)spin->longest, "late_releases",
                     (json_int_t)spin->late, "overslept", (json_int_t)spin->overslept);
}

static json_t *new_plan(const bg_step_plan *p)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:i}", "terms",
                     p->terms, "explicit", p->explicit_, "jacobian", p->jacobian, "jacobian_every",
                     p->jacobian_every, "jacobian_of_forces", p->jacobian_r, "jacobian_of_states",
                     p->jacobian_h, "factorisations", p->factorisations, "projections",
                     p->projections, "states", p->states, "solutions", p->solutions, "slow",
                     p->slow, "fast", p->fast);
}

static json_t *new_datagrams(const bg_udp_counts *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "accepted", (json_int_t)c->accepted, "stale",
                     (json_int_t)c->stale, "malformed", (json_int_t)c->malformed, "restarts",
                     (json_int_t)c->restarts, "sent", (json_int_t)c->sent, "unsent",
                     (json_int_t)c->unsent);
}

static const char *find_status(const bg_realtime_report *r)
{
    if (r->status == BG_OK)
        return "done";
    return r->statistics.overloaded ? "overloaded" : r->status == BG_STOPPED ? "stopped" : "failed";
}

/* How often each event was, by what it is called. */
static json_t *new_event_counts(const bg_realtime_report *r)
{
    json_t *counts = json_object();
    for (int k = 0; r->rt && k < 2 * r->nswitches; k++) {
        const char *name;
        const long count = bg_realtime_count_event(r->rt, k / 2, k % 2 ? 1 : -1, &name);
        const json_int_t before = json_integer_value(json_object_get(counts, name));
        if (count > 0)
            json_object_set_new(counts, name, json_integer(before + count));
    }
    return counts;
}

static json_t *new_warnings(const bg_warnings *list)
{
    json_t *array = json_array();
    for (int i = 0; array && i < list->count; i++) {
        const bg_warning *w = &list->items[i];
        json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "verdict",
                                               bg_verdict_get_name(w->verdict), "topic",
                                               new_text(w->topic), "text", new_text(w->text)));
    }
    return array;
}

char *bg_realtime_summary_create(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:I, s:o, s:o, s:f}", "generator",
                            "Bogie " BG_VERSION, "model", new_text(r->model), "formulation",
                            new_text(r->formulation ? r->formulation : "equations"), "integrator",
                            new_text(r->integrator), "status", find_status(r), "message",
                            new_text(r->message), "rate", new_real(r->rate), "steps",
                            (json_int_t)s->steps, "t_start", new_real(r->t_start), "t_end",
                            new_real(r->t_end), "wall_seconds", r->wall_seconds);
    json_t *timing = json_pack(
        "{s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:f, s:f}", "overload",
        r->overload, "fifo", r->privilege.fifo, "locked", r->privilege.locked, "turnaround",
        new_percentiles(s, &s->turnaround), "processor", new_percentiles(s, &s->work), "latency",
        new_percentiles(s, &s->latency), "preparation", new_percentiles(s, &s->preparation), "spin",
        new_spin(r), "histogram", new_histogram(s), "misses", new_misses(r), "stolen_seconds",
        new_real(r->stolen_seconds), "skipped_periods", (json_int_t)s->skipped, "abandoned",
        (json_int_t)s->abandoned, "lag_seconds", 1e-9 * (double)s->lag, "farthest_behind_seconds",
        1e-9 * (double)s->farthest);
    json_t *allocations = r->counted ? json_integer(r->allocations) : json_null();
    json_t *rest = json_pack("{s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "datagrams",
                             new_datagrams(&r->datagrams), "plan", new_plan(&r->plan),
                             "allocations", allocations, "events", (json_int_t)r->events,
                             "event_counts", new_event_counts(r), "max_g", new_real(r->max_g),
                             "max_gv", new_real(r->max_gv), "warnings", new_warnings(&r->warnings));
    char *text = NULL;
    if (all && timing && rest && json_object_update(all, timing) == 0 &&
        json_object_update(all, rest) == 0)
        text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(all);
    json_decref(timing);
    json_decref(rest);
    return text;
}
