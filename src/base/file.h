/* Whole files of text in memory, up to a limit. */
#ifndef BG_FILE_H
#define BG_FILE_H

#include "bogie/status.h"

#include <stddef.h>

/* Larger than any model, study or table that makes sense, and small enough for memory: a device or
 * pipe that never ends is found out, too. */
enum { BG_FILE_LIMIT = 256 << 20 };

typedef enum bg_file_outcome {
    BG_FILE_LOADED,
    BG_FILE_UNREADABLE, /* errno says why */
    BG_FILE_TOO_LARGE,
    BG_FILE_NO_MEMORY
} bg_file_outcome;

/* The content with a 0 behind it, to be released with free(). */
bg_file_outcome bg_file_load(const char *path, size_t limit, char **text, size_t *length);
/* The same with the sentence for a failure, about the subject ("FILE:"); what: "study". */
bg_status bg_file_read(const char *path, const char *subject, const char *what, char **text,
                       size_t *length, bg_error *err);
/* Cuts the next line from *rest, which moves behind it; NULL: there is none. Lines end with LF, CR
 * LF or CR. */
char *bg_file_take_line(char **rest);

#endif
