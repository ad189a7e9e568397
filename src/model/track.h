/* A railway track: its centre line in the plane of the rails' tops, curvature and cant by arc
 * length, and how far along it things have come at a time. */
#ifndef BG_TRACK_H
#define BG_TRACK_H

#include "bogie/status.h"

#include <stdbool.h>

struct bg_signal;

/* Between its ends curvature and cant change by a blend P(u), u from 0 to 1. */
typedef struct bg_track_segment {
    double s, length; /* m: where it begins, how long it is */
    double kappa[2];  /* 1/m at both ends, positive: to the left */
    double cant[2];   /* m: height of the right rail over the left at both ends */
    double heading;   /* rad, where it begins; prepared */
    double x, y;      /* m, there; prepared */
    int first, count; /* its nodes, where curvature changes; prepared */
} bg_track_segment;

typedef enum bg_track_blend {
    BG_TRACK_CUBIC,   /* 3u^2 - 2u^3 */
    BG_TRACK_QUINTIC, /* 10u^3 - 15u^4 + 6u^5 */
    BG_TRACK_LINEAR   /* u: clothoids */
} bg_track_blend;

typedef struct bg_track {
    char *name;
    bg_track_segment *segments;
    int n;
    bg_track_blend blend;
    double base;                      /* m, between the rails' middles, for the cant's angle */
    double start;                     /* m, arc length at which the design position stands */
    double speed;                     /* m/s, unless: */
    const struct bg_signal *distance; /* m, travelled since the start; NULL: speed t */
    double (*nodes)[2];               /* x, y at equidistant places of segments; prepared */
} bg_track;

/* x, y, heading and angle of cant, each with its first two derivatives by arc length. */
enum { BG_TRACK_X, BG_TRACK_Y, BG_TRACK_HEADING, BG_TRACK_CANT, BG_TRACK_PARTS };

typedef struct bg_track_place {
    double part[BG_TRACK_PARTS][3];
} bg_track_place;

/* Integrates the centre line, which passes the origin along x where s = 0; at least one segment of
 * positive length. BG_NO_MEMORY. */
bg_status bg_track_prepare(bg_track *track, bg_error *err);
void bg_track_clear(bg_track *track);
/* At arc length s; beyond its ends a track goes on with the curvature and cant it has there. */
void bg_track_calc(const bg_track *track, double s, bg_track_place *out);
/* The segment at arc length s, -1 before the first and n behind the last; and the place at s by the
 * formulas of a segment, also before its beginning and behind its end. Without `place` only heading
 * and cant, which need no integral. */
int bg_track_find_segment(const bg_track *track, double s);
void bg_track_calc_in(const bg_track *track, int segment, double s, bool place,
                      bg_track_place *out);
/* Where segment k begins, k from 0 to n; and whether the second derivative of a part, or the first,
 * jumps there, as those of the cant do between cubic blends, those of the heading between clothoids
 * and arcs. */
double bg_track_get_border(const bg_track *track, int k);
bool bg_track_has_jump(const bg_track *track, int k, int part);
/* Distance travelled with its first two derivatives by time. */
void bg_track_calc_distance(const bg_track *track, double t, double out[3]);

#endif
