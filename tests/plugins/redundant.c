/* A pendulum whose rod is there twice: consistent, but only the sum of its forces is unique. */
#include "bogie/system.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    const double g = p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1.0;
    if (want & BG_TERM_f)
        out->f[1] = -9.81;
    if (want & BG_TERM_g) {
        out->g[0] = 0.5 * g;
        out->g[1] = g;
    }
    for (int i = 0; want & BG_TERM_G && i < 2; i++) {
        out->G[i] = p->q[i];
        out->G[2 + i] = 2.0 * p->q[i];
    }
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    (void)values;
    (void)err;
    static const char *const g_names[] = {"rod", "rod_again"};
    static const double q0[] = {1.0, 0.0};
    def->nq = def->nv = def->ng = 2;
    def->q0 = q0;
    def->g_names = g_names;
    def->scleronomic = 1;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "redundant", "broken on purpose", NULL, 0, define};
    return &family;
}
