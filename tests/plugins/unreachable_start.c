/* Point B must be 1 m from point A, which assembly may not move from (0,0), and 1 m from (5,0):
 * no consistent start exists. */
#include "bogie/system.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    const double *q = p->q, dx = q[2] - q[0], dy = q[3] - q[1], ex = q[2] - 5.0;
    for (int i = 0; want & BG_TERM_M && i < 4; i++)
        out->M[5 * i] = 1.0;
    if (want & BG_TERM_g) {
        out->g[0] = dx * dx + dy * dy - 1.0;
        out->g[1] = ex * ex + q[3] * q[3] - 1.0;
    }
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    (void)values;
    (void)err;
    static const char *const g_names[] = {"rod_AB", "rod_to_ground"};
    static const double q0[] = {0.0, 0.0, 1.0, 0.5};
    static const unsigned char fixed[] = {1, 1, 0, 0};
    def->nq = def->nv = 4;
    def->ng = 2;
    def->q0 = q0;
    def->q_fixed = fixed;
    def->g_names = g_names;
    def->scleronomic = 1;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "unreachable-start", "broken on purpose", NULL, 0,
                                        define};
    return &family;
}
