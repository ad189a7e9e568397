/* Roads.
 *
 *   flat           0
 *   bump           h/2 (1 - cos k (x - from)),  k = 2 pi / length, on [from, from + length]
 *   half-cylinder  a round bar of radius R on the plane, centre at `at`. A rigid wheel of radius r
 * touches it while its centre is on the circle of radius R + r about the bar's centre; the height
 * that lifts the wheel as much is sqrt((R + r)^2 - (x - at)^2) - r   where this is positive: |x -
 * at| < sqrt(R^2 + 2 R r) stair          height for every step passed, at `at`, `at` + spacing, ...
 *   sine           A sin(2 pi (x - from) / wavelength + phase) between from and to, 0 outside
 *   table          linear or cubic between points, constant outside
 *   expression     of x and y (surface.c)
 *   grid           heights over x and y with a bicubic spline between them (surface.c)
 *
 * on a plane of height `base`. Breaks: the ends of an obstacle, every stair, the corners of a
 * linear table, the first and the last x of a grid. */
#include "model/roads.h"

#include "model/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double two_pi = 6.283185307179586476925;

static bool make_breaks(const bg_value *v, bg_road *road, int n)
{
    road->breaks = bg_reader_allocate(v->reader, (size_t)n, sizeof(double));
    road->nbreaks = road->breaks ? n : 0;
    return road->breaks != NULL;
}

static void set_ends(const bg_value *v, bg_road *road, double from, double to)
{
    if (!make_breaks(v, road, 2))
        return;
    road->breaks[0] = from;
    road->breaks[1] = to;
}

static void read_bump(const bg_value *v, bg_road *road)
{
    road->height = bg_value_number(v, "height");
    road->from = bg_value_number(v, "from");
    road->length = bg_value_positive(v, "length");
    set_ends(v, road, road->from, road->from + road->length);
}

static void read_half_cylinder(const bg_value *v, bg_road *road)
{
    road->radius = bg_value_positive(v, "radius");
    road->from = bg_value_number(v, "at");
    const double half = sqrt(road->radius * (road->radius + 2 * road->wheel));
    set_ends(v, road, road->from - half, road->from + half);
}

static void read_stair(const bg_value *v, bg_road *road)
{
    enum { MAX_STEPS = 1000 };
    const bg_value count = bg_value_member(v, "count");
    const double n = bg_value_number_or(v, "count", 1);
    road->height = bg_value_number(v, "height");
    road->from = bg_value_number(v, "at");
    if (!(n >= 1 && n <= MAX_STEPS && n == floor(n))) {
        bg_value_fail(&count, "must be a whole number from 1 to %d, but is %g", MAX_STEPS, n);
        return;
    }
    road->length = n > 1 ? bg_value_positive(v, "spacing") : 1.0;
    if (!make_breaks(v, road, (int)n))
        return;
    for (int k = 0; k < road->nbreaks; k++)
        road->breaks[k] = road->from + k * road->length;
}

static void read_sine(const bg_value *v, bg_road *road)
{
    const bg_value to_place = bg_value_member(v, "to"), from_place = bg_value_member(v, "from");
    road->height = bg_value_number(v, "amplitude");
    road->length = bg_value_positive(v, "wavelength");
    road->phase = bg_value_number_or(v, "phase", 0);
    road->from = bg_value_number_or(v, "from", 0);
    const double to = bg_value_number_or(v, "to", HUGE_VAL);
    const bool begins = bg_value_exists(&from_place), ends = bg_value_exists(&to_place);
    if (ends && !begins)
        bg_value_fail(&to_place, "needs a 'from' where the sine begins");
    else if (ends && !(to > road->from))
        bg_value_fail(&to_place, "must be greater than 'from', but is %g", to);
    else if (begins && make_breaks(v, road, ends ? 2 : 1)) {
        road->breaks[0] = road->from;
        if (ends)
            road->breaks[1] = to;
    }
}

static void read_table(const bg_value *v, bg_road *road)
{
    static const char *const kinds[] = {"linear", "cubic", NULL};
    const bool linear = bg_value_choice(v, "interpolation", kinds, 1) == 0;
    if (!bg_value_take_points(v))
        return;
    bg_curve_read(v, "points", linear ? BG_CURVE_LINEAR : BG_CURVE_CUBIC, BG_CURVE_FLAT,
                  &road->curve);
    const bg_curve *u = &road->curve;
    if (v->reader->status != BG_OK)
        return;
    if (!linear)
        set_ends(v, road, u->x[0], u->x[u->n - 1]);
    else if (make_breaks(v, road, u->n))
        memcpy(road->breaks, u->x, (size_t)u->n * sizeof(double));
}

static void read_expression(const bg_value *v, bg_road *road)
{
    bg_surface_read_expression(v, &road->surface);
}

static void read_grid(const bg_value *v, bg_road *road)
{
    const bg_surface *s = &road->surface;
    bg_surface_read_grid(v, &road->surface);
    if (v->reader->status == BG_OK)
        set_ends(v, road, s->x[0], s->x[s->nx - 1]);
}

static void calc_flat(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    (void)road, (void)piece, (void)place, (void)y, (void)out;
}

static void calc_bump(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    const double x = place - road->from, k = two_pi / road->length;
    (void)y;
    if (piece != 1)
        return;
    out->along[0] = 0.5 * road->height * (1 - cos(k * x));
    out->along[1] = 0.5 * road->height * k * sin(k * x);
    out->along[2] = 0.5 * road->height * k * k * cos(k * x);
}

/* The circle goes on beyond its ends only a little; further out the height stays at its end. */
static void calc_circle(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    const double x = place - road->from;
    const double R = road->radius + road->wheel, left = R * R - x * x;
    const double z = sqrt(fmax(left, 0.25 * road->wheel * road->wheel));
    (void)y;
    if (piece != 1)
        return;
    out->along[0] = z - road->wheel;
    out->along[1] = -x / z;
    out->along[2] = -R * R / (z * z * z);
}

static void calc_stair(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    (void)place, (void)y;
    out->along[0] = piece * road->height;
}

static void calc_sine(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    const double k = two_pi / road->length, angle = k * (place - road->from) + road->phase;
    (void)y;
    if (piece != 1 && road->nbreaks > 0)
        return;
    out->along[0] = road->height * sin(angle);
    out->along[1] = road->height * k * cos(angle);
    out->along[2] = -road->height * k * k * sin(angle);
}

/* The pieces of a linear table are those of the curve; a cubic one is before, on and behind the
 * table. */
static void calc_table(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    const bg_curve *u = &road->curve;
    (void)y;
    if (u->kind == BG_CURVE_CUBIC && piece == 1) {
        const int k = bg_curve_find_piece(u, place);
        piece = k < 1 ? 1 : k > u->n - 1 ? u->n - 1 : k;
    } else if (u->kind == BG_CURVE_CUBIC && piece > 1) {
        piece = u->n;
    }
    bg_curve_calc(u, piece, place, out->along);
}

static void calc_expression(const bg_road *road, int piece, double place, double y,
                            bg_road_height *out)
{
    (void)piece;
    bg_surface_calc(&road->surface, 0, place, y, out->along, out->across);
}

static void calc_grid(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    bg_surface_calc(&road->surface, piece - 1, place, y, out->along, out->across);
}

static const char *const names[] = {"flat",  "bump",       "half-cylinder", "stair", "sine",
                                    "table", "expression", "grid",          NULL};

#define COMMON "type", "speed", "start", "base"

/* What each type may have, its reader, and its height above the base. */
static const struct {
    const char *keys[10];
    void (*read)(const bg_value *v, bg_road *road);
    void (*calc)(const bg_road *road, int piece, double place, double y, bg_road_height *out);
} types[] = {
    [BG_ROAD_FLAT] = {{COMMON}, NULL, calc_flat},
    [BG_ROAD_BUMP] = {{COMMON, "height", "from", "length"}, read_bump, calc_bump},
    [BG_ROAD_HALF_CYLINDER] = {{COMMON, "radius", "at"}, read_half_cylinder, calc_circle},
    [BG_ROAD_STAIR] = {{COMMON, "height", "at", "count", "spacing"}, read_stair, calc_stair},
    [BG_ROAD_SINE] = {{COMMON, "amplitude", "wavelength", "phase", "from", "to"},
                      read_sine,
                      calc_sine},
    [BG_ROAD_TABLE] = {{COMMON, "points", "file", "interpolation"}, read_table, calc_table},
    [BG_ROAD_EXPRESSION] = {{COMMON, "expression"}, read_expression, calc_expression},
    [BG_ROAD_GRID] = {{COMMON, "file", "x", "y", "heights"}, read_grid, calc_grid},
};

const char *const *bg_road_get_names(void)
{
    return names;
}

bool bg_road_is_surface(const bg_road *road)
{
    return road->kind == BG_ROAD_EXPRESSION || road->kind == BG_ROAD_GRID;
}

void bg_road_read(const bg_value *v, double wheel_radius, bg_road *road)
{
    *road = (bg_road){.wheel = wheel_radius};
    if (!bg_value_exists(v) || !bg_value_expect_object(v))
        return;
    road->kind = (bg_road_kind)bg_value_choice(v, "type", names, -1);
    if (v->reader->status != BG_OK)
        return;
    bg_value_expect(v, types[road->kind].keys);
    road->speed = bg_value_number_or(v, "speed", 0);
    road->start = bg_value_number_or(v, "start", 0);
    road->base = bg_value_number_or(v, "base", 0);
    if (v->reader->status == BG_OK && types[road->kind].read)
        types[road->kind].read(v, road);
}

void bg_road_clear(bg_road *road)
{
    bg_curve_clear(&road->curve);
    bg_surface_clear(&road->surface);
    free(road->breaks);
    *road = (bg_road){0};
}

double bg_road_calc_place(const bg_road *road, double x, double t)
{
    return x + road->speed * t + road->start;
}

int bg_road_find_piece(const bg_road *road, double place)
{
    int low = 0, high = road->nbreaks; /* breaks below low are <= place, from high on > place */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (road->breaks[middle] <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void bg_road_describe_break(const bg_road *road, int k, int direction, char *text, size_t size)
{
    const char *kind = names[road->kind];
    const char *how = direction > 0 ? "" : direction < 0 ? " (backwards)" : " (turning there)";
    const bool first = k == 0, last = k == road->nbreaks - 1;
    if (road->kind == BG_ROAD_STAIR && !first)
        snprintf(text, size, "%s, step %d of %d%s", kind, k + 1, road->nbreaks, how);
    else if (!first && !last)
        snprintf(text, size, "%s, point %d of %d%s", kind, k + 1, road->nbreaks, how);
    else
        snprintf(text, size, "%s %s%s", kind, first == (direction >= 0) ? "begins" : "ends", how);
}

void bg_road_calc(const bg_road *road, int piece, double place, double y, bg_road_height *out)
{
    piece = piece < 0 ? 0 : piece > road->nbreaks ? road->nbreaks : piece; /* of any mode */
    *out = (bg_road_height){0};
    types[road->kind].calc(road, piece, place, y, out);
    out->along[0] += road->base;
}
