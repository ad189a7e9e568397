/* Whether the result of a run can be trusted. */
#ifndef BG_VERDICT_H
#define BG_VERDICT_H

#include "bogie/run.h"

/* Gathers the warnings of system and assembly, adds what the report shows, and judges. The only
 * place that does: terminal, summary, result and page repeat it. */
void bg_verdict_update(const bg_system *system, const bg_run_options *options,
                       bg_run_report *report);

#endif
