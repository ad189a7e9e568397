#include "run/driven.h"

#include <string.h>

bg_status bg_driven_jump(bg_evaluator *sys, bg_dynamics *d, const bg_point *p, const double *u,
                         const double *u_t, double *shift, bg_state *x, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    bg_point displaced = *p;
    displaced.u_t = p->u;
    memset(shift, 0, (size_t)def->nv * sizeof(double));
    int code = def->jump(def->self, p, u_t, x->v);
    if (code == 0)
        code = def->jump(def->self, &displaced, u, shift);
    if (code != 0)
        return bg_error_set(err, BG_SYSTEM_FAILED, "system '%s': `jump` failed at t = %.17g",
                            def->name, p->t);
    bg_status st = d->kinematic
                       ? bg_dynamics_evaluate(d, p->t, p->q, p->v, p->z, p->mode, BG_TERM_V, err)
                       : BG_OK;
    if (st == BG_OK)
        bg_system_move(sys, p->q, d->terms.V, 1, shift, x->q);
    return st;
}
