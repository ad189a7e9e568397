/* Tables of signals from CSV files: two columns, separated by a comma, a semicolon or blanks. Empty
 * lines and lines that start with # do not count; the first line that does is a heading if neither
 * column is a number. */
#include "model/signal.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1024 };

typedef struct reader {
    const char *path;
    FILE *file;
    int line;     /* number of the line last read */
    bool started; /* a heading or a row was seen */
    int n, capacity;
    double *x, *y; /* [capacity], n in use */
    bg_error *err;
} reader;

static bg_status fail(const reader *r, const char *what, const char *found)
{
    return bg_error_set(r->err, BG_BAD_INPUT, "table '%s', line %d: %s, not '%s'", r->path, r->line,
                        what, found);
}

static bg_status append(reader *r, double x, double y)
{
    if (r->n == r->capacity) {
        int capacity = r->capacity > 0 ? r->capacity > INT_MAX / 2 ? INT_MAX : 2 * r->capacity : 64;
        double *grown_x = realloc(r->x, (size_t)capacity * sizeof *grown_x);
        r->x = grown_x ? grown_x : r->x;
        double *grown_y = realloc(r->y, (size_t)capacity * sizeof *grown_y);
        r->y = grown_y ? grown_y : r->y;
        if (!grown_x || !grown_y || r->n == INT_MAX)
            return bg_error_set(r->err, BG_NO_MEMORY, "out of memory for the table '%s'", r->path);
        r->capacity = capacity;
    }
    r->x[r->n] = x;
    r->y[r->n++] = y;
    return BG_OK;
}

/* Cuts the next field, without blanks around it, from a line; NULL: no more. */
static char *take_field(char **rest)
{
    char *field = *rest + strspn(*rest, " \t");
    if (*field == '\0')
        return NULL;
    char *end = field + strcspn(field, ",; \t");
    char *next = end + strspn(end, " \t");
    next += *next == ',' || *next == ';';
    *end = '\0';
    *rest = next;
    return field;
}

static bg_status read_number(const reader *r, const char *field, double *x)
{
    char *end;
    *x = strtod(field, &end);
    if (end == field || *end != '\0')
        return fail(r, "expected a number", field);
    return isfinite(*x) ? BG_OK : fail(r, "numbers must be finite", field);
}

static bool is_number(const char *field)
{
    char *end;
    strtod(field, &end);
    return end != field && *end == '\0';
}

static bg_status read_row(reader *r, char *line)
{
    char *time = take_field(&line), *value = take_field(&line), *more = take_field(&line);
    bool first = !r->started;
    r->started = true;
    if (first && !is_number(time) && !(value && is_number(value)))
        return BG_OK;
    double x = 0, y = 0;
    if (!value)
        return fail(r, "expected a time and a value", time);
    bg_status st = read_number(r, time, &x);
    if (st == BG_OK)
        st = read_number(r, value, &y);
    if (st != BG_OK)
        return st;
    if (more)
        return fail(r, "expected two columns, with decimal points", more);
    if (r->n > 0 && !(x > r->x[r->n - 1]))
        return bg_error_set(r->err, BG_BAD_INPUT,
                            "table '%s', line %d: times must ascend, but %g s follows %g s",
                            r->path, r->line, x, r->x[r->n - 1]);
    return append(r, x, y);
}

static bg_status read_rows(reader *r)
{
    char buffer[MAX_LINE];
    bg_status st = BG_OK;
    while (st == BG_OK && fgets(buffer, sizeof buffer, r->file)) {
        r->line++;
        size_t length = strlen(buffer);
        if ((length == 0 || buffer[length - 1] != '\n') && !feof(r->file))
            return bg_error_set(r->err, BG_BAD_INPUT,
                                "table '%s', line %d: too long, or not text; expected two numbers",
                                r->path, r->line);
        buffer[strcspn(buffer, "\r\n")] = '\0';
        char *line = buffer;
        if (r->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0)
            line += 3; /* the mark that some programs put in front of UTF-8 */
        line += strspn(line, " \t");
        if (*line != '\0' && *line != '#')
            st = read_row(r, line);
    }
    if (st == BG_OK && ferror(r->file))
        return bg_error_set(r->err, BG_IO, "the table '%s' cannot be read: %s", r->path,
                            strerror(errno));
    if (st == BG_OK && r->n < 2)
        return bg_error_set(r->err, BG_BAD_INPUT,
                            "table '%s', line %d: the file ends with %d point%s, but a table needs "
                            "at least two",
                            r->path, r->line, r->n, r->n == 1 ? "" : "s");
    return st;
}

bg_status bg_signal_read_csv(bg_signal *signal, const char *path, bg_error *err)
{
    assert(signal->kind == BG_SIGNAL_LINEAR || signal->kind == BG_SIGNAL_SPLINE);
    reader r = {.path = path, .file = fopen(path, "r"), .err = err};
    if (!r.file)
        return bg_error_set(err, BG_IO, "the table '%s' cannot be read: %s", path, strerror(errno));
    bg_status st = read_rows(&r);
    fclose(r.file);
    if (st != BG_OK) {
        free(r.x);
        free(r.y);
        return st;
    }
    free(signal->x);
    free(signal->y);
    free(signal->c);
    signal->n = r.n;
    signal->x = r.x;
    signal->y = r.y;
    signal->c = NULL;
    return BG_OK;
}
