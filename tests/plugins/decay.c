/* v' = -rate v from v = 1: the step up to which a method is stable is known from its polynomial. */
#include "bogie/system.h"

#include <stdlib.h>

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double *rate = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = -*rate * p->v[0];
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const double v0[] = {1.0};
    double *rate = malloc(sizeof *rate);
    if (!rate)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory");
    *rate = values[0];
    def->nq = def->nv = 1;
    def->v0 = v0;
    def->self = rate;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->t_end = 1;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_parameter parameters[] = {{"rate", 1000, "1/s", "of the decay"}};
    static const bg_equations family = {BG_ABI,     "decay", "exponential decay",
                                        parameters, 1,       define};
    return &family;
}
