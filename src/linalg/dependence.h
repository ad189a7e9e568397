/* Which of some rows depend on the others: the careful decision.
 *
 * Rows are kept one after another. What remains of the others is found by reflections of the
 * columns: with w the rest of the row kept, H = 1 - beta v v^T turns w into one entry, in the
 * column where w is largest, and leaves all lengths as they are. That column, which holds what the
 * rows have along the row kept, is then put aside; what remains of a row is what it has in the
 * others:
 *
 *     S H_1 H_2 ... = (L 0; L_2 W),      |w_i| = distance of row i from the rows kept.
 *
 * The next row kept is the first one, in order, whose |w_i| reaches a part of the largest; the rank
 * is reached when none exceeds the tolerance. A part, not the whole: which of several dependent
 * rows counts as the redundant one then follows their order instead of accidents of geometry, and
 * the kept rows are still far from the tolerance. A dependent row is s_i = sum_k c_k s_k with
 * L^T c = l_i (least squares).
 *
 * Rows are lists of entries, and a reflection goes through those rows alone that have one in its
 * columns. What it adds to them is left out where it is less than rounding of the row: couplings
 * die out along chains of loops, so that work and memory grow with their number, not with its
 * square or cube. */
#ifndef BG_DEPENDENCE_H
#define BG_DEPENDENCE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Rows among which the next one to keep is chosen. */
typedef struct bg_candidates {
    int m;
    const double *left;       /* [m] length of what remains */
    const bool *decided;      /* [m] kept, or not asked for */
    const signed char *order; /* [m] -1: never kept; 1: kept down to `least`, and rather than others
                                 that are nearly as good */
} bg_candidates;

/* The next row to keep, or -1 when the rest depends on those kept. */
int bg_candidates_find_next(const bg_candidates *c, double tolerance, double least);

/* An entry, in the list of its row and in that of its column; -1: the last. */
typedef struct bg_row_entry {
    int row, column, next, below;
    double value;
} bg_row_entry;

typedef struct bg_dependence {
    int m, n, rank;
    size_t rows, columns, room; /* memory there is: for m, n, entries */
    size_t count;               /* of entries in use */
    bool settled;               /* there will be no more memory, */
    bool full;                  /* and more would have been needed: nothing is decided */
    bg_row_entry *entry;        /* [room] */
    int *active, *aside;        /* [m] first entry of row i that remains, and of those put aside */
    int *top;                   /* [n] first entry of column j */
    int *turn;                  /* [n] kept row by which the column was put aside; -1: none */
    int *place;                 /* [n] place among those of a reflection; -1: none */
    int *list, *found;          /* [n] columns of a reflection; entries of a row in them */
    double *v;                  /* [n] its vector */
    int *touched;               /* [m] rows that have entries in them */
    bool *touching;             /* [m] */
    int *kept, *rank_of;        /* [m] rows in the order they were kept; and the inverse, -1: not */
    double *pivot;              /* [m] what remained of kept row k, with a sign */
    double *length;             /* [m] of the rows as they were given */
    double *left;               /* [m] of what remains */
    double *c;                  /* [m] scratch, zero between calls */
    bool *decided, *dependent;  /* [m] kept or not asked for; not kept */
    signed char *order;         /* [m] filled in by the caller */
    double *remainder;   /* [m] what other rows left of it: of a kept one when it was chosen, of
                            others in the end */
    int *part;           /* [m] rows that a dependent row depends on, and */
    double *coefficient; /* [m] ... by how much */
    long work;           /* entries that reflections went through, ever */
    bg_arena arena;      /* all arrays but entry */
} bg_dependence;

/* Makes room for m rows of n columns, all zero, all orders 0, and so many entries to begin with.
 * False: out of memory, or more than was reserved. */
bool bg_dependence_begin(bg_dependence *d, int m, int n, size_t entries);
/* Adds an entry. False: likewise. */
bool bg_dependence_add(bg_dependence *d, int row, int column, double value);
/* Memory for so many rows, columns and entries, and from now on no more; false: out of memory. */
bool bg_dependence_settle(bg_dependence *d, size_t rows, size_t columns, size_t entries);
void bg_dependence_clear(bg_dependence *d);
/* The length of a row, safe for entries whose squares leave the range. */
double bg_dependence_calc_length(const double *x, int n);

/* Keeps at most `most` rows of which more than the tolerance (the least) remains. False: out of
 * memory, or more than was reserved. */
bool bg_dependence_decide(bg_dependence *d, int most, double tolerance, double least);
/* What all others that are kept leave of each kept row, whatever their order. */
void bg_dependence_calc_others(bg_dependence *d, double *others);
/* part, coefficient <- the kept rows that row i depends on; returns how many. */
int bg_dependence_calc_coefficients(bg_dependence *d, int i);

#endif
