/* The work of drives that have no coordinate (drive_work.c). */
#ifndef BG_DRIVE_WORK_H
#define BG_DRIVE_WORK_H

#include "base/arena.h"
#include "integrators/integrator.h"

typedef struct bg_drive_work {
    bg_integrator *ig; /* NULL: there are no such drives, or nobody asks for energies */
    bg_arena arena;
    double *y, *rate, *lambda; /* [n], [n], [ng] at a point of a step */
    double *u;                 /* [POINTS + 2][3 nu] inputs and their derivatives in a step */
    double t_inputs;           /* s, of w->u + 3 nu */
    bool moving;               /* some input, within the last step */
    bool unresolved;           /* inputs change more within the last step than steps see */
    double t, work;            /* s, J: the state up to which work has been accounted for */
    double missed;             /* J, of the work up to there, which the state does not have */
    int intervals;             /* halved in this step */
} bg_drive_work;

/* On failure it must still be cleared. */
bool bg_drive_work_create(bg_drive_work *w, bg_integrator *ig);
void bg_drive_work_clear(bg_drive_work *w);
/* From x on nothing is missed that has not been yet. */
void bg_drive_work_begin(bg_drive_work *w, const bg_state *x);
/* Looks at the inputs of the last step, from `from` to `to`. */
void bg_drive_work_look(bg_drive_work *w, double from, double to);
/* Up to x, which lies in the last step or at its end; range: J, of the energies so far, t_run: s,
 * length of the run. */
void bg_drive_work_account(bg_drive_work *w, const bg_state *x, double range, double t_run);

#endif
