/* mdop5: Dormand-Prince 5(4) on the index-1 form with projection between stages 6 and 7.
 *
 * B. Simeon, On the numerical solution of a wheel suspension benchmark problem, section 4.2. Stages
 * i = 1..6 solve the linear system (4) for V'_i; the end point is projected by (12) before stage 7
 * is evaluated there, so that stage 7 serves the error estimate, dense output and the next step's
 * first stage at once. (12a) iterates with the matrix of stage 6; (12b) uses the matrix of stage 7,
 * which is needed anyway: six factorisations a step, whatever is projected. With form=projecting
 * the equations are (5) of section 3 instead (projecting_step.c). */
#include "base/memory.h"
#include "integrators/dopri5.h"
#include "integrators/options.h"
#include "integrators/projecting_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct mdop5 {
    bg_pair_memory pair;
    bool projecting; /* form=projecting, on a system with constraints */
    bg_projecting_step step;
} mdop5;

static bg_status create(bg_integrator *ig, bg_error *err)
{
    mdop5 *m = BG_NEW(mdop5);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator mdop5");
    ig->has_past = m->projecting = bg_option_get_choice(ig, "form") == 1 && ig->dyn->ng > 0;
    bg_status st = bg_pair_create(ig, &m->pair, &bg_dopri5_pair, err);
    return st == BG_OK && m->projecting ? bg_projecting_step_create(ig, &m->step, err) : st;
}

static void destroy(bg_integrator *ig)
{
    mdop5 *m = ig->method;
    if (!m)
        return;
    bg_projecting_step_clear(&m->step);
    bg_pair_clear(&m->pair);
    free(m);
}

static void restart(bg_integrator *ig, bg_restart reason)
{
    mdop5 *m = ig->method;
    bg_pair_restart(ig, reason);
    if (m->projecting)
        bg_projecting_step_reset(ig, &m->step);
}

static void commit(bg_integrator *ig)
{
    mdop5 *m = ig->method;
    bg_pair_commit(ig);
    if (m->projecting)
        bg_projecting_step_commit(&m->step);
}

static void archive(bg_integrator *ig, bg_archive *archive)
{
    mdop5 *m = ig->method;
    bg_pair_archive(ig, archive);
    if (m->projecting)
        bg_projecting_step_archive(ig, &m->step, archive);
}

static void describe(const bg_integrator *ig, char *text, size_t size)
{
    const mdop5 *m = ig->method;
    if (m->projecting)
        snprintf(text, size, "projecting descriptor form%s, |eta| up to %.3g, |tau| up to %.3g",
                 m->step.form->c > 0 ? " with M + c G'G for the singular M" : "",
                 ig->stepped ? fmax(m->step.eta, m->step.last_eta) : m->step.eta,
                 ig->stepped ? fmax(m->step.tau, m->step.last_tau) : m->step.tau);
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    mdop5 *m = ig->method;
    return m->projecting ? bg_projecting_step_attempt(ig, &m->pair, &m->step, error, err)
                         : bg_pair_attempt(ig, error, err);
}

static bg_status leap(bg_integrator *ig, double *error, bg_error *err)
{
    mdop5 *m = ig->method;
    return m->projecting ? bg_projecting_step_leap(ig, &m->step, error, err)
                         : bg_pair_leap(ig, error, err);
}

static const bg_option_info options[] = {BG_MDOP5_OPTIONS};

const bg_integrator_class bg_mdop5;
const bg_integrator_class bg_mdop5 = {
    .info = {"mdop5",
             "Dormand-Prince 5(4) on the index-1 form, projected in the mass metric (explicit)",
             options, 3, false, 5, 4},
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .attempt = attempt,
    .leap = leap,
    .accept = bg_pair_accept,
    .commit = commit,
    .bubbles = 1,
    .prepare_dense = bg_dopri5_prepare_dense,
    .archive = archive,
    .describe = describe,
};
