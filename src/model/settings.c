/* Overrides: a path and a value, put into the content of a model file before it is read.
 *
 * A path goes from member to member by dots, into lists by numbers: "joints.a.axis[2]" or
 * "joints.a.axis.2". The value is JSON, or else a text, which is read as an expression where a
 * number is expected. Everything on the way must exist, except members that an object may have but
 * did not state (run.t_end): these are made, and the reader judges their names afterwards. Sections
 * whose members are names of the user's choice (parameters, bodies, ...) get no new ones this way,
 * since a new name there is a typing error.
 *
 * Settings of parameters come first, since parameters say how often things are repeated, and those
 * of parts, since these are used several times; all others are applied to the members that the
 * repetitions made.
 *
 * What belongs to the use of a part is set by the name that it has in the whole model:
 * bodies.fl.hub is "hub" among the bodies of the part used as "fl", and parameters.fl.k is
 * use.fl.parameters.k. */
#include "model/read.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 128 };

typedef struct walk {
    const bg_setting *setting;
    const char *path;  /* inside of the part, or else the setting's own */
    const char *shown; /* the path in messages, which may have more behind its first segment: */
    size_t left_out;
    const char *rest; /* of the path */
    char segment[SEGMENT];
    int depth;  /* segments passed */
    bool named; /* members of the present object are names of the user's choice */
    bg_error *err;
} walk;

/* How far the path has been followed, for messages. */
static int passed(const walk *w)
{
    int n = (int)(w->rest - w->path);
    while (n > 0 && strchr(".[]", w->path[n - 1]))
        n--;
    return w->depth > 1 ? n + (int)w->left_out : n;
}

/* Takes the next segment; false: the path has none, or it is empty or too long. */
static bool take(walk *w)
{
    const char *c = w->rest;
    size_t n = strcspn(c, ".[]");
    if (n == 0 || n >= sizeof w->segment)
        return false;
    memcpy(w->segment, c, n);
    w->segment[n] = '\0';
    c += n;
    if (*c == ']')
        c++;
    if (*c == '.' || *c == '[') {
        c++;
        if (*c == '\0')
            return false;
    }
    w->rest = c;
    w->depth++;
    return true;
}

static bg_status fail_path(const walk *w)
{
    return bg_error_set(w->err, BG_BAD_INPUT,
                        "setting '%s': a path has names with dots between them, such as run.t_end "
                        "or bodies.rod.center[2]",
                        w->setting->name);
}

static bg_status fail_member(const walk *w, json_t *object)
{
    size_t size = json_object_size(object);
    const char **names = calloc(size + 1, sizeof *names);
    int n = 0;
    if (!names)
        return bg_error_set(w->err, BG_NO_MEMORY, "out of memory for setting '%s'",
                            w->setting->name);
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i))
        names[n++] = json_object_iter_key(i);
    int near = bg_text_find_nearest(w->segment, names, n);
    if (near >= 0)
        bg_error_set(w->err, BG_BAD_INPUT,
                     "setting '%s': the model has no %.*s; did you mean '%s'?", w->setting->name,
                     passed(w), w->shown, names[near]);
    else
        bg_error_set(w->err, BG_BAD_INPUT, "setting '%s': the model has no %.*s", w->setting->name,
                     passed(w), w->shown);
    free(names);
    return BG_BAD_INPUT;
}

/* Whether the members of the object that `segment` leads to are names of the user's choice. */
static bool leads_to_names(const walk *w)
{
    static const char *const sections[] = {"parameters", "bodies", "joints",  "forces",
                                           "tyres",      "inputs", "outputs", "events",
                                           "use",        "parts",  "tracks",  "profiles"};
    const bool of_part = w->depth == 3 && strncmp(w->path, "parts.", 6) == 0;
    if (w->depth == 3 && strcmp(w->segment, "points") == 0)
        return strncmp(w->path, "bodies.", 7) == 0;
    for (size_t k = 0; (w->depth == 1 || of_part) && k < sizeof sections / sizeof *sections; k++)
        if (strcmp(w->segment, sections[k]) == 0)
            return true;
    return false;
}

static bg_status step_into_list(const walk *w, json_t *list, json_t *value, json_t **next)
{
    long number;
    size_t size = json_array_size(list), index = size;
    if (bg_text_to_count(w->segment, &number))
        index = (size_t)number;
    if (index >= size)
        return bg_error_set(w->err, BG_BAD_INPUT,
                            "setting '%s': '%s' is not the number of an entry; the list has %zu, "
                            "counted from 0",
                            w->setting->name, w->segment, size);
    if (*w->rest == '\0' && json_array_set(list, index, value))
        return BG_NO_MEMORY;
    *next = json_array_get(list, index);
    return BG_OK;
}

static bg_status step_into_object(walk *w, json_t *object, json_t *value, json_t **next)
{
    bool last = *w->rest == '\0';
    *next = json_object_get(object, w->segment);
    if (!*next && w->named)
        return fail_member(w, object);
    if (last)
        return json_object_set(object, w->segment, value) ? BG_NO_MEMORY : BG_OK;
    if (!*next) {
        json_t *made = json_object();
        if (json_object_set_new(object, w->segment, made))
            return BG_NO_MEMORY;
        *next = made;
    }
    w->named = leads_to_names(w);
    return BG_OK;
}

/* Follows the path from the top and puts value at its end. */
static bg_status follow(walk *w, json_t *at, json_t *value)
{
    do {
        int before = passed(w);
        json_t *next = NULL;
        bg_status st;
        if (!take(w))
            return fail_path(w);
        if (json_is_object(at))
            st = step_into_object(w, at, value, &next);
        else if (json_is_array(at))
            st = step_into_list(w, at, value, &next);
        else
            st = bg_error_set(w->err, BG_BAD_INPUT, "setting '%s': %.*s has no members",
                              w->setting->name, before, w->shown);
        if (st == BG_NO_MEMORY)
            return bg_error_set(w->err, st, "out of memory for setting '%s'", w->setting->name);
        if (st != BG_OK)
            return st;
        at = next;
    } while (*w->rest != '\0');
    return BG_OK;
}

/* JSON, or a text. What begins like a list, an object or a quoted text must be proper JSON. */
static bg_status parse(const bg_setting *setting, json_t **value, bg_error *err)
{
    json_error_t error;
    *value = json_loads(setting->value,
                        JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!*value) {
        const char *text = setting->value + strspn(setting->value, " \t\r\n");
        if (*text == '[' || *text == '{' || *text == '"')
            return bg_error_set(err, BG_BAD_INPUT, "setting '%s': the value is not valid JSON: %s",
                                setting->name, error.text);
        *value = json_string(setting->value);
    }
    if (!*value)
        return bg_error_set(err, BG_BAD_INPUT, "setting '%s': the value is not text in UTF-8",
                            setting->name);
    return BG_OK;
}

/* The length of the first segment of a path. */
static size_t measure_segment(const char *path)
{
    return strcspn(path, ".[]");
}

static bool begins_with(const char *path, const char *word)
{
    const size_t n = measure_segment(path);
    return strlen(word) == n && strncmp(path, word, n) == 0;
}

/* The member of an object that the first segment of a path names, or NULL. */
static json_t *get_first(const json_t *object, const char *path)
{
    char segment[SEGMENT];
    const size_t n = measure_segment(path);
    if (n >= sizeof segment)
        return NULL;
    memcpy(segment, path, n);
    segment[n] = '\0';
    return json_object_get(object, segment);
}

/* Sections of parts whose things settings can name; the others belong to the model alone. */
static bool is_shared(const char *path)
{
    static const char *const sections[] = {"bodies", "joints",  "forces", "tyres",
                                           "inputs", "outputs", "events", "initial"};
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
        if (begins_with(path, sections[k]))
            return true;
    return false;
}

/* When a setting is applied, and to what. */
typedef enum turn { NOT_HERE, FIRST, THEN } turn;

/* Whose turn it is at `top`: of the model, or of the use of a part. *path: a new text, the way from
 * there; NULL: out of memory. */
static turn find_turn(const bg_value *top, const char *name, char **path)
{
    const char *prefix = top->scope ? top->scope->prefix : "";
    const size_t section = measure_segment(name), left_out = strlen(prefix);
    const bool parameter = begins_with(name, "parameters"), shared = is_shared(name);
    const char *rest = name[section] == '.' ? name + section + 1 : "";
    if (top->scope && (!(parameter || shared) || strncmp(rest, prefix, left_out) != 0))
        return NOT_HERE;
    rest += *rest ? left_out : 0;
    json_t *own = get_first(top->json, name), *uses = json_object_get(top->json, "use");
    const size_t next = measure_segment(rest);
    const bool deeper = *rest && rest[next] == '.' && !get_first(own, rest);
    int n;
    if (parameter && !deeper && top->scope)
        return NOT_HERE;       /* the use around it has it */
    if (parameter && deeper) { /* of a part that is used here, or further inside */
        if (get_first(uses, rest) && strpbrk(rest + next + 1, ".["))
            return NOT_HERE;
        n = asprintf(path, "use.%.*s.parameters%s", (int)next, rest, rest + next);
    } else if (shared && deeper && get_first(uses, rest)) {
        return NOT_HERE;
    } else {
        n = asprintf(path, "%.*s%s%s", (int)section, name, *rest ? "." : name + section, rest);
    }
    *path = n < 0 ? NULL : *path;
    return (parameter && !deeper) || begins_with(name, "parts") ? FIRST : THEN;
}

static int count(const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return n;
}

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* The section in which a path that begins with `segment` makes sense, or NULL. */
static const char *find_section(json_t *root, const char *segment)
{
    const char *key;
    json_t *section;
    if (json_object_get(json_object_get(root, "parameters"), segment))
        return "parameters";
    if (is_among(segment, bg_run_keys))
        return "run";
    json_object_foreach(root, key, section)
    {
        if (json_object_get(section, segment))
            return key;
    }
    return NULL;
}

/* The parameter whose name is nearest, or NULL. */
static const char *find_parameter(json_t *root, const char *segment)
{
    json_t *parameters = json_object_get(root, "parameters");
    const char **names = calloc(json_object_size(parameters) + 1, sizeof *names), *key;
    json_t *value;
    int n = 0;
    if (!names)
        return NULL;
    json_object_foreach(parameters, key, value)
    {
        names[n++] = key;
    }
    int near = bg_text_find_nearest(segment, names, n);
    key = near >= 0 ? names[near] : NULL;
    free(names);
    return key;
}

/* A path that begins with what no model has may lack its section. */
static bg_status check_beginning(const bg_value *top, const bg_setting *setting, bg_error *err)
{
    char segment[SEGMENT];
    const size_t n = measure_segment(setting->name);
    if (top->scope || n == 0 || n >= sizeof segment)
        return BG_OK;
    memcpy(segment, setting->name, n);
    segment[n] = '\0';
    if (json_object_get(top->json, segment) || is_among(segment, bg_model_keys))
        return BG_OK;
    const char *section = find_section(top->json, segment), *parameter = NULL;
    if (!section && bg_text_find_nearest(segment, bg_model_keys, count(bg_model_keys)) < 0)
        parameter = find_parameter(top->json, segment);
    if (!section && !parameter)
        return BG_OK; /* the reader says which there are */
    return bg_error_set(err, BG_BAD_INPUT,
                        "setting '%s': the model has no %s; did you mean '%s.%s%s'?", setting->name,
                        segment, section ? section : "parameters", section ? segment : parameter,
                        setting->name + n);
}

static bg_status apply(const bg_value *top, const bg_setting *setting, const char *path,
                       bg_error *err)
{
    json_t *value;
    bg_status st = check_beginning(top, setting, err);
    if (st == BG_OK)
        st = parse(setting, &value, err);
    if (st != BG_OK)
        return st;
    const bool moved = begins_with(path, "use") && !begins_with(setting->name, "use");
    walk w = {.setting = setting,
              .path = path,
              .shown = moved ? path : setting->name,
              .left_out = top->scope && !moved ? strlen(top->scope->prefix) : 0,
              .rest = path,
              .err = err};
    st = follow(&w, top->json, value);
    json_decref(value);
    return st;
}

bg_status bg_settings_apply(const bg_value *top, const bg_setting *settings, int nsettings,
                            bool first, bg_error *err)
{
    bg_status st = BG_OK;
    for (int k = 0; k < nsettings && st == BG_OK; k++) {
        char *path = NULL;
        const turn when = find_turn(top, settings[k].name, &path);
        if (when != NOT_HERE && !path)
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for setting '%s'",
                                settings[k].name);
        if (when == (first ? FIRST : THEN))
            st = apply(top, &settings[k], path, err);
        free(path);
    }
    return st;
}
