/* Steps of mdop5 on the projecting descriptor form. */
#ifndef BG_PROJECTING_STEP_H
#define BG_PROJECTING_STEP_H

#include "integrators/pair.h"
#include "integrators/projecting.h"

/* The differential variables (q, u, z, work) that belong to a state of the integrator. */
typedef struct bg_projecting_side {
    const bg_state *owner;
    double *y, *rate; /* [n] */
    bool known;       /* else they are the state itself and its rates */
} bg_projecting_side;

typedef struct bg_projecting_step {
    bg_projecting *form;
    bg_projecting_side side[2];
    double eta, tau;           /* largest entries after accepted steps, ... */
    double last_eta, last_tau; /* ... and after the last attempt */
} bg_projecting_step;

bg_status bg_projecting_step_create(bg_integrator *ig, bg_projecting_step *s, bg_error *err);
void bg_projecting_step_clear(bg_projecting_step *s);
void bg_projecting_step_reset(bg_integrator *ig, bg_projecting_step *s);
/* As the functions of a bg_integrator_class. */
bg_status bg_projecting_step_attempt(bg_integrator *ig, bg_pair_memory *m, bg_projecting_step *s,
                                     double *error, bg_error *err);
bg_status bg_projecting_step_leap(bg_integrator *ig, bg_projecting_step *s, double *error,
                                  bg_error *err);
void bg_projecting_step_commit(bg_projecting_step *s);
void bg_projecting_step_archive(bg_integrator *ig, bg_projecting_step *s, bg_archive *archive);

#endif
