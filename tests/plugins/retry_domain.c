/* A point flies with 2 m/s at a wall that repels it, x'' = -k / (1 - x)^2, and nothing can be
 * computed for x >= 1. With k = 1 it turns at x = 2/3 (from x'^2/2 + k/(1 - x) = 3); with k = 0 it
 * reaches the edge of the domain at t = 0.5 and no step leads on. */
#include "bogie/system.h"

#include <stdlib.h>

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double gap = 1.0 - p->q[0];
    if (!(gap > 0.0))
        return 1;
    if (want & BG_TERM_M)
        out->M[0] = 1.0;
    if (want & BG_TERM_f)
        out->f[0] = -*(const double *)self / (gap * gap);
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const double v0[] = {2.0};
    double *k = malloc(sizeof *k);
    if (!k)
        return bg_error_set(err, BG_NO_MEMORY, "not enough memory");
    *k = values[0];
    def->self = k;
    def->destroy = free;
    def->nq = def->nv = 1;
    def->v0 = v0;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_parameter k = {"k", 1.0, "N m^2", "strength of the wall"};
    static const bg_equations family = {BG_ABI, "retry-domain", "broken on purpose", &k, 1, define};
    return &family;
}
