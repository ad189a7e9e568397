/* A linearised system as a MAT-file. */
#ifndef BG_RESULTS_MAT_H
#define BG_RESULTS_MAT_H

#include "base/place.h"
#include "results/linear.h"

bg_status bg_mat_write(const bg_linear_matrices *matrices, const char *path, bg_error *err);

#endif
