/* Independent coordinates by an orthogonal projector.
 *
 * In units of the sizes of coordinates and rows, P = I - G^T (G G^T)^{-1} G projects onto the
 * motions that the constraints allow: its columns are the first parts of the solutions of
 *
 *   [ I  G^T ] [ p ]   [ e_j ]
 *   [ G   0  ] [ . ] = [  0  ]                                                                 (1)
 *
 * P = L L^T by Cholesky's method with the largest pivots first ends after n = nv - rank G columns.
 * The pivots are the coordinates that stand for the freedoms: each is the one that is left most
 * freedom by those before it. With L_I their rows of L, which are triangular, B = L L_I^{-1} has
 * ones there, and G B = 0. Of equals the first is taken. The solution of G x = b that leaves the
 * independent coordinates alone is the shortest one, from (1) with b below, less B times its
 * independent part. */
#include "linear/tangent.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tie = 1e-6; /* pivots that differ by less are equal */

static void list(void *object, bg_arena *arena)
{
    bg_tangent *t = object;
    BG_TAKE(arena, t->independent, t->nv);
    BG_TAKE(arena, t->B, t->nv * t->nv);
    BG_TAKE(arena, t->unit, t->nv);
    BG_TAKE(arena, t->size, t->ng);
    BG_TAKE(arena, t->left_out, t->ng);
    BG_TAKE(arena, t->P, t->nv * t->nv);
    BG_TAKE(arena, t->L, t->nv * t->nv);
    BG_TAKE(arena, t->x, t->nv + t->ng);
}

bg_status bg_tangent_create(const bg_system *system, bg_tangent **tangent, bg_error *err)
{
    const bg_system_def *def = &system->def;
    bg_tangent *t = *tangent = BG_NEW(bg_tangent);
    bg_status st = t ? BG_OK : BG_NO_MEMORY;
    if (t) {
        t->system = system;
        t->nv = def->nv;
        t->ng = def->ng;
        st = bg_arena_create(&t->arena, list, t) ? BG_OK : BG_NO_MEMORY;
    }
    if (st == BG_OK && t->ng > 0)
        st = bg_linear_create(t->nv + t->ng, NULL, &t->matrix, err);
    if (st == BG_OK) {
        for (int i = 0; i < t->nv; i++)
            t->unit[i] = def->v_size ? def->v_size[i] : 1;
        return BG_OK;
    }
    bg_tangent_destroy(t);
    *tangent = NULL;
    return bg_error_set(err, st, "out of memory for the independent coordinates of '%s'",
                        def->name);
}

void bg_tangent_destroy(bg_tangent *t)
{
    if (!t)
        return;
    bg_linear_destroy(t->matrix);
    bg_arena_clear(&t->arena);
    free(t);
}

/* The matrix of (1), where rows that are left out are those of an identity. */
static void assemble(bg_tangent *t, const double *G)
{
    const bg_pattern *p = t->system->def.pattern_G;
    size_t n = (size_t)(t->nv + t->ng);
    double *K = bg_linear_get_values(t->matrix);
    memset(K, 0, n * n * sizeof *K);
    for (int i = 0; i < t->nv; i++)
        K[(size_t)i * n + (size_t)i] = 1;
    for (int i = 0; i < t->ng; i++) {
        size_t row = (size_t)(t->nv + i);
        if (t->left_out[i]) {
            K[row * n + row] = 1;
            continue;
        }
        int begin = p ? p->row_start[i] : i * t->nv, end = p ? p->row_start[i + 1] : begin + t->nv;
        for (int k = begin; k < end; k++) {
            size_t j = (size_t)(p ? p->column[k] : k - begin);
            K[row * n + j] = K[j * n + row] = G[k] * t->unit[j] / t->size[i];
        }
    }
}

/* L and its pivots from P, which is used up. */
static void factor(bg_tangent *t)
{
    int nv = t->nv, n = t->n;
    for (int k = 0; k < n; k++) {
        int best = -1;
        for (int i = 0; i < nv; i++)
            if (best < 0 || t->P[i * nv + i] > (1 + tie) * t->P[best * nv + best])
                best = i;
        double root = sqrt(fmax(t->P[best * nv + best], 0));
        t->independent[k] = best;
        for (int i = 0; i < nv; i++)
            t->L[i * n + k] = root > 0 ? t->P[i * nv + best] / root : 0;
        for (int i = 0; i < nv; i++)
            for (int j = 0; j < nv; j++)
                t->P[i * nv + j] -= t->L[i * n + k] * t->L[j * n + k];
        t->P[best * nv + best] = -1; /* never again */
    }
}

/* B = L L_I^{-1}, back in the units of the coordinates. */
static void calc_basis(bg_tangent *t)
{
    int nv = t->nv, n = t->n;
    for (int i = 0; i < nv; i++) {
        const double *l = t->L + i * n;
        double *b = t->B + i * n;
        for (int k = n - 1; k >= 0; k--) { /* b L_I = l, L_I lower triangular */
            double sum = l[k];
            for (int m = k + 1; m < n; m++)
                sum -= b[m] * t->L[t->independent[m] * n + k];
            b[k] = sum / t->L[t->independent[k] * n + k];
        }
    }
    for (int k = 0; k < n; k++) {
        for (int m = 0; m < n; m++)
            t->B[t->independent[k] * n + m] = m == k;
    }
    for (int i = 0; i < nv; i++)
        for (int k = 0; k < n; k++)
            t->B[i * n + k] *= t->unit[i] / t->unit[t->independent[k]];
}

bg_status bg_tangent_update(bg_tangent *t, const double *G, const unsigned char *left_out,
                            bg_error *err)
{
    int nv = t->nv, kept = 0;
    memset(t->left_out, 0, (size_t)t->ng);
    if (left_out)
        memcpy(t->left_out, left_out, (size_t)t->ng);
    for (int i = 0; i < t->ng; i++)
        kept += !t->left_out[i];
    t->n = nv - kept;
    memset(t->P, 0, (size_t)nv * (size_t)nv * sizeof *t->P);
    for (int i = 0; i < nv; i++)
        t->P[i * nv + i] = 1;
    if (t->ng > 0) {
        bg_system_calc_row_sizes(t->system, G, t->size);
        assemble(t, G);
        if (t->n < 0 || bg_linear_factor(t->matrix) != BG_OK)
            return bg_error_set(err, BG_SINGULAR,
                                "system '%s': constraints became dependent (a singular position), "
                                "so that its freedoms cannot be told apart there",
                                t->system->def.name);
        for (int j = 0; j < nv; j++) {
            memset(t->x, 0, (size_t)(nv + t->ng) * sizeof *t->x);
            t->x[j] = 1;
            bg_linear_solve(t->matrix, t->x);
            memcpy(t->P + j * nv, t->x, (size_t)nv * sizeof *t->x);
        }
    }
    factor(t);
    calc_basis(t);
    return BG_OK;
}

void bg_tangent_expand(bg_tangent *t, const double *y, const double *b, double *x)
{
    int nv = t->nv, n = t->n;
    memset(t->x, 0, (size_t)(nv + t->ng) * sizeof *t->x);
    for (int i = 0; i < t->ng && b; i++)
        t->x[nv + i] = t->left_out[i] ? 0 : b[i] / t->size[i];
    if (t->ng > 0 && b)
        bg_linear_solve(t->matrix, t->x);
    for (int i = 0; i < nv; i++)
        x[i] = t->x[i] * t->unit[i];
    for (int k = 0; k < n; k++)
        t->x[k] = (y ? y[k] : 0) - x[t->independent[k]];
    for (int i = 0; i < nv; i++)
        for (int k = 0; k < n; k++)
            x[i] += t->B[i * n + k] * t->x[k];
}
