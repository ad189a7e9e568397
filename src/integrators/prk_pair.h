/* Pairs of explicit tableaus for partitioned Runge-Kutta methods of two rates, as data.
 *
 * Slow variables x' = f(x, y) take the tableau (A, b, c = A e), fast ones y' = g(x, y) the tableau
 * (A^, b^, c^ = A^ e), 004 eq. (2):
 *     X_i = x_0 + h sum_{j<i} a_ij k_j,    k_i = f(X_i, Y_i),    x_1 = x_0 + h sum b_i k_i,
 *     Y_i = y_0 + h sum_{j<i} a^_ij l_j,   l_i = g(X_i, Y_i),    y_1 = y_0 + h sum b^_i l_i.
 * Columns of (A; b) that are zero say at which stages f need not be evaluated: that is all there is
 * to two rates. In names of conditions ^ marks the fast tableau, and A^c is A^ times c. */
#ifndef BG_PRK_PAIR_H
#define BG_PRK_PAIR_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stdio.h>

enum { BG_PRK_STAGES = 16, BG_PRK_ORDER = 4, BG_PRK_CONDITIONS = 72 };
enum { BG_PRK_SLOW, BG_PRK_FAST }; /* indices of tableaus */

typedef struct bg_tableau {
    double a[BG_PRK_STAGES][BG_PRK_STAGES], b[BG_PRK_STAGES];
    double c[BG_PRK_STAGES]; /* row sums of a, by bg_prk_pair_update */
} bg_tableau;

typedef struct bg_prk_pair {
    char name[64];
    int stages, order;
    double tolerance; /* to which the order conditions hold */
    bg_tableau of[2]; /* BG_PRK_SLOW, BG_PRK_FAST */
    /* By bg_prk_pair_update: */
    bool slow[BG_PRK_STAGES]; /* the slow part is evaluated at this stage */
    int nslow;
    /* What keeps uniformly accelerated bodies together inside of a step, c = c^, and what makes the
     * impulses of forces between the parts equal and opposite, b = b^. */
    bool equal_abscissae, equal_weights;
} bg_prk_pair;

/* An order condition: `name` = wanted, and what the pair has. */
typedef struct bg_prk_condition {
    char name[40]; /* "b^.(A c)" */
    int order;
    double wanted, value;
} bg_prk_condition;

/* Row sums, slow stages and flags from a and b. */
void bg_prk_pair_update(bg_prk_pair *pair);

/* The family in closed form (docs/integrators.md): a^_{i,i-1} = c_i alone, b = b^ = (1/4, 0, ...,
 * 0, 3/4), c_s = 2/3. Slow stages are 1 and s (order 2), or 1, middle and s (order 3, where c_{s-1}
 * = 1/3 is needed); middle counts from 1. c [stages], of which the last is not looked at. */
void bg_prk_pair_make_closed(bg_prk_pair *pair, const char *name, int stages, int order, int middle,
                             const double *c);
/* 004 Tables 2 and 3 with any number of short steps of explicit Euler in a long one. */
void bg_prk_pair_make_dual_euler(bg_prk_pair *pair, int stages);
/* A member of the family of 004 Table 4, whose slow part is evaluated at stage 2 alone: the slow
 * a_32, and of the fast tableau a^ = {a^_21, a^_31, a^_32} and b^; of order 1 where b^.e = 1. */
void bg_prk_pair_make_averaged_euler(bg_prk_pair *pair, double a32, const double a[3],
                                     const double b[3]);

/* The built-in pairs: the k-th name (NULL past the end), and a pair by name; false: there is none.
 */
const char *bg_prk_pair_get_name(int k);
bool bg_prk_pair_find(const char *name, bg_prk_pair *pair);

/* One tableau twice, rk2 (Heun's method, b = 1/2 1/2, c = 0 1) or rk4: methods of one rate. */
bool bg_prk_pair_find_single(const char *name, bg_prk_pair *pair);

/* All order conditions up to an order (4 at most) into list [BG_PRK_CONDITIONS]; how many. */
int bg_prk_pair_calc_conditions(const bg_prk_pair *pair, int order, bg_prk_condition *list);
/* The condition up to this order that is missed most; its distance. */
double bg_prk_pair_find_worst(const bg_prk_pair *pair, int order, bg_prk_condition *worst);
/* The order that the conditions give, up to 4. */
int bg_prk_pair_calc_order(const bg_prk_pair *pair, double tolerance);

/* beta_k = b.A^(k-1) e, the polynomial 1 + beta_1 z + ... of one tableau alone; beta [stages + 1].
 */
void bg_tableau_calc_polynomial(const bg_tableau *tableau, int stages, double *beta);

/* A pair from a tableau file (docs/integrators.md), all of whose claims are checked; and one
 * written so that it reads back bit by bit. */
bg_status bg_prk_pair_read(const char *path, bg_prk_pair *pair, bg_error *err);
/* A pair by name, or from a file that is named FILE.json. */
bg_status bg_prk_pair_open(const char *name_or_file, bg_prk_pair *pair, bg_error *err);
void bg_prk_pair_print(const bg_prk_pair *pair, const char *comment, FILE *out);

#endif
