#include "base/place.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char suffix[] = ".partial";

/* The folder part of path for messages: "." when there is none. */
static void copy_folder(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 1;
    snprintf(folder, size, "%.*s", length > 0 ? length : 1, slash ? path : ".");
}

/* The sentence for a place where nothing can be written. */
static bg_status refuse(const char *path, bg_place_kind kind, int cause, bg_error *err)
{
    const char *what = bg_place_get_name(kind);
    char folder[512];
    struct stat info;
    copy_folder(path, folder, sizeof folder);
    switch (cause) {
    case ENOENT:
        if (stat(folder, &info) == 0)
            return bg_error_set(err, BG_IO,
                                "cannot write %s to '%s': the folder '%s' takes no new files, or "
                                "the link leads to a folder that does not exist; choose another "
                                "place",
                                what, path, folder);
        return bg_error_set(err, BG_IO,
                            "cannot write %s to '%s': the folder '%s' does not exist; create it or "
                            "choose another file name",
                            what, path, folder);
    case ENOTDIR:
        return bg_error_set(err, BG_IO,
                            "cannot write %s to '%s': '%s' is not a folder; choose another file "
                            "name",
                            what, path, folder);
    case EISDIR:
        return bg_error_set(err, BG_IO,
                            "cannot write %s to '%s': it is a directory; give the name of a file",
                            what, path);
    case EACCES:
    case EPERM:
    case EROFS:
        return bg_error_set(
            err, BG_IO,
            "cannot write %s to '%s': %s; change the permissions of the file and of "
            "the folder '%s', or choose another file name",
            what, path, strerror(cause), folder);
    case EWOULDBLOCK:
        return bg_error_set(err, BG_IO,
                            "cannot write %s to '%s': another run is writing to it; wait for its "
                            "end or choose another file name",
                            what, path);
    case EEXIST:
        return bg_error_set(
            err, BG_BAD_INPUT,
            "cannot write %s to '%s': it exists and is no %s of Bogie, so it is not "
            "replaced; choose another name, or remove it",
            what, path, bg_place_get_form(kind));
    case EBADF:
        return bg_error_set(err, BG_BAD_INPUT,
                            "cannot write %s to '%s': it is not open for writing; choose another "
                            "one",
                            what, path);
    case ENOMEM:
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the name '%s'", path);
    default:
        return bg_error_set(err, BG_IO,
                            "cannot write %s to '%s': %s; choose another file name or place", what,
                            path, strerror(cause));
    }
}

/* The same about NAME.partial. */
static bg_status refuse_partial(const char *path, const bg_place *place, int cause, bg_error *err)
{
    if (cause != EEXIST && cause != ELOOP)
        return refuse(path, place->kind, cause, err);
    return bg_error_set(err, BG_BAD_INPUT,
                        "cannot write %s to '%s': the file '%s%s' is in the way, which Bogie needs "
                        "while it writes but has not made; remove it, or choose another name",
                        bg_place_get_name(place->kind), path, path, suffix);
}

/* The open descriptor that path names; -1: none. */
static int find_descriptor(const char *path)
{
    long n;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    bool one = strncmp(path, "/dev/fd/", 8) == 0 && bg_text_to_count(path + 8, &n) && n <= INT_MAX;
    return one ? (int)n : -1;
}

bool bg_place_is_direct(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return true;
    return find_descriptor(path) >= 0;
}

/* What a symbolic link leads to, seen from the folder the link is in; NULL: errno says why. */
static char *follow_link(const char *path)
{
    char target[PATH_MAX], joined[2 * PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return NULL;
    target[n] = '\0';
    const char *slash = strrchr(path, '/');
    if (target[0] == '/' || !slash)
        return strdup(target);
    snprintf(joined, sizeof joined, "%.*s%s", (int)(slash - path) + 1, path, target);
    return strdup(joined);
}

/* The folder of path with all links resolved, and the last name as it is. NULL: errno says why. */
static char *resolve_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strlen(path) >= sizeof folder) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    copy_folder(path, folder, sizeof folder);
    char *real = realpath(folder, NULL), *joined = NULL;
    if (!real)
        return NULL;
    size_t size = strlen(real) + strlen(name) + 2;
    joined = malloc(size);
    errno = ENOMEM;
    if (joined)
        snprintf(joined, size, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(real);
    return joined;
}

char *bg_place_resolve(const char *path)
{
    enum { MAX_LINKS = 40 };
    struct stat info;
    char *at = strdup(path);
    for (int k = 0; at && k < MAX_LINKS; k++) {
        if (lstat(at, &info) != 0 || !S_ISLNK(info.st_mode)) {
            char *end = resolve_folder(at);
            free(at);
            return end;
        }
        char *next = follow_link(at);
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

bool bg_place_is_same(const char *a, const char *b)
{
    struct stat x, y;
    bool there = stat(a, &x) == 0, also = stat(b, &y) == 0;
    if (there && also)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    char *p = bg_place_resolve(a), *q = bg_place_resolve(b);
    bool same = !there && !also && p && q && strcmp(p, q) == 0;
    free(p);
    free(q);
    return same;
}

/* Whether what is at path may be replaced. Returns 0 or an errno. */
static int check_content(const char *path, bg_place_kind kind)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    bool ours = bg_place_is_ours(fd, kind);
    close(fd);
    return ours ? 0 : EEXIST;
}

/* Whether another process holds the lock on a file that exists: a run that goes on writing to it,
 * or is about to make its next working file. */
static bool is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool busy = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return busy;
}

/* A file behind an open descriptor is written where whoever opened it wants that: not one that is
 * read, nor what is in a file that is neither written to its end nor ours. Returns 0 or an errno.
 */
static int check_descriptor(int fd, bg_place_kind kind)
{
    struct stat info;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return EBADF;
    bool adds = fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (flags & O_APPEND) ||
                lseek(fd, 0, SEEK_CUR) == info.st_size;
    if (adds)
        return 0;
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    return check_content(path, kind);
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
    if (exists && S_ISBLK(info.st_mode))
        return ENOTSUP; /* a disk */
    if (exists && access(path, W_OK) != 0)
        return errno;
    place->direct = bg_place_is_direct(path);
    place->path = place->direct ? strdup(path) : bg_place_resolve(path);
    if (!place->path)
        return errno;
    int fd = find_descriptor(path);
    if (fd >= 0)
        return check_descriptor(fd, place->kind);
    return exists && !place->direct ? check_content(path, place->kind) : 0;
}

bg_status bg_place_create(const char *path, bg_place_kind kind, bg_place *place, bg_error *err)
{
    *place = (bg_place){.kind = kind, .fd = -1};
    int cause = inspect(place, path);
    if (cause)
        return refuse(path, kind, cause, err);
    if (place->direct)
        return BG_OK;
    size_t length = strlen(place->path);
    place->partial = BG_NEW_ARRAY(char, length + sizeof suffix);
    if (!place->partial)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the name of the file '%s'", path);
    memcpy(place->partial, place->path, length);
    memcpy(place->partial + length, suffix, sizeof suffix);
    cause = bg_place_open(place);
    if (!cause && kind != BG_PLACE_JOURNAL && is_locked(place->path)) { /* a journal has its own */
        bg_place_discard(place);
        cause = EWOULDBLOCK;
    }
    return cause ? refuse_partial(path, place, cause, err) : BG_OK;
}

bg_status bg_place_check(const char *path, bg_place_kind kind, bg_error *err)
{
    bg_place place;
    bg_status st = bg_place_create(path, kind, &place, err);
    bg_place_clear(&place);
    return st;
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

/* Takes an open working file with its lock. EWOULDBLOCK: somebody else holds a lock on it, or
 * another run renamed it between our two calls. EEXIST: it is no working file of ours, or has
 * another name beside this one. File systems without locks are taken as they are. */
static int take_locked(bg_place *place, int fd)
{
    struct stat info;
    bool busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    int cause = 0;
    if (busy || !same_file(fd, place->partial))
        cause = EWOULDBLOCK;
    else if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1 ||
             !bg_place_is_ours(fd, place->kind))
        cause = EEXIST;
    if (cause)
        close(fd);
    else
        place->fd = fd;
    return cause;
}

/* The working file that is there, whoever left it. */
static int open_existing(bg_place *place)
{
    int fd = open(place->partial, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd < 0 ? errno : take_locked(place, fd);
}

int bg_place_open(bg_place *place)
{
    int fd = open(place->partial, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 && errno != EEXIST)
        return errno;
    int cause = fd >= 0 ? take_locked(place, fd) : open_existing(place);
    if (cause == ENOENT)
        cause = EWOULDBLOCK; /* it was there: another run has just given it its name */
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

bool bg_place_is_current(const bg_place *place)
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
    int cause = bg_place_is_current(place) ? bg_place_open(place) : EBUSY;
    if (!cause) {
        cause = copy_contents(from, place->fd);
        if (cause)
            bg_place_discard(place);
    }
    close(from);
    return cause;
}

/* Gives the working file its name, unless something foreign is there now. */
static int take_name(bg_place *place)
{
    int cause = bg_place_is_current(place) ? 0 : check_content(place->path, place->kind);
    if (!cause && rename(place->partial, place->path) != 0)
        cause = errno;
    return cause;
}

int bg_place_rename(bg_place *place)
{
    int cause = take_name(place);
    if (!cause)
        remember(place);
    return cause;
}

int bg_place_publish(bg_place *place)
{
    enum { ATTEMPTS = 100 };
    static const struct timespec pause = {.tv_nsec = 10000000};
    int cause = take_name(place);
    if (cause)
        return cause;
    remember(place);
    int published = place->fd;
    place->fd = -1;
    cause = bg_place_open(place);
    for (int k = 0; cause == EWOULDBLOCK && k < ATTEMPTS; k++) { /* one that is being turned away */
        nanosleep(&pause, NULL);
        cause = bg_place_open(place);
    }
    close(published);
    return cause;
}

int bg_place_swap(bg_place *place)
{
    bool swapped = bg_place_is_current(place) &&
                   renameat2(AT_FDCWD, place->partial, AT_FDCWD, place->path, RENAME_EXCHANGE) == 0;
    int cause = swapped ? 0 : bg_place_rename(place);
    if (cause)
        return cause;
    remember(place);
    close(place->fd); /* and unlocks what is NAME now */
    place->fd = -1;
    if (swapped && open_existing(place) != 0)
        unlink(place->partial); /* its reader, or its other name, keeps it unchanged */
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

const char *bg_place_find_remedy(int cause)
{
    switch (cause) {
    case ENOSPC:
    case EDQUOT:
        return "free space on that disk or choose another place";
    case EFBIG:
        return "raise the limit on the size of files (ulimit -f) or ask for fewer rows";
    case ENOENT:
    case EBUSY:
    case EEXIST:
        return "something else removed or replaced it: let only one run write to it";
    default:
        return "check the disk and the folder, or choose another place";
    }
}
