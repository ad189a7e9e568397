/* Modes of x' = A x.
 *
 * Freedoms are measured in units in which their masses are one (R^T R = B^T M B, matrices.c).
 * Zeros are taken out before (reduction.c), so that they do not spoil the others.
 *
 * Participation of state k in a mode is |l_k x_k|, l the left and x the right eigenvector, which
 * does not depend on units; a freedom's position and velocity count together. */
#include "linear/modes.h"

#include "base/memory.h"
#include "linalg/spectrum.h"
#include "linear/reduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-11;   /* of singular values that are zero */
static const double differences = 1e-7; /* where derivatives are differences */
static const double growing = 1e-7;     /* re beside |lambda| that is not rounding */

/* y [n] <- R^{-1} y */
static void divide(const double *R, int n, double *y, int stride)
{
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            y[k * stride] -= R[k * n + j] * y[j * stride];
        y[k * stride] /= R[k * n + k];
    }
}

/* A in units of masses: rows and columns of freedoms by R. */
static void scale_by_masses(const double *R, int n, int nx, double *A)
{
    for (int part = 0; part < 2; part++) {
        double *top = A + part * n * nx; /* rows <- R rows */
        for (int k = 0; k < n; k++)
            for (int j = 0; j < nx; j++) {
                double sum = 0;
                for (int m = k; m < n; m++)
                    sum += R[k * n + m] * top[m * nx + j];
                top[k * nx + j] = sum;
            }
        for (int i = 0; i < nx; i++) { /* columns <- columns R^{-1}: y R = row */
            double *row = A + i * nx + part * n;
            for (int k = 0; k < n; k++) {
                for (int m = 0; m < k; m++)
                    row[k] -= row[m] * R[m * n + k];
                row[k] /= R[k * n + k];
            }
        }
    }
}

static bool allocate(bg_modes *m, const bg_linearisation *l, int rest)
{
    size_t one = 2 * (size_t)l->nv + 2 * (size_t)l->nz + (size_t)(l->n + l->nz);
    m->n = l->n;
    m->nv = l->nv;
    m->nz = l->nz;
    m->independent = BG_NEW_ARRAY(int, l->n);
    m->mode = BG_NEW_ARRAY(bg_mode, rest);
    m->free = BG_NEW_ARRAY(bg_free_direction, m->nfree);
    m->numbers = BG_NEW_ARRAY(double,
                              (size_t)rest *one + (size_t)m->nfree * (size_t)(l->nv + l->nz));
    if (!m->independent || !m->mode || !m->free || !m->numbers)
        return false;
    memcpy(m->independent, l->tangent->independent, (size_t)l->n * sizeof(int));
    double *room = m->numbers;
    for (int k = 0; k < rest; k++, room += one) {
        m->mode[k].shape = room;
        m->mode[k].shape_z = room + 2 * l->nv;
        m->mode[k].participation = room + 2 * l->nv + 2 * l->nz;
    }
    for (int k = 0; k < m->nfree; k++, room += l->nv + l->nz)
        m->free[k] = (bg_free_direction){room, room + l->nv};
    return true;
}

/* The shape of a mode from its eigenvector x [2 nx] of states in their own units: all coordinates,
 * with the largest, in sizes, turned to 1. */
static void make_shape(bg_linearisation *l, const double *x, bg_mode *mode)
{
    const bg_tangent *t = l->tangent;
    double most = 0, re = 1, im = 0;
    for (int i = 0; i < l->nv; i++)
        for (int c = 0; c < 2; c++) {
            double sum = 0;
            for (int k = 0; k < l->n; k++)
                sum += t->B[i * l->n + k] * x[2 * k + c];
            mode->shape[2 * i + c] = sum;
        }
    memcpy(mode->shape_z, x + 4 * l->n, 2 * (size_t)l->nz * sizeof *x);
    for (int i = 0; i < l->nv + l->nz; i++) {
        const double *z = i < l->nv ? mode->shape + 2 * i : mode->shape_z + 2 * (i - l->nv);
        double unit = i < l->nv ? t->unit[i] : 1, size = hypot(z[0], z[1]) / unit;
        if (size > (1 + 1e-6) * most && (i < l->nv || most == 0)) {
            most = size;
            re = z[0] / unit;
            im = z[1] / unit;
        }
    }
    double square = re * re + im * im;
    double *parts[2] = {mode->shape, mode->shape_z};
    int count[2] = {l->nv, l->nz};
    for (int p = 0; p < 2 && square > 0; p++)
        for (int i = 0; i < count[p]; i++) {
            double a = parts[p][2 * i], b = parts[p][2 * i + 1];
            parts[p][2 * i] = (a * re + b * im) / square;
            parts[p][2 * i + 1] = (b * re - a * im) / square;
        }
}

static void make_participation(const bg_linearisation *l, const double *left, const double *right,
                               double *p)
{
    int n = l->n;
    double sum = 0;
    for (int k = 0; k < n + l->nz; k++)
        p[k] = 0;
    for (int k = 0; k < l->nx; k++) {
        double share = hypot(left[2 * k], left[2 * k + 1]) * hypot(right[2 * k], right[2 * k + 1]);
        p[k < 2 * n ? k % n : k - n] += share;
        sum += share;
    }
    for (int k = 0; k < n + l->nz && sum > 0; k++)
        p[k] /= sum;
}

/* States in their own units from those in units of masses: right vectors. */
static void restore(const bg_linearisation *l, const double *R, double *x)
{
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < 2; c++)
            divide(R, l->n, x + 2 * part * l->n + c, 2);
}

/* Left vectors: l -> R^T l, so that l^T x stays the same. */
static void restore_left(const bg_linearisation *l, const double *R, double *x)
{
    int n = l->n;
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < 2; c++)
            for (int k = n - 1; k >= 0; k--) {
                double sum = 0, *y = x + 2 * part * n + c;
                for (int j = 0; j <= k; j++)
                    sum += R[j * n + k] * y[2 * j];
                y[2 * k] = sum;
            }
}

static int compare(const void *a, const void *b)
{
    const bg_mode *x = a, *y = b;
    double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
    if (p != q)
        return p < q ? -1 : 1;
    return (x->re > y->re) - (x->re < y->re);
}

/* All modes from eigenvalues and eigenvectors of the rest. */
static void fill(bg_linearisation *l, const bg_reduction *r, const double *R, const double *w,
                 const double *left, const double *right, double *x, bg_modes *m)
{
    int rest = bg_reduction_get_rest(r), nx = l->nx;
    const double *re = w, *im = w + rest;
    double *s = x, *full = x + 2 * nx, *other = x + 4 * nx, *scratch = x + 6 * nx;
    for (int k = 0; k < rest; k++) {
        if (im[k] < 0)
            continue;
        bg_mode *mode = &m->mode[m->count++];
        double size = hypot(re[k], im[k]);
        mode->re = re[k];
        mode->im = im[k];
        mode->frequency = size / (2 * acos(-1));
        mode->damping = size > 0 ? -re[k] / size : 0;
        m->unstable += re[k] > growing * size;
        for (int side = 0; side < 2; side++) {
            const double *v = side ? left : right;
            for (int i = 0; i < rest; i++) {
                s[2 * i] = v[k * rest + i];
                s[2 * i + 1] = im[k] > 0 ? v[(k + 1) * rest + i] : 0;
            }
            bg_reduction_extend(r, s, re[k], im[k], side, side ? other : full, scratch);
        }
        restore(l, R, full);
        restore_left(l, R, other);
        make_participation(l, other, full, mode->participation);
        make_shape(l, full, mode);
    }
    qsort(m->mode, (size_t)m->count, sizeof *m->mode, compare);
}

/* Brings rows F [count n] to reduced form, each in turn by its largest entry in units. */
static void simplify(double *F, int count, int n, const double *unit)
{
    for (int k = 0; k < count; k++) {
        int row = k, column = 0;
        double best = 0;
        for (int i = k; i < count; i++)
            for (int j = 0; j < n; j++)
                if (fabs(F[i * n + j]) / unit[j] > (1 + 1e-6) * best) {
                    best = fabs(F[i * n + j]) / unit[j];
                    row = i;
                    column = j;
                }
        if (best == 0)
            return;
        for (int j = 0; j < n; j++) {
            double swap = F[k * n + j];
            F[k * n + j] = F[row * n + j];
            F[row * n + j] = swap;
        }
        double pivot = F[k * n + column] / unit[column];
        for (int j = 0; j < n; j++)
            F[k * n + j] /= pivot;
        for (int i = 0; i < count; i++) {
            double factor = i == k ? 0 : F[i * n + column] / unit[column];
            for (int j = 0; j < n && factor != 0; j++)
                F[i * n + j] -= factor * F[k * n + j];
        }
    }
}

/* The free directions, each by the coordinate or state it moves most. */
static bool fill_free(bg_linearisation *l, const bg_reduction *r, const double *R, double *x,
                      bg_modes *m)
{
    int n = l->n, nx = l->nx;
    double *F = BG_NEW_ARRAY(double, (size_t)m->nfree *(size_t)nx),
           *unit = BG_NEW_ARRAY(double, nx);
    for (int k = 0; F && unit && k < m->nfree; k++) {
        const double *v = r->level[0].N + k * nx;
        for (int i = 0; i < nx; i++) {
            x[2 * i] = v[i];
            x[2 * i + 1] = 0;
        }
        restore(l, R, x);
        for (int i = 0; i < nx; i++)
            F[k * nx + i] = x[2 * i];
    }
    for (int i = 0; unit && i < nx; i++)
        unit[i] = i < 2 * n ? l->tangent->unit[l->tangent->independent[i % n]] : 1;
    if (F && unit)
        simplify(F, m->nfree, nx, unit);
    for (int k = 0; F && unit && k < m->nfree; k++) {
        bg_tangent_expand(l->tangent, F + k * nx, NULL, m->free[k].shape);
        memcpy(m->free[k].shape_z, F + k * nx + 2 * n, (size_t)l->nz * sizeof *F);
        double size = bg_linearisation_calc_size(l, m->free[k].shape);
        for (int i = 0; i < l->nv && size > 0; i++)
            m->free[k].shape[i] /= size;
    }
    bool good = F && unit;
    free(F);
    free(unit);
    return good;
}

static bg_status find(bg_linearisation *l, bg_reduction *r, const double *R, bg_modes *m,
                      bg_error *err)
{
    int nx = l->nx;
    bg_status st = bg_reduction_take_zeros(r, l->exact ? rounding : differences, err);
    if (st != BG_OK)
        return st;
    int rest = bg_reduction_get_rest(r);
    m->zeros = nx - rest;
    m->nfree = r->levels > 0 ? r->level[0].size - r->level[0].rest : 0;
    size_t square = (size_t)rest * (size_t)rest;
    double *w = BG_NEW_ARRAY(double, 2 * rest), *left = BG_NEW_ARRAY(double, square);
    double *right = BG_NEW_ARRAY(double, square), *x = BG_NEW_ARRAY(double, 8 * (size_t)nx);
    bool good = w && left && right && x && allocate(m, l, rest);
    if (good)
        st = bg_spectrum_calc(rest, r->A, w, w + rest, left, right, err);
    if (good && st == BG_OK) {
        fill(l, r, R, w, left, right, x, m);
        good = fill_free(l, r, R, x, m);
    }
    free(w);
    free(left);
    free(right);
    free(x);
    return good ? st : bg_error_set(err, BG_NO_MEMORY, "out of memory for modes");
}

bg_status bg_modes_create(bg_linearisation *l, bg_modes *m, bg_error *err)
{
    int nx = l->nx;
    bg_reduction r = {.nx = nx, .A = BG_NEW_ARRAY(double, (size_t)nx *(size_t)nx)};
    double *R = BG_NEW_ARRAY(double, (size_t)l->n *(size_t)l->n);
    *m = (bg_modes){0};
    bg_status st = r.A && R ? bg_linearisation_calc_masses(l, R, err)
                            : bg_error_set(err, BG_NO_MEMORY, "out of memory for modes");
    if (st == BG_OK)
        st = bg_linearisation_calc(l, r.A, NULL, NULL, NULL, err);
    if (st == BG_OK) {
        scale_by_masses(R, l->n, nx, r.A);
        st = find(l, &r, R, m, err);
    }
    bg_reduction_clear(&r);
    free(R);
    return st;
}

void bg_modes_clear(bg_modes *m)
{
    free(m->independent);
    free(m->mode);
    free(m->free);
    free(m->numbers);
    *m = (bg_modes){0};
}
