/* adams: Adams-Bashforth-Moulton of order 1 to 12, explicit (PECE), on independent motions.
 *
 * ExplDEABM of E. J. Haug, D. Negrut and C. Engstler, Implicit Runge-Kutta integration of the
 * equations of multibody dynamics in descriptor form (002), with the formulas of L. F. Shampine and
 * M. K. Gordon, Computer solution of ordinary differential equations (1975): adams_history.c,
 * adams_order.c.
 *
 *   P  p by extrapolation of rates            E  on the constraints: a, f_p
 *   C  y = p + h g_{k+1} (f_p - phi^e_1), of order k + 1     E  the same at y
 *
 * All of y = (q, v, z, work) is extrapolated, but only independent motions are integrated: an
 * evaluation moves y onto the constraints, (53) and (54) of independent.c, from where the
 * extrapolation brought it, and so does the end of a step. Independent are the directions that the
 * constraints allow, or, as in 002, coordinates; other ones change no history, order and step go
 * on. The error test judges all coordinates, so that it does not depend on which are independent,
 * or, as in 002, those alone. Quaternions are integrated whole and normalised.
 *
 * Fixed steps have the order max_order + 1, 5 unless it is given. The first ones are made of parts,
 * from h/2^14 on, by which the order rises to its end, and which become twice as long when there
 * are enough of one length. */
#include "integrators/adams.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/dop853.h"
#include "integrators/options.h"
#include "integrators/trouble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALVINGS = 14, FIXED_ORDER = 4, LEAP_ORDER = 8 };
enum { FAILURES = 2, CUTS = 2 }; /* with an error, without a result, before a leap is thought of */
static const double no_rounding = 1e-7; /* of the state: errors above are of the method */
/* h |lambda| of steps that are limited by stability: on the negative axis about 1.5 at every
 * tolerance, where of an oscillation accuracy allows 0.84 at a tolerance of 0.1, and less below. */
static const double stability = 1.1, proved = 1;

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    bg_adams *m = ig->method;
    double **const of_n[] = {&m->p, &m->y, &m->d, &m->e, &m->f_p, &m->defect, &m->start};
    bg_adams_history_take(&m->now, ig->n, arena);
    bg_adams_history_take(&m->next, ig->n, arena);
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        BG_TAKE(arena, *of_n[i], ig->n);
    for (int i = 1; i < BG_DOP853_STAGES + BG_DOP853_MORE; i++)
        if (i != BG_DOP853_STAGES - 1)
            BG_TAKE(arena, m->pair.rate[i], ig->n);
    BG_TAKE(arena, m->pair.low, ig->n);
    BG_TAKE(arena, m->pair.y, ig->n);
    BG_TAKE(arena, m->pair.lambda, ig->dyn->ng);
    BG_TAKE(arena, m->lambda, ig->dyn->ng);
    BG_TAKE(arena, m->mask, ig->n);
}

static bg_status create(bg_integrator *ig, bg_error *err)
{
    bg_adams *m = BG_NEW(bg_adams);
    ig->method = m;
    if (!m || !bg_arena_create(&m->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator adams");
    const char *order = bg_option_get(ig, "max_order");
    bool automatic = strcmp(order, "auto") == 0;
    m->max_order = !automatic             ? atoi(order)
                   : ig->options.step > 0 ? FIXED_ORDER
                                          : BG_ADAMS_ORDER_MAX;
    ig->by_largest = bg_option_get_choice(ig, "norm") == 0;
    const bool directions = bg_option_get_choice(ig, "independent") == 0;
    m->by_independent = !directions && bg_option_get_choice(ig, "judged") == 1;
    bg_adams_calc_gamma(m->gamma);
    bg_adams_history_reset(&m->now);
    m->pair.pair = &bg_dop853_pair;
    bg_trouble_set_limits(ig, stability, proved);
    bg_status st = bg_chart_create(ig, &m->pair.chart, err);
    return st == BG_OK ? bg_independent_create(ig, directions, &m->partition, err) : st;
}

static void destroy(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    bg_independent_destroy(m->partition);
    bg_chart_clear(&m->pair.chart);
    bg_arena_clear(&m->arena);
    free(m);
}

/* Who is judged: all, also where all motion is prescribed, or independent velocities, the
 * coordinates that these move, and states. */
static void update_mask(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    m->judged = m->by_independent && m->partition->n > 0 ? m->mask : NULL;
    if (!m->judged)
        return;
    const bg_dynamics *d = ig->dyn;
    const bg_pattern *p = ig->sys->def.pattern_V;
    const unsigned char *independent = m->partition->independent;
    for (int i = 0; i < d->nq; i++) {
        m->mask[i] = d->kinematic ? !p : independent[i];
        for (int k = p ? p->row_start[i] : 0; d->kinematic && p && k < p->row_start[i + 1]; k++)
            m->mask[i] = m->mask[i] || independent[p->column[k]];
    }
    memcpy(m->mask + d->nq, independent, (size_t)d->nv);
    memset(m->mask + d->nq + d->nv, 1, (size_t)d->nz);
}

/* The partition and its factors at x0, where they are others or none. */
static bg_status prepare_partition(bg_integrator *ig, bg_error *err)
{
    bg_adams *m = ig->method;
    bg_independent *p = m->partition;
    const bg_state *x = ig->x0;
    bool choose = !p->chosen || m->choose_anew;
    if (m->at_x0 && !choose)
        return BG_OK;
    bg_status st = BG_OK;
    bg_purpose before = bg_system_turn_to(ig->sys, BG_FOR_STEPS);
    if (m->resumed && !choose)
        bg_system_turn_to(ig->sys, BG_ASIDE); /* what the run that was saved had at hand */
    if (p->ng > 0)
        st = bg_dynamics_evaluate(ig->dyn, x->t, x->q, x->v, x->z, x->mode, BG_TERM_G, err);
    if (st == BG_OK)
        st = choose ? bg_independent_choose(p, err) : bg_independent_factor(p, err);
    bg_system_turn_to(ig->sys, before);
    if (st != BG_OK)
        return st;
    if (choose)
        update_mask(ig);
    m->at_x0 = true;
    m->choose_anew = m->resumed = false;
    return BG_OK;
}

static void restart(bg_integrator *ig, bg_restart reason)
{
    bg_adams *m = ig->method;
    if (reason != BG_RESTART_ROWS && reason != BG_RESTART_INPUTS)
        bg_adams_history_reset(&m->now);
    if (reason == BG_RESTART_START) {
        m->partition->chosen = false;
        m->partition->changes = 0;
        m->partition->condition_least = 0;
    }
    m->choose_anew = m->choose_anew || reason == BG_RESTART_ROWS;
    m->at_x0 = m->resumed = m->worse = false;
    m->tries = m->failures = m->cuts = 0;
}

/* A quarter of what order 1 allows if y'' is about |y'|^2. */
static bg_status first_step(bg_integrator *ig, double *h, bg_error *err)
{
    bg_adams *m = ig->method;
    double span = ig->t_end - ig->x0->t;
    bg_status st = prepare_partition(ig, err);
    if (st != BG_OK)
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    memcpy(ig->x1->q, ig->x0->q, (size_t)ig->n * sizeof(double));
    double size = bg_norm_calc_state(ig, ig->rate0, m->judged);
    *h = fmin(1e-2 * span, 0.25 / sqrt(fmax(size, 1e-30)));
    if (ig->options.h_max > 0)
        *h = fmin(*h, ig->options.h_max);
    return BG_OK;
}

/* Rates and multipliers at t, y, whose dependent coordinates are found on the way. */
static bg_status evaluate(bg_integrator *ig, double t, double *y, double *rate, double *lambda,
                          bg_error *err)
{
    bg_adams *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const int *mode = ig->x0->mode;
    double *q = y, *v = y + d->nq, *z = v + d->nv;
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, q);
    if (d->ng == 0)
        return bg_integrator_calc_rate(ig, t, y, 0, rate, lambda, err);
    unsigned want = BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt;
    want |= d->kinematic ? BG_TERM_V : 0u;
    m->at_x0 = false;
    bg_status st = bg_independent_close(m->partition, t, q, v, z, mode, err);
    if (st == BG_OK)
        st = bg_dynamics_evaluate(d, t, q, v, z, mode, want, err);
    if (st == BG_OK)
        st = bg_independent_factor(m->partition, err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st != BG_OK)
        return st;
    bg_independent_complete(m->partition, v);
    want = BG_TERM_f | BG_TERM_gamma | (d->nz > 0 ? BG_TERM_h : 0u);
    st = bg_dynamics_evaluate_more(d, v, z, want, err);
    if (st == BG_OK)
        st = bg_dynamics_solve(d, rate + d->nq, lambda, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(d, v, rate);
    memcpy(rate + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    return ig->energy ? bg_dynamics_calc_power(d, rate + d->nq, lambda, &rate[ig->n - 1], err)
                      : BG_OK;
}

/* Whether the error of the attempt, in work_n, is far above rounding: then it is rejected, whatever
 * its end would be. */
static bool is_hopeless(const bg_integrator *ig, double error)
{
    double most = 0, size = 0;
    if (error <= 1 || ig->options.step > 0)
        return false;
    for (int i = 0; i < ig->n - 1; i++) {
        most = fmax(most, fabs(ig->work_n[i]));
        size = fmax(size, fabs(ig->x1->q[i]) + ig->control.h_cruise * fabs(ig->rate0[i]));
    }
    return most > no_rounding * bg_project_calc_coarseness(ig->dyn) * size;
}

/* A step of h and order k from y0, where `from` ends, to x1 at t. */
static bg_status advance(bg_integrator *ig, const bg_adams_history *from, const double *y0,
                         double h, int k, double t, double *error, bg_error *err)
{
    bg_adams *m = ig->method;
    bg_adams_formula *f = &m->formula;
    double *y = ig->x1->q;
    bg_adams_calc_formula(from, k, h, f);
    bg_adams_predict(from, f, y0, &m->next, m->p);
    memcpy(m->y, m->p, (size_t)ig->n * sizeof(double));
    bg_status st = evaluate(ig, t, m->y, m->f_p, m->lambda, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < ig->n; i++) {
        m->d[i] = m->f_p[i] - m->next.phi[0][i];
        y[i] = m->p[i] + h * f->g[k + 1] * m->d[i];
    }
    if (ig->options.step == 0) {
        bg_adams_calc_estimate(ig);
        *error = m->estimate.error;
        ig->work_error = h * fabs(f->g[k + 1] - f->g[k]) * fabs(m->d[ig->n - 1]);
    }
    if (is_hopeless(ig, *error))
        return BG_OK;
    st = evaluate(ig, t, y, ig->rate1, ig->x1->lambda, err);
    if (st != BG_OK)
        return st;
    bg_adams_push(&m->next, f, ig->rate1);
    if (ig->options.step == 0)
        bg_adams_calc_above(ig);
    return BG_OK;
}

/* Parts of one length with which a start goes on before they are twice as long: as many as the
 * differences have points, since of points that come closer and closer these are rounding. */
static int count_parts(const bg_adams *m)
{
    return m->max_order <= 4 ? 4 : m->max_order <= 8 ? 8 : 16;
}

/* Length of the next part of a fixed step, h/2^halvings at first, after `made` of them with `steps`
 * whole steps before. */
static double choose_part(const bg_adams *m, double h, int steps, int made)
{
    int n = count_parts(m), level = 0;
    if (steps == 0) {
        level = made < 2 * n ? 0 : made / n - 1;
        return ldexp(h, level - HALVINGS);
    }
    for (int before = 1; before < steps; before *= 2)
        level++;
    return fmin(h, ldexp(h / n, level));
}

/* A fixed step; the first ones in parts. */
static bg_status attempt_fixed(bg_integrator *ig, bg_error *err)
{
    bg_adams *m = ig->method;
    const bg_adams_history *from = &m->now;
    const double end = ig->x1->t, close = 1e-9;
    double ignored = 0, rest = ig->h;
    bg_status st = BG_OK;
    memcpy(m->start, ig->x0->q, (size_t)ig->n * sizeof(double));
    for (int made = 0; rest > 0 && st == BG_OK; made++) {
        double s = choose_part(m, ig->h, m->now.steps, made);
        bool last = s > (1 - close) * rest;
        s = last ? rest : s;
        rest = last ? 0 : rest - s;
        int k = from->k_used < m->max_order ? from->k_used + 1 : m->max_order;
        st = advance(ig, from, m->start, s, k, last ? end : end - rest, &ignored, err);
        if (!last)
            memcpy(m->start, ig->x1->q, (size_t)ig->n * sizeof(double));
        from = &m->next;
    }
    m->next.steps = m->now.steps < BG_ADAMS_STARTS ? m->now.steps + 1 : BG_ADAMS_STARTS;
    return st;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_adams *m = ig->method;
    bg_state *x = ig->x1;
    *error = 0;
    ig->stays = false;
    if (m->tries++ == 0) {
        m->k_try = m->now.k_next;
        m->failures = m->cuts = 0;
    }
    bg_status st = prepare_partition(ig, err);
    if (st != BG_OK)
        return st;
    memcpy(x->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    if (m->now.k_used == 0)
        memcpy(m->now.phi[0], ig->rate0, (size_t)ig->n * sizeof(double));
    st = ig->options.step > 0 ? attempt_fixed(ig, err)
                              : advance(ig, &m->now, ig->x0->q, ig->h, m->k_try, x->t, error, err);
    ig->order = m->formula.k;
    ig->error_tangent = *error;
    ig->stays = st == BG_OK ? m->failures < FAILURES || m->now.k_used == 0 : m->cuts < CUTS;
    if (st != BG_OK || is_hopeless(ig, *error))
        return st;
    memcpy(x->a, ig->rate1 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    return BG_OK;
}

/* Over a singular position, where no partition is a good one: a step of Dormand and Prince, of
 * order 8, in local coordinates of the constraints, behind which the method starts anew. */
static bg_status leap(bg_integrator *ig, double *error, bg_error *err)
{
    bg_adams *m = ig->method;
    m->tries++;
    bg_adams_history_reset(&m->next);
    m->next.leapt = true;
    m->at_x0 = m->resumed = false;
    ig->order = LEAP_ORDER;
    return bg_pair_leap(ig, error, err);
}

/* Rounding of places moves dependent velocities by its product with the square of the condition:
 * what that comes to where the constraints hold much less than they did is remembered. */
static void watch_rounding(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    bg_rounding *r = &ig->control.rounding;
    const double worse = m->partition->condition / m->partition->condition_least;
    const double noise = worse * worse * bg_project_calc_last_place(ig->dyn);
    const double tolerance = fmax(ig->options.rtol, ig->options.atol);
    if (m->partition->ng > 0 && ig->options.step == 0 && noise > tolerance)
        r->noise_most = fmax(r->noise_most, noise / tolerance);
}

static void accept(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    m->worse = m->next.leapt || bg_independent_judge(m->partition);
    if (!m->next.leapt)
        watch_rounding(ig);
    if (!m->next.leapt && ig->options.step == 0)
        bg_trouble_watch_step(ig, m->y, m->f_p);
    m->repeated = m->tries > 1;
    m->tries = 0;
}

static void commit(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    bg_adams_history next = m->next;
    m->next = m->now;
    m->now = next;
    m->at_x0 = !m->now.leapt;
    m->choose_anew = m->worse;
    m->tries = 0;
}

static void prepare_dense(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    if (m->next.leapt) {
        if (bg_dop853_calc_bubbles(ig, true) != BG_OK)
            memset(ig->bubble, 0, BG_DOP853_BUBBLES * (size_t)ig->n * sizeof(double));
        return;
    }
    bg_adams_interpolate(&m->next, ig->x0->t - ig->x1->t, 0, ig->n, m->defect, NULL);
    for (int i = 0; i < ig->n; i++)
        m->defect[i] = ig->x0->q[i] - (ig->x1->q[i] + m->defect[i]);
}

/* The polynomial of the differences, and what it misses at the beginning fades along the step. */
static void interpolate(const bg_integrator *ig, double t, int begin, int end, double *y,
                        double *slope)
{
    const bg_adams *m = ig->method;
    const double h = ig->x1->t - ig->x0->t, tau = t - ig->x1->t;
    if (m->next.leapt) {
        bg_dense_calc_hermite(ig, t, begin, end, y, slope);
        return;
    }
    bg_adams_interpolate(&m->next, tau, begin, end, y, slope);
    for (int i = begin; i < end; i++) {
        if (y)
            y[i - begin] += ig->x1->q[i] - tau / h * m->defect[i];
        if (slope)
            slope[i - begin] -= m->defect[i] / h;
    }
}

static void archive(bg_integrator *ig, bg_archive *a)
{
    bg_adams *m = ig->method;
    bg_adams_history_archive(&m->now, a);
    bg_independent_archive(m->partition, a);
    bg_archive_flags(a, &m->at_x0, sizeof m->at_x0);
    bg_archive_flags(a, &m->choose_anew, sizeof m->choose_anew);
    if (!a->loading || a->failed)
        return;
    m->resumed = m->at_x0;
    m->at_x0 = false;
    m->tries = m->failures = m->cuts = 0;
    update_mask(ig);
}

static void describe(const bg_integrator *ig, char *text, size_t size)
{
    const bg_adams *m = ig->method;
    long n = m->partition->changes;
    if (n > 0)
        snprintf(text, size, "other coordinates became the independent ones %ld time%s", n,
                 n == 1 ? "" : "s");
}

static const bg_option_info options[] = {
    {"max_order", "auto|1|2|3|4|5|6|7|8|9|10|11|12", "auto",
     "largest order, one more with its correction; auto: 12, of fixed steps 4"},
    {"independent", "directions|coordinates", "directions",
     "what is integrated: motions, or coordinates (the partition of 002)"},
    {"judged", "all|independent", "all",
     "where coordinates are integrated, those whose errors count: the others follow by the "
     "constraints, but may magnify them"},
    {"norm", "max|rms", "max", "error of a step: its worst entry, or the root mean square"},
};

const bg_integrator_class bg_adams_class;
const bg_integrator_class bg_adams_class = {
    .info = {"adams", "Adams PECE of order 1 to 12 on independent motions (explicit)", options,
             sizeof options / sizeof *options, false, BG_ADAMS_ORDER_MAX, BG_ADAMS_ORDER_MAX,
             FIXED_ORDER + 1},
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .attempt = attempt,
    .leap = leap,
    .first_step = first_step,
    .control = bg_adams_control,
    .accept = accept,
    .commit = commit,
    .bubbles = BG_DOP853_BUBBLES,
    .prepare_dense = prepare_dense,
    .interpolate = interpolate,
    .archive = archive,
    .describe = describe,
};
