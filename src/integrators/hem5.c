/* hem5: half-explicit Runge-Kutta method of order 5 on the index-2 form; needs no gamma.
 *
 * A. Murua's partitioned half-explicit method on the Dormand-Prince pair (PHEM56), the successor of
 * Brasey's HEM5, whose own coefficients are not used here. Stages are the explicit ones of Dormand
 * and Prince; the multipliers of stage i = 2..7 follow from the velocity constraint at bar values
 * of their own (half_explicit.c). abar_6 = b: the end of the step fulfils the velocity constraint
 * by construction. Stage 7, at the end point, has its bar point at tbar = t0 + 19/30 h; its V' and
 * lambda are those of the end point. Position constraints are projected as in mdop5, with the
 * matrix of stage 6, as are the velocities afterwards. */
#include "integrators/hem5.h"
#include "consistent/projection.h"
#include "integrators/dopri5.h"
#include "integrators/half_explicit.h"

#include <math.h>

const bg_hem5_table bg_hem5_coefficients = {
    .c = {0, 3.0 / 10, 3.0 / 8, 5.0 / 7, 1, 1, 19.0 / 30},
    .a = {{0},
          {3.0 / 40, 9.0 / 40},
          {21.0 / 256, 45.0 / 256, 15.0 / 128},
          {19235.0 / 98784, -225.0 / 392, 6235.0 / 6174, 2755.0 / 32928},
          {-293.0 / 1152, 85.0 / 48, -2275.0 / 1908, 35.0 / 32, -2835.0 / 6784},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
          {10752038939.0 / 66307507200.0, -19259.0 / 50160, 19581770468.0 / 24023520675.0,
           9941999.0 / 650073600, 180060831.0 / 4820710400.0, -11331659.0 / 439538400, 1.0 / 76}},
    .theta = 19.0 / 30,
    .dense = {1812923.0 / 20736000, 0, 45847.0 / 100170, 56677.0 / 414720, -289161.0 / 13568000,
              -67507.0 / 4536000, -3971.0 / 324000},
};

static bg_half_stage get_stage(int i)
{
    const bg_hem5_table *t = &bg_hem5_coefficients;
    return (bg_half_stage){i, bg_dopri5.c[i], t->c[i], bg_dopri5.a[i], t->a[i], false};
}

/* Velocities after the positions moved: the matrix of stage 6 is near that of the end point, a few
 * repetitions reach rounding. */
static void settle_velocity(bg_dynamics *d, double *v)
{
    double before = HUGE_VAL;
    for (int k = 0; k < 10; k++) {
        double size = 0;
        bg_dynamics_calc_w(d, v, d->work_g);
        for (int i = 0; i < d->ng; i++)
            size = fmax(size, d->eliminated[i] ? 0.0 : fabs(d->work_g[i]));
        if (!(size < 0.5 * before))
            return;
        before = size;
        bg_project_velocity(d, v);
    }
}

/* The end point: project positions and velocities with the matrix of stage 6, then stage 7. */
static bg_status end_step(bg_integrator *ig, bg_half_explicit *m, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    const bg_half_stage last = get_stage(6);
    bg_state *x = ig->x1;
    if (d->ng == 0) {
        if (ig->sys->def.normalise)
            ig->sys->def.normalise(ig->sys->def.self, x->q);
        return bg_integrator_calc_rate(ig, x->t, x->q, 0, ig->rate1, x->lambda, err);
    }
    bg_status st = bg_projection_control_position(ig, &m->pair.projection, err);
    unsigned at_end = BG_TERM_MASS | BG_TERM_G | BG_TERM_g | BG_TERM_gt |
                      (d->kinematic ? BG_TERM_V : 0u);
    if (st == BG_OK)
        st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, at_end, err);
    if (st != BG_OK)
        return st;
    if (m->pair.projection.projected)
        settle_velocity(d, x->v);
    bool gamma = (ig->sys->def.supplied & BG_TERM_gamma) != 0;
    st = bg_dynamics_evaluate_more(
        d, x->v, x->z, BG_TERM_f | (gamma ? BG_TERM_gamma : 0u) | (d->nz > 0 ? BG_TERM_h : 0u),
        err);
    if (st != BG_OK)
        return st;
    bg_residuals *r = &ig->residuals1;
    *r = bg_dynamics_calc_residuals(d, x->v, x->v); /* ga follows below, when a is known */
    st = bg_half_explicit_solve(ig, &last, x->q, ig->rate1, x->lambda, err);
    if (st != BG_OK)
        return st;
    r->ga = NAN;
    if (gamma) {
        r->ga = 0;
        bg_matrix_multiply(d->ng, d->nv, ig->sys->def.pattern_G, m->G, ig->rate1 + d->nq,
                           d->work_g);
        for (int k = 0; k < d->ng; k++)
            r->ga = fmax(r->ga, fabs(d->work_g[k] + d->terms.gamma[k]));
    }
    return BG_OK;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_half_explicit *m = ig->method;
    ig->residuals1 = (bg_residuals){.worst_g = -1, .worst_redundant = -1};
    bg_pair_begin(ig);
    bg_status st = BG_OK;
    for (int i = 1; i < 6 && st == BG_OK; i++) {
        const bg_half_stage stage = get_stage(i);
        st = bg_half_explicit_calc_stage(ig, &stage, err);
    }
    if (st != BG_OK)
        return st;
    bg_pair_calc_stage(ig, 6, ig->x1->q);
    st = end_step(ig, m, err);
    if (st == BG_OK)
        bg_pair_end(ig, bg_dopri5.b_hat, false, error);
    return st;
}

/* R from the value at theta = 19/30 that the dense weights give. */
static void prepare_dense(bg_integrator *ig)
{
    bg_half_explicit *m = ig->method;
    if (ig->leaping) { /* its stages are those of Dormand and Prince */
        bg_dopri5_prepare_dense(ig);
        return;
    }
    double h = ig->x1->t - ig->x0->t, theta = bg_hem5_coefficients.theta, rest = 1 - theta;
    bg_combine(ig->n, ig->x0->q, h, 7, bg_hem5_coefficients.dense, m->pair.rate, m->pair.y);
    for (int i = 0; i < ig->n; i++) {
        double D = ig->x1->q[i] - ig->x0->q[i], B = h * ig->rate0[i] - D;
        double cubic = ig->x0->q[i] + theta * (D + rest * (B + theta * (D - h * ig->rate1[i] - B)));
        ig->bubble[i] = (m->pair.y[i] - cubic) / (theta * theta * rest * rest);
    }
}

static const bg_option_info options[] = {
    {"projection", BG_PROJECTION_CHOICES, "every-step",
     "which constraints the end of a step is projected onto (velocity: as none)"},
    BG_PAIR_NORM,
};

const bg_integrator_class bg_hem5;
const bg_integrator_class bg_hem5 = {
    .info = {"hem5",
             "half-explicit Runge-Kutta of order 5 on the index-2 form (Murua), no gamma needed",
             options, 2, false, 5, 4},
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
