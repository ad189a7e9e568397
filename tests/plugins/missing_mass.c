/* A system that supplies forces but no mass matrix and no accelerate. */
#include "bogie/system.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_f)
        out->f[0] = -p->q[0];
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    (void)values;
    (void)err;
    def->nq = def->nv = 1;
    def->supplied = BG_TERM_f;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "missing-mass", "broken on purpose", NULL,
                                        0,      define};
    return &family;
}
