/* Poses over two periods of a mode: q moved along Re(s exp(i phi) shape) in small parts, each back
 * on the constraints, so that loops stay closed at visible amplitudes. A mode that does not
 * oscillate swings all the same; the page says what it is. */
#include "cli/mode_motion.h"

#include "cli/page.h"

#include "base/output.h"
#include "consistent/projection.h"
#include "run/problem.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 120, PARTS = 8, PERIODS = 2 };

static const double shown = 2; /* s, of a period of the page */

typedef struct mode_motion {
    const bg_linear_job *job;
    bg_dynamics *dyn;
    bg_state *x;
    double *delta, *y;
    double amplitude;
} mode_motion;

/* x <- the pose at a phase. BG_RETRY: the mechanism does not reach it. */
static bg_status pose(mode_motion *m, const bg_mode *mode, double phase, bg_error *err)
{
    const bg_linear_job *job = m->job;
    const bg_linearisation *l = job->analysis->linearisation;
    bg_dynamics *d = m->dyn;
    bg_state *x = m->x;
    bg_state_copy(job->problem->system, job->analysis->state, x);
    for (int i = 0; i < l->nv; i++)
        m->delta[i] = m->amplitude / PARTS *
                      (mode->shape[2 * i] * cos(phase) - mode->shape[2 * i + 1] * sin(phase));
    unsigned want = (d->kinematic ? BG_TERM_V : 0u) | (d->ng > 0 ? BG_TERM_MASS | BG_TERM_G : 0u);
    for (int k = 0; k < PARTS; k++) {
        bg_status st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, want, err);
        if (st != BG_OK)
            return st;
        bg_system_move(job->analysis->evaluator, x->q, d->terms.V, 1, m->delta, x->q);
        if (d->ng > 0)
            st = bg_dynamics_factor(d, NULL, err);
        if (d->ng > 0 && st == BG_OK)
            st = bg_project_position(d, x->t, x->q, x->v, x->z, x->mode, NULL, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

/* One row of the result. */
static bg_status write_row(mode_motion *m, const bg_sink *sink, double t, bg_error *err)
{
    const bg_system_def *def = &m->job->analysis->evaluator->def;
    bg_point p;
    double at = m->x->t;
    bg_status st = bg_system_set_state(m->job->analysis->evaluator, m->x, &p, err);
    if (st == BG_OK && def->ny > 0 && def->outputs(def->self, &p, m->x->a, m->x->lambda, m->y) != 0)
        st = bg_error_set(err, BG_SYSTEM_FAILED, "system '%s': `outputs` failed", def->name);
    bg_row row = {m->x, m->y, 0};
    m->x->t = t;
    if (st == BG_OK)
        st = sink->row(sink->self, &row, err);
    m->x->t = at;
    return st;
}

/* The amplitude is halved until every pose can be reached. */
static bg_status find_amplitude(mode_motion *m, const bg_mode *mode, bg_error *err)
{
    bg_status st = BG_RETRY;
    for (int tries = 0; tries < 12 && st != BG_OK; tries++, m->amplitude /= st == BG_OK ? 1 : 2) {
        st = BG_OK;
        for (int k = 0; k < 8 && st == BG_OK; k++)
            st = pose(m, mode, k * acos(-1) / 4, err);
        if (st < 0)
            return st;
    }
    return st;
}

static bg_status write_rows(mode_motion *m, const bg_mode *mode, const bg_sink *sink, bg_error *err)
{
    double period = mode->im > 0 ? 2 * acos(-1) / mode->im : shown;
    bg_status st = sink->begin ? sink->begin(sink->self, err) : BG_OK;
    for (int k = 0; k <= FRAMES && st == BG_OK; k++) {
        double turn = PERIODS * (double)k / FRAMES;
        double phase = 2 * acos(-1) * turn, rate = m->amplitude * 2 * acos(-1) / period;
        st = pose(m, mode, phase, err);
        for (int i = 0; i < m->job->analysis->linearisation->nv;
             i++) /* pages draw between rows by it */
            m->x->v[i] = -rate *
                         (mode->shape[2 * i] * sin(phase) + mode->shape[2 * i + 1] * cos(phase));
        if (st == BG_OK)
            st = write_row(m, sink, turn * period, err);
    }
    return st;
}

static bg_status write_result(mode_motion *m, const bg_mode *mode, const char *path, bg_error *err)
{
    const bg_problem *problem = m->job->problem;
    bg_run_options options = bg_problem_get_run_options(problem);
    bg_run_report report = {.t_checkpoint = NAN, .final = m->x, .y = m->y, .rows = FRAMES + 1};
    bg_result *result = NULL;
    snprintf(report.integrator, sizeof report.integrator, "mode");
    snprintf(report.formulation, sizeof report.formulation, "%s",
             problem->formulation ? problem->formulation : "");
    bg_status st = bg_result_create(path, bg_problem_get_reference(problem), "mode",
                                    problem->system, &result, err);
    if (st == BG_OK)
        st = bg_result_describe(result, problem->model, &options, err);
    if (st == BG_OK)
        st = find_amplitude(m, mode, err);
    bg_sink sink = result ? bg_result_get_sink(result) : (bg_sink){0};
    if (st == BG_OK)
        st = write_rows(m, mode, &sink, err);
    if (st == BG_OK)
        st = bg_result_finish(result, &report, err);
    bg_result_destroy(result);
    return st;
}

bg_status bg_mode_show(const bg_linear_job *job, const bg_modes *modes, int k, double amplitude,
                       const char *output, const char *html, bg_error *err)
{
    const bg_mode *mode = &modes->mode[k];
    const bg_system_def *def = &job->problem->system->def;
    mode_motion m = {.job = job, .amplitude = amplitude};
    char title[160];
    bg_page_folder own = {0};
    if (mode->im > 0)
        snprintf(title, sizeof title, "Mode %d: %.4g Hz, damping %.3g", k + 1, mode->frequency,
                 mode->damping);
    else
        snprintf(title, sizeof title, "Mode %d: %s with %.4g 1/s, shown as a swing", k + 1,
                 mode->re > 0 ? "grows" : "decays", fabs(mode->re));
    bg_status st = output ? BG_OK : bg_page_folder_open(html, &own, err);
    if (st == BG_OK)
        st = bg_state_create(job->problem->system, &m.x, err);
    if (st == BG_OK)
        st = bg_dynamics_create(job->analysis->evaluator, &m.dyn, err);
    m.delta = calloc((size_t)def->nv + 1, sizeof *m.delta);
    m.y = calloc((size_t)def->ny + 1, sizeof *m.y);
    if (st == BG_OK && (!m.delta || !m.y))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for a mode");
    if (st == BG_OK) {
        bg_dynamics_set_eliminated(m.dyn, bg_analysis_get_redundancy(job->analysis));
        st = write_result(&m, mode, output ? output : own.path, err);
    }
    if (st == BG_OK && html)
        st = bg_page_write(output ? output : own.path, title, html, err);
    bg_page_folder_close(&own);
    bg_dynamics_destroy(m.dyn);
    bg_state_destroy(m.x);
    free(m.delta);
    free(m.y);
    return st;
}
