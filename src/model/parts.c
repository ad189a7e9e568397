/* "parts" and "use": a part of a mechanism is described once and used several times.
 *
 * A part has sections like a model, without what there is only one of (gravity, road, run), and may
 * use other parts. Where it is used, it is copied, its parameters get their values, members are
 * repeated, settings are applied, and the parts it uses itself are used in turn. What comes out is
 * one scope per use (model/scope.h), in which the sections are read. The copy takes the place of
 * the part's name in "use", so that the content of the model needs neither "parts" nor other files.
 */
#include "base/file.h"
#include "model/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 8,        /* parts inside one another, and files that name one another */
    FILES = 1000,     /* that a model may consist of */
    USES = 100000,    /* of parts */
    VALUES = 20000000 /* that all of these may have together; as in model/repeat.c */
};

const char *const bg_model_keys[] = {
    "$schema", "name",   "parameters", "gravity", "parts",  "use",      "bodies",
    "joints",  "forces", "tyres",      "road",    "tracks", "profiles", "inputs",
    "outputs", "events", "initial",    "run",     "plots",  "view",     NULL};
static const char *const part_keys[] = {"$schema", "name",   "parameters", "parts", "use",
                                        "bodies",  "joints", "forces",     "tyres", "inputs",
                                        "outputs", "events", "initial",    NULL};

static void expect_keys(const bg_value *top)
{
    static const char *const of_model[] = {"gravity", "road",  "tracks", "profiles",
                                           "run",     "plots", "view"};
    if (!top->scope) {
        bg_value_expect(top, bg_model_keys);
        return;
    }
    for (size_t k = 0; k < sizeof of_model / sizeof *of_model; k++) {
        const bg_value v = bg_value_member(top, of_model[k]);
        if (bg_value_exists(&v))
            bg_value_fail(&v, "belongs to the model, not to a part of it; move it there");
    }
    bg_value_expect(top, part_keys);
    bg_value_text_or(top, "$schema", NULL); /* for editors and readers */
    bg_value_text_or(top, "name", NULL);
}

/* The file that describes a part, or that the description of one stands in. */
static const char *find_origin(const bg_reader *reader, const json_t *part, const char *otherwise)
{
    for (int k = 0; k < reader->nfiles; k++)
        if (reader->files[k].part == part)
            return reader->files[k].path;
    return otherwise;
}

char *bg_value_find_file(const bg_value *v, const char *name)
{
    const char *origin = bg_value_get_origin(v), *slash = strrchr(origin, '/');
    int folder = slash && name[0] != '/' ? (int)(slash + 1 - origin) : 0;
    char *path;
    if (asprintf(&path, "%.*s%s", folder, origin, name) >= 0)
        return path;
    bg_reader_fail_memory(v->reader);
    return NULL;
}

static void note_file(bg_reader *reader, const json_t *part, char *path)
{
    bg_part_file *grown = realloc(reader->files, (size_t)(reader->nfiles + 1) * sizeof *grown);
    if (!grown) {
        bg_reader_fail_memory(reader);
        free(path);
        return;
    }
    reader->files = grown;
    reader->files[reader->nfiles++] = (bg_part_file){part, path};
}

/* The content of a part's file, or NULL. */
static json_t *load_file(const bg_value *file, const char *path)
{
    bg_reader *reader = file->reader;
    char *text, subject[512]; /* of the sentence */
    size_t length;
    json_t *part = NULL;
    bg_error err = {0};
    snprintf(subject, sizeof subject, "'%.400s'", path);
    bg_status st = bg_file_read(path, subject, "part", &text, &length, &err);
    if (st == BG_NO_MEMORY) {
        bg_reader_fail_memory(reader);
    } else if (st != BG_OK) {
        bg_value_fail(file, "%s", err.text);
    } else {
        st = bg_model_load_text(text, length, path, &part, &err);
        free(text);
        if (st == BG_NO_MEMORY)
            bg_reader_fail_memory(reader);
        else if (st != BG_OK)
            bg_value_fail(file, "%s", err.text);
    }
    return part;
}

/* The way through files that name one another. */
typedef struct part_chain {
    const struct part_chain *before;
    const char *path; /* as the system calls it */
} part_chain;

static void load_parts(const bg_value *top, const part_chain *before, int depth);

/* Puts the content of the file that part, {"file": ...}, names into parts. */
static void load_part(json_t *parts, const char *key, const bg_value *part,
                      const part_chain *before, int depth)
{
    static const char *const keys[] = {"file", NULL};
    bg_reader *reader = part->reader;
    const bg_value file = bg_value_member(part, "file");
    bg_value_expect(part, keys);
    const char *name = bg_value_text(part, "file");
    char *path = reader->status == BG_OK ? bg_value_find_file(part, name) : NULL;
    char *real = path ? realpath(path, NULL) : NULL; /* NULL: load_file says why */
    const part_chain here = {before, real ? real : ""};
    for (const part_chain *c = before; c && real; c = c->before)
        if (strcmp(c->path, real) == 0)
            bg_value_fail(&file, "the file '%.200s' names itself as a part of itself", name);
    if (depth == DEPTH)
        bg_value_fail(&file, "more than %d files name one another; use fewer", DEPTH);
    else if (reader->nfiles == FILES)
        bg_value_fail(&file, "is one more than the %d files of parts a model may have", FILES);
    json_t *content = reader->status == BG_OK ? load_file(&file, path) : NULL;
    if (content && !json_is_object(content))
        bg_value_fail(&file, "the file '%.200s' does not describe a part; that is an object { }",
                      name);
    else if (content && json_object_set(parts, key, content))
        bg_reader_fail_memory(reader);
    if (content && reader->status == BG_OK) {
        note_file(reader, content, path);
        path = NULL;
        if (reader->status == BG_OK) {
            const bg_scope scope = {.path = (char[]){""},
                                    .origin = reader->files[reader->nfiles - 1].path,
                                    .prefix = NULL};
            const bg_value top = {.reader = reader, .json = content, .scope = &scope};
            load_parts(&top, &here, depth + 1);
        }
    }
    json_decref(content);
    free(real);
    free(path);
}

/* A use whose part is {"file": ...}: the content goes to the parts, under a name of its own, and
 * the use gets that name. */
static void load_used(const bg_value *top, const bg_value *use, const bg_value *part,
                      const part_chain *before, int depth)
{
    bg_reader *reader = top->reader;
    json_t *parts = json_object_get(top->json, "parts");
    char *key;
    if (!parts && json_object_set_new(top->json, "parts", json_object()) == 0)
        parts = json_object_get(top->json, "parts");
    if (asprintf(&key, "file %s", bg_value_text(part, "file")) < 0)
        key = NULL;
    if (!parts || !key)
        bg_reader_fail_memory(reader);
    else if (reader->status == BG_OK && !json_object_get(parts, key))
        load_part(parts, key, part, before, depth);
    if (reader->status == BG_OK && json_object_set_new(use->json, "part", json_string(key)))
        bg_reader_fail_memory(reader);
    free(key);
}

/* Loads the parts of the model, or of a part, that stand in files of their own. */
static void load_parts(const bg_value *top, const part_chain *before, int depth)
{
    bg_value parts = bg_value_member(top, "parts"), uses = bg_value_member(top, "use"), v;
    if (bg_value_exists(&parts) && !bg_value_expect_object(&parts))
        return;
    for (void *i = NULL; bg_value_exists(&parts) && bg_value_next(&parts, &i, &v);) {
        if (!bg_value_expect_object(&v))
            return;
        if (json_object_get(v.json, "file"))
            load_part(parts.json, v.key, &v, before, depth);
        else if (depth < DEPTH)
            load_parts(&v, before, depth + 1);
    }
    for (void *i = NULL; json_is_object(uses.json) && bg_value_next(&uses, &i, &v);) {
        const bg_value part = bg_value_member(&v, "part");
        if (!json_is_object(v.json) || !json_is_object(part.json))
            continue;
        if (json_object_get(part.json, "file"))
            load_used(top, &v, &part, before, depth);
        else if (depth < DEPTH)
            load_parts(&part, before, depth + 1);
    }
}

static long count_values(const json_t *json, int depth)
{
    long n = 1;
    for (size_t k = 0; json_is_array(json) && k < json_array_size(json); k++)
        n += count_values(json_array_get(json, k), depth + 1);
    for (void *i = json_object_iter((json_t *)json); json_is_object(json) && i;
         i = json_object_iter_next((json_t *)json, i))
        if (depth > 0 || strcmp(json_object_iter_key(i), "parts") != 0)
            n += count_values(json_object_iter_value(i), depth + 1);
    return n;
}

/* A copy of a part in which settings and repetitions may change anything; the parts that it
 * describes are not copied. */
static json_t *copy_part(const bg_value *use, const json_t *part)
{
    bg_reader *reader = use->reader;
    reader->values += count_values(part, 0);
    if (reader->values > VALUES)
        bg_value_fail(use, "the parts of the model make more than %d values; use fewer", VALUES);
    json_t *copy = json_object();
    bool good = copy && reader->status == BG_OK;
    for (void *i = json_object_iter((json_t *)part); good && i;
         i = json_object_iter_next((json_t *)part, i)) {
        const char *key = json_object_iter_key(i);
        json_t *value = json_object_iter_value(i);
        value = strcmp(key, "parts") == 0 ? json_incref(value) : json_deep_copy(value);
        good = json_object_set_new(copy, key, value) == 0;
    }
    if (good)
        return copy;
    json_decref(copy);
    bg_reader_fail_memory(reader);
    return NULL;
}

/* A part by name, where it is described: in the part that uses it, or around that. */
typedef struct described {
    json_t *part;
    const bg_scope *in; /* NULL: in the model */
} described;

static described find_part(const bg_value *name, const char *text)
{
    for (const bg_scope *s = name->scope;; s = s->outer) {
        const bg_value *top = s ? &s->top : name->reader->top;
        json_t *part = json_object_get(json_object_get(top->json, "parts"), text);
        if (part || !s)
            return (described){part, s};
    }
}

static void fail_part(const bg_value *name, const char *text)
{
    const bg_scope *s = name->scope;
    size_t n = 0;
    const char **names = NULL;
    for (bool more = true; more; s = s ? s->outer : NULL) {
        json_t *parts = json_object_get((s ? &s->top : name->reader->top)->json, "parts");
        const char **grown = realloc(names, (n + json_object_size(parts) + 1) * sizeof *names);
        more = grown && s;
        names = grown ? grown : names;
        for (void *i = json_object_iter(parts); grown && i; i = json_object_iter_next(parts, i))
            if (strcmp(json_object_iter_key(i), "comment") != 0)
                names[n++] = json_object_iter_key(i);
    }
    bg_value_fail_unknown(name, "part", text, names, (int)n);
    free(names);
}

/* Which part an instance uses, and where messages find it. */
static void read_part(bg_scope *s)
{
    bg_reader *reader = s->use.reader;
    const bg_value name = bg_value_member(&s->use, "part");
    const bg_scope *outer = s->outer;
    const char *text = json_string_value(name.json);
    described found = {name.json, outer};
    int n;
    s->origin = bg_value_get_origin(&s->use);
    if (json_is_object(name.json)) { /* described where it is used */
        n = asprintf(&s->path, "%s%suse.%s.part", outer ? outer->path : "",
                     outer && *outer->path ? "." : "", s->use.key);
    } else {
        if (!bg_value_expect_text(&name))
            return;
        found = find_part(&name, text);
        if (!found.part || strcmp(text, "comment") == 0) {
            fail_part(&name, text);
            return;
        }
        if (!json_is_object(found.part)) {
            bg_value_fail(&name, "the part '%.80s' is not an object { }", text);
            return;
        }
        s->origin = find_origin(reader, found.part, found.in ? found.in->origin : reader->origin);
        const bool own_file = find_origin(reader, found.part, NULL) != NULL;
        const char *before = found.in ? found.in->path : "";
        n = own_file ? asprintf(&s->path, "%s", "")
                     : asprintf(&s->path, "%s%sparts.%s", before, *before ? "." : "", text);
    }
    s->part = json_incref((json_t *)found.part);
    if (n < 0) {
        s->path = NULL;
        bg_reader_fail_memory(reader);
    }
    int depth = 1;
    for (const bg_scope *o = outer; o; o = o->outer, depth++)
        if (o->part == s->part)
            bg_value_fail(&name, "the part '%.80s' uses itself", text ? text : s->use.key);
    if (depth > DEPTH)
        bg_value_fail(&name, "more than %d parts inside one another; use fewer", DEPTH);
}

/* The mirror first, then the turn, then the shift. */
static void read_placement(bg_scope *s)
{
    static const char *const planes[] = {"x", "y", "z", NULL};
    const bg_value *use = &s->use, mirror = bg_value_member(use, "mirror");
    const bg_vec3 origin = {0, 0, 0};
    bg_placement p = bg_placement_make();
    p.r = bg_value_vec3_or(use, "at", origin);
    p.M = bg_read_orientation(use, "orientation");
    if (bg_value_exists(&mirror)) {
        const int k = bg_value_choice(use, "mirror", planes, -1);
        p.det = p.flip[k] = -1;
        for (int i = 0; i < 3; i++)
            p.M.m[i][k] = -p.M.m[i][k];
    }
    s->placement = s->outer ? bg_placement_multiply(&s->outer->placement, &p) : p;
}

static void read_connect(bg_scope *s)
{
    const bg_value connect = bg_value_member(&s->use, "connect");
    bg_value v;
    if (!bg_value_exists(&connect) || !bg_value_expect_object(&connect))
        return;
    for (void *i = NULL; bg_value_next(&connect, &i, &v);)
        if (bg_value_expect_text(&v) && strcmp(v.key, "ground") == 0)
            bg_value_fail(&v, "the ground is the same everywhere; choose another name");
    s->connect = connect.json;
    s->asked = json_object();
    if (!s->asked)
        bg_reader_fail_memory(s->use.reader);
}

static bg_scope *add_scope(const bg_value *use)
{
    bg_reader *reader = use->reader;
    if (reader->nscopes == USES)
        bg_value_fail(use, "the model uses more than %d parts; use fewer", USES);
    if (reader->status == BG_OK && reader->nscopes == reader->scope_room) {
        const int room = reader->scope_room > 0 ? 2 * reader->scope_room : 16;
        void *scopes = realloc(reader->scopes, (size_t)room * sizeof *reader->scopes);
        reader->scopes = scopes ? scopes : reader->scopes;
        void *finished = realloc(reader->finished, (size_t)room * sizeof *reader->finished);
        reader->finished = finished ? finished : reader->finished;
        if (scopes && finished)
            reader->scope_room = room;
        else
            bg_reader_fail_memory(reader);
    }
    bg_scope *s = reader->status == BG_OK ? bg_reader_allocate(reader, 1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    reader->scopes[reader->nscopes++] = s;
    s->outer = use->scope;
    s->section = *use->parent;
    s->use = *use;
    s->use.parent = &s->section;
    s->top = (bg_value){.reader = reader, .scope = s};
    if (asprintf(&s->prefix, "%s%s.", s->outer ? s->outer->prefix : "", use->key) < 0) {
        s->prefix = NULL;
        bg_reader_fail_memory(reader);
    }
    return s;
}

/* Names of uses are heads of others, so they are like those of bodies. */
static void check_name(const bg_value *use)
{
    const json_t *top = use->parent->parent->json;
    const bool body = json_object_get(json_object_get(top, "bodies"), use->key) ||
                      strcmp(use->key, "ground") == 0;
    if (*use->key == '\0' || strpbrk(use->key, ".[]={}\""))
        bg_value_fail(use, "the name of a used part must not be empty and must not have any of "
                           ". [ ] = { } \" in it");
    else if (body || json_object_get(json_object_get(top, "joints"), use->key))
        bg_value_fail(use,
                      "there is a %s of this name, whose %s are called '%.80s.NAME', too; choose "
                      "another name",
                      body ? "body" : "joint", body ? "points" : "coordinates", use->key);
}

static void prepare(const bg_value *top, const bg_setting *settings, int nsettings);

static void use_part(const bg_value *use, const bg_setting *settings, int nsettings)
{
    static const char *const keys[] = {"part",       "at",      "orientation", "mirror",
                                       "parameters", "connect", NULL};
    bg_reader *reader = use->reader;
    bg_value_expect(use, keys);
    check_name(use);
    bg_scope *s = reader->status == BG_OK ? add_scope(use) : NULL;
    if (!s || reader->status != BG_OK)
        return;
    read_part(s);
    if (reader->status == BG_OK)
        read_placement(s);
    read_connect(s);
    s->top.json = reader->status == BG_OK ? copy_part(use, s->part) : NULL;
    if (s->top.json) {
        prepare(&s->top, settings, nsettings);
        reader->finished[reader->nfinished++] = s;
    }
}

/* Parameters, what they repeat, the settings, and the parts that are used. Settings may repeat
 * things, too, and may bring keys that do not exist. */
static void prepare(const bg_value *top, const bg_setting *settings, int nsettings)
{
    bg_reader *reader = top->reader;
    if (reader->status == BG_OK)
        reader->status = bg_settings_apply(top, settings, nsettings, true, reader->err);
    expect_keys(top);
    bg_read_parameters(top);
    bg_read_repetitions(top);
    if (reader->status == BG_OK && nsettings > 0) {
        reader->status = bg_settings_apply(top, settings, nsettings, false, reader->err);
        expect_keys(top);
        bg_read_repetitions(top);
    }
    bg_value section = bg_value_member(top, "use"), use;
    if (bg_value_exists(&section) && bg_value_expect_object(&section))
        for (void *i = NULL; bg_value_next(&section, &i, &use);)
            use_part(&use, settings, nsettings);
}

static bool is_used(const bg_reader *reader, const json_t *part)
{
    for (int k = 0; k < reader->nscopes; k++)
        if (reader->scopes[k]->part == part)
            return true;
    return false;
}

/* The copies take the places of the names of parts, which then need not be described any more. */
static void inline_parts(bg_reader *reader)
{
    for (int k = 0; k < reader->nscopes; k++) {
        const bg_scope *s = reader->scopes[k];
        json_object_del(s->top.json, "parts");
        if (json_object_set(s->use.json, "part", s->top.json))
            bg_reader_fail_memory(reader);
    }
    json_object_del(reader->top->json, "parts");
}

void bg_read_parts(const bg_value *top, const bg_setting *settings, int nsettings)
{
    bg_reader *reader = top->reader;
    char *real = realpath(reader->origin, NULL);
    const part_chain here = {NULL, real ? real : ""};
    load_parts(top, &here, 0);
    free(real);
    prepare(top, settings, nsettings);
    bg_value parts = bg_value_member(top, "parts"), v;
    if (bg_value_exists(&parts) && json_is_object(parts.json))
        for (void *i = NULL; bg_value_next(&parts, &i, &v);)
            if (!is_used(reader, v.json))
                bg_reader_warn(reader, BG_DOUBTFUL, "part",
                               "part '%s' is not used; remove it, or use it", v.key);
    if (reader->status == BG_OK)
        inline_parts(reader);
}
