/* Derivatives that the iteration matrix of bdf is made of, and when they are true.
 *
 * B = dF/dy at fixed rates and M are kept apart, so that a change of alpha needs neither (001 (24),
 * (25)): alpha M + B is formed again. With the residual formalism M is taken at the new predictor,
 * and G with it. update=extended follows the inputs, too,
 *     B <- B + sum_i D_i (u_i - u_i,old),   D_i = d^2 F / du_i dy                           (26)
 * with D_i by differences of two Jacobians once at the start; u, u_t and u_tt are channels of their
 * own. */
#include "integrators/bdf.h"

#include "base/memory.h"
#include "math/arrays.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int bg_bdf_count_values(const bg_bdf *m)
{
    int n = 0;
    for (int k = 0; k < BG_KEPT_M; k++)
        n += m->parts.B.block[k].values ? m->parts.B.block[k].size : 0;
    return n;
}

bg_status bg_bdf_parts_create(bg_integrator *ig, bg_bdf_parts *p, bg_error *err)
{
    const bg_bdf *m = ig->method;
    bg_status st = bg_jacobian_create(&p->B, ig->sys, m->blocks, err);
    p->G = BG_NEW_ARRAY(double, bg_system_get_size_G(ig->sys->system));
    p->u = BG_NEW_ARRAY(double, 3 * ig->sys->def.nu);
    bool good = p->G && p->u && (!m->matrix.expanded || bg_bdf_create_expansion(ig, &p->E));
    if (st == BG_OK && !good)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the Jacobian of integrator bdf");
    return st;
}

void bg_bdf_parts_copy(const bg_integrator *ig, const bg_bdf_parts *from, bg_bdf_parts *to)
{
    const bg_bdf *m = ig->method;
    bg_bdf_parts own = *to;
    const bg_evaluator *sys = from->B.sys;
    *to = *from;
    to->B = own.B;
    to->G = own.G;
    to->u = own.u;
    to->E = own.E;
    if (m->matrix.expanded)
        memcpy(to->E.x, from->E.x, (size_t)bg_bdf_count_expansion(ig) * sizeof(double));
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        if (to->B.block[k].values)
            memcpy(to->B.block[k].values, from->B.block[k].values,
                   (size_t)to->B.block[k].size * sizeof(double));
    if (m->ng > 0)
        memcpy(to->G, from->G, (size_t)bg_system_get_size_G(sys->system) * sizeof(double));
    if (sys->def.nu > 0)
        memcpy(to->u, from->u, (size_t)(3 * sys->def.nu) * sizeof(double));
}

static void archive_seen(bg_bdf_seen *seen, bg_archive *archive)
{
    bg_archive_finite(archive, &seen->rate, 1);
    bg_archive_finite(archive, &seen->size, 1);
    bg_archive_whole(archive, &seen->uses, 1, 0, 1 << 20);
}

void bg_bdf_parts_archive(bg_integrator *ig, bg_bdf_parts *p, bg_archive *archive)
{
    bg_archive_flags(archive, &p->made, sizeof p->made);
    bg_archive_flags(archive, &p->slow, sizeof p->slow);
    bg_archive_whole(archive, &p->slow_steps, 1, 0, 1 << 20);
    bg_archive_whole(archive, &p->payment.excess, 1, 0, 1 << 20);
    bg_archive_whole(archive, &p->payment.steps, 1, 0, INT_MAX);
    bg_archive_whole(archive, &p->payment.early, 1, 0, INT_MAX);
    bg_archive_whole(archive, &p->payment.patience, 1, 0, 1 << 20);
    bg_archive_finite(archive, &p->alpha, 1);
    bg_archive_finite(archive, &p->rate, 1);
    bg_archive_flags(archive, &p->own, sizeof p->own);
    archive_seen(&p->seen, archive);
    archive_seen(&p->later, archive);
    bg_archive_finite(archive, &p->t, 1);
    bg_archive_whole(archive, &p->spectrum.count, 1, 0, BG_BDF_RITZ_MAX);
    bg_archive_whole(archive, &p->spectrum.since, 1, 0, 1 << 20);
    bg_archive_finite(archive, &p->spectrum.alpha, 1);
    bg_archive_finite(archive, p->spectrum.re, BG_BDF_RITZ_MAX);
    bg_archive_finite(archive, p->spectrum.im, BG_BDF_RITZ_MAX);
    if (!p->made || archive->failed)
        return;
    if (!(p->alpha > 0))
        archive->failed = true;
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        if (p->B.block[k].values)
            bg_archive_finite(archive, p->B.block[k].values, p->B.block[k].size);
    if (p->E.x)
        bg_archive_finite(archive, p->E.x, bg_bdf_count_expansion(ig));
    bg_archive_finite(archive, p->G, bg_system_get_size_G(ig->sys->system));
    bg_archive_finite(archive, p->u, 3 * ig->sys->def.nu);
}

/* M and G at the iterate; the residual formalism alone takes M anew. */
static bg_status calc_terms(bg_integrator *ig, const bg_point *p, bool mass, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_terms out = {.M = m->parts.B.block[BG_KEPT_M].values, .G = m->parts.G};
    mass = mass && !m->matrix.expanded;
    unsigned want = (mass ? BG_TERM_M : 0u) | (m->ng > 0 ? BG_TERM_G : 0u);
    return want ? bg_system_calc_terms(ig->sys, p, want, &out, err) : BG_OK;
}

static bg_status set_point(bg_integrator *ig, bg_point *p, bg_error *err)
{
    bg_bdf *m = ig->method;
    const bg_state *x = ig->x1;
    bg_status st = bg_system_set_point(ig->sys, x->t, x->q, x->v, x->z, ig->x0->mode, p, err);
    if (ig->sys->def.f_of_lambda)
        p->lambda = m->lambda;
    return st;
}

static void keep_inputs(bg_bdf *m, const bg_point *p, int nu)
{
    for (int i = 0; i < nu; i++) {
        m->parts.u[i] = p->u[i];
        m->parts.u[nu + i] = p->u_t[i];
        m->parts.u[2 * nu + i] = p->u_tt[i];
    }
}

/* B at p into parts.B. */
static bg_status calc_B(bg_integrator *ig, const bg_point *p, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_status st = BG_OK;
    if (m->matrix.expanded)
        st = bg_system_calc_expansion(ig->sys, p, m->a, m->lambda, &m->parts.E, err);
    if (st != BG_OK || m->blocks == 0)
        return st;
    return bg_jacobian_update(&m->parts.B, m->blocks & ~BG_KEPT_MASS, false, p, m->a, m->lambda,
                              m->formula.alpha, err);
}

/* D_i once, by analytic derivatives at inputs that are shifted; differences of differences would be
 * rounding, so with jacobian=dense and sparse these, too, come from the system (and count as the
 * residuals that differences take: count_second). */
static bg_status calc_second(bg_integrator *ig, const bg_point *p, bg_error *err)
{
    bg_bdf *m = ig->method;
    int nu = ig->sys->def.nu;
    double *save = m->second[3 * nu];
    bg_status st = calc_B(ig, p, err);
    for (int k = 0, at = 0; k < BG_KEPT_M; k++)
        if (m->parts.B.block[k].values) {
            memcpy(save + at, m->parts.B.block[k].values,
                   (size_t)m->parts.B.block[k].size * sizeof(double));
            at += m->parts.B.block[k].size;
        }
    for (int c = 0; c < 3 * nu && st == BG_OK; c++) {
        bg_point shifted = *p;
        double *x = m->second[3 * nu + 1];
        const double *const from[3] = {p->u, p->u_t, p->u_tt};
        const double **const to[3] = {&shifted.u, &shifted.u_t, &shifted.u_tt};
        memcpy(x, from[c / nu], (size_t)nu * sizeof(double));
        double step = 1e-4 * fmax(fabs(x[c % nu]), 1e-2);
        x[c % nu] += step;
        *to[c / nu] = x;
        ig->count.corrector.evaluations++;
        st = calc_B(ig, &shifted, err);
        for (int k = 0, at = 0; k < BG_KEPT_M; k++)
            for (int i = 0; m->parts.B.block[k].values && i < m->parts.B.block[k].size; i++, at++)
                m->second[c][at] = (m->parts.B.block[k].values[i] - save[at]) / step;
    }
    m->second_made = st == BG_OK;
    return st;
}

/* (26) */
static void follow_inputs(bg_bdf *m, const bg_point *p, int nu)
{
    const double *const now[3] = {p->u, p->u_t, p->u_tt};
    for (int c = 0; c < 3 * nu; c++) {
        double change = now[c / nu][c % nu] - m->parts.u[c];
        if (change == 0)
            continue;
        for (int k = 0, at = 0; k < BG_KEPT_M; k++)
            for (int i = 0; m->parts.B.block[k].values && i < m->parts.B.block[k].size; i++, at++)
                m->parts.B.block[k].values[i] += change * m->second[c][at];
    }
}

/* D_i count as Jacobians of the kind that is asked for. */
static void count_second(bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    if (m->differences)
        ig->count.corrector.fc += 3 * ig->sys->def.nu * bg_bdf_differences_count(ig);
}

/* A law may have a value at the predictor, and no slope: sqrt(x) at 0. */
static bg_status check_finite(const bg_integrator *ig, bg_error *err)
{
    const bg_bdf *m = ig->method;
    bool finite = !m->matrix.expanded || bg_is_finite(m->parts.E.x, bg_bdf_count_expansion(ig));
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        finite = finite && (!m->parts.B.block[k].values ||
                            bg_is_finite(m->parts.B.block[k].values, m->parts.B.block[k].size));
    return finite ? BG_OK
                  : bg_error_set(err, BG_NOT_FINITE,
                                 "system '%s': its derivatives are not finite at t = %.17g",
                                 ig->sys->def.name, ig->x1->t);
}

bg_status bg_bdf_evaluate(bg_integrator *ig, bool whole, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_point p;
    bg_status st = set_point(ig, &p, err);
    const bool second = m->second && !m->second_made;
    if (st == BG_OK && second)
        st = calc_second(ig, &p, err);
    if (st == BG_OK)
        st = calc_terms(ig, &p, true, err);
    if (st == BG_OK)
        st = m->differences ? bg_bdf_differences_update(ig, whole, err) : calc_B(ig, &p, err);
    if (st == BG_OK)
        st = check_finite(ig, err);
    if (st == BG_OK && second)
        count_second(ig);
    if (st == BG_OK && m->second)
        keep_inputs(m, &p, ig->sys->def.nu);
    return st;
}

bg_status bg_bdf_renew(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_point p;
    bg_status st = set_point(ig, &p, err);
    if (st == BG_OK)
        st = calc_terms(ig, &p, m->formalism == BG_FORMALISM_RESIDUAL, err);
    if (st == BG_OK && m->second) {
        follow_inputs(m, &p, ig->sys->def.nu);
        keep_inputs(m, &p, ig->sys->def.nu);
    }
    return st;
}
