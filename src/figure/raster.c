/* Shapes as fine pixels: a pixel belongs to a shape when its centre does. */
#include "figure/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void paint(bg_canvas *c, int x, int y, unsigned colour)
{
    if (x < 0 || y < 0 || x >= c->width * BG_FINE || y >= c->height * BG_FINE)
        return;
    unsigned char *p = c->pixels + 3 * ((size_t)y * (size_t)(c->width * BG_FINE) + (size_t)x);
    p[0] = (unsigned char)(colour >> 16);
    p[1] = (unsigned char)(colour >> 8);
    p[2] = (unsigned char)colour;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the boundary crosses the line y. */
static int find_crossings(const bg_region *r, double y, double *x)
{
    int n = 0;
    for (int k = 0; k < r->ncurves; k++)
        for (int i = r->start[k]; i < r->start[k + 1]; i++) {
            bg_place2 p = r->points[i];
            bg_place2 q = r->points[i + 1 < r->start[k + 1] ? i + 1 : r->start[k]];
            if ((p.y <= y) != (q.y <= y))
                x[n++] = p.x + (q.x - p.x) * (y - p.y) / (q.y - p.y);
        }
    qsort(x, (size_t)n, sizeof *x, compare);
    return n;
}

void bg_raster_fill(bg_canvas *c, const bg_region *r, unsigned colour)
{
    double *x = malloc(((size_t)r->count + 1) * sizeof *x);
    c->failed = c->failed || !x;
    for (int row = 0; x && row < c->height * BG_FINE; row++) {
        int n = find_crossings(r, (row + 0.5) / BG_FINE, x);
        for (int k = 0; k + 1 < n; k += 2)
            for (int i = (int)ceil(x[k] * BG_FINE - 0.5); i + 0.5 < x[k + 1] * BG_FINE; i++)
                paint(c, i, row, colour);
    }
    free(x);
}

void bg_raster_line(bg_canvas *c, bg_place2 from, bg_place2 to, double width, unsigned colour)
{
    double dx = to.x - from.x, dy = to.y - from.y, length = hypot(dx, dy), half = 0.5 * width;
    if (length == 0)
        return;
    int left = (int)floor((fmin(from.x, to.x) - half) * BG_FINE);
    int right = (int)ceil((fmax(from.x, to.x) + half) * BG_FINE);
    int top = (int)floor((fmin(from.y, to.y) - half) * BG_FINE);
    int bottom = (int)ceil((fmax(from.y, to.y) + half) * BG_FINE);
    for (int row = top; row <= bottom; row++)
        for (int i = left; i <= right; i++) {
            double x = (i + 0.5) / BG_FINE - from.x, y = (row + 0.5) / BG_FINE - from.y;
            double along = (x * dx + y * dy) / length, across = (x * dy - y * dx) / length;
            if (along >= 0 && along <= length && fabs(across) <= half)
                paint(c, i, row, colour);
        }
}

/* Letters are as wide as in a typewriter: six columns of a seventh of the height of a capital. */
void bg_raster_text(bg_canvas *c, bg_place2 at, double size, bg_anchor anchor, unsigned colour,
                    const char *text)
{
    double dot = 0.72 * size / BG_GLYPH_ASCENT;
    int n = 0;
    for (const char *s = text; *s; n++)
        bg_glyph_find(&s);
    double x = at.x - (anchor == BG_ANCHOR_START    ? 0
                       : anchor == BG_ANCHOR_MIDDLE ? 0.5
                                                    : 1) *
                          (n * (BG_GLYPH_COLUMNS + 1) - 1) * dot;
    for (double top = at.y - BG_GLYPH_ASCENT * dot; *text; x += (BG_GLYPH_COLUMNS + 1) * dot) {
        const unsigned char *rows = bg_glyph_find(&text);
        int columns = (int)ceil(BG_GLYPH_COLUMNS * dot * BG_FINE);
        int height = (int)ceil(BG_GLYPH_ROWS * dot * BG_FINE);
        for (int j = 0; j < height; j++)
            for (int i = 0; i < columns; i++) {
                int row = (int)((j + 0.5) / (dot * BG_FINE)),
                    column = (int)((i + 0.5) / (dot * BG_FINE));
                if (row < BG_GLYPH_ROWS && column < BG_GLYPH_COLUMNS &&
                    (rows[row] >> (BG_GLYPH_COLUMNS - 1 - column) & 1))
                    paint(c, (int)(x * BG_FINE) + i, (int)(top * BG_FINE) + j, colour);
            }
    }
}
