#include "run/problem.h"

#include "base/memory.h"
#include "run/choose_fast.h"
#include "run/fingerprint.h"
#include "system/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char of_method[] = "integrator.";

bg_problem_def bg_default_problem_def(void)
{
    return (bg_problem_def){.t_start = NAN,
                            .t_end = NAN,
                            .rtol = NAN,
                            .atol = NAN,
                            .step = NAN,
                            .output_interval = NAN};
}

static bool is_of_method(const bg_setting *s)
{
    return strncmp(s->name, of_method, sizeof of_method - 1) == 0;
}

/* A copy that lives as long as the problem; NULL: out of memory. */
static const char *keep(bg_problem *p, const char *text)
{
    char *copy = strdup(text);
    if (copy)
        p->texts[p->ntexts++] = copy;
    return copy;
}

/* Copies the settings of the system, or those of the method without their prefix. */
static bool take_settings(bg_problem *p, const bg_problem_def *def, bool method)
{
    int *count = method ? &p->nmethod : &p->nset;
    bool ok = true;
    for (int i = 0; i < def->nsettings && ok; i++) {
        if (is_of_method(&def->settings[i]) != method)
            continue;
        const char *name = keep(p, def->settings[i].name);
        const char *value = keep(p, def->settings[i].value);
        ok = name && value;
        if (ok)
            p->settings[p->nset + p->nfile + p->nmethod] = (bg_setting){
                method ? name + sizeof of_method - 1 : name, value};
        *count += ok;
    }
    return ok;
}

static bg_status open_source(bg_problem *p, const bg_problem_def *def, bg_error *err)
{
    bg_status st = BG_OK;
    p->given = def->system;
    if (def->system) {
        const char *name = bg_system_get_def(def->system)->name;
        p->own = bg_source_name(def->reference ? def->reference : name);
        st = p->own ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for '%s'", name);
    } else if (!def->source) {
        st = bg_source_open(def->reference, &p->own, err);
    }
    p->source = p->own ? p->own : def->source;
    return st;
}

static bg_status read_model(bg_problem *p, const bg_problem_def *def, bg_error *err)
{
    if (!p->source->root)
        return !def->formulation
                   ? BG_OK
                   : bg_error_set(err, BG_BAD_INPUT,
                                  "a formulation is for model files; '%s' brings its own "
                                  "coordinates",
                                  p->source->reference);
    bg_status st = p->own ? bg_model_create(p->own->root, p->own->reference, p->settings, p->nset,
                                            &p->model, err)
                          : bg_source_create_model(p->source, p->settings, p->nset, &p->model, err);
    if (st != BG_OK)
        return st;
    const char *word = def->formulation ? def->formulation : p->model->formulation;
    if (strcmp(word, "cartesian") != 0 && strcmp(word, "joint") != 0 && *word)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the formulation of '%s' is joint or cartesian, not '%s'",
                            p->source->reference, word);
    p->formulation = strcmp(word, "cartesian") == 0 ? "cartesian" : "joint";
    return BG_OK;
}

/* What was asked for, else what the file says, else what is there. */
static void choose(double asked, double of_file, double *x)
{
    *x = !isnan(asked) ? asked : !isnan(of_file) ? of_file : *x;
}

/* The options of a method: the file's where it is the file's method, then those given. */
static int find_options(const bg_problem *p, const char *integrator, const bg_setting **first)
{
    bool same = p->model && strcmp(p->model->integrator, integrator) == 0;
    int n = p->nmethod + (same ? p->nfile : 0);
    *first = n > 0 ? p->settings + p->nset + p->nfile + p->nmethod - n : NULL;
    return n;
}

static bool takes_fixed_steps(const char *integrator)
{
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)); k++)
        if (strcmp(info->name, integrator) == 0)
            return info->fixed_steps;
    return false;
}

/* The file's step; NAN where its method needs one and that which is taken controls errors. */
static double find_step(const bg_model *m, const char *integrator)
{
    return m && takes_fixed_steps(m->integrator) <= takes_fixed_steps(integrator) ? m->step : NAN;
}

static void make_run_options(bg_problem *p, const bg_problem_def *def)
{
    const bg_model *m = p->model;
    bg_run_options *run = &p->run;
    *run = bg_default_run_options();
    run->model = p->source->reference;
    run->formulation = p->formulation;
    run->parameters = p->settings;
    run->nparameters = p->nset;
    if (p->integrator)
        run->integrator = p->integrator;
    else if (m && m->integrator[0])
        run->integrator = m->integrator;
    run->t_start = def->t_start; /* those of the file are the system's */
    run->t_end = def->t_end;
    choose(def->rtol, m ? m->rtol : NAN, &run->method.rtol);
    choose(def->atol, m ? m->atol : NAN, &run->method.atol);
    choose(def->step, find_step(m, run->integrator), &run->method.step);
    choose(def->output_interval, m ? m->output_interval : NAN, &run->output_interval);
    run->output_steps = !(run->output_interval > 0);
    run->method.nsettings = find_options(p, run->integrator, &run->method.settings);
    p->period = run->method.step > 0 ? run->method.step : NAN;
}

static bg_status fill(bg_problem *p, const bg_problem_def *def, bg_error *err)
{
    bg_status st = open_source(p, def, err);
    if (st != BG_OK)
        return st;
    p->equilibrium = def->equilibrium != 0;
    p->texts = BG_NEW_ARRAY(char *, 2 * def->nsettings);
    p->settings = BG_NEW_ARRAY(bg_setting, def->nsettings);
    p->integrator = def->integrator ? strdup(def->integrator) : NULL;
    if (!p->texts || !p->settings || (def->integrator && !p->integrator) ||
        !take_settings(p, def, false))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings");
    st = read_model(p, def, err);
    if (st != BG_OK)
        return st;
    int nfile = p->model ? p->model->noptions : 0;
    bg_setting *all = realloc(p->settings,
                              ((size_t)def->nsettings + (size_t)nfile + 1) * sizeof *all);
    if (!all)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings");
    p->settings = all;
    for (p->nfile = 0; p->nfile < nfile; p->nfile++)
        all[p->nset + p->nfile] = p->model->options[p->nfile];
    if (!take_settings(p, def, true))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the settings");
    make_run_options(p, def);
    return BG_OK;
}

bg_status bg_problem_read(const bg_problem_def *def, bg_problem **problem, bg_error *err)
{
    bg_problem *p = BG_NEW(bg_problem);
    *problem = NULL;
    bg_status st = p ? fill(p, def, err)
                     : bg_error_set(err, BG_NO_MEMORY, "out of memory for a problem");
    if (st == BG_OK)
        *problem = p;
    else
        bg_problem_destroy(p);
    return st;
}

/* What only makes sense of a system that the problem makes itself. */
static bg_status check_given(const bg_problem *p, bg_error *err)
{
    if (p->nset > 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is a system that is complete: '%s' cannot be set in it; settings "
                            "here are integrator.OPTION",
                            p->source->reference, p->settings[0].name);
    if (p->equilibrium)
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is a system that is complete: its start cannot be changed to an "
                            "equilibrium here",
                            p->source->reference);
    return BG_OK;
}

bg_status bg_problem_create_system(bg_problem *p, bg_error *err)
{
    if (p->given)
        return check_given(p, err);
    const bool chooses = bg_problem_chooses_fast(p);
    if (p->model && chooses)
        bg_problem_clear_fast(p);
    bg_status st = p->model ? bg_model_create_system(p->model, p->formulation, &p->system, err)
                            : bg_equations_create(p->source->family, p->settings, p->nset,
                                                  &p->system, err);
    if (st == BG_OK && p->equilibrium)
        p->system->equilibrium = true;
    if (st == BG_OK && p->model)
        p->system->content = bg_fingerprint_calc_model(p->model);
    if (st == BG_OK && chooses)
        st = bg_problem_choose_fast(p, err);
    if (st != BG_OK && p->model)
        bg_problem_locate(p, st, err);
    return st;
}

bg_status bg_problem_create(const bg_problem_def *def, bg_problem **problem, bg_error *err)
{
    bg_status st = bg_problem_read(def, problem, err);
    if (st == BG_OK)
        st = bg_problem_create_system(*problem, err);
    if (st != BG_OK) {
        bg_problem_destroy(*problem);
        *problem = NULL;
    }
    return st;
}

/* The system first: it refers to the model, and its functions may be those of a plug-in. */
void bg_problem_destroy(bg_problem *p)
{
    if (!p)
        return;
    bg_system_destroy(p->system);
    bg_model_destroy(p->model);
    bg_source_close(p->own);
    for (int i = 0; i < p->ntexts; i++)
        free(p->texts[i]);
    free(p->texts);
    free(p->settings);
    free(p->integrator);
    free(p);
}

const bg_system *bg_problem_get_system(const bg_problem *p)
{
    return p->given ? p->given : p->system;
}

const bg_model *bg_problem_get_model(const bg_problem *p)
{
    return p->model;
}

const char *bg_problem_get_formulation(const bg_problem *p)
{
    return p->formulation;
}

const char *bg_problem_get_reference(const bg_problem *p)
{
    return p->source->reference;
}

bg_run_options bg_problem_get_run_options(const bg_problem *p)
{
    return p->run;
}

bg_realtime_options bg_problem_get_realtime_options(const bg_problem *p)
{
    bg_realtime_options o = bg_default_realtime_options();
    if (p->integrator)
        o.integrator = p->integrator;
    else if (p->model && takes_fixed_steps(p->model->integrator))
        o.integrator = p->model->integrator;
    if (!isnan(p->period))
        o.period = p->period;
    o.t_start = p->run.t_start;
    o.nsettings = find_options(p, o.integrator, &o.settings);
    return o;
}

/* Whether a quoted row of a message ('JOINT' or 'JOINT.part') is of the thing with this name. */
static bool is_row_of(const char *row, const char *name)
{
    size_t n = strlen(name);
    return strncmp(row, name, n) == 0 && (row[n] == '.' || row[n] == '\'');
}

/* The joint, gear or rack that a message names first by one of its rows; NULL: none. */
static const char *find_culprit(const bg_model *m, const char *text)
{
    for (const char *quote = strchr(text, '\''); quote; quote = strchr(quote + 1, '\'')) {
        for (int k = 0; k < m->njoints; k++)
            if (is_row_of(quote + 1, m->joints[k].name))
                return m->joints[k].name;
        for (int k = 0; k < m->ncouplers; k++)
            if (is_row_of(quote + 1, m->couplers[k].name))
                return m->couplers[k].name;
    }
    return NULL;
}

void bg_problem_locate(const bg_problem *p, bg_status status, bg_error *err)
{
    char text[BG_ERROR_LENGTH];
    const char *reference = p->source->reference;
    if (!err || !p->model || strncmp(err->text, reference, strlen(reference)) == 0)
        return;
    snprintf(text, sizeof text, "%s", err->text);
    if (status == BG_BAD_INPUT)
        bg_error_set(err, status, "%.400s: %.600s", reference, text);
    if (status != BG_NOT_ASSEMBLED && status != BG_CONTRADICTORY && status != BG_REDUNDANT)
        return;
    const char *name = find_culprit(p->model, text + strcspn(text, ":"));
    bg_error_set(err, status, "%.300s: joints%s%s: %.600s", reference, name ? "." : "",
                 name ? name : "", text);
}
