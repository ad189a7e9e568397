/* Higham's estimate of |A^{-1}|_1 from a few solutions with A and A^T (N. J. Higham, FORTRAN codes
 * for estimating the one-norm of a real or complex matrix, ACM TOMS 14, 1988, algorithm 4.1).
 *
 * |B|_1 is the largest |B x|_1 over |x|_1 <= 1, a convex function whose maximum is at a unit
 * vector. From x = (1/n, ..., 1/n) the gradient B^T sign(B x) leads to the unit vector e_j of its
 * largest entry, as long as |B e_j|_1 grows. A vector of alternating signs guards against matrices
 * on which that is deceived. */
#include "linalg/backend.h"

enum { MAX_TURNS = 5 };

static double sum_moduli(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

/* x becomes the signs of its entries; false: they are those of `sign`, which keeps them. */
static bool take_signs(double *x, int *sign, int n)
{
    bool changed = false;
    for (int i = 0; i < n; i++) {
        int now = x[i] > 0 ? 1 : -1;
        changed = changed || now != sign[i];
        sign[i] = now;
        x[i] = now;
    }
    return changed;
}

static int find_largest(const double *x, int n)
{
    int j = 0;
    for (int i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[j]))
            j = i;
    return j;
}

double bg_condition_estimate(const bg_linear_class *class, void *self, int n, double *x, int *sign)
{
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / n;
        sign[i] = 0;
    }
    class->solve(self, x);
    double estimate = sum_moduli(x, n);
    int last = -1;
    for (int turn = 1; n > 1 && turn < MAX_TURNS && take_signs(x, sign, n); turn++) {
        class->solve_transposed(self, x);
        int j = find_largest(x, n);
        if (last >= 0 && x[last] == fabs(x[j])) /* no other vector promises more */
            break;
        for (int i = 0; i < n; i++)
            x[i] = i == j;
        class->solve(self, x);
        double before = estimate;
        estimate = sum_moduli(x, n);
        if (!(estimate > before))
            break;
        last = j;
    }
    if (n == 1)
        return estimate;
    for (int i = 0; i < n; i++)
        x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / (n - 1));
    class->solve(self, x);
    return fmax(estimate, 2 * (sum_moduli(x, n) / (3 * n)));
}
