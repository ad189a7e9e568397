/* Pictures of the verb `rates`. */
#ifndef BG_CLI_RATES_H
#define BG_CLI_RATES_H

#include "cli/linear.h"
#include "design/rates.h"

/* Eigenvalues of both parts as path.svg: those of `rates`, or, where `until` is not NAN, those at
 * `count` times of the motion from its start to `until`, with the same parts. What they reach is
 * printed. */
bg_status bg_rates_draw(bg_linear_job *job, const bg_rates *rates, double until, int count,
                        const char *path, bg_error *err);

#endif
