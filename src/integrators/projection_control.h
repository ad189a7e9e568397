/* When a one-step method projects its end point onto the position constraints: 003 Table 1, (16).
 */
#ifndef BG_PROJECTION_CONTROL_H
#define BG_PROJECTION_CONTROL_H

#include "integrators/integrator.h"

typedef enum bg_projection_mode {
    BG_PROJECT_NONE,       /* the index-1 form as it is */
    BG_PROJECT_VELOCITY,   /* (12b) after every step */
    BG_PROJECT_CONTROL,    /* (12b) after every step, (12a) as the drift asks for it */
    BG_PROJECT_EVERY_STEP, /* (12a) and (12b) after every step */
    BG_PROJECT_ONCE        /* the same with one increment (13) and no iteration: bounded work */
} bg_projection_mode;

#define BG_PROJECTION_CHOICES "none|velocity|control|every-step"
/* Of methods whose work per step is known beforehand. */
#define BG_PROJECTION_BOUNDED BG_PROJECTION_CHOICES "|once"

typedef struct bg_projection_control {
    bg_projection_mode mode;
    int k, since;   /* steps to make without (12a), and made so far */
    bool projected; /* the present attempt used (12a) */
    double drift;   /* weighted norm of its first increment */
    double *first;  /* [nv] that increment */
} bg_projection_control;

bg_status bg_projection_control_create(bg_integrator *ig, bg_projection_control *c, bg_error *err);
void bg_projection_control_clear(bg_projection_control *c);
void bg_projection_control_reset(bg_projection_control *c);
/* Normalises ig->x1->q, and projects it when that is due, with the factorisation at hand. */
bg_status bg_projection_control_position(bg_integrator *ig, bg_projection_control *c,
                                         bg_error *err);
/* The end of a step on the index-1 form: projects ig->x1 as the mode asks, positions with the
 * factorisation at hand, and finds its rates and multipliers with that of the end. */
bg_status bg_projection_control_end(bg_integrator *ig, bg_projection_control *c, bg_error *err);
/* After a step that is final: adapts k. */
void bg_projection_control_commit(bg_projection_control *c);
void bg_projection_control_archive(bg_projection_control *c, bg_archive *archive);

#endif
