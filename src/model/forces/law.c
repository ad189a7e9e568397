/* Laws as expressions. An expression is compiled twice: first with every name it might use, to
 * learn which it does, then with those alone, so that evaluation needs a short array on the stack
 * however many signals the model has. */
#include "model/forces/law.h"

#include "model/read.h"

#include <stdlib.h>

/* own variables, t, signals */
static const char **collect_names(bg_reader *reader, const char *const *own, int nown, int *count)
{
    const bg_model *m = reader->model;
    *count = nown + 1 + m->nsignals;
    const char **names = bg_reader_allocate(reader, (size_t)*count, sizeof *names);
    for (int k = 0; names && k < *count; k++)
        names[k] = k < nown ? own[k] : k == nown ? "t" : m->signals[k - nown - 1].name;
    return names;
}

/* The second compilation, with the names that the first one found in use. */
static void compile_used(const bg_value *v, const bg_expression *first, const char **names,
                         bg_law *law)
{
    const int *used;
    const char *used_names[BG_LAW_VARIABLES];
    const int n = bg_expression_get_variables(first, &used);
    if (n > BG_LAW_VARIABLES) {
        bg_value_fail(v, "uses %d different variables; at most %d are possible", n,
                      BG_LAW_VARIABLES);
        return;
    }
    for (int k = 0; k < n; k++) {
        law->source[k] = used[k];
        used_names[k] = names[used[k]];
    }
    law->n = n;
    if (bg_expression_is_constant(first))
        law->constant = bg_expression_calc(first, NULL);
    else
        law->expression = bg_value_get_expression(v, used_names, n);
}

static void read_law(const bg_value *v, const char *const *own, int nown, bg_law *law)
{
    *law = (bg_law){.given = bg_value_exists(v), .nown = nown};
    if (!law->given)
        return;
    int count;
    const char **names = collect_names(v->reader, own, nown, &count);
    bg_expression *first = names ? bg_value_get_expression(v, names, count) : NULL;
    if (first)
        compile_used(v, first, names, law);
    bg_expression_destroy(first);
    free(names);
    if (v->reader->status == BG_OK && !isfinite(law->constant))
        bg_value_fail(v, "is not a finite number");
}

void bg_law_read(const bg_value *object, const char *key, const char *const *own, int nown,
                 bg_law *law)
{
    const bg_value v = bg_value_member(object, key);
    read_law(&v, own, nown, law);
}

void bg_law_read_vec3(const bg_value *object, const char *key, bg_law law[3])
{
    const bg_value list = bg_value_member(object, key);
    const bool good = bg_value_expect_list(&list, 3);
    for (int k = 0; k < 3; k++) {
        const bg_value v = bg_value_element(&list, k);
        law[k] = (bg_law){0};
        if (good)
            read_law(&v, NULL, 0, &law[k]);
    }
}

void bg_law_clear(bg_law *law)
{
    bg_expression_destroy(law->expression);
    *law = (bg_law){0};
}

static void collect_values(const bg_law *law, const bg_world *w, const double *own, double *values)
{
    for (int k = 0; k < law->n; k++) {
        const int i = law->source[k];
        values[k] = i < law->nown ? own[i] : i == law->nown ? w->t : w->u[i - law->nown - 1];
    }
}

double bg_law_calc(const bg_law *law, const bg_world *w, const double *own)
{
    if (!law->expression)
        return law->constant;
    double values[BG_LAW_VARIABLES];
    collect_values(law, w, own, values);
    return bg_expression_calc(law->expression, values);
}

double bg_law_calc_gradient(const bg_law *law, const bg_world *w, const double *own, double *by_own,
                            double *rate)
{
    double values[BG_LAW_VARIABLES], gradient[BG_LAW_VARIABLES], r = 0;
    for (int k = 0; k < law->nown; k++)
        by_own[k] = 0;
    if (rate)
        *rate = 0;
    if (!law->expression)
        return law->constant;
    collect_values(law, w, own, values);
    const double y = bg_expression_calc_gradient(law->expression, values, gradient);
    for (int k = 0; k < law->n; k++) {
        const int i = law->source[k];
        if (i < law->nown)
            by_own[i] = gradient[k];
        else
            r += gradient[k] * (i == law->nown ? 1.0 : w->u_t[i - law->nown - 1]);
    }
    if (rate)
        *rate = r;
    return y;
}
