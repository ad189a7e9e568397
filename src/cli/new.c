/* bogie new: a commented model to start from. The models are those of models/templates/, put into
 * the program as they are: the assembler reads the files. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATE(name)                                               \
    __asm__(".section .rodata\n"                                     \
            ".global bg_new_" #name "\n"                             \
            "bg_new_" #name ":\n"                                    \
            ".incbin \"" BOGIE_MODEL_TEMPLATES "/" #name ".json\"\n" \
            ".byte 0\n"                                              \
            ".previous\n");                                          \
    extern const char bg_new_##name[];

TEMPLATE(pendulum)
TEMPLATE(mechanism)
TEMPLATE(suspension)
TEMPLATE(vehicle)

static const struct template
{
    const char *name, *summary, *text;
}
templates[] = {
    {"pendulum", "a hinge with friction and a stop: one of each section", bg_new_pendulum},
    {"mechanism", "a slider-crank with a motor: a closed loop in a plane", bg_new_mechanism},
    {"suspension", "double wishbones on a bump: hardpoints, wheel angles", bg_new_suspension},
    {"vehicle", "a car that changes lanes: parts, tyres with slip, steering", bg_new_vehicle},
};
enum { COUNT = sizeof templates / sizeof templates[0] };

typedef struct new_arguments {
    const char *output;
} new_arguments;

static const bg_cli_option options[] = {
    {"--output", "-o", "FILE.json", BG_CLI_FILE, offsetof(new_arguments, output),
     "the model, which must not be there yet (default: on stdout)"},
};

static bg_status find(const char *name, const struct template **found, bg_error *err)
{
    char list[256];
    size_t used = 0;
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(templates[i].name, name) == 0) {
            *found = &templates[i];
            return BG_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 templates[i].name);
    }
    return bg_error_set(err, BG_BAD_INPUT, "there is no template '%s'; there are %s", name, list);
}

/* A model that somebody may have worked on is never replaced. */
static bg_status write_model(const struct template *template, const char *path, bg_error *err)
{
    const size_t length = strlen(template->text);
    FILE *file = fopen(path, "wx");
    if (!file && errno == EEXIST)
        return bg_error_set(err, BG_BAD_INPUT, "'%s' is there already; choose another name", path);
    if (!file)
        return bg_error_set(err, BG_IO, "cannot write '%s': %s", path, strerror(errno));
    bool written = fwrite(template->text, 1, length, file) == length;
    int cause = errno;
    if (fclose(file) == 0 && written)
        return BG_OK;
    cause = written ? errno : cause;
    remove(path);
    return bg_error_set(err, BG_IO, "cannot write '%s': %s", path, strerror(cause));
}

static void print_next(const struct template *template, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    int stem = dot && dot > (slash ? slash : path) ? (int)(dot - path) : (int)strlen(path);
    printf("%s: %s\nnow: bogie run %s --html %.*s.html\n", path, template->summary, path, stem,
           path);
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    new_arguments args = {0};
    const char *operand;
    const struct template *template = NULL;
    bg_error err = {0};
    bg_status st = bg_cli_parse(verb, argc, argv, &args, &operand, &err);
    if (st == BG_OK && (operand || args.output))
        st = find(operand ? operand : templates[0].name, &template, &err);
    if (st == BG_OK && args.output)
        st = write_model(template, args.output, &err);
    if (st != BG_OK)
        return bg_error_print(&err);
    if (!template)
        for (int i = 0; i < COUNT; i++)
            printf("%-11s %s\n", templates[i].name, templates[i].summary);
    else if (args.output)
        print_next(template, args.output);
    else
        fputs(template->text, stdout);
    return BG_EXIT_DONE;
}

const bg_verb bg_verb_new = {
    .name = "new",
    .operand = "TEMPLATE",
    .operand_kind = BG_CLI_CHOICE,
    .operand_words = "pendulum|mechanism|suspension|vehicle",
    .operand_optional = true,
    .explain = "TEMPLATE is `pendulum` (unless said otherwise), `mechanism`, `suspension` or "
               "`vehicle`.",
    .summary = "a commented model to start from",
    .description = "Writes a small model in which a comment explains every section. It runs as it "
                   "is; change it step by step. Without template and file it lists the templates.",
    .examples = "bogie new suspension -o mine.json\nbogie run mine.json --html mine.html",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
