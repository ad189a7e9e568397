/* A mode as a motion, for pages. */
#ifndef BG_CLI_MODE_MOTION_H
#define BG_CLI_MODE_MOTION_H

#include "cli/linear.h"

/* Mode k as a result file `output` or a page `html`; either may be NULL. amplitude: the largest
 * displacement in sizes, less where the mechanism does not reach it. */
bg_status bg_mode_show(const bg_linear_job *job, const bg_modes *modes, int k, double amplitude,
                       const char *output, const char *html, bg_error *err);

#endif
