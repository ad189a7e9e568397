/* Whose reactions are not unique: those that change along null vectors of G^T.
 *
 * A row that is left out is a sum of rows that are kept, G_i = sum_k c_ik G_k, so lambda_i = 1,
 * lambda_k = -c_ik is such a vector, and with one for every such row there are all. A few sums of
 * all of them with arbitrary weights change every reaction that any of them changes, so that the
 * cost does not grow with their number. What counts as a change is beside the largest, and beyond
 * what the rows that are left out miss of depending on the others. */
#include "base/memory.h"
#include "consistent/assembly.h"

#include <math.h>
#include <stdlib.h>

static const double noticeable = 1e-6;
enum { SUMS = 3 };

/* Between 1/2 and 3/2, of either sign; the same for everybody. */
static double draw_weight(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    double size = 0.5 + (double)(*seed >> 9) / 8388608.0;
    return *seed & 256u ? size : -size;
}

static void make_sum(const bg_assembly *a, unsigned *seed, double *lambda)
{
    int ng = a->dyn->ng;
    const int *rows;
    const double *values;
    for (int k = 0; k < ng; k++)
        lambda[k] = 0;
    for (int i = 0; i < ng; i++) {
        if (!a->dependent[i])
            continue;
        double weight = lambda[i] = draw_weight(seed);
        int n = bg_rank_get_parts(a->ranking, i, &rows, &values);
        for (int e = 0; e < n; e++)
            if (!a->dependent[rows[e]])
                lambda[rows[e]] -= weight * values[e];
    }
}

static void mark(const bg_assembly *a, const double *change, bool *marked)
{
    double largest = 0, misfit = 0;
    for (int i = 0; i < a->dyn->ng; i++)
        misfit = fmax(misfit, a->dependent[i] ? a->misfit[i] : 0);
    for (int k = 0; k < a->sys->system->nreactions; k++)
        largest = fmax(largest, change[k]);
    for (int k = 0; k < a->sys->system->nreactions; k++)
        marked[k] = marked[k] || change[k] > fmax(noticeable, 100 * misfit) * largest;
}

static void collect(bg_assembly *a, const bool *marked)
{
    bg_assembly_report *r = a->report;
    for (int k = 0; k < a->sys->system->nreactions; k++)
        if (marked[k])
            r->not_unique[r->nnot_unique++] = a->sys->system->get_reaction_name(a->sys->def.self,
                                                                                k);
}

bg_status bg_assembly_find_reactions(bg_assembly *a, bg_error *err)
{
    bg_evaluator *sys = a->sys;
    bg_point p;
    int n = sys->system->nreactions;
    if (n == 0 || a->rank == a->dyn->ng)
        return BG_OK;
    double *lambda = BG_NEW_ARRAY(double, a->dyn->ng), *change = BG_NEW_ARRAY(double, n);
    bool *marked = BG_NEW_ARRAY(bool, n);
    a->report->not_unique = BG_NEW_ARRAY(const char *, n);
    bg_status st = lambda && change && marked && a->report->not_unique
                       ? bg_system_set_point(sys, a->x->t, a->x->q, a->x->v, a->x->z, a->x->mode,
                                             &p, err)
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory in assembly of '%s'",
                                      sys->def.name);
    unsigned seed = 1;
    for (int k = 0; k < SUMS && st == BG_OK; k++) {
        make_sum(a, &seed, lambda);
        sys->system->calc_changes(sys->def.self, &p, lambda, sys->system->size, change);
        mark(a, change, marked);
    }
    if (st == BG_OK)
        collect(a, marked);
    free(lambda);
    free(change);
    free(marked);
    return st;
}
