/* Newton's iteration of bdf, and which matrix it takes.
 *
 * At most four increments; rho = (|d_m| / |d_0|)^(1/m). It has converged when rho/(1 - rho) |d_m|
 * <= kappa and failed when rho > 0.9. As long as matrix and alpha stay, rho/(1 - rho) of the last
 * iteration judges the first increment, too; with derivatives evaluated for this very step
 * (update=full), that of the last such step, twice, nine times out of ten; and so for the step
 * behind that which a matrix was made for, the first that meets an older one. kappa is small,
 * because lambda and eta, which would otherwise hold the iteration on, do not count, and what it
 * leaves over is in the high differences by which order and step are chosen.
 *
 * Fixed steps are iterated down to rounding: no error control would see what is left over.
 *
 * Where alpha is another than that of the matrix: derivatives are evaluated anew (update=full) or
 * only M and G (partitioned, extended). Where the iteration fails, in this order and each at
 * most once in an attempt: new M, G and alpha; new derivatives at the predictor; derivatives column
 * by column, by which an estimated pattern grows; a quarter of the step. Such differences are not
 * made for a step whose increments say that its error would be too large anyway. A step without
 * convergence is never accepted.
 *
 * Where a system says what its derivatives cost, update=auto evaluates them anew as soon as
 * increments beyond the first of each step have cost as much: whatever the best moment would have
 * been, that is at most twice its work. Where these increments come as often soon after an
 * evaluation as later, it is not the age of derivatives that asks for them, and the next evaluation
 * waits for twice as many. */
#include "consistent/projection.h"
#include "integrators/bdf.h"
#include "system/masses.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4, MOST_WEAK = 8, MOST_FIXED = 30, MANY_FIXED = 6, MOST_LAMBDA = 6, MOST_USES = 10 };
enum { MOST_PATIENCE = 64 };
/* of increments that stop shrinking, in fixed steps; with a matrix that may be the reason */
static const double rounding = 1e-11, rounding_old = 1e-14, slow_fixed = 0.3, least_rate = 1e-3;
static const double of_lambda = 1e-2, of_forces = 1e-2;
static const double of_rest = 1e-9; /* of sizes, by which rounding may shake what is at rest */
static const double far_rounding = 1e-13; /* of a coordinate beside its size */
static const double aging = 0.6; /* of the steps, in which the first half of increments comes */
static const double slow = 0.5, diverges = 0.9, ratio = 0.6, unknown = 100;
static const double kappa_low = 0.33, kappa_high = 0.02;
static const double of_index_3 = 0.1; /* of kappa, as velocities are increments of q divided by h */

static double get_kappa(const bg_bdf *m)
{
    if (m->kappa > 0)
        return m->kappa;
    double kappa = m->formula.k > 2 ? kappa_high : kappa_low;
    return m->form == BG_FORM_INDEX_3 ? of_index_3 * kappa : kappa;
}

/* The iterate is the predictor. */
static void begin(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    memset(m->e, 0, (size_t)m->now.n * sizeof(double));
    memset(m->tangent, 0, (size_t)m->nv * sizeof(double));
    memset(m->eta, 0, (size_t)m->ng * sizeof(double));
    for (int i = 0; i < m->ng; i++)
        m->lambda[i] = ig->dyn->eliminated[i] ? 0 : m->y_P[ig->n + i];
    bg_bdf_move(ig);
}

static void add(double *x, const double *step, double factor, int n)
{
    for (int i = 0; i < n; i++)
        x[i] += factor * step[i];
}

/* Where forces depend on lambda, F is not linear in it: how much it still changes, in hundredths.
 */
static double calc_lambda(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    const double *before = ig->x0->lambda; /* what is found may be anything */
    double largest[2] = {0, 0}, size = 0;
    for (int i = 0; i < m->ng; i++) {
        largest[0] = fmax(largest[0], fabs(before[i]));
        largest[1] = fmax(largest[1], fabs(m->lambda[i]));
    }
    double least = 0.01 * fmin(largest[0], largest[1]);
    for (int i = 0; i < m->ng && least > 0; i++)
        size = fmax(size, fabs(m->step_lambda[i]) /
                              (of_lambda * fmax(fmin(fabs(before[i]), fabs(m->lambda[i])), least)));
    return size;
}

/* Increments of an old matrix are shortened or stretched (18) only without constraints, whose rows
 * contain no alpha. */
static double apply(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    double alpha = m->formula.alpha, c = 1;
    if (m->ng == 0 && alpha != m->parts.alpha)
        c = bg_newton_calc_factor(alpha, m->parts.alpha);
    bg_bdf_matrix_solve(ig);
    add(m->tangent, m->step_q, c, m->nv);
    add(m->e + m->nq, m->step_v, c, m->nv);
    add(m->e + m->nq + m->nv, m->step_z, c, m->nz);
    add(m->lambda, m->step_lambda, c, m->ng);
    add(m->eta, m->step_eta, c, m->ng);
    bg_bdf_move(ig);
    return c * bg_bdf_calc_norm(ig, m->step_q, m->step_v, m->step_z);
}

/* The same of places far from the origin, by which constraints hold angles and their rates. */
static double calc_far(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    const double *size = ig->sys->def.v_size, coarseness = bg_project_calc_coarseness(ig->dyn);
    double largest = 0;
    for (int i = 0; i < m->nv && coarseness > 2; i++) {
        largest = fmax(largest, (size ? size[i] : 1) / m->weight[i]);
        largest = fmax(largest, fabs(m->y_P[m->nq + i]) / m->weight[m->nv + i]);
    }
    return far_rounding * coarseness * largest;
}

/* What rounding of the state comes to in increments, in units of the tolerance. */
static double calc_floor(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        double q = m->q_of[i] < 0 ? 1 : fabs(m->y_P[m->q_of[i]]);
        largest = fmax(largest, q / m->weight[i]);
        largest = fmax(largest, fabs(m->y_P[m->nq + i]) / m->weight[m->nv + i]);
    }
    return 16 * DBL_EPSILON * largest + calc_far(ig);
}

/* Whether every change of alpha brings exact derivatives. */
static bool is_full(const bg_bdf *m)
{
    return m->update == BG_UPDATE_FULL && m->jacobian == BG_DIFFERENCE_ANALYTIC;
}

/* rho/(1 - rho) to be expected of a first increment. */
static double predict_rate(const bg_integrator *ig, double size)
{
    const bg_bdf *m = ig->method;
    const bg_bdf_parts *p = &m->parts;
    if (!p->own)
        return p->rate;
    if (p->t == ig->x1->t)
        return p->rate * fmax(1, size / p->seen.size);
    const bool known = p->later.rate > 0 && p->later.uses < MOST_USES;
    return known ? 2 * p->later.rate * fmax(1, size / p->later.size) : unknown;
}

/* The first increment of the step behind that which the matrix was made for was good by what was
 * seen of others: that goes on to hold. */
static void trust_later(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_parts *p = &m->parts;
    if (!p->own || p->t == ig->x1->t)
        return;
    p->rate = 2 * p->later.rate;
    p->own = false;
    p->later.uses++;
    m->changed = true;
}

static bg_bdf_seen see(const bg_bdf_seen *before, double factor, double first)
{
    return (bg_bdf_seen){fmax(factor, fmax(least_rate, 0.3 * before->rate)), first, 0};
}

/* What two increments tell of the matrix. One that was made for the step says what the next of its
 * kind will be like; with update=partitioned or extended it has to be seen twice, since a single
 * ratio may be small by chance. */
static void remember(bg_integrator *ig, double factor, double first)
{
    bg_bdf *m = ig->method;
    bg_bdf_parts *p = &m->parts;
    const bool own = p->t == ig->x1->t, expects = is_full(m) || m->weighs;
    bg_bdf_seen *seen = own ? &p->seen : &p->later;
    *seen = see(seen, factor, first);
    p->rate = !own ? factor : expects ? seen->rate : unknown;
    p->own = own && expects;
    m->changed = true;
}

/* Increments do not shrink, or not fast enough: near singular positions that may be rounding. */
static bg_newton_state give_up(bg_integrator *ig, double size, double kappa)
{
    return bg_bdf_is_rounding(ig, size, kappa) ? BG_NEWTON_DONE : BG_NEWTON_FAILED;
}

static bg_newton_state look(bg_integrator *ig, double *first, double size, double floor)
{
    bg_bdf *m = ig->method;
    bg_newton *n = &m->newton;
    int count = n->count++;
    double kappa = get_kappa(m);
    n->size = size;
    if (!isfinite(size))
        return BG_NEWTON_FAILED;
    if (count == 0) {
        *first = size;
        if (size <= 1e-4 * kappa || size <= floor)
            return BG_NEWTON_DONE;
        if (!(predict_rate(ig, size) * size <= kappa))
            return BG_NEWTON_GOES_ON;
        trust_later(ig);
        return BG_NEWTON_DONE;
    }
    double rho = n->rate = pow(size / *first, 1.0 / count);
    if (size <= floor) {
        if (rho < slow)
            remember(ig, rho / (1 - rho), *first);
        return BG_NEWTON_DONE;
    }
    if (rho > diverges)
        return give_up(ig, size, kappa);
    double factor = rho / (1 - rho);
    remember(ig, factor, *first);
    if (factor * size <= kappa)
        return BG_NEWTON_DONE;
    return count + 1 >= (m->next.weak > 0 ? MOST_WEAK : MOST) ? give_up(ig, size, kappa)
                                                              : BG_NEWTON_GOES_ON;
}

/* The same in fixed steps: down to rounding, or to what a matrix that is new leaves. A single ratio
 * may be small by chance. */
static bg_newton_state look_fixed(bg_newton *n, double *first, double size)
{
    int count = n->count++;
    double before = n->size;
    n->size = size;
    if (count == 0)
        *first = size;
    if (!isfinite(size) || size == 0)
        return size == 0 ? BG_NEWTON_DONE : BG_NEWTON_FAILED;
    if (count == 0)
        return BG_NEWTON_GOES_ON;
    double rho = n->rate = fmax(pow(size / *first, 1.0 / count), least_rate);
    bool stalls = size > slow_fixed * before;
    if ((rho < 1 && size * rho / (1 - rho) <= n->converged) || (stalls && size <= n->roundoff))
        return BG_NEWTON_DONE;
    return count + 1 >= MOST_FIXED || (stalls && count > 1) || size > 4 * before
               ? BG_NEWTON_FAILED
               : BG_NEWTON_GOES_ON;
}

/* Increments that stop shrinking in fixed steps are rounding below this. */
static double get_rounding(const bg_integrator *ig, bool evaluated)
{
    return (evaluated ? rounding : rounding_old) * bg_project_calc_coarseness(ig->dyn);
}

/* Whether multipliers are forces: kept up to the end of the run, they would move something by the
 * tolerance, or by more than rounding may. Where nothing loads a constraint, its force is rounding
 * of places by the square of the step, and changes by its own size for ever. */
static bool is_loaded(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_error ignored;
    const bg_pattern *p = ig->sys->def.pattern_G;
    const double *size = ig->sys->def.v_size, span = ig->t_end - ig->x0->t;
    if (bg_system_calc_terms(ig->sys, &d->point, BG_TERM_M | BG_TERM_G, &d->terms, &ignored) !=
        BG_OK)
        return true;
    memset(m->rhs, 0, (size_t)m->nv * sizeof(double));
    for (int i = 0; i < m->ng; i++)
        for (int k = p ? p->row_start[i] : i * m->nv,
                 end = p ? p->row_start[i + 1] : (i + 1) * m->nv;
             k < end; k++)
            m->rhs[p ? p->column[k] : k - i * m->nv] += fabs(d->terms.G[k]) *
                                                        (fabs(m->lambda[i]) +
                                                         fabs(m->step_lambda[i]));
    bg_masses_calc_means(ig->sys->system, d->terms.M, m->entries);
    for (int i = 0; i < m->nv; i++) {
        const double moved = ig->options.rtol * fabs(ig->x1->v[i]) + ig->options.atol;
        const double shaken = of_rest * (size ? size[i] : 1);
        if (!(m->rhs[i] * span <= m->entries[i] * fmax(moved, shaken / span)))
            return true;
    }
    return false;
}

/* The largest of multipliers as works, which have one unit. */
static double calc_work(const bg_integrator *ig, const double *lambda)
{
    const double *size = ig->sys->def.g_size;
    double largest = 0;
    for (int i = 0; i < ig->dyn->ng; i++)
        largest = fmax(largest, fabs(lambda[i]) * (size ? size[i] : 1));
    return largest;
}

/* Whether constraints leave nothing free. */
static bool is_driven(const bg_integrator *ig)
{
    int freedoms = ig->dyn->nv;
    for (int i = 0; i < ig->dyn->ng; i++)
        freedoms -= !ig->dyn->eliminated[i];
    return freedoms <= 0;
}

/* What the iteration leaves of multipliers, in parts of the largest and of what is allowed. Where
 * drives say how everything moves, q and v are found at once, and do not show that a matrix of some
 * steps ago may leave all of what lambda is moved by, which the next prediction magnifies. */
static double calc_left(const bg_integrator *ig, double *first)
{
    const bg_bdf *m = ig->method;
    const int count = m->newton.count;
    const double step = calc_work(ig, m->step_lambda);
    double factor = m->parts.t == ig->x1->t ? m->parts.rate : fmax(1, m->parts.rate);
    if (count == 1) {
        *first = step;
    } else {
        const double rho = pow(step / *first, 1.0 / (count - 1));
        factor = rho < diverges ? rho / (1 - rho) : unknown;
    }
    return step > 0 ? factor * step / (of_forces * calc_work(ig, m->lambda)) : 0;
}

/* An iteration that has converged, and whose increments need not shrink further, goes on, a little,
 * while multipliers still change noticeably, unless they are next to nothing. Where they do not
 * stop to, it has failed, if forces depend on them or a newer matrix may help. */
static bg_newton_state look_at_lambda(bg_integrator *ig, bg_newton_state state, bool *converged,
                                      double *first)
{
    const bg_bdf *m = ig->method;
    const bool depends = ig->sys->def.f_of_lambda;
    double change = depends ? calc_lambda(ig) : calc_left(ig, first);
    if (*converged && state == BG_NEWTON_FAILED && m->newton.size <= get_kappa(m))
        state = BG_NEWTON_DONE;
    *converged = *converged || state == BG_NEWTON_DONE;
    if (state != BG_NEWTON_DONE || change <= 1)
        return state;
    if (!depends && !is_loaded(ig))
        return BG_NEWTON_DONE;
    if (m->newton.count < MOST_LAMBDA)
        return BG_NEWTON_GOES_ON;
    return (depends ? is_loaded(ig) : m->parts.t != ig->x1->t) ? BG_NEWTON_FAILED : BG_NEWTON_DONE;
}

static bg_status iterate(bg_integrator *ig, bool evaluated, bool *computed, bg_error *err)
{
    bg_bdf *m = ig->method;
    const bool fixed = ig->options.step > 0;
    double first = 0, first_lambda = 0, floor = fixed ? 0 : calc_floor(ig);
    bool converged = false;
    const bool watches = !fixed && (ig->sys->def.f_of_lambda || is_driven(ig));
    bg_newton_state state = BG_NEWTON_GOES_ON;
    m->newton = (bg_newton){.converged = 1e-15, .roundoff = get_rounding(ig, evaluated)};
    begin(ig);
    *computed = false;
    while (state == BG_NEWTON_GOES_ON) {
        bg_status st = bg_bdf_calc_residual(ig, err);
        if (st != BG_OK)
            return st;
        *computed = true;
        ig->count.corrector.fcw++;
        double size = apply(ig);
        state = fixed ? look_fixed(&m->newton, &first, size) : look(ig, &first, size, floor);
        if (watches)
            state = look_at_lambda(ig, state, &converged, &first_lambda);
    }
    return state == BG_NEWTON_DONE ? BG_OK : BG_NOT_CONVERGED;
}

static bg_status factor(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    m->parts.alpha = m->formula.alpha;
    m->parts.rate = unknown;
    m->parts.own = false;
    m->parts.t = ig->x1->t;
    m->changed = true;
    bg_status st = bg_bdf_matrix_factor(ig, m->parts.alpha, err);
    if (st == BG_OK)
        bg_bdf_cap_update(ig);
    return st;
}

static bg_status evaluate(bg_integrator *ig, bool whole, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_status st;
    begin(ig);
    m->parts.made = false;
    m->changed = true;
    ig->count.corrector.evaluations++;
    st = bg_bdf_evaluate(ig, whole, err);
    if (st != BG_OK)
        return st;
    m->parts.made = true;
    m->parts.slow = false;
    m->parts.slow_steps = 0;
    m->parts.payment = (bg_bdf_payment){.patience = m->parts.payment.patience};
    bg_bdf_cap_count(ig);
    m->current = true;
    st = factor(ig, err);
    if (st == BG_SINGULAR && !whole && bg_bdf_differences_suspect(ig)) /* for want of entries */
        st = evaluate(ig, true, err);
    return st;
}

static bg_status renew(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    begin(ig);
    m->current = true;
    ig->count.corrector.updates++;
    bg_system_get_work(ig->sys)->jacobian_updates++;
    bg_status st = bg_bdf_renew(ig, err);
    if (st == BG_OK)
        st = factor(ig, err);
    return st == BG_SINGULAR && m->differences ? evaluate(ig, false, err) : st;
}

/* A matrix that was not asked for by a failure: what is known of the last of this kind holds, for a
 * while. */
static void trust(bg_bdf *m)
{
    bg_bdf_parts *p = &m->parts;
    if (!(p->seen.rate > 0) || ++p->seen.uses >= MOST_USES)
        return;
    p->rate = 2 * p->seen.rate;
    p->own = true;
}

/* The matrix that the iteration begins with. */
static bg_status prepare(bg_integrator *ig, bool *updated, bool *evaluated, bg_error *err)
{
    bg_bdf *m = ig->method;
    double quotient = m->formula.alpha / m->parts.alpha;
    bool far = !(quotient >= ratio && quotient <= 1 / ratio);
    if (!m->parts.made || m->parts.slow || (m->update == BG_UPDATE_FULL && far) ||
        (is_full(m) && quotient != 1)) {
        const bool planned = is_full(m) && m->parts.made && !m->parts.slow;
        *evaluated = true;
        bg_status st = evaluate(ig, false, err);
        if (st == BG_OK && planned)
            trust(m);
        return st;
    }
    if ((m->update != BG_UPDATE_FULL && quotient != 1) || m->next.weak > 0) {
        *updated = true;
        bg_status st = renew(ig, err);
        if (st == BG_OK && is_full(m))
            trust(m);
        return st;
    }
    if (m->ready)
        return BG_OK;
    if (m->uncounted)
        bg_system_get_work(ig->sys)->factorisations--;
    m->uncounted = false;
    return bg_bdf_matrix_factor(ig, m->parts.alpha, err);
}

/* Whether newer derivatives would have paid by now. */
static bool is_dear(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_payment *x = &m->parts.payment;
    if (!m->weighs)
        return false;
    if (x->patience == 0)
        x->patience = 1;
    const double cost = x->patience * ig->sys->def.derivative_cost;
    x->steps++;
    x->excess += m->newton.count - 1;
    if (x->excess <= 0.5 * cost)
        x->early = x->steps;
    m->changed = true;
    if (x->excess < cost)
        return false;
    const bool aged = x->early > aging * x->steps;
    x->patience = aged ? 1 : x->patience < MOST_PATIENCE ? 2 * x->patience : MOST_PATIENCE;
    return true;
}

/* A slow iteration asks for derivatives before the next step. */
static void watch(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bool was_slow = m->newton.count > 1 && m->newton.rate > slow;
    if (ig->options.step > 0 && m->newton.count >= MANY_FIXED) {
        m->parts.slow = m->changed = true;
        return;
    }
    int before = m->parts.slow_steps;
    m->parts.slow_steps = was_slow ? before + 1 : 0;
    m->parts.slow = m->parts.slow_steps >= 2 || is_dear(ig);
    m->changed = m->changed || before != m->parts.slow_steps;
}

static bg_status fail(bg_integrator *ig, bg_error *err)
{
    const bg_bdf *m = ig->method;
    char name[160], friction[240];
    bg_bdf_describe_residual(ig, name, sizeof name);
    bg_settling_describe(ig->sys->system, m->step_lambda, friction, sizeof friction);
    return bg_error_set(err, BG_NOT_CONVERGED,
                        "system '%s': the corrector of the step from t = %.17g over %.3g s does "
                        "not converge, with the largest residual in %s%s; look at what acts there, "
                        "or try another tolerance or first step",
                        ig->sys->def.name, ig->x0->t, ig->h, name, friction);
}

/* Whether the increments of an iteration that failed say that the error of the step would be too
 * large if it converged, at the first attempt of a step: then a shorter one is tried before
 * derivatives are evaluated by differences for one that is not made. Where every increment is rho
 * times that before, they add up to the first one divided by 1 + rho at least. */
static bool is_hopeless(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    const bg_newton *n = &m->newton;
    if (!m->differences || m->update == BG_UPDATE_FULL || ig->options.step > 0 || m->cuts > 0 ||
        m->error_failures > 0 || n->count < 2 || !(n->rate > 0))
        return false;
    return m->formula.error * n->size / pow(n->rate, n->count - 1) > 1 + n->rate;
}

bg_status bg_bdf_correct(bg_integrator *ig, double t, bg_error *err)
{
    bg_bdf *m = ig->method;
    bool updated = false, evaluated = false, grown = false, computed;
    m->current = false;
    m->noise = 0;
    ig->x1->t = t;
    bg_status st = bg_bdf_prepare_base(ig, err);
    if (st == BG_OK) {
        bg_bdf_update_weights(ig);
        st = prepare(ig, &updated, &evaluated, err);
    }
    if (st != BG_OK)
        return st;
    for (;;) {
        st = iterate(ig, evaluated, &computed, err);
        if (st == BG_OK) {
            watch(ig);
            return BG_OK;
        }
        if (st < 0 || !computed)
            return st;
        if (!updated && !evaluated && m->formula.alpha != m->parts.alpha) {
            updated = true;
            st = renew(ig, err);
        } else if (!evaluated && is_hopeless(ig)) {
            return fail(ig, err);
        } else if (!evaluated) {
            evaluated = true;
            st = evaluate(ig, false, err);
        } else if (!grown && bg_bdf_differences_suspect(ig)) {
            grown = true;
            st = evaluate(ig, true, err);
        } else {
            return st == BG_NOT_CONVERGED ? fail(ig, err) : st;
        }
        if (st != BG_OK)
            return st;
    }
}
