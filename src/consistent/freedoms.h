/* The degrees of freedom of a system at a state, by name. */
#ifndef BG_FREEDOMS_H
#define BG_FREEDOMS_H

#include "bogie/integrator.h"

typedef struct bg_freedoms {
    int count;
    int *column;   /* [count] the velocity coordinate that stands for each */
    double *basis; /* [count nv] velocities with G v = 0: 1 at its own column, 0 at the others' */
} bg_freedoms;

/* At a consistent state, with the constraints that assembly found not to be redundant. BG_RETRY: it
 * is not clear which rows of G are independent there. Clear it also after a failure. */
bg_status bg_freedoms_create(bg_evaluator *sys, const bg_state *state,
                             const bg_redundancy *redundancy, bg_freedoms *freedoms);
void bg_freedoms_clear(bg_freedoms *freedoms);

#endif
