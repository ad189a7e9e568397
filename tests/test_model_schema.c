/* docs/model.schema.json: every model of models/ obeys it, and of the broken ones it rejects those
 * whose structure is wrong, as tests/broken-models/expected.txt says; docs/study.schema.json: every
 * study of studies/ obeys it. Schema and reader agree on
 * what a model looks like, however it is changed. The validator knows the part
 * of JSON Schema that the schema uses, and refuses schemas that use more. */
#include "bogie/model.h"

#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MODEL_SCHEMA BOGIE_SOURCE_DIR "/docs/model.schema.json"
#define STUDY_SCHEMA BOGIE_SOURCE_DIR "/docs/study.schema.json"

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        print_message("%s: line %d: %s\n", path, error.line, error.text);
    return json;
}

static json_t *load_schema(const char *path)
{
    json_t *schema = load(path);
    assert_non_null(schema);
    return schema;
}

static bool has_type(const json_t *x, const char *type)
{
    static const char *const names[] = {"object", "array", "string", "number", "boolean"};
    const bool is[] = {json_is_object(x), json_is_array(x), json_is_string(x), json_is_number(x),
                       json_is_boolean(x)};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(type, names[k]) == 0)
            return is[k];
    fail_msg("the schema uses the type '%s'", type);
    return false;
}

static bool validate(json_t *root, json_t *schema, json_t *x);

static json_t *resolve(json_t *root, const char *reference)
{
    const char *prefix = "#/$defs/";
    assert_memory_equal(reference, prefix, strlen(prefix));
    json_t *found = json_object_get(json_object_get(root, "$defs"), reference + strlen(prefix));
    if (!found)
        fail_msg("dangling reference %s", reference);
    return found;
}

static bool validate_any(json_t *root, json_t *list, json_t *x)
{
    for (size_t k = 0; k < json_array_size(list); k++)
        if (validate(root, json_array_get(list, k), x))
            return true;
    return false;
}

static bool validate_enum(json_t *list, json_t *x)
{
    for (size_t k = 0; k < json_array_size(list); k++)
        if (json_equal(json_array_get(list, k), x))
            return true;
    return false;
}

static bool validate_required(json_t *list, json_t *x)
{
    for (size_t k = 0; k < json_array_size(list); k++)
        if (json_is_object(x) && !json_object_get(x, json_string_value(json_array_get(list, k))))
            return false;
    return true;
}

/* Members by "properties", others by "additionalProperties" (a schema or false). */
static bool validate_members(json_t *root, json_t *schema, json_t *x)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *others = json_object_get(schema, "additionalProperties"), *value;
    const char *key;
    json_object_foreach(x, key, value)
    {
        json_t *known = json_object_get(properties, key);
        if (known ? !validate(root, known, value)
                  : json_is_false(others) || (others && !validate(root, others, value)))
            return false;
    }
    return true;
}

static bool validate_items(json_t *root, json_t *items, json_t *x)
{
    for (size_t k = 0; k < json_array_size(x); k++)
        if (!validate(root, items, json_array_get(x, k)))
            return false;
    return true;
}

static bool validate_keyword(json_t *root, json_t *schema, const char *key, json_t *rule, json_t *x)
{
    static const char *const silent[] = {"$schema", "$defs", "title", "description",
                                         "properties"}; /* seen to with additionalProperties */
    for (size_t k = 0; k < sizeof silent / sizeof *silent; k++)
        if (strcmp(key, silent[k]) == 0)
            return true;
    if (strcmp(key, "$ref") == 0)
        return validate(root, resolve(root, json_string_value(rule)), x);
    if (strcmp(key, "anyOf") == 0)
        return validate_any(root, rule, x);
    if (strcmp(key, "enum") == 0)
        return validate_enum(rule, x);
    if (strcmp(key, "type") == 0)
        return has_type(x, json_string_value(rule));
    if (strcmp(key, "required") == 0)
        return validate_required(rule, x);
    if (strcmp(key, "additionalProperties") == 0)
        return validate_members(root, schema, x);
    if (strcmp(key, "items") == 0)
        return validate_items(root, rule, x);
    if (strcmp(key, "minItems") == 0)
        return json_array_size(x) >= (size_t)json_integer_value(rule);
    if (strcmp(key, "maxItems") == 0)
        return json_array_size(x) <= (size_t)json_integer_value(rule);
    fail_msg("the schema uses '%s'", key);
    return false;
}

static bool validate(json_t *root, json_t *schema, json_t *x)
{
    const char *key;
    json_t *rule;
    assert_true(json_is_object(schema));
    json_object_foreach(schema, key, rule)
    {
        if (!validate_keyword(root, schema, key, rule, x))
            return false;
    }
    return true;
}

/* The validator itself, where its answers are known. */
static void test_validator(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *value;
        bool valid;
    } cases[] = {
        {"{\"type\": \"number\"}", "[3]", false},
        {"{\"items\": {\"type\": \"number\"}, \"minItems\": 1}", "[3]", true},
        {"{\"items\": {\"type\": \"number\"}, \"minItems\": 2}", "[3]", false},
        {"{\"maxItems\": 1}", "[3, 4]", false},
        {"{\"items\": {\"enum\": [\"a\", \"b\"]}}", "[\"c\"]", false},
        {"{\"required\": [\"a\"]}", "{\"b\": 1}", false},
        {"{\"properties\": {\"a\": {\"type\": \"string\"}}, \"additionalProperties\": false}",
         "{\"a\": \"x\"}", true},
        {"{\"properties\": {\"a\": {\"type\": \"string\"}}, \"additionalProperties\": false}",
         "{\"a\": 1}", false},
        {"{\"properties\": {\"a\": {\"type\": \"string\"}}, \"additionalProperties\": false}",
         "{\"b\": \"x\"}", false},
        {"{\"additionalProperties\": {\"type\": \"boolean\"}}", "{\"b\": true, \"c\": 1}", false},
        {"{\"anyOf\": [{\"$ref\": \"#/$defs/n\"}, {\"type\": \"array\"}], \"$defs\": {\"n\": "
         "{\"type\": \"object\"}}}",
         "{}", true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        json_t *schema = json_loads(cases[k].schema, 0, NULL);
        json_t *value = json_loads(cases[k].value, 0, NULL);
        assert_int_equal(validate(schema, schema, value), cases[k].valid);
        json_decref(schema);
        json_decref(value);
    }
}

/* All .json files of a folder obey a schema; returns their number. */
static int check_folder(json_t *schema, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/%s", name);
    DIR *folder = opendir(path);
    int count = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".json") != 0)
            continue;
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/%s/%s", name, entry->d_name);
        json_t *model = load(path);
        assert_non_null(model);
        if (!validate(schema, schema, model))
            fail_msg("%s does not obey the schema", entry->d_name);
        json_decref(model);
        count++;
    }
    closedir(folder);
    return count;
}

static void test_models(void **state)
{
    (void)state;
    json_t *schema = load_schema(MODEL_SCHEMA);
    assert_true(check_folder(schema, "models") >= 10);
    json_decref(schema);
}

static void test_studies(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{}",
        "{\"metrics\": []}",
        "{\"metrics\": [\"status\"], \"variant\": []}",
        "{\"metrics\": [{\"eror\": {}}]}",
        "{\"metrics\": [{\"output\": {\"take\": \"max\"}}]}",
        "{\"metrics\": [{\"output\": {\"name\": \"x\", \"take\": \"most\"}}]}",
        "{\"metrics\": [\"status\"], \"variants\": [{\"tol\": 1}]}",
        "{\"metrics\": [\"status\"], \"plots\": [{\"kind\": \"pie\"}]}",
    };
    json_t *schema = load_schema(STUDY_SCHEMA);
    assert_true(check_folder(schema, "studies") >= 7);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        json_t *study = json_loads(wrong[k], 0, NULL);
        assert_non_null(study);
        if (validate(schema, schema, study))
            fail_msg("the schema accepts %s", wrong[k]);
        json_decref(study);
    }
    json_decref(schema);
}

static void test_broken_models(void **state)
{
    (void)state;
    json_t *schema = load_schema(MODEL_SCHEMA);
    FILE *list = fopen(BOGIE_SOURCE_DIR "/tests/broken-models/expected.txt", "r");
    char line[1024], path[1400];
    int rejected = 0;
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        const char *name = strtok(line, "|"), *verdict;
        strtok(NULL, "|");
        verdict = strtok(NULL, "|");
        if (name[0] == '#' || strcmp(verdict, "-") == 0)
            continue;
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/tests/broken-models/%s", name);
        json_t *model = load(path);
        assert_non_null(model);
        bool valid = validate(schema, schema, model);
        if (valid != (strcmp(verdict, "accepts") == 0))
            fail_msg("the schema %s %s", valid ? "accepts" : "rejects", name);
        rejected += !valid;
        json_decref(model);
    }
    fclose(list);
    json_decref(schema);
    assert_true(rejected >= 60);
}

/* One model, changed in one place after the other, for the schema and the reader to judge. */
typedef struct schema_comparison {
    json_t *schema, *model;
    const char *name;
    int changes, rejected, differences;
} schema_comparison;

/* Whether the reader's sentence is about the shape of the file, which the schema describes, too. It
 * does not know that the lists of an input are of one length, from which count of steps on a stair
 * needs a spacing, and which options an integrator has. */
static bool is_structural(const char *sentence)
{
    static const char *const ends[] = {": is missing", ", not an object", ", not a list",
                                       ", not a text", ", not a number",  ", not true or false",
                                       ", not null",   "it is a comment"};
    const size_t length = strlen(sentence);
    if (strstr(sentence, "road.spacing") || strstr(sentence, "run.options.zz"))
        return false;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (length >= strlen(ends[k]) && strcmp(sentence + length - strlen(ends[k]), ends[k]) == 0)
            return true;
    return strstr(sentence, "is not a known key") ||
           (strstr(sentence, "entries, not") && !strstr(sentence, " inputs."));
}

static void compare(schema_comparison *c, const char *path, const char *change)
{
    char *text = json_dumps(c->model, 0);
    bg_model *model = NULL;
    bg_error err = {0};
    bool valid = validate(c->schema, c->schema, c->model);
    bool good = bg_model_parse(text, c->name, NULL, 0, &model, &err) == BG_OK;
    if (good ? !valid : valid && is_structural(err.text)) {
        print_message("%s: %s %s: the schema %s it; the reader: %s\n", c->name, path, change,
                      valid ? "accepts" : "rejects", good ? "is content" : err.text);
        c->differences++;
    }
    c->changes++;
    c->rejected += !valid;
    bg_model_destroy(model);
    free(text);
}

/* Puts a value at a key of an object, or at an index of a list where key is NULL. */
static void put(json_t *in, const char *key, size_t index, json_t *value)
{
    if (key)
        json_object_set(in, key, value);
    else
        json_array_set(in, index, value);
}

/* A value of every type in place of the one at key or index. */
static void replace(schema_comparison *c, json_t *in, const char *key, size_t index,
                    const char *path)
{
    static const char *const values[] = {"null", "true", "7",  "\"1\"",
                                         "[]",   "[1]",  "{}", "{\"zz\": 1}"};
    json_t *old = json_incref(key ? json_object_get(in, key) : json_array_get(in, index));
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        json_t *value = json_loads(values[k], JSON_DECODE_ANY, NULL);
        put(in, key, index, value);
        compare(c, path, values[k]);
        json_decref(value);
    }
    put(in, key, index, old);
    json_decref(old);
}

static void vary(schema_comparison *c, json_t *x, const char *path);

/* One member more, one less, and others. */
static void vary_members(schema_comparison *c, json_t *x, const char *path)
{
    const char *key;
    json_t *value, *members = json_copy(x); /* x changes on the way */
    json_object_set_new(x, "zz", json_integer(1));
    compare(c, path, "with another member");
    json_object_del(x, "zz");
    json_object_foreach(members, key, value)
    {
        char below[256];
        snprintf(below, sizeof below, "%s.%s", path, key);
        json_object_del(x, key);
        compare(c, below, "left out");
        json_object_set(x, key, value);
        replace(c, x, key, 0, below);
        vary(c, value, below);
    }
    json_decref(members);
}

static void vary(schema_comparison *c, json_t *x, const char *path)
{
    if (json_is_object(x))
        vary_members(c, x, path);
    for (size_t k = 0; k < json_array_size(x); k++) {
        char below[256];
        snprintf(below, sizeof below, "%s[%zu]", path, k);
        replace(c, x, NULL, k, below);
        vary(c, json_array_get(x, k), below);
    }
}

static void vary_model(schema_comparison *c, const char *name, const char *road)
{
    char path[1024];
    snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/tests/fuzz/seeds/%s.json", name);
    c->name = name;
    c->model = load(path);
    assert_non_null(c->model);
    if (road)
        json_object_set_new(c->model, "road", json_loads(road, 0, NULL));
    assert_true(validate(c->schema, c->schema, c->model));
    vary(c, road ? json_object_get(c->model, "road") : c->model, "");
    json_decref(c->model);
}

/* Files with every kind of element: after every change of a single member or entry, the reader
 * refuses what the schema rejects, and for its shape nothing else. */
static void test_reader_agrees(void **state)
{
    (void)state;
    static const char *const roads[] = {
        "{\"type\": \"flat\", \"speed\": 1, \"start\": 0, \"base\": 0}",
        "{\"type\": \"bump\", \"height\": 0.1, \"from\": 1, \"length\": 2}",
        "{\"type\": \"half-cylinder\", \"radius\": 0.1, \"at\": 1}",
        ("{\"type\": \"sine\", \"amplitude\": 0.1, \"wavelength\": 2, \"phase\": 0, \"from\": 0, "
         "\"to\": 9}"),
        "{\"type\": \"expression\", \"expression\": \"0.1*x*sin(y)\", \"base\": 0}",
        ("{\"type\": \"grid\", \"x\": [0, 1], \"y\": [0, 1], \"heights\": [[0, 1], [2, 3]], "
         "\"speed\": 1}"),
    };
    schema_comparison c = {.schema = load_schema(MODEL_SCHEMA)};
    vary_model(&c, "joints", NULL);
    vary_model(&c, "forces", NULL);
    vary_model(&c, "tyres", NULL);
    vary_model(&c, "events", NULL);
    vary_model(&c, "parts", NULL);
    for (size_t k = 0; k < sizeof roads / sizeof *roads; k++)
        vary_model(&c, "forces", roads[k]);
    json_decref(c.schema);
    assert_int_equal(c.differences, 0);
    assert_true(c.changes > 5000 && c.rejected > c.changes / 2 && c.rejected < c.changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validator),     cmocka_unit_test(test_models),
        cmocka_unit_test(test_studies),       cmocka_unit_test(test_broken_models),
        cmocka_unit_test(test_reader_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
