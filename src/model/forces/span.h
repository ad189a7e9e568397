/* The line between two points of two bodies, along which an element pulls them together.
 *
 * With d from point a to point b, L = |d|, e = d / L, L' = e . d', a pull F acts as F e on a and
 * -F e on b. Variations follow from
 *
 *   dL = e . dd,   dL' = e . dd' + (d' - L' e) . dd / L,   d(F e) = e dF + F/L (dd - e dL).
 *
 * At L = 0 there is no direction, and no pull, which is exact for a spring of free length 0. */
#ifndef BG_SPAN_H
#define BG_SPAN_H

#include "model/forces/element.h"

typedef struct bg_span {
    bg_vec3 s_a, s_b, w_a, w_b; /* arms, angular velocities */
    bg_vec3 d, d_t, e;          /* e is 0 where there is no direction */
    double L, L_t;
    bool directed;
} bg_span;

/* The change of a span: of d, and where it is directed of L and L'. */
typedef struct bg_span_variation {
    bg_vec3 dd;
    double dL, dL_t;
} bg_span_variation;

bg_span bg_span_calc(const bg_world *w, const bg_marker *a, const bg_marker *b);
void bg_span_pull(const bg_span *x, const bg_world *w, const bg_marker *a, const bg_marker *b,
                  double F, bg_wrench *wrench);
/* The wrenches of a pull, on the bodies of a and b. */
void bg_span_calc_wrenches(const bg_span *x, double F, bg_wrench on[2]);
bg_span_variation bg_span_vary(const bg_span *x, const bg_variation d[2]);
/* d(F e), where there is a direction. */
bg_vec3 bg_span_vary_pull(const bg_span *x, const bg_span_variation *v, double F, double dF);
/* The changes of the wrenches of a pull that changes by df. */
void bg_span_vary_wrenches(const bg_span *x, const bg_variation d[2], double F, bg_vec3 df,
                           bg_wrench dwrench[2]);

#endif
