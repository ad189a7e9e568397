/* Names in a model file and what refers to them: bodies, joints, signals, points of bodies, and the
 * variables and parameters of expressions. */
#include "model/read.h"

#include "base/text.h"
#include "model/scope.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LENGTH = 63 };

static const char *const nouns[BG_NAME_KINDS] = {"parameter", "input",  "body",  "joint",
                                                 "force",     "output", "track", "profile"};

/* A unit, and the usual name for how many there are: the only unit that a parameter may be called.
 */
static const char count_name[] = "N";

/* "a body", "an input" */
static const char *get_article(bg_name_kind kind)
{
    return kind == BG_NAME_SIGNAL || kind == BG_NAME_OUTPUT ? "an" : "a";
}

static bool is_identifier(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!(isascii(*c) && (isalpha((unsigned char)*c) || *c == '_' ||
                              (c > name && isdigit((unsigned char)*c)))))
            return false;
    return *name != '\0';
}

static bool check_name(const bg_value *v, bg_name_kind kind, const char *name)
{
    const char *noun = nouns[kind], *a = get_article(kind);
    if (*name == '\0')
        bg_value_fail(v, "the name of %s %s must not be empty", a, noun);
    else if (strlen(name) > NAME_LENGTH)
        bg_value_fail(v, "the name of %s %s must not be longer than %d bytes", a, noun,
                      NAME_LENGTH);
    else if (kind == BG_NAME_PARAMETER || kind == BG_NAME_SIGNAL) {
        if (!is_identifier(name))
            bg_value_fail(v,
                          "the name of %s %s may have letters, digits and _ only, so that "
                          "expressions can use it",
                          a, noun);
        else if (strcmp(name, "t") == 0 ||
                 (bg_expression_has_name(name) &&
                  !(kind == BG_NAME_PARAMETER && strcmp(name, count_name) == 0)))
            bg_value_fail(v,
                          "'%s' already has a meaning in expressions (unit, constant or function); "
                          "choose another name",
                          name);
    } else {
        for (const char *c = name; *c; c++)
            if (strchr(".[]={}\"", *c) || iscntrl((unsigned char)*c)) {
                bg_value_fail(v, "the name of %s %s must not have any of . [ ] = { } \" in it", a,
                              noun);
                break;
            }
    }
    return v->reader->status == BG_OK;
}

void bg_reader_register(const bg_value *v, bg_name_kind kind, const char *name, int index)
{
    /* components of vector outputs are named NAME.x by the reader itself */
    if (v->reader->status == BG_OK && (kind == BG_NAME_OUTPUT || check_name(v, kind, name)))
        bg_reader_register_part(v, kind, name, index);
}

void bg_reader_register_part(const bg_value *v, bg_name_kind kind, const char *name, int index)
{
    bg_reader *reader = v->reader;
    if (reader->status != BG_OK)
        return;
    char buffer[NAME_LENGTH + 1];
    const char *full = bg_scope_write_name(v->scope, name, buffer, sizeof buffer);
    if (!reader->names[kind])
        reader->names[kind] = json_object();
    if (!full)
        bg_value_fail(
            v,
            "its name in the model, '%.80s%.80s', is longer than %d bytes; shorten it, or "
            "that of the part's use",
            v->scope->prefix, name, NAME_LENGTH);
    else if (v->scope && json_object_get(v->scope->connect, name))
        bg_value_fail(v, "is also a name in 'connect' of '%.*s'; choose another one",
                      (int)strlen(v->scope->prefix) - 1, v->scope->prefix);
    else if (json_object_get(reader->names[kind], full))
        bg_value_fail(v, "there is another %s of this name", nouns[kind]);
    else if (json_object_set_new(reader->names[kind], full, json_integer(index)))
        bg_reader_fail_memory(reader);
}

int bg_reader_find(const bg_reader *reader, bg_name_kind kind, const char *name)
{
    const json_t *index = json_object_get(reader->names[kind], name);
    return index ? (int)json_integer_value(index) : INT_MIN;
}

/* NAME of "parameters.NAME", or NULL. */
static const char *skip_section(const char *name)
{
    static const char section[] = "parameters.";
    return strncmp(name, section, sizeof section - 1) == 0 ? name + sizeof section - 1 : NULL;
}

int bg_reader_find_parameter(bg_reader *reader, const bg_scope *scope, const char *name)
{
    const char *inside = skip_section(name);
    int p = bg_scope_find(reader, scope, BG_NAME_PARAMETER, inside ? inside : name);
    if (p >= 0)
        reader->parameter_used[p] = true;
    return p;
}

bool bg_reader_is_ambiguous(const bg_reader *reader, const bg_scope *scope, const char *name)
{
    return strcmp(name, count_name) == 0 &&
           bg_scope_find(reader, scope, BG_NAME_PARAMETER, name) >= 0;
}

void bg_value_fail_ambiguous(const bg_value *v)
{
    bg_value_fail(v, "'N' is both a parameter and the unit newton; write parameters.N for the "
                     "parameter, and leave the unit out, which is 1");
}

/* Names of a kind as they are called at v, as an array of *n, to be released with free(); NULL: out
 * of memory. In a part: its own, and what it is connected with. */
static const char **list_names(const bg_value *v, bg_name_kind kind, int extra, int *n)
{
    const bg_scope *s = v->scope;
    json_t *object = v->reader->names[kind], *connect = s ? s->connect : NULL;
    const size_t room = json_object_size(object) + json_object_size(connect) + (size_t)extra;
    const char **list = bg_reader_allocate(v->reader, room, sizeof *list);
    *n = 0;
    for (void *i = json_object_iter(object); list && i; i = json_object_iter_next(object, i)) {
        const char *name = json_object_iter_key(i), *own = bg_scope_strip(s, name);
        if (!s || own != name || strcmp(name, "ground") == 0)
            list[(*n)++] = own;
    }
    for (void *i = json_object_iter(connect); list && i; i = json_object_iter_next(connect, i))
        list[(*n)++] = json_object_iter_key(i);
    return list;
}

/* Whether a part names something that is around it, but that nobody has connected; fails then. */
static bool fail_unconnected(const bg_value *v, bg_name_kind kind, const char *name)
{
    for (const bg_scope *s = v->scope; s; s = s->outer) {
        if (bg_scope_find(v->reader, s->outer, kind, name) == INT_MIN)
            continue;
        bg_value_fail(
            v,
            "%s '%.80s' is not in the part but around it; let the use of the part connect "
            "it: \"connect\": {\"%.80s\": \"%.80s\"}",
            nouns[kind], name, name, name);
        return true;
    }
    return false;
}

int bg_value_find(const bg_value *v, bg_name_kind kind, const char *name)
{
    if (v->reader->status != BG_OK)
        return 0;
    int index = bg_scope_find(v->reader, v->scope, kind, name);
    if (index >= 0 && kind == BG_NAME_BODY)
        v->reader->body_attached[index] = true;
    if (index != INT_MIN)
        return index;
    const bg_value connect = v->scope ? bg_value_member(&v->scope->use, "connect") : *v;
    const bg_value other = bg_value_member(&connect, name);
    if (v->scope && bg_value_exists(&other)) /* the use of the part connects it with nothing */
        return bg_value_find(&other, kind, json_string_value(other.json));
    if (fail_unconnected(v, kind, name))
        return 0;
    int n;
    const char **list = list_names(v, kind, 0, &n);
    if (list)
        bg_value_fail_unknown(v, nouns[kind], name, list, n);
    free(list);
    return 0;
}

int bg_value_body(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_expect_text(&v) ? bg_value_find(&v, BG_NAME_BODY, json_string_value(v.json))
                                    : 0;
}

int bg_value_joint(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    if (!bg_value_expect_text(&v))
        return 0;
    const char *name = json_string_value(v.json);
    int joint = bg_value_find(&v, BG_NAME_JOINT, name);
    if (joint >= 0)
        return joint;
    bg_value_fail(&v, "'%s' is a relation between joints, not a joint between bodies", name);
    return 0;
}

int bg_value_signal(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    if (!bg_value_exists(&v))
        return -1;
    return bg_value_expect_text(&v) ? bg_value_find(&v, BG_NAME_SIGNAL, json_string_value(v.json))
                                    : 0;
}

bg_marker bg_body_make_marker(const bg_model *model, int body, bg_vec3 r, const bg_mat3 *axes)
{
    bg_frame back = bg_frame_inverse(&model->bodies[body].pose), world = {r, *axes};
    return (bg_marker){body, bg_frame_multiply(&back, &world)};
}

/* "BODY.POINT" or "BODY"; bodies of parts have dots in their names, points have none. */
static bg_marker find_point(const bg_value *v, const char *text)
{
    const bg_model *m = v->reader->model;
    const bg_mat3 axes = bg_mat3_identity();
    const bool is_body = bg_scope_find(v->reader, v->scope, BG_NAME_BODY, text) != INT_MIN;
    const char *dot = is_body ? NULL : strrchr(text, '.');
    char name[NAME_LENGTH + 1];
    if (dot)
        snprintf(name, sizeof name, "%.*s",
                 (int)(dot - text < NAME_LENGTH ? dot - text : NAME_LENGTH), text);
    int body = bg_value_find(v, BG_NAME_BODY, dot ? name : text);
    const bg_body *b = &m->bodies[body];
    bg_marker centre = bg_body_make_marker(m, body, b->pose.r, &axes);
    if (!dot || v->reader->status != BG_OK)
        return centre;
    for (int k = 0; k < b->npoints; k++)
        if (strcmp(b->points[k].name, dot + 1) == 0) {
            centre.frame.r = b->points[k].r;
            return centre;
        }
    const char **list = bg_reader_allocate(v->reader, (size_t)b->npoints, sizeof *list);
    for (int k = 0; list && k < b->npoints; k++)
        list[k] = b->points[k].name;
    char noun[NAME_LENGTH + 32];
    snprintf(noun, sizeof noun, "point of body '%s' called", b->name);
    if (list)
        bg_value_fail_unknown(v, noun, dot + 1, list, b->npoints);
    free(list);
    return centre;
}

bg_marker bg_value_get_marker(const bg_value *v)
{
    static const char *const keys[] = {"body", "at", NULL};
    bg_reader *reader = v->reader;
    const bg_mat3 axes = bg_mat3_identity();
    const bg_marker origin = {0, {{0, 0, 0}, axes}};
    if (reader->status != BG_OK)
        return origin;
    if (json_is_string(v->json))
        return find_point(v, json_string_value(v->json));
    if (json_is_array(v->json)) {
        bg_vec3 r = bg_value_get_place(v);
        reader->body_attached[0] = true;
        return bg_body_make_marker(reader->model, 0, r, &axes);
    }
    if (v->json && !json_is_object(v->json)) {
        bg_value_fail(v, "must be a point: \"BODY.POINT\", \"BODY\" or {\"body\", \"at\"}");
        return origin;
    }
    bg_value_expect(v, keys);
    int body = bg_value_body(v, "body");
    bg_vec3 r = bg_value_place(v, "at");
    return reader->status == BG_OK ? bg_body_make_marker(reader->model, body, r, &axes) : origin;
}

bg_marker bg_value_marker(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_get_marker(&v);
}

/* What an expression may refer to. */
typedef struct expression_scope {
    bg_reader *reader;
    const bg_scope *place; /* where the expression stands */
    const bg_variables *variables;
    const int *used; /* [nused] */
    int nused;
    char last[128]; /* the last name that was neither variable nor parameter */
    bool ambiguous; /* a name is both parameter and unit */
} expression_scope;

/* The number that the expression has for a variable among from .. to - 1 of the list; -1: none. */
static int find_variable(const expression_scope *s, int from, int to, const char *name)
{
    int k = from, i = 0;
    while (name && k < to && strcmp(s->variables->names[k], name) != 0)
        k++;
    if (!name || k == to)
        return -1;
    while (s->used && i < s->nused && s->used[i] != k)
        i++;
    return s->used ? i : k;
}

/* A variable or parameter of this place, or else of the next one around it that has one. */
static int resolve(void *self, const char *name, double *constant)
{
    expression_scope *s = self;
    const char *inside = skip_section(name), *called = inside ? inside : name;
    const bg_scope *at = s->place;
    const int nown = s->variables->nown;
    int k = find_variable(s, 0, nown, name);
    if (k >= 0)
        return k;
    s->ambiguous = s->ambiguous || bg_reader_is_ambiguous(s->reader, at, name);
    do {
        char buffer[256];
        const char *full = bg_scope_write_name(at, called, buffer, sizeof buffer);
        k = inside ? -1 : find_variable(s, nown, s->variables->n, full);
        if (k >= 0)
            return k;
        const int p = full ? bg_reader_find(s->reader, BG_NAME_PARAMETER, full) : -1;
        if (p >= 0) {
            s->reader->parameter_used[p] = true;
            *constant = s->reader->parameter_values[p];
            return -2;
        }
    } while (bg_scope_step_out(&at, &called));
    snprintf(s->last, sizeof s->last, "%s", name);
    return -1;
}

void bg_value_fail_expression(const bg_value *v, const char *last, const char *const *names, int n,
                              const bg_error *err)
{
    char unknown[160];
    snprintf(unknown, sizeof unknown, "unknown name '%s'", last);
    if (*last == '\0' || !strstr(err->text, unknown)) {
        bg_value_fail(v, "%s", err->text);
        return;
    }
    int count;
    const char **list = list_names(v, BG_NAME_PARAMETER, n, &count);
    if (!list)
        return;
    for (int k = 0; k < n; k++)
        list[count++] = bg_scope_strip(v->scope, names[k]);
    int near = bg_text_find_nearest(last, list, count);
    if (near >= 0 && bg_text_calc_distance(last, list[near]) < (int)strlen(last))
        bg_value_fail(v, "%s; did you mean '%s'?", unknown, list[near]);
    else
        bg_value_fail(v, "%s", err->text);
    free(list);
}

bg_expression *bg_value_get_expression(const bg_value *v, const char *const *names, int nnames)
{
    const bg_variables own = {names, nnames, nnames};
    return bg_value_compile(v, &own, NULL, 0);
}

bg_expression *bg_value_compile(const bg_value *v, const bg_variables *variables, const int *used,
                                int nused)
{
    bg_reader *reader = v->reader;
    char number[40];
    const char *text = json_string_value(v->json);
    if (reader->status != BG_OK)
        return NULL;
    if (json_is_number(v->json)) {
        bg_text_print(json_number_value(v->json), number, sizeof number);
        text = number;
    }
    if (!text) {
        bg_value_fail(v, v->json ? "must be a number or an expression" : "is missing");
        return NULL;
    }
    expression_scope s = {
        .reader = reader, .place = v->scope, .variables = variables, .used = used, .nused = nused};
    bg_expression *e = NULL;
    bg_error err = {0};
    bg_status st = bg_expression_create(text, resolve, &s, &e, &err);
    if (st == BG_NO_MEMORY)
        bg_reader_fail_memory(reader);
    else if (st != BG_OK)
        bg_value_fail_expression(v, s.last, variables->names, variables->n, &err);
    else if (s.ambiguous)
        bg_value_fail_ambiguous(v);
    if (reader->status == BG_OK)
        return e;
    bg_expression_destroy(e);
    return NULL;
}

bg_expression *bg_value_expression(const bg_value *object, const char *key,
                                   const char *const *names, int nnames)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_exists(&v) ? bg_value_get_expression(&v, names, nnames) : NULL;
}
