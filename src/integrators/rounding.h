/* Errors that are those of rounding.
 *
 * An error of a few units in the last place of the largest coordinate, velocity or state beside it
 * is rounding, whatever the tolerance of a small one says: the step is accepted, and steps grow
 * until there is more to be seen than that. A larger error
 * that does not fall with the step is rounding, too: as long as it is small beside the state it is
 * accepted, what it came to is remembered, and steps are as long again as they were before they
 * shrank in vain. Rejections at different places make no more than a suspicion; a quarter of the
 * step from the same place decides. Of a leap decides the same leap from a beginning that differs
 * by rounding (noise.h), or that steps a million times as short were no better.
 *
 * Every step rounds its end. With u half a unit in the last place this adds up to at most
 *     sum over steps of max_i u |y_i| / (rtol |y_i| + atol)
 * tolerances, which the motion then amplifies as it does the errors of the method.
 *
 * The run says that smaller tolerances are of no use where one of these was seen, or where the sum
 * has come to a tenth of the tolerance. */
#ifndef BG_ROUNDING_H
#define BG_ROUNDING_H

#include "base/archive.h"
#include "bogie/integrator.h"

typedef struct bg_rounding {
    double noise;      /* error that rounding makes, in units of the tolerance; forgotten slowly */
    double noise_most; /* largest such error; 0: none was seen */
    double sum;        /* of the roundings of all steps, in units of the tolerance */
    double h_back; /* s, what steps were when errors stopped to fall; 0: nothing to go back to */
    double h_rejected;     /* s, length of a recent rejected attempt that was no leap; 0: none */
    double error_rejected; /* and its error */
    int since_rejected;    /* accepted steps since */
} bg_rounding;

/* All but noise_most and sum, which are of the whole run. */
void bg_rounding_reset(bg_rounding *rounding);
/* What errors of this time are divided by. */
double bg_rounding_get_scale(const bg_rounding *rounding);
/* Makes little of an error whose entries, in work_n, are those of rounding in any case. */
void bg_rounding_sift(bg_integrator *ig, double *error);
/* Whether `error` of the last attempt, whose entries are in work_n, is rounding: then a shorter
 * one, which this has made, may be accepted with the error that is returned in its place. Otherwise
 * all but x1 is as before. */
bool bg_rounding_check(bg_integrator *ig, double *error);
/* The same of a leap: in_vain: steps far shorter were no better; else it is made again from a
 * beginning that differs by rounding. */
bool bg_rounding_check_leap(bg_integrator *ig, bool in_vain, double *error);
/* Whether x0 is near a singular position: the matrix is much worse conditioned than at the start.
 */
bool bg_rounding_is_magnified(bg_integrator *ig);
/* The step was accepted, and its successor chosen. */
void bg_rounding_accept(bg_integrator *ig);
/* What rounding came to in this run, in units of the tolerance; 0: not worth a word. */
double bg_rounding_get_reached(const bg_rounding *rounding);
void bg_rounding_archive(bg_rounding *rounding, bg_archive *archive);

#endif
