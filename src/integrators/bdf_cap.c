/* The spectral cap of bdf: which orders would pump up fast modes.
 *
 * Orders 3 to 5 are unstable in a part of the left half-plane next to the imaginary axis: for h
 * lambda within a distance of reach_k from 0 and a damping ratio -Re(lambda)/|lambda| below light_k
 * (the sine of 90 degrees less the angle of A(alpha)-stability). Where a system has fast modes that
 * are hardly damped and that the motion does not excite, these orders raise them to the
 * tolerance, and then steps stay at the limit of stability. The cap looks ahead: it finds the
 * eigenvalues of the linearised motion,
 *     delta' = w,   M w' + G^T mu = -(r_q delta + r_v w + r_z zeta),   G w' = 0,
 *     zeta' = h_q delta + h_v w + h_z zeta,
 * by Arnoldi's method, of all of a small system and the outermost of a large one, from the
 * derivatives that Newton's iteration has. With h |lambda| below `calm` every order is good. */
#include "integrators/bdf.h"

#include "base/memory.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = BG_BDF_RITZ_MAX, EVERY = 16, SWEEPS = 40 };
static const double calm = 1;
static const double reach[] = {0, 0, 0, 2.0, 4.8, 9.8, 19};
static const double light[] = {0, 0, 0, 0.069, 0.29, 0.62, 0.96};

struct bg_bdf_cap {
    int n;                      /* 2 nv + nz */
    bg_kkt *kkt;                /* [M G^T; G 0]; NULL: */
    bg_expanded *expanded;      /* the same through unknowns of the system's own */
    double *basis[VECTORS + 1]; /* [n] */
    double *scale;              /* [n] what is 1 */
    double *x;                  /* [n] */
    double *none;               /* [ng] */
    double H[VECTORS + 1][VECTORS];
    double complex C[VECTORS][VECTORS];
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
    BG_TAKE(arena, c->none, m->ng);
}

bg_status bg_bdf_cap_create(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap = BG_NEW(bg_bdf_cap);
    if (c)
        c->n = 2 * m->nv + m->nz;
    if (!c || !bg_arena_create(&c->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator bdf");
    if (m->matrix.expanded)
        return BG_OK;
    return bg_dynamics_create_kkt(ig->sys->system, ig->sys->def.pattern_M, m->ng, &c->kkt, err);
}

void bg_bdf_cap_destroy(bg_bdf_cap *c)
{
    if (!c)
        return;
    bg_kkt_destroy(c->kkt);
    bg_arena_clear(&c->arena);
    free(c);
}

/* y <- y + factor (block of B) x */
static void add_block(const bg_integrator *ig, bg_of of, bg_by by, const double *x, double factor,
                      double *y)
{
    bg_bdf *m = ig->method;
    const bg_pattern *p = bg_system_get_pattern(ig->sys->system, of, by);
    const double *A = bg_jacobian_get(&m->parts.B, of, by)->values;
    int rows = bg_system_get_rows(ig->sys->system, of);
    int columns = bg_system_get_columns(ig->sys->system, by);
    for (int i = 0; i < rows; i++)
        for (int k = p ? p->row_start[i] : i * columns,
                 end = p ? p->row_start[i + 1] : (i + 1) * columns;
             k < end; k++)
            y[i] += factor * A[k] * x[p ? p->column[k] : k - i * columns];
}

/* Solves M x + G^T y = right - (r_q delta + r_v w), G x = g in place; delta, w NULL: without. */
static void solve(bg_integrator *ig, const double *delta, const double *w, double *right, double *g)
{
    const bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    if (!c->kkt) {
        memset(m->step_z, 0, (size_t)m->nz * sizeof(double));
        memset(m->step_eta, 0, (size_t)m->ng * sizeof(double));
        bg_expanded_solve(m->matrix.expanded, &(bg_expanded_shift){delta, w, -1, -1},
                          &(bg_expanded_vector){right, m->step_z, g, m->step_eta});
        return;
    }
    if (delta)
        add_block(ig, BG_OF_r, BG_BY_q, delta, -1, right);
    if (w)
        add_block(ig, BG_OF_r, BG_BY_v, w, -1, right);
    bg_kkt_solve(c->kkt, right, g);
}

/* w (in place) onto G w = 0. */
static void project(bg_integrator *ig, double *w)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    double *right = m->rhs;
    if (m->ng == 0)
        return;
    bg_matrix_multiply(m->ng, m->nv, ig->sys->def.pattern_G, m->parts.G, w, c->none);
    memset(right, 0, (size_t)m->nv * sizeof(double));
    solve(ig, NULL, NULL, right, c->none);
    for (int i = 0; i < m->nv; i++)
        w[i] -= right[i];
}

/* y <- the linearised motion at x, both in units of `scale`. */
static void apply(bg_integrator *ig, const double *x, double *y)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    int nv = m->nv, nz = m->nz;
    double *delta = c->x, *w = delta + nv, *zeta = w + nv;
    for (int i = 0; i < c->n; i++)
        delta[i] = x[i] * c->scale[i];
    memset(y, 0, (size_t)c->n * sizeof(double));
    if (nz > 0) {
        add_block(ig, BG_OF_r, BG_BY_z, zeta, -1, y + nv);
        add_block(ig, BG_OF_h, BG_BY_q, delta, 1, y + 2 * nv);
        add_block(ig, BG_OF_h, BG_BY_v, w, 1, y + 2 * nv);
        add_block(ig, BG_OF_h, BG_BY_z, zeta, 1, y + 2 * nv);
    }
    memset(c->none, 0, (size_t)m->ng * sizeof(double));
    solve(ig, delta, w, y + nv, c->none);
    memcpy(y, w, (size_t)nv * sizeof(double));
    for (int i = 0; i < c->n; i++)
        y[i] /= c->scale[i];
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

/* A start that no mode is orthogonal to, and what is 1: positions beside velocities by the fastest
 * motion, which a few iterations estimate. */
static void begin(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    const double *size = ig->sys->def.v_size;
    double *x = c->basis[0], *y = c->basis[1];
    double fastest = 1;
    for (int i = 0; i < c->n; i++) {
        c->scale[i] = i < 2 * m->nv ? (size ? size[i % m->nv] : 1)
                                    : fmax(1, fabs(ig->x1->z[i - 2 * m->nv]));
        x[i] = (i % 2 ? -1 : 1) * (1 + 0.37 * (i % 5) + 0.11 * (i % 7)) * c->scale[i];
    }
    project(ig, x);
    project(ig, x + m->nv);
    for (int i = 0; i < c->n; i++)
        x[i] /= c->scale[i];
    for (int k = 0; k < 4; k++) { /* delta -> w' */
        memset(x + m->nv, 0, (size_t)(m->nv + m->nz) * sizeof(double));
        normalise(x, m->nv);
        apply(ig, x, y);
        fastest = fmax(fastest, sqrt(sqrt(calc_product(y + m->nv, y + m->nv, m->nv))));
        memcpy(x, y + m->nv, (size_t)m->nv * sizeof(double));
    }
    for (int i = 0; i < m->nv; i++)
        c->scale[i] /= fastest;
    for (int i = 0; i < c->n; i++)
        x[i] = (i % 2 ? -1 : 1) * (1 + 0.37 * (i % 5) + 0.11 * (i % 7)) * c->scale[i];
    project(ig, x);
    project(ig, x + m->nv);
    for (int i = 0; i < c->n; i++)
        x[i] /= c->scale[i];
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
        apply(ig, c->basis[n], next);
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

/* One step of the QR iteration with a shift, on rows and columns first .. last of C. */
static void sweep(bg_bdf_cap *c, int first, int last)
{
    double complex a = c->C[last - 1][last - 1], b = c->C[last - 1][last];
    double complex d = c->C[last][last], e = c->C[last][last - 1];
    double complex half = 0.5 * (a - d), root = csqrt(half * half + b * e);
    double complex shift = cabs(half + root) > cabs(half - root) ? d - b * e / (half + root)
                           : cabs(half - root) > 0               ? d - b * e / (half - root)
                                                                 : d;
    double complex cosine[VECTORS], sine[VECTORS];
    for (int i = first; i <= last; i++)
        c->C[i][i] -= shift;
    for (int k = first; k < last; k++) {
        double complex x = c->C[k][k], y = c->C[k + 1][k];
        double length = sqrt(creal(x * conj(x) + y * conj(y)));
        cosine[k] = length > 0 ? x / length : 1;
        sine[k] = length > 0 ? y / length : 0;
        for (int j = k; j <= last; j++) {
            double complex p = c->C[k][j], q = c->C[k + 1][j];
            c->C[k][j] = conj(cosine[k]) * p + conj(sine[k]) * q;
            c->C[k + 1][j] = -sine[k] * p + cosine[k] * q;
        }
    }
    for (int k = first; k < last; k++)
        for (int i = first; i <= (k + 1 < last ? k + 1 : last); i++) {
            double complex p = c->C[i][k], q = c->C[i][k + 1];
            c->C[i][k] = p * cosine[k] + q * sine[k];
            c->C[i][k + 1] = -p * conj(sine[k]) + q * conj(cosine[k]);
        }
    for (int i = first; i <= last; i++)
        c->C[i][i] += shift;
}

/* The eigenvalues of the n x n Hessenberg matrix H, from the last one on. */
static void find_eigenvalues(bg_bdf_cap *c, int n, bg_bdf_spectrum *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c->C[i][j] = i <= j + 1 ? c->H[i][j] : 0;
    int last = n - 1;
    for (int tries = 0; last > 0 && tries < SWEEPS * n; tries++) {
        int first = last;
        while (first > 0 &&
               cabs(c->C[first][first - 1]) >
                   1e-14 * (cabs(c->C[first][first]) + cabs(c->C[first - 1][first - 1])))
            first--;
        if (first == last)
            last--;
        else
            sweep(c, first, last);
    }
    out->count = last > 0 ? 0 : n;
    for (int i = 0; i < out->count; i++) {
        out->re[i] = creal(c->C[i][i]);
        out->im[i] = cimag(c->C[i][i]);
    }
}

/* [M G^T; G 0]; the iteration matrix is factored after this. */
static bg_status factor(bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    bg_expanded_values values = bg_bdf_matrix_get_values(m);
    if (!c->kkt)
        return bg_expanded_factor(m->matrix.expanded, &values, INFINITY, 0);
    bg_kkt_set_eliminated(c->kkt, ig->dyn->eliminated);
    return bg_kkt_factor(c->kkt, m->parts.B.block[BG_KEPT_M].values, m->parts.G, m->parts.G);
}

void bg_bdf_cap_update(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_cap *c = m->cap;
    bg_bdf_spectrum *s = &m->parts.spectrum;
    if (!c || (s->since > 0 && s->since++ < EVERY))
        return;
    s->since = 1;
    s->count = 0;
    bg_system_get_work(ig->sys)->factorisations++;
    if (factor(ig) != BG_OK)
        return;
    begin(ig);
    int n = find_basis(ig);
    find_eigenvalues(c, n, s);
}

bool bg_bdf_cap_check(const bg_integrator *ig, int k, double h, double *longest)
{
    const bg_bdf *m = ig->method;
    const bg_bdf_spectrum *s = &m->parts.spectrum;
    bool found = false;
    double fastest = 0;
    for (int i = 0; i < s->count && m->cap; i++) {
        double size = hypot(s->re[i], s->im[i]);
        if (!(-s->re[i] < light[k] * size) || s->im[i] == 0)
            continue;
        fastest = fmax(fastest, size);
        found = found || (h * size > calm && h * size < 2 * reach[k]);
    }
    *longest = calm / fastest;
    return found;
}
