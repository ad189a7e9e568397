#include "results/place.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".partial";

/* The folder part of path for messages: "." when there is none. */
static void copy_folder(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 1;
    snprintf(folder, size, "%.*s", length > 0 ? length : 1, slash ? path : ".");
}

/* The sentence for a place where no result can be made. */
static bg_status refuse(const char *path, int cause, bg_error *err)
{
    char folder[512];
    copy_folder(path, folder, sizeof folder);
    switch (cause) {
    case ENOENT:
        return bg_error_set(err, BG_IO,
                            "cannot write results to '%s': the folder '%s' does not exist; create "
                            "it or choose another file name",
                            path, folder);
    case ENOTDIR:
        return bg_error_set(err, BG_IO,
                            "cannot write results to '%s': '%s' is not a folder; choose another "
                            "file name",
                            path, folder);
    case EISDIR:
        return bg_error_set(err, BG_IO,
                            "cannot write results to '%s': it is a directory; give the name of a "
                            "file",
                            path);
    case EACCES:
    case EPERM:
    case EROFS:
        return bg_error_set(err, BG_IO,
                            "cannot write results to '%s': %s; change the permissions of the file "
                            "and of the folder '%s', or choose another file name",
                            path, strerror(cause), folder);
    case EWOULDBLOCK:
        return bg_error_set(err, BG_IO,
                            "cannot write results to '%s': another run is writing to it; wait for "
                            "its end or choose another file name",
                            path);
    default:
        return bg_error_set(err, BG_IO,
                            "cannot write results to '%s': %s; choose another file name or place",
                            path, strerror(cause));
    }
}

bool bg_place_is_direct(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return true;
    return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 ||
           strncmp(path, "/dev/fd/", 8) == 0;
}

/* Finds out what is at path now; sets path and direct. Returns 0 or an errno. */
static int inspect(bg_place *place, const char *path)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (!exists && errno != ENOENT)
        return errno;
    if (exists && S_ISDIR(info.st_mode))
        return EISDIR;
    if (exists && access(path, W_OK) != 0)
        return errno;
    place->direct = bg_place_is_direct(path);
    place->path = exists && !place->direct ? realpath(path, NULL) : strdup(path);
    return place->path ? 0 : errno;
}

bg_status bg_place_create(const char *path, bg_place *place, bg_error *err)
{
    *place = (bg_place){.fd = -1};
    int cause = inspect(place, path);
    if (cause)
        return refuse(path, cause, err);
    if (place->direct)
        return BG_OK;
    size_t length = strlen(place->path);
    place->partial = BG_NEW_ARRAY(char, length + sizeof suffix);
    if (!place->partial)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the name of the result file");
    memcpy(place->partial, place->path, length);
    memcpy(place->partial + length, suffix, sizeof suffix);
    cause = bg_place_open(place);
    return cause ? refuse(path, cause, err) : BG_OK;
}

void bg_place_clear(bg_place *place)
{
    bg_place_discard(place);
    free(place->path);
    free(place->partial);
    *place = (bg_place){.fd = -1};
}

static bool same_file(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

bool bg_place_has_working(const bg_place *place)
{
    return place->fd >= 0 && same_file(place->fd, place->partial);
}

/* Opens NAME.partial and locks it. EWOULDBLOCK: somebody else holds a lock on it, or another run
 * renamed it between our two calls. File systems without locks are taken as they are. */
static int open_locked(bg_place *place, int flags)
{
    int fd = open(place->partial, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return errno;
    bool busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (busy || !same_file(fd, place->partial)) {
        close(fd);
        return EWOULDBLOCK;
    }
    place->fd = fd;
    return 0;
}

int bg_place_open(bg_place *place)
{
    int cause = open_locked(place, O_CREAT);
    if (cause)
        return cause;
    if (ftruncate(place->fd, 0) == 0)
        return 0;
    cause = errno;
    bg_place_discard(place);
    return cause;
}

int bg_place_write(int fd, const void *data, size_t size)
{
    const char *next = data;
    while (size > 0) {
        ssize_t n = write(fd, next, size);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            next += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

static int copy_contents(int from, int to)
{
    char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        int cause = n > 0 ? bg_place_write(to, buffer, (size_t)n) : 0;
        if (cause)
            return cause;
    }
}

static void remember(bg_place *place)
{
    struct stat info;
    place->published = fstat(place->fd, &info) == 0;
    if (place->published) {
        place->device = info.st_dev;
        place->inode = info.st_ino;
    }
}

static bool is_ours(const bg_place *place)
{
    struct stat info;
    return place->published && stat(place->path, &info) == 0 && info.st_dev == place->device &&
           info.st_ino == place->inode;
}

int bg_place_copy(bg_place *place)
{
    int from = open(place->path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return errno;
    int cause = is_ours(place) ? bg_place_open(place) : EBUSY;
    if (!cause) {
        cause = copy_contents(from, place->fd);
        if (cause)
            bg_place_discard(place);
    }
    close(from);
    return cause;
}

int bg_place_rename(bg_place *place)
{
    if (rename(place->partial, place->path) != 0)
        return errno;
    flock(place->fd, LOCK_UN);
    remember(place);
    return 0;
}

int bg_place_swap(bg_place *place)
{
    bool swapped = is_ours(place) &&
                   renameat2(AT_FDCWD, place->partial, AT_FDCWD, place->path, RENAME_EXCHANGE) == 0;
    int cause = swapped ? 0 : bg_place_rename(place);
    if (cause)
        return cause;
    remember(place);
    close(place->fd); /* and unlocks what is NAME now */
    place->fd = -1;
    if (swapped && open_locked(place, 0) != 0)
        unlink(place->partial); /* its reader keeps it, unchanged */
    return 0;
}

void bg_place_discard(bg_place *place)
{
    if (place->fd < 0)
        return;
    if (!place->direct && bg_place_has_working(place))
        unlink(place->partial);
    close(place->fd);
    place->fd = -1;
}

static const char *find_remedy(int cause)
{
    switch (cause) {
    case ENOSPC:
    case EDQUOT:
        return "free space on that disk or choose another place";
    case EFBIG:
        return "raise the limit on the size of files (ulimit -f) or ask for fewer rows";
    case ENOENT:
    case EBUSY:
        return "something else removed or replaced it: let only one run write to it";
    default:
        return "check the disk and the folder, or choose another place";
    }
}

bg_status bg_place_fail(const bg_place *place, const bg_batch *batch, int cause, const char *text,
                        bg_error *err)
{
    char safe[96] = "no rows of this run are in it";
    if (batch->safe_rows > 0)
        snprintf(safe, sizeof safe, "its first %ld rows, up to t = %.9g s, are safe",
                 batch->safe_rows, batch->safe_t);
    return bg_error_set(err, BG_IO, "cannot write results to '%s': %s; %s; %s", place->path,
                        cause ? strerror(cause) : text, safe, find_remedy(cause));
}
