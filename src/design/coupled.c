/* One step of a pair on y' = J y is linear: stage values are Y_i = T_i y_0 with
 *     T_i = I + h sum_{j<i} A_ij J T_j,   S = I + h sum_i B_i J T_i,
 * where A_ij and B_i are diagonal and have the slow or the fast coefficient for each entry of y
 * (004 eqs. (18) to (22), for any number of variables). */
#include "design/coupled.h"

#include "linalg/spectrum.h"

#include <math.h>
#include <string.h>

enum { MAX = BG_COUPLED_MAX };

/* One column: the step from the unit vector k. */
static void step_from(const bg_coupled *s, const bg_prk_pair *p, double h, double *y)
{
    double rate[BG_PRK_STAGES][MAX], Y[MAX];
    const int n = s->n;
    for (int i = 0; i <= p->stages; i++) {
        for (int r = 0; r < n; r++) {
            const bg_tableau *t = &p->of[s->tableau[r]];
            double sum = 0;
            for (int j = 0; j < i; j++)
                sum += (i == p->stages ? t->b[j] : t->a[i][j]) * rate[j][r];
            Y[r] = y[r] + h * sum;
        }
        for (int r = 0; r < n && i < p->stages; r++) {
            rate[i][r] = 0;
            for (int c = 0; c < n; c++)
                rate[i][r] += s->J[r * n + c] * Y[c];
        }
    }
    memcpy(y, Y, (size_t)n * sizeof *y);
}

void bg_coupled_calc_step(const bg_coupled *s, const bg_prk_pair *p, double h, double *S)
{
    for (int k = 0; k < s->n; k++) {
        double y[MAX] = {0};
        y[k] = 1;
        step_from(s, p, h, y);
        for (int r = 0; r < s->n; r++)
            S[r * s->n + k] = y[r];
    }
}

bg_status bg_coupled_calc_radius(const bg_coupled *s, const bg_prk_pair *p, double h,
                                 double *radius, bg_error *err)
{
    double S[MAX * MAX], re[MAX], im[MAX];
    bg_coupled_calc_step(s, p, h, S);
    bg_status st = bg_spectrum_calc(s->n, S, re, im, NULL, NULL, err);
    *radius = 0;
    for (int k = 0; k < s->n && st == BG_OK; k++)
        *radius = fmax(*radius, hypot(re[k], im[k]));
    return st;
}

bg_status bg_coupled_find_limit(const bg_coupled *s, const bg_prk_pair *p, double excess,
                                double grid, double most, double *limit, bg_error *err)
{
    double low = 0, high = most, radius = 0;
    bg_status st = BG_OK;
    for (int k = 1; st == BG_OK && low < most; k++) {
        high = fmin(k * grid, most);
        st = bg_coupled_calc_radius(s, p, high, &radius, err);
        if (!(radius <= 1 + excess))
            break;
        low = high;
    }
    while (st == BG_OK && high - low > 1e-4 * grid) {
        double middle = 0.5 * (low + high);
        st = bg_coupled_calc_radius(s, p, middle, &radius, err);
        if (radius <= 1 + excess)
            low = middle;
        else
            high = middle;
    }
    *limit = low;
    return st;
}

/* x1'' and x2'' of two masses with these springs and dampers, and their tableaus. */
static void fill_masses(bg_coupled *s, const double m[2], const double k[2], const double d[2],
                        bool by_part)
{
    *s = (bg_coupled){
        .n = 4,
        .tableau = {by_part ? BG_PRK_SLOW : BG_PRK_FAST, BG_PRK_FAST, BG_PRK_SLOW, BG_PRK_FAST}};
    double(*J)[4] = (double(*)[4])s->J;
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
    *s = (bg_coupled){.n = 4, .tableau = {BG_PRK_SLOW, BG_PRK_SLOW, BG_PRK_FAST, BG_PRK_FAST}};
    double(*J)[4] = (double(*)[4])s->J;
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
    double y[2][MAX] = {{0, 0, 10, 10}, {0, 1e-3, 10, 10}};
    fill_masses(&s, m, k, d, by_part);
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 500; n++)
            step_from(&s, p, h, y[i]);
    *place = fabs(y[0][0] - 5000 * h);
    *momentum = fabs((50 * y[1][2] + 5 * y[1][3]) / 550 - 1);
}
