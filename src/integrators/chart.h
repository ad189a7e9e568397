/* Local coordinates of the constraint manifold, for steps over singular positions. */
#ifndef BG_CHART_H
#define BG_CHART_H

#include "integrators/integrator.h"

typedef struct bg_chart {
    const bg_system *system;
    bool kinematic;    /* V is not the identity */
    double *M, *G, *V; /* [sizes as in system.h] of the point the chart belongs to */
    bg_arena arena;
} bg_chart;

bg_status bg_chart_create(bg_integrator *ig, bg_chart *chart, bg_error *err);
void bg_chart_clear(bg_chart *chart);
/* The chart about ig->x0. */
bg_status bg_chart_begin(bg_integrator *ig, bg_chart *chart, bg_error *err);
/* Moves q and v of y = (q, v, z, work) at t onto the constraints without changing their local
 * coordinates. BG_RETRY: no convergence, y is then of no use. */
bg_status bg_chart_lift(bg_integrator *ig, const bg_chart *chart, double t, double *y,
                        bg_error *err);

#endif
