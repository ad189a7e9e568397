/* A misspelt key, wherever it stands in a model or a study: the message names what was meant. Every
 * key of the files that are shipped is tried, misspelt at random and moved behind the others. */
#include "base/text.h"
#include "bogie/model.h"
#include "folder_support.h"
#include "study/study.h"

#include <glob.h>
#include <jansson.h>

/* Their members have names that the user chooses. */
static const char *const named[] = {"bodies",     "joints", "forces",   "tyres",      "inputs",
                                    "outputs",    "events", "parts",    "use",        "tracks",
                                    "parameters", "points", "profiles", "references", "values",
                                    "limits",     "draws",  "initial",  "connect"};

/* A file whose keys are tried. */
typedef struct trial {
    json_t *root, *seen; /* kinds of places as keys */
    const char *path;    /* of the file, or of a copy that is read */
    bool study;
    uint64_t seed;
    int count;
} trial;

static bool is_named(const char *key)
{
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (strcmp(named[k], key) == 0)
            return true;
    return false;
}

static unsigned draw(uint64_t *seed, unsigned below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 20) % below;
}

/* Leaves a letter out, puts one in, or takes another one. */
static void misspell(uint64_t *seed, const char *key, char *wrong, size_t size)
{
    const int at = (int)draw(seed, (unsigned)strlen(key)), kind = (int)draw(seed, 3);
    const char letter[] = {"aeiostxqz"[draw(seed, 9)], '\0'};
    snprintf(wrong, size, "%.*s%s%s", at, key, kind == 0 ? "" : letter,
             key + at + (kind == 1 ? 0 : 1));
}

static bg_status read_back(const trial *t, bg_error *err)
{
    char *text = json_dumps(t->root, 0);
    assert_non_null(text);
    bg_model *model = NULL;
    bg_study *study = NULL;
    bg_status st;
    if (t->study) {
        write_text(t->path, text);
        st = bg_study_read(t->path, true, &study, err);
    } else {
        st = bg_model_parse(text, t->path, NULL, 0, &model, err);
    }
    bg_model_destroy(model);
    bg_study_destroy(study);
    free(text);
    return st;
}

/* Named, or at least as near to what was written. */
static bool names_it(const char *message, const char *key, const char *wrong)
{
    static const char words[] = "did you mean '";
    char quoted[100];
    const char *hint = strstr(message, words);
    snprintf(quoted, sizeof quoted, "'%s'", key);
    if (!hint)
        return strstr(message, quoted) != NULL;
    hint += sizeof words - 1;
    snprintf(quoted, sizeof quoted, "%.*s", (int)strcspn(hint, "'"), hint);
    return bg_text_calc_distance(quoted, wrong) <= bg_text_calc_distance(key, wrong);
}

static void try_key(trial *t, json_t *object, const char *key)
{
    char wrong[100];
    bg_error err = {0};
    misspell(&t->seed, key, wrong, sizeof wrong);
    if (json_object_get(object, wrong))
        return;
    json_t *copy = json_deep_copy(object), *value = json_incref(json_object_get(object, key));
    json_object_del(object, key);
    assert_int_equal(json_object_set_new(object, wrong, value), 0);
    bg_status st = read_back(t, &err);
    if (st != BG_BAD_INPUT || !names_it(err.text, key, wrong))
        fail_msg("%s: '%s' for '%s': status %d, '%s'", t->path, wrong, key, st, err.text);
    json_object_clear(object); /* as it was, in its order */
    assert_int_equal(json_object_update(object, copy), 0);
    json_decref(copy);
    t->count++;
}

static void walk(trial *t, json_t *json, const char *place, bool names);

/* The keys of an object are a list before one is changed. */
static void walk_object(trial *t, json_t *object, const char *place, bool names)
{
    const char *type = json_string_value(json_object_get(object, "type")), *key;
    json_t *keys = json_object(), *unused;
    assert_int_equal(json_object_update(keys, object), 0);
    json_object_foreach(keys, key, unused)
    {
        char inside[600];
        const bool plain = !names && strlen(key) > 1 && !strpbrk(key, ".:$");
        snprintf(inside, sizeof inside, "%s %s(%s)", place, names ? "" : key, type ? type : "");
        /* Repeated, perhaps never; what is set in a model is read with it. */
        if (strcmp(key, "comment") == 0 || strchr(key, '[') || strncmp(key, "set.", 4) == 0)
            continue;
        if (plain && !json_object_get(t->seen, inside)) {
            json_object_set_new(t->seen, inside, json_true());
            try_key(t, object, key);
        }
        walk(t, json_object_get(object, key), inside, !names && is_named(key));
    }
    json_decref(keys);
}

static void walk(trial *t, json_t *json, const char *place, bool names)
{
    for (size_t k = 0; k < json_array_size(json); k++)
        walk(t, json_array_get(json, k), place, names);
    if (json_is_object(json))
        walk_object(t, json, place, names);
}

static int try_files(const char *pattern, const char *copy)
{
    glob_t files;
    trial t = {.seen = json_object(), .study = copy != NULL, .seed = 20260101};
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        t.path = copy ? copy : files.gl_pathv[k];
        t.root = json_load_file(files.gl_pathv[k], 0, NULL);
        assert_non_null(t.root);
        walk(&t, t.root, "", false);
        json_decref(t.root);
    }
    globfree(&files);
    json_decref(t.seen);
    return t.count;
}

static void keys_of_models(void **state)
{
    (void)state;
    assert_true(try_files(BOGIE_SOURCE_DIR "/models/*.json", NULL) > 300);
}

static void keys_of_studies(void **state)
{
    char copy[PATH], studies[PATH], models[PATH];
    assert_int_equal(mkdir(locate(*state, "studies", studies), 0777), 0);
    assert_int_equal(symlink(BOGIE_SOURCE_DIR "/models", locate(*state, "models", models)), 0);
    locate(*state, "studies/study.json", copy);
    assert_true(try_files(BOGIE_SOURCE_DIR "/studies/*.json", copy) > 100);
}

/* Settings that are taken back, times, and inputs of controllers. */
static void keys_of_few(void **state)
{
    static const struct {
        const char *settings, *meant;
    } studies[] = {{"'t_ebd': 1", "'t_end'"},
                   {"'t_strat': null", "'t_start'"},
                   {"'rtoll': null", "'rtol'"},
                   {"'integrator.projektion': null", "'projection'"}};
    static const char *const inputs[] = {"'rate': true, 'jiont': 'j'", "'jont': 'j'",
                                         "'component': 'x', 'positon': 'b'",
                                         "'axes': 'body', 'component': 'x', 'velosity': 'b'"};
    char path[PATH], text[600];
    bg_error err;
    bg_study *study = NULL;
    bg_model *model = NULL;
    for (size_t k = 0; k < sizeof studies / sizeof *studies; k++) {
        snprintf(text, sizeof text,
                 "{'model': 'equations:pendulum', 'variants': [{'name': 'a', %s}],"
                 "'metrics': [{'key': 'n', 'summary': 'steps.accepted'}]}",
                 studies[k].settings);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        write_text(locate(*state, "few.json", path), text);
        assert_int_equal(bg_study_read(path, true, &study, &err), BG_BAD_INPUT);
        if (!strstr(err.text, studies[k].meant))
            fail_msg("%s: '%s'", studies[k].settings, err.text);
    }
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        snprintf(text, sizeof text,
                 "{'bodies': {'b': {'mass': 1, 'center': [1, 0, 0], 'inertia': [1, 1, 1]}},"
                 "'joints': {'j': {'type': 'revolute', 'bodies': ['ground', 'b'],"
                 "'at': [0, 0, 0], 'axis': [0, 1, 0]}},"
                 "'forces': {'c': {'type': 'controller', 'input': {%s}, 'kp': 1, 'reference': 1,"
                 "'output': {'joint': 'j'}}}}",
                 inputs[k]);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        assert_int_equal(bg_model_parse(text, "few", NULL, 0, &model, &err), BG_BAD_INPUT);
        if (!strstr(err.text, "did you mean '"))
            fail_msg("%s: '%s'", inputs[k], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_models),
                                       cmocka_unit_test(keys_of_studies),
                                       cmocka_unit_test(keys_of_few)};
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
