/* Pairs of tableaus: what follows from their coefficients, and families in closed form.
 *
 * With b^ = b = (1/4, 0, ..., 0, 3/4) and c_s = 2/3, b.e = 1, b.c = 1/2 and b.c^2 = 1/3 hold. With
 * a^_{i,i-1} = c_i the coefficients of the stability polynomial are beta_2 = 1/2 and beta_{k+2} =
 * c_{s-1} ... c_{s-k}/2, so that any polynomial of order 2 gives the c, from the last to the first.
 * b.A^c = (3/4) c_s c_{s-1} = 1/6 just where c_{s-1} = 1/3, which is beta_3 = 1/6; and b.Ac = (3/4)
 * a_sm c_m = 1/6 by a_sm = 2/(9 c_m). Between the slow stages m and s, a_im = c_i^2/(2 c_m) makes
 * the slow velocities right to h^2. */
#include "integrators/prk_pair.h"

#include <math.h>
#include <string.h>

static const double same = 1e-14; /* of coefficients that are meant to be equal */

void bg_prk_pair_update(bg_prk_pair *p)
{
    const bg_tableau *slow = &p->of[BG_PRK_SLOW], *fast = &p->of[BG_PRK_FAST];
    p->nslow = 0;
    p->equal_abscissae = p->equal_weights = true;
    for (int i = 0; i < p->stages; i++)
        for (int k = 0; k < 2; k++) {
            p->of[k].c[i] = 0;
            for (int j = 0; j < i; j++)
                p->of[k].c[i] += p->of[k].a[i][j];
        }
    for (int j = 0; j < p->stages; j++) {
        p->slow[j] = slow->b[j] != 0;
        for (int i = j + 1; i < p->stages; i++)
            p->slow[j] = p->slow[j] || slow->a[i][j] != 0;
        p->nslow += p->slow[j];
        p->equal_abscissae = p->equal_abscissae && fabs(slow->c[j] - fast->c[j]) <= same;
        p->equal_weights = p->equal_weights && fabs(slow->b[j] - fast->b[j]) <= same;
    }
}

static void begin(bg_prk_pair *p, const char *name, int stages, int order)
{
    *p = (bg_prk_pair){.stages = stages, .order = order, .tolerance = 1e-12};
    snprintf(p->name, sizeof p->name, "%s", name);
}

void bg_prk_pair_make_closed(bg_prk_pair *p, const char *name, int stages, int order, int middle,
                             const double *c)
{
    const int last = stages - 1, m = middle - 1;
    begin(p, name, stages, order);
    bg_tableau *slow = &p->of[BG_PRK_SLOW], *fast = &p->of[BG_PRK_FAST];
    for (int i = 1; i < stages; i++) {
        double ci = i == last ? 2.0 / 3 : c[i];
        double by_m = order < 3 || i <= m ? 0 : i == last ? 2 / (9 * c[m]) : ci * ci / (2 * c[m]);
        fast->a[i][i - 1] = ci;
        slow->a[i][0] = ci - by_m;
        if (by_m != 0)
            slow->a[i][m] = by_m;
    }
    for (int k = 0; k < 2; k++) {
        p->of[k].b[0] = 0.25;
        p->of[k].b[last] = 0.75;
    }
    bg_prk_pair_update(p);
}

void bg_prk_pair_make_dual_euler(bg_prk_pair *p, int stages)
{
    begin(p, "dual-euler", stages, 1);
    bg_tableau *slow = &p->of[BG_PRK_SLOW], *fast = &p->of[BG_PRK_FAST];
    for (int i = 0; i < stages; i++) {
        fast->b[i] = 1.0 / stages;
        for (int j = 0; j < i; j++)
            fast->a[i][j] = 1.0 / stages;
        if (i > 0)
            slow->a[i][0] = (double)i / stages;
    }
    slow->b[0] = 1;
    bg_prk_pair_update(p);
}

void bg_prk_pair_make_averaged_euler(bg_prk_pair *p, double a32, const double a[3],
                                     const double b[3])
{
    begin(p, "averaged-euler", 3, 1);
    bg_tableau *slow = &p->of[BG_PRK_SLOW], *fast = &p->of[BG_PRK_FAST];
    slow->a[2][1] = a32;
    slow->b[1] = 1;
    fast->a[1][0] = a[0];
    fast->a[2][0] = a[1];
    fast->a[2][1] = a[2];
    memcpy(fast->b, b, 3 * sizeof *b);
    bg_prk_pair_update(p);
}

void bg_tableau_calc_polynomial(const bg_tableau *t, int stages, double *beta)
{
    double x[BG_PRK_STAGES], y[BG_PRK_STAGES];
    for (int i = 0; i < stages; i++)
        x[i] = 1;
    beta[0] = 1;
    for (int k = 1; k <= stages; k++) { /* x = A^(k-1) e */
        beta[k] = 0;
        for (int i = 0; i < stages; i++) {
            beta[k] += t->b[i] * x[i];
            y[i] = 0;
            for (int j = 0; j < i; j++)
                y[i] += t->a[i][j] * x[j];
        }
        memcpy(x, y, sizeof x);
    }
}
