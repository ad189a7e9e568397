/* The table, with its plots, as the STUDY object that files and reports carry. */
#include "base/text.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *make_columns(const bg_study *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->nmetrics; i++) {
        const bg_metric *m = &s->metrics[i];
        if (bg_study_shows(s, i))
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:s, s:b}", "key", m->key, "label",
                                            m->label, "unit", m->unit, "timing", (int)m->timing));
    }
    return list;
}

static json_t *make_row(const bg_table *t, long k)
{
    const bg_study *s = t->study;
    const bg_record *r = &t->rows[k];
    char *name = bg_study_make_name(s, k);
    json_t *values = json_array();
    for (int i = 0; i < s->nmetrics; i++)
        if (bg_study_shows(s, i))
            json_array_append_new(values, bg_cell_to_json(&r->cells[i]));
    json_t *row = json_pack("{s:I, s:s, s:s, s:s, s:o*, s:o}", "case", (json_int_t)k, "name",
                            name ? name : "", "status", r->ok ? "ok" : "failed", "reason",
                            r->reason ? r->reason : "", "settings", bg_study_make_settings(s, k),
                            "values", values);
    free(name);
    return row;
}

typedef struct axis {
    const char *key, *label, *unit;
    bool log;
    int metric; /* -1: a setting */
} axis;

static axis read_axis(const bg_study *s, const json_t *plot, const char *name, bool log_scale)
{
    const json_t *v = json_object_get(plot, name);
    axis a = {.key = json_is_object(v) ? json_string_value(json_object_get(v, "key"))
                                       : json_string_value(v),
              .log = log_scale,
              .metric = -1};
    for (int i = 0; a.key && i < s->nmetrics; i++)
        if (strcmp(s->metrics[i].key, a.key) == 0)
            a.metric = i;
    const char *label = json_string_value(json_object_get(v, "label"));
    const char *unit = json_string_value(json_object_get(v, "unit"));
    a.label = label ? label : a.metric >= 0 ? s->metrics[a.metric].label : a.key;
    a.unit = unit ? unit : a.metric >= 0 ? s->metrics[a.metric].unit : "";
    if (json_object_get(v, "log"))
        a.log = json_is_true(json_object_get(v, "log"));
    return a;
}

static json_t *make_axis(const axis *a)
{
    return json_pack("{s:s, s:s, s:b}", "label", a->label ? a->label : "", "unit",
                     a->unit ? a->unit : "", "log", (int)a->log);
}

/* The place of row k on an axis; NAN: none. */
static double find_place(const bg_table *t, const axis *a, long k, const json_t *settings)
{
    const json_t *value = a->metric < 0 && a->key ? json_object_get(settings, a->key) : NULL;
    double x = a->metric >= 0          ? bg_cell_get_number(&t->rows[k].cells[a->metric])
               : json_is_number(value) ? json_number_value(value)
                                       : NAN;
    return a->log && !(x > 0) ? NAN : x;
}

static json_t *new_series(const char *name, bool line, bool points, bool paper)
{
    return json_pack("{s:s, s:[], s:[], s:n, s:b, s:b, s:b}", "name", name, "x", "y", "slope",
                     "line", (int)line, "points", (int)points, "paper", (int)paper);
}

/* The series called name, made where there is none. */
static json_t *find_series(json_t *list, const char *name, bool line)
{
    json_t *series;
    size_t i;
    json_array_foreach(list, i, series)
    {
        if (strcmp(json_string_value(json_object_get(series, "name")), name) == 0)
            return series;
    }
    series = new_series(name, line, true, false);
    json_array_append_new(list, series);
    return series;
}

/* The value of one key of "by" in row k; to be released with free(). */
static char *write_part(const bg_study *s, const char *by, long k, const json_t *settings)
{
    const json_t *entry = json_array_get(s->list, (size_t)bg_study_find_case(s, k).list);
    const json_t *value = strcmp(by, "name") == 0 ? json_object_get(entry, "name")
                                                  : json_object_get(settings, by);
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
}

/* Which series row k belongs to; to be released with free(). */
static char *name_series(const bg_table *t, const json_t *plot, const char *kind, long k,
                         const json_t *settings, const axis *y)
{
    const bg_study *s = t->study;
    const json_t *by = json_object_get(plot, "by");
    if (!by && strcmp(kind, "stability") == 0)
        return strdup(t->rows[k].ok ? "stable" : "unstable");
    if (!by || json_is_string(by)) {
        const char *key = by ? json_string_value(by) : s->list ? "name" : "integrator";
        char *name = write_part(s, key, k, settings);
        return name ? name : strdup(y->label ? y->label : "all");
    }
    char *name = strdup("");
    for (size_t i = 0; name && i < json_array_size(by); i++) {
        char *longer = NULL;
        char *part = write_part(s, json_string_value(json_array_get(by, i)), k, settings);
        if (asprintf(&longer, "%s%s%s", name, *name ? ", " : "", part ? part : "") < 0)
            longer = NULL;
        free(part);
        free(name);
        name = longer;
    }
    return name;
}

static void fit_slopes(json_t *list)
{
    json_t *series;
    size_t i;
    json_array_foreach(list, i, series)
    {
        const json_t *xs = json_object_get(series, "x"), *ys = json_object_get(series, "y");
        size_t n = json_array_size(xs);
        double *x = calloc(2 * n + 1, sizeof *x);
        for (size_t k = 0; x && k < n; k++) {
            x[k] = json_number_value(json_array_get(xs, k));
            x[n + k] = json_number_value(json_array_get(ys, k));
        }
        double slope = x ? bg_slope_calc(x, x + n, (int)n) : NAN;
        if (isfinite(slope))
            json_object_set_new(series, "slope", json_real(slope));
        free(x);
    }
}

static json_t *make_points(const bg_table *t, const json_t *plot, const char *kind, const axis *x,
                           const axis *y)
{
    json_t *list = json_array();
    bool line = strcmp(kind, "scatter") != 0 && strcmp(kind, "stability") != 0;
    bool all = strcmp(kind, "stability") == 0;
    axis slope = read_axis(t->study, plot, "slope", false);
    for (long k = 0; k < t->study->ncases; k++) {
        if (!bg_study_lists(t->study, k))
            continue;
        json_t *settings = bg_study_make_settings(t->study, k);
        double px = find_place(t, x, k, settings), py = find_place(t, y, k, settings);
        char *name = name_series(t, plot, kind, k, settings, y);
        if ((t->rows[k].ok || all) && isfinite(px) && isfinite(py) && name) {
            json_t *series = find_series(list, name, line);
            json_array_append_new(json_object_get(series, "x"), json_real(px));
            json_array_append_new(json_object_get(series, "y"), json_real(py));
            if (slope.metric >= 0)
                json_object_set_new(series, "slope",
                                    bg_cell_to_json(&t->rows[k].cells[slope.metric]));
        }
        free(name);
        json_decref(settings);
    }
    if (strcmp(kind, "convergence") == 0 && slope.metric < 0)
        fit_slopes(list);
    return list;
}

/* Middles of equal classes and how many rows fall into each. */
static json_t *make_histogram(const bg_table *t, const json_t *plot, const axis *x)
{
    const json_t *given = json_object_get(plot, "bins");
    long n = t->study->ncases,
         bins = given ? bg_double_to_long(json_number_value(given), 1, 10000) : 20;
    double *place = calloc((size_t)n, sizeof *place), low = HUGE_VAL, high = -HUGE_VAL;
    long *count = calloc((size_t)bins, sizeof *count);
    json_t *list = json_array(), *series = new_series("cases", true, false, false);
    for (long k = 0; place && k < n; k++) {
        json_t *settings = bg_study_make_settings(t->study, k);
        place[k] = t->rows[k].ok ? find_place(t, x, k, settings) : NAN;
        low = place[k] < low ? place[k] : low;
        high = place[k] > high ? place[k] : high;
        json_decref(settings);
    }
    double width = high > low ? (high - low) / (double)bins : 1;
    for (long k = 0; place && count && k < n; k++)
        if (isfinite(place[k])) {
            long bin = bg_double_to_long((place[k] - low) / width, 0, bins - 1);
            count[bin]++;
        }
    for (long i = 0; count && i < bins && high >= low; i++) {
        json_array_append_new(json_object_get(series, "x"),
                              json_real(low + ((double)i + 0.5) * width));
        json_array_append_new(json_object_get(series, "y"), json_integer(count[i]));
    }
    json_array_append_new(list, series);
    free(place);
    free(count);
    return list;
}

/* One line per case from the curves it brought along. */
static json_t *make_curves(const bg_table *t, int curve)
{
    json_t *list = json_array();
    for (long k = 0; k < t->study->ncases; k++) {
        const bool shown = t->rows[k].curves && bg_study_lists(t->study, k);
        const bg_trajectory *c = shown ? &t->rows[k].curves[curve] : NULL;
        char *name = bg_study_make_name(t->study, k);
        json_t *series = c && name ? new_series(name, true, false, false) : NULL;
        for (long i = 0; series && i < c->rows; i++)
            if (isfinite(c->y[i])) {
                json_array_append_new(json_object_get(series, "x"), json_real(c->t[i]));
                json_array_append_new(json_object_get(series, "y"), json_real(c->y[i]));
            }
        if (series)
            json_array_append_new(list, series);
        free(name);
    }
    return list;
}

static void add_paper(const json_t *plot, json_t *list)
{
    size_t i;
    json_t *given;
    json_array_foreach(json_object_get(plot, "paper"), i, given)
    {
        json_t *series = new_series(json_string_value(json_object_get(given, "name")), false, true,
                                    true);
        json_object_set(series, "x", json_object_get(given, "x"));
        json_object_set(series, "y", json_object_get(given, "y"));
        json_array_append_new(list, series);
    }
}

/* NULL: the plot needs a column that is not shown. */
static json_t *make_plot(const bg_table *t, const json_t *plot, int *curve)
{
    const bg_study *s = t->study;
    const char *kind = json_string_value(json_object_get(plot, "kind"));
    const char *title = json_string_value(json_object_get(plot, "title"));
    const char *trajectory = json_string_value(json_object_get(plot, "trajectory"));
    bool logs = strcmp(kind, "work-precision") == 0 || strcmp(kind, "convergence") == 0;
    axis x = read_axis(s, plot, "x", logs), y = read_axis(s, plot, "y", logs);
    json_t *series;
    if (trajectory) {
        y = read_axis(s, plot, "y", trajectory[0] == '|');
        x.label = x.label ? x.label : "t";
        x.unit = *x.unit ? x.unit : "s";
        y.label = y.label ? y.label : trajectory;
        series = make_curves(t, (*curve)++);
    } else if ((x.metric >= 0 && !bg_study_shows(s, x.metric)) ||
               (y.metric >= 0 && !bg_study_shows(s, y.metric))) {
        return NULL;
    } else if (strcmp(kind, "histogram") == 0) {
        y = (axis){.label = "cases", .unit = "", .metric = -1};
        series = make_histogram(t, plot, &x);
    } else {
        series = make_points(t, plot, kind, &x, &y);
    }
    add_paper(plot, series);
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", kind, "title", title ? title : "", "x",
                     make_axis(&x), "y", make_axis(&y), "series", series);
}

static json_t *make_plots(const bg_table *t)
{
    json_t *list = json_array(), *plot;
    size_t i;
    int curve = 0;
    json_array_foreach((json_t *)t->study->plots, i, plot)
    {
        json_t *made = make_plot(t, plot, &curve);
        if (made)
            json_array_append_new(list, made);
    }
    return list;
}

static json_t *make_paper(const bg_study *s)
{
    const json_t *note = json_object_get(s->paper, "note");
    if (!s->paper)
        return json_null();
    return json_pack("{s:O, s:O, s:O, s:s}", "source", json_object_get(s->paper, "source"),
                     "columns", json_object_get(s->paper, "columns"), "rows",
                     json_object_get(s->paper, "rows"), "note",
                     note ? json_string_value(note) : "");
}

json_t *bg_table_make_json(const bg_table *t)
{
    const bg_study *s = t->study;
    const char *slash = strrchr(s->path, '/');
    json_t *rows = json_array();
    long ok = 0;
    for (long k = 0; k < s->ncases; k++) {
        if (bg_study_lists(s, k))
            json_array_append_new(rows, make_row(t, k));
        ok += t->rows[k].ok;
    }
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I}}",
                     "format", 1, "kind", "study", "name", s->name, "title", s->title, "text",
                     s->text, "source", slash ? slash + 1 : s->path, "columns", make_columns(s),
                     "rows", rows, "paper", make_paper(s), "plots", make_plots(t), "cases", "total",
                     (json_int_t)s->ncases, "ok", (json_int_t)ok, "failed",
                     (json_int_t)(s->ncases - ok));
}

char *bg_table_create_json(const bg_table *t)
{
    json_t *json = bg_table_make_json(t);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    return text;
}
