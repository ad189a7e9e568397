/* x = 0 and x = 1 at once: equal gradients, no solution. */
#include "bogie/system.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1.0;
    if (want & BG_TERM_f)
        out->f[1] = -9.81;
    if (want & BG_TERM_g) {
        out->g[0] = p->q[0];
        out->g[1] = p->q[0] - 1.0;
    }
    if (want & BG_TERM_G)
        out->G[0] = out->G[2] = 1.0;
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    (void)values;
    (void)err;
    static const char *const g_names[] = {"wall_left", "wall_right"};
    def->nq = def->nv = def->ng = 2;
    def->g_names = g_names;
    def->scleronomic = 1;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "contradictory", "broken on purpose", NULL,
                                        0,      define};
    return &family;
}
