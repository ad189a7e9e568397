/* Tables of signals from CSV files: two columns. The first line that counts is a heading if neither
 * column is a number. */
#include "model/csv.h"
#include "model/signal.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

enum { MAX_LINE = 1024 };

typedef struct signal_reader {
    bg_csv csv;
    bool started; /* a heading or a row was seen */
    int n, capacity;
    double *x, *y; /* [capacity], n in use */
} signal_reader;

static bg_status append(signal_reader *r, double x, double y)
{
    if (r->n == r->capacity) {
        int capacity = r->capacity > 0 ? r->capacity > INT_MAX / 2 ? INT_MAX : 2 * r->capacity : 64;
        double *grown_x = realloc(r->x, (size_t)capacity * sizeof *grown_x);
        r->x = grown_x ? grown_x : r->x;
        double *grown_y = realloc(r->y, (size_t)capacity * sizeof *grown_y);
        r->y = grown_y ? grown_y : r->y;
        if (!grown_x || !grown_y || r->n == INT_MAX)
            return bg_error_set(r->csv.err, BG_NO_MEMORY, "out of memory for the table '%s'",
                                r->csv.path);
        r->capacity = capacity;
    }
    r->x[r->n] = x;
    r->y[r->n++] = y;
    return BG_OK;
}

static bg_status read_row(signal_reader *r, char *line)
{
    const bg_csv *csv = &r->csv;
    char *time = bg_csv_take_field(&line), *value = bg_csv_take_field(&line),
         *more = bg_csv_take_field(&line);
    bool first = !r->started;
    r->started = true;
    if (first && !bg_csv_is_number(time) && !(value && bg_csv_is_number(value)))
        return BG_OK;
    double x = 0, y = 0;
    if (!value)
        return bg_csv_fail(csv, "expected a time and a value", time);
    bg_status st = bg_csv_read_number(csv, time, &x);
    if (st == BG_OK)
        st = bg_csv_read_number(csv, value, &y);
    if (st != BG_OK)
        return st;
    if (more)
        return bg_csv_fail(csv, "expected two columns, with decimal points", more);
    if (r->n > 0 && !(x > r->x[r->n - 1]))
        return bg_error_set(csv->err, BG_BAD_INPUT,
                            "table '%s', line %d: times must ascend, but %g s follows %g s",
                            csv->path, csv->line, x, r->x[r->n - 1]);
    return append(r, x, y);
}

static bg_status read_rows(signal_reader *r)
{
    bg_csv *csv = &r->csv;
    char *line;
    bg_status st = bg_csv_take_line(csv, &line);
    while (st == BG_OK && line) {
        st = read_row(r, line);
        if (st == BG_OK)
            st = bg_csv_take_line(csv, &line);
    }
    if (st == BG_OK && r->n < 2)
        return bg_error_set(csv->err, BG_BAD_INPUT,
                            "table '%s', line %d: the file ends with %d point%s, but a table needs "
                            "at least two",
                            csv->path, csv->line, r->n, r->n == 1 ? "" : "s");
    return st;
}

bg_status bg_signal_read_csv(bg_signal *signal, const char *path, bg_error *err)
{
    assert(signal->kind == BG_SIGNAL_LINEAR || signal->kind == BG_SIGNAL_SPLINE);
    signal_reader r = {0};
    bg_status st = bg_csv_open(&r.csv, path, "two numbers", MAX_LINE, err);
    if (st == BG_OK)
        st = read_rows(&r);
    bg_csv_close(&r.csv);
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
