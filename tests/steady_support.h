/* Steady motions of models in joint form, and the eigenvalues about them: for tests of vehicles on
 * a track, in which everything but the spin of wheels rests against frames that move steadily. */
#ifndef STEADY_SUPPORT_H
#define STEADY_SUPPORT_H

#include "model_support.h"

#include <stdbool.h>

/* x <- A^{-1} x by Gauss's elimination; A [n][n] is lost. */
static inline void solve_dense(int n, double *A, double *x)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[best * n + k]))
                best = i;
        assert_true(fabs(A[best * n + k]) > 0);
        for (int j = 0; j < n && best != k; j++) {
            double t = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = t;
        }
        double t = x[k];
        x[k] = x[best];
        x[best] = t;
        for (int i = k + 1; i < n; i++) {
            const double f = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n && f != 0; j++)
                A[i * n + j] -= f * A[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= A[k * n + j] * x[j];
        x[k] /= A[k * n + k];
    }
}

/* Everything at one point, dense: derivatives of r and gamma, M, G. */
typedef struct blocks {
    int nv, ng;
    double *r, *r_q, *r_v, *r_l, *g, *G, *M, *gamma_q, *gamma_v, *a;
} blocks;

/* Values in a pattern, spread out. */
static inline void spread(const bg_pattern *p, int rows, int columns, double *x)
{
    if (!p)
        return;
    double *dense = calloc((size_t)(rows * columns), sizeof *dense);
    for (int i = 0; i < rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            dense[i * columns + p->column[k]] = x[k];
    memcpy(x, dense, (size_t)(rows * columns) * sizeof *x);
    free(dense);
}

static inline blocks blocks_create(const bg_system_def *d)
{
    const size_t v = (size_t)d->nv, g = (size_t)d->ng;
    blocks b = {.nv = d->nv, .ng = d->ng};
    b.r = calloc(v, sizeof(double)), b.a = calloc(v, sizeof(double));
    b.g = calloc(g, sizeof(double));
    b.r_q = calloc(v * v, sizeof(double)), b.r_v = calloc(v * v, sizeof(double));
    b.M = calloc(v * v, sizeof(double)), b.r_l = calloc(v * g, sizeof(double));
    b.G = calloc(v * g, sizeof(double)), b.gamma_q = calloc(v * g, sizeof(double));
    b.gamma_v = calloc(v * g, sizeof(double));
    return b;
}

static inline void blocks_clear(blocks *b)
{
    double *const all[] = {b->r, b->r_q, b->r_v,     b->r_l,     b->g,
                           b->G, b->M,   b->gamma_q, b->gamma_v, b->a};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static inline void blocks_calc(bg_evaluator *ev, const bg_system_def *d, double t, const double *q,
                               const double *v, const double *lambda, blocks *b)
{
    bg_error err = {BG_OK, ""};
    bg_point p;
    bg_terms terms = {.g = b->g, .G = b->G, .M = b->M};
    bg_derivatives out = {.only_stiff = 0};
    assert_ok(bg_system_set_point(ev, t, q, v, NULL, d->mode0, &p, &err));
    p.lambda = lambda;
    assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_g | BG_TERM_G | BG_TERM_M, &terms, &err));
    assert_ok(bg_system_calc_residual(ev, &p, b->a, lambda, b->r, &err));
    out.block[BG_OF_r][BG_BY_q] = b->r_q, out.block[BG_OF_r][BG_BY_v] = b->r_v;
    out.block[BG_OF_r][BG_BY_lambda] = b->r_l;
    out.block[BG_OF_gamma][BG_BY_q] = b->gamma_q, out.block[BG_OF_gamma][BG_BY_v] = b->gamma_v;
    assert_ok(bg_system_calc_derivatives(ev, &p, b->a, lambda, &out, &err));
    spread(d->pattern_G, b->ng, b->nv, b->G);
    spread(d->pattern_M, b->nv, b->nv, b->M);
    spread(d->pattern[BG_OF_r][BG_BY_q], b->nv, b->nv, b->r_q);
    spread(d->pattern[BG_OF_r][BG_BY_v], b->nv, b->nv, b->r_v);
    spread(d->pattern[BG_OF_gamma][BG_BY_q], b->ng, b->nv, b->gamma_q);
    spread(d->pattern[BG_OF_gamma][BG_BY_v], b->ng, b->nv, b->gamma_v);
}

/* Newton's method for q, the rates of coordinates called "...spin" (whose places stay) and lambda,
 * with everything else at rest: r = 0 at a = 0, g = 0. Returns the last residual, N. */
static inline double find_steady(bg_evaluator *ev, const bg_system_def *d, double t, double *q,
                                 double *v, double *lambda, blocks *b)
{
    const int n = d->nv + d->ng;
    double *A = calloc((size_t)(n * n), sizeof *A), *x = calloc((size_t)n, sizeof *x), worst = 0;
    for (int iteration = 0; iteration < 100; iteration++) {
        blocks_calc(ev, d, t, q, v, lambda, b);
        worst = 0;
        for (int i = 0; i < n; i++) {
            x[i] = -(i < d->nv ? b->r[i] : b->g[i - d->nv]);
            worst = fmax(worst, fabs(x[i]) * (i < d->nv ? 1 : 1e6));
        }
        if (worst < 1e-8)
            break;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const bool spin = j < d->nv && strstr(d->v_names[j], "spin");
                const double *by = spin ? b->r_v : b->r_q;
                A[i * n + j] = i < d->nv
                                   ? (j < d->nv ? by[i * d->nv + j] : b->r_l[i * d->ng + j - d->nv])
                               : j < d->nv ? (spin ? 0 : b->G[(i - d->nv) * d->nv + j])
                                           : 0;
            }
        solve_dense(n, A, x);
        double largest = 0; /* at most 2 mm or mrad at once: the contact is far from linear */
        for (int j = 0; j < d->nv; j++)
            largest = fmax(largest, strstr(d->v_names[j], "spin") ? 0 : fabs(x[j]));
        const double part = largest > 2e-3 ? 2e-3 / largest : 1;
        for (int j = 0; j < n; j++) {
            double *to = j >= d->nv                      ? &lambda[j - d->nv]
                         : strstr(d->v_names[j], "spin") ? &v[j]
                                                         : &q[j];
            *to += part * x[j];
        }
    }
    free(A);
    free(x);
    return worst;
}

static inline void exchange(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* Upper Hessenberg form by elimination with exchanges. */
static inline void reduce(int n, double *A)
{
    for (int m = 1; m < n - 1; m++) {
        int best = m;
        for (int i = m; i < n; i++)
            if (fabs(A[i * n + m - 1]) > fabs(A[best * n + m - 1]))
                best = i;
        for (int j = m - 1; j < n && best != m; j++)
            exchange(&A[best * n + j], &A[m * n + j]);
        for (int i = 0; i < n && best != m; i++)
            exchange(&A[i * n + best], &A[i * n + m]);
        for (int i = m + 1; i < n && A[m * n + m - 1] != 0; i++) {
            const double f = A[i * n + m - 1] / A[m * n + m - 1];
            A[i * n + m - 1] = 0;
            for (int j = m; j < n; j++)
                A[i * n + j] -= f * A[m * n + j];
            for (int k = 0; k < n; k++)
                A[k * n + m] += f * A[k * n + i];
        }
    }
}

/* One double QR step with shifts s (sum) and p (product) on rows low .. high. */
static inline void step_qr(int n, double *A, int low, int high, double s, double p)
{
    double x = A[low * n + low] * A[low * n + low] + A[low * n + low + 1] * A[(low + 1) * n + low] -
               s * A[low * n + low] + p;
    double y = A[(low + 1) * n + low] * (A[low * n + low] + A[(low + 1) * n + low + 1] - s);
    double z = low + 2 <= high ? A[(low + 1) * n + low] * A[(low + 2) * n + low + 1] : 0;
    for (int k = low; k < high; k++) {
        const int rows = k + 2 <= high ? 3 : 2;
        const double w[3] = {x, y, rows == 3 ? z : 0};
        const double size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        if (size > 0) { /* Householder's reflection that takes w to its first axis */
            double u[3] = {w[0] + (w[0] < 0 ? -size : size), w[1], w[2]};
            const double beta = 2 / (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            for (int j = k > low ? k - 1 : low; j < n; j++) {
                double sum = 0;
                for (int i = 0; i < rows; i++)
                    sum += u[i] * A[(k + i) * n + j];
                for (int i = 0; i < rows; i++)
                    A[(k + i) * n + j] -= beta * sum * u[i];
            }
            for (int i = 0; i <= (k + 3 <= high ? k + 3 : high); i++) {
                double sum = 0;
                for (int j = 0; j < rows; j++)
                    sum += u[j] * A[i * n + k + j];
                for (int j = 0; j < rows; j++)
                    A[i * n + k + j] -= beta * sum * u[j];
            }
        }
        x = A[(k + 1) * n + k];
        y = k + 2 <= high ? A[(k + 2) * n + k] : 0;
        z = k + 3 <= high ? A[(k + 3) * n + k] : 0;
    }
}

/* Eigenvalues of A [n][n], which is lost. */
static inline void find_eigenvalues(int n, double *A, double *re, double *im)
{
    double norm = 0;
    reduce(n, A);
    for (int i = 0; i < n * n; i++)
        norm = fmax(norm, fabs(A[i]));
    for (int high = n - 1, tries = 0; high >= 0;) {
        int low = high;
        while (low > 0) {
            const double size = fabs(A[(low - 1) * n + low - 1]) + fabs(A[low * n + low]);
            if (fabs(A[low * n + low - 1]) <= fmax(1e-16 * size, 1e-17 * norm))
                break;
            low--;
        }
        if (low == high) {
            re[high] = A[high * n + high], im[high] = 0;
            high--, tries = 0;
            continue;
        }
        const double a = A[(high - 1) * n + high - 1], d = A[high * n + high];
        const double bc = A[(high - 1) * n + high] * A[high * n + high - 1];
        if (low == high - 1) {
            const double half = 0.5 * (a - d), disc = half * half + bc, mean = 0.5 * (a + d);
            const double root = sqrt(fabs(disc));
            re[high] = mean - (disc > 0 ? root : 0), re[high - 1] = mean + (disc > 0 ? root : 0);
            im[high] = disc > 0 ? 0 : -root, im[high - 1] = disc > 0 ? 0 : root;
            high -= 2, tries = 0;
            continue;
        }
        assert_true(++tries < 200);
        double s = a + d, p = a * d - bc;
        if (tries % 10 == 0) { /* an exceptional shift */
            const double w = fabs(A[high * n + high - 1]) + fabs(A[(high - 1) * n + high - 2]);
            s = 1.5 * w, p = w * w;
        }
        for (int k = low; k < high - 1; k++) /* what rounding left below the subdiagonal */
            A[(k + 2) * n + k] = 0;
        step_qr(n, A, low, high, s, p);
        for (int k = low; k < high - 1; k++)
            A[(k + 2) * n + k] = 0;
        for (int k = low; k < high - 2; k++)
            A[(k + 3) * n + k] = 0;
    }
}

/* Of q' = v with the accelerations that [M r_l; G 0] gives to what is left: 2 nv of them, those of
 * the constraints zero. */
static inline void find_modes(const blocks *b, double *re, double *im)
{
    const int nv = b->nv, ng = b->ng, n = nv + ng, m = 2 * nv;
    double *J = calloc((size_t)(m * m), sizeof *J), *A = malloc((size_t)(n * n) * sizeof *A);
    double *x = malloc((size_t)n * sizeof *x);
    for (int i = 0; i < nv; i++)
        J[i * m + nv + i] = 1;
    for (int c = 0; c < m; c++) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                A[i * n + j] = i < nv   ? (j < nv ? b->M[i * nv + j] : b->r_l[i * ng + j - nv])
                               : j < nv ? b->G[(i - nv) * nv + j]
                                        : 0;
            x[i] = -(i < nv ? (c < nv ? b->r_q[i * nv + c] : b->r_v[i * nv + c - nv])
                            : (c < nv ? b->gamma_q[(i - nv) * nv + c]
                                      : b->gamma_v[(i - nv) * nv + c - nv]));
        }
        solve_dense(n, A, x);
        for (int i = 0; i < nv; i++)
            J[(nv + i) * m + c] = x[i];
    }
    find_eigenvalues(m, J, re, im);
    free(J);
    free(A);
    free(x);
}

#endif
