/* A convex problem, max_k (|R(z_k)| - 1 + e_k)/w_k over the coefficients c_j, is the linear program
 *     min t   with   Re(conj(d) R(z_k)) - 1 + e_k <= t w_k   for all points k and all |d| = 1.
 * Its dual has one equation for each c_j and one for t, and a column for each (k, d):
 *     max sum mu (Re(conj(d) R_0(z_k)) - 1 + e_k),  sum mu Re(conj(d) psi_j(z_k)) = 0,
 *     sum mu w_k = 1,  mu >= 0,
 * R_0 the part that is given, psi_j = x^{p+1} phi_j. The simplex method on the dual
 * needs a matrix of as many rows as there are unknowns, and the column that enters is the cut that
 * the present R violates most: over d that is d = R/|R|, so that no polygon takes the place of the
 * disc. Every feasible mu gives a bound below the smallest t, without its e_k one of the problem
 * without them. |c_j| <= box makes the start. */
#include "design/exchange.h"

#include <math.h>
#include <string.h>

enum { MAX = BG_EXCHANGE_UNKNOWNS + 1, ROUNDS = 4000 };
static const long double box = 1e10L, closed = 1e-13L;
static const long double digits = 1.2e-16L; /* of a coefficient, for each stage */

typedef long double real;

typedef struct exchange_column {
    real a[MAX]; /* rows: c_1, ..., c_n, t */
    real cost;
    real e; /* in it */
} exchange_column;

typedef struct simplex {
    int n; /* rows */
    exchange_column basis[MAX];
    real mu[MAX];      /* of the basis */
    real y[MAX];       /* c and t */
    real lu[MAX][MAX]; /* scratch */
} simplex;

static real calc_weight(const bg_exchange *p, long double complex z)
{
    const real size = cabsl(z) / p->scale;
    return size * size;
}

/* What rounding of coefficients comes to at z: they are about those of T_s(1 + 2 x), so that their
 * sizes sum up to T_s(1 + 2 |x|); near 0, where R falls from 1, nothing of it counts. */
static real calc_rounding(const bg_exchange *p, long double complex z)
{
    const real r = cabsl(z) / p->scale, s = p->stages;
    if (!p->real)
        return 0;
    return digits * s * fmaxl(coshl(s * acoshl(1 + 2 * r)) - 1 - 2 * s * s * r, 0);
}

static long double complex calc_given(const bg_exchange *p, long double complex z)
{
    long double complex power = 1, sum = 0;
    for (int i = 0; i <= p->order; i++) {
        sum += power;
        power *= z / (i + 1);
    }
    return sum;
}

/* psi_j(z) for j < n = stages - order. */
static void calc_basis(const bg_exchange *p, long double complex z, long double complex *psi)
{
    const int n = p->stages - p->order;
    const long double complex x = z / p->scale, u = p->real ? 1 + 2 * x : x;
    long double complex factor = 1, last = 0, now = 1;
    for (int i = 0; i <= p->order; i++)
        factor *= x;
    for (int j = 0; j < n; j++) {
        const long double complex next = j == 0    ? u
                                         : p->real ? 2 * u * now - last
                                                   : 2 * u * now + last;
        psi[j] = factor * now;
        last = now;
        now = next;
    }
}

static long double complex sum_up(const bg_exchange *p, const real *c, long double complex sum,
                                  const long double complex *psi)
{
    real re = creall(sum), im = cimagl(sum);
    for (int j = 0; j < p->stages - p->order; j++) {
        re += c[j] * creall(psi[j]);
        im += c[j] * cimagl(psi[j]);
    }
    return re + (long double complex)I * im;
}

long double bg_exchange_calc_excess(const bg_exchange *p, long double complex z)
{
    long double complex psi[MAX];
    calc_basis(p, z, psi);
    return (cabsl(sum_up(p, p->c, calc_given(p, z), psi)) - 1 + calc_rounding(p, z)) /
           calc_weight(p, z);
}

void bg_exchange_add(bg_exchange *p, long double complex z)
{
    if (p->n >= BG_EXCHANGE_POINTS)
        return;
    p->z[p->n] = z;
    p->w[p->n] = calc_weight(p, z);
    p->e[p->n] = calc_rounding(p, z);
    p->given[p->n] = calc_given(p, z);
    calc_basis(p, z, p->psi[p->n]);
    p->n++;
}

/* R at point k. */
static long double complex evaluate(const bg_exchange *p, const real *c, int k)
{
    return sum_up(p, c, p->given[k], p->psi[k]);
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

/* The cut at point k in the direction d, divided by its weight: mu is that times w. */
static exchange_column make_cut(const bg_exchange *p, int k, long double complex d)
{
    const int n = p->stages - p->order;
    const real w = p->w[k];
    exchange_column c = {.e = p->e[k] / w};
    c.cost = (creall(conjl(d) * p->given[k]) - 1) / w + c.e;
    for (int j = 0; j < n; j++)
        c.a[j] = -creall(conjl(d) * p->psi[k][j]) / w;
    c.a[n] = 1;
    return c;
}

/* A basis with mu >= 0: bounds of the box, and one cut. */
static void begin(const bg_exchange *p, simplex *s)
{
    const int n = p->stages - p->order;
    s->n = n + 1;
    s->basis[n] = make_cut(p, p->n - 1, 1);
    for (int j = 0; j < n; j++) {
        s->basis[j] = (exchange_column){.cost = -box};
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

/* beta from c: powers of x in each phi_j, by their recurrence. */
static void update_beta(bg_exchange *p)
{
    const int n = p->stages - p->order;
    real phi[3][MAX] = {{0}}, sum[MAX] = {0}, factor = 1;
    phi[1][0] = 1;
    for (int j = 0; j < n; j++) {
        real *last = phi[j % 3], *now = phi[(j + 1) % 3], *next = phi[(j + 2) % 3];
        for (int i = 0; i < n; i++) {
            const real up = i > 0 ? now[i - 1] : 0, twice = j == 0 ? 1 : 2;
            sum[i] += p->c[j] * now[i];
            next[i] = p->real ? twice * (now[i] + 2 * up) - last[i] : twice * up + last[i];
        }
    }
    for (int i = 0; i <= p->stages; i++) {
        p->beta[i] = i <= p->order ? factor : sum[i - p->order - 1] / powl(p->scale, i);
        factor /= i + 1;
    }
}

/* The worst point of the present polynomial, and its excess. */
static real find_worst(const bg_exchange *p, const real *c, int *worst)
{
    real most = -HUGE_VALL;
    for (int k = 0; k < p->n; k++) {
        const long double complex R = evaluate(p, c, k);
        const real re = creall(R), im = cimagl(R);
        real t = (sqrtl(re * re + im * im) - 1 + p->e[k]) / p->w[k];
        if (t > most) {
            most = t;
            *worst = k;
        }
    }
    return most;
}

/* The bound without what the basis has for rounding. */
static real calc_bound(const simplex *s)
{
    real bound = s->y[s->n - 1];
    for (int i = 0; i < s->n; i++)
        bound -= fmaxl(s->mu[i], 0) * s->basis[i].e;
    return bound;
}

/* Puts the cut in the place of a column of the basis, so that mu stays >= 0; false: it cannot. */
static bool enter(simplex *s, const exchange_column *cut)
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
    begin(p, &s);
    bool good = update(&s);
    real floor_ = -HUGE_VALL;
    p->t = HUGE_VALL;
    p->bound = -HUGE_VALL;
    for (p->rounds = 0; good && p->rounds < ROUNDS; p->rounds++) {
        int worst = 0;
        real t = find_worst(p, s.y, &worst);
        floor_ = fmaxl(floor_, s.y[s.n - 1]);
        p->bound = fmaxl(p->bound, calc_bound(&s));
        if (t < p->t) {
            p->t = t;
            memcpy(p->c, s.y, sizeof p->c);
            update_beta(p);
        }
        if (p->t - floor_ <= closed || p->t <= p->enough ||
            (floor_ > p->enough && p->enough > -HUGE_VALL))
            return BG_OK;
        long double complex R = evaluate(p, s.y, worst);
        exchange_column cut = make_cut(p, worst, R / cabsl(R));
        good = enter(&s, &cut);
    }
    return bg_error_set(err, BG_NOT_CONVERGED,
                        "the search for a stability polynomial of %d stages and order %d did not "
                        "converge: between %Lg and %Lg after %d rounds",
                        p->stages, p->order, floor_, p->t, p->rounds);
}
