/* Differences, predictor and dense output of bdf.
 *
 * With psi_i = t_{n+1} - t_{n-i}, sums of i + 1 steps, and the modified divided differences
 *     phi_0 = y_n,   phi_i = psi_0 ... psi_{i-1} [t_n, ..., t_{n-i}] y
 * of the points behind, a step of order k predicts
 *     y_P = sum_{0..k} phi_i,   y'_P = sum_{1..k} gamma_i phi_i
 * where phi_i <- beta_i phi_i, beta_i = psi_0 ... psi_{i-1} / (the same of the step before), has
 * made them those of this step. The corrector solves F(t, y, y'_P + alpha (y - y_P)) = 0 with the
 * leading coefficient alpha = sum_{1..k} 1/j / h of constant steps (Brenan, Campbell and Petzold
 * 1996, 5.2; Jackson and Sacks-Davis 1980). Afterwards, with e = y - y_P,
 *     phi_{k+1} = e,  phi_k += e,  phi_j += phi_{j+1}, j = k - 1 ... 0,
 * are the differences of the points up to the new one, and the polynomial through them is
 *     y(t_n + tau) = sum_j C_j phi_j,  C_0 = 1,  C_j = C_{j-1} (tau + psi_{j-2}) / psi_{j-1}. */
#include "integrators/bdf.h"

#include <math.h>
#include <string.h>

void bg_bdf_history_take(bg_bdf_history *x, int n, int ng, bg_arena *arena)
{
    x->n = n + ng;
    x->ng = ng;
    for (int j = 0; j < BG_BDF_DIFFERENCES; j++)
        BG_TAKE(arena, x->phi[j], n + ng);
}

void bg_bdf_history_copy(const bg_bdf_history *from, bg_bdf_history *to)
{
    bg_bdf_history own = *to;
    *to = *from;
    for (int j = 0; j < BG_BDF_DIFFERENCES; j++) {
        to->phi[j] = own.phi[j];
        if (j <= from->k_used + 1)
            memcpy(to->phi[j], from->phi[j], (size_t)from->n * sizeof(double));
    }
}

void bg_bdf_history_reset(bg_bdf_history *x)
{
    x->h_used = 0;
    x->k_used = x->ns = x->filled = x->weak = 0;
    x->k_next = 1;
    x->growing = true;
    x->failed = x->held = false;
    x->noise = x->rest = x->t_rest = x->h_over = 0;
    x->t_cross = NAN;
}

void bg_bdf_history_forget_lambda(bg_bdf_history *x)
{
    for (int j = 1; j < BG_BDF_DIFFERENCES; j++)
        memset(x->phi[j] + x->n - x->ng, 0, (size_t)x->ng * sizeof(double));
}

/* phi[0] of y and lambda. */
static void set_state(bg_bdf_history *x, const double *y, const double *lambda)
{
    int n = x->n - x->ng;
    memcpy(x->phi[0], y, (size_t)n * sizeof(double));
    memcpy(x->phi[0] + n, lambda, (size_t)x->ng * sizeof(double));
}

void bg_bdf_history_begin(bg_bdf_history *x, const double *y, const double *rate,
                          const double *lambda, double h)
{
    set_state(x, y, lambda);
    if (x->k_used > 0)
        return;
    x->psi[0] = h;
    for (int i = 0; i < x->n - x->ng; i++)
        x->phi[1][i] = h * rate[i];
    memset(x->phi[1] + x->n - x->ng, 0, (size_t)x->ng * sizeof(double));
}

static void scale(double *x, int n, double factor)
{
    for (int i = 0; i < n; i++)
        x[i] *= factor;
}

void bg_bdf_history_predict(bg_bdf_history *x, int k, double h, bg_bdf_formula *f, double *y,
                            double *rate)
{
    double beta[BG_BDF_DIFFERENCES], a[BG_BDF_DIFFERENCES];
    double T = h, alpha_s = 0, alpha_0 = 0;
    if (h != x->h_used || k != x->k_used)
        x->ns = 0;
    x->ns = x->ns + 1 < x->k_used + 2 ? x->ns + 1 : x->k_used + 2;
    *f = (bg_bdf_formula){.k = k, .h = h};
    beta[0] = a[0] = f->sigma[0] = 1;
    for (int i = 1; i <= k; i++) {
        double S = x->psi[i - 1];
        x->psi[i - 1] = T;
        beta[i] = beta[i - 1] * (T / S);
        T = S + h;
        a[i] = h / T;
        f->sigma[i] = i * f->sigma[i - 1] * a[i];
        f->gamma[i] = f->gamma[i - 1] + a[i - 1] / h;
    }
    x->psi[k] = T;
    for (int i = 0; i < k; i++) {
        alpha_s -= 1.0 / (i + 1);
        alpha_0 -= a[i];
    }
    f->alpha = -alpha_s / h;
    f->error = fmax(a[k], fabs(a[k] + alpha_s - alpha_0));
    for (int i = x->ns; i <= k; i++)
        scale(x->phi[i], x->n, beta[i]);
    memcpy(y, x->phi[0], (size_t)x->n * sizeof(double));
    memset(rate, 0, (size_t)x->n * sizeof(double));
    for (int j = k; j >= 1; j--)
        for (int i = 0; i < x->n; i++)
            rate[i] += f->gamma[j] * x->phi[j][i];
    for (int i = 0; i < x->n; i++) {
        double sum = 0; /* small ones first, so that far from the origin nothing is lost twice */
        for (int j = k; j >= 1; j--)
            sum += x->phi[j][i];
        y[i] += sum;
    }
}

void bg_bdf_history_push(bg_bdf_history *x, const bg_bdf_formula *f, const double *e,
                         const double *y, const double *lambda)
{
    int k = f->k;
    size_t size = (size_t)x->n * sizeof(double);
    memcpy(x->phi[k + 1], e, size);
    for (int j = k; j >= 1; j--)
        for (int i = 0; i < x->n; i++)
            x->phi[j][i] += x->phi[j + 1][i];
    set_state(x, y, lambda);
    x->h_used = f->h;
    x->k_used = k;
}

void bg_bdf_history_interpolate(const bg_bdf_history *x, double tau, int begin, int end, double *y,
                                double *slope)
{
    double C[BG_BDF_DIFFERENCES], D[BG_BDF_DIFFERENCES];
    C[0] = 1;
    D[0] = 0;
    for (int j = 1; j <= x->k_used; j++) {
        double distance = tau + (j > 1 ? x->psi[j - 2] : 0);
        C[j] = C[j - 1] * distance / x->psi[j - 1];
        D[j] = (D[j - 1] * distance + C[j - 1]) / x->psi[j - 1];
    }
    for (int i = begin; i < end; i++) {
        double sum = 0, rise = 0;
        for (int j = x->k_used; j >= 1; j--) {
            sum += C[j] * x->phi[j][i];
            rise += D[j] * x->phi[j][i];
        }
        if (y)
            y[i - begin] = x->phi[0][i] + sum;
        if (slope)
            slope[i - begin] = rise;
    }
}

void bg_bdf_history_archive(bg_bdf_history *x, bg_archive *archive)
{
    bg_archive_whole(archive, &x->k_used, 1, 0, BG_BDF_ORDER_MAX);
    bg_archive_whole(archive, &x->k_next, 1, 1, BG_BDF_ORDER_MAX);
    bg_archive_whole(archive, &x->ns, 1, 0, BG_BDF_ORDER_MAX + 2);
    bg_archive_whole(archive, &x->filled, 1, 0, 1 << 20);
    bg_archive_flags(archive, &x->growing, sizeof x->growing);
    bg_archive_flags(archive, &x->failed, sizeof x->failed);
    bg_archive_flags(archive, &x->held, sizeof x->held);
    bg_archive_whole(archive, &x->weak, 1, 0, BG_BDF_DIFFERENCES);
    bg_archive_finite(archive, &x->noise, 1);
    bg_archive_finite(archive, &x->rest, 1);
    bg_archive_finite(archive, &x->h_over, 1);
    bg_archive_finite(archive, &x->t_rest, 1);
    bg_archive_doubles(archive, &x->t_cross, 1);
    bg_archive_finite(archive, &x->h_used, 1);
    bg_archive_finite(archive, x->psi, BG_BDF_DIFFERENCES);
    for (int j = 0; j <= x->k_used + 1 && x->k_used > 0 && !archive->failed; j++) {
        bg_archive_finite(archive, x->phi[j], x->n);
        if (j < x->k_used && !(x->psi[j] > 0))
            archive->failed = true;
    }
}
