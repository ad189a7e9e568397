#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twice the room, at most limit bytes and a 0. */
static bool grow(char **buffer, size_t *capacity, size_t limit)
{
    size_t more = 2 * *capacity > limit + 2 ? limit + 2 : 2 * *capacity;
    char *grown = realloc(*buffer, more);
    if (!grown)
        return false;
    *buffer = grown;
    *capacity = more;
    return true;
}

static bg_file_outcome load(FILE *file, size_t limit, char **buffer, size_t *length)
{
    size_t capacity = 1 << 16;
    *buffer = malloc(capacity);
    *length = 0;
    if (!*buffer)
        return BG_FILE_NO_MEMORY;
    for (;;) {
        *length += fread(*buffer + *length, 1, capacity - 1 - *length, file);
        if (ferror(file))
            return BG_FILE_UNREADABLE;
        if (*length > limit)
            return BG_FILE_TOO_LARGE;
        if (*length < capacity - 1)
            break;
        if (!grow(buffer, &capacity, limit))
            return BG_FILE_NO_MEMORY;
    }
    (*buffer)[*length] = '\0';
    return BG_FILE_LOADED;
}

bg_file_outcome bg_file_load(const char *path, size_t limit, char **text, size_t *length)
{
    FILE *file = fopen(path, "rb");
    *text = NULL;
    *length = 0;
    if (!file)
        return BG_FILE_UNREADABLE;
    bg_file_outcome outcome = load(file, limit, text, length);
    int cause = errno;
    fclose(file);
    if (outcome != BG_FILE_LOADED) {
        free(*text);
        *text = NULL;
    }
    errno = cause;
    return outcome;
}

bg_status bg_file_read(const char *path, const char *subject, const char *what, char **text,
                       size_t *length, bg_error *err)
{
    switch (bg_file_load(path, BG_FILE_LIMIT, text, length)) {
    case BG_FILE_LOADED:
        return BG_OK;
    case BG_FILE_UNREADABLE:
        return bg_error_set(err, BG_IO, "%s cannot be read: %s", subject, strerror(errno));
    case BG_FILE_TOO_LARGE:
        return bg_error_set(err, BG_BAD_INPUT, "%s is too large for a %s: more than %d MiB",
                            subject, what, BG_FILE_LIMIT >> 20);
    default:
        return bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the file", path);
    }
}

char *bg_file_take_line(char **rest)
{
    char *line = *rest;
    if (*line == '\0')
        return NULL;
    char *end = line + strcspn(line, "\r\n");
    *rest = end + (*end != '\0') + (end[0] == '\r' && end[1] == '\n');
    *end = '\0';
    return line;
}
