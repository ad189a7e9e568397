/* The bound of 000 section 3.4 on the drift of one Newton step of projection per step. */
#ifndef BG_DRIFT_H
#define BG_DRIFT_H

#include "linalg/linalg.h"
#include "system/system.h"

typedef struct bg_drift_work {
    bool on;
    bool late; /* positions move with the velocities of the step's end */
    bg_system *sys;
    double *P;         /* [ng nv] row j: P e_j, the correction of a unit violation of row j */
    double *W, *W_0;   /* w by q, as the system stores it; the part of it that is left at v = 0 */
    double *row, *sum; /* [ng] */
    double *zero_v, *zero_g;       /* [nv], [ng] */
    double constants[4], observed; /* largest A1, A2, A3, rounding of g; largest |g| */
} bg_drift_work;

bg_status bg_drift_create(bg_drift_work *drift, bg_system *sys, bg_error *err);
void bg_drift_clear(bg_drift_work *drift);
/* At the beginning of a step: kkt holds [M G^T; G 0] there, gamma the second derivative of g. */
bg_status bg_drift_update(bg_drift_work *drift, bg_kkt *kkt, const bg_point *p, const double *G,
                          const double *gamma, bg_error *err);
void bg_drift_report(const bg_drift_work *drift, double h, bg_drift *out);

#endif
