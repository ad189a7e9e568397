/* Compiled expressions: creation from a draft, and the three ways of running the instructions.
 *
 *   value      w_k = f_k(w_i, w_j, ...) in order;
 *   gradient   adjoints a_k = du/dw_k backwards: a_root = 1, then a_i += a_k df_k/dw_i for k
 * falling; jet        value, first and second derivative of every slot forwards.
 *
 * Adjoints that are zero are not propagated, so that a branch that is not taken, and may have no
 * finite derivative, leaves no trace. On a kink that matters the partial derivatives of an
 * operation do not exist, and next to a pole, as in sqrt(step(x,0,1)) for x < 0, infinity may meet
 * zero; then each component of the gradient is the first derivative of a jet along its variable,
 * which knows what moves. */
#include "model/expression_code.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bg_expression {
    int nvariables, nconstants, ncode;
    int root;             /* slot of the result */
    int *variables;       /* [nvariables] their indices in the caller's arrays */
    bg_instruction *code; /* [ncode]; instruction k writes slot nvariables + nconstants + k */
    double *constants;    /* [nconstants] */
};

/* Slots that one text can ask for. What is in them while an expression is evaluated lies on the
 * stack, so that any number of threads share an expression. */
enum { SLOTS = 2 * BG_DRAFT_LEAVES + BG_EXPRESSION_OPERATIONS };

static int find_slot(const bg_draft *draft, int reference)
{
    if (reference >= BG_REF_RESULT)
        return draft->nvariables + draft->nconstants + reference - BG_REF_RESULT;
    if (reference >= BG_REF_CONSTANT)
        return draft->nvariables + reference - BG_REF_CONSTANT;
    return reference - BG_REF_VARIABLE;
}

static void copy_draft(bg_expression *e, const bg_draft *draft)
{
    e->root = find_slot(draft, draft->root);
    memcpy(e->variables, draft->variables, (size_t)draft->nvariables * sizeof *e->variables);
    memcpy(e->code, draft->code, (size_t)draft->ncode * sizeof *e->code);
    for (int k = 0; k < e->ncode; k++) {
        for (int i = 0; i < bg_operation_get(e->code[k].op)->arity; i++)
            e->code[k].arg[i] = (uint16_t)find_slot(draft, e->code[k].arg[i]);
    }
    memcpy(e->constants, draft->constants, (size_t)draft->nconstants * sizeof *e->constants);
}

static bg_expression *create_from_draft(const bg_draft *draft)
{
    bg_expression *e = BG_NEW(bg_expression);
    if (!e)
        return NULL;
    e->nvariables = draft->nvariables;
    e->nconstants = draft->nconstants;
    e->ncode = draft->ncode;
    e->variables = BG_NEW_ARRAY(int, e->nvariables);
    e->code = BG_NEW_ARRAY(bg_instruction, e->ncode);
    e->constants = BG_NEW_ARRAY(double, e->nconstants);
    if (!e->variables || !e->code || !e->constants) {
        bg_expression_destroy(e);
        return NULL;
    }
    copy_draft(e, draft);
    return e;
}

bg_status bg_expression_create(const char *text, bg_expression_resolver *resolver, void *self,
                               bg_expression **expression, bg_error *err)
{
    assert(text && expression);
    *expression = NULL;
    bg_draft *draft = malloc(sizeof *draft); /* large, and parsing begins with its counts */
    bg_status st = draft ? bg_draft_parse(draft, text, resolver, self, err) : BG_NO_MEMORY;
    if (st == BG_OK) {
        *expression = create_from_draft(draft);
        st = *expression ? BG_OK : BG_NO_MEMORY;
    }
    free(draft);
    return st != BG_NO_MEMORY ? st : bg_error_set(err, st, "out of memory for an expression");
}

void bg_expression_destroy(bg_expression *expression)
{
    if (!expression)
        return;
    free(expression->variables);
    free(expression->code);
    free(expression->constants);
    free(expression);
}

int bg_expression_get_variables(const bg_expression *expression, const int **indices)
{
    if (indices)
        *indices = expression->variables;
    return expression->nvariables;
}

bool bg_expression_is_constant(const bg_expression *expression)
{
    return expression->nvariables == 0;
}

static double run_instruction(const bg_instruction *i, const double *w)
{
    const double a = w[i->arg[0]], b = w[i->arg[1]];
    switch (i->op) {
    case BG_NEGATE:
        return -a;
    case BG_ADD:
        return a + b;
    case BG_SUBTRACT:
        return a - b;
    case BG_MULTIPLY:
        return a * b;
    case BG_DIVIDE:
        return a / b;
    default: {
        const double x[3] = {a, b, w[i->arg[2]]}; /* an argument too many is slot 0 */
        return bg_operation_get(i->op)->calc(x);
    }
    }
}

/* w <- values of all slots. */
static void run(const bg_expression *e, const double *values, double *w)
{
    double *result = w + e->nvariables + e->nconstants;
    for (int k = 0; k < e->nvariables; k++)
        w[k] = values[e->variables[k]];
    for (int k = 0; k < e->nconstants; k++)
        w[e->nvariables + k] = e->constants[k];
    for (int k = 0; k < e->ncode; k++)
        result[k] = run_instruction(&e->code[k], w);
}

const char *bg_expression_find_corner(const bg_expression *e)
{
    const int first = e->nvariables + e->nconstants;
    bool varies[SLOTS] = {false};
    for (int k = 0; k < e->nvariables; k++)
        varies[k] = true;
    for (int k = 0; k < e->ncode; k++) {
        const bg_operation *op = bg_operation_get(e->code[k].op);
        for (int i = 0; i < op->arity; i++)
            varies[first + k] = varies[first + k] || varies[e->code[k].arg[i]];
        if (op->corners && varies[first + k])
            return op->name;
    }
    return NULL;
}

double bg_expression_calc(const bg_expression *e, const double *values)
{
    double w[SLOTS];
    run(e, values, w);
    return w[e->root];
}

void bg_expression_mix_side(const bg_expression *e, const double *values, uint64_t *side)
{
    double w[SLOTS];
    run(e, values, w);
    for (int k = 0; k < e->ncode; k++) {
        const uint16_t *arg = e->code[k].arg;
        const double x[3] = {w[arg[0]], w[arg[1]], w[arg[2]]};
        const double at = bg_operation_calc_side(bg_operation_get(e->code[k].op), x);
        uint64_t bits;
        memcpy(&bits, &at, sizeof bits);
        *side = (*side ^ bits) * 0x9e3779b97f4a7c15u;
        *side ^= *side >> 29;
    }
}

/* All slots from those of the variables. */
static void run_jets(const bg_expression *e, bg_curve_jet *jet)
{
    bg_curve_jet *result = jet + e->nvariables + e->nconstants;
    for (int k = 0; k < e->nconstants; k++)
        jet[e->nvariables + k] = (bg_curve_jet){e->constants[k], 0, 0};
    for (int k = 0; k < e->ncode; k++) {
        const uint16_t *arg = e->code[k].arg;
        const bg_curve_jet x[3] = {jet[arg[0]], jet[arg[1]], jet[arg[2]]};
        bg_operation_calc_jet(bg_operation_get(e->code[k].op), x, &result[k]);
    }
}

void bg_expression_calc_jet(const bg_expression *e, const double *values, const double *rates,
                            const double *second, double out[3])
{
    bg_curve_jet jet[SLOTS];
    for (int k = 0; k < e->nvariables; k++) {
        int v = e->variables[k];
        jet[k] = (bg_curve_jet){values[v], rates[v], second[v]};
    }
    run_jets(e, jet);
    out[0] = jet[e->root].u;
    out[1] = jet[e->root].d;
    out[2] = jet[e->root].dd;
}

/* The gradient one variable at a time, from the values in w: right-hand derivatives, also on kinks.
 */
static void calc_gradient_forwards(const bg_expression *e, const double *w, double *gradient)
{
    bg_curve_jet jet[SLOTS];
    for (int k = 0; k < e->nvariables; k++) {
        for (int j = 0; j < e->nvariables; j++)
            jet[j] = (bg_curve_jet){w[j], j == k, 0};
        run_jets(e, jet);
        gradient[k] = jet[e->root].d;
    }
}

/* Adds the adjoint of instruction k to those of its arguments, constants aside: the derivative of
 * x^2 with respect to 2 is not defined for x < 0, and not needed. False: on a kink or a pole. */
static bool propagate(const bg_expression *e, const double *w, int k, double *adjoint)
{
    const bg_instruction *i = &e->code[k];
    const bg_operation *op = bg_operation_get(i->op);
    const double x[3] = {w[i->arg[0]], w[i->arg[1]], w[i->arg[2]]};
    int first = e->nvariables + e->nconstants;
    double p[3], own = adjoint[first + k];
    if (!bg_operation_calc_partials(op, x, w[first + k], p))
        return false;
    bool finite = true;
    for (int j = 0; j < op->arity; j++) {
        int slot = i->arg[j];
        if (slot < e->nvariables || slot >= first) {
            adjoint[slot] += own * p[j];
            finite = finite && isfinite(adjoint[slot]);
        }
    }
    return finite;
}

double bg_expression_calc_gradient(const bg_expression *e, const double *values, double *gradient)
{
    double w[SLOTS], adjoint[SLOTS];
    int first = e->nvariables + e->nconstants;
    run(e, values, w);
    memset(adjoint, 0, (size_t)(first + e->ncode) * sizeof *adjoint);
    adjoint[e->root] = 1;
    for (int k = e->ncode - 1; k >= 0; k--)
        if (adjoint[first + k] != 0 && !propagate(e, w, k, adjoint)) {
            calc_gradient_forwards(e, w, gradient);
            return w[e->root];
        }
    memcpy(gradient, adjoint, (size_t)e->nvariables * sizeof *gradient);
    return w[e->root];
}
