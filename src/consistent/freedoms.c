/* A readable basis of the null space of G. Sparse elimination gives some basis
 * (linalg/nullspace.h), in time that grows as the mechanism does; it is then reduced until each
 * motion has a coordinate of its own, which moves with no other and, of those that are left, moves
 * most: 1 there, at most about 1 elsewhere.
 *
 * What counts as dependent is not known beforehand: near a singular position little is left of
 * some row. The smallest threshold with nothing in doubt about it is taken. */
#include "consistent/freedoms.h"

#include "base/memory.h"
#include "linalg/nullspace.h"
#include "system/dynamics.h"

#include <math.h>
#include <stdlib.h>

static const double rounding = 1e-9, coarsest = 1e-3; /* of the largest entry of G */
static const double nearly = 0.3;

/* G without the rows that are redundant; returns its largest entry. */
static double spread(const bg_dynamics *d, const unsigned char *left_out, bg_sparse_rows *rows)
{
    const bg_pattern *p = d->sys->def.pattern_G;
    double largest = 0;
    for (int i = 0; i < d->ng; i++) {
        int begin = p ? p->row_start[i] : i * d->nv, end = p ? p->row_start[i + 1] : begin + d->nv;
        if (left_out[i])
            continue;
        bg_sparse_rows_begin(rows);
        for (int k = begin; k < end; k++) {
            bg_sparse_rows_add(rows, p ? p->column[k] : k - begin, d->terms.G[k]);
            largest = fmax(largest, fabs(d->terms.G[k]));
        }
    }
    return largest;
}

static bg_status solve(const bg_sparse_rows *rows, int nv, double largest, bg_nullspace *s)
{
    double *zeros = BG_NEW_ARRAY(double, rows->count);
    bg_status st = zeros && !rows->failed ? BG_RETRY : BG_NO_MEMORY;
    for (double share = rounding; st == BG_RETRY && share <= coarsest; share *= 10)
        st = bg_nullspace_calc(rows, zeros, nv, share * largest, s);
    free(zeros);
    return st;
}

/* The first coordinate that moves nearly as much as any in the motions from k on, and the one of
 * them in which it moves most. */
static void choose(const bg_freedoms *f, int nv, int k, int *coordinate, int *motion)
{
    size_t n = (size_t)nv;
    double most = 0, best = 0;
    for (size_t i = (size_t)k * n; i < (size_t)f->count * n; i++)
        most = fmax(most, fabs(f->basis[i]));
    for (int i = 0; i < nv && best == 0; i++)
        for (int c = k; c < f->count; c++) {
            double x = fabs(f->basis[(size_t)c * n + (size_t)i]);
            if (x >= nearly * most && x > best) {
                best = x;
                *coordinate = i;
                *motion = c;
            }
        }
}

/* a <- a - factor b. */
static void subtract(double *a, double factor, const double *b, int n)
{
    for (int i = 0; i < n && factor != 0; i++)
        a[i] -= factor * b[i];
}

/* Gauss-Jordan elimination with full pivoting. */
static void reduce(bg_freedoms *f, int nv)
{
    for (int k = 0; k < f->count; k++) {
        int coordinate = 0, motion = k;
        choose(f, nv, k, &coordinate, &motion);
        double *own = f->basis + (size_t)k * (size_t)nv;
        double *chosen = f->basis + (size_t)motion * (size_t)nv;
        double scale = 1 / chosen[coordinate];
        for (int i = 0; i < nv; i++) {
            double x = chosen[i] * scale;
            chosen[i] = own[i];
            own[i] = x;
        }
        own[coordinate] = 1;
        f->column[k] = coordinate;
        for (int c = 0; c < f->count; c++)
            if (c != k) {
                double *other = f->basis + (size_t)c * (size_t)nv;
                subtract(other, other[coordinate], own, nv);
                other[coordinate] = 0;
            }
    }
}

/* In the order of their coordinates. */
static void sort(bg_freedoms *f, int nv)
{
    for (int k = 0; k < f->count; k++) {
        int first = k;
        for (int c = k + 1; c < f->count; c++)
            first = f->column[c] < f->column[first] ? c : first;
        int column = f->column[k];
        f->column[k] = f->column[first];
        f->column[first] = column;
        double *a = f->basis + (size_t)k * (size_t)nv, *b = f->basis + (size_t)first * (size_t)nv;
        for (int i = 0; i < nv && first != k; i++) {
            double x = a[i];
            a[i] = b[i];
            b[i] = x;
        }
    }
}

static bg_status fill(const bg_dynamics *d, const unsigned char *left_out, bg_freedoms *f)
{
    bg_sparse_rows rows = {0};
    bg_nullspace s = {0};
    double largest = spread(d, left_out, &rows);
    bg_status st = solve(&rows, d->nv, largest, &s);
    bg_sparse_rows_clear(&rows);
    if (st != BG_OK)
        return st;
    f->column = BG_NEW_ARRAY(int, s.freedom);
    f->basis = s.N;
    s.N = NULL;
    if (f->column) {
        f->count = s.freedom;
        reduce(f, d->nv);
        sort(f, d->nv);
    }
    bg_nullspace_clear(&s);
    return f->column ? BG_OK : BG_NO_MEMORY;
}

bg_status bg_freedoms_create(bg_evaluator *sys, const bg_state *x, const bg_redundancy *redundancy,
                             bg_freedoms *f)
{
    *f = (bg_freedoms){0};
    bg_dynamics *d = NULL;
    bg_status st = bg_dynamics_create(sys, &d, NULL);
    if (st != BG_OK)
        return st;
    unsigned char *left_out = BG_NEW_ARRAY(unsigned char, d->ng);
    st = left_out ? bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode,
                                         d->ng > 0 ? BG_TERM_G : 0u, NULL)
                  : BG_NO_MEMORY;
    for (int k = 0; k < redundancy->count && left_out; k++)
        left_out[redundancy->eliminated[k]] = 1;
    if (st == BG_OK)
        st = fill(d, left_out, f);
    free(left_out);
    bg_dynamics_destroy(d);
    return st;
}

void bg_freedoms_clear(bg_freedoms *f)
{
    free(f->column);
    free(f->basis);
    *f = (bg_freedoms){0};
}
