/* Bogie through its public interface, step by step and without output. */
#ifndef BENCH_SOLVE_BOGIE_H
#define BENCH_SOLVE_BOGIE_H

#include "problem.h"

/* One integration from creating the integrator to releasing it, with rtol = tolerance and options
 * of the method. q: where it ends, [nq], or NULL. */
static bench_outcome bogie_solve(const bench_problem *p, const char *method,
                                 const bg_setting *settings, int nsettings, double tolerance,
                                 double *q)
{
    const double t_end = p->t_end;
    bg_integrator_options options = bg_default_integrator_options();
    options.rtol = tolerance;
    options.atol = p->atol * tolerance;
    options.energy = 0; /* IDA integrates no work either */
    options.settings = settings;
    options.nsettings = nsettings;
    bg_integrator *ig;
    bench_outcome o = {0};
    if (bg_integrator_create(method, p->system, &options, &ig, NULL) != BG_OK)
        return o;
    o.good = bg_integrator_start(ig, p->start, &p->assembly.redundancy, t_end, NULL) == BG_OK;
    while (o.good && bg_integrator_get_state(ig)->t < t_end)
        o.good = bg_integrator_step(ig, NULL) == BG_OK;
    const bg_counters count = bg_integrator_get_counters(ig);
    const bg_work work = bg_counters_sum_steps(&count);
    const double *end = bg_integrator_get_state(ig)->q;
    o.error = problem_calc_error(p, end);
    o.steps = count.accepted;
    o.evaluations = count.corrector.fc > 0 ? count.corrector.fc
                                           : work.terms + work.explicit_ + work.residual;
    o.jacobians = count.corrector.evaluations;
    if (q)
        memcpy(q, end, (size_t)p->def->nq * sizeof *q);
    bg_integrator_destroy(ig);
    return o;
}

#endif
