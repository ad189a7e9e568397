/* Coefficients by search. Unknowns are the entries of A^ below the diagonal, b^, and A and b in the
 * columns of the slow stages. Equations: all order conditions, c = c^ and b = b^ where they are
 * asked for, and the coefficients of the polynomial, each in units of 1/k!. Wishes, which weigh
 * little: the conditions of the next order, coefficients within [-1, 1], abscissae within [0, 1].
 *
 * From a random start near a^_{i,i-1} = c_i, a Levenberg-Marquardt iteration on both, then one on
 * the equations alone with the least change of the unknowns, to rounding. Of all pairs found, with
 * every choice of slow stages, the one that stands the strongest coupling is taken
 * (bg_design_calc_merit). Derivatives are central differences: everything is a polynomial of the
 * unknowns. */
#include "base/memory.h"
#include "design/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS = 320, EQUATIONS = 200, WISHES = 400, STARTS = 6, STEPS = 120 };
static const double light = 0.01; /* weight of wishes */

typedef struct design_search {
    const bg_design_def *def;
    const bg_polynomial *polynomial;
    bool slow[BG_PRK_STAGES];
    int n;    /* unknowns */
    int m;    /* equations */
    int rows; /* with wishes */
    bool wishing;
    unsigned seed;
    double x[UNKNOWNS], trial[UNKNOWNS], step[UNKNOWNS];
    double r[EQUATIONS + WISHES], side[2][EQUATIONS + WISHES];
    double *J; /* [EQUATIONS + WISHES][UNKNOWNS] */
    double *N; /* [UNKNOWNS][UNKNOWNS] */
} design_search;

static double draw(design_search *s)
{
    s->seed = s->seed * 1664525u + 1013904223u;
    return (double)(s->seed >> 8) / (1 << 23) - 1;
}

/* The unknowns as a pair, or, with `take`, the other way round. */
static void move(design_search *s, double *x, bg_prk_pair *p, bool take)
{
    const int stages = s->def->fast;
    int n = 0;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < stages; j++) {
            if (k == BG_PRK_SLOW && !s->slow[j])
                continue;
            for (int i = j + 1; i <= stages; i++) {
                double *entry = i < stages ? &p->of[k].a[i][j] : &p->of[k].b[j];
                if (take)
                    x[n++] = *entry;
                else
                    *entry = x[n++];
            }
        }
    s->n = n;
}

static void open_pair(design_search *s, const double *x, bg_prk_pair *p)
{
    *p = (bg_prk_pair){.stages = s->def->fast, .order = s->def->order, .tolerance = 1e-12};
    move(s, (double *)x, p, false);
    bg_prk_pair_update(p);
    for (int j = 0; j < p->stages; j++)
        p->slow[j] = s->slow[j];
}

static int add_wishes(const design_search *s, const bg_prk_pair *p, double *r, int n)
{
    bg_prk_condition list[BG_PRK_CONDITIONS];
    const int order = s->def->order + 1;
    int count = order <= BG_PRK_ORDER ? bg_prk_pair_calc_conditions(p, order, list) : 0;
    for (int k = 0; k < count; k++)
        if (list[k].order == order)
            r[n++] = light * (list[k].value - list[k].wanted);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < p->stages; i++) {
            double c = p->of[k].c[i];
            r[n++] = 10 * light * (fmax(c - 1, 0) + fmin(c, 0));
            for (int j = 0; j < i && n < EQUATIONS + WISHES; j++)
                r[n++] = light * fmax(fabs(p->of[k].a[i][j]) - 1, 0);
        }
    return n;
}

/* What is missed of equations, and of wishes. */
static void calc_residuals(design_search *s, const double *x, double *r)
{
    bg_prk_pair p;
    bg_prk_condition list[BG_PRK_CONDITIONS];
    double beta[BG_PRK_STAGES + 1], factorial = 1;
    open_pair(s, x, &p);
    int n = 0, count = bg_prk_pair_calc_conditions(&p, p.order, list);
    for (int k = 0; k < count; k++)
        r[n++] = list[k].value - list[k].wanted;
    for (int i = 0; i < p.stages; i++) {
        if (!s->def->free_abscissae && i > 0)
            r[n++] = p.of[BG_PRK_SLOW].c[i] - p.of[BG_PRK_FAST].c[i];
        if (!s->def->free_weights)
            r[n++] = p.of[BG_PRK_SLOW].b[i] - p.of[BG_PRK_FAST].b[i];
    }
    bg_tableau_calc_polynomial(&p.of[BG_PRK_FAST], p.stages, beta);
    for (int k = 1; k <= p.stages; k++) {
        factorial *= k;
        if (k > p.order)
            r[n++] = 0.1 * factorial * (beta[k] - s->polynomial->beta[k]);
    }
    s->m = n;
    s->rows = s->wishing ? add_wishes(s, &p, r, n) : n;
}

static double calc_norm(const double *r, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += r[k] * r[k];
    return sqrt(sum);
}

static void calc_jacobian(design_search *s)
{
    const double e = 1e-5;
    for (int j = 0; j < s->n; j++) {
        for (int k = 0; k < 2; k++) {
            memcpy(s->trial, s->x, sizeof s->x);
            s->trial[j] += k ? e : -e;
            calc_residuals(s, s->trial, s->side[k]);
        }
        for (int i = 0; i < s->rows; i++)
            s->J[i * UNKNOWNS + j] = (s->side[1][i] - s->side[0][i]) / (2 * e);
    }
}

/* (A + mu I) y = y for the positive semidefinite A [n n]; by Cholesky, in place. */
static bool solve(double *A, int n, double mu, double *y)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = A[i * UNKNOWNS + j] + (i == j ? mu : 0);
            for (int k = 0; k < j; k++)
                sum -= A[i * UNKNOWNS + k] * A[j * UNKNOWNS + k];
            if (i == j && !(sum > 0))
                return false;
            A[i * UNKNOWNS + j] = i == j ? sqrt(sum) : sum / A[j * UNKNOWNS + j];
        }
        for (int k = 0; k < i; k++)
            y[i] -= A[i * UNKNOWNS + k] * y[k];
        y[i] /= A[i * UNKNOWNS + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            y[i] -= A[k * UNKNOWNS + i] * y[k];
        y[i] /= A[i * UNKNOWNS + i];
    }
    return true;
}

/* step <- -J^T (J J^T + mu)^{-1} r, with the least norm as mu becomes 0. */
static bool calc_step(design_search *s, double mu)
{
    double y[EQUATIONS + WISHES];
    const int m = s->rows;
    memcpy(y, s->r, (size_t)m * sizeof *y);
    if (m <= s->n) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k < s->n; k++)
                    sum += s->J[i * UNKNOWNS + k] * s->J[j * UNKNOWNS + k];
                s->N[i * UNKNOWNS + j] = sum;
            }
        if (!solve(s->N, m, mu, y))
            return false;
        for (int k = 0; k < s->n; k++) {
            s->step[k] = 0;
            for (int i = 0; i < m; i++)
                s->step[k] -= s->J[i * UNKNOWNS + k] * y[i];
        }
        return true;
    }
    for (int i = 0; i < s->n; i++) {
        s->step[i] = 0;
        for (int k = 0; k < m; k++)
            s->step[i] -= s->J[k * UNKNOWNS + i] * s->r[k];
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < m; k++)
                sum += s->J[k * UNKNOWNS + i] * s->J[k * UNKNOWNS + j];
            s->N[i * UNKNOWNS + j] = sum;
        }
    }
    return solve(s->N, s->n, mu, s->step);
}

/* Damped Gauss-Newton steps; what is missed of the equations in the end. */
static double iterate(design_search *s, bool wishing, int steps)
{
    double mu = 1e-3;
    s->wishing = wishing;
    calc_residuals(s, s->x, s->r);
    for (int k = 0; k < steps && mu < 1e8 && calc_norm(s->r, s->m) > (wishing ? 0 : 1e-15); k++) {
        double now = calc_norm(s->r, s->rows), trial[EQUATIONS + WISHES];
        calc_jacobian(s);
        calc_residuals(s, s->x, s->r);
        if (!calc_step(s, mu + 1e-15)) {
            mu = fmax(10 * mu, 1e-12);
            continue;
        }
        double length = calc_norm(s->step, s->n), cut = length > 0.5 ? 0.5 / length : 1;
        for (int j = 0; j < s->n; j++)
            s->trial[j] = s->x[j] + cut * s->step[j];
        calc_residuals(s, s->trial, trial);
        double next = calc_norm(trial, s->rows);
        if (next < now) {
            memcpy(s->x, s->trial, sizeof s->x);
            memcpy(s->r, trial, sizeof s->r);
            mu *= 0.1;
            if (wishing && now - next < 1e-6 * now)
                break;
        } else {
            mu = mu < 1e-14 && !wishing ? 1e9 : fmax(mu, 1e-14) * 10;
        }
    }
    return calc_norm(s->r, s->m);
}

/* A random start whose fast stages follow each other. */
static void begin(design_search *s)
{
    bg_prk_pair p = {.stages = s->def->fast};
    const int last = p.stages - 1;
    for (int i = 1; i <= last; i++) {
        double c = i == last ? 0.7 : 1.0 / (p.stages + 1 - i);
        for (int j = 0; j < i; j++) {
            p.of[BG_PRK_FAST].a[i][j] = 0.1 * draw(s) + (j == i - 1 ? c : 0);
            p.of[BG_PRK_SLOW].a[i][j] = s->slow[j] ? c / s->def->slow + 0.2 * draw(s) : 0;
        }
    }
    for (int j = 0; j <= last; j++)
        for (int k = 0; k < 2; k++)
            p.of[k].b[j] = s->slow[j] ? 1.0 / s->def->slow + 0.1 * draw(s) : 0;
    move(s, s->x, &p, true);
}

/* The pair as it is, with entries that are equal made so. */
static void finish(design_search *s, bg_prk_pair *p)
{
    open_pair(s, s->x, p);
    if (!s->def->free_weights)
        for (int j = 0; j < p->stages; j++)
            p->of[BG_PRK_FAST].b[j] = p->of[BG_PRK_SLOW].b[j] = s->slow[j] ? p->of[BG_PRK_SLOW].b[j]
                                                                           : 0;
    bg_prk_pair_update(p);
}

/* The next choice of slow stages, the last one always and, with equal abscissae, the first; in
 * combinations of ascending order; false: there is none. */
static bool choose_next(design_search *s)
{
    const int last = s->def->fast - 1, from = s->def->free_abscissae ? 0 : 1;
    int count = s->def->slow - (s->def->free_abscissae ? 1 : 2), end = last - 1, moved = 0;
    while (end >= from && s->slow[end]) { /* those that are at the end already */
        end--;
        moved++;
    }
    int place = end;
    while (place >= from && !s->slow[place])
        place--;
    if (place < from || moved >= count)
        return false;
    s->slow[place] = false;
    for (int k = place + 1; k < last; k++)
        s->slow[k] = k <= place + 1 + moved;
    return true;
}

static void choose_first(design_search *s)
{
    const int last = s->def->fast - 1, from = s->def->free_abscissae ? 0 : 1;
    int count = s->def->slow - (s->def->free_abscissae ? 1 : 2);
    memset(s->slow, 0, sizeof s->slow);
    s->slow[last] = true;
    s->slow[0] = !s->def->free_abscissae;
    for (int k = 0; k < count && from + k < last; k++)
        s->slow[from + k] = true;
}

/* One start; whether it gave a pair that stands more than *best. */
static bg_status try_start(design_search *s, bg_prk_pair *pair, double *best, bg_error *err)
{
    bg_prk_pair p;
    bg_prk_condition worst;
    double merit;
    begin(s);
    iterate(s, true, STEPS);
    if (!(iterate(s, false, STEPS) < 1e-13))
        return BG_OK;
    finish(s, &p);
    if (!(bg_prk_pair_find_worst(&p, p.order, &worst) < 1e-13) || p.nslow != s->def->slow)
        return BG_OK;
    bg_status st = bg_design_calc_merit(&p, &merit, err);
    if (st == BG_OK && merit > *best) {
        *best = merit;
        *pair = p;
    }
    return st;
}

bg_status bg_design_search(const bg_design_def *def, const bg_polynomial *polynomial,
                           bg_prk_pair *pair, bg_error *err)
{
    design_search *s = BG_NEW(design_search);
    double best = -1;
    bg_status st = BG_OK;
    if (s) {
        *s = (design_search){.def = def, .polynomial = polynomial, .seed = def->seed};
        s->J = BG_NEW_ARRAY(double, (EQUATIONS + WISHES) * UNKNOWNS);
        s->N = BG_NEW_ARRAY(double, UNKNOWNS *UNKNOWNS);
    }
    if (!s || !s->J || !s->N)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the search of coefficients");
    else
        choose_first(s);
    for (bool more = st == BG_OK; more && st == BG_OK; more = choose_next(s))
        for (int k = 0; k < STARTS && st == BG_OK; k++)
            st = try_start(s, pair, &best, err);
    if (s) {
        free(s->J);
        free(s->N);
    }
    free(s);
    if (st == BG_OK && best < 0)
        st = bg_error_set(err, BG_NOT_CONVERGED,
                          "no pair of order %d with %d slow and %d fast stages was found from %d "
                          "starts for each choice of slow stages; give more fast stages, another "
                          "--seed, or ask for less",
                          def->order, def->slow, def->fast, STARTS);
    return st;
}
