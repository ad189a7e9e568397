#include "run/start.h"

#include <math.h>

bg_status bg_start_find(bg_evaluator *sys, double t, bg_state *x, bg_assembly_report *report,
                        bg_error *err)
{
    const bg_system_def *def = &sys->def;
    x->t = t;
    if (!isfinite(t))
        return bg_error_set(err, BG_BAD_INPUT, "the start time %g must be finite", t);
    bg_status st = bg_state_assemble_with(sys, x, report, err);
    if (st != BG_OK)
        return st;
    const bg_event_state start = {x->q, x->v, x->z, x->mode};
    int code = def->start ? def->start(def->self, t, &start) : 0;
    if (code != 0)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `start` failed with code %d at t = %.17g", def->name,
                            code, t);
    return BG_OK;
}

bg_status bg_start_pass_events(bg_instant *x, bool *stop, bg_error *err)
{
    bool changed;
    bg_state_copy(x->sys->system, bg_integrator_get_state(x->ig), x->state);
    if (!x->detector)
        return BG_OK;
    bg_status st = bg_detector_start(x->detector, x->state, x->t_end, err);
    return st == BG_OK && x->detector->nfires > 0 ? bg_instant_pass(x, &changed, stop, err) : st;
}
