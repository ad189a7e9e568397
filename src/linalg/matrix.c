/* Products with matrices that are dense (row-major) or in a pattern. */
#include "linalg/linalg.h"

void bg_matrix_multiply(int rows, int columns, const bg_pattern *pattern, const double *A,
                        const double *x, double *y)
{
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        if (pattern)
            for (int k = pattern->row_start[i]; k < pattern->row_start[i + 1]; k++)
                sum += A[k] * x[pattern->column[k]];
        else
            for (int j = 0; j < columns; j++)
                sum += A[(size_t)i * (size_t)columns + (size_t)j] * x[j];
        y[i] = sum;
    }
}

void bg_matrix_add_transposed(int rows, int columns, const bg_pattern *pattern, const double *A,
                              double alpha, const double *x, double *y)
{
    for (int i = 0; i < rows; i++) {
        double s = alpha * x[i];
        if (pattern)
            for (int k = pattern->row_start[i]; k < pattern->row_start[i + 1]; k++)
                y[pattern->column[k]] += s * A[k];
        else
            for (int j = 0; j < columns; j++)
                y[j] += s * A[(size_t)i * (size_t)columns + (size_t)j];
    }
}
