/* Values of an instance by reference, and sensitivities. */
#include "fmi/instance_parts.h"

#include "base/memory.h"
#include "system/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const bg_fmi_variable *find(bg_fmi_instance *x, unsigned reference)
{
    if (reference < (unsigned)x->variables.count)
        return &x->variables.items[reference];
    bg_fmi_instance_tell(x, BG_FMI_ERROR,
                         "there is no variable with value reference %u; those of this FMU are 0 to "
                         "%d",
                         reference, x->variables.count - 1);
    return NULL;
}

static bg_status update_parameters(bg_fmi_instance *x)
{
    const bg_fmi_variables *v = &x->variables;
    const bg_fmi_variable *first = v->items + v->first[BG_FMI_PARAMETER];
    for (int i = 0; i < v->nparameters; i++)
        x->p[i] = x->parameters[i].given ? x->parameters[i].value : first[i].start;
    bg_fmi_variables_calc(v, x->p);
    return BG_OK;
}

/* An input that was never given is what the model says, at the present time. */
static double get_input(bg_fmi_instance *x, const bg_fmi_variable *one, int k)
{
    const bg_fmi_input *u = &x->inputs[k];
    if (u->given)
        return u->value + u->rate * (x->t - u->t);
    return x->session ? bg_session_get_input(x->session, one->index) : one->start;
}

static double get_output(const bg_fmi_instance *x, const bg_fmi_variable *one)
{
    const bg_state *at = bg_session_get_state(x->session);
    return x->variables.states ? at->q[one->index] : bg_session_get_outputs(x->session)[one->index];
}

bg_fmi_status bg_fmi_instance_get(bg_fmi_instance *x, const unsigned *references, size_t n,
                                  double *values)
{
    const bg_fmi_variables *v = &x->variables;
    bg_error err = {0};
    bool of_motion = false, of_parameters = false;
    for (size_t k = 0; k < n; k++) {
        const bg_fmi_variable *one = find(x, references[k]);
        if (!one)
            return BG_FMI_ERROR;
        of_motion = of_motion || one->causality == BG_FMI_OUTPUT;
        of_parameters = of_parameters || one->setting;
    }
    if (of_parameters)
        update_parameters(x);
    const bool before = x->phase == BG_FMI_INSTANTIATED || x->phase == BG_FMI_INITIALISING;
    if (of_motion && before && bg_fmi_instance_prepare(x, &err) != BG_OK)
        return bg_fmi_instance_tell_error(x, &err);
    if (of_motion && !x->session)
        return bg_fmi_instance_tell(x, BG_FMI_ERROR, "there are no outputs before the start");
    for (size_t k = 0; k < n; k++) {
        const bg_fmi_variable *one = &v->items[references[k]];
        const int i = (int)references[k];
        values[k] = one->causality == BG_FMI_TIME    ? x->t
                    : one->causality == BG_FMI_INPUT ? get_input(x, one, i - v->first[BG_FMI_INPUT])
                    : one->causality == BG_FMI_OUTPUT ? get_output(x, one)
                                                      : x->p[i - v->first[BG_FMI_PARAMETER]];
    }
    return BG_FMI_OK;
}

static bg_fmi_status check_set(bg_fmi_instance *x, unsigned reference, double value)
{
    const bg_fmi_variable *one = find(x, reference);
    if (!one)
        return BG_FMI_ERROR;
    if (!isfinite(value))
        return bg_fmi_instance_tell(x, BG_FMI_ERROR, "the value %g of '%s' is not a finite number",
                                    value, one->name);
    if (one->causality == BG_FMI_PARAMETER && x->phase == BG_FMI_STEPPING)
        return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                    "the parameter '%s' can be set until initialisation ends, not "
                                    "behind it",
                                    one->name);
    if (one->causality != BG_FMI_PARAMETER && one->causality != BG_FMI_INPUT)
        return bg_fmi_instance_tell(
            x, BG_FMI_ERROR, "'%s' is %s and cannot be set; inputs and parameters can", one->name,
            one->causality == BG_FMI_TIME     ? "the time"
            : one->causality == BG_FMI_OUTPUT ? "an output"
                                              : "found from other parameters");
    return BG_FMI_OK;
}

/* Values at the start are those of the start from now on. */
static void start_anew(bg_fmi_instance *x)
{
    if (x->phase == BG_FMI_STEPPING)
        return;
    bg_session_destroy(x->session);
    x->session = NULL;
}

bg_fmi_status bg_fmi_instance_set(bg_fmi_instance *x, const unsigned *references, size_t n,
                                  const double *values)
{
    const bg_fmi_variables *v = &x->variables;
    for (size_t k = 0; k < n; k++) {
        const bg_fmi_status st = check_set(x, references[k], values[k]);
        if (st != BG_FMI_OK)
            return st;
    }
    for (size_t k = 0; k < n; k++) {
        const int i = (int)references[k];
        if (v->items[i].causality == BG_FMI_PARAMETER) {
            x->parameters[i - v->first[BG_FMI_PARAMETER]] = (bg_fmi_parameter){true, values[k]};
            continue;
        }
        bg_fmi_input *u = &x->inputs[i - v->first[BG_FMI_INPUT]];
        const double rate = u->fresh ? u->rate : 0; /* of this point, if it was set before */
        *u = (bg_fmi_input){true, true, values[k], rate, x->t};
    }
    if (n > 0)
        start_anew(x);
    return BG_FMI_OK;
}

bg_fmi_status bg_fmi_instance_set_rates(bg_fmi_instance *x, const unsigned *references, size_t n,
                                        const int *orders, const double *rates)
{
    const bg_fmi_variables *v = &x->variables;
    bool more = false;
    for (size_t k = 0; k < n; k++) {
        const bg_fmi_variable *one = find(x, references[k]);
        if (!one)
            return BG_FMI_ERROR;
        if (one->causality != BG_FMI_INPUT)
            return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                        "'%s' is not an input, so it has no derivative to be set",
                                        one->name);
        if (!isfinite(rates[k]) || orders[k] < 1)
            return bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                        "the derivative %g of order %d of '%s' is not usable",
                                        rates[k], orders[k], one->name);
        more = more || (orders[k] > 1 && rates[k] != 0);
    }
    for (size_t k = 0; k < n; k++) {
        const int i = (int)references[k];
        bg_fmi_input *u = &x->inputs[i - v->first[BG_FMI_INPUT]];
        if (orders[k] > 1)
            continue;
        const double value = get_input(x, &v->items[i], i - v->first[BG_FMI_INPUT]);
        *u = (bg_fmi_input){true, true, value, rates[k], x->t};
    }
    if (n > 0)
        start_anew(x);
    return more ? bg_fmi_instance_tell(x, BG_FMI_WARNING,
                                       "inputs go on along straight lines: derivatives beyond the "
                                       "first are left out")
                : BG_FMI_OK;
}

/* The outputs of a start whose inputs are others by `step` times the seed, added to dy. */
static bg_status add_start(bg_fmi_instance *x, const bg_fmi_input *inputs, const unsigned *knowns,
                           size_t nknowns, const double *seed, double step, double weight,
                           bg_error *err)
{
    const bg_fmi_variables *v = &x->variables;
    const int ny = bg_system_get_def(bg_problem_get_system(x->problem))->ny;
    memcpy(x->inputs, inputs, (size_t)v->ninputs * sizeof *inputs);
    for (size_t k = 0; k < nknowns && step != 0; k++) {
        bg_fmi_input *u = &x->inputs[(int)knowns[k] - v->first[BG_FMI_INPUT]];
        const double value = u->given ? u->value : v->items[knowns[k]].start;
        *u = (bg_fmi_input){true, true, value + step * seed[k], u->rate, x->t};
    }
    start_anew(x);
    bg_status st = bg_fmi_instance_prepare(x, err);
    for (int i = 0; i < ny && st == BG_OK; i++)
        x->dy[i] += weight * bg_session_get_outputs(x->session)[i];
    return st;
}

/* Before the first step bodies that follow inputs are put where a start has them, by which others
 * are put where they fit: derivatives of starts, by differences of fourth order. */
static bg_status difference_starts(bg_fmi_instance *x, const unsigned *knowns, size_t nknowns,
                                   const double *seed, bg_error *err)
{
    const int ninputs = x->variables.ninputs;
    bg_fmi_input *inputs = BG_NEW_ARRAY(bg_fmi_input, ninputs);
    double largest = 0;
    bg_error ignored;
    if (!inputs)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for derivatives");
    memcpy(inputs, x->inputs, (size_t)ninputs * sizeof *inputs);
    for (size_t k = 0; k < nknowns; k++)
        largest = fmax(largest, fabs(seed[k]));
    const double step = 0x1p-16 / largest;
    memset(x->dy, 0,
           (size_t)bg_system_get_def(bg_problem_get_system(x->problem))->ny * sizeof *x->dy);
    bg_status st = BG_OK;
    for (int side = -1; side <= 1; side += 2)
        for (int wide = 1; wide <= 2 && st == BG_OK; wide++)
            st = add_start(x, inputs, knowns, nknowns, seed, side * wide * step,
                           side * (wide == 1 ? 2.0 / 3 : -1.0 / 12) / step, err);
    const bg_status back = add_start(x, inputs, knowns, nknowns, seed, 0, 0,
                                     st == BG_OK ? err : &ignored);
    free(inputs);
    return st == BG_OK ? back : st;
}

bg_fmi_status bg_fmi_instance_calc_sensitivity(bg_fmi_instance *x, const unsigned *unknowns,
                                               size_t nunknowns, const unsigned *knowns,
                                               size_t nknowns, const double *seed, double *result)
{
    const bg_system_def *def = bg_system_get_def(bg_problem_get_system(x->problem));
    bg_error err = {0};
    memset(x->du, 0, (size_t)def->nu * sizeof *x->du);
    for (size_t k = 0; k < nknowns; k++) {
        const bg_fmi_variable *one = find(x, knowns[k]);
        if (one && one->causality == BG_FMI_INPUT)
            x->du[one->index] += seed[k];
        else
            return one ? bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                              "there are derivatives by inputs; '%s' is none",
                                              one->name)
                       : BG_FMI_ERROR;
    }
    for (size_t k = 0; k < nunknowns; k++) {
        const bg_fmi_variable *one = find(x, unknowns[k]);
        if (!one || one->causality != BG_FMI_OUTPUT)
            return one ? bg_fmi_instance_tell(x, BG_FMI_ERROR,
                                              "there are derivatives of outputs; '%s' is none",
                                              one->name)
                       : BG_FMI_ERROR;
    }
    if (x->variables.states) { /* which do not jump with inputs */
        memset(result, 0, nunknowns * sizeof *result);
        return BG_FMI_OK;
    }
    bool moves = false;
    bg_status st = bg_fmi_instance_prepare(x, &err);
    if (st == BG_OK)
        st = bg_session_calc_sensitivity(x->session, x->du, x->dy, &moves, &err);
    if (st == BG_OK && moves && x->phase == BG_FMI_INITIALISING)
        st = difference_starts(x, knowns, nknowns, seed, &err);
    if (st != BG_OK)
        return bg_fmi_instance_tell_error(x, &err);
    for (size_t k = 0; k < nunknowns; k++)
        result[k] = x->dy[x->variables.items[unknowns[k]].index];
    return BG_FMI_OK;
}
