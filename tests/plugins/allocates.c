/* v' = -v with memory asked for at every evaluation: what counts allocations must see them. */
#include "bogie/system.h"

#include <stdlib.h>

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    double *volatile rate = malloc(sizeof *rate);
    (void)self;
    if (!rate)
        return -1;
    *rate = -p->v[0];
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = *rate;
    free(rate);
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const double v0[] = {1.0};
    (void)values;
    (void)err;
    def->nq = def->nv = 1;
    def->v0 = v0;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->t_end = 1;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "allocates", "decay that allocates",
                                        NULL,   0,           define};
    return &family;
}
