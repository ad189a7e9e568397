/* Right side of the projecting descriptor form (B. Simeon, 003 section 3):
 *     M q' = M v + M'(p - q) + G'^T tau                                                      (5a)
 *     M u' = M w + M'(v - u) + G'^T eta                                                      (5b)
 *     0 = M w - f + G^T lambda,      0 = G w + gamma                                         (5c)
 *     0 = M (v - u) + G^T eta,       0 = G v + g_t                                           (5d)
 *     0 = M (p - q) + G^T tau,       0 = g(p)                                                (5e)
 * with M, G at p and M' = dM/dt, G' = dG/dt along p' = v. q and u are integrated and may leave the
 * constraints; p and v are their projections and fulfil the equations of motion; eta and tau say
 * how far q and u are off, and stay as they are (Theorem 3.1: eta' = tau' = 0).
 *
 * (5e) is solved by the chord iteration (13), (5d) and (5c) with the matrix at p. M' x + G'^T y are
 * central differences of M x + G^T y along the motion: they multiply deviations, so that their own
 * error, about 1e-10, does not show.
 *
 * In Cartesian coordinates M is singular along the Euler parameters. There M + c G^T G and
 * f - c G^T gamma describe the same motion with a regular matrix, since G v' + gamma = 0: p, v, w
 * and lambda are those of M, and only tau = tau_M - c G (p - q), eta = eta_M - c G (v - u) differ.
 */
#include "integrators/projecting.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "linalg/newton.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 20 };
static const double converged = 1e-14, roundoff = 1e-12; /* relative increments of p */
static const double regular = 1e-12; /* condition of M from which on it is not inverted */
static const double difference = 1e-5;

bg_status bg_projecting_create(bg_dynamics *d, bg_projecting **form, bg_error *err)
{
    *form = NULL;
    if (d->kinematic)
        return bg_error_set(err, BG_BAD_INPUT,
                            "system '%s': the projecting descriptor form needs q' = v, and there "
                            "are quaternions; take --formulation cartesian or form=index-1",
                            d->sys->def.name);
    bg_projecting *f = BG_NEW(bg_projecting);
    if (!f)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the projecting form");
    f->d = d;
    double **const by_v[] = {&f->p, &f->v, &f->w, &f->dp, &f->dv, &f->rise_q, &f->rise_u, &f->sum};
    double **const by_g[] = {&f->lambda, &f->eta, &f->tau};
    bool good = true;
    for (size_t i = 0; i < sizeof by_v / sizeof *by_v; i++)
        good = (*by_v[i] = BG_NEW_ARRAY(double, d->nv)) && good;
    for (size_t i = 0; i < sizeof by_g / sizeof *by_g; i++)
        good = (*by_g[i] = BG_NEW_ARRAY(double, d->ng)) && good;
    bg_status st = good ? BG_OK
                        : bg_error_set(err, BG_NO_MEMORY, "out of memory for the projecting form");
    const bg_system_def *def = &d->sys->def;
    if (st == BG_OK)
        st = bg_dynamics_create_kkt(d->sys->system, def->pattern_M, 0, &f->mass, err);
    if (st == BG_OK)
        st = bg_dynamics_create_kkt(d->sys->system, def->pattern_M, d->ng, &f->augmented, err);
    if (st == BG_OK)
        *form = f;
    else
        bg_projecting_destroy(f);
    return st;
}

void bg_projecting_destroy(bg_projecting *f)
{
    if (!f)
        return;
    double *const arrays[] = {f->p,  f->v,  f->w,      f->lambda, f->eta, f->tau,
                              f->dp, f->dv, f->rise_q, f->rise_u, f->sum};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    bg_kkt_destroy(f->mass);
    bg_kkt_destroy(f->augmented);
    free(f);
}

void bg_projecting_reset(bg_projecting *f)
{
    f->chosen = false;
}

/* y <- M x + c G^T G x + G^T mu with the terms at hand; eliminated rows do not count. */
static void apply(const bg_projecting *f, double c, const double *x, const double *mu, double *y)
{
    bg_dynamics *d = f->d;
    const bg_system_def *def = &d->sys->def;
    bg_matrix_multiply(d->nv, d->nv, def->pattern_M, d->terms.M, x, y);
    bg_matrix_multiply(d->ng, d->nv, def->pattern_G, d->terms.G, x, d->work_g);
    for (int i = 0; i < d->ng; i++)
        d->work_g[i] = d->eliminated[i] ? 0.0 : c * d->work_g[i] + mu[i];
    bg_matrix_add_transposed(d->ng, d->nv, def->pattern_G, d->terms.G, 1.0, d->work_g, y);
}

/* mu <- mu - c G x: from the multiplier of M to that of M + c G^T G. */
static void shift(const bg_projecting *f, const double *x, double *mu)
{
    bg_dynamics *d = f->d;
    if (f->c == 0)
        return;
    bg_matrix_multiply(d->ng, d->nv, d->sys->def.pattern_G, d->terms.G, x, d->work_g);
    for (int i = 0; i < d->ng; i++)
        mu[i] -= d->eliminated[i] ? 0.0 : f->c * d->work_g[i];
}

/* c, with M and G at hand: 0 where M can be inverted. */
static void choose_mass(bg_projecting *f)
{
    bg_dynamics *d = f->d;
    const double *M = d->terms.M, *G = d->terms.G;
    f->chosen = true;
    f->c = 0;
    if (bg_kkt_factor(f->mass, M, NULL, NULL) == BG_OK && bg_kkt_calc_rcond(f->mass) > regular)
        return;
    double largest = bg_find_largest(G, bg_system_get_size_G(d->sys->system));
    f->c = bg_find_largest(M, bg_system_get_size_M(d->sys->system)) /
           fmax(largest * largest, 1e-300);
    bg_projecting_prepare(f);
}

void bg_projecting_prepare(bg_projecting *f)
{
    if (f->c == 0)
        return;
    bg_kkt_set_regularisation(f->augmented, 1 / f->c);
    bg_kkt_set_eliminated(f->augmented, f->d->eliminated);
}

/* x <- (M + c G^T G)^-1 x with the matrices factored at p. */
static void solve_mass(bg_projecting *f, double *x)
{
    if (f->c == 0) {
        bg_kkt_solve(f->mass, x, f->sum);
        return;
    }
    memset(f->d->work_g, 0, (size_t)f->d->ng * sizeof(double));
    bg_kkt_solve(f->augmented, x, f->d->work_g);
}

/* (5e): p and tau_M from q by (13), with the matrix at q. */
static bg_status project(bg_projecting *f, double t, const double *q, const double *u,
                         const double *z, const int *mode, bg_error *err)
{
    bg_dynamics *d = f->d;
    bg_newton newton = {.most = MAX_ITERATIONS, .converged = converged, .stalls = 0.5};
    bg_newton_state state = BG_NEWTON_GOES_ON;
    bg_newton_begin(&newton);
    memcpy(f->p, q, (size_t)d->nv * sizeof(double));
    memset(f->tau, 0, (size_t)d->ng * sizeof(double));
    memset(f->dp, 0, (size_t)d->nv * sizeof(double));
    bg_system_get_work(d->sys)->projections++;
    for (int k = 0; state == BG_NEWTON_GOES_ON; k++) {
        bg_status st = bg_dynamics_evaluate(d, t, f->p, u, z, mode,
                                            BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
        if (st == BG_OK && k == 0) {
            if (!f->chosen)
                choose_mass(f);
            st = bg_dynamics_factor(d, NULL, err);
        }
        if (st != BG_OK)
            return st;
        apply(f, 0, f->dp, f->tau, d->work_v); /* M (p - q) + G^T tau */
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, d->work_v, d->work_g);
        double size = bg_project_calc_size(d, d->work_v, q);
        for (int i = 0; i < d->nv; i++) {
            f->dp[i] -= d->work_v[i];
            f->p[i] = q[i] + f->dp[i];
            if (!isfinite(f->p[i]))
                return bg_dynamics_report_not_finite(d, err);
        }
        for (int i = 0; i < d->ng; i++)
            f->tau[i] -= d->work_g[i];
        if (k == 1)
            newton.roundoff = roundoff * bg_project_calc_coarseness(d);
        state = bg_newton_look(&newton, size);
    }
    if (state == BG_NEWTON_DONE)
        return BG_OK;
    return bg_project_refuse(d, t, err);
}

/* (5d) and (5c) with the matrix at p. */
static bg_status solve_levels(bg_projecting *f, const double *u, const double *z, bg_error *err)
{
    bg_dynamics *d = f->d;
    memset(f->dv, 0, (size_t)d->nv * sizeof(double));
    bg_dynamics_calc_w(d, u, f->eta);
    bg_kkt_solve(d->kkt, f->dv, f->eta); /* M dv + G^T x = 0, G dv = G u + g_t: v = u - dv */
    for (int i = 0; i < d->nv; i++) {
        f->dv[i] = -f->dv[i];
        f->v[i] = u[i] + f->dv[i];
    }
    for (int i = 0; i < d->ng; i++)
        f->eta[i] = -f->eta[i];
    bg_status st = bg_dynamics_evaluate_more(
        d, f->v, z, BG_TERM_f | BG_TERM_gamma | (d->nz > 0 ? BG_TERM_h : 0u), err);
    if (st == BG_OK)
        st = bg_dynamics_solve(d, f->w, f->lambda, err);
    if (st == BG_OK)
        f->residuals = bg_dynamics_calc_residuals(d, f->v, f->w);
    return st;
}

/* rise_q <- M'(p - q) + G'^T tau, rise_u <- M'(v - u) + G'^T eta. */
static bg_status calc_curvature(bg_projecting *f, double t, const double *z, const int *mode,
                                bg_error *err)
{
    bg_dynamics *d = f->d;
    double speed = bg_find_largest(f->v, d->nv), e = difference / (1 + speed);
    memset(f->rise_q, 0, (size_t)d->nv * sizeof(double));
    memset(f->rise_u, 0, (size_t)d->nv * sizeof(double));
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < d->nv; i++)
            d->work_q[i] = f->p[i] + side * e * f->v[i];
        double at = d->sys->def.scleronomic ? t : t + side * e;
        bg_status st = bg_dynamics_evaluate(d, at, d->work_q, f->v, z, mode, BG_TERM_M | BG_TERM_G,
                                            err);
        if (st != BG_OK)
            return st;
        apply(f, f->c, f->dp, f->tau, f->sum);
        for (int i = 0; i < d->nv; i++)
            f->rise_q[i] += side * f->sum[i] / (2 * e);
        apply(f, f->c, f->dv, f->eta, f->sum);
        for (int i = 0; i < d->nv; i++)
            f->rise_u[i] += side * f->sum[i] / (2 * e);
    }
    return BG_OK;
}

bg_status bg_projecting_calc(bg_projecting *f, double t, const double *q, const double *u,
                             const double *z, const int *mode, bool energy, bool curvature,
                             double *q_t, double *u_t, bg_error *err)
{
    bg_dynamics *d = f->d;
    bg_status st = project(f, t, q, u, z, mode, err);
    if (st == BG_OK)
        st = bg_dynamics_evaluate(d, t, f->p, u, z, mode,
                                  BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt, err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    if (st == BG_OK)
        st = solve_levels(f, u, z, err);
    if (st == BG_OK && energy)
        st = bg_dynamics_calc_power(d, f->w, f->lambda, &f->power, err);
    if (st != BG_OK)
        return st;
    shift(f, f->dp, f->tau);
    shift(f, f->dv, f->eta);
    memcpy(q_t, f->v, (size_t)d->nv * sizeof(double));
    memcpy(u_t, f->w, (size_t)d->nv * sizeof(double));
    if (!curvature)
        return BG_OK;
    st = f->c == 0 ? bg_kkt_factor(f->mass, d->terms.M, NULL, NULL)
                   : bg_kkt_factor(f->augmented, d->terms.M, d->terms.G, d->terms.G);
    if (st != BG_OK)
        return bg_error_set(err, BG_SINGULAR, "system '%s': M is singular at t = %.17g",
                            d->sys->def.name, t);
    st = calc_curvature(f, t, z, mode, err);
    if (st != BG_OK)
        return st;
    solve_mass(f, f->rise_q);
    solve_mass(f, f->rise_u);
    for (int i = 0; i < d->nv; i++) {
        q_t[i] += f->rise_q[i];
        u_t[i] += f->rise_u[i];
    }
    return BG_OK;
}
