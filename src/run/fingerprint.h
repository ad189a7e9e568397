/* A number that changes with bytes (FNV-1a), and with what a system's functions give: it tells a
 * checkpoint of other parameters or of another program. */
#ifndef BG_FINGERPRINT_H
#define BG_FINGERPRINT_H

#include "bogie/model.h"
#include "run/runner.h"

#include <stddef.h>
#include <stdint.h>

#define BG_FINGERPRINT_START 0xcbf29ce484222325u

uint64_t bg_fingerprint_add(uint64_t h, const void *data, size_t size);
/* Of what a model says, with its settings, parts and tables, but for comments and "run". */
uint64_t bg_fingerprint_calc_model(const bg_model *model);
/* Of the system's functions at the integrator's state. */
uint64_t bg_fingerprint_calc(bg_runner *r);

#endif
