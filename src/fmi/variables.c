/* Names become structured ones: parts between points that are no identifiers are put in quotes,
 * indices in brackets stay. Parameters are called parameters.NAME, as in --set; an output that has
 * the name of something before it becomes outputs.NAME, or outputs.outputs.NAME. */
#include "fmi/variables.h"

#include "base/memory.h"
#include "base/text.h"
#include "model/expression.h"
#include "model/unit.h"
#include "run/problem.h"
#include "system/system.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 512 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* An identifier, perhaps with whole numbers in brackets behind it. */
static bool is_plain(const char *part, size_t n)
{
    size_t i = 0;
    if (n == 0 || !is_letter(part[0]))
        return false;
    while (i < n && (is_letter(part[i]) || is_digit(part[i])))
        i++;
    if (i == n)
        return true;
    if (part[i] != '[' || part[n - 1] != ']' || n - i < 3)
        return false;
    for (i++; i < n - 1; i++)
        if (!is_digit(part[i]) &&
            !(part[i] == ',' && is_digit(part[i - 1]) && is_digit(part[i + 1])))
            return false;
    return true;
}

/* Adds what the Q-characters of the standard allow; others, as their bytes. */
static void quote(const char *part, size_t n, char *text, size_t size)
{
    static const char others[] = "!#$%&()*+,-./:;<>=?@[]^{}|~ ";
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, "'");
    for (size_t i = 0; i < n && used + 8 < size; i++) {
        const char c = part[i];
        const bool allowed = is_letter(c) || is_digit(c) || (c && strchr(others, c));
        used += (size_t)snprintf(text + used, size - used, allowed ? "%c" : "#%02x",
                                 (unsigned)(unsigned char)c);
    }
    snprintf(text + used, size - used, "'");
}

/* prefix.NAME, structured; prefix may be empty. */
static void structure(const char *prefix, const char *name, char *text, size_t size)
{
    snprintf(text, size, "%s", prefix);
    for (const char *part = name;;) {
        const size_t n = strcspn(part, "."), used = strlen(text);
        if (used > 0)
            snprintf(text + used, size - used, ".");
        if (is_plain(part, n))
            snprintf(text + strlen(text), size - strlen(text), "%.*s", (int)n, part);
        else
            quote(part, n, text, size);
        if (!part[n])
            return;
        part += n + 1;
    }
}

static bool is_taken(const bg_fmi_variables *v, const char *name)
{
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->items[i].name, name) == 0)
            return true;
    return false;
}

enum { MOST_FRONTS = 8 };

/* A variable of that name, or one with `longer` before it, as often as that is taken; NULL: out of
 * memory. */
static bg_fmi_variable *add(bg_fmi_variables *v, bg_fmi_causality causality, const char *prefix,
                            const char *longer, const char *name, const char *unit)
{
    char text[NAME_SIZE], front[NAME_SIZE] = "";
    structure(prefix, name, text, sizeof text);
    for (int k = 0; k < MOST_FRONTS && is_taken(v, text); k++) {
        const size_t used = strlen(front);
        snprintf(front + used, sizeof front - used, "%s%s", k > 0 ? "." : "", longer);
        structure(front, name, text, sizeof text);
    }
    bg_fmi_variable *x = &v->items[v->count];
    *x = (bg_fmi_variable){.name = strdup(text), .unit = strdup(unit), .causality = causality};
    v->count++;
    return x->name && x->unit ? x : NULL;
}

static bg_status tell_memory(bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the variables of an FMU");
}

static const char comment[] = "comment"; /* a note, also among parameters */

/* What an expression of a parameter refers to. */
typedef struct fmu_scope {
    json_t *parameters;
} fmu_scope;

static int resolve(void *self, const char *name, double *constant)
{
    const char *key;
    json_t *value;
    int i = 0;
    (void)constant;
    if (strncmp(name, "parameters.", 11) == 0)
        name += 11;
    json_object_foreach(((fmu_scope *)self)->parameters, key, value)
    {
        if (strcmp(key, comment) == 0)
            continue;
        if (strcmp(key, name) == 0)
            return i;
        i++;
    }
    return -1;
}

static bg_status add_model_parameters(bg_fmi_variables *v, const bg_model *model, bg_error *err)
{
    const char *key;
    json_t *value;
    fmu_scope s = {json_object_get(model->source, "parameters")};
    json_object_foreach(s.parameters, key, value)
    {
        if (strcmp(key, comment) == 0)
            continue;
        char setting[NAME_SIZE];
        const int *needed;
        bg_fmi_variable *x = add(v, BG_FMI_PARAMETER, "parameters", "parameters", key, "");
        snprintf(setting, sizeof setting, "parameters.%.400s", key);
        if (!x || !(x->setting = strdup(setting)))
            return tell_memory(err);
        x->start = json_number_value(value);
        if (!json_is_string(value))
            continue;
        bg_status st = bg_expression_create(json_string_value(value), resolve, &s, &x->expression,
                                            err);
        if (st != BG_OK)
            return st;
        if (bg_expression_get_variables(x->expression, &needed) > 0)
            x->causality = BG_FMI_CALCULATED;
    }
    return BG_OK;
}

static bg_status add_family_parameters(bg_fmi_variables *v, const bg_problem *p, bg_error *err)
{
    const bg_equations *family = p->source->family;
    for (int i = 0; family && i < family->nparameters; i++) {
        const bg_parameter *one = &family->parameters[i];
        bg_fmi_variable *x = add(v, BG_FMI_PARAMETER, "parameters", "parameters", one->name,
                                 one->unit ? one->unit : "");
        if (!x || !(x->setting = strdup(one->name)) ||
            !(x->description = strdup(one->summary ? one->summary : "")))
            return tell_memory(err);
        x->start = one->value;
        for (int k = 0; k < p->nset; k++)
            if (strcmp(p->settings[k].name, one->name) == 0)
                x->start = bg_text_scan(p->settings[k].value, NULL);
    }
    return BG_OK;
}

void bg_fmi_variables_calc(const bg_fmi_variables *v, double *p)
{
    const bg_fmi_variable *first = v->items + v->first[BG_FMI_PARAMETER];
    int left = 0, before;
    for (int i = 0; i < v->nparameters; i++)
        if (first[i].causality == BG_FMI_CALCULATED)
            p[i] = NAN, left++;
    do { /* a parameter after all it depends on */
        before = left;
        left = 0;
        for (int i = 0; i < v->nparameters; i++) {
            if (first[i].causality != BG_FMI_CALCULATED || isfinite(p[i]))
                continue;
            p[i] = bg_expression_calc(first[i].expression, p);
            left += !isfinite(p[i]);
        }
    } while (left > 0 && left < before);
}

static bg_status add_parameters(bg_fmi_variables *v, const bg_problem *problem, bg_error *err)
{
    v->first[BG_FMI_PARAMETER] = v->first[BG_FMI_CALCULATED] = v->count;
    bg_status st = problem->model ? add_model_parameters(v, problem->model, err)
                                  : add_family_parameters(v, problem, err);
    v->nparameters = v->count - v->first[BG_FMI_PARAMETER];
    double *p = BG_NEW_ARRAY(double, v->nparameters);
    if (st == BG_OK && !p)
        st = tell_memory(err);
    bg_fmi_variable *first = v->items + v->first[BG_FMI_PARAMETER];
    for (int i = 0; i < v->nparameters && st == BG_OK; i++) {
        if (first[i].expression && first[i].causality == BG_FMI_PARAMETER)
            first[i].start = bg_expression_calc(first[i].expression, p);
        p[i] = first[i].start;
    }
    if (st == BG_OK)
        bg_fmi_variables_calc(v, p);
    for (int i = 0; i < v->nparameters && st == BG_OK; i++)
        first[i].start = p[i];
    free(p);
    return st;
}

bool bg_fmi_is_free_input(const bg_problem *p, int i)
{
    return !p->model || p->model->signals[i].kind == BG_SIGNAL_CONSTANT ||
           (p->model->signals[i].kind == BG_SIGNAL_EXPRESSION &&
            bg_expression_is_constant(p->model->signals[i].expression));
}

static const char *find_input_unit(const bg_problem *p, int i)
{
    return p->model ? bg_signal_get_unit(p->model, i)
                    : bg_system_get_unit(bg_problem_get_system(p), 'u', i);
}

static bg_status add_inputs(bg_fmi_variables *v, const bg_problem *problem,
                            const char *const *inputs, int ninputs, bg_error *err)
{
    const bg_system *sys = bg_problem_get_system(problem);
    const bg_system_def *def = &sys->def;
    const double t = isnan(problem->run.t_start) ? def->t_start : problem->run.t_start;
    double *u = BG_NEW_ARRAY(double, 3 * def->nu);
    bg_evaluator *ev = NULL;
    bg_state *x = NULL;
    bg_status st = u ? bg_evaluator_create(sys, &ev, err) : tell_memory(err);
    if (st == BG_OK)
        st = bg_state_create(sys, &x, err);
    if (st == BG_OK && def->nu > 0)
        st = bg_system_calc_inputs(ev, t, x->mode, u, u + def->nu, u + 2 * def->nu, err);
    v->first[BG_FMI_INPUT] = v->count;
    for (int k = 0; k < ninputs && st == BG_OK; k++) {
        char buffer[32];
        int i = 0;
        while (i < def->nu &&
               strcmp(bg_system_get_name(sys, 'u', i, buffer, sizeof buffer), inputs[k]) != 0)
            i++;
        if (i == def->nu) {
            st = bg_error_set(err, BG_BAD_INPUT, "system '%s' has no input '%s'; it has %d%s%s",
                              def->name, inputs[k], def->nu, def->nu > 0 ? ", the first is " : "",
                              def->nu > 0 ? bg_system_get_name(sys, 'u', 0, buffer, sizeof buffer)
                                          : "");
            break;
        }
        bg_fmi_variable *one = add(v, BG_FMI_INPUT, "", "inputs", inputs[k],
                                   find_input_unit(problem, i));
        if (!one)
            st = tell_memory(err);
        else
            one->index = i, one->start = u[i];
    }
    v->ninputs = v->count - v->first[BG_FMI_INPUT];
    bg_state_destroy(x);
    bg_evaluator_destroy(ev);
    free(u);
    return st;
}

static bg_status add_outputs(bg_fmi_variables *v, const bg_problem *problem, bg_error *err)
{
    const bg_system *sys = bg_problem_get_system(problem);
    const bg_system_def *def = &sys->def;
    char buffer[32];
    v->states = def->ny == 0;
    v->noutputs = v->states ? def->nq + def->nv : def->ny;
    v->first[BG_FMI_OUTPUT] = v->count;
    for (int k = 0; k < v->noutputs; k++) {
        const char kind = !v->states ? 'y' : k < def->nq ? 'q' : 'v';
        const int i = kind == 'v' ? k - def->nq : k;
        bg_fmi_variable *one = add(v, BG_FMI_OUTPUT,
                                   kind == 'q'   ? "q"
                                   : kind == 'v' ? "v"
                                                 : "",
                                   kind == 'y' ? "outputs" : "",
                                   bg_system_get_name(sys, kind, i, buffer, sizeof buffer),
                                   bg_system_get_unit(sys, kind, i));
        if (!one)
            return tell_memory(err);
        one->index = k;
    }
    return BG_OK;
}

bg_status bg_fmi_variables_create(const bg_problem *problem, const char *const *inputs, int ninputs,
                                  bg_fmi_variables *v, bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(bg_problem_get_system(problem));
    size_t most = 1 + (size_t)ninputs + (size_t)(def->ny > 0 ? def->ny : def->nq + def->nv);
    most += problem->model ? json_object_size(json_object_get(problem->model->source, "parameters"))
            : problem->source->family ? (size_t)problem->source->family->nparameters
                                      : 0;
    *v = (bg_fmi_variables){.items = BG_NEW_ARRAY(bg_fmi_variable, most)};
    if (!v->items || !add(v, BG_FMI_TIME, "", "", "time", "s"))
        return tell_memory(err);
    bg_status st = add_parameters(v, problem, err);
    if (st == BG_OK)
        st = add_inputs(v, problem, inputs, ninputs, err);
    if (st == BG_OK)
        st = add_outputs(v, problem, err);
    v->first[BG_FMI_OUTPUT + 1] = v->count;
    return st;
}

void bg_fmi_variables_clear(bg_fmi_variables *v)
{
    for (int i = 0; i < v->count; i++) {
        bg_expression_destroy(v->items[i].expression);
        free(v->items[i].name);
        free(v->items[i].unit);
        free(v->items[i].setting);
        free(v->items[i].description);
    }
    free(v->items);
    *v = (bg_fmi_variables){0};
}
