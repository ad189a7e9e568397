/* A readable basis of the null space of G: Gauss-Jordan elimination with full pivoting leaves
 * [I C] v = 0; each column without a pivot is a freedom, whose motion takes -C along. Rows whose
 * largest entry has become rounding are dependent. */
#include "consistent/freedoms.h"

#include "base/memory.h"
#include "system/dynamics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-9; /* of the largest entry of G */

static void spread(const bg_dynamics *d, double *G)
{
    const bg_pattern *p = d->sys->def.pattern_G;
    for (int i = 0; i < d->ng; i++)
        for (int k = p ? p->row_start[i] : i * d->nv;
             k < (p ? p->row_start[i + 1] : (i + 1) * d->nv); k++)
            G[i * d->nv + (p ? p->column[k] : k - i * d->nv)] = d->terms.G[k];
}

/* Brings G to reduced form; pivot[i] is the column of row i, -1: none. Returns the rank. */
static int reduce(double *G, int ng, int nv, int *pivot)
{
    double first = 0;
    int rank = 0;
    for (int i = 0; i < ng; i++)
        pivot[i] = -1;
    for (;; rank++) {
        double best = 0;
        int row = -1, column = -1;
        for (int i = 0; i < ng; i++)
            for (int j = 0; j < nv && pivot[i] < 0; j++)
                if (fabs(G[i * nv + j]) > best) {
                    best = fabs(G[i * nv + j]);
                    row = i;
                    column = j;
                }
        first = rank == 0 ? best : first;
        if (row < 0 || best <= rounding * first)
            return rank;
        pivot[row] = column;
        double scale = 1 / G[row * nv + column];
        for (int j = 0; j < nv; j++)
            G[row * nv + j] *= scale;
        for (int i = 0; i < ng; i++) {
            double factor = i == row ? 0 : G[i * nv + column];
            for (int j = 0; j < nv && factor != 0; j++)
                G[i * nv + j] -= factor * G[row * nv + j];
        }
    }
}

static void collect(const double *G, int ng, int nv, const int *pivot, bg_freedoms *f)
{
    for (int j = 0; j < nv; j++) {
        bool free_ = true;
        for (int i = 0; i < ng; i++)
            free_ = free_ && pivot[i] != j;
        if (!free_)
            continue;
        double *motion = f->basis + (size_t)f->count * (size_t)nv;
        f->column[f->count++] = j;
        motion[j] = 1;
        for (int i = 0; i < ng; i++)
            if (pivot[i] >= 0)
                motion[pivot[i]] = -G[i * nv + j];
    }
}

bg_status bg_freedoms_create(bg_evaluator *sys, const bg_state *x, const bg_redundancy *redundancy,
                             bg_freedoms *f)
{
    *f = (bg_freedoms){0};
    bg_dynamics *d = NULL;
    bg_status st = bg_dynamics_create(sys, &d, NULL);
    if (st != BG_OK)
        return st;
    int ng = d->ng, nv = d->nv;
    double *G = BG_NEW_ARRAY(double, (size_t)ng *(size_t)nv);
    int *pivot = BG_NEW_ARRAY(int, ng);
    st = G && pivot ? bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode,
                                           ng > 0 ? BG_TERM_G : 0u, NULL)
                    : BG_NO_MEMORY;
    if (st == BG_OK) {
        spread(d, G);
        for (int k = 0; k < redundancy->count; k++)
            memset(G + (size_t)redundancy->eliminated[k] * (size_t)nv, 0,
                   (size_t)nv * sizeof(double));
        int count = nv - reduce(G, ng, nv, pivot);
        f->column = BG_NEW_ARRAY(int, count);
        f->basis = BG_NEW_ARRAY(double, (size_t)count *(size_t)nv);
        if (f->column && f->basis)
            collect(G, ng, nv, pivot, f);
        else
            st = BG_NO_MEMORY;
    }
    free(G);
    free(pivot);
    bg_dynamics_destroy(d);
    return st;
}

void bg_freedoms_clear(bg_freedoms *f)
{
    free(f->column);
    free(f->basis);
    *f = (bg_freedoms){0};
}
