/* Inside of an analysis, for verbs that compute more at its state. */
#ifndef BG_ANALYSIS_INTERNAL_H
#define BG_ANALYSIS_INTERNAL_H

#include "bogie/analysis.h"
#include "linear/modes.h"

struct bg_analysis {
    const bg_problem *problem;
    const bg_system *system;
    bg_evaluator *evaluator;
    bg_state *state;
    double *y;                /* [ny] */
    bg_assembly_report start; /* where it is the start */
    bg_run_report run;        /* else */
    bg_linearisation *linearisation;
    bg_linear_matrices matrices; /* once asked for */
    bg_modes modes;
    bool has_matrices, has_modes;
    char where[64];
    bool rests; /* it is an equilibrium, or a steady motion */
};

/* The constraints that are left out there. */
const bg_redundancy *bg_analysis_get_redundancy(const bg_analysis *analysis);
/* Whether something accelerates, or a state changes: eigenvalues are those of the instant. */
bool bg_analysis_is_instant(const bg_analysis *analysis);
/* What coordinate or state takes part as k-th of freedoms and states z. */
const char *bg_analysis_get_part_name(const bg_analysis *analysis, const bg_modes *modes, int k,
                                      char *buffer, size_t size);
/* The body that a shape, every stride-th number of it, moves most, and how; "" where the system is
 * not of a model. */
void bg_analysis_describe(const bg_analysis *analysis, const double *shape, int stride, char *text,
                          size_t size);
/* analysis_matrices.c: names, units and values with the numbers. Clear them after a failure, too.
 */
bg_status bg_analysis_make_matrices(const bg_analysis *analysis, bg_linear_matrices *matrices,
                                    bg_error *err);
void bg_linear_matrices_clear(bg_linear_matrices *matrices);

#endif
