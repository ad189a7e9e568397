/* Signals u(t) with u' and u'': constant, ramp, step (smooth or sharp), sine, sum of sines, chirp,
 * table (linear or cubic spline), expression of time. One file per type would be one line each;
 * they are small and live together in signal.c, in one table. */
#ifndef BG_SIGNAL_H
#define BG_SIGNAL_H

#include "model/expression.h"

#include <stddef.h>

typedef enum bg_signal_kind {
    BG_SIGNAL_CONSTANT, /* value */
    BG_SIGNAL_RAMP,     /* from value until t0, with slope until t1, constant afterwards */
    BG_SIGNAL_STEP,   /* from value a before t0 to b after t1 by the polynomial 6x^5-15x^4+10x^3 */
    BG_SIGNAL_JUMP,   /* a before t0, b from t0 on; raises an event at t0 */
    BG_SIGNAL_SINES,  /* offset + sum of amplitude_k sin(2 pi frequency_k t + phase_k) */
    BG_SIGNAL_CHIRP,  /* amplitude sin(2 pi (f0 t + (f1-f0) t^2 / (2 T)) + phase) for t in [0, T] */
    BG_SIGNAL_LINEAR, /* table, linear between knots, constant outside; a corner is an event */
    BG_SIGNAL_SPLINE, /* table, natural cubic spline, continued linearly outside */
    BG_SIGNAL_EXPRESSION, /* of t */
    BG_SIGNAL_TRACK       /* where something on a track is, part by part (model/track.h) */
} bg_signal_kind;

typedef struct bg_signal {
    char *name;
    bg_signal_kind kind;
    double a, b, t0, t1, slope, offset; /* as the kind needs */
    int n;                              /* knots or sines */
    double *x, *y, *c;                  /* [n] times, values, spline second derivatives; or
                                           frequency, amplitude, phase of sines */
    bg_expression *expression;          /* variable 0 is t */
    const struct bg_track *track;       /* of which n is the part, at the place a of the design
                                           position, less offset; n beyond the parts: distance / b;
                                           prepared: x holds `borders` places of corners */
    int borders;
    int corners; /* of a linear table, prepared: c begins with their times */
} bg_signal;

/* Checks values and computes spline coefficients after the fields were filled in. A failure names
 * what is wrong (times must ascend, at least two knots, ...). */
bg_status bg_signal_prepare(bg_signal *signal, bg_error *err);
/* Fills a table signal from a CSV file: two columns t, value; lines starting with # and one heading
 * line are skipped. A failure names file and line. */
bg_status bg_signal_read_csv(bg_signal *signal, const char *path, bg_error *err);
void bg_signal_clear(bg_signal *signal);

/* u, u', u'' at t into out; to the right of a corner. */
void bg_signal_calc(const bg_signal *signal, double t, double out[3]);
/* Corners, where u or u' jumps, for tracks also u'': their number, and the side that t is on, a
 * switching function, so that no step runs across: t less the time of the k-th, or for a place on a
 * track, which may come back, the way from the k-th in m. */
int bg_signal_count_corners(const bg_signal *signal);
double bg_signal_calc_side(const bg_signal *signal, int k, double t);
/* The time of a corner; not for tracks. */
double bg_signal_get_corner(const bg_signal *signal, int k);
/* What happens at the k-th corner: "input u jumps from 0 to 6"; only on tracks in both directions.
 */
void bg_signal_describe_corner(const bg_signal *signal, int k, char *text, size_t size);
/* Corners cut a signal into pieces, 0 before the first: the one that begins at or before t; and u,
 * u', u'' by the formula of a piece, also before its beginning and behind its end. */
int bg_signal_find_piece(const bg_signal *signal, double t);
void bg_signal_calc_piece(const bg_signal *signal, int piece, double t, double out[3]);
/* Whether u itself jumps at a corner. */
bool bg_signal_has_jump(const bg_signal *signal);

#endif
