/* A file that is written as a whole or not at all: a FILE on a working file that then takes its
 * name. */
#ifndef BG_OUTPUT_H
#define BG_OUTPUT_H

#include "base/place.h"

#include <stdio.h>

typedef struct bg_output_file {
    bg_place place;
    FILE *file;
} bg_output_file;

/* Opens it, by the rules of place.h. On failure nothing is left to clear. */
bg_status bg_output_open(const char *path, bg_place_kind kind, bg_output_file *out, bg_error *err);
/* Publishes what was written, unless status or an earlier write failed; releases everything. */
bg_status bg_output_close(bg_output_file *out, bg_status status, bg_error *err);

/* All of it at once: size bytes of data, on a disk when this returns. */
bg_status bg_output_write(const char *path, bg_place_kind kind, const void *data, size_t size,
                          bg_error *err);
/* The same for a text, with a line break behind it. */
bg_status bg_output_write_text(const char *path, bg_place_kind kind, const char *text,
                               bg_error *err);

#endif
