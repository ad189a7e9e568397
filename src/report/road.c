/* The road of a scene as a polyline: points close together where it is curved, two points at a
 * step; where the height changes across the road, as a grid of heights. A half-cylinder is drawn as
 * the bar that lies there; the run uses the path of a rigid wheel over it instead. */
#include "base/memory.h"
#include "model/roads.h"
#include "report/scene.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE_POINTS = 160, MAX_POINTS = 40000, MOST_LANES = 41 };

/* What lies under the tyres during the run; its road is that of a side, if there is one. */
typedef struct extent {
    const bg_road *road; /* NULL: no tyres */
    double from, to;     /* m, places */
    double y_low, y_high, radius;
} extent;

static extent find_extent(const bg_scene *s, int side)
{
    extent e = {.from = HUGE_VAL, .to = -HUGE_VAL, .y_low = HUGE_VAL, .y_high = -HUGE_VAL};
    for (int k = 0; k < s->model->nforces; k++) {
        const bg_force *f = &s->model->forces[k];
        bg_force_look look = {0};
        if (f->class_->look)
            f->class_->look(f, &look);
        if (!look.road)
            continue;
        if (look.road->side == side || !e.road)
            e.road = look.road;
        e.radius = fmax(e.radius, look.radius);
        for (long i = 0; i < s->frames; i++) {
            bg_vec3 p = bg_scene_calc_place(s, i, look.end[0].body, look.end[0].frame.r);
            double place = bg_road_calc_place(look.road, p.x, s->t[i]);
            e.from = fmin(e.from, place);
            e.to = fmax(e.to, place);
            e.y_low = fmin(e.y_low, p.y);
            e.y_high = fmax(e.y_high, p.y);
        }
    }
    return e;
}

/* The height that is drawn. */
static double calc_height(const bg_road *road, int piece, double place, double y)
{
    const double x = place - road->from;
    bg_road_height height;
    bg_road_calc(road, piece, place, y, &height);
    if (road->kind != BG_ROAD_HALF_CYLINDER)
        return height.along[0];
    return road->base + sqrt(fmax(0, road->radius * road->radius - x * x));
}

/* Whether the road is straight on a piece, so that its ends are enough. */
static bool is_straight(const bg_road *road, int piece)
{
    switch (road->kind) {
    case BG_ROAD_FLAT:
    case BG_ROAD_STAIR:
        return true;
    case BG_ROAD_TABLE:
        return road->curve.kind == BG_CURVE_LINEAR || piece != 1;
    case BG_ROAD_SINE:
        return road->nbreaks > 0 && piece != 1;
    default:
        return piece != 1;
    }
}

static void add_point(bg_scene_road *out, double x, double z)
{
    if (out->n > 0 && out->points[out->n - 1][0] == x && out->points[out->n - 1][1] == z)
        return;
    out->points[out->n][0] = x;
    out->points[out->n++][1] = z;
}

static int count_points(const bg_road *road, int piece, double from, double to)
{
    if (is_straight(road, piece))
        return 1;
    double wave = road->kind == BG_ROAD_SINE ? road->length : to - from;
    if (road->kind == BG_ROAD_TABLE)
        wave = (to - from) / road->curve.n * 8;
    return (int)fmin(MAX_POINTS, ceil(PIECE_POINTS * fmax(1, (to - from) / wave)));
}

/* Points of every piece between two places; out->points NULL: only counts them. */
static int sample(const bg_road *road, double from, double to, bg_scene_road *out)
{
    int total = 0;
    for (int piece = 0; piece <= road->nbreaks; piece++) {
        double a = piece > 0 ? fmax(from, road->breaks[piece - 1]) : from;
        double b = piece < road->nbreaks ? fmin(to, road->breaks[piece]) : to;
        if (!(b > a))
            continue;
        int n = count_points(road, piece, a, b);
        total += n + 1;
        for (int k = 0; out->points && k <= n; k++) {
            double x = k < n ? a + (b - a) * k / n : b;
            add_point(out, x, calc_height(road, piece, x, out->y));
        }
    }
    return total;
}

/* Points and lanes of a surface: a few of both for the size of a wheel, as far as there is room. */
static bg_status create_surface(const extent *e, bg_scene_road *out, bg_error *err)
{
    const double cell = 0.25 * e->radius, length = e->to - e->from;
    const double lanes = fmin(MOST_LANES, 2 + ceil(out->width / cell));
    const double n = fmin(floor(MAX_POINTS / lanes), 2 + ceil(length / cell));
    out->n = (int)n;
    out->lanes = (int)lanes;
    out->points = bg_calloc((size_t)out->n, sizeof *out->points);
    out->heights = bg_calloc((size_t)out->n * (size_t)out->lanes, sizeof *out->heights);
    if (!out->points || !out->heights) {
        bg_scene_clear_road(out);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the road of a scene");
    }
    for (int i = 0; i < out->n; i++) {
        const double x = e->from + length * i / (out->n - 1);
        const int piece = bg_road_find_piece(e->road, x);
        out->points[i][0] = x;
        out->points[i][1] = calc_height(e->road, piece, x, out->y);
        for (int k = 0; k < out->lanes; k++) {
            const double y = out->y + out->width * (k / (lanes - 1) - 0.5);
            out->heights[(long)i * out->lanes + k] = calc_height(e->road, piece, x, y);
        }
    }
    return BG_OK;
}

/* Where it lies and how it moves. */
static void place(const extent *e, bg_scene_road *out)
{
    out->y = 0.5 * (e->y_low + e->y_high);
    out->width = e->y_high - e->y_low + 4 * e->radius;
    if (e->road->side != 0) { /* half of it */
        out->y += 0.25 * e->road->side * out->width;
        out->width *= 0.5;
    }
    out->speed = e->road->speed;
    out->start = e->road->start;
}

void bg_scene_clear_road(bg_scene_road *road)
{
    free(road->points);
    free(road->heights);
    *road = (bg_scene_road){0};
}

bg_status bg_scene_create_road(const bg_scene *s, int side, bg_scene_road *out, bg_error *err)
{
    *out = (bg_scene_road){0};
    extent e = find_extent(s, side);
    if (!e.road || (side < 0 && e.road->side >= 0))
        return BG_OK;
    const double margin = 8 * e.radius;
    e.from -= margin;
    e.to += margin;
    place(&e, out);
    if (bg_road_is_surface(e.road))
        return create_surface(&e, out, err);
    int n = sample(e.road, e.from, e.to, out);
    if (n == 0)
        return BG_OK;
    out->points = bg_calloc((size_t)n, sizeof *out->points);
    if (!out->points)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the road of a scene");
    sample(e.road, e.from, e.to, out);
    return BG_OK;
}
