/* What a page says in words: about the model, how it was run, and what the page leaves out. */
#include "base/text.h"
#include "bogie/version.h"
#include "report/page.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1024 };

static void put_fact(bg_json *j, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put_fact(bg_json *j, const char *label, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bg_json_open(j, NULL, '[');
    bg_json_text(j, NULL, label);
    bg_json_text(j, NULL, text);
    bg_json_close(j, ']');
}

/* The comment of the model file: a text, or a list of texts. */
static void put_comment(bg_json *j, const bg_model *m)
{
    const json_t *comment = json_object_get(m->source, "comment");
    if (json_is_string(comment))
        put_fact(j, "about", "%s", json_string_value(comment));
    for (size_t k = 0; k < json_array_size(comment); k++)
        if (json_is_string(json_array_get(comment, k)))
            put_fact(j, "about", "%s", json_string_value(json_array_get(comment, k)));
}

static void put_joints(bg_json *j, const bg_scene *s)
{
    char cuts[TEXT / 2] = "";
    size_t used = 0;
    for (int k = 0; k < s->mechanism->ncuts && used < sizeof cuts; k++)
        used += (size_t)snprintf(cuts + used, sizeof cuts - used, "%s%s", k > 0 ? ", " : "",
                                 s->model->joints[s->mechanism->cuts[k]].name);
    put_fact(j, "joints", "%d", s->njoints);
    if (s->mechanism->ncuts > 0)
        put_fact(j, "joints that close loops", "%s", cuts);
    if (s->model->ncouplers > 0)
        put_fact(j, "gears", "%d", s->model->ncouplers);
}

/* "spring-damper, 2 bushing": types in the order of the file. */
static void put_forces(bg_json *j, const bg_model *m)
{
    char text[TEXT / 2] = "";
    size_t used = 0;
    for (int k = 0; k < m->nforces && used < sizeof text; k++) {
        int count = 0, earlier = 0;
        for (int i = 0; i < m->nforces; i++) {
            count += m->forces[i].class_ == m->forces[k].class_;
            earlier += i < k && m->forces[i].class_ == m->forces[k].class_;
        }
        if (earlier == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d %s",
                                     used > 0 ? ", " : "", count, m->forces[k].class_->name);
    }
    if (used > 0)
        put_fact(j, "forces", "%s", text);
}

static void put_model(bg_json *j, const bg_scene *s)
{
    const bg_model *m = s->model;
    double mass = 0;
    for (int k = 1; k < m->nbodies; k++)
        mass += m->bodies[k].mass;
    put_fact(j, "name", "%s", m->name);
    put_comment(j, m);
    put_fact(j, "bodies", "%d", m->nbodies - 1);
    put_fact(j, "total mass", "%.6g kg", mass);
    put_joints(j, s);
    put_forces(j, m);
}

static double get_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static long get_count(const json_t *object, const char *key)
{
    return bg_double_to_long(get_number(object, key), 0, LONG_MAX);
}

static void put_dimensions(bg_json *j, const bg_page_result *r)
{
    const json_t *d = json_object_get(r->summary, "dimensions");
    if (!d)
        return;
    put_fact(j, "degrees of freedom", "%ld", get_count(d, "dof"));
    put_fact(j, "coordinates", "%ld positions, %ld velocities, %ld further states",
             get_count(d, "nq"), get_count(d, "nv"), get_count(d, "nz"));
    put_fact(j, "constraints", "%ld, of which %ld depend on others", get_count(d, "ng"),
             get_count(d, "redundant"));
}

/* "projection = none, ..." of an object of texts. */
static void put_settings(bg_json *j, const char *label, const json_t *object)
{
    char text[TEXT / 2] = "";
    size_t used = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key,
                        value) if (used < sizeof text && json_string_value(value))
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s = %s", used > 0 ? ", " : "",
                                 key, json_string_value(value));
    if (used > 0)
        put_fact(j, label, "%s", text);
}

static void put_run(bg_json *j, const bg_page_result *r)
{
    const bg_result_info *info = bg_result_get_info(r->file);
    put_fact(j, "run of", "%s", info->model);
    if (r->scene)
        put_fact(j, "formulation", "%s", r->scene->formulation);
    put_fact(j, "integrator", "%s", info->integrator);
    if (r->order > 0)
        put_fact(j, "order of the method", "%d", r->order);
    if (r->setup) {
        double step = get_number(r->setup, "step");
        if (step > 0)
            put_fact(j, "fixed step", "%g s", step);
        else
            put_fact(j, "tolerances", "relative %g, absolute %g", get_number(r->setup, "rtol"),
                     get_number(r->setup, "atol"));
        put_settings(j, "integrator options", json_object_get(r->setup, "options"));
        put_settings(j, "settings", json_object_get(r->setup, "parameters"));
        put_fact(j, "time asked for", "%g s to %g s", get_number(r->setup, "t_start"),
                 get_number(r->setup, "t_end"));
    }
    put_fact(j, "made by", "Bogie %s", info->version);
}

static void put_notes(bg_json *j, const bg_page_result *r)
{
    const bg_result_info *info = bg_result_get_info(r->file);
    if (!info->complete)
        put_fact(j, "note",
                 "The run goes on, or was ended from outside: these are its results so "
                 "far, without a summary.");
    if (info->rows == 0)
        put_fact(j, "note", "The result has no rows, so there is nothing to plot.");
    if (r->drawn < info->rows && r->rows == info->rows)
        put_fact(j, "note",
                 "Plots show %ld points of %ld rows: the smallest and the largest value of every "
                 "stretch of about %ld rows.",
                 r->drawn, info->rows, 2 * info->rows / r->drawn);
    if (r->rows < info->rows)
        put_fact(j, "note",
                 "Only the first %ld of %ld rows are shown: the time behind them is not finite or "
                 "falls.",
                 r->rows, info->rows);
    if (r->drawn_steps < r->steps)
        put_fact(j, "note", "The history shows %ld points of %ld steps, extremes included.",
                 r->drawn_steps, r->steps);
    if (r->not_finite > 0)
        put_fact(j, "note", "%ld plotted numbers are not finite, the first at t = %.9g s.",
                 r->not_finite, r->not_finite_t);
    if (r->note[0])
        put_fact(j, "note", "%s", r->note);
}

void bg_page_write_facts(bg_json *j, const bg_page_result *r)
{
    bg_json_open(j, "facts", '[');
    put_notes(j, r);
    if (r->scene)
        put_model(j, r->scene);
    put_dimensions(j, r);
    put_run(j, r);
    bg_json_close(j, ']');
}

bool bg_page_write_summary(bg_json *j, const bg_page_result *r)
{
    const bg_result_info *info = bg_result_get_info(r->file);
    if (r->summary)
        return bg_json_value(j, "summary", r->summary);
    bg_json_open(j, "summary", '{');
    bg_json_text(j, "model", info->model);
    bg_json_text(j, "formulation", r->scene ? r->scene->formulation : NULL);
    bg_json_text(j, "integrator", info->integrator);
    bg_json_text(j, "status", "incomplete");
    bg_json_text(j, "message", "the run goes on, or was ended from outside");
    bg_json_text(j, "verdict", bg_verdict_get_name(BG_DOUBTFUL));
    bg_json_text(j, "reason", "the run goes on, or was ended from outside");
    bg_json_close(j, '}');
    return true;
}
