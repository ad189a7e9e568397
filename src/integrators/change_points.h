/* Change points of overconstrained mechanisms whose data have few digits. */
#ifndef BG_CHANGE_POINTS_H
#define BG_CHANGE_POINTS_H

#include "consistent/projection.h"
#include "integrators/integrator.h"

typedef struct bg_change_points bg_change_points;
/* Evaluations of one look ahead, and as many factorisations; what is not found by then is not (most
 * that were seen: 271). Two projections may follow. */
enum {
    BG_LOOK_MAX = 600,
    BG_LOOK_TERMS = BG_LOOK_MAX + 2 * (BG_PROJECTION_MAX + 3),
    BG_LOOK_FACTORISATIONS = BG_LOOK_MAX + 2 * 2
};
bg_status bg_change_points_create(bg_integrator *ig, bg_error *err);
void bg_change_points_destroy(bg_change_points *points);
/* A new start, on the constraints: rows are redundant to this precision (NULL: none are). What was
 * found before is forgotten with a motion that begins anew. */
void bg_change_points_restart(bg_integrator *ig, const bg_redundancy *redundancy,
                              bg_restart reason);

/* Other rows are kept now: what was seen ahead was seen of those before. */
void bg_change_points_forget(bg_integrator *ig);

/* Looks from the beginning x0 of the next step for a change point ahead, and moves the constraints
 * and x0 so that the motion leads through it; true: x0 was moved, and rates there are to be found
 * anew. With error control that is not before every step (foresight.c); where rows are those of a
 * tree it costs nothing. */
bool bg_change_points_update(bg_integrator *ig);
/* Whether there are looks. */
bool bg_change_points_is_needed(const bg_integrator *ig);
/* What a look costs at most where no change point is near. */
void bg_change_points_plan(const bg_integrator *ig, int *terms, int *factorisations);
/* Whether one is being passed, so that the choice of rows has to stay. */
bool bg_change_points_is_passing(const bg_integrator *ig);

/* The length of a step from x0 that was to be h, so that none ends near the change point that is
 * being passed: the step over it ends about as far behind as it begins before. */
double bg_change_points_straddle(const bg_integrator *ig, double h);
/* The largest offset of the constraints of the passage, in their sizes; 0: none is being passed. */
double bg_change_points_get_offset(const bg_integrator *ig);
/* By how much redundant rows may be missed, in their sizes, where offsets show what the data's
 * misfit is. */
double bg_change_points_get_allowed(const bg_integrator *ig);
/* Remembers that at x0 more rows hung together than there was memory to decide upon. */
void bg_change_points_notice_undecided(bg_integrator *ig);
/* Says among the warnings which were passed, and when. */
void bg_change_points_explain(const bg_integrator *ig, bg_warnings *warnings);
void bg_change_points_archive(bg_integrator *ig, bg_archive *archive);

#endif
