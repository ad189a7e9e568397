/* What a file format is to result.c: one file per format, each with a constant class table and a
 * writer of its own. */
#ifndef BG_WRITER_H
#define BG_WRITER_H

#include "results/batch.h"

typedef struct bg_writer_def {
    bg_place *place;       /* owned by the caller, outlives the writer */
    const bg_batch *batch; /* its fields are the layout */
    const char *model, *integrator;
} bg_writer_def;

typedef struct bg_writer_class {
    bg_status (*create)(const bg_writer_def *def, void **writer, bg_error *err);
    /* Before the first flush: texts that go into the file; model may be NULL. NULL: none go. */
    bg_status (*describe)(void *writer, const char *model, const char *setup, bg_error *err);
    /* Makes the batch durable under NAME, in a complete file. After a failure NAME holds what it
     * held before, the working file is gone, and the writer may only be destroyed. */
    bg_status (*flush)(void *writer, const bg_batch *batch, bg_error *err);
    /* The last flush (the batch may be empty), with the summary; the working file is gone. */
    bg_status (*finish)(void *writer, const bg_batch *batch, const char *summary, bg_error *err);
    void (*destroy)(void *writer);
    bg_place_kind kind;
    bool keeps_steps; /* the steps of the batch go into the file */
} bg_writer_class;

extern const bg_writer_class bg_writer_hdf5, bg_writer_csv;

#endif
