#include "equations.h"

#include <math.h>

bg_status bg_parameters_check(const bg_equations *family, const double *values, const char *ranges,
                              bg_error *err)
{
    for (int i = 0; i < family->nparameters; i++) {
        const double value = values[i];
        const char *rule = NULL;
        if (!isfinite(value))
            rule = "finite";
        else if (ranges[i] == '+' && value <= 0.0)
            rule = "positive";
        else if (ranges[i] == '0' && value < 0.0)
            rule = "zero or positive";
        if (rule)
            return bg_error_set(err, BG_BAD_INPUT, "parameter %s of %s is %g; it must be %s",
                                family->parameters[i].name, family->name, value, rule);
    }
    return BG_OK;
}

bg_status bg_equations_no_memory(const bg_equations *family, bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "not enough memory for the system %s", family->name);
}
