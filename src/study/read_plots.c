/* Plots, the figures of a paper, and the check of a study against its models. */
#include "base/memory.h"
#include "base/text.h"
#include "study/measure.h"
#include "study/read.h"
#include "study/simulation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_POINTS = 200, MAX_CURVE_CASES = 64 };

/* An axis is a key of a metric or setting, or {"key", "label", "unit", "log"}. */
static void check_axis(const bg_value *plot, const char *name, const bg_study *s)
{
    static const char *const keys[] = {"key", "label", "unit", "log", NULL};
    bg_value v = bg_value_member(plot, name);
    const char *key;
    if (json_is_object(v.json)) {
        bg_value_expect(&v, keys);
        key = bg_value_text(&v, "key");
        bg_value_text_or(&v, "label", "");
        bg_value_text_or(&v, "unit", "");
        bg_value_bool_or(&v, "log", false);
        if (v.reader->status == BG_OK && !bg_setting_is_known(key))
            bg_value_metric(&v, "key", s);
    } else {
        key = bg_value_text(plot, name);
        if (v.reader->status == BG_OK && !bg_setting_is_known(key))
            bg_value_metric(plot, name, s);
    }
}

/* An axis of a curve over time, which has no key. */
static void check_words(const bg_value *plot, const char *name)
{
    static const char *const keys[] = {"label", "unit", "log", NULL};
    bg_value v = bg_value_member(plot, name);
    if (!bg_value_exists(&v) || !bg_value_expect_object(&v))
        return;
    bg_value_expect(&v, keys);
    bg_value_text_or(&v, "label", "");
    bg_value_text_or(&v, "unit", "");
    bg_value_bool_or(&v, "log", false);
}

static void read_curve(const bg_value *plot, bg_study *s)
{
    bg_value v = bg_value_member(plot, "trajectory");
    double points = bg_value_number_or(plot, "points", DEFAULT_POINTS);
    if (!bg_value_expect_text(&v))
        return;
    if (!(points >= 2 && points <= 100000 && points == floor(points)))
        bg_value_fail(plot, "points must be a whole number from 2 to 100000, but is %g", points);
    long curves = 0;
    for (long k = 0; k < s->ncases && curves <= MAX_CURVE_CASES; k++)
        curves += bg_study_lists(s, k);
    if (curves > MAX_CURVE_CASES)
        bg_value_fail(plot,
                      "would show more than %d curves; let \"show\" name settings that fewer "
                      "cases have",
                      MAX_CURVE_CASES);
    s->curves[s->ncurves++] = (bg_plot_curve){json_string_value(v.json),
                                              (int)bg_double_to_long(points, 2, 100000)};
}

static void check_by(const bg_value *v)
{
    const char *key = json_string_value(v->json);
    if (bg_value_expect_text(v) && !bg_setting_is_known(key) && strcmp(key, "name") != 0)
        bg_value_fail(v, "must be a setting that changes in the study, or \"name\", not '%s'", key);
}

/* One key, or a list of them. */
static void read_by(const bg_value *plot)
{
    bg_value v = bg_value_member(plot, "by");
    if (bg_value_exists(&v) && !json_is_array(v.json))
        check_by(&v);
    for (int i = 0; json_is_array(v.json) && i < bg_value_get_size(&v); i++) {
        bg_value element = bg_value_element(&v, i);
        check_by(&element);
    }
}

static void read_paper_series(const bg_value *plot)
{
    static const char *const keys[] = {"name", "x", "y", NULL};
    bg_value v = bg_value_member(plot, "paper");
    if (!bg_value_exists(&v) || !bg_value_expect_list(&v, -1))
        return;
    for (int i = 0; i < bg_value_get_size(&v); i++) {
        bg_value series = bg_value_element(&v, i);
        int n = 0;
        bg_value_expect(&series, keys);
        bg_value_text(&series, "name");
        free(bg_value_numbers(&series, "x", -1, &n));
        free(bg_value_numbers(&series, "y", n, NULL));
    }
}

static void read_plot(const bg_value *plot, bg_study *s)
{
    static const char *const keys[] = {"kind",       "title",  "x",     "y",     "by", "bins",
                                       "trajectory", "points", "paper", "slope", NULL};
    static const char *const kinds[] = {"work-precision", "convergence", "lines", "scatter",
                                        "stability",      "histogram",   NULL};
    bg_value_expect(plot, keys);
    int kind = bg_value_choice(plot, "kind", kinds, -1);
    bg_value_text_or(plot, "title", "");
    bg_value trajectory = bg_value_member(plot, "trajectory");
    if (bg_value_exists(&trajectory)) {
        check_words(plot, "x");
        check_words(plot, "y");
        read_curve(plot, s);
    } else {
        check_axis(plot, "x", s);
        if (kind != 5)
            check_axis(plot, "y", s);
    }
    bg_value slope = bg_value_member(plot, "slope");
    if (bg_value_exists(&slope))
        bg_value_metric(plot, "slope", s);
    double bins = bg_value_number_or(plot, "bins", 20);
    if (!(bins >= 1 && bins <= 10000 && bins == floor(bins)))
        bg_value_fail(plot, "bins must be a whole number from 1 to 10000, but is %g", bins);
    else if (json_is_string(json_object_get(plot->json, "bins")) && /* an expression */
             json_object_set_new(plot->json, "bins", json_real(bins)))
        plot->reader->status = bg_error_set(plot->reader->err, BG_NO_MEMORY,
                                            "not enough memory to read the study");
    read_by(plot);
    read_paper_series(plot);
}

void bg_study_read_plots(const bg_value *top, bg_study *s)
{
    bg_value v = bg_value_member(top, "plots");
    if (!bg_value_exists(&v) || !bg_value_expect_list(&v, -1))
        return;
    s->plots = v.json;
    s->curves = bg_reader_allocate(v.reader, (size_t)bg_value_get_size(&v), sizeof *s->curves);
    for (int i = 0; s->curves && i < bg_value_get_size(&v); i++) {
        bg_value plot = bg_value_element(&v, i);
        read_plot(&plot, s);
    }
}

void bg_study_read_paper(const bg_value *top, bg_study *s)
{
    static const char *const keys[] = {"source", "columns", "rows", "note", NULL};
    bg_value v = bg_value_member(top, "paper");
    if (!bg_value_exists(&v))
        return;
    s->paper = v.json;
    bg_value_expect(&v, keys);
    bg_value_text(&v, "source");
    bg_value_text_or(&v, "note", "");
    bg_value columns = bg_value_member(&v, "columns"), rows = bg_value_member(&v, "rows");
    bg_names names = bg_value_names(&columns);
    bg_value_expect_list(&rows, -1);
    for (int i = 0; i < bg_value_get_size(&rows); i++) {
        bg_value row = bg_value_element(&rows, i);
        bg_value_expect_list(&row, names.count);
        for (int k = 0; k < bg_value_get_size(&row); k++) {
            bg_value cell = bg_value_element(&row, k);
            if (!json_is_string(cell.json) && !json_is_number(cell.json) &&
                !json_is_null(cell.json))
                bg_value_fail(&cell, "must be a number, a text or null");
        }
    }
    free(names.items);
}

/* Names of outputs and events that metrics and plots ask for, against one system. */
static void check_names(const bg_value *top, const bg_study *s, const bg_system *system, long k)
{
    bg_value metrics = bg_value_member(top, "metrics"), plots = bg_value_member(top, "plots");
    bg_error err = {0};
    for (int i = 0; i < s->nmetrics; i++) {
        const bg_metric *m = &s->metrics[i];
        bg_value v = bg_value_element(&metrics, i);
        bg_names names = m->names;
        if (m->kind == BG_METRIC_ERROR && names.count == 0)
            names = s->references[bg_study_find_reference(s, m, k)].names;
        if (m->kind == BG_METRIC_EVENT ? bg_event_check(system, m->event, &err)
                                       : bg_channels_check(system, names, &err))
            bg_value_fail(&v, "%s", err.text);
    }
    for (int i = 0; i < s->ncurves; i++) {
        const char *name = s->curves[i].name, *near = NULL;
        int counter;
        if (name[0] == '#')
            near = bg_counter_find(name, &counter);
        else if (name[0] != '|' && bg_channels_check(system, (bg_names){&name, 1}, &err))
            bg_value_fail(&plots, "%s", err.text);
        if (near)
            bg_value_fail(&plots, "there is no counter '%s'; did you mean '%s'?", name, near);
    }
}

/* What is wrong with a model for any values, as opposed to those of one case. */
static void check_model(const bg_value *top, const bg_study *s, json_t *settings, long k)
{
    bg_value base = bg_value_member(top, s->list || s->grid ? "variants" : "base");
    const char *model = json_string_value(json_object_get(settings, "model"));
    if (!model) {
        bg_value missing = bg_value_member(top, "model");
        bg_value_fail(&missing, "is missing; name a model file, equations:NAME or a plug-in here, "
                                "in base or in every variant");
        return;
    }
    char *path = bg_study_make_path(s, model);
    bg_error err = {0};
    if (path && strncmp(path, "equations:", 10) != 0 && access(path, R_OK) != 0)
        bg_value_fail(&base,
                      "the model '%s' cannot be read: %s; paths are relative to the study "
                      "file",
                      path, strerror(errno));
    size_t length = path ? strlen(path) : 0;
    bool plugin = length > 3 && strcmp(path + length - 3, ".so") == 0;
    free(path);
    if (plugin || top->reader->status != BG_OK)
        return; /* a plug-in is loaded by workers alone: it may crash */
    bg_simulation job;
    if (bg_simulation_check_settings(s, settings, &err) != BG_OK)
        bg_value_fail(&base, "%s", err.text);
    else if (bg_simulation_open(s, settings, &job, &err) == BG_OK) {
        check_names(top, s, job.system, k);
        bg_simulation_close(&job);
    }
}

void bg_study_check_models(const bg_value *top, bg_study *s)
{
    json_t *seen = json_object();
    for (long k = 0; k < s->ncases && top->reader->status == BG_OK; k += s->nrandom) {
        json_t *settings = bg_study_make_settings(s, k), *value;
        const char *key;
        json_t *sign = json_object(); /* the model, and which settings there are */
        json_object_foreach(settings, key, value)
        {
            json_object_set_new(sign, key,
                                strcmp(key, "model") == 0 ? json_incref(value) : json_true());
        }
        char *text = json_dumps(sign, JSON_COMPACT | JSON_SORT_KEYS);
        if (!text)
            bg_reader_fail_memory(top->reader);
        else if (!json_object_get(seen, text)) {
            json_object_set_new(seen, text, json_true());
            check_model(top, s, settings, k);
        }
        free(text);
        json_decref(sign);
        json_decref(settings);
    }
    json_decref(seen);
}
