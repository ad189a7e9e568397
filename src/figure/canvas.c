/* A canvas is the text of an SVG file that grows with every shape. */
#include "base/memory.h"
#include "figure/figure.h"

#include <stdio.h>
#include <stdlib.h>

struct bg_canvas {
    FILE *svg;  /* NULL: out of memory, or finished */
    char *data; /* what was written to it */
    size_t size;
};

bg_status bg_canvas_create(int width, int height, bg_canvas **canvas, bg_error *err)
{
    bg_canvas *c = *canvas = BG_NEW(bg_canvas);
    if (c)
        c->svg = open_memstream(&c->data, &c->size);
    if (!c || !c->svg)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
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
    free(c);
}

void bg_canvas_fill(bg_canvas *c, const bg_region *region, unsigned colour)
{
    if (region->count == 0)
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
    fprintf(c->svg, "<path stroke=\"#%06x\" stroke-width=\"%.2f\" d=\"M%.2f %.2fL%.2f %.2f\"/>\n",
            colour, width, from.x, from.y, to.x, to.y);
}

void bg_canvas_text(bg_canvas *c, bg_place2 at, double size, bg_anchor anchor, unsigned colour,
                    const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
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

bg_status bg_canvas_finish(bg_canvas *c, const char **data, size_t *size, bg_error *err)
{
    fprintf(c->svg, "</svg>\n");
    bool failed = ferror(c->svg) != 0;
    failed = fclose(c->svg) != 0 || failed;
    c->svg = NULL;
    *data = c->data;
    *size = c->size;
    return failed ? bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture") : BG_OK;
}
