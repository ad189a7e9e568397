/* Outputs that are made of the rows of others (filters.c). */
#ifndef BG_FILTERS_H
#define BG_FILTERS_H

#include "base/archive.h"
#include "bogie/system.h"

#include <stdbool.h>

typedef struct bg_filters {
    const bg_system_def *def;
    int n;
    double t;      /* s, of the last row; NAN: there was none */
    double *u, *z; /* [n] source in the last row (squared), and what was made of it */
} bg_filters;

/* On failure it must still be cleared. */
bool bg_filters_create(const bg_system_def *def, bg_filters *filters);
void bg_filters_clear(bg_filters *filters);
void bg_filters_archive(bg_filters *filters, bg_archive *archive);
/* Fills in the filtered outputs of a row y [ny] at t; keep: it is written, and the next one follows
 * it. */
void bg_filters_apply(bg_filters *filters, double t, double *y, bool keep);

#endif
