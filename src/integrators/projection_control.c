/* Projection control (16): the drift is measured by the norm of V dp, dp the first increment
 * of (13), in units of the tolerance at q. Small drift doubles the number k of steps without (12a),
 * large drift halves it. */
#include "integrators/projection_control.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { K_START = 4, K_MIN = 1, K_MAX = 8 };
static const double drift_small = 0.009, drift_large = 0.02;

bg_status bg_projection_control_create(bg_integrator *ig, bg_projection_control *c, bg_error *err)
{
    c->mode = (bg_projection_mode)bg_option_get_choice(ig, "projection");
    ig->drifts = ig->dyn->ng > 0 && c->mode != BG_PROJECT_EVERY_STEP && c->mode != BG_PROJECT_ONCE;
    c->first = BG_NEW_ARRAY(double, ig->dyn->nv);
    bg_projection_control_reset(c);
    return c->first ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for the projection");
}

void bg_projection_control_clear(bg_projection_control *c)
{
    free(c->first);
}

void bg_projection_control_reset(bg_projection_control *c)
{
    c->k = K_START;
    c->since = 0;
}

bg_status bg_projection_control_position(bg_integrator *ig, bg_projection_control *c, bg_error *err)
{
    bg_state *x = ig->x1;
    const bool once = c->mode == BG_PROJECT_ONCE;
    c->projected = c->mode == BG_PROJECT_EVERY_STEP || once ||
                   (c->mode == BG_PROJECT_CONTROL && (c->since >= c->k || x->t == ig->t_end));
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, x->q);
    if (!c->projected)
        return BG_OK;
    bg_status st = (once ? bg_project_position_once : bg_project_position)(
        ig->dyn, x->t, x->q, x->v, x->z, x->mode, c->first, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(ig->dyn, c->first, ig->dyn->work_q); /* V dp: in coordinates of q */
    c->drift = bg_norm_calc(ig, ig->dyn->nq, ig->dyn->work_q, ig->x0->q, x->q);
    return BG_OK;
}

/* The end where nothing has to be projected: one evaluation. */
static bg_status end_plainly(bg_integrator *ig, bg_projection_control *c, bg_error *err)
{
    bg_state *x = ig->x1;
    unsigned extra = ig->dyn->ng > 0 ? BG_TERM_g | BG_TERM_gt : 0u;
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, x->q);
    c->projected = false;
    return bg_integrator_calc_rate(ig, x->t, x->q, extra, ig->rate1, x->lambda, err);
}

/* (12a) with the matrix at hand, (12b) and the rates with the matrix of the end point. */
static bg_status end_projected(bg_integrator *ig, bg_projection_control *c, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bg_status st = bg_projection_control_position(ig, c, err);
    if (st == BG_OK)
        st = bg_project_rates(d, x, ig->rate1 + d->nq, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(d, x->v, ig->rate1);
    memcpy(ig->rate1 + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    return ig->energy
               ? bg_dynamics_calc_power(d, ig->rate1 + d->nq, x->lambda, &ig->rate1[ig->n - 1], err)
               : BG_OK;
}

bg_status bg_projection_control_end(bg_integrator *ig, bg_projection_control *c, bg_error *err)
{
    bool plain = ig->dyn->ng == 0 || c->mode == BG_PROJECT_NONE;
    return plain ? end_plainly(ig, c, err) : end_projected(ig, c, err);
}

void bg_projection_control_commit(bg_projection_control *c)
{
    if (!c->projected) {
        c->since += c->since < INT_MAX / 2;
        return;
    }
    c->since = 0;
    if (c->drift < drift_small)
        c->k = 2 * c->k < K_MAX ? 2 * c->k : K_MAX;
    else if (c->drift >= drift_large)
        c->k = c->k / 2 > K_MIN ? c->k / 2 : K_MIN;
}

void bg_projection_control_archive(bg_projection_control *c, bg_archive *archive)
{
    bg_archive_whole(archive, &c->k, 1, K_MIN, K_MAX);
    bg_archive_whole(archive, &c->since, 1, 0, INT_MAX / 2);
}
