/* bdf: backward differentiation of order 1 to 5 (6 on request) on the Gear-Gupta-Leimkuhler form.
 *
 * M. Arnold, A. Fuchs and C. Fuehrer, Efficient corrector iteration for DAE time integration in
 * multibody dynamics (001). The equations (bdf_residual.c) are solved for y = (q, v, z, lambda,
 * eta) with fixed leading coefficients in scaled differences (bdf_history.c); order and step are
 * chosen together (bdf_order.c), by errors of q, v and z alone (bdf_norm.c). Newton's iteration
 * (bdf_corrector.c) takes derivatives (bdf_jacobian.c, bdf_differences.c) into a matrix without q
 * (bdf_matrix.c). Orders that would pump up fast undamped modes are capped (bdf_cap.c).
 *
 * Fixed steps h have the order that `max_order` says. Before the differences of that order are
 * there, the first six steps (12 and 24 for orders 5 and 6) are made of shorter ones: twelve of
 * h/2^14, by which the order rises to its end, then six of each of h/2^13, h/2^12, ..., which cover
 * them exactly. What order 1 does in the first of these is (h/2^14)^2; so many of one length let
 * die out what doubling the length adds, with 0.71 and 0.86 a step for orders 5 and 6. */
#include "integrators/bdf.h"

#include "base/memory.h"
#include "integrators/change_points.h"
#include "integrators/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fixed steps start with parts of steps, from 2^-FIRST to 2^-LAST of one. */
enum { FIRST = 14, LAST = 4 };
enum { CUTS = 2 };                  /* for want of convergence, before a leap is thought of */
static const double cheap_most = 2; /* residuals that derivatives may cost for update=full */
static const int each[] = {0, 6, 6, 6, 6, 12, 24}; /* parts of one length, by order */

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    bg_bdf *m = ig->method;
    int nq = m->nq, nv = m->nv, nz = m->nz, ng = m->ng, n = ig->n;
    bg_bdf_history_take(&m->now, n, ng, arena);
    bg_bdf_history_take(&m->next, n, ng, arena);
    bg_bdf_history_take(&m->ends, n, ng, arena);
    bg_bdf_history_take(&m->next_ends, n, ng, arena);
    double **const of_n[] = {&m->y_P, &m->rate_P, &m->e};
    double **const of_v[] = {&m->metric, &m->tangent,    &m->VV,       &m->a,
                             &m->step_q, &m->step_v,     &m->F.F1,     &m->F.F2,
                             &m->rhs,    &m->matrix.row, &m->other.F1, &m->other.F2};
    double **const of_g[] = {&m->eta,  &m->lambda, &m->step_lambda, &m->step_eta,
                             &m->F.F3, &m->F.F4,   &m->other.F3,    &m->other.F4};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        BG_TAKE(arena, *of_n[i], n + ng);
    for (size_t i = 0; i < sizeof of_v / sizeof *of_v; i++)
        BG_TAKE(arena, *of_v[i], nv);
    for (size_t i = 0; i < sizeof of_g / sizeof *of_g; i++)
        BG_TAKE(arena, *of_g[i], ng);
    BG_TAKE(arena, m->step_z, nz);
    BG_TAKE(arena, m->F.Fz, nz);
    BG_TAKE(arena, m->other.Fz, nz);
    BG_TAKE(arena, m->base, nq);
    BG_TAKE(arena, m->moved, nq);
    BG_TAKE(arena, m->q_t, nq);
    BG_TAKE(arena, m->V, bg_system_get_size_V(ig->sys->system));
    BG_TAKE(arena, m->weight, 2 * nv + nz);
    BG_TAKE(arena, m->entries, 2 * nv + nz);
    BG_TAKE(arena, m->forgiven, 2 * nv + nz);
    BG_TAKE(arena, m->q_of, nv);
}

static bg_status read_options(bg_integrator *ig, bg_bdf *m, bg_error *err)
{
    const char *order = bg_option_get(ig, "max_order");
    m->form = bg_option_get_choice(ig, "form");
    m->formalism = bg_option_get_choice(ig, "formalism");
    m->jacobian = bg_option_get_choice(ig, "jacobian");
    m->update = bg_option_get_choice(ig, "update");
    m->rule = bg_option_get_choice(ig, "step_rule");
    m->omega = bg_option_get_choice(ig, "pattern");
    m->columns = bg_option_get_choice(ig, "columns");
    m->through = bg_option_get_choice(ig, "matrix");
    m->automatic = strcmp(order, "auto") == 0;
    m->max_order = m->automatic ? 5 : atoi(order);
    m->kappa = bg_option_get_number(ig, "newton", 0);
    /* what Newton's iteration leaves in fixed steps is rounding in every entry */
    m->norm = ig->options.step > 0 ? BG_NORM_LARGEST : bg_option_get_choice(ig, "norm");
    ig->by_largest = m->norm == BG_NORM_LARGEST;
    ig->drifts = m->ng > 0 && (m->form == BG_FORM_INDEX_2 || m->form == BG_FORM_INDEX_1);
    m->second_row = m->form == BG_FORM_GGL && m->ng > 0;
    if (m->kappa < 0 || m->kappa >= 1 || bg_option_get_number(ig, "newton", 0.5) == 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "option 'newton' of integrator bdf is %g; it is the part of the "
                            "tolerance that Newton's iteration may leave, between 0 and 1",
                            m->kappa);
    return BG_OK;
}

/* What the method needs of the system. */
static bg_status check_system(bg_integrator *ig, bg_bdf *m, bg_error *err)
{
    const bg_system_def *def = &ig->sys->def;
    if (!(def->supplied & BG_TERM_M))
        return bg_error_set(err, BG_MISSING,
                            "system '%s' does not supply M, which integrator bdf needs for its "
                            "iteration matrix; supply it, or take an explicit method such as mdop5",
                            def->name);
    return m->formalism == BG_FORMALISM_EXPLICIT ? bg_evaluator_prepare_acceleration(ig->sys, err)
                                                 : BG_OK;
}

static uint64_t choose_blocks(const bg_integrator *ig, const bg_bdf *m)
{
    uint64_t blocks = m->matrix.expanded
                          ? 0
                          : BG_KEPT_MASS | BG_KEPT(BG_OF_r, BG_BY_q) | BG_KEPT(BG_OF_r, BG_BY_v);
    bool lambda = ig->sys->def.f_of_lambda != 0;
    if (m->nz > 0)
        blocks |= BG_KEPT(BG_OF_r, BG_BY_z) | BG_KEPT(BG_OF_h, BG_BY_q) |
                  BG_KEPT(BG_OF_h, BG_BY_v) | BG_KEPT(BG_OF_h, BG_BY_z);
    if (m->ng > 0 && m->form != BG_FORM_INDEX_3)
        blocks |= BG_KEPT(BG_OF_w, BG_BY_q);
    if (lambda)
        blocks |= BG_KEPT(BG_OF_r, BG_BY_lambda);
    if (lambda && m->nz > 0)
        blocks |= BG_KEPT(BG_OF_h, BG_BY_lambda);
    return blocks;
}

/* update=auto: full where the system says that its derivatives are cheap, and supplies all; where
 * it says that they are not, partitioned, and new ones as soon as they pay. */
static void choose_update(const bg_integrator *ig, bg_bdf *m)
{
    const bg_system_def *def = &ig->sys->def;
    bool cheap = m->jacobian == BG_DIFFERENCE_ANALYTIC && !m->matrix.expanded &&
                 def->derivative_cost > 0 && def->derivative_cost <= cheap_most;
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++)
            if (m->blocks & BG_KEPT(of, by))
                cheap = cheap && def->derivative_supplied[of][by];
    m->weighs = m->update == BG_UPDATE_AUTO && m->jacobian == BG_DIFFERENCE_ANALYTIC && !cheap &&
                def->derivative_cost > 0;
    if (m->update == BG_UPDATE_AUTO)
        m->update = cheap ? BG_UPDATE_FULL : BG_UPDATE_PARTITIONED;
}

static void map_coordinates(const bg_integrator *ig, bg_bdf *m)
{
    const double *size = ig->sys->def.v_size;
    for (int j = 0; j < m->nv; j++)
        m->metric[j] = size ? size[j] * size[j] : 1;
    bg_norm_map_coordinates(ig, m->q_of);
}

static bg_status create_second(bg_integrator *ig, bg_bdf *m, bg_error *err)
{
    int nu = ig->sys->def.nu, size = nu + bg_bdf_count_values(m);
    if (m->update != BG_UPDATE_EXTENDED || nu == 0)
        return BG_OK;
    m->second = BG_NEW_ARRAY(double *, 3 * nu + 2);
    bool good = m->second != NULL;
    for (int c = 0; c < 3 * nu + 2 && good; c++)
        good = (m->second[c] = BG_NEW_ARRAY(double, size)) != NULL;
    return good ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator bdf");
}

static bg_status create(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = BG_NEW(bg_bdf);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator bdf");
    ig->has_past = true;
    m->nq = ig->dyn->nq;
    m->nv = ig->dyn->nv;
    m->nz = ig->dyn->nz;
    m->ng = ig->dyn->ng;
    bg_status st = read_options(ig, m, err);
    if (st == BG_OK)
        st = check_system(ig, m, err);
    if (st == BG_OK && !bg_arena_create(&m->arena, list, ig))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator bdf");
    if (st != BG_OK)
        return st;
    map_coordinates(ig, m);
    st = bg_bdf_matrix_choose(ig, err);
    m->blocks = choose_blocks(ig, m);
    choose_update(ig, m);
    if (st == BG_OK)
        st = bg_bdf_parts_create(ig, &m->parts, err);
    if (st == BG_OK)
        st = bg_bdf_parts_create(ig, &m->kept, err);
    if (st == BG_OK)
        st = bg_bdf_matrix_create(ig, err);
    if (st == BG_OK && m->jacobian != BG_DIFFERENCE_ANALYTIC)
        st = bg_bdf_differences_create(ig, err);
    if (st == BG_OK)
        st = create_second(ig, m, err);
    if (st == BG_OK && m->automatic && ig->options.step == 0)
        st = bg_bdf_cap_create(ig, err);
    bg_bdf_history_reset(&m->now);
    bg_bdf_history_reset(&m->ends);
    bg_bdf_history_reset(&m->next_ends); /* they take turns */
    return st;
}

static void destroy(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_parts *const parts[] = {&m->parts, &m->kept};
    for (int i = 0; i < 2; i++) {
        bg_jacobian_clear(&parts[i]->B);
        free(parts[i]->G);
        free(parts[i]->u);
        free(parts[i]->E.x);
    }
    for (int c = 0; m->second && c < 3 * ig->sys->def.nu + 2; c++)
        free(m->second[c]);
    free((void *)m->second);
    bg_bdf_matrix_clear(&m->matrix);
    bg_bdf_differences_destroy(m->differences);
    bg_bdf_cap_destroy(m->cap);
    bg_arena_clear(&m->arena);
    free(m);
}

/* What stays true: all of the motion where only the choice of rows, or inputs, are others; the
 * derivatives
 * where q, v or z have jumped, as a first guess; nothing in another mode, or of another motion. */
static void restart(bg_integrator *ig, bg_restart reason)
{
    bg_bdf *m = ig->method;
    bool goes_on = (reason == BG_RESTART_ROWS || reason == BG_RESTART_INPUTS) &&
                   ig->x0->t == m->t_now;
    bg_bdf_history *const both[] = {&m->now, &m->ends};
    for (int i = 0; i < 2; i++)
        if (goes_on)
            bg_bdf_history_forget_lambda(both[i]);
        else
            bg_bdf_history_reset(both[i]);
    if (reason == BG_RESTART_START || reason == BG_RESTART_MODE)
        m->parts.made = false, m->parts.spectrum.since = 0;
    if (reason == BG_RESTART_START) {
        bg_bdf_differences_forget(ig);
        m->second_made = false;
    }
    m->parts.slow = false;
    m->parts.slow_steps = 0;
    m->parts.rate = 100;
    m->parts.own = false;
    m->parts.seen = m->parts.later = (bg_bdf_seen){0};
    m->ready = m->uncounted = false;
    m->tries = 0;
    m->t_now = ig->x0->t;
    bg_bdf_parts_copy(ig, &m->parts, &m->kept);
    m->changed = false;
    bg_bdf_matrix_hold(ig);
}

/* h such that order 1 leaves a quarter of the tolerance: y'' from the rates a little ahead. */
static bg_status first_step(bg_integrator *ig, double *h, bg_error *err)
{
    bg_bdf *m = ig->method;
    const bg_state *x = ig->x0;
    double *y = m->y_P, *rate = m->rate_P, span = ig->t_end - x->t, before = m->now.h_used;
    memcpy(y, x->q, (size_t)ig->n * sizeof(double));
    m->formula.h = 1;
    bg_status st = BG_OK;
    ig->x1->t = x->t;
    if (bg_bdf_prepare_base(ig, err) != BG_OK)
        st = BG_SYSTEM_FAILED;
    const bool fixed = ig->options.step > 0;
    if (st != BG_OK || fixed)
        return st;
    if (span <= bg_control_get_least(ig)) { /* a few units in the last place */
        *h = span;
        return BG_OK;
    }
    bg_bdf_update_weights(ig);
    double first = bg_bdf_calc_norm_of(ig, ig->rate0, NULL, NULL), shift = 0.1 / fmax(first, 1e-30);
    shift = fmin(fmin(shift, 1e-3), 1e-3 * span);
    for (int attempt = 0;; attempt++) {
        for (int i = 0; i < ig->n; i++)
            y[i] = x->q[i] + shift * ig->rate0[i];
        st = bg_integrator_calc_rate(ig, x->t + shift, y, 0, rate, ig->x1->lambda, err);
        if (st == BG_OK)
            break;
        if (st < 0 || attempt == 20)
            return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
        shift *= 0.1;
    }
    for (int i = 0; i < ig->n; i++)
        rate[i] = (rate[i] - ig->rate0[i]) / shift;
    double second = bg_bdf_calc_norm_of(ig, rate, NULL, NULL);
    *h = fmin(1e-2 * span, 1 / sqrt(2 * fmax(second, 1e-30)));
    if (before > 0)
        *h = fmin(*h, before);
    if (ig->options.h_max > 0)
        *h = fmin(*h, ig->options.h_max);
    return BG_OK;
}

/* Terms at the end of the step. */
static bg_status place_end(bg_integrator *ig, const bg_state *x, unsigned want, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    bg_status st = bg_system_set_point(ig->sys, x->t, x->q, x->v, x->z, x->mode, &d->point, err);
    if (ig->sys->def.f_of_lambda)
        d->point.lambda = x->lambda;
    d->have = want;
    if (st == BG_OK && want)
        st = bg_system_calc_terms(ig->sys, &d->point, want, &d->terms, err);
    if (st == BG_OK)
        bg_dynamics_take_offsets(d, want, &d->terms);
    return st;
}

/* Of the corrector's own accelerations |G a + gamma| would say what 1/h makes of the error, but
 * where the equations themselves hold it. */
static unsigned choose_measured(const bg_bdf *m)
{
    if (m->ng == 0)
        return 0;
    return BG_TERM_G | BG_TERM_g | BG_TERM_gt | (m->form == BG_FORM_INDEX_1 ? BG_TERM_gamma : 0u);
}

static void take_residuals(const bg_integrator *ig, const bg_state *x, bg_residuals *out)
{
    const bg_bdf *m = ig->method;
    *out = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    if (m->ng > 0 && m->form != BG_FORM_INDEX_1)
        out->ga = NAN;
}

static bg_status measure(bg_integrator *ig, const bg_state *x, bg_residuals *out)
{
    bg_status st = place_end(ig, x, choose_measured(ig->method), NULL);
    if (st == BG_OK)
        take_residuals(ig, x, out);
    return st;
}

/* The work of a step, by the power at its end, whose terms are at hand. */
static bg_status add_work(bg_integrator *ig, double *power, bg_error *err)
{
    bg_bdf *m = ig->method;
    const int w = ig->n - 1;
    bg_status st = BG_OK;
    *power = 0;
    if (ig->energy)
        st = bg_dynamics_calc_power(ig->dyn, m->a, m->lambda, power, err);
    m->e[w] = (*power - m->power_P) / m->formula.alpha;
    ig->work_error = m->formula.error * fabs(m->e[w]);
    *ig->x1->work = ig->energy ? m->y_P[w] + m->e[w] : *ig->x0->work;
    return st;
}

static void push(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    for (int i = 0; i < m->ng; i++)
        m->e[ig->n + i] = m->lambda[i] - m->y_P[ig->n + i];
    bg_bdf_history_push(&m->next, &m->formula, m->e, ig->x1->q, m->lambda);
}

/* Work, rates and multipliers of the end of a step, and its residuals where terms are needed for
 * its work anyway: who does not ask for them does not pay. */
static bg_status finish(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_state *x = ig->x1;
    const unsigned want = (ig->energy ? choose_measured(m) : 0) |
                          (ig->dyn->kinematic ? BG_TERM_V : 0u);
    double power;
    memcpy(x->a, m->a, (size_t)m->nv * sizeof(double));
    memcpy(x->lambda, m->lambda, (size_t)m->ng * sizeof(double));
    bg_status st = ig->energy || want ? place_end(ig, x, want, err) : BG_OK;
    if (st == BG_OK)
        st = add_work(ig, &power, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(ig->dyn, x->v, ig->rate1);
    memcpy(ig->rate1 + m->nq, m->a, (size_t)m->nv * sizeof(double));
    ig->rate1[ig->n - 1] = power;
    ig->unmeasured1 = !ig->energy;
    if (ig->energy)
        take_residuals(ig, x, &ig->residuals1);
    push(ig);
    return BG_OK;
}

/* One part of a fixed step is behind the others. */
static bg_status finish_part(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    double power;
    memcpy(ig->x1->lambda, m->lambda, (size_t)m->ng * sizeof(double));
    bg_status st = ig->energy ? place_end(ig, ig->x1, choose_measured(m), err) : BG_OK;
    if (st == BG_OK)
        st = add_work(ig, &power, err);
    if (st == BG_OK)
        push(ig);
    return st;
}

/* From where `next` ends over s to t. */
static bg_status advance(bg_integrator *ig, double s, int k, double t, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_history_predict(&m->next, k, s, &m->formula, m->y_P, m->rate_P);
    bg_status st = bg_bdf_correct(ig, t, err);
    if (st != BG_OK)
        return st;
    for (int i = m->nq + m->nv; i < ig->n - 1; i++)
        ig->rate1[i] = m->rate_P[i] + m->formula.alpha * m->e[i];
    m->power_P = m->rate_P[ig->n - 1];
    return BG_OK;
}

/* Length of the next part of a fixed step, with `rest` of it left, after `count` parts. */
static double choose_part(const bg_integrator *ig, int count, double rest)
{
    const bg_bdf *m = ig->method;
    const double close = 1e-9;
    const int n = each[m->max_order];
    int level = count < 2 * n ? 0 : (count - n) / n;
    double s = ldexp(ig->options.step, (level < FIRST - LAST ? level : FIRST - LAST) - FIRST);
    if (s > (1 - close) * rest)
        return s < (1 + close) * rest ? s : rest;
    return s > 0.5 * (1 + close) * rest ? 0.5 * rest : s;
}

/* Puts the end of a step in parts behind those of the whole steps before; as soon as these are
 * enough for the order, the differences of parts are left for theirs. */
static void keep_end(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_history *x = &m->next_ends;
    const int n = ig->n;
    int k = x->k_used + 1;
    bg_bdf_history_begin(x, ig->x0->q, ig->rate0, ig->x0->lambda, ig->h);
    bg_bdf_history_predict(x, k, ig->h, &m->formula, m->y_P, m->rate_P);
    for (int i = 0; i < x->n; i++)
        m->e[i] = (i < n ? ig->x1->q[i] : m->lambda[i - n]) - m->y_P[i];
    bg_bdf_history_push(x, &m->formula, m->e, ig->x1->q, m->lambda);
    if (k == m->max_order)
        bg_bdf_history_copy(x, &m->next);
}

/* A fixed step. The first ones, as many as the order, are made of parts, so that what the method
 * starts from is better than what it makes of it. */
static bg_status attempt_fixed(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_history *x = &m->next;
    const double end = ig->x1->t;
    double rest = ig->h;
    bg_status st = BG_OK;
    bg_bdf_history_copy(&m->ends, &m->next_ends);
    if (m->ends.k_used == m->max_order) {
        bg_bdf_history_begin(x, ig->x0->q, ig->rate0, ig->x0->lambda, ig->h);
        st = advance(ig, ig->h, m->max_order, end, err);
        return st == BG_OK ? finish(ig, err) : st;
    }
    bg_bdf_history_begin(x, ig->x0->q, ig->rate0, ig->x0->lambda, choose_part(ig, x->filled, rest));
    while (rest > 0 && st == BG_OK) {
        double s = choose_part(ig, x->filled, rest);
        bool last = s > (1 - 1e-9) * rest;
        int k = x->k_used + 1 < m->max_order ? x->k_used + 1 : m->max_order;
        rest = last ? 0 : rest - s;
        st = advance(ig, s, k, last ? end : end - rest, err);
        if (st == BG_OK)
            st = last ? finish(ig, err) : finish_part(ig, err);
        x->filled++;
    }
    if (st == BG_OK)
        keep_end(ig);
    return st;
}

/* What a step has changed that was undone. */
static void take_back(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    if (!m->changed)
        return;
    bg_bdf_parts_copy(ig, &m->kept, &m->parts);
    m->changed = m->ready = false;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_bdf *m = ig->method;
    const double end = ig->x1->t;
    *error = 0;
    if (m->tries++ == 0) {
        m->k_try = m->now.k_next;
        m->error_failures = m->cuts = 0;
        take_back(ig);
    }
    memcpy(ig->x1->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    bg_bdf_history_copy(&m->now, &m->next);
    bg_status st;
    if (ig->options.step > 0) {
        st = attempt_fixed(ig, err);
    } else {
        bg_bdf_history_begin(&m->next, ig->x0->q, ig->rate0, ig->x0->lambda, ig->h);
        int k = m->now.k_used == 0 ? 1 : m->k_try;
        st = advance(ig, ig->h, k, end, err);
        if (st == BG_OK) {
            bg_bdf_calc_estimate(ig);
            *error = m->estimate.error;
        }
    }
    ig->x1->t = end;
    ig->order = m->formula.k;
    ig->error_tangent = *error;
    /* singular positions show otherwise, or not at once, where they are not known already; a
     * corrector that does not converge may need shorter steps; and leaps, which cost a Jacobian
     * each, lead over nothing else */
    ig->stays = !bg_change_points_is_passing(ig) &&
                ((st == BG_OK && m->error_failures < 2) ||
                 (st == BG_NOT_CONVERGED && m->cuts < CUTS) ||
                 (st != BG_SINGULAR && !bg_rounding_is_magnified(ig)));
    return st;
}

/* Over a singular position: the polynomial of the order that led there reaches across. */
static bg_status leap(bg_integrator *ig, double *error, bg_error *err)
{
    bg_bdf *m = ig->method;
    m->k_try = m->now.k_next;
    return attempt(ig, error, err);
}

/* Fixed steps are whole already. */
static bg_status complete(bg_integrator *ig, bg_error *err)
{
    return ig->options.step > 0 ? BG_OK : finish(ig, err);
}

static void accept(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_rounding *r = &ig->control.rounding;
    if (m->noise > 1)
        r->noise_most = fmax(r->noise_most, m->noise);
    m->tries = 0;
}

static void commit(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_history next = m->next, ends = m->next_ends;
    m->next = m->now;
    m->now = next;
    m->next_ends = m->ends;
    m->ends = ends;
    m->t_now = ig->x1->t;
    m->tries = 0;
    if (m->changed)
        bg_bdf_parts_copy(ig, &m->parts, &m->kept);
    m->changed = false;
}

static void interpolate(const bg_integrator *ig, double t, int begin, int end, double *y,
                        double *slope)
{
    const bg_bdf *m = ig->method;
    bg_bdf_history_interpolate(&m->next, t - ig->x1->t, begin, end, y, slope);
}

static void archive(bg_integrator *ig, bg_archive *a)
{
    bg_bdf *m = ig->method;
    const int size = bg_bdf_count_values(m);
    if (!a->loading)
        take_back(ig);
    bg_bdf_history_archive(&m->now, a);
    bg_bdf_history_archive(&m->ends, a);
    bg_archive_finite(a, &m->t_now, 1);
    bg_bdf_parts_archive(ig, &m->parts, a);
    bg_bdf_differences_archive(ig, a);
    bg_archive_flags(a, &m->second_made, sizeof m->second_made);
    for (int c = 0; m->second && m->second_made && c < 3 * ig->sys->def.nu && !a->failed; c++)
        bg_archive_finite(a, m->second[c], size);
    if (m->matrix.expanded)
        bg_expanded_archive(m->matrix.expanded, a);
    else
        bg_blocks_archive(m->matrix.blocks, a);
    bool ready = m->ready;
    bg_archive_flags(a, &ready, sizeof ready);
    if (!a->loading || a->failed)
        return;
    m->uncounted = ready;
    m->ready = m->changed = false;
    m->tries = 0;
    bg_bdf_parts_copy(ig, &m->parts, &m->kept);
    bg_bdf_matrix_hold(ig);
}

static const bg_option_info options[] = {
    {"form", "ggl|index3|index2|index1", "ggl",
     "equations: stabilised index 2, or with one level of the constraints alone"},
    {"formalism", "residual|explicit", "residual",
     "F2 = M a - f + G' lambda, or a - M^-1 (f - G' lambda)"},
    {"jacobian", "analytic|dense|sparse", "analytic",
     "derivatives of the system, differences by columns, or by groups of columns"},
    {"pattern", "estimated|known", "estimated",
     "of jacobian=sparse: from a first difference of all columns, or of the system"},
    {"columns", "kept|whole", "kept",
     "of differences: what a column does not move is kept, or all of F is evaluated anew"},
    {"update", "auto|partitioned|full|extended", "auto",
     "where the step changes: the old derivatives with new M, new ones, or the old following the "
     "inputs; auto: new ones where the system says that they are cheap, or where they pay"},
    {"matrix", "auto|blocks|expansion", "auto",
     "of derivatives, or through the system's own unknowns; auto: what is less work"},
    {"max_order", "auto|1|2|3|4|5|6", "auto", "largest order; auto: 5, where no mode is pumped up"},
    {"newton", NULL, "auto", "part of the tolerance that Newton's iteration may leave"},
    {"step_rule", "smooth|dassl", "smooth", "steps grow wherever it pays, or only by doubling"},
    {"norm", "parts|largest|rms", "parts",
     "error of a step: the largest root mean square of q, v and z, its worst entry, or one mean"},
};

const bg_integrator_class bg_bdf_class;
const bg_integrator_class bg_bdf_class = {
    .info = {"bdf", "BDF of order 1 to 5 on the stabilised index-2 form, for stiff systems",
             options, sizeof options / sizeof *options, false, 5, 5},
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .attempt = attempt,
    .leap = leap,
    .first_step = first_step,
    .control = bg_bdf_control,
    .complete = complete,
    .measure = measure,
    .accept = accept,
    .commit = commit,
    .interpolate = interpolate,
    .follows_lambda = true,
    .archive = archive,
};
