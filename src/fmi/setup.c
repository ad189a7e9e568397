#include "fmi/setup.h"

#include "base/file.h"
#include "base/memory.h"
#include "bogie/version.h"
#include "run/problem.h"
#include "system/system.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char of_method[] = "integrator.";

static bg_status tell_memory(bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for what an FMU holds");
}

static bool add_setting(bg_fmi_setup *s, const char *prefix, const char *name, const char *value)
{
    size_t n = strlen(prefix) + strlen(name) + 1;
    char *full = bg_calloc(n, 1), *copy = strdup(value);
    s->settings[s->nsettings++] = (bg_setting){full, copy};
    if (full)
        snprintf(full, n, "%s%s", prefix, name);
    return full && copy;
}

static bg_status take_inputs(const bg_problem *problem, char *const *inputs, int ninputs,
                             bg_fmi_setup *s, bg_error *err)
{
    const bg_system *sys = bg_problem_get_system(problem);
    const int nu = sys->def.nu, most = inputs ? ninputs : nu;
    char buffer[32];
    s->inputs = BG_NEW_ARRAY(char *, most);
    for (int i = 0; i < most && s->inputs; i++) {
        if (!inputs && !bg_fmi_is_free_input(problem, i))
            continue;
        const char *name = inputs ? inputs[i]
                                  : bg_system_get_name(sys, 'u', i, buffer, sizeof buffer);
        for (int k = 0; k < s->ninputs; k++)
            if (strcmp(s->inputs[k], name) == 0)
                return bg_error_set(err, BG_BAD_INPUT, "input '%s' is named twice; once will do",
                                    name);
        s->inputs[s->ninputs] = strdup(name);
        if (!s->inputs[s->ninputs++])
            return tell_memory(err);
    }
    return s->inputs ? BG_OK : tell_memory(err);
}

static const char *get_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bg_status bg_fmi_setup_describe(const bg_problem *problem, char *const *inputs, int ninputs,
                                bg_fmi_setup *s, bg_error *err)
{
    const bg_run_options run = bg_problem_get_run_options(problem);
    const bg_system_def *def = bg_system_get_def(bg_problem_get_system(problem));
    const char *reference = bg_problem_get_reference(problem);
    const bg_model *model = bg_problem_get_model(problem);
    *s = (bg_fmi_setup){.rtol = run.method.rtol,
                        .atol = run.method.atol,
                        .step = run.method.step,
                        .equilibrium = problem->equilibrium,
                        .t_start = isnan(run.t_start) ? def->t_start : run.t_start,
                        .t_end = isnan(run.t_end) ? def->t_end : run.t_end};
    if (!model && (!problem->source->family || problem->source->handle))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is a plug-in, whose code is for this computer alone; an FMU is "
                            "made of a model file, or of equations:NAME",
                            reference);
    if (s->t_end < s->t_start)
        return bg_error_set(err, BG_BAD_INPUT,
                            "end time %g is before start time %g; time runs forwards", s->t_end,
                            s->t_start);
    s->name = strdup(get_base(reference));
    s->integrator = strdup(run.integrator);
    s->settings = BG_NEW_ARRAY(bg_setting, problem->nset + run.method.nsettings);
    bool ok = s->name && s->integrator && s->settings;
    if (model) {
        s->text = bg_model_create_text(model);
        s->formulation = strdup(bg_problem_get_formulation(problem));
        ok = ok && s->text && s->formulation;
    } else {
        s->reference = strdup(reference);
        ok = ok && s->reference;
        for (int i = 0; i < problem->nset && ok; i++)
            ok = add_setting(s, "", problem->settings[i].name, problem->settings[i].value);
    }
    for (int i = 0; i < run.method.nsettings && ok; i++)
        ok = add_setting(s, of_method, run.method.settings[i].name, run.method.settings[i].value);
    return ok ? take_inputs(problem, inputs, ninputs, s, err) : tell_memory(err);
}

char *bg_fmi_setup_create_text(const bg_fmi_setup *s)
{
    json_t *settings = json_array(), *inputs = json_array();
    for (int i = 0; i < s->nsettings; i++)
        json_array_append_new(settings,
                              json_pack("[ss]", s->settings[i].name, s->settings[i].value));
    for (int i = 0; i < s->ninputs; i++)
        json_array_append_new(inputs, json_string(s->inputs[i]));
    json_t *root = json_pack("{ss ss ss? ss ss? ss? ss sf sf sf sb sf sf so so}", "kind",
                             "bogie-fmu", "version", BG_VERSION, "token", s->token, "name", s->name,
                             "reference", s->reference, "formulation", s->formulation, "integrator",
                             s->integrator, "rtol", s->rtol, "atol", s->atol, "step", s->step,
                             "equilibrium", s->equilibrium, "t_start", s->t_start, "t_end",
                             s->t_end, "settings", settings, "inputs", inputs);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    return text;
}

/* A file of the folder as a text, to be released; NULL: err says why. */
static char *read_text(const char *folder, const char *file, bg_error *err)
{
    char path[PATH_MAX], subject[PATH_MAX + 32], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(subject, sizeof subject, "%s:", path);
    return bg_file_read(path, subject, "part of an FMU", &text, &length, err) == BG_OK ? text
                                                                                       : NULL;
}

static char *copy_text(json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text ? strdup(text) : NULL;
}

static bool take_lists(json_t *root, const char *folder, bg_fmi_setup *s)
{
    json_t *settings = json_object_get(root, "settings"), *inputs = json_object_get(root, "inputs");
    s->settings = BG_NEW_ARRAY(bg_setting, json_array_size(settings));
    s->inputs = BG_NEW_ARRAY(char *, json_array_size(inputs));
    bool ok = s->settings && s->inputs;
    for (size_t i = 0; i < json_array_size(settings) && ok; i++) {
        json_t *one = json_array_get(settings, i);
        const char *name = json_string_value(json_array_get(one, 0)),
                   *value = json_string_value(json_array_get(one, 1));
        char path[PATH_MAX];
        if (value && strcmp(value, BG_FMI_TABLEAU_FILE) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, value);
            value = path;
        }
        ok = name && value && add_setting(s, "", name, value);
    }
    for (size_t i = 0; i < json_array_size(inputs) && ok; i++) {
        const char *name = json_string_value(json_array_get(inputs, i));
        ok = name && (s->inputs[s->ninputs++] = strdup(name));
    }
    return ok;
}

bg_status bg_fmi_setup_read(const char *folder, bg_fmi_setup *s, bg_error *err)
{
    *s = (bg_fmi_setup){0};
    char *text = read_text(folder, BG_FMI_SETUP_FILE, err);
    if (!text)
        return BG_IO;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    s->token = copy_text(root, "token");
    s->name = copy_text(root, "name");
    s->reference = copy_text(root, "reference");
    s->formulation = copy_text(root, "formulation");
    s->integrator = copy_text(root, "integrator");
    s->rtol = json_number_value(json_object_get(root, "rtol"));
    s->atol = json_number_value(json_object_get(root, "atol"));
    s->step = json_number_value(json_object_get(root, "step"));
    s->equilibrium = json_is_true(json_object_get(root, "equilibrium"));
    s->t_start = json_number_value(json_object_get(root, "t_start"));
    s->t_end = json_number_value(json_object_get(root, "t_end"));
    const bool ok = take_lists(root, folder, s) && s->token && s->name && s->integrator;
    json_decref(root);
    if (!ok)
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%.700s/" BG_FMI_SETUP_FILE "' is damaged; make the FMU again",
                            folder);
    if (!s->reference && !(s->text = read_text(folder, BG_FMI_MODEL_FILE, err)))
        return BG_IO;
    return BG_OK;
}

void bg_fmi_setup_clear(bg_fmi_setup *s)
{
    for (int i = 0; i < s->nsettings; i++) {
        free((char *)s->settings[i].name);
        free((char *)s->settings[i].value);
    }
    for (int i = 0; i < s->ninputs; i++)
        free(s->inputs[i]);
    free(s->settings);
    free(s->inputs);
    free(s->token);
    free(s->name);
    free(s->reference);
    free(s->text);
    free(s->formulation);
    free(s->integrator);
    *s = (bg_fmi_setup){0};
}

bg_status bg_fmi_setup_create_problem(const bg_fmi_setup *s, const bg_setting *more, int nmore,
                                      double tolerance, double t_start, bg_problem **problem,
                                      bg_error *err)
{
    bg_problem_def def = bg_default_problem_def();
    bg_setting *all = BG_NEW_ARRAY(bg_setting, s->nsettings + nmore);
    bg_source *source = NULL;
    *problem = NULL;
    bg_status st = all ? BG_OK : tell_memory(err);
    for (int i = 0; i < s->nsettings + nmore && all; i++)
        all[i] = i < s->nsettings ? s->settings[i] : more[i - s->nsettings];
    def.reference = s->reference;
    def.settings = all;
    def.nsettings = s->nsettings + nmore;
    def.formulation = s->formulation;
    def.integrator = s->integrator;
    def.rtol = tolerance > 0 ? tolerance : s->rtol;
    def.atol = tolerance > 0 ? tolerance * (s->rtol > 0 ? s->atol / s->rtol : 1) : s->atol;
    def.step = s->step;
    def.t_start = isnan(t_start) ? s->t_start : t_start;
    def.t_end = s->t_end;
    def.equilibrium = s->equilibrium;
    if (st == BG_OK && s->text)
        st = bg_source_parse(s->text, s->name, &source, err);
    def.source = source;
    if (st == BG_OK)
        st = bg_problem_create(&def, problem, err);
    if (st == BG_OK) /* which then belongs to the problem */
        (*problem)->own = source ? source : (*problem)->own;
    else
        bg_source_close(source);
    free(all);
    return st;
}
