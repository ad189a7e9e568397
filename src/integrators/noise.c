/* What rounding does to an attempt.
 *
 * Near a singular position an error of g by rounding moves positions by rounding / x, velocities by
 * rounding / x^2 and accelerations by rounding / x^3, x the distance. How much of that reaches the
 * end of an attempt depends on where its stages are; error estimates, which are differences of
 * rates of the same stages, may or may not see it. So it is tried: the beginning x0 is moved by
 * what rounding leaves open (1e-14 of the size of a coordinate, more far from the origin), back
 * onto the constraints, and the attempt is made again. The error of the method is the same then,
 * but for parts in 1e14 times the condition; what rounding adds is another one. */
#include "integrators/noise.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/integrator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double little = 1e-14; /* of the size of a coordinate, near the origin */

struct bg_noise {
    bg_state *x;   /* another beginning */
    double *rate;  /* [n] y' there */
    double *error; /* [n] of the attempt to judge */
};

bg_status bg_noise_create(bg_integrator *ig, bg_error *err)
{
    bg_noise *n = ig->noise = BG_NEW(bg_noise);
    bg_status st = n ? bg_state_create(ig->sys->system, &n->x, err) : BG_NO_MEMORY;
    if (st == BG_OK) {
        n->rate = BG_NEW_ARRAY(double, ig->n);
        n->error = BG_NEW_ARRAY(double, ig->n);
        if (n->rate && n->error)
            return BG_OK;
    }
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                        ig->class_->info.name);
}

void bg_noise_destroy(bg_noise *n)
{
    if (!n)
        return;
    bg_state_destroy(n->x);
    free(n->rate);
    free(n->error);
    free(n);
}

/* x, rate <- a state on the constraints that rounding cannot tell from x0. */
static bg_status go_elsewhere(bg_integrator *ig)
{
    bg_noise *n = ig->noise;
    bg_dynamics *d = ig->dyn;
    const double *v_size = ig->sys->def.v_size;
    double far = little * bg_project_calc_coarseness(d);
    unsigned draw = 1;
    bg_state_copy(ig->sys->system, ig->x0, n->x);
    bg_state *x = n->x;
    bg_status st = d->kinematic
                       ? bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, BG_TERM_V, NULL)
                       : BG_OK;
    if (st != BG_OK)
        return st;
    for (int i = 0; i < d->nv; i++) {
        draw = draw * 1664525u + 1013904223u;
        d->work_v[i] = (draw >> 31 ? far : -far) * (v_size ? v_size[i] : 1);
    }
    bg_system_move(ig->sys, x->q, d->terms.V, 1.0, d->work_v, x->q);
    st = bg_project_state(d, x, NULL);
    return st == BG_OK ? bg_integrator_calc_rate(ig, x->t, x->q, 0, n->rate, x->lambda, NULL) : st;
}

static void exchange(bg_integrator *ig)
{
    bg_noise *n = ig->noise;
    bg_state *x = ig->x0;
    double *rate = ig->rate0;
    ig->x0 = n->x;
    ig->rate0 = n->rate;
    n->x = x;
    n->rate = rate;
}

static bg_status attempt(bg_integrator *ig)
{
    double error;
    return (ig->leaping ? ig->class_->leap : ig->class_->attempt)(ig, &error, NULL);
}

double bg_noise_measure(bg_integrator *ig)
{
    bg_noise *n = ig->noise;
    double change = INFINITY;
    memcpy(n->error, ig->work_n, (size_t)ig->n * sizeof(double));
    bg_status st = go_elsewhere(ig);
    if (st == BG_OK) {
        exchange(ig);
        st = attempt(ig);
        exchange(ig);
    }
    if (st == BG_OK) {
        for (int i = 0; i < ig->n; i++)
            n->error[i] -= ig->work_n[i];
        change = bg_norm_calc_state(ig, n->error, NULL);
    }
    return attempt(ig) == BG_OK ? change : NAN;
}
