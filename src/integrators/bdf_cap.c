/* The spectral cap of bdf: which orders would pump up fast modes.
 *
 * For x' = lambda x, mu = h lambda, constant steps of order k amplify x where mu lies inside the
 * curve
 *     mu(phi) = sum_{1..k} (1 - exp(-i phi))^j / j,
 * which for orders 3 to 5 reaches into the left half-plane next to the imaginary axis: modes of a
 * damping ratio -Re(lambda)/|lambda| below 0.069, 0.29, 0.62 are raised for |mu| between two limits
 * that depend on it. Where a system has such fast modes that the motion does not excite, these
 * orders raise them to the tolerance, and then steps stay at the limit of stability. The cap looks
 * ahead: it finds the eigenvalues lambda of the linearised motion x' = A x. With h |lambda| below
 * `calm` every order is good, since then it follows the mode.
 *
 * Arnoldi's method with A itself finds the fastest decay first, and what it says of the modes in
 * between are no eigenvalues of anything. Here it has A (alpha - A)^-1, whose eigenvalues
 * lambda/(alpha - lambda) of undamped modes lie on a circle around all others and are found first,
 * those of the size of alpha best, which is about 1/h: these are asked for. Newton's iteration
 * matrix is alpha - A, with constraints, and factored already. Where a system is too large for all
 * of its eigenvalues, they are found anew when steps have become much longer or shorter. */
#include "integrators/bdf.h"

#include "base/memory.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = BG_BDF_RITZ_MAX, EVERY = 16, SWEEPS = 40, PARTS = 12 };
static const double calm = 1;
/* Between the alpha of a step and that of the eigenvalues: some of them, all of them. */
static const double far_some = 4, far_all = 1e6;

/* Orders 3, 4, 5: modes are raised up to a damping ratio of `light`; |mu| between which they are,
 * for damping ratios from 0, 1, ... PARTS - 1 of PARTS parts of it on. */
static const struct raised {
    double light, low[PARTS], high[PARTS];
} raised[] = {{0.07,
               {0, 0.29, 0.37, 0.44, 0.49, 0.54, 0.59, 0.64, 0.70, 0.75, 0.82, 0.91},
               {1.94, 1.90, 1.86, 1.81, 1.76, 1.71, 1.66, 1.61, 1.55, 1.48, 1.40, 1.30}},
              {0.287,
               {0, 0.60, 0.71, 0.78, 0.84, 0.90, 0.97, 1.03, 1.11, 1.19, 1.30, 1.45},
               {4.72, 4.55, 4.38, 4.21, 4.03, 3.85, 3.66, 3.47, 3.26, 3.04, 2.79, 2.50}},
              {0.618,
               {0, 0.85, 0.90, 0.93, 0.97, 1.01, 1.05, 1.11, 1.17, 1.27, 1.40, 1.61},
               {9.40, 8.96, 8.51, 8.06, 7.59, 7.12, 6.63, 6.12, 5.59, 5.02, 4.41, 3.70}}};

struct bg_bdf_cap {
    int n;                      /* 2 nv + nz */
    double *basis[VECTORS + 1]; /* [n] */
    double *scale;              /* [n] what is 1 */
    double *x;                  /* [n] */
    double H[VECTORS + 1][VECTORS];
    bg_arena arena;
};

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    const bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    for (int k = 0; k <= VECTORS; k++)
        BG_TAKE(arena, c->basis[k], c->n);
    BG_TAKE(arena, c->scale, c->n);
    BG_TAKE(arena, c->x, c->n);
}

bg_status bg_bdf_cap_create(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap = BG_NEW(bg_bdf_cap);
    if (c)
        c->n = 2 * m->nv + m->nz;
    if (!c || !bg_arena_create(&c->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator bdf");
    return BG_OK;
}

void bg_bdf_cap_destroy(bg_bdf_cap *c)
{
    if (!c)
        return;
    bg_arena_clear(&c->arena);
    free(c);
}

/* y <- alpha (alpha - A)^-1 x, both in units of `scale`. */
static void respond(bg_integrator *ig, const double *x, double *y)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    const int nv = m->nv;
    for (int i = 0; i < c->n; i++)
        c->x[i] = x[i] * c->scale[i];
    bg_bdf_matrix_respond(ig, c->x, c->x + nv, c->x + 2 * nv);
    memcpy(y, m->step_q, (size_t)nv * sizeof(double));
    memcpy(y + nv, m->step_v, (size_t)nv * sizeof(double));
    memcpy(y + 2 * nv, m->step_z, (size_t)m->nz * sizeof(double));
    for (int i = 0; i < c->n; i++)
        y[i] *= m->parts.alpha / c->scale[i];
}

static double calc_product(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double normalise(double *x, int n)
{
    double length = sqrt(calc_product(x, x, n));
    for (int i = 0; i < n && length > 0; i++)
        x[i] /= length;
    return length;
}

/* What is 1, and a start that keeps to constraints and that no mode is orthogonal to. */
static void begin(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    const double *size = ig->sys->def.v_size;
    double *x = c->basis[0], *any = c->basis[1];
    for (int i = 0; i < c->n; i++) {
        c->scale[i] = i < 2 * m->nv ? (size ? size[i % m->nv] : 1)
                                    : fmax(1, fabs(ig->x1->z[i - 2 * m->nv]));
        if (i < m->nv)
            c->scale[i] /= m->parts.alpha;
        any[i] = (i % 2 ? -1 : 1) * (1 + 0.37 * (i % 5) + 0.11 * (i % 7));
    }
    respond(ig, any, x);
    normalise(x, c->n);
}

/* Arnoldi's vectors; returns how many, and their matrix in H. */
static int find_basis(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    int most = c->n < VECTORS ? c->n : VECTORS, n = 0;
    memset(c->H, 0, sizeof c->H);
    for (; n < most; n++) {
        double *next = c->basis[n + 1], size = 0;
        respond(ig, c->basis[n], next);
        for (int i = 0; i < c->n; i++)
            next[i] -= c->basis[n][i]; /* A (alpha - A)^-1 */
        size = sqrt(calc_product(next, next, c->n));
        if (!isfinite(size))
            return 0;
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j <= n; j++) {
                double product = calc_product(next, c->basis[j], c->n);
                c->H[j][n] += product;
                for (int i = 0; i < c->n; i++)
                    next[i] -= product * c->basis[j][i];
            }
        double left = normalise(next, c->n);
        c->H[n + 1][n] = left;
        if (!(left > 1e-12 * size))
            return n + 1;
    }
    return n;
}

/* Rows and columns `at` and the next one or two of H, of which first .. last are iterated on,
 * reflected so that x[1], x[2] become zero. */
static void reflect(bg_bdf_cap *c, int first, int last, int at, const double x[3])
{
    const int n = last - at < 2 ? 2 : 3;
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + (n > 2 ? x[2] * x[2] : 0));
    if (!(length > 0))
        return;
    double w[3] = {x[0] + copysign(length, x[0]), x[1], n > 2 ? x[2] : 0};
    const double by = 2 / (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    for (int j = at > first ? at - 1 : first; j <= last; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += w[i] * c->H[at + i][j];
        for (int i = 0; i < n; i++)
            c->H[at + i][j] -= by * sum * w[i];
    }
    for (int j = first; j <= (at + 3 < last ? at + 3 : last); j++) {
        double *row = &c->H[j][at], sum = 0;
        for (int i = 0; i < n; i++)
            sum += w[i] * row[i];
        for (int i = 0; i < n; i++)
            row[i] -= by * sum * w[i];
    }
}

/* One step of the QR iteration with two shifts (Francis; Golub and Van Loan, Matrix Computations,
 * 7.5.1), the eigenvalues of the last two rows and columns, or others now and then. */
static void sweep(bg_bdf_cap *c, int first, int last, bool other)
{
    double(*H)[VECTORS] = c->H;
    double sum = H[last - 1][last - 1] + H[last][last];
    double product = H[last - 1][last - 1] * H[last][last] - H[last - 1][last] * H[last][last - 1];
    if (other) {
        const double size = fabs(H[last][last - 1]) + fabs(H[last - 1][last - 2]);
        sum = 1.5 * size;
        product = size * size;
    }
    const double a = H[first][first], d = H[first + 1][first + 1], e = H[first + 1][first];
    double x[3] = {a * a + H[first][first + 1] * e - sum * a + product, e * (a + d - sum),
                   e * H[first + 2][first + 1]};
    for (int k = first; k < last; k++) {
        reflect(c, first, last, k, x);
        x[0] = H[k + 1][k];
        x[1] = k + 2 <= last ? H[k + 2][k] : 0;
        x[2] = k + 3 <= last ? H[k + 3][k] : 0;
    }
}

static void add_eigenvalue(bg_bdf_spectrum *out, double complex of)
{
    if (cabs(1 + of) < 1e-12)
        return;
    const double complex lambda = out->alpha * of / (1 + of);
    out->re[out->count] = creal(lambda);
    out->im[out->count++] = cimag(lambda);
}

static void add_pair(bg_bdf_spectrum *out, double a, double b, double e, double d)
{
    const double complex half = 0.5 * (a - d), root = csqrt(half * half + b * e);
    add_eigenvalue(out, 0.5 * (a + d) + root);
    add_eigenvalue(out, 0.5 * (a + d) - root);
}

/* lambda from the eigenvalues lambda/(alpha - lambda) of the n x n Hessenberg matrix H, which are
 * found from the last one on; H is lost. Decay that is fast beyond all bounds is left out. */
static void find_eigenvalues(bg_bdf_cap *c, int n, bg_bdf_spectrum *out)
{
    double(*H)[VECTORS] = c->H;
    int last = n - 1, tries = 0;
    while (last >= 0 && tries < SWEEPS * n) {
        int first = last;
        while (first > 0 && fabs(H[first][first - 1]) >
                                1e-14 * (fabs(H[first][first]) + fabs(H[first - 1][first - 1])))
            first--;
        if (first < last - 1) {
            tries++;
            sweep(c, first, last, tries % 10 == 0);
            continue;
        }
        if (first == last)
            add_eigenvalue(out, H[last][last]);
        else
            add_pair(out, H[first][first], H[first][last], H[last][first], H[last][last]);
        last = first - 1;
    }
    if (last >= 0)
        out->count = 0;
}

void bg_bdf_cap_count(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_spectrum *s = &m->parts.spectrum;
    if (s->since > 0 && ++s->since > EVERY)
        s->since = 0;
}

void bg_bdf_cap_update(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    bg_bdf_spectrum *s = &m->parts.spectrum;
    if (!c || s->since > 0 || m->formula.k < 2) /* a start: too early to say what matters */
        return;
    s->since = 1;
    s->count = 0;
    s->alpha = m->parts.alpha;
    begin(ig);
    find_eigenvalues(c, find_basis(ig), s);
}

bool bg_bdf_cap_find_raised(int k, double damping, double *low, double *high, double *margin)
{
    if (k < 3 || k > 5)
        return false;
    const struct raised *r = &raised[k - 3];
    const double part = PARTS * fmax(0, damping) / r->light;
    if (part >= PARTS)
        return false;
    *low = r->low[(int)part];
    *high = r->high[(int)part];
    *margin = 2 - part / PARTS;
    return true;
}

/* Whether eigenvalue i is of a mode that steps of order k raise with lengths in (low, high). */
static bool find_limits(const bg_bdf_spectrum *s, int i, int k, double *low, double *high)
{
    const double size = hypot(s->re[i], s->im[i]);
    double margin;
    if (!(fabs(s->im[i]) > 1e-3 * size) ||
        !bg_bdf_cap_find_raised(k, -s->re[i] / size, low, high, &margin))
        return false;
    *low = fmax(calm, *low) / size;
    *high *= margin / size;
    return true;
}

double bg_bdf_cap_limit(bg_integrator *ig, int k, double h)
{
    bg_bdf *m = ig->method;
    const bg_bdf_cap *c = m->cap;
    bg_bdf_spectrum *s = &m->parts.spectrum;
    double low, high;
    if (!c || k < 3)
        return h;
    const double far = c->n > VECTORS ? far_some : far_all, now = 1 / (h * s->alpha);
    if (s->since > 0 && !(now < far && now > 1 / far)) {
        s->since = 0;
        m->changed = true;
    }
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < s->count; i++)
            if (find_limits(s, i, k, &low, &high) && h > low && h < high) {
                h = low;
                again = true;
            }
    }
    return h;
}
