/* x'' = -x, but the function asks to stop the run after t = 0.5. */
#include "oscillator.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (p->t > 0.5)
        return -7;
    if (want & BG_TERM_M)
        out->M[0] = 1.0;
    if (want & BG_TERM_f)
        out->f[0] = -p->q[0];
    return 0;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_equations family = {BG_ABI, "failure-late", "broken on purpose", NULL,
                                        0,      define};
    return &family;
}
