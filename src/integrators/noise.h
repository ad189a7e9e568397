/* What rounding does to an attempt, by making it again from a beginning that differs by rounding.
 */
#ifndef BG_NOISE_H
#define BG_NOISE_H

#include "bogie/integrator.h"

#include <stdbool.h>

typedef struct bg_noise bg_noise;
bg_status bg_noise_create(bg_integrator *ig, bg_error *err);
void bg_noise_destroy(bg_noise *noise);

/* The last attempt, from x0 to x1, has its error in work_n. Makes it again from elsewhere, and once
 * more from x0, so that all is as before. Returns what the error changed by, in units of the
 * tolerance; INFINITY: from elsewhere it failed; NAN: it could not be made again at all. */
double bg_noise_measure(bg_integrator *ig);

#endif
