/* What tests of bdf share. */
#ifndef BDF_SUPPORT_H
#define BDF_SUPPORT_H

#include "integrators/bdf.h"
#include "model_support.h"

/* A run of a method with options "name=value" (NULL ends them), to t_end. */
typedef struct bdf_outcome {
    bg_status status;
    double q[64], v[64];
    long accepted, rejected;
    bg_corrector_work work;
    int nq, nv;
    char message[BG_ERROR_LENGTH];
} bdf_outcome;

static inline bdf_outcome follow(bg_system *sys, const char *method, double tolerance, double step,
                                 double t_end, const bg_setting *settings, int nsettings)
{
    bg_error err = {BG_OK, ""};
    trajectory x = {.sys = sys, .options = bg_default_integrator_options()};
    const bg_system_def *def = bg_system_get_def(sys);
    bdf_outcome o = {.nq = def->nq, .nv = def->nv};
    x.options.rtol = x.options.atol = tolerance;
    x.options.step = step;
    x.options.settings = settings;
    x.options.nsettings = nsettings;
    assert_true(def->nq <= 64);
    assert_ok(bg_state_create(sys, &x.start, &err));
    assert_ok(bg_state_assemble(sys, x.start, &x.assembly, &err));
    o.status = bg_integrator_create(method, sys, &x.options, &x.ig, &err);
    if (o.status == BG_OK)
        o.status = bg_integrator_start(x.ig, x.start, &x.assembly.redundancy, t_end, &err);
    while (o.status == BG_OK && bg_integrator_get_state(x.ig)->t < t_end)
        o.status = bg_integrator_step(x.ig, &err);
    memcpy(o.message, err.text, sizeof o.message);
    if (x.ig) {
        const bg_state *end = bg_integrator_get_state(x.ig);
        bg_counters c = bg_integrator_get_counters(x.ig);
        memcpy(o.q, end->q, (size_t)def->nq * sizeof(double));
        memcpy(o.v, end->v, (size_t)def->nv * sizeof(double));
        o.accepted = c.accepted;
        o.rejected = c.rejected;
        o.work = c.corrector;
    }
    trajectory_end(&x);
    return o;
}

static inline double calc_distance(const bdf_outcome *a, const bdf_outcome *b)
{
    double error = 0;
    for (int i = 0; i < a->nq; i++)
        error = fmax(error, fabs(a->q[i] - b->q[i]));
    for (int i = 0; i < a->nv; i++)
        error = fmax(error, fabs(a->v[i] - b->v[i]));
    return error;
}

#endif
