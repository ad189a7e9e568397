/* Assembly within a run: at its start, and on the way, after an event changed a state. */
#ifndef BG_ASSEMBLE_H
#define BG_ASSEMBLE_H

#include "bogie/integrator.h"

/* The memory of an assembly, made once: matrices, ranks, the state it began with. */
typedef struct bg_assembly bg_assembly;
bg_status bg_assembly_create(bg_evaluator *sys, bg_assembly **assembly, bg_error *err);
void bg_assembly_destroy(bg_assembly *assembly);

/* As bg_state_assemble, on an evaluator that is there. */
bg_status bg_state_assemble_with(bg_evaluator *sys, bg_state *state, bg_assembly_report *report,
                                 bg_error *err);
/* As bg_state_assemble, but nothing is kept fixed and only the redundancy is wanted, in arrays that
 * are there (of length ng). Allocates nothing. */
bg_status bg_state_assemble_again(bg_assembly *assembly, bg_state *state, bg_redundancy *redundancy,
                                  bg_error *err);

#endif
