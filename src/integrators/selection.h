/* Which of the constraints that depend on each other are kept, step by step. */
#ifndef BG_SELECTION_H
#define BG_SELECTION_H

#include "consistent/projection.h"
#include "integrators/integrator.h"

typedef struct bg_selection bg_selection;
bg_status bg_selection_create(bg_evaluator *sys, bg_selection **selection, bg_error *err);
void bg_selection_destroy(bg_selection *selection);

/* Whether rows are left out, so that there is a choice; and the most that an exchange costs:
 * matrices before and after a projection of up to 12 iterations, terms of the state there, and
 * rates. */
bool bg_selection_is_needed(const bg_integrator *ig);
enum { BG_EXCHANGE_TERMS = 2 + BG_PROJECTION_MAX + 2, BG_EXCHANGE_FACTORISATIONS = 3 };

/* Exchanges eliminated rows for kept ones where those are no longer good at the beginning x0 of the
 * next step, and moves it onto them; true: some were, and rates there are to be found anew. Costs
 * nothing where no row is redundant. */
bool bg_selection_update(bg_selection *selection, bg_integrator *ig);

#endif
