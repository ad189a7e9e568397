/* x'' = -x with terms of its own, for plug-ins that break. */
#include "bogie/system.h"

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out);

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    (void)values;
    (void)err;
    static const double q0[] = {1.0};
    def->nq = def->nv = 1;
    def->q0 = q0;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->t_end = 1.0;
    return BG_OK;
}
