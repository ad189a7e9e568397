/* The Dormand-Prince 5(4) pair (J. Comput. Appl. Math. 6 (1980) 19-26): its coefficients, and what
 * the methods built on it share. */
#ifndef BG_DOPRI5_H
#define BG_DOPRI5_H

#include "integrators/chart.h"
#include "integrators/projection_control.h"

enum { BG_DOPRI5_STAGES = 7 };

typedef struct bg_dopri5_table {
    double c[7];
    double a[7][6];  /* a[6] = b: the end point, where stage 7 is the next step's first */
    double b_hat[7]; /* weights of order 4, for the error */
    double d[7];     /* weights of the dense output's R, in units of h (Hairer et al. 1993, II.6) */
} bg_dopri5_table;

extern const bg_dopri5_table bg_dopri5;

/* Options that methods on the pair share. */
#define BG_DOPRI5_NORM                                                               \
    {                                                                                \
        "norm", "largest|rms", "largest",                                            \
            "error of a step: that of its worst coordinate, or the root mean square" \
    }

/* Memory of a method on the pair, and of others with at most five stages between the rates of both
 * ends; the first member of the method's own structure. */
typedef struct bg_dopri5_memory {
    double *rate[BG_DOPRI5_STAGES]; /* [n] y' of the stages; 0 and 6 are the integrator's own */
    double *y;                      /* [n] stage value */
    double *lambda;                 /* [ng] multipliers of a stage */
    bg_projection_control projection;
    bg_chart chart;
} bg_dopri5_memory;

bg_status bg_dopri5_create(bg_integrator *ig, bg_dopri5_memory *m, bg_error *err);
void bg_dopri5_clear(bg_dopri5_memory *m);

/* Begins an attempt: the rates at both ends are the integrator's. */
void bg_dopri5_begin(bg_integrator *ig);
/* Value of stage i (0-based) into y; i = 6 is the end point. */
void bg_dopri5_calc_stage(bg_integrator *ig, int i, double *y);
/* Ends an attempt whose rates are complete: accelerations at the end, and the error, by the
 * embedded weights b_hat[7] over the rates. */
void bg_dopri5_end(bg_integrator *ig, const double *b_hat, double *error);

/* Functions of a bg_integrator_class; the leap is a step on the index-1 form in local coordinates
 * of the constraints. */
bg_status bg_dopri5_leap(bg_integrator *ig, double *error, bg_error *err);
void bg_dopri5_restart(bg_integrator *ig, bg_restart reason);
void bg_dopri5_accept(bg_integrator *ig);
void bg_dopri5_commit(bg_integrator *ig);
void bg_dopri5_archive(bg_integrator *ig, bg_archive *archive);

#endif
