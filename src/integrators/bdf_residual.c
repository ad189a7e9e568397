/* The equations of bdf at an iterate.
 *
 * y = (q, v, z, lambda, eta), with rates by the formula, y' = y'_P + alpha (y - y_P), a = v':
 *     F1 = V^+(q) q' - v + S G^T eta                                               nv
 *     F2 = M a - f + G^T lambda = r        or  a - M^-1 (f - G^T lambda)           nv
 *     Fz = z' - h(t, q, v, z, u)                                                   nz
 *     F3 = G v + g_t                                                               ng
 *     F4 = g                                                                       ng
 * (001 (7)-(10)), S the squares of the system's sizes of displacements: 001 has none, and then what
 * eta takes off depends on the units of length. The form of index 3 is without F3, that of index 2
 * without F4, both without eta; that of index 1 has F3 = G a + gamma instead of both. Rows that are
 * left out as redundant, and their lambda and eta, are zero.
 *
 * Newton's unknown for q is a tangent vector: q = normalise(q^ + V(q^) s) with q^ the normalised
 * predictor. What enters the differences is q - q_P, put together from the increments themselves:
 * far from the origin a difference of rounded places, divided by a short step, is none. */
#include "integrators/bdf.h"
#include "math/arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bg_status bg_bdf_prepare_base(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    const bg_pattern *p = ig->sys->def.pattern_V;
    bg_point at;
    bg_terms out = {.V = m->V};
    memcpy(m->base, m->y_P, (size_t)m->nq * sizeof(double));
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, m->base);
    if (!ig->dyn->kinematic)
        return BG_OK;
    const double *v = m->y_P + m->nq;
    bg_status st = bg_system_set_point(ig->sys, ig->x1->t, m->base, v, v + m->nv, ig->x0->mode, &at,
                                       err);
    if (st == BG_OK)
        st = bg_system_calc_terms(ig->sys, &at, BG_TERM_V, &out, err);
    memset(m->VV, 0, (size_t)m->nv * sizeof(double));
    for (int i = 0; i < m->nq && st == BG_OK; i++)
        for (int k = p ? p->row_start[i] : i * m->nv,
                 end = p ? p->row_start[i + 1] : (i + 1) * m->nv;
             k < end; k++)
            m->VV[p ? p->column[k] : k - i * m->nv] += m->V[k] * m->V[k];
    return st;
}

void bg_bdf_move(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    double *q = ig->x1->q;
    if (!ig->dyn->kinematic) {
        for (int i = 0; i < m->nq; i++) {
            m->e[i] = m->tangent[i] + (m->base[i] - m->y_P[i]);
            q[i] = m->moved[i] = m->base[i] + m->tangent[i];
        }
    } else {
        bg_matrix_multiply(m->nq, m->nv, ig->sys->def.pattern_V, m->V, m->tangent, m->e);
        for (int i = 0; i < m->nq; i++) {
            q[i] = m->moved[i] = m->base[i] + m->e[i];
            m->e[i] += m->base[i] - m->y_P[i];
        }
    }
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, q);
    for (int i = 0; i < m->nq; i++) {
        m->e[i] += q[i] - m->moved[i];
        m->q_t[i] = m->rate_P[i] + m->formula.alpha * m->e[i];
    }
    const double *e = m->e + m->nq, *rate = m->rate_P + m->nq;
    for (int i = 0; i < m->nv; i++)
        m->a[i] = rate[i] + m->formula.alpha * e[i];
    for (int i = 0; i < m->nv + m->nz; i++) /* v and z lie together */
        ig->x1->v[i] = m->y_P[m->nq + i] + e[i];
}

/* F1 with V of the iterate. */
static void calc_kinematic(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const bg_dynamics *d = ig->dyn;
    const double *V = d->terms.V;
    double *F = m->F.F1;
    if (d->kinematic) {
        memset(F, 0, (size_t)m->nv * sizeof(double));
        bg_matrix_add_transposed(m->nq, m->nv, ig->sys->def.pattern_V, V, 1, m->q_t, F);
        for (int i = 0; i < m->nv; i++)
            F[i] /= m->VV[i];
    } else {
        memcpy(F, m->q_t, (size_t)m->nv * sizeof(double));
    }
    memset(m->rhs, 0, (size_t)m->nv * sizeof(double));
    if (m->second_row)
        bg_matrix_add_transposed(m->ng, m->nv, ig->sys->def.pattern_G, d->terms.G, 1, m->eta,
                                 m->rhs);
    for (int i = 0; i < m->nv; i++)
        F[i] += m->metric[i] * m->rhs[i] - ig->x1->v[i];
}

/* F2 where terms M, f and G are at hand, or by the formalism. */
static bg_status calc_forces(bg_integrator *ig, bool from_terms, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_dynamics *d = ig->dyn;
    double *F = m->F.F2;
    if (m->formalism == BG_FORMALISM_EXPLICIT) {
        bg_status st = bg_system_calc_acceleration(ig->sys, &d->point, m->ng > 0 ? m->lambda : NULL,
                                                   F, err);
        for (int i = 0; i < m->nv; i++)
            F[i] = m->a[i] - F[i];
        return st;
    }
    if (!from_terms)
        return bg_system_calc_residual(ig->sys, &d->point, m->a, m->lambda, F, err);
    bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, d->terms.M, m->a, F);
    for (int i = 0; i < m->nv; i++)
        F[i] -= d->terms.f[i];
    bg_matrix_add_transposed(m->ng, m->nv, ig->sys->def.pattern_G, d->terms.G, 1, m->lambda, F);
    return BG_OK;
}

static void calc_constraints(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_dynamics *d = ig->dyn;
    if (m->form == BG_FORM_INDEX_1)
        bg_matrix_multiply(m->ng, m->nv, ig->sys->def.pattern_G, d->terms.G, m->a, m->F.F3);
    else
        bg_dynamics_calc_w(d, ig->x1->v, m->F.F3);
    for (int i = 0; i < m->ng; i++) {
        if (m->form == BG_FORM_INDEX_1)
            m->F.F3[i] += d->terms.gamma[i];
        m->F.F3[i] = d->eliminated[i] ? 0 : m->F.F3[i];
        m->F.F4[i] = d->eliminated[i] ? 0 : d->terms.g[i];
    }
}

bg_status bg_bdf_calc_residual(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    const bool from_terms = m->formalism == BG_FORMALISM_RESIDUAL && !ig->sys->def.residual;
    unsigned want = (m->nz > 0 ? BG_TERM_h : 0u) | (d->kinematic ? BG_TERM_V : 0u);
    if (m->ng > 0)
        want |= BG_TERM_G | BG_TERM_g | BG_TERM_gt;
    if (m->ng > 0 && m->form == BG_FORM_INDEX_1)
        want |= BG_TERM_gamma;
    if (from_terms)
        want |= BG_TERM_M | BG_TERM_f;
    ig->count.corrector.fc++;
    bg_status st = bg_dynamics_evaluate_iterate(d, x->t, x->q, x->v, x->z, ig->x0->mode, m->lambda,
                                                want, err);
    if (st == BG_OK)
        st = calc_forces(ig, from_terms, err);
    if (st != BG_OK)
        return st;
    calc_kinematic(ig);
    calc_constraints(ig);
    for (int i = 0; i < m->nz; i++) {
        int k = m->nq + m->nv + i;
        m->F.Fz[i] = m->rate_P[k] + m->formula.alpha * m->e[k] - d->terms.h[i];
    }
    if (bg_is_finite(m->F.F2, m->nv) && bg_is_finite(m->F.Fz, m->nz) &&
        bg_is_finite(m->F.F3, m->ng) && bg_is_finite(m->F.F4, m->ng))
        return BG_OK;
    return bg_dynamics_report_not_finite(d, err);
}

void bg_bdf_describe_residual(const bg_integrator *ig, char *text, size_t size)
{
    const bg_bdf *m = ig->method;
    char buffer[64];
    const struct {
        const double *F;
        int n;
        char kind;
        const char *what;
        double unit; /* what makes residuals comparable: corrections of v */
    } rows[] = {{m->F.F1, m->nv, 'v', "the rate of the coordinate of", 1},
                {m->step_v, m->nv, 'v', "the equation of motion of", 1},
                {m->step_z, m->nz, 'z', "the rate of the state", 1},
                {m->F.F3, m->ng, 'g', "the constraint", 1},
                {m->F.F4, m->ng, 'g', "the constraint", m->formula.alpha}};
    double most = -1;
    snprintf(text, size, "no equation");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int i = 0; i < rows[k].n; i++)
            if (fabs(rows[k].F[i]) * rows[k].unit > most) {
                most = fabs(rows[k].F[i]) * rows[k].unit;
                snprintf(
                    text, size, "%s '%s'", rows[k].what,
                    bg_system_get_name(ig->sys->system, rows[k].kind, i, buffer, sizeof buffer));
            }
}
