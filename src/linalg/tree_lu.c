/* A = L D U along paths. Row k holds d_k, then u_kj and l_jk = a_jk (as they are when k is
 * eliminated, not divided by d_k) for the rows j on its path; for a symmetric matrix one of them.
 * Eliminating k takes l_ik u_kj / d_k off a_ij for all i and j on the path:
 *
 *     forward   z_k = x_k / d_k,    x_i <- x_i - l_ik z_k
 *     backward  x_k = z_k - (sum_j u_kj x_j) / d_k                                              */
#include "linalg/tree_lu.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_velocity = 1e-10, least_constraint = 1e-3, most_growth = 16;

bool bg_tree_lu_create(bg_tree_lu *lu, int n, const int *row_start, const int *column,
                       const signed char *sign, double most)
{
    *lu = (bg_tree_lu){.n = n};
    for (int i = 0; i < n; i++)
        lu->positive += sign[i] > 0;
    if (!bg_tree_lu_order(lu, row_start, column, sign, most))
        return false;
    if (lu->count == 0)
        return true;
    size_t count = (size_t)lu->count, size = (size_t)n;
    lu->half = BG_NEW_ARRAY(double, 5 * count + 3 * size); /* and all other numbers */
    lu->zero = BG_NEW_ARRAY(int, count + size);
    if (!lu->half || !lu->zero)
        return false;
    lu->whole = lu->half + count;
    lu->lu = lu->whole + 2 * count;
    lu->reciprocal = lu->lu + 2 * count;
    lu->base = lu->reciprocal + size;
    lu->size = lu->base + size;
    lu->one = lu->zero + count;
    return true;
}

void bg_tree_lu_clear(bg_tree_lu *lu)
{
    free(lu->place); /* the others are behind these */
    free(lu->half);
    free(lu->zero);
    *lu = (bg_tree_lu){0};
}

int bg_tree_lu_find(const bg_tree_lu *lu, int i, int j)
{
    int row = lu->place[i], column = lu->place[j];
    bool below = row > column;
    if (below) {
        row = lu->place[j];
        column = lu->place[i];
    }
    return 2 * (lu->start[row] + lu->height[row] - lu->height[column]) + below;
}

void bg_tree_lu_hold(bg_tree_lu *lu, const bool *held)
{
    lu->nzero = lu->none = 0;
    memset(lu->half, 0, (size_t)lu->count * sizeof(double));
    memset(lu->whole, 0, 2 * (size_t)lu->count * sizeof(double));
    for (int i = 0; i < lu->n; i++)
        lu->size[lu->place[i]] = held[i]; /* scratch of factorisations */
    for (int k = 0; k < lu->n; k++) {
        if (lu->size[k] > 0)
            lu->one[lu->none++] = k;
        for (int s = lu->start[k] + 1; s < lu->start[k + 1]; s++)
            if (lu->size[k] > 0 || lu->size[lu->path[s]] > 0)
                lu->zero[lu->nzero++] = s;
    }
}

static inline double get_unit(const bg_tree_lu *lu, int k)
{
    return k < lu->positive ? 1 : -1;
}

/* Is pivot d, with the sign it should have, what elimination has left of `before`? */
static inline bool is_safe(double d, double before, double share)
{
    return d >= share * before && d >= DBL_MIN && d <= DBL_MAX;
}

static bool factor_half(bg_tree_lu *lu)
{
    const int *start = lu->start;
    double *values = lu->lu;
    for (int i = 0; i < lu->nzero; i++)
        lu->half[lu->zero[i]] = 0;
    for (int i = 0; i < lu->none; i++)
        lu->half[start[lu->one[i]]] = get_unit(lu, lu->one[i]);
    memcpy(values, lu->half, (size_t)lu->count * sizeof(double));
    for (int k = 0; k < lu->n; k++) {
        double *restrict row = values + start[k];
        if (k == lu->positive)
            for (int j = k; j < lu->n; j++)
                lu->base[j] = -values[start[j]];
        if (!(k < lu->positive ? is_safe(row[0], lu->half[start[k]], least_velocity)
                               : is_safe(-row[0], lu->base[k], least_constraint)))
            return false;
        double reciprocal = lu->reciprocal[k] = 1 / row[0];
        int length = start[k + 1] - start[k];
        for (int t = 1; t < length; t++) {
            if (row[t] == 0)
                continue;
            double factor = row[t] * reciprocal;
            double *restrict to = values + lu->target[start[k] + t];
            const double *restrict from = row + t;
            int m = length - t, s = 0;
            for (; s + 1 < m; s += 2) {
                to[s] -= factor * from[s];
                to[s + 1] -= factor * from[s + 1];
            }
            if (s < m)
                to[s] -= factor * from[s];
        }
    }
    return true;
}

/* The constraints after the velocities: what is left of their diagonal is where they start. */
static bool begin_constraints(bg_tree_lu *lu)
{
    for (int j = lu->positive; j < lu->n; j++) {
        lu->base[j] = fabs(lu->lu[2 * lu->start[j]]);
        if (!(lu->size[j] <= most_growth * lu->base[j]))
            return false;
        lu->size[j] = 0;
    }
    return true;
}

static void begin_whole(bg_tree_lu *lu)
{
    for (int i = 0; i < lu->nzero; i++)
        lu->whole[2 * lu->zero[i]] = lu->whole[2 * lu->zero[i] + 1] = 0;
    for (int i = 0; i < lu->none; i++)
        lu->whole[2 * lu->start[lu->one[i]]] = get_unit(lu, lu->one[i]);
    memcpy(lu->lu, lu->whole, 2 * (size_t)lu->count * sizeof(double));
    memset(lu->size, 0, (size_t)lu->n * sizeof(double));
}

/* Both halves at once: u and l stand side by side, and so do their factors. */
static bool factor_whole(bg_tree_lu *lu)
{
    const int *start = lu->start;
    begin_whole(lu);
    for (int k = 0; k < lu->n; k++) {
        bool first = k < lu->positive;
        double *restrict row = lu->lu + 2 * start[k];
        if (k == lu->positive && !begin_constraints(lu))
            return false;
        double base = first ? fabs(lu->whole[2 * start[k]]) : lu->base[k], size = lu->size[k];
        if (!is_safe(first ? row[0] : -row[0], base + size,
                     first ? least_velocity : least_constraint) ||
            !(size <= most_growth * base))
            return false;
        double reciprocal = lu->reciprocal[k] = 1 / row[0];
        int length = start[k + 1] - start[k];
        for (int t = 1; t < length; t++) {
            double u = row[2 * t], l = row[2 * t + 1];
            if (u == 0 && l == 0)
                continue;
            double by_l = l * reciprocal, by_u = u * reciprocal;
            double *restrict to = lu->lu + 2 * lu->target[start[k] + t];
            const double *restrict from = row + 2 * t;
            lu->size[lu->path[start[k] + t]] += fabs(by_l * u);
            for (int s = 0; s < 2 * (length - t); s += 2) {
                to[s] -= by_l * from[s];
                to[s + 1] -= by_u * from[s + 1];
            }
        }
    }
    return true;
}

bool bg_tree_lu_factor(bg_tree_lu *lu, bool symmetric)
{
    lu->symmetric = symmetric;
    return symmetric ? factor_half(lu) : factor_whole(lu);
}

/* Values of a row are `step` apart; those of L begin at l, those of U at u. */
static inline void substitute(const bg_tree_lu *lu, double *restrict x, int step, int l, int u)
{
    const int *restrict path = lu->path, *restrict start = lu->start;
    const double *restrict values = lu->lu, *restrict reciprocal = lu->reciprocal;
    int n = lu->n;
    for (int k = 0, end = 0; k < n; k++) {
        int s = end + 1;
        end = start[k + 1];
        if (x[k] == 0)
            continue;
        double z = x[k] *= reciprocal[k];
        for (; s < end; s++)
            x[path[s]] -= values[step * s + l] * z;
    }
    for (int k = n - 1, end = start[n]; k >= 0; k--) {
        double sum = 0;
        int begin = start[k];
        for (int s = begin + 1; s < end; s++)
            sum += values[step * s + u] * x[path[s]];
        x[k] -= reciprocal[k] * sum;
        end = begin;
    }
}

void bg_tree_lu_solve(const bg_tree_lu *lu, double *x)
{
    if (lu->symmetric)
        substitute(lu, x, 1, 0, 0);
    else
        substitute(lu, x, 2, 1, 0);
}

void bg_tree_lu_solve_transposed(const bg_tree_lu *lu, double *x)
{
    if (lu->symmetric)
        substitute(lu, x, 1, 0, 0);
    else
        substitute(lu, x, 2, 0, 1);
}

double bg_tree_lu_calc_norm(const bg_tree_lu *lu, double *sum)
{
    double norm = 0;
    for (int k = 0; k < lu->n; k++)
        sum[k] = fabs(lu->symmetric ? lu->half[lu->start[k]] : lu->whole[2 * lu->start[k]]);
    for (int k = 0; k < lu->n; k++)
        for (int s = lu->start[k] + 1; s < lu->start[k + 1]; s++) {
            sum[lu->path[s]] += fabs(lu->symmetric ? lu->half[s] : lu->whole[2 * s]);
            sum[k] += fabs(lu->symmetric ? lu->half[s] : lu->whole[2 * s + 1]);
        }
    for (int k = 0; k < lu->n; k++)
        norm = fmax(norm, sum[k]);
    return norm;
}
