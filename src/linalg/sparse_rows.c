#include "linalg/sparse_rows.h"

#include <stdlib.h>
#include <string.h>

void bg_sparse_rows_clear(bg_sparse_rows *r)
{
    free(r->start);
    free(r->column);
    free(r->value);
    *r = (bg_sparse_rows){0};
}

void bg_sparse_rows_reset(bg_sparse_rows *r)
{
    r->count = 0;
}

void bg_sparse_rows_begin(bg_sparse_rows *r)
{
    if (r->count == r->rows || !r->start) {
        int rows = 2 * r->rows + 16;
        int *start = realloc(r->start, ((size_t)rows + 1) * sizeof *start);
        r->failed = r->failed || !start;
        if (!start)
            return;
        r->start = start;
        r->rows = rows;
    }
    if (r->count == 0)
        r->start[0] = 0;
    r->start[r->count + 1] = r->start[r->count];
    r->count++;
}

void bg_sparse_rows_add(bg_sparse_rows *r, int column, double value)
{
    if (r->failed)
        return;
    int at = r->start[r->count];
    if (at == r->room) {
        int room = 2 * r->room + 64;
        int *columns = realloc(r->column, (size_t)room * sizeof *columns);
        r->column = columns ? columns : r->column;
        double *values = columns ? realloc(r->value, (size_t)room * sizeof *values) : NULL;
        r->value = values ? values : r->value;
        r->failed = !values;
        if (!values)
            return;
        r->room = room;
    }
    r->column[at] = column;
    r->value[at] = value;
    r->start[r->count]++;
}

void bg_sparse_rows_move(bg_sparse_rows *r, int from, int to)
{
    int begin = r->start[from], end = r->start[from + 1], at = r->start[to];
    size_t n = (size_t)(end - begin);
    memmove(r->column + at, r->column + begin, n * sizeof *r->column);
    memmove(r->value + at, r->value + begin, n * sizeof *r->value);
    r->start[to + 1] = at + (end - begin);
}

void bg_sparse_rows_cut(bg_sparse_rows *r, int count)
{
    r->count = count;
}

double bg_sparse_rows_multiply(const bg_sparse_rows *r, int i, const double *x)
{
    double sum = 0;
    for (int k = r->start[i]; k < r->start[i + 1]; k++)
        sum += r->value[k] * x[r->column[k]];
    return sum;
}
