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
typedef struct parameter_scope {
    bg_reader *reader;
    const bg_scope *place;
    char last[128]; /* the last name that is no parameter */
    bool ambiguous; /* a name is both parameter and unit */
} parameter_scope;

typedef enum parameter_progress { TO_DO, BEGUN, DONE } parameter_progress;

typedef struct evaluation {
    bg_reader *reader;
    int first, n;                 /* parameters first .. first + n - 1 of the reader */
    bg_value *place;              /* [n] where each is said */
    bg_expression **expressions;  /* [n] */
    parameter_progress *progress; /* [n] */
    int *stack;                   /* [n] what is being evaluated, outermost first */
    int depth;
} evaluation;

static int resolve(void *self, const char *name, double *constant)
{
    parameter_scope *s = self;
    (void)constant;
    int p = bg_reader_find_parameter(s->reader, s->place, name);
    s->ambiguous = s->ambiguous || bg_reader_is_ambiguous(s->reader, s->place, name);
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
    parameter_scope s = {.reader = v->reader, .place = v->scope};
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
    const bg_reader *reader = x->reader;
    char cycle[400];
    size_t n = 0;
    int first = 0;
    while (x->stack[first] != p)
        first++;
    for (int k = first; k <= x->depth && n < sizeof cycle; k++) {
        const char *name = reader->parameter_names[k < x->depth ? x->stack[k] : p];
        n += (size_t)snprintf(cycle + n, sizeof cycle - n, "%s%s", k > first ? " -> " : "", name);
    }
    bg_value_fail(&x->place[p - x->first], "depends on itself: %s", cycle);
}

static void evaluate(evaluation *x, int p)
{
    bg_reader *reader = x->reader;
    const int own = p - x->first;
    if (reader->status != BG_OK || own < 0 || x->progress[own] == DONE)
        return;
    const bg_value *v = &x->place[own];
    if (x->progress[own] == BEGUN) {
        fail_cycle(x, p);
        return;
    }
    if (x->depth == CHAIN) {
        bg_value_fail(v, "comes at the end of a chain of more than %d parameters", CHAIN);
        return;
    }
    x->progress[own] = BEGUN;
    x->stack[x->depth++] = p;
    bg_expression *e = x->expressions[own];
    if (e) {
        const int *needed;
        int n = bg_expression_get_variables(e, &needed);
        for (int k = 0; k < n; k++)
            evaluate(x, needed[k]);
        if (reader->status != BG_OK)
            return;
        double value = bg_expression_calc(e, reader->parameter_values);
        if (!isfinite(value))
            bg_value_fail(v, "is %s, not a finite number",
                          isnan(value) ? "not defined (NaN)" : "infinite");
        reader->parameter_values[p] = value;
    } else {
        reader->parameter_values[p] = bg_value_get_number(v);
    }
    x->depth--;
    x->progress[own] = DONE;
}

static void evaluate_all(evaluation *x)
{
    bg_reader *reader = x->reader;
    const size_t n = (size_t)x->n;
    x->expressions = bg_reader_allocate(reader, n, sizeof *x->expressions);
    x->progress = bg_reader_allocate(reader, n, sizeof *x->progress);
    x->stack = bg_reader_allocate(reader, n, sizeof *x->stack);
    for (int p = 0; reader->status == BG_OK && p < x->n; p++)
        x->expressions[p] = compile(&x->place[p]);
    for (int p = 0; reader->status == BG_OK && p < x->n; p++)
        evaluate(x, x->first + p);
    for (size_t p = 0; x->expressions && p < n; p++)
        bg_expression_destroy(x->expressions[p]);
    free(x->expressions);
    free(x->progress);
    free(x->stack);
}

static void *grow(bg_reader *reader, void *array, int room, size_t size)
{
    void *grown = realloc(array, (size_t)room * size);
    if (!grown)
        bg_reader_fail_memory(reader);
    return grown ? grown : array;
}

/* Makes room for n more parameters. */
static void make_room(bg_reader *reader, int n)
{
    const int room = 2 * (reader->nparameters + n);
    if (reader->nparameters + n <= reader->parameter_room)
        return;
    reader->parameter_names = grow(reader, reader->parameter_names, room,
                                   sizeof *reader->parameter_names);
    reader->parameter_values = grow(reader, reader->parameter_values, room,
                                    sizeof *reader->parameter_values);
    reader->parameter_used = grow(reader, reader->parameter_used, room,
                                  sizeof *reader->parameter_used);
    if (reader->status == BG_OK)
        reader->parameter_room = room;
}

/* What the use of a part says about its parameters must be about parameters it has. */
static void check_given(const bg_value *given, const bg_value *section)
{
    bg_value v;
    if (!bg_value_exists(given) || !bg_value_expect_object(given))
        return;
    for (void *i = NULL; bg_value_next(given, &i, &v);) {
        if (json_object_get(section->json, v.key) && strcmp(v.key, "comment") != 0)
            continue;
        int n = 0;
        const char **names = bg_reader_allocate(v.reader, json_object_size(section->json) + 1,
                                                sizeof *names);
        bg_value own;
        for (void *k = NULL; names && bg_value_next(section, &k, &own);)
            names[n++] = own.key;
        if (names)
            bg_value_fail_unknown(&v, "parameter of the part called", v.key, names, n);
        free(names);
    }
}

void bg_read_parameters(const bg_value *top)
{
    bg_reader *reader = top->reader;
    const bg_scope *used = top->scope;
    bg_value section = bg_value_member(top, "parameters");
    bg_value given = {.reader = reader};
    if (used)
        given = bg_value_member(&used->use, "parameters");
    check_given(&given, &section);
    if (!bg_value_exists(&section) || !bg_value_expect_object(&section))
        return;
    evaluation x = {.reader = reader, .first = reader->nparameters};
    x.place = bg_reader_allocate(reader, json_object_size(section.json), sizeof *x.place);
    make_room(reader, bg_value_get_size(&section));
    bg_value v;
    for (void *i = NULL; bg_value_next(&section, &i, &v);) {
        const bg_value other = bg_value_member(&given, v.key);
        const int p = reader->nparameters++;
        x.place[x.n++] = bg_value_exists(&other) ? other : v;
        reader->parameter_used[p] = false;
        reader->parameter_values[p] = 0;
        reader->parameter_names[p] = bg_value_copy_name(&v);
        bg_reader_register(&v, BG_NAME_PARAMETER, v.key, p);
    }
    if (reader->status == BG_OK)
        evaluate_all(&x);
    free(x.place);
}
