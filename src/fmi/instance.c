#include "fmi/instance.h"

#include "base/memory.h"
#include "base/text.h"
#include "fmi/instance_parts.h"
#include "run/problem.h"
#include "system/system.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const categories[] = {"logEvents", "logStatusWarning", "logStatusDiscard",
                                         "logStatusError", "logStatusFatal"};

const char *bg_fmi_category_get_name(bg_fmi_status status)
{
    return categories[status];
}

/* A # stands before a value reference, unless it is doubled. */
static void double_signs(const char *text, char *out)
{
    for (; *text; text++) {
        *out++ = *text;
        if (*text == '#')
            *out++ = '#';
    }
    *out = '\0';
}

bg_fmi_status bg_fmi_instance_tell(bg_fmi_instance *x, bg_fmi_status status, const char *format,
                                   ...)
{
    char text[BG_ERROR_LENGTH], doubled[2 * BG_ERROR_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    double_signs(text, doubled);
    if ((status >= BG_FMI_ERROR || !x->quiet[status]) && x->host.log)
        x->host.log(x->host.self, x->name, status, categories[status], doubled);
    if (status >= BG_FMI_ERROR && x->phase != BG_FMI_TERMINATED)
        x->phase = BG_FMI_FAILED;
    return status;
}

bg_fmi_status bg_fmi_instance_tell_error(bg_fmi_instance *x, const bg_error *err)
{
    return bg_fmi_instance_tell(x, BG_FMI_ERROR, "%s",
                                err->text[0] ? err->text : bg_status_text(err->status));
}

void bg_fmi_instance_set_logging(bg_fmi_instance *x, bool on, const char *const *names, size_t n)
{
    for (int s = 0; s < BG_FMI_ERROR; s++) {
        bool named = n == 0;
        for (size_t k = 0; k < n; k++)
            named = named || strcmp(names[k], categories[s]) == 0 ||
                    strcmp(names[k], "logAll") == 0;
        if (x->host.version == 2)
            x->quiet[s] = s == BG_FMI_OK ? !on || !named : on && !named;
        else if (named)
            x->quiet[s] = !on;
    }
}

static bool allocate(bg_fmi_instance *x)
{
    const bg_system_def *def = bg_system_get_def(bg_problem_get_system(x->problem));
    const bg_fmi_variables *v = &x->variables;
    x->compiled = BG_NEW_ARRAY(bg_fmi_parameter, v->nparameters);
    x->parameters = BG_NEW_ARRAY(bg_fmi_parameter, v->nparameters);
    x->inputs = BG_NEW_ARRAY(bg_fmi_input, v->ninputs);
    x->p = BG_NEW_ARRAY(double, v->nparameters);
    x->du = BG_NEW_ARRAY(double, def->nu);
    x->dy = BG_NEW_ARRAY(double, def->ny);
    return x->compiled && x->parameters && x->inputs && x->p && x->du && x->dy;
}

static bg_status fill(bg_fmi_instance *x, const char *token, const char *folder, bg_error *err)
{
    bg_status st = bg_fmi_setup_read(folder, &x->setup, err);
    if (st != BG_OK)
        return st;
    if (!token || strcmp(token, x->setup.token) != 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the token '%.100s' is not that of this FMU, %s: its model description "
                            "belongs to another one",
                            token ? token : "", x->setup.token);
    st = bg_fmi_setup_create_problem(&x->setup, NULL, 0, NAN, NAN, &x->problem, err);
    if (st == BG_OK)
        st = bg_fmi_variables_create(x->problem, (const char *const *)x->setup.inputs,
                                     x->setup.ninputs, &x->variables, err);
    if (st == BG_OK && !allocate(x))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for an instance");
    return st;
}

bg_fmi_instance *bg_fmi_instance_create(const char *name, const char *token, const char *folder,
                                        bool logging, const bg_fmi_host *host)
{
    bg_error err = {0};
    bg_fmi_instance *x = BG_NEW(bg_fmi_instance);
    if (x)
        x->name = strdup(name && *name ? name : "bogie");
    if (!x || !x->name) {
        free(x);
        return NULL;
    }
    x->host = *host;
    x->phase = BG_FMI_INSTANTIATED;
    x->tolerance = x->t_start = x->t_stop = x->compiled_tolerance = x->compiled_start = NAN;
    bg_fmi_instance_set_logging(x, logging, NULL, 0);
    if (fill(x, token, folder, &err) == BG_OK) {
        x->t = x->setup.t_start;
        return x;
    }
    bg_fmi_instance_tell_error(x, &err);
    bg_fmi_instance_destroy(x);
    return NULL;
}

void bg_fmi_instance_destroy(bg_fmi_instance *x)
{
    if (!x)
        return;
    bg_session_destroy(x->session);
    bg_fmi_variables_clear(&x->variables);
    bg_problem_destroy(x->problem);
    bg_fmi_setup_clear(&x->setup);
    free(x->compiled);
    free(x->parameters);
    free(x->inputs);
    free(x->p);
    free(x->du);
    free(x->dy);
    free(x->name);
    free(x);
}

static const char *describe_phase(bg_fmi_phase phase)
{
    return phase == BG_FMI_INSTANTIATED   ? "before initialisation"
           : phase == BG_FMI_INITIALISING ? "in initialisation mode"
           : phase == BG_FMI_STEPPING     ? "between steps"
           : phase == BG_FMI_STOPPED      ? "after a step that was not made to its end"
           : phase == BG_FMI_FAILED       ? "after an error"
                                          : "after the end";
}

bool bg_fmi_instance_check(bg_fmi_instance *x, const bg_fmi_entry *entry)
{
    if (!x || (entry->phases & (unsigned)x->phase))
        return x != NULL;
    const bg_fmi_phase before = x->phase;
    bg_fmi_instance_tell(x, BG_FMI_ERROR, "%s must not be called %s", entry->name,
                         describe_phase(before));
    return false;
}

double bg_fmi_instance_get_time(const bg_fmi_instance *x)
{
    return x->t;
}

bool bg_fmi_instance_has_ended(const bg_fmi_instance *x)
{
    return x->ended;
}

bg_fmi_phase bg_fmi_instance_get_phase(const bg_fmi_instance *x)
{
    return x->phase;
}

void bg_fmi_instance_set_phase(bg_fmi_instance *x, bg_fmi_phase phase)
{
    x->phase = phase;
}

static void close_session(bg_fmi_instance *x)
{
    bg_session_destroy(x->session);
    x->session = NULL;
}

bg_fmi_status bg_fmi_instance_set_experiment(bg_fmi_instance *x, const double *tolerance,
                                             double t_start, const double *t_stop)
{
    if (!isfinite(t_start) || (t_stop && !(isfinite(*t_stop) && *t_stop >= t_start)))
        return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                    "start time %g and stop time %g are not usable: they must be "
                                    "finite and in order",
                                    t_start, t_stop ? *t_stop : t_start);
    if (tolerance && !(isfinite(*tolerance) && *tolerance > 0))
        return bg_fmi_instance_tell(
            x, BG_FMI_ERROR, "the tolerance %g is not usable: it must be finite and positive",
            *tolerance);
    x->tolerance = tolerance ? *tolerance : NAN;
    x->t_start = x->t = t_start;
    x->t_stop = t_stop ? *t_stop : NAN;
    close_session(x);
    return BG_FMI_OK;
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Whether the problem is what the instance has been told. */
static bool is_compiled(const bg_fmi_instance *x)
{
    bool same = is_same(x->tolerance, x->compiled_tolerance) &&
                is_same(x->t_start, x->compiled_start);
    for (int i = 0; i < x->variables.nparameters; i++)
        same = same && x->parameters[i].given == x->compiled[i].given &&
               (!x->parameters[i].given || x->parameters[i].value == x->compiled[i].value);
    return same;
}

bg_status bg_fmi_instance_compile(bg_fmi_instance *x, bg_error *err)
{
    enum { DIGITS = 32 };
    const bg_fmi_variables *v = &x->variables;
    const bg_fmi_variable *first = v->items + v->first[BG_FMI_PARAMETER];
    if (is_compiled(x))
        return BG_OK;
    close_session(x);
    bg_setting *settings = BG_NEW_ARRAY(bg_setting, v->nparameters);
    char(*text)[DIGITS] = bg_calloc((size_t)v->nparameters + 1, sizeof *text);
    bg_problem *problem = NULL;
    int n = 0;
    bg_status st = settings && text ? BG_OK
                                    : bg_error_set(err, BG_NO_MEMORY, "out of memory for settings");
    for (int i = 0; i < v->nparameters && st == BG_OK; i++)
        if (x->parameters[i].given) {
            bg_text_print(x->parameters[i].value, text[n], DIGITS);
            settings[n] = (bg_setting){first[i].setting, text[n]};
            n++;
        }
    if (st == BG_OK)
        st = bg_fmi_setup_create_problem(&x->setup, settings, n, x->tolerance, x->t_start, &problem,
                                         err);
    free(settings);
    free(text);
    if (st != BG_OK)
        return st;
    bg_problem_destroy(x->problem);
    x->problem = problem;
    memcpy(x->compiled, x->parameters, (size_t)v->nparameters * sizeof *x->compiled);
    x->compiled_tolerance = x->tolerance;
    x->compiled_start = x->t_start;
    return BG_OK;
}

/* A session without an end is as long as the model says, at first; one that ends is as long as it
 * is. */
bg_status bg_fmi_instance_open(bg_fmi_instance *x, bg_error *err)
{
    bg_run_options options = bg_problem_get_run_options(x->problem);
    const double start = isnan(options.t_start) ? x->setup.t_start : options.t_start;
    const double span = fmax(x->setup.t_end - x->setup.t_start, 1e-3);
    const bool open = isnan(x->t_stop);
    options.t_start = start;
    options.t_end = open ? start + span : x->t_stop;
    options.model = x->setup.name;
    return bg_session_create(bg_problem_get_system(x->problem), &options, open, &x->session, err);
}

static void tell_start(bg_fmi_instance *x)
{
    const bg_warnings *list = &bg_session_get_report(x->session)->assembly.warnings;
    for (int i = 0; i < list->count; i++) {
        const bg_warning *w = &list->items[i];
        bg_fmi_instance_tell(x, w->verdict == BG_GOOD ? BG_FMI_OK : BG_FMI_WARNING, "%s: %s",
                             w->topic, w->text);
    }
}

static void tell_events(bg_fmi_instance *x)
{
    const bg_event *events;
    const long n = bg_session_get_events(x->session, &events);
    for (long i = 0; i < n && !x->quiet[BG_FMI_OK]; i++)
        bg_fmi_instance_tell(x, BG_FMI_OK, "t = %.9g: %s", events[i].t, events[i].name);
}

static void hand_inputs(bg_fmi_instance *x)
{
    const bg_fmi_variables *v = &x->variables;
    const bg_fmi_variable *first = v->items + v->first[BG_FMI_INPUT];
    for (int k = 0; k < v->ninputs; k++) {
        bg_fmi_input *u = &x->inputs[k];
        if (u->fresh)
            bg_session_set_input(x->session, first[k].index, u->value, u->rate);
        u->fresh = false;
    }
}

bg_status bg_fmi_instance_prepare(bg_fmi_instance *x, bg_error *err)
{
    if (x->session && is_compiled(x))
        return BG_OK;
    bg_status st = bg_fmi_instance_compile(x, err);
    if (st == BG_OK)
        st = bg_fmi_instance_open(x, err);
    for (int k = 0; k < x->variables.ninputs; k++)
        x->inputs[k].fresh = x->inputs[k].given;
    if (st == BG_OK) {
        hand_inputs(x);
        st = bg_session_start(x->session, err);
    }
    if (st != BG_OK) {
        close_session(x);
        bg_problem_locate(x->problem, st, err);
        return st;
    }
    x->t = bg_session_get_time(x->session);
    return BG_OK;
}

bg_fmi_status bg_fmi_instance_enter_initialisation(bg_fmi_instance *x)
{
    x->phase = BG_FMI_INITIALISING;
    return BG_FMI_OK;
}

bg_fmi_status bg_fmi_instance_exit_initialisation(bg_fmi_instance *x)
{
    bg_error err = {0};
    if (bg_fmi_instance_prepare(x, &err) != BG_OK)
        return bg_fmi_instance_tell_error(x, &err);
    tell_start(x);
    tell_events(x);
    x->phase = BG_FMI_STEPPING;
    return BG_FMI_OK;
}

bg_fmi_status bg_fmi_instance_terminate(bg_fmi_instance *x)
{
    x->phase = BG_FMI_TERMINATED;
    return BG_FMI_OK;
}

bg_fmi_status bg_fmi_instance_reset(bg_fmi_instance *x)
{
    const bg_fmi_variables *v = &x->variables;
    close_session(x);
    memset(x->parameters, 0, (size_t)v->nparameters * sizeof *x->parameters);
    memset(x->inputs, 0, (size_t)v->ninputs * sizeof *x->inputs);
    x->tolerance = x->t_start = x->t_stop = NAN;
    x->t = x->setup.t_start;
    x->ended = false;
    x->phase = BG_FMI_INSTANTIATED;
    return BG_FMI_OK;
}

/* Why a step of h from t cannot even be tried; 0: it can. */
static bg_fmi_status refuse_step(bg_fmi_instance *x, double t, double h)
{
    const double step = x->setup.step, near = 1e-6 * fabs(h) + 1e-12 * fabs(x->t);
    if (!isfinite(t) || !isfinite(h) || !(h > 0))
        return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                    "a step from t = %g over %g s is not usable: both must be "
                                    "finite, and time runs forwards",
                                    t, h);
    if (!(fabs(t - x->t) <= near))
        return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                    "a step from t = %.17g cannot be made: the instance is at t = "
                                    "%.17g; %s",
                                    t, x->t,
                                    t < x->t ? "to go back, restore a state that was saved there"
                                             : "steps follow each other without gaps");
    if (x->ended)
        return bg_fmi_instance_tell(
            x, BG_FMI_ERROR,
            "an event has ended the motion at t = %.17g; there are no steps "
            "behind it",
            x->t);
    if (!isnan(x->t_stop) && t + h > x->t_stop + near)
        return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                    "a step from t = %.17g over %g s goes beyond the stop time %g",
                                    t, h, x->t_stop);
    if (step > 0 && !(round(h / step) >= 1 && fabs(h - step * round(h / step)) <= 1e-6 * step))
        return bg_fmi_instance_tell(
            x, BG_FMI_DISCARD,
            "a step of %.17g s cannot be made: the method %s has fixed steps "
            "of %g s; take whole multiples of that, or make the FMU with "
            "another --step",
            h, x->setup.integrator, step);
    return BG_FMI_OK;
}

/* Whether a shorter step, or none at all behind this point, is all that is left: no fault of the
 * caller's or the machine's. */
static bool is_numerical(bg_status st)
{
    return st > 0 || st == BG_STEP_TOO_SMALL || st == BG_TOO_MANY_STEPS || st == BG_SYSTEM_FAILED ||
           st == BG_EVENT_STUCK || st == BG_BROKE_DOWN;
}

bg_fmi_status bg_fmi_instance_step(bg_fmi_instance *x, double t, double h, bg_fmi_step *step)
{
    bg_error err = {0};
    *step = (bg_fmi_step){.t = x->t};
    const bg_fmi_status refused = refuse_step(x, t, h);
    if (refused != BG_FMI_OK)
        return refused;
    hand_inputs(x);
    /* the last step ends where the session does */
    const double to = !isnan(x->t_stop) && t + h > x->t_stop ? x->t_stop : t + h;
    const bg_status st = bg_session_advance(x->session, to, &x->ended, &err);
    x->t = bg_session_get_time(x->session);
    *step = (bg_fmi_step){.t = x->t, .ended = x->ended, .made = x->t > t};
    tell_events(x);
    if (st == BG_OK && !x->ended)
        return BG_FMI_OK;
    if (st == BG_OK)
        return bg_fmi_instance_tell(x, BG_FMI_OK, "an event ended the motion at t = %.17g", x->t);
    err.status = st;
    if (!is_numerical(st) || x->host.version != 2)
        return bg_fmi_instance_tell_error(x, &err);
    x->phase = BG_FMI_STOPPED;
    step->made = true;
    return bg_fmi_instance_tell(x, BG_FMI_DISCARD, "%s", err.text);
}
