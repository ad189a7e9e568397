/* mdop5: Dormand-Prince 5(4) on the index-1 form with projection between stages 6 and 7.
 *
 * B. Simeon, On the numerical solution of a wheel suspension benchmark problem, section 4.2. Stages
 * i = 1..6 solve the linear system (4) for V'_i; the end point is projected by (12) before stage 7
 * is evaluated there, so that stage 7 serves the error estimate, dense output and the next step's
 * first stage at once. (12a) iterates with the matrix of stage 6; (12b) uses the matrix of stage 7,
 * which is needed anyway: six factorisations a step, whatever is projected. */
#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/dopri5.h"
#include "integrators/projection_control.h"

#include <stdlib.h>
#include <string.h>

typedef struct mdop5 {
    double *rate[BG_DOPRI5_STAGES]; /* [n] y' of the stages; 0 and 6 are rate0 and rate1 */
    double *y;                      /* [n] stage value */
    double *lambda;                 /* [ng] */
    bg_projection_control projection;
} mdop5;

static bg_status create(bg_integrator *ig, bg_error *err)
{
    mdop5 *m = BG_NEW(mdop5);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator mdop5");
    bool good = true;
    for (int i = 1; i < BG_DOPRI5_STAGES - 1; i++)
        good = (m->rate[i] = BG_NEW_ARRAY(double, ig->n)) && good;
    m->y = BG_NEW_ARRAY(double, ig->n);
    m->lambda = BG_NEW_ARRAY(double, ig->dyn->ng);
    if (!good || !m->y || !m->lambda)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator mdop5");
    return bg_projection_control_create(ig, &m->projection, err);
}

static void destroy(bg_integrator *ig)
{
    mdop5 *m = ig->method;
    if (!m)
        return;
    for (int i = 1; i < BG_DOPRI5_STAGES - 1; i++)
        free(m->rate[i]);
    free(m->y);
    free(m->lambda);
    bg_projection_control_clear(&m->projection);
    free(m);
}

static void reset(bg_integrator *ig)
{
    mdop5 *m = ig->method;
    bg_projection_control_reset(&m->projection);
}

/* Stages 2..6. */
static bg_status calc_stages(bg_integrator *ig, mdop5 *m, bg_error *err)
{
    for (int i = 1; i < BG_DOPRI5_STAGES - 1; i++) {
        bg_combine(ig->n, ig->x0->q, ig->h, i, bg_dopri5.a[i], m->rate, m->y);
        bg_status st = bg_integrator_calc_rate(ig, ig->x0->t + bg_dopri5.c[i] * ig->h, m->y, 0,
                                               m->rate[i], m->lambda, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

/* Stage 7 where nothing has to be projected: one evaluation. */
static bg_status end_plainly(bg_integrator *ig, mdop5 *m, bg_error *err)
{
    bg_state *x = ig->x1;
    unsigned extra = ig->dyn->ng > 0 ? BG_TERM_g | BG_TERM_gt : 0u;
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, x->q);
    m->projection.projected = false;
    return bg_integrator_calc_rate(ig, x->t, x->q, extra, ig->rate1, x->lambda, err);
}

/* (12a) with the matrix of stage 6, (12b) and stage 7 with the matrix of the end point. */
static bg_status end_projected(bg_integrator *ig, mdop5 *m, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bg_status st = bg_projection_control_position(ig, &m->projection, err);
    if (st == BG_OK)
        st = bg_dynamics_evaluate(
            d, x->t, x->q, x->v, x->z, x->mode,
            BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt | (d->kinematic ? BG_TERM_V : 0u), err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st != BG_OK)
        return st;
    bg_project_velocity(d, x->v);
    st = bg_dynamics_evaluate_more(d, x->v, x->z,
                                   BG_TERM_f | BG_TERM_gamma | (d->nz > 0 ? BG_TERM_h : 0u), err);
    if (st == BG_OK)
        st = bg_dynamics_solve(d, ig->rate1 + d->nq, x->lambda, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(d, x->v, ig->rate1);
    memcpy(ig->rate1 + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    return ig->energy ? bg_dynamics_calc_power(d, x->lambda, &ig->rate1[ig->n - 1], err) : BG_OK;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    mdop5 *m = ig->method;
    bg_state *x0 = ig->x0, *x1 = ig->x1;
    m->rate[0] = ig->rate0;
    m->rate[6] = ig->rate1;
    bg_status st = calc_stages(ig, m, err);
    if (st != BG_OK)
        return st;
    bg_combine(ig->n, x0->q, ig->h, 6, bg_dopri5.a[6], m->rate, x1->q);
    memcpy(x1->mode, x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    bool plain = ig->dyn->ng == 0 || m->projection.mode == BG_PROJECT_NONE;
    st = plain ? end_plainly(ig, m, err) : end_projected(ig, m, err);
    if (st != BG_OK)
        return st;
    memcpy(x1->a, ig->rate1 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, x1->v, x1->a);
    /* y1 - y^1 with y1 after projection: y0 + h sum b^_i y'_i = (y0 + h sum b_i y'_i) - h e . y' */
    memset(m->y, 0, (size_t)ig->n * sizeof(double));
    bg_combine(ig->n, m->y, ig->h, 7, bg_dopri5.e, m->rate, ig->work_n);
    *error = bg_norm_calc_state(ig, ig->work_n);
    return BG_OK;
}

static void accept(bg_integrator *ig)
{
    mdop5 *m = ig->method;
    bg_projection_control_accept(&m->projection);
}

static void prepare_dense(bg_integrator *ig)
{
    mdop5 *m = ig->method;
    memset(m->y, 0, (size_t)ig->n * sizeof(double));
    bg_combine(ig->n, m->y, ig->x1->t - ig->x0->t, 7, bg_dopri5.d, m->rate, ig->bubble);
}

static void archive(bg_integrator *ig, bg_archive *a)
{
    mdop5 *m = ig->method;
    bg_projection_control_archive(&m->projection, a);
}

static const bg_option_info options[] = {
    {"projection", BG_PROJECTION_CHOICES, "every-step",
     "which constraints the end of a step is projected onto"},
};

const bg_integrator_class bg_mdop5;
const bg_integrator_class bg_mdop5 = {
    .info = {"mdop5",
             "Dormand-Prince 5(4) on the index-1 form, projected in the mass metric (explicit)",
             options, 1},
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .attempt = attempt,
    .accept = accept,
    .prepare_dense = prepare_dense,
    .archive = archive,
};
