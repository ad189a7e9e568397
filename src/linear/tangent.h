/* Independent coordinates at one place: which of the velocity coordinates stand for the freedoms,
 * and how the others follow them. */
#ifndef BG_TANGENT_H
#define BG_TANGENT_H

#include "linalg/linalg.h"
#include "system/dynamics.h"

typedef struct bg_tangent {
    const bg_system *system;
    int nv, ng, n;           /* n = nv - rank of G, once updated */
    int *independent;        /* [n] of [nv]: the coordinates that stand for the freedoms */
    double *B;               /* [nv n] by rows: all coordinates by the independent ones, G B = 0 */
    double *unit, *size;     /* [nv], [ng] sizes of coordinates and rows */
    unsigned char *left_out; /* [ng] rows that depend on others */
    double *P, *L;           /* [nv nv] projector onto motions, in sizes; its factor */
    double *x;               /* [nv + ng] scratch */
    bg_linear *matrix;       /* [I G^T; G 0] in sizes; NULL without constraints */
    bg_arena arena;
} bg_tangent;

bg_status bg_tangent_create(const bg_system *system, bg_tangent **tangent, bg_error *err);
void bg_tangent_destroy(bg_tangent *tangent);

/* From G in its pattern; rows left_out[ng] depend on others. BG_SINGULAR: so do more of them. */
bg_status bg_tangent_update(bg_tangent *tangent, const double *G, const unsigned char *left_out,
                            bg_error *err);
/* x[nv] <- B y + the change of the dependent coordinates for which G x = b; y[n] or b[ng] may be
 * NULL: zeros. */
void bg_tangent_expand(bg_tangent *tangent, const double *y, const double *b, double *x);

#endif
