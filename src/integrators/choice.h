/* Which velocity coordinates are independent: the partition (6) of 002, for all methods that
 * integrate coordinates. */
#ifndef BG_CHOICE_H
#define BG_CHOICE_H

#include "system/system.h"

typedef struct bg_choice {
    const double *G;               /* as the system has it */
    const double *unit;            /* [nv] sizes of coordinates */
    const unsigned char *left_out; /* [ng] non-zero: the row does not count */
    double least;                  /* pivot of a row that does not depend on others */
    double *table;                 /* [ng nv] scratch */
    unsigned char *used;           /* [ng] scratch */
} bg_choice;

/* independent [nv] <- 1 for those, 0 for the others, of which there are as many as rows that count.
 * False: rows depend on others, and nothing is chosen. */
bool bg_choice_find(const bg_choice *choice, const bg_system *system, unsigned char *independent);

#endif
