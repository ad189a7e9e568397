/* Functions H(x, y) with first and second derivatives: an expression, or heights over a grid. */
#ifndef BG_SURFACE_H
#define BG_SURFACE_H

#include "model/reader.h"

typedef struct bg_surface {
    bg_expression *expression; /* of x and y; NULL: a grid */
    int nx, ny;
    double *x, *y;     /* [nx], [ny] ascending */
    double (*node)[4]; /* [ny][nx] H, H_x, H_y, H_xy */
} bg_surface;

/* "expression". Failures stay in the reader, here and below. */
void bg_surface_read_expression(const bg_value *v, bg_surface *s);
/* "x", "y" and "heights", a list for every y; or "file", whose content is put in their place. */
void bg_surface_read_grid(const bg_value *v, bg_surface *s);
void bg_surface_clear(bg_surface *s);

/* along: H, H_x, H_xx; across: H_y, H_xy, H_yy. Beyond its last y a grid goes on with the height
 * of its edge; so it does along x before (side -1) and behind it (1), but for side 0 its last cells
 * go on. */
void bg_surface_calc(const bg_surface *s, int side, double x, double y, double along[3],
                     double across[3]);

#endif
