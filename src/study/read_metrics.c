/* Metrics and the references they compare with. */
#include "base/memory.h"
#include "base/text.h"
#include "study/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_names bg_value_names(const bg_value *v)
{
    bg_names names = {0};
    if (!bg_value_expect_list(v, -1))
        return names;
    int n = bg_value_get_size(v);
    if (n == 0)
        bg_value_fail(v, "is empty; name at least one");
    names.items = bg_reader_allocate(v->reader, (size_t)n, sizeof *names.items);
    for (int i = 0; names.items && i < n; i++) {
        bg_value element = bg_value_element(v, i);
        if (bg_value_expect_text(&element))
            names.items[names.count++] = json_string_value(element.json);
    }
    return names;
}

int bg_value_metric(const bg_value *object, const char *key, const bg_study *s)
{
    bg_value v = bg_value_member(object, key);
    const char *wanted = bg_value_text(object, key);
    const char **names = bg_reader_allocate(v.reader, (size_t)s->nmetrics + 1, sizeof *names);
    int found = -1;
    for (int i = 0; names && i < s->nmetrics; i++) {
        names[i] = s->metrics[i].key;
        if (strcmp(names[i], wanted) == 0)
            found = i;
    }
    if (found < 0 && v.reader->status == BG_OK)
        bg_value_fail_unknown(&v, "metric before this one with the key", wanted, names,
                              s->nmetrics);
    free(names);
    return found < 0 ? 0 : found;
}

static void read_values(const bg_value *v, bg_reference *r)
{
    bg_value member;
    size_t n = (size_t)bg_value_get_size(v);
    r->kind = BG_REFERENCE_VALUES;
    r->names.items = bg_reader_allocate(v->reader, n, sizeof *r->names.items);
    r->values = bg_reader_allocate(v->reader, n, sizeof *r->values);
    if (!bg_value_expect_object(v) || !r->names.items || !r->values)
        return;
    if (n == 0)
        bg_value_fail(v, "is empty; give values by the names of outputs");
    for (void *i = NULL; bg_value_next(v, &i, &member);) {
        r->values[r->names.count] = bg_value_get_number(&member);
        r->names.items[r->names.count++] = member.key;
    }
}

static void read_file(const bg_value *v, const bg_study *s, bg_reference *r)
{
    bg_error err = {0};
    r->kind = BG_REFERENCE_FILE;
    if (!bg_value_expect_text(v))
        return;
    char *path = bg_study_make_path(s, json_string_value(v->json));
    int count = 0;
    if (!path || bg_trajectory_read_csv(path, &r->file, &r->columns, &count, &err) != BG_OK)
        bg_value_fail(v, "%s", path ? err.text : "not enough memory");
    r->names = (bg_names){(const char **)r->columns, count};
    free(path);
}

static void read_reference(const bg_value *v, bg_study *s, bg_reference *r)
{
    static const char *const keys[] = {"values", "file", "variant", "points", NULL};
    bg_value_expect(v, keys);
    bg_value values = bg_value_member(v, "values"), file = bg_value_member(v, "file");
    bg_value variant = bg_value_member(v, "variant");
    double points = bg_value_number_or(v, "points", 4);
    r->name = v->key;
    r->points = points >= 2 && points <= 12 ? (int)points : 0;
    if (points != (double)r->points || r->points % 2 != 0)
        bg_value_fail(v, "points must be 2, 4, 6, 8, 10 or 12, but is %g", points);
    if (bg_value_exists(&values) + bg_value_exists(&file) + bg_value_exists(&variant) != 1) {
        bg_value_fail(v, "must have one of values, file and variant");
        return;
    }
    if (bg_value_exists(&values))
        read_values(&values, r);
    if (bg_value_exists(&file))
        read_file(&file, s, r);
    if (bg_value_exists(&variant)) {
        r->kind = BG_REFERENCE_VARIANT;
        r->settings = variant.json;
        bg_study_read_settings(&variant, false);
    }
}

static int find_reference(const bg_value *v, const bg_study *s, const char *name)
{
    const char **names = bg_reader_allocate(v->reader, (size_t)s->nreferences + 1, sizeof *names);
    int found = -1;
    for (int i = 0; names && i < s->nreferences; i++) {
        names[i] = s->references[i].name;
        if (strcmp(names[i], name) == 0)
            found = i;
    }
    if (found < 0 && v->reader->status == BG_OK)
        bg_value_fail_unknown(v, "reference", name, names, s->nreferences);
    free(names);
    return found < 0 ? 0 : found;
}

void bg_study_read_references(const bg_value *top, bg_study *s)
{
    bg_value v = bg_value_member(top, "references"), member;
    if (bg_value_exists(&v) && bg_value_expect_object(&v)) {
        s->references = bg_reader_allocate(v.reader, (size_t)bg_value_get_size(&v),
                                           sizeof *s->references);
        for (void *i = NULL; s->references && bg_value_next(&v, &i, &member);)
            read_reference(&member, s, &s->references[s->nreferences++]);
    }
    int runs = 0;
    for (int i = 0; i < s->nreferences; i++)
        runs += s->references[i].kind == BG_REFERENCE_VARIANT;
    if (s->nreferences > BG_MAX_REFERENCES || runs > BG_SLOTS)
        bg_value_fail(&v, "has %d entries, %d of them runs; at most %d, and %d runs, are possible",
                      s->nreferences, runs, BG_MAX_REFERENCES, BG_SLOTS);
    bg_value variants = bg_value_member(top, "variants");
    bg_value list = json_is_array(variants.json) ? variants : bg_value_member(&variants, "list");
    for (int i = 0; s->list && i < s->nlist; i++) {
        bg_value entry = bg_value_element(&list, i), name = bg_value_member(&entry, "reference");
        if (bg_value_exists(&name))
            find_reference(&name, s, bg_value_text(&entry, "reference"));
    }
}

static void read_summary(const bg_value *v, bg_metric *m)
{
    if (!bg_value_expect_text(v))
        return;
    m->path = json_string_value(v->json);
    bg_study_check_field(v, m->path);
    m->timing = strcmp(m->path, "cpu_seconds") == 0 ||
                strcmp(m->path, "certificate.real_time_factor") == 0;
}

static const char *const takes[] = {"max",  "min",  "end",   "rms",    "mean", "range",
                                    "rate", "time", "count", "median", NULL};

/* One of the ways that `allowed` lists, a bit each. */
static bg_take read_take(const bg_value *v, unsigned allowed, bg_take fallback)
{
    const char *names[sizeof takes / sizeof *takes];
    bg_take ways[sizeof takes / sizeof *takes];
    int n = 0, first = 0;
    for (int i = 0; takes[i]; i++)
        if (allowed & 1u << i) {
            first = i == (int)fallback ? n : first;
            ways[n] = (bg_take)i;
            names[n++] = takes[i];
        }
    names[n] = NULL;
    return ways[bg_value_choice(v, "take", names, first)];
}

static void read_norm(const bg_value *v, bg_metric *m)
{
    static const char *const norms[] = {"max", "2", NULL};
    m->euclidean = bg_value_choice(v, "norm", norms, 0) == 1;
}

/* The times between which rows count: all unless said. */
static void read_window(const bg_value *v, bg_metric *m)
{
    m->from = bg_value_number_or(v, "from", -HUGE_VAL);
    m->to = bg_value_number_or(v, "to", HUGE_VAL);
    if (v->reader->status == BG_OK && m->from > m->to)
        bg_value_fail(v, "counts from %g s to %g s; let `from` be the earlier time", m->from,
                      m->to);
}

static void read_error(const bg_value *v, bg_study *s, bg_metric *m)
{
    static const char *const keys[] = {"reference", "outputs", "take", "relative",
                                       "norm",      "from",    "to",   NULL};
    bg_value_expect(v, keys);
    bg_value reference = bg_value_member(v, "reference"), outputs = bg_value_member(v, "outputs");
    m->reference = -1;
    if (bg_value_exists(&reference))
        m->reference = find_reference(&reference, s, bg_value_text(v, "reference"));
    else if (s->nreferences == 1)
        m->reference = 0;
    else if (s->nreferences == 0)
        bg_value_fail(v, "needs a reference; add one under \"references\"");
    for (int i = 0; m->reference < 0 && v->reader->status == BG_OK && i < s->nlist; i++)
        if (!json_object_get(json_array_get(s->list, (size_t)i), "reference"))
            bg_value_fail(v,
                          "names no reference, and variant %d names none either; add "
                          "\"reference\" to one of them",
                          i);
    if (v->reader->status != BG_OK)
        return;
    if (bg_value_exists(&outputs))
        m->names = bg_value_names(&outputs);
    bool values = false;
    for (int i = 0; i < s->nreferences; i++) {
        bool used = m->reference < 0 || m->reference == i;
        values = values || (used && s->references[i].kind == BG_REFERENCE_VALUES);
        if (used && m->names.count == 0 && s->references[i].kind == BG_REFERENCE_VARIANT)
            bg_value_fail(&outputs, "is missing: say which outputs to compare with '%s'",
                          s->references[i].name);
    }
    bg_value take = bg_value_member(v, "take");
    m->take = read_take(v, 1u << BG_TAKE_MAX | 1u << BG_TAKE_END | 1u << BG_TAKE_RMS,
                        values ? BG_TAKE_END : BG_TAKE_MAX);
    if (values && m->take != BG_TAKE_END)
        bg_value_fail(&take, "must be \"end\": reference values hold at the end of a run");
    m->relative = bg_value_bool_or(v, "relative", false);
    read_norm(v, m);
    read_window(v, m);
}

static void read_drift(const bg_value *v, bg_metric *m)
{
    static const char *const keys[] = {"of", "at", "take", "norm", "from", "to", NULL};
    static const char *const levels[] = {"g", "gv", NULL};
    static const char *const places[] = {"rows", "steps", NULL};
    bg_value_expect(v, keys);
    m->residual = bg_value_choice(v, "of", levels, 0) == 0 ? 'g' : 'v';
    m->take = read_take(
        v, 1u << BG_TAKE_MAX | 1u << BG_TAKE_END | 1u << BG_TAKE_RMS | 1u << BG_TAKE_RATE,
        BG_TAKE_MAX);
    read_norm(v, m);
    read_window(v, m);
    m->at_steps = bg_value_choice(v, "at", places, 0) == 1;
    bg_value norm = bg_value_member(v, "norm");
    if (v->reader->status == BG_OK && m->at_steps && m->euclidean)
        bg_value_fail(&norm, "must be \"max\" for residuals at steps");
}

static void read_output(const bg_value *v, bg_metric *m)
{
    static const char *const keys[] = {"name", "take", "from", "to", NULL};
    bg_value_expect(v, keys);
    m->names.items = bg_reader_allocate(v->reader, 1, sizeof *m->names.items);
    if (!m->names.items)
        return;
    m->names.items[m->names.count++] = bg_value_text(v, "name");
    m->take = read_take(v,
                        1u << BG_TAKE_MAX | 1u << BG_TAKE_MIN | 1u << BG_TAKE_END |
                            1u << BG_TAKE_RMS | 1u << BG_TAKE_MEAN | 1u << BG_TAKE_RANGE,
                        BG_TAKE_MAX);
    read_window(v, m);
}

static void read_event(const bg_value *v, bg_metric *m)
{
    static const char *const keys[] = {"name", "number", "direction", "take", NULL};
    static const char *const directions[] = {"any", "rising", "falling", NULL};
    static const int signs[] = {0, 1, -1};
    bg_value_expect(v, keys);
    bg_value number = bg_value_member(v, "number");
    double n = bg_value_number_or(v, "number", 1);
    m->event = bg_value_text_or(v, "name", NULL);
    m->number = n > -1e9 && n < 1e9 ? (int)n : 0;
    if (m->number == 0 || n != (double)m->number)
        bg_value_fail(&number,
                      "must be 1 for the first, 2 for the second, ..., or -1 for the last");
    m->direction = signs[bg_value_choice(v, "direction", directions, 0)];
    m->take = read_take(v, 1u << BG_TAKE_TIME | 1u << BG_TAKE_COUNT, BG_TAKE_TIME);
}

static void read_stable_step(const bg_value *v, bg_study *s, bg_metric *m)
{
    static const char *const keys[] = {"from", "to", "accuracy", "limits", NULL};
    bg_value_expect(v, keys);
    m->from = bg_value_positive(v, "from");
    m->to = bg_value_positive(v, "to");
    m->accuracy = bg_value_not_negative_or(v, "accuracy", 0.01);
    if (v->reader->status == BG_OK && !(m->from < m->to && m->accuracy >= 1e-6))
        bg_value_fail(v, "needs from < to and an accuracy of at least 1e-6");
    bg_value limits = bg_value_member(v, "limits"), member;
    if (!bg_value_exists(&limits) || !bg_value_expect_object(&limits))
        return;
    size_t n = (size_t)bg_value_get_size(&limits);
    m->limited = bg_reader_allocate(v->reader, n, sizeof *m->limited);
    m->limits = bg_reader_allocate(v->reader, n, sizeof *m->limits);
    for (void *i = NULL; m->limited && m->limits && bg_value_next(&limits, &i, &member);) {
        int k = 0;
        while (k < s->nmetrics && strcmp(s->metrics[k].key, member.key) != 0)
            k++;
        if (k == s->nmetrics || !bg_metric_is_own(&s->metrics[k]) ||
            s->metrics[k].kind == BG_METRIC_STABLE_STEP)
            bg_value_fail(&member, "is no metric of a single run that stands before this one");
        m->limited[m->nlimits] = k;
        m->limits[m->nlimits++] = bg_value_get_number(&member);
    }
}

static void read_order(const bg_value *v, bg_study *s, bg_metric *m)
{
    static const char *const keys[] = {"of", "over", "floor", "ceiling", "last", "local", NULL};
    bg_value_expect(v, keys);
    bg_value over = bg_value_member(v, "over");
    m->of = bg_value_metric(v, "of", s);
    m->over = bg_value_text(v, "over");
    m->floor = bg_value_not_negative_or(v, "floor", 0);
    m->ceiling = bg_value_number_or(v, "ceiling", HUGE_VAL);
    double last = bg_value_not_negative_or(v, "last", 0);
    m->last = last < 1e6 ? (int)last : 0;
    bg_value given = bg_value_member(v, "last");
    if (last != (double)m->last || (bg_value_exists(&given) && m->last < 2))
        bg_value_fail(v, "last must be a whole number from 2 on, but is %g", last);
    m->local = bg_value_bool_or(v, "local", false);
    if (v->reader->status != BG_OK)
        return;
    m->timing = s->metrics[m->of].timing;
    if (!bg_setting_is_known(m->over))
        bg_value_metric(v, "over", s);
    else if (!json_object_get(s->grid, m->over) && !s->list)
        bg_value_fail(&over, "'%s' does not change in this study; add it to the grid", m->over);
}

static void read_ratio(const bg_value *v, bg_study *s, bg_metric *m)
{
    static const char *const keys[] = {"of", "to", "by", NULL};
    bg_value_expect(v, keys);
    m->of = bg_value_metric(v, "of", s);
    m->by = -1;
    bg_value to = bg_value_member(v, "to"), by = bg_value_member(v, "by");
    if (v->reader->status == BG_OK && bg_value_exists(&by) == bg_value_exists(&to))
        bg_value_fail(v, "must have one of to (another case) and by (another metric)");
    if (v->reader->status != BG_OK)
        return;
    m->timing = s->metrics[m->of].timing;
    if (bg_value_exists(&by)) {
        m->by = bg_value_metric(v, "by", s);
        m->timing = m->timing || s->metrics[m->by].timing;
        return;
    }
    m->base = to.json;
    if (json_is_object(to.json)) {
        bg_study_read_settings(&to, false);
        return;
    }
    if (!bg_value_expect_text(&to))
        return;
    const char **names = bg_reader_allocate(v->reader, (size_t)s->nlist, sizeof *names);
    int n = 0;
    for (; names && s->list && n < s->nlist; n++) {
        names[n] = json_string_value(json_object_get(json_array_get(s->list, (size_t)n), "name"));
        if (strcmp(names[n], json_string_value(to.json)) == 0)
            break;
    }
    if (names && (!s->list || n == s->nlist))
        bg_value_fail_unknown(&to, "variant", json_string_value(to.json), names, n);
    free(names);
}

/* "over" is a setting, several, or "draws". */
static void read_group(const bg_value *v, bg_study *s, bg_metric *m)
{
    static const char *const keys[] = {"of", "over", "take", NULL};
    bg_value_expect(v, keys);
    m->of = bg_value_metric(v, "of", s);
    bg_value over = bg_value_member(v, "over");
    if (v->reader->status != BG_OK)
        return;
    m->timing = s->metrics[m->of].timing;
    m->take = read_take(v,
                        1u << BG_TAKE_MEDIAN | 1u << BG_TAKE_MEAN | 1u << BG_TAKE_MIN |
                            1u << BG_TAKE_MAX | 1u << BG_TAKE_RANGE,
                        BG_TAKE_MEDIAN);
    if (json_is_string(over.json)) {
        m->differing.items = bg_reader_allocate(v->reader, 1, sizeof *m->differing.items);
        if (m->differing.items)
            m->differing.items[m->differing.count++] = json_string_value(over.json);
    } else {
        m->differing = bg_value_names(&over);
    }
    for (int i = 0; i < m->differing.count && v->reader->status == BG_OK; i++) {
        const char *name = m->differing.items[i];
        bool draws = strcmp(name, "draws") == 0;
        if (draws ? s->ndraws == 0 : !json_object_get(s->grid, name) && !s->list)
            bg_value_fail(&over,
                          draws ? "is draws, and this study has none"
                                : "'%s' does not change in this study; add it to the grid",
                          name);
    }
}

typedef struct metric_type {
    const char *key;
    bg_metric_kind kind;
} metric_type;

static const metric_type types[] = {
    {"summary", BG_METRIC_SUMMARY}, {"error", BG_METRIC_ERROR},
    {"drift", BG_METRIC_DRIFT},     {"output", BG_METRIC_OUTPUT},
    {"event", BG_METRIC_EVENT},     {"stable_step", BG_METRIC_STABLE_STEP},
    {"order", BG_METRIC_ORDER},     {"ratio", BG_METRIC_RATIO},
    {"group", BG_METRIC_GROUP},
};
enum { NTYPES = sizeof types / sizeof *types };

static void read_kind(const bg_value *v, bg_study *s, bg_metric *m)
{
    switch (m->kind) {
    case BG_METRIC_SUMMARY:
        read_summary(v, m);
        break;
    case BG_METRIC_ERROR:
        read_error(v, s, m);
        break;
    case BG_METRIC_DRIFT:
        read_drift(v, m);
        break;
    case BG_METRIC_OUTPUT:
        read_output(v, m);
        break;
    case BG_METRIC_EVENT:
        read_event(v, m);
        break;
    case BG_METRIC_STABLE_STEP:
        read_stable_step(v, s, m);
        break;
    case BG_METRIC_ORDER:
        read_order(v, s, m);
        break;
    case BG_METRIC_RATIO:
        read_ratio(v, s, m);
        break;
    case BG_METRIC_GROUP:
        read_group(v, s, m);
        break;
    }
}

/* A text is short for a field of the summary. */
static void read_metric(const bg_value *v, bg_study *s, bg_metric *m)
{
    static const char *const keys[] = {"key",   "label",  "unit",  "summary",     "error",
                                       "drift", "output", "event", "stable_step", "order",
                                       "ratio", "group",  NULL};
    if (json_is_string(v->json)) {
        read_summary(v, m);
        m->key = m->label = m->path;
        m->unit = m->path && strcmp(m->path, "cpu_seconds") == 0 ? "s" : "";
        return;
    }
    bg_value_expect(v, keys);
    const char *found = NULL;
    for (int i = 0; i < NTYPES && v->reader->status == BG_OK; i++) {
        bg_value body = bg_value_member(v, types[i].key);
        if (!bg_value_exists(&body))
            continue;
        if (found)
            bg_value_fail(v, "is both '%s' and '%s'; a metric is one of them", found, types[i].key);
        found = types[i].key;
        m->kind = types[i].kind;
        read_kind(&body, s, m);
    }
    if (!found)
        bg_value_fail(v, "says not what to measure; add one of summary, error, drift, output, "
                         "event, stable_step, order, ratio and group");
    m->key = bg_value_text_or(v, "key", m->path ? m->path : found ? found : "");
    m->label = bg_value_text_or(v, "label", m->key);
    m->unit = bg_value_text_or(v, "unit", "");
}

void bg_study_read_metrics(const bg_value *top, bg_study *s)
{
    bg_value v = bg_value_member(top, "metrics");
    if (!bg_value_expect_list(&v, -1))
        return;
    int n = bg_value_get_size(&v);
    if (n == 0)
        bg_value_fail(&v, "is empty; name at least one, such as \"steps.accepted\"");
    s->metrics = bg_reader_allocate(v.reader, (size_t)n, sizeof *s->metrics);
    for (int i = 0; s->metrics && i < n && v.reader->status == BG_OK; i++) {
        bg_value element = bg_value_element(&v, i);
        bg_metric *m = &s->metrics[i];
        read_metric(&element, s, m);
        for (int k = 0; k < i && v.reader->status == BG_OK; k++)
            if (strcmp(s->metrics[k].key, m->key) == 0)
                bg_value_fail(&element,
                              "has the key '%s' of metric %d; give it a \"key\" of its "
                              "own",
                              m->key, k);
        s->nmetrics++;
        s->timing = s->timing || m->timing;
    }
}
