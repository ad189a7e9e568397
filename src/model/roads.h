/* Roads: height over the place x along the road and, for some types, y across it. One line per type
 * in roads.c.
 *
 * A road is cut at its breaks into pieces on which height, slope and curvature are smooth; at a
 * break one of them may jump. Wheels keep the piece they are on as a mode and switch it when x
 * passes a break. */
#ifndef BG_ROADS_H
#define BG_ROADS_H

#include "model/forces/curve.h"
#include "model/surface.h"

typedef enum bg_road_kind {
    BG_ROAD_FLAT,
    BG_ROAD_BUMP,          /* h/2 (1 - cos(2 pi (x - from) / length)) */
    BG_ROAD_HALF_CYLINDER, /* as a rigid wheel rolls over it */
    BG_ROAD_STAIR,         /* jumps of the height */
    BG_ROAD_SINE,
    BG_ROAD_TABLE,
    BG_ROAD_EXPRESSION, /* of x and y */
    BG_ROAD_GRID        /* heights over x and y */
} bg_road_kind;

typedef struct bg_road {
    bg_road_kind kind;
    int side;                    /* of a road with two sides: 1 left, -1 right; 0: it has one */
    double speed, start;         /* m/s, m: place under a wheel at x is x + speed t + start */
    double base;                 /* m, height of the plane everything stands on */
    double height, from, length; /* m, of the obstacle: amplitude of a sine, rise of a stair */
    double phase;                /* rad, of the sine */
    double radius, wheel;        /* m, of the cylinder and of the wheel on it */
    bg_curve curve;
    bg_surface surface;
    int nbreaks;
    double *breaks; /* [nbreaks] m, ascending */
} bg_road;

/* Reads a road for a wheel of the given radius; an absent road is flat at height 0. Failures stay
 * in the reader. */
void bg_road_read(const bg_value *v, double wheel_radius, bg_road *road);
void bg_road_clear(bg_road *road);
/* All types by name, NULL-terminated. */
const char *const *bg_road_get_names(void);

/* The place on the road under x at time t, and the piece it lies on: 0 .. nbreaks. At a break, the
 * piece behind it. */
double bg_road_calc_place(const bg_road *road, double x, double t);
int bg_road_find_piece(const bg_road *road, double place);
/* What a wheel comes to that passes the k-th break forwards (direction 1), backwards (-1) or turns
 * there (0): "stair begins". */
void bg_road_describe_break(const bg_road *road, int k, int direction, char *text, size_t size);
/* Whether its height changes across it. */
bool bg_road_is_surface(const bg_road *road);

/* Height H and derivatives at a place x and y by the formula of a piece, also a little beyond its
 * ends. */
typedef struct bg_road_height {
    double along[3];  /* H, m; H_x; H_xx, 1/m */
    double across[3]; /* H_y; H_xy, H_yy, 1/m */
} bg_road_height;

void bg_road_calc(const bg_road *road, int piece, double place, double y, bg_road_height *out);

#endif
