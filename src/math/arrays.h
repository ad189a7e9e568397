/* Small functions of arrays of numbers, as several rooms need them. */
#ifndef BG_ARRAYS_H
#define BG_ARRAYS_H

#include <math.h>
#include <stdbool.h>

static inline double bg_dot_product(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The largest modulus; numbers that are NaN do not count. */
static inline double bg_find_largest(const double *x, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* False when some entry is infinite or NaN: the sum of x - x then is NaN. */
static inline bool bg_is_finite(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] - x[i];
    return sum == 0;
}

/* For qsort: integers in ascending order. */
static inline int bg_compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

#endif
