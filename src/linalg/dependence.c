#include "linalg/dependence.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double as_good = 0.3;
static const double negligible = 0.05 * DBL_EPSILON; /* entries, beside the length of their row */
static const double little = 1e-9; /* parts of a row of the inverse, beside the whole */

int bg_candidates_find_next(const bg_candidates *c, double tolerance, double least)
{
    double largest = 0;
    int found = -1;
    for (int i = 0; i < c->m; i++)
        if (!c->decided[i] && c->left[i] > (c->order[i] > 0 ? least : tolerance))
            largest = c->left[i] > largest ? c->left[i] : largest;
    for (int i = 0; i < c->m && largest > 0; i++) {
        bool good = !c->decided[i] && c->left[i] > (c->order[i] > 0 ? least : tolerance) &&
                    c->left[i] >= as_good * largest;
        if (good && c->order[i] > 0)
            return i;
        found = good && found < 0 ? i : found;
    }
    return found;
}

static void list(void *object, bg_arena *arena)
{
    bg_dependence *x = object;
    BG_TAKE(arena, x->active, x->rows);
    BG_TAKE(arena, x->aside, x->rows);
    BG_TAKE(arena, x->touched, x->rows);
    BG_TAKE(arena, x->touching, x->rows);
    BG_TAKE(arena, x->kept, x->rows);
    BG_TAKE(arena, x->rank_of, x->rows);
    BG_TAKE(arena, x->pivot, x->rows);
    BG_TAKE(arena, x->length, x->rows);
    BG_TAKE(arena, x->left, x->rows);
    BG_TAKE(arena, x->c, x->rows);
    BG_TAKE(arena, x->decided, x->rows);
    BG_TAKE(arena, x->dependent, x->rows);
    BG_TAKE(arena, x->order, x->rows);
    BG_TAKE(arena, x->remainder, x->rows);
    BG_TAKE(arena, x->part, x->rows);
    BG_TAKE(arena, x->coefficient, x->rows);
    BG_TAKE(arena, x->top, x->columns);
    BG_TAKE(arena, x->turn, x->columns);
    BG_TAKE(arena, x->place, x->columns);
    BG_TAKE(arena, x->list, x->columns);
    BG_TAKE(arena, x->found, x->columns);
    BG_TAKE(arena, x->v, x->columns);
}

void bg_dependence_clear(bg_dependence *d)
{
    bg_arena_clear(&d->arena);
    free(d->entry);
    *d = (bg_dependence){0};
}

/* Room for so many entries; those there are stay. */
static bool reserve_entries(bg_dependence *d, size_t room)
{
    if (room <= d->room)
        return true;
    d->full = d->settled;
    if (d->settled)
        return false;
    room = room > 2 * d->room ? room : 2 * d->room;
    bg_row_entry *entry = realloc(d->entry, room * sizeof *entry);
    d->full = !entry;
    if (!entry)
        return false;
    d->entry = entry;
    d->room = room;
    return true;
}

static bool reserve(bg_dependence *d, size_t m, size_t n)
{
    if (d->active && m <= d->rows && n <= d->columns)
        return true;
    if (d->settled)
        return false;
    bg_dependence x = *d;
    x.rows = m > d->rows ? m : d->rows;
    x.columns = n > d->columns ? n : d->columns;
    x.arena = (bg_arena){0};
    if (!bg_arena_create(&x.arena, list, &x))
        return false;
    bg_arena_clear(&d->arena);
    *d = x;
    return true;
}

bool bg_dependence_settle(bg_dependence *d, size_t rows, size_t columns, size_t entries)
{
    bool made = reserve(d, rows, columns) && reserve_entries(d, entries);
    d->settled = made;
    return made;
}

bool bg_dependence_begin(bg_dependence *d, int m, int n, size_t entries)
{
    if (!reserve(d, (size_t)m, (size_t)n) || !reserve_entries(d, entries))
        return false;
    d->m = m;
    d->n = n;
    d->count = 0;
    d->full = false;
    for (int i = 0; i < m; i++)
        d->active[i] = d->aside[i] = -1;
    for (int j = 0; j < n; j++)
        d->top[j] = d->turn[j] = d->place[j] = -1;
    memset(d->order, 0, (size_t)m);
    return true;
}

bool bg_dependence_add(bg_dependence *d, int row, int column, double value)
{
    if (!reserve_entries(d, d->count + 1))
        return false;
    const int e = (int)d->count++;
    d->entry[e] = (bg_row_entry){row, column, d->active[row], d->top[column], value};
    d->active[row] = d->top[column] = e;
    return true;
}

double bg_dependence_calc_length(const double *x, int n)
{
    double largest = 0, sum = 0;
    for (int j = 0; j < n; j++)
        largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
    if (largest == 0)
        return 0;
    for (int j = 0; j < n; j++)
        sum += (x[j] / largest) * (x[j] / largest);
    return largest * sqrt(sum);
}

/* Length of row i as it was given, safe as above. */
static double calc_given(const bg_dependence *d, int i)
{
    double largest = 0, sum = 0;
    for (int e = d->active[i]; e >= 0; e = d->entry[e].next)
        largest = fabs(d->entry[e].value) > largest ? fabs(d->entry[e].value) : largest;
    for (int e = d->active[i]; e >= 0 && largest > 0; e = d->entry[e].next)
        sum += (d->entry[e].value / largest) * (d->entry[e].value / largest);
    return largest * sqrt(sum);
}

/* Length of what remains of row i. */
static double calc_left(const bg_dependence *d, int i)
{
    double sum = 0;
    for (int e = d->active[i]; e >= 0; e = d->entry[e].next)
        sum += d->entry[e].value * d->entry[e].value;
    return sqrt(sum);
}

/* list, v <- the reflection that turns what remains of row i into one entry; its column is listed
 * first. Returns how many columns there are, beta and what the entry becomes. */
static int find_reflection(bg_dependence *d, int i, double *beta, double *pivot)
{
    const double length = d->left[i], least = negligible * fmin(d->length[i], 1e10 * length);
    int n = 0, largest = 0;
    for (int e = d->active[i]; e >= 0; e = d->entry[e].next) {
        if (!(fabs(d->entry[e].value) > least))
            continue;
        d->list[n] = d->entry[e].column;
        d->v[n] = d->entry[e].value / length;
        largest = fabs(d->v[n]) > fabs(d->v[largest]) ? n : largest;
        n++;
    }
    const int column = d->list[largest];
    const double first = d->v[largest], sign = first > 0 ? 1 : -1;
    d->list[largest] = d->list[0];
    d->v[largest] = d->v[0];
    d->list[0] = column;
    d->v[0] = first + sign;
    *beta = 1 / (1 + fabs(first)); /* 2 / v^T v */
    *pivot = -sign * length;
    for (int k = 0; k < n; k++)
        d->place[d->list[k]] = k;
    return n;
}

/* touched <- the rows that have entries in these columns and are not kept; entries of those that
 * are leave the lists of columns. */
static int find_touched(bg_dependence *d, int columns)
{
    int n = 0;
    for (int k = 0; k < columns; k++)
        for (int *e = &d->top[d->list[k]]; *e >= 0;) {
            const int row = d->entry[*e].row;
            if (d->rank_of[row] >= 0) {
                *e = d->entry[*e].below;
                continue;
            }
            if (!d->touching[row])
                d->touched[n++] = row;
            d->touching[row] = true;
            e = &d->entry[*e].below;
        }
    return n;
}

/* Puts aside what row i has in the column. */
static void put_aside(bg_dependence *d, int i, int column)
{
    for (int *e = &d->active[i]; *e >= 0; e = &d->entry[*e].next)
        if (d->entry[*e].column == column) {
            const int found = *e;
            *e = d->entry[found].next;
            d->entry[found].next = d->aside[i];
            d->aside[i] = found;
            return;
        }
}

/* Reflects row i; false: no memory. */
static bool reflect(bg_dependence *d, int i, int columns, double beta)
{
    const double least = negligible * d->length[i];
    double along = 0;
    for (int k = 0; k < columns; k++)
        d->found[k] = -1;
    for (int e = d->active[i]; e >= 0; e = d->entry[e].next) {
        const int k = d->place[d->entry[e].column];
        d->work++;
        if (k < 0)
            continue;
        d->found[k] = e;
        along += d->v[k] * d->entry[e].value;
    }
    along *= beta;
    for (int k = 0; k < columns; k++) {
        const double change = -along * d->v[k];
        if (d->found[k] >= 0)
            d->entry[d->found[k]].value += change;
        else if (fabs(change) > least && !bg_dependence_add(d, i, d->list[k], change))
            return false;
    }
    d->work += columns;
    put_aside(d, i, d->list[0]);
    d->left[i] = calc_left(d, i);
    return true;
}

/* Keeps row i, and takes it out of the rest. */
static bool keep_row(bg_dependence *d, int i)
{
    double beta;
    bool good = true;
    const int columns = find_reflection(d, i, &beta, &d->pivot[d->rank]);
    d->remainder[i] = d->left[i];
    d->dependent[i] = false;
    d->decided[i] = true;
    d->rank_of[i] = d->rank;
    const int touched = find_touched(d, columns);
    for (int k = 0; k < touched; k++) {
        good = good && reflect(d, d->touched[k], columns, beta);
        d->touching[d->touched[k]] = false;
    }
    for (int k = 0; k < columns; k++)
        d->place[d->list[k]] = -1;
    d->turn[d->list[0]] = d->rank;
    d->kept[d->rank++] = i;
    return good;
}

bool bg_dependence_decide(bg_dependence *d, int most, double tolerance, double least)
{
    const bg_candidates candidates = {d->m, d->left, d->decided, d->order};
    bool good = true;
    d->rank = 0;
    for (int i = 0; i < d->m; i++) {
        d->left[i] = d->length[i] = calc_given(d, i);
        d->decided[i] = d->order[i] < 0;
        d->dependent[i] = true;
        d->rank_of[i] = -1;
    }
    for (int i; good && d->rank < most &&
                (i = bg_candidates_find_next(&candidates, tolerance, least)) >= 0;)
        good = keep_row(d, i);
    for (int i = 0; i < d->m; i++)
        if (d->dependent[i])
            d->remainder[i] = d->left[i];
    return good;
}

/* 1 / others_i^2 is the diagonal of (L L^T)^-1: squares of column i of L^-1, summed. */
void bg_dependence_calc_others(bg_dependence *d, double *others)
{
    double *x = d->c;
    memcpy(others, d->remainder, (size_t)d->m * sizeof(double));
    /* row i of L has the entries put aside; by columns these are those of kept rows */
    for (int j = 0; j < d->n; j++)
        d->top[j] = -1;
    for (int k = d->rank - 1; k >= 0; k--)
        for (int e = d->aside[d->kept[k]]; e >= 0; e = d->entry[e].next) {
            d->entry[e].below = d->top[d->turn[d->entry[e].column]];
            d->top[d->turn[d->entry[e].column]] = e;
        }
    for (int i = 0; i < d->rank; i++) {
        double squares = 0;
        x[i] = 1;
        for (int k = i, last = i; k <= last; k++) {
            const double y = x[k] / d->pivot[k];
            x[k] = 0;
            squares += y * y;
            if (!(y * y > little * little * squares))
                continue;
            for (int e = d->top[k]; e >= 0; e = d->entry[e].below) {
                const int row = d->rank_of[d->entry[e].row];
                x[row] -= y * d->entry[e].value;
                last = row > last ? row : last;
            }
        }
        others[d->kept[i]] = 1 / sqrt(squares);
    }
}

int bg_dependence_calc_coefficients(bg_dependence *d, int i)
{
    double *x = d->c;
    int high = -1, low = d->rank, n = 0;
    for (int e = d->aside[i]; e >= 0; e = d->entry[e].next) {
        const int k = d->turn[d->entry[e].column];
        x[k] = d->entry[e].value;
        high = k > high ? k : high;
        low = k < low ? k : low;
    }
    for (int k = high; k >= low; k--) { /* L^T c = x, upwards */
        const double c = x[k] / d->pivot[k];
        x[k] = 0;
        if (!(fabs(c) * d->length[d->kept[k]] > negligible * d->length[i]))
            continue;
        d->part[n] = d->kept[k];
        d->coefficient[n++] = c;
        for (int e = d->aside[d->kept[k]]; e >= 0; e = d->entry[e].next) {
            const int p = d->turn[d->entry[e].column];
            x[p] -= c * d->entry[e].value;
            low = p < low ? p : low;
        }
    }
    return n;
}
