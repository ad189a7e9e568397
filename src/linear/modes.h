/* Modes: eigenvalues of a linearisation, their shapes and who takes part in them. */
#ifndef BG_MODES_H
#define BG_MODES_H

#include "bogie/analysis.h"
#include "linear/linearisation.h"

/* Of a linearisation that has been updated. Clear the modes also after a failure. */
bg_status bg_modes_create(bg_linearisation *linearisation, bg_modes *modes, bg_error *err);
void bg_modes_clear(bg_modes *modes);

#endif
