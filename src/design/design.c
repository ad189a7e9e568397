/* A design in three steps: the polynomial of the fast tableau, then coefficients that have it, then
 * everything that can be verified of them. Of the closed family (prk_pair.c) there is one pair for
 * each polynomial at order 2, and one for each middle slow stage at order 3, of which the one that
 * stands the strongest coupling is taken. */
#include "design/design.h"

#include "design/coupled.h"

#include <math.h>
#include <string.h>

const double bg_design_ratios[] = {0.02, 0.05, 0.1, 0.3, 1};
const double bg_design_couplings[] = {0.05, 0.1, 0.2};

static bg_status check(const bg_design_def *def, bg_error *err)
{
    if (def->order < 2 || def->order > BG_PRK_ORDER)
        return bg_error_set(err, BG_BAD_INPUT, "order %d cannot be designed; give 2, 3 or 4",
                            def->order);
    if (def->order > def->slow)
        return bg_error_set(err, BG_BAD_INPUT,
                            "order %d with %d slow stage%s is impossible: an explicit Runge-Kutta "
                            "method of s stages has order s at most (004 Theorem 1), and without a "
                            "fast part the slow tableau is one; give at least %d slow stages",
                            def->order, def->slow, def->slow == 1 ? "" : "s", def->order);
    if (def->fast < def->slow)
        return bg_error_set(err, BG_BAD_INPUT,
                            "%d fast stages are fewer than %d slow ones: every slow stage is a "
                            "stage of the fast tableau, too; give at least %d",
                            def->fast, def->slow, def->slow);
    if (def->fast > BG_PRK_STAGES)
        return bg_error_set(err, BG_BAD_INPUT, "%d stages are more than the %d there is room for",
                            def->fast, BG_PRK_STAGES);
    if (def->order == 4 && def->slow < 4)
        return bg_error_set(err, BG_BAD_INPUT, "order 4 needs four slow stages");
    return BG_OK;
}

bg_status bg_design_calc_merit(const bg_prk_pair *pair, double *merit, bg_error *err)
{
    bg_coupled masses;
    bg_coupled_make_masses(&masses, 0.1, false);
    return bg_coupled_find_limit(&masses, pair, 1e-8, 0.02, 3.0 * BG_PRK_STAGES, merit, err);
}

/* c from the last to the first; false: the family has no such pair. */
static bool calc_abscissae(const bg_polynomial *p, double *c)
{
    const int s = p->stages;
    memset(c, 0, BG_PRK_STAGES * sizeof *c);
    c[s - 1] = 2.0 / 3;
    for (int k = 1; k < s - 1; k++) /* beta_{k+2} = c_{s-1} ... c_{s-k}/2 */
        c[s - 1 - k] = p->beta[k + 2] / p->beta[k + 1];
    for (int i = 1; i < s; i++)
        if (!(c[i] > 0 && c[i] <= 1.2))
            return false;
    return true;
}

/* A pair of the closed family; BG_RETRY: it has none. */
static bg_status close(const bg_design_def *def, const bg_polynomial *p, bg_prk_pair *pair,
                       bg_error *err)
{
    double c[BG_PRK_STAGES], best = -1;
    const bool third = def->order == 3;
    if (def->search || def->order > 3 || def->slow != def->order || def->free_abscissae ||
        def->free_weights || def->fast < 3 || !calc_abscissae(p, c))
        return BG_RETRY;
    if (third)
        c[def->fast - 2] = 1.0 / 3; /* 2 beta_3, but for rounding */
    for (int middle = 2; middle < (third ? def->fast : 3); middle++) {
        bg_prk_pair x;
        double merit;
        bg_prk_pair_make_closed(&x, "", def->fast, def->order, middle, c);
        bg_status st = bg_design_calc_merit(&x, &merit, err);
        if (st != BG_OK)
            return st;
        if (merit > best) {
            best = merit;
            *pair = x;
        }
    }
    return BG_OK;
}

static bool is_same(const bg_prk_pair *x, const bg_prk_pair *y)
{
    const double digits = 1e-6; /* of coefficients that follow from an optimal polynomial */
    if (x->stages != y->stages || x->order != y->order)
        return false;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < x->stages; i++) {
            if (fabs(x->of[k].b[i] - y->of[k].b[i]) > digits)
                return false;
            for (int j = 0; j < i; j++)
                if (fabs(x->of[k].a[i][j] - y->of[k].a[i][j]) > digits)
                    return false;
        }
    return true;
}

/* The name of a pair that is there already is for that one alone. */
static void name_pair(const bg_design_def *def, bg_prk_pair *pair)
{
    bg_prk_pair known;
    snprintf(pair->name, sizeof pair->name, "prk%d%d-designed", def->slow, def->fast);
    for (int k = 0; bg_prk_pair_get_name(k); k++)
        if (bg_prk_pair_find(bg_prk_pair_get_name(k), &known) && is_same(pair, &known))
            memcpy(pair->name, known.name, sizeof pair->name);
}

bg_status bg_design_find(const bg_design_def *def, bg_polynomial *polynomial, bg_prk_pair *pair,
                         bg_error *err)
{
    bg_status st = check(def, err);
    if (st == BG_OK)
        st = bg_polynomial_find(def->fast, def->order, &def->target, polynomial, err);
    if (st == BG_OK)
        st = close(def, polynomial, pair, err);
    if (st == BG_RETRY)
        st = bg_design_search(def, polynomial, pair, err);
    if (st == BG_OK)
        name_pair(def, pair);
    return st;
}

static void measure_tableaus(const bg_prk_pair *pair, bg_design_facts *f)
{
    const double tolerance = fmax(1e-11, 20 * pair->tolerance * (pair->tolerance > 1e-12));
    for (int k = 0; k < 2; k++) {
        double beta[BG_PRK_STAGES + 1];
        bg_tableau_calc_polynomial(&pair->of[k], pair->stages, beta);
        f->imaginary[k] = bg_polynomial_calc_interval(beta, pair->stages, BG_TARGET_IMAGINARY,
                                                      tolerance);
        f->real[k] = bg_polynomial_calc_interval(beta, pair->stages, BG_TARGET_REAL, tolerance);
    }
}

bg_status bg_design_verify(const bg_prk_pair *pair, bg_design_facts *f, bg_error *err)
{
    bg_prk_condition list[BG_PRK_CONDITIONS];
    bg_coupled x;
    bg_status st = BG_OK;
    *f = (bg_design_facts){.missed = 0};
    f->missed = bg_prk_pair_find_worst(pair, pair->order, &f->worst);
    int n = bg_prk_pair_calc_conditions(pair, pair->order + 1, list);
    for (int k = 0; k < n; k++)
        if (list[k].order == pair->order + 1)
            f->next += (list[k].value - list[k].wanted) * (list[k].value - list[k].wanted);
    f->next = sqrt(f->next);
    measure_tableaus(pair, f);
    for (int k = 0; k < BG_DESIGN_COUPLINGS && st == BG_OK; k++) {
        bg_coupled_make_test(&x, bg_design_couplings[k]);
        st = bg_coupled_find_limit(&x, pair, 1e-8, 0.02, 3.0 * BG_PRK_STAGES, &f->coupled[k], err);
    }
    for (int k = 0; k < BG_DESIGN_RATIOS && st == BG_OK; k++)
        for (int fast = 0; fast < 2 && st == BG_OK; fast++) {
            bg_coupled_make_masses(&x, bg_design_ratios[k], !fast);
            st = bg_coupled_find_limit(&x, pair, 1e-8, 0.01, 3.0 * BG_PRK_STAGES,
                                       &f->masses[k][fast], err);
        }
    /* within their stable steps: h omega of the free masses is 148 h */
    f->h = fmin(0.01,
                0.5 * fmin(f->masses[2][0], f->masses[2][1]) / sqrt(1e5 * (1.0 / 5 + 1.0 / 50)));
    for (int fast = 0; fast < 2; fast++)
        bg_coupled_calc_losses(pair, !fast, f->h, &f->place[fast], &f->momentum[fast]);
    return st;
}
