/* rk4: the classical Runge-Kutta method of order 4 on the index-1 form, with fixed steps.
 *
 *     Y1 = y0,  Y2 = y0 + h/2 Y1',  Y3 = y0 + h/2 Y2',  Y4 = y0 + h Y3',
 *     y1 = y0 + h (Y1' + 2 Y2' + 2 Y3' + Y4')/6,
 *
 * y' from one solution of [M G^T; G 0] (v', lambda) = (f, -gamma) each; y1 is then projected onto
 * the constraints as `projection` says, and its rates serve dense output, the cubic through both
 * ends, and the next step. */
#include "base/memory.h"
#include "integrators/pair.h"

#include <stdlib.h>
#include <string.h>

enum { STAGES = 4 };
static const double c[STAGES] = {0, 0.5, 0.5, 1};
static const double a[STAGES][STAGES] = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}};
static const double b[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

typedef struct rk4 {
    double *rate[STAGES]; /* [n] y' of the stages; the first is the integrator's */
    double *y;            /* [n] stage value */
    double *lambda;       /* [ng] multipliers of a stage */
    bg_arena arena;       /* these arrays */
    bg_projection_control projection;
} rk4;

static void list(void *object, bg_arena *arena)
{
    const bg_integrator *ig = object;
    rk4 *m = ig->method;
    for (int i = 1; i < STAGES; i++)
        BG_TAKE(arena, m->rate[i], ig->n);
    BG_TAKE(arena, m->y, ig->n);
    BG_TAKE(arena, m->lambda, ig->dyn->ng);
}

static bg_status create(bg_integrator *ig, bg_error *err)
{
    rk4 *m = BG_NEW(rk4);
    ig->method = m;
    if (!m || !bg_arena_create(&m->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator rk4");
    return bg_projection_control_create(ig, &m->projection, err);
}

static void destroy(bg_integrator *ig)
{
    rk4 *m = ig->method;
    bg_arena_clear(&m->arena);
    bg_projection_control_clear(&m->projection);
    free(m);
}

static void restart(bg_integrator *ig, bg_restart reason)
{
    rk4 *m = ig->method;
    (void)reason;
    bg_projection_control_reset(&m->projection);
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    rk4 *m = ig->method;
    bg_state *x = ig->x1;
    bg_status st = BG_OK;
    *error = 0;
    m->rate[0] = ig->rate0;
    memcpy(x->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    for (int i = 1; i < STAGES && st == BG_OK; i++) {
        bg_combine(ig->n, ig->x0->q, ig->h, i, a[i], m->rate, m->y);
        st = bg_integrator_calc_rate(ig, ig->x0->t + c[i] * ig->h, m->y, 0, m->rate[i], m->lambda,
                                     err);
    }
    if (st != BG_OK)
        return st;
    bg_combine(ig->n, ig->x0->q, ig->h, STAGES, b, m->rate, x->q);
    st = bg_projection_control_end(ig, &m->projection, err);
    if (st != BG_OK)
        return st;
    memcpy(x->a, ig->rate1 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    return BG_OK;
}

static void commit(bg_integrator *ig)
{
    rk4 *m = ig->method;
    bg_projection_control_commit(&m->projection);
}

static void archive(bg_integrator *ig, bg_archive *archive_)
{
    rk4 *m = ig->method;
    bg_projection_control_archive(&m->projection, archive_);
}

static const bg_option_info options[] = {BG_PAIR_PROJECTION};

const bg_integrator_class bg_rk4;
const bg_integrator_class bg_rk4 = {
    .info = {"rk4", "classical Runge-Kutta of order 4 on the index-1 form, fixed steps (explicit)",
             options, 1, true, 4, 3},
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .attempt = attempt,
    .commit = commit,
    .archive = archive,
};
