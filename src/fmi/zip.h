/* A ZIP archive as it is written: files stored as they are, without compression. An FMU is a few
 * files of which one, the object, is most of it; it is unpacked before use anyway, so a library
 * that compresses is not worth its weight here. */
#ifndef BG_ZIP_H
#define BG_ZIP_H

#include "bogie/status.h"

#include <stdio.h>

typedef struct bg_zip {
    FILE *out;
    struct bg_zip_entry *entries; /* [count] */
    int count;
    int failed; /* an errno */
} bg_zip;

/* Begins an archive in an open file, at its start. */
void bg_zip_begin(bg_zip *zip, FILE *out);
/* A file of the archive by its path, with / between folders. Below 4 GiB. */
void bg_zip_add(bg_zip *zip, const char *path, const void *data, size_t size);
/* The list at the end. Returns 0, or the errno of what failed first. */
int bg_zip_end(bg_zip *zip);

#endif
