/* The summary before it becomes a text. */
#ifndef BG_SUMMARY_H
#define BG_SUMMARY_H

#include "bogie/result.h"

#include <jansson.h>

/* A new object; NULL: out of memory. */
json_t *bg_summary_make_json(const bg_system *system, const char *model,
                             const bg_run_report *report);
/* The summary of a run that has not begun: all fields that runs with any method have, but for
 * those of its final state. A new object; NULL: out of memory. */
json_t *bg_summary_make_layout(void);

#endif
