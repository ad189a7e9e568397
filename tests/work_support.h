/* All work of an integrator together, for plans that bound it whoever it is for. */
#ifndef WORK_SUPPORT_H
#define WORK_SUPPORT_H

#include "bogie/integrator.h"

/* `terms` are evaluations of whatever kind. */
static inline bg_work sum_work(const bg_counters *c)
{
    const bg_work *const parts[] = {&c->steps, &c->projection, &c->events, &c->rows, &c->foresight};
    bg_work sum = {0};
    for (int i = 0; i < 5; i++) {
        sum.terms += parts[i]->terms + parts[i]->constraints + parts[i]->switching;
        sum.explicit_ += parts[i]->explicit_;
        sum.jacobian += parts[i]->jacobian;
        sum.factorisations += parts[i]->factorisations;
        sum.projections += parts[i]->projections;
    }
    return sum;
}

#endif
