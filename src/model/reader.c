/* Values of a model file: places with a path, numbers, texts, vectors and lists.
 *
 * A failure is kept in the reader with its place; from then on every function returns a harmless
 * value of its kind (0, 1 for what must be positive, "", a unit vector), so that readers need not
 * check each call. */
#include "model/read.h"

#include "base/memory.h"
#include "base/text.h"
#include "model/scope.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_LENGTH = 320, SENTENCE_LENGTH = 640, HINT_LENGTH = 240 };

/* Writes the way to v, e.g. "joints.crank.axis[1]", from the top of its file; returns its length,
 * cut off at size - 1. */
static size_t write_path(const bg_value *v, char *buffer, size_t size)
{
    buffer[0] = '\0';
    size_t n = v->parent ? write_path(v->parent, buffer, size) : 0;
    int k = !v->parent ? snprintf(buffer, size, "%s", v->scope ? v->scope->path : "")
            : v->key   ? snprintf(buffer + n, size - n, "%s%s", n > 0 ? "." : "", v->key)
                       : snprintf(buffer + n, size - n, "[%d]", v->index);
    n += k > 0 ? (size_t)k : 0;
    return n < size ? n : size - 1;
}

/* Which of the uses of a part is meant: " (used as 'front.left')". */
static void note_use(const bg_scope *s, char *path, size_t size)
{
    const size_t n = strlen(path);
    snprintf(path + n, size - n, "%s(used as '%.*s')", n > 0 ? " " : "", (int)strlen(s->prefix) - 1,
             s->prefix);
}

const char *bg_value_get_origin(const bg_value *v)
{
    return v->scope ? v->scope->origin : v->reader->origin;
}

bg_status bg_value_fail(const bg_value *v, const char *format, ...)
{
    bg_reader *reader = v->reader;
    if (reader->status != BG_OK)
        return reader->status;
    char path[PATH_LENGTH], sentence[SENTENCE_LENGTH];
    write_path(v, path, sizeof path);
    if (v->scope && v->scope->prefix)
        note_use(v->scope, path, sizeof path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    reader->status = BG_BAD_INPUT;
    const char *file = bg_value_get_origin(v);
    const bool other = file != reader->origin; /* a part in a file of its own */
    return bg_error_set(reader->err, BG_BAD_INPUT, "%s: %s%s%s%s%s", reader->origin,
                        other ? file : "", other ? ": " : "", path, *path ? ": " : "", sentence);
}

void bg_value_note_corner(const bg_value *v, const char *what)
{
    bg_model *m = v->reader->model;
    char path[PATH_LENGTH];
    if (!what || m->ncorners++ > 0)
        return;
    write_path(v, path, sizeof path);
    snprintf(m->corner, sizeof m->corner, "%.64s (%s)", path, what);
}

void bg_reader_fail_memory(bg_reader *reader)
{
    if (reader->status == BG_OK)
        reader->status = bg_error_set(reader->err, BG_NO_MEMORY,
                                      "%s: not enough memory to read the model", reader->origin);
}

void bg_reader_warn(bg_reader *reader, bg_verdict verdict, const char *topic, const char *format,
                    ...)
{
    char sentence[BG_WARNING_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    bg_warnings *list = &reader->model->warnings;
    bg_warnings_add(list, verdict, topic, "%s", sentence);
    if (list->lost > 0)
        bg_reader_fail_memory(reader);
}

void *bg_reader_allocate(bg_reader *reader, size_t count, size_t size)
{
    void *memory = bg_calloc(count, size);
    if (!memory)
        bg_reader_fail_memory(reader);
    return memory;
}

char *bg_reader_copy(bg_reader *reader, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        bg_reader_fail_memory(reader);
    return copy;
}

bool bg_value_exists(const bg_value *v)
{
    return v->json != NULL;
}

bg_value bg_value_member(const bg_value *object, const char *key)
{
    return (bg_value){object->reader, json_object_get(object->json, key), object, key, 0,
                      object->scope};
}

bg_value bg_value_element(const bg_value *array, int index)
{
    json_t *json = index >= 0 ? json_array_get(array->json, (size_t)index) : NULL;
    return (bg_value){array->reader, json, array, NULL, index, array->scope};
}

int bg_value_get_size(const bg_value *v)
{
    size_t n = json_is_array(v->json) ? json_array_size(v->json) : json_object_size(v->json);
    return n < INT_MAX ? (int)n : INT_MAX;
}

static const char *describe(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

/* The member of an object that may be a misspelt key, since another is missing; NULL: none. One
 * letter in three may be wrong, but not the only one. */
static const char *find_misspelt(const bg_value *object, const char *key)
{
    const char *best = NULL;
    int length = (int)strlen(key), least = length / 3 > 1 ? length / 3 : 1;
    bg_value member;
    if (!json_is_object(object->json) || object->json == object->reader->known || length < 2)
        return NULL;
    for (void *i = NULL; bg_value_next(object, &i, &member);) {
        int distance = bg_text_calc_distance(member.key, key);
        if (distance <= least && distance < (int)strlen(member.key)) {
            best = member.key;
            least = distance - 1;
        }
    }
    return best;
}

/* A required key that is looked at before all others, because it says which they may be, cannot be
 * told from a missing one where it is misspelt. */
static void fail_missing(const bg_value *v)
{
    const char *other = v->parent && v->key ? find_misspelt(v->parent, v->key) : NULL;
    if (other) {
        const bg_value member = bg_value_member(v->parent, other);
        bg_value_fail(&member, "unknown key '%.80s', did you mean '%.80s'? That one is missing",
                      other, v->key);
    } else {
        bg_value_fail(v, "is missing");
    }
}

/* Whether there is something to read: no failure so far, and v exists. */
static bool present(const bg_value *v)
{
    if (v->reader->status != BG_OK)
        return false;
    if (!v->json)
        fail_missing(v);
    return v->json != NULL;
}

static bool expect_type(const bg_value *v, bool right, const char *what)
{
    if (!right)
        bg_value_fail(v, "must be %s, not %s", what, describe(v->json));
    return right;
}

/* A text or a list of texts; its content is nobody's business. */
static void check_comment(const bg_value *v)
{
    bool right = json_is_string(v->json) || json_is_array(v->json);
    for (int k = 0; k < bg_value_get_size(v); k++)
        right = right && json_is_string(json_array_get(v->json, (size_t)k));
    if (!right)
        bg_value_fail(v, "must be a text or a list of texts, for it is a comment");
}

bool bg_value_next(const bg_value *object, void **iterator, bg_value *member)
{
    for (;;) {
        *iterator = *iterator ? json_object_iter_next(object->json, *iterator)
                              : json_object_iter(object->json);
        if (!*iterator || object->reader->status != BG_OK)
            return false;
        *member = bg_value_member(object, json_object_iter_key(*iterator));
        if (strcmp(member->key, "comment") != 0)
            return true;
        check_comment(member);
    }
}

static bool is_plain(const char *text)
{
    while ((text = bg_text_find_control(text)) && (*text == '\n' || *text == '\t'))
        text++;
    return !text;
}

void bg_value_check_texts(const bg_value *v)
{
    bg_value inside;
    if (v->key && bg_text_find_control(v->key))
        bg_value_fail(v, "its key has a control character in it; write it without");
    else if (json_is_string(v->json) && !is_plain(json_string_value(v->json)))
        bg_value_fail(v, "the text has a control character in it; write it without");
    for (int k = 0; json_is_array(v->json) && k < bg_value_get_size(v); k++) {
        inside = bg_value_element(v, k);
        if (v->reader->status == BG_OK && !json_is_number(inside.json))
            bg_value_check_texts(&inside);
    }
    for (void *i = NULL; json_is_object(v->json) && bg_value_next(v, &i, &inside);)
        bg_value_check_texts(&inside);
}

bool bg_value_expect_object(const bg_value *v)
{
    return present(v) && expect_type(v, json_is_object(v->json), "an object { }");
}

bool bg_value_expect_text(const bg_value *v)
{
    return present(v) && expect_type(v, json_is_string(v->json), "a text");
}

bool bg_value_expect_list(const bg_value *v, int n)
{
    if (!present(v) || !expect_type(v, json_is_array(v->json), "a list [ ]"))
        return false;
    if (n >= 0 && bg_value_get_size(v) != n) {
        bg_value_fail(v, "must have %d entries, not %d", n, bg_value_get_size(v));
        return false;
    }
    return true;
}

/* What may be meant by a text: "did you mean 'x'?" if one of names is near, else a list of them.
 * Not every letter may be wrong: for one or two letters almost anything is near. */
static const char *write_hint(const char *text, const char *const *names, int n, char *buffer,
                              size_t size)
{
    int near = bg_text_find_nearest(text, names, n);
    if (near >= 0 && bg_text_calc_distance(text, names[near]) < (int)strlen(text)) {
        snprintf(buffer, size, "did you mean '%.80s'?", names[near]);
        return buffer;
    }
    size_t used = (size_t)snprintf(buffer, size,
                                   n > 1   ? "there are"
                                   : n > 0 ? "there is"
                                           : "there are none");
    for (int k = 0; k < n && used < size; k++) {
        if (used + strlen(names[k]) + 10 > size) {
            snprintf(buffer + used, size - used, ", ...");
            break;
        }
        used += (size_t)snprintf(buffer + used, size - used, "%s '%s'", k > 0 ? "," : "", names[k]);
    }
    return buffer;
}

void bg_value_fail_unknown(const bg_value *v, const char *noun, const char *name,
                           const char *const *names, int n)
{
    char hint[HINT_LENGTH];
    bg_value_fail(v, "there is no %s '%.80s'; %s", noun, name,
                  write_hint(name, names, n, hint, sizeof hint));
}

/* Whether a key is another but for one letter, as 'stop' is for 'stops'. */
static bool is_slip(const char *key, const char *const *keys, int n)
{
    const int near = bg_text_find_nearest(key, keys, n);
    return near >= 0 && strlen(key) > 3 && bg_text_calc_distance(key, keys[near]) == 1;
}

void bg_value_expect(const bg_value *object, const char *const *keys)
{
    if (!bg_value_expect_object(object))
        return;
    int n = 0;
    while (keys[n])
        n++;
    bg_value member;
    for (void *i = NULL; bg_value_next(object, &i, &member);) {
        int k = 0;
        while (k < n && strcmp(keys[k], member.key) != 0)
            k++;
        char hint[HINT_LENGTH];
        const char *topic = k == n && !is_slip(member.key, keys, n) ? bg_topic_find(member.key)
                                                                    : NULL;
        if (k == n)
            bg_value_fail(&member, "is not a known key; %s",
                          topic ? topic : write_hint(member.key, keys, n, hint, sizeof hint));
    }
    object->reader->known = object->json;
}

double bg_value_get_number(const bg_value *v)
{
    if (!present(v))
        return 0.0;
    double x = 0.0;
    if (json_is_string(v->json)) {
        bg_expression *e = bg_value_get_expression(v, NULL, 0);
        if (!e)
            return 0.0;
        x = bg_expression_calc(e, NULL);
        bg_expression_destroy(e);
    } else if (expect_type(v, json_is_number(v->json), "a number or an expression")) {
        x = json_number_value(v->json);
    }
    if (isfinite(x))
        return x;
    bg_value_fail(v, "is %s, not a finite number", isnan(x) ? "not defined (NaN)" : "infinite");
    return 0.0;
}

double bg_value_number(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_get_number(&v);
}

double bg_value_number_or(const bg_value *object, const char *key, double fallback)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_exists(&v) ? bg_value_get_number(&v) : fallback;
}

double bg_value_get_angle(const bg_value *v)
{
    char path[PATH_LENGTH];
    const double x = bg_value_get_number(v);
    if (!(fabs(x) > BG_FULL_TURN) || v->reader->status != BG_OK)
        return x;
    write_path(v, path, sizeof path);
    bg_reader_warn(v->reader, BG_GOOD, "angles",
                   "%s: %.4g rad are more than a full turn; angles are in rad, so if these are "
                   "degrees, write \"%.4g*deg\"",
                   path, x, x);
    return x;
}

double bg_value_angle_or(const bg_value *object, const char *key, double fallback)
{
    const bg_value v = bg_value_member(object, key);
    return bg_value_exists(&v) ? bg_value_get_angle(&v) : fallback;
}

double bg_value_positive(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    double x = bg_value_get_number(&v);
    if (object->reader->status != BG_OK)
        return 1.0;
    if (x > 0.0)
        return x;
    bg_value_fail(&v, "must be positive, but is %g", x);
    return 1.0;
}

double bg_value_not_negative_or(const bg_value *object, const char *key, double fallback)
{
    bg_value v = bg_value_member(object, key);
    if (!bg_value_exists(&v))
        return fallback;
    double x = bg_value_get_number(&v);
    if (x >= 0.0)
        return x;
    bg_value_fail(&v, "must not be negative, but is %g", x);
    return 0.0;
}

bool bg_value_bool_or(const bg_value *object, const char *key, bool fallback)
{
    bg_value v = bg_value_member(object, key);
    if (!bg_value_exists(&v) || !present(&v))
        return fallback;
    return expect_type(&v, json_is_boolean(v.json), "true or false") ? json_is_true(v.json)
                                                                     : fallback;
}

const char *bg_value_text(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_expect_text(&v) ? json_string_value(v.json) : "";
}

const char *bg_value_text_or(const bg_value *object, const char *key, const char *fallback)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_exists(&v) ? bg_value_text(object, key) : fallback;
}

int bg_value_choice(const bg_value *object, const char *key, const char *const *names, int fallback)
{
    bg_value v = bg_value_member(object, key);
    if (!bg_value_exists(&v) && fallback >= 0)
        return fallback;
    if (!bg_value_expect_text(&v))
        return 0;
    const char *text = json_string_value(v.json);
    int n = 0;
    for (; names[n]; n++)
        if (strcmp(names[n], text) == 0)
            return n;
    char hint[HINT_LENGTH];
    bg_value_fail(&v, "'%.80s' is not one of the choices; %s", text,
                  write_hint(text, names, n, hint, sizeof hint));
    return 0;
}

bg_vec3 bg_value_get_vec3(const bg_value *v)
{
    double x[3] = {0, 0, 0};
    if (bg_value_expect_list(v, 3))
        for (int k = 0; k < 3; k++) {
            bg_value element = bg_value_element(v, k);
            x[k] = bg_value_get_number(&element);
        }
    return bg_vec3_load(x);
}

bg_vec3 bg_value_vec3(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_get_vec3(&v);
}

bg_vec3 bg_value_vec3_or(const bg_value *object, const char *key, bg_vec3 fallback)
{
    bg_value v = bg_value_member(object, key);
    return bg_value_exists(&v) ? bg_value_get_vec3(&v) : fallback;
}

bg_vec3 bg_value_unit(const bg_value *object, const char *key)
{
    bg_value v = bg_value_member(object, key);
    bg_vec3 x = bg_value_get_vec3(&v);
    if (object->reader->status != BG_OK)
        return bg_vec3_make(0, 0, 1);
    double largest = fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
    if (!(largest > 1e-100)) {
        bg_value_fail(&v, "has zero length and so no direction");
        return bg_vec3_make(0, 0, 1);
    }
    x = (bg_vec3){x.x / largest, x.y / largest, x.z / largest}; /* no overflow below */
    return bg_scale(1 / bg_length(x), x);
}

double *bg_value_numbers(const bg_value *object, const char *key, int n, int *count)
{
    if (count)
        *count = 0;
    bg_value v = bg_value_member(object, key);
    if (!bg_value_expect_list(&v, n))
        return NULL;
    int size = bg_value_get_size(&v);
    double *x = bg_reader_allocate(v.reader, (size_t)size, sizeof *x);
    for (int k = 0; x && k < size; k++) {
        bg_value element = bg_value_element(&v, k);
        x[k] = bg_value_get_number(&element);
    }
    if (v.reader->status != BG_OK) {
        free(x);
        return NULL;
    }
    if (count)
        *count = size;
    return x;
}
