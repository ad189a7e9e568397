/* Subspaces of few dimensions among many unknowns, by an orthonormal basis Q[n * m] of what they
 * are orthogonal to (by columns), so that they take m n numbers instead of the n (n - m) of a basis
 * of their own. */
#ifndef BG_THIN_H
#define BG_THIN_H

#include "bogie/status.h"

/* Gram-Schmidt with exchanges: Q[n * m] are vectors, by columns, and become an orthonormal basis of
 * them, as far as they are longer than `least` without the ones before. Returns how many these are;
 * vector i was  sum_k Q_k R[k + m i],  k in the order of order[m], but for at most *left. */
int bg_thin_orthogonalise(int n, int m, double least, double *Q, double *R, int *order,
                          double *left);

/* Of all y with Q^T y = 0, those for which the sum of (a_i y_i - r_i)^2 is least, and of these the
 * shortest. Unknowns with a_i = 0 are not asked for anything. */
typedef struct bg_thin_question {
    int n, m;
    const double *Q; /* [n * m] */
    const double *a, *r;
} bg_thin_question;

typedef struct bg_thin_answer {
    double *y;       /* [n] of the caller */
    double strength; /* the most that some a_i y_i is, along any direction of length 1 that the
                        question decides, is not less */
    int n, m;        /* what is left is free: unknowns that are not asked for, in their order, */
    double *Q;       /* [n * m] with this basis; NULL: nothing is left */
} bg_thin_answer;

/* BG_RETRY: it is in doubt which directions are decided. On success the basis is the caller's. */
bg_status bg_thin_solve(const bg_thin_question *question, bg_thin_answer *answer);

/* Z[n * (n - m)] <- an orthonormal basis of what is orthogonal to Q; Q is destroyed. */
void bg_thin_complete(int n, int m, double *Q, double *Z);

#endif
