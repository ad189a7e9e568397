/* Samples over time: growing, interpolating, reading from CSV.
 *
 * Interpolation as in 002 section 6.2: the polynomial through as many samples before t as behind it
 * (two each in 002, a cubic), at the ends through the first or last ones. A sample at t itself is
 * taken as it is. A jump, two samples at one time, is not interpolated across. */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bg_trajectory_add(bg_trajectory *tr, double t, const double *y)
{
    if (tr->rows == tr->capacity) {
        long capacity = tr->capacity > 0 ? 2 * tr->capacity : 256;
        double *times = realloc(tr->t, (size_t)capacity * sizeof *times);
        tr->t = times ? times : tr->t;
        double *values = realloc(tr->y, (size_t)(capacity * tr->width + 1) * sizeof *values);
        tr->y = values ? values : tr->y;
        if (!times || !values)
            return false;
        tr->capacity = capacity;
    }
    tr->t[tr->rows] = t;
    if (tr->width > 0)
        memcpy(tr->y + tr->rows * tr->width, y, (size_t)tr->width * sizeof *y);
    tr->rows++;
    return true;
}

void bg_trajectory_clear(bg_trajectory *tr)
{
    free(tr->t);
    free(tr->y);
    *tr = (bg_trajectory){0};
}

/* The last sample at or before t. */
static long find_sample(const bg_trajectory *tr, double t)
{
    long low = 0, high = tr->rows - 1;
    while (low < high) {
        long middle = low + (high - low + 1) / 2;
        if (tr->t[middle] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void bg_trajectory_interpolate(const bg_trajectory *tr, double t, int points, double *y)
{
    long r = find_sample(tr, t), first = r, last = r + 1;
    double near = 1e-12 * fmax(fabs(t), tr->t[tr->rows - 1] - tr->t[0]);
    if (last < tr->rows && fabs(tr->t[last] - t) <= near)
        r = last;
    if (tr->rows == 1 || fabs(tr->t[r] - t) <= near) {
        memcpy(y, tr->y + r * tr->width, (size_t)tr->width * sizeof *y);
        return;
    }
    first = r < tr->rows - 1 ? r : tr->rows - 2;
    last = first + 1;
    for (int grown = 1;
         grown && last - first < points - 1;) { /* towards the inside of both neighbours */
        grown = 0;
        if (first > 0 && tr->t[first - 1] < tr->t[first]) {
            first--;
            grown = 1;
        }
        if (last - first < points - 1 && last < tr->rows - 1 && tr->t[last + 1] > tr->t[last]) {
            last++;
            grown = 1;
        }
    }
    for (int k = 0; k < tr->width; k++)
        y[k] = 0;
    for (long i = first; i <= last; i++) { /* Lagrange */
        double weight = 1;
        for (long j = first; j <= last; j++)
            if (j != i)
                weight *= (t - tr->t[j]) / (tr->t[i] - tr->t[j]);
        for (int k = 0; k < tr->width; k++)
            y[k] += weight * tr->y[i * tr->width + k];
    }
}

/* Cuts a line at its commas; returns the number of fields, at most limit of them in field. */
static int split_line(char *line, char **field, int limit)
{
    int n = 0;
    for (char *c = line;; c++) {
        if (n < limit)
            field[n] = c;
        n++;
        c += strcspn(c, ",");
        if (*c == '\0')
            return n;
        *c = '\0';
    }
}

/* The first column's title. */
static bool is_time(const char *title)
{
    return strcmp(title, "t") == 0 || strcmp(title, "\"t\"") == 0;
}

/* A column's name without blanks, quotes, and the "y:" and " [unit]" of Bogie's own files. */
static char *copy_title(char *title)
{
    title += strspn(title, " \t\"");
    title[strcspn(title, "\"")] = '\0';
    char *unit = strstr(title, " [");
    if (unit && title[strlen(title) - 1] == ']')
        *unit = '\0';
    return strdup(strncmp(title, "y:", 2) == 0 ? title + 2 : title);
}

enum { MAX_COLUMNS = 4096 };

static bool is_skipped(const char *line)
{
    return *line == '#' || line[strspn(line, " \t")] == '\0';
}

/* The rows of a file; number: of the line that comes first. */
static bg_status read_rows(char *rest, const char *path, long number, bg_trajectory *tr,
                           bg_error *err)
{
    char **field = BG_NEW_ARRAY(char *, tr->width + 1);
    double *x = BG_NEW_ARRAY(double, tr->width + 1);
    bg_status st = field && x ? BG_OK : BG_NO_MEMORY;
    for (char *line; st == BG_OK && (line = bg_file_take_line(&rest)); number++) {
        if (is_skipped(line))
            continue;
        int n = split_line(line, field, tr->width + 1);
        bool good = n == tr->width + 1;
        for (int i = 0; i < n && good; i++)
            good = bg_text_to_double(field[i], &x[i]);
        if (!good)
            st = bg_error_set(err, BG_BAD_INPUT,
                              "%s: line %ld has not one finite number under each of the %d titles",
                              path, number, tr->width + 1);
        else if (tr->rows > 0 && x[0] < tr->t[tr->rows - 1])
            st = bg_error_set(err, BG_BAD_INPUT, "%s: line %ld: time runs backwards", path, number);
        else if (!bg_trajectory_add(tr, x[0], x + 1))
            st = BG_NO_MEMORY;
    }
    if (st == BG_OK && tr->rows == 0)
        st = bg_error_set(err, BG_BAD_INPUT, "%s: has no rows of numbers", path);
    if (st == BG_NO_MEMORY)
        bg_error_set(err, st, "%s: not enough memory to read the file", path);
    free(field);
    free(x);
    return st;
}

/* The line of titles. */
static bg_status read_titles(char *line, const char *path, char ***columns, int *count,
                             bg_error *err)
{
    char **field = BG_NEW_ARRAY(char *, MAX_COLUMNS);
    int n = field && line ? split_line(line, field, MAX_COLUMNS) : 0;
    bg_status st = BG_OK;
    if (!field)
        st = bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the file", path);
    else if (n < 2 || n > MAX_COLUMNS || !is_time(field[0]))
        st = bg_error_set(err, BG_BAD_INPUT,
                          "%s: must begin with a line of titles, t first: t,NAME,NAME,...", path);
    *columns = st == BG_OK ? BG_NEW_ARRAY(char *, n) : NULL;
    if (st == BG_OK && !*columns)
        st = bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the file", path);
    for (int i = 1; i < n && st == BG_OK; i++) {
        (*columns)[(*count)++] = copy_title(field[i]);
        if (!(*columns)[i - 1])
            st = bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the file", path);
    }
    free(field);
    return st;
}

bg_status bg_trajectory_read_csv(const char *path, bg_trajectory *tr, char ***columns, int *count,
                                 bg_error *err)
{
    char *text, *rest, *line = NULL;
    char subject[512];
    size_t length;
    long number = 1;
    *columns = NULL;
    *count = 0;
    snprintf(subject, sizeof subject, "%s:", path);
    bg_status st = bg_file_read(path, subject, "table", &text, &length, err);
    if (st == BG_OK && memchr(text, '\0', length))
        st = bg_error_set(err, BG_BAD_INPUT, "%s: is not text", path);
    if (st == BG_OK) {
        rest = text + (strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
        while ((line = bg_file_take_line(&rest)) && *line == '#')
            number++;
        st = read_titles(line, path, columns, count, err);
        tr->width = *count;
    }
    if (st == BG_OK)
        st = read_rows(rest, path, number + 1, tr, err);
    free(text);
    return st;
}
