#include "cli/options.h"

#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 64, MAX_WORD = 64 };

/* An argument taken apart: `--rtol=1e-8` has name "--rtol" and value "1e-8". */
typedef struct argument {
    char name[MAX_WORD];
    char *value; /* NULL: in the next argument, or none */
} argument;

static argument split(char *text)
{
    char *equals = strchr(text, '=');
    argument arg = {.value = equals ? equals + 1 : NULL};
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    snprintf(arg.name, sizeof arg.name, "%.*s", (int)length, text);
    return arg;
}

static const bg_cli_option *find_option(const bg_verb *verb, const char *name)
{
    for (int i = 0; i < verb->noptions; i++) {
        const bg_cli_option *option = &verb->options[i];
        if (strcmp(option->name, name) == 0 || (option->alias && strcmp(option->alias, name) == 0))
            return option;
    }
    return NULL;
}

static bg_status refuse_option(const bg_verb *verb, const char *name, bg_error *err)
{
    const char *names[MAX_NAMES];
    assert(verb->noptions <= MAX_NAMES);
    for (int i = 0; i < verb->noptions; i++)
        names[i] = verb->options[i].name;
    int nearest = bg_text_find_nearest(name, names, verb->noptions);
    if (nearest >= 0)
        return bg_error_set(err, BG_BAD_INPUT, "bogie %s has no option '%s'; did you mean '%s'?",
                            verb->name, name, names[nearest]);
    return bg_error_set(err, BG_BAD_INPUT,
                        "bogie %s has no option '%s'; `bogie %s --help` lists them", verb->name,
                        name, verb->name);
}

static bg_status read_number(const bg_cli_option *option, const char *text, double *x,
                             bg_error *err)
{
    if (!bg_text_to_double(text, x))
        return bg_error_set(err, BG_BAD_INPUT, "%s needs a number, not '%s'", option->name, text);
    if (option->kind == BG_CLI_POSITIVE && !(*x > 0))
        return bg_error_set(err, BG_BAD_INPUT, "%s must be greater than zero, not %s", option->name,
                            text);
    return BG_OK;
}

static bg_status read_count(const bg_cli_option *option, const char *text, long *n, bg_error *err)
{
    long least = option->kind == BG_CLI_COUNT_FROM_1, x;
    if (!bg_text_to_count(text, &x) || x < least)
        return bg_error_set(err, BG_BAD_INPUT, "%s needs a whole number from %ld on, not '%s'",
                            option->name, least, text);
    *n = x;
    return BG_OK;
}

static bg_status read_choice(const bg_cli_option *option, const char *text, int *choice,
                             bg_error *err)
{
    size_t length = strlen(text);
    int index = 0;
    for (const char *word = option->argument; *word; index++) {
        size_t n = strcspn(word, "|");
        if (n == length && strncmp(word, text, n) == 0) {
            *choice = index;
            return BG_OK;
        }
        word += n + (word[n] == '|');
    }
    return bg_error_set(err, BG_BAD_INPUT, "%s is one of %s, not '%s'", option->name,
                        option->argument, text);
}

static bg_status add_setting(const bg_cli_option *option, char *text, int capacity,
                             bg_cli_settings *settings, bg_error *err)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return bg_error_set(err, BG_BAD_INPUT, "%s needs NAME=VALUE, not '%s'", option->name, text);
    if (!settings->items)
        settings->items = BG_NEW_ARRAY(bg_setting, capacity);
    if (!settings->items)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while reading %s", option->name);
    *equals = '\0';
    settings->items[settings->count++] = (bg_setting){.name = text, .value = equals + 1};
    return BG_OK;
}

/* capacity: more settings than arguments cannot come. */
static bg_status store(const bg_cli_option *option, char *value, int capacity, void *target,
                       bg_error *err)
{
    void *field = (char *)target + option->offset;
    switch (option->kind) {
    case BG_CLI_FLAG:
        *(int *)field = 1;
        return BG_OK;
    case BG_CLI_TEXT:
    case BG_CLI_FILE:
    case BG_CLI_MODEL:
    case BG_CLI_STUDY:
    case BG_CLI_INTEGRATOR:
    case BG_CLI_PAIR:
    case BG_CLI_VERB:
        if (*value == '\0')
            return bg_error_set(err, BG_BAD_INPUT, "%s needs a value %s that is not empty",
                                option->name, option->argument);
        *(const char **)field = value;
        return BG_OK;
    case BG_CLI_NUMBER:
    case BG_CLI_POSITIVE:
        return read_number(option, value, field, err);
    case BG_CLI_COUNT:
    case BG_CLI_COUNT_FROM_1:
        return read_count(option, value, field, err);
    case BG_CLI_CHOICE:
        return read_choice(option, value, field, err);
    case BG_CLI_SETTING:
        return add_setting(option, value, capacity, field, err);
    }
    return BG_OK;
}

/* Reads the option at argv[*i] and moves *i to the last argument it used. */
static bg_status read_option(const bg_verb *verb, int argc, char **argv, int *i, void *target,
                             bg_error *err)
{
    argument arg = split(argv[*i]);
    const bg_cli_option *option = find_option(verb, arg.name);
    if (!option)
        return refuse_option(verb, arg.name, err);
    if (option->kind == BG_CLI_FLAG && arg.value)
        return bg_error_set(err, BG_BAD_INPUT, "%s takes no value, but '%s' was given", arg.name,
                            arg.value);
    if (option->kind != BG_CLI_FLAG && !arg.value) {
        if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0)
            return bg_error_set(err, BG_BAD_INPUT, "%s needs a value: %s %s", arg.name, arg.name,
                                option->argument);
        arg.value = argv[++*i];
    }
    return store(option, arg.value, argc, target, err);
}

bg_status bg_cli_parse(const bg_verb *verb, int argc, char **argv, void *target,
                       const char **operand, bg_error *err)
{
    *operand = NULL;
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            bg_status status = read_option(verb, argc, argv, &i, target, err);
            if (status)
                return status;
        } else if (!verb->operand) {
            return bg_error_set(err, BG_BAD_INPUT, "bogie %s takes no '%s'", verb->name, argv[i]);
        } else if (*operand) {
            return bg_error_set(err, BG_BAD_INPUT,
                                "bogie %s takes one %s, but both '%s' and '%s' were given",
                                verb->name, verb->operand, *operand, argv[i]);
        } else {
            *operand = argv[i];
        }
    }
    if (verb->operand && !*operand && !verb->operand_optional)
        return bg_error_set(err, BG_BAD_INPUT, "bogie %s needs a %s: %s", verb->name, verb->operand,
                            verb->explain
                                ? verb->explain
                                : "MODEL.json, equations:NAME (see `bogie list`) or FILE.so");
    return BG_OK;
}

int bg_cli_settings_split(bg_cli_settings *settings, const char *prefix)
{
    size_t length = strlen(prefix);
    int before = 0;
    for (int i = 0; i < settings->count; i++) {
        bg_setting item = settings->items[i];
        if (strncmp(item.name, prefix, length) == 0)
            continue;
        memmove(&settings->items[before + 1], &settings->items[before],
                (size_t)(i - before) * sizeof item);
        settings->items[before++] = item;
    }
    for (int i = before; i < settings->count; i++)
        settings->items[i].name += length;
    return before;
}

void bg_cli_settings_clear(bg_cli_settings *settings)
{
    free(settings->items);
    *settings = (bg_cli_settings){0};
}
