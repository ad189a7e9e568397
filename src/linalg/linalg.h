/* Linear systems A x = b with a fixed pattern, solved many times: analyse once, then factor and
 * solve without allocating. One interface over dense and sparse backends. */
#ifndef BG_LINALG_H
#define BG_LINALG_H

#include "bogie/integrator.h"

#include <stdbool.h>

typedef struct bg_archive bg_archive;
typedef struct bg_linear bg_linear;

/* Analyses an n x n matrix. pattern NULL: dense, row-major values, n*n of them; else values follow
 * the pattern (compressed rows) and are factored as a sparse matrix. Values start as zeros. */
bg_status bg_linear_create(int n, const bg_pattern *pattern, bg_linear **linear, bg_error *err);
void bg_linear_destroy(bg_linear *linear);
/* The matrix values, to be written before factor. factor keeps them intact. */
double *bg_linear_get_values(bg_linear *linear);
/* Factors the current values. The sparse backend repeats the last pivot order (refactor) and
 * chooses a new one when that became inaccurate. BG_SINGULAR, without text: numerically singular.
 */
bg_status bg_linear_factor(bg_linear *linear);
/* x <- A^{-1} x for x of length n. The sparse backend adds one step of iterative refinement. */
void bg_linear_solve(bg_linear *linear, double *x);
/* Estimate of 1 / (|A| |A^{-1}|) in the 1-norm of the last factorisation. */
double bg_linear_calc_rcond(bg_linear *linear);
/* 1 or -1: the sign of the determinant in the last factorisation. */
int bg_linear_get_sign(const bg_linear *linear);
bg_matrix_work bg_linear_get_work(const bg_linear *linear);
/* Forgets earlier factorisations, on whose pivots later ones would depend. */
void bg_linear_reset(bg_linear *linear);
/* Saves or restores what later factorisations depend on (the values of the last pivot choice). */
void bg_linear_archive(bg_linear *linear, bg_archive *archive);

/* The saddle-point matrix [M A^T; B 0] in a fixed pattern. A = B = G gives the KKT matrix. */
typedef struct bg_kkt bg_kkt;

/* pattern_M and pattern_G as in bg_system_def; dense below 40 unknowns or when both are NULL. */
bg_status bg_kkt_create(int nv, int ng, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                        bg_kkt **kkt, bg_error *err);
/* The same where M is known to be singular: no factorisation without exchanges is tried. */
bg_status bg_kkt_create_semidefinite(int nv, int ng, const bg_pattern *pattern_M,
                                     const bg_pattern *pattern_G, bg_kkt **kkt, bg_error *err);
/* The same, but rows of G that have room in the pattern of M, as norms of Euler parameters do, may
 * complete M. */
bg_status bg_kkt_create_completed(int nv, int ng, const bg_pattern *pattern_M,
                                  const bg_pattern *pattern_G, bg_kkt **kkt, bg_error *err);
void bg_kkt_destroy(bg_kkt *kkt);
/* A factorisation of M by itself, of `size` numbers, the first of which is not finite where there
 * is none: x <- M^{-1} x, with scratch memory among these numbers. */
typedef struct bg_mass_solver {
    int size;
    void (*solve)(const void *self, double *factor, double *x);
    const void *self;
} bg_mass_solver;
/* From now on bg_kkt_eliminate may be called. */
bg_status bg_kkt_set_mass_solver(bg_kkt *kkt, const bg_mass_solver *mass, bg_error *err);
/* Whether bg_kkt_eliminate is worth a call now. */
bool bg_kkt_can_eliminate(const bg_kkt *kkt);
/* As bg_kkt_factor, by block elimination with a factorisation of M; the entries of M are looked at
 * in bg_kkt_calc_rcond alone. False: not safe now, nothing is factored. */
bool bg_kkt_eliminate(bg_kkt *kkt, const double *factor, const double *M, const double *G_upper,
                      const double *G_lower);
/* Rows of G left out of the system (ng flags, copied; NULL: none): their multipliers become 0. */
void bg_kkt_set_eliminated(bg_kkt *kkt, const unsigned char *eliminated);
/* Velocity coordinates kept fixed (nv flags, copied; NULL: none): their corrections become 0. */
void bg_kkt_set_fixed(bg_kkt *kkt, const unsigned char *fixed);
/* The lower right block becomes -epsilon I (0, as it starts, or greater). */
void bg_kkt_set_regularisation(bg_kkt *kkt, double epsilon);
/* Or -epsilon diag(sizes), ng of them, which every factorisation looks at anew. */
void bg_kkt_set_regularisation_sizes(bg_kkt *kkt, const double *sizes);
/* From now on M need not be symmetric: nothing is left out of it. */
void bg_kkt_set_unsymmetric(bg_kkt *kkt);
/* Assembles from values of M, of G for the upper right block (transposed) and of G for the lower
 * left block, and factors. BG_SINGULAR without text when singular. */
bg_status bg_kkt_factor(bg_kkt *kkt, const double *M, const double *G_upper, const double *G_lower);
/* Solves [M A^T; B 0] (x, y) = (x, y) in place; x of length nv, y of length ng. Entries of x that
 * belong to fixed coordinates and of y that belong to eliminated rows are treated as 0 on the right
 * and come back as 0. */
void bg_kkt_solve(bg_kkt *kkt, double *x, double *y);
/* While the M of the last factorisation is where it was. */
double bg_kkt_calc_rcond(bg_kkt *kkt);
/* With A = B: false where M is positive on the motions that B allows, as the determinant has the
 * sign (-1)^ng then, and true where it is negative along an odd number of them. */
bool bg_kkt_is_inverted(const bg_kkt *kkt);
bg_matrix_work bg_kkt_get_work(const bg_kkt *kkt);
void bg_kkt_reset(bg_kkt *kkt); /* as bg_linear_reset */
void bg_kkt_archive(bg_kkt *kkt, bg_archive *archive);

/* y <- A x and y <- y + alpha A^T x for a matrix in a pattern (NULL: dense row-major). */
void bg_matrix_multiply(int rows, int columns, const bg_pattern *pattern, const double *A,
                        const double *x, double *y);
void bg_matrix_add_transposed(int rows, int columns, const bg_pattern *pattern, const double *A,
                              double alpha, const double *x, double *y);

/* Memory for ranks of m x n matrices in a pattern (NULL: dense), made once. */
typedef struct bg_rank bg_rank;
bg_status bg_rank_create(int m, int n, const bg_pattern *pattern, bg_rank **rank, bg_error *err);
void bg_rank_destroy(bg_rank *rank);
/* From now on nothing is allocated: memory is reserved for any rows that hang together, up to a
 * million entries of them, or five hundred a row. Coefficients are not kept any more. */
bg_status bg_rank_settle(bg_rank *rank, bg_error *err);
/* Whose rank is wanted, and what counts as zero. Row i of A is measured in units of row_size[i], a
 * displacement along column j in units of column_size[j] (NULL: 1). Without row_size every row is
 * scaled to unit length, and rows that are rounding beside the longest are zero. */
typedef struct bg_rank_question {
    const double *A;            /* in the pattern */
    const unsigned char *fixed; /* [n] columns left out; NULL: none */
    const double *row_size, *column_size;
    const signed char *order; /* [m] -1: never kept; 1: kept down to `least`, and rather than others
                                 that are nearly as good; NULL: all 0 */
    int most;                 /* rows to keep, 0: all that are independent */
    double tolerance, least;  /* what remains of a row that depends on others, in these units */
    bool quick; /* only rows that are kept count, and their remainders to 1e-8: with `most` given,
                   less work where they are far from dependent */
} bg_rank_question;

/* Arrays that the caller has. Rows are preferred in their order when they are (nearly) equally
 * good, so that the user's later constraints are the ones left out. Zero rows are dependent. */
typedef struct bg_rank_answer {
    unsigned char *dependent; /* [m] depends on the rows that are kept */
    unsigned char *involved;  /* [m] takes part in a dependency: its multiplier is not unique; NULL:
                                 not wanted, and coefficients are not either */
    double *remainder; /* [m] what other rows left of it: of a kept one when it was chosen, of
                          others in the end; NULL: not wanted */
    double *others;    /* [m] what all other kept rows leave of it, whichever was chosen first, but
                          for large matrices those before it, in an order that stays; NULL: not
                          wanted */
} bg_rank_answer;

/* What remains of a constraint beside its size: below BG_RANK_DATA it may be redundant but for the
 * precision of data, below BG_RANK_ROUNDING it depends on others in any case. */
#define BG_RANK_DATA 1e-4
#define BG_RANK_ROUNDING 1e-9

/* Returns the rank; -1: more hangs together than bg_rank_settle reserved memory for. */
int bg_rank_calc(bg_rank *rank, const bg_rank_question *question, const bg_rank_answer *answer);
/* Of the last answer: dependent row i = sum_e values[e] row rows[e]. Returns how many there are. */
int bg_rank_get_parts(const bg_rank *rank, int i, const int **rows, const double **values);
/* The coefficient of row k among them; 0: it is not. */
double bg_rank_get_coefficient(const bg_rank *rank, int i, int k);
/* Whether an answer was given without the memory it needs: rows count as dependent then. */
bool bg_rank_has_failed(const bg_rank *rank);

/* Groups the columns of a pattern so that no two columns of a group share a row (Coleman and More):
 * group[j] in 0 .. *ngroups-1. pattern NULL is dense: every column its own group. */
bg_status bg_colouring_create(int rows, int columns, const bg_pattern *pattern, int **group,
                              int *ngroups, bg_error *err);

#endif
