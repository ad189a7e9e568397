/* Explicit Runge-Kutta pairs whose last stage is at the end of the step and the first of the next
 * one: what the methods built on them share.
 *
 * The error of a step is the difference of its end, as projected, and the embedded solution of
 * b_hat. A pair with a second embedded solution, of lower order still, has (Hairer, Norsett and
 * Wanner 1993, II.10) with the differences e and e_low the error
 *     e |e| / sqrt(|e|^2 + 0.01 |e_low|^2),
 * which falls with h^8 where these fall with h^6 and h^4. Since it is a ratio, a difference e that
 * happens to vanish makes it far too small, and a step over a quick change of the motion may be
 * accepted. Such a pair has a second difference of the order of e, in other directions: of each
 * entry the larger one counts. */
#ifndef BG_PAIR_H
#define BG_PAIR_H

#include "base/arena.h"
#include "integrators/chart.h"
#include "integrators/projection_control.h"

typedef struct bg_pair {
    int stages;           /* with the one at the end */
    const double *c;      /* [stages] */
    const double *a;      /* [stages][stages - 1]: stage i over the rates before; the last row: b */
    const double *b_hat;  /* [stages] embedded weights */
    const double *b_low;  /* [stages] embedded weights of lower order; NULL: none */
    const double *e_more; /* [stages] a second difference of the order of b - b_hat; with b_low */
    double stability; /* h |lambda| at the end of the stability region on the negative axis, ... */
    double proved;    /* ... and what proves that steps are limited by it (stiffness.c) */
} bg_pair;

/* Options that methods on a pair share. */
#define BG_PAIR_PROJECTION                                          \
    {                                                               \
        "projection", BG_PROJECTION_CHOICES, "every-step",          \
            "which constraints the end of a step is projected onto" \
    }
#define BG_PAIR_NORM                                                                 \
    {                                                                                \
        "norm", "largest|rms", "largest",                                            \
            "error of a step: that of its worst coordinate, or the root mean square" \
    }

/* Memory of a method on a pair, or of another with as many rates; the first member of the method's
 * own structure. */
typedef struct bg_pair_memory {
    const bg_pair *pair;
    double *rate[BG_STAGES_MAX]; /* [n] y' of the stages; those of both ends are the integrator's */
    double *y;                   /* [n] stage value */
    double *low;                 /* [n] difference to the solution of lower order */
    double *lambda;              /* [ng] multipliers of a stage */
    bg_projection_control projection;
    bg_chart chart;
    bg_arena arena; /* all arrays */
} bg_pair_memory;

bg_status bg_pair_create(bg_integrator *ig, bg_pair_memory *m, const bg_pair *pair, bg_error *err);
void bg_pair_clear(bg_pair_memory *m);

/* Begins an attempt: the rates at both ends are the integrator's. */
void bg_pair_begin(bg_integrator *ig);
/* Value of stage i (0-based) into y; the last one is the end point. */
void bg_pair_calc_stage(bg_integrator *ig, int i, double *y);
/* Ends an attempt whose rates are complete: accelerations at the end, and the error, by the
 * embedded weights b_hat over the rates, and by what else the pair has where `more`. */
void bg_pair_end(bg_integrator *ig, const double *b_hat, bool more, double *error);

/* Functions of a bg_integrator_class: steps on the index-1 form with a projected end, ... */
bg_status bg_pair_attempt(bg_integrator *ig, double *error, bg_error *err);
/* ... and in local coordinates of the constraints. */
bg_status bg_pair_leap(bg_integrator *ig, double *error, bg_error *err);
/* The stages of the last step once more, in such coordinates: for dense output. */
bg_status bg_pair_lift_stages(bg_integrator *ig, bg_error *err);
void bg_pair_restart(bg_integrator *ig, bg_restart reason);
void bg_pair_accept(bg_integrator *ig);
void bg_pair_commit(bg_integrator *ig);
void bg_pair_archive(bg_integrator *ig, bg_archive *archive);

#endif
