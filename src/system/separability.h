/* What hangs together in a system: velocities that a mass or a constraint couples, or a body.
 *
 * Constraints are looked at in the pattern of G, or in its values where there is none, masses in
 * the values of M, at two states near the start: for hand-written systems there is no other way. */
#ifndef BG_SEPARABILITY_H
#define BG_SEPARABILITY_H

#include "system/dynamics.h"

/* Told of every coupling: row i of G acts on velocity j ('G'), or M has an entry between the
 * velocities i and j that is more than rounding ('M', its value). A status other than BG_OK ends
 * the visit. */
typedef struct bg_coupling_visitor {
    void *self;
    bg_status (*couple)(void *self, char kind, int i, int j, double value, bg_error *err);
} bg_coupling_visitor;

bg_status bg_system_visit_couplings(bg_dynamics *dyn, const bg_coupling_visitor *visitor,
                                    bg_error *err);

/* component[nv] <- the number of the group each velocity belongs to, from 0 on in order of their
 * first velocities; g_component[ng], which may be NULL, that of a velocity each constraint acts on,
 * -1: none. Groups move without each other but for forces; all that move a body are of one. */
bg_status bg_system_find_components(bg_dynamics *dyn, int *component, int *g_component, int *count,
                                    bg_error *err);

/* The k-th entry of row i of a matrix in a pattern (NULL: full, of so many columns), its column and
 * place; false: there is none. */
bool bg_pattern_get_entry(const bg_pattern *pattern, int columns, int i, int k, int *column,
                          int *place);

#endif
