/* Two methods in one integrator: an explicit one, and an implicit one that takes over where steps
 * are limited by stability (automatic.c). */
#ifndef BG_AUTOMATIC_H
#define BG_AUTOMATIC_H

#include "integrators/integrator.h"

/* All that belongs to one of the methods. */
typedef struct bg_automatic_part {
    const bg_integrator_class *class_;
    void *method; /* NULL: it cannot integrate this system, or steps are fixed */
    bool by_largest, has_past, drifts;
} bg_automatic_part;

typedef struct bg_automatic {
    bg_automatic_part part[2]; /* explicit, implicit */
    int now;                   /* which of them makes steps */
    double t_exchange;         /* s, where the implicit one took over, */
    long steps;                /* accepted by then */
} bg_automatic;

void bg_automatic_destroy(bg_integrator *ig);
/* Another motion: the explicit method begins it. */
void bg_automatic_reset(bg_integrator *ig);
/* Between two steps, the last of which is final: exchanges the method where stiffness was found. A
 * failure leaves the explicit one. */
void bg_automatic_update(bg_integrator *ig);
/* Whether the implicit method makes steps. */
bool bg_automatic_is_implicit(const bg_integrator *ig);
/* Which method did what. */
void bg_automatic_describe(const bg_integrator *ig, char *text, size_t size);
/* To come before all that the method at hand keeps. */
void bg_automatic_archive(bg_integrator *ig, bg_archive *archive);

#endif
