/* Order and step of bdf.
 *
 * With e = y - y_P the error of a step of order k is c_k |e|; at the orders around it would be
 *     E_k = sigma_k |e|,  E_{k-1} = sigma_{k-1} |phi_k + e|,  E_{k-2} = sigma_{k-2} |phi_{k-1} +
 *     phi_k + e|,  E_{k+1} = |e - phi_{k+1}| / (k + 2)
 * the last only behind k + 2 equal steps, where e - phi_{k+1} is a difference of order k + 2 and
 * not before. With T_j = (j + 1) E_j, which are of one size where the solution is smooth, the
 * order falls where the terms do not grow with it, and rises where they still shrink. With E at the
 * order chosen, rho = (2 E + 1e-4)^(-1/(k+1)) is the length that keeps half of the tolerance.
 *
 * step_rule=dassl doubles steps where rho >= 2 and leaves them alone otherwise; smooth takes min(2,
 * 0.95 rho) wherever that is 1.2 or more. Orders 3 and more are capped (bdf_cap.c).
 *
 * Stiff parts of a mechanism are quasi-static: their velocities are differences of places, which
 * low orders make wrong by (h - h_before) y''/2 where the length changes, and hardly at all where
 * it does not. Order 1 then finds its errors small, doubles the step, fails, comes back, and never
 * makes the equal steps that order 2 could be judged by. So order 1 is left to starts and third
 * failures, after which order and step grow together as at a start, and at order 2 a step that
 * failed like the one before it is followed by steps of its length until order 3 can be judged.
 * Order 2 follows as soon as its error is no larger: even differences of a quaternion that turns
 * evenly are across the motion, so that it gains nothing over order 1, but order 3 does. */
#include "integrators/bdf.h"

#include <math.h>

enum { THIRD = 3 }; /* failure of a step: a fresh start */

static double calc_growth(double E, int k)
{
    return pow(2 * E + 1e-4, -1.0 / (k + 1));
}

void bg_bdf_calc_estimate(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const bg_bdf_formula *f = &m->formula;
    bg_bdf_estimate *x = &m->estimate;
    double *const *phi = m->next.phi;
    int k = f->k;
    *x = (bg_bdf_estimate){0};
    double size = bg_bdf_calc_norm_of(ig, m->e, NULL, NULL);
    m->along = bg_bdf_look_along(ig, f->error * size);
    if (m->along)
        size = bg_bdf_calc_norm_of(ig, m->e, NULL, NULL);
    x->error = f->error * size;
    x->at = x->at_two = f->sigma[k] * size;
    if (k > 1)
        x->below = f->sigma[k - 1] * bg_bdf_calc_norm_of(ig, m->e, phi[k], NULL);
    if (k > 2)
        x->below2 = f->sigma[k - 2] * bg_bdf_calc_norm_of(ig, m->e, phi[k], phi[k - 1]);
    x->has_above = m->next.ns >= k + 2 && k < m->max_order && k != m->now.k_used + 1;
    if (x->has_above) {
        for (int i = 0; i < m->next.n; i++)
            m->rate_P[i] = -phi[k + 1][i];
        x->above = bg_bdf_calc_norm_of(ig, m->e, m->rate_P, NULL) / (k + 2);
    }
    if (k > 2) { /* e + phi_k + ... + phi_3 is the third difference */
        for (int i = 0; i < m->next.n; i++) {
            m->rate_P[i] = 0;
            for (int j = 3; j <= k; j++)
                m->rate_P[i] += phi[j][i];
        }
        x->at_two = f->sigma[2] * bg_bdf_calc_norm_of(ig, m->e, m->rate_P, NULL);
    }
    m->along = false;
    for (int i = 0; i < ig->n; i++)
        ig->work_n[i] = i < ig->n - 1 ? f->error * m->e[i] : 0;
}

/* The order that the estimates ask for without E_{k+1}: k or k - 1. */
static int lower(const bg_bdf_estimate *x, int k)
{
    double T = (k + 1) * x->at, below = k * x->below, below2 = (k - 1) * x->below2;
    if (k > 2 && fmax(below, below2) <= T)
        return k - 1;
    return k;
}

static int choose_order(const bg_bdf *m, int k)
{
    const bg_bdf_estimate *x = &m->estimate;
    int chosen = lower(x, k);
    if (chosen < k || !x->has_above)
        return chosen;
    double T = (k + 1) * x->at, below = k * x->below, above = (k + 2) * x->above;
    if (k == 1)
        return x->above < x->at ? 2 : 1;
    if (k > 2 && below <= fmin(T, above))
        return k - 1;
    return above < T ? k + 1 : k;
}

/* E_j from a step of order k; negative: not known. */
static double get_error(const bg_bdf_estimate *x, int j, int k)
{
    return j == k       ? x->at
           : j == k - 1 ? x->below
           : j == k - 2 ? x->below2
           : j == k + 1 ? x->above
           : j == 2     ? x->at_two
                        : -1;
}

static double choose_length(const bg_bdf *m, double rho, double h)
{
    if (rho <= 1)
        return h * fmax(0.5, fmin(0.9, rho));
    if (m->next.held)
        return h;
    if (m->rule == BG_RULE_DASSL)
        return rho >= 2 ? 2 * h : h;
    double factor = fmin(2, 0.95 * rho);
    return factor >= 1.2 ? factor * h : h;
}

/* Where order k would pump up fast modes with steps of h: the longest step that does not, of this
 * or a lower order. */
static double apply_cap(bg_integrator *ig, int *k, double h)
{
    bg_bdf *m = ig->method;
    if (!m->automatic || *k < 3)
        return h;
    double best = bg_bdf_cap_limit(ig, *k, h);
    if (best == h)
        return h;
    for (int j = *k - 1, made = m->formula.k; j >= 2; j--) {
        double E = get_error(&m->estimate, j, made);
        if (E < 0)
            continue;
        double own = bg_bdf_cap_limit(ig, j, choose_length(m, calc_growth(E, j), ig->h));
        if (own > best) {
            best = own;
            *k = j;
        }
    }
    return best;
}

/* Whether steps are to stay as long as they are. */
static void update_held(bg_bdf *m)
{
    bg_bdf_history *x = &m->next;
    const bool failed = m->error_failures > 0;
    if (failed)
        x->held = x->failed && m->formula.k <= 2;
    if (x->ns >= m->formula.k + 2)
        x->held = false;
    x->failed = failed;
}

static double accept(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_history *x = &m->next;
    int k = m->formula.k, chosen = choose_order(m, k);
    double h;
    update_held(m);
    if (chosen < k || k == m->max_order || m->error_failures > 0 || m->cuts > 0)
        x->growing = false;
    if (k == 1 && m->error_failures >= THIRD && k < m->max_order)
        x->growing = true;
    if (x->growing) {
        chosen = k + 1;
        h = 2 * ig->h;
    } else {
        h = choose_length(m, calc_growth(get_error(&m->estimate, chosen, k), chosen), ig->h);
    }
    h = apply_cap(ig, &chosen, h);
    x->k_next = chosen;
    return bg_bdf_straddle(ig, h);
}

/* The length and order of an attempt after one with too large an error. */
static double retry(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    int k = m->formula.k, chosen = lower(&m->estimate, k);
    ig->count.corrector.error_failures++;
    m->error_failures++;
    if (m->now.k_used == 0)
        chosen = 1;
    if (m->error_failures == 1) {
        double rho = calc_growth(get_error(&m->estimate, chosen, k), chosen);
        m->k_try = chosen;
        return ig->h * fmin(0.9, fmax(0.25, 0.9 * rho));
    }
    m->k_try = m->error_failures < THIRD ? chosen : 1;
    return 0.25 * ig->h;
}

double bg_bdf_control(bg_integrator *ig, bg_outcome outcome, double error)
{
    bg_bdf *m = ig->method;
    bg_bdf_estimate *x = &m->estimate;
    if (outcome == BG_FAILED) {
        ig->count.corrector.convergence_failures++;
        m->cuts++;
        return 0.25 * ig->h;
    }
    if (x->error > 0 && error < x->error) { /* part of it was found to be rounding */
        double share = error / x->error;
        x->at *= share;
        x->below *= share;
        x->below2 *= share;
        x->above *= share;
        x->at_two *= share;
    }
    return outcome == BG_ACCEPTED ? accept(ig) : retry(ig);
}
