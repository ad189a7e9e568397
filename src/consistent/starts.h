/* Start positions and velocities from what a model file gives (system/starts.h). */
#ifndef BG_CONSISTENT_STARTS_H
#define BG_CONSISTENT_STARTS_H

#include "system/dynamics.h"
#include "system/starts.h"

/* Moves x->q, the guess of the definition, to where positions are as given, loops closed; leaves it
 * where it is when the search does not lead there, or when all is well. */
bg_status bg_starts_find_position(bg_dynamics *dynamics, bg_state *x, bg_error *err);
/* After a search for positions that ended at x with st: an error that names the fixed positions
 * that cannot be met together, where that is why it failed or where one is missed by more than the
 * misfit of the data; otherwise st. */
bg_status bg_starts_explain_position(bg_dynamics *dynamics, bg_state *x, double misfit,
                                     bg_status st, bg_error *err);
/* x->v <- what is wanted at the pose x->q. With constraints, G and g_t are at hand there and
 * eliminated[ng] marks the rows that are left out. */
bg_status bg_starts_find_velocity(bg_dynamics *dynamics, const unsigned char *eliminated,
                                  bg_state *x, bg_error *err);
/* What was given and is not so at x, by more than the misfit of the data (relative to its size),
 * into the report; an error where the user insisted. */
bg_status bg_starts_report(bg_evaluator *sys, const bg_state *x, double misfit,
                           bg_assembly_report *report, bg_error *err);

#endif
