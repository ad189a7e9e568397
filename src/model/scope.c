#include "model/scope.h"

#include "model/read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 256 };

bg_placement bg_placement_make(void)
{
    return (bg_placement){{0, 0, 0}, bg_mat3_identity(), 1, {1, 1, 1}};
}

bg_placement bg_placement_multiply(const bg_placement *outer, const bg_placement *inner)
{
    bg_placement p = {bg_add(outer->r, bg_rotate(&outer->M, inner->r)),
                      bg_mat3_multiply(&outer->M, &inner->M),
                      outer->det * inner->det,
                      {0}};
    for (int k = 0; k < 3; k++)
        p.flip[k] = outer->flip[k] * inner->flip[k];
    return p;
}

bg_vec3 bg_scope_move(const bg_scope *s, bg_vec3 place)
{
    return s ? bg_add(s->placement.r, bg_rotate(&s->placement.M, place)) : place;
}

bg_vec3 bg_scope_turn(const bg_scope *s, bg_vec3 x)
{
    return s ? bg_rotate(&s->placement.M, x) : x;
}

bg_vec3 bg_scope_turn_axial(const bg_scope *s, bg_vec3 x)
{
    return s ? bg_scale(s->placement.det, bg_rotate(&s->placement.M, x)) : x;
}

bg_mat3 bg_scope_turn_frame(const bg_scope *s, const bg_mat3 *F, const double flip[3])
{
    if (!s)
        return *F;
    bg_mat3 A = bg_mat3_multiply(&s->placement.M, F);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A.m[i][j] *= flip[j];
    return A;
}

bg_mat3 bg_scope_turn_axes(const bg_scope *s, const bg_mat3 *A)
{
    return s ? bg_scope_turn_frame(s, A, s->placement.flip) : *A;
}

double bg_scope_get_handedness(const bg_scope *s)
{
    return s ? s->placement.det : 1;
}

bool bg_scope_is_along(const bg_scope *s, double sign[3])
{
    const double near = 1e-9;
    bool along = true;
    for (int i = 0; i < 3; i++)
        sign[i] = s && s->placement.M.m[i][i] < 0 ? -1 : 1;
    for (int i = 0; i < 3 && s; i++)
        for (int j = 0; j < 3; j++)
            along = along && fabs(s->placement.M.m[i][j] - (i == j ? sign[i] : 0)) < near;
    return along && sign[2] > 0;
}

double bg_scope_get_flip(const bg_scope *s, int k)
{
    return s ? s->placement.flip[k] : 1;
}

/* Decimal digits that a number needs to be what it is. */
static int count_digits(double x)
{
    char text[32];
    for (int n = 1; n < BG_DIGITS_MAX; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, x);
        if (strtod(text, NULL) == x)
            return n;
    }
    return BG_DIGITS_MAX;
}

/* With how many digits places are written, and how far from the origin. */
static void note_digits(bg_model *m, bg_vec3 written, bg_vec3 place)
{
    const double x[] = {written.x, written.y, written.z};
    for (int i = 0; i < 3; i++) {
        int n = isfinite(x[i]) ? count_digits(x[i]) : 0;
        m->digits = n > m->digits ? n : m->digits;
    }
    m->farthest = fmax(m->farthest, bg_length(place));
}

bg_vec3 bg_value_get_place(const bg_value *v)
{
    bg_vec3 written = bg_value_get_vec3(v), place = bg_scope_move(v->scope, written);
    note_digits(v->reader->model, written, place);
    return place;
}

bg_vec3 bg_value_place(const bg_value *object, const char *key)
{
    const bg_value v = bg_value_member(object, key);
    return bg_value_get_place(&v);
}

const char *bg_scope_write_name(const bg_scope *s, const char *name, char *buffer, size_t size)
{
    if (!s)
        return name;
    const int n = snprintf(buffer, size, "%s%s", s->prefix, name);
    return n >= 0 && (size_t)n < size ? buffer : NULL;
}

char *bg_value_copy_name(const bg_value *v)
{
    return bg_value_copy_part_name(v, v->key);
}

char *bg_value_copy_part_name(const bg_value *v, const char *part)
{
    char *name;
    if (asprintf(&name, "%s%s", v->scope ? v->scope->prefix : "", part) >= 0)
        return name;
    bg_reader_fail_memory(v->reader);
    return NULL;
}

const char *bg_scope_strip(const bg_scope *s, const char *name)
{
    const size_t n = s ? strlen(s->prefix) : 0;
    return n > 0 && strncmp(name, s->prefix, n) == 0 ? name + n : name;
}

bool bg_scope_step_out(const bg_scope **s, const char **name)
{
    if (!*s)
        return false;
    const char *connected = json_string_value(json_object_get((*s)->connect, *name));
    if ((*s)->asked && json_object_set_new((*s)->asked, *name, json_true()))
        bg_reader_fail_memory((*s)->use.reader);
    if (connected)
        *name = connected;
    *s = (*s)->outer;
    return true;
}

int bg_scope_find(const bg_reader *reader, const bg_scope *s, bg_name_kind kind, const char *name)
{
    const bool outward = kind == BG_NAME_PARAMETER || kind == BG_NAME_SIGNAL ||
                         kind == BG_NAME_OUTPUT || kind == BG_NAME_TRACK || kind == BG_NAME_PROFILE;
    for (;;) {
        char buffer[NAME];
        if (kind == BG_NAME_BODY && strcmp(name, "ground") == 0)
            return 0;
        const char *full = bg_scope_write_name(s, name, buffer, sizeof buffer), *before = name;
        const int index = full ? bg_reader_find(reader, kind, full) : INT_MIN;
        if (index != INT_MIN || !bg_scope_step_out(&s, &name))
            return index;
        if (!outward && name == before)
            return INT_MIN;
    }
}

bool bg_reader_next_section(bg_reader *reader, const char *key, bool inner_first, int *k,
                            bg_value *section)
{
    while (*k <= reader->nscopes && reader->status == BG_OK) {
        const int place = (*k)++;
        const bg_value *top = reader->top;
        if (inner_first && place < reader->nscopes)
            top = &reader->finished[place]->top;
        else if (!inner_first && place > 0)
            top = &reader->scopes[place - 1]->top;
        *section = bg_value_member(top, key);
        if (bg_value_exists(section))
            return bg_value_expect_object(section);
    }
    return false;
}

size_t bg_reader_count(const bg_reader *reader, const char *key)
{
    size_t n = json_object_size(json_object_get(reader->top->json, key));
    for (int k = 0; k < reader->nscopes; k++)
        n += json_object_size(json_object_get(reader->scopes[k]->top.json, key));
    return n;
}

/* Whether a text of the part has the name in it as a word; comments and keys do not count. */
static bool mentions(const json_t *json, const char *name)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                       "0123456789";
    const size_t n = strlen(name);
    const char *text = json_string_value(json), *key;
    for (const char *at = text; at && (at = strstr(at, name)); at++)
        if ((at == text || !strchr(letters, at[-1])) && (!at[n] || !strchr(letters, at[n])))
            return true;
    size_t i;
    json_t *value;
    json_array_foreach((json_t *)json, i, value)
    {
        if (mentions(value, name))
            return true;
    }
    json_object_foreach((json_t *)json, key, value)
    {
        if (strcmp(key, "comment") != 0 && mentions(value, name))
            return true;
    }
    return false;
}

/* A name may be mentioned and yet not asked for, where a parameter repeats something no times. */
static void check_connected(const bg_scope *s, const bg_value *v)
{
    if (json_object_get(s->asked, v->key) || mentions(s->part, v->key))
        return;
    const size_t room = json_object_size(s->asked) + 1;
    const char **names = bg_reader_allocate(v->reader, room, sizeof *names);
    int n = 0;
    for (void *i = json_object_iter(s->asked); names && i; i = json_object_iter_next(s->asked, i))
        names[n++] = json_object_iter_key(i);
    if (names)
        bg_value_fail_unknown(v, "use in the part of", v->key, names, n);
    free(names);
}

void bg_scopes_check(bg_reader *reader)
{
    for (int k = 0; k < reader->nscopes && reader->status == BG_OK; k++) {
        const bg_scope *s = reader->scopes[k];
        const bg_value connect = bg_value_member(&s->use, "connect");
        bg_value v;
        for (void *i = NULL; s->connect && bg_value_next(&connect, &i, &v);)
            check_connected(s, &v);
    }
}

void bg_scopes_clear(bg_reader *reader)
{
    for (int k = 0; k < reader->nscopes; k++) {
        bg_scope *s = reader->scopes[k];
        json_decref((json_t *)s->part);
        json_decref(s->top.json);
        json_decref(s->asked);
        free(s->prefix);
        free(s->path);
        free(s);
    }
    free(reader->scopes);
    free(reader->finished);
    for (int k = 0; k < reader->nfiles; k++)
        free(reader->files[k].path);
    free(reader->files);
}
