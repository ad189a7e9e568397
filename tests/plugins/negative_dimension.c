/* A system that says it has -1 constraints. */
#include "bogie/system.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    (void)p;
    if (want & BG_TERM_M)
        out->M[0] = 1.0;
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    (void)values;
    (void)err;
    def->nq = def->nv = 1;
    def->ng = -1;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "negative-dimension", "broken on purpose", NULL, 0,
                                        define};
    return &family;
}
