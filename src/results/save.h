/* A whole result, written at once. */
#ifndef BG_SAVE_H
#define BG_SAVE_H

#include "bogie/problem.h"
#include "bogie/result.h"
#include "results/batch.h"

/* What a run of the problem with these options left in batch and report, as a result file. */
bg_status bg_result_save(const char *path, const bg_problem *problem, const bg_run_options *options,
                         const bg_batch *batch, const bg_run_report *report, bg_error *err);

#endif
