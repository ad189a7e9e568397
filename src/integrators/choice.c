/* Gauss-Jordan elimination with full pivoting (002 (6)) of G, with columns in sizes of coordinates
 * and rows of unit length: each pivot, the largest entry that is left, makes its column a dependent
 * coordinate. Of entries that are equal but for rounding the first is taken, so that a symmetric
 * mechanism is always partitioned alike, though not symmetrically. */
#include "integrators/choice.h"

#include <math.h>
#include <string.h>

static const double tie = 1e-6; /* pivots that differ by less are equal */

static void fill_table(const bg_choice *c, const bg_system_def *def)
{
    const bg_pattern *p = def->pattern_G;
    const int nv = def->nv;
    memset(c->table, 0, (size_t)def->ng * (size_t)nv * sizeof(double));
    for (int i = 0; i < def->ng; i++) {
        double *row = c->table + (size_t)i * (size_t)nv, sum = 0;
        int begin = p ? p->row_start[i] : i * nv, end = p ? p->row_start[i + 1] : begin + nv;
        for (int k = begin; k < end && !c->left_out[i]; k++) {
            int j = p ? p->column[k] : k - begin;
            row[j] = c->G[k] * c->unit[j];
            sum += row[j] * row[j];
        }
        for (int j = 0; j < nv && sum > 0; j++)
            row[j] /= sqrt(sum);
    }
}

/* The largest entry of rows that had no pivot yet. */
static double find_pivot(const bg_choice *c, int ng, int nv, int *row, int *column)
{
    double largest = 0;
    for (int i = 0; i < ng; i++) {
        const double *x = c->table + (size_t)i * (size_t)nv;
        for (int j = 0; j < nv && !c->used[i]; j++)
            if (fabs(x[j]) > (1 + tie) * largest) {
                largest = fabs(x[j]);
                *row = i;
                *column = j;
            }
    }
    return largest;
}

/* Takes the column of a pivot out of all rows without one. */
static void eliminate(const bg_choice *c, int ng, int nv, int row, int column)
{
    const double *pivot = c->table + (size_t)row * (size_t)nv;
    for (int i = 0; i < ng; i++) {
        double *to = c->table + (size_t)i * (size_t)nv;
        if (c->used[i] || i == row || to[column] == 0)
            continue;
        double factor = to[column] / pivot[column];
        for (int j = 0; j < nv; j++)
            to[j] -= factor * pivot[j];
        to[column] = 0;
    }
}

bool bg_choice_find(const bg_choice *c, const bg_system *system, unsigned char *independent)
{
    const int ng = system->def.ng, nv = system->def.nv;
    int rank = 0;
    fill_table(c, &system->def);
    for (int i = 0; i < ng; i++) {
        c->used[i] = c->left_out[i];
        rank += !c->left_out[i];
    }
    memset(independent, 1, (size_t)nv);
    for (int k = 0; k < rank; k++) {
        int row = 0, column = 0;
        if (!(find_pivot(c, ng, nv, &row, &column) > c->least))
            return false;
        eliminate(c, ng, nv, row, column);
        c->used[row] = 1;
        independent[column] = 0;
    }
    return true;
}
