/* Order and step of adams (Shampine and Gordon 1975).
 *
 * With d = f_p - phi^e_1 the error of a step of order k is h |g_{k+1} - g_k| |d|; of equal steps at
 * the orders around it, with Moulton's coefficients gamma,
 *     E_k = h |gamma_k| sigma_{k+1} |d|,               E_{k-1} = h |gamma_{k-1}| sigma_k |phi^e_k +
 * d|, E_{k-2} = h |gamma_{k-2}| sigma_{k-1} |phi^e_{k-1} + d|,  E_{k+1} = h |gamma_{k+1}|
 * |phi_{k+2}|, the last behind k + 1 equal steps. Norms are of the coordinates that are judged;
 * where that is all, dependent ones have the errors that the constraints make of those of the
 * independent ones, which may be many times their own; their own count where all motion is
 * prescribed. At the start order and length rise with every step, until one fails or the order
 * below is as good; later the order goes where the error is least. Then h is doubled where that
 * leaves half of the tolerance, and shortened where it has to be; in between it stays, so that
 * differences are those of equal steps. */
#include "integrators/adams.h"

#include <math.h>

static double calc_norm(bg_integrator *ig, const double *a, const double *b)
{
    bg_adams *m = ig->method;
    for (int i = 0; i < ig->n; i++)
        m->e[i] = a[i] + (b ? b[i] : 0);
    if (!m->by_independent && m->partition->n > 0)
        bg_independent_follow(m->partition, m->e, m->e + ig->dyn->nq);
    return bg_norm_calc_state(ig, m->e, m->judged);
}

void bg_adams_calc_estimate(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    const bg_adams_formula *f = &m->formula;
    bg_adams_estimate *x = &m->estimate;
    int k = f->k;
    double h = f->h, tested = h * fabs(f->g[k + 1] - f->g[k]);
    *x = (bg_adams_estimate){0};
    if (k > 2)
        x->below2 = h * fabs(m->gamma[k - 2]) * f->sigma[k - 1] *
                    calc_norm(ig, m->next.phi[k - 2], m->d);
    if (k > 1)
        x->below = h * fabs(m->gamma[k - 1]) * f->sigma[k] *
                   calc_norm(ig, m->next.phi[k - 1], m->d);
    double size = calc_norm(ig, m->d, NULL);
    x->at = h * fabs(m->gamma[k]) * f->sigma[k + 1] * size;
    x->error = tested * size;
    for (int i = 0; i < ig->n; i++)
        ig->work_n[i] = i < ig->n - 1 ? tested * m->e[i] : 0;
}

void bg_adams_calc_above(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    int k = m->formula.k;
    m->estimate.has_above = k < m->max_order && m->next.ns > k && m->now.k_used >= k;
    if (m->estimate.has_above)
        m->estimate.above = m->formula.h * fabs(m->gamma[k + 1]) *
                            calc_norm(ig, m->next.phi[k + 1], NULL);
}

/* The order that the estimates ask for without E_{k+1}: k or k - 1. */
static int lower(const bg_adams_estimate *x, int k)
{
    if (k == 2 && x->below <= 0.5 * x->at)
        return 1;
    return k > 2 && fmax(x->below, x->below2) <= x->at ? k - 1 : k;
}

static int choose_order(const bg_adams_estimate *x, int k)
{
    int chosen = lower(x, k);
    if (chosen < k || !x->has_above)
        return chosen;
    if (k == 1)
        return x->above < 0.5 * x->at ? 2 : 1;
    if (x->below <= fmin(x->at, x->above))
        return k - 1;
    return x->above < x->at ? k + 1 : k;
}

static double choose_length(double h, int k, double error)
{
    if (ldexp(error, k + 1) <= 0.5)
        return 2 * h;
    if (error <= 0.5)
        return h;
    return h * fmax(0.5, fmin(0.9, pow(2 * error, -1.0 / (k + 1))));
}

static double accept(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    const bg_adams_estimate *x = &m->estimate;
    bg_adams_history *to = &m->next;
    int k = m->formula.k, chosen = lower(x, k);
    if (m->repeated || chosen < k || k == m->max_order)
        to->starting = false;
    if (to->starting) {
        to->k_next = k + 1;
        return 2 * ig->h;
    }
    to->k_next = chosen = choose_order(x, k);
    return choose_length(ig->h, chosen, chosen == k ? x->at : chosen < k ? x->below : x->above);
}

/* Behind an attempt with too large an error: a half, and from the third one on order 1. */
static double retry(bg_integrator *ig)
{
    bg_adams *m = ig->method;
    const bg_adams_estimate *x = &m->estimate;
    double factor = 0.5;
    m->failures++;
    m->k_try = m->failures < 3 ? lower(x, m->formula.k) : 1;
    if (m->failures > 3)
        factor = fmin(0.5, sqrt(0.5 / x->at));
    return factor * ig->h;
}

double bg_adams_control(bg_integrator *ig, bg_outcome outcome, double error)
{
    bg_adams *m = ig->method;
    bg_adams_estimate *x = &m->estimate;
    if (ig->leaping)
        return bg_control_calc(ig, outcome, error);
    if (outcome == BG_FAILED) {
        m->cuts++;
        return 0.25 * ig->h;
    }
    if (x->error > 0 && error < x->error) { /* part of it was found to be rounding */
        double share = error / x->error;
        x->at *= share;
        x->below *= share;
        x->below2 *= share;
        x->above *= share;
    }
    return outcome == BG_ACCEPTED ? accept(ig) : retry(ig);
}
