/* mdop8: Dormand-Prince 8(5,3) on the index-1 form with a projected end, as mdop5 (pair.c).
 *
 * Twelve factorisations a step. Dense output of order 7 takes three stages more, which are made
 * when it is asked for; where one of them cannot be evaluated, the cubic through both ends has to
 * do. */
#include "base/memory.h"
#include "integrators/dop853.h"

#include <stdlib.h>
#include <string.h>

enum { MORE = BG_DOP853_MORE };

typedef struct mdop8 {
    bg_pair_memory pair;
    double *more; /* [3 n] rates of the stages of dense output */
} mdop8;

static bg_status create(bg_integrator *ig, bg_error *err)
{
    mdop8 *m = BG_NEW(mdop8);
    ig->method = m;
    if (m)
        m->more = BG_NEW_ARRAY(double, MORE * ig->n);
    if (!m || !m->more)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator mdop8");
    for (int k = 0; k < MORE; k++)
        m->pair.rate[BG_DOP853_STAGES + k] = m->more + k * ig->n;
    return bg_pair_create(ig, &m->pair, &bg_dop853_pair, err);
}

static void destroy(bg_integrator *ig)
{
    mdop8 *m = ig->method;
    bg_pair_clear(&m->pair);
    free(m->more);
    free(m);
}

/* The error estimate of a step knows nothing of its dense output. Where a stage came near a
 * singular position, the index-1 form magnified what it missed the constraints by; the step may
 * forgive that across the constraints, from which dense output is then far: all stages are found
 * again on the constraints. */
static void prepare_dense(bg_integrator *ig)
{
    static const double drift_most = 1;
    bg_pair_memory *m = ig->method;
    bool plain = ig->dyn->ng > 0 && !ig->sys->system->tree && !ig->leaping;
    if (bg_dop853_calc_bubbles(ig, ig->leaping) != BG_OK)
        memset(ig->bubble, 0, 4 * (size_t)ig->n * sizeof(double));
    else if (plain && bg_dense_calc_drift(ig, m->y) > drift_most &&
             bg_pair_lift_stages(ig, NULL) == BG_OK) /* else what there is has to do */
        bg_dop853_calc_bubbles(ig, true);
}

static const bg_option_info options[] = {BG_PAIR_PROJECTION, BG_PAIR_NORM};

const bg_integrator_class bg_mdop8;
const bg_integrator_class bg_mdop8 = {
    .info =
        {"mdop8",
         "Dormand-Prince 8(5,3) on the index-1 form, projected, for tight tolerances (explicit)",
         options, 2, false, 8, 7},
    .create = create,
    .destroy = destroy,
    .restart = bg_pair_restart,
    .attempt = bg_pair_attempt,
    .leap = bg_pair_leap,
    .accept = bg_pair_accept,
    .commit = bg_pair_commit,
    .bubbles = 4,
    .prepare_dense = prepare_dense,
    .archive = bg_pair_archive,
};
