/* Model files that cannot be: each of tests/broken-models gives its sentence, and no change of a
 * valid text does more than that. */
#include "bogie/model.h"
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER BOGIE_SOURCE_DIR "/tests/broken-models/"

/* One line of expected.txt: file | read or run | schema | fragment. */
static void check_line(char *line, int *read, int *run)
{
    char *field[4], path[1400];
    field[0] = line;
    for (int k = 1; k < 4; k++) {
        char *bar = strchr(field[k - 1], '|');
        assert_non_null(bar);
        *bar = '\0';
        field[k] = bar + 1;
    }
    field[3][strcspn(field[3], "\n")] = '\0';
    snprintf(path, sizeof path, FOLDER "%s", field[0]);
    bg_model *model = (bg_model *)1; /* must be cleared, also by a failure */
    bg_error err = {BG_OK, ""};
    bg_status st = bg_model_read(path, NULL, 0, &model, &err);
    if (strcmp(field[1], "run") == 0) {
        assert_int_equal(st, BG_OK);
        bg_model_destroy(model);
        ++*run;
        return;
    }
    assert_null(model);
    assert_int_equal(st, BG_BAD_INPUT);
    assert_int_equal(err.status, BG_BAD_INPUT);
    assert_memory_equal(err.text, path, strlen(path)); /* the message names the file first */
    if (!strstr(err.text, field[3]))
        fail_msg("%s: expected '%s', got '%s'", field[0], field[3], err.text);
    assert_null(strchr(err.text, '\n')); /* one sentence */
    ++*read;
}

static void test_broken_models(void **state)
{
    (void)state;
    FILE *list = fopen(FOLDER "expected.txt", "r");
    char line[1024];
    int read = 0, run = 0;
    assert_non_null(list);
    while (fgets(line, sizeof line, list))
        if (line[0] != '#')
            check_line(line, &read, &run);
    fclose(list);
    assert_true(read >= 150);
    assert_true(run >= 5);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    bg_model *model;
    bg_error err;
    assert_int_equal(bg_model_read(FOLDER "nowhere.json", NULL, 0, &model, &err), BG_IO);
    assert_non_null(strstr(err.text, "nowhere.json: cannot be read: No such file"));
    assert_null(model);
    assert_int_equal(bg_model_read(FOLDER, NULL, 0, &model, &err), BG_IO);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_int_equal(bg_model_parse("", "text", NULL, 0, &model, NULL), BG_BAD_INPUT);
}

/* A generator that is the same everywhere (xorshift). */
static unsigned draw(uint64_t *seed, unsigned below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 20) % below;
}

/* Overwrites, cuts, repeats or inserts something small somewhere; returns the new length. */
static size_t mutate(uint64_t *seed, char *text, size_t length, size_t room)
{
    static const char *const tokens[] = {
        "{",       "}",        "[",          "]",       ",",        ":",      "\"",
        "-1",      "0",        "1e308",      "\"x\"",   "null",     "true",   "[]",
        "{}",      "\"1/0\"",  "\"t\"",      "\"rod\"", "\"\"",     "1e-308", "\"2*a\"",
        "\\u0041", "\xC3\xA4", "\"ground\"", "{i}",     "[i=1..9]", ".."};
    const char *token = tokens[draw(seed, sizeof tokens / sizeof *tokens)];
    size_t at = draw(seed, (unsigned)length), n = 1 + draw(seed, 12), size = strlen(token);
    if (at + n > length)
        n = length - at;
    switch (draw(seed, 4)) {
    case 0: /* another byte */
        text[at] = (char)(1 + draw(seed, 255));
        return length;
    case 1: /* cut */
        memmove(text + at, text + at + n, length - at - n + 1);
        return length - n;
    case 2: /* repeat */
        if (length + n + 1 > room)
            return length;
        memmove(text + at + n, text + at, length - at + 1);
        return length + n;
    default: /* a token instead of what is there */
        if (length + size + 1 > room)
            return length;
        memmove(text + at + size, text + at + n, length - at - n + 1);
        memcpy(text + at, token, size);
        return length - n + size;
    }
}

static char *load(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

/* Whatever the text: a model or a sentence. */
static void check_text(const char *text, long *read)
{
    bg_model *model;
    bg_error err = {BG_OK, ""};
    bg_status st = bg_model_parse(text, "mutation", NULL, 0, &model, &err);
    assert_int_equal(model != NULL, st == BG_OK);
    if (st != BG_OK) {
        assert_int_equal(st, BG_BAD_INPUT);
        assert_true(strlen(err.text) > strlen("mutation: "));
    }
    *read += st == BG_OK;
    bg_model_destroy(model);
}

static void test_mutations(void **state)
{
    (void)state;
    static const char *const models[] = {
        "five-link-suspension",      "double-wishbone", "slider-crank-3d",
        "iftomm-a03-andrews",        "gyroscope",       "../tests/laws",
        "../tests/fuzz/seeds/parts", "n-pendulum"};
    enum { MODELS = sizeof models / sizeof *models, COUNT = 10000 };
    uint64_t seed = 0x9E3779B97F4A7C15u;
    long read = 0;
    for (int k = 0; k < MODELS; k++) {
        char path[1024];
        size_t length, room;
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", models[k]);
        char *text = load(path, &length), *changed = malloc(room = length + 256);
        assert_non_null(changed);
        for (int i = 0; i < COUNT / MODELS; i++) {
            memcpy(changed, text, length + 1);
            size_t n = length;
            for (unsigned j = 1 + draw(&seed, 3); j > 0; j--)
                n = mutate(&seed, changed, n, room);
            check_text(changed, &read);
        }
        free(text);
        free(changed);
    }
    /* some mutations change only numbers and comments: the test reaches behind the syntax */
    assert_true(read > COUNT / 20);
    assert_true(read < COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_models),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
