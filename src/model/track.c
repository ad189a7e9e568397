/* Track geometry by arc length.
 *
 * In a segment that begins at s_0, with u = (s - s_0)/L, P the blend and Q its integral,
 *
 *   kappa = kappa_0 + (kappa_1 - kappa_0) P(u),    Theta = Theta_0 + L (kappa_0 u + (kappa_1 -
 * kappa_0) Q(u)),   x' = cos Theta,   y' = sin Theta.
 *
 * Where kappa is constant, the way from s_0 on is the chord d sinc(kappa d/2) in the direction
 * Theta_0 + kappa d/2. Elsewhere x and y are integrated by four-point Gauss rules from nodes at
 * most 1 m, 0.05 rad and a sixteenth of the segment apart, where they are exact to rounding.
 *
 * The cant c is the height of the right rail over the left; the track turns about its centre line
 * by beta = -asin(c/b):
 *
 *   beta' = -c'/w,   beta'' = -(c'' + c c'^2/w^2)/w,   w = sqrt(b^2 - c^2). */
#include "model/track.h"

#include "base/memory.h"
#include "model/signal.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_NODES = 16, PAIRS = 2 };
static const double span = 1, turn = 0.05; /* m, rad between nodes, at most */
static const double nearly = 1e-9;         /* of what changes in a segment: rounding */

/* Gauss's rule on [-1, 1], in pairs. */
static const double node[PAIRS] = {0.33998104358485626480, 0.86113631159405257522};
static const double weight[PAIRS] = {0.65214515486254614263, 0.34785484513745385737};

/* out: P, P', P'', and Q. */
static void calc_blend(bg_track_blend blend, double u, double out[4])
{
    if (blend == BG_TRACK_LINEAR) {
        out[0] = u, out[1] = 1, out[2] = 0, out[3] = u * u / 2;
    } else if (blend == BG_TRACK_CUBIC) {
        out[0] = u * u * (3 - 2 * u);
        out[1] = 6 * u * (1 - u);
        out[2] = 6 - 12 * u;
        out[3] = u * u * u * (1 - u / 2);
    } else {
        out[0] = u * u * u * (10 + u * (6 * u - 15));
        out[1] = 30 * u * u * (1 - u) * (1 - u);
        out[2] = 60 * u * (1 - u) * (1 - 2 * u);
        out[3] = u * u * u * u * (2.5 + u * (u - 3));
    }
}

static bool is_arc(const bg_track_segment *g)
{
    return g->kappa[0] == g->kappa[1];
}

/* Heading at the distance d from the segment's beginning. */
static double calc_heading(const bg_track *k, const bg_track_segment *g, double d)
{
    double p[4];
    if (is_arc(g))
        return g->heading + g->kappa[0] * d;
    calc_blend(k->blend, d / g->length, p);
    return g->heading + g->kappa[0] * d + (g->kappa[1] - g->kappa[0]) * g->length * p[3];
}

/* From (x, y) at distance d along an arc. */
static void go_along_arc(double heading, double kappa, double d, double at[2])
{
    const double half = 0.5 * kappa * d;
    const double chord = fabs(half) < 1e-4 ? d * (1 - half * half / 6) : d * sin(half) / half;
    at[0] += chord * cos(heading + half);
    at[1] += chord * sin(heading + half);
}

/* From `from` to `to`, distances from the segment's beginning, which curvature varies between. */
static void integrate(const bg_track *k, const bg_track_segment *g, double from, double to,
                      double at[2])
{
    const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    for (int i = 0; i < PAIRS; i++)
        for (int side = -1; side <= 1; side += 2) {
            const double heading = calc_heading(k, g, middle + side * half * node[i]);
            at[0] += half * weight[i] * cos(heading);
            at[1] += half * weight[i] * sin(heading);
        }
}

static int count_nodes(const bg_track_segment *g)
{
    const double most = fmax(fabs(g->kappa[0]), fabs(g->kappa[1])) * g->length;
    return is_arc(g) ? 0 : LEAST_NODES + (int)fmin(1e6, fmax(g->length / span, most / turn));
}

/* Where a segment begins is known: what lies in it, and where it ends. */
static void pass_segment(const bg_track *k, bg_track_segment *g, double at[2])
{
    for (int i = 0; i < g->count; i++) {
        double *xy = k->nodes[g->first + i];
        xy[0] = at[0], xy[1] = at[1];
        integrate(k, g, i * g->length / g->count, (i + 1) * g->length / g->count, at);
    }
    if (g->count == 0)
        go_along_arc(g->heading, g->kappa[0], g->length, at);
}

bg_status bg_track_prepare(bg_track *k, bg_error *err)
{
    int n = 0;
    double at[2] = {0, 0}, heading = 0, s = 0;
    for (int i = 0; i < k->n; i++) {
        k->segments[i].first = n;
        n += k->segments[i].count = count_nodes(&k->segments[i]);
    }
    k->nodes = calloc((size_t)n + 1, sizeof *k->nodes);
    if (!k->nodes)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for track '%s'", k->name);
    for (int i = 0; i < k->n; i++) {
        bg_track_segment *g = &k->segments[i];
        g->s = s, g->heading = heading, g->x = at[0], g->y = at[1];
        pass_segment(k, g, at);
        heading = calc_heading(k, g, g->length);
        s += g->length;
    }
    return BG_OK;
}

void bg_track_clear(bg_track *k)
{
    free(k->name);
    free(k->segments);
    free(k->nodes);
    *k = (bg_track){0};
}

int bg_track_find_segment(const bg_track *k, double s)
{
    int low = -1, high = k->n + 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (bg_track_get_border(k, middle) <= s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double bg_track_get_border(const bg_track *k, int i)
{
    const bg_track_segment *last = &k->segments[k->n - 1];
    return i < k->n ? k->segments[i].s : last->s + last->length;
}

static void set_cant(const bg_track *k, const double cant[3], double out[3])
{
    const double square = k->base * k->base - cant[0] * cant[0], w = sqrt(square);
    out[0] = -asin(cant[0] / k->base);
    out[1] = -cant[1] / w;
    out[2] = -(cant[2] + cant[0] * cant[1] * cant[1] / square) / w;
}

/* From the place where curvature and heading are known. */
static void set_place(const bg_track *k, const double at[2], double heading, const double kappa[2],
                      const double cant[3], bg_track_place *out)
{
    const double c = cos(heading), s = sin(heading);
    const double part[3][3] = {
        {at[0], c, -kappa[0] * s}, {at[1], s, kappa[0] * c}, {heading, kappa[0], kappa[1]}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->part[i][j] = part[i][j];
    set_cant(k, cant, out->part[BG_TRACK_CANT]);
}

/* Beyond an end: d from it, of either sign. */
static void go_on(const bg_track *k, const bg_track_segment *g, int end, double d,
                  bg_track_place *out)
{
    const double kappa[2] = {g->kappa[end], 0}, cant[3] = {g->cant[end], 0, 0};
    double at[2] = {g->x, g->y}, heading = g->heading;
    if (end == 1) {
        if (g->count == 0)
            go_along_arc(heading, g->kappa[0], g->length, at);
        else {
            const double from = (g->count - 1) * g->length / g->count;
            at[0] = k->nodes[g->first + g->count - 1][0];
            at[1] = k->nodes[g->first + g->count - 1][1];
            integrate(k, g, from, g->length, at);
        }
        heading = calc_heading(k, g, g->length);
    }
    go_along_arc(heading, kappa[0], d, at);
    set_place(k, at, heading + kappa[0] * d, kappa, cant, out);
}

void bg_track_calc_in(const bg_track *k, int segment, double s, bool place, bg_track_place *out)
{
    if (segment < 0 || segment >= k->n) {
        const int end = segment < 0 ? 0 : 1;
        go_on(k, &k->segments[end ? k->n - 1 : 0], end, s - bg_track_get_border(k, end * k->n),
              out);
        return;
    }
    const bg_track_segment *g = &k->segments[segment];
    const double d = s - g->s, L = g->length;
    double p[4], at[2] = {g->x, g->y};
    calc_blend(k->blend, d / L, p);
    const double more = g->kappa[1] - g->kappa[0], higher = g->cant[1] - g->cant[0];
    const double kappa[2] = {g->kappa[0] + more * p[0], more * p[1] / L};
    const double cant[3] = {g->cant[0] + higher * p[0], higher * p[1] / L, higher * p[2] / (L * L)};
    if (place && g->count == 0) {
        go_along_arc(g->heading, g->kappa[0], d, at);
    } else if (place) {
        const int i = (int)fmax(0, fmin(g->count - 1, d / L * g->count));
        at[0] = k->nodes[g->first + i][0];
        at[1] = k->nodes[g->first + i][1];
        integrate(k, g, i * L / g->count, d, at);
    }
    set_place(k, at, calc_heading(k, g, d), kappa, cant, out);
}

void bg_track_calc(const bg_track *k, double s, bg_track_place *out)
{
    bg_track_calc_in(k, bg_track_find_segment(k, s), s, true, out);
}

/* By how much the first and second derivative of a part change in a segment, about. */
static void calc_changes(const bg_track *k, int segment, int part, double out[2])
{
    out[0] = out[1] = 0;
    if (segment < 0 || segment >= k->n)
        return;
    const bg_track_segment *g = &k->segments[segment];
    const double bend = fabs(g->kappa[1] - g->kappa[0]);
    const double roll = fabs(g->cant[1] - g->cant[0]) / (k->base * g->length);
    out[0] = part == BG_TRACK_HEADING ? bend : roll;
    out[1] = out[0] / g->length;
}

bool bg_track_has_jump(const bg_track *k, int i, int part)
{
    const double s = bg_track_get_border(k, i);
    double before[2], behind[2];
    bg_track_place a, b;
    if (part != BG_TRACK_HEADING && part != BG_TRACK_CANT)
        return false; /* curvature does not jump */
    calc_changes(k, i - 1, part, before);
    calc_changes(k, i, part, behind);
    bg_track_calc_in(k, i - 1, s, false, &a);
    bg_track_calc_in(k, i, s, false, &b);
    for (int n = part == BG_TRACK_HEADING; n < 2; n++)
        if (fabs(a.part[part][n + 1] - b.part[part][n + 1]) > nearly * (before[n] + behind[n]))
            return true;
    return false;
}

void bg_track_calc_distance(const bg_track *k, double t, double out[3])
{
    if (k->distance) {
        bg_signal_calc(k->distance, t, out);
    } else {
        out[0] = k->speed * t;
        out[1] = k->speed;
        out[2] = 0;
    }
}
