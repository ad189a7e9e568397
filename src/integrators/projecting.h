/* The projecting descriptor form of 003 section 3: its right side, for mdop5 and for its tests. */
#ifndef BG_PROJECTING_H
#define BG_PROJECTING_H

#include "system/dynamics.h"

typedef struct bg_projecting {
    bg_dynamics *d;
    double *p, *v, *w;             /* [nv] positions, velocities, accelerations: they fulfil (1) */
    double *lambda, *eta, *tau;    /* [ng] multipliers of (5c), (5d), (5e) */
    bg_residuals residuals;        /* of p, v, w */
    double power;                  /* of non-conservative forces there, if wanted */
    double c;                      /* M + c G^T G takes the place of M; 0 where M is regular */
    bool chosen;                   /* c is */
    bg_kkt *mass, *augmented;      /* M, and [M G^T; G -I/c], which solves for M + c G^T G */
    double *dp, *dv;               /* [nv] p - q, v - u */
    double *rise_q, *rise_u, *sum; /* [nv] d/dt of the left sides of (5e), (5d); scratch */
} bg_projecting;

/* Fails where positions have other rates than velocities (V is not I). d must outlive it. */
bg_status bg_projecting_create(bg_dynamics *d, bg_projecting **form, bg_error *err);
void bg_projecting_destroy(bg_projecting *form);
/* Puts c and the eliminated rows, which were read back, into the matrices. */
void bg_projecting_prepare(bg_projecting *form);
/* From now on another motion: the choice of c is made anew. */
void bg_projecting_reset(bg_projecting *form);

/* At t and the differential variables q, u, z: p, v, w, lambda, eta, tau from (5c) - (5e), and q',
 * u' from (5a), (5b). z' is d->terms.h. curvature false: without the expressions in M' and G'.
 * BG_RETRY: the projection of q does not converge. */
bg_status bg_projecting_calc(bg_projecting *form, double t, const double *q, const double *u,
                             const double *z, const int *mode, bool energy, bool curvature,
                             double *q_t, double *u_t, bg_error *err);

#endif
