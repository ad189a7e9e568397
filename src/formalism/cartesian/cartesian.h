/* The Cartesian formalism: seven coordinates a body, the centre of mass r and Euler parameters p,
 * with the norm of p as a constraint; every joint is a set of rows. M is only semi-definite. */
#ifndef BG_CARTESIAN_H
#define BG_CARTESIAN_H

#include "formalism/multibody.h"

typedef struct bg_cartesian {
    bg_multibody mb; /* first: functions of the definition find it through self */
    int nb;          /* moving bodies: model bodies 1 .. nb */
    int nv, ng;
    double *q0, *v0; /* [nv] */
    int *M_start, *M_column, *G_start, *G_column;
    bg_pattern pattern_M, pattern_G;
    int *row_bodies; /* [6 ng] moving bodies of each row, ascending; 0 behind the last */
    const char **q_names, **g_names;
    char (*names)[64];
} bg_cartesian;

/* The start is taken from the poses and twists in `start` [nbodies]. */
bg_status bg_cartesian_create(const bg_model *model, const bg_body_state *start,
                              bg_cartesian **form, bg_error *err);
void bg_cartesian_destroy(void *form);
void bg_cartesian_define(bg_cartesian *c, bg_system_def *def);

#endif
