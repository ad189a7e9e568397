/* A byte stream that saves or restores: the same function walks a structure in both directions, so
 * that saving and loading cannot disagree. Used for checkpoints. */
#ifndef BG_ARCHIVE_H
#define BG_ARCHIVE_H

#include "bogie/status.h"
#include "bogie/warning.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bg_archive {
    bool loading;
    bool failed;           /* nothing more is saved or loaded: */
    bool out_of_memory;    /* ... for this reason, or else the data do not fit what is loaded */
    unsigned char *data;   /* saving: grows; loading: the caller's */
    size_t size, capacity; /* bytes used (saving) or available (loading) */
    size_t position;       /* loading: next byte */
} bg_archive;

void bg_archive_bytes(bg_archive *archive, void *data, size_t size);
void bg_archive_doubles(bg_archive *archive, double *x, int n);
void bg_archive_ints(bg_archive *archive, int *x, int n);
void bg_archive_long(bg_archive *archive, long *x);
/* The same for what must not be anything: on loading the archive fails where it is. Whole numbers
 * within limits, numbers that are finite, bytes that are 0 or 1 (a bool holds nothing else),
 * numbers that count something. */
void bg_archive_whole(bg_archive *archive, int *x, int n, int low, int high);
void bg_archive_finite(bg_archive *archive, double *x, int n);
void bg_archive_flags(bg_archive *archive, void *flags, size_t n);
void bg_archive_counts(bg_archive *archive, long *x, int n);
/* A tag that must match on loading. */
void bg_archive_mark(bg_archive *archive, const char *tag);
void bg_archive_clear(bg_archive *archive); /* releases data of a saving archive */

/* The warnings of a list; loading adds them to it. */
void bg_warnings_archive(bg_warnings *list, bg_archive *archive);

#endif
