/* bogie list: the integrators with their options and the built-in equations with their parameters,
 * read from the tables the library itself uses. */
#include "cli/cli.h"

#include <stdio.h>

static void print_integrators(void)
{
    const bg_integrator_info *info;
    printf("Integrators (--integrator NAME, options as --set integrator.OPTION=VALUE):\n");
    for (int i = 0; (info = bg_integrator_get_info(i)); i++) {
        printf("  %-26s %s\n", info->name, info->summary);
        for (int k = 0; k < info->noptions; k++) {
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

static int run(const bg_verb *verb, int argc, char **argv)
{
    const char *operand;
    bg_error err = {0};
    if (bg_cli_parse(verb, argc, argv, NULL, &operand, &err))
        return bg_error_print(&err);
    print_integrators();
    print_equations();
    return BG_EXIT_DONE;
}

const bg_verb bg_verb_list = {
    .name = "list",
    .summary = "name integrators and equations with their options and parameters",
    .run = run,
};
