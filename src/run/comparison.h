/* How wrong a run with fixed steps is: such a run sees no error of its own. */
#ifndef BG_COMPARISON_H
#define BG_COMPARISON_H

#include "base/archive.h"
#include "bogie/run.h"
#include "system/system.h"

enum { BG_SAMPLES = 32 };

/* Velocities of a run at t_start + (k + 1) stride h. */
typedef struct bg_comparison {
    int nv;
    long stride;    /* steps from one sample to the next; 0: nothing is compared */
    int count;      /* samples taken */
    double *v;      /* [BG_SAMPLES * nv] */
    double *memory; /* of v, and of */
    double *q, *z;  /* [nq], [nz] not used */
} bg_comparison;

bg_status bg_comparison_create(const bg_system *system, const bg_run_options *options,
                               bg_comparison *comparison, bg_error *err);
void bg_comparison_clear(bg_comparison *comparison);
/* Keeps what is due of the last step up to and including t. Nothing is allocated. */
void bg_comparison_sample(bg_comparison *comparison, bg_integrator *ig, double t_start, double t);
void bg_comparison_archive(bg_comparison *comparison, bg_archive *archive);
/* After a run that reached its end at t_end: runs again with other steps and says in the warnings
 * how far apart they are. */
void bg_comparison_judge(const bg_comparison *comparison, const bg_system *system,
                         const bg_run_options *options, int order, double t_start, double t_end,
                         bg_warnings *warnings);

#endif
