#include "model/csv.h"

#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_status bg_csv_fail(const bg_csv *csv, const char *what, const char *found)
{
    return bg_error_set(csv->err, BG_BAD_INPUT, "table '%s', line %d: %s, not '%s'", csv->path,
                        csv->line, what, found);
}

static bg_status refuse_line(const bg_csv *csv)
{
    return bg_error_set(csv->err, BG_BAD_INPUT,
                        "table '%s', line %d: too long, or not text; expected %s", csv->path,
                        csv->line, csv->expected);
}

/* A 0 within would be taken for the end. */
static bg_status check_text(bg_csv *csv, const char *text, size_t length)
{
    if (!memchr(text, '\0', length))
        return BG_OK;
    for (csv->line = 1; *text; text++)
        csv->line += *text == '\n' || (text[0] == '\r' && text[1] != '\n');
    return refuse_line(csv);
}

bg_status bg_csv_open(bg_csv *csv, const char *path, const char *expected, size_t longest,
                      bg_error *err)
{
    *csv = (bg_csv){.path = path, .expected = expected, .longest = longest, .err = err};
    size_t length;
    char subject[512];
    snprintf(subject, sizeof subject, "the table '%s'", path);
    bg_status st = bg_file_read(path, subject, "table", &csv->text, &length, err);
    if (st != BG_OK) {
        csv->text = NULL;
        return st;
    }
    csv->rest = csv->text;
    if (strncmp(csv->rest, "\xEF\xBB\xBF", 3) == 0)
        csv->rest += 3; /* the mark that some programs put in front of UTF-8 */
    return check_text(csv, csv->text, length);
}

void bg_csv_close(bg_csv *csv)
{
    free(csv->text);
    csv->text = NULL;
}

bg_status bg_csv_take_line(bg_csv *csv, char **line)
{
    while ((*line = bg_file_take_line(&csv->rest))) {
        csv->line++;
        if (strlen(*line) >= csv->longest)
            return refuse_line(csv);
        *line += strspn(*line, " \t");
        if (**line != '\0' && **line != '#')
            break;
    }
    return BG_OK;
}

char *bg_csv_take_field(char **line)
{
    char *field = *line + strspn(*line, " \t");
    if (*field == '\0')
        return NULL;
    char *end = field + strcspn(field, ",; \t");
    char *next = end + strspn(end, " \t");
    next += *next == ',' || *next == ';';
    *end = '\0';
    *line = next;
    return field;
}

static bool is_like_number(const char *field, double *x)
{
    char *end;
    *x = bg_text_scan(field, &end);
    return end != field && *end == '\0';
}

bg_status bg_csv_read_number(const bg_csv *csv, const char *field, double *x)
{
    if (bg_text_to_double(field, x))
        return BG_OK;
    if (!is_like_number(field, x))
        return bg_csv_fail(csv, "expected a number", field);
    return isfinite(*x) ? bg_csv_fail(csv, "expected a decimal number", field)
                        : bg_csv_fail(csv, "numbers must be finite", field);
}

bool bg_csv_is_number(const char *field)
{
    double x;
    return is_like_number(field, &x);
}
