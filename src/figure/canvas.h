/* What the two kinds of canvas share. */
#ifndef BG_CANVAS_H
#define BG_CANVAS_H

#include "figure/figure.h"

#include <stdio.h>

struct bg_canvas {
    bg_canvas_kind kind;
    int width, height;
    FILE *svg;  /* of the text, SVG */
    char *data; /* of the file */
    size_t size;
    unsigned char *pixels; /* PNG: [BG_FINE height][BG_FINE width][3] */
    bool failed;           /* out of memory */
};

/* PNG is drawn so many times finer and averaged at the end. */
enum { BG_FINE = 3 };

void bg_raster_fill(bg_canvas *canvas, const bg_region *region, unsigned colour);
void bg_raster_line(bg_canvas *canvas, bg_place2 from, bg_place2 to, double width, unsigned colour);
void bg_raster_text(bg_canvas *canvas, bg_place2 at, double size, bg_anchor anchor, unsigned colour,
                    const char *text);

/* A letter as rows of five bits, the highest of which is on the left; the last two rows are below
 * the base line. Moves *text on. */
const unsigned char *bg_glyph_find(const char **text);
enum { BG_GLYPH_ROWS = 9, BG_GLYPH_ASCENT = 7, BG_GLYPH_COLUMNS = 5 };

/* The PNG file of width x height pixels of three bytes; NULL: out of memory. */
char *bg_png_encode(const unsigned char *rgb, int width, int height, size_t *size);

#endif
