/* Modes of x' = A x.
 *
 * Freedoms are measured in units in which their masses are one (R^T R = B^T M B, linearisation.c)
 * and all states in units that make rows and columns of A alike in size, so that eigenvalues are as
 * good as the largest allows.
 *
 * A direction in which nothing resists, such as a vehicle's way along the road, gives a zero that
 * is double, with one eigenvector: rounding splits it into +- sqrt(eps |A|). So zeros are taken out
 * before: with N the null space of A, found where singular values of A, each row in units of its
 * size, are nothing but rounding, and W its complement,
 *
 *   A [W N] = [W N] [ A_11  0 ]         A_11 = W^T A W, A_21 = N^T A W
 *                   [ A_21  0 ]
 *
 * has the eigenvalues of A_11 and as many zeros as N has columns. A_11 is treated likewise, until
 * nothing is left out. An eigenvector s of A_11 continues as (s, A_21 s / lambda), a left one as
 * (l, 0). The columns of the first N are the free directions; later ones are motions along them.
 *
 * Participation of state k in a mode is |l_k s_k|, l the left and s the right eigenvector, which
 * does not depend on units; a freedom's position and velocity count together. */
#include "linear/modes.h"

#include "base/memory.h"
#include "linalg/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 8, SWEEPS = 20 };

static const double rounding = 1e-11;   /* of singular values that are zero */
static const double differences = 1e-7; /* where derivatives are differences */
static const double growing = 1e-7;     /* re beside |lambda| that is not rounding */

/* One level of the reduction. */
typedef struct level {
    int size, rest; /* of A there, and of A_11 */
    double *Vt;     /* [size size] rows: W, then N */
    double *A21;    /* [size - rest, rest] */
} level;

typedef struct reduction {
    int nx;
    double *unit; /* [nx] state = unit times what A is about */
    double *A;    /* [nx nx], then A_11 in its beginning */
    level level[LEVELS];
    int levels;
} reduction;

/* Units, powers of two, that bring row and column k to the same size (after Osborne). */
static void balance(double *A, int n, double *unit)
{
    bool changed = true;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (int k = 0; k < n; k++) {
            double row = 0, column = 0;
            for (int j = 0; j < n; j++) {
                row += j == k ? 0 : fabs(A[k * n + j]);
                column += j == k ? 0 : fabs(A[j * n + k]);
            }
            if (!(row > 0 && column > 0 && isfinite(row) && isfinite(column)))
                continue;
            int power = (int)lround(0.5 * log2(row / column));
            if (power == 0)
                continue;
            double f = ldexp(1, power);
            changed = true;
            unit[k] *= f;
            for (int j = 0; j < n; j++) {
                A[k * n + j] /= f;
                A[j * n + k] *= f;
            }
        }
    }
}

static double find_largest(const double *x, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* T <- A with every row in units of its size; rows that are rounding beside `largest` are zero. */
static void equilibrate(const double *A, int n, double largest, double *T)
{
    for (int i = 0; i < n; i++) {
        double size = find_largest(A + i * n, n);
        bool counts = size > 4 * n * DBL_EPSILON * largest;
        for (int j = 0; j < n; j++)
            T[i * n + j] = counts ? A[i * n + j] / size : 0;
    }
}

/* A <- W^T A W and A_21 of a level whose Vt is known. */
static bool reduce(reduction *r, level *v)
{
    int n = v->size, m = v->rest;
    double *AV = BG_NEW_ARRAY(double, (size_t)n *(size_t)n);
    v->A21 = BG_NEW_ARRAY(double, (size_t)(n - m) * (size_t)m);
    if (!AV || !v->A21) {
        free(AV);
        return false;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < n; k++)
                AV[i * n + j] += r->A[i * n + k] * v->Vt[j * n + k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += v->Vt[i * n + k] * AV[k * n + j];
            if (i < m)
                r->A[i * m + j] = sum; /* m <= n: nothing that is still needed */
            else
                v->A21[(i - m) * m + j] = sum;
        }
    free(AV);
    return true;
}

/* Takes zeros out of A as long as there are some; the last level has none. */
static bg_status take_zeros(reduction *r, double tolerance, bg_error *err)
{
    int n = r->nx;
    bool found = true;
    double largest = find_largest(r->A, n * n);
    double *T = BG_NEW_ARRAY(double, (size_t)n *(size_t)n), *s = BG_NEW_ARRAY(double, n);
    bg_status st = T && s ? BG_OK : BG_NO_MEMORY;
    while (found && n > 0 && r->levels < LEVELS && st == BG_OK) {
        level *v = &r->level[r->levels];
        *v = (level){.size = n, .rest = n};
        v->Vt = BG_NEW_ARRAY(double, (size_t)n *(size_t)n);
        if (!v->Vt) {
            st = BG_NO_MEMORY;
            break;
        }
        r->levels++;
        equilibrate(r->A, n, largest, T);
        st = bg_svd_calc(n, n, T, s, NULL, v->Vt, err);
        while (st == BG_OK && v->rest > 0 && s[v->rest - 1] <= tolerance * fmax(s[0], DBL_MIN))
            v->rest--;
        found = v->rest < n;
        if (st == BG_OK && found && !reduce(r, v))
            st = BG_NO_MEMORY;
        n = v->rest;
        if (st == BG_OK && !found) { /* this one is of no use */
            free(v->Vt);
            r->levels--;
        }
    }
    free(T);
    free(s);
    return st == BG_NO_MEMORY ? bg_error_set(err, st, "out of memory for modes") : st;
}

static int get_rest(const reduction *r)
{
    return r->levels > 0 ? r->level[r->levels - 1].rest : r->nx;
}

/* x [2 nx] <- an eigenvector of all states from one of the rest, s [2 rest]; left ones end in
 * zeros. */
static void extend(const reduction *r, const double *s, double re, double im, bool left, double *x,
                   double *scratch)
{
    int m = get_rest(r);
    memcpy(x, s, 2 * (size_t)m * sizeof *x);
    for (int k = r->levels - 1; k >= 0; k--) {
        const level *v = &r->level[k];
        double size = re * re + im * im;
        for (int i = 0; i < v->size - v->rest; i++) {
            double a = 0, b = 0;
            for (int j = 0; j < v->rest && !left; j++) {
                a += v->A21[i * v->rest + j] * x[2 * j];
                b += v->A21[i * v->rest + j] * x[2 * j + 1];
            }
            x[2 * (v->rest + i)] = (a * re + b * im) / size;
            x[2 * (v->rest + i) + 1] = (b * re - a * im) / size;
        }
        memset(scratch, 0, 2 * (size_t)v->size * sizeof *scratch);
        for (int i = 0; i < v->size; i++)
            for (int j = 0; j < v->size; j++)
                for (int c = 0; c < 2; c++)
                    scratch[2 * j + c] += v->Vt[i * v->size + j] * x[2 * i + c];
        memcpy(x, scratch, 2 * (size_t)v->size * sizeof *x);
    }
}

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

/* States in their own units from those in units of masses and of the balance: right vectors. */
static void restore(const bg_linearisation *l, const reduction *r, const double *R, double *x)
{
    for (int k = 0; k < l->nx; k++)
        for (int c = 0; c < 2; c++)
            x[2 * k + c] *= r->unit[k];
    for (int part = 0; part < 2; part++)
        for (int c = 0; c < 2; c++)
            divide(R, l->n, x + 2 * part * l->n + c, 2);
}

/* Left vectors: l -> (R^T l) / unit, so that l^T x stays the same. */
static void restore_left(const bg_linearisation *l, const reduction *r, const double *R, double *x)
{
    int n = l->n;
    for (int k = 0; k < l->nx; k++)
        for (int c = 0; c < 2; c++)
            x[2 * k + c] /= r->unit[k];
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
static void fill(bg_linearisation *l, const reduction *r, const double *R, const double *w,
                 const double *left, const double *right, double *x, bg_modes *m)
{
    int rest = get_rest(r), nx = l->nx;
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
            extend(r, s, re[k], im[k], side, side ? other : full, scratch);
        }
        restore(l, r, R, full);
        restore_left(l, r, R, other);
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
static bool fill_free(bg_linearisation *l, const reduction *r, const double *R, double *x,
                      bg_modes *m)
{
    int n = l->n, nx = l->nx;
    double *F = BG_NEW_ARRAY(double, (size_t)m->nfree *(size_t)nx),
           *unit = BG_NEW_ARRAY(double, nx);
    for (int k = 0; F && unit && k < m->nfree; k++) {
        const double *v = r->level[0].Vt + (r->level[0].rest + k) * nx;
        for (int i = 0; i < nx; i++) {
            x[2 * i] = v[i];
            x[2 * i + 1] = 0;
        }
        restore(l, r, R, x);
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

static bg_status find(bg_linearisation *l, reduction *r, const double *R, bg_modes *m,
                      bg_error *err)
{
    int nx = l->nx;
    bg_status st = take_zeros(r, l->exact ? rounding : differences, err);
    if (st != BG_OK)
        return st;
    int rest = get_rest(r);
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
    reduction r = {.nx = nx,
                   .unit = BG_NEW_ARRAY(double, nx),
                   .A = BG_NEW_ARRAY(double, (size_t)nx *(size_t)nx)};
    double *R = BG_NEW_ARRAY(double, (size_t)l->n *(size_t)l->n);
    *m = (bg_modes){0};
    bg_status st = r.unit && r.A && R ? bg_linearisation_calc_masses(l, R, err)
                                      : bg_error_set(err, BG_NO_MEMORY, "out of memory for modes");
    if (st == BG_OK)
        st = bg_linearisation_calc(l, r.A, NULL, NULL, NULL, err);
    if (st == BG_OK) {
        scale_by_masses(R, l->n, nx, r.A);
        for (int k = 0; k < nx; k++)
            r.unit[k] = 1;
        balance(r.A, nx, r.unit);
        st = find(l, &r, R, m, err);
    }
    for (int k = 0; k < r.levels; k++) {
        free(r.level[k].Vt);
        free(r.level[k].A21);
    }
    free(r.unit);
    free(r.A);
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
