/* The program `bogie`: finds the verb and turns outcomes into exit codes. */
#include "base/text.h"
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bg_verb *const verbs[] = {
    &bg_verb_new,      &bg_verb_run,   &bg_verb_check,     &bg_verb_report, &bg_verb_study,
    &bg_verb_realtime, &bg_verb_modes, &bg_verb_linearise, &bg_verb_rates,  &bg_verb_stability,
    &bg_verb_design,   &bg_verb_fmu,   &bg_verb_list,      &bg_verb_help,   NULL};
enum { NVERBS = sizeof verbs / sizeof verbs[0] - 1 };

const bg_verb *const *bg_verbs_get(void)
{
    return verbs;
}

int bg_exit_code_find(bg_status status)
{
    switch (status) {
    case BG_OK:
        return BG_EXIT_DONE;
    case BG_STOPPED:
        return BG_EXIT_STOPPED;
    case BG_BAD_INPUT:
    case BG_MISSING:
    case BG_NOT_ASSEMBLED:
    case BG_CONTRADICTORY:
    case BG_REDUNDANT:
    case BG_IO:
        return BG_EXIT_BAD_INPUT;
    default: /* a numerical outcome */
        return BG_EXIT_FAILED;
    }
}

int bg_error_print(const bg_error *err)
{
    fprintf(stderr, "bogie: %s\n", err->text[0] ? err->text : bg_status_text(err->status));
    return bg_exit_code_find(err->status);
}

static int print_version(void)
{
    char *text = bg_version_create_text();
    if (text)
        fputs(text, stdout);
    free(text);
    return text ? BG_EXIT_DONE : BG_EXIT_FAILED;
}

int bg_verb_refuse(const char *name)
{
    const char *names[NVERBS];
    for (int i = 0; i < NVERBS; i++)
        names[i] = verbs[i]->name;
    int nearest = bg_text_find_nearest(name, names, NVERBS);
    if (nearest >= 0)
        fprintf(stderr, "bogie: there is no verb '%s'; did you mean '%s'?\n", name, names[nearest]);
    else
        fprintf(stderr, "bogie: there is no verb '%s'; `bogie --help` lists them\n", name);
    return BG_EXIT_BAD_INPUT;
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static int run_verb(const bg_verb *verb, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (asks_for_help(argv[i])) {
            bg_help_print(verb);
            return BG_EXIT_DONE;
        }
    }
    return verb->run(verb, argc, argv);
}

/* Arguments are printed: a name that a terminal would obey is refused once and for all. */
static const char *find_control(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (const char *c = argv[i]; (c = bg_text_find_control(c)); c++)
            if (*c != '\n' && *c != '\t')
                return argv[i];
    return NULL;
}

static int dispatch(int argc, char **argv)
{
    const char *control = find_control(argc, argv);
    if (control) {
        bg_error err;
        bg_error_set(&err, BG_BAD_INPUT,
                     "the argument '%s' has a control character in it; rename the file or write it "
                     "without",
                     control);
        return bg_error_print(&err);
    }
    if (argc < 2) {
        fprintf(stderr, "bogie: a verb is missing; `bogie --help` lists them\n");
        return BG_EXIT_BAD_INPUT;
    }
    if (asks_for_help(argv[1])) {
        bg_help_print_program();
        return BG_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    for (int i = 0; i < NVERBS; i++)
        if (strcmp(argv[1], verbs[i]->name) == 0)
            return run_verb(verbs[i], argc - 2, argv + 2);
    return bg_verb_refuse(argv[1]);
}

int main(int argc, char **argv)
{
    bg_blas_settle();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit becomes a failed write with a message */
    int code = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == BG_EXIT_DONE) {
        fprintf(stderr, "bogie: the standard output could not be written: %s\n", strerror(errno));
        code = BG_EXIT_BAD_INPUT;
    }
    return code;
}
