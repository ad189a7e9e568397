/* How long steps are.
 *
 * After every attempt the class function `control` of the method proposes a length; the default is
 * PI control with the method's order (Hairer, Norsett and Wanner 1993, II.4): with the error e in
 * units of the tolerance and e_old that of the step before,
 *     h_new = h min(10, max(0.2, 0.9 e^(-alpha) e_old^0.04)),   alpha = 1/order - 0.03,
 * after a rejection without memory and without growth. What is proposed is fitted to the end of the
 * run, to limits and to the grid of fixed steps, for all methods alike. */
#ifndef BG_CONTROL_H
#define BG_CONTROL_H

#include "base/archive.h"
#include "bogie/integrator.h"
#include "integrators/leaps.h"
#include "integrators/rounding.h"

/* How an attempt ended: within the tolerance; beyond it; without a result (no convergence, a
 * singular matrix, a term that is not finite). */
typedef enum bg_outcome { BG_ACCEPTED, BG_TOO_LARGE, BG_FAILED } bg_outcome;

/* All that step control remembers. It goes back with a step that is undone. */
typedef struct bg_control {
    double h_next;      /* s, proposal for the next step */
    double h_cruise;    /* s, what steps were before they became short */
    double error_old;   /* of the last accepted step */
    bool last_rejected; /* so was the attempt before */
    bg_rounding rounding;
    bg_leaps leaps;
} bg_control;

/* From here on another motion, with a first step of h. */
void bg_control_reset(bg_integrator *ig, double h);
/* The default of the class function `control`. */
double bg_control_calc(bg_integrator *ig, bg_outcome outcome, double error);
/* The same by the method's own function, if it has one. */
double bg_control_propose(bg_integrator *ig, bg_outcome outcome, double error);
/* Chooses h_next behind an accepted step with this error. across: a singular position made it
 * short, which says nothing about what steps are elsewhere. */
void bg_control_accept(bg_integrator *ig, double error, bool across);

/* The same of a fixed step, or of a part of one. */
void bg_control_accept_fixed(bg_integrator *ig);
/* h_next <- a part of the fixed step that failed; false: it cannot be, or is too short. */
bool bg_control_cut(bg_integrator *ig);
/* Length of an attempt of about h from x0, and the time it ends at; avoids a tiny last step and
 * ends exactly at the limit. */
double bg_control_fit(bg_integrator *ig, double h, double *t1);
/* The least length a step may have, s. */
double bg_control_get_least(const bg_integrator *ig);

void bg_control_archive(bg_integrator *ig, bg_archive *archive);

#endif
