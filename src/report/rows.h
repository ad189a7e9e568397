/* The trajectory of a result, cut to what can be used. */
#ifndef BG_REPORT_ROWS_H
#define BG_REPORT_ROWS_H

#include "bogie/result.h"

typedef struct bg_rows {
    long n;      /* rows whose times are finite and do not fall */
    long finite; /* rows before the first number that is not finite in q, v, z */
    double *t;   /* [n] s */
    double *q, *v, *a, *z, *lambda, *mode; /* [rows x width]; NULL: width 0, or not asked for */
} bg_rows;

/* The times. After failure the rows must still be cleared. */
bg_status bg_rows_read_times(bg_result_file *file, bg_rows *rows, bg_error *err);
/* The states as well. */
bg_status bg_rows_read(bg_result_file *file, bg_rows *rows, bg_error *err);
void bg_rows_clear(bg_rows *rows);

/* A dataset of a result, to be released with free(); NULL where it has none (BG_OK) or on failure.
 */
bg_status bg_rows_load(bg_result_file *file, const char *dataset, double **values, bg_error *err);

#endif
