#include "figure/canvas.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bg_status bg_canvas_create(bg_canvas_kind kind, int width, int height, bg_canvas **canvas,
                           bg_error *err)
{
    bg_canvas *c = *canvas = BG_NEW(bg_canvas);
    if (!c)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
    *c = (bg_canvas){.kind = kind, .width = width, .height = height};
    if (kind == BG_CANVAS_PNG) {
        size_t n = (size_t)width * (size_t)height * 3 * BG_FINE * BG_FINE;
        c->pixels = malloc(n);
        if (c->pixels)
            memset(c->pixels, 0xff, n);
    } else {
        c->svg = open_memstream(&c->data, &c->size);
    }
    c->failed = !c->pixels && !c->svg;
    if (c->svg)
        fprintf(c->svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" font-family=\"sans-serif\">\n"
                "<!-- Bogie -->\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                width, height, width, height);
    return BG_OK;
}

void bg_canvas_destroy(bg_canvas *c)
{
    if (!c)
        return;
    if (c->svg)
        fclose(c->svg);
    free(c->data);
    free(c->pixels);
    free(c);
}

void bg_canvas_fill(bg_canvas *c, const bg_region *region, unsigned colour)
{
    if (c->pixels)
        bg_raster_fill(c, region, colour);
    if (!c->svg || region->count == 0)
        return;
    fprintf(c->svg, "<path fill=\"#%06x\" fill-rule=\"evenodd\" d=\"", colour);
    for (int k = 0; k < region->ncurves; k++) {
        for (int i = region->start[k]; i < region->start[k + 1]; i++)
            fprintf(c->svg, "%c%.2f %.2f", i == region->start[k] ? 'M' : 'L', region->points[i].x,
                    region->points[i].y);
        fprintf(c->svg, "z");
    }
    fprintf(c->svg, "\"/>\n");
}

void bg_canvas_line(bg_canvas *c, bg_place2 from, bg_place2 to, double width, unsigned colour)
{
    if (c->pixels)
        bg_raster_line(c, from, to, width, colour);
    if (c->svg)
        fprintf(c->svg,
                "<path stroke=\"#%06x\" stroke-width=\"%.2f\" d=\"M%.2f %.2fL%.2f %.2f\"/>\n",
                colour, width, from.x, from.y, to.x, to.y);
}

void bg_canvas_text(bg_canvas *c, bg_place2 at, double size, bg_anchor anchor, unsigned colour,
                    const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    if (c->pixels)
        bg_raster_text(c, at, size, anchor, colour, text);
    if (!c->svg)
        return;
    fprintf(c->svg,
            "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"#%06x\">",
            at.x, at.y, size, anchors[anchor], colour);
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", c->svg);
        else if (*text == '&')
            fputs("&amp;", c->svg);
        else
            fputc(*text, c->svg);
    fprintf(c->svg, "</text>\n");
}

/* The mean of the fine pixels of each pixel. */
static unsigned char *average(const bg_canvas *c)
{
    int row = c->width * BG_FINE * 3;
    unsigned char *out = malloc((size_t)c->width * (size_t)c->height * 3);
    for (int y = 0; out && y < c->height; y++)
        for (int x = 0; x < c->width * 3; x++) {
            int sum = 0;
            for (int k = 0; k < BG_FINE * BG_FINE; k++)
                sum += c->pixels[(y * BG_FINE + k / BG_FINE) * row +
                                 (x / 3 * BG_FINE + k % BG_FINE) * 3 + x % 3];
            out[y * c->width * 3 + x] = (unsigned char)(sum / (BG_FINE * BG_FINE));
        }
    return out;
}

bg_status bg_canvas_finish(bg_canvas *c, const char **data, size_t *size, bg_error *err)
{
    if (c->svg) {
        fprintf(c->svg, "</svg>\n");
        c->failed = fclose(c->svg) != 0;
        c->svg = NULL;
    } else if (c->pixels) {
        unsigned char *rgb = average(c);
        c->data = rgb ? bg_png_encode(rgb, c->width, c->height, &c->size) : NULL;
        c->failed = !c->data;
        free(rgb);
    }
    *data = c->data;
    *size = c->size;
    return c->failed ? bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture") : BG_OK;
}
