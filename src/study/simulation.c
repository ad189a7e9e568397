#include "study/simulation.h"

#include "base/memory.h"
#include "base/text.h"
#include "run/problem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value as --set would have it; to be released with free(). */
static char *write_value(const json_t *value)
{
    char *text = NULL, number[40];
    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_integer(value))
        return asprintf(&text, "%lld", (long long)json_integer_value(value)) < 0 ? NULL : text;
    if (json_is_real(value)) {
        bg_text_print(json_real_value(value), number, sizeof number);
        return strdup(number);
    }
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

static const char of_model[] = "set.", of_method[] = "integrator.";

static void clear(bg_setting *list, int n)
{
    for (int i = 0; list && i < n; i++)
        free((char *)list[i].value);
    free(list);
}

/* The settings of model and method as a problem has them; NULL: out of memory. */
static bg_setting *collect(const json_t *settings, int *n)
{
    bg_setting *list = BG_NEW_ARRAY(bg_setting, json_object_size(settings));
    const char *key;
    json_t *value;
    *n = 0;
    json_object_foreach((json_t *)settings, key, value)
    {
        bool model = strncmp(key, of_model, sizeof of_model - 1) == 0;
        if (!list || (!model && strncmp(key, of_method, sizeof of_method - 1) != 0))
            continue;
        list[*n] = (bg_setting){key + (model ? sizeof of_model - 1 : 0), write_value(value)};
        if (!list[(*n)++].value) {
            clear(list, *n);
            list = NULL;
        }
    }
    return list;
}

static const char *find_text(const json_t *settings, const char *key)
{
    return json_string_value(json_object_get(settings, key));
}

static void take_number(const json_t *settings, const char *key, double *x)
{
    const json_t *value = json_object_get(settings, key);
    if (value)
        *x = json_number_value(value);
}

static bg_problem_def make_def(const json_t *settings)
{
    bg_problem_def def = bg_default_problem_def();
    def.formulation = find_text(settings, "formulation");
    def.integrator = find_text(settings, "integrator");
    take_number(settings, "tol", &def.rtol);
    take_number(settings, "tol", &def.atol);
    take_number(settings, "rtol", &def.rtol);
    take_number(settings, "atol", &def.atol);
    take_number(settings, "step", &def.step);
    take_number(settings, "t_start", &def.t_start);
    take_number(settings, "t_end", &def.t_end);
    take_number(settings, "output_interval", &def.output_interval);
    return def;
}

static bg_run_options make_options(const bg_problem *problem, const json_t *settings)
{
    bg_run_options run = bg_problem_get_run_options(problem);
    double steps = 0, factor = 1;
    take_number(settings, "tol_factor", &factor);
    run.method.rtol *= factor;
    run.method.atol *= factor;
    take_number(settings, "h_initial", &run.method.h_initial);
    take_number(settings, "h_min", &run.method.h_min);
    take_number(settings, "h_max", &run.method.h_max);
    take_number(settings, "max_steps", &steps);
    run.max_steps = bg_double_to_long(steps, 0, LONG_MAX);
    run.skip_comparison = 1; /* studies compare with references */
    return run;
}

/* The source that the settings name. */
static bg_status find_source(const bg_study *s, const json_t *settings, const bg_source **source,
                             bg_error *err)
{
    const char *model = find_text(settings, "model");
    if (!model)
        return bg_error_set(err, BG_BAD_INPUT, "the case names no model");
    char *path = bg_study_make_path(s, model);
    bg_status st = path ? bg_sources_find(s->sources, path, source, err)
                        : bg_error_set(err, BG_NO_MEMORY, "out of memory for a path");
    free(path);
    return st;
}

bg_status bg_simulation_open(const bg_study *s, const json_t *settings, bg_simulation *job,
                             bg_error *err)
{
    bg_problem_def def = make_def(settings);
    *job = (bg_simulation){0};
    bg_status st = find_source(s, settings, &def.source, err);
    if (st != BG_OK)
        return st;
    bg_setting *list = collect(settings, &def.nsettings);
    def.settings = list;
    st = list ? bg_problem_create(&def, &job->problem, err)
              : bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings of a case");
    clear(list, def.nsettings);
    if (st == BG_OK) {
        job->system = bg_problem_get_system(job->problem);
        job->run = make_options(job->problem, settings);
    }
    return st;
}

void bg_simulation_close(bg_simulation *job)
{
    bg_problem_destroy(job->problem);
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
static bg_status check_file(const bg_source *source, const bg_setting *list, int n, bg_error *err)
{
    static const char path_failure[] = "setting '";
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    def.source = source;
    bg_status st = bg_problem_read(&def, &problem, err);
    if (st != BG_OK)
        return st;
    bg_problem_destroy(problem);
    bg_error said = {0};
    def.settings = list;
    def.nsettings = n;
    st = bg_problem_read(&def, &problem, &said);
    bg_problem_destroy(problem);
    if (st != BG_OK && strncmp(said.text, path_failure, strlen(path_failure)) == 0)
        return bg_error_set(err, st, "%s", said.text);
    return BG_OK;
}

bg_status bg_simulation_check_settings(const bg_study *s, const json_t *settings, bg_error *err)
{
    const bg_source *source;
    int n;
    bg_status st = find_source(s, settings, &source, err);
    if (st != BG_OK)
        return st;
    bg_setting *list = collect(settings, &n);
    if (!list)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings of a case");
    else if (source->root)
        st = check_file(source, list, n, err);
    for (int i = 0; list && source->family && i < n && st == BG_OK; i++)
        if (strncmp(list[i].name, of_method, sizeof of_method - 1) != 0)
            st = check_parameter(source->family, list[i].name, err);
    clear(list, n);
    return st;
}
