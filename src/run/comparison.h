/* How wrong a run is in what it cannot see by itself: with fixed steps, by growing errors, and by
 * the digits of data. */
#ifndef BG_COMPARISON_H
#define BG_COMPARISON_H

#include "base/archive.h"
#include "bogie/run.h"
#include "system/system.h"

enum { BG_SAMPLES = 32 };

/* Velocities of a run at t_start + (k + 1) stride interval. */
typedef struct bg_comparison {
    int nv;
    double interval; /* s: a fixed step, or a small part of the run */
    long stride;     /* intervals from one sample to the next; 0: nothing is compared */
    int count;       /* samples taken */
    double *v;       /* [BG_SAMPLES * nv] */
    double *memory;  /* of v, and of */
    double *q, *z;   /* [nq], [nz] not used */
} bg_comparison;

bg_status bg_comparison_create(const bg_system *system, const bg_run_options *options,
                               bg_comparison *comparison, bg_error *err);
/* At the start of a run until t_end. */
void bg_comparison_begin(bg_comparison *comparison, double t_start, double t_end);
void bg_comparison_clear(bg_comparison *comparison);
/* Keeps what is due of the last step up to and including t. Nothing is allocated. */
void bg_comparison_sample(bg_comparison *comparison, bg_integrator *ig, double t_start, double t);
void bg_comparison_archive(bg_comparison *comparison, bg_archive *archive);
/* After a run that reached its end at t_end: runs again with other steps and says in the warnings
 * how far apart they are. */
void bg_comparison_judge(const bg_comparison *comparison, const bg_system *system,
                         const bg_run_options *options, int order, double t_start, double t_end,
                         bg_warnings *warnings);
/* After a run with controlled steps that reached its end: runs again with looser tolerances, and
 * says in the warnings where that ends elsewhere. */
void bg_comparison_judge_growth(const bg_comparison *comparison, const bg_system *system,
                                const bg_run_options *options, double t_start,
                                bg_run_report *report);

/* Moves constraints as the options of a run ask for, and the state onto them. */
bg_status bg_comparison_move(bg_integrator *ig, double moved, bg_redundancy *redundancy,
                             bg_state *state, bg_error *err);
/* After a run that reached its end: runs again with constraints moved by what they miss where some
 * are redundant to the precision of the data, and says in the warnings what that comes to. */
void bg_comparison_judge_digits(const bg_comparison *comparison, const bg_system *system,
                                const bg_run_options *options, double t_start,
                                bg_run_report *report);

#endif
