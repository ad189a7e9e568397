/* A file that is written as a whole or not at all: a FILE on a working file that then takes its
 * name. */
#ifndef BG_REPORT_OUTPUT_H
#define BG_REPORT_OUTPUT_H

#include "results/place.h"

#include <stdio.h>

typedef struct bg_output_file {
    bg_place place;
    FILE *file;
} bg_output_file;

/* Opens it. A file of that name is left alone unless it begins with one of the texts
 * (NULL-terminated, compared without case): what it is to be replaced by. On failure nothing is
 * left to clear. */
bg_status bg_output_open(const char *path, const char *kind, const char *const *beginnings,
                         bg_output_file *out, bg_error *err);
/* Publishes what was written, unless status or an earlier write failed; releases everything. */
bg_status bg_output_close(bg_output_file *out, bg_status status, bg_error *err);

#endif
