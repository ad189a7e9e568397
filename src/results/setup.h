/* How a run was made, as a JSON text: what `/setup` of a result file holds. */
#ifndef BG_SETUP_H
#define BG_SETUP_H

#include "bogie/run.h"

/* To be released with free(). NULL: out of memory. */
char *bg_setup_create(const bg_system *system, const bg_run_options *options);

#endif
