/* Local coordinates u = N0^T M0 (q - q0), w = N0^T M0 v of the constraint manifold about the
 * beginning of a step, where the columns of N0 span the null space of G0 = G(q0).
 *
 * Off the manifold the index-1 form has accelerations like violation / distance from a singular
 * position: Runge-Kutta stages, which miss the manifold by O(h^2), then spoil the order of a step
 * that passes one, and no step length helps. On the manifold the motion through such a position is
 * smooth, and so are its local coordinates. Stages that are moved onto the manifold along
 * M0^{-1} G0^T leave u and w as they are, so that the method in effect integrates u' and w': it
 * keeps its order, on condition that no stage comes so near to the singular position that rounding
 * matters. N0 is not needed: with the increments (dp, dv) from
 *     [M0 G0^T; G(p) 0] (dp, .) = (0, g(p)),      p <- p - V0 dp,
 *     [M0 G0^T; G(p) 0] (dv, .) = (0, G(p) v + g_t),      v <- v - dv,
 * N0^T M0 dp = N0^T M0 dv = 0. */
#include "integrators/chart.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "linalg/newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 10 };
static const double converged = 1e-14, roundoff = 1e-10; /* relative size of an increment */

static void list(void *object, bg_arena *arena)
{
    bg_chart *c = object;
    BG_TAKE(arena, c->M, bg_system_get_size_M(c->system));
    BG_TAKE(arena, c->G, bg_system_get_size_G(c->system));
    BG_TAKE(arena, c->V, c->kinematic ? bg_system_get_size_V(c->system) : 0);
}

bg_status bg_chart_create(bg_integrator *ig, bg_chart *c, bg_error *err)
{
    const bg_dynamics *d = ig->dyn;
    if (d->ng == 0)
        return BG_OK;
    c->system = ig->sys->system;
    c->kinematic = d->kinematic;
    return bg_arena_create(&c->arena, list, c)
               ? BG_OK
               : bg_error_set(err, BG_NO_MEMORY, "out of memory for local coordinates");
}

void bg_chart_clear(bg_chart *c)
{
    bg_arena_clear(&c->arena);
}

bg_status bg_chart_begin(bg_integrator *ig, bg_chart *c, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    unsigned want = BG_TERM_M | BG_TERM_G | (d->kinematic ? BG_TERM_V : 0u);
    bg_status st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, want, err);
    if (st != BG_OK)
        return st;
    memcpy(c->M, d->terms.M, (size_t)bg_system_get_size_M(ig->sys->system) * sizeof(double));
    memcpy(c->G, d->terms.G, (size_t)bg_system_get_size_G(ig->sys->system) * sizeof(double));
    if (c->kinematic)
        memcpy(c->V, d->terms.V, (size_t)bg_system_get_size_V(ig->sys->system) * sizeof(double));
    return BG_OK;
}

bg_status bg_chart_lift(bg_integrator *ig, const bg_chart *c, double t, double *y, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    double *q = y, *v = y + d->nq, *z = v + d->nv;
    unsigned want = BG_TERM_G | BG_TERM_g | BG_TERM_gt;
    if (ig->sys->def.normalise)
        ig->sys->def.normalise(ig->sys->def.self, q);
    bg_newton newton = {.most = MAX_ITERATIONS,
                        .converged = converged,
                        .roundoff = roundoff * bg_project_calc_coarseness(d),
                        .stalls = 0.1,
                        .diverges = 1};
    bg_newton_begin(&newton);
    for (;;) {
        bg_status st = bg_dynamics_evaluate(d, t, q, v, z, ig->x0->mode, want, err);
        if (st != BG_OK)
            return st;
        bg_dynamics_set_M(d, c->M);
        st = bg_dynamics_factor(d, c->G, err);
        if (st != BG_OK)
            return st;
        memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, d->work_v, d->work_g);
        double size = bg_project_calc_size(d, d->work_v, q);
        if (!isfinite(size))
            return bg_dynamics_report_not_finite(d, err);
        bg_newton_state state = bg_newton_look(&newton, size);
        if (state == BG_NEWTON_DONE ||
            (state == BG_NEWTON_FAILED && size < 1e-3 && bg_project_is_met(d))) {
            bg_project_velocity(d, v);
            return BG_OK;
        }
        if (state == BG_NEWTON_FAILED)
            break;
        bg_system_move(d->sys, q, c->V, -1.0, d->work_v, q);
    }
    return bg_error_set(err, BG_RETRY,
                        "system '%s': the constraints cannot be met in local coordinates at t = "
                        "%.17g",
                        d->sys->def.name, t);
}
