/* Results on disk: HDF5 or CSV by the ending of the file name, and the summary as JSON.
 *
 * Until the first rows are safely on disk an existing file of the same name is untouched; from then
 * on the file under that name is always complete up to the last flush, whatever happens to the
 * process. docs/results.md describes the layout.
 */
#ifndef BOGIE_RESULT_H
#define BOGIE_RESULT_H

#include "bogie/model.h"
#include "bogie/run.h"

BG_API_BEGIN

typedef struct bg_result bg_result;

/* Prepares a result file. Checks name and place at once (ending, folder, permission) but replaces
 * nothing. model is how the user named the system. */
bg_status bg_result_create(const char *path, const char *model, const char *integrator,
                           const bg_system *system, bg_result **result, bg_error *err);
/* Keeps in the file what the run is made of, so that a report needs no other file: the model as a
 * text (NULL: the system is not from a model file) and the options. To be called before the run;
 * CSV has no place for it. */
bg_status bg_result_describe(bg_result *result, const bg_model *model,
                             const bg_run_options *options, bg_error *err);
/* The sink to hand to bg_run. */
bg_sink bg_result_get_sink(bg_result *result);
/* Makes everything given so far durable under the file's name. Rows flush themselves once a second
 * and when the buffer is full. */
bg_status bg_result_flush(bg_result *result, bg_error *err);
/* Last flush, with the summary of the run. The file is complete after it. */
bg_status bg_result_finish(bg_result *result, const bg_run_report *report, bg_error *err);
/* How many rows of this run the file holds; 0 where it was removed or replaced. */
long bg_result_get_rows(const bg_result *result);
/* Releases the handle; a result that was never flushed leaves nothing on disk. */
void bg_result_destroy(bg_result *result);

/* The summary (docs/results.md) as a JSON text, to be released with free(). NULL: out of memory. */
char *bg_summary_create(const bg_system *system, const char *model, const bg_run_report *report);

/* A result file (HDF5) opened for reading. */
typedef struct bg_result_file bg_result_file;

typedef struct bg_result_info {
    const char *version, *model, *integrator; /* what made the file, and from what */
    const char *model_text, *setup, *summary; /* documents (docs/results.md); NULL: not there */
    int complete;                             /* 0: the run goes on, or was killed */
    long rows, events, steps;
} bg_result_info;

/* Opens a result and checks its layout. A file that is no result, is damaged or comes from a newer
 * version of Bogie is refused with a sentence that says so. */
bg_status bg_result_open(const char *path, bg_result_file **file, bg_error *err);
void bg_result_close(bg_result_file *file);
const bg_result_info *bg_result_get_info(const bg_result_file *file);
/* Columns of a dataset by its name in docs/results.md ("t", "q", "steps/h", "events/t"); 0: it is
 * not there. */
int bg_result_get_width(const bg_result_file *file, const char *dataset);
/* The name of a column ("events": of a switching function); written into buffer where the file
 * keeps none. */
const char *bg_result_get_name(const bg_result_file *file, const char *dataset, int column,
                               char *buffer, size_t size);
/* The unit of a column; "": the file says none. */
const char *bg_result_get_unit(const bg_result_file *file, const char *dataset, int column);
/* What happened at an event of switching function `index` in a direction, "tyre fl lands"; written
 * into buffer where the file has no words for it. */
const char *bg_result_get_event_text(const bg_result_file *file, int index, int direction,
                                     char *buffer, size_t size);
/* A whole dataset, rows x width (events or steps instead of rows for theirs); whole numbers become
 * doubles. */
bg_status bg_result_read(bg_result_file *file, const char *dataset, double *values, bg_error *err);

BG_API_END
#endif
