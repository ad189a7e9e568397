/* What may go on while everything stays as it is: cyclic directions, and inputs that move.
 *
 * A direction t of the freedoms is cyclic where neither accelerations nor velocities, also of
 * dependent coordinates, nor rates of states change along it: T t = 0, T the changes of all of them
 * with the freedoms (linearisation.c), by singular values of T with rows in units of their sizes.
 *
 * Inputs that move change them by m, the sum of what single inputs do by (u', u'', u'''), which is
 * nothing beside the sum of absolute values where the motion is steady: as on a track of one
 * curvature, where each frame that moved alone would bend the train. */
#include "linalg/spectrum.h"
#include "linear/rest.h"

#include <math.h>
#include <string.h>

static const double rounding = 1e-9; /* of derivatives that are zero, beside their rows */
static const double small = 1e-6;    /* of rows beside the largest of their kind */
static const double softest = 1e-6;  /* 1/s^2 or 1/s in sizes, of changes that are none */
static const double slow = 1e-3;     /* 1/s in sizes, of rates that are a rest of others */
static const double none = 1e-13;    /* of rows that are rounding */

/* Entry i of all rates that a change makes, [2 nv + nz]. */
static double get_change(const bg_rest *r, const bg_perturbation *c, int i)
{
    int nv = r->nv;
    return i < nv ? c->a[i] : i < 2 * nv ? c->v[i - nv] : c->z_t[i - 2 * nv];
}

/* m and the sum of absolute values of its parts. */
static bg_status calc_by_inputs(bg_rest *r, const double *motion, bg_error *err)
{
    int nu = r->lin->nu, all = 2 * r->nv + r->nz;
    memset(r->by_inputs, 0, (size_t)all * sizeof *r->by_inputs);
    memset(r->parts, 0, (size_t)all * sizeof *r->parts);
    for (int k = 0; k < 3 * nu && motion; k++) {
        const bg_perturbation *c;
        if (motion[k] == 0)
            continue;
        bg_status st = bg_linearisation_vary(r->lin, r->lin->nx + k, &c, err);
        if (st != BG_OK)
            return st;
        for (int i = 0; i < all; i++) {
            r->by_inputs[i] += motion[k] * get_change(r, c, i);
            r->parts[i] += fabs(motion[k] * get_change(r, c, i));
        }
    }
    return BG_OK;
}

/* T in units of masses, rows in units of their sizes; rows that no freedom changes are zero. Small
 * ones are not blown up to where they show the rounding of large ones. */
static bg_status calc_changes(bg_rest *r, bg_error *err)
{
    int n = r->n, nv = r->nv, all = 2 * nv + r->nz;
    double largest[3] = {0}; /* accelerations and velocities in sizes, rates of states */
    for (int k = 0; k < n; k++) {
        const bg_perturbation *c;
        bg_status st = bg_linearisation_vary(r->lin, k, &c, err);
        if (st != BG_OK)
            return st;
        for (int i = 0; i < all; i++) {
            r->T[i * n + k] = get_change(r, c, i);
            double size = i < 2 * nv ? r->lin->tangent->unit[i % nv] : 1;
            largest[i / nv] = fmax(largest[i / nv], fabs(r->T[i * n + k]) / size);
        }
    }
    for (int i = 0; i < all; i++) {
        double *row = r->T + i * n, size = 0, unit = 0, most = largest[i / nv];
        for (int k = 0; k < n; k++) { /* columns R^{-1} */
            size = fmax(size, fabs(row[k]));
            for (int m = 0; m < k; m++)
                row[k] -= row[m] * r->R[m * n + k];
            row[k] /= r->R[k * n + k];
            unit = fmax(unit, fabs(row[k]));
        }
        size /= i < 2 * nv ? r->lin->tangent->unit[i % nv] : 1;
        double least = fmax(small * most, softest / rounding);
        if (i < 2 * nv && size < least)
            unit *= size > 0 ? least / size : 0;
        for (int k = 0; k < n; k++)
            row[k] = size > none * most ? row[k] / unit : 0;
    }
    return BG_OK;
}

/* Whether nothing is left of m. */
static bool is_steady(const bg_rest *r)
{
    int all = 2 * r->nv + r->nz;
    double largest = 0;
    for (int i = 0; i < all; i++)
        largest = fmax(largest, r->parts[i]);
    for (int i = 0; i < all; i++)
        if (!(fabs(r->by_inputs[i]) <= rounding * r->parts[i] + none * largest))
            return false;
    return largest > 0; /* inputs that change nothing do not count */
}

bg_status bg_rest_find_cyclic(bg_rest *r, const double *motion, bool *steady, bg_error *err)
{
    r->n = r->lin->n;
    r->ncyclic = 0;
    memset(r->gamma, 0, (size_t)r->nv * sizeof *r->gamma);
    bg_status st = bg_linearisation_calc_masses(r->lin, r->R, err);
    if (st == BG_OK)
        st = calc_by_inputs(r, motion, err);
    if (st == BG_OK)
        st = calc_changes(r, err);
    int n = r->n, all = 2 * r->nv + r->nz, rank = all < n ? all : n;
    *steady = st == BG_OK && is_steady(r);
    if (st == BG_OK && n > 0)
        st = bg_svd_calc(all, n, r->T, r->s, NULL, r->Vt, err);
    if (st != BG_OK || n == 0)
        return st;
    while (rank > 0 && r->s[rank - 1] <= rounding * r->s[0])
        rank--;
    for (int k = rank; k < n; k++)
        bg_rest_expand(r, r->Vt + k * n, r->cyclic + r->ncyclic++ * r->nv);
    return BG_OK;
}

void bg_rest_keep_rates(bg_rest *r, bool driven, bg_state *x, bool *dropped)
{
    int n = r->n;
    double *rate = r->x, *kept = r->y, *t = r->Ut, before = 0, after = 0, lost = 0;
    bg_rest_collect(r, x->v, rate);
    memset(kept, 0, (size_t)n * sizeof *kept);
    for (int k = 0; k < r->ncyclic; k++) { /* orthonormal in units of masses */
        double sum = 0;
        bg_rest_collect(r, r->cyclic + k * r->nv, t);
        for (int i = 0; i < n; i++)
            sum += t[i] * rate[i];
        for (int i = 0; i < n; i++)
            kept[i] += sum * t[i];
    }
    for (int i = 0; i < n; i++) {
        before += rate[i] * rate[i];
        after += kept[i] * kept[i];
        rate[i] -= kept[i];
        lost += rate[i] * rate[i];
    }
    bg_rest_expand(r, rate, r->dv);
    *dropped = lost > 1e-9 * before && bg_linearisation_calc_size(r->lin, r->dv) > rounding;
    bg_rest_expand(r, kept, r->dv);
    double size = bg_linearisation_calc_size(r->lin, r->dv);
    r->moves = driven || size > slow || (size > rounding && after > 1e-6 * before);
    if (!r->moves)
        memset(x->v, 0, (size_t)r->nv * sizeof *x->v);
    else if (lost > 1e-14 * before) /* else they are as constant as the directions are known */
        bg_rest_expand(r, kept, x->v);
}
