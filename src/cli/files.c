#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder part of path, "." without one. False: too long. */
static bool find_folder(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (length >= PATH_MAX)
        return false;
    snprintf(folder, PATH_MAX, "%.*s", length > 0 ? (int)length : 1, length > 0 ? path : ".");
    return true;
}

bg_status bg_place_check(const char *path, const char *what, bg_error *err)
{
    char folder[PATH_MAX];
    struct stat info;
    if (!find_folder(path, folder))
        return bg_error_set(err, BG_IO, "the name of the %s '%s' is too long", what, path);
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return bg_error_set(err, BG_IO, "the %s '%s' is a folder; give a file name", what,
                                path);
        if (!S_ISREG(info.st_mode))
            return BG_OK; /* a device or pipe: writing will tell */
    }
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return bg_error_set(err, BG_IO, "the %s '%s' cannot be written: there is no folder '%s'",
                            what, path, folder);
    if (access(folder, W_OK | X_OK) != 0 || (access(path, F_OK) == 0 && access(path, W_OK) != 0))
        return bg_error_set(err, BG_IO, "the %s '%s' cannot be written: %s", what, path,
                            strerror(errno));
    return BG_OK;
}

/* True when all of data is safely in the open file, which is closed either way. */
static bool write_and_close(FILE *file, const char *data, size_t size)
{
    bool written = fwrite(data, 1, size, file) == size && fflush(file) == 0;
    int number = fileno(file);
    if (written && fsync(number) != 0 && errno != EINVAL && errno != ENOTSUP)
        written = false; /* EINVAL, ENOTSUP: a device or pipe has nothing to wait for */
    int reason = errno;
    if (fclose(file) != 0)
        return false;
    errno = reason;
    return written;
}

bg_status bg_file_replace_bytes(const char *path, const char *data, size_t size, bg_error *err)
{
    char partial[PATH_MAX];
    struct stat info;
    bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    int length = snprintf(partial, sizeof partial, "%s%s", path, special ? "" : ".partial");
    if (length >= (int)sizeof partial)
        return bg_error_set(err, BG_IO, "the file name '%s' is too long", path);
    FILE *file = fopen(partial, "w");
    bool done = file && write_and_close(file, data, size);
    if (done && !special)
        done = rename(partial, path) == 0;
    if (done)
        return BG_OK;
    bg_error_set(err, BG_IO, "'%s' could not be written: %s", path, strerror(errno));
    if (!special)
        unlink(partial);
    return BG_IO;
}

bg_status bg_file_replace(const char *path, const char *text, bg_error *err)
{
    size_t length = strlen(text);
    char *line = malloc(length + 2);
    if (!line)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for '%s'", path);
    memcpy(line, text, length);
    memcpy(line + length, "\n", 2);
    bg_status st = bg_file_replace_bytes(path, line, length + 1, err);
    free(line);
    return st;
}
