/* Repetition: "rod[i=2..N]" stands for rod2, rod3, ..., rodN, and {i-1} in a text for its value.
 *
 * A pass over the file's content, after the parameters have their values and before the sections
 * are read. It copies what is repeated and writes whole numbers into texts and names; what comes
 * out is a file without repetition. An index is known inside its member, in braces and in bounds,
 * and shares these with the parameters. The cost is proportional to what is written. */
#include "model/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDICES = 8,        /* repetitions inside one another */
    NAME = 64,          /* of an index, with its end */
    DIGITS = 16,        /* "(-1000000000)" in place of a pair of braces */
    WHOLE = 1000000000, /* largest number in braces and bounds */
    MEMBERS = 1000000,  /* that all repetitions of a file may make */
    VALUES = 20000000   /* and what these may consist of */
};

typedef struct named_index {
    char name[NAME];
    int value;
} named_index;

typedef struct expansion {
    bg_reader *reader;
    const bg_scope *scope;
    named_index index[INDICES]; /* outermost first */
    int n;
    char unknown[128]; /* the first name of an expression that is neither index nor parameter */
} expansion;

/* A key taken apart: head[name=first..last]tail; spans of the key. */
typedef struct range {
    const char *head, *name, *first, *last, *tail;
    int nhead, nname, nfirst, nlast;
} range;

/* What a number is needed for. */
typedef enum use { FIRST, LAST, BRACES } use;

static json_t *expand(expansion *x, const bg_value *v);

static int resolve(void *self, const char *name, double *constant)
{
    expansion *x = self;
    for (int k = 0; k < x->n; k++)
        if (strcmp(x->index[k].name, name) == 0) {
            *constant = x->index[k].value;
            return -2;
        }
    int p = bg_reader_find_parameter(x->reader, x->scope, name);
    if (p >= 0) {
        *constant = x->reader->parameter_values[p];
        return -2;
    }
    if (x->unknown[0] == '\0')
        snprintf(x->unknown, sizeof x->unknown, "%s", name);
    return -1;
}

static void fail_unknown(const expansion *x, const bg_value *v)
{
    const bg_reader *reader = x->reader;
    int n = 0;
    const char **names = bg_reader_allocate(v->reader, (size_t)(x->n + reader->nparameters),
                                            sizeof *names);
    for (int k = 0; names && k < x->n; k++)
        names[n++] = x->index[k].name;
    for (int k = 0; names && k < reader->nparameters; k++)
        names[n++] = reader->parameter_names[k];
    if (names)
        bg_value_fail_unknown(v, "index or parameter", x->unknown, names, n);
    free(names);
}

/* The whole number that text[length] amounts to. A failure is at v, and then the value is 0. Units
 * are of no use here, and so {m} is not taken for one metre. */
static int calc_whole(expansion *x, const bg_value *v, use is, const char *text, int length)
{
    static const char *const nouns[] = {"the first index", "the last index",
                                        "the number in braces"};
    static const char *const remedies[] = {"round it with floor", "round it with floor",
                                           "divide outside the braces, as in \"{i}/2\""};
    char *copy = bg_reader_allocate(x->reader, (size_t)length + 1, 1);
    if (!copy || x->reader->status != BG_OK) {
        free(copy);
        return 0;
    }
    memcpy(copy, text, (size_t)length);
    bg_expression *e = NULL;
    bg_error err = {0};
    x->unknown[0] = '\0';
    bg_status st = bg_expression_create(copy, resolve, x, &e, &err);
    double value = e ? bg_expression_calc(e, NULL) : 0, whole = round(value);
    bg_expression_destroy(e);
    if (st == BG_NO_MEMORY)
        bg_reader_fail_memory(x->reader);
    else if (x->unknown[0] != '\0')
        fail_unknown(x, v);
    else if (st != BG_OK)
        bg_value_fail(v, "%s: %s", nouns[is], err.text);
    else if (!(fabs(value) <= WHOLE))
        bg_value_fail(v, "%s '%.80s' is %s; it must be a whole number up to %d", nouns[is], copy,
                      isnan(value) ? "not defined (NaN)" : "too large", WHOLE);
    else if (fabs(value - whole) > 1e-9 * fmax(1, fabs(value)))
        bg_value_fail(v, "%s '%.80s' is %g, not a whole number; %s", nouns[is], copy, value,
                      remedies[is]);
    free(copy);
    return x->reader->status == BG_OK ? (int)whole : 0;
}

/* The text with numbers in place of braces, to be released with free(); NULL after a failure. A
 * negative base of a power gets parentheses, as -2^2 is not (-2)^2. */
static char *substitute(expansion *x, const bg_value *v, const char *text)
{
    size_t room = strlen(text) + 1;
    for (const char *c = text; *c; c++)
        room += *c == '{' ? DIGITS : 0;
    char *out = bg_reader_allocate(x->reader, room, 1);
    size_t n = 0;
    x->reader->values += (long)(room / 64); /* a long text counts for several */
    for (const char *c = text; *c && x->reader->status == BG_OK;) {
        if (*c != '{' && *c != '}') {
            out[n++] = *c++;
            continue;
        }
        int inside = (int)strcspn(c + 1, "{}");
        if (*c == '}' || c[1 + inside] != '}') {
            bg_value_fail(v, "'%.80s' has a brace without its partner; write {i}, {i-1} or {2*i}",
                          text);
            break;
        }
        int value = calc_whole(x, v, BRACES, c + 1, inside);
        c += inside + 2;
        bool base = value < 0 && c[strspn(c, " ")] == '^';
        n += (size_t)snprintf(out + n, room - n, base ? "(%d)" : "%d", value);
    }
    if (x->reader->status == BG_OK)
        return out;
    free(out);
    return NULL;
}

/* Takes a span of a text without the blanks around it. */
static const char *trim(const char *begin, const char *end, int *length)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (begin < end && isspace((unsigned char)end[-1]))
        end--;
    *length = (int)(end - begin);
    return begin;
}

static bool is_identifier(const char *name, int length)
{
    for (int k = 0; k < length; k++)
        if (!(isalpha((unsigned char)name[k]) || name[k] == '_' ||
              (k > 0 && isdigit((unsigned char)name[k]))))
            return false;
    return length > 0 && length < NAME;
}

/* Whether a key is meant to be a repetition: something in brackets with a = or two dots. */
static bool is_repetition(const char *key)
{
    const char *open = strchr(key, '['), *close = open ? strchr(open, ']') : NULL;
    const char *sign = open ? strchr(open, '=') : NULL, *dots = open ? strstr(open, "..") : NULL;
    return (sign && (!close || sign < close)) || (dots && (!close || dots < close));
}

/* Takes a key apart that is meant to be a repetition. Fails at v if it is none. */
static bool take_apart(const bg_value *v, range *r)
{
    const char *open = strchr(v->key, '['), *sign = strchr(open, '='), *close = strchr(open, ']');
    const char *dots = sign ? strstr(sign, "..") : NULL;
    if (sign && dots && close && dots < close) {
        r->head = v->key;
        r->nhead = (int)(open - v->key);
        r->name = trim(open + 1, sign, &r->nname);
        r->first = trim(sign + 1, dots, &r->nfirst);
        r->last = trim(dots + 2, close, &r->nlast);
        r->tail = close + 1;
        if (is_identifier(r->name, r->nname) && r->nfirst > 0 && r->nlast > 0)
            return true;
    }
    bg_value_fail(v, "a repetition is written NAME[INDEX=FIRST..LAST], such as rod[i=2..9]");
    return false;
}

/* Makes the index of a range known, still without a value. Fails at v when its name is taken. */
static bool open_index(expansion *x, const bg_value *v, const range *r)
{
    if (x->n == INDICES) {
        bg_value_fail(v, "more than %d repetitions inside one another; use fewer", INDICES);
        return false;
    }
    char name[NAME];
    snprintf(name, sizeof name, "%.*s", r->nname, r->name);
    for (int k = 0; k < x->n; k++)
        if (strcmp(x->index[k].name, name) == 0)
            bg_value_fail(v,
                          "the index '%s' belongs to a repetition around this one; choose "
                          "another name",
                          name);
    if (bg_scope_find(x->reader, x->scope, BG_NAME_PARAMETER, name) >= 0)
        bg_value_fail(v, "'%s' is a parameter; choose another name for the index", name);
    else if (bg_expression_has_name(name))
        bg_value_fail(v,
                      "'%s' already has a meaning in expressions (unit, constant or function); "
                      "choose another name for the index",
                      name);
    memcpy(x->index[x->n++].name, name, sizeof name);
    return true;
}

static void add(expansion *x, const bg_value *object, const char *key, json_t *value, json_t *out);

/* Adds the members that a key stands for. */
static void repeat(expansion *x, const bg_value *v, json_t *out)
{
    range r;
    if (!take_apart(v, &r))
        return;
    int first = calc_whole(x, v, FIRST, r.first, r.nfirst);
    int last = calc_whole(x, v, LAST, r.last, r.nlast);
    if (last - first >= MEMBERS - x->reader->members)
        bg_value_fail(v,
                      "the indices %d to %d are too many: all repetitions of a model may make "
                      "%d members; make the range smaller",
                      first, last, MEMBERS);
    if (last < first || x->reader->status != BG_OK || !open_index(x, v, &r))
        return;
    size_t room = strlen(v->key) + DIGITS;
    char *key = bg_reader_allocate(x->reader, room, 1);
    for (int i = first; i <= last && x->reader->status == BG_OK; i++) {
        x->index[x->n - 1].value = i;
        x->reader->members++;
        snprintf(key, room, "%.*s%d%s", r.nhead, r.head, i, r.tail);
        add(x, v->parent, key, v->json, out);
    }
    free(key);
    x->n--;
}

/* Adds a member to the object out: one, or those that its key stands for. */
static void add(expansion *x, const bg_value *object, const char *key, json_t *value, json_t *out)
{
    bg_value v = {
        .reader = x->reader, .json = value, .parent = object, .key = key, .scope = x->scope};
    if (is_repetition(key)) {
        repeat(x, &v, out);
        return;
    }
    char *written = strpbrk(key, "{}") ? substitute(x, &v, key) : NULL;
    if (x->reader->status != BG_OK)
        return;
    if (written)
        v.key = written;
    if (json_object_get(out, v.key)) {
        bg_value_fail(&v,
                      "a repetition or braces make this name twice; change the range or a name");
    } else {
        json_t *made = expand(x, &v);
        if (made && json_object_set_new(out, v.key, made))
            bg_reader_fail_memory(x->reader);
    }
    free(written);
}

static json_t *expand_text(expansion *x, const bg_value *v)
{
    if (!strpbrk(json_string_value(v->json), "{}"))
        return json_incref(v->json);
    char *written = substitute(x, v, json_string_value(v->json));
    json_t *text = written ? json_string(written) : NULL;
    if (!text)
        bg_reader_fail_memory(x->reader);
    free(written);
    return text;
}

static json_t *expand_list(expansion *x, const bg_value *v)
{
    json_t *list = json_array();
    if (!list)
        bg_reader_fail_memory(x->reader);
    for (int k = 0; k < bg_value_get_size(v) && x->reader->status == BG_OK; k++) {
        bg_value element = bg_value_element(v, k);
        json_t *made = expand(x, &element);
        if (made && json_array_append_new(list, made))
            bg_reader_fail_memory(x->reader);
    }
    return list;
}

static json_t *expand_object(expansion *x, const bg_value *v)
{
    json_t *object = json_object();
    bg_value member;
    if (!object)
        bg_reader_fail_memory(x->reader);
    for (void *i = NULL; bg_value_next(v, &i, &member);)
        add(x, v, member.key, member.json, object);
    return object;
}

/* A part that is described where it is used: parameters of its own say what it repeats. */
static bool is_part(const bg_value *v)
{
    const bg_value *section = v->parent ? v->parent->parent : NULL;
    return json_is_object(v->json) && v->key && strcmp(v->key, "part") == 0 && section &&
           section->key && strcmp(section->key, "use") == 0;
}

/* A copy of v without repetitions and braces; NULL after a failure. Numbers and texts may be
 * shared, lists and objects are not, since settings change them. */
static json_t *expand(expansion *x, const bg_value *v)
{
    if (x->n > 0 && ++x->reader->values > VALUES)
        bg_value_fail(v,
                      "the repetitions of the model make more than %d values; make the ranges "
                      "smaller",
                      VALUES);
    if (x->reader->status != BG_OK)
        return NULL;
    json_t *made = is_part(v)                ? json_deep_copy(v->json)
                   : json_is_string(v->json) ? expand_text(x, v)
                   : json_is_array(v->json)  ? expand_list(x, v)
                   : json_is_object(v->json) ? expand_object(x, v)
                                             : json_incref(v->json);
    if (x->reader->status == BG_OK)
        return made;
    json_decref(made);
    return NULL;
}

/* Whether there is nothing to do, and so nothing to copy. */
static bool is_plain(json_t *json)
{
    if (json_is_string(json))
        return !strpbrk(json_string_value(json), "{}");
    for (size_t k = 0; k < json_array_size(json); k++)
        if (!is_plain(json_array_get(json, k)))
            return false;
    for (void *i = json_object_iter(json); i; i = json_object_iter_next(json, i)) {
        const char *key = json_object_iter_key(i);
        if (strpbrk(key, "{}") || is_repetition(key) || !is_plain(json_object_iter_value(i)))
            return false;
    }
    return true;
}

void bg_read_repetitions(const bg_value *top)
{
    static const char *const literal[] = {"$schema", "name", "parameters", "parts"};
    expansion x = {.reader = top->reader, .scope = top->scope};
    bg_value section;
    for (void *i = NULL; bg_value_next(top, &i, &section);) {
        bool skip = is_plain(section.json);
        for (size_t k = 0; k < sizeof literal / sizeof *literal; k++)
            skip = skip || strcmp(section.key, literal[k]) == 0;
        json_t *made = skip ? NULL : expand(&x, &section);
        if (made && json_object_iter_set_new(top->json, i, made))
            bg_reader_fail_memory(top->reader);
    }
}
