/* What is measured while a case runs: one probe per metric that needs rows, and the curves. */
#ifndef BG_MEASURE_H
#define BG_MEASURE_H

#include "study/simulation.h"

typedef struct bg_probe {
    const bg_metric *metric; /* NULL: not measured on rows */
    bg_channels channels;
    const bg_trajectory *reference; /* NULL with values */
    const double *values;
    int points;         /* of the interpolation */
    int *columns;       /* [channels.count] of the reference */
    double *x, *expect; /* [channels.count], [width of the reference] */
    bg_gauge gauge;
} bg_probe;

typedef struct bg_measure {
    const bg_study *study;
    const bg_system *system;
    bg_evaluator *evaluator; /* for residuals */
    bg_probe *probes;        /* [nmetrics] */
    bg_channels *curves;     /* [ncurves]; empty: a residual */
    bg_trajectory *traces;   /* [ncurves] */
    double *g, *gt, *G;      /* terms for residuals */
    bool rows;               /* something needs rows */
} bg_measure;

/* mask: [nmetrics] which metrics count; NULL: all, and the curves. */
bg_status bg_measure_create(const bg_study *study, long k, const bg_trajectory *const *references,
                            const bool *mask, const bg_system *system, bg_measure *measure,
                            bg_error *err);
void bg_measure_clear(bg_measure *measure);
bg_sink bg_measure_get_sink(bg_measure *measure);
/* The value of metric i after the run. */
bg_cell bg_measure_get(const bg_measure *measure, int i, const bg_run_report *report,
                       const json_t *summary);
/* Hands over curve i, thinned to its number of points. False: out of memory. */
bool bg_measure_get_curve(const bg_measure *measure, int i, bg_trajectory *curve);

/* The index of a counter that plots over time call "#NAME"; the nearest such name where there is
 * none, else NULL. */
const char *bg_counter_find(const char *name, int *index);

#endif
