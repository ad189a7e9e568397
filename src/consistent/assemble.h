/* Assembly on the way: after an event changed a state. */
#ifndef BG_ASSEMBLE_H
#define BG_ASSEMBLE_H

#include "bogie/integrator.h"

/* As bg_state_assemble, but nothing is kept fixed and only the redundancy is wanted: it replaces
 * the one given, whose arrays are released. Allocates. */
bg_status bg_state_assemble_again(bg_system *system, bg_state *state, bg_redundancy *redundancy,
                                  bg_error *err);

#endif
