/* Tables of signals from CSV files: two columns, separated by a comma, a semicolon or blanks. Empty
 * lines and lines that start with # do not count; the first line that does is a heading if neither
 * column is a number. */
#include "model/signal.h"

#include "base/file.h"
#include "base/text.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1024 };

typedef struct reader {
    const char *path;
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

/* What some program may call a number, if not this one: not a title. */
static bool is_like_number(const char *field, double *x)
{
    char *end;
    *x = strtod(field, &end);
    return end != field && *end == '\0';
}

static bg_status read_number(const reader *r, const char *field, double *x)
{
    if (bg_text_to_double(field, x))
        return BG_OK;
    if (!is_like_number(field, x))
        return fail(r, "expected a number", field);
    return isfinite(*x) ? fail(r, "expected a decimal number", field)
                        : fail(r, "numbers must be finite", field);
}

static bool is_number(const char *field)
{
    double x;
    return is_like_number(field, &x);
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

static bg_status refuse_line(const reader *r)
{
    return bg_error_set(r->err, BG_BAD_INPUT,
                        "table '%s', line %d: too long, or not text; expected two numbers", r->path,
                        r->line);
}

/* A 0 within would be taken for the end. */
static bg_status check_text(reader *r, const char *text, size_t length)
{
    if (!memchr(text, '\0', length))
        return BG_OK;
    for (r->line = 1; *text; text++)
        r->line += *text == '\n' || (text[0] == '\r' && text[1] != '\n');
    return refuse_line(r);
}

static bg_status read_rows(reader *r, char *text)
{
    bg_status st = BG_OK;
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3; /* the mark that some programs put in front of UTF-8 */
    for (char *line; st == BG_OK && (line = bg_file_take_line(&text));) {
        r->line++;
        if (strlen(line) >= MAX_LINE)
            return refuse_line(r);
        line += strspn(line, " \t");
        if (*line != '\0' && *line != '#')
            st = read_row(r, line);
    }
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
    reader r = {.path = path, .err = err};
    char *text;
    size_t length;
    char subject[512];
    snprintf(subject, sizeof subject, "the table '%s'", path);
    bg_status st = bg_file_read(path, subject, "table", &text, &length, err);
    if (st == BG_OK)
        st = check_text(&r, text, length);
    if (st == BG_OK)
        st = read_rows(&r, text);
    free(text);
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
