/* What remains to an equilibrium or a steady motion.
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
 * does: z' = H_v v gives dz = H_v x. Integrals of controllers, which wait until a position or a
 * rate is right, are unknowns of a step (rest_step.c).
 *
 * Where nothing balances what slows a motion down, the rates c change by the drift gamma, slowly,
 * and states that belong to them, z = z(c), change with them:
 *
 *   h = z_c gamma,   z_c = -H_z^+ H_c,
 *
 * as the spin of a wheel that is a state of its tyre does while a vehicle coasts. */
#include "linear/rest.h"

#include "base/memory.h"
#include "linalg/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-9; /* of derivatives that are zero, beside their rows */
static const double held = 1e-10;    /* of singular values of H_z */

static void list(void *object, bg_arena *arena)
{
    bg_rest *r = object;
    int nv = r->nv, nz = r->nz, nx = 2 * nv + nz, wide = 2 * nv + 2 * nz;
    BG_TAKE(arena, r->cyclic, nv * nv);
    BG_TAKE(arena, r->gamma, nv);
    BG_TAKE(arena, r->by_inputs, nx);
    BG_TAKE(arena, r->parts, nx);
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

void bg_rest_expand(const bg_rest *r, const double *x, double *all)
{
    double *y = r->work;
    memcpy(y, x, (size_t)r->n * sizeof *x);
    divide_R(r, y);
    bg_tangent_expand(r->lin->tangent, y, NULL, all);
}

void bg_rest_collect(const bg_rest *r, const double *all, double *x)
{
    for (int k = 0; k < r->n; k++)
        x[k] = all[r->lin->tangent->independent[k]];
    multiply_R(r, x);
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

/* Every stride-th of to [nz] <- H_z^+ b, by the singular values of H_z with rows in units of
 * `work`. */
static void invert_states(const bg_rest *r, const double *b, double *to, int stride)
{
    int nz = r->nz;
    for (int i = 0; i < nz; i++)
        r->y[i] = 0;
    for (int k = 0; k < nz; k++) {
        if (r->s[k] <= held * r->s[0] || r->s[k] == 0)
            continue;
        double sum = 0;
        for (int i = 0; i < nz; i++)
            sum += r->Ut[k * nz + i] * b[i * stride] * r->work[i];
        for (int i = 0; i < nz; i++)
            r->y[i] += r->Vt[k * nz + i] * sum / r->s[k];
    }
    for (int i = 0; i < nz; i++)
        to[i * stride] = r->y[i];
}

/* Adds to Hh what makes states follow the drift of rates. */
static void follow_drift(bg_rest *r)
{
    int nz = r->nz, nc = r->ncyclic;
    for (int i = 0; i < nz; i++) {
        r->x[i] = 0;
        for (int k = 0; k < nc; k++)
            r->x[i] += r->Hc[i * nc + k] * r->gamma[k];
    }
    invert_states(r, r->x, r->x, 1);
    for (int i = 0; i < nz; i++)
        r->Hh[i] += r->x[i];
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
    invert_states(r, r->lin->h, r->Hh, 1);
    for (int k = 0; k < n; k++)
        invert_states(r, r->Gx + k, r->Hx + k, n);
    for (int k = 0; k < nc; k++)
        invert_states(r, r->Gc + k, r->Hc + k, nc);
    follow_drift(r);
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

/* Twice the kinetic energy; 0 where the system does not tell. */
static bg_status calc_energy(bg_rest *r, bg_error *err)
{
    bg_evaluator *sys = r->lin->sys;
    bg_energy energy;
    bg_point p;
    r->energy = 0;
    if (!sys->def.energy)
        return BG_OK;
    bg_status st = bg_system_set_state(sys, r->lin->at, &p, err);
    if (st == BG_OK && bg_system_calc_energy(sys, &p, &energy) == 0)
        r->energy = 2 * energy.kinetic;
    return st;
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
    bg_rest_collect(r, r->lin->at->a, r->F);
    calc_stiffness(r);
    find_integrals(r);
    if (r->nz > 0)
        st = eliminate_states(r, err);
    if (st == BG_OK)
        use_states(r);
    if (st == BG_OK)
        st = calc_energy(r, err);
    bg_rest_expand(r, r->F, r->left);
    r->force = bg_linearisation_calc_size(r->lin, r->left);
    return st;
}
