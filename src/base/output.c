#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bg_status fail(const char *path, int cause, bg_error *err)
{
    return bg_error_set(err, BG_IO, "'%s' could not be written: %s; %s", path, strerror(cause),
                        bg_place_find_remedy(cause));
}

bg_status bg_output_open(const char *path, bg_place_kind kind, bg_output_file *out, bg_error *err)
{
    *out = (bg_output_file){.place = {.fd = -1}};
    bg_status st = bg_place_create(path, kind, &out->place, err);
    if (st == BG_OK) {
        int fd = out->place.direct ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
                                   : dup(out->place.fd);
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
    if (!cause && status == BG_OK && !out->place.direct && fsync(fileno(out->file)) != 0 &&
        errno != EINVAL && errno != ENOTSUP)
        cause = errno;
    if (fclose(out->file) != 0 && !cause)
        cause = errno;
    if (status == BG_OK && !cause && !out->place.direct)
        cause = bg_place_rename(&out->place);
    if (status == BG_OK && cause)
        status = fail(out->place.path, cause, err);
    bg_place_clear(&out->place);
    return status;
}

bg_status bg_output_write(const char *path, bg_place_kind kind, const void *data, size_t size,
                          bg_error *err)
{
    bg_output_file out;
    bg_status st = bg_output_open(path, kind, &out, err);
    if (st != BG_OK)
        return st;
    fwrite(data, 1, size, out.file);
    return bg_output_close(&out, BG_OK, err);
}

bg_status bg_output_write_text(const char *path, bg_place_kind kind, const char *text,
                               bg_error *err)
{
    bg_output_file out;
    bg_status st = bg_output_open(path, kind, &out, err);
    if (st != BG_OK)
        return st;
    fputs(text, out.file);
    putc('\n', out.file);
    return bg_output_close(&out, BG_OK, err);
}
