/* A convex problem, max_k (|R(z_k)| - 1)/w_k over the coefficients x_j = beta_{p+j} scale^{p+j}, is
 * the linear program
 *     min t   with   Re(conj(d) R(z_k)) - 1 <= t w_k   for all points k and all |d| = 1.
 * Its dual has one equation for each x_j and one for t, and a column for each (k, d):
 *     max sum mu (Re(conj(d) R_0(z_k)) - 1),  sum mu Re(conj(d) phi_j(z_k)) = 0,  sum mu w_k = 1,
 * mu >= 0, R_0 the part that is given, phi_j = (z_k/scale)^{p+j}. The simplex method on the dual
 * needs a matrix of as many rows as there are unknowns, and the column that enters is the cut that
 * the present R violates most: over d that is d = R/|R|, so that no polygon takes the place of the
 * disc. Every feasible mu gives a bound below the smallest t. |x_j| <= box makes the start. */
#include "design/exchange.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX = BG_EXCHANGE_UNKNOWNS + 1, ROUNDS = 4000 };
static const long double box = 1e7L, closed = 1e-13L;

typedef long double real;

typedef struct column {
    real a[MAX]; /* rows: x_1, ..., x_n, t */
    real cost;
} column;

typedef struct simplex {
    int n; /* rows */
    column basis[MAX];
    real mu[MAX];      /* of the basis */
    real y[MAX];       /* x and t */
    real lu[MAX][MAX]; /* scratch */
} simplex;

long double complex bg_exchange_evaluate(const long double *beta, int stages, long double complex z)
{
    long double complex sum = 0;
    for (int k = stages; k >= 0; k--)
        sum = sum * z + beta[k];
    return sum;
}

/* x <- B^{-1} x, or B^{-T} x, B having the columns of the basis; false: singular. */
static bool solve(simplex *s, bool transposed, real *x)
{
    const int n = s->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s->lu[i][j] = transposed ? s->basis[i].a[j] : s->basis[j].a[i];
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(s->lu[i][k]) > fabsl(s->lu[best][k]))
                best = i;
        if (s->lu[best][k] == 0)
            return false;
        for (int j = 0; j < n && best != k; j++) {
            real swap = s->lu[k][j];
            s->lu[k][j] = s->lu[best][j];
            s->lu[best][j] = swap;
        }
        real swap = x[k];
        x[k] = x[best];
        x[best] = swap;
        for (int i = k + 1; i < n; i++) {
            real f = s->lu[i][k] / s->lu[k][k];
            for (int j = k; j < n; j++)
                s->lu[i][j] -= f * s->lu[k][j];
            x[i] -= f * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= s->lu[k][j] * x[j];
        x[k] /= s->lu[k][k];
    }
    return true;
}

/* The cut at point k in the direction d. */
static column make_cut(const bg_exchange *p, int k, long double complex d)
{
    column c = {.cost = -1};
    long double complex power = 1, sum = 0;
    for (int i = 0; i <= p->order; i++) {
        sum += power;
        power *= p->z[k] / (i + 1);
    }
    c.cost += creall(conjl(d) * sum);
    power = 1;
    for (int i = 1; i <= p->stages; i++) {
        power *= p->z[k] / p->scale;
        if (i > p->order)
            c.a[i - p->order - 1] = -creall(conjl(d) * power);
    }
    c.a[p->stages - p->order] = p->w[k];
    return c;
}

/* A basis with mu >= 0: bounds of the box, and one cut. */
static void begin(const bg_exchange *p, simplex *s)
{
    const int n = p->stages - p->order;
    s->n = n + 1;
    s->basis[n] = make_cut(p, p->n - 1, 1);
    for (int j = 0; j < n; j++) {
        s->basis[j] = (column){.cost = -box};
        s->basis[j].a[j] = s->basis[n].a[j] > 0 ? -1 : 1;
    }
}

static bool update(simplex *s)
{
    memset(s->mu, 0, sizeof s->mu);
    s->mu[s->n - 1] = 1;
    for (int i = 0; i < s->n; i++)
        s->y[i] = s->basis[i].cost;
    return solve(s, false, s->mu) && solve(s, true, s->y);
}

static void take_beta(bg_exchange *p, const simplex *s, long double *beta)
{
    real factor = 1;
    for (int i = 0; i <= p->stages; i++) {
        beta[i] = i <= p->order ? factor : s->y[i - p->order - 1] / powl(p->scale, i);
        factor /= i + 1;
    }
}

/* The worst point of the present polynomial, and its (|R| - 1)/w. */
static real find_worst(const bg_exchange *p, const long double *beta, int *worst)
{
    real most = -HUGE_VALL;
    for (int k = 0; k < p->n; k++) {
        real t = (cabsl(bg_exchange_evaluate(beta, p->stages, p->z[k])) - 1) / p->w[k];
        if (t > most) {
            most = t;
            *worst = k;
        }
    }
    return most;
}

/* Puts the cut in the place of a column of the basis, so that mu stays >= 0; false: it cannot. */
static bool enter(simplex *s, const column *cut)
{
    real direction[MAX], least = HUGE_VALL;
    int leaves = -1;
    memcpy(direction, cut->a, sizeof direction);
    if (!solve(s, false, direction))
        return false;
    for (int i = 0; i < s->n; i++)
        if (direction[i] > 1e-15L) {
            real ratio = fmaxl(s->mu[i], 0) / direction[i];
            if (ratio < least || (ratio == least && direction[i] > direction[leaves])) {
                least = ratio;
                leaves = i;
            }
        }
    if (leaves < 0)
        return false;
    s->basis[leaves] = *cut;
    return update(s);
}

bg_status bg_exchange_solve(bg_exchange *p, bg_error *err)
{
    simplex s;
    long double beta[BG_EXCHANGE_UNKNOWNS + 1];
    begin(p, &s);
    bool good = update(&s);
    p->t = HUGE_VALL;
    p->bound = -HUGE_VALL;
    for (p->rounds = 0; good && p->rounds < ROUNDS; p->rounds++) {
        int worst = 0;
        take_beta(p, &s, beta);
        real t = find_worst(p, beta, &worst);
        p->bound = fmaxl(p->bound, s.y[s.n - 1]);
        if (t < p->t) {
            p->t = t;
            memcpy(p->beta, beta, sizeof beta);
        }
        if (p->t - p->bound <= closed || p->t <= p->enough ||
            (p->bound > p->enough && p->enough > -HUGE_VALL))
            return BG_OK;
        long double complex R = bg_exchange_evaluate(beta, p->stages, p->z[worst]);
        column cut = make_cut(p, worst, R / cabsl(R));
        good = enter(&s, &cut);
    }
    return bg_error_set(err, BG_NOT_CONVERGED,
                        "the search for a stability polynomial of %d stages and order %d did not "
                        "converge: between %Lg and %Lg after %d rounds",
                        p->stages, p->order, p->bound, p->t, p->rounds);
}
