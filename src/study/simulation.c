#include "study/simulation.h"

#include "base/memory.h"
#include "base/text.h"
#include "model/model.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_model_file(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* A value as --set would have it; to be released with free(). */
static char *write_value(const json_t *value)
{
    char *text = NULL;
    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_integer(value))
        return asprintf(&text, "%lld", (long long)json_integer_value(value)) < 0 ? NULL : text;
    if (json_is_real(value))
        return asprintf(&text, "%.17g", json_real_value(value)) < 0 ? NULL : text;
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

/* Adds the settings whose key starts with prefix, without it. Returns their number, -1: memory. */
static int collect(const json_t *settings, const char *prefix, bg_setting *list)
{
    size_t length = strlen(prefix);
    const char *key;
    json_t *value;
    int n = 0;
    json_object_foreach((json_t *)settings, key, value)
    {
        if (strncmp(key, prefix, length) != 0)
            continue;
        list[n] = (bg_setting){key + length, write_value(value)};
        if (!list[n++].value)
            return -1;
    }
    return n;
}

static const char *find_text(const json_t *settings, const char *key)
{
    return json_string_value(json_object_get(settings, key));
}

static void take_number(const json_t *settings, const char *key, double fallback, double *x)
{
    const json_t *value = json_object_get(settings, key);
    if (value)
        *x = json_number_value(value);
    else if (!isnan(fallback))
        *x = fallback;
}

/* Where the study says nothing, a model file may; its times are the system's. */
static void make_options(bg_simulation *job, const json_t *settings)
{
    bg_run_options *run = &job->run;
    const bg_model *file = job->file;
    *run = bg_default_run_options();
    run->model = job->path;
    const char *integrator = find_text(settings, "integrator");
    if (integrator)
        run->integrator = integrator;
    else if (file && file->integrator[0])
        run->integrator = file->integrator;
    double steps = 0;
    take_number(settings, "tol", file ? file->rtol : NAN, &run->method.rtol);
    take_number(settings, "tol", file ? file->atol : NAN, &run->method.atol);
    take_number(settings, "rtol", NAN, &run->method.rtol);
    take_number(settings, "atol", NAN, &run->method.atol);
    take_number(settings, "step", file ? file->step : NAN, &run->method.step);
    take_number(settings, "h_initial", NAN, &run->method.h_initial);
    take_number(settings, "h_min", NAN, &run->method.h_min);
    take_number(settings, "h_max", NAN, &run->method.h_max);
    take_number(settings, "t_start", NAN, &run->t_start);
    take_number(settings, "t_end", NAN, &run->t_end);
    take_number(settings, "output_interval", NAN, &run->output_interval);
    take_number(settings, "max_steps", NAN, &steps);
    run->max_steps = bg_double_to_long(steps, 0, LONG_MAX);
    run->output_steps = run->output_interval <= 0;
    run->method.settings = job->nmethod > 0 ? job->settings + job->nset : NULL;
    run->method.nsettings = job->nmethod;
}

static bg_status open_system(bg_simulation *job, const json_t *settings, bg_error *err)
{
    const char *formulation = find_text(settings, "formulation");
    if (is_model_file(job->path)) {
        bg_status st = bg_model_read(job->path, job->settings, job->nset, &job->file, err);
        if (st != BG_OK)
            return st;
        if (!formulation)
            formulation = job->file->formulation[0] ? job->file->formulation : "joint";
        make_options(job, settings);
        job->run.formulation = formulation;
        return bg_model_create_system(job->file, formulation, &job->system, err);
    }
    if (formulation)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the setting 'formulation' is for model files; '%s' brings its own "
                            "coordinates",
                            job->path);
    const bg_equations *family;
    bg_status st = bg_equations_open(job->path, &family, &job->handle, err);
    if (st != BG_OK)
        return st;
    make_options(job, settings);
    return bg_equations_create(family, job->settings, job->nset, &job->system, err);
}

bg_status bg_simulation_open(const bg_study *s, const json_t *settings, bg_simulation *job,
                             bg_error *err)
{
    const char *model = find_text(settings, "model");
    *job = (bg_simulation){0};
    if (!model)
        return bg_error_set(err, BG_BAD_INPUT, "the case names no model");
    job->path = bg_study_make_path(s, model);
    job->settings = BG_NEW_ARRAY(bg_setting, json_object_size(settings));
    bg_status st = job->path && job->settings ? BG_OK : BG_NO_MEMORY;
    if (st == BG_OK)
        job->nset = collect(settings, "set.", job->settings);
    if (st == BG_OK && job->nset >= 0)
        job->nmethod = collect(settings, "integrator.", job->settings + job->nset);
    if (st != BG_OK || job->nset < 0 || job->nmethod < 0)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings of a case");
    else
        st = open_system(job, settings, err);
    if (st != BG_OK)
        bg_simulation_close(job);
    return st;
}

/* The system first: it refers to the model, and its functions may be those of a plug-in. */
void bg_simulation_close(bg_simulation *job)
{
    if (job->system)
        bg_system_destroy(job->system);
    if (job->file)
        bg_model_destroy(job->file);
    bg_equations_close(job->handle);
    for (int i = 0; job->settings && job->settings[i].value && i < job->nset + job->nmethod; i++)
        free((char *)job->settings[i].value);
    free(job->settings);
    free(job->path);
    *job = (bg_simulation){0};
}

static bg_status check_parameter(const bg_equations *family, const char *name, bg_error *err)
{
    const char *names[64];
    int n = family->nparameters < 64 ? family->nparameters : 64;
    for (int i = 0; i < n; i++) {
        names[i] = family->parameters[i].name;
        if (strcmp(names[i], name) == 0)
            return BG_OK;
    }
    int near = bg_text_find_nearest(name, names, n);
    return bg_error_set(err, BG_BAD_INPUT, "equations:%s has no parameter '%s'; %s%s%s",
                        family->name, name, near >= 0 ? "did you mean 'set." : "`bogie list` shows",
                        near >= 0 ? names[near] : " those it has", near >= 0 ? "'?" : "");
}

/* A file that is not readable by itself, or has no such path, is wrong for every case; what else is
 * wrong may be so for the values of one case alone. */
static bg_status check_file(const char *path, const bg_setting *list, int n, bg_error *err)
{
    static const char path_failure[] = "setting '";
    bg_model *model;
    bg_status st = bg_model_read(path, NULL, 0, &model, err);
    if (st != BG_OK)
        return st;
    bg_model_destroy(model);
    bg_error said = {0};
    st = bg_model_read(path, list, n, &model, &said);
    if (st == BG_OK)
        bg_model_destroy(model);
    else if (strncmp(said.text, path_failure, strlen(path_failure)) == 0)
        return bg_error_set(err, st, "%s", said.text);
    return BG_OK;
}

bg_status bg_simulation_check_settings(const bg_study *s, const json_t *settings, bg_error *err)
{
    char *path = bg_study_make_path(s, find_text(settings, "model"));
    bg_setting *list = BG_NEW_ARRAY(bg_setting, json_object_size(settings));
    int n = path && list ? collect(settings, "set.", list) : -1;
    bg_status st = BG_OK;
    if (n < 0) {
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings of a case");
    } else if (is_model_file(path)) {
        st = check_file(path, list, n, err);
    } else {
        const bg_equations *family = NULL;
        void *handle = NULL;
        st = bg_equations_open(path, &family, &handle, err);
        for (int i = 0; i < n && st == BG_OK; i++)
            st = check_parameter(family, list[i].name, err);
        bg_equations_close(handle);
    }
    for (int i = 0; list && i < n; i++)
        free((char *)list[i].value);
    free(list);
    free(path);
    return st;
}
