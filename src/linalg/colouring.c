/* Groups of columns that share no row (T. F. Coleman, J. J. More, SIAM J. Numer. Anal. 20, 1983):
 * one difference quotient then serves a whole group. This is colouring the graph in which two
 * columns are neighbours when some row contains both. Each column in turn gets the smallest colour
 * that no neighbour has; the turn is by index (good for bands) or by falling number of neighbours
 * (good else), and the better of the two results is taken. */
#include "base/arena.h"
#include "base/memory.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct graph {
    int columns;
    const bg_pattern *pattern;
    int *start, *row; /* columns+1, entries: the rows of each column */
    int *seen;        /* columns: mark of the last column that met this neighbour or colour */
    int *order;       /* columns, in their turn */
    int *degree;      /* columns, number of neighbours */
    int *colour[2];   /* columns, by index and by degree */
    bg_arena arena;   /* all arrays */
} graph;

static void list(void *object, bg_arena *arena)
{
    graph *g = object;
    BG_TAKE(arena, g->start, g->columns + 1);
    BG_TAKE(arena, g->row, g->pattern->row_start[g->pattern->rows]);
    BG_TAKE(arena, g->seen, g->columns);
    BG_TAKE(arena, g->order, g->columns);
    BG_TAKE(arena, g->degree, g->columns);
    BG_TAKE(arena, g->colour[0], g->columns);
    BG_TAKE(arena, g->colour[1], g->columns);
}

/* Compressed columns from compressed rows. */
static void transpose(graph *g)
{
    const bg_pattern *p = g->pattern;
    for (int k = 0; k < p->row_start[p->rows]; k++)
        g->start[p->column[k] + 1]++;
    for (int j = 0; j < g->columns; j++)
        g->start[j + 1] += g->start[j];
    for (int j = 0; j < g->columns; j++)
        g->seen[j] = g->start[j]; /* next free place */
    for (int i = 0; i < p->rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            g->row[g->seen[p->column[k]]++] = i;
}

static void count_neighbours(graph *g)
{
    const bg_pattern *p = g->pattern;
    memset(g->seen, -1, (size_t)g->columns * sizeof(int));
    for (int j = 0; j < g->columns; j++) {
        g->seen[j] = j;
        for (int e = g->start[j]; e < g->start[j + 1]; e++)
            for (int k = p->row_start[g->row[e]]; k < p->row_start[g->row[e] + 1]; k++)
                if (g->seen[p->column[k]] != j) {
                    g->seen[p->column[k]] = j;
                    g->degree[j]++;
                }
    }
}

/* order <- columns by falling degree, equal ones by index (counting sort). */
static void sort_by_degree(graph *g)
{
    int *place = g->seen; /* place[d]: where the columns of degree d begin */
    memset(place, 0, (size_t)g->columns * sizeof(int));
    for (int j = 0; j < g->columns; j++)
        if (g->degree[j] > 0)
            place[g->degree[j] - 1]++;
    for (int d = g->columns - 2; d >= 0; d--)
        place[d] += place[d + 1];
    for (int j = 0; j < g->columns; j++)
        g->order[place[g->degree[j]]++] = j;
}

/* Colours the columns in their turn and returns the number of colours. */
static int colour_columns(graph *g, int *colour)
{
    const bg_pattern *p = g->pattern;
    int count = 0;
    memset(g->seen, -1, (size_t)g->columns * sizeof(int));
    memset(colour, -1, (size_t)g->columns * sizeof(int));
    for (int turn = 0; turn < g->columns; turn++) {
        int j = g->order[turn], c = 0;
        for (int e = g->start[j]; e < g->start[j + 1]; e++)
            for (int k = p->row_start[g->row[e]]; k < p->row_start[g->row[e] + 1]; k++)
                if (colour[p->column[k]] >= 0)
                    g->seen[colour[p->column[k]]] = j;
        while (g->seen[c] == j)
            c++;
        colour[j] = c;
        if (c >= count)
            count = c + 1;
    }
    return count;
}

/* The better colouring. */
static const int *find_better(graph *g, int *ngroups)
{
    int count[2];
    transpose(g);
    for (int j = 0; j < g->columns; j++)
        g->order[j] = j;
    count[0] = colour_columns(g, g->colour[0]);
    count_neighbours(g);
    sort_by_degree(g);
    count[1] = colour_columns(g, g->colour[1]);
    int best = count[1] < count[0];
    *ngroups = count[best];
    return g->colour[best];
}

bg_status bg_colouring_create(int rows, int columns, const bg_pattern *pattern, int **group,
                              int *ngroups, bg_error *err)
{
    (void)rows;
    assert(rows >= 0 && columns >= 0 && group && ngroups);
    assert(!pattern || (pattern->rows == rows && pattern->columns == columns));
    graph g = {.columns = columns, .pattern = pattern};
    *ngroups = columns;
    *group = BG_NEW_ARRAY(int, columns);
    if (!*group || (pattern && !bg_arena_create(&g.arena, list, &g))) {
        free(*group);
        *group = NULL;
        return bg_error_set(err, BG_NO_MEMORY, "no memory to group %d columns", columns);
    }
    const int *better = pattern ? find_better(&g, ngroups) : NULL;
    for (int j = 0; j < columns; j++)
        (*group)[j] = better ? better[j] : j;
    bg_arena_clear(&g.arena);
    return BG_OK;
}
