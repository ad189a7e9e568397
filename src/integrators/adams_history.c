/* Differences, predictor and dense output of adams (Shampine and Gordon 1975; 002 section 5).
 *
 * With psi_i = h + h_n + ..., sums of the last i steps, the modified divided differences of rates
 *     phi_1 = f_n,   phi_i = psi_1 ... psi_{i-1} [t_n, ..., t_{n-i+1}] f
 * where psi are those of the step that ends at t_n. For the next one
 *     phi*_i = beta_i phi_i,  beta_1 = 1,  beta_i = beta_{i-1} psi_{i-1}(n+1) / psi_{i-1}(n),
 * and with alpha_i = h / psi_i(n+1)
 *     g_{1,q} = 1/q,  g_{i,q} = g_{i-1,q} - alpha_{i-1} g_{i-1,q+1},  g_i = g_{i,1}
 * the prediction of order k is p = y_n + h sum_{i<=k} g_i phi*_i. The differences predicted for
 * t_{n+1} are phi^e_i = phi*_i + ... + phi*_k; those with f_{n+1} differ by e = f_{n+1} - phi^e_1:
 *     phi_i = phi^e_i + e,   phi_{k+1} = e,   phi_{k+2} = e - phi_{k+1}(n) behind equal steps.
 * sigma_1 = 1, sigma_{i+1} = i alpha_i sigma_i compares differences with those of equal steps.
 *
 * Dense output is the polynomial whose rates go through t_{n+1}, ..., t_{n-k+1} and whose value at
 * t_{n+1} is y_{n+1}. With D_i = prod_{j<i} (tau + psi_{j-1})/psi_j, psi_0 = 0, its slope is
 * sum D_i phi_i; integrals of D_i by tau follow from the same recursion as g. */
#include "integrators/adams.h"

#include <string.h>

void bg_adams_history_take(bg_adams_history *x, int n, bg_arena *arena)
{
    x->n = n;
    for (int i = 0; i < BG_ADAMS_DIFFERENCES; i++)
        BG_TAKE(arena, x->phi[i], n);
}

void bg_adams_history_reset(bg_adams_history *x)
{
    x->k_used = x->ns = x->steps = 0;
    x->k_next = 1;
    x->starting = true;
    x->leapt = false;
    x->h_used = 0;
}

void bg_adams_calc_gamma(double *gamma)
{
    gamma[0] = 1;
    for (int m = 1; m <= BG_ADAMS_ORDER_MAX + 1; m++) {
        gamma[m] = 0;
        for (int j = 0; j < m; j++)
            gamma[m] -= gamma[j] / (m - j + 1);
    }
}

void bg_adams_calc_formula(const bg_adams_history *x, int k, double h, bg_adams_formula *f)
{
    double w[BG_ADAMS_ORDER_MAX + 2], alpha;
    *f = (bg_adams_formula){.k = k, .h = h};
    f->psi[1] = h;
    f->beta[1] = f->sigma[1] = 1;
    for (int i = 2; i <= k; i++) {
        f->psi[i] = h + x->psi[i - 2];
        f->beta[i] = f->beta[i - 1] * f->psi[i - 1] / x->psi[i - 2];
    }
    for (int i = 1; i <= k; i++)
        f->sigma[i + 1] = i * f->sigma[i] * h / f->psi[i];
    for (int q = 1; q <= k + 1; q++)
        w[q - 1] = 1.0 / q;
    f->g[1] = 1;
    for (int i = 2; i <= k + 1; i++) { /* w[q - 1] = g_{i,q} */
        alpha = h / f->psi[i - 1];
        for (int q = 0; q < k + 2 - i; q++)
            w[q] -= alpha * w[q + 1];
        f->g[i] = w[0];
    }
}

void bg_adams_predict(const bg_adams_history *from, const bg_adams_formula *f, const double *y,
                      bg_adams_history *to, double *p)
{
    int n = from->n, k = f->k;
    if (from->k_used >= k) /* else there is none yet */
        memcpy(to->phi[k + 1], from->phi[k], (size_t)n * sizeof(double));
    memset(p, 0, (size_t)n * sizeof(double));
    for (int i = k; i >= 1; i--) { /* small ones first */
        const double *phi = from->phi[i - 1], *above = i < k ? to->phi[i] : NULL;
        double *out = to->phi[i - 1], g = f->g[i], beta = f->beta[i];
        for (int j = 0; j < n; j++) {
            double scaled = beta * phi[j];
            p[j] += g * scaled;
            out[j] = above ? above[j] + scaled : scaled;
        }
    }
    for (int j = 0; j < n; j++)
        p[j] = y[j] + f->h * p[j];
    bool same = from->k_used > 0 && f->h == from->h_used;
    int ns = same ? from->ns + 1 : 1;
    to->ns = ns < BG_ADAMS_ORDER_MAX + 2 ? ns : BG_ADAMS_ORDER_MAX + 2;
    to->starting = from->starting;
    to->k_next = from->k_next;
    to->leapt = false;
}

void bg_adams_push(bg_adams_history *x, const bg_adams_formula *f, const double *f_end)
{
    int n = x->n, k = f->k;
    double *e = x->phi[k], *beyond = x->phi[k + 1];
    for (int j = 0; j < n; j++) {
        e[j] = f_end[j] - x->phi[0][j];
        beyond[j] = e[j] - beyond[j];
    }
    for (int i = 1; i <= k; i++) {
        double *phi = x->phi[i - 1];
        for (int j = 0; j < n; j++)
            phi[j] += e[j];
    }
    for (int i = 1; i <= k; i++)
        x->psi[i - 1] = f->psi[i];
    x->h_used = f->h;
    x->k_used = k;
}

void bg_adams_interpolate(const bg_adams_history *x, double tau, int begin, int end, double *rise,
                          double *slope)
{
    double w[BG_ADAMS_ORDER_MAX + 2], g[BG_ADAMS_ORDER_MAX + 2], D[BG_ADAMS_ORDER_MAX + 2];
    int points = x->k_used + 1;
    double before = 0;
    for (int q = 1; q <= points; q++)
        w[q - 1] = 1.0 / q;
    g[0] = D[0] = 1;
    for (int i = 1; i < points; i++) {
        double psi = x->psi[i - 1], gamma = (tau + before) / psi, eta = tau / psi;
        for (int q = 0; q < points - i; q++)
            w[q] = gamma * w[q] - eta * w[q + 1];
        g[i] = w[0];
        D[i] = gamma * D[i - 1];
        before = psi;
    }
    for (int j = begin; j < end; j++) {
        double sum = 0, rate = 0;
        for (int i = points - 1; i >= 0; i--) {
            sum += g[i] * x->phi[i][j];
            rate += D[i] * x->phi[i][j];
        }
        if (rise)
            rise[j - begin] = tau * sum;
        if (slope)
            slope[j - begin] = rate;
    }
}

void bg_adams_history_archive(bg_adams_history *x, bg_archive *archive)
{
    bg_archive_whole(archive, &x->k_used, 1, 0, BG_ADAMS_ORDER_MAX);
    bg_archive_whole(archive, &x->k_next, 1, 1, BG_ADAMS_ORDER_MAX);
    bg_archive_whole(archive, &x->ns, 1, 0, BG_ADAMS_ORDER_MAX + 2);
    bg_archive_whole(archive, &x->steps, 1, 0, BG_ADAMS_STARTS);
    bg_archive_flags(archive, &x->starting, sizeof x->starting);
    bg_archive_finite(archive, &x->h_used, 1);
    bg_archive_finite(archive, x->psi, BG_ADAMS_ORDER_MAX);
    if (x->k_next > x->k_used + 1)
        archive->failed = true;
    for (int i = 0; i < x->k_used + 2 && x->k_used > 0 && !archive->failed; i++) {
        bg_archive_finite(archive, x->phi[i], x->n);
        if (i < x->k_used && !(x->psi[i] > 0))
            archive->failed = true;
    }
}
