/* Every example of docs/how-to.md is read without an error, put into a model that has the bodies
 * and joints they speak of. */
#include "bogie/model.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const bodies[] = {"rod",   "ball", "wheel", "body",  "arm",
                                     "bogie", "car",  "lower", "upper", "shaft"};
static const char *const points[][2] = {
    {"body", "top"}, {"arm", "eye"}, {"lower", "ball"}, {"upper", "ball"}};
static const char *const hinges[] = {"hinge", "rod", "wheel", "spindle"};

static json_t *make_frame(void)
{
    json_t *m = json_object(), *all = json_object(), *joints = json_object();
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        json_t *b = json_pack("{s:i, s:[f,f,f], s:[i,i,i]}", "mass", 1, "center", 0.1 * (double)k,
                              0.7, 0.1, "inertia", 1, 1, 1);
        for (size_t i = 0; i < sizeof points / sizeof *points; i++)
            if (strcmp(points[i][0], bodies[k]) == 0)
                json_object_set_new(b, "points",
                                    json_pack("{s:[f,f,f]}", points[i][1], 0.3, 0.5, (double)k));
        json_object_set_new(all, bodies[k], b);
    }
    for (size_t k = 0; k < sizeof hinges / sizeof *hinges; k++)
        json_object_set_new(joints, hinges[k],
                            json_pack("{s:s, s:[s,s], s:[i,i,i], s:[i,i,i]}", "type", "revolute",
                                      "bodies", "ground", bodies[k], "at", 0, 0, 0, "axis", 0, 1,
                                      0));
    json_object_set_new(m, "bodies", all);
    json_object_set_new(m, "joints", joints);
    json_object_set_new(m, "inputs", json_pack("{s:i}", "pedal", 0));
    return m;
}

/* Members of sections are added to those that are there. */
static void merge(json_t *model, json_t *example)
{
    const char *key;
    json_t *value;
    json_object_foreach(example, key, value)
    {
        json_t *there = json_object_get(model, key);
        if (json_is_object(there) && json_is_object(value))
            json_object_update(there, value);
        else
            json_object_set(model, key, value);
    }
}

static void check(const char *text, int number)
{
    bg_error err = {BG_OK, ""};
    json_error_t error;
    bg_model *read;
    json_t *example = json_loads(text, 0, &error), *model = make_frame();
    if (!example)
        fail_msg("example %d: %s\n%s", number, error.text, text);
    merge(model, example);
    char *whole = json_dumps(model, JSON_REAL_PRECISION(17));
    if (bg_model_parse(whole, "how-to", NULL, 0, &read, &err) != BG_OK)
        fail_msg("example %d: %s\n%s", number, err.text, text);
    bg_model_destroy(read);
    free(whole);
    json_decref(model);
    json_decref(example);
}

static void examples_are_read(void **state)
{
    (void)state;
    FILE *in = fopen(BOGIE_SOURCE_DIR "/docs/how-to.md", "r");
    char line[1024], text[8192] = "";
    bool inside = false;
    int number = 0;
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        const bool fence = strncmp(line, "```", 3) == 0;
        if (fence && inside) {
            strcat(text, "}");
            check(text, ++number);
        } else if (fence) {
            strcpy(text, "{");
        } else if (inside) {
            assert_true(strlen(text) + strlen(line) + 2 < sizeof text);
            strcat(text, line);
        }
        inside = fence ? !inside : inside;
    }
    fclose(in);
    assert_true(number >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
