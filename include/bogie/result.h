/* Results on disk: HDF5 or CSV by the ending of the file name, and the summary as JSON.
 *
 * Until the first rows are safely on disk an existing file of the same name is untouched; from then
 * on the file under that name is always complete up to the last flush, whatever happens to the
 * process. docs/results.md describes the layout.
 */
#ifndef BOGIE_RESULT_H
#define BOGIE_RESULT_H

#include "bogie/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bg_result bg_result;

/* Prepares a result file. Checks name and place at once (ending, folder, permission) but replaces
 * nothing. model is how the user named the system. */
bg_status bg_result_create(const char *path, const char *model, const char *integrator,
                           const bg_system *system, bg_result **result, bg_error *err);
/* The sink to hand to bg_run. */
bg_sink bg_result_get_sink(bg_result *result);
/* Makes everything given so far durable under the file's name. Rows flush themselves once a second
 * and when the buffer is full. */
bg_status bg_result_flush(bg_result *result, bg_error *err);
/* Last flush, with the summary of the run. The file is complete after it. */
bg_status bg_result_finish(bg_result *result, const bg_run_report *report, bg_error *err);
/* Releases the handle; a result that was never flushed leaves nothing on disk. */
void bg_result_destroy(bg_result *result);

/* The summary (docs/results.md) as a JSON text, to be released with free(). NULL: out of memory. */
char *bg_summary_create(const bg_system *system, const char *model, const bg_run_report *report);

#ifdef __cplusplus
}
#endif
#endif
