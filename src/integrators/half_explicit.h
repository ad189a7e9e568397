/* Half-explicit stages on the index-2 form: what hem4 and hem5 share. */
#ifndef BG_HALF_EXPLICIT_H
#define BG_HALF_EXPLICIT_H

#include "integrators/pair.h"

/* Stage i: an explicit value Y_i, and a second, bar, value that fixes its multipliers. */
typedef struct bg_half_stage {
    int i;
    double c, c_bar;     /* abscissae of both */
    const double *a;     /* [i] coefficients of Y_i over rates 0 .. i-1 */
    const double *a_bar; /* [i+1] of the bar value over rates 0 .. i; a_bar[i] is not 0 */
    bool chained;        /* Y_i is the bar value of the stage before, where G is known already */
} bg_half_stage;

/* The first member of the method's own structure is its memory. */
typedef struct bg_half_explicit {
    bg_pair_memory pair;
    double *bar;    /* [n] bar stage value, without the unknown part of Vbar */
    double *gt;     /* [ng] g_t of stage i, for the power of constraint forces */
    double *G;      /* G(Q_i) while the terms at hand belong to Qbar_i */
    bool rheonomic; /* that power is wanted and not zero */
    bg_arena arena;
} bg_half_explicit;

/* Allocates ig->method. */
bg_status bg_half_explicit_create(bg_integrator *ig, bg_error *err);
void bg_half_explicit_destroy(bg_integrator *ig);

/* Rates of stage s, into pair.rate[s->i]. */
bg_status bg_half_explicit_calc_stage(bg_integrator *ig, const bg_half_stage *s, bg_error *err);
/* The same with M, f, G, h of y at hand: rate and lambda from the velocity constraint of the bar
 * value. G(y) is kept in m->G, the terms at hand are then those of the bar value. */
bg_status bg_half_explicit_solve(bg_integrator *ig, const bg_half_stage *s, const double *y,
                                 double *rate, double *lambda, bg_error *err);

#endif
