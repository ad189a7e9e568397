/* One stage of a diagonally implicit method: accelerations and multipliers by Newton's iteration
 * (002 (48), (52)), positions and velocities from them at every iterate.
 *
 * With s = h gamma and what the stages before give in base,
 *
 *     v = v_base + s a + correction,    G v + g_t = 0                                         (54)
 *     Q = q_base + s V(Q) v,            q = Q + correction, g(q) = 0                          (53)
 *
 * so that every iterate lies on both constraints; corrections are those of the frame, which leave
 * the motions that are integrated alone. The slope of the stage is that which closed it, V(Q) v,
 * before q was corrected and made of unit quaternions: the whole is then the Runge-Kutta method
 * for Q' = V(Q) v, whatever the corrections do. For quaternions V(Q) v is linear in Q, and
 * Q = (q_base + s V(q_base) v) / (1 + s^2 omega^2/4); what V is else is iterated for.
 *
 * Newton's iteration is judged by what increments do to positions and velocities, in units of the
 * tolerance: accelerations of stiff parts say nothing. What it leaves of a stage is in the end of
 * the step b_i / gamma times, which for sdirk4 is up to 31. */
#include "integrators/dirk.h"

#include "consistent/projection.h"
#include "linalg/newton.h"
#include "math/arrays.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 7, MOST_FIXED = 40, MOST_CLOSING = 40, MOST_REFINED = 30, DRAWS = 3 };
static const double places = 2;     /* last ones, of constraints */
static const double draws_miss = 4; /* of the largest of the draws: what is rounding */
static const double least_eta =
    0.05; /* of what one increment may leave: it is the same step by step */
/* Increments in sizes, in fixed steps: what they leave has the same sign step by step. */
static const double least_floor = DBL_EPSILON / 64;
static const double stalled = 1e-11; /* increments that stop shrinking in fixed steps: rounding */
static const double loose = 1e-9, tight = 1e-13; /* of increments of positions, in sizes */
static const double refined = 1e-14;             /* of what is left, beside the largest */
static const double at_rest = 1e-290; /* velocities in sizes, near the least numbers there are */
static const double slow_chord = 0.3;

bg_status bg_dirk_evaluate(bg_integrator *ig, double t, unsigned want, bg_error *err)
{
    const bg_dirk *m = ig->method;
    return bg_dynamics_evaluate_iterate(ig->dyn, t, m->q, m->v, m->z, ig->x0->mode, m->lambda, want,
                                        err);
}

/* V at q into the terms. */
static bg_status calc_V(bg_integrator *ig, double t, const double *q, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_status st = bg_system_set_point(ig->sys, t, q, m->v, m->z, ig->x0->mode, &d->point, err);
    return st == BG_OK ? bg_system_calc_terms(ig->sys, &d->point, BG_TERM_V, &d->terms, err) : st;
}

/* Quaternions of the solution from those of q_base and their slopes there. */
static void guess_closed(const bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    const bg_pattern *p = ig->sys->def.pattern_V;
    for (int i = 0; i < m->nq; i++) {
        m->closed[i] = m->q_base[i] + s * m->work_q[i];
        int first = p ? p->row_start[i] : 0;
        if (!p || p->row_start[i + 1] - first != 3 || i + 3 >= m->nq)
            continue;
        double size = 0, slope = 0; /* four rows of three are a quaternion */
        for (int k = 0; k < 4; k++) {
            size += m->q_base[i + k] * m->q_base[i + k];
            slope += m->work_q[i + k] * m->work_q[i + k];
        }
        for (int k = 0; k < 4; k++)
            m->closed[i + k] = (m->q_base[i + k] + s * m->work_q[i + k]) /
                               (1 + s * s * slope / size);
        i += 3;
    }
}

/* Whether positions have unknowns of their own. Leaps iterate as all methods of this kind. */
static bool goes_first(const bg_dirk *m)
{
    return (m->first_order || m->solves) && !m->own_frames;
}

/* Q and the slope, which is left in work_q. */
static bg_status close_positions(bg_integrator *ig, double t, double s, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const double *v = goes_first(m) ? m->p : m->v;
    if (!d->kinematic) {
        for (int i = 0; i < m->nq; i++) {
            m->work_q[i] = v[i];
            m->closed[i] = m->q_base[i] + s * v[i];
        }
        return BG_OK;
    }
    bg_status st = calc_V(ig, t, m->q_base, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(d, v, m->work_q);
    guess_closed(ig, s);
    double before = INFINITY;
    for (int k = 0; k < MOST_CLOSING; k++) {
        double change = 0;
        st = calc_V(ig, t, m->closed, err);
        if (st != BG_OK)
            return st;
        bg_dynamics_calc_rates(d, v, m->work_q);
        for (int i = 0; i < m->nq; i++) {
            double q = m->q_base[i] + s * m->work_q[i];
            change = fmax(change, fabs(q - m->closed[i]) / fmax(1, fabs(q)));
            m->closed[i] = q;
        }
        if (!isfinite(change) || change <= 4 * DBL_EPSILON ||
            (change < 1e-12 && change >= 0.5 * before))
            break;
        before = change;
    }
    return BG_OK;
}

/* (53) */
static bg_status correct_positions(bg_integrator *ig, double t, double least, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_newton newton = bg_project_begin(least);
    bg_newton_state state = BG_NEWTON_GOES_ON;
    memcpy(m->q, m->closed, (size_t)m->nq * sizeof(double));
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, m->q);
    for (int k = 0; m->ng > 0 && state == BG_NEWTON_GOES_ON; k++) {
        unsigned want = BG_TERM_g | (d->kinematic ? BG_TERM_V : 0u);
        bg_status st = bg_dirk_evaluate(ig, t, want | (m->own_frames ? BG_TERM_G : 0u), err);
        if (st == BG_OK && m->own_frames && bg_frame_factor(&m->frame, d->terms.G) != BG_OK)
            return bg_project_refuse(d, t, err);
        if (st != BG_OK)
            return st;
        memcpy(m->work_g, d->terms.g, (size_t)m->ng * sizeof(double));
        bg_frame_correct(&m->frame, m->work_g, m->work_v);
        double size = bg_project_calc_size(d, m->work_v, m->q);
        if (!isfinite(size))
            return bg_dynamics_report_not_finite(d, err);
        bg_system_move(ig->sys, m->q, d->terms.V, -1.0, m->work_v, m->q);
        if (k == 1)
            newton.roundoff = 1e-11 * bg_project_calc_coarseness(d);
        state = bg_newton_look(&newton, size);
        if (k > 0 && newton.rate > slow_chord && size > 1e-9)
            m->next_slow = true;
    }
    if (m->ng == 0 || state == BG_NEWTON_DONE || (newton.size < 1e-3 && bg_project_is_met(d)))
        return BG_OK;
    return bg_project_refuse(d, t, err);
}

/* (54): the factors at hand, which are of another place, are used until nothing is left. */
static bg_status correct_velocities(bg_integrator *ig, double t, double least, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    double before = INFINITY, most = 0;
    unsigned want = m->ng > 0 ? BG_TERM_G | BG_TERM_gt : 0u;
    if (m->ng == 0)
        return BG_OK;
    bg_status st = bg_dirk_evaluate(ig, t, want, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < m->nv; i++)
        most = fmax(most, fabs(m->v[i]) / m->frame.unit[i]);
    for (int k = 0; k < MOST_REFINED; k++) {
        double size = 0;
        bg_dynamics_calc_w(d, m->v, m->work_g);
        bg_frame_correct(&m->frame, m->work_g, m->work_v);
        for (int i = 0; i < m->nv; i++) {
            m->shift[i] -= m->work_v[i];
            m->v[i] = m->v_free[i] + m->shift[i];
            size = fmax(size, fabs(m->work_v[i]) / m->frame.unit[i]);
        }
        if (!isfinite(size))
            return bg_dynamics_report_not_finite(d, err);
        most = fmax(most, size);
        if (size <= fmax(least * most, at_rest) || (size <= 1e-11 * most && size >= 0.5 * before))
            return BG_OK;
        if (size > 2 * before)
            break;
        if (size > slow_chord * before)
            m->next_slow = true;
        before = size;
    }
    return bg_project_refuse(d, t, err);
}

/* Positions and velocities of the accelerations at hand. */
static bg_status move(bg_integrator *ig, double t, double s, bool last, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bool exact = last || m->by_stage || ig->options.step > 0;
    for (int i = 0; i < m->nv; i++) {
        m->v_free[i] = m->v_base[i] + s * m->a[i];
        m->v[i] = m->v_free[i] + m->shift[i];
    }
    for (int i = 0; i < m->nz; i++)
        m->z[i] = m->z_base[i] + s * m->zeta[i];
    bg_status st = close_positions(ig, t, s, err);
    if (st == BG_OK)
        st = correct_positions(ig, t, exact ? tight : loose, err);
    if (st == BG_OK)
        st = correct_velocities(ig, t, exact ? 1e-15 : 1e-10, err);
    return st;
}

/* Accelerations that meet their constraints, with G and gamma at hand; velocities stay. */
static bg_status correct_accelerations(bg_integrator *ig, double s, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bg_dynamics *d = ig->dyn;
    double before = INFINITY, most = 0;
    for (int i = 0; i < m->nv; i++)
        most = fmax(most, fabs(m->a[i]) / m->frame.unit[i]);
    for (int k = 0; k < MOST_REFINED && m->ng > 0; k++) {
        double size = 0;
        bg_matrix_multiply(m->ng, m->nv, ig->sys->def.pattern_G, d->terms.G, m->a, m->work_g);
        for (int i = 0; i < m->ng; i++)
            m->work_g[i] += d->terms.gamma[i];
        bg_frame_correct(&m->frame, m->work_g, m->work_v);
        for (int i = 0; i < m->nv; i++) {
            m->a[i] -= m->work_v[i];
            m->shift[i] += s * m->work_v[i];
            size = fmax(size, fabs(m->work_v[i]) / m->frame.unit[i]);
        }
        if (!isfinite(size))
            return bg_dynamics_report_not_finite(d, err);
        most = fmax(most, size);
        if (size <= refined * most || size >= 0.9 * before)
            break;
        before = size;
    }
    return BG_OK;
}

/* Multipliers that leave no force on corrections in psi1. */
static void correct_multipliers(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    double before = INFINITY, most = 0;
    for (int i = 0; i < m->ng; i++)
        most = fmax(most, fabs(m->lambda[i]));
    for (int k = 0; k < MOST_REFINED && m->ng > 0; k++) {
        double size = 0;
        memcpy(m->work_v, m->psi1, (size_t)m->nv * sizeof(double));
        bg_frame_balance(&m->frame, m->work_v, m->work_g);
        for (int i = 0; i < m->ng; i++) {
            m->lambda[i] += m->work_g[i];
            size = fmax(size, fabs(m->work_g[i]));
        }
        bg_matrix_add_transposed(m->ng, m->nv, ig->sys->def.pattern_G, ig->dyn->terms.G, -1,
                                 m->work_g, m->psi1);
        most = fmax(most, size);
        if (size <= refined * most || size >= 0.9 * before)
            break;
        before = size;
    }
}

/* psi, with its sign turned. What constraints alone decide is met at once: accelerations across
 * them, and the multipliers. What is left is the equation of the independent motions. */
static bg_status calc_residual(bg_integrator *ig, double t, double s, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const bool from_terms = !ig->sys->def.residual;
    unsigned want = (m->nz > 0 ? BG_TERM_h : 0u) | (m->ng > 0 ? BG_TERM_gamma : 0u);
    if (from_terms)
        want |= BG_TERM_M | BG_TERM_f;
    ig->count.corrector.fc++;
    ig->count.corrector.fcw++;
    bg_status st = bg_dirk_evaluate(ig, t, want, err);
    if (st == BG_OK)
        st = correct_accelerations(ig, s, err);
    if (st == BG_OK && !from_terms)
        st = bg_system_calc_residual(ig->sys, &d->point, m->a, m->lambda, m->psi1, err);
    if (st != BG_OK)
        return st;
    if (from_terms) {
        bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, d->terms.M, m->a, m->psi1);
        for (int i = 0; i < m->nv; i++)
            m->psi1[i] -= d->terms.f[i];
        bg_matrix_add_transposed(m->ng, m->nv, ig->sys->def.pattern_G, d->terms.G, 1, m->lambda,
                                 m->psi1);
    }
    for (int i = 0; i < m->nv; i++)
        m->psi1[i] = -m->psi1[i];
    for (int i = 0; i < m->nz; i++)
        m->psi3[i] = d->terms.h[i] - m->zeta[i];
    memset(m->psi2, 0, (size_t)m->ng * sizeof(double));
    if (!bg_is_finite(m->psi1, m->nv) || !bg_is_finite(m->psi3, m->nz))
        return bg_dynamics_report_not_finite(d, err);
    if (!ig->sys->def.f_of_lambda)
        correct_multipliers(ig);
    return BG_OK;
}

static void add(double *x, const double *step, int n)
{
    for (int i = 0; i < n; i++)
        x[i] += step[i];
}

/* The increment of multipliers that forces depend on, in units of the tolerance. */
static double calc_lambda_size(const bg_integrator *ig)
{
    const bg_dirk *m = ig->method;
    double step = 0, largest = 0;
    for (int i = 0; i < m->ng; i++) {
        step = fmax(step, fabs(m->psi2[i]));
        largest = fmax(largest, fabs(m->lambda[i]));
    }
    return step > 0 ? step / (ig->options.rtol * largest + ig->options.atol) : 0;
}

/* The size of the increment that the matrix makes of psi, in units of the tolerance. */
static double solve(bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    double size = 0;
    bg_dirk_matrix_solve(ig, m->psi1, m->psi2, m->psi3, m->motion);
    for (int i = 0; i < m->nv; i++) {
        double v = s * fabs(m->motion[i]), e = fmax(v / m->weight[m->nv + i], s * v / m->weight[i]);
        if (isnan(e))
            return e;
        size = fmax(size, e);
    }
    for (int i = 0; i < m->nz; i++) {
        double e = s * fabs(m->psi3[i]) / m->weight[2 * m->nv + i];
        if (isnan(e))
            return e;
        size = fmax(size, e);
    }
    return size;
}

static double apply(bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    const double size = solve(ig, s);
    add(m->a, m->psi1, m->nv);
    add(m->lambda, m->psi2, m->ng);
    add(m->zeta, m->psi3, m->nz);
    const bool matters = ig->sys->def.f_of_lambda && ig->options.step == 0; /* else to rounding */
    return matters ? fmax(size, calc_lambda_size(ig)) : size;
}

static bg_status iterate(bg_integrator *ig, double t, double s, double *size, bg_error *err)
{
    bg_status st = calc_residual(ig, t, s, err);
    if (st == BG_OK)
        *size = apply(ig, s);
    return st;
}

/* What rounding of places comes to in increments, near a singular position. With sigma the least
 * singular value of G, places that are rounded by d move q by d/sigma across the motion, v by
 * d/sigma^2 and a by d/sigma^3: increments stall at that, whatever the step. Residuals of a few
 * last places with signs drawn at random are taken that way; the largest of three draws is hardly
 * ever much too small. */
static double calc_noise(bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    const double *g_size = ig->sys->def.g_size;
    const double place = places * bg_project_calc_last_place(ig->dyn);
    double largest = 0;
    unsigned draw = 1;
    for (int k = 0; k < DRAWS; k++) {
        for (int i = 0; i < m->ng; i++) {
            draw = draw * 1664525u + 1013904223u;
            double unit = ig->dyn->eliminated[i] ? 0 : g_size ? g_size[i] : 1;
            m->work_g[i] = (draw >> 31 ? place : -place) * unit;
        }
        bg_frame_correct(&m->frame, m->work_g, m->v_free);
        bg_dirk_matrix_apply(ig, m->v_free, m->psi1, m->psi2, m->psi3);
        for (int i = 0; i < m->ng; i++)
            m->psi2[i] = ig->dyn->eliminated[i] ? 0 : m->psi2[i];
        largest = fmax(largest, solve(ig, s));
    }
    return largest;
}

/* What rounding of the state comes to in increments. */
static double calc_floor(const bg_integrator *ig)
{
    const bg_dirk *m = ig->method;
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        double q = m->q_of[i] < 0 ? 1 : fabs(m->q[m->q_of[i]]);
        largest = fmax(largest, q / m->weight[i]);
        largest = fmax(largest, fabs(m->v[i]) / m->weight[m->nv + i]);
    }
    for (int i = 0; i < m->nz; i++)
        largest = fmax(largest, fabs(m->z[i]) / m->weight[2 * m->nv + i]);
    return 4 * DBL_EPSILON * largest;
}

/* What the iteration of stage i may leave, in units of the tolerance. */
static double get_kappa(const bg_dirk *m, int i)
{
    const bg_dirk_tableau *t = m->tableau;
    return m->kappa * t->gamma / fmax(t->gamma, fabs(t->a[t->stages - 1][i]));
}

static bg_newton_state look(bg_integrator *ig, bg_newton *n, int i, double size)
{
    bg_dirk *m = ig->method;
    const bool fixed = ig->options.step > 0;
    const double places_left = calc_floor(ig), floor = fixed ? least_floor : places_left;
    const double kappa = fixed ? floor : get_kappa(m, i), before = n->size;
    const int most = fixed ? MOST_FIXED : MOST, left = most - 1 - n->count;
    n->size = size;
    n->count++;
    if (!isfinite(size))
        return BG_NEWTON_FAILED;
    if (size <= floor && (n->count > 1 || !ig->sys->def.f_of_lambda))
        return BG_NEWTON_DONE;
    if (n->count == 1) {
        const double eta = m->eta = fmax(pow(m->eta, 0.8), least_eta);
        bool once = !fixed && !ig->sys->def.f_of_lambda;
        return once && eta * size <= kappa ? BG_NEWTON_DONE : BG_NEWTON_GOES_ON;
    }
    double rate = n->rate = size / before;
    if (fixed && rate > 0.7 && size <= fmax(stalled, 10 * places_left))
        return BG_NEWTON_DONE;
    m->worst = fmax(m->worst, rate);
    if (rate >= 1)
        return rate > 2 || n->count > 2 ? BG_NEWTON_FAILED : BG_NEWTON_GOES_ON;
    m->eta = rate / (1 - rate);
    if (m->eta * size <= kappa)
        return BG_NEWTON_DONE;
    const double reached = fmax(10 * kappa, fixed ? places_left : 0); /* where rounding begins */
    return left <= 0 || pow(rate, left) * m->eta * size > reached ? BG_NEWTON_FAILED
                                                                  : BG_NEWTON_GOES_ON;
}

/* Whether increments that do not shrink any more are rounding, in a leap or a fixed step. */
static bool is_rounding(bg_integrator *ig, double size, double s)
{
    const bg_dirk *m = ig->method;
    const bool near = m->by_stage || (m->ng > 0 && ig->options.step > 0);
    return near && isfinite(size) && size <= draws_miss * calc_noise(ig, s);
}

static bg_status fail(bg_integrator *ig, int i, double t, bg_error *err)
{
    const bg_dirk *m = ig->method;
    char buffer[64], friction[192];
    int worst = 0;
    bg_settling_describe(ig->sys->system, m->psi2, friction, sizeof friction);
    for (int k = 0; k < m->nv; k++)
        worst = fabs(m->motion[k]) / m->weight[m->nv + k] >
                        fabs(m->motion[worst]) / m->weight[m->nv + worst]
                    ? k
                    : worst;
    ig->count.corrector.convergence_failures++;
    return bg_error_set(err, BG_NOT_CONVERGED,
                        "system '%s': Newton's iteration of stage %d (t = %.17g) of the step from "
                        "t = %.17g over %.3g s does not converge, worst in the equation of motion "
                        "of '%s'%s; look at what acts there, or try another tolerance or first "
                        "step",
                        ig->sys->def.name, i + 1, t, ig->x0->t, ig->h,
                        bg_system_get_name(ig->sys->system, 'v', worst, buffer, sizeof buffer),
                        friction);
}

/* The frame at G, where matrices are of stages and the frame is not: that of the beginning corrects
 * positions and velocities, the other belongs to the matrix. */
static bg_status turn_frame(bg_integrator *ig, const double *G, bg_error *err)
{
    bg_dirk *m = ig->method;
    if (!m->by_stage || m->own_frames || m->ng == 0 || bg_frame_factor(&m->frame, G) == BG_OK)
        return BG_OK;
    return bg_dirk_matrix_refuse(ig, err);
}

/* move() with the frame of the beginning. */
static bg_status move_aside(bg_integrator *ig, double t, double s, bool last, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_status st = turn_frame(ig, m->G_begin, err);
    if (m->by_stage &&
        !m->own_frames) { /* the other's corrections are partly motions of this one */
        memcpy(m->work_v, m->shift, (size_t)m->nv * sizeof(double));
        bg_frame_project(&m->frame, m->work_v);
        for (int i = 0; i < m->nv && m->ng > 0; i++)
            m->shift[i] -= m->work_v[i];
    }
    return st == BG_OK ? move(ig, t, s, last, err) : st;
}

/* A matrix of the stage's own, at its guess. */
static bg_status make_matrix(bg_integrator *ig, double t, double s, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_status st = move_aside(ig, t, s, false, err);
    if (st == BG_OK)
        st = bg_dirk_matrix_update(ig, &(bg_dirk_place){t, m->q, m->v, m->z, m->a, m->lambda}, err);
    return st == BG_OK ? bg_dirk_matrix_factor(ig, s, err) : st;
}

bg_status bg_dirk_solve_stage(bg_integrator *ig, int i, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dirk_stages *stage = &m->stage;
    const bool last = i == m->tableau->stages - 1;
    const double s = ig->h * m->tableau->gamma;
    const double t = last ? ig->x1->t : ig->x0->t + m->tableau->c[i] * ig->h;
    bg_newton newton = {.count = 0};
    bg_newton_state state = BG_NEWTON_GOES_ON;
    m->a = stage->a[i];
    m->lambda = stage->lambda[i];
    m->zeta = stage->zeta[i];
    bg_status st = m->by_stage ? make_matrix(ig, t, s, err) : BG_OK;
    if (st != BG_OK)
        return st;
    if (goes_first(m))
        bg_dirk_begin_first(ig, s);
    while (state == BG_NEWTON_GOES_ON) {
        double size = 0;
        st = move_aside(ig, t, s, false, err);
        if (st == BG_OK)
            st = turn_frame(ig, m->G, err);
        if (st == BG_OK)
            st = (goes_first(m) ? bg_dirk_iterate_first : iterate)(ig, t, s, &size, err);
        if (st != BG_OK)
            return st;
        state = look(ig, &newton, i, size);
    }
    if (state == BG_NEWTON_FAILED && !is_rounding(ig, newton.size, s))
        return fail(ig, i, t, err);
    st = move_aside(ig, t, s, true, err);
    if (st == BG_OK && last && m->ng > 0)
        st = bg_dirk_evaluate(ig, t, BG_TERM_gamma, err);
    if (st == BG_OK && last)
        st = correct_accelerations(ig, s, err);
    memcpy(stage->v[i], m->v, (size_t)m->nv * sizeof(double));
    memcpy(stage->slope[i], m->work_q, (size_t)m->nq * sizeof(double));
    if (st != BG_OK || !ig->energy)
        return st;
    st = bg_dirk_evaluate(ig, t, m->ng > 0 && !ig->sys->def.scleronomic ? BG_TERM_gt : 0u, err);
    return st == BG_OK ? bg_dynamics_calc_power(ig->dyn, m->a, m->lambda, &stage->power[i], err)
                       : st;
}
