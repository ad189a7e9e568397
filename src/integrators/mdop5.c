/* mdop5: Dormand-Prince 5(4) on the index-1 form with projection between stages 6 and 7.
 *
 * B. Simeon, On the numerical solution of a wheel suspension benchmark problem, section 4.2. Stages
 * i = 1..6 solve the linear system (4) for V'_i; the end point is projected by (12) before stage 7
 * is evaluated there, so that stage 7 serves the error estimate, dense output and the next step's
 * first stage at once. (12a) iterates with the matrix of stage 6; (12b) uses the matrix of stage 7,
 * which is needed anyway: six factorisations a step, whatever is projected. */
#include "base/memory.h"
#include "integrators/dopri5.h"

#include <stdlib.h>

static bg_status create(bg_integrator *ig, bg_error *err)
{
    ig->method = BG_NEW(bg_dopri5_memory);
    if (!ig->method)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator mdop5");
    return bg_dopri5_create(ig, ig->method, err);
}

static void destroy(bg_integrator *ig)
{
    if (ig->method)
        bg_dopri5_clear(ig->method);
    free(ig->method);
}

/* Stages 2..6. */
static bg_status calc_stages(bg_integrator *ig, bg_dopri5_memory *m, bg_error *err)
{
    for (int i = 1; i < BG_DOPRI5_STAGES - 1; i++) {
        bg_dopri5_calc_stage(ig, i, m->y);
        bg_status st = bg_integrator_calc_rate(ig, ig->x0->t + bg_dopri5.c[i] * ig->h, m->y, 0,
                                               m->rate[i], m->lambda, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_dopri5_memory *m = ig->method;
    if (ig->leaping && ig->dyn->ng > 0)
        return bg_dopri5_leap(ig, error, err);
    bg_dopri5_begin(ig);
    bg_status st = calc_stages(ig, m, err);
    if (st != BG_OK)
        return st;
    bg_dopri5_calc_stage(ig, 6, ig->x1->q);
    st = bg_projection_control_end(ig, &m->projection, err);
    if (st != BG_OK)
        return st;
    bg_dopri5_end(ig, bg_dopri5.b_hat, error);
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, ig->x1->v, ig->x1->a);
    return BG_OK;
}

static void prepare_dense(bg_integrator *ig)
{
    bg_dopri5_memory *m = ig->method;
    bg_combine(ig->n, NULL, ig->x1->t - ig->x0->t, 7, bg_dopri5.d, m->rate, ig->bubble);
}

static const bg_option_info options[] = {
    {"projection", BG_PROJECTION_CHOICES, "every-step",
     "which constraints the end of a step is projected onto"},
    BG_DOPRI5_NORM,
};

const bg_integrator_class bg_mdop5;
const bg_integrator_class bg_mdop5 = {
    .info = {"mdop5",
             "Dormand-Prince 5(4) on the index-1 form, projected in the mass metric (explicit)",
             options, 2, false},
    .create = create,
    .destroy = destroy,
    .reset = bg_dopri5_reset,
    .attempt = attempt,
    .accept = bg_dopri5_accept,
    .prepare_dense = prepare_dense,
    .archive = bg_dopri5_archive,
};
