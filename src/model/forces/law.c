/* Laws as expressions. An expression is compiled twice: first with every name it might use, to
 * learn which it does, then with those alone, so that evaluation needs a short array on the stack
 * however many signals and outputs the model has.
 *
 * Outputs may be expressions of earlier outputs. A law keeps a list of all it needs, in the order
 * of the file: running through it gives values, running back through it the adjoints
 * a_k = d law / d output_k, which end in the sensors' gradients. */
#include "model/forces/law.h"

#include "model/sensor.h"

#include <stdlib.h>
#include <string.h>

static int count_names(const bg_model *m, int nown)
{
    return nown + 1 + m->nsignals + m->noutputs;
}

/* own variables, t, signals, outputs */
static const char **collect_names(bg_reader *reader, const char *const *own, int nown)
{
    const bg_model *m = reader->model;
    const int count = count_names(m, nown), outputs = count - m->noutputs;
    const char **names = bg_reader_allocate(reader, (size_t)count, sizeof *names);
    for (int k = 0; names && k < count; k++)
        names[k] = k < nown       ? own[k]
                   : k == nown    ? "t"
                   : k >= outputs ? m->outputs[k - outputs].name
                                  : m->signals[k - nown - 1].name;
    return names;
}

/* The output that a variable of the law is, or -1. */
static int get_output(const bg_law *law, int source)
{
    const int first = law->nown + 1 + law->model->nsignals;
    return source < first ? -1 : source - first;
}

/* A name that is not only an output must not be guessed at. */
static void check_meaning(const bg_value *v, const bg_law *law, int source)
{
    bg_reader *reader = v->reader;
    const bg_model *m = law->model;
    if (reader->status != BG_OK || source <= law->nown)
        return;
    const int output = get_output(law, source), signal = source - law->nown - 1;
    const char *name = output >= 0 ? m->outputs[output].name : m->signals[signal].name;
    const char *other = NULL;
    if (output < 0) {
        const int same = bg_reader_find(reader, BG_NAME_OUTPUT, name);
        if (same >= 0 &&
            (m->outputs[same].kind != BG_OUTPUT_SIGNAL || m->outputs[same].index != signal))
            other = "an input";
    } else if (bg_reader_find(reader, BG_NAME_PARAMETER, name) >= 0) {
        other = "a parameter";
    } else if (bg_expression_has_name(bg_scope_strip(v->scope, name))) {
        other = "a unit, constant or function";
    }
    if (other)
        bg_value_fail(v, "'%s' is both an output and %s; give the output another name", name,
                      other);
}

/* Gives an angle among the outputs a state that follows it through full turns. */
static void follow(bg_model *m, bg_output *o)
{
    if (o->kind != BG_OUTPUT_COORDINATE || o->component > 0 ||
        o->measured.kind == BG_COORDINATE_SLIDE || o->measured.turns >= 0)
        return;
    for (int k = 0; k < m->nangles; k++)
        if (m->angles[k].joint == o->index && m->angles[k].coordinate == o->coordinate) {
            o->measured.turns = m->angles[k].z;
            return;
        }
    o->measured.turns = m->nz;
    m->angles[m->nangles++] = (bg_followed_angle){o->index, o->coordinate, m->nz++};
}

/* Fails at v because of output k, which the law names itself or needs for another one (via >= 0).
 */
static void refuse(const bg_value *v, const bg_model *m, int k, int via, const char *reason)
{
    char way[128] = "";
    if (via >= 0)
        snprintf(way, sizeof way, " (through '%.80s')", m->outputs[via].name);
    bg_value_fail(v,
                  "cannot use output '%s'%s, which is %s; joint coordinates and their rates, "
                  "positions, velocities, orientations, angular velocities, distances and inputs "
                  "are possible",
                  m->outputs[k].name, way, reason);
}

/* Marks what the marked outputs refer to, and lists all: from the last on, as they refer backwards.
 * via[k] - 1 is the output that asked for the k-th, 0: nobody, -1: the law. */
static void list_outputs(const bg_value *v, bg_law *law, int *via)
{
    bg_model *m = v->reader->model;
    for (int k = m->noutputs - 1; k >= 0; k--) {
        const bg_output *o = &m->outputs[k];
        const int *used;
        const char *reason = via[k] ? bg_sensor_explain(o) : NULL;
        if (reason)
            refuse(v, m, k, via[k] < 0 ? -1 : via[k] - 1, reason);
        law->noutputs += via[k] != 0;
        const int n = via[k] && o->expression ? bg_expression_get_variables(o->expression, &used)
                                              : 0;
        for (int i = 0; i < n; i++)
            if (used[i] < m->noutputs && !via[used[i]])
                via[used[i]] = k + 1;
    }
    if (law->noutputs == 0 || v->reader->status != BG_OK)
        return;
    law->output = bg_reader_allocate(v->reader, (size_t)law->noutputs, sizeof *law->output);
    for (int k = 0, i = 0; law->output && k < m->noutputs; k++)
        if (via[k]) {
            law->output[i++] = k;
            if (m->outputs[k].expression)
                bg_value_note_corner(v, bg_expression_find_corner(m->outputs[k].expression));
            follow(m, &m->outputs[k]);
        }
}

static void find_outputs(const bg_value *v, bg_law *law)
{
    const bg_model *m = law->model;
    int *via = bg_reader_allocate(v->reader, (size_t)m->noutputs, sizeof *via);
    for (int k = 0; via && k < law->n; k++) {
        const int output = get_output(law, law->source[k]);
        check_meaning(v, law, law->source[k]);
        if (output >= 0)
            via[output] = -1;
    }
    if (via && v->reader->status == BG_OK)
        list_outputs(v, law, via);
    free(via);
}

/* The second compilation, with the names that the first one found in use. */
static void compile_used(const bg_value *v, const bg_expression *first, const char **names,
                         bg_law *law)
{
    const int *used;
    const bg_variables all = {names, count_names(law->model, law->nown), law->nown};
    const int n = bg_expression_get_variables(first, &used);
    if (n > BG_LAW_VARIABLES) {
        bg_value_fail(v, "uses %d different variables; at most %d are possible", n,
                      BG_LAW_VARIABLES);
        return;
    }
    for (int k = 0; k < n; k++)
        law->source[k] = used[k];
    law->n = n;
    if (bg_expression_is_constant(first))
        law->constant = bg_expression_calc(first, NULL);
    else
        law->expression = bg_value_compile(v, &all, law->source, n);
}

static void read_law(const bg_value *v, const char *const *own, int nown, bg_law *law)
{
    *law = (bg_law){.given = bg_value_exists(v), .nown = nown, .model = v->reader->model};
    if (!law->given)
        return;
    const char **names = collect_names(v->reader, own, nown);
    const bg_variables all = {names, count_names(law->model, nown), nown};
    bg_expression *first = names ? bg_value_compile(v, &all, NULL, 0) : NULL;
    if (first)
        compile_used(v, first, names, law);
    if (law->expression)
        bg_value_note_corner(v, bg_expression_find_corner(law->expression));
    bg_expression_destroy(first);
    free(names);
    if (v->reader->status == BG_OK)
        find_outputs(v, law);
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
    free(law->output);
    *law = (bg_law){0};
}

static int find_body(const int *body, int n, int wanted)
{
    int k = 0;
    while (k < n && body[k] != wanted)
        k++;
    return k;
}

int bg_law_add_bodies(const bg_value *v, const bg_law *law, int *body, int n)
{
    for (int k = 0; k < law->noutputs && v->reader->status == BG_OK; k++) {
        const bg_output *o = &law->model->outputs[law->output[k]];
        int seen[2];
        const int count = o->expression ? 0 : bg_sensor_get_bodies(o, seen);
        for (int i = 0; i < count; i++) {
            if (seen[i] == 0 || find_body(body, n, seen[i]) < n)
                continue;
            if (n < BG_FORCE_BODIES)
                body[n++] = seen[i];
            else
                bg_value_fail(v,
                              "involves more than %d bodies, its own and those of the outputs it "
                              "uses; share the law among several elements",
                              BG_FORCE_BODIES);
        }
    }
    return n;
}

static double evaluate(const bg_expression *e, const bg_world *w, const double *values)
{
    if (w->side)
        bg_expression_mix_side(e, values, w->side);
    return bg_expression_calc(e, values);
}

/* Values of the outputs the law needs, and t behind them all, into the world's scratch. */
static void measure(const bg_law *law, const bg_world *w)
{
    const bg_model *m = law->model;
    double *values = w->measured;
    if (law->noutputs == 0)
        return;
    values[m->noutputs] = w->t;
    for (int k = 0; k < law->noutputs; k++) {
        const bg_output *o = &m->outputs[law->output[k]];
        values[law->output[k]] = o->expression ? evaluate(o->expression, w, values)
                                               : bg_sensor_calc(o, w);
    }
}

static void collect_values(const bg_law *law, const bg_world *w, const double *own, double *values)
{
    measure(law, w);
    for (int k = 0; k < law->n; k++) {
        const int i = law->source[k], output = get_output(law, i);
        values[k] = output >= 0      ? w->measured[output]
                    : i < law->nown  ? own[i]
                    : i == law->nown ? w->t
                                     : w->u[i - law->nown - 1];
    }
}

double bg_law_calc(const bg_law *law, const bg_world *w, const double *own)
{
    if (!law->expression)
        return law->constant;
    double values[BG_LAW_VARIABLES];
    collect_values(law, w, own, values);
    return evaluate(law->expression, w, values);
}

/* Adds a times the gradient of a sensor. */
static void add_sensor(const bg_output *o, const bg_world *w, double a, bg_slope *slope)
{
    slope->used = true;
    int body[2];
    double by[2][12];
    const int n = bg_sensor_get_bodies(o, body);
    bg_sensor_calc_gradient(o, w, by);
    for (int i = 0; i < n; i++) {
        const int k = find_body(slope->body, slope->n, body[i]);
        for (int c = 0; c < 12 && k < slope->n; c++)
            slope->by[k][c] += a * by[i][c];
    }
}

/* Back through the outputs, whose values and first adjoints are in the scratch. Returns the rate
 * through t and signals. */
static double propagate(const bg_law *law, const bg_world *w, bg_slope *slope)
{
    const bg_model *m = law->model;
    double *values = w->measured, *adjoint = values + m->noutputs + 1;
    double *gradient = adjoint + m->noutputs + 1, rate = 0;
    for (int k = law->noutputs - 1; k >= 0; k--) {
        const bg_output *o = &m->outputs[law->output[k]];
        const double a = adjoint[law->output[k]];
        const int *used;
        if (a == 0)
            continue;
        if (o->kind == BG_OUTPUT_SIGNAL)
            rate += a * w->u_t[o->index];
        else if (!o->expression && slope)
            add_sensor(o, w, a, slope);
        if (!o->expression)
            continue;
        bg_expression_calc_gradient(o->expression, values, gradient);
        const int n = bg_expression_get_variables(o->expression, &used);
        for (int i = 0; i < n; i++)
            adjoint[used[i]] += a * gradient[i];
    }
    return rate + adjoint[m->noutputs];
}

double bg_law_calc_gradient(const bg_law *law, const bg_world *w, const double *own, double *by_own,
                            double *rate, bg_slope *slope)
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
    const int noutputs = law->model->noutputs;
    double *adjoint = law->noutputs > 0 ? w->measured + noutputs + 1 : NULL;
    if (adjoint)
        memset(adjoint, 0, ((size_t)noutputs + 1) * sizeof *adjoint);
    for (int k = 0; k < law->n; k++) {
        const int i = law->source[k], output = get_output(law, i);
        if (output >= 0)
            adjoint[output] = gradient[k];
        else if (i < law->nown)
            by_own[i] = gradient[k];
        else
            r += gradient[k] * (i == law->nown ? 1.0 : w->u_t[i - law->nown - 1]);
    }
    if (adjoint)
        r += propagate(law, w, slope);
    if (rate)
        *rate = r;
    return y;
}

bg_slope bg_slope_make(const int *body, int n)
{
    return (bg_slope){.n = n, .body = body};
}

double bg_slope_vary(const bg_slope *slope, const bg_variation *d)
{
    double sum = 0;
    for (int k = 0; k < slope->n && slope->used; k++) {
        const double *by = slope->by[k];
        sum += bg_dot(bg_vec3_load(by), d[k].dr) + bg_dot(bg_vec3_load(by + 3), d[k].dtheta) +
               bg_dot(bg_vec3_load(by + 6), d[k].dv) + bg_dot(bg_vec3_load(by + 9), d[k].dw);
    }
    return sum;
}
