#include "linalg/newton.h"

#include <math.h>
#include <stddef.h>

void bg_newton_begin(bg_newton *n)
{
    n->count = 0;
    n->size = 0;
    n->rate = 1;
}

bg_newton_state bg_newton_look(bg_newton *n, double size)
{
    double rate = n->rate = n->count > 0 ? size / n->size : 1.0;
    bool later = n->count++ > 0;
    n->size = size;
    if (size <= n->converged ||
        (n->foretells && rate < 1 && size * rate / (1 - rate) <= n->converged) ||
        (later && rate > n->stalls && size <= n->roundoff))
        return BG_NEWTON_DONE;
    if (!isfinite(size) || n->count >= n->most || (n->slow > 0 && n->count > 2 && rate > n->slow) ||
        (n->diverges > 0 && rate > n->diverges))
        return BG_NEWTON_FAILED;
    return BG_NEWTON_GOES_ON;
}

double bg_newton_calc_size(int n, const double *increment, const double *weight,
                           const unsigned char *mask)
{
    double largest = 0;
    for (int i = 0; i < n; i++) {
        double x = mask && !mask[i] ? 0 : fabs(increment[i]) / weight[i];
        if (isnan(x))
            return x;
        largest = fmax(largest, x);
    }
    return largest;
}

double bg_newton_calc_factor(double alpha, double alpha_matrix)
{
    return 2 / (1 + alpha / alpha_matrix);
}
