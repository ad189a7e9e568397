/* Options of a verb as a table: parsing, "did you mean", help, manual pages and completion read the
 * same list. */
#ifndef BG_OPTIONS_H
#define BG_OPTIONS_H

#include "bogie/system.h"

#include <stddef.h>

typedef struct bg_verb bg_verb;

typedef enum bg_cli_kind {
    BG_CLI_FLAG, /* int, set to 1 */
    BG_CLI_TEXT, /* const char *; those up to BG_CLI_VERB, too, which tell what to complete with */
    BG_CLI_FILE,
    BG_CLI_MODEL, /* MODEL.json, equations:NAME or FILE.so */
    BG_CLI_STUDY, /* a JSON file */
    BG_CLI_INTEGRATOR,
    BG_CLI_PAIR, /* a pair of tableaus by name, or its JSON file */
    BG_CLI_VERB,
    BG_CLI_NUMBER,   /* double, finite */
    BG_CLI_POSITIVE, /* double > 0 */
    BG_CLI_COUNT,    /* long >= 0 */
    BG_CLI_COUNT_FROM_1,
    BG_CLI_CHOICE, /* int, index of the word in `argument`, words separated by | */
    BG_CLI_SETTING /* bg_cli_settings, NAME=VALUE added */
} bg_cli_kind;

typedef struct bg_cli_option {
    const char *name;     /* "--rtol" */
    const char *alias;    /* "-o", or NULL */
    const char *argument; /* what help calls the value; NULL for a flag */
    bg_cli_kind kind;
    size_t offset;       /* of the field in the verb's structure */
    const char *summary; /* `code` between backticks */
} bg_cli_option;

/* NAME=VALUE pairs in the order given; the texts belong to argv. */
typedef struct bg_cli_settings {
    bg_setting *items;
    int count;
} bg_cli_settings;

/* Reads the arguments of a verb into the fields of target and the operand into *operand.
 * `--option value` and `--option=value` are the same; NAME=VALUE texts of argv are cut in two.
 * Settings are allocated: release them with bg_cli_settings_clear, also after failure. */
bg_status bg_cli_parse(const bg_verb *verb, int argc, char **argv, void *target,
                       const char **operand, bg_error *err);
/* Moves the settings whose name starts with prefix to the end, without it, keeping the order on
 * both sides. Returns how many are left before them. */
int bg_cli_settings_split(bg_cli_settings *settings, const char *prefix);
void bg_cli_settings_clear(bg_cli_settings *settings);

#endif
