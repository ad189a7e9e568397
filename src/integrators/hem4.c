/* hem4: half-explicit Runge-Kutta method of order 4 on the index-2 form.
 *
 * V. Brasey and E. Hairer, Half-explicit Runge-Kutta methods for differential-algebraic systems of
 * index 2, SIAM J. Numer. Anal. 30 (1993) 538-552: HEM4, five stages. The velocity constraint at
 * stage i + 1 fixes the multipliers of stage i, that at the end those of stage 5 (half_explicit.c),
 * so that G is needed once a stage and gamma is not. The weights are those of Radau's quadrature.
 *
 * What the paper leaves open is ours. The end of a step is projected and its rates are found as in
 * mdop5, from the index-1 form: there gamma is needed, once a step. Seven rates are then known,
 * those at both ends of the step and those of the stages, and only one combination of them vanishes
 * with h^3 in q, v and lambda alike (the conditions of order 3 of the test, across the constraints,
 * too): e = -r_begin + (10/3 + 5 sqrt 6)/10 r_3 + (10/3 - 5 sqrt 6)/10 r_4 - 2/3 r_5 + r_end. The
 * error of a step is that of b_hat = b - e/3. Dense output is the cubic through both ends and their
 * rates, whose error is of the method's own order. */
#include "integrators/hem4.h"

#include "integrators/dopri5.h"
#include "integrators/half_explicit.h"

#include <string.h>

#define R 2.4494897427831780982 /* sqrt(6) */

const bg_hem4_table bg_hem4_coefficients = {
    .c = {0, 0, 3.0 / 10, (4 - R) / 10, (4 + R) / 10, 1, 1},
    .a = {{0},
          {0},
          {0, 3.0 / 10},
          {0, (1 + R) / 30, (11 - 4 * R) / 30},
          {0, (-79 - 31 * R) / 150, (-1 - 4 * R) / 30, (24 + 11 * R) / 25},
          {0, (14 + 5 * R) / 6, (-8 + 7 * R) / 6, (-9 - 7 * R) / 4, (9 - R) / 4},
          {0, 0, 0, (16 - R) / 36, (16 + R) / 36, 1.0 / 9}},
    .b_hat = {1.0 / 3, 0, 0, (12 - 7 * R) / 36, (12 + 7 * R) / 36, 1.0 / 3, -1.0 / 3},
};

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_half_explicit *m = ig->method;
    const bg_hem4_table *t = &bg_hem4_coefficients;
    bg_pair_begin(ig);
    bg_status st = BG_OK;
    for (int i = 1; i <= BG_HEM4_STAGES && st == BG_OK; i++) {
        const bg_half_stage stage = {i, t->c[i], t->c[i + 1], t->a[i], t->a[i + 1], i > 1};
        st = bg_half_explicit_calc_stage(ig, &stage, err);
    }
    if (st != BG_OK)
        return st;
    bg_combine(ig->n, ig->x0->q, ig->h, BG_HEM4_STAGES + 1, t->a[6], m->pair.rate, ig->x1->q);
    st = bg_projection_control_end(ig, &m->pair.projection, err);
    if (st != BG_OK)
        return st;
    bg_pair_end(ig, t->b_hat, false, error);
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, ig->x1->v, ig->x1->a);
    return BG_OK;
}

/* A leap has the dense output of the Dormand-Prince pair. */
static void prepare_dense(bg_integrator *ig)
{
    if (ig->leaping)
        bg_dopri5_prepare_dense(ig);
    else
        memset(ig->bubble, 0, (size_t)ig->n * sizeof(double));
}

static const bg_option_info options[] = {
    BG_PAIR_PROJECTION,
    BG_PAIR_NORM,
};

const bg_integrator_class bg_hem4_class;
const bg_integrator_class bg_hem4_class = {
    .info = {"hem4", "half-explicit Runge-Kutta of order 4 on the index-2 form (Brasey, Hairer)",
             options, 2, false, 4, 3},
    .create = bg_half_explicit_create,
    .destroy = bg_half_explicit_destroy,
    .restart = bg_pair_restart,
    .attempt = attempt,
    .leap = bg_pair_leap,
    .accept = bg_pair_accept,
    .commit = bg_pair_commit,
    .bubbles = 1,
    .prepare_dense = prepare_dense,
    .archive = bg_pair_archive,
};
