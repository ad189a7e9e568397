/* Whether M is positive semidefinite, as kinetic energy wants it.
 *
 * M = L D L^T with diagonal pivots, the one taken that has kept most of its coordinate's mass. What
 * rounding leaves of a pivot is relative to the terms it consists of, m_ii + sum l_ij^2 d_j; one
 * that is negative beyond that is a motion with negative energy, along its coordinate with those
 * before it following. Where pivots have vanished, so must what is beside them. */
#include "system/masses.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>

enum { LARGEST = 1000 }; /* velocities up to which this is looked at, in O(nv^3) */
static const double rounding = 1e-12;

typedef struct factors {
    int n;
    double *A, *mass, *terms; /* [n n], [n], [n] */
    bool *done;               /* [n] */
} factors;

static void fill(factors *f, const bg_pattern *p, const double *M)
{
    int n = f->n;
    for (int i = 0; i < n; i++) {
        int begin = p ? p->row_start[i] : i * n, end = p ? p->row_start[i + 1] : begin + n;
        for (int k = begin; k < end; k++)
            f->A[(size_t)i * (size_t)n + (size_t)(p ? p->column[k] : k - begin)] = M[k];
    }
    for (int i = 0; i < n; i++)
        f->mass[i] = f->terms[i] = fabs(f->A[(size_t)i * (size_t)n + (size_t)i]);
}

/* The coordinate whose pivot is largest beside its mass, -1: none is left but rounding. */
static int find_pivot(const factors *f)
{
    int best = -1;
    double largest = rounding;
    for (int i = 0; i < f->n; i++) {
        double pivot = f->A[(size_t)i * (size_t)f->n + (size_t)i];
        if (!f->done[i] && f->mass[i] > 0 && pivot > largest * f->terms[i]) {
            largest = pivot / f->terms[i];
            best = i;
        }
    }
    return best;
}

static void eliminate(factors *f, int k)
{
    size_t n = (size_t)f->n, row = (size_t)k * n;
    double pivot = f->A[row + (size_t)k];
    f->done[k] = true;
    for (size_t i = 0; i < n; i++) {
        double l = f->A[row + i] / pivot;
        if (f->done[i] || l == 0)
            continue;
        f->terms[i] += fabs(l * f->A[row + i]);
        for (size_t j = 0; j < n; j++)
            if (!f->done[j])
                f->A[i * n + j] -= l * f->A[row + j];
    }
}

/* A coordinate with negative energy among those that are left, -1: none. */
static int find_negative(const factors *f, bool vanished, double *value)
{
    size_t n = (size_t)f->n;
    for (size_t i = 0; i < n; i++) {
        *value = f->A[i * n + i];
        if (!f->done[i] && *value < -rounding * f->terms[i])
            return (int)i;
    }
    for (size_t i = 0; i < n && vanished; i++)
        for (size_t j = 0; j < n; j++) {
            *value = -fabs(f->A[i * n + j]);
            if (!f->done[i] && !f->done[j] && i != j &&
                *value < -sqrt(rounding * f->terms[i] * f->terms[j]))
                return (int)i;
        }
    return -1;
}

int bg_masses_find_negative(const bg_system *sys, const double *M, double *value)
{
    size_t n = (size_t)sys->def.nv;
    factors f = {.n = sys->def.nv};
    int found = -1;
    if (f.n > LARGEST)
        return -1;
    f.A = BG_NEW_ARRAY(double, n *n);
    f.mass = BG_NEW_ARRAY(double, n);
    f.terms = BG_NEW_ARRAY(double, n);
    f.done = BG_NEW_ARRAY(bool, n);
    if (f.A && f.mass && f.terms && f.done) {
        fill(&f, sys->def.pattern_M, M);
        found = find_negative(&f, false, value);
        for (int k; found < 0 && (k = find_pivot(&f)) >= 0;) {
            eliminate(&f, k);
            found = find_negative(&f, false, value);
        }
        if (found < 0)
            found = find_negative(&f, true, value);
    }
    if (!f.A || !f.mass || !f.terms || !f.done)
        found = BG_MASSES_NO_MEMORY;
    free(f.A);
    free(f.mass);
    free(f.terms);
    free(f.done);
    return found;
}

bg_status bg_masses_check(const bg_system *sys, double t, const double *M, bg_error *err)
{
    char buffer[32];
    double value;
    int i = bg_masses_find_negative(sys, M, &value);
    if (i == BG_MASSES_NO_MEMORY)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the masses of '%s'",
                            sys->def.name);
    if (i < 0)
        return BG_OK;
    return bg_error_set(
        err, BG_BAD_INPUT,
        "system '%s': the mass matrix is not positive at t = %.9g: along coordinate "
        "'%s', with others following, the mass is negative (%.3g); correct M",
        sys->def.name, t, bg_system_get_name(sys, 'v', i, buffer, sizeof buffer), value);
}

static double get_diagonal(const bg_system *sys, const double *M, int i)
{
    const bg_pattern *p = sys->def.pattern_M;
    if (!p)
        return M[i * sys->def.nv + i];
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        if (p->column[k] == i)
            return M[k];
    return 0;
}

void bg_masses_calc_means(const bg_system *sys, const double *M, double *mass)
{
    for (int first = 0, end; first < sys->def.nv; first = end) {
        double sum = 0;
        for (end = first; end < sys->def.nv && bg_system_get_block(sys, end) == first; end++)
            sum += get_diagonal(sys, M, end);
        for (int i = first; i < end; i++)
            mass[i] = sum / (end - first);
    }
}
