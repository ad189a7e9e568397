#include "report/rows.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static long find_length(const bg_result_info *info, const char *dataset)
{
    return strncmp(dataset, "events/", 7) == 0  ? info->events
           : strncmp(dataset, "steps/", 6) == 0 ? info->steps
                                                : info->rows;
}

bg_status bg_rows_load(bg_result_file *file, const char *dataset, double **values, bg_error *err)
{
    long length = find_length(bg_result_get_info(file), dataset);
    int width = bg_result_get_width(file, dataset);
    *values = NULL;
    if (width == 0)
        return BG_OK;
    double *x = bg_calloc((size_t)length, (size_t)width * sizeof(double));
    if (!x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for '%s' of the result", dataset);
    bg_status st = bg_result_read(file, dataset, x, err);
    if (st == BG_OK)
        *values = x;
    else
        free(x);
    return st;
}

bg_status bg_rows_read_times(bg_result_file *file, bg_rows *rows, bg_error *err)
{
    *rows = (bg_rows){0};
    long n = bg_result_get_info(file)->rows;
    bg_status st = bg_rows_load(file, "t", &rows->t, err);
    if (st != BG_OK)
        return st;
    while (rows->n < n && isfinite(rows->t[rows->n]) &&
           (rows->n == 0 || rows->t[rows->n] >= rows->t[rows->n - 1]))
        rows->n++;
    rows->finite = rows->n;
    return BG_OK;
}

/* The first row with a number that is not finite, or n. */
static long find_not_finite(const double *x, int width, long n)
{
    for (long k = 0; x && k < n; k++)
        for (int i = 0; i < width; i++)
            if (!isfinite(x[k * width + i]))
                return k;
    return n;
}

bg_status bg_rows_read(bg_result_file *file, bg_rows *rows, bg_error *err)
{
    static const char *const names[] = {"q", "v", "z", "a", "lambda", "mode"};
    bg_status st = bg_rows_read_times(file, rows, err);
    double **const arrays[] = {&rows->q, &rows->v, &rows->z, &rows->a, &rows->lambda, &rows->mode};
    for (int k = 0; k < 6 && st == BG_OK; k++) {
        st = bg_rows_load(file, names[k], arrays[k], err);
        if (st == BG_OK && k < 3)
            rows->finite = find_not_finite(*arrays[k], bg_result_get_width(file, names[k]),
                                           rows->finite);
    }
    return st;
}

void bg_rows_clear(bg_rows *rows)
{
    free(rows->t);
    free(rows->q);
    free(rows->v);
    free(rows->a);
    free(rows->z);
    free(rows->lambda);
    free(rows->mode);
    *rows = (bg_rows){0};
}
