/* Steps towards rest, with K, C and F of rest.c without states that follow.
 *
 * K x - C c + t gamma - Z zeta = F, where c are those rates along which nothing changes that settle
 * within ten seconds, gamma the accelerations t of the others, which are kept, and zeta the
 * integrals of controllers, whose rates -G_x x - G_c c = h are equations of their own, by singular
 * values s of this matrix:
 *
 *   y = sum_i  s_i (u_i . F) / (s_i^2 + mu^2) v_i,
 *   mu = max(1e-11 s_1, 1e-6 s^-2, min(0.05 |a|, 1 s^-2)),                                (2)
 *
 * |a| the largest acceleration in sizes. A free direction, such as a vehicle's yaw, has K t = 0 at
 * the equilibrium only, and elsewhere something proportional to the force; the damping dies with
 * it, so that free directions stay where they are and convergence is quadratic.
 *
 * Downhill: Newton's method goes to equilibria of any kind. With eigenvalues k_i and vectors e_i of
 * the symmetric part of K the step  sum_i |k_i| (e_i . F) / (k_i^2 + mu^2) e_i  goes with the force
 * where K is not positive, away from unstable ones. */
#include "linalg/spectrum.h"
#include "linear/rest.h"

#include <math.h>
#include <string.h>

static const double softest = 1e-6;   /* 1/s^2, of a stiffness that is none */
static const double relative = 1e-11; /* the same beside the stiffest */
static const double slowest = 0.1;    /* 1/s, of rates that are looked for */

/* delta, dv, dz and sizes from x [n] and c [ncyclic]. */
static void store(bg_rest *r, const double *x, const double *c)
{
    int n = r->n, nc = r->ncyclic;
    bg_rest_expand(r, x, r->delta);
    memset(r->dv, 0, (size_t)r->nv * sizeof *r->dv);
    for (int k = 0; k < nc && c; k++)
        for (int i = 0; i < r->nv; i++)
            r->dv[i] += c[k] * r->cyclic[k * r->nv + i];
    for (int i = 0; i < r->nz; i++) {
        double sum = r->Hh[i];
        for (int k = 0; k < n; k++)
            sum += r->Hx[i * n + k] * x[k];
        for (int k = 0; k < nc && c; k++)
            sum += r->Hc[i * nc + k] * c[k];
        r->dz[i] = -sum;
    }
    r->size = fmax(bg_linearisation_calc_size(r->lin, r->delta),
                   bg_linearisation_calc_size(r->lin, r->dv));
}

static double choose_damping(const bg_rest *r, double stiffest)
{
    return fmax(fmax(relative * stiffest, softest), fmin(0.05 * r->force, 1));
}

/* The largest entry of all [nv] in sizes. */
static double find_largest(const bg_rest *r, const double *all, int *where)
{
    double most = 0;
    for (int i = 0; i < r->nv; i++)
        if (fabs(all[i]) / r->lin->tangent->unit[i] > most) {
            most = fabs(all[i]) / r->lin->tangent->unit[i];
            *where = i;
        }
    return most;
}

/* What is left: accelerations gamma along rates that are kept, and those of the force F [n]. */
static void keep_left(bg_rest *r, const double *F)
{
    double *t = r->Ut, *sum = r->T, force = 0, rate = 0; /* [n], [n] */
    memset(sum, 0, (size_t)r->n * sizeof *sum);
    for (int k = 0; k < r->ncyclic; k++) {
        bg_rest_collect(r, r->cyclic + k * r->nv, t);
        for (int i = 0; i < r->n; i++)
            sum[i] += r->gamma[k] * t[i];
    }
    bg_rest_collect(r, r->lin->at->v, t);
    for (int i = 0; i < r->n; i++) {
        force += sum[i] * sum[i];
        rate += t[i] * t[i];
    }
    r->decay = force > 0 ? sqrt(force / fmax(rate, r->energy)) : 0;
    r->worst = 0;
    bg_rest_expand(r, sum, r->left);
    r->drift = find_largest(r, r->left, &r->worst);
    bg_rest_expand(r, F, r->left);
    r->pushed = 0;
    r->unresolved = find_largest(r, r->left, &r->pushed);
    for (int k = 0; k < r->ncyclic && r->decay > slowest; k++) /* on the way to the motion */
        r->gamma[k] *= slowest / r->decay;
}

/* The step along eigenvectors of the symmetric part of K; false: K is positive. */
static bg_status step_downhill(bg_rest *r, bool *done, bg_error *err)
{
    int n = r->n;
    *done = false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            r->T[i * n + j] = 0.5 * (r->K[i * n + j] + r->K[j * n + i]);
    bg_status st = bg_symmetric_spectrum_calc(n, r->T, r->s, r->Vt, err);
    if (st != BG_OK)
        return st;
    double stiffest = fmax(fabs(r->s[0]), fabs(r->s[n - 1]));
    double mu = choose_damping(r, stiffest);
    if (r->s[0] >= -fmax(relative * stiffest, softest))
        return BG_OK;
    double *x = r->y, *left = r->x;
    memset(x, 0, (size_t)n * sizeof *x);
    memset(left, 0, (size_t)n * sizeof *left);
    memset(r->gamma, 0, (size_t)r->nv * sizeof *r->gamma);
    for (int k = 0; k < n; k++) {
        const double *e = r->Vt + k * n;
        double along = 0, size = fabs(r->s[k]);
        for (int i = 0; i < n; i++)
            along += e[i] * r->F[i];
        for (int i = 0; i < n; i++) {
            x[i] += size * along / (size * size + mu * mu) * e[i];
            left[i] += size <= softest ? along * e[i] : 0;
        }
    }
    store(r, x, NULL);
    keep_left(r, left);
    *done = true;
    return BG_OK;
}

/* Combinations of rates that are looked for, each [ncyclic] a row of `mix`: those that settle fast
 * enough, or all where integrals wait for them. */
static bg_status choose_rates(bg_rest *r, double *mix, int *count, bg_error *err)
{
    int n = r->n, nc = r->ncyclic;
    *count = 0;
    if (!r->moves || nc == 0)
        return BG_OK;
    for (int k = 0; k < nc; k++) { /* what brakes or drives along these directions themselves */
        double *t = r->x;
        bg_rest_collect(r, r->cyclic + k * r->nv, t);
        for (int j = 0; j < nc; j++) {
            r->T[k * nc + j] = 0;
            for (int i = 0; i < n; i++)
                r->T[k * nc + j] += t[i] * r->C[i * nc + j];
        }
    }
    bg_status st = bg_svd_calc(nc, nc, r->T, r->s, NULL, mix, err);
    while (st == BG_OK && *count < nc && (r->nintegrals > 0 || r->s[*count] > slowest))
        ++*count;
    return st;
}

/* T [n + m][n + nk + m] and its right side: K x - C c + t gamma - Z zeta = F, -Gx x - Gc c = h of
 * the m integrals, rows and columns of these in units of the stiffness `unit`; the first `more` of
 * the nk combinations of rates are looked for, the others are kept. scale [m] <- the unit of zeta.
 */
static void assemble(bg_rest *r, const double *mix, int more, int nk, double *right, double *scale)
{
    static const double unit = 100; /* 1/s^2 */
    int n = r->n, nc = r->ncyclic, m = r->nintegrals, columns = n + nk + m;
    memset(r->T, 0, (size_t)((n + m) * columns) * sizeof *r->T);
    for (int i = 0; i < n + m; i++) {
        int z = i < n ? 0 : r->integral[i - n];
        double size = 0, *row = r->T + i * columns;
        for (int k = 0; k < n; k++)
            row[k] = i < n ? r->K[i * n + k] : -r->Gx[z * n + k];
        for (int k = 0; k < more; k++)
            for (int j = 0; j < nc; j++)
                row[n + k] -= (i < n ? r->C[i * nc + j] : r->Gc[z * nc + j]) * mix[k * nc + j];
        right[i] = i < n ? r->F[i] : r->lin->h[z];
        for (int k = 0; k < n + more && i >= n; k++)
            size = fmax(size, fabs(row[k]));
        for (int k = 0; k < n + more && size > 0; k++)
            row[k] *= unit / size;
        right[i] *= size > 0 ? unit / size : 1;
    }
    for (int k = 0; k < m; k++) {
        double size = 0;
        for (int i = 0; i < n; i++)
            size = fmax(size, fabs(r->Z[i * r->nz + r->integral[k]]));
        scale[k] = unit / size;
        for (int i = 0; i < n; i++)
            r->T[i * columns + n + nk + k] = -scale[k] * r->Z[i * r->nz + r->integral[k]];
    }
    for (int j = 0; j < nc && nk > more; j++) {
        bg_rest_collect(r, r->cyclic + j * r->nv, r->x);
        for (int k = more; k < nk; k++)
            for (int i = 0; i < n; i++)
                r->T[i * columns + n + k] += mix[k * nc + j] * r->x[i];
    }
}

/* (2) for T and the right side; y [columns], and what is left of the first n of the right side. */
static void solve(bg_rest *r, int rows, int columns, const double *right, double *y, double *left)
{
    int count = rows < columns ? rows : columns;
    double mu = choose_damping(r, r->s[0]), none = fmax(relative * r->s[0], softest);
    memset(y, 0, (size_t)columns * sizeof *y);
    memset(left, 0, (size_t)r->n * sizeof *left);
    for (int k = 0; k < rows; k++) {
        double along = 0, s = k < count ? r->s[k] : 0;
        for (int i = 0; i < rows; i++)
            along += r->Ut[k * rows + i] * right[i];
        for (int i = 0; i < columns && s > 0; i++)
            y[i] += s * along / (s * s + mu * mu) * r->Vt[k * columns + i];
        for (int i = 0; i < r->n; i++)
            left[i] += s <= none ? along * r->Ut[k * rows + i] : 0;
    }
}

bg_status bg_rest_calc_step(bg_rest *r, bool downhill, bg_error *err)
{
    int n = r->n, nc = r->ncyclic, more = 0;
    bool done = false;
    bg_status st = BG_OK;
    if (n == 0) {
        store(r, r->x, NULL);
        r->unresolved = r->drift = r->decay = r->force = 0;
        return BG_OK;
    }
    if (downhill)
        st = step_downhill(r, &done, err);
    if (st != BG_OK || done)
        return st;
    double *mix = r->A, *right = mix + nc * nc, *scale = right + n + r->nz; /* A is used up */
    double *rates = scale + r->nz;
    st = choose_rates(r, mix, &more, err);
    const int nk = r->moves ? nc : 0, rows = n + r->nintegrals, columns = rows + nk;
    if (st == BG_OK) {
        assemble(r, mix, more, nk, right, scale);
        st = bg_svd_calc(rows, columns, r->T, r->s, r->Ut, r->Vt, err);
    }
    if (st != BG_OK)
        return st;
    solve(r, rows, columns, right, r->y, r->x);
    for (int j = 0; j < nc; j++) {
        rates[j] = r->gamma[j] = 0;
        for (int k = 0; k < nk; k++)
            *(k < more ? rates + j : r->gamma + j) += mix[k * nc + j] * r->y[n + k];
    }
    store(r, r->y, rates);
    for (int k = 0; k < r->nintegrals; k++)
        r->dz[r->integral[k]] += scale[k] * r->y[n + nk + k];
    keep_left(r, r->x);
    return BG_OK;
}

bg_status bg_rest_calc_flow(bg_rest *r, double h, bg_error *err)
{
    int n = r->n;
    bg_linear *matrix;
    bg_status st = bg_linear_create(n, NULL, &matrix, err);
    if (st != BG_OK)
        return st;
    double *values = bg_linear_get_values(matrix);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            values[i * n + k] = r->K[i * n + k] + (i == k ? 1 / h : 0);
    memcpy(r->y, r->F, (size_t)n * sizeof *r->y);
    if (bg_linear_factor(matrix) == BG_OK)
        bg_linear_solve(matrix, r->y);
    else
        for (int i = 0; i < n; i++)
            r->y[i] *= h;
    bg_linear_destroy(matrix);
    store(r, r->y, NULL);
    return BG_OK;
}

/* x [n] <- x without its parts along cyclic directions. */
static void hold_cyclic(const bg_rest *r, double *x)
{
    double *t = r->Ut;
    for (int k = 0; k < r->ncyclic; k++) {
        double size = 0, along = 0;
        bg_rest_collect(r, r->cyclic + k * r->nv, t);
        for (int i = 0; i < r->n; i++) {
            along += t[i] * x[i];
            size += t[i] * t[i];
        }
        for (int i = 0; i < r->n && size > 0; i++)
            x[i] -= along / size * t[i];
    }
}

bg_status bg_rest_calc_march(bg_rest *r, double h, bg_error *err)
{
    const bg_linearisation *l = r->lin;
    int n = r->n, nx = l->nx;
    bg_linear *matrix;
    bg_status st = bg_linear_create(nx, NULL, &matrix, err);
    if (st != BG_OK)
        return st;
    double *values = bg_linear_get_values(matrix), *y = r->T;
    for (int i = 0; i < nx; i++)
        for (int k = 0; k < nx; k++)
            values[i * nx + k] = (i == k ? 1 / h : 0) - r->A[i * nx + k];
    bg_rest_collect(r, l->at->v, r->x);
    hold_cyclic(r, r->x);
    bg_rest_expand(r, r->x, r->delta);
    for (int k = 0; k < n; k++) {
        y[k] = r->delta[l->tangent->independent[k]];
        y[n + k] = l->at->a[l->tangent->independent[k]];
    }
    for (int k = 0; k < r->nz; k++)
        y[2 * n + k] = l->h[k];
    st = bg_linear_factor(matrix) == BG_OK ? BG_OK : BG_RETRY;
    if (st == BG_OK)
        bg_linear_solve(matrix, y);
    bg_linear_destroy(matrix);
    if (st != BG_OK)
        return st;
    memcpy(r->dz, y + 2 * n, (size_t)r->nz * sizeof *y);
    bg_tangent_expand(l->tangent, y + n, NULL, r->dv);
    bg_tangent_expand(l->tangent, y, NULL, r->delta);
    bg_rest_collect(r, r->delta, r->x);
    hold_cyclic(r, r->x);
    bg_rest_expand(r, r->x, r->delta);
    r->size = bg_linearisation_calc_size(l, r->delta);
    return BG_OK;
}

double bg_rest_calc_push(const bg_rest *r, const double *a)
{
    double sum = 0, size = 0, *x = r->x, *F = r->y;
    bg_rest_collect(r, r->delta, x);
    bg_rest_collect(r, a, F);
    for (int i = 0; i < r->n; i++) {
        sum += x[i] * F[i];
        size += x[i] * x[i];
    }
    return size > 0 ? sum / sqrt(size) : 0;
}
