/* A JSON text written as it comes: objects, lists, texts, numbers, and arrays of numbers as base64.
 *
 * It stands inside an HTML page, so "<" is written as an escape and no text can end the script
 * element that holds it. Write errors stay in the FILE, to be asked for at the end. */
#ifndef BG_REPORT_JSON_H
#define BG_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct bg_json {
    FILE *out;
    bool comma; /* the next value follows another one */
} bg_json;

/* key NULL: an element of a list. */
void bg_json_open(bg_json *j, const char *key, char bracket);     /* '{' or '[' */
void bg_json_close(bg_json *j, char bracket);                     /* '}' or ']' */
void bg_json_text(bg_json *j, const char *key, const char *text); /* NULL: null */
void bg_json_number(bg_json *j, const char *key, double x);       /* not finite: null */
void bg_json_int(bg_json *j, const char *key, long x);
void bg_json_bool(bg_json *j, const char *key, bool x);
void bg_json_null(bg_json *j, const char *key);
void bg_json_numbers(bg_json *j, const char *key, const double *x, int n);
/* A value that exists already. False: out of memory. */
bool bg_json_value(bg_json *j, const char *key, const json_t *value);

/* An ARRAY {"type","shape","base64"} of up to three dimensions (0: not used), rows first. */
typedef struct bg_json_shape {
    size_t n[3];
} bg_json_shape;

void bg_json_doubles(bg_json *j, const char *key, const double *x, bg_json_shape shape);
void bg_json_floats(bg_json *j, const char *key, const float *x, bg_json_shape shape);
/* As above from doubles at a stride: column by column of a table. */
void bg_json_column(bg_json *j, const char *key, const double *x, size_t stride, size_t n);

#endif
