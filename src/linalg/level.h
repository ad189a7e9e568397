/* What the files of least squares in levels share: groups of unknowns, and one level of those that
 * it ties together (level.c). */
#ifndef BG_LEVEL_H
#define BG_LEVEL_H

#include "base/arena.h"
#include "linalg/levels.h"

/* Unknowns that rows have tied together, by the first of them. */
typedef struct bg_levels_group {
    int n, k;    /* unknowns, free directions */
    int *column; /* [n]; NULL: itself alone */
    double *Z;   /* [n * k] by columns; NULL: one direction, 1, or */
    double *Q;   /* [n * (n - k)] by columns: a basis of the directions decided; else NULL */
} bg_levels_group;

struct bg_levels {
    int n, freedom, limit;
    double *unit;            /* [n] */
    double *x;               /* [n] */
    bg_levels_group *groups; /* [n] those of unknowns that are not the first of one have n = 0 */
    int *first;              /* [n] first unknown of the group of each */
    int *local;              /* [n] its place there */
    int *leader; /* [n] of groups that a level ties together, by first unknowns: one of them */
    int *next;   /* [n] group tied together with it; -1: last */
    int *offset; /* [n] of a group: its first direction among those tied together */
    bg_sparse_rows dense; /* A of bg_levels_add */
    bg_arena arena;       /* all arrays */
};

void bg_levels_clear_group(bg_levels_group *group);
/* The group of an unknown, if it has free directions; -1: it is decided. */
static inline int bg_levels_find_free(const bg_levels *l, int unknown)
{
    int first = l->first[unknown];
    return l->groups[first].k > 0 ? first : -1;
}

/* The rows list[0 .. m-1] of A, on the group `first` and those chained from it. */
bg_status bg_level_add(bg_levels *levels, int first, const bg_sparse_rows *A, const double *b,
                       const int *list, int m, double least);
/* Z of groups, chained from the first, of which is known what is decided. BG_RETRY: too many. */
bg_status bg_level_complete(bg_levels *levels, int first);

#endif
