/* Tables in CSV files: fields separated by a comma, a semicolon or blanks. Empty lines and lines
 * that start with # do not count. */
#ifndef BG_CSV_H
#define BG_CSV_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bg_csv {
    const char *path;     /* for messages */
    const char *expected; /* on a line, for messages: "two numbers" */
    size_t longest;       /* bytes that a line may have */
    int line;             /* number of the line last taken */
    char *text, *rest;    /* the file, and what was not taken yet */
    bg_error *err;
} bg_csv;

/* Reads the file; path and expected must live as long as the table. Close it in any case. */
bg_status bg_csv_open(bg_csv *csv, const char *path, const char *expected, size_t longest,
                      bg_error *err);
void bg_csv_close(bg_csv *csv);

/* The next line that counts, without blanks before it; NULL at the end. */
bg_status bg_csv_take_line(bg_csv *csv, char **line);
/* Cuts the next field, without blanks around it, from a line; NULL: no more. */
char *bg_csv_take_field(char **line);
/* A finite decimal number; fails otherwise. */
bg_status bg_csv_read_number(const bg_csv *csv, const char *field, double *x);
/* Whether some program may call it a number: not a title. */
bool bg_csv_is_number(const char *field);
/* "table 'FILE', line 3: WHAT, not 'FOUND'" */
bg_status bg_csv_fail(const bg_csv *csv, const char *what, const char *found);

#endif
