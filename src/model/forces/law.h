/* A number of a force element that may depend on its own variables (length, rate, ...), on time t
 * and on the model's signals by name: a constant or an expression. */
#ifndef BG_LAW_H
#define BG_LAW_H

#include "model/reader.h"

enum { BG_LAW_VARIABLES = 24 }; /* at most so many different variables in one expression */

typedef struct bg_law {
    bool given;                /* false: absent, value 0 */
    bg_expression *expression; /* NULL: constant */
    double constant;
    int nown;                     /* own variables of the element */
    int n;                        /* variables in use, in the order of the expression */
    int source[BG_LAW_VARIABLES]; /* < nown: own variable; nown: t; nown + 1 + i: signal i */
} bg_law;

/* Reads a number or an expression in own[nown], t and signals. Absent: not given. */
void bg_law_read(const bg_value *object, const char *key, const char *const *own, int nown,
                 bg_law *law);
/* The same for each of the three elements of an array, which is required. */
void bg_law_read_vec3(const bg_value *object, const char *key, bg_law law[3]);
void bg_law_clear(bg_law *law);

double bg_law_calc(const bg_law *law, const bg_world *w, const double *own);
/* Value; derivatives by the own variables into by_own[nown] and, unless NULL, the rate at fixed own
 * variables, through t and the signals, into *rate. */
double bg_law_calc_gradient(const bg_law *law, const bg_world *w, const double *own, double *by_own,
                            double *rate);

#endif
