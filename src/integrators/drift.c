/* A step of length h with one Newton step onto g = 0 changes |g| at most to C2 |g|^2 + h C1 |g| +
 * h^3 C0, with A1 = 1/2 |g_qq(u,u)|,   A2 = 1/2 |g_qq(P.,P.)|,   A3 = |g_qq(u,P.)|, C2 = A2,   C1 =
 * A3 + 2 h A1 A2,   C0 = A1 A3 + h A2 A1^2,      P = M^{-1} G^T (G M^{-1} G^T)^{-1}. (The paper
 * prints h A1 A2 in C1, but its quadratic form has the mixed term twice; without the 2 the bound is
 * exceeded, for instance on the circular track.) g_qq(u,u) is gamma, and g_qq(u,.) the derivative
 * of w = G u + g_t by q; both hold with time in g, too. Where q moves with u1 instead of u, G u1 =
 * -h gamma is not zero, and A1 becomes three times as large. Norms are those of largest entries,
 * |T| = max_i sum_jk |T_ijk| for bilinear maps. The maxima over the run stand for those over the
 * neighbourhoods in the paper, whose points are passed. */
#include "integrators/drift.h"

#include "base/memory.h"
#include "bogie/integrator.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bg_status bg_drift_create(bg_drift_work *d, bg_system *sys, bg_error *err)
{
    size_t nv = (size_t)sys->def.nv, ng = (size_t)sys->def.ng;
    const bg_pattern *pattern = bg_system_get_pattern(sys, BG_OF_w, BG_BY_q);
    size_t n = pattern ? (size_t)pattern->row_start[ng] : ng * nv;
    d->sys = sys;
    d->P = BG_NEW_ARRAY(double, ng *nv);
    d->W = BG_NEW_ARRAY(double, n);
    d->W_0 = BG_NEW_ARRAY(double, n);
    d->row = BG_NEW_ARRAY(double, ng);
    d->sum = BG_NEW_ARRAY(double, ng);
    d->zero_v = BG_NEW_ARRAY(double, nv);
    d->zero_g = BG_NEW_ARRAY(double, ng);
    return d->P && d->W && d->W_0 && d->row && d->sum && d->zero_v && d->zero_g
               ? BG_OK
               : bg_error_set(err, BG_NO_MEMORY, "out of memory for the drift certificate");
}

void bg_drift_clear(bg_drift_work *d)
{
    free(d->P);
    free(d->W);
    free(d->W_0);
    free(d->row);
    free(d->sum);
    free(d->zero_v);
    free(d->zero_g);
}

static void add_sums(bg_drift_work *d, double *sum)
{
    int nv = d->sys->def.nv, ng = d->sys->def.ng;
    for (int k = 0; k < ng; k++) {
        bg_matrix_multiply(ng, nv, bg_system_get_pattern(d->sys, BG_OF_w, BG_BY_q), d->W,
                           d->P + (size_t)k * (size_t)nv, d->row);
        for (int i = 0; i < ng; i++)
            sum[i] += fabs(d->row[i]);
    }
}

static double take_largest(double *sum, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, sum[i]);
        sum[i] = 0;
    }
    return largest;
}

/* d w/d q at velocities v, by q along V. */
static bg_status calc_W(bg_drift_work *d, bg_point p, const double *v, double *W, bg_error *err)
{
    bg_derivatives out = {.only_stiff = 0};
    out.block[BG_OF_w][BG_BY_q] = W;
    p.v = v;
    return bg_system_calc_derivatives(d->sys, &p, d->zero_v, d->zero_g, &out, err);
}

/* What rounding can do to an entry of g: four units in the last place of G q. */
static double calc_rounding(const bg_drift_work *d, const bg_point *p, const double *G)
{
    const bg_pattern *pattern = d->sys->def.pattern_G;
    int nv = d->sys->def.nv;
    double size = 1, largest = 0;
    for (int i = 0; i < d->sys->def.nq; i++)
        size = fmax(size, fabs(p->q[i]));
    for (int i = 0; i < d->sys->def.ng; i++) {
        double sum = 0;
        for (int k = pattern ? pattern->row_start[i] : i * nv;
             k < (pattern ? pattern->row_start[i + 1] : (i + 1) * nv); k++)
            sum += fabs(G[k]);
        largest = fmax(largest, sum);
    }
    return 4 * DBL_EPSILON * size * largest;
}

bg_status bg_drift_update(bg_drift_work *d, bg_kkt *kkt, const bg_point *p, const double *G,
                          const double *gamma, bg_error *err)
{
    int nv = d->sys->def.nv, ng = d->sys->def.ng;
    const bg_pattern *pattern = bg_system_get_pattern(d->sys, BG_OF_w, BG_BY_q);
    int n = pattern ? pattern->row_start[ng] : ng * nv;
    double A1 = 0, A2, A3;
    for (int j = 0; j < ng; j++) {
        A1 = fmax(A1, (d->late ? 1.5 : 0.5) * fabs(gamma[j]));
        memset(d->P + (size_t)j * (size_t)nv, 0, (size_t)nv * sizeof(double));
        memset(d->row, 0, (size_t)ng * sizeof(double));
        d->row[j] = 1;
        bg_kkt_solve(kkt, d->P + (size_t)j * (size_t)nv, d->row);
    }
    bg_status st = calc_W(d, *p, p->v, d->W, err);
    if (st == BG_OK)
        add_sums(d, d->sum);
    A3 = take_largest(d->sum, ng);
    if (st == BG_OK)
        st = calc_W(d, *p, d->zero_v, d->W_0, err);
    for (int j = 0; j < ng && st == BG_OK; j++) {
        st = calc_W(d, *p, d->P + (size_t)j * (size_t)nv, d->W, err);
        for (int k = 0; k < n; k++)
            d->W[k] -= d->W_0[k];
        add_sums(d, d->sum);
    }
    A2 = 0.5 * take_largest(d->sum, ng);
    d->constants[0] = fmax(d->constants[0], A1);
    d->constants[1] = fmax(d->constants[1], A2);
    d->constants[2] = fmax(d->constants[2], A3);
    d->constants[3] = fmax(d->constants[3], calc_rounding(d, p, G));
    return st;
}

void bg_drift_report(const bg_drift_work *d, double h, bg_drift *out)
{
    double A1 = d->constants[0], A2 = d->constants[1], A3 = d->constants[2];
    double C2 = A2, C1 = A3 + 2 * h * A1 * A2, C0 = A1 * A3 + h * A2 * A1 * A1;
    double linear = 1 - h * C1, rest = h * h * h * C0 + d->constants[3];
    double root = linear * linear - 4 * rest * C2;
    *out = (bg_drift){.C0 = C0, .C1 = C1, .C2 = C2, .observed = d->observed, .limit = NAN};
    out->holds = linear > 0 && root > 0;
    if (out->holds) /* the smaller root of C2 x^2 - (1 - h C1) x + rest, without cancellation */
        out->limit = 2 * rest / (linear + sqrt(root));
}
