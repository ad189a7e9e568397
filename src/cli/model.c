#include "cli/cli.h"

bg_problem_def bg_cli_make_def(const char *reference, int formulation,
                               const bg_cli_settings *settings)
{
    bg_problem_def def = bg_default_problem_def();
    def.reference = reference;
    def.settings = settings->items;
    def.nsettings = settings->count;
    def.formulation = formulation == BG_FORMULATION_JOINT       ? "joint"
                      : formulation == BG_FORMULATION_CARTESIAN ? "cartesian"
                                                                : NULL;
    return def;
}
