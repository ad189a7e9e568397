#include "base/archive.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(bg_archive *archive, size_t size)
{
    if (archive->capacity - archive->size >= size)
        return true;
    size_t capacity = 2 * archive->capacity + size + 256;
    unsigned char *data = realloc(archive->data, capacity);
    if (!data) {
        archive->failed = archive->out_of_memory = true;
        return false;
    }
    archive->data = data;
    archive->capacity = capacity;
    return true;
}

void bg_archive_bytes(bg_archive *archive, void *data, size_t size)
{
    if (archive->failed || size == 0)
        return;
    if (archive->loading) {
        if (archive->size - archive->position < size) {
            archive->failed = true;
            return;
        }
        memcpy(data, archive->data + archive->position, size);
        archive->position += size;
    } else if (grow(archive, size)) {
        memcpy(archive->data + archive->size, data, size);
        archive->size += size;
    }
}

void bg_archive_doubles(bg_archive *archive, double *x, int n)
{
    bg_archive_bytes(archive, x, (size_t)n * sizeof(double));
}

void bg_archive_ints(bg_archive *archive, int *x, int n)
{
    bg_archive_bytes(archive, x, (size_t)n * sizeof(int));
}

void bg_archive_long(bg_archive *archive, long *x)
{
    bg_archive_bytes(archive, x, sizeof(long));
}

void bg_archive_whole(bg_archive *archive, int *x, int n, int low, int high)
{
    bg_archive_ints(archive, x, n);
    for (int i = 0; archive->loading && !archive->failed && i < n; i++)
        archive->failed = x[i] < low || x[i] > high;
}

void bg_archive_finite(bg_archive *archive, double *x, int n)
{
    bg_archive_doubles(archive, x, n);
    for (int i = 0; archive->loading && !archive->failed && i < n; i++)
        archive->failed = !isfinite(x[i]);
}

void bg_archive_flags(bg_archive *archive, void *flags, size_t n)
{
    unsigned char *bytes = flags;
    for (size_t i = 0; i < n && !archive->failed; i++) {
        unsigned char flag = bytes[i];
        bg_archive_bytes(archive, &flag, 1);
        if (flag > 1)
            archive->failed = true;
        else
            bytes[i] = flag;
    }
}

void bg_archive_counts(bg_archive *archive, long *x, int n)
{
    bg_archive_bytes(archive, x, (size_t)n * sizeof *x);
    for (int i = 0; archive->loading && !archive->failed && i < n; i++)
        archive->failed = x[i] < 0 || x[i] > LONG_MAX / 4; /* room for those to come */
}

void bg_archive_mark(bg_archive *archive, const char *tag)
{
    char mark[16] = {0}, seen[16];
    strncpy(mark, tag, sizeof mark - 1);
    memcpy(seen, mark, sizeof mark);
    bg_archive_bytes(archive, seen, sizeof seen);
    if (memcmp(seen, mark, sizeof mark) != 0)
        archive->failed = true;
}

void bg_archive_clear(bg_archive *archive)
{
    if (!archive->loading)
        free(archive->data);
    *archive = (bg_archive){0};
}
