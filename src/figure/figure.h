/* Small pictures without a library: regions traced by their boundary, drawn as SVG. */
#ifndef BG_FIGURE_H
#define BG_FIGURE_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bg_place2 {
    double x, y;
} bg_place2;

/* A rectangle of the plane. */
typedef struct bg_window {
    double x0, x1, y0, y1;
} bg_window;

/* Closed curves, one after another; what lies inside of an odd number of them is the region. */
typedef struct bg_region {
    bg_place2 *points; /* [count] without repeating the first of a curve */
    int *start;        /* [ncurves + 1] */
    int count, ncurves;
} bg_region;

/* Traces the part of the window where inside() holds, looking at n x n points and then along the
 * boundary. inside() may fail: the status is passed on. */
typedef bg_status (*bg_inside)(void *self, double x, double y, bool *inside, bg_error *err);
bg_status bg_region_trace(const bg_window *window, int n, bg_inside inside, void *self,
                          bg_region *region, bg_error *err);
void bg_region_clear(bg_region *region);

/* A drawing area in pixels, y downwards. Drawing never fails; what went wrong is told at the end.
 */
typedef struct bg_canvas bg_canvas;
typedef enum bg_anchor { BG_ANCHOR_START, BG_ANCHOR_MIDDLE, BG_ANCHOR_END } bg_anchor;

bg_status bg_canvas_create(int width, int height, bg_canvas **canvas, bg_error *err);
void bg_canvas_destroy(bg_canvas *canvas);
/* Colours are 0xRRGGBB. */
void bg_canvas_fill(bg_canvas *canvas, const bg_region *region, unsigned colour);
void bg_canvas_line(bg_canvas *canvas, bg_place2 from, bg_place2 to, double width, unsigned colour);
/* y is the base line; text is UTF-8. */
void bg_canvas_text(bg_canvas *canvas, bg_place2 at, double size, bg_anchor anchor, unsigned colour,
                    const char *text);
/* The bytes of the file, which belong to the canvas. */
bg_status bg_canvas_finish(bg_canvas *canvas, const char **data, size_t *size, bg_error *err);

#endif
