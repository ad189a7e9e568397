/* What one Newton step onto g = 0 leaves of the constraints, and what becomes of it in the long
 * run.
 *
 * A step goes from q_n to q~ and from there by the correction d = P g~, with g~ = g(q~), G = G(q_n)
 * and P = M^{-1} G^T (G M^{-1} G^T)^{-1} at q_n, so that G P = I, to q_{n+1}. With D = G(q~) - G,
 *
 *     g(q_{n+1}) = g~ - G(q~) d + R = -D P g~ + R,
 *
 * where R is the remainder of Taylor's formula between q~ and q_{n+1}. All parts are computed in
 * the step, as they are: what 000 section 3.4 bounds by second derivatives somewhere on the way
 * from q_n to q~ and on to q_{n+1} is in these differences. With the largest entry as the norm and
 *
 *     S = max |g~ - g(q_n)|,    c = max |D P|,    A2 = max (|R| - rounding) / |g~|^2
 *
 * over all steps, |g(q_{n+1})| <= F(|g(q_n)|), F(x) = c (x + S) + A2 (x + S)^2 + rounding. If F has
 * a smaller fixed point x*, then F(x) <= x* for x <= x*, and no step leaves more than the larger of
 * x* and |g(q_0)|, if that is below the other fixed point; nor does a later one, as long as it does
 * not exceed c, S and A2. In the letters of 000, S = h^2 A1 and c = h A3:
 *
 *     C2 = A2,   h C1 = c + 2 S A2,   h^3 C0 = S c + S^2 A2.
 *
 * Time in g, quaternions, and positions that move with u1 change nothing in this. */
#include "integrators/drift.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void list(void *object, bg_arena *arena)
{
    bg_drift_work *d = object;
    const bg_system_def *def = &d->sys->def;
    BG_TAKE(arena, d->g, def->ng);
    BG_TAKE(arena, d->bent, def->ng);
    BG_TAKE(arena, d->D, bg_system_get_size_G(d->sys->system));
    BG_TAKE(arena, d->column, def->nv);
    BG_TAKE(arena, d->row, def->ng);
    BG_TAKE(arena, d->sum, def->ng);
}

bg_status bg_drift_create(bg_drift_work *d, bg_evaluator *sys, const unsigned char *eliminated,
                          bg_error *err)
{
    d->sys = sys;
    d->eliminated = eliminated;
    return bg_arena_create(&d->arena, list, d)
               ? BG_OK
               : bg_error_set(err, BG_NO_MEMORY, "out of memory for the drift certificate");
}

void bg_drift_clear(bg_drift_work *d)
{
    bg_arena_clear(&d->arena);
}

void bg_drift_reset(bg_drift_work *d)
{
    d->begun = false;
}

/* The largest |x_i + sign y_i| of rows that are not redundant; y NULL: zeros. */
static double calc_largest(const bg_drift_work *d, const double *x, double sign, const double *y)
{
    double largest = 0;
    for (int i = 0; i < d->sys->def.ng; i++)
        if (!d->eliminated[i])
            largest = fmax(largest, fabs(x[i] + (y ? sign * y[i] : 0)));
    return largest;
}

void bg_drift_begin(bg_drift_work *d, const double *g)
{
    memcpy(d->g, g, (size_t)d->sys->def.ng * sizeof(double));
    if (!d->begun)
        d->largest.start = fmax(d->largest.start, calc_largest(d, g, 0, NULL));
    d->begun = true;
}

/* What rounding can do to an entry of g: some units in the last place of G q. */
static double calc_rounding(const bg_drift_work *d, const double *q, const double *G)
{
    const bg_pattern *pattern = d->sys->def.pattern_G;
    int nv = d->sys->def.nv;
    double size = 1, largest = 0;
    for (int i = 0; i < d->sys->def.nq; i++)
        size = fmax(size, fabs(q[i]));
    for (int i = 0; i < d->sys->def.ng; i++) {
        double sum = 0;
        for (int k = pattern ? pattern->row_start[i] : i * nv;
             k < (pattern ? pattern->row_start[i + 1] : (i + 1) * nv); k++)
            sum += fabs(G[k]);
        largest = fmax(largest, sum);
    }
    return 32 * DBL_EPSILON * size * largest;
}

/* |D P|, the largest row sum, column by column of P. */
static double calc_factor(bg_drift_work *d, bg_kkt *kkt)
{
    int nv = d->sys->def.nv, ng = d->sys->def.ng;
    memset(d->sum, 0, (size_t)ng * sizeof(double));
    for (int j = 0; j < ng; j++) {
        if (d->eliminated[j])
            continue;
        memset(d->column, 0, (size_t)nv * sizeof(double));
        memset(d->row, 0, (size_t)ng * sizeof(double));
        d->row[j] = 1;
        bg_kkt_solve(kkt, d->column, d->row);
        bg_matrix_multiply(ng, nv, d->sys->def.pattern_G, d->D, d->column, d->row);
        for (int i = 0; i < ng; i++) {
            d->sum[i] += fabs(d->row[i]);
            d->bent[i] += d->row[i] * d->g[j];
        }
    }
    return calc_largest(d, d->sum, 0, NULL);
}

void bg_drift_update(bg_drift_work *d, bg_kkt *kkt, const double *g, const double *G,
                     const double *q)
{
    int ng = d->sys->def.ng, n = bg_system_get_size_G(d->sys->system);
    d->largest.source = fmax(d->largest.source, calc_largest(d, g, -1, d->g));
    d->rounding = calc_rounding(d, q, G);
    d->largest.rounding = fmax(d->largest.rounding, d->rounding);
    for (int k = 0; k < n; k++)
        d->D[k] -= G[k];
    memcpy(d->g, g, (size_t)ng * sizeof(double));
    memset(d->bent, 0, (size_t)ng * sizeof(double));
    d->largest.factor = fmax(d->largest.factor, calc_factor(d, kkt));
    d->looks = true;
}

void bg_drift_look(bg_drift_work *d, const double *g)
{
    double size = calc_largest(d, g, 0, NULL), before = calc_largest(d, d->g, 0, NULL);
    double rest = calc_largest(d, g, 1, d->bent) - d->rounding;
    if (d->looks && rest > 0)
        d->largest.bend = fmax(d->largest.bend, rest / (before * before));
    else if (!d->looks && size > before)
        d->largest.grown = fmax(d->largest.grown, size);
    memcpy(d->g, g, (size_t)d->sys->def.ng * sizeof(double));
    d->looks = false;
}

void bg_drift_end(bg_drift_work *d, const double *g)
{
    bg_drift_look(d, g);
    for (int i = 0; i < d->sys->def.ng; i++)
        d->largest.observed = fmax(d->largest.observed, fabs(g[i]));
}

void bg_drift_report(const bg_drift_work *d, double h, bg_drift *out)
{
    double S = d->largest.source, c = d->largest.factor, A2 = d->largest.bend;
    double slope = c + 2 * S * A2, source = S * c + S * S * A2, linear = 1 - slope;
    double rest = source + d->largest.rounding, root = linear * linear - 4 * rest * A2;
    *out = (bg_drift){.C0 = source / (h * h * h),
                      .C1 = slope / h,
                      .C2 = A2,
                      .observed = d->largest.observed,
                      .limit = NAN};
    if (!(linear > 0 && root > 0)) {
        out->why = "the step is too large for the guarantee; take a smaller one";
        return;
    }
    /* the smaller root of A2 x^2 - linear x + rest without cancellation; A2 x < linear - A2 x*
     * below the larger one */
    double fixed = 2 * rest / (linear + sqrt(root)), limit = fmax(fixed, d->largest.start);
    if (A2 * limit > linear - A2 * fixed)
        out->why = "the run began too far from the constraints for the guarantee";
    else if (d->largest.grown > limit)
        out->why = "further Newton steps made |g| larger; take a smaller step";
    else if (d->largest.observed > limit)
        out->why = "|g| went beyond the bound: a redundant constraint departs from the others, or "
                   "rounding is larger than estimated";
    else
        out->limit = limit;
    out->holds = !out->why;
}
