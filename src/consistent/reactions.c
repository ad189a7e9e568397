/* Whose reactions are not unique: those that change along null vectors of G^T.
 *
 * A row that is left out is a sum of rows that are kept, G_i = sum_k c_ik G_k, so lambda_i = 1,
 * lambda_k = -c_ik is such a vector, and with one for every such row there are all. What counts as
 * a change is beside the largest of a vector, and beyond what the rows that are left out miss of
 * depending on the others. */
#include "base/memory.h"
#include "consistent/assembly.h"

#include <math.h>
#include <stdlib.h>

static const double noticeable = 1e-6;

static void make_vector(const bg_assembly *a, int row, double *lambda)
{
    for (int k = 0; k < a->dyn->ng; k++)
        lambda[k] = a->dependent[k] ? 0 : -bg_rank_get_coefficient(a->ranking, row, k);
    lambda[row] = 1;
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
    for (int i = 0; i < a->dyn->ng && st == BG_OK; i++)
        if (a->dependent[i]) {
            make_vector(a, i, lambda);
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
