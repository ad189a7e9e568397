/* The first version of a result file in HDF5, without rows. After bg_hdf5_load. */
#ifndef BG_RESULTS_HDF5_LAYOUT_H
#define BG_RESULTS_HDF5_LAYOUT_H

#include "results/library.h"
#include "results/writer.h"

enum { BG_EVENT_CHUNK_ROWS = 64, BG_STEP_CHUNK_ROWS = 1024 };
hsize_t bg_hdf5_calc_chunk_rows(const bg_field *field);

/* The bytes of a file; released by its owner with free. */
typedef struct bg_hdf5_image {
    void *bytes;
    size_t size;
} bg_hdf5_image;

/* False: HDF5 has failed, or out of memory. */
bool bg_hdf5_create_image(const bg_writer_def *def, bg_hdf5_image *image);
/* Adds the model, unless NULL, and the setup. */
bool bg_hdf5_add_documents(bg_hdf5_image *image, const char *model, const char *setup);
/* A text as a dataset of an open file. */
bool bg_hdf5_put_document(hid_t file, const char *name, const char *text);

#endif
