/* Modes: eigenvalues of a linearisation, their shapes and who takes part in them. */
#ifndef BG_MODES_H
#define BG_MODES_H

#include "linear/linearisation.h"

/* exp(lambda t), lambda = re + i im, im >= 0: a pair is one mode. */
typedef struct bg_mode {
    double re, im;         /* 1/s */
    double frequency;      /* Hz, |lambda| / 2 pi */
    double damping;        /* -re / |lambda|: 1 decays without oscillating, < 0 grows */
    double *shape;         /* [2 nv] real and imaginary parts of all coordinates, along V; */
    double *shape_z;       /* [2 nz] of states z. The largest, in sizes, is 1 */
    double *participation; /* [n + nz] of freedoms and states z, with the sum 1 */
} bg_mode;

/* A direction in which nothing changes: the model may stand anywhere along it. */
typedef struct bg_free_direction {
    double *shape;   /* [nv] all coordinates, the largest, in sizes, is 1; zero for states alone */
    double *shape_z; /* [nz] */
} bg_free_direction;

typedef struct bg_modes {
    int n, nv, nz;
    int *independent; /* [n] the coordinates that stand for the freedoms */
    int count;
    bg_mode *mode; /* [count] by |lambda| */
    int zeros;     /* eigenvalues that are zero */
    int nfree;
    bg_free_direction *free; /* [nfree] */
    int unstable;            /* modes that grow */
    double *numbers;         /* memory of all arrays above */
} bg_modes;

/* Of a linearisation that has been updated. Clear the modes also after a failure. */
bg_status bg_modes_create(bg_linearisation *linearisation, bg_modes *modes, bg_error *err);
void bg_modes_clear(bg_modes *modes);

#endif
