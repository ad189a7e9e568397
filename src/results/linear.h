/* A linearised system on disk. */
#ifndef BG_RESULTS_LINEAR_H
#define BG_RESULTS_LINEAR_H

#include "bogie/analysis.h"

#include <jansson.h>

/* FILE.json (or "-", stdout), FILE.csv, FILE.mat or FILE.h5. docs/modes.md has the layouts. */
bg_status bg_linear_check_place(const char *path, bg_error *err);
/* The same as an object; NULL: out of memory. */
json_t *bg_linear_make_json(const bg_linear_matrices *matrices);
bg_status bg_linear_write(const bg_linear_matrices *matrices, const char *path, bg_error *err);

#endif
