/* Solves  [M G^T; G 0] (a, lambda) = (f, -gamma),  003 eq. (4), at one point. */
#include "system/dynamics.h"

#include "base/memory.h"
#include "math/arrays.h"
#include "system/masses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bg_status bg_dynamics_create_kkt(const bg_system *sys, const bg_pattern *pattern_M, int ng,
                                 bg_kkt **kkt, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    const bg_pattern *pattern_G = ng > 0 ? def->pattern_G : NULL;
    return def->semidefinite
               ? bg_kkt_create_semidefinite(def->nv, ng, pattern_M, pattern_G, kkt, err)
               : bg_kkt_create(def->nv, ng, pattern_M, pattern_G, kkt, err);
}

static void list(void *object, bg_arena *arena)
{
    bg_dynamics *d = object;
    const bg_system *sys = d->sys->system;
    /* implicit methods make r of it where there is no `residual` */
    bool has_M = (sys->def.supplied & BG_TERM_M) && !(d->by_formalism && sys->def.residual);
    bg_terms_take(sys, has_M, &d->terms, arena);
    BG_TAKE(arena, d->mass, has_M ? sys->def.mass_size : 0);
    BG_TAKE(arena, d->eliminated, d->ng);
    BG_TAKE(arena, d->offset, d->ng);
    BG_TAKE(arena, d->work_v, d->nv);
    BG_TAKE(arena, d->work_g, d->ng);
    BG_TAKE(arena, d->work_q, d->nq);
    BG_TAKE(arena, d->drive_by_a, sys->def.drive_power ? d->nv : 0);
}

bg_status bg_dynamics_create(bg_evaluator *sys, bg_dynamics **dynamics, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    *dynamics = NULL;
    bg_dynamics *d = BG_NEW(bg_dynamics);
    if (!d)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while preparing system '%s'",
                            def->name);
    d->sys = sys;
    d->nq = def->nq;
    d->nv = def->nv;
    d->nz = def->nz;
    d->ng = def->ng;
    d->kinematic = (def->supplied & BG_TERM_V) != 0;
    d->by_formalism = def->ng == 0 && def->accelerate;
    bg_status st = BG_OK;
    if (!bg_arena_create(&d->arena, list, d))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory while preparing system '%s'",
                          def->name);
    if (st == BG_OK && !d->by_formalism)
        st = def->semidefinite && d->ng > 0
                 ? bg_kkt_create_completed(d->nv, d->ng, def->pattern_M, def->pattern_G, &d->kkt,
                                           err)
                 : bg_dynamics_create_kkt(sys->system, def->pattern_M, d->ng, &d->kkt, err);
    bg_mass_solver mass = {def->mass_size, def->solve_mass, def->self};
    if (st == BG_OK && def->mass_size > 0 && d->ng > 0)
        st = bg_kkt_set_mass_solver(d->kkt, &mass, err);
    if (st == BG_OK && def->f_of_lambda)
        st = bg_settling_create(sys, &d->settling, err);
    if (st != BG_OK) {
        bg_dynamics_destroy(d);
        return st;
    }
    *dynamics = d;
    return BG_OK;
}

void bg_dynamics_destroy(bg_dynamics *d)
{
    if (!d)
        return;
    bg_arena_clear(&d->arena);
    bg_kkt_destroy(d->kkt);
    bg_settling_destroy(d->settling);
    free(d);
}

void bg_dynamics_set_eliminated(bg_dynamics *d, const bg_redundancy *redundancy)
{
    memset(d->eliminated, 0, (size_t)d->ng);
    for (int i = 0; redundancy && i < redundancy->count; i++)
        d->eliminated[redundancy->eliminated[i]] = 1;
    memset(d->offset, 0, (size_t)d->ng * sizeof(double));
    if (redundancy && redundancy->offset)
        memcpy(d->offset, redundancy->offset, (size_t)d->ng * sizeof(double));
    if (d->kkt)
        bg_kkt_set_eliminated(d->kkt, redundancy && redundancy->count > 0 ? d->eliminated : NULL);
}

void bg_dynamics_take_offsets(const bg_dynamics *d, unsigned want, bg_terms *terms)
{
    for (int i = 0; i < d->ng && (want & BG_TERM_g); i++)
        terms->g[i] -= d->offset[i];
}

/* M at the point, as the system factors it. */
static void factor_mass(bg_dynamics *d)
{
    const bg_system_def *def = &d->sys->def;
    d->mass_point = d->point;
    d->has_mass = def->mass_size > 0 && d->ng > 0 && d->terms.M && bg_kkt_can_eliminate(d->kkt) &&
                  def->factor_mass(def->self, &d->point, d->mass) == 0 && isfinite(d->mass[0]);
}

/* The terms that the system is asked for: M only where it has to be. */
static unsigned take_mass(bg_dynamics *d, unsigned want)
{
    if (want & (BG_TERM_M | BG_TERM_MASS))
        factor_mass(d);
    if ((want & BG_TERM_MASS) && !d->has_mass)
        want |= BG_TERM_M;
    return want & ~BG_TERM_MASS;
}

bg_status bg_dynamics_complete_M(bg_dynamics *d, bg_error *err)
{
    const bg_point here = d->point, *at = &d->mass_point;
    if (!d->has_mass || (d->have & BG_TERM_M))
        return BG_OK;
    bg_status st = bg_system_set_point(d->sys, at->t, at->q, at->v, at->z, at->mode, &d->point,
                                       err);
    if (st == BG_OK)
        st = bg_system_calc_terms(d->sys, &d->point, BG_TERM_M, &d->terms, err);
    if (st == BG_OK)
        st = bg_system_set_point(d->sys, here.t, here.q, here.v, here.z, here.mode, &d->point, err);
    d->point = here;
    d->have |= BG_TERM_M;
    return st;
}

void bg_dynamics_set_M(bg_dynamics *d, const double *M)
{
    memcpy(d->terms.M, M, (size_t)bg_system_get_size_M(d->sys->system) * sizeof(double));
    d->has_mass = false;
    d->have |= BG_TERM_M;
}

bg_status bg_dynamics_evaluate(bg_dynamics *d, double t, const double *q, const double *v,
                               const double *z, const int *mode, unsigned want, bg_error *err)
{
    bg_status st = bg_system_set_point(d->sys, t, q, v, z, mode, &d->point, err);
    if (d->settling)
        d->point.lambda = d->settling->guess;
    if (st == BG_OK)
        want = take_mass(d, want);
    if (st == BG_OK)
        st = bg_system_calc_terms(d->sys, &d->point, want, &d->terms, err);
    if (st == BG_OK)
        bg_dynamics_take_offsets(d, want, &d->terms);
    d->have = want;
    return st;
}

bg_status bg_dynamics_evaluate_iterate(bg_dynamics *d, double t, const double *q, const double *v,
                                       const double *z, const int *mode, const double *lambda,
                                       unsigned want, bg_error *err)
{
    bg_status st = bg_system_set_point(d->sys, t, q, v, z, mode, &d->point, err);
    if (d->sys->def.f_of_lambda)
        d->point.lambda = lambda;
    d->have = want;
    if (st == BG_OK && want != 0)
        st = bg_system_calc_terms(d->sys, &d->point, want, &d->terms, err);
    if (st == BG_OK)
        bg_dynamics_take_offsets(d, want, &d->terms);
    return st;
}

bg_status bg_dynamics_evaluate_more(bg_dynamics *d, const double *v, const double *z, unsigned want,
                                    bg_error *err)
{
    d->point.v = v;
    d->point.z = z;
    if (d->settling)
        d->point.lambda = d->settling->guess;
    want = take_mass(d, want);
    d->have |= want;
    bg_status st = bg_system_calc_terms(d->sys, &d->point, want, &d->terms, err);
    if (st == BG_OK)
        bg_dynamics_take_offsets(d, want, &d->terms);
    return st;
}

bg_status bg_dynamics_report_not_finite(const bg_dynamics *d, bg_error *err)
{
    char name[96] = "the solution for v' and lambda";
    if (!d->by_formalism)
        bg_system_find_not_finite(d->sys->system, &d->terms, d->have, name, sizeof name);
    else
        strcpy(name, "the explicit formalism's v'");
    return bg_error_set(err, BG_NOT_FINITE, "system '%s': %s is not finite at t = %.17g",
                        d->sys->def.name, name, d->point.t);
}

bg_status bg_dynamics_check_masses(const bg_dynamics *d, bg_kkt *kkt, const double *M,
                                   bg_error *err)
{
    static const double trusted = 1e-12; /* condition from which on signs may be rounding */
    if (d->sys->def.check_start || !bg_kkt_is_inverted(kkt) || bg_kkt_calc_rcond(kkt) < trusted)
        return BG_OK;
    return bg_masses_check(d->sys->system, d->point.t, M, err) == BG_OK ? BG_OK : BG_RETRY;
}

bg_status bg_dynamics_factor(bg_dynamics *d, const double *G_upper, bg_error *err)
{
    const double *G = d->terms.G, *upper = G_upper ? G_upper : G;
    bg_system_get_work(d->sys)->factorisations++;
    if (d->has_mass && bg_kkt_eliminate(d->kkt, d->mass, d->terms.M, upper, G))
        return BG_OK;
    bg_status st = bg_dynamics_complete_M(d, err);
    if (st == BG_OK)
        st = bg_kkt_factor(d->kkt, d->terms.M, upper, G);
    if (st == BG_OK)
        return bg_dynamics_check_masses(d, d->kkt, d->terms.M, err);
    if (st != BG_SINGULAR)
        return st;
    char name[96];
    if (bg_system_find_not_finite(d->sys->system, &d->terms, d->have, name, sizeof name))
        return bg_dynamics_report_not_finite(d, err);
    return bg_error_set(err, BG_SINGULAR,
                        "system '%s': the matrix [M G'; G 0] is singular at t = %.17g: constraints "
                        "became dependent there (a singular position), or a coordinate has neither "
                        "mass nor constraint",
                        d->sys->def.name, d->point.t);
}

double bg_dynamics_calc_rcond(bg_dynamics *d)
{
    return bg_dynamics_complete_M(d, NULL) == BG_OK ? bg_kkt_calc_rcond(d->kkt) : 0;
}

void bg_dynamics_set_guess(bg_dynamics *d, const double *lambda)
{
    if (d->settling)
        memcpy(d->settling->guess, lambda, (size_t)d->ng * sizeof(double));
}

/* The multipliers that the forces at d->point depend on, where they do. */
static bg_status settle(bg_dynamics *d, double *a, double *lambda, bg_error *err)
{
    bg_settling_question q = {d->kkt, &d->point, d->terms.G, d->terms.gamma, -1.0};
    bg_status st = bg_settling_solve(d->settling, &q, &d->terms, a, lambda, err);
    d->point.lambda = d->settling->lambda;
    return st == BG_NOT_FINITE ? bg_dynamics_report_not_finite(d, err) : st;
}

bg_status bg_dynamics_solve(bg_dynamics *d, double *a, double *lambda, bg_error *err)
{
    if (d->settling)
        return settle(d, a, lambda, err);
    memcpy(a, d->terms.f, (size_t)d->nv * sizeof(double));
    for (int i = 0; i < d->ng; i++)
        lambda[i] = -d->terms.gamma[i];
    bg_kkt_solve(d->kkt, a, lambda);
    if (!bg_is_finite(a, d->nv) || !bg_is_finite(d->terms.h, d->nz))
        return bg_dynamics_report_not_finite(d, err);
    return BG_OK;
}

bg_status bg_dynamics_accelerate(bg_dynamics *d, double t, const double *q, const double *v,
                                 const double *z, const int *mode, unsigned extra, double *a,
                                 double *lambda, bg_error *err)
{
    unsigned want = extra | (d->nz > 0 ? BG_TERM_h : 0u) | (d->kinematic ? BG_TERM_V : 0u);
    if (!d->by_formalism)
        want |= BG_TERM_MASS | BG_TERM_f | (d->ng > 0 ? BG_TERM_G | BG_TERM_gamma : 0u);
    bg_status st = bg_dynamics_evaluate(d, t, q, v, z, mode, want, err);
    if (st != BG_OK)
        return st;
    if (d->by_formalism) {
        st = bg_system_calc_acceleration(d->sys, &d->point, NULL, a, err);
        if (st == BG_OK && !(bg_is_finite(a, d->nv) && bg_is_finite(d->terms.h, d->nz)))
            st = bg_dynamics_report_not_finite(d, err);
        return st;
    }
    st = bg_dynamics_factor(d, NULL, err);
    return st == BG_OK ? bg_dynamics_solve(d, a, lambda, err) : st;
}

void bg_dynamics_calc_rates(const bg_dynamics *d, const double *v, double *q_t)
{
    if (d->kinematic)
        bg_matrix_multiply(d->nq, d->nv, d->sys->def.pattern_V, d->terms.V, v, q_t);
    else
        memcpy(q_t, v, (size_t)d->nv * sizeof(double));
}

void bg_dynamics_calc_w(const bg_dynamics *d, const double *v, double *w)
{
    bg_matrix_multiply(d->ng, d->nv, d->sys->def.pattern_G, d->terms.G, v, w);
    for (int i = 0; i < d->ng; i++)
        w[i] += d->terms.gt[i];
}

static const double drift_factor = 10; /* of eliminated rows beside those they depend on */

/* The size of row i: that of the system, or |row i of G| (1 for a row of zeros). */
static double calc_row_size(const bg_dynamics *d, int i)
{
    const bg_pattern *p = d->sys->def.pattern_G;
    double sum = 0;
    if (d->sys->def.g_size)
        return d->sys->def.g_size[i];
    int begin = p ? p->row_start[i] : i * d->nv, end = p ? p->row_start[i + 1] : begin + d->nv;
    for (int k = begin; k < end; k++)
        sum += d->terms.G[k] * d->terms.G[k];
    return sum > 0 ? sqrt(sum) : 1.0;
}

/* Eliminated rows are combinations of the others: as long as they are, they cannot be violated much
 * more than those, which may drift. Kept rows that are moved are missed by their offsets. */
static void calc_redundant(const bg_dynamics *d, bg_residuals *r)
{
    double drift = 0;
    int count = 0;
    for (int i = 0; i < d->ng; i++)
        count += d->eliminated[i];
    for (int i = 0; i < d->ng && count > 0; i++) {
        double relative = fabs(d->terms.g[i]) / calc_row_size(d, i);
        if (!d->eliminated[i])
            drift = fmax(drift, relative);
        else if (relative > r->redundant) {
            r->redundant = relative;
            r->worst_redundant = i;
        }
    }
    r->redundant = fmax(0, r->redundant - drift_factor * drift);
    for (int i = 0; i < d->ng; i++) {
        double moved = d->offset[i] != 0 ? fabs(d->offset[i]) / calc_row_size(d, i) : 0;
        if (moved > r->redundant && !d->eliminated[i]) {
            r->redundant = moved;
            r->worst_redundant = i;
        }
    }
}

bg_residuals bg_dynamics_calc_residuals(const bg_dynamics *d, const double *v, const double *a)
{
    bg_residuals r = {.worst_g = d->ng > 0 ? 0 : -1, .worst_redundant = -1};
    if (d->ng == 0)
        return r;
    for (int i = 0; i < d->ng; i++)
        if (!d->eliminated[i] && fabs(d->terms.g[i]) > r.g) {
            r.g = fabs(d->terms.g[i]);
            r.worst_g = i;
        }
    calc_redundant(d, &r);
    bg_dynamics_calc_w(d, v, d->work_g);
    for (int i = 0; i < d->ng; i++)
        r.gv = fmax(r.gv, d->eliminated[i] ? 0 : fabs(d->work_g[i]));
    bg_matrix_multiply(d->ng, d->nv, d->sys->def.pattern_G, d->terms.G, a, d->work_g);
    for (int i = 0; i < d->ng; i++)
        r.ga = fmax(r.ga, d->eliminated[i] ? 0 : fabs(d->work_g[i] + d->terms.gamma[i]));
    return r;
}

double bg_dynamics_calc_drive(const bg_dynamics *d, const double *a)
{
    double sum = 0;
    for (int i = 0; d->sys->def.drive_power && i < d->nv; i++)
        sum += d->drive_by_a[i] * a[i];
    return sum;
}

static bg_status add_drive(bg_dynamics *d, const double *a, double *power, bg_error *err)
{
    double own = 0;
    int code = d->sys->def.drive_power(d->sys->def.self, &d->point, &own, d->drive_by_a);
    if (code != 0)
        return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                            "system '%s': `drive_power` failed with code %d at t = %.17g",
                            d->sys->def.name, code, d->point.t);
    *power += own + (a ? bg_dynamics_calc_drive(d, a) : 0);
    return BG_OK;
}

bg_status bg_dynamics_calc_power(bg_dynamics *d, const double *a, const double *lambda,
                                 double *power, bg_error *err)
{
    *power = 0;
    if (!d->sys->def.energy)
        return BG_OK;
    int code = bg_system_calc_power(d->sys, &d->point, power);
    if (code != 0)
        return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                            "system '%s': `%s` failed with code %d at t = %.17g", d->sys->def.name,
                            d->sys->def.power ? "power" : "energy", code, d->point.t);
    if (!d->sys->def.scleronomic && lambda)
        for (int i = 0; i < d->ng; i++)
            *power += lambda[i] * d->terms.gt[i];
    return d->sys->def.drive_power ? add_drive(d, a, power, err) : BG_OK;
}
