/* Regions of stability as pictures and as the page of a study. */
#include "base/output.h"
#include "cli/cli.h"
#include "cli/stability.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const bg_window coefficient_window = {0, 12, 0, 6}, eigenvalue_window = {-6, 1, -3.5, 3.5};
enum { POINTS = 141, PARTNERS = 60, REAL_POINTS = 1201 };

static bg_status is_stable(bg_stability *s, double a, double b, bool *stable, bg_error *err)
{
    double A[2][2];
    *stable = false;
    bg_status st = bg_stability_calc_matrix(s, a, b, A, err);
    if (st == BG_OK)
        *stable = bg_stability_is_stable(bg_stability_calc_excess(A));
    return st;
}

static bg_status in_coefficients(void *self, double x, double y, bool *inside, bg_error *err)
{
    return is_stable(self, x, y, inside, err);
}

/* z and its conjugate are the eigenvalues for a = |z|^2 and b = -2 Re z; the test equation has
 * b >= 0. */
static bg_status in_eigenvalues(void *self, double x, double y, bool *inside, bg_error *err)
{
    *inside = false;
    return x > 0 ? BG_OK : is_stable(self, x * x + y * y, -2 * x, inside, err);
}

/* Whether some real eigenvalue w <= 0 makes a stable pair with z. */
static bg_status has_partner(bg_stability *s, double z, bool *found, bg_error *err)
{
    bg_status st = BG_OK;
    *found = false;
    for (int k = 0; k < PARTNERS && !*found && st == BG_OK; k++) {
        double w = eigenvalue_window.x0 * k / (PARTNERS - 1);
        st = is_stable(s, z * w, -(z + w), found, err);
    }
    return st;
}

static bg_status trace_real(bg_stability *s, bg_stability_view *view, bg_error *err)
{
    bool before = false, found = false;
    for (int k = 0; k < REAL_POINTS; k++, before = found) {
        double z = eigenvalue_window.x0 * (1 - (double)k / (REAL_POINTS - 1));
        bg_status st = has_partner(s, z, &found, err);
        if (st != BG_OK)
            return st;
        if (found && !before && view->nreal < BG_STABILITY_SPANS)
            view->real[view->nreal++][0] = z;
        if (found && view->nreal > 0)
            view->real[view->nreal - 1][1] = z;
    }
    return BG_OK;
}

bg_status bg_stability_trace(bg_stability_view *view, bg_error *err)
{
    bg_stability *s;
    bg_status st = bg_stability_create(&view->method, 1.0, &s, err);
    if (st == BG_OK)
        st = bg_region_trace(&coefficient_window, POINTS, in_coefficients, s, &view->coefficients,
                             err);
    if (st == BG_OK)
        st = bg_region_trace(&eigenvalue_window, POINTS, in_eigenvalues, s, &view->eigenvalues,
                             err);
    if (st == BG_OK)
        st = trace_real(s, view, err);
    bg_stability_destroy(s);
    return st;
}

void bg_stability_view_clear(bg_stability_view *view)
{
    bg_region_clear(&view->coefficients);
    bg_region_clear(&view->eigenvalues);
}

/* A panel: its window of the plane and its rectangle of the picture. */
typedef struct stability_panel {
    bg_canvas *canvas;
    const bg_window *window;
    double left, top, width, height;
} stability_panel;

enum { LEFT = 62, TOP = 64, SIDE = 190, GAP = 34, LOWER = 116, BOTTOM = 58 };
enum { FILL = 0x9ec5e8, EDGE = 0x1c5d99, GRID = 0xdfe3e8, AXIS = 0x5a6472, INK = 0x1b1f24 };

static bg_place2 find_place(const stability_panel *p, double x, double y)
{
    const bg_window *w = p->window;
    return (bg_place2){p->left + p->width * (x - w->x0) / (w->x1 - w->x0),
                       p->top + p->height * (w->y1 - y) / (w->y1 - w->y0)};
}

static void draw_line(const stability_panel *p, double x0, double y0, double x1, double y1,
                      double width, unsigned colour)
{
    bg_canvas_line(p->canvas, find_place(p, x0, y0), find_place(p, x1, y1), width, colour);
}

/* True where both points lie on the same edge of the window: the region goes on there. */
static bool on_edge(const bg_window *w, bg_place2 p, bg_place2 q)
{
    return (p.x == w->x0 && q.x == w->x0) || (p.x == w->x1 && q.x == w->x1) ||
           (p.y == w->y0 && q.y == w->y0) || (p.y == w->y1 && q.y == w->y1);
}

static void draw_region(const stability_panel *p, const bg_region *r, bg_place2 *scratch)
{
    bg_region moved = *r;
    moved.points = scratch;
    for (int i = 0; i < r->count; i++)
        scratch[i] = find_place(p, r->points[i].x, r->points[i].y);
    bg_canvas_fill(p->canvas, &moved, FILL);
    for (int k = 0; k < r->ncurves; k++)
        for (int i = r->start[k]; i < r->start[k + 1]; i++) {
            int next = i + 1 < r->start[k + 1] ? i + 1 : r->start[k];
            if (!on_edge(p->window, r->points[i], r->points[next]))
                bg_canvas_line(p->canvas, scratch[i], scratch[next], 1.6, EDGE);
        }
}

static void draw_axes(const stability_panel *p, double step, bool first)
{
    const bg_window *w = p->window;
    char text[32];
    for (double x = ceil(w->x0 / step) * step; x <= w->x1; x += step) {
        bg_place2 at = find_place(p, x, w->y0);
        draw_line(p, x, w->y0, x, w->y1, x == 0 ? 1.2 : 0.6, x == 0 ? AXIS : GRID);
        snprintf(text, sizeof text, "%g", x);
        bg_canvas_text(p->canvas, (bg_place2){at.x, at.y + 16}, 12, BG_ANCHOR_MIDDLE, AXIS, text);
    }
    for (double y = ceil(w->y0 / step) * step; y <= w->y1; y += step) {
        bg_place2 at = find_place(p, w->x0, y);
        draw_line(p, w->x0, y, w->x1, y, y == 0 ? 1.2 : 0.6, y == 0 ? AXIS : GRID);
        snprintf(text, sizeof text, "%g", y);
        if (first)
            bg_canvas_text(p->canvas, (bg_place2){at.x - 6, at.y + 4}, 12, BG_ANCHOR_END, AXIS,
                           text);
    }
}

static void name_axes(const stability_panel *p, const char *x, const char *y, bool first)
{
    bg_place2 below = {p->left + p->width / 2, p->top + p->height + 34};
    bg_canvas_text(p->canvas, below, 13, BG_ANCHOR_MIDDLE, INK, x);
    if (first)
        bg_canvas_text(p->canvas, (bg_place2){p->left - 44, p->top - 10}, 13, BG_ANCHOR_START, INK,
                       y);
}

static void draw_view(bg_canvas *c, const bg_stability_view *v, int k, bg_place2 *scratch)
{
    double left = LEFT + k * (SIDE + GAP);
    stability_panel upper = {c, &coefficient_window, left, TOP, SIDE, SIDE / 2.0};
    stability_panel lower = {c,   &eigenvalue_window, left, TOP + SIDE / 2.0 + LOWER - 40, SIDE,
                             SIDE};
    const bg_stability_theory *theory = bg_stability_find_theory(&v->method);
    bg_canvas_text(c, (bg_place2){left + SIDE / 2.0, 24}, 16, BG_ANCHOR_MIDDLE, INK, v->name);
    bg_canvas_text(c, (bg_place2){left + SIDE / 2.0, 42}, 11, BG_ANCHOR_MIDDLE, AXIS,
                   theory ? theory->region : "");
    draw_region(&upper, &v->coefficients, scratch);
    draw_axes(&upper, 2, k == 0);
    name_axes(&upper, "h\xc2\xb2 a", "h b", k == 0);
    draw_region(&lower, &v->eigenvalues, scratch);
    draw_axes(&lower, 1, k == 0);
    for (int i = 0; i < v->nreal; i++)
        draw_line(&lower, v->real[i][0], 0, v->real[i][1], 0, 4, EDGE);
    name_axes(&lower, "h Re", "h Im", k == 0);
}

static int count_points(const bg_stability_view *views, int n)
{
    int most = 0;
    for (int k = 0; k < n; k++) {
        most = views[k].coefficients.count > most ? views[k].coefficients.count : most;
        most = views[k].eigenvalues.count > most ? views[k].eigenvalues.count : most;
    }
    return most;
}

bg_status bg_stability_draw(const bg_stability_view *views, int n, const char *path, bg_error *err)
{
    bg_canvas *canvas = NULL;
    const char *data;
    size_t size;
    int width = LEFT + n * (SIDE + GAP), height = TOP + SIDE / 2 + LOWER - 40 + SIDE + BOTTOM;
    bg_place2 *scratch = calloc((size_t)count_points(views, n) + 1, sizeof *scratch);
    bg_status st = scratch ? bg_canvas_create(width, height, &canvas, err)
                           : bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
    for (int k = 0; k < n && st == BG_OK; k++)
        draw_view(canvas, &views[k], k, scratch);
    if (st == BG_OK)
        st = bg_canvas_finish(canvas, &data, &size, err);
    if (st == BG_OK)
        st = bg_output_write(path, BG_PLACE_SVG, data, size, err);
    bg_canvas_destroy(canvas);
    free(scratch);
    return st;
}

static void draw_plane(bg_canvas *c, const bg_plane_view *v, const bg_window *window, int k,
                       double height, bg_place2 *scratch)
{
    double left = LEFT + k * (SIDE + GAP);
    stability_panel p = {c, window, left, TOP, SIDE, height};
    bg_canvas_text(c, (bg_place2){left + SIDE / 2.0, 24}, 16, BG_ANCHOR_MIDDLE, INK, v->name);
    bg_canvas_text(c, (bg_place2){left + SIDE / 2.0, 42}, 11, BG_ANCHOR_MIDDLE, AXIS, v->text);
    draw_region(&p, &v->region, scratch);
    draw_axes(&p, 2, k == 0);
    name_axes(&p, "h Re", "h Im", k == 0);
}

bg_status bg_stability_draw_plane(const bg_plane_view *views, int n, const bg_window *window,
                                  const char *path, bg_error *err)
{
    bg_canvas *canvas = NULL;
    const char *data;
    size_t size, most = 0;
    double height = SIDE * (window->y1 - window->y0) / (window->x1 - window->x0);
    for (int k = 0; k < n; k++)
        most = (size_t)views[k].region.count > most ? (size_t)views[k].region.count : most;
    bg_place2 *scratch = calloc(most + 1, sizeof *scratch);
    bg_status st = scratch ? bg_canvas_create(LEFT + n * (SIDE + GAP), TOP + (int)height + BOTTOM,
                                              &canvas, err)
                           : bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
    for (int k = 0; k < n && st == BG_OK; k++)
        draw_plane(canvas, &views[k], window, k, height, scratch);
    if (st == BG_OK)
        st = bg_canvas_finish(canvas, &data, &size, err);
    if (st == BG_OK)
        st = bg_output_write(path, BG_PLACE_SVG, data, size, err);
    bg_canvas_destroy(canvas);
    free(scratch);
    return st;
}

static json_t *number_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* The boundary of a region as one line; null separates its curves. */
static json_t *make_series(const char *name, const bg_region *r)
{
    json_t *x = json_array(), *y = json_array();
    for (int k = 0; k < r->ncurves; k++) {
        for (int i = r->start[k]; i <= r->start[k + 1]; i++) {
            bg_place2 p = r->points[i < r->start[k + 1] ? i : r->start[k]];
            json_array_append_new(x, json_real(p.x));
            json_array_append_new(y, json_real(p.y));
        }
        if (k + 1 < r->ncurves) {
            json_array_append_new(x, json_null());
            json_array_append_new(y, json_null());
        }
    }
    return json_pack("{s:s, s:o, s:o, s:n, s:b, s:b, s:b}", "name", name, "x", x, "y", y, "slope",
                     "line", 1, "points", 0, "paper", 0);
}

static json_t *make_plot(const bg_stability_view *views, int n, bool eigenvalues)
{
    json_t *series = json_array();
    for (int k = 0; k < n; k++)
        json_array_append_new(series,
                              make_series(views[k].name, eigenvalues ? &views[k].eigenvalues
                                                                     : &views[k].coefficients));
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:b}, s:{s:s, s:s, s:b}, s:o}", "kind", "stability",
                     "title",
                     eigenvalues ? "Stable pairs of complex eigenvalues, times h"
                                 : "Stable coefficients of the test equation",
                     "x", "label", eigenvalues ? "h Re" : "h\xc2\xb2 a", "unit", "", "log", 0, "y",
                     "label", eigenvalues ? "h Im" : "h b", "unit", "", "log", 0, "series", series);
}

static json_t *make_rows(const bg_stability_view *views, int n)
{
    json_t *rows = json_array();
    for (int k = 0; k < n; k++)
        for (int i = 0; i < BG_STABILITY_PAIRS; i++) {
            const bg_stability_limit *l = &views[k].limits[i];
            json_array_append_new(
                rows, json_pack("{s:i, s:s, s:s, s:s, s:{}, s:[f, f, o, o, o]}", "case",
                                k * BG_STABILITY_PAIRS + i, "name", views[k].name, "status", "ok",
                                "reason", "", "settings", "values", l->a, l->b,
                                number_or_null(l->expected), number_or_null(l->measured),
                                number_or_null(l->difference)));
        }
    return rows;
}

static json_t *make_page(const bg_stability_view *views, int n)
{
    static const char *const columns[][2] = {
        {"a", "1/s^2"}, {"b", "1/s"}, {"closed form", "s"}, {"measured", "s"}, {"difference", ""}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b}", "key", columns[i][0], "label",
                                              columns[i][0], "unit", columns[i][1], "timing", 0));
    return json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:n, s:[o, o], s:{s:i, s:i, s:i}}", "format", 1,
        "kind", "study", "name", "stability", "title", "Stability of the implemented steps", "text",
        "One step of each method from both unit vectors on q'' = -a q - b q' gives its "
        "amplification matrix; the regions are those in which no eigenvalue of it lies outside of "
        "the unit circle (a, b >= 0). The table compares the largest stable step with its closed "
        "form; where both are empty, every step is stable.",
        "source", "bogie stability", "columns", list, "rows", make_rows(views, n), "paper", "plots",
        make_plot(views, n, false), make_plot(views, n, true), "cases", "total",
        n * BG_STABILITY_PAIRS, "ok", n * BG_STABILITY_PAIRS, "failed", 0);
}

bg_status bg_stability_write_page(const bg_stability_view *views, int n, const char *path,
                                  bg_error *err)
{
    json_t *json = make_page(views, n);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(8)) : NULL;
    bg_report *report = NULL;
    bg_status st = text ? bg_report_create(&report, err)
                        : bg_error_set(err, BG_NO_MEMORY, "out of memory for the page");
    if (st == BG_OK)
        st = bg_report_add_study(report, "stability", text, err);
    if (st == BG_OK)
        st = bg_report_write(report, bg_template_get(), NULL, path, err);
    bg_report_destroy(report);
    free(text);
    json_decref(json);
    return st;
}
