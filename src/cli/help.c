/* bogie help: what verbs do and which options they have, on the terminal, as manual pages, and for
 * the completion of shells; all of it from the tables that the command line is read with. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, MARGIN = 28, MAX_LEFT = 128 };

typedef struct help_arguments {
    int man, completion;
} help_arguments;

enum { NO_SHELL = -1, BASH, ZSH };

static const bg_cli_option options[] = {
    {"--man", NULL, NULL, BG_CLI_FLAG, offsetof(help_arguments, man),
     "the manual page instead, for `man -l`"},
    {"--completion", NULL, "bash|zsh", BG_CLI_CHOICE, offsetof(help_arguments, completion),
     "what makes this shell complete command lines of bogie, to be sourced"},
};

const char bg_exit_codes[] =
    "0 done, 1 the computation failed, 2 bad input or usage, 130 stopped by a signal.";

/* Breaks a text into lines of WIDTH columns, the first of which begins at `column`; ends the last.
 */
static void print_wrapped(const char *text, int column, int indent)
{
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        if (strncmp(text, "\n\n", 2) == 0) {
            printf("\n\n%*s", indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
    putchar('\n');
}

static void print_option(const bg_cli_option *option)
{
    char left[MAX_LEFT];
    snprintf(left, sizeof left, "%s%s%s%s%s", option->alias ? option->alias : "",
             option->alias ? ", " : "", option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    int length = printf("  %-*s ", MARGIN, left);
    if (length > MARGIN + 3)
        printf("\n%*s", MARGIN + 3, "");
    print_wrapped(option->summary, MARGIN + 3, MARGIN + 3);
}

static void print_examples(const char *examples)
{
    printf("\nExamples:\n");
    for (const char *line = examples; *line;) {
        int length = (int)strcspn(line, "\n");
        printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

const char *bg_help_explain(const bg_verb *verb)
{
    return verb->explain ? verb->explain
                         : "MODEL is a model file MODEL.json, equations:NAME for a built-in system "
                           "(`bogie list` names them) or a plug-in FILE.so.";
}

void bg_help_print(const bg_verb *verb)
{
    const char *left = verb->operand_optional ? "[" : "",
               *right = verb->operand_optional ? "]" : "";
    printf("bogie %s: %s\n\nUsage: bogie %s", verb->name, verb->summary, verb->name);
    if (verb->operand)
        printf(" %s%s%s", left, verb->operand, right);
    printf(verb->noptions > 0 ? " [OPTION]...\n\n" : "\n\n");
    if (verb->operand)
        print_wrapped(bg_help_explain(verb), 0, 0);
    if (verb->description) {
        printf(verb->operand ? "\n" : "");
        print_wrapped(verb->description, 0, 0);
    }
    printf(verb->noptions > 0 ? "\nOptions:\n" : "");
    for (int i = 0; i < verb->noptions; i++)
        print_option(&verb->options[i]);
    if (verb->examples)
        print_examples(verb->examples);
}

void bg_help_print_program(void)
{
    printf("Bogie simulates constrained mechanical systems.\n\n"
           "Usage: bogie VERB [OPTION]...\n\nVerbs:\n");
    for (const bg_verb *const *verb = bg_verbs_get(); *verb; verb++)
        printf("  %-9s %-8s  %s\n", (*verb)->name, (*verb)->operand ? (*verb)->operand : "",
               (*verb)->summary);
    printf("\n`bogie help VERB` explains a verb, `bogie --version` names the version.\n"
           "Exit codes: %s\n",
           bg_exit_codes);
}

static const bg_verb *find_verb(const char *name)
{
    for (const bg_verb *const *verb = bg_verbs_get(); *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

static int run(const bg_verb *self, int argc, char **argv)
{
    help_arguments args = {.completion = NO_SHELL};
    const char *operand;
    bg_error err = {0};
    if (bg_cli_parse(self, argc, argv, &args, &operand, &err))
        return bg_error_print(&err);
    const bg_verb *verb = operand ? find_verb(operand) : NULL;
    if (operand && !verb)
        return bg_verb_refuse(operand);
    if (args.completion == BASH)
        bg_completion_print_bash(stdout);
    else if (args.completion == ZSH)
        bg_completion_print_zsh(stdout);
    else if (args.man)
        bg_manual_print(stdout, verb);
    else if (verb)
        bg_help_print(verb);
    else
        bg_help_print_program();
    return BG_EXIT_DONE;
}

const bg_verb bg_verb_help = {
    .name = "help",
    .operand = "VERB",
    .operand_kind = BG_CLI_VERB,
    .operand_optional = true,
    .explain = "VERB is one of those that `bogie help` lists.",
    .summary = "explain a verb; manual pages and completion for shells",
    .description = "`bogie VERB --help` says the same as `bogie help VERB`. Where bogie is "
                   "installed, manual pages and completion are, too: `man bogie-run`.",
    .examples = "bogie help study\n. <(bogie help --completion bash)\n"
                "bogie help run --man | man -l -",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
