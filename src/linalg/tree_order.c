/* The order of elimination and its tree.
 *
 * The parent of row k is the first row after k that its elimination changes; parents follow from
 * the pattern by walking from each entry to the root found so far, with shortcuts (Liu 1990). The
 * last row that k changes is the last one of its entries and of its children's. Rows between are on
 * the way from k to that last one.
 *
 * Velocities are taken backwards, which is from tip to root for numbers given along a tree of
 * bodies, or, where that brings new entries to M, in an order of minimum degree; constraints as
 * they come or backwards; whichever takes the fewest operations (the order of constraints is chosen
 * with the first one of velocities). */
#include "linalg/tree_lu.h"

#include "base/memory.h"

#include <amd.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A pattern, and what is found out about one order of it. */
typedef struct shape {
    int n;
    const int *row_start, *column;
    int *place, *order;  /* [n] row of an unknown; unknown of a row */
    int *parent, *last;  /* [n] of rows; -1: none */
    int *ancestor;       /* [n] shortcuts */
    int *height, *steps; /* [n] of rows: to the root; slots */
    int *inner;          /* [n] the last velocity that a velocity changes by way of velocities */
    int positive;        /* velocities */
    double count, operations;
} shape;

static void find_parents(shape *s)
{
    for (int k = 0; k < s->n; k++) {
        s->parent[k] = s->ancestor[k] = -1;
        for (int e = s->row_start[s->order[k]]; e < s->row_start[s->order[k] + 1]; e++) {
            int j = s->place[s->column[e]];
            while (j < k) { /* the way of j leads to k */
                int next = s->ancestor[j];
                s->ancestor[j] = k;
                if (next < 0)
                    s->parent[j] = k;
                j = next < 0 ? k : next;
            }
        }
    }
}

static void measure(shape *s)
{
    s->count = s->operations = 0;
    for (int i = 0; i < s->n; i++)
        s->place[s->order[i]] = i;
    find_parents(s);
    for (int k = s->n - 1; k >= 0; k--)
        s->height[k] = s->parent[k] < 0 ? 0 : s->height[s->parent[k]] + 1;
    for (int k = 0; k < s->n; k++)
        s->last[k] = k;
    for (int k = 0; k < s->n; k++) {
        for (int e = s->row_start[s->order[k]]; e < s->row_start[s->order[k] + 1]; e++)
            if (s->place[s->column[e]] > s->last[k])
                s->last[k] = s->place[s->column[e]];
        if (s->parent[k] >= 0 && s->last[k] > s->last[s->parent[k]])
            s->last[s->parent[k]] = s->last[k];
        s->steps[k] = s->height[k] - s->height[s->last[k]] + 1;
        s->count += s->steps[k];
        s->operations += (double)s->steps[k] * (s->steps[k] - 1);
    }
}

/* Whether M = L D L^T has no entries that M has not, in the order that was measured. */
static bool has_no_fill_in(shape *s)
{
    long entries = 0, slots = 0;
    for (int k = 0; k < s->positive; k++)
        s->inner[k] = k;
    for (int k = 0; k < s->positive; k++) {
        for (int e = s->row_start[s->order[k]]; e < s->row_start[s->order[k] + 1]; e++) {
            int j = s->place[s->column[e]];
            entries += j >= k && j < s->positive;
            if (j < s->positive && j > s->inner[k])
                s->inner[k] = j;
        }
        int parent = s->parent[k];
        if (s->inner[k] > k && s->inner[k] > s->inner[parent])
            s->inner[parent] = s->inner[k];
        slots += s->height[k] - s->height[s->inner[k]] + 1;
    }
    return slots == entries;
}

/* Minimum degree of the positive unknowns among themselves, as order of all; false: no memory. */
static bool order_by_degree(const shape *s, const signed char *sign, int *order)
{
    int n = 0, *number = BG_NEW_ARRAY(int, s->n), *start = BG_NEW_ARRAY(int, s->n + 1);
    int *column = BG_NEW_ARRAY(int, s->row_start[s->n]), *found = BG_NEW_ARRAY(int, s->n);
    bool done = number && start && column && found;
    for (int i = 0; done && i < s->n; i++)
        number[i] = sign[i] > 0 ? n++ : -1;
    int *next = column;
    for (int i = 0; done && i < s->n; i++) {
        for (int e = s->row_start[i]; sign[i] > 0 && e < s->row_start[i + 1]; e++)
            if (sign[s->column[e]] > 0)
                *next++ = number[s->column[e]];
        if (sign[i] > 0)
            start[number[i] + 1] = (int)(next - column);
    }
    done = done && (n == 0 || amd_order(n, start, column, found, NULL, NULL) >= 0);
    int k = 0;
    for (int i = 0; done && i < s->n; i++)
        if (sign[i] > 0)
            start[number[i]] = i; /* the unknown again */
    for (; done && k < n; k++)
        order[k] = start[found[k]];
    for (int i = 0; done && i < s->n; i++)
        if (sign[i] < 0)
            order[k++] = i;
    free(number);
    free(start);
    free(column);
    free(found);
    return done;
}

static void order_backwards(const shape *s, const signed char *sign, int *order)
{
    int k = 0;
    for (int i = s->n - 1; i >= 0; i--)
        if (sign[i] > 0)
            order[k++] = i;
    for (int i = 0; i < s->n; i++)
        if (sign[i] < 0)
            order[k++] = i;
}

static void turn(int *order, int begin, int end)
{
    for (end--; begin < end; begin++, end--) {
        int t = order[begin];
        order[begin] = order[end];
        order[end] = t;
    }
}

/* Tries the orders and leaves the best one measured; false: no memory. */
static bool choose_order(shape *s, const signed char *sign)
{
    int positive = s->positive;
    int *best = BG_NEW_ARRAY(int, s->n);
    double least = -1;
    bool done = best != NULL;
    bool turned = false;
    int few = s->n - positive <= 3, trials = 3;
    for (int trial = 0; trial < trials && done; trial++) {
        if (trial < 2)
            order_backwards(s, sign, s->order);
        else
            done = order_by_degree(s, sign, s->order);
        if (trial == 1 || (trial == 2 && turned))
            turn(s->order, positive, s->n);
        if (!done || (trial == 1 && few))
            continue;
        measure(s);
        if (trial == 0 && has_no_fill_in(s))
            trials = few ? 1 : 2;
        if (least < 0 || s->operations < least) {
            least = s->operations;
            turned = trial == 1;
            memcpy(best, s->order, (size_t)s->n * sizeof(int));
        }
    }
    if (done && trials > 1) {
        memcpy(s->order, best, (size_t)s->n * sizeof(int));
        measure(s);
    }
    free(best);
    return done;
}

static bool lay_out(bg_tree_lu *lu, const shape *s)
{
    int n = lu->n;
    lu->count = (int)s->count;
    lu->operations = s->operations;
    lu->place = BG_NEW_ARRAY(int, 3 * (size_t)n + 1 + 2 * (size_t)lu->count); /* and the others */
    if (!lu->place)
        return false;
    lu->height = lu->place + n;
    lu->start = lu->height + n;
    lu->path = lu->start + n + 1;
    lu->target = lu->path + lu->count;
    memcpy(lu->place, s->place, (size_t)n * sizeof(int));
    memcpy(lu->height, s->height, (size_t)n * sizeof(int));
    for (int k = 0; k < n; k++) {
        lu->start[k + 1] = lu->start[k] + s->steps[k];
        for (int t = 0, row = k; t < s->steps[k]; t++, row = s->parent[row])
            lu->path[lu->start[k] + t] = row;
    }
    for (int k = 0; k < lu->count; k++)
        lu->target[k] = lu->start[lu->path[k]];
    return true;
}

bool bg_tree_lu_order(bg_tree_lu *lu, const int *row_start, const int *column,
                      const signed char *sign, double most)
{
    int n = lu->n, *memory = BG_NEW_ARRAY(int, 8 * (size_t)n);
    if (!memory)
        return false;
    shape s = {.n = n,
               .row_start = row_start,
               .column = column,
               .place = memory,
               .order = memory + n,
               .parent = memory + 2 * n,
               .last = memory + 3 * n,
               .ancestor = memory + 4 * n,
               .height = memory + 5 * n,
               .steps = memory + 6 * n,
               .inner = memory + 7 * n,
               .positive = lu->positive};
    bool done = choose_order(&s, sign);
    if (done && s.operations <= most && s.count < INT_MAX / 2)
        done = lay_out(lu, &s);
    free(memory);
    return done;
}
