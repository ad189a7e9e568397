/* Errors that are those of rounding.
 *
 * An error that does not fall with the step is rounding: as long as it is small beside the state it
 * is accepted, what it came to is remembered, and the run says that smaller tolerances are of no
 * use. Rejections at different places make no more than a suspicion; a quarter of the step from the
 * same place decides. */
#ifndef BG_ROUNDING_H
#define BG_ROUNDING_H

#include "base/archive.h"
#include "bogie/integrator.h"

typedef struct bg_rounding {
    double noise;      /* error that rounding makes, in units of the tolerance; forgotten slowly */
    double noise_most; /* its largest value; 0: none was seen */
    double h_rejected; /* s, length of a recent rejected attempt that was no leap; 0: none */
    double error_rejected; /* and its error */
    int since_rejected;    /* accepted steps since */
} bg_rounding;

/* All but noise_most, which is of the whole run. */
void bg_rounding_reset(bg_rounding *rounding);
/* What errors of this time are divided by. */
double bg_rounding_get_scale(const bg_rounding *rounding);
/* Whether `error` of the last attempt, whose entries are in work_n, is rounding: then a shorter
 * one, which this has made, may be accepted with the error that is returned in its place. Otherwise
 * all but x1 is as before. */
bool bg_rounding_check(bg_integrator *ig, double *error);
void bg_rounding_accept(bg_rounding *rounding);
void bg_rounding_archive(bg_rounding *rounding, bg_archive *archive);

#endif
