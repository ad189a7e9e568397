/* A number of a force element that may depend on its own variables (length, rate, ...), on time t,
 * on the model's signals and on its kinematic outputs (model/sensor.h), all by name: a constant or
 * an expression. */
#ifndef BG_LAW_H
#define BG_LAW_H

#include "model/forces/element.h"

enum { BG_LAW_VARIABLES = 24 }; /* at most so many different variables in one expression */

typedef struct bg_law {
    bool given;                /* false: absent, value 0 */
    bg_expression *expression; /* NULL: constant */
    double constant;
    int nown;                     /* own variables of the element */
    int n;                        /* variables in use, in the order of the expression */
    int source[BG_LAW_VARIABLES]; /* < nown: own variable; nown: t; then signals, then outputs */
    const bg_model *model;        /* whose signals and outputs these are */
    int noutputs, *output;        /* all outputs it needs, also through expressions, ascending */
} bg_law;

/* How a number changes with the poses and twists of an element's bodies. */
typedef struct bg_slope {
    int n;
    bool used;                      /* the law looks at bodies */
    const int *body;                /* [n] */
    double by[BG_FORCE_BODIES][12]; /* by (dr, dtheta, dv, dw) of each */
} bg_slope;

/* Reads a number or an expression in own[nown], t, signals and outputs. Absent: not given. */
void bg_law_read(const bg_value *object, const char *key, const char *const *own, int nown,
                 bg_law *law);
/* The same for each of the three elements of an array, which is required. */
void bg_law_read_vec3(const bg_value *object, const char *key, bg_law law[3]);
void bg_law_clear(bg_law *law);

/* Adds the bodies that the law's outputs look at to body[n], once each and without the ground;
 * returns their number. Fails at v where there are more than BG_FORCE_BODIES. */
int bg_law_add_bodies(const bg_value *v, const bg_law *law, int *body, int n);

double bg_law_calc(const bg_law *law, const bg_world *w, const double *own);
/* Value; derivatives by the own variables into by_own[nown]; unless NULL, the rate at fixed own
 * variables and outputs, through t and the signals, into *rate; unless NULL, the derivatives
 * through the outputs are added to slope, whose bodies must be among those of bg_law_add_bodies. */
double bg_law_calc_gradient(const bg_law *law, const bg_world *w, const double *own, double *by_own,
                            double *rate, bg_slope *slope);

/* No change, with the bodies of an element. */
bg_slope bg_slope_make(const int *body, int n);
/* The change under variations d[n] of the bodies. */
double bg_slope_vary(const bg_slope *slope, const bg_variation *d);

#endif
