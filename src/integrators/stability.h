/* Stability of one step of an implemented method on the test equation of 000 section 2,
 *     q'' = -a q - b q',   a, b >= 0. */
#ifndef BG_STABILITY_H
#define BG_STABILITY_H

#include "bogie/integrator.h"

#include <stdbool.h>

/* A method by name, with its options. */
typedef struct bg_stability_method {
    const char *integrator;
    const bg_setting *settings;
    int nsettings;
} bg_stability_method;

/* A method on the test equation with a fixed step. */
typedef struct bg_stability bg_stability;

bg_status bg_stability_create(const bg_stability_method *method, double h, bg_stability **stability,
                              bg_error *err);
void bg_stability_destroy(bg_stability *stability);

/* The amplification matrix of (q, v): its columns are the ends of one step from (1, 0) and (0, 1).
 */
bg_status bg_stability_calc_matrix(bg_stability *stability, double a, double b, double A[2][2],
                                   bg_error *err);

/* max(|det A| - 1, |tr A| - 1 - det A): at most 0 just where no eigenvalue of A lies outside of the
 * unit circle (Jury). Unlike the spectral radius it does not enlarge rounding errors where both
 * eigenvalues meet. */
double bg_stability_calc_excess(double A[2][2]);
/* Whether an excess is 0 or less, but for rounding. */
bool bg_stability_is_stable(double excess);

/* The largest stable step in s, by bisection with the implemented step; HUGE_VAL where 1e4 s is
 * stable, 0 where 1e-6 s is not. */
bg_status bg_stability_find_limit(const bg_stability_method *method, double a, double b,
                                  double *limit, bg_error *err);

/* What section 2 and the characteristic polynomial say about a method. */
typedef struct bg_stability_theory {
    const char *region;                       /* "h^2 a <= 2 h b + 4" */
    double (*calc_limit)(double a, double b); /* s; HUGE_VAL: none */
} bg_stability_theory;

/* NULL: no closed form is known. */
const bg_stability_theory *bg_stability_find_theory(const bg_stability_method *method);

#endif
