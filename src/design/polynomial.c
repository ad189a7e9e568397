/* For a given h the best polynomial solves a convex problem (exchange.h); the largest h is found by
 * bisection (Ketcheson and Ahmadia 2012). On an axis the points are those of Chebyshev, and every
 * answer's maxima between them are added, so that none is passed over; of a cloud they are the
 * eigenvalues and fractions of them, so that all smaller steps are stable, too. Near z = 0 all
 * polynomials agree, and |R| - 1 is of high order: the weight (|z|/max|z|)^2 evens that out.
 *
 * On the imaginary axis the answer is known for odd s and order 2 (van der Houwen; Kinnmark and
 * Gray; 004 Table 5), R = Z_{s-2}/2 + Z_{s-1} + Z_s/2 with Z_k = i^k T_k(z/(i (s - 1))), which
 * reaches s - 1, and for s = 4, 6, 8 by polynomials of order 4 that reach sqrt((s - 1)^2 - 1). Such
 * a one is taken where the search finds nothing that reaches farther: its coefficients are exact.
 */
#include "design/polynomial.h"

#include "base/memory.h"
#include "design/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 300, FRACTIONS = 24, SCAN = 20000 };
static const double allowed = 1e-12;  /* of |R| - 1 in the search, */
static const double rounding = 1e-11; /* and in what is told */
static const double precision = 1e-9; /* of h */
static const double agreement = 1e-5; /* of a known polynomial with the search */

double bg_polynomial_calc_modulus(const double *beta, int stages, double x, double y)
{
    long double re = 0, im = 0; /* along the real axis powers cancel by 6^stages */
    for (int k = stages; k >= 0; k--) {
        long double next = re * x - im * y + beta[k];
        im = re * y + im * x;
        re = next;
    }
    return (double)hypotl(re, im);
}

static double calc_on_axis(const double *beta, int stages, bg_target_kind kind, double r)
{
    return kind == BG_TARGET_REAL ? bg_polynomial_calc_modulus(beta, stages, -r, 0)
                                  : bg_polynomial_calc_modulus(beta, stages, 0, r);
}

/* Near 0, where |R| - 1 is of high order, it is rounding that is allowed. */
static bool is_stable_at(const double *beta, int stages, bg_target_kind kind, double r,
                         double tolerance)
{
    double most = fmax(1e-15, tolerance * fmin(1, r * r * r * r));
    return calc_on_axis(beta, stages, kind, r) <= 1 + most;
}

double bg_polynomial_calc_interval(const double *beta, int stages, bg_target_kind kind,
                                   double tolerance)
{
    const double most = kind == BG_TARGET_REAL ? 2.0 * stages * stages + 1 : 2.0 * stages + 1;
    const double shortest = 0.02; /* up to where y^4 is rounding */
    double low = 0, high = most;
    for (int k = 1; k <= SCAN; k++) {
        high = most * k / SCAN;
        if (!is_stable_at(beta, stages, kind, high, tolerance))
            break;
        low = high;
    }
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        if (is_stable_at(beta, stages, kind, middle, tolerance))
            low = middle;
        else
            high = middle;
    }
    return low < shortest ? 0 : low;
}

static bool is_stable(const double *beta, int stages, const bg_target *cloud, double h,
                      double tolerance)
{
    for (int k = 0; k < cloud->n; k++)
        if (!(bg_polynomial_calc_modulus(beta, stages, h * cloud->re[k], h * cloud->im[k]) <=
              1 + tolerance))
            return false;
    return true;
}

double bg_polynomial_calc_step(const double *beta, int stages, const bg_target *cloud, double most,
                               double tolerance)
{
    double low = 0, high = most;
    for (int k = 1; k <= 4000; k++) {
        high = most * k / 4000;
        if (!is_stable(beta, stages, cloud, high, tolerance))
            break;
        low = high;
    }
    for (int k = 0; k < 60 && low < high; k++) {
        double middle = 0.5 * (low + high);
        if (is_stable(beta, stages, cloud, middle, tolerance))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Points of the target for a step of h, the outermost last. */
static void set_points(bg_exchange *x, const bg_target *target, double h)
{
    const long double pi = acosl(-1.0L);
    x->n = 0;
    x->scale = h;
    if (target->kind == BG_TARGET_CLOUD) {
        double largest = 0;
        int outermost = 0;
        for (int k = 0; k < target->n; k++)
            if (hypot(target->re[k], target->im[k]) > largest) {
                largest = hypot(target->re[k], target->im[k]);
                outermost = k;
            }
        x->scale = h * largest;
        for (int k = 0; k < target->n; k++) {
            int e = (k + outermost + 1) % target->n;
            for (int i = 1; i <= FRACTIONS && hypot(target->re[e], target->im[e]) > 0; i++)
                bg_exchange_add(x, (long double)h * i / FRACTIONS *
                                       (target->re[e] + (long double complex)I * target->im[e]));
        }
        return;
    }
    for (int k = 1; k <= GRID; k++) {
        long double r = h * (1 - cosl(pi * k / GRID)) / 2;
        bg_exchange_add(x, target->kind == BG_TARGET_REAL ? -r : I * r);
    }
}

/* Maxima of the answer along a ray up to `end` that lie between points and beyond what is allowed
 * are added to them; whether there are any. */
static bool add_maxima_along(bg_exchange *x, long double complex axis, long double end, int fine)
{
    const long double pi = acosl(-1.0L);
    bool found = false;
    long double t[3] = {-HUGE_VALL, -HUGE_VALL, -HUGE_VALL}, r[3] = {0, 0, 0};
    for (int k = 1; k <= fine; k++) {
        t[0] = t[1], t[1] = t[2];
        r[0] = r[1], r[1] = r[2];
        r[2] = end * (1 - cosl(pi * k / fine)) / 2;
        t[2] = bg_exchange_calc_excess(x, r[2] * axis);
        const long double drop = t[1] - fminl(t[0], t[2]); /* twice it is more than it rises */
        if (!(t[1] > t[0] && t[1] >= t[2] && t[1] + 2 * drop > allowed))
            continue;
        long double low = r[0], high = r[2];
        for (int i = 0; i < 60; i++) {
            long double a = low + (high - low) * 0.382L, b = low + (high - low) * 0.618L;
            if (bg_exchange_calc_excess(x, a * axis) > bg_exchange_calc_excess(x, b * axis))
                high = b;
            else
                low = a;
        }
        if (bg_exchange_calc_excess(x, low * axis) > allowed && x->n < BG_EXCHANGE_POINTS) {
            bg_exchange_add(x, low * axis);
            found = true;
        }
    }
    return found;
}

static bool add_maxima(bg_exchange *x, const bg_target *target, double h)
{
    bool found = false;
    if (target->kind != BG_TARGET_CLOUD)
        return add_maxima_along(x, target->kind == BG_TARGET_REAL ? -1 : I, h, 4 * GRID);
    for (int k = 0; k < target->n; k++) {
        double size = hypot(target->re[k], target->im[k]);
        if (size > 0)
            found |= add_maxima_along(
                x, (target->re[k] + (long double complex)I * target->im[k]) / size, h * size,
                8 * FRACTIONS);
    }
    return found;
}

/* Whether a polynomial is stable for a step of h: in x->beta then. */
static bg_status try_step(bg_exchange *x, const bg_target *target, double h, bool *stable,
                          bg_error *err)
{
    bg_status st = BG_OK;
    set_points(x, target, h);
    x->enough = allowed;
    *stable = true;
    for (int k = 0; k < 60; k++) {
        st = bg_exchange_solve(x, err);
        if (x->t > allowed || !add_maxima(x, target, h))
            break;
        *stable = k < 59;
    }
    *stable = *stable && x->t <= allowed;
    return st == BG_NOT_CONVERGED ? BG_OK : st; /* the bound tells what is not there */
}

static void take_answer(const bg_exchange *x, bg_polynomial *best)
{
    for (int k = 0; k <= best->stages; k++)
        best->beta[k] = (double)x->beta[k];
}

/* How far a polynomial really reaches. */
static double calc_reach(const bg_polynomial *p, const bg_target *target, double most)
{
    return target->kind == BG_TARGET_CLOUD
               ? bg_polynomial_calc_step(p->beta, p->stages, target, most, rounding)
               : bg_polynomial_calc_interval(p->beta, p->stages, target->kind, rounding);
}

static bg_status search(bg_exchange *x, const bg_target *target, bg_polynomial *best, bg_error *err)
{
    double low = 0, high = best->bound, size = 1;
    bool stable = false;
    bg_status st = BG_OK;
    for (int k = 0; k <= best->stages; k++)
        best->beta[k] = k <= best->order ? 1 / tgamma(k + 1.0) : 0;
    while (st == BG_OK && high - low > precision * high && high > 1e-6 * size) {
        double middle = 0.5 * (low + high);
        st = try_step(x, target, middle, &stable, err);
        if (st != BG_OK)
            break;
        if (stable) {
            low = middle;
            take_answer(x, best);
        } else {
            high = middle;
            if (x->bound > allowed)
                best->bound = middle;
        }
    }
    best->reach = fmin(calc_reach(best, target, 1.001 * high), best->bound);
    return st;
}

/* Z_{s-2}/2 + Z_{s-1} + Z_s/2: with x = z/(s - 1), Z_{k+1} = 2 x Z_k + Z_{k-1}. */
static void make_odd(int s, double *beta)
{
    double Z[3][BG_POLYNOMIAL_MAX + 1] = {{1}, {0, 1}};
    memset(beta, 0, (BG_POLYNOMIAL_MAX + 1) * sizeof *beta);
    for (int k = 0; k <= s; k++) {
        const double weight = k == s - 1 ? 1 : k == s || k == s - 2 ? 0.5 : 0;
        double *now = Z[k % 3], *next = Z[(k + 1) % 3], *last = Z[(k + 2) % 3];
        for (int i = 0; i <= s; i++)
            beta[i] += weight * now[i];
        for (int i = 0; i <= s && k > 0; i++)
            next[i] = (i > 0 ? 2 * now[i - 1] : 0) + last[i];
    }
    for (int i = 0; i <= s; i++)
        beta[i] /= pow(s - 1, i);
}

/* A polynomial known for the imaginary axis; false: none. */
static bool find_known(int stages, int order, double *beta)
{
    static const double even[3][5] = {
        {0}, {1.0 / 180, 1.0 / 1080}, {1.0 / 144, 1.0 / 864, 1.0 / 12096, 1.0 / 96768}};
    if (stages % 2 == 1 && order == 2) {
        make_odd(stages, beta);
        return true;
    }
    if (stages % 2 == 1 || stages < 4 || stages > 8 || order > 4)
        return false;
    for (int k = 0; k <= stages; k++)
        beta[k] = k <= 4 ? 1 / tgamma(k + 1.0) : even[stages / 2 - 2][k - 5];
    return true;
}

/* Whether most of a target is nearer to the real axis than to the imaginary one. */
static bool is_real(const bg_target *target)
{
    double re = 0, im = 0;
    for (int k = 0; k < target->n && target->kind == BG_TARGET_CLOUD; k++) {
        re = fmax(re, fabs(target->re[k]));
        im = fmax(im, fabs(target->im[k]));
    }
    return target->kind == BG_TARGET_REAL || re > im;
}

bg_status bg_polynomial_find(int stages, int order, const bg_target *target, bg_polynomial *best,
                             bg_error *err)
{
    bg_exchange *x = BG_NEW(bg_exchange);
    bg_polynomial known = {.stages = stages, .order = order};
    double largest = 0;
    *best = (bg_polynomial){.stages = stages, .order = order};
    if (!x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a stability polynomial");
    x->stages = stages;
    x->order = order;
    x->real = is_real(target);
    for (int k = 0; k < target->n && target->kind == BG_TARGET_CLOUD; k++)
        largest = fmax(largest, hypot(target->re[k], target->im[k]));
    /* no polynomial of degree s reaches beyond s on the imaginary, 2 s^2 on the real axis */
    best->bound = target->kind == BG_TARGET_IMAGINARY ? stages
                  : target->kind == BG_TARGET_REAL    ? 2.0 * stages * stages
                                                      : 2.0 * stages * stages / largest;
    bg_status st = search(x, target, best, err);
    if (st == BG_OK && target->kind == BG_TARGET_IMAGINARY &&
        find_known(stages, order, known.beta)) {
        known.reach = calc_reach(&known, target, 0);
        if (known.reach >= best->reach * (1 - agreement)) {
            known.bound = fmax(best->bound, known.reach);
            known.reach = fmin(known.reach, known.bound);
            *best = known;
        }
    }
    free(x);
    return st;
}
