/* What a study depends on beside its own text: the content of every file that it names, and of
 * those that its models name, parts and tables. One hash of them all tells whether the lines of a
 * journal are still true.
 *
 * A model names files by members called "file", relative to its own folder, at any depth; so do
 * parts. Settings name them by keys that end in ".file", relative to the folder of their model.
 * Whatever cannot be read counts nothing here: who needs it says why. */
#include "study/read.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 }; /* of files that name one another; models allow fewer */

typedef struct collection {
    bg_study *s;
    json_t *seen;   /* paths as keys */
    json_t *models; /* paths of models as keys */
} collection;

static void add_file(collection *c, char *path, int depth);

/* The path of a file that the file `from` names. */
static char *make_path(const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int folder = slash && name[0] != '/' ? (int)(slash + 1 - from) : 0;
    char *path;
    return asprintf(&path, "%.*s%s", folder, from, name) < 0 ? NULL : path;
}

/* The files that a model or a part names. */
static void add_named(collection *c, const char *from, json_t *json, int depth)
{
    const char *key;
    json_t *value;
    size_t i;
    json_array_foreach(json, i, value)
    {
        add_named(c, from, value, depth);
    }
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "file") == 0 && json_is_string(value))
            add_file(c, make_path(from, json_string_value(value)), depth + 1);
        else
            add_named(c, from, value, depth);
    }
}

/* Its content, and that of what it names if it is JSON. Takes the path over. */
static void add_file(collection *c, char *path, int depth)
{
    size_t length;
    char *text = NULL;
    bool news = path && depth < DEPTH && !json_object_get(c->seen, path) &&
                json_object_set_new(c->seen, path, json_true()) == 0;
    if (news && bg_file_load(path, BG_FILE_LIMIT, &text, &length) == BG_FILE_LOADED) {
        json_t *json = json_loadb(text, length, 0, NULL);
        c->s->hash = bg_hash_bytes(c->s->hash, text, length);
        add_named(c, path, json, depth);
        json_decref(json);
    }
    free(text);
    free(path);
}

static bool ends_so(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A file that the study names itself. */
static void add_own(collection *c, const char *key, const char *name)
{
    char *path = bg_study_make_path(c->s, name);
    if (path && strncmp(path, "equations:", 10) == 0) {
        free(path);
        return;
    }
    if (path && strcmp(key, "model") == 0)
        json_object_set_new(c->models, path, json_true());
    add_file(c, path, 0);
}

/* A file that a setting gives to one of the models. */
static void add_setting(collection *c, const char *key, const char *name)
{
    const char *model;
    json_t *unused;
    (void)key;
    json_object_foreach(c->models, model, unused)
    {
        add_file(c, make_path(model, name), 0);
    }
}

typedef void visitor(collection *c, const char *key, const char *name);

/* Visits the texts, or lists of texts, of members with one of two keys, or whose keys end so. */
static void visit(collection *c, json_t *json, const char *first, const char *second, visitor *f)
{
    const char *key;
    json_t *value;
    size_t i;
    json_array_foreach(json, i, value)
    {
        visit(c, value, first, second, f);
    }
    json_object_foreach(json, key, value)
    {
        const bool meant = first[0] == '.' ? ends_so(key, first)
                                           : !strcmp(key, first) || !strcmp(key, second);
        if (meant && json_is_string(value))
            f(c, key, json_string_value(value));
        for (i = 0; meant && i < json_array_size(value); i++)
            if (json_is_string(json_array_get(value, i)))
                f(c, key, json_string_value(json_array_get(value, i)));
        if (!meant || json_is_object(value))
            visit(c, value, first, second, f);
    }
}

bool bg_study_hash_files(bg_study *s)
{
    collection c = {s, json_object(), json_object()};
    const bool good = c.seen && c.models;
    if (good) {
        visit(&c, s->root, "model", "file", add_own);
        visit(&c, s->root, ".file", "", add_setting);
    }
    json_decref(c.seen);
    json_decref(c.models);
    return good;
}
