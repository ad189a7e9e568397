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
 * 0.95 rho) wherever that is 1.2 or more. Orders 3 and more are capped (bdf_cap.c). */
#include "integrators/bdf.h"

#include <math.h>

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
    for (int i = 0; i < ig->n; i++)
        ig->work_n[i] = i < ig->n - 1 ? f->error * m->e[i] : 0;
}

/* The order that the estimates ask for without E_{k+1}: k or k - 1. */
static int lower(const bg_bdf_estimate *x, int k)
{
    double T = (k + 1) * x->at, below = k * x->below, below2 = (k - 1) * x->below2;
    if (k == 2 && below <= 0.5 * T)
        return 1;
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
        return above < 0.5 * T ? 2 : 1;
    if (below <= fmin(T, above))
        return k - 1;
    return above < T ? k + 1 : k;
}

static double get_error(const bg_bdf_estimate *x, int chosen, int k)
{
    return chosen == k ? x->at : chosen < k ? x->below : x->above;
}

static double choose_length(const bg_bdf *m, double rho, double h)
{
    if (rho <= 1)
        return h * fmax(0.5, fmin(0.9, rho));
    if (m->rule == BG_RULE_DASSL)
        return rho >= 2 ? 2 * h : h;
    double factor = fmin(2, 0.95 * rho);
    return factor >= 1.2 ? factor * h : h;
}

/* Orders 3 and more where they would pump up fast modes: order 2 if its steps are longer than
 * those which do not. */
static double apply_cap(bg_integrator *ig, int *k, double h)
{
    bg_bdf *m = ig->method;
    double longest;
    if (!m->automatic || *k < 3 || !bg_bdf_cap_check(ig, *k, h, &longest))
        return h;
    double second = ig->h * fmin(2, calc_growth(m->estimate.at_two, 2));
    if (second > longest) {
        *k = 2;
        return second;
    }
    return longest;
}

static double accept(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_history *x = &m->next;
    int k = m->formula.k, chosen = choose_order(m, k);
    double h;
    if (chosen < k || k == m->max_order || m->error_failures > 0 || m->cuts > 0)
        x->growing = false;
    if (x->growing) {
        chosen = k + 1;
        h = 2 * ig->h;
    } else {
        h = choose_length(m, calc_growth(get_error(&m->estimate, chosen, k), chosen), ig->h);
    }
    h = apply_cap(ig, &chosen, h);
    x->k_next = chosen;
    return h;
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
    m->k_try = m->error_failures == 2 ? chosen : 1;
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
