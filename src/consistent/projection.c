/* Consistent positions and velocities near the constraints.
 *
 * Position (12a): 0 = M(p)(p - q) + G(p)^T tau, 0 = g(p). With M and G kept at the point of the
 * factorisation, as 003 section 4.2 suggests, the upper equation stays fulfilled from one increment
 * to the next, and the chord iteration (13) reduces to [M G^T; G 0] (dp, dtau) = (0, g(p)),   p <-
 * p - V dp. It contracts with the distance between that point and p. Iteration ends when the
 * increment that would come next, predicted from the observed contraction, is below rounding (1e-13
 * relative), so that closed loops stay closed whatever the tolerance of the integration.
 *
 * Velocity (12b): [M G^T; G 0] (dv, deta) = (0, G v + g_t),   v <- v - dv. */
#include "consistent/projection.h"

#include "linalg/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double converged = 1e-13; /* relative size of the next increment */
static const double roundoff = 1e-11;  /* of increments that stop shrinking, near the origin */
static const double last_places =
    2e-14; /* of g beside the size of a row: rounding, near the origin */
static const double resolution = 0.01; /* of a coordinate beside its size: 1e-13 of it is 4.5 eps */

double bg_project_calc_size(const bg_dynamics *d, const double *delta, const double *q)
{
    const double *v_size = d->sys->def.v_size;
    double size = 0;
    for (int i = 0; i < d->nv; i++) {
        double own = v_size ? v_size[i] : 1, far = d->kinematic ? 0 : resolution * fabs(q[i]);
        double x = fabs(delta[i]) / (own + far);
        if (!(x <= size))
            size = x;
        if (isnan(x))
            return x;
    }
    return size;
}

double bg_project_calc_coarseness(const bg_dynamics *d)
{
    const bg_evaluator *sys = d->sys;
    return sys->system->calc_distance ? 1 + resolution * sys->system->calc_distance(sys->def.self)
                                      : 1;
}

double bg_project_calc_last_place(const bg_dynamics *d)
{
    const bg_evaluator *sys = d->sys;
    double far = sys->system->calc_distance ? sys->system->calc_distance(sys->def.self) : 0;
    return DBL_EPSILON * (1 + far);
}

bool bg_project_is_met(const bg_dynamics *d)
{
    const double *g_size = d->sys->def.g_size;
    double most = last_places * bg_project_calc_coarseness(d);
    for (int i = 0; i < d->ng; i++)
        if (!d->eliminated[i] && !(fabs(d->terms.g[i]) <= most * (g_size ? g_size[i] : 1)))
            return false;
    return true;
}

bg_newton bg_project_begin(double least)
{
    bg_newton newton = {.most = BG_PROJECTION_MAX,
                        .converged = least,
                        .foretells = true,
                        .stalls = 0.5,
                        .slow = 0.9,
                        .diverges = 4};
    bg_newton_begin(&newton);
    return newton;
}

/* One increment of (13), which q is moved by; *size: beside the sizes of coordinates. */
static bg_status correct(bg_dynamics *d, double t, double *q, const double *v, const double *z,
                         const int *mode, double *first, double *size, bg_error *err)
{
    unsigned want = BG_TERM_g | (d->kinematic ? BG_TERM_V : 0u);
    bg_status st = bg_dynamics_evaluate(d, t, q, v, z, mode, want, err);
    if (st != BG_OK)
        return st;
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
    bg_kkt_solve(d->kkt, d->work_v, d->work_g);
    if (first)
        memcpy(first, d->work_v, (size_t)d->nv * sizeof(double));
    *size = bg_project_calc_size(d, d->work_v, q);
    if (!isfinite(*size))
        return bg_dynamics_report_not_finite(d, err);
    bg_system_move(d->sys, q, d->terms.V, -1.0, d->work_v, q);
    return BG_OK;
}

static bg_status iterate(bg_dynamics *d, double t, double *q, const double *v, const double *z,
                         const int *mode, double *first, bg_error *err)
{
    bg_newton newton = bg_project_begin(converged);
    bg_newton_state state = BG_NEWTON_GOES_ON;
    bg_system_get_work(d->sys)->projections++;
    for (int k = 0; state == BG_NEWTON_GOES_ON; k++) {
        double size;
        bg_status st = correct(d, t, q, v, z, mode, k == 0 ? first : NULL, &size, err);
        if (st != BG_OK)
            return st;
        if (k == 1)
            newton.roundoff = roundoff * bg_project_calc_coarseness(d);
        state = bg_newton_look(&newton, size);
    }
    if (state == BG_NEWTON_DONE || (newton.size < 1e-3 && bg_project_is_met(d)))
        return BG_OK;
    return bg_project_refuse(d, t, err);
}

bg_status bg_project_position(bg_dynamics *d, double t, double *q, const double *v, const double *z,
                              const int *mode, double *first, bg_error *err)
{
    bg_purpose before = bg_system_turn_to(d->sys, BG_FOR_PROJECTION);
    bg_status st = iterate(d, t, q, v, z, mode, first, err);
    bg_system_turn_to(d->sys, before);
    return st;
}

bg_status bg_project_position_once(bg_dynamics *d, double t, double *q, const double *v,
                                   const double *z, const int *mode, double *first, bg_error *err)
{
    double size;
    bg_purpose before = bg_system_turn_to(d->sys, BG_FOR_PROJECTION);
    bg_system_get_work(d->sys)->projections++;
    bg_status st = correct(d, t, q, v, z, mode, first, &size, err);
    bg_system_turn_to(d->sys, before);
    return st;
}

void bg_project_velocity(bg_dynamics *d, double *v)
{
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_dynamics_calc_w(d, v, d->work_g);
    bg_kkt_solve(d->kkt, d->work_v, d->work_g);
    for (int i = 0; i < d->nv; i++)
        v[i] -= d->work_v[i];
}

bg_status bg_project_refuse(const bg_dynamics *d, double t, bg_error *err)
{
    return bg_error_set(err, BG_RETRY,
                        "system '%s': the projection onto the constraints does not converge at t = "
                        "%.17g",
                        d->sys->def.name, t);
}

bg_status bg_project_rates(bg_dynamics *d, bg_state *x, double *a, bg_error *err)
{
    unsigned want = BG_TERM_MASS | BG_TERM_G | BG_TERM_g | BG_TERM_gt;
    want |= d->kinematic ? BG_TERM_V : 0u;
    bg_status st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, want, err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st != BG_OK)
        return st;
    bg_project_velocity(d, x->v);
    want = BG_TERM_f | BG_TERM_gamma | (d->nz > 0 ? BG_TERM_h : 0u);
    st = bg_dynamics_evaluate_more(d, x->v, x->z, want, err);
    return st == BG_OK ? bg_dynamics_solve(d, a, x->lambda, err) : st;
}

bg_status bg_project_state(bg_dynamics *d, bg_state *x, bg_error *err)
{
    if (d->ng == 0) {
        if (d->sys->def.normalise)
            d->sys->def.normalise(d->sys->def.self, x->q);
        return bg_dynamics_accelerate(d, x->t, x->q, x->v, x->z, x->mode, 0, x->a, x->lambda, err);
    }
    unsigned matrices = BG_TERM_MASS | BG_TERM_G;
    bg_status st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, matrices, err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st == BG_OK)
        st = bg_project_position(d, x->t, x->q, x->v, x->z, x->mode, NULL, err);
    return st == BG_OK ? bg_project_rates(d, x, x->a, err) : st;
}
