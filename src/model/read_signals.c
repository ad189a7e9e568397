/* "inputs": signals of time. A number or an expression of t stands for the whole object; else
 * "type" says what the members mean (docs/model.md). */
#include "model/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const time_name[] = {"t"};

static void read_constant(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "value", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SIGNAL_CONSTANT;
    s->a = bg_value_number(v, "value");
}

static void read_ramp(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "from", "slope", "t0", "t1", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SIGNAL_RAMP;
    s->a = bg_value_number_or(v, "from", 0);
    s->slope = bg_value_number(v, "slope");
    s->t0 = bg_value_number_or(v, "t0", 0);
    s->t1 = bg_value_number_or(v, "t1", INFINITY);
}

static void read_step(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "from", "to", "t0", "t1", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SIGNAL_STEP;
    s->a = bg_value_number_or(v, "from", 0);
    s->b = bg_value_number(v, "to");
    s->t0 = bg_value_number_or(v, "t0", 0);
    s->t1 = bg_value_number(v, "t1");
}

static void read_jump(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "from", "to", "t0", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SIGNAL_JUMP;
    s->a = bg_value_number_or(v, "from", 0);
    s->b = bg_value_number(v, "to");
    s->t0 = bg_value_number(v, "t0");
}

static void read_sine(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "amplitude", "frequency", "phase", "offset", NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SIGNAL_SINES;
    s->n = 1;
    s->x = bg_reader_allocate(v->reader, 1, sizeof *s->x);
    s->y = bg_reader_allocate(v->reader, 1, sizeof *s->y);
    s->c = bg_reader_allocate(v->reader, 1, sizeof *s->c);
    s->offset = bg_value_number_or(v, "offset", 0);
    if (!s->x || !s->y || !s->c)
        return;
    s->x[0] = bg_value_number(v, "frequency");
    s->y[0] = bg_value_number(v, "amplitude");
    s->c[0] = bg_value_angle_or(v, "phase", 0);
}

static void read_sines(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type",   "amplitudes", "frequencies",
                                       "phases", "offset",     NULL};
    bg_value_expect(v, keys);
    bg_value phases = bg_value_member(v, "phases");
    s->kind = BG_SIGNAL_SINES;
    s->x = bg_value_numbers(v, "frequencies", -1, &s->n);
    s->y = bg_value_numbers(v, "amplitudes", s->n, NULL);
    if (bg_value_exists(&phases))
        s->c = bg_value_numbers(v, "phases", s->n, NULL);
    for (int k = 0; k < bg_value_get_size(&phases); k++) {
        const bg_value angle = bg_value_element(&phases, k);
        bg_value_get_angle(&angle);
    }
    s->offset = bg_value_number_or(v, "offset", 0);
}

static void read_chirp(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "amplitude", "frequencies", "t0",
                                       "t1",   "phase",     NULL};
    bg_value_expect(v, keys);
    s->kind = BG_SIGNAL_CHIRP;
    s->slope = bg_value_number(v, "amplitude");
    s->offset = bg_value_angle_or(v, "phase", 0);
    s->t0 = bg_value_number_or(v, "t0", 0);
    s->t1 = bg_value_number(v, "t1");
    double *f = bg_value_numbers(v, "frequencies", 2, NULL);
    s->a = f ? f[0] : 0;
    s->b = f ? f[1] : 0;
    free(f);
}

/* Puts what a file holds in its place, so that the content of the model needs no other file. */
static void write_out(const bg_value *v, const bg_signal *s)
{
    json_t *times = json_array(), *values = json_array();
    bool good = times && values;
    for (int k = 0; good && k < s->n; k++)
        good = json_array_append_new(times, json_real(s->x[k])) == 0 &&
               json_array_append_new(values, json_real(s->y[k])) == 0;
    good = json_object_set(v->json, "times", times) == 0 && good;
    good = json_object_set(v->json, "values", values) == 0 && good;
    json_decref(times);
    json_decref(values);
    if (good)
        json_object_del(v->json, "file");
    else
        bg_reader_fail_memory(v->reader);
}

static void read_table(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "times", "values", "file", "interpolation", NULL};
    static const char *const kinds[] = {"spline", "linear", NULL};
    bg_reader *reader = v->reader;
    bg_value_expect(v, keys);
    s->kind = bg_value_choice(v, "interpolation", kinds, 0) == 0 ? BG_SIGNAL_SPLINE
                                                                 : BG_SIGNAL_LINEAR;
    bg_value file = bg_value_member(v, "file"), times = bg_value_member(v, "times");
    if (bg_value_exists(&file) && bg_value_exists(&times)) {
        bg_value_fail(v, "has both 'file' and 'times'; give one of them");
    } else if (bg_value_exists(&file)) {
        const char *name = bg_value_text(v, "file");
        char *path = reader->status == BG_OK ? bg_value_find_file(v, name) : NULL;
        bg_error err = {0};
        bg_status st = path ? bg_signal_read_csv(s, path, &err) : BG_OK;
        if (st == BG_NO_MEMORY)
            bg_reader_fail_memory(reader);
        else if (st != BG_OK)
            bg_value_fail(&file, "%s", err.text);
        else if (path)
            write_out(v, s);
        free(path);
    } else {
        s->x = bg_value_numbers(v, "times", -1, &s->n);
        s->y = bg_value_numbers(v, "values", s->n, NULL);
    }
}

static void read_expression(const bg_value *v, bg_signal *s)
{
    static const char *const keys[] = {"type", "expression", NULL};
    bg_value_expect(v, keys);
    bg_value expression = bg_value_member(v, "expression");
    s->kind = BG_SIGNAL_EXPRESSION;
    s->expression = bg_value_get_expression(&expression, time_name, 1);
}

static void read_signal(const bg_value *v, bg_signal *s)
{
    static const char *const names[] = {"constant", "ramp",  "step",  "jump",       "sine",
                                        "sines",    "chirp", "table", "expression", NULL};
    static void (*const readers[])(const bg_value *, bg_signal *) = {
        read_constant, read_ramp,  read_step,  read_jump,      read_sine,
        read_sines,    read_chirp, read_table, read_expression};
    if (json_is_object(v->json)) {
        int type = bg_value_choice(v, "type", names, -1);
        if (v->reader->status == BG_OK)
            readers[type](v, s);
    } else {
        s->kind = BG_SIGNAL_EXPRESSION;
        s->expression = bg_value_get_expression(v, time_name, 1);
    }
    if (s->expression && bg_expression_is_constant(s->expression)) {
        s->kind = BG_SIGNAL_CONSTANT;
        s->a = bg_expression_calc(s->expression, NULL);
        bg_expression_destroy(s->expression);
        s->expression = NULL;
    }
    if (s->expression)
        bg_value_note_corner(v, bg_expression_find_corner(s->expression));
}

static void read_one(const bg_value *v)
{
    bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    bg_signal *s = &m->signals[m->nsignals];
    bg_reader_register(v, BG_NAME_SIGNAL, v->key, m->nsignals++);
    s->name = bg_value_copy_name(v);
    if (reader->status == BG_OK)
        read_signal(v, s);
    bg_error err = {0};
    bg_status st = reader->status == BG_OK ? bg_signal_prepare(s, &err) : BG_OK;
    if (st == BG_NO_MEMORY)
        bg_reader_fail_memory(reader);
    else if (st != BG_OK)
        bg_value_fail(v, "%s", err.text);
}

void bg_read_signals(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value section, v;
    const size_t own = BG_TRACK_PARTS * bg_read_count_frames(reader) +
                       bg_read_count_rolling(reader);
    m->signals = bg_reader_allocate(reader, bg_reader_count(reader, "inputs") + own,
                                    sizeof *m->signals);
    for (int k = 0; bg_reader_next_section(reader, "inputs", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            read_one(&v);
}
