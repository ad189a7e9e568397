/* Steps towards rest.
 *
 * With the independent accelerations a_I of the constrained system and R^T R = B^T M B
 * (linearisation.c), F = R a_I are forces in units in which all masses are one. Its derivatives are
 * those of the linearisation:
 *
 *   dF  = -K x + C c + Z dz,     dh = H_x x + H_c c + H_z dz                              (1)
 *
 * with x displacements in these units, so that K has the squares of frequencies, and c rates along
 * directions in which nothing changes (cyclic: a wheel's turn, the way along a plane), the only
 * ones that may be constant. States follow, dz = -H_z^+ (h + H_x x + H_c c); those that H_z^+
 * leaves alone hold any value and only follow displacements, as a bristle of a tyre that stands
 * does: z' = H_v v gives dz = H_v x. What remains is K x - C c = F, by singular values s of [K -C]:
 *
 *   y = sum_i  s_i (u_i . F) / (s_i^2 + mu^2) v_i,
 *   mu = max(1e-11 s_1, 1e-6 s^-2, min(0.05 |a|, 1 s^-2)),                                (2)
 *
 * |a| the largest acceleration in sizes. A free direction, such as a vehicle's yaw, has K t = 0 at
 * the equilibrium only, and elsewhere something proportional to the force; the damping dies with
 * it, so that free directions stay where they are and convergence is quadratic. Rates that would
 * change slower than once in ten seconds are kept.
 *
 * Downhill: Newton's method goes to equilibria of any kind. With eigenvalues k_i and vectors e_i of
 * the symmetric part of K the step  sum_i |k_i| (e_i . F) / (k_i^2 + mu^2) e_i  goes with the force
 * where K is not positive, away from unstable ones. */
#include "linear/rest.h"

#include "base/memory.h"
#include "linalg/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-9;  /* of derivatives that are zero, beside their rows */
static const double softest = 1e-6;   /* 1/s^2, of a stiffness that is none */
static const double relative = 1e-11; /* the same beside the stiffest */
static const double slowest = 0.1;    /* 1/s, of rates that are looked for */
static const double held = 1e-10;     /* of singular values of H_z */

static void list(void *object, bg_arena *arena)
{
    bg_rest *r = object;
    int nv = r->nv, nz = r->nz, nx = 2 * nv + nz, wide = 2 * nv + 2 * nz;
    BG_TAKE(arena, r->cyclic, nv * nv);
    BG_TAKE(arena, r->A, nx * nx);
    BG_TAKE(arena, r->R, nv * nv);
    BG_TAKE(arena, r->F, nv);
    BG_TAKE(arena, r->K, nv * nv);
    BG_TAKE(arena, r->C, nv * nv);
    BG_TAKE(arena, r->Gx, nz * nv);
    BG_TAKE(arena, r->Gc, nz * nv);
    BG_TAKE(arena, r->Z, nz * nv);
    BG_TAKE(arena, r->integral, nz);
    BG_TAKE(arena, r->Hh, nz);
    BG_TAKE(arena, r->Hx, nz * nv);
    BG_TAKE(arena, r->Hc, nz * nv);
    BG_TAKE(arena, r->s, wide);
    BG_TAKE(arena, r->Ut, wide * wide);
    BG_TAKE(arena, r->Vt, wide * wide);
    BG_TAKE(arena, r->T, wide * wide);
    BG_TAKE(arena, r->x, wide);
    BG_TAKE(arena, r->y, wide);
    BG_TAKE(arena, r->work, wide);
    BG_TAKE(arena, r->delta, nv);
    BG_TAKE(arena, r->dv, nv);
    BG_TAKE(arena, r->dz, nz);
    BG_TAKE(arena, r->left, nv);
}

bg_status bg_rest_create(bg_linearisation *lin, const bg_redundancy *redundancy, bg_rest **rest,
                         bg_error *err)
{
    bg_rest *r = *rest = BG_NEW(bg_rest);
    if (r) {
        r->lin = lin;
        r->redundancy = redundancy;
        r->nv = lin->nv;
        r->nz = lin->nz;
        if (bg_arena_create(&r->arena, list, r))
            return BG_OK;
    }
    free(r);
    *rest = NULL;
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the equilibrium of '%s'",
                        lin->sys->def.name);
}

void bg_rest_destroy(bg_rest *r)
{
    if (!r)
        return;
    bg_arena_clear(&r->arena);
    free(r);
}

/* x [n] <- R x, and R^{-1} x, in place. */
static void multiply_R(const bg_rest *r, double *x)
{
    for (int k = 0; k < r->n; k++) {
        double sum = 0;
        for (int m = k; m < r->n; m++)
            sum += r->R[k * r->n + m] * x[m];
        x[k] = sum;
    }
}

static void divide_R(const bg_rest *r, double *x)
{
    for (int k = r->n - 1; k >= 0; k--) {
        for (int m = k + 1; m < r->n; m++)
            x[k] -= r->R[k * r->n + m] * x[m];
        x[k] /= r->R[k * r->n + k];
    }
}

/* all [nv] <- B R^{-1} x, x [n] in units of masses. */
static void expand(const bg_rest *r, const double *x, double *all)
{
    double *y = r->work;
    memcpy(y, x, (size_t)r->n * sizeof *x);
    divide_R(r, y);
    bg_tangent_expand(r->lin->tangent, y, NULL, all);
}

/* x [n] <- R times the independent part of all [nv]. */
static void collect(const bg_rest *r, const double *all, double *x)
{
    for (int k = 0; k < r->n; k++)
        x[k] = all[r->lin->tangent->independent[k]];
    multiply_R(r, x);
}

/* Rows T: how everything changes with x, each row in units of its size. */
static bg_status calc_changes(bg_rest *r, int *rows, bg_error *err)
{
    int n = r->n, nv = r->nv, all = 2 * nv + r->nz;
    const bg_variation *c;
    for (int k = 0; k < n; k++) {
        bg_status st = bg_linearisation_vary(r->lin, k, &c, err);
        if (st != BG_OK)
            return st;
        for (int i = 0; i < nv; i++) {
            r->T[i * n + k] = c->a[i];
            r->T[(nv + i) * n + k] = c->v[i];
        }
        for (int i = 0; i < r->nz; i++)
            r->T[(2 * nv + i) * n + k] = c->z_t[i];
    }
    double largest = 0;
    for (int i = 0; i < all * n; i++)
        largest = fmax(largest, fabs(r->T[i]));
    *rows = 0;
    for (int i = 0; i < all; i++) { /* columns R^{-1}, then sizes */
        double *row = r->T + i * n, *to = r->T + *rows * n, size = 0;
        for (int k = 0; k < n; k++) {
            for (int m = 0; m < k; m++)
                row[k] -= row[m] * r->R[m * n + k];
            row[k] /= r->R[k * n + k];
            size = fmax(size, fabs(row[k]) * r->R[k * n + k]);
        }
        if (!(size > 1e-13 * largest))
            continue;
        double unit = 0;
        for (int k = 0; k < n; k++)
            unit = fmax(unit, fabs(row[k]));
        for (int k = 0; k < n; k++)
            to[k] = row[k] / unit;
        ++*rows;
    }
    return BG_OK;
}

bg_status bg_rest_find_cyclic(bg_rest *r, bg_state *x, bool *dropped, bg_error *err)
{
    int rows = 0;
    r->n = r->lin->n;
    r->ncyclic = 0;
    bg_status st = bg_linearisation_calc_masses(r->lin, r->R, err);
    if (st == BG_OK)
        st = calc_changes(r, &rows, err);
    if (st != BG_OK)
        return st;
    int n = r->n, rank = rows < n ? rows : n;
    memset(r->Vt, 0, (size_t)(n * n) * sizeof *r->Vt);
    st = bg_svd_calc(rows, n, r->T, r->s, NULL, r->Vt, err);
    while (rank > 0 && r->s[rank - 1] <= rounding * r->s[0])
        rank--;
    double *rate = r->x, *kept = r->y, before = 0, after = 0;
    collect(r, x->v, rate);
    memset(kept, 0, (size_t)n * sizeof *kept);
    for (int k = rank; k < n && st == BG_OK; k++) {
        const double *t = r->Vt + k * n;
        double along = 0;
        for (int i = 0; i < n; i++)
            along += t[i] * rate[i];
        for (int i = 0; i < n; i++)
            kept[i] += along * t[i];
        expand(r, t, r->cyclic + r->ncyclic++ * r->nv);
    }
    for (int i = 0; i < n; i++) {
        before += rate[i] * rate[i];
        after += kept[i] * kept[i];
    }
    *dropped = after < (1 - 1e-9) * before;
    r->moves = after > 1e-20 * before && after > 0;
    expand(r, kept, x->v);
    if (!r->moves)
        memset(x->v, 0, (size_t)r->nv * sizeof *x->v);
    return st;
}

/* States that hold any value follow displacements: their part of H_v x into Hx. */
static void follow_displacements(bg_rest *r)
{
    int nz = r->nz, n = r->n, nx = r->lin->nx;
    double *unit = r->y;
    for (int c = 0; c < n; c++) {
        memset(unit, 0, (size_t)n * sizeof *unit);
        unit[c] = 1;
        divide_R(r, unit);
        for (int i = 0; i < nz; i++) {
            r->x[i] = 0;
            for (int m = 0; m < n; m++)
                r->x[i] += r->A[(2 * n + i) * nx + n + m] * unit[m];
        }
        for (int k = 0; k < nz; k++) {
            if (r->s[k] > held * r->s[0] && r->s[k] > 0)
                continue;
            double along = 0;
            for (int i = 0; i < nz; i++)
                along += r->Vt[k * nz + i] * r->x[i];
            for (int i = 0; i < nz; i++)
                r->Hx[i * n + c] -= r->Vt[k * nz + i] * along;
        }
    }
    for (int m = 0; m < r->nintegrals; m++) /* these are looked for */
        memset(r->Hx + r->integral[m] * n, 0, (size_t)n * sizeof *r->Hx);
}

/* Hh, Hx, Hc: what states do, by the singular values of H_z, each row in units of its size. */
static bg_status eliminate_states(bg_rest *r, bg_error *err)
{
    int nz = r->nz, n = r->n, nx = r->lin->nx, nc = r->ncyclic;
    for (int i = 0; i < nz; i++) {
        double size = 0;
        for (int j = 0; j < nz; j++)
            size = fmax(size, fabs(r->A[(2 * n + i) * nx + 2 * n + j]));
        r->work[i] = size > 0 ? 1 / size : 0;
        for (int j = 0; j < nz; j++)
            r->T[i * nz + j] = r->A[(2 * n + i) * nx + 2 * n + j] * r->work[i];
    }
    bg_status st = bg_svd_calc(nz, nz, r->T, r->s, r->Ut, r->Vt, err);
    if (st != BG_OK)
        return st;
    for (int c = 0; c < 1 + n + nc; c++) {
        double *to = c == 0 ? r->Hh : c <= n ? r->Hx + (c - 1) : r->Hc + (c - 1 - n);
        int stride = c == 0 ? 1 : c <= n ? n : nc;
        for (int i = 0; i < nz; i++)
            to[i * stride] = 0;
        for (int k = 0; k < nz; k++) {
            if (r->s[k] <= held * r->s[0] || r->s[k] == 0)
                continue;
            double sum = 0;
            for (int i = 0; i < nz; i++) {
                double b = c == 0   ? r->lin->h[i]
                           : c <= n ? r->Gx[i * n + c - 1]
                                    : r->Gc[i * nc + c - 1 - n];
                sum += r->Ut[k * nz + i] * b * r->work[i];
            }
            for (int i = 0; i < nz; i++)
                to[i * stride] += r->Vt[k * nz + i] * sum / r->s[k];
        }
    }
    follow_displacements(r);
    return BG_OK;
}

/* K, C and F of (1) and rows of h by x and c, without what states do. */
static void calc_stiffness(bg_rest *r)
{
    int n = r->n, nx = r->lin->nx, nc = r->ncyclic;
    double *column = r->x;
    for (int k = 0; k < n + nc; k++) { /* the change of all rates by x_k or c_k */
        double *unit = r->y;
        memset(unit, 0, (size_t)n * sizeof *unit);
        if (k < n) {
            unit[k] = 1;
            divide_R(r, unit);
        } else {
            for (int i = 0; i < n; i++)
                unit[i] = r->cyclic[(k - n) * r->nv + r->lin->tangent->independent[i]];
        }
        for (int i = 0; i < n + r->nz; i++) {
            column[i] = 0;
            for (int m = 0; m < n; m++)
                column[i] += r->A[(n + i) * nx + (k < n ? m : n + m)] * unit[m];
        }
        multiply_R(r, column);
        for (int i = 0; i < n; i++) {
            if (k < n)
                r->K[i * n + k] = -column[i];
            else
                r->C[i * nc + k - n] = column[i];
        }
        for (int i = 0; i < r->nz; i++)
            *(k < n ? &r->Gx[i * n + k] : &r->Gc[i * nc + k - n]) = column[n + i];
    }
}

/* States that do not act on their own rates, but whose rates depend on the position, or on rates
 * that are looked for: only where these are right do they settle. */
static void find_integrals(bg_rest *r)
{
    int n = r->n, nx = r->lin->nx, nc = r->ncyclic;
    r->nintegrals = 0;
    for (int j = 0; j < r->nz; j++) {
        const double *row = r->A + (2 * n + j) * nx;
        double size = 0, own = 0, position = 0, rate = 0, force = 0;
        for (int k = 0; k < nx; k++)
            size = fmax(size, fabs(row[k]));
        for (int k = 0; k < r->nz; k++)
            own = fmax(own, fabs(row[2 * n + k]));
        for (int k = 0; k < n; k++)
            position = fmax(position, fabs(row[k]));
        for (int k = 0; k < nc && r->moves; k++)
            rate = fmax(rate, fabs(r->Gc[j * nc + k]));
        for (int i = 0; i < n; i++) {
            r->x[i] = r->A[(n + i) * nx + 2 * n + j];
            force = fmax(force, fabs(r->x[i]));
        }
        multiply_R(r, r->x);
        for (int i = 0; i < n; i++)
            r->Z[i * r->nz + j] = r->x[i];
        if (own <= held * size && fmax(position, rate) > rounding * size && force > 0)
            r->integral[r->nintegrals++] = j;
    }
}

/* Takes states out of K, C and F. */
static void use_states(bg_rest *r)
{
    int n = r->n, nc = r->ncyclic;
    for (int j = 0; j < r->nz; j++)
        for (int i = 0; i < n; i++) {
            double Z = r->Z[i * r->nz + j];
            r->F[i] -= Z * r->Hh[j];
            for (int k = 0; k < n; k++)
                r->K[i * n + k] += Z * r->Hx[j * n + k];
            for (int k = 0; k < nc; k++)
                r->C[i * nc + k] -= Z * r->Hc[j * nc + k];
        }
}

bg_status bg_rest_update(bg_rest *r, const bg_state *x, bg_error *err)
{
    bg_status st = bg_linearisation_update(r->lin, x, r->redundancy, err);
    if (st == BG_OK)
        st = bg_linearisation_calc_masses(r->lin, r->R, err);
    if (st == BG_OK)
        st = bg_linearisation_calc(r->lin, r->A, NULL, NULL, NULL, err);
    if (st != BG_OK)
        return st;
    r->n = r->lin->n;
    collect(r, r->lin->at->a, r->F);
    calc_stiffness(r);
    find_integrals(r);
    if (r->nz > 0)
        st = eliminate_states(r, err);
    if (st == BG_OK)
        use_states(r);
    expand(r, r->F, r->left);
    r->force = bg_linearisation_calc_size(r->lin, r->left);
    return st;
}

/* delta, dv, dz and sizes from x [n] and c [ncyclic]. */
static void store(bg_rest *r, const double *x, const double *c)
{
    int n = r->n, nc = r->ncyclic;
    expand(r, x, r->delta);
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

/* The accelerations of the force F [n] that is left: along rates that are kept, and elsewhere. */
static void keep_left(bg_rest *r, double *F)
{
    double *t = r->Ut, *sum = r->T; /* [n], [n] */
    memset(sum, 0, (size_t)r->n * sizeof *sum);
    r->worst = 0;
    for (int k = 0; k < r->ncyclic && r->moves; k++) {
        double size = 0, along = 0;
        collect(r, r->cyclic + k * r->nv, t);
        for (int i = 0; i < r->n; i++) {
            along += t[i] * F[i];
            size += t[i] * t[i];
        }
        for (int i = 0; i < r->n && size > 0; i++) {
            sum[i] += along / size * t[i];
            F[i] -= along / size * t[i];
        }
    }
    double force = 0, rate = 0;
    collect(r, r->lin->at->v, t);
    for (int i = 0; i < r->n; i++) {
        force += sum[i] * sum[i];
        rate += t[i] * t[i];
    }
    r->decay = force > 0 ? sqrt(force / rate) : 0;
    expand(r, sum, r->left);
    r->drift = find_largest(r, r->left, &r->worst);
    expand(r, F, r->left);
    int where = 0;
    r->unresolved = find_largest(r, r->left, &where);
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
        collect(r, r->cyclic + k * r->nv, t);
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

/* T [n + m][n + more + m] and its right side: K x - C c - Z zeta = F, -Gx x - Gc c = h of the m
 * integrals, rows and columns of these in units of the stiffness `unit`. scale [m] <- the unit of
 * zeta. */
static void assemble(bg_rest *r, const double *mix, int more, double *right, double *scale)
{
    static const double unit = 100; /* 1/s^2 */
    int n = r->n, nc = r->ncyclic, m = r->nintegrals, columns = n + more + m;
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
            r->T[i * columns + n + more + k] = -scale[k] * r->Z[i * r->nz + r->integral[k]];
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
    int rows = n + r->nintegrals, columns = rows + more;
    if (st == BG_OK) {
        assemble(r, mix, more, right, scale);
        st = bg_svd_calc(rows, columns, r->T, r->s, r->Ut, r->Vt, err);
    }
    if (st != BG_OK)
        return st;
    solve(r, rows, columns, right, r->y, r->x);
    for (int j = 0; j < nc; j++) {
        rates[j] = 0;
        for (int k = 0; k < more; k++)
            rates[j] += mix[k * nc + j] * r->y[n + k];
    }
    store(r, r->y, rates);
    for (int k = 0; k < r->nintegrals; k++)
        r->dz[r->integral[k]] += scale[k] * r->y[n + more + k];
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

double bg_rest_calc_push(const bg_rest *r, const double *a)
{
    double sum = 0, size = 0, *x = r->x, *F = r->y;
    collect(r, r->delta, x);
    collect(r, a, F);
    for (int i = 0; i < r->n; i++) {
        sum += x[i] * F[i];
        size += x[i] * x[i];
    }
    return size > 0 ? sum / sqrt(size) : 0;
}
