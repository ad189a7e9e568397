/* Leaps: steps over positions that can be passed but not come near to, such as singular ones.
 *
 * When steps become short because of errors across the constraints, leaps of the length steps had
 * before are tried, under the same error control, whose stages may straddle the place. A method
 * that can make them has a class function `leap`, which keeps its stages on the constraints
 * (chart.c); without constraints, and with those of a tree, there is nothing to leap over. A leap
 * that is near the place at its beginning or in a stage suffers from rounding, which the place
 * magnifies: where no length is good enough, the best is taken, if rounding is what limits it
 * (rounding.h). A leap costs about three steps, so that a plain one is tried again after some
 * leaps, and leaps that were of no use are not tried again for some steps. */
#ifndef BG_LEAPS_H
#define BG_LEAPS_H

#include "base/archive.h"
#include "bogie/integrator.h"

typedef struct bg_leaps {
    bool leapt; /* the last accepted step was a leap */
    int left;   /* leaps to make before a step without is tried */
    int pause;  /* accepted steps before leaps are tried again, after they were of no use, ... */
    int wait;   /* ... and what that was last */
} bg_leaps;

enum { BG_LEAPS = 7 }; /* lengths of leaps */

typedef struct bg_leap_tried {
    double h, error; /* s; in units of the tolerance */
} bg_leap_tried;

/* Attempts of one step. */
typedef struct bg_attempts {
    double shrunk;  /* s, what error control asks for */
    int rejections; /* in a row, without leaps */
    int leap;       /* leaps tried so far */
    int count;      /* ... that had an error, by length */
    bg_leap_tried tried[BG_LEAPS + 1];
    bool doubted; /* one is made again, whose error may be rounding */
    bool in_vain; /* steps were short beyond reason, and no better */
    bool across;  /* errors across the constraints made the step short */
} bg_attempts;

void bg_leaps_reset(bg_leaps *leaps);
/* Length and kind (ig->leaping) of the attempt after a rejected one. computed: it had an error. */
double bg_leaps_choose(bg_integrator *ig, bg_attempts *attempts, bool computed, double error);
/* What the error of a leap is multiplied by: errors of leaps are estimated sharply, those of steps
 * are mostly far smaller than their estimates. At first leaps must be as good as those, and the
 * best of all within the tolerance; over a change point no better than the offset of the
 * constraints that lead through it, which is what the digits of the data leave open. */
double bg_leaps_get_safety(const bg_integrator *ig, const bg_attempts *attempts);
void bg_leaps_accept(bg_integrator *ig);
void bg_leaps_archive(bg_integrator *ig, bg_archive *archive);

#endif
