/* One step of a pair on y' = J y is linear: stage values are Y_i = T_i y_0 with
 *     T_i = I + h sum_{j<i} A_ij J T_j,   S = I + h sum_i B_i J T_i,
 * where A_ij and B_i are diagonal and have the slow or the fast coefficient for each entry of y
 * (004 eqs. (18) to (22), for any number of variables). */
#include "design/coupled.h"

#include "base/memory.h"
#include "linalg/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scratch of steps from a vector: rates of the stages, and a stage value. */
typedef struct scratch {
    double *rate; /* [BG_PRK_STAGES n] */
    double *Y;    /* [n] */
} scratch;

/* y [n] <- the state after a step. */
static void step_from(const bg_coupled *s, const bg_prk_pair *p, double h, scratch x, double *y)
{
    const int n = s->n;
    for (int i = 0; i <= p->stages; i++) {
        for (int r = 0; r < n; r++) {
            const bg_tableau *t = &p->of[s->tableau[r]];
            double sum = 0;
            for (int j = 0; j < i; j++)
                sum += (i == p->stages ? t->b[j] : t->a[i][j]) * x.rate[j * n + r];
            x.Y[r] = y[r] + h * sum;
        }
        for (int r = 0; r < n && i < p->stages; r++) {
            double sum = 0;
            for (int c = 0; c < n; c++)
                sum += s->J[r * n + c] * x.Y[c];
            x.rate[i * n + r] = sum;
        }
    }
    memcpy(y, x.Y, (size_t)n * sizeof *y);
}

/* S by columns: the steps from the unit vectors. */
static void calc_step(const bg_coupled *s, const bg_prk_pair *p, double h, scratch x, double *y,
                      double *S)
{
    for (int k = 0; k < s->n; k++) {
        memset(y, 0, (size_t)s->n * sizeof *y);
        y[k] = 1;
        step_from(s, p, h, x, y);
        for (int r = 0; r < s->n; r++)
            S[r * s->n + k] = y[r];
    }
}

static bg_status no_memory(bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the steps of a linear system");
}

bg_status bg_coupled_calc_step(const bg_coupled *s, const bg_prk_pair *p, double h, double *S,
                               bg_error *err)
{
    const size_t n = (size_t)s->n;
    double *memory = BG_NEW_ARRAY(double, (BG_PRK_STAGES + 2) * n);
    if (!memory)
        return no_memory(err);
    const scratch x = {memory, memory + BG_PRK_STAGES * n};
    calc_step(s, p, h, x, x.Y + n, S);
    free(memory);
    return BG_OK;
}

bg_status bg_coupled_calc_radius(const bg_coupled *s, const bg_prk_pair *p, double h,
                                 double *radius, bg_error *err)
{
    const size_t n = (size_t)s->n;
    double *S = BG_NEW_ARRAY(double, (n + 2) * n), *re = S + n * n, *im = re + n;
    *radius = 0;
    if (!S)
        return no_memory(err);
    bg_status st = bg_coupled_calc_step(s, p, h, S, err);
    bool finite = true;
    for (size_t k = 0; k < n * n; k++)
        finite = finite && isfinite(S[k]);
    if (st == BG_OK && finite)
        st = bg_spectrum_calc(s->n, S, re, im, NULL, NULL, err);
    for (size_t k = 0; k < n && st == BG_OK; k++)
        *radius = finite ? fmax(*radius, hypot(re[k], im[k])) : HUGE_VAL;
    free(S);
    return st;
}

bg_status bg_coupled_find_growing_limit(const bg_coupled *s, const bg_prk_pair *p, double growth,
                                        double excess, double grid, double most, double *limit,
                                        bg_error *err)
{
    double low = 0, high = most, radius = 0;
    bg_status st = BG_OK;
    for (int k = 1; st == BG_OK && low < most; k++) {
        high = fmin(k * grid, most);
        st = bg_coupled_calc_radius(s, p, high, &radius, err);
        if (!(radius <= exp(growth * high) + excess))
            break;
        low = high;
    }
    while (st == BG_OK && high - low > 1e-4 * grid) {
        double middle = 0.5 * (low + high);
        st = bg_coupled_calc_radius(s, p, middle, &radius, err);
        if (radius <= exp(growth * middle) + excess)
            low = middle;
        else
            high = middle;
    }
    *limit = low;
    return st;
}

bg_status bg_coupled_find_limit(const bg_coupled *s, const bg_prk_pair *p, double excess,
                                double grid, double most, double *limit, bg_error *err)
{
    return bg_coupled_find_growing_limit(s, p, 0, excess, grid, most, limit, err);
}

/* The memory of a small system, filled with zeros; its J. */
static double *begin_small(bg_coupled *s, int n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->J = s->small_J;
    s->tableau = s->small_tableau;
    return s->small_J;
}

/* x1'' and x2'' of two masses with these springs and dampers, and their tableaus. */
static void fill_masses(bg_coupled *s, const double m[2], const double k[2], const double d[2],
                        bool by_part)
{
    const int tableau[] = {by_part ? BG_PRK_SLOW : BG_PRK_FAST, BG_PRK_FAST, BG_PRK_SLOW,
                           BG_PRK_FAST};
    double(*J)[4] = (double(*)[4])begin_small(s, 4);
    memcpy(s->small_tableau, tableau, sizeof tableau);
    J[0][2] = J[1][3] = 1;
    for (int i = 0; i < 2; i++) { /* k[0], d[0] to the ground, k[1], d[1] between */
        const double *c = i == 0 ? k : d;
        J[2][2 * i] = -(c[0] + c[1]) / m[0];
        J[2][2 * i + 1] = c[1] / m[0];
        J[3][2 * i] = c[1] / m[1];
        J[3][2 * i + 1] = -c[1] / m[1];
    }
}

void bg_coupled_make_masses(bg_coupled *s, double ratio, bool by_part)
{
    const double m[] = {1 / ratio, 1}, w = 0.05;
    const double k[] = {m[0] * w * w, 1}, d[] = {2 * 0.2 * w * m[0], 2 * 0.05};
    fill_masses(s, m, k, d, by_part);
}

void bg_coupled_make_test(bg_coupled *s, double k)
{
    static const double l[2][2] = {{-0.01, 0.05}, {-0.05, 1}};
    double(*J)[4] = (double(*)[4])begin_small(s, 4);
    s->small_tableau[2] = s->small_tableau[3] = BG_PRK_FAST;
    for (int i = 0; i < 2; i++) {
        J[2 * i][2 * i] = J[2 * i + 1][2 * i + 1] = l[i][0];
        J[2 * i][2 * i + 1] = -l[i][1];
        J[2 * i + 1][2 * i] = l[i][1];
        for (int j = 0; j < 2; j++)
            J[2 * i + j][2 * (1 - i) + j] = i == 0 ? k : -k;
    }
}

void bg_coupled_calc_losses(const bg_prk_pair *p, bool by_part, double h, double *place,
                            double *momentum)
{
    static const double m[] = {50, 5}, k[] = {0, 1e5}, d[] = {0, 0};
    bg_coupled s;
    double y[2][4] = {{0, 0, 10, 10}, {0, 1e-3, 10, 10}}, rate[BG_PRK_STAGES * 4], Y[4];
    const scratch x = {rate, Y};
    fill_masses(&s, m, k, d, by_part);
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 500; n++)
            step_from(&s, p, h, x, y[i]);
    *place = fabs(y[0][0] - 5000 * h);
    *momentum = fabs((50 * y[1][2] + 5 * y[1][3]) / 550 - 1);
}
