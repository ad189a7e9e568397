/* Results as CSV: a header, then one line per row (docs/results.md).
 *
 * The first flush goes to NAME.partial, which then becomes NAME by a rename; the same descriptor
 * goes on appending. Only whole lines are handed to the system. When a write fails, the file is cut
 * back to the lines of the last good flush.
 */
#include "base/decimal.h"
#include "base/memory.h"
#include "results/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NUMBER_LENGTH = BG_DECIMAL_LENGTH + 1, /* and its separator */
    TEXT_BYTES = 1 << 16
};

typedef struct csv_writer {
    bg_place *place;
    char *header;
    size_t header_size;
    char *text;              /* whole lines that wait for a write */
    size_t used, size, line; /* bytes in text, its size, a bound on one line */
    off_t safe;              /* bytes of the file after the last good flush */
    bool started;            /* the header is written */
    locale_t locale;         /* "C": a decimal point whatever the program's language */
    bg_decimal decimal;
} csv_writer;

static void destroy(void *writer)
{
    csv_writer *w = writer;
    if (!w)
        return;
    if (w->locale)
        freelocale(w->locale);
    free(w->header);
    free(w->text);
    free(w);
}

/* One column title, "y:camber [deg]", quoted where RFC 4180 asks for it. */
static void print_title(FILE *out, const char *prefix, const char *name, const char *unit)
{
    const char *open = *unit ? " [" : "", *close = *unit ? "]" : "";
    if (!strpbrk(prefix, ",\"\r\n") && !strpbrk(name, ",\"\r\n")) {
        fprintf(out, "%s%s%s%s%s", prefix, name, open, unit, close);
        return;
    }
    fprintf(out, "\"%s", prefix);
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c, out);
    }
    fprintf(out, "%s%s%s\"", open, unit, close);
}

static bool create_header(csv_writer *w, const bg_batch *batch)
{
    FILE *out = open_memstream(&w->header, &w->header_size);
    if (!out)
        return false;
    for (int k = 0; k < BG_FIELD_COUNT; k++) {
        const bg_field *field = &batch->field[k];
        for (int i = 0; i < field->width; i++) {
            char buffer[128];
            if (k > 0)
                putc(',', out);
            print_title(out, field->prefix,
                        bg_batch_get_name(batch, field, i, buffer, sizeof buffer),
                        field->unit ? bg_batch_get_unit(batch, field, i) : "");
        }
    }
    putc('\n', out);
    bool ok = !ferror(out);
    return fclose(out) == 0 && ok;
}

static bg_status create(const bg_writer_def *def, void **writer, bg_error *err)
{
    csv_writer *w = BG_NEW(csv_writer);
    if (w) {
        w->place = def->place;
        bg_decimal_prepare(&w->decimal);
        for (int k = 0; k < BG_FIELD_COUNT; k++)
            w->line += (size_t)def->batch->field[k].width * NUMBER_LENGTH;
        w->size = w->line > TEXT_BYTES ? w->line : TEXT_BYTES;
        w->text = BG_NEW_ARRAY(char, w->size + BG_DECIMAL_ROOM);
        w->locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    }
    if (!w || !w->text || !w->locale || !create_header(w, def->batch)) {
        destroy(w);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the result writer");
    }
    *writer = w;
    return BG_OK;
}

static void print_row(csv_writer *w, const bg_batch *batch, size_t row)
{
    char *at = w->text + w->used;
    for (int k = 0; k < BG_FIELD_COUNT; k++) {
        const bg_field *field = &batch->field[k];
        const size_t begin = row * (size_t)field->width, end = begin + (size_t)field->width;
        for (size_t i = begin; i < end; i++) {
            at += field->integer
                      ? bg_decimal_write_int(((const int *)field->data)[i], at)
                      : bg_decimal_write(&w->decimal, ((const double *)field->data)[i], at);
            *at++ = ',';
        }
    }
    at[-1] = '\n';
    w->used = (size_t)(at - w->text);
}

static int send_text(csv_writer *w)
{
    int cause = bg_place_write(w->place->fd, w->text, w->used);
    w->used = 0;
    return cause;
}

static int send_rows(csv_writer *w, const bg_batch *batch)
{
    int cause = 0;
    locale_t before = uselocale(w->locale);
    for (int row = 0; row < batch->rows && !cause; row++) {
        if (w->size - w->used < w->line)
            cause = send_text(w);
        if (!cause)
            print_row(w, batch, (size_t)row);
    }
    uselocale(before);
    return cause ? cause : send_text(w);
}

/* Opens what is not open yet and sends the header. */
static int start(csv_writer *w)
{
    bg_place *place = w->place;
    if (place->direct) {
        place->fd = open(place->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    } else if (!bg_place_has_working(place)) {
        bg_place_discard(place);
        int cause = bg_place_open(place);
        if (cause)
            return cause;
    }
    if (place->fd < 0)
        return errno;
    w->started = true;
    return bg_place_write(place->fd, w->header, w->header_size);
}

/* Takes back what a failed flush has written. Should even that fail, the lines up to the last good
 * flush are still intact. */
static void restore(csv_writer *w)
{
    bg_place *place = w->place;
    int failed = place->published ? ftruncate(place->fd, w->safe) : 0;
    (void)failed;
    bg_place_discard(place);
}

static bg_status flush(void *writer, const bg_batch *batch, bg_error *err)
{
    csv_writer *w = writer;
    bg_place *place = w->place;
    int cause = w->started ? 0 : start(w);
    if (!cause && place->published && !bg_place_is_current(place))
        cause = EBUSY; /* these rows would go to a file without a name */
    if (!cause)
        cause = send_rows(w, batch);
    if (!cause && !place->published && !place->direct)
        cause = bg_place_rename(place);
    if (cause) {
        restore(w);
        return bg_batch_fail(batch, place, cause, NULL, err);
    }
    if (!place->direct)
        w->safe = lseek(place->fd, 0, SEEK_CUR);
    return BG_OK;
}

static bg_status finish(void *writer, const bg_batch *batch, const char *summary, bg_error *err)
{
    const csv_writer *w = writer;
    (void)summary; /* rows only */
    bg_status status = flush(writer, batch, err);
    if (status)
        return status;
    int failed = close(w->place->fd);
    w->place->fd = -1;
    return failed && errno != EINTR ? bg_batch_fail(batch, w->place, errno, NULL, err) : BG_OK;
}

const bg_writer_class bg_writer_csv = {
    .create = create, .flush = flush, .finish = finish, .destroy = destroy, .kind = BG_PLACE_ROWS};
