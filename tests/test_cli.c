/* The command line reader: values arrive in the right fields, and wrong ones are named. */
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct cli_fields {
    int flag, choice;
    const char *text;
    double number, positive;
    long count;
    bg_cli_settings settings;
} cli_fields;

static const bg_cli_option options[] = {
    {"--flag", NULL, NULL, BG_CLI_FLAG, offsetof(cli_fields, flag), ""},
    {"--choice", NULL, "first|second|third", BG_CLI_CHOICE, offsetof(cli_fields, choice), ""},
    {"--text", "-t", "TEXT", BG_CLI_TEXT, offsetof(cli_fields, text), ""},
    {"--number", NULL, "X", BG_CLI_NUMBER, offsetof(cli_fields, number), ""},
    {"--positive", NULL, "X", BG_CLI_POSITIVE, offsetof(cli_fields, positive), ""},
    {"--count", NULL, "N", BG_CLI_COUNT, offsetof(cli_fields, count), ""},
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, offsetof(cli_fields, settings), ""},
};
static const bg_verb verb = {.name = "try", .operand = "MODEL", .options = options, .noptions = 7};

enum { MAX_ARGUMENTS = 16, MAX_LINE = 256 };

/* A line of arguments separated by blanks, as the shell would hand it over. */
typedef struct command_line {
    char text[MAX_LINE];
    char *argv[MAX_ARGUMENTS];
    int argc;
    cli_fields fields;
    const char *operand;
    bg_error err;
} command_line;

static bg_status parse(command_line *line, const char *text)
{
    memset(line, 0, sizeof *line);
    assert_true(strlen(text) < MAX_LINE);
    strcpy(line->text, text);
    char *rest = line->text;
    for (char *word; (word = strsep(&rest, " "));)
        line->argv[line->argc++] = word;
    return bg_cli_parse(&verb, line->argc, line->argv, &line->fields, &line->operand, &line->err);
}

static void test_values_reach_their_fields(void **state)
{
    (void)state;
    command_line line;
    assert_int_equal(parse(&line, "--flag model.so --choice second --text=a=b --number -1.5e-3 "
                                  "--positive=0.125 --count 12"),
                     BG_OK);
    assert_string_equal(line.operand, "model.so");
    assert_int_equal(line.fields.flag, 1);
    assert_int_equal(line.fields.choice, 1);
    assert_string_equal(line.fields.text, "a=b");
    assert_true(line.fields.number == -1.5e-3);
    assert_true(line.fields.positive == 0.125);
    assert_int_equal(line.fields.count, 12);

    assert_int_equal(parse(&line, "m -t first --text last"), BG_OK);
    assert_string_equal(line.fields.text, "last");
}

static void test_settings_are_split_in_order(void **state)
{
    (void)state;
    command_line line;
    assert_int_equal(
        parse(&line, "m --set i.a=1 --set b=2 --set=i.c=x=y --set d= --set i.e=5 --set f=6"),
        BG_OK);
    bg_cli_settings *settings = &line.fields.settings;
    assert_int_equal(settings->count, 6);
    assert_int_equal(bg_cli_settings_split(settings, "i."), 3);
    const char *expected[][2] = {{"b", "2"}, {"d", ""},    {"f", "6"},
                                 {"a", "1"}, {"c", "x=y"}, {"e", "5"}};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(settings->items[i].name, expected[i][0]);
        assert_string_equal(settings->items[i].value, expected[i][1]);
    }
    bg_cli_settings_clear(settings);
    assert_int_equal(settings->count, 0);
    assert_int_equal(bg_cli_settings_split(settings, "i."), 0);
}

static void test_wrong_lines_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        /* line, what the message must name */
        {"m --flg", "'--flag'"},
        {"m --numbre 1", "'--number'"},
        {"m --zzzzzzzzzz", "--help"},
        {"m --flag=1", "'1'"},
        {"m --text", "--text TEXT"},
        {"m --text --flag", "--text TEXT"},
        {"m --text=", "--text"},
        {"m --number 1s", "'1s'"},
        {"m --number nan", "'nan'"},
        {"m --number inf", "'inf'"},
        {"m --number=", "''"},
        {"m --positive 0", "--positive"},
        {"m --positive -2", "-2"},
        {"m --positive NaN", "'NaN'"},
        {"m --count -1", "'-1'"},
        {"m --count 1e3", "'1e3'"},
        {"m --count 99999999999999999999", "'99999999999999999999'"},
        {"m --choice sec", "first|second|third"},
        {"m --choice third|", "'third|'"},
        {"m --set name", "'name'"},
        {"m --set =3", "NAME=VALUE"},
        {"m n", "'n'"},
        {"--flag", "MODEL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        command_line line;
        assert_int_equal(parse(&line, cases[i][0]), BG_BAD_INPUT);
        if (!strstr(line.err.text, cases[i][1]))
            fail_msg("'%s': \"%s\" lacks %s", cases[i][0], line.err.text, cases[i][1]);
        bg_cli_settings_clear(&line.fields.settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_reach_their_fields),
        cmocka_unit_test(test_settings_are_split_in_order),
        cmocka_unit_test(test_wrong_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
