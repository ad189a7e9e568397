/* "parameters": named numbers, which may be expressions of each other.
 *
 * They are evaluated depth first: a parameter after all it depends on. Meeting one that is still
 * being evaluated closes a cycle, which the message spells out. */
#include "model/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN = 1000 }; /* parameters that may wait for one another */

/* What the expression of a parameter refers to. */
typedef struct scope {
    bg_reader *reader;
    char last[128]; /* the last name that is no parameter */
    bool ambiguous; /* a name is both parameter and unit */
} scope;

typedef enum progress { TO_DO, BEGUN, DONE } progress;

typedef struct evaluation {
    const bg_value *section;
    bg_expression **expressions; /* [n] */
    progress *progress;          /* [n] */
    int *stack;                  /* [n] what is being evaluated, outermost first */
    int depth;
} evaluation;

static int resolve(void *self, const char *name, double *constant)
{
    scope *s = self;
    (void)constant;
    int p = bg_reader_find_parameter(s->reader, name);
    s->ambiguous = s->ambiguous || bg_reader_is_ambiguous(s->reader, name);
    if (p >= 0)
        return p;
    snprintf(s->last, sizeof s->last, "%s", name);
    return -1;
}

static bg_expression *compile(const bg_value *v)
{
    if (v->reader->status != BG_OK || json_is_number(v->json))
        return NULL;
    if (!json_is_string(v->json)) {
        bg_value_fail(v, "a parameter must be a number or an expression");
        return NULL;
    }
    bg_expression *e = NULL;
    bg_error err = {0};
    scope s = {.reader = v->reader};
    bg_status st = bg_expression_create(json_string_value(v->json), resolve, &s, &e, &err);
    if (st == BG_NO_MEMORY)
        bg_reader_fail_memory(v->reader);
    else if (st != BG_OK)
        bg_value_fail_expression(v, s.last, NULL, 0, &err);
    else if (s.ambiguous)
        bg_value_fail_ambiguous(v);
    return e;
}

static void fail_cycle(const evaluation *x, int p)
{
    bg_reader *reader = x->section->reader;
    char cycle[400];
    size_t n = 0;
    int first = 0;
    while (x->stack[first] != p)
        first++;
    for (int k = first; k <= x->depth && n < sizeof cycle; k++) {
        const char *name = reader->parameter_names[k < x->depth ? x->stack[k] : p];
        n += (size_t)snprintf(cycle + n, sizeof cycle - n, "%s%s", k > first ? " -> " : "", name);
    }
    bg_value v = bg_value_member(x->section, reader->parameter_names[p]);
    bg_value_fail(&v, "depends on itself: %s", cycle);
}

static void evaluate(evaluation *x, int p)
{
    bg_reader *reader = x->section->reader;
    bg_value v = bg_value_member(x->section, reader->parameter_names[p]);
    if (reader->status != BG_OK || x->progress[p] == DONE)
        return;
    if (x->progress[p] == BEGUN) {
        fail_cycle(x, p);
        return;
    }
    if (x->depth == CHAIN) {
        bg_value_fail(&v, "comes at the end of a chain of more than %d parameters", CHAIN);
        return;
    }
    x->progress[p] = BEGUN;
    x->stack[x->depth++] = p;
    bg_expression *e = x->expressions[p];
    if (e) {
        const int *needed;
        int n = bg_expression_get_variables(e, &needed);
        for (int k = 0; k < n; k++)
            evaluate(x, needed[k]);
        if (reader->status != BG_OK)
            return;
        double value = bg_expression_calc(e, reader->parameter_values);
        if (!isfinite(value))
            bg_value_fail(&v, "is %s, not a finite number",
                          isnan(value) ? "not defined (NaN)" : "infinite");
        reader->parameter_values[p] = value;
    } else {
        reader->parameter_values[p] = bg_value_get_number(&v);
    }
    x->depth--;
    x->progress[p] = DONE;
}

static void evaluate_all(const bg_value *section)
{
    bg_reader *reader = section->reader;
    size_t n = (size_t)reader->nparameters;
    evaluation x = {.section = section,
                    .expressions = bg_reader_allocate(reader, n, sizeof *x.expressions),
                    .progress = bg_reader_allocate(reader, n, sizeof *x.progress),
                    .stack = bg_reader_allocate(reader, n, sizeof *x.stack)};
    for (int p = 0; reader->status == BG_OK && p < reader->nparameters; p++) {
        bg_value v = bg_value_member(section, reader->parameter_names[p]);
        x.expressions[p] = compile(&v);
    }
    for (int p = 0; reader->status == BG_OK && p < reader->nparameters; p++)
        evaluate(&x, p);
    for (size_t p = 0; x.expressions && p < n; p++)
        bg_expression_destroy(x.expressions[p]);
    free(x.expressions);
    free(x.progress);
    free(x.stack);
}

void bg_read_parameters(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_value section = bg_value_member(top, "parameters");
    if (!bg_value_exists(&section) || !bg_value_expect_object(&section))
        return;
    size_t n = json_object_size(section.json);
    reader->parameter_names = bg_reader_allocate(reader, n, sizeof *reader->parameter_names);
    reader->parameter_values = bg_reader_allocate(reader, n, sizeof *reader->parameter_values);
    reader->parameter_used = bg_reader_allocate(reader, n, sizeof *reader->parameter_used);
    bg_value v;
    for (void *i = NULL; bg_value_next(&section, &i, &v);) {
        int p = reader->nparameters++;
        bg_reader_register(&v, BG_NAME_PARAMETER, v.key, p);
        reader->parameter_names[p] = bg_reader_copy(reader, v.key);
    }
    if (reader->status == BG_OK)
        evaluate_all(&section);
}
