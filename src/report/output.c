#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the file at path may be replaced: it does not exist, is empty, no regular file, or begins
 * with one of the texts. */
static bool is_ours(const char *path, const char *const *beginnings)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return true;
    char head[16] = {0};
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    for (; *beginnings; beginnings++)
        if (n >= strlen(*beginnings) && strncasecmp(head, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

static bg_status fail(const char *path, int cause, bg_error *err)
{
    return bg_error_set(err, BG_IO, "'%s' could not be written: %s; choose another place", path,
                        strerror(cause));
}

bg_status bg_output_open(const char *path, const char *kind, const char *const *beginnings,
                         bg_output_file *out, bg_error *err)
{
    *out = (bg_output_file){.place = {.fd = -1}};
    if (!is_ours(path, beginnings))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' exists and is no %s, so it is not replaced; choose another name, "
                            "or remove it",
                            path, kind);
    bg_status st = bg_place_create(path, &out->place, err);
    if (st == BG_OK) {
        int fd = out->place.direct ? open(path, O_WRONLY | O_CLOEXEC) : dup(out->place.fd);
        out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
        if (!out->file) {
            st = fail(path, errno, err);
            if (fd >= 0)
                close(fd);
        }
    }
    if (st != BG_OK)
        bg_place_clear(&out->place);
    return st;
}

/* Why a write failed, 0: none did. The cause of one that lies back is gone, but another attempt on
 * what is given up anyway meets it again. */
static int find_cause(FILE *file)
{
    bool before = ferror(file) != 0;
    if (fflush(file) != 0)
        return errno;
    if (!before)
        return 0;
    return write(fileno(file), "", 1) < 0 ? errno : EIO;
}

bg_status bg_output_close(bg_output_file *out, bg_status status, bg_error *err)
{
    int cause = find_cause(out->file);
    if (fclose(out->file) != 0 && !cause)
        cause = errno;
    if (status == BG_OK && !cause && !out->place.direct)
        cause = bg_place_rename(&out->place);
    if (status == BG_OK && cause)
        status = fail(out->place.path, cause, err);
    bg_place_clear(&out->place);
    return status;
}
