/* Events: zeros of the switching functions inside a step (003 section 4.3).
 *
 * Functions whose zeros cannot be told apart in time are one instant and are reported together. The
 * side of zero that a function is on is state, not the sign of a rounded value: it changes when an
 * event is reported, and otherwise only where the system itself moved the function by an event. */
#ifndef BG_EVENTS_H
#define BG_EVENTS_H

#include "base/archive.h"
#include "bogie/run.h"
#include "system/dynamics.h"

typedef struct bg_detector {
    bg_evaluator *sys;
    bg_integrator *ig;
    int ns;
    int *sign;              /* [ns] +1 or -1: the side of zero each function is on at t_done */
    double *scale;          /* [ns] largest |s| seen */
    double *touched;        /* [ns] s, where it last touched zero (NAN: nowhere) */
    unsigned char *resting; /* [ns] reported at zero, and not yet seen on the new side */
    double t_done;          /* s, everything up to here has been reported */
    int repeats;            /* times the present step was repeated for a lost enclosure */
    double *last, t_last;   /* [ns] values at the time t_last, s, up to which steps were searched */
    double *before, t_before; /* [ns] the same one step earlier; t_before = t_last: not known */
    /* The instant found: who fires in which direction, who has fired in it so far, values there. */
    int nfires;
    unsigned char *fires, *fired; /* [ns] */
    int *direction;               /* [ns] */
    double *s_round;              /* [ns] before the system's last change */
    double *s_changed;            /* [ns] behind it, before any projection */
    /* scratch */
    double *s, *s_early;           /* [ns] values at a time and just before or after it */
    double *left, *left_slope;     /* [ns] values and slopes at the beginning of a piece */
    double *right, *right_slope;   /* [ns] and at its end */
    double *from, *weight, *slope; /* [ns] of the search in a piece, see event_search.c */
    double *touch_at;              /* [ns] s, touches in the piece; NAN: none */
    int *heading;                  /* [ns] where a function goes from zero; 0: not known */
    int *said;                     /* [ns] sides that follow from the modes */
    unsigned char *followed;       /* [ns] near enough to zero at the start to be looked at */
    double *q, *v, *z, *V;         /* [nq], [nv], [nz]; kinematic matrix */
    double *a, *lambda;            /* [nv], [ng] where s depends on lambda, else [0] */
    bg_state *state;               /* projected dense output: the state at the instant found */
    bg_arena arena;                /* all arrays */
} bg_detector;

bg_status bg_detector_create(bg_evaluator *sys, bg_integrator *ig, bg_detector **detector,
                             bg_error *err);
void bg_detector_destroy(bg_detector *detector);

/* Takes the side of zero of each function from the state, looking ahead along the motion where one
 * is zero, but not behind t_end. Those that are zero are the first instant (nfires). */
bg_status bg_detector_start(bg_detector *detector, const bg_state *state, double t_end,
                            bg_error *err);

/* The first instant of the last step after t_done, if any: *found, with its functions in `fires`
 * and `state` at its time. t_done moves there, or to the end of the step. BG_RETRY: the enclosure
 * was lost between phases; repeat the step up to *t_retry. */
bg_status bg_detector_find(bg_detector *detector, bool *found, double *t_retry, bg_error *err);

/* Behind the functions of an instant the system has changed: first `change` with the state as the
 * system left it, then `reset` with the state that was made consistent. Sides follow; functions
 * that have to fire in the same instant now are the next round (nfires). moved: q, v or z changed,
 * not only modes. */
bg_status bg_detector_change(bg_detector *detector, const bg_state *state, bg_error *err);
bg_status bg_detector_reset(bg_detector *detector, const bg_state *state, bool moved, double t_end,
                            bg_error *err);

void bg_detector_archive(bg_detector *detector, bg_archive *archive);

/* Inside of the detector. s at a point; on plain dense output; on projected, with the state in
 * detector->state.
 */
bg_status bg_detector_calc(bg_detector *detector, double t, const double *q, const double *v,
                           const double *z, const int *mode, double *s, bg_error *err);
bg_status bg_detector_calc_plain(bg_detector *detector, double t, double *s, bg_error *err);
bg_status bg_detector_calc_projected(bg_detector *detector, double t, double *s, bg_error *err);
static inline int bg_sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}
/* Whether a value is still on the present side. A function that was reported and rests at zero has
 * not left it as long as it stays there. */
bool bg_detector_is_present(const bg_detector *detector, int i, double s);
/* Times nearer than this are not told apart. */
double bg_detector_get_grain(double t);
/* The first instant in the piece [a, b], whose end values are in left and right: into fires. */
bg_status bg_detector_search_piece(bg_detector *detector, double a, double b, bool *found,
                                   bg_error *err);

#endif
