/* Manual pages in roff (man(7)): of the program, and of each verb from its table. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* One character as roff reads it. */
static void print_char(FILE *file, char c)
{
    fprintf(file, c == '-' ? "\\-" : c == '\\' ? "\\e" : "%c", c);
}

/* A text without marks: no line of it begins with what roff would obey. */
static void print_plain(FILE *file, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        print_char(file, text[i]);
}

/* A text with `code` in bold and an empty line between paragraphs. */
static void print_text(FILE *file, const char *text)
{
    bool bold = false;
    fputs("\\&", file);
    for (; *text; text++) {
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fP", file);
        } else if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n.PP\n\\&", file);
            text++;
        } else {
            print_char(file, *text);
        }
    }
    fputc('\n', file);
}

static void print_section(FILE *file, const char *title, const char *text)
{
    fprintf(file, ".SH %s\n", title);
    print_text(file, text);
}

static void print_name(FILE *file, const char *name, const char *argument)
{
    fputs("\\fB", file);
    print_plain(file, name, strlen(name));
    fputs("\\fP", file);
    if (argument) {
        fputs(" \\fI", file);
        print_plain(file, argument, strlen(argument));
        fputs("\\fP", file);
    }
}

static void print_option(FILE *file, const bg_cli_option *option)
{
    fputs(".TP\n", file);
    if (option->alias) {
        print_name(file, option->alias, option->argument);
        fputs(", ", file);
    }
    print_name(file, option->name, option->argument);
    fputc('\n', file);
    print_text(file, option->summary);
}

static void print_title(FILE *file, const char *verb, const char *summary)
{
    fputs(".TH BOGIE", file);
    if (verb)
        fputc('-', file);
    for (const char *c = verb ? verb : ""; *c; c++)
        fputc(toupper((unsigned char)*c), file);
    fprintf(file, " 1 \"\" \"bogie %s\" \"User Commands\"\n.SH NAME\nbogie%s%s \\- ", BG_VERSION,
            verb ? "\\-" : "", verb ? verb : "");
    print_text(file, summary);
}

static void print_synopsis(FILE *file, const bg_verb *verb)
{
    fprintf(file, "\\fBbogie %s\\fP", verb->name);
    if (verb->operand) {
        fprintf(file, verb->operand_optional ? " [\\fI" : " \\fI");
        print_plain(file, verb->operand, strlen(verb->operand));
        fprintf(file, verb->operand_optional ? "\\fP]" : "\\fP");
    }
    fputs(verb->noptions > 0 ? " [\\fIOPTION\\fP]...\n" : "\n", file);
}

static void print_exit_codes(FILE *file)
{
    print_section(file, "EXIT STATUS", bg_exit_codes);
}

static void print_verb(FILE *file, const bg_verb *verb)
{
    print_title(file, verb->name, verb->summary);
    fputs(".SH SYNOPSIS\n", file);
    print_synopsis(file, verb);
    fputs(".SH DESCRIPTION\n", file);
    if (verb->operand)
        print_text(file, bg_help_explain(verb));
    if (verb->description) {
        fputs(".PP\n", file);
        print_text(file, verb->description);
    }
    if (verb->noptions > 0)
        print_section(file, "OPTIONS",
                      "Options may be written `--option value` or `--option=value`.");
    for (int i = 0; i < verb->noptions; i++)
        print_option(file, &verb->options[i]);
    if (verb->examples) {
        fputs(".SH EXAMPLES\n.nf\n", file);
        for (const char *line = verb->examples; *line;) {
            size_t length = strcspn(line, "\n");
            fputs("\\&", file);
            print_plain(file, line, length);
            fputc('\n', file);
            line += length + (line[length] == '\n');
        }
        fputs(".fi\n", file);
    }
    print_exit_codes(file);
    fputs(".SH SEE ALSO\n\\fBbogie\\fP(1)\n", file);
}

static void print_program(FILE *file)
{
    const bg_verb *const *verbs = bg_verbs_get();
    print_title(file, NULL, "simulate constrained mechanical systems");
    fputs(".SH SYNOPSIS\n", file);
    for (int i = 0; verbs[i]; i++) {
        print_synopsis(file, verbs[i]);
        fputs(".br\n", file);
    }
    fputs("\\fBbogie \\-\\-version\\fP\n", file);
    print_section(
        file, "DESCRIPTION",
        "`bogie` integrates the equations of motion of mechanical systems with constraints "
        "(differential-algebraic equations), keeps the constraints on position, velocity and "
        "acceleration level, and ends every run with a certificate that says how far the result "
        "can be trusted. Each verb has a page of its own, such as `bogie-run`(1).\n\n"
        "MODEL is the path of a model file MODEL.json, in which bodies, joints and forces are "
        "described (docs/model.md), `equations:NAME` for a built-in system (see `bogie list`), or "
        "the path of a plug-in FILE.so, a shared object that exports the function "
        "`bogie_equations`.");
    fputs(".SH VERBS\n", file);
    for (int i = 0; verbs[i]; i++) {
        fprintf(file, ".TP\n\\fBbogie\\-%s\\fP(1)\n", verbs[i]->name);
        print_text(file, verbs[i]->summary);
    }
    print_section(
        file, "FILES",
        "An output replaces a file only when that is empty or an earlier output of the same kind, "
        "which its content tells; anything else is refused before the work begins. Symbolic links "
        "are written through. While a file is written, NAME.partial stands beside it. A result or "
        "checkpoint that one run is writing to is refused to another.");
    print_exit_codes(file);
    print_text(
        file,
        "\n\nAfter 0, redundant constraints may have been left out and reported. After 1, the "
        "message says why and how far the computation came; results up to there are kept. 2 "
        "stands for a mistake in a model file (the message has its path), an unknown name, a value "
        "out of range, a file that cannot be read or written, a plug-in that cannot be used, "
        "constraints that cannot be satisfied; when nothing was computed, files of earlier runs "
        "are as they were. A first SIGINT (Ctrl-C) or SIGTERM saves everything; a second one, half "
        "a second later or more, ends the program at once.");
    print_section(file, "ENVIRONMENT",
                  "`OPENBLAS_NUM_THREADS`, `OPENBLAS_CORETYPE`: threads and kernels of the linear "
                  "algebra. Where they are not set, the program sets one thread and the kernels "
                  "that fit the processor.");
}

void bg_manual_print(FILE *file, const bg_verb *verb)
{
    if (verb)
        print_verb(file, verb);
    else
        print_program(file);
}
