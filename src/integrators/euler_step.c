/* One step of euler and linear-euler: see euler.c for the formulas. */
#include "integrators/euler.h"

#include "system/masses.h"

#include <math.h>
#include <string.h>

static const double noticed = 1e-3;  /* change of lambda beside the forces that is looked at */
static const double left_over = 0.1; /* of it that may still come: as a geometric series */

static bg_status evaluate_into(bg_integrator *ig, double t, const double *q, const double *v,
                               const double *z, unsigned want, bg_terms *out, bg_error *err)
{
    const bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_status st = bg_system_set_point(d->sys, t, q, v, z, ig->x0->mode, &d->point, err);
    if (m->again)
        d->point.lambda = ig->x0->lambda;
    d->have = want;
    if (st == BG_OK)
        st = bg_system_calc_terms(d->sys, &d->point, want, out, err);
    if (st == BG_OK)
        bg_dynamics_take_offsets(d, want, out);
    return st;
}

static bg_status evaluate(bg_integrator *ig, double t, const double *q, const double *v,
                          const double *z, unsigned want, bg_error *err)
{
    bg_euler *m = ig->method;
    return evaluate_into(ig, t, q, v, z, want, &m->terms, err);
}

/* [M G^T; G 0] and M are those of the step's beginning: it starts where the last one ended. */
static bool is_plain_ready(const bg_integrator *ig)
{
    const bg_euler *m = ig->method;
    return m->plain_ready && m->plain_t == ig->x0->t;
}

static bg_status factor(bg_integrator *ig, bg_kkt *kkt, const double *M, const double *upper,
                        bg_error *err)
{
    bg_euler *m = ig->method;
    bg_system_get_work(ig->sys)->factorisations++;
    bg_status st = bg_kkt_factor(kkt, M, upper, m->terms.G);
    if (st == BG_OK && M == m->terms.M) /* a Jacobian may well turn the sign of the other one */
        return bg_dynamics_check_masses(ig->dyn, kkt, M, err);
    return st != BG_SINGULAR
               ? st
               : bg_error_set(
                     err, BG_SINGULAR,
                     "system '%s': the matrix of the step from t = %.17g is singular: "
                     "constraints became dependent (a singular position), a coordinate has "
                     "neither mass nor constraint, or the steps are too long and unstable",
                     ig->sys->def.name, ig->x0->t);
}

/* Derivatives where f was evaluated last, when they are due. */
static bg_status update_jacobian(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    const bg_state *x = ig->x0;
    uint64_t due = bg_jacobian_find_due(&m->kept_jacobian, m->blocks, m->refresh, ig->dyn->point.t);
    if (!due)
        return BG_OK;
    bg_status st = bg_jacobian_update(&m->kept_jacobian, due, m->partition == BG_PARTITION_STIFF,
                                      &ig->dyn->point, x->a, x->lambda, ig->h, err);
    if (st == BG_OK && bg_euler_uses_matrix(m))
        bg_partition_apply(ig, m);
    return st;
}

/* The Jacobian at x0 ahead of the step. The first choice of a partition needs terms of the step. */
void bg_euler_prepare(bg_integrator *ig)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    bg_error ignored;
    double t = bg_euler_follows_inputs(m) ? ig->x1->t : x->t;
    if (m->blocks == 0 || (m->partition != BG_PARTITION_ALL && !m->partitioned))
        return;
    if (bg_system_set_point(d->sys, t, x->q, x->v, x->z, x->mode, &d->point, &ignored) == BG_OK)
        update_jacobian(ig, &ignored);
}

/* The derivative of f - G^T lambda along V u, by one more evaluation. */
static bg_status calc_along(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    double size = 1, speed = 0;
    for (int i = 0; i < d->nq; i++)
        size = fmax(size, fabs(x->q[i]));
    for (int i = 0; i < d->nv; i++)
        speed = fmax(speed, fabs(x->v[i]));
    double shift = 1e-7 * size / fmax(speed, size), before = 0;
    bg_terms out = {.f = m->along, .G = d->terms.G};
    bg_point p = d->point;
    bg_system_move(ig->sys, x->q, m->terms.V, shift, x->v, m->shifted);
    p.q = m->shifted;
    memset(m->along, 0, (size_t)d->nv * sizeof(double)); /* entries always zero are not written */
    bg_status st = bg_system_calc_terms(ig->sys, &p, BG_TERM_f | (m->ng > 0 ? BG_TERM_G : 0u), &out,
                                        err);
    if (st != BG_OK)
        return st;
    bg_matrix_add_transposed(m->ng, d->nv, ig->sys->def.pattern_G, out.G, -1, x->lambda, m->along);
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_matrix_add_transposed(m->ng, d->nv, ig->sys->def.pattern_G, m->G0, -1, x->lambda, d->work_v);
    for (int i = 0; i < d->nv; i++) {
        before = m->rhs[i] + d->work_v[i];
        m->along[i] = (m->along[i] - before) / shift;
    }
    memcpy(d->terms.G, m->G0, (size_t)bg_system_get_size_G(ig->sys->system) * sizeof(double));
    return BG_OK;
}

/* M - h f_u - h^2 f_q as the method has it, into hat_M; f + h f_q u into rhs. */
static bg_status prepare_matrix(bg_integrator *ig, const double **M, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const bg_pattern *pattern = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    double h = ig->h, square = m->jacobian == BG_JACOBIAN_1 ? 0 : h * h;
    int n = pattern ? pattern->row_start[d->nv] : d->nv * d->nv;
    bg_status st = BG_OK;
    *M = m->terms.M;
    memcpy(m->rhs, m->terms.f, (size_t)d->nv * sizeof(double));
    if (m->jacobian == BG_JACOBIAN_NONE)
        return BG_OK;
    if (bg_euler_has_moving_constraints(ig, m)) { /* - h G_t^T lambda */
        bg_matrix_add_transposed(m->ng, d->nv, ig->sys->def.pattern_G, m->G1, -1, ig->x0->lambda,
                                 m->rhs);
        bg_matrix_add_transposed(m->ng, d->nv, ig->sys->def.pattern_G, m->G0, 1, ig->x0->lambda,
                                 m->rhs);
    }
    if (m->jacobian == BG_JACOBIAN_3)
        st = calc_along(ig, err);
    else if (m->jacobian != BG_JACOBIAN_SEMI)
        bg_matrix_multiply(d->nv, d->nv, pattern, m->r_q, ig->x0->v, m->along);
    for (int i = 0; i < d->nv && m->jacobian != BG_JACOBIAN_SEMI; i++)
        m->rhs[i] += (m->jacobian == BG_JACOBIAN_3 ? h : -h) * m->along[i];
    if (!bg_euler_uses_matrix(m))
        return st;
    for (int k = 0; k < n; k++)
        m->hat_M[k] = h * m->r_v[k] + square * m->r_q[k];
    bg_partition_apply_to_matrix(ig, m);
    for (int k = 0; k < bg_system_get_size_M(ig->sys->system); k++)
        if (m->place_of_M[k] >= 0)
            m->hat_M[m->place_of_M[k]] += m->terms.M[k];
    *M = m->hat_M;
    return st;
}

/* z1 from h at the beginning and the change of velocity. */
static bg_status advance_states(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    const bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    int nz = d->nz, nv = d->nv;
    double h = ig->h;
    if (nz > 0 && m->states) {
        const bg_block_value values[] = {{1, NULL}, {-h, m->h_z}};
        for (int j = 0; j < nv; j++) /* the increment of v is in x1 already */
            m->along[j] = ig->x1->v[j] - x->v[j];
        bg_matrix_multiply(nz, nv, bg_system_get_pattern(ig->sys->system, BG_OF_h, BG_BY_q), m->h_q,
                           x->v, m->moved);
        for (int i = 0; i < nz; i++)
            m->dz[i] += h * m->moved[i];
        bg_matrix_multiply(nz, nv, bg_system_get_pattern(ig->sys->system, BG_OF_h, BG_BY_v), m->h_v,
                           m->along, m->moved);
        for (int i = 0; i < nz; i++)
            m->dz[i] += m->moved[i];
        if (bg_blocks_factor(m->states, values, false) != BG_OK)
            return bg_error_set(err, BG_SINGULAR,
                                "system '%s': I - h dh/dz is singular at t = %.17g",
                                ig->sys->def.name, x->t);
        bg_blocks_solve(m->states, &m->dz);
    }
    for (int i = 0; i < nz; i++)
        ig->x1->z[i] = x->z[i] + h * m->dz[i];
    return BG_OK;
}

/* The matrix [M G^T; G 0] at the beginning of the step for projections: from the end of the last
 * step, or made here; after a checkpoint, as if it were from there. */
static bg_status ensure_plain(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    if (is_plain_ready(ig))
        return BG_OK;
    bg_status st = factor(ig, m->plain, m->terms.M, m->terms.G, err);
    if (m->uncounted) {
        bg_system_get_work(ig->sys)->factorisations--;
        m->plain_ready = st == BG_OK;
        m->plain_t = ig->x0->t;
    }
    m->uncounted = false;
    return st;
}

/* `newton_steps` simplified Newton steps (11) for x1->q, with the matrix of the beginning. */
static bg_status project_position(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bg_status st = BG_OK;
    bg_terms out = m->terms;
    unsigned want = BG_TERM_g | (d->kinematic ? BG_TERM_V : 0u);
    out.G = m->drift.D;
    bg_purpose before = bg_system_turn_to(ig->sys, BG_FOR_PROJECTION);
    bg_system_get_work(ig->sys)->projections++;
    for (int k = 0; k < m->newton_steps && st == BG_OK; k++) {
        bool first = m->drift.on && k == 0;
        st = evaluate_into(ig, x->t, x->q, ig->x0->v, ig->x0->z, want | (first ? BG_TERM_G : 0u),
                           &out, err);
        if (st == BG_OK && first)
            bg_drift_update(&m->drift, m->plain, m->terms.g, m->G0, x->q);
        else if (st == BG_OK && m->drift.on)
            bg_drift_look(&m->drift, m->terms.g);
        memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
        memcpy(d->work_g, m->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(m->plain, d->work_v, d->work_g);
        bg_system_move(ig->sys, x->q, m->terms.V, -1.0, d->work_v, x->q);
    }
    bg_system_turn_to(ig->sys, before);
    return st;
}

/* u1 onto G u + g_t = 0 at q1; the matrix serves the next step's position. */
static bg_status project_velocity(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bg_status st = evaluate(ig, x->t, x->q, x->v, x->z,
                            BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt, err);
    if (st == BG_OK)
        st = factor(ig, m->plain, m->terms.M, m->terms.G, err);
    if (st != BG_OK)
        return st;
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_dynamics_calc_w(d, x->v, d->work_g);
    bg_kkt_solve(m->plain, d->work_v, d->work_g);
    for (int i = 0; i < d->nv; i++)
        x->v[i] -= d->work_v[i];
    return BG_OK;
}

static void move(bg_integrator *ig, const double *v)
{
    const bg_euler *m = ig->method;
    bg_system_move(ig->sys, ig->x0->q, m->terms.V, ig->h, v, ig->x1->q);
}

/* row_sizes <- how large the diagonal of G M^{-1} G^T is (euler.c); 1 where there is no mass. */
static void calc_row_sizes(bg_integrator *ig)
{
    bg_euler *m = ig->method;
    const bg_pattern *p = ig->sys->def.pattern_G;
    int nv = ig->dyn->nv;
    bg_masses_calc_means(ig->sys->system, m->terms.M, m->masses);
    for (int i = 0; i < m->ng; i++) {
        double sum = 0;
        int begin = p ? p->row_start[i] : i * nv, end = p ? p->row_start[i + 1] : begin + nv;
        for (int k = begin; k < end; k++) {
            double mass = m->masses[p ? p->column[k] : k - begin];
            sum += mass > 0 ? m->terms.G[k] * m->terms.G[k] / mass : 0;
        }
        m->row_sizes[i] = sum > 0 ? sum : 1;
    }
}

/* The repeated solution where f depends on lambda: f was that of the multipliers lambda_0 of the
 * step before, and is now taken at the lambda_1 that the first solution gave. What a step adds to
 * the error shrinks twice by the contraction of lambda; where it grows, the step fails. */
static bg_status repeat_solution(bg_integrator *ig, bg_kkt *kkt, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    const bg_point kept = d->point;
    bg_terms out = {.f = d->work_v, .h = m->dz};
    bg_status st = bg_system_set_point(d->sys, bg_euler_follows_inputs(m) ? x->t : ig->x0->t,
                                       ig->x0->q, ig->x0->v, ig->x0->z, ig->x0->mode, &d->point,
                                       err);
    d->point.lambda = x->lambda;
    memset(out.f, 0, (size_t)d->nv * sizeof(double)); /* entries always zero are not written */
    if (st == BG_OK)
        st = bg_system_calc_terms(d->sys, &d->point, BG_TERM_f | (d->nz > 0 ? BG_TERM_h : 0u), &out,
                                  err);
    for (int i = 0; i < d->nv && st == BG_OK; i++)
        m->rhs[i] = m->again[i] + out.f[i] - m->terms.f[i];
    memcpy(d->work_g, x->lambda, (size_t)m->ng * sizeof(double));
    memcpy(x->lambda, m->again + d->nv, (size_t)m->ng * sizeof(double));
    if (st == BG_OK)
        bg_kkt_solve(kkt, m->rhs, x->lambda);
    double first = bg_settling_calc_distance(d->settling, m->G0, ig->x0->lambda, d->work_g, out.f);
    double second = bg_settling_calc_distance(d->settling, m->G0, d->work_g, x->lambda, out.f);
    double rate = second < first ? second / first : 1;
    if (st == BG_OK && second > noticed && !(second * rate < left_over * (1 - rate)))
        return bg_error_set(err, BG_NOT_CONVERGED,
                            "system '%s': forces that depend on constraint forces do not settle in "
                            "the step from t = %.17g: a second solution changes the multipliers by "
                            "%.3g of the forces, the first did by %.3g; there may be too much "
                            "friction",
                            d->sys->def.name, ig->x0->t, second, first);
    d->point = kept;
    if (st == BG_OK && d->sys->def.nu > 0)
        st = bg_system_set_point(d->sys, kept.t, kept.q, kept.v, kept.z, kept.mode, &d->point, err);
    return st;
}

/* a into rhs and lambda of the end, from the right sides there. */
static bg_status solve(bg_integrator *ig, bg_kkt *kkt, bg_error *err)
{
    bg_euler *m = ig->method;
    int nv = ig->dyn->nv;
    if (m->again) {
        memcpy(m->again, m->rhs, (size_t)nv * sizeof(double));
        memcpy(m->again + nv, ig->x1->lambda, (size_t)m->ng * sizeof(double));
    }
    bg_kkt_solve(kkt, m->rhs, ig->x1->lambda);
    return m->again ? repeat_solution(ig, kkt, err) : BG_OK;
}

/* Index 1: the row of accelerations at the beginning. */
static bg_status step_index_1(bg_integrator *ig, const double *M, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bool regularised = m->stabilisation == BG_STABILISE_REGULARISE;
    bool shared = M == m->terms.M && is_plain_ready(ig) && !regularised;
    bool baumgarte = m->stabilisation == BG_STABILISE_BAUMGARTE || regularised;
    if (regularised)
        calc_row_sizes(ig);
    bg_status st = shared ? BG_OK : factor(ig, m->hat, M, m->terms.G, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < m->ng; i++) {
        x->lambda[i] = -m->terms.gamma[i];
        if (regularised)
            x->lambda[i] -= m->epsilon * m->row_sizes[i] * ig->x0->lambda[i];
    }
    if (baumgarte) {
        bg_dynamics_calc_w(d, ig->x0->v, d->work_g);
        for (int i = 0; i < m->ng; i++)
            x->lambda[i] -= 2 * m->alpha * d->work_g[i] + m->beta * m->terms.g[i];
    }
    st = solve(ig, shared ? m->plain : m->hat, err);
    for (int i = 0; i < d->nv; i++)
        x->v[i] = ig->x0->v[i] + ig->h * m->rhs[i];
    bool late = m->jacobian == BG_JACOBIAN_EXACT || m->jacobian == BG_JACOBIAN_SEMI;
    move(ig, late ? x->v : ig->x0->v);
    return st;
}

/* Index 2 and GGL: positions first, then the row of velocities at the end (6). */
static bg_status step_index_2(bg_integrator *ig, const double *M, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bool baumgarte = m->stabilisation == BG_STABILISE_BAUMGARTE;
    bg_status st = BG_OK;
    move(ig, ig->x0->v);
    if (bg_euler_projects(m) && bg_euler_position_first(m))
        st = project_position(ig, err);
    if (st == BG_OK)
        st = evaluate(ig, x->t, x->q, ig->x0->v, ig->x0->z, BG_TERM_G | BG_TERM_gt | BG_TERM_g,
                      err);
    if (st == BG_OK)
        st = factor(ig, m->hat, M, m->G0, err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_w(d, ig->x0->v, x->lambda);
    for (int i = 0; i < m->ng; i++)
        x->lambda[i] = -(x->lambda[i] + (baumgarte ? m->alpha * m->terms.g[i] : 0)) / ig->h;
    st = solve(ig, m->hat, err);
    for (int i = 0; i < d->nv; i++)
        x->v[i] = ig->x0->v[i] + ig->h * m->rhs[i];
    return st;
}

/* Power of the forces at the beginning; the parts of moving constraints and of accelerations are
 * added at the end. */
static bg_status calc_power(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    if (!ig->energy)
        return BG_OK;
    return bg_dynamics_calc_power(ig->dyn, NULL, NULL, &m->power, err);
}

/* Terms of the step: f and h (and gamma) with the inputs of its end where they are followed, the
 * constraints with those of its beginning. One evaluation serves both unless the constraints move.
 */
static bg_status begin(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    bool follows = bg_euler_follows_inputs(m), moving = bg_euler_has_moving_constraints(ig, m);
    unsigned rates = BG_TERM_f | (d->nz > 0 ? BG_TERM_h : 0u);
    unsigned rest = BG_TERM_M | (d->kinematic ? BG_TERM_V : 0u);
    if (m->ng > 0)
        rest |= BG_TERM_G | BG_TERM_g | BG_TERM_gt;
    if (m->ng > 0 && m->index == BG_INDEX_1)
        rates |= BG_TERM_gamma;
    if (is_plain_ready(ig)) /* and so is M, which nobody else writes */
        rest &= ~(unsigned)BG_TERM_M;
    bg_terms out = m->terms;
    bg_status st = BG_OK;
    if (moving) {
        st = evaluate(ig, x->t, x->q, x->v, x->z, rest, err);
        if (m->uncounted && (rest & BG_TERM_M)) { /* as if it were at hand */
            bg_system_get_work(ig->sys)->terms--;
            bg_system_get_work(ig->sys)->constraints++;
        }
        rest = BG_TERM_G;
        out.G = m->G1;
    } else if (follows && ig->energy) {
        st = bg_system_set_state(d->sys, x, &d->point, err);
    }
    if (st == BG_OK && follows)
        st = calc_power(ig, err);
    if (st == BG_OK)
        st = evaluate_into(ig, follows ? ig->x1->t : x->t, x->q, x->v, x->z, rates | rest, &out,
                           err);
    if (st == BG_OK && !follows)
        st = calc_power(ig, err);
    memcpy(m->dz, m->terms.h, (size_t)d->nz * sizeof(double));
    memcpy(m->G0, m->terms.G, (size_t)bg_system_get_size_G(ig->sys->system) * sizeof(double));
    memcpy(m->gt, m->terms.gt, (size_t)m->ng * sizeof(double));
    return st;
}

/* Unconstrained and explicit: the explicit formalism. */
static bg_status step_free(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    bg_status st = evaluate(ig, x->t, x->q, x->v, x->z,
                            (d->nz > 0 ? BG_TERM_h : 0u) | (d->kinematic ? BG_TERM_V : 0u), err);
    if (st == BG_OK)
        st = bg_system_calc_acceleration(ig->sys, &d->point, NULL, m->rhs, err);
    if (st == BG_OK && ig->energy)
        st = bg_dynamics_calc_power(d, NULL, NULL, &m->power, err);
    memcpy(m->dz, m->terms.h, (size_t)d->nz * sizeof(double));
    for (int i = 0; i < d->nv; i++)
        ig->x1->v[i] = x->v[i] + ig->h * m->rhs[i];
    move(ig, x->v);
    return st;
}

static bg_status step_constrained(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    const double *M;
    bg_status st = begin(ig, err);
    if (st == BG_OK)
        st = update_jacobian(ig, err);
    if (st == BG_OK && m->drift.on)
        bg_drift_begin(&m->drift, m->terms.g);
    if (st == BG_OK && (bg_euler_projects(m) || m->uncounted))
        st = ensure_plain(ig, err);
    if (st == BG_OK)
        st = prepare_matrix(ig, &M, err);
    if (st != BG_OK)
        return st;
    if (m->index == BG_INDEX_1 || m->ng == 0)
        return step_index_1(ig, M, err);
    return step_index_2(ig, M, err);
}

/* What follows the step of velocities, and the residuals there. */
static bg_status end(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    bg_status st = advance_states(ig, err);
    bool late = m->index != BG_INDEX_1 && !bg_euler_position_first(m) && m->ng > 0;
    if (st == BG_OK && late) /* V was overwritten by that of the first guess */
        st = d->kinematic ? evaluate(ig, ig->x0->t, ig->x0->q, ig->x0->v, ig->x0->z, BG_TERM_V, err)
                          : BG_OK;
    if (st == BG_OK && late)
        move(ig, x->v);
    if (st == BG_OK && bg_euler_projects(m) && !bg_euler_position_first(m))
        st = project_position(ig, err);
    m->plain_ready = false;
    if (st == BG_OK && bg_euler_settles_velocity(m)) {
        st = project_velocity(ig, err);
        m->plain_ready = st == BG_OK;
        m->plain_t = x->t;
    } else if (st == BG_OK && m->ng > 0 && !(bg_euler_position_first(m))) {
        st = evaluate(ig, x->t, x->q, x->v, x->z, BG_TERM_G | BG_TERM_g | BG_TERM_gt, err);
    }
    if (st != BG_OK)
        return st;
    memcpy(x->a, m->rhs, (size_t)d->nv * sizeof(double));
    ig->residuals1 = bg_dynamics_calc_residuals(d, x->v, x->a);
    ig->residuals1.ga = m->ng > 0 ? NAN : 0;
    return BG_OK;
}

static bg_status attempt(bg_integrator *ig, bg_error *err)
{
    bg_euler *m = ig->method;
    bg_state *x = ig->x1;
    bool plain = ig->dyn->by_formalism && m->jacobian == BG_JACOBIAN_NONE;
    bg_status st = plain ? step_free(ig, err) : step_constrained(ig, err);
    if (st == BG_OK)
        st = end(ig, err);
    if (st != BG_OK)
        return st;
    if (m->drift.on)
        bg_drift_end(&m->drift, m->terms.g);
    for (int i = 0; i < m->ng && ig->energy; i++)
        m->power += x->lambda[i] * m->gt[i];
    if (ig->energy && ig->sys->def.drive_power) {
        for (int i = 0; i < ig->dyn->nv; i++) /* v' of the step */
            m->along[i] = (x->v[i] - ig->x0->v[i]) / ig->h;
        m->power += bg_dynamics_calc_drive(ig->dyn, m->along);
    }
    *x->work = *ig->x0->work + (ig->energy ? ig->h * m->power : 0);
    double sum = 0;
    for (int i = 0; i < ig->n; i++)
        sum += x->q[i] - x->q[i];
    return sum == 0 ? BG_OK : bg_dynamics_report_not_finite(ig->dyn, err);
}

/* What a failure leaves behind was made of inputs that may be others when the step is tried again.
 */
bg_status bg_euler_attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_euler *m = ig->method;
    *error = 0;
    bg_status st = attempt(ig, err);
    if (st != BG_OK) {
        bg_jacobian_forget(&m->kept_jacobian, m->blocks);
        m->plain_ready = false;
    }
    return st;
}
