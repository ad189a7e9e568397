/* [M A^T; B -E] where M is known by a factorisation of its own, as that of a long chain of bodies,
 * which takes time in proportion to its length although M is full. */
#ifndef BG_SCHUR_H
#define BG_SCHUR_H

#include "linalg/linalg.h"

typedef struct bg_schur bg_schur;

bg_status bg_schur_create(int nv, int ng, const bg_pattern *pattern_G, const bg_mass_solver *mass,
                          bg_schur **schur, bg_error *err);
void bg_schur_destroy(bg_schur *schur);

/* E = epsilon diag(sizes) (NULL: ones); rows held[ng] (NULL: none) are left out. The factorisation
 * of M is copied. False: there is none, or what M leaves of the constraints is not safe. */
bool bg_schur_factor(bg_schur *schur, const double *mass, const double *A, const double *B,
                     double epsilon, const double *sizes, const unsigned char *held);
/* As bg_kkt_solve. */
void bg_schur_solve(bg_schur *schur, double *x, double *y);
/* Of a matrix with A = B whose 1-norm is `norm`: about 1 / (norm |inverse|). */
double bg_schur_calc_rcond(bg_schur *schur, double norm);
/* [nv + ng], until the next call */
double *bg_schur_get_scratch(bg_schur *schur);
/* Multiplications of a factorisation; those of a solution. */
bg_matrix_work bg_schur_get_work(const bg_schur *schur);

#endif
