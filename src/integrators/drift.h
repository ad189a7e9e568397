/* A bound on the drift of one Newton step of projection per step, after 000 section 3.4. */
#ifndef BG_DRIFT_H
#define BG_DRIFT_H

#include "bogie/integrator.h"
#include "linalg/linalg.h"
#include "system/system.h"

#include <stdbool.h>

typedef struct bg_drift_work {
    bool on;
    bool begun; /* the step before belongs to the same start */
    bool looks; /* the next bg_drift_look is behind the first Newton step */
    bg_evaluator *sys;
    const unsigned char *eliminated; /* [ng] redundant rows */
    double *g, *bent;                /* [ng] g at the step's beginning; D P g before projection */
    double *D;                       /* as G is stored: first G at q~, then minus G at q_n */
    double *column, *row, *sum;      /* [nv], [ng], [ng] */
    double rounding;                 /* of an entry of g in this step */
    struct {
        double source;   /* |g(q~) - g(q_n)| */
        double factor;   /* |D P| */
        double bend;     /* |R| / |g(q~)|^2, R: what is not linear in the correction */
        double rounding; /* of an entry of g */
        double start;    /* |g| where the run, or what follows an event, began */
        double observed; /* |g| behind a step */
        double grown;    /* |g| that a further Newton step made larger */
    } largest;           /* of the run */
    bg_arena arena;      /* all arrays */
} bg_drift_work;

bg_status bg_drift_create(bg_drift_work *drift, bg_evaluator *sys, const unsigned char *eliminated,
                          bg_error *err);
void bg_drift_clear(bg_drift_work *drift);
void bg_drift_reset(bg_drift_work *drift);

/* In this order, within a step: g at its beginning; */
void bg_drift_begin(bg_drift_work *drift, const double *g);
/* g and G (in drift->D) before the projection, G at the beginning, with kkt = [M G^T; G 0] there;
 */
void bg_drift_update(bg_drift_work *drift, bg_kkt *kkt, const double *g, const double *G,
                     const double *q);
/* g behind every Newton step; the last one ends the step. */
void bg_drift_look(bg_drift_work *drift, const double *g);
void bg_drift_end(bg_drift_work *drift, const double *g);

void bg_drift_report(const bg_drift_work *drift, double h, bg_drift *out);

#endif
