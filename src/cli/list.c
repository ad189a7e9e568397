/* bogie list: the integrators with their options, the built-in equations with their parameters, and
 * what model files are made of, read from the tables the library itself uses. */
#include "cli/cli.h"

#include "model/force.h"
#include "model/joint.h"

#include <stdio.h>
#include <string.h>

typedef struct list_arguments {
    int markdown;
} list_arguments;

static const bg_cli_option options[] = {
    {"--markdown", NULL, NULL, BG_CLI_FLAG, offsetof(list_arguments, markdown),
     "the integrators alone, as the table of docs/integrators.md"},
};

/* A bar would end the cell. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\%c" : "%c", *text);
}

static void print_markdown(void)
{
    const char *usual = bg_default_run_options().integrator;
    const bg_integrator_info *info;
    printf("| method | order | of dense output | steps | what it is |\n|---|---|---|---|---|\n");
    for (int i = 0; (info = bg_integrator_get_info(i)); i++) {
        printf("| `%s` | %d | %d | %s | ", info->name, info->order, info->dense_order,
               info->fixed_steps ? "fixed" : "by error");
        print_cell(info->summary);
        printf(strcmp(info->name, usual) == 0 ? "; the default |\n" : " |\n");
    }
}

static void print_integrators(void)
{
    const bg_integrator_info *info;
    printf("Integrators (--integrator NAME, options as --set integrator.OPTION=VALUE):\n");
    for (int i = 0; (info = bg_integrator_get_info(i)); i++) {
        printf("  %-26s %s\n", info->name, info->summary);
        for (int k = 0; k < info->noptions && !info->setting_of; k++) { /* else those of that one */
            const bg_option_info *option = &info->options[k];
            char left[64];
            snprintf(left, sizeof left, "%s=%s", option->name, option->value);
            printf("    %-24s %s", left, option->summary);
            printf(option->choices ? " (%s)\n" : "\n", option->choices);
        }
    }
}

static void print_equations(void)
{
    const bg_equations *const *all = bg_equations_get_all();
    printf("\nEquations (parameters as --set NAME=VALUE):\n");
    for (; *all; all++) {
        const bg_equations *family = *all;
        char left[64];
        snprintf(left, sizeof left, "equations:%s", family->name);
        printf("  %-26s %s\n", left, family->summary);
        for (int k = 0; k < family->nparameters; k++) {
            const bg_parameter *parameter = &family->parameters[k];
            bool has_unit = parameter->unit && parameter->unit[0];
            snprintf(left, sizeof left, "%s=%g%s%s", parameter->name, parameter->value,
                     has_unit ? " " : "", has_unit ? parameter->unit : "");
            printf("    %-24s %s\n", left, parameter->summary ? parameter->summary : "");
        }
    }
}

static void print_joints(void)
{
    printf("\nJoints of model files (\"type\" in \"joints\"):\n");
    for (const bg_joint_class *const *c = bg_joint_get_classes(); *c; c++)
        printf("  %-26s %s\n", (*c)->name, (*c)->summary);
    printf("  %-26s %s\n", "gear", "a fixed ratio between two joint coordinates");
    printf("  %-26s %s\n", "rack-pinion", "a translation that follows a rotation");
}

/* Tyres have a section of their own, in which their type goes without the prefix. */
static void print_forces(bool tyres)
{
    static const char prefix[] = "tyre-";
    size_t length = sizeof prefix - 1;
    printf("\n%s of model files (\"type\" in \"%s\"):\n", tyres ? "Tyres" : "Forces",
           tyres ? "tyres" : "forces");
    for (const bg_force_class *const *c = bg_force_get_classes(); *c; c++) {
        bool is_tyre = strncmp((*c)->name, prefix, length) == 0;
        if (is_tyre == tyres)
            printf("  %-26s %s\n", (*c)->name + (is_tyre ? length : 0), (*c)->summary);
    }
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    const char *operand;
    list_arguments args = {0};
    bg_error err = {0};
    if (bg_cli_parse(verb, argc, argv, &args, &operand, &err))
        return bg_error_print(&err);
    if (args.markdown) {
        print_markdown();
        return BG_EXIT_DONE;
    }
    print_integrators();
    print_equations();
    print_joints();
    print_forces(false);
    print_forces(true);
    return BG_EXIT_DONE;
}

const bg_verb bg_verb_list = {
    .name = "list",
    .summary = "name integrators, equations, joints and forces, with their options",
    .examples = "bogie list",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};
