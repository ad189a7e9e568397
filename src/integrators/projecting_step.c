/* Dormand-Prince 5(4) on the projecting descriptor form (projecting.c).
 *
 * Integrated are q and u; the state of the integrator is (p, v), which fulfils the constraints at
 * every stage. Both ends of a step keep their (q, u) beside their state, and are found by it, so
 * that a step that is undone needs no care. `projection` says which deviations the end of a step
 * sets to zero, as the projections of the index-1 form do: none, eta (u <- v), or eta and tau (q <-
 * p). */
#include "integrators/projecting_step.h"

#include "base/memory.h"
#include "integrators/dopri5.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bg_status bg_projecting_step_create(bg_integrator *ig, bg_projecting_step *s, bg_error *err)
{
    bool good = true;
    for (int k = 0; k < 2; k++) {
        good = (s->side[k].y = BG_NEW_ARRAY(double, ig->n)) && good;
        good = (s->side[k].rate = BG_NEW_ARRAY(double, ig->n)) && good;
    }
    if (!good)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    return bg_projecting_create(ig->dyn, &s->form, err);
}

void bg_projecting_step_clear(bg_projecting_step *s)
{
    for (int k = 0; k < 2; k++) {
        free(s->side[k].y);
        free(s->side[k].rate);
    }
    bg_projecting_destroy(s->form);
}

void bg_projecting_step_reset(bg_integrator *ig, bg_projecting_step *s)
{
    s->side[0].owner = ig->x0;
    s->side[1].owner = ig->x1;
    s->side[0].known = s->side[1].known = false;
    bg_projecting_reset(s->form);
}

static bg_projecting_side *find_side(bg_projecting_step *s, const bg_state *x)
{
    return &s->side[s->side[0].owner == x ? 0 : 1];
}

/* The variables of a state without deviations. */
static void take_state(const bg_integrator *ig, bg_projecting_side *side, const bg_state *x,
                       const double *rate)
{
    memcpy(side->y, x->q, (size_t)ig->n * sizeof(double));
    memcpy(side->rate, rate, (size_t)ig->n * sizeof(double));
    side->known = true;
}

static bg_status calc_rate(bg_integrator *ig, bg_projecting *f, double t, const double *y,
                           double *rate, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    const double *u = y + d->nq, *z = u + d->nv;
    bg_status st = bg_projecting_calc(f, t, y, u, z, ig->x0->mode, ig->energy, true, rate,
                                      rate + d->nq, err);
    memcpy(rate + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    rate[ig->n - 1] = ig->energy ? f->power : 0;
    return st;
}

/* The state at the end: p, v, w, lambda, and z and work as integrated. */
static void keep_end(bg_integrator *ig, const bg_projecting *f, const bg_projecting_side *end)
{
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    memcpy(x->q, end->y, (size_t)ig->n * sizeof(double));
    memcpy(ig->rate1, end->rate, (size_t)ig->n * sizeof(double));
    memcpy(x->q, f->p, (size_t)d->nv * sizeof(double));
    memcpy(x->v, f->v, (size_t)d->nv * sizeof(double));
    memcpy(x->a, f->w, (size_t)d->nv * sizeof(double));
    memcpy(x->lambda, f->lambda, (size_t)d->ng * sizeof(double));
    memcpy(ig->rate1, f->v, (size_t)d->nv * sizeof(double));
    memcpy(ig->rate1 + d->nq, f->w, (size_t)d->nv * sizeof(double));
    ig->residuals1 = f->residuals;
}

/* Sets deviations to zero as `projection` asks; u' without eta is w. */
static void forget(bg_integrator *ig, bg_projection_control *c, const bg_projecting *f,
                   bg_projecting_side *end)
{
    bg_dynamics *d = ig->dyn;
    c->projected = c->mode == BG_PROJECT_EVERY_STEP ||
                   (c->mode == BG_PROJECT_CONTROL && (c->since >= c->k || ig->x1->t == ig->t_end));
    if (c->projected) {
        c->drift = bg_norm_calc(ig, d->nv, f->dp, ig->x0->q, ig->x1->q);
        take_state(ig, end, ig->x1, ig->rate1);
    } else if (c->mode != BG_PROJECT_NONE) {
        memcpy(end->y + d->nq, f->v, (size_t)d->nv * sizeof(double));
        memcpy(end->rate + d->nq, f->w, (size_t)d->nv * sizeof(double));
    }
}

bg_status bg_projecting_step_attempt(bg_integrator *ig, bg_pair_memory *m, bg_projecting_step *s,
                                     double *error, bg_error *err)
{
    bg_projecting_side *begin = find_side(s, ig->x0), *end = find_side(s, ig->x1);
    bg_status st = BG_OK;
    s->last_eta = s->last_tau = 0;
    if (!begin->known)
        take_state(ig, begin, ig->x0, ig->rate0);
    bg_pair_begin(ig);
    m->rate[0] = begin->rate;
    m->rate[6] = end->rate;
    for (int i = 1; i < 7 && st == BG_OK; i++) {
        double *y = i < 6 ? m->y : end->y;
        bg_combine(ig->n, begin->y, ig->h, i, bg_dopri5.a[i], m->rate, y);
        st = calc_rate(ig, s->form, ig->x0->t + bg_dopri5.c[i] * ig->h, y, m->rate[i], err);
    }
    if (st != BG_OK)
        return st;
    end->known = true;
    bg_combine(ig->n, begin->y, ig->h, 7, bg_dopri5.b_hat, m->rate, ig->work_n);
    for (int i = 0; i < ig->n; i++)
        ig->work_n[i] = end->y[i] - ig->work_n[i];
    keep_end(ig, s->form, end);
    *error = ig->error_tangent = bg_norm_calc_state(ig, ig->work_n, NULL);
    s->last_eta = bg_find_largest(s->form->eta, ig->dyn->ng);
    s->last_tau = bg_find_largest(s->form->tau, ig->dyn->ng);
    forget(ig, &m->projection, s->form, end);
    return BG_OK;
}

bg_status bg_projecting_step_leap(bg_integrator *ig, bg_projecting_step *s, double *error,
                                  bg_error *err)
{
    s->last_eta = s->last_tau = 0;
    bg_status st = bg_pair_leap(ig, error, err);
    if (st == BG_OK)
        take_state(ig, find_side(s, ig->x1), ig->x1, ig->rate1);
    return st;
}

void bg_projecting_step_commit(bg_projecting_step *s)
{
    s->eta = fmax(s->eta, s->last_eta);
    s->tau = fmax(s->tau, s->last_tau);
}

void bg_projecting_step_archive(bg_integrator *ig, bg_projecting_step *s, bg_archive *archive)
{
    if (archive->loading)
        bg_projecting_step_reset(ig, s);
    bg_projecting_side *side = find_side(s, ig->x0);
    int flags[] = {side->known, s->form->chosen};
    bg_archive_ints(archive, flags, 2);
    bg_archive_doubles(archive, side->y, ig->n);
    bg_archive_doubles(archive, side->rate, ig->n);
    bg_archive_doubles(archive, &s->form->c, 1);
    bg_archive_doubles(archive, &s->eta, 1);
    bg_archive_doubles(archive, &s->tau, 1);
    bg_kkt_archive(s->form->mass, archive);
    bg_kkt_archive(s->form->augmented, archive);
    if (!archive->loading || archive->failed)
        return;
    side->known = flags[0] != 0;
    s->form->chosen = flags[1] != 0;
    bg_projecting_prepare(s->form);
}
