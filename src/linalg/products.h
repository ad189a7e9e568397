/* Which of a few rows are kept, quickly: from their products, S S^T, by Cholesky's method with
 * pivots, which loses half of the digits. That is enough where rows are far from dependent. */
#ifndef BG_PRODUCTS_H
#define BG_PRODUCTS_H

#include "linalg/dependence.h"

/* Columns first .. last - 1: outside them a row is zero. */
typedef struct bg_column_range {
    int first, last;
} bg_column_range;

typedef struct bg_products {
    int m, n, rank;
    double *S;                 /* [m n] the rows, filled in by the caller */
    double *R;                 /* [m m] their products, then the factor */
    double *c;                 /* [m] scratch */
    double *left;              /* [m] length of what remains */
    double *remainder;         /* [m] of kept rows when they were chosen, of others in the end */
    bg_column_range *span;     /* [m] where rows are not zero */
    int *kept;                 /* [m] rows in the order they were kept */
    bool *decided, *dependent; /* [m] kept or not asked for; not kept */
    signed char *order;        /* [m] as in bg_candidates; filled in by the caller */
    bg_arena arena;            /* all arrays */
} bg_products;

/* For m rows of n columns; false: out of memory. */
bool bg_products_create(bg_products *p, int m, int n);
void bg_products_clear(bg_products *p);

/* Keeps `most` rows, as bg_dependence_decide would; remainders of rows that are not kept are known
 * to 1e-8 of their length, those of rows with order -1 not at all. False: some row that would be
 * kept is not far from dependent, where products lose too many digits; nothing is decided. */
bool bg_products_decide(bg_products *p, int most);
/* As bg_dependence_calc_others. */
void bg_products_calc_others(bg_products *p, double *others);

#endif
