/* A of a linearised system, taken apart. On the level of positions its rows of dv by delta are
 * -M^{-1} K, with a block diagonal M, so that
 *     A_sf A_ff^{-1} A_ff^{-1} A_fs = M_s^{-1} K_sf K_ff^{-1} M_f K_ff^{-1} K_fs,
 * which is M_s^{-1} T^T M_f T where K is symmetric. A_ff is inverted where it can be: freedoms of
 * the fast part that no spring holds follow nothing. */
#include "design/rates.h"

#include "base/memory.h"
#include "linalg/spectrum.h"
#include "system/two_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double excess = 1e-6;  /* of a spectral radius that counts as stable */
static const double nothing = 1e-9; /* of eigenvalues and singular values beside the largest */

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of a linear system");
}

static void list(void *object, bg_arena *arena)
{
    bg_rates *r = object;
    BG_TAKE(arena, r->A, r->nx * r->nx);
    BG_TAKE(arena, r->part, r->nx);
}

static bg_status update_limits(bg_rates *r, bg_error *err)
{
    bg_rates_spectrum all;
    bg_status st = bg_rates_calc_spectrum(r, BG_PART_SLOW | BG_PART_FAST, &all, err);
    for (int k = 0; k < all.count; k++) {
        r->largest = fmax(r->largest, hypot(all.re[k], all.im[k]));
        r->growth = fmax(r->growth, all.re[k]);
    }
    if (r->growth <= 1e-6 * r->largest) /* double zeros are found to half of the digits */
        r->growth = 0;
    bg_rates_spectrum_clear(&all);
    return st;
}

bg_status bg_rates_create(bg_linearisation *l, bg_rates **out, bg_error *err)
{
    bg_rates *r = *out = BG_NEW(bg_rates);
    if (!r)
        return no_memory(err);
    r->n = l->n;
    r->nx = l->nx;
    bg_status st = bg_arena_create(&r->arena, list, r) ? BG_OK : no_memory(err);
    if (st == BG_OK)
        st = bg_linearisation_calc(l, r->A, NULL, NULL, NULL, err);
    if (st == BG_OK) {
        bg_rates_sort(r, l, NULL, NULL);
        st = update_limits(r, err);
    }
    if (st == BG_OK)
        return BG_OK;
    bg_rates_destroy(r);
    *out = NULL;
    return st;
}

void bg_rates_destroy(bg_rates *r)
{
    if (!r)
        return;
    bg_arena_clear(&r->arena);
    free(r);
}

void bg_rates_sort(bg_rates *r, const bg_linearisation *l, const unsigned char *v_part,
                   const unsigned char *z_part)
{
    for (int k = 0; k < r->n; k++)
        r->part[k] = r->part[r->n + k] = (unsigned char)bg_part_get(v_part,
                                                                    l->tangent->independent[k]);
    for (int k = 2 * r->n; k < r->nx; k++)
        r->part[k] = (unsigned char)bg_part_get(z_part, k - 2 * r->n);
}

int bg_rates_count(const bg_rates *r, unsigned part)
{
    int count = 0;
    for (int k = 0; k < r->nx; k++)
        count += (r->part[k] & part) != 0;
    return count;
}

/* block <- entries of A in rows [from, from + n) of part `rows` and columns [0, n) of `columns`;
 * with n = nx and from = 0 the whole. */
static void take(const bg_rates *r, int from, int n, unsigned rows, unsigned columns, double *block)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n && r->part[i] & rows; j++)
            if (r->part[j] & columns)
                *block++ = r->A[(from + i) * r->nx + j];
}

/* Sorts by modulus, and drops those with Im < 0. */
static void arrange(bg_rates_spectrum *s)
{
    int count = 0;
    for (int k = 0; k < s->count; k++)
        if (s->im[k] >= 0) {
            const double re = s->re[k], im = s->im[k];
            int at = count++;
            for (; at > 0 && hypot(s->re[at - 1], s->im[at - 1]) < hypot(re, im); at--) {
                s->re[at] = s->re[at - 1];
                s->im[at] = s->im[at - 1];
            }
            s->re[at] = re;
            s->im[at] = im;
        }
    s->count = count;
}

bg_status bg_rates_calc_spectrum(const bg_rates *r, unsigned part, bg_rates_spectrum *s,
                                 bg_error *err)
{
    const size_t n = (size_t)bg_rates_count(r, part);
    double *J = BG_NEW_ARRAY(double, n *n);
    *s = (bg_rates_spectrum){.re = BG_NEW_ARRAY(double, 2 * n)};
    bg_status st = J && s->re ? BG_OK : no_memory(err);
    if (st == BG_OK) {
        s->im = s->re + n;
        take(r, 0, r->nx, part, part, J);
        st = n > 0 ? bg_spectrum_calc((int)n, J, s->re, s->im, NULL, NULL, err) : BG_OK;
    }
    s->count = st == BG_OK ? (int)n : 0;
    arrange(s);
    free(J);
    return st;
}

void bg_rates_spectrum_clear(bg_rates_spectrum *s)
{
    free(s->re);
    *s = (bg_rates_spectrum){.count = 0};
}

/* C [rows columns] <- A [rows inner] B [inner columns] */
static void multiply(const double *A, const double *B, int rows, int inner, int columns, double *C)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0;
            for (int k = 0; k < inner; k++)
                sum += A[i * inner + k] * B[k * columns + j];
            C[i * columns + j] = sum;
        }
}

/* A [n n] <- its inverse, or what there is of one: A = U diag(s) V^T gives V diag(1/s) U^T. */
static bg_status invert(double *A, int n, bg_error *err)
{
    const size_t m = (size_t)n;
    double *s = BG_NEW_ARRAY(double, m + 2 * m * m), *Ut = s + m, *Vt = Ut + m * m;
    bg_status st = s ? bg_svd_calc(n, n, A, s, Ut, Vt, err) : no_memory(err);
    for (int i = 0; i < n && st == BG_OK; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                if (s[k] > nothing * s[0])
                    sum += Vt[k * n + i] * Ut[k * n + j] / s[k];
            A[i * n + j] = sum;
        }
    free(s);
    return st;
}

bg_status bg_rates_calc_ratio(const bg_rates *r, double *ratio, bg_error *err)
{
    int slow = 0, fast = 0;
    for (int k = 0; k < r->n; k++)
        *(r->part[k] == BG_PART_FAST ? &fast : &slow) += 1;
    const size_t s = (size_t)slow, f = (size_t)fast;
    *ratio = 0;
    if (slow == 0 || fast == 0)
        return BG_OK;
    double *sf = BG_NEW_ARRAY(double, 4 * s * f + f * f + s * s + 2 * s);
    if (!sf)
        return no_memory(err);
    double *fs = sf + s * f, *once = fs + s * f, *twice = once + s * f, *ff = twice + s * f;
    double *X = ff + f * f, *re = X + s * s, *im = re + s;
    take(r, r->n, r->n, BG_PART_SLOW, BG_PART_FAST, sf);
    take(r, r->n, r->n, BG_PART_FAST, BG_PART_SLOW, fs);
    take(r, r->n, r->n, BG_PART_FAST, BG_PART_FAST, ff);
    bg_status st = invert(ff, fast, err);
    if (st == BG_OK) {
        multiply(sf, ff, slow, fast, fast, once);
        multiply(once, ff, slow, fast, fast, twice);
        multiply(twice, fs, slow, fast, slow, X);
        st = bg_spectrum_calc(slow, X, re, im, NULL, NULL, err);
    }
    for (int k = 0; k < slow && st == BG_OK; k++)
        *ratio = fmax(*ratio, hypot(re[k], im[k]));
    free(sf);
    return st;
}

bg_status bg_rates_find_step(const bg_rates *r, const bg_prk_pair *pair, bool by_part, bool fine,
                             double *step, bg_error *err)
{
    int *tableau = BG_NEW_ARRAY(int, r->nx);
    const double grid = (fine ? 0.04 : 0.2) / r->largest,
                 most = 2.0 * pair->stages * pair->stages / r->largest;
    *step = HUGE_VAL;
    if (!tableau)
        return no_memory(err);
    for (int k = 0; k < r->nx; k++)
        tableau[k] = r->part[k] == BG_PART_FAST || (k < r->n && !by_part) ? BG_PRK_FAST
                                                                          : BG_PRK_SLOW;
    const bg_coupled system = {.n = r->nx, .J = r->A, .tableau = tableau};
    bg_status st = BG_OK;
    if (r->largest > 0)
        st = bg_coupled_find_growing_limit(&system, pair, r->growth, excess, grid, most, step, err);
    free(tableau);
    return st;
}
