/* Sorting in place, without memory of its own, which the qsort of the C library may ask for. */
#ifndef BG_SORT_H
#define BG_SORT_H

/* Heap sort: the largest of x[0 .. n-1] goes to its end, and so on. */
static inline void bg_sort_doubles(double *x, int n)
{
    for (int start = n / 2 - 1, end = n; end > 1; start--) {
        if (start < 0) {
            double top = x[--end];
            x[end] = x[0];
            x[0] = top;
        }
        for (int k = start < 0 ? 0 : start, child; (child = 2 * k + 1) < end; k = child) {
            if (child + 1 < end && x[child] < x[child + 1])
                child++;
            if (!(x[k] < x[child]))
                break;
            double t = x[k];
            x[k] = x[child];
            x[child] = t;
        }
    }
}

static inline void bg_sort_ints(int *x, int n)
{
    for (int start = n / 2 - 1, end = n; end > 1; start--) {
        if (start < 0) {
            int top = x[--end];
            x[end] = x[0];
            x[0] = top;
        }
        for (int k = start < 0 ? 0 : start, child; (child = 2 * k + 1) < end; k = child) {
            if (child + 1 < end && x[child] < x[child + 1])
                child++;
            if (x[k] >= x[child])
                break;
            int t = x[k];
            x[k] = x[child];
            x[child] = t;
        }
    }
}

#endif
