/* Clouds of eigenvalues: those of the slow part in one panel, those of the fast part in another,
 * each with a scale of its own (004 Figs. 4 to 7). */
#include "base/output.h"
#include "cli/rates.h"
#include "figure/figure.h"
#include "run/problem.h"
#include "system/two_rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cloud {
    bg_place2 *points;
    int count, capacity;
    bg_window window;
} cloud;

typedef struct clouds {
    bg_linear_job *job;
    const bg_rates *parts; /* whose entries say what is fast */
    cloud of[2];           /* slow, fast */
} clouds;

static bg_status add_point(cloud *c, double re, double im, bg_error *err)
{
    if (c->count == c->capacity) {
        const int capacity = 2 * c->capacity + 64;
        bg_place2 *more = realloc(c->points, (size_t)capacity * sizeof *more);
        if (!more)
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
        c->points = more;
        c->capacity = capacity;
    }
    c->points[c->count++] = (bg_place2){re, im};
    c->window.x0 = fmin(c->window.x0, re);
    c->window.x1 = fmax(c->window.x1, re);
    c->window.y1 = fmax(c->window.y1, im);
    return BG_OK;
}

static bg_status add_spectra(clouds *x, const bg_rates *r, bg_error *err)
{
    static const unsigned parts[] = {BG_PART_SLOW, BG_PART_FAST};
    bg_status st = BG_OK;
    for (int k = 0; k < 2 && st == BG_OK; k++) {
        bg_rates_spectrum s;
        st = bg_rates_calc_spectrum(r, parts[k], &s, err);
        for (int i = 0; i < s.count && st == BG_OK; i++)
            st = add_point(&x->of[k], s.re[i], s.im[i], err);
        for (int i = 0; i < s.count && st == BG_OK; i++)
            if (s.im[i] > 0)
                st = add_point(&x->of[k], s.re[i], -s.im[i], err);
        bg_rates_spectrum_clear(&s);
    }
    return st;
}

/* A row of the run: linearised there, with the parts of the start. */
static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    clouds *x = self;
    bg_linearisation *l = x->job->analysis->linearisation;
    const bg_system_def *def = &x->job->analysis->evaluator->def;
    bg_rates *r = NULL;
    bg_status st = bg_linearisation_update(l, row->state,
                                           bg_analysis_get_redundancy(x->job->analysis), err);
    if (st == BG_OK)
        st = bg_rates_create(l, &r, err);
    if (st == BG_OK) {
        if (r->nx == x->parts->nx) /* those that were chosen, while the freedoms are the same */
            for (int k = 0; k < r->nx; k++)
                r->part[k] = x->parts->part[k];
        else
            bg_rates_sort(r, l, def->v_part, def->z_part);
        st = add_spectra(x, r, err);
    }
    bg_rates_destroy(r);
    return st;
}

static bg_status follow(clouds *x, double until, int count, bg_error *err)
{
    bg_run_options options = bg_problem_get_run_options(x->job->problem);
    bg_run_report report = {0};
    const double start = x->job->analysis->state->t;
    if (!(until > start))
        return bg_error_set(err, BG_BAD_INPUT, "--until must lie after the start at %g s", start);
    options.t_end = until;
    options.output_interval = (until - start) / count;
    options.output_steps = 0;
    options.skip_comparison = 1;
    options.sink = (bg_sink){.self = x, .row = take_row};
    options.stop = bg_stop_get();
    bg_stop_listen();
    bg_status st = bg_run(x->job->problem->system, &options, &report, err);
    bg_run_report_clear(&report);
    return st;
}

enum { LEFT = 70, TOP = 60, SIDE = 300, GAP = 90, BOTTOM = 50 };
enum { GRID = 0xdfe3e8, AXIS = 0x5a6472, INK = 0x1b1f24, SLOW = 0x1c5d99, FAST = 0xb5471b };

/* 1, 2 or 5 times a power of ten, so that a span has four to nine of them. */
static double find_tick(double span)
{
    const double rough = span / 5, power = pow(10, floor(log10(rough))), x = rough / power;
    return power * (x < 1.5 ? 1 : x < 3.5 ? 2 : x < 7.5 ? 5 : 10);
}

static bg_place2 find_place(const bg_window *w, int k, double x, double y)
{
    return (bg_place2){LEFT + k * (SIDE + GAP) + SIDE * (x - w->x0) / (w->x1 - w->x0),
                       TOP + SIDE * (w->y1 - y) / (w->y1 - w->y0)};
}

static void draw_grid(bg_canvas *c, const bg_window *w, int k)
{
    char text[32];
    const double dx = find_tick(w->x1 - w->x0), dy = find_tick(w->y1 - w->y0);
    for (double i = ceil(w->x0 / dx); i * dx <= w->x1; i++) {
        const bg_place2 low = find_place(w, k, i * dx, w->y0);
        bg_canvas_line(c, low, find_place(w, k, i * dx, w->y1), i == 0 ? 1.2 : 0.6,
                       i == 0 ? AXIS : GRID);
        snprintf(text, sizeof text, "%g", i * dx);
        bg_canvas_text(c, (bg_place2){low.x, low.y + 16}, 12, BG_ANCHOR_MIDDLE, AXIS, text);
    }
    for (double i = ceil(w->y0 / dy); i * dy <= w->y1; i++) {
        const bg_place2 left = find_place(w, k, w->x0, i * dy);
        bg_canvas_line(c, left, find_place(w, k, w->x1, i * dy), i == 0 ? 1.2 : 0.6,
                       i == 0 ? AXIS : GRID);
        snprintf(text, sizeof text, "%g", i * dy);
        bg_canvas_text(c, (bg_place2){left.x - 6, left.y + 4}, 12, BG_ANCHOR_END, AXIS, text);
    }
}

static void draw_cloud(bg_canvas *c, cloud *x, int k)
{
    bg_window *w = &x->window;
    const double wide = fmax(w->x1 - w->x0, 0.02 * w->y1 + 1e-3);
    w->x0 -= 0.06 * wide;
    w->x1 += 0.06 * wide;
    w->y1 = fmax(1.06 * w->y1, 0.5 * wide);
    w->y0 = -w->y1;
    bg_canvas_text(c, (bg_place2){LEFT + k * (SIDE + GAP) + SIDE / 2.0, 26}, 16, BG_ANCHOR_MIDDLE,
                   INK, k ? "fast part" : "slow part");
    bg_canvas_text(c, (bg_place2){LEFT + k * (SIDE + GAP) + SIDE / 2.0, 46}, 11, BG_ANCHOR_MIDDLE,
                   AXIS, "Im over Re, 1/s");
    draw_grid(c, w, k);
    for (int i = 0; i < x->count; i++) {
        const bg_place2 at = find_place(w, k, x->points[i].x, x->points[i].y);
        for (int side = -1; side <= 1; side += 2)
            bg_canvas_line(c, (bg_place2){at.x - 2, at.y - 2 * side},
                           (bg_place2){at.x + 2, at.y + 2 * side}, 0.8, k ? FAST : SLOW);
    }
}

static bg_status draw(clouds *x, const char *path, bg_error *err)
{
    bg_canvas *canvas = NULL;
    const char *data;
    size_t size;
    bg_status st = bg_canvas_create(LEFT + 2 * SIDE + GAP + 30, TOP + SIDE + BOTTOM, &canvas, err);
    for (int k = 0; k < 2 && st == BG_OK; k++)
        draw_cloud(canvas, &x->of[k], k);
    if (st == BG_OK)
        st = bg_canvas_finish(canvas, &data, &size, err);
    if (st == BG_OK)
        st = bg_output_write(path, BG_PLACE_SVG, data, size, err);
    bg_canvas_destroy(canvas);
    return st;
}

bg_status bg_rates_draw(bg_linear_job *job, const bg_rates *rates, double until, int count,
                        const char *path, bg_error *err)
{
    clouds x = {.job = job, .parts = rates};
    bg_status st = isnan(until) ? add_spectra(&x, rates, err) : follow(&x, until, count, err);
    for (int k = 0; k < 2 && st == BG_OK; k++)
        printf("%s cloud       Re from %.4g to %.4g 1/s, Im up to %.4g 1/s, %d eigenvalues\n",
               k ? "fast" : "slow", x.of[k].window.x0, x.of[k].window.x1, x.of[k].window.y1,
               x.of[k].count);
    if (st == BG_OK)
        st = draw(&x, path, err);
    for (int k = 0; k < 2; k++)
        free(x.of[k].points);
    return st;
}
