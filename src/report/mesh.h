/* Triangles of the shapes that scenes are made of: of unit size, centred, cylinders along z. */
#ifndef BG_REPORT_MESH_H
#define BG_REPORT_MESH_H

#include <stdbool.h>

typedef struct bg_mesh {
    float (*position)[3], (*normal)[3]; /* [n] */
    unsigned (*triangle)[3];            /* [triangles] counter-clockwise from outside */
    int n, triangles;
} bg_mesh;

typedef enum bg_mesh_kind {
    BG_MESH_BOX,      /* edges 1 */
    BG_MESH_CYLINDER, /* radius 1, length 1 */
    BG_MESH_SPHERE,   /* radius 1 */
    BG_MESH_KINDS
} bg_mesh_kind;

/* False: out of memory; the mesh must be cleared in any case. */
bool bg_mesh_create(bg_mesh_kind kind, bg_mesh *mesh);
/* A strip of the given width along a polyline of (x, z), seen from above, about y = 0. */
bool bg_mesh_create_strip(const double (*points)[2], int n, double width, bg_mesh *mesh);
/* The same with heights[n][lanes] across it, from -width/2 to width/2, and smooth normals. */
bool bg_mesh_create_surface(const double (*points)[2], int n, const double *heights, int lanes,
                            double width, bg_mesh *mesh);
void bg_mesh_clear(bg_mesh *mesh);

#endif
